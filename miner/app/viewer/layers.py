"""Taggings of one book side by side: the gold's and the taggers', their scores, where they part."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from miner.annotation.annotations import AnnotatedBook, Annotations
from miner.annotation.locate import locate, refuse_losses
from miner.app.viewer.numbered import NumberedChapter, Place, numbered, place_of
from miner.books.book import Book
from miner.dialogue.spans import BookSpans, Span
from miner.dialogue.tags import Tag, TaggedBook, Tagger
from miner.models.load import StoredTags

GOLD = "gold"
MOST_LAYERS = 9  # as many as there are keys to switch them by
RATES = ("precision", "recall", "f1")


class Says(StrEnum):
    """What a layer says of a stretch of text; as text, the words to show."""

    CONVERSATION = "begins a conversation"
    TURN = "begins a turn"
    ON = "goes on with the turn"
    OTHERWISE = "cut otherwise"
    NOTHING = "no utterance"


SAYS = {
    Tag.B_START: Says.CONVERSATION,
    Tag.B_OTHER: Says.TURN,
    Tag.I_START: Says.ON,
    Tag.I_OTHER: Says.ON,
}


@dataclass(frozen=True, slots=True)
class Layer:
    """One tagging of a book, by chapter; the gold has the annotated chapters only."""

    name: str
    is_gold: bool
    chapters: Mapping[int, NumberedChapter]


@dataclass(frozen=True, slots=True)
class LayeredBook:
    """A book and its layers, the gold first.

    `annotated` has the chapters that the gold is about, in order; `n_lost` counts the annotated
    spans that this edition has not.
    """

    book: Book
    layers: tuple[Layer, ...]
    annotated: tuple[int, ...] = ()
    n_lost: int = 0

    @property
    def chapters(self) -> tuple[int, ...]:
        """The numbers of the chapters, in order; 0 is what stands before the first of them."""
        return tuple(dict.fromkeys(block.chapter for block in self.book.blocks))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A stretch of text of which two layers say different things."""

    place: Place
    first: Says
    second: Says


@dataclass(frozen=True, slots=True)
class Rates:
    """Precision, recall and F1, 0 to 1; None where not defined, as `scores.Score` has it."""

    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class ChapterScores:
    """A layer against the gold, in one chapter: B-START and turn pairs, end to end."""

    start: Rates
    pairs: Rates


def layered(
    book_spans: BookSpans,
    taggers: Sequence[tuple[str, Tagger]],
    annotations: Annotations | None = None,
) -> LayeredBook:
    """The book as the gold has it, if annotations are given, and as each tagger tags it.

    The annotated chapters stand on the spans of the gold, which every tagger tags, as in
    `miner compare`; the other chapters on the miner's own. Stored tags keep the spans of their
    file, which are of the whole book.

    Args:
        book_spans: the whole book, as the miner splits it.
        taggers: name and tagger of each layer beside the gold.
        annotations: of this book, and of any others.

    Raises:
        ValueError: if there are too many layers, or two of one name; if the annotations do not have
            the book, or too few of them are found in it; if a tagger refuses the book.
    """
    names = [*([GOLD] if annotations else []), *(name for name, _ in taggers)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"found two layers called {twice[0]}, expected each name once")
    if not 1 <= len(names) <= MOST_LAYERS:
        raise ValueError(f"found {len(names)} layers, expected 1 to {MOST_LAYERS}")
    book = book_spans.book
    if annotations is None:
        plain = (
            TaggedBook(book.id, tuple(tagger.tag(book_spans)), name) for name, tagger in taggers
        )
        layers = (Layer(tagged.source, False, numbered(tagged)) for tagged in plain)
        return LayeredBook(book, tuple(layers))
    located = locate(_annotated(annotations, book.id), book_spans)
    refuse_losses(located)
    gold = located.tagged()
    facts = {
        place_of(span): fact
        for span, fact in zip(located.book_spans.spans, located.facts, strict=True)
        if fact is not None
    }
    layers = [Layer(GOLD, True, numbered(gold, facts=facts))]
    mixed = BookSpans(book, tuple(_with_chapters(book_spans.spans, located.book_spans.spans)))
    for name, tagger in taggers:
        spans = tagger.tag(book_spans if isinstance(tagger, StoredTags) else mixed)
        layers.append(Layer(name, False, numbered(TaggedBook(book.id, tuple(spans), name), gold)))
    return LayeredBook(book, tuple(layers), tuple(layers[0].chapters), len(located.lost))


def disagreements(one: NumberedChapter, other: NumberedChapter) -> list[Disagreement]:
    """Where two layers say different things of a chapter, in reading order.

    Compared is what is decided: whether an utterance begins a conversation, begins a turn, or goes
    on with one. Whether that turn is the first of its conversation was decided before, so I-START
    and I-OTHER are no disagreement.
    """
    sides = [
        {place_of(item.item.span): SAYS[item.item.tag] for item in side.utterances}
        for side in (one, other)
    ]
    ordered = [sorted(side) for side in sides]
    found = []
    for place in sorted(sides[0].keys() | sides[1].keys()):
        first, second = (
            side.get(place) or _says_beside(place, places)
            for side, places in zip(sides, ordered, strict=True)
        )
        if first is not second:
            found.append(Disagreement(place, first, second))
    return found


def chapter_scores(book: LayeredBook, layer: Layer, chapter: int) -> ChapterScores:
    """A layer of an annotated chapter against the gold, as `scores.score` has it end to end.

    Raises:
        ValueError: if the chapter is not annotated.
    """
    from miner.evaluation.scores import score  # slow to import, and only the gold needs it

    if chapter not in book.annotated:
        raise ValueError(f"found no gold of chapter {chapter}, expected one of {book.annotated}")
    gold, guess = (
        TaggedBook(book.book.id, side.chapters[chapter].spans, side.name)
        for side in (book.layers[0], layer)
    )
    figure = score([gold], [guess], resamples=0).total.end_to_end
    start, pairs = (
        Rates(*(figure[f"{unit}.{rate}"].value for rate in RATES))
        for unit in (str(Tag.B_START), "turn-pair")
    )
    return ChapterScores(start, pairs)


def layer_names(labels: Iterable[str]) -> list[str]:
    """Names for layers: of a path its last part, unless two paths end alike.

    >>> layer_names(["gap 150", "runs/large", "old/tags.jsonl", "new/tags.jsonl"])
    ['gap 150', 'large', 'old/tags.jsonl', 'new/tags.jsonl']
    """
    labels = list(labels)
    ends = [label.rstrip("/").rpartition("/")[2] for label in labels]
    return [label if ends.count(end) > 1 else end for label, end in zip(labels, ends, strict=True)]


def _says_beside(place: Place, places: Sequence[Place]) -> Says:
    """What a layer says of a stretch that is not one of its utterances; `places` are sorted.

    Utterances do not overlap each other, so only the nearest on either side can overlap it.
    """
    paragraph, start, end = place
    n = bisect_left(places, place)
    near = (other for other in places[max(n - 1, 0) : n + 1] if other[0] == paragraph)
    overlaps = any(other[1] < end and start < other[2] for other in near)
    return Says.OTHERWISE if overlaps else Says.NOTHING


def _with_chapters(spans: Iterable[Span], own: Sequence[Span]) -> Iterator[Span]:
    """The spans of a book with some of its chapters replaced by others of the same number."""
    chapters = {number: list(group) for number, group in groupby(own, key=lambda s: s.chapter)}
    for number, group in groupby(spans, key=lambda s: s.chapter):
        yield from chapters.get(number, group)


def _annotated(annotations: Annotations, book: str) -> AnnotatedBook:
    for item in annotations.gold:
        if item.card.book == book:
            return item
    raise ValueError(
        f"{annotations.folder}: found no annotations of {book}, "
        f"expected one of its {len(annotations.gold)} books"
    )
