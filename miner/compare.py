"""Taggers side by side on the same gold: the seed work's table again, and ours beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from miner.book import Block, BlockKind, Book
from miner.gold import read_tags
from miner.scores import Scores, score
from miner.seed import Seed, read_seed
from miner.spans import BookSpans, Span
from miner.tags import Tag, TaggedBook, TaggedSpan, Tagger

# What the seed's README prints (section Evaluation of "Mining Conversations from Novels").
SEED_README = {"seed heuristic": (0.50, 0.89), "seed model": (0.70, 0.93)}


@dataclass(frozen=True, slots=True)
class Row:
    """One tagger's scores; `readme` is the seed's published B-START recall and pair precision."""

    name: str
    scores: Scores
    readme: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of a table, all scored on the same gold, and what is to be said below it."""

    gold: str
    split: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain values, fit for `json.dumps`."""
        return {
            "gold": self.gold,
            "split": self.split,
            "rows": [
                {"name": row.name, "readme": row.readme, **row.scores.to_json()}
                for row in self.rows
            ],
            "notes": list(self.notes),
        }


def compare(
    gold: Path,
    taggers: Sequence[tuple[str, Tagger]],
    split: str = "test",
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Comparison:
    """All taggers on the spans of the gold, and the predictions that lie beside it.

    Args:
        gold: the seed project's folder, or a tags file (JSON Lines) with gold tags.
        taggers: name and tagger of each row of ours; they see the gold's spans, not its tags.
        split: "train", "validation", "test" or "all"; a tags file has only "all".
        resamples: of the bootstrap over chapters.
        seed: of the bootstrap.

    Raises:
        ValueError: if the gold cannot be read, or has no such split.
        OSError: if a file is missing.
    """
    if gold.is_dir():
        return _compare_seed(read_seed(gold), gold.name, taggers, split, resamples, seed)
    if split != "all":
        raise ValueError(f"{gold}: found a tags file, which has no split {split!r}, expected all")
    books = read_tags(gold)
    rows = []
    for name, tagger in taggers:
        predicted = [
            TaggedBook(book.book, tuple(tagger.tag(spans_of(book))), name) for book in books
        ]
        rows.append(Row(name, score(books, predicted, split=split, resamples=resamples, seed=seed)))
    return Comparison(gold.name, split, tuple(rows), ())


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
    seed_work: Seed,
    folder: str,
    taggers: Sequence[tuple[str, Tagger]],
    split: str,
    resamples: int,
    seed: int,
) -> Comparison:
    splits = {name for _, name in seed_work.splits}
    if split not in (*splits, "all"):
        raise ValueError(f"{folder}: found no split {split!r}, expected one of {sorted(splits)}")

    def part(tagged: TaggedBook) -> TaggedBook:
        return tagged if split == "all" else seed_work.part(tagged, split)

    predictions = [("seed heuristic", seed_work.heuristic)]
    if split == "test":
        predictions.append(("seed model", seed_work.model))
    ours = [
        (name, TaggedBook(seed_work.gold_v2.book, tuple(tagger.tag(seed_work.book_spans)), name))
        for name, tagger in taggers
    ]
    gold = part(seed_work.gold_v2)
    rows = tuple(
        Row(
            name,
            score([gold], [part(tagged)], split=split, resamples=resamples, seed=seed),
            SEED_README.get(name) if split == "test" else None,
        )
        for name, tagged in (*predictions, *ours)
    )
    notes = [_difference(seed_work, tagged) for name, tagged in ours if name == "narration"]
    return Comparison(f"{folder}, gold-v2", split, rows, tuple(notes))


def _difference(seed_work: Seed, narration: TaggedBook) -> str:
    """How often the rule as the seed's text states it differs from what the seed's code did."""
    n_utterances = n_differ = n_quirk = 0
    previous: TaggedSpan | None = None
    for theirs, ours in zip(seed_work.heuristic.spans, narration.spans, strict=True):
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
