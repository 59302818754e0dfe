"""Taggers side by side on the same gold: the seed work's table again, and ours beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from miner.annotation.annotations import AnnotatedBook, is_annotations, read_split
from miner.annotation.editions import BookReader, Edition, editions
from miner.annotation.mcn import McnData, read_mcn
from miner.books.book import Block, BlockKind, Book
from miner.dialogue.spans import BookSpans, Span
from miner.dialogue.statistics import Lengths, conversation_lengths
from miner.dialogue.tag_files import read_tag_file
from miner.dialogue.tags import Tag, TaggedBook, TaggedSpan, Tagger
from miner.evaluation.counts import Confusion, confusion
from miner.evaluation.matching import matched_tags
from miner.evaluation.pair_errors import JudgedPairs, judged_pairs
from miner.evaluation.reliability import Bin, reliability
from miner.evaluation.scores import Scores, score

# The gaps, in characters, among which the tuned one was chosen.
SWEPT_GAPS = (*range(50, 500, 50), *range(500, 1000, 100), *range(1000, 2001, 250))
GOLD = "gold"  # what plots call it beside the taggers
# What the seed's README prints (section Evaluation of "Mining Conversations from Novels").
MCN_README = {"seed heuristic": (0.50, 0.89), "seed model": (0.70, 0.93)}


@dataclass(frozen=True, slots=True)
class Row:
    """One tagger's scores on the spans of the gold, and what else its tags come to there.

    `confusion` says which tags it takes for which, `lengths` what conversations it makes, `bins`
    how often it is right by how sure it is (none where it claims no confidence). `readme` is the
    seed's published B-START recall and pair precision. `from_book` are the scores from the book to
    the tags, on the spans that the miner finds, and `domains` those of each domain of books, on the
    spans of the gold; the annotations have them.
    """

    name: str
    scores: Scores
    confusion: Confusion
    lengths: Lengths
    bins: tuple[Bin, ...] = ()
    readme: tuple[float, float] | None = None
    from_book: Scores | None = None
    domains: tuple[tuple[str, Scores], ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of a table, all scored on the same gold, and what is to be said below it.

    `lengths` are of the gold's own conversations.
    """

    gold: str
    split: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    lengths: Lengths

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain values, fit for `json.dumps`."""
        return {
            "gold": self.gold,
            "split": self.split,
            "conversations_by_turns": _by_turns(self.lengths),
            "rows": [
                {
                    "name": row.name,
                    "readme": row.readme,
                    **row.scores.to_json(),
                    "confusion": row.confusion.to_json(),
                    "conversations_by_turns": _by_turns(row.lengths),
                    "from_book": row.from_book.to_json() if row.from_book else None,
                    "domains": {name: scores.to_json() for name, scores in row.domains},
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
        }


def compare(
    gold: Path,
    taggers: Sequence[tuple[str, Tagger]],
    split: str = "test",
    *,
    read: BookReader | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Comparison:
    """All taggers on the spans of the gold, and the predictions that lie beside it.

    Args:
        gold: a folder of annotations, the seed project's folder, or a tags file (JSON Lines) with
            gold tags.
        taggers: name and tagger of each row of ours; they see the gold's spans, not its tags.
        split: of annotations as `Annotations.of_split` has it; of the seed "train", "validation",
            "test" or "all"; a tags file has only "all".
        read: gives the bytes of a book by its id; annotations need it, they hold no text.
        resamples: of the bootstrap over chapters.
        seed: of the bootstrap.

    Raises:
        ValueError: if the gold cannot be read, has no such split, or does not fit a book.
        OSError: if a file is missing.
    """
    if is_annotations(gold):
        if read is None:
            raise ValueError(f"{gold}: found annotations but no books, expected a way to read them")
        books = read_split(gold, split)
        return _compare_annotations(books, gold.name, taggers, split, read, resamples, seed)
    if gold.is_dir():
        return _compare_seed(read_mcn(gold), gold.name, taggers, split, resamples, seed)
    if split != "all":
        raise ValueError(f"{gold}: found a tags file, which has no split {split!r}, expected all")
    books = read_tag_file(gold).books
    rows = []
    for name, tagger in taggers:
        predicted = [
            TaggedBook(book.book, tuple(tagger.tag(spans_of(book))), name) for book in books
        ]
        scores = score(books, predicted, split=split, resamples=resamples, seed=seed)
        rows.append(_row(name, scores, books, predicted))
    return Comparison(gold.name, split, tuple(rows), (), conversation_lengths(GOLD, books))


@dataclass(frozen=True, slots=True)
class SweptGap:
    """A gap of narration, in characters, and the scores of the gap heuristic with it."""

    gap: int
    scores: Scores


def sweep(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    taggers: Sequence[tuple[int, Tagger]],
    *,
    split: str,
    resamples: int = 1000,
    seed: int = 0,
) -> list[SweptGap]:
    """The gap heuristic with each of many gaps, on the spans of the gold.

    Raises:
        ValueError: as `editions.editions` does.
    """
    opened = list(editions(books, read))
    gold = [edition.located.tagged() for edition in opened]
    return [
        SweptGap(
            gap,
            score(
                gold,
                [_on_gold(edition, tagger, f"gap {gap}") for edition in opened],
                split=split,
                resamples=resamples,
                seed=seed,
            ),
        )
        for gap, tagger in taggers
    ]


def mined_pairs(books: Sequence[AnnotatedBook], read: BookReader, tagger: Tagger) -> JudgedPairs:
    """The pairs that a tagger mines from the books, in the annotated chapters, right or wrong.

    Raises:
        ValueError: as `editions.editions` does.
    """
    opened = list(editions(books, read))
    return judged_pairs(
        [edition.located.tagged() for edition in opened],
        [_from_book(edition, tagger, "") for edition in opened],
    )


def _compare_annotations(
    books: Sequence[AnnotatedBook],
    folder: str,
    taggers: Sequence[tuple[str, Tagger]],
    split: str,
    read: BookReader,
    resamples: int,
    seed: int,
) -> Comparison:
    opened = list(editions(books, read))
    gold = [edition.located.tagged() for edition in opened]
    rows = []
    for name, tagger in taggers:
        on_gold, found = (
            [tagged(edition, tagger, name) for edition in opened]
            for tagged in (_on_gold, _from_book)
        )
        scores, from_book = (
            score(gold, predicted, split=split, resamples=resamples, seed=seed)
            for predicted in (on_gold, found)
        )
        domains = tuple(
            (domain, score(*of_domain, split=split, resamples=0, seed=seed))
            for domain, of_domain in _by_domain(opened, gold, on_gold)
        )
        row = _row(name, scores, gold, on_gold)
        rows.append(replace(row, from_book=from_book, domains=domains))
    n_lost = sum(len(edition.located.lost) for edition in opened)
    other = [edition.annotated.card.book for edition in opened if not edition.is_annotated_one]
    notes = []
    if other:
        notes.append(
            f"{len(other)} of {len(opened)} books are other editions than those annotated "
            f"({', '.join(other)}): {n_lost} annotated spans not found in them"
        )
    return Comparison(folder, split, tuple(rows), tuple(notes), conversation_lengths(GOLD, gold))


def _by_domain(
    opened: Sequence[Edition], *taggings: Sequence[TaggedBook]
) -> Iterator[tuple[str, list[list[TaggedBook]]]]:
    """The domains of the books by name, each with its books of every tagging; none of a single."""
    domains = [edition.annotated.card.domain for edition in opened]
    for domain in sorted(set(domains)) if len(set(domains)) > 1 else ():
        yield (
            domain,
            [
                [book for book, of in zip(tagging, domains, strict=True) if of == domain]
                for tagging in taggings
            ],
        )


def _row(
    name: str, scores: Scores, gold: Sequence[TaggedBook], predicted: Sequence[TaggedBook]
) -> Row:
    """The row of a tagger that tagged the spans of the gold."""
    matched = list(matched_tags(gold, predicted))
    lengths = conversation_lengths(name, predicted)
    return Row(name, scores, confusion(matched), lengths, reliability(matched))


def _by_turns(lengths: Lengths) -> dict[str, int]:
    """How many conversations there are of each length, fit for `json.dumps`."""
    return {str(turns): n for turns, n in lengths.counts.items()}


def _on_gold(edition: Edition, tagger: Tagger, name: str) -> TaggedBook:
    """What the tagger makes of the annotated spans."""
    book = edition.annotated.card.book
    return TaggedBook(book, tuple(tagger.tag(edition.located.book_spans)), name)


def _from_book(edition: Edition, tagger: Tagger, name: str) -> TaggedBook:
    """What the tagger makes of the spans that the miner finds in the annotated chapters.

    Nobody judges the others, and no tag depends on another chapter.
    """
    judged = {span.chapter for span in edition.located.book_spans.spans}
    spans = tuple(span for span in edition.book_spans.spans if span.chapter in judged)
    tagged = tagger.tag(BookSpans(edition.book_spans.book, spans))
    return TaggedBook(edition.annotated.card.book, tuple(tagged), name)


def spans_of(tagged: TaggedBook) -> BookSpans:
    """The spans of a tagged book without their tags, for another tagger.

    The blocks are those that the spans make up; headings are not known as such, chapters are.
    """
    texts: dict[int, list[Span]] = {}
    for item in tagged.spans:
        texts.setdefault(item.span.paragraph, []).append(item.span)
    blocks = tuple(
        Block(
            paragraph, spans[0].chapter, BlockKind.PARAGRAPH, "".join(span.text for span in spans)
        )
        for paragraph, spans in texts.items()
    )
    book = Book(tagged.book, "", "", "", blocks, (), "")
    return BookSpans(book, tuple(item.span for item in tagged.spans))


def _compare_seed(
    mcn: McnData,
    folder: str,
    taggers: Sequence[tuple[str, Tagger]],
    split: str,
    resamples: int,
    seed: int,
) -> Comparison:
    splits = {name for _, name in mcn.splits}
    if split not in (*splits, "all"):
        raise ValueError(f"{folder}: found no split {split!r}, expected one of {sorted(splits)}")

    def part(tagged: TaggedBook) -> TaggedBook:
        return tagged if split == "all" else mcn.of_split(tagged, split)

    predictions = [("seed heuristic", mcn.heuristic)]
    if split == "test":
        predictions.append(("seed model", mcn.model))
    ours = [
        (name, TaggedBook(mcn.gold_v2.book, tuple(tagger.tag(mcn.book_spans)), name))
        for name, tagger in taggers
    ]
    gold = [part(mcn.gold_v2)]
    rows = []
    for name, tagged in (*predictions, *ours):
        predicted = [part(tagged)]
        scores = score(gold, predicted, split=split, resamples=resamples, seed=seed)
        readme = MCN_README.get(name) if split == "test" else None
        rows.append(replace(_row(name, scores, gold, predicted), readme=readme))
    notes = [_difference(mcn, tagged) for name, tagged in ours if name == "narration"]
    lengths = conversation_lengths(GOLD, gold)
    return Comparison(f"{folder}, gold-v2", split, tuple(rows), tuple(notes), lengths)


def _difference(mcn: McnData, narration: TaggedBook) -> str:
    """How often the rule as the seed's text states it differs from what the seed's code did."""
    n_utterances = n_differ = n_quirk = 0
    previous: TaggedSpan | None = None
    for theirs, ours in zip(mcn.heuristic.spans, narration.spans, strict=True):
        if ours.tag is not Tag.O:
            n_utterances += 1
            follows_narration = (
                previous is not None
                and previous.tag is Tag.O
                and previous.span.paragraph == ours.span.paragraph
            )
            if theirs.tag is not ours.tag:
                n_differ += 1
                n_quirk += follows_narration and str(theirs.tag).startswith("I-")
        previous = ours
    return (
        f"narration differs from the seed's own heuristic in {n_differ} of {n_utterances} "
        f"utterance rows of the whole book: in {n_quirk} the utterance follows narration inside "
        "its paragraph, which the seed's code always tags I-"
    )
