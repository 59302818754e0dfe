"""Gold tags against predicted ones -> counts per chapter -> precision, recall, F1, intervals.

Items are counted per chapter first, so that a bootstrap over chapters only sums resampled rows.
Every measure compares sets of items made of utterance spans: a span with its tag, a turn, a pair, a
dialogue. A predicted item is right when gold has the same item, made of the same spans. The tags of
narration are not counted, because narration is separated from speech before tagging.

There are two ways of counting. `end_to_end` measures what a user gets: an utterance that was not
found is a miss of its tag, a spurious utterance is a false positive, and an item that contains a
spurious span is wrong. `on_gold_spans` measures the tagger alone, on the utterances that both sides
have.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from miner.annotation.matching import has_same_paragraphs, match_spans
from miner.errors import InputError
from miner.lab.gold.dialogue_statistics import shares_from_counts
from miner.lab.gold.editions import note_of_few
from miner.score import Score
from miner.speech.dialogues import Turn, decode_dialogues, repair_book, span_pairs, turn_pairs
from miner.speech.spans import Span
from miner.speech.tags import TAGS, Tag, TaggedBook, TaggedSpan
from miner.version import __version__

_KINDS = ("turn-START", "turn-OTHER")
# The units that are counted. "utterance" counts spans with any tag; "turn" counts both kinds.
UNITS = ("utterance", *map(str, TAGS), "turn", *_KINDS, "turn-pair", "span-pair", "dialogue")
# The columns that follow the three columns of each unit; see `count_chapters`.
REPAIRED, PK, WINDOWDIFF, WINDOWS = range(3 * len(UNITS), 3 * len(UNITS) + 4)

PARTS = ("precision", "recall", "f1")
_TAG_COLUMNS = slice(1, 1 + len(TAGS))

_Values = NDArray[np.float64]

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


class _MatchedBook(NamedTuple):
    """A gold book matched with its prediction.

    A span's number is its index in gold; a predicted span that gold lacks has a number below zero.
    """

    pairs: list[tuple[int, int]]
    gold_numbers: Mapping[Span, int]
    predicted_numbers: Mapping[Span, int]
    chapters: Mapping[int, int]  # the gold chapter of each judged number


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


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items of one unit are right (`tp`), spurious (`fp`) and missed (`fn`)."""

    tp: int = 0
    fp: int = 0
    fn: int = 0


@dataclass(frozen=True, slots=True)
class Measures:
    """All scores of one way of counting, and the counts of each unit that they come from."""

    scores: Mapping[str, Score]  # by name, such as "turn-pair.f1" or "pk"
    counts: Mapping[str, Counts]

    def __getitem__(self, name: str) -> Score:
        """The score of that name."""
        return self.scores[name]


@dataclass(frozen=True, slots=True)
class Part:
    """The measures of one book, or of all books together, in both ways of counting.

    The numbers count utterance spans in the judged chapters.
    """

    n_chapters: int
    n_gold: int
    n_predicted: int
    n_matched: int
    n_repaired: int  # predicted tags that may not follow the tag before them
    end_to_end: Measures
    on_gold_spans: Measures


@dataclass(frozen=True, slots=True)
class Scores:
    """The result of `score`: over all books, per book, and a signature of what was scored."""

    signature: str
    total: Part
    books: Mapping[str, Part]
    missing: list[str]  # gold books without a prediction; all their items count as missed
    ignored: list[str]  # predicted books without gold; they are not scored

    @property
    def notes(self) -> tuple[str, ...]:
        """A line below a table of the scores if they are of few chapters."""
        return note_of_few({"": self.total.n_chapters})

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values, without NaN."""
        return {"notes": list(self.notes), **msgspec.to_builtins(self)}


def score(
    gold: Sequence[TaggedBook],
    predicted: Sequence[TaggedBook],
    *,
    split: str = "all",
    resamples: int = 1000,
    seed: int = 0,
    n_left_out: int = 0,
) -> Scores:
    """Scores predicted books against gold books, per book and over all books.

    Only the chapters in which gold has spans are judged. The measures are:

    - each tag, and the micro and macro average over the four tags;
    - turns: the strict entities of IOB2, where narration inside a turn does not end it;
    - pairs of turns, and pairs of spans as in "Mining Conversations from Novels";
    - whole dialogues;
    - Pk (Beeferman et al. 1999) and WindowDiff (Pevzner and Hearst 2002) over the matched
      utterances; these two are error rates, so 0 is best.

    Intervals are the 2.5 and 97.5 percentiles of `resamples` draws of chapters with replacement.

    Args:
        gold: legal sequences, each book once.
        predicted: each book once, in any order. End to end, an illegal tag counts as it is. On gold
            spans, and for turns, pairs and dialogues, it is repaired (`tags.repair_tags`).
        split: the name of the chosen split, for the signature only.
        resamples: draws of the bootstrap; 0 for no intervals.
        seed: of the bootstrap.
        n_left_out: chapters of the split that are not scored, for the signature only.

    Raises:
        InputError: if there is no gold book, a book is given twice, or gold tags are illegal (names
            book, paragraph and span).
    """
    golds, predictions = _by_book(gold, "gold"), _by_book(predicted, "predicted")
    if not golds:
        raise InputError("found no gold book, expected at least one")
    k = window_size(gold)
    tables: dict[str, tuple[CountTable, CountTable]] = {}
    for name, book in golds.items():
        tables[name] = count_chapters(book, predictions.get(name, TaggedBook(name, ())), k)
    both = tuple(np.concatenate(parts) for parts in zip(*tables.values(), strict=True))
    scored = [predictions[name] for name in golds if name in predictions]
    n_chapters = f"{len(both[0])} of {len(both[0]) + n_left_out}" if n_left_out else len(both[0])
    signature = (
        f"unit:span|gold:{_source(gold)}|predicted:{_source(scored)}|split:{split}"
        f"|chapters:{n_chapters}|k:{k}|bs:{resamples}|seed:{seed}|version:{__version__}"
    )
    return Scores(
        signature,
        _part(both[0], both[1], resamples, seed),
        {name: _part(*pair, resamples, seed) for name, pair in tables.items()},
        [name for name in golds if name not in predictions],
        [name for name in predictions if name not in golds],
    )


def _by_book(books: Sequence[TaggedBook], side: str) -> dict[str, TaggedBook]:
    """The books by id; raises InputError if an id occurs twice."""
    twice = [book for book, n in Counter(tagged.book for tagged in books).items() if n > 1]
    if twice:
        raise InputError(f"{side}: found book {twice[0]} more than once, expected each book once")
    return {tagged.book: tagged for tagged in books}


def _source(books: Sequence[TaggedBook]) -> str:
    """The source of the books in one word: its name, or a digest of several names."""
    sources = list(dict.fromkeys(book.source or "memory" for book in books))
    if len(sources) > 1:
        digest = hashlib.sha256("\n".join(sources).encode()).hexdigest()
        return f"{len(sources)}-files@{digest[:8]}"
    return sources[0] if sources else "none"


def _part(end_to_end: CountTable, on_gold: CountTable, resamples: int, seed: int) -> Part:
    """The scores of the chapters in these tables."""
    matched, spurious, missed = (int(n) for n in end_to_end.sum(axis=0)[:3])
    return Part(
        len(end_to_end),
        matched + missed,
        matched + spurious,
        matched,
        int(end_to_end[:, REPAIRED].sum()),
        measure(end_to_end, resamples, seed),
        measure(on_gold, resamples, seed),
    )


def measure(table: CountTable, resamples: int = 0, seed: int = 0) -> Measures:
    """Computes all scores from the sum of a table, with intervals from resampled sums."""
    rows = table.sum(axis=0)[:REPAIRED].reshape(-1, 3).tolist()
    counts = {unit: Counts(*row) for unit, row in zip(UNITS, rows, strict=True)}
    return Measures(score_table(table, rates_from_totals, resamples, seed), counts)


def score_table(
    table: NDArray[Any],
    rates: Callable[[NDArray[Any]], Mapping[str, _Values]],
    resamples: int,
    seed: int,
) -> dict[str, Score]:
    """Scores the sum of a table of counts, with intervals from draws of its rows.

    `rates` returns the measures by name, for each row of sums.
    """
    drawn = rates(resample_chapters(table, resamples, seed))
    total = rates(table.sum(axis=0)[None])
    return {name: score_from_draws(values[0], drawn[name]) for name, values in total.items()}


def resample_chapters(table: NDArray[Any], resamples: int, seed: int) -> NDArray[Any]:
    """Sums draws of chapters (the rows of a table) with replacement: (resamples, columns).

    There are no rows if there are fewer than two chapters.
    """
    n_chapters = len(table)
    if n_chapters < 2:
        return table[:0]
    draws = np.random.default_rng(seed).multinomial(
        n_chapters, [1 / n_chapters] * n_chapters, size=resamples
    )
    return draws @ table


def score_from_draws(value: float, drawn: _Values) -> Score:
    """Returns a score with its 95% interval, from its values in the draws.

    NaN stands for an undefined value. Draws in which the score is undefined are left out.
    """
    if np.isnan(value):
        return Score(None, None, None)
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return Score(float(value), None, None)
    low, high = np.percentile(defined, [2.5, 97.5])
    return Score(float(value), float(low), float(high))


def rates_from_totals(totals: CountTable) -> dict[str, _Values]:
    """Returns every measure by name, for each row of summed counts; NaN where it is not defined.

    `accuracy` is the share of right tags among the utterances that either side has. The macro
    average is over the tags that occur on either side. There an undefined precision or recall
    counts as 0, so that a tagger gains nothing by never predicting a tag.
    """
    counts = totals[:, :REPAIRED].reshape(len(totals), len(UNITS), 3)
    tags = counts[:, _TAG_COLUMNS]
    rates: dict[str, _Values] = {}
    for number, unit in enumerate(UNITS):
        rates |= rates_from_counts(unit, counts[:, number])
    rates |= rates_from_counts("micro", tags.sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        n_tags = (tags.sum(axis=2) > 0).sum(axis=1)
        for name, of_tags in rates_from_counts("macro", tags).items():
            rates[name] = np.nan_to_num(of_tags).sum(axis=1) / n_tags
        rates["accuracy"] = tags[:, :, 0].sum(axis=1) / counts[:, 0].sum(axis=1)
        rates["pk"] = totals[:, PK] / totals[:, WINDOWS]
        rates["windowdiff"] = totals[:, WINDOWDIFF] / totals[:, WINDOWS]
    return rates


def rates_from_counts(name: str, counts: NDArray[Any]) -> dict[str, _Values]:
    """Returns precision, recall and F1 of (..., 3) counts by name ("turn.f1"); NaN for 0 / 0."""
    tp, fp, fn = np.moveaxis(counts.astype(np.float64), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)
    return {f"{name}.{part}": rate for part, rate in zip(PARTS, rates, strict=True)}
