"""A mined book, or why there is none, and the options that decide what it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from miner.books.book import Chapter
from miner.corpus.export import find_format
from miner.corpus.schema import KINDS, SCHEMAS, Row, arrow_schema, rows_from_lines, tagged_from_rows
from miner.errors import InputError
from miner.extras import import_extra
from miner.people.cast import Character
from miner.people.character_files import CharacterFile, character_from_row
from miner.speech.dialogues import Dialogue, Pair, decode_dialogues, span_pairs, turn_pairs
from miner.speech.filters import MIN_TURNS, DialogueLimits, FilteredDialogues, filter_dialogues
from miner.speech.spans import Span
from miner.speech.tags import TaggedBook
from miner.tagger.load import AUTO, FLOAT32

if TYPE_CHECKING:
    import datasets
    import networkx
    import pandas

    from miner.corpus.book_features import BookFeatures


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """What decides the output of mining, beside the books themselves."""

    tagger: str = AUTO  # a name or a path for `load_tagger`, or how `describe` names an object
    quotes: tuple[str, ...] = ()  # names of the marks that open speech; empty: inferred
    pairs_by_span: bool = False  # pair spans, as MCN does, instead of turns
    max_utterance_words: int | None = None  # of the longest turn that is kept
    min_turns: int = MIN_TURNS  # of the shortest dialogue that is kept
    min_confidence: float = 0.0  # of a pair that is kept, 0 to 1
    format: str = "jsonl"
    dtype: str = FLOAT32
    characters: CharacterFile | None = None  # of books whose lists are given; None: found
    history_turns: int | None = 0  # before the context of a pair; None: all of them
    front_matter: bool = False  # whether prefaces and all else beside the story are mined
    # A result has the features of its book, and no dialogues and pairs, which a build makes later.
    with_features: bool = False

    def __post_init__(self) -> None:
        """Refuses what would fail at every single book."""
        for name in ("max_utterance_words", "min_turns", "min_confidence"):
            value = getattr(self, name)
            if not isinstance(value, Real) and (value is not None or name != "max_utterance_words"):
                raise TypeError(f"found {name} {value!r}, expected a number")
        if self.history_turns is not None:
            if not isinstance(self.history_turns, Integral):
                raise TypeError(
                    f"found history_turns {self.history_turns!r}, expected a whole number or None"
                )
            if self.history_turns < 0:
                raise InputError(f"found history_turns {self.history_turns}, expected at least 0")
        if self.max_utterance_words is not None and self.max_utterance_words < 1:
            found = self.max_utterance_words
            raise InputError(f"found max_utterance_words {found}, expected at least 1")
        self.filter(())
        find_format(self.format)

    def filter(self, found: Iterable[Dialogue]) -> FilteredDialogues:
        """The dialogues that are kept, and how many turns, pairs and dialogues are not."""
        limits = DialogueLimits(self.max_utterance_words, self.min_confidence, self.min_turns)
        return filter_dialogues(found, limits)


@dataclass(frozen=True, slots=True)
class SetAside:
    """A source that gave no dialogues, and why, in one line."""

    name: str  # the word that named the source, or the file that a folder or a pattern led to
    why: str  # the reason
    # whether the same file would be set aside again. If not, a resumed run tries.
    is_lasting: bool = True


@dataclass(frozen=True, repr=False)
class MinedBook:
    """A book with its tags, dialogues and pairs.

    Example:
        >>> import miner
        >>> book = miner.mine("sample", tagger="gap")
        >>> book.pairs[0].context.text
        'Letter for you, Mr. Tarrant, and a brown one.'

    Args:
        entry: what run.json says of the book: title, language, counts, what was dropped and why.
        encoded: its rows by kind, as JSON Lines.
        confidences: those of all spans; empty if the tagger gives none.
        options: the options that it was mined with.
        features: what a build must know of the book; None unless the options ask for it.
    """

    entry: Mapping[str, Any]
    encoded: Mapping[str, bytes]
    confidences: tuple[float | None, ...]
    options: MiningOptions
    features: BookFeatures | None = None

    @property
    def id(self) -> str:
        """The Gutenberg number as text ("1342"), or the name of the file without its suffix."""
        return self.entry["id"]

    @property
    def title(self) -> str:
        """The title, or "" if the file does not name it."""
        return self.entry["title"]

    @property
    def author(self) -> str:
        """The author, or "" if the file does not name it."""
        return self.entry["author"]

    @property
    def language(self) -> str:
        """The code of the language that the file declares ("en"), or ""."""
        return self.entry["language"]

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """The chapters, in order."""
        return tuple(
            Chapter(index, found["number"], found["title"], found["paragraph"])
            for index, found in enumerate(self.entry["chapters"], 1)
        )

    @property
    def n_words(self) -> int:
        """Words of the book."""
        return self.entry["words"]

    @property
    def drops(self) -> dict[str, int]:
        """How many turns, pairs and dialogues the filters left out, by reason."""
        return dict(self.entry["filtered"])

    @cached_property
    def tagged(self) -> TaggedBook:
        """All spans with their tags."""
        language = self.entry["typography"]["language"]
        rows, source = self.rows("spans"), self.options.tagger
        return tagged_from_rows(self.id, rows, self.confidences, source, language)

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans in reading order, narration included."""
        return tuple(item.span for item in self.tagged.spans)

    @cached_property
    def dialogues(self) -> tuple[Dialogue, ...]:
        """The dialogues that the filters kept, in reading order."""
        return self.options.filter(decode_dialogues(self.tagged)).kept

    @cached_property
    def characters(self) -> tuple[Character, ...]:
        """The characters: who speaks most, then who is only spoken to, then who is only named."""
        return tuple(map(character_from_row, self.rows("characters")))

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Each turn with the next turn of its dialogue, in reading order."""
        pairs_of = span_pairs if self.options.pairs_by_span else turn_pairs
        return tuple(pair for dialogue in self.dialogues for pair in pairs_of(dialogue))

    def network(self) -> networkx.DiGraph[str]:
        """Who talks to whom: characters, and the words and turns that each says to another.

        `corpus.network.build_network` tells what the nodes, the edges and the graph have.

        Raises:
            ImportError: if networkx is not installed.
        """
        from miner.corpus.network import build_network

        return build_network(self.characters, self.tagged.spans, self.dialogues)

    def rows(self, kind: str = "pairs") -> list[Row]:
        """The rows of "spans", "dialogues", "pairs" or "characters", as the files have them.

        Raises:
            InputError: if there is no such kind.
        """
        if kind not in KINDS:
            raise InputError(f"found rows of {kind!r}, expected {', '.join(KINDS)}")
        return rows_from_lines(self.encoded[kind])

    def to_pandas(self, kind: str = "pairs") -> pandas.DataFrame:
        """The rows of a kind as a table of pandas.

        Raises:
            ImportError: if pandas is not installed.
            InputError: if there is no such kind.
        """
        rows = self.rows(kind)
        pandas = import_extra("pandas", "datasets")
        return pandas.DataFrame(rows, columns=list(SCHEMAS[kind]))

    def to_dataset(self, kind: str = "pairs") -> datasets.Dataset:
        """The rows of a kind as a data set of Hugging Face, with the columns of the Parquet files.

        Raises:
            ImportError: if datasets is not installed.
            InputError: if there is no such kind.
        """
        rows = self.rows(kind)
        library = import_extra("datasets", "datasets")
        import pyarrow as pa

        return library.Dataset(pa.Table.from_pylist(rows, schema=arrow_schema(SCHEMAS[kind])))

    def __repr__(self) -> str:
        counts = self.entry["counts"]
        return (
            f"<MinedBook {self.id}: {self.title!r}, {counts['dialogues']:,} dialogues, "
            f"{counts['pairs']:,} pairs>"
        )


def describe(given: Any) -> str:  # noqa: ANN401 - a user's tagger or filter may be anything
    """How the run record names an object that a user gave.

    It holds no address, which would differ from run to run, so that a run can be resumed.
    """
    if isinstance(name := getattr(given, "__qualname__", None), str):
        return name
    if type(given).__repr__ is object.__repr__:
        return type(given).__qualname__
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(given))
