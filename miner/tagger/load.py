"""A name, or the path of a tags file or a checkpoint -> a tagger.

"auto" stands for several taggers. It is a checkpoint that comes with the package for books in a
language that the checkpoint was trained for, and the gap heuristic for all other books.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import EntryPoint
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from miner.errors import InputError
from miner.files import CHECKPOINT, CHECKPOINT_ENCODER, file_signature, is_checkpoint, reason_of
from miner.people.cast import Character
from miner.people.character_files import NO_CHARACTERS, CharacterLists, SpokenBook
from miner.plugins import find_entries
from miner.speech.spans import BookSpans
from miner.speech.tag_files import read_tag_file
from miner.speech.tags import TaggedBook, TaggedSpan, Tagger

if TYPE_CHECKING:
    from miner.tagger.tagger import NeuralTagger

AUTO = "auto"
FLOAT32 = "float32"
DTYPES = (FLOAT32, "bfloat16")
BASELINES = ("gap", "tuned-gap", "narration")  # what `miner compare` compares by default
GROUP = "miner.taggers"  # entry points by which a package, ours or another, adds taggers
# Entry points by which kinds of checkpoints are added: the model type, and a callable that takes
# the folder and the type of numbers, and returns a `SpeakingTagger`.
CHECKPOINT_GROUP = "miner.checkpoints"
# The checkpoints that come with the package.
CHECKPOINTS = Path(__file__).parent / "checkpoints"
# The SHA-256 of each. A checkpoint with another digest is not the one whose scores we report.
SHIPPED = {
    "en": "b67f4bd121f6e1da766f5d6246516e75bf49014694a65f219e63de3172442cfe",
    "multilingual": "9cc9fb632d95d643ac9ca02851938b755a9e0b78b20a2d35ebe2362a961c1f8f",
}
# The checkpoint of each language that has one.
CHECKPOINT_OF = {"en": "en"} | dict.fromkeys(
    ("de", "es", "fr", "hu", "it", "nl", "pt"), "multilingual"
)
_FileStates = tuple[tuple[Path, int, int], ...]


@dataclass(frozen=True, slots=True)
class StoredTags:
    """Tags from a file, such as one that `miner tag` wrote and somebody corrected."""

    path: Path

    @property
    def books(self) -> dict[str, TaggedBook]:
        """The books of the file, by id. The file is read again when it has changed."""
        return _stored_books(self.path, _file_states(self.path))

    @property
    def gives_confidence(self) -> bool:
        """Whether any tag of the file has a confidence."""
        spans = (item for book in self.books.values() for item in book.spans)
        return any(item.confidence is not None for item in spans)

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """The stored tags of the book, on the spans of the file."""
        book, books = book_spans.book.id, self.books
        if book not in books:
            held = ", ".join(books) or "no book"
            raise InputError(f"{self.path}: found tags of {held}, expected tags of {book}")
        chapters = {span.chapter for span in book_spans.spans}
        stored = [item for item in books[book].spans if item.span.chapter in chapters]
        if len(stored) != len(book_spans.spans):
            raise InputError(
                f"{self.path}: found {len(stored)} spans of {book}, "
                f"expected the {len(book_spans.spans)} that the book has now"
            )
        for span, item in zip(book_spans.spans, stored, strict=True):
            if (item.span.paragraph, item.span.text) != (span.paragraph, span.text):
                raise InputError(
                    f"{self.path}: {book}, paragraph {span.paragraph}, span {span.index}: "
                    f"found {item.span.text[:40]!r}, expected {span.text[:40]!r}"
                )
        # These are the spans of the file, because a reader may have corrected what is an utterance.
        return stored


class SpeakingTagger(Protocol):
    """A loaded tagger that finds the speakers, too."""

    @property
    def libraries(self) -> tuple[str, ...]:
        """The packages that compute the tags."""
        ...

    def tag(
        self,
        book_spans: BookSpans,
        on_words: Callable[[int], None] | None = None,
        characters: Sequence[Character] | None = None,
    ) -> SpokenBook:
        """The tags and the speakers of a book, whose characters may be given."""
        ...


@dataclass(frozen=True, slots=True)
class CheckpointTagger:
    """A trained tagger, by the folder of its checkpoint, and the speakers that agree with its tags.

    It loads the weights on first use, so it is small enough to send to another process.
    """

    path: Path
    dtype: str = FLOAT32
    characters: CharacterLists = field(default_factory=dict, repr=False)

    @property
    def libraries(self) -> tuple[str, ...]:
        """The packages that compute the tags."""
        return self.load().libraries

    def load(self) -> NeuralTagger | SpeakingTagger:
        """The tagger, loaded once, and again after its files have changed."""
        return _load_model(self.path, self.dtype, _file_states(self.path))

    def tag(
        self, book_spans: BookSpans, on_words: Callable[[int], None] | None = None
    ) -> SpokenBook:
        """One tagged span per span of the book, each utterance with its speaker."""
        from miner.people.attributor import attribute_speakers
        from miner.tagger.tagger import NeuralTagger

        tagger = self.load()
        if not isinstance(tagger, NeuralTagger):
            return tagger.tag(book_spans, on_words, self.characters.get(book_spans.book.id))
        tagged = tagger.tag(book_spans, on_words)
        return attribute_speakers(book_spans, tagged, self.characters, revise=True)


@dataclass(frozen=True, slots=True)
class AutoTagger:
    """The package's tagger for the language of a book, or the gap heuristic where it has none."""

    dtype: str = FLOAT32
    characters: CharacterLists = field(default_factory=dict, repr=False)

    @property
    def libraries(self) -> tuple[str, ...]:
        """The packages that compute the tags of the checkpoints."""
        taggers = (CheckpointTagger(CHECKPOINTS / name, self.dtype) for name in SHIPPED)
        return tuple(dict.fromkeys(name for tagger in taggers for name in tagger.libraries))

    def tag(
        self, book_spans: BookSpans, on_words: Callable[[int], None] | None = None
    ) -> Sequence[TaggedSpan]:
        """One tagged span per span of the book."""
        language = book_spans.language
        name = choose_tagger(AUTO, language)
        if language not in CHECKPOINT_OF:
            return load_tagger(name).tag(book_spans)
        return CheckpointTagger(Path(name), self.dtype, self.characters).tag(book_spans, on_words)


def choose_tagger(name: str, language: str) -> str:
    """Returns the name of the tagger for books of a language; "auto" depends on the language."""
    if name != AUTO:
        return name
    return str(CHECKPOINTS / CHECKPOINT_OF[language]) if language in CHECKPOINT_OF else "gap"


def choose_one_tagger(name: str, languages: Iterable[str]) -> str:
    """Returns the name of the tagger that "auto" stands for in all of some languages."""
    names = sorted({choose_tagger(name, language) for language in languages})
    if len(names) != 1:
        found = ", ".join(Path(one).name for one in names)
        raise InputError(f"found the taggers {found} for these languages, expected one")
    return names[0]


def uses_checkpoint(name: str) -> bool:
    """Whether the tagger of a name is a checkpoint, at least for some books."""
    return name == AUTO or is_checkpoint(Path(name))


def load_checkpoint_tagger(name: str, dtype: str = FLOAT32) -> NeuralTagger | SpeakingTagger:
    """The loaded tagger of a checkpoint."""
    path = CHECKPOINTS / "en" if name == AUTO else Path(name)
    _refuse_damaged(path)
    return CheckpointTagger(path, dtype).load()


def _refuse_damaged(path: Path) -> None:
    """Raises an error if a checkpoint came with the package and has been changed."""
    folder = path.resolve()
    expected = SHIPPED.get(folder.name) if folder.parent == CHECKPOINTS.resolve() else None
    if expected and (found := _digest(path)) != expected:
        raise InputError(
            f"{path}: found a checkpoint of SHA-256 {found[:8]}, expected {expected[:8]} as it "
            "came with the package: install it again"
        )


def find_registered_taggers() -> dict[str, EntryPoint]:
    """The taggers that installed packages register, by name, in alphabetical order.

    A package registers a tagger as an entry point of the group `miner.taggers`: a callable that
    returns a `Tagger`. It is called with the text after the colon for a name like "gap:300", and
    without arguments for a name without a colon.
    """
    return find_entries(GROUP)


def load_tagger(
    name: str | Path, dtype: str = FLOAT32, characters: CharacterLists = NO_CHARACTERS
) -> Tagger:
    """The tagger of a name, or the one that reads the file or the checkpoint of a path.

    Example:
        >>> load_tagger("gap:300")
        GapTagger(gap=300, name='gap')

    Args:
        name: "auto", a registered tagger ("gap", "gap:300"), or the path of a tags file (JSON
            Lines) or of a checkpoint of `train.py`.
        dtype: "float32" or "bfloat16", in which the encoder of a checkpoint computes. bfloat16 is
            faster on some processors and may change a few tags. Other taggers ignore it.
        characters: those of books whose lists are given, with which the tags of a checkpoint agree.
            Other taggers ignore them.

    Raises:
        InputError: if the name is neither known nor a path, if the tagger does not take the text
            after the colon, if its package cannot load it, or if the file or the checkpoint cannot
            be used.
    """
    if dtype not in DTYPES:
        raise InputError(f"found dtype {dtype!r}, expected {' or '.join(DTYPES)}")
    name = str(name)
    if name == AUTO:
        for shipped in SHIPPED:  # a damaged one is found before any book is read
            _refuse_damaged(CHECKPOINTS / shipped)
        load_checkpoint_tagger(AUTO, dtype)
        return AutoTagger(dtype, characters)
    plain, colon, argument = name.partition(":")
    if entry := find_registered_taggers().get(plain):
        return _make_registered(entry, name, [argument] if colon else [])
    path = Path(name)
    if is_checkpoint(path):
        load_checkpoint_tagger(name, dtype)
        return CheckpointTagger(path, dtype, characters)
    if not os.path.isfile(path):  # False, too, where no path can be so long
        known = ", ".join((AUTO, *find_registered_taggers()))
        raise InputError(
            f"no tagger {name!r}: expected one of {known}, a file of tags, or a checkpoint"
        )
    stored = StoredTags(path)
    _ = stored.books  # a damaged file is found before any book is read
    return stored


def _make_registered(entry: EntryPoint, name: str, arguments: list[str]) -> Tagger:
    """The tagger of an entry point. Whatever a package raises, the error names it."""
    try:
        factory = entry.load()
        try:
            signature(factory).bind(*arguments)
        except TypeError as error:
            found = repr(arguments[0]) if arguments else "no argument"
            expected = f"{entry.name} alone" if arguments else f"one, as in {entry.name}:3"
            raise InputError(f"{name}: found {found}, expected {expected}") from error
        tagger = factory(*arguments)
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:  # an import or a constructor may do anything, even exit
        package = entry.dist.name if entry.dist else "a package"
        raise InputError(
            f"{name}: the tagger {entry.value} of {package} cannot be loaded: "
            f"{type(error).__qualname__}: {reason_of(error)}"
        ) from error
    if not callable(getattr(tagger, "tag", None)):
        raise InputError(f"{name}: {entry.value} gave {tagger!r:.60}, expected a method `tag`")
    return tagger


def raw_tagger(name: str, dtype: str = FLOAT32) -> Tagger:
    """The tagger of a name without its speakers, and without regard to them."""
    if uses_checkpoint(name):
        return load_checkpoint_tagger(name, dtype)
    return load_tagger(name)


@lru_cache(maxsize=2)  # books of several languages may take turns
def _load_model(path: Path, dtype: str, states: _FileStates) -> NeuralTagger | SpeakingTagger:
    from miner.tagger.checkpoint import load_checkpoint
    from miner.tagger.config import read_record, refuse_missing

    refuse_missing(path)
    # A checkpoint of another kind names it in its config.
    if entry := find_entries(CHECKPOINT_GROUP).get(str(read_record(path).get("model_type"))):
        return entry.load()(path, dtype)
    return load_checkpoint(path, dtype=dtype, is_known=_digest_of(states) in SHIPPED.values())


@lru_cache(maxsize=1)
def _stored_books(path: Path, _states: _FileStates) -> dict[str, TaggedBook]:
    return {book.book: book for book in read_tag_file(path).books}


def tagger_signature(name: str) -> str:
    """The tagger's name; for a file or a checkpoint, its name and the start of its digest."""
    if name == AUTO:
        return f"{AUTO} {', '.join(f'{name}@{sha[:8]}' for name, sha in SHIPPED.items())}"
    if not os.path.exists(name) or name.partition(":")[0] in find_registered_taggers():
        return name
    return file_signature(Path(name), _digest(Path(name)))


def weight_signatures() -> dict[str, list[str]]:
    """The weights in the package that decide what is speech and who speaks, as "en@" and a digest.

    The digest is the start of the file's SHA-256.
    """
    from miner.people.attributor import WEIGHTS as SPEAKERS
    from miner.speech.speech_classifier import WEIGHTS as SPEECH

    folders = {"speech": SPEECH, "speakers": SPEAKERS}
    return {
        name: [
            f"{path.stem}@{sha256(path.read_bytes()).hexdigest()[:8]}"
            for path in sorted(folder.glob("*.safetensors"))
        ]
        for name, folder in folders.items()
    }


def tagger_label(name: str) -> str:
    """The tagger's name in tables."""
    if name.partition(":")[0] in find_registered_taggers():
        return str(getattr(load_tagger(name), "label", name))
    return name


def _digest(path: Path) -> str:
    """SHA-256 of a file, or of all files of a checkpoint that decide its tags: 64 digits."""
    return _digest_of(_file_states(path))


def _file_states(path: Path) -> _FileStates:
    """The files of a tagger with their times and sizes, which change when the files do."""
    names = (*CHECKPOINT, CHECKPOINT_ENCODER)
    files = [path / name for name in names] if path.is_dir() else [path]
    states = [(file, file.stat()) for file in files if file.is_file()]
    return tuple((file, state.st_mtime_ns, state.st_size) for file, state in states)


@lru_cache(maxsize=4)
def _digest_of(states: _FileStates) -> str:
    found = sha256()
    for path, _, _ in states:
        found.update(path.read_bytes())
    return found.hexdigest()
