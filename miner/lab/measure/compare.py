"""Several taggers and one gold -> their scores side by side, with those of MCN on MCN's gold.

MCN is the project "Mining Conversations from Novels". Its folder holds its gold tags and the
predictions of its own heuristic and model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from miner.annotation.annotations import (
    ENGLISH,
    AnnotatedBook,
    is_annotations,
    name_of_split,
    read_split,
)
from miner.annotation.matching import match_tags
from miner.errors import InputError
from miner.lab.gold.dialogue_statistics import Lengths, measure_dialogues
from miner.lab.gold.editions import (
    BookReader,
    Coverage,
    Edition,
    read_editions_at_hand,
    tag_found_spans,
    tag_gold_spans,
)
from miner.lab.gold.mcn import McnData, read_mcn, refuse_gold, strip_tags
from miner.lab.measure.confidence import Bin, measure_reliability
from miner.lab.measure.scores import Confusion, Scores, count_confusion, score
from miner.speech.tag_files import read_tag_file
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, Tagger

GOLD = "gold"  # the name of the gold in plots
# B-START recall and span-pair precision in the README of MCN, section "Evaluation".
MCN_README = {"MCN heuristic": (0.50, 0.89), "MCN model": (0.70, 0.93)}


@dataclass(frozen=True, slots=True)
class ComparedTagger:
    """One tagger of a comparison: its scores on the gold spans, and what its tags look like.

    Attributes:
        name: what tables and plots call it.
        scores: on the spans of the gold.
        confusion: how often it predicts each tag for each gold tag.
        lengths: of the conversations that it makes.
        bins: how often its tags are right by their confidence; none if it gives no confidence.
        readme: the B-START recall and span-pair precision that MCN published for it.
        from_book: scores on the spans that the miner finds; with annotations only.
        domains: scores on the gold spans of each domain of books; with annotations only.
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
    """Taggers that were scored on the same gold, and notes for the end of the table.

    `lengths` are those of the gold's own conversations. With annotations, `coverage` says what the
    scores are of; a book that is not at hand is left out.
    """

    gold: str
    split: str
    rows: tuple[ComparedTagger, ...]
    notes: tuple[str, ...]
    lengths: Lengths
    coverage: Coverage | None = None

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {
            "gold": self.gold,
            "split": self.split,
            "conversations_by_turns": _count_by_turns(self.lengths),
            "rows": [
                {
                    "name": row.name,
                    "readme": row.readme,
                    **row.scores.to_json(),
                    "confusion": row.confusion.to_json(),
                    "conversations_by_turns": _count_by_turns(row.lengths),
                    "from_book": row.from_book.to_json() if row.from_book else None,
                    "domains": {name: scores.to_json() for name, scores in row.domains},
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
            "coverage": self.coverage.to_json() if self.coverage else None,
        }


def compare(
    gold: Path | str,
    taggers: Sequence[tuple[str, Tagger]],
    split: str | None = None,
    language: str = ENGLISH,
    *,
    read: BookReader | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Scores taggers on the spans of the gold, beside the predictions that come with the gold.

    Args:
        gold: a folder of annotations, MCN's folder, or a tags file (JSON Lines) with gold tags.
        taggers: the name and the tagger of each row. A tagger sees the spans of the gold without
            their tags.
        split: with annotations, as `Annotations.of_split` takes it; with MCN's folder "train",
            "validation", "test" or "all"; with a tags file only "all". The default is "test", for
            a tags file "all".
        language: with annotations, as `Annotations.of_split` takes it.
        read: returns the bytes of a book by its id; needed for annotations, which hold no text.
        resamples: draws of the bootstrap over chapters.
        seed: of the bootstrap.

    A book of the annotations that is not at hand is left out, counted, and named in the notes.

    Raises:
        InputError: if the gold cannot be read, has no such split, or does not fit a book, or if no
            book is at hand.
        OSError: if a file is missing.
    """
    gold = Path(gold)
    split = split or ("test" if gold.is_dir() else "all")
    if is_annotations(gold):
        if read is None:
            raise InputError(f"{gold}: found annotations without books, expected `read`")
        books = read_split(gold, split, language=language)
        name = name_of_split(split, language)
        return _compare_on_annotations(books, gold.name, taggers, name, read, resamples, seed)
    refuse_gold(gold)
    if gold.is_dir():
        return _compare_on_mcn(read_mcn(gold), gold.name, taggers, split, resamples, seed)
    if split != "all":
        raise InputError(f"{gold}: found a tags file, which has no split {split!r}, expected all")
    books = read_tag_file(gold).books
    rows = []
    for name, tagger in taggers:
        predicted = [
            TaggedBook(book.book, tuple(tagger.tag(strip_tags(book))), name) for book in books
        ]
        scores = score(books, predicted, split=split, resamples=resamples, seed=seed)
        rows.append(_compared_tagger(name, scores, books, predicted))
    notes = rows[0].scores.notes if rows else ()
    return Comparison(gold.name, split, tuple(rows), notes, measure_dialogues(GOLD, books))


def _compare_on_annotations(
    books: Sequence[AnnotatedBook],
    folder: str,
    taggers: Sequence[tuple[str, Tagger]],
    split: str,
    read: BookReader,
    resamples: int,
    seed: int,
) -> Comparison:
    opened, coverage = read_editions_at_hand(books, read)
    gold = [edition.located.tagged() for edition in opened]
    rows = []
    for name, tagger in taggers:
        on_gold, found = (
            [tag_spans(edition, tagger, name) for edition in opened]
            for tag_spans in (tag_gold_spans, tag_found_spans)
        )
        scores, from_book = (
            score(
                gold,
                predicted,
                split=split,
                resamples=resamples,
                seed=seed,
                n_left_out=coverage.n_left_out,
            )
            for predicted in (on_gold, found)
        )
        domains = tuple(
            (domain, score(*of_domain, split=split, resamples=0, seed=seed))
            for domain, of_domain in _split_by_domain(opened, gold, on_gold)
        )
        row = _compared_tagger(name, scores, gold, on_gold)
        rows.append(replace(row, from_book=from_book, domains=domains))
    n_lost = sum(len(edition.located.lost) for edition in opened)
    other = [edition.annotated.card.book for edition in opened if not edition.is_annotated_one]
    notes = list(coverage.notes)
    if other:
        notes.append(
            f"{len(other)} of {len(opened)} books are other editions than those annotated "
            f"({', '.join(other)}): {n_lost} annotated spans not found in them"
        )
    lengths = measure_dialogues(GOLD, gold)
    return Comparison(folder, split, tuple(rows), tuple(notes), lengths, coverage)


def _split_by_domain(
    opened: Sequence[Edition], *taggings: Sequence[TaggedBook]
) -> Iterator[tuple[str, list[list[TaggedBook]]]]:
    """Yields each domain with its books in every tagging; nothing if there is only one domain."""
    domains = [edition.annotated.card.domain for edition in opened]
    for domain in sorted(set(domains)) if len(set(domains)) > 1 else ():
        yield (
            domain,
            [
                [book for book, of in zip(tagging, domains, strict=True) if of == domain]
                for tagging in taggings
            ],
        )


def _compared_tagger(
    name: str, scores: Scores, gold: Sequence[TaggedBook], predicted: Sequence[TaggedBook]
) -> ComparedTagger:
    """The row of a tagger, from its tags on the spans of the gold."""
    matched = list(match_tags(gold, predicted))
    lengths = measure_dialogues(name, predicted)
    bins = measure_reliability(matched)
    return ComparedTagger(name, scores, count_confusion(matched), lengths, bins)


def _count_by_turns(lengths: Lengths) -> dict[str, int]:
    """The number of conversations of each length; the keys are strings, as JSON has them."""
    return {str(turns): n for turns, n in lengths.counts.items()}


def _compare_on_mcn(
    mcn: McnData,
    folder: str,
    taggers: Sequence[tuple[str, Tagger]],
    split: str,
    resamples: int,
    seed: int,
) -> Comparison:
    splits = {name for _, name in mcn.splits}
    if split not in (*splits, "all"):
        raise InputError(f"{folder}: found no split {split!r}, expected one of {sorted(splits)}")

    def part(tagged: TaggedBook) -> TaggedBook:
        return tagged if split == "all" else mcn.of_split(tagged, split)

    published = [("MCN heuristic", mcn.heuristic)]
    if split == "test":
        published.append(("MCN model", mcn.model))
    ours = [
        (name, TaggedBook(mcn.gold_v2.book, tuple(tagger.tag(mcn.book_spans)), name))
        for name, tagger in taggers
    ]
    gold = [part(mcn.gold_v2)]
    rows = []
    for name, tagged in (*published, *ours):
        predicted = [part(tagged)]
        scores = score(gold, predicted, split=split, resamples=resamples, seed=seed)
        readme = MCN_README.get(name) if split == "test" else None
        rows.append(replace(_compared_tagger(name, scores, gold, predicted), readme=readme))
    notes = [_narration_note(mcn, tagged) for name, tagged in ours if name == "narration"]
    notes += rows[0].scores.notes
    lengths = measure_dialogues(GOLD, gold)
    return Comparison(f"{folder}, gold-v2", split, tuple(rows), tuple(notes), lengths)


def _narration_note(mcn: McnData, narration: TaggedBook) -> str:
    """A note on how often the rule that MCN's text states differs from what MCN's code did."""
    n_utterances = n_differ = n_after_narration = 0
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
                n_after_narration += follows_narration and str(theirs.tag).startswith("I-")
        previous = ours
    return (
        f"narration differs from MCN's own heuristic in {n_differ} of {n_utterances} utterance "
        f"rows of the whole book: in {n_after_narration} the utterance follows narration inside "
        "its paragraph, which MCN's code always tags I-"
    )


# The gaps of narration, in characters, among which the gap of the tuned heuristic was chosen.
GAPS = (*range(50, 500, 50), *range(500, 1000, 100), *range(1000, 2001, 250))


@dataclass(frozen=True, slots=True)
class SweptGap:
    """A gap of narration, in characters, and the scores of the gap heuristic with it."""

    gap: int
    scores: Scores


@dataclass(frozen=True, slots=True)
class Sweep:
    """The scores with each gap, and what they are of."""

    gaps: tuple[SweptGap, ...]
    coverage: Coverage

    def to_json(self) -> dict[str, Any]:
        """The sweep as plain values, by gap."""
        return {
            "gaps": {item.gap: item.scores.to_json() for item in self.gaps},
            "coverage": self.coverage.to_json(),
        }


def sweep_gaps(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    taggers: Sequence[tuple[int, Tagger]],
    *,
    split: str,
    resamples: int = 1000,
    seed: int = 0,
    on_test: bool = False,
) -> Sweep:
    """Scores the gap heuristic with each gap, on the spans of the gold.

    Books of the split "test" are refused: a gap that is chosen on them makes their scores
    worthless as a test. A book that is not at hand is left out and counted.
    """
    test = [book.card.book for book in books if book.card.split == "test"]
    if test and not on_test:
        raise InputError(
            f"found {len(test)} books of test, expected books to choose on: a gap that is chosen "
            "on test makes its scores there worthless (`on_test=True` allows it)"
        )
    opened, coverage = read_editions_at_hand(books, read)
    gold = [edition.located.tagged() for edition in opened]
    swept = tuple(
        SweptGap(
            gap,
            score(
                gold,
                [tag_gold_spans(edition, tagger, f"gap {gap}") for edition in opened],
                split=split,
                resamples=resamples,
                seed=seed,
                n_left_out=coverage.n_left_out,
            ),
        )
        for gap, tagger in taggers
    )
    return Sweep(swept, coverage)
