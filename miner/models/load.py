"""A tagger by its name or by the path of its tags: the one door to all of them.

"auto" is the trained tagger that comes with the package, for books in the language it was trained
on, and the gap heuristic for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from miner.dialogue.spans import BookSpans
from miner.dialogue.tag_files import read_tag_file
from miner.dialogue.tags import TaggedBook, TaggedSpan, Tagger
from miner.dialogue.typography import infer_language
from miner.files import CHECKPOINT, file_signature, is_checkpoint

if TYPE_CHECKING:
    from miner.models.tagger.tagger import NeuralTagger

AUTO = "auto"
BASELINES = ("gap", "tuned-gap", "narration")  # what `miner compare` compares when not told
GROUP = "miner.taggers"  # of the entry points by which a package, ours or another, adds taggers
CHECKPOINTS = (
    Path(__file__).parent / "tagger" / "checkpoints"
)  # that come with the package, by language
# Digest of the files of each; what has another is damaged, or is not what was measured.
SHIPPED = {"en": "31d79b755bd9305a80042f0fb0cceb1478b333fb9407251567891ae3e438952b"}


@dataclass(frozen=True, slots=True)
class StoredTags:
    """Tags read from a file, such as one that `miner tag` wrote and somebody corrected."""

    path: Path
    books: dict[str, TaggedBook]

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """The stored tags of the book, on the book's own spans.

        Args:
            book_spans: the book, or some of its chapters, whole.

        Raises:
            ValueError: if the file lacks the book, or its spans are not those of the book.
        """
        book = book_spans.book.id
        if book not in self.books:
            held = ", ".join(self.books) or "no book"
            raise ValueError(f"{self.path}: found tags of {held}, expected tags of {book}")
        wanted = {span.chapter for span in book_spans.spans}
        stored = [item for item in self.books[book].spans if item.span.chapter in wanted]
        if len(stored) != len(book_spans.spans):
            raise ValueError(
                f"{self.path}: found {len(stored)} spans of {book}, "
                f"expected {len(book_spans.spans)} as the book has them now"
            )
        tagged = []
        for span, old in zip(book_spans.spans, stored, strict=True):
            place = f"paragraph {span.paragraph}, span {span.index}"
            if (old.span.paragraph, old.span.text) != (span.paragraph, span.text):
                raise ValueError(
                    f"{self.path}: {book}, {place}: found {old.span.text[:40]!r}, "
                    f"expected {span.text[:40]!r}"
                )
            # Whether a span is an utterance may have been corrected, too; the file's word counts.
            tagged.append(TaggedSpan(old.span, old.tag, old.confidence))
        return tagged


@dataclass(frozen=True, slots=True)
class AutoTagger:
    """The shipped checkpoint of the book's language, or the gap heuristic where there is none."""

    dtype: str = "float32"

    def tag(self, book_spans: BookSpans) -> Sequence[TaggedSpan]:
        """As the tagger does that is chosen."""
        name = tagger_for(AUTO, infer_language(book_spans.book))
        return load_tagger(name, self.dtype).tag(book_spans)


def tagger_for(name: str, language: str) -> str:
    """The tagger that `name` stands for with a book of a language: for "auto" another than itself.

    Args:
        name: as `load_tagger` takes it.
        language: as `typography.infer_language` gives it.
    """
    if name != AUTO:
        return name
    return str(CHECKPOINTS / language) if language in SHIPPED else "gap"


def may_read_text(name: str) -> bool:
    """Whether a tagger is a checkpoint, for some books at least."""
    return name == AUTO or is_checkpoint(Path(name))


def checkpoint_tagger(name: str, dtype: str = "float32") -> NeuralTagger:
    """The tagger of a checkpoint; of a name that `may_read_text`.

    Args:
        name: "auto" or the path of a checkpoint.
        dtype: as `load_checkpoint` takes it.

    Raises:
        ValueError: if it cannot be loaded; if it is a shipped one, but not as it was shipped; if
            `dtype` is another word than "float32" or "bfloat16".
    """
    path = CHECKPOINTS / "en" if name == AUTO else Path(name)
    where = path.resolve()
    expected = SHIPPED.get(where.name) if where.parent == CHECKPOINTS.resolve() else None
    if expected and (found := _digest(path)) != expected:
        raise ValueError(
            f"{path}: found a checkpoint of SHA-256 {found[:8]}, expected {expected[:8]} as it "
            "came with the package: install it again"
        )
    return _checkpoint(path, dtype, _states(path))


def registered_taggers() -> dict[str, EntryPoint]:
    """The taggers that installed packages register, by name, in alphabetical order.

    A package registers one as an entry point of the group `miner.taggers`: a callable that returns
    a `Tagger`. It is called without arguments, or, for a name with a colon ("gap:300"), with the
    text after the colon.
    """
    found = entry_points(group=GROUP)
    return {item.name: item for item in sorted(found, key=lambda item: item.name)}


def load_tagger(name: str, dtype: str = "float32") -> Tagger:
    """The tagger of that name, or the one that takes its tags from the file of that path.

    Args:
        name: "auto", a registered tagger ("gap", "gap:300"), or the path of a tags file (JSON
            Lines) or of a checkpoint of `train.py`.
        dtype: the numbers that a checkpoint's encoder computes with, "float32" or "bfloat16";
            other taggers ignore it.

    Raises:
        ValueError: if the name is neither known nor a file, the tagger does not take what stands
            after the colon, or the file holds no valid tags.
    """
    if name == AUTO:
        checkpoint_tagger(AUTO, dtype)  # what is wrong with it is said now
        return AutoTagger(dtype)
    plain, colon, argument = name.partition(":")
    if entry := registered_taggers().get(plain):
        factory = entry.load()
        try:
            return factory(argument) if colon else factory()
        except TypeError as error:
            raise ValueError(f"{name}: found {argument!r}, expected {plain} alone") from error
    path = Path(name)
    if is_checkpoint(path):
        return checkpoint_tagger(name, dtype)
    if not path.is_file():
        known = ", ".join((AUTO, *registered_taggers()))
        raise ValueError(
            f"no tagger {name!r}: expected one of {known}, a file of tags, or a checkpoint"
        )
    return _stored_tags(path, _states(path))


@lru_cache(maxsize=1)
def _checkpoint(
    path: Path, dtype: str, _changed: tuple[tuple[Path, int, int], ...]
) -> NeuralTagger:
    from miner.models.tagger.checkpoint import load_checkpoint  # slow: imports PyTorch

    return load_checkpoint(path, dtype=dtype)


# A tags file of many books is asked for once a book.
@lru_cache(maxsize=1)
def _stored_tags(path: Path, _changed: tuple[tuple[Path, int, int], ...]) -> StoredTags:
    return StoredTags(path, {book.book: book for book in read_tag_file(path).books})


def tagger_signature(name: str) -> str:
    """The tagger's name; of a file or checkpoint, its name and the start of its digest."""
    if name == AUTO:
        return f"{AUTO} {', '.join(f'{name}@{sha[:8]}' for name, sha in SHIPPED.items())}"
    if name.partition(":")[0] in registered_taggers():
        return name
    return file_signature(Path(name), _digest(Path(name)))


def _digest(path: Path) -> str:
    """SHA-256 of a file, or of all that decides what a checkpoint says, in 64 digits."""
    return _digest_of(_states(path))


def _states(path: Path) -> tuple[tuple[Path, int, int], ...]:
    """The files of a tagger that are there, with what changes when they do: time and size."""
    files = [path / name for name in CHECKPOINT] if path.is_dir() else [path]
    states = [(file, file.stat()) for file in files if file.is_file()]
    return tuple((file, state.st_mtime_ns, state.st_size) for file, state in states)


@lru_cache(maxsize=4)
def _digest_of(states: tuple[tuple[Path, int, int], ...]) -> str:
    found = sha256()
    for path, _, _ in states:
        found.update(path.read_bytes())
    return found.hexdigest()


def tagger_label(name: str) -> str:
    """What a table calls the tagger that `load_tagger` gives for the same word."""
    if name.partition(":")[0] in registered_taggers():
        return str(getattr(load_tagger(name), "label", name))
    return name
