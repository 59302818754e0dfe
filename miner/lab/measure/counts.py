"""A gold book and its prediction -> counts of right, spurious and missed items, per chapter.

Each chapter is one row of counts. Rows add up; `scores` computes the rates from their sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.annotation.matching import has_same_paragraphs, match_spans
from miner.speech.dialogues import (
    Turn,
    decode_dialogues,
    repair_book,
    span_pairs,
    turn_pairs,
)
from miner.speech.spans import Span
from miner.speech.statistics import shares_from_counts
from miner.speech.tags import TAGS, Tag, TaggedBook, TaggedSpan

_KINDS = ("turn-START", "turn-OTHER")
# The units that are counted. "utterance" counts spans with any tag; "turn" counts both kinds.
UNITS = ("utterance", *map(str, TAGS), "turn", *_KINDS, "turn-pair", "span-pair", "dialogue")
# The columns that follow the three columns of each unit; see `count_chapters`.
REPAIRED, PK, WINDOWDIFF, WINDOWS = range(3 * len(UNITS), 3 * len(UNITS) + 4)

# One row per chapter, one column per count; see `count_chapters`.
CountTable = NDArray[np.int64]
# Per unit: what identifies an item of the book -> the numbers of its spans.
_Items = dict[str, dict[Hashable, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each gold tag received each predicted tag.

    `counts` has one row per gold tag and one column per predicted tag, both in the order of
    `tags.TAGS`.
    """

    counts: tuple[tuple[int, ...], ...]

    @property
    def shares(self) -> tuple[tuple[float, ...], ...]:
        """Each count as a share of its row, 0 to 1; NaN in the row of a tag that gold lacks."""
        return tuple(map(shares_from_counts, self.counts))

    def to_json(self) -> dict[str, Any]:
        """The counts by gold tag and predicted tag, as plain values."""
        return {
            str(tag): dict(zip(map(str, TAGS), row, strict=True))
            for tag, row in zip(TAGS, self.counts, strict=True)
        }


@dataclass(frozen=True, slots=True)
class _MatchedBook:
    """A gold book matched with its prediction.

    A span's number is its index in gold; a predicted span that gold lacks has a number below zero.
    `chapters` maps each judged number to its gold chapter.
    """

    pairs: list[tuple[int, int]]
    gold_numbers: Mapping[Span, int]
    predicted_numbers: Mapping[Span, int]
    chapters: Mapping[int, int]


def window_size(gold: Iterable[TaggedBook]) -> int:
    """Returns the k of Pk and WindowDiff: half the mean dialogue length in utterances, at least 1.

    The mean is over the gold of the whole data set (Beeferman et al. 1999). A new chapter begins a
    new segment, because windows do not reach across chapters.
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


def count_confusion(matched: Iterable[tuple[TaggedSpan, TaggedSpan]]) -> Confusion:
    """Counts which tag was predicted for which gold tag."""
    counts = Counter((ours.tag, theirs.tag) for ours, theirs in matched)
    return Confusion(tuple(tuple(counts[ours, theirs] for theirs in TAGS) for ours in TAGS))


def count_chapters(
    gold: TaggedBook, predicted: TaggedBook, k: int
) -> tuple[CountTable, CountTable]:
    """Counts one book, one row per gold chapter, in two ways: end to end, and on gold spans.

    The columns are right, spurious and missed items of each of `UNITS`; then the repaired tags, the
    errors of Pk, the errors of WindowDiff, and the number of windows.
    """
    matched = _match_book(gold, predicted)
    order = dict.fromkeys(item.span.chapter for item in gold.spans)
    rows = {chapter: row for row, chapter in enumerate(order)}
    row_of = {number: rows[chapter] for number, chapter in matched.chapters.items()}
    ours, theirs = matched.gold_numbers, matched.predicted_numbers
    repaired = repair_book(predicted)
    kept = (
        _keep_spans(gold, {i for i, _ in matched.pairs}),
        _keep_spans(repaired, {j for _, j in matched.pairs}),
    )
    tables: list[CountTable] = []
    sides = [(gold, predicted, repaired)]
    # Counting takes long. Where both sides have the same utterances, both ways give one table.
    if kept != (_utterances(gold), _utterances(predicted)):
        sides.append((kept[0], kept[1], kept[1]))
    for right, as_given, as_repaired in sides:
        expected = _utterances_by_tag(right, ours) | _turns_and_pairs(right, ours)
        found = _utterances_by_tag(as_given, theirs) | _turns_and_pairs(as_repaired, theirs)
        counts = _count_items(expected, found, row_of)
        for old, new in zip(predicted.spans, repaired.spans, strict=True):
            if old.tag != new.tag and theirs[old.span] in row_of:
                counts[row_of[theirs[old.span]], REPAIRED] += 1
        table = np.zeros((len(rows), WINDOWS + 1), dtype=np.int64)
        for (row, column), n in counts.items():
            table[row, column] = n
        for chapter, row in rows.items():
            table[row, PK:] = _count_window_errors(*kept, chapter, k)
        tables.append(table)
    return tables[0], tables[-1]


def _utterances(tagged: TaggedBook) -> TaggedBook:
    return replace(tagged, spans=tuple(item for item in tagged.spans if item.tag is not Tag.O))


def _match_book(gold: TaggedBook, predicted: TaggedBook) -> _MatchedBook:
    """Matches the spans of two books and decides which predicted spans are judged.

    A predicted span that gold lacks is counted in the gold chapter that matches most of the span's
    own chapter. If nothing in its chapter matches, the span is judged only if both books have the
    same paragraphs and gold has that chapter; otherwise gold does not cover it.
    """
    pairs = match_spans(gold, predicted)
    chapters = {i: item.span.chapter for i, item in enumerate(gold.spans)}
    votes: dict[int, Counter[int]] = {}
    for i, j in pairs:
        votes.setdefault(predicted.spans[j].span.chapter, Counter())[chapters[i]] += 1
    own = set(chapters.values()) if has_same_paragraphs(gold, predicted) else set[int]()
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
    return _MatchedBook(pairs, gold_numbers, predicted_numbers, chapters)


def _utterances_by_tag(tagged: TaggedBook, numbers: Mapping[Span, int]) -> _Items:
    """The utterances, all of them and by tag, each with its number."""
    items: _Items = {unit: {} for unit in ("utterance", *map(str, TAGS))}
    for item in tagged.spans:
        if item.tag is not Tag.O:
            number = (numbers[item.span],)
            items["utterance"][number] = items[item.tag][number] = number
    return items


def _turns_and_pairs(tagged: TaggedBook, numbers: Mapping[Span, int]) -> _Items:
    """The turns, pairs and dialogues of a legal sequence, each with the numbers of its spans."""
    items: _Items = {unit: {} for unit in UNITS[UNITS.index("turn") :]}

    def ids_of(turn: Turn) -> tuple[int, ...]:
        return tuple(numbers[span] for span in turn.spans)

    for dialogue in decode_dialogues(tagged):
        turns = tuple(map(ids_of, dialogue.turns))
        # The strict entities of IOB2, as in seqeval, of tags without the O of narration.
        for kind, ids in zip(chain(_KINDS[:1], repeat(_KINDS[1])), turns, strict=False):
            items[kind][ids] = items["turn"][kind, ids] = ids
        items["dialogue"][turns] = tuple(chain.from_iterable(turns))
        pairs = {"turn-pair": turn_pairs(dialogue), "span-pair": span_pairs(dialogue)}
        for unit, pairs_of_unit in pairs.items():
            for pair in pairs_of_unit:
                context, response = ids_of(pair.context), ids_of(pair.response)
                items[unit][context, response] = context + response
    return items


def _count_items(
    gold: _Items, predicted: _Items, row_of: Mapping[int, int]
) -> Counter[tuple[int, int]]:
    """Counts right, spurious and missed items by (row, column) of the table.

    An item is counted in the chapter where it begins. A predicted item with a span that gold does
    not cover is neither right nor wrong.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for n, unit in enumerate(UNITS):
        for item, ids in gold[unit].items():
            counts[row_of[ids[0]], 3 * n + (0 if item in predicted[unit] else 2)] += 1
        for item, ids in predicted[unit].items():
            if item not in gold[unit] and all(i in row_of for i in ids):
                counts[row_of[ids[0]], 3 * n + 1] += 1
    return counts


def _keep_spans(tagged: TaggedBook, keep: set[int]) -> TaggedBook:
    """The spans with the indices `keep`, tagged by their turns and dialogues in the whole book.

    Dropping spans and repairing the tags would be wrong: a dialogue that lost its B-START span
    would become part of the dialogue before it, and that is a legal sequence.
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


def _count_window_errors(
    gold: TaggedBook, predicted: TaggedBook, chapter: int, k: int
) -> tuple[int, int, int]:
    """Counts the errors of Pk, the errors of WindowDiff, and the windows of one gold chapter.

    A window is k consecutive gaps between utterances. A gap is a boundary if a dialogue begins
    after it. A chapter of k utterances or fewer has no window.
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
