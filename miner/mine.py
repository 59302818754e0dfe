"""A source -> a mined book -> its rows: the whole way for one book."""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristic.gap import DEFAULT_GAP
from miner.book import Book, parse_book
from miner.dialogues import Dialogue, by_span, dialogues, filtered
from miner.files import Format, is_checkpoint, printable
from miner.output import encode
from miner.records import rows_of_book
from miner.sources import SAMPLE, Source
from miner.spans import BookSpans, split_book
from miner.taggers import (
    AUTO,
    load_tagger,
    tagger_for,
    tagger_signature,
)
from miner.tags import TaggedBook, TaggedSpan, Tagger
from miner.typography import Typography, infer_typography, prose, typography_from_names

if TYPE_CHECKING:
    from miner.features import Chapter

# Blocks that begin with the same name and a stop, as in a play: so many make a name a speaker's,
# and such a share of all blocks makes a book a play.
_LINES_OF_A_SPEAKER = 3
_SHARE_OF_A_PLAY = 0.3
_DOUBTFUL = 0.5  # confidence in a book's typography below which it may be a play
_SPEAKER = re.compile(r"([A-Z\u00c0-\u00dd][\w\u2019'. -]{0,28}?)[.:\u2014](?:\s|$)")


@dataclass(frozen=True, slots=True)
class Options:
    """What decides the output of `mine`, beside the books themselves.

    Args:
        tagger: a name or a path, as `taggers.load_tagger` takes it.
        gap: characters of narration that begin a conversation, for the gap tagger.
        quotes: names of the marks that open speech; empty to infer them for each book.
        pairs_by_span: pair spans, as the seed work does, instead of turns.
        max_utterance_words: longest turn, in words; None for no limit.
        min_turns: fewest turns of a dialogue that is kept.
        min_confidence: least confidence at which a turn is paired with the one before.
        format: of the files.
    """

    tagger: str = AUTO
    gap: int = DEFAULT_GAP
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
    typography: Typography
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


def split_source(data: bytes, book_id: str, quotes: Sequence[str]) -> tuple[BookSpans, Typography]:
    """The spans of a book file, and the typography they were split by.

    Raises:
        ValueError: if the file cannot be parsed, or holds no dialogue; one line.
    """
    book = parse_book(data, book_id)
    typography = infer_typography(book)
    if quotes:
        typography = typography_from_names(quotes, typography.language)
    book_spans = split_book(book, typography)
    if not any(span.is_utterance for span in book_spans.spans):
        raise ValueError(_why_no_dialogue(book))
    if typography.confidence < _DOUBTFUL and _is_play(book):
        raise ValueError(_why_no_dialogue(book))
    return book_spans, typography


def mine_book(data: bytes, book_id: str, tagger: Tagger, options: Options) -> MinedBook:
    """One book all the way: parsed, split, tagged, decoded and filtered.

    Raises:
        ValueError: as `split_source` does, or if the tagger has no tags for the book.
    """
    book_spans, typography = split_source(data, book_id, options.quotes)
    return _decoded(book_spans, typography, tagger.tag(book_spans), options)


def _decoded(
    book_spans: BookSpans, typography: Typography, tags: Iterable[TaggedSpan], options: Options
) -> MinedBook:
    tagged = TaggedBook(book_spans.book.id, tuple(tags), options.tagger)
    kept = filtered(
        dialogues(tagged), options.max_utterance_words, options.min_turns, options.min_confidence
    )
    return MinedBook(book_spans, typography, tagged, kept.kept, kept.drops)


@dataclass(frozen=True, slots=True)
class ReadBook:
    """A book that is split and waits for a checkpoint to tag it; `chapters` are what that reads."""

    source: Source
    book_spans: BookSpans
    typography: Typography
    chapters: tuple[Chapter, ...]


def read_source(source: Source, options: Options) -> ReadBook | Summary | SetAside:
    """What one source gives without a checkpoint: all, or the book as a checkpoint takes it.

    Never raises for what is in the file.
    """
    path = source.path
    if path is None:
        return SetAside(source.word, "not on disk")
    with _collector_paused():
        try:
            split, typography = split_source(path.read_bytes(), source.id, options.quotes)
            name = tagger_for(options.tagger, typography.language)
            if is_checkpoint(Path(name)):
                from miner.features import chapters  # heuristics need none, nor what it imports

                return ReadBook(source, split, typography, tuple(chapters(split)))
            read = ReadBook(source, split, typography, ())
            return summed_up(read, load_tagger(name, options.gap).tag(split), options)
        except OSError as error:
            return SetAside(_name(source, path), f"cannot be read: {error.strerror or error}")
        except ValueError as error:
            return SetAside(_name(source, path), str(error))


def summed_up(read: ReadBook, tags: Iterable[TaggedSpan], options: Options) -> Summary:
    """The rows of a book that is tagged.

    Raises:
        ValueError: if it was asked for confidence and its tags have none.
    """
    mined = _decoded(read.book_spans, read.typography, tags, options)
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


def _entry(source: Source, mined: MinedBook, options: Options) -> dict[str, Any]:
    """What the run record says of a book."""
    assert source.path is not None
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
            "language": mined.typography.language,
            "marks": list(mined.typography.names),
            "confidence": round(mined.typography.confidence, 4),
        },
        "tagger": tagger_signature(tagger_for(options.tagger, mined.typography.language)),
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


def _why_no_dialogue(book: Book) -> str:
    if _is_play(book):
        return "a play: lines are headed by their speakers' names, not set in quotation marks"
    return (
        "no dialogue: found no speech between quotation marks or after dashes "
        f"in {book.n_words:,} words"
    )


def _is_play(book: Book) -> bool:
    blocks = prose(book.blocks)
    labels = [match[1] for block in blocks if (match := _SPEAKER.match(block.text))]
    counts = Counter(labels)
    lines = sum(count for count in counts.values() if count >= _LINES_OF_A_SPEAKER)
    return bool(blocks) and lines >= _SHARE_OF_A_PLAY * len(blocks)
