"""A source -> a mined book -> its rows: the whole way for one book."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miner.books.sources import SAMPLE, Source
from miner.corpus.schema import rows_of_book
from miner.corpus.writer import encode
from miner.dialogue.dialogues import Dialogue, by_span, dialogues
from miner.dialogue.filters import filter_dialogues
from miner.dialogue.read import read_spans
from miner.dialogue.spans import BookSpans
from miner.dialogue.tags import TaggedBook, TaggedSpan, Tagger
from miner.dialogue.typography import Typography
from miner.files import Format, is_checkpoint, printable
from miner.models.load import (
    AUTO,
    load_tagger,
    tagger_for,
    tagger_signature,
)

if TYPE_CHECKING:
    from miner.models.tagger.features import Chapter


@dataclass(frozen=True, slots=True)
class MiningOptions:
    """What decides the output of `mine`, beside the books themselves.

    Args:
        tagger: a name or a path, as `taggers.load_tagger` takes it.
        quotes: names of the marks that open speech; empty to infer them for each book.
        pairs_by_span: pair spans, as the seed work does, instead of turns.
        max_utterance_words: longest turn, in words; None for no limit.
        min_turns: fewest turns of a dialogue that is kept.
        min_confidence: least confidence at which a turn is paired with the one before.
        format: of the files.
    """

    tagger: str = AUTO
    quotes: tuple[str, ...] = ()
    pairs_by_span: bool = False
    max_utterance_words: int | None = None
    min_turns: int = 1
    min_confidence: float = 0.0
    format: Format = "jsonl"


@dataclass(frozen=True, slots=True)
class MinedBook:
    """A book with its spans tagged and decoded; `filter_drops` counts what the filters took."""

    book_spans: BookSpans
    tagged: TaggedBook
    dialogues: tuple[Dialogue, ...]
    filter_drops: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SetAside:
    """A source that gave no dialogues, and why, in one line.

    `name` is the word that named it, or the file that was found under a folder or a glob.
    """

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of one source: its entry in the run record, and its rows, encoded by kind."""

    entry: dict[str, Any]
    encoded: dict[str, bytes]

    @property
    def n_words(self) -> int:
        """Words of the book."""
        return self.entry["words"]


def mine_book(data: bytes, book_id: str, tagger: Tagger, options: MiningOptions) -> MinedBook:
    """One book all the way: parsed, split, tagged, decoded and filtered.

    Raises:
        ValueError: as `read_spans` does, or if the tagger has no tags for the book.
    """
    book_spans = read_spans(data, book_id, options.quotes)
    return _decoded(book_spans, tagger.tag(book_spans), options)


def _decoded(
    book_spans: BookSpans, tags: Iterable[TaggedSpan], options: MiningOptions
) -> MinedBook:
    tagged = TaggedBook(book_spans.book.id, tuple(tags), options.tagger)
    kept = filter_dialogues(
        dialogues(tagged), options.max_utterance_words, options.min_turns, options.min_confidence
    )
    return MinedBook(book_spans, tagged, kept.kept, kept.drops)


@dataclass(frozen=True, slots=True)
class UntaggedBook:
    """A book that is split and waits for a checkpoint to tag it; `chapters` are what that reads."""

    source: Source
    book_spans: BookSpans
    chapters: tuple[Chapter, ...]


def read_source(source: Source, options: MiningOptions) -> UntaggedBook | Summary | SetAside:
    """What one source gives without a checkpoint: all, or the book as a checkpoint takes it.

    Never raises for what is in the file.
    """
    path = source.path
    if path is None:
        return SetAside(source.word, "not on disk")
    with _collector_paused():
        try:
            split = read_spans(path.read_bytes(), source.id, options.quotes)
            name = tagger_for(options.tagger, _typography(split).language)
            if is_checkpoint(Path(name)):
                from miner.models.tagger.features import (
                    chapters,  # heuristics need none, nor what it imports
                )

                return UntaggedBook(source, split, tuple(chapters(split)))
            read = UntaggedBook(source, split, ())
            return summed_up(read, load_tagger(name).tag(split), options)
        except OSError as error:
            return SetAside(_name(source, path), f"cannot be read: {error.strerror or error}")
        except ValueError as error:
            return SetAside(_name(source, path), str(error))


def summed_up(read: UntaggedBook, tags: Iterable[TaggedSpan], options: MiningOptions) -> Summary:
    """The rows of a book that is tagged.

    Raises:
        ValueError: if it was asked for confidence and its tags have none.
    """
    mined = _decoded(read.book_spans, tags, options)
    rows = rows_of_book(mined.tagged, mined.dialogues, options.pairs_by_span)
    encoded = {kind: encode(kind, made, options.format) for kind, made in rows.items()}
    return Summary(_entry(read.source, mined, options), encoded)


def _name(source: Source, path: Path) -> str:
    """The word, unless it names more than this file."""
    is_one = source.word == SAMPLE or source.word.isdecimal()
    return source.word if is_one else printable(path)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No garbage collection while one book is mined.

    A parsed page is tens of thousands of objects that the collector would walk again and again;
    its cycles are cut by hand when it is done with, so that nothing is left to collect.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _entry(source: Source, mined: MinedBook, options: MiningOptions) -> dict[str, Any]:
    """What the run record says of a book."""
    assert source.path is not None
    typography = _typography(mined.book_spans)
    book, spans = mined.book_spans.book, mined.book_spans.spans
    turns = sum(len(dialogue.turns) for dialogue in mined.dialogues)
    return {
        "id": source.id,
        "file": printable(source.path.name),
        "sha256": book.sha256,
        "title": book.title,
        "author": book.author,
        "language": book.language,
        "words": book.n_words,
        "chapters": book.n_chapters,
        "blocks": dict(sorted(Counter(block.kind.value for block in book.blocks).items())),
        "dropped_words": dict(book.drops),
        "typography": {
            "language": typography.language,
            "marks": list(typography.names),
            "confidence": round(typography.confidence, 4),
        },
        "tagger": tagger_signature(tagger_for(options.tagger, typography.language)),
        "counts": {
            "utterances": sum(span.is_utterance for span in spans),
            "quoted_not_speech": sum(span.quoted for span in spans),
            "dialogues": len(mined.dialogues),
            "turns": turns,
            "pairs": sum(
                len((by_span(dialogue) if options.pairs_by_span else dialogue).turns) - 1
                for dialogue in mined.dialogues
            ),
        },
        "filtered": dict(mined.filter_drops),
    }


def _typography(book_spans: BookSpans) -> Typography:
    assert book_spans.typography is not None  # `read_spans` gives it
    return book_spans.typography
