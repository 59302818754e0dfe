"""A gold book and its prediction -> what is right, spurious and missed, per chapter.

Every chapter is a row of counts that add up; what is made of their sums is `scores`' business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from seqeval.scheme import IOB2, Entities

from miner.dialogue.dialogues import Turn, dialogues, repair_book, span_pairs, turn_pairs
from miner.dialogue.spans import Span
from miner.dialogue.statistics import shares
from miner.dialogue.tags import TAGS, Tag, TaggedBook, TaggedSpan
from miner.evaluation.matching import match_spans, same_paragraphs

_KINDS = ("turn-START", "turn-OTHER")
# What is counted. "utterance" is the finding of spans, whatever their tag; "turn" is both kinds.
UNITS = ("utterance", *map(str, TAGS), "turn", *_KINDS, "turn-pair", "span-pair", "dialogue")
# Columns after the three of each unit; see `counted`.
REPAIRED, PK, WINDOWDIFF, WINDOWS = range(3 * len(UNITS), 3 * len(UNITS) + 4)

# Per unit, each thing that is in the book: what it is -> the numbers of its spans.
_Things = dict[str, dict[Hashable, tuple[int, ...]]]
CountTable = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Confusion:
    """How many utterances of each gold tag were given each tag.

    `counts` has a row for each gold tag and a column for each predicted one, both in the order of
    `tags.TAGS`.
    """

    counts: tuple[tuple[int, ...], ...]

    @property
    def shares(self) -> tuple[tuple[float, ...], ...]:
        """Each count as a share of its row, 0 to 1; NaN in the row of a tag that gold has not."""
        return tuple(map(shares, self.counts))

    def to_json(self) -> dict[str, Any]:
        """The counts by gold tag and predicted tag, fit for `json.dumps`."""
        return {
            str(tag): dict(zip(map(str, TAGS), row, strict=True))
            for tag, row in zip(TAGS, self.counts, strict=True)
        }


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A gold book and its prediction, matched.

    `numbers` of a span on either side is the span's index in gold, and below zero for a predicted
    span that gold has not. `chapters` maps the numbers that are judged to their gold chapter.
    """

    pairs: list[tuple[int, int]]
    gold_numbers: Mapping[Span, int]
    predicted_numbers: Mapping[Span, int]
    chapters: Mapping[int, int]


def window(gold: Iterable[TaggedBook]) -> int:
    """The k of Pk and WindowDiff, in utterances: half the mean dialogue length, at least 1.

    The mean is over the gold of the whole data set (Beeferman et al. 1999), where a chapter begins
    a segment too, as `counted` takes no boundary from one chapter to the next.
    """
    n_spans = n_segments = 0
    for book in gold:
        chapters: set[int] = set()
        for item in book.spans:
            if item.tag is not Tag.O:
                n_spans += 1
                n_segments += item.tag is Tag.B_START or item.span.chapter not in chapters
                chapters.add(item.span.chapter)
    return max(1, round(n_spans / n_segments / 2)) if n_segments else 1


def confusion(matched: Iterable[tuple[TaggedSpan, TaggedSpan]]) -> Confusion:
    """Which tags are taken for which, among utterances that both sides have.

    Args:
        matched: gold and predicted, as `matching.matched_tags` gives them.
    """
    counts = Counter((ours.tag, theirs.tag) for ours, theirs in matched)
    return Confusion(tuple(tuple(counts[ours, theirs] for theirs in TAGS) for ours in TAGS))


def counted(gold: TaggedBook, predicted: TaggedBook, k: int) -> tuple[CountTable, CountTable]:
    """The counts of a book, one row per gold chapter: end to end, and on gold spans.

    Columns: right, spurious and missed of each of `UNITS`, then repaired tags, the errors of Pk, the
    errors of WindowDiff and the number of windows.

    Args:
        gold: a legal sequence.
        predicted: of the same book; it need not be legal.
        k: gaps in a window, see `window`.
    """
    comparison = _compared(gold, predicted)
    order = dict.fromkeys(item.span.chapter for item in gold.spans)
    rows = {chapter: row for row, chapter in enumerate(order)}
    row_of = {number: rows[chapter] for number, chapter in comparison.chapters.items()}
    ours, theirs = comparison.gold_numbers, comparison.predicted_numbers
    repaired = repair_book(predicted)
    kept = (
        _restricted(gold, {i for i, _ in comparison.pairs}),
        _restricted(repaired, {j for _, j in comparison.pairs}),
    )
    figures: list[CountTable] = []
    sides = [(gold, predicted, repaired)]
    # Where both have the same utterances, one figure is both, and it takes long.
    if kept != (_utterances(gold), _utterances(predicted)):
        sides.append((kept[0], kept[1], kept[1]))
    for right, as_given, as_repaired in sides:
        things = _tags(right, ours) | _built(right, ours)
        found = _tags(as_given, theirs) | _built(as_repaired, theirs)
        counts = _counts(things, found, row_of)
        for old, new in zip(predicted.spans, repaired.spans, strict=True):
            if old.tag != new.tag and theirs[old.span] in row_of:
                counts[row_of[theirs[old.span]], REPAIRED] += 1
        table = np.zeros((len(rows), WINDOWS + 1), dtype=np.int64)
        for (row, column), n in counts.items():
            table[row, column] = n
        for chapter, row in rows.items():
            table[row, PK:] = _window_errors(*kept, chapter, k)
        figures.append(table)
    return figures[0], figures[-1]


def _utterances(tagged: TaggedBook) -> TaggedBook:
    return replace(tagged, spans=tuple(item for item in tagged.spans if item.tag is not Tag.O))


def _compared(gold: TaggedBook, predicted: TaggedBook) -> _Comparison:
    """The books matched, and what of the prediction is judged.

    A predicted span without a gold one is judged, and counted in the gold chapter that most of its
    own chapter was matched with. In a chapter that was not matched at all it is judged if gold has
    that chapter of the same paragraphs, and else lies outside of what gold covers.
    """
    pairs = match_spans(gold, predicted)
    chapters = {i: item.span.chapter for i, item in enumerate(gold.spans)}
    votes: dict[int, Counter[int]] = {}
    for i, j in pairs:
        votes.setdefault(predicted.spans[j].span.chapter, Counter())[chapters[i]] += 1
    own = set(chapters.values()) if same_paragraphs(gold, predicted) else set[int]()
    gold_chapter = {chapter: chapter for chapter in own}
    gold_chapter |= {chapter: vote.most_common(1)[0][0] for chapter, vote in votes.items()}
    number_of = {j: i for i, j in pairs}
    predicted_numbers: dict[Span, int] = {}
    for j, item in enumerate(predicted.spans):
        number = number_of.get(j, -1 - j)
        predicted_numbers[item.span] = number
        if number < 0 and item.span.chapter in gold_chapter:
            chapters[number] = gold_chapter[item.span.chapter]
    gold_numbers = {item.span: i for i, item in enumerate(gold.spans)}
    return _Comparison(pairs, gold_numbers, predicted_numbers, chapters)


def _tags(tagged: TaggedBook, numbers: Mapping[Span, int]) -> _Things:
    """The utterances, of whatever tag and by tag, each with its number."""
    things: _Things = {unit: {} for unit in ("utterance", *map(str, TAGS))}
    for item in tagged.spans:
        if item.tag is not Tag.O:
            number = (numbers[item.span],)
            things["utterance"][number] = things[item.tag][number] = number
    return things


def _built(tagged: TaggedBook, numbers: Mapping[Span, int]) -> _Things:
    """What is built of tags in a legal sequence, by unit, each with the numbers of its spans."""
    things: _Things = {unit: {} for unit in UNITS[UNITS.index("turn") :]}
    spoken = [item for item in tagged.spans if item.tag is not Tag.O]
    # Narration is bridged by leaving it out: strict IOB2 would drop an I- tag after O.
    for entity in Entities([[str(item.tag) for item in spoken]], IOB2).entities[0]:
        ids = tuple(numbers[item.span] for item in spoken[entity.start : entity.end])
        things[f"turn-{entity.tag}"][ids] = ids
        things["turn"][entity.tag, ids] = ids

    def ids_of(turn: Turn) -> tuple[int, ...]:
        return tuple(numbers[span] for span in turn.spans)

    for dialogue in dialogues(tagged):
        turns = tuple(map(ids_of, dialogue.turns))
        things["dialogue"][turns] = tuple(chain.from_iterable(turns))
        pairs = {"turn-pair": turn_pairs(dialogue), "span-pair": span_pairs(dialogue)}
        for unit, pairs_of_unit in pairs.items():
            for pair in pairs_of_unit:
                context, response = ids_of(pair.context), ids_of(pair.response)
                things[unit][context, response] = context + response
    return things


def _counts(
    gold: _Things, predicted: _Things, row_of: Mapping[int, int]
) -> Counter[tuple[int, int]]:
    """How often each (row, column) of the statistics is due.

    A thing is counted where it begins. A predicted thing of which a span lies outside of what gold
    covers is neither right nor wrong.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for n, unit in enumerate(UNITS):
        for thing, ids in gold[unit].items():
            counts[row_of[ids[0]], 3 * n + (0 if thing in predicted[unit] else 2)] += 1
        for thing, ids in predicted[unit].items():
            if thing not in gold[unit] and all(i in row_of for i in ids):
                counts[row_of[ids[0]], 3 * n + 1] += 1
    return counts


def _restricted(tagged: TaggedBook, keep: set[int]) -> TaggedBook:
    """The spans of the indices `keep`, tagged by the turns and dialogues they had among all.

    Mending what is left over would not do: without its B-START span, a dialogue would become part
    of the one before, and that is a legal sequence.
    """
    kept: list[TaggedSpan] = []
    dialogue = turn = last_dialogue = last_turn = opening = -1
    for i, item in enumerate(tagged.spans):
        dialogue += item.tag is Tag.B_START
        turn += item.tag in (Tag.B_START, Tag.B_OTHER)
        if i not in keep:
            continue
        if dialogue != last_dialogue:
            tag, opening = Tag.B_START, turn
        elif turn != last_turn:
            tag = Tag.B_OTHER
        else:
            tag = Tag.I_START if turn == opening else Tag.I_OTHER
        last_dialogue, last_turn = dialogue, turn
        kept.append(replace(item, tag=tag))
    return replace(tagged, spans=tuple(kept))


def _window_errors(
    gold: TaggedBook, predicted: TaggedBook, chapter: int, k: int
) -> tuple[int, int, int]:
    """Errors of Pk, errors of WindowDiff, and windows, in one gold chapter of matched spans.

    A window is k gaps between utterances that follow each other; a gap is a boundary if a dialogue
    begins after it. A chapter of k utterances or fewer has no window and weighs nothing.
    """
    tags = [
        (ours.tag, theirs.tag)
        for ours, theirs in zip(gold.spans, predicted.spans, strict=True)
        if ours.span.chapter == chapter
    ]
    gaps = np.array(tags[1:], dtype=object).reshape(-1, 2) == Tag.B_START
    if len(gaps) < k:
        return 0, 0, 0
    sums = np.concatenate([np.zeros((1, 2), dtype=np.int64), np.cumsum(gaps, axis=0)])
    ours, theirs = (sums[k:] - sums[:-k]).T
    return int(((ours > 0) != (theirs > 0)).sum()), int((ours != theirs).sum()), len(ours)
