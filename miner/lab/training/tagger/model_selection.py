"""Evaluates a model on dev: chooses the epoch, the weights of the experts, the offset of B-START.

Confidence is the share of correct tags by temperature scaling (Guo et al. 2017, "On Calibration of
Modern Neural Networks", section 4): the scores are divided by one number that is fitted on data
outside the training set. The best tags stay.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from miner.errors import InputError
from miner.lab.learning.loop import Row
from miner.lab.measure.confidence import Bin, bin_tags
from miner.lab.measure.scores import (
    CountTable,
    Measures,
    Scores,
    count_chapters,
    measure,
    score,
    window_size,
)
from miner.lab.training.tagger.encoded_chapters import EncodedChapter
from miner.lab.training.tagger.training import autocast, sequence_loss
from miner.lab.training.tagger.training_data import AnnotatedExamples
from miner.speech.spans import BookSpans
from miner.speech.tags import TAGS, Tag, TaggedBook
from miner.tagger.config import Expert
from miner.tagger.decoding import marginals, viterbi
from miner.tagger.model import ConversationTagger, log_odds
from miner.tagger.tagger import ScoredChapter, decode_scores

_STEPS = 20  # between the weights 0 and 1
_RANGE = (0.2, 10.0)  # of temperatures; a value outside would show another error


@dataclass(frozen=True, slots=True)
class Calibration:
    """A temperature, and the expected calibration error before and after scaling, 0..1.

    `bins` hold the tags by their confidence after scaling.
    """

    temperature: float
    error_before: float
    error_after: float
    bins: tuple[Bin, ...]


def fit_temperature(
    scores: Sequence[NDArray[np.floating]],
    tags: Sequence[NDArray[np.int64]],
    start_offset: float = 0.0,
) -> Calibration:
    """Returns the temperature at which the gold tags are most probable.

    Args:
        scores: the scores of each chapter, (utterances, 4).
        tags: the indices of the gold tags in `decoding.TAGS`, (utterances,) for each chapter.
        start_offset: added to the scores of B-START before decoding.
    """
    if not sum(map(len, tags)):
        raise InputError("found no utterance, expected some to calibrate on")

    def loss(temperature: float) -> float:
        """Returns the mean of minus the log-probability of the gold tags."""
        right = [
            marginals(rows / temperature)[np.arange(len(gold)), gold]
            for rows, gold in zip(scores, tags, strict=True)
            if len(gold)
        ]
        return float(-np.log(np.maximum(np.concatenate(right), 1e-12)).mean())

    found: Any = minimize_scalar(loss, bounds=_RANGE, method="bounded", options={"xatol": 1e-3})
    temperature = float(found.x)
    before, _ = calibration_error(scores, tags, 1.0, start_offset)
    after, bins = calibration_error(scores, tags, temperature, start_offset)
    return Calibration(temperature, before, after, bins)


def fit_weight(
    one: NDArray[np.floating], other: NDArray[np.floating], answers: NDArray[np.bool_]
) -> float:
    """Returns the weight of `one` in a mixture with `other` that fits the answers best, 0..1.

    Each weight is judged at its best temperature, so that overconfident odds do not matter.
    """

    def loss(weight: float) -> float:
        odds = np.where(answers, 1.0, -1.0) * (weight * one + (1 - weight) * other)
        found: Any = minimize_scalar(
            lambda temperature: np.logaddexp(0.0, -odds / temperature).mean(),
            bounds=_RANGE,
            method="bounded",
        )
        return float(found.fun)

    return min((n / _STEPS for n in range(_STEPS + 1)), key=loss)


def calibration_error(
    scores: Sequence[NDArray[np.floating]],
    tags: Sequence[NDArray[np.int64]],
    temperature: float,
    start_offset: float,
) -> tuple[float, tuple[Bin, ...]]:
    """Returns the expected calibration error of the decoded tags, 0..1, and its equal-width bins.

    Args:
        scores: the scores of each chapter, (utterances, 4).
        tags: the indices of the gold tags in `decoding.TAGS`, (utterances,) for each chapter.
        temperature: the scores are divided by it before they become probabilities.
        start_offset: added to the scores of B-START before decoding.
    """
    confidence: list[float] = []
    is_correct: list[bool] = []
    for rows, gold in zip(scores, tags, strict=True):
        probabilities = marginals(rows / temperature)
        for n, tag in enumerate(viterbi(rows, start_offset)):
            chosen = TAGS.index(tag)
            confidence.append(float(probabilities[n, chosen]))
            is_correct.append(chosen == gold[n])
    bins = bin_tags(confidence, is_correct)
    error = sum(item.n * abs(item.confidence - item.accuracy) for item in bins) / len(confidence)
    return float(error), bins


ChapterScores = Sequence[NDArray[np.floating]]  # (utterances, 4) for each chapter
_OFFSETS = [step / 10 for step in range(-5, 21)]  # that are tried for B-START
_OF_GOAL = ("B-START", "turn-pair")
_STANDARD_ERROR = 0.02  # of the goal on dev, roughly, from resampled chapters


@dataclass(frozen=True, slots=True)
class EpochResult:
    """What a model reaches on dev after an epoch."""

    # the loss per utterance of each expert alone and of the mixture, by name.
    losses: Mapping[str, float]
    scores: Scores  # the scores of the mixture, with the offset of B-START that is best for it


@dataclass(frozen=True, slots=True)
class BestEpoch:
    """The best epoch so far, counted from 0; `highest` is the highest goal of any epoch."""

    epoch: int = -1
    goal: float = -1.0
    loss: float = math.inf
    highest: float = -1.0

    def compare(self, epoch: int, goal: float, loss: float) -> BestEpoch:
        """Returns the best of this epoch and a later one.

        On a dev split of some 20 chapters the goals of equally good epochs differ by a standard
        error, and the highest is often the luckiest. So a later epoch is better if its goal is
        higher by more than that. It is also better if its loss is lower and its goal is within a
        standard error of the highest.
        """
        is_near_highest = goal >= self.highest - _STANDARD_ERROR
        is_better = goal > self.goal + _STANDARD_ERROR or (loss < self.loss and is_near_highest)
        best = BestEpoch(epoch, goal, loss) if is_better else self
        return replace(best, highest=max(goal, self.highest))


def best_epoch(rows: Sequence[Row], loss: str = "dev loss of mixture") -> int:
    """Returns the number of the best epoch, from the metrics of the epochs of a stage.

    `loss` is the name of the loss on dev.
    """
    best = BestEpoch()
    for number, row in enumerate(rows):
        goal = sum(row[f"dev {unit}.f1"] or 0.0 for unit in _OF_GOAL) / 2
        best = best.compare(number, goal, row[loss])
    return best.epoch


def goal_of(measured: Measures) -> float:
    """Returns the mean of the F1 of B-START and of turn pairs, 0..1.

    Turn pairs alone differ less between epochs than by chance, and say little of B-START.
    """
    return sum(measured[f"{unit}.f1"].value or 0.0 for unit in _OF_GOAL) / 2


def evaluate_epoch(
    model: ConversationTagger,
    chapters: Sequence[EncodedChapter],
    gold: AnnotatedExamples,
    split: str,
    experts: Collection[Expert],
    dtype: torch.dtype,
) -> EpochResult:
    """Fits the weights of the experts on dev, and returns what the model reaches there."""
    scores = {expert: score_chapters(model, chapters, [expert], dtype) for expert in experts}
    fit_shares(model, scores, [example.tags for example in gold.examples])
    mixed = mix_experts(model, scores)
    losses = {str(expert): mean_loss(gold, rows) for expert, rows in scores.items()}
    losses["mixture"] = mean_loss(gold, mixed)
    offset = fit_start_offset(gold, mixed)
    return EpochResult(losses, score_decoded(gold, mixed, split, start_offset=offset))


def trained_experts(model: ConversationTagger, latest: Expert = Expert.TEXT) -> list[Expert]:
    """Returns the experts that are trained when `latest` is: the structure comes first."""
    experts = [Expert.STRUCTURE] if model.structure is not None else []
    return experts + [Expert.TEXT] * (latest is Expert.TEXT)


def score_chapters(
    model: ConversationTagger,
    chapters: Sequence[EncodedChapter],
    experts: Collection[Expert],
    dtype: torch.dtype = torch.float32,
) -> ChapterScores:
    """Returns the scores of each chapter by the experts, mixed if there are two."""
    model.eval()
    found = []
    for item in chapters:
        with torch.no_grad(), autocast(model.device.type, dtype):
            parts = model(item.encoding, item.features, item.sequences, item.vectors, experts)
        found.append(torch.cat([part.scores for part in parts]).float().cpu().numpy())
    return found


def mix_experts(model: ConversationTagger, scores: Mapping[Expert, ChapterScores]) -> ChapterScores:
    """Returns the scores of both experts mixed; those of a single expert stay."""
    if len(scores) == 1:
        return next(iter(scores.values()))
    both = zip(scores[Expert.TEXT], scores[Expert.STRUCTURE], strict=True)
    return [model.mix_scores(*map(torch.from_numpy, pair)).numpy() for pair in both]


def fit_shares(
    model: ConversationTagger,
    scores: Mapping[Expert, ChapterScores],
    tags: Sequence[NDArray[np.int64]],
) -> None:
    """Fits the weight of each expert for both questions of `mix_scores`, and sets the config."""
    if len(scores) == 1:
        return
    text, structure = (
        [part.numpy() for part in log_odds(torch.from_numpy(np.concatenate(scores[expert])))]
        for expert in (Expert.TEXT, Expert.STRUCTURE)
    )
    gold = np.concatenate(tags)
    opens = gold == TAGS.index(Tag.B_START)
    later = np.concatenate([np.arange(len(item)) > 0 for item in tags])  # the first always opens
    model.config.start_share = fit_weight(text[0][later], structure[0][later], opens[later])
    continues, others = gold != TAGS.index(Tag.B_OTHER), ~opens
    model.config.turn_share = fit_weight(text[1][others], structure[1][others], continues[others])


def mean_loss(gold: AnnotatedExamples, scores: ChapterScores) -> float:
    """Returns the loss of the tags per utterance."""
    total = 0.0
    for example, rows in zip(gold.examples, scores, strict=True):
        tags = torch.from_numpy(example.tags)
        total += float(sequence_loss(torch.from_numpy(rows), tags)) * len(tags)
    return total / sum(len(example.tags) for example in gold.examples)


def fit_start_offset(gold: AnnotatedExamples, scores: ChapterScores) -> float:
    """Returns what to add to the scores of B-START for the highest goal.

    Of several equally good offsets it is the one nearest to 0.
    """
    books = list(zip(gold.gold, _by_book(gold, scores), strict=True))
    k = window_size(gold.gold)
    # Counting takes longest, and the next offset leaves the tags of most books as they are.
    counts: dict[tuple[str, tuple[Tag, ...]], CountTable] = {}

    def goal_at(offset: float) -> float:
        rows: list[CountTable] = []
        for book, (spans, scored) in books:
            key = book.book, tuple(tag for _, part in scored for tag in viterbi(part, offset))
            if key not in counts:
                counts[key], _ = count_chapters(book, _decode(spans, scored, offset), k)
            rows.append(counts[key])
        return goal_of(measure(np.concatenate(rows)))

    return max(sorted(_OFFSETS, key=abs), key=goal_at)


def score_decoded(
    gold: AnnotatedExamples,
    scores: ChapterScores,
    split: str,
    resamples: int = 0,
    start_offset: float = 0.0,
) -> Scores:
    """Decodes the scores of the chapters, and returns how well the tags agree with the gold."""
    predicted = [_decode(*book, start_offset) for book in _by_book(gold, scores)]
    return score(gold.gold, predicted, split=split, resamples=resamples, seed=0)


def _by_book(
    gold: AnnotatedExamples, scores: ChapterScores
) -> list[tuple[BookSpans, list[ScoredChapter]]]:
    """Returns the books in the order of their gold, each with the scores of its chapters."""
    chapters: dict[str, list[ScoredChapter]] = {}
    for example, rows in zip(gold.examples, scores, strict=True):
        chapters.setdefault(example.chapter.book, []).append((example.chapter, rows))
    return [(spans, chapters.get(spans.book.id, [])) for spans in gold.book_spans]


def _decode(spans: BookSpans, scored: list[ScoredChapter], start_offset: float) -> TaggedBook:
    tagged = decode_scores(spans, scored, start_offset)
    return TaggedBook(spans.book.id, tuple(tagged), "checkpoint")
