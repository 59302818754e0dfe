"""Gold tags against predicted ones -> counts per chapter -> precision, recall, F1, intervals.

Everything is counted per chapter first and scored last, so a bootstrap over chapters is a sum of
resampled rows. Every measure compares sets of things made of utterance spans (a span with its tag,
a turn, a pair, a dialogue): a predicted thing is right when gold has the same thing, made of the
same spans. Tags of narration are not counted: what is narration is decided before tagging.

Two figures are given. `end_to_end` is what a user gets: an utterance that was not found is a miss
of its tag, a spurious one a false positive, and a thing with a spurious span in it is wrong.
`on_gold_spans` looks only at the utterances that both sides have: the tagger alone.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from seqeval.scheme import IOB2, Entities

from miner import __version__
from miner.dialogues import Turn, dialogues, mended, span_pairs, turn_pairs
from miner.spans import Span
from miner.tags import Tag, TaggedBook, TaggedSpan

_TAGS = tuple(tag for tag in Tag if tag is not Tag.O)
_KINDS = ("turn-START", "turn-OTHER")
# What is counted. "utterance" is the finding of spans, whatever their tag; "turn" is both kinds.
UNITS = ("utterance", *map(str, _TAGS), "turn", *_KINDS, "turn-pair", "span-pair", "dialogue")
_MENDED, _PK, _WINDOWDIFF, _WINDOWS = range(3 * len(UNITS), 3 * len(UNITS) + 4)
_TAG_COLUMNS = slice(1, 1 + len(_TAGS))
_NOT_ALNUM = re.compile(r"[\W_]+")

# Per unit, each thing that is in the book: what it is -> the numbers of its spans.
_Things = dict[str, dict[Hashable, tuple[int, ...]]]
_Statistics = NDArray[np.int64]
_Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counts:
    """Right (`tp`), spurious (`fp`) and missed (`fn`) things of one sort; they add up."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Counts) -> Counts:
        """The counts of both together."""
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)


@dataclass(frozen=True, slots=True)
class Score:
    """A measure, 0 to 1, with its 95% interval; None where it is not defined.

    Precision is not defined where nothing was predicted, recall where gold has nothing, F1 where
    both hold, an interval with fewer than two chapters.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Figure:
    """All scores of one way of counting, and the counts they come from, per unit of `UNITS`."""

    scores: tuple[Score, ...]
    counts: tuple[tuple[str, Counts], ...]

    def __getitem__(self, name: str) -> Score:
        """The score of that name, "turn-pair.f1" or "pk"; KeyError where there is none."""
        return {score.name: score for score in self.scores}[name]

    def to_json(self) -> dict[str, Any]:
        """Scores and counts by name, fit for `json.dumps`; what is not defined is None."""
        return {
            "scores": {
                s.name: {"value": s.value, "low": s.low, "high": s.high} for s in self.scores
            },
            "counts": {unit: {"tp": c.tp, "fp": c.fp, "fn": c.fn} for unit, c in self.counts},
        }


@dataclass(frozen=True, slots=True)
class Part:
    """Both figures of one book, or of all; numbers are of utterance spans in judged chapters.

    `n_mended` counts the predicted tags that may not follow the tag before.
    """

    book: str
    n_chapters: int
    n_gold: int
    n_predicted: int
    n_matched: int
    n_mended: int
    end_to_end: Figure
    on_gold_spans: Figure

    def to_json(self) -> dict[str, Any]:
        """The part without its name, fit for `json.dumps`."""
        return {
            "n_chapters": self.n_chapters,
            "n_gold": self.n_gold,
            "n_predicted": self.n_predicted,
            "n_matched": self.n_matched,
            "n_mended": self.n_mended,
            "end_to_end": self.end_to_end.to_json(),
            "on_gold_spans": self.on_gold_spans.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """What `score` found: over all books, per book, and what exactly was scored.

    `missing` are gold books without a prediction, scored as missed; `ignored` are predicted books
    without gold, not scored.
    """

    signature: str
    total: Part
    books: tuple[Part, ...]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Everything, fit for `json.dumps`; no NaN."""
        return {
            "signature": self.signature,
            "total": self.total.to_json(),
            "books": {part.book: part.to_json() for part in self.books},
            "missing": list(self.missing),
            "ignored": list(self.ignored),
        }


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A gold book and its prediction, matched.

    `numbers` of a span on either side is the span's index in gold, and below zero for a predicted
    span that gold has not. `chapters` maps the numbers that are judged to their gold chapter.
    """

    gold: TaggedBook
    predicted: TaggedBook
    pairs: list[tuple[int, int]]
    gold_numbers: Mapping[Span, int]
    predicted_numbers: Mapping[Span, int]
    chapters: Mapping[int, int]


def score(
    gold: Sequence[TaggedBook],
    predicted: Sequence[TaggedBook],
    *,
    split: str = "all",
    resamples: int = 1000,
    seed: int = 0,
) -> Scores:
    """The scores of predicted books against gold ones, in both figures, per book and over all.

    Judged are the chapters that gold has spans in. Each tag, and the micro and macro average over
    the four; turns (the strict IOB2 entities of seqeval, narration inside a turn bridged);
    pairs of turns, and pairs of spans after "Mining Conversations from Novels"; whole dialogues;
    Pk (Beeferman et al. 1999) and WindowDiff (Pevzner and Hearst 2002), which are errors, not
    merits, over the matched utterances in both figures. Intervals are the 2.5 and 97.5 percentiles
    of `resamples` draws of chapters with replacement.

    Args:
        gold: legal sequences, each book once.
        predicted: each book once, in any order. An illegal tag counts as the tag it is end to end;
            for all that is built of tags, and on gold spans, it is mended (`tags.legal`).
        split: what the caller chose of the data, for the signature only.
        resamples: draws of the bootstrap; 0 for no intervals.
        seed: of the bootstrap.

    Raises:
        ValueError: on no gold, a book given twice, or an illegal sequence of gold tags (names book,
            paragraph and span).
    """
    golds, predictions = _by_book(gold, "gold"), _by_book(predicted, "predicted")
    if not golds:
        raise ValueError("found no gold book, expected at least one")
    k = window(gold)
    statistics: dict[str, tuple[_Statistics, _Statistics]] = {}
    for name, book in golds.items():
        comparison = _compared(book, predictions.get(name, TaggedBook(name, ())))
        statistics[name] = _statistics(comparison, k)
    both = tuple(np.concatenate(parts) for parts in zip(*statistics.values(), strict=True))
    scored = [predictions[name] for name in golds if name in predictions]
    signature = (
        f"unit:span|gold:{_source(gold)}|predicted:{_source(scored)}|split:{split}"
        f"|chapters:{len(both[0])}|k:{k}|bs:{resamples}|seed:{seed}|version:{__version__}"
    )
    return Scores(
        signature,
        _part("all", both[0], both[1], resamples, seed),
        tuple(_part(name, *pair, resamples, seed) for name, pair in statistics.items()),
        tuple(name for name in golds if name not in predictions),
        tuple(name for name in predictions if name not in golds),
    )


def match_spans(gold: TaggedBook, predicted: TaggedBook) -> list[tuple[int, int]]:
    """Which utterance of gold is which of predicted: index pairs into the two `spans`, ascending.

    Where both were read from the same paragraphs, equal positions match. Otherwise (two editions
    of a book, or two ways to parse it) the fingerprints of the utterances are aligned in order
    (difflib, longest run first), and a match between two chapters counts only if it is one of a
    quarter of the utterances of either: a stray "Yes." does not tie a chapter to another. Spans
    with different fingerprints never match.
    """
    if _same_paragraphs(gold, predicted):
        at = {_position(item.span): i for i, item in enumerate(predicted.spans)}
        places = [(i, at.get(_position(item.span))) for i, item in enumerate(gold.spans)]
        return [
            (i, j)
            for i, j in places
            if j is not None
            and gold.spans[i].span.is_utterance
            and predicted.spans[j].span.is_utterance
        ]
    return _aligned(gold, predicted)


def fingerprint(text: str) -> str:
    """The letters and digits of a text, case folded; the text itself where it has none.

    >>> fingerprint("“Don't _you_?”")
    'dontyou'
    """
    return _NOT_ALNUM.sub("", text.casefold()) or text.strip()


def window(gold: Iterable[TaggedBook]) -> int:
    """The k of Pk and WindowDiff, in utterances: half the mean dialogue length, at least 1.

    The mean is over the gold of the whole data set (Beeferman et al. 1999), where a chapter begins
    a segment too, as `score` takes no boundary from one chapter to the next.
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


def _by_book(books: Sequence[TaggedBook], side: str) -> dict[str, TaggedBook]:
    """The books by id; one id twice is refused."""
    twice = [book for book, n in Counter(tagged.book for tagged in books).items() if n > 1]
    if twice:
        raise ValueError(f"{side}: found book {twice[0]} more than once, expected each book once")
    return {tagged.book: tagged for tagged in books}


def _source(books: Sequence[TaggedBook]) -> str:
    """Where the books were read from, in one word: the source, or a digest of several."""
    sources = list(dict.fromkeys(book.source or "memory" for book in books))
    if len(sources) > 1:
        digest = hashlib.sha256("\n".join(sources).encode()).hexdigest()
        return f"{len(sources)}-files@{digest[:8]}"
    return sources[0] if sources else "none"


def _position(span: Span) -> tuple[int, int, int]:
    return span.paragraph, span.start, span.end


def _same_paragraphs(gold: TaggedBook, predicted: TaggedBook) -> bool:
    """Whether both have paragraphs of the same number, all of them with the same letters."""
    letters: list[dict[int, list[str]]] = []
    for book in (gold, predicted):
        found: dict[int, list[str]] = {}
        for item in book.spans:
            found.setdefault(item.span.paragraph, []).append(item.span.text)
        letters.append(found)
    common = letters[0].keys() & letters[1].keys()
    return bool(common) and all(
        fingerprint("".join(letters[0][n])) == fingerprint("".join(letters[1][n])) for n in common
    )


def _aligned(gold: TaggedBook, predicted: TaggedBook) -> list[tuple[int, int]]:
    """The matches of two books by fingerprint, in order; see `match_spans`."""
    golds, predictions = (
        [i for i, item in enumerate(book.spans) if item.span.is_utterance]
        for book in (gold, predicted)
    )
    matcher = SequenceMatcher(
        None,
        [fingerprint(gold.spans[i].span.text) for i in golds],
        [fingerprint(predicted.spans[i].span.text) for i in predictions],
        autojunk=False,
    )
    pairs = [
        (golds[block.a + n], predictions[block.b + n])
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
    ]
    links = [(gold.spans[i].span.chapter, predicted.spans[j].span.chapter) for i, j in pairs]
    n_links = Counter(links)
    n_golds = Counter(gold.spans[i].span.chapter for i in golds)
    n_predictions = Counter(predicted.spans[j].span.chapter for j in predictions)
    return [
        pair
        for pair, link in zip(pairs, links, strict=True)
        if 4 * n_links[link] >= min(n_golds[link[0]], n_predictions[link[1]])
    ]


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
    own = set(chapters.values()) if _same_paragraphs(gold, predicted) else set[int]()
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
    return _Comparison(gold, predicted, pairs, gold_numbers, predicted_numbers, chapters)


def _tags(tagged: TaggedBook, numbers: Mapping[Span, int]) -> _Things:
    """The utterances, of whatever tag and by tag, each with its number."""
    things: _Things = {unit: {} for unit in ("utterance", *map(str, _TAGS))}
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


def _statistics(comparison: _Comparison, k: int) -> tuple[_Statistics, _Statistics]:
    """The counts of a book, one row per gold chapter: end to end, and on gold spans.

    Columns: right, spurious and missed of each of `UNITS`, then mended tags, the errors of Pk, the
    errors of WindowDiff and the number of windows.
    """
    order = dict.fromkeys(item.span.chapter for item in comparison.gold.spans)
    rows = {chapter: row for row, chapter in enumerate(order)}
    row_of = {number: rows[chapter] for number, chapter in comparison.chapters.items()}
    ours, theirs = comparison.gold_numbers, comparison.predicted_numbers
    predicted = mended(comparison.predicted)
    kept = (
        _restricted(comparison.gold, {i for i, _ in comparison.pairs}),
        _restricted(predicted, {j for _, j in comparison.pairs}),
    )
    figures: list[_Statistics] = []
    for gold, as_predicted, legal in (
        (comparison.gold, comparison.predicted, predicted),
        (kept[0], kept[1], kept[1]),
    ):
        things = _tags(gold, ours) | _built(gold, ours)
        counts = _counts(things, _tags(as_predicted, theirs) | _built(legal, theirs), row_of)
        for old, new in zip(comparison.predicted.spans, predicted.spans, strict=True):
            if old.tag != new.tag and theirs[old.span] in row_of:
                counts[row_of[theirs[old.span]], _MENDED] += 1
        table = np.zeros((len(rows), _WINDOWS + 1), dtype=np.int64)
        for (row, column), n in counts.items():
            table[row, column] = n
        for chapter, row in rows.items():
            table[row, _PK:] = _window_errors(*kept, chapter, k)
        figures.append(table)
    return figures[0], figures[1]


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


def _part(
    name: str, end_to_end: _Statistics, on_gold: _Statistics, resamples: int, seed: int
) -> Part:
    """The part of the result that has these chapters."""
    matched, spurious, missed = (int(n) for n in end_to_end.sum(axis=0)[:3])
    return Part(
        name,
        len(end_to_end),
        matched + missed,
        matched + spurious,
        matched,
        int(end_to_end[:, _MENDED].sum()),
        _figure(end_to_end, resamples, seed),
        _figure(on_gold, resamples, seed),
    )


def _figure(statistics: _Statistics, resamples: int, seed: int) -> Figure:
    """The scores of the summed statistics, and their intervals from resampled sums."""
    total = statistics.sum(axis=0)
    n_chapters = len(statistics)
    intervals: dict[str, tuple[float, float]] = {}
    if n_chapters > 1 and resamples:
        draws = np.random.default_rng(seed).multinomial(
            n_chapters, [1 / n_chapters] * n_chapters, size=resamples
        )
        for name, values in _measures(draws @ statistics).items():
            # A draw in which a measure is not defined says nothing about it.
            defined = values[~np.isnan(values)]
            if defined.size:
                low, high = np.percentile(defined, [2.5, 97.5])
                intervals[name] = float(low), float(high)
    scores: list[Score] = []
    for name, values in _measures(total[None, :]).items():
        value = None if np.isnan(values[0]) else float(values[0])
        low, high = intervals.get(name, (None, None)) if value is not None else (None, None)
        scores.append(Score(name, value, low, high))
    counts = total[:_MENDED].reshape(-1, 3).tolist()
    return Figure(tuple(scores), tuple((u, Counts(*c)) for u, c in zip(UNITS, counts, strict=True)))


def _measures(totals: _Statistics) -> dict[str, _Values]:
    """Every measure, by name, of each row of summed statistics; NaN where it is not defined.

    `accuracy` is right tags among the utterances that either side has. The macro average is over
    the tags that occur on either side; there, and only there, a precision or recall that is not
    defined counts as 0, so that it pays no tagger to leave a tag out.
    """
    counts = totals[:, :_MENDED].reshape(len(totals), len(UNITS), 3).astype(np.float64)
    tags = counts[:, _TAG_COLUMNS]
    measures: dict[str, _Values] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, sums in [
            *((unit, counts[:, n]) for n, unit in enumerate(UNITS)),
            ("micro", tags.sum(axis=1)),
        ]:
            for rate, values in zip(("precision", "recall", "f1"), _rates(sums), strict=True):
                measures[f"{name}.{rate}"] = values
        n_tags = (tags.sum(axis=2) > 0).sum(axis=1)
        for rate, values in zip(("precision", "recall", "f1"), _rates(tags), strict=True):
            measures[f"macro.{rate}"] = np.nan_to_num(values).sum(axis=1) / n_tags
        measures["accuracy"] = tags[:, :, 0].sum(axis=1) / counts[:, 0].sum(axis=1)
        measures["pk"] = totals[:, _PK] / totals[:, _WINDOWS]
        measures["windowdiff"] = totals[:, _WINDOWDIFF] / totals[:, _WINDOWS]
    return measures


def _rates(counts: _Values) -> tuple[_Values, _Values, _Values]:
    """Precision, recall and F1 of (..., 3) counts; NaN for 0 / 0."""
    tp, fp, fn = np.moveaxis(counts, -1, 0)
    return tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)
