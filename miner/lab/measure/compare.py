"""Several taggers and one gold -> their scores side by side, with those of MCN on MCN's gold.

MCN is the project "Mining Conversations from Novels". Its folder holds its gold tags and the
predictions of its own heuristic and model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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
from miner.lab.gold.editions import BookReader, Coverage, Gold, open_gold
from miner.lab.gold.mcn import open_tag_gold, read_mcn
from miner.lab.measure.confidence import Bin, measure_reliability
from miner.lab.measure.scores import Confusion, Scores, count_confusion, score
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, Tagger

GOLD = "gold"  # the name of the gold in plots
# B-START recall and span-pair precision in the README of MCN, section "Evaluation".
MCN_README = {"MCN heuristic": (0.50, 0.89), "MCN model": (0.70, 0.93)}


@dataclass(frozen=True, slots=True)
class ComparedTagger:
    """One tagger of a comparison: its scores on the gold spans, and what its tags look like."""

    name: str  # what tables and plots call it
    scores: Scores  # on the spans of the gold
    confusion: Confusion  # how often it predicts each tag for each gold tag
    lengths: Lengths  # of the conversations that it makes
    # how often its tags are right by their confidence; none if it gives no confidence
    bins: tuple[Bin, ...] = ()
    # the B-START recall and span-pair precision that MCN published for it
    readme: tuple[float, float] | None = None
    # scores on the spans that the miner finds; with annotations only
    from_book: Scores | None = None
    # scores on the gold spans of each domain of books; with annotations only
    domains: Mapping[str, Scores] = field(default_factory=dict)


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
                    "domains": {name: scores.to_json() for name, scores in row.domains.items()},
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
    path = Path(gold)
    split = split or ("test" if path.is_dir() else "all")
    if is_annotations(path):
        if read is None:
            raise InputError(f"{path}: found annotations without books, expected `read`")
        books = read_split(path, split, language=language)
        split, opened = name_of_split(split, language), open_gold(books, read, path.name)
    else:
        opened = open_tag_gold(path, split)
    n_left_out = opened.coverage.n_left_out if opened.coverage else 0
    score_with = partial(score, split=split, resamples=resamples, seed=seed, n_left_out=n_left_out)
    rows: list[ComparedTagger] = []
    for name, tagged in opened.published:
        row = _compare(name, score_with, opened, [tagged])
        rows.append(replace(row, readme=MCN_README.get(name) if split == "test" else None))
    notes: list[str] = []
    for name, tagger in taggers:
        on_gold = opened.tag(tagger, name)
        row = _compare(name, score_with, opened, on_gold)
        if opened.coverage:
            from_book = score_with(opened.tagged, opened.tag(tagger, name, found=True))
            domains = {
                domain: score(*of_domain, split=split, resamples=0, seed=seed)
                for domain, of_domain in _split_by_domain(opened, on_gold)
            }
            row = replace(row, from_book=from_book, domains=domains)
        if name == "narration" and opened.published:
            notes.append(_narration_note(path, tagger))
        rows.append(row)
    notes += opened.notes if opened.coverage else rows[0].scores.notes if rows else ()
    lengths = measure_dialogues(GOLD, opened.tagged)
    return Comparison(opened.name, split, tuple(rows), tuple(notes), lengths, opened.coverage)


def _split_by_domain(
    gold: Gold, predicted: Sequence[TaggedBook]
) -> Iterator[tuple[str, tuple[list[TaggedBook], list[TaggedBook]]]]:
    """Yields each domain with its books, gold and predicted; nothing if there is only one."""
    domains = sorted({book.domain for book in gold.books})
    for domain in domains if len(domains) > 1 else ():
        of_domain = [
            (book.tagged, tagged)
            for book, tagged in zip(gold.books, predicted, strict=True)
            if book.domain == domain
        ]
        yield domain, ([ours for ours, _ in of_domain], [theirs for _, theirs in of_domain])


def _compare(
    name: str,
    score_with: Callable[[Sequence[TaggedBook], Sequence[TaggedBook]], Scores],
    gold: Gold,
    predicted: Sequence[TaggedBook],
) -> ComparedTagger:
    """The row of a tagger, from its tags on the spans of the gold."""
    matched = list(match_tags(gold.tagged, predicted))
    lengths = measure_dialogues(name, predicted)
    scores, bins = score_with(gold.tagged, predicted), measure_reliability(matched)
    return ComparedTagger(name, scores, count_confusion(matched), lengths, bins)


def _count_by_turns(lengths: Lengths) -> dict[str, int]:
    """The number of conversations of each length; the keys are strings, as JSON has them."""
    return {str(turns): n for turns, n in lengths.counts.items()}


def _narration_note(folder: Path, tagger: Tagger) -> str:
    """A note on how often the rule that MCN's text states differs from what MCN's code did."""
    mcn = read_mcn(folder)
    n_utterances = n_differ = n_after_narration = 0
    previous: TaggedSpan | None = None
    for theirs, ours in zip(mcn.heuristic.spans, tagger.tag(mcn.book_spans), strict=True):
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
class Sweep:
    """The scores of the gap heuristic by its gap of narration, in characters, and their gold."""

    gaps: Mapping[int, Scores]
    coverage: Coverage

    def to_json(self) -> dict[str, Any]:
        """The sweep as plain values, by gap."""
        return {
            "gaps": {gap: scores.to_json() for gap, scores in self.gaps.items()},
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
    gold = open_gold(books, read)
    assert gold.coverage is not None
    swept = {
        gap: score(
            gold.tagged,
            gold.tag(tagger, f"gap {gap}"),
            split=split,
            resamples=resamples,
            seed=seed,
            n_left_out=gold.coverage.n_left_out,
        )
        for gap, tagger in taggers
    }
    return Sweep(swept, gold.coverage)
