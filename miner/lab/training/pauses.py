"""Annotated books -> the weights of the model of pauses.

The speech of a book teaches by itself where speakers pause: an example is a place between two words
of an utterance, with a stop or with nothing there. No annotation is read, but the splits are kept:
the books of dev and test teach nothing. Features are hashed: an example has numbers alone, from
which no word can be read.
"""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import ENGLISH, read_split
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, read_editions
from miner.lab.learning.fields import Option
from miner.lab.learning.prepared import Record
from miner.lab.learning.run_folder import Arrays
from miner.speech.pauses import (
    N_FEATURES,
    REACH,
    PauseModel,
    Tokens,
    is_word,
    read_pause_features,
    read_tokens,
)
from miner.speech.wording import drop_glosses, strip_marks

KIND = "pauses"
_MOST_STEPS = 80
_LARGEST_BYTE = 127
_STOPS = (",", ";", ":", "—", "--", ",—", ".")
_EARLY = 8  # words of a sentence that are its first
_SHORT = 4  # letters of a word with a capital whose full stop may be that of an abbreviation
_ME = ("I", "I’", "I'")  # what stays a capital inside a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTraining:
    """The choices of a training run of the model of pauses."""

    # Fitted on running speech of dev.
    strength: Annotated[
        float, Option("Inverse of the regularization, `C` of scikit-learn's logistic regression.")
    ] = 0.1
    language: Annotated[
        str, Option("The languages that are learned together, with commas between.")
    ] = ENGLISH
    kept: Annotated[float, Option("Share of the places without a stop that are learned.")] = 0.1
    kept_first: Annotated[
        float, Option("The same among the first words of sentences, where narrators break in.")
    ] = 0.5
    # Fitted on 309 interruptions of books of train and dev, whose commas were judged by reading.
    odds: Annotated[
        float, Option("How much rather a narrator breaks in at a pause than elsewhere.")
    ] = 9.0
    since: Annotated[
        int, Option("The first year of the books; older ones have commas that nobody sets today.")
    ] = 1860
    least: Annotated[int, Option("Places at which a feature must be found to have a weight.")] = 5
    most: Annotated[int, Option("The most features whose weights are written.")] = 60_000
    seed: Annotated[int, Option("Seed of all that is drawn by chance.")] = 0


@dataclass(frozen=True, slots=True)
class PauseExamples:
    """Places between two words of speech."""

    books: tuple[str, ...]  # the ids of the books
    is_pause: NDArray[np.bool_]  # whether a stop stands at each place: (places,), bool
    n_features: NDArray[np.int32]  # the number of features of each: (places,)
    numbers: NDArray[np.int32]  # the numbers of all features: (features,)


def read_pause_examples(
    gold: Path,
    split: str,
    read: BookReader,
    options: PauseTraining,
    without: Collection[str] = (),
    leave_out: Callable[[str], object] | None = None,
) -> PauseExamples:
    """Returns the places between two words in the speech of the annotated books of a split."""
    annotated = [
        book
        for book in read_split(gold, split, without, options.language)
        if book.card.year >= options.since
    ]
    chance = random.Random(options.seed)
    books: list[str] = []
    is_pause, n_features, numbers = array("b"), array("i"), array("i")
    for edition in read_editions(annotated, read, leave_out, classified=False):
        books.append(edition.annotated.card.book)
        language = edition.annotated.card.language
        for span in edition.book_spans.spans:
            if not span.is_utterance:
                continue
            tokens = read_tokens(strip_marks(drop_glosses(span.text)), language)
            for before, after, pauses in _places(tokens, options, chance):
                found = read_pause_features(before, after, language)
                is_pause.append(pauses)
                n_features.append(len(found))
                numbers.extend(found)
    return PauseExamples(
        tuple(books),
        np.array(is_pause, dtype=np.bool_),
        np.array(n_features, dtype=np.int32),
        np.array(numbers, dtype=np.int32),
    )


def _places(
    tokens: Tokens, options: PauseTraining, chance: random.Random
) -> Iterator[tuple[Tokens, Tokens, bool]]:
    """Yields the tokens before and after some places, and whether a stop stands there.

    Speech that goes on with a small letter may begin a sentence, so half the sentences begin so.
    """
    first, is_first = 0, True  # where the words since the last stop begin, and whether a sentence
    for place in range(1, len(tokens)):
        if not is_word(tokens[place - 1]):
            first, is_first = place, tokens[place - 1][0] != ","
        after = tokens[place : place + REACH]
        if not is_word(after[0]):
            continue
        if is_word(tokens[place - 1]):
            is_early = is_first and place - first < _EARLY
            if chance.random() < (options.kept_first if is_early else options.kept):
                yield tokens[max(0, place - REACH) : place][::-1], after, False
        elif place > 1 and tokens[place - 1] in _STOPS and is_word(tokens[place - 2]):
            word = tokens[place - 2]
            if tokens[place - 1] == ".":
                if not after[0][0].isupper() or (word[0].isupper() and len(word) < _SHORT):
                    continue  # of an abbreviation, perhaps
                if chance.random() < 1 / 2 and after[0][:2] not in _ME:
                    after = [after[0].lower(), *after[1:]]
            yield tokens[max(0, place - 1 - REACH) : place - 1][::-1], after, True


def fit_pauses(examples: PauseExamples, options: PauseTraining) -> PauseModel:
    """Returns a model that learns from places by logistic regression.

    It learns twice: first from all features that are not rare, then from those that tell most.
    """
    if len(set(examples.is_pause.tolist())) < 2:
        raise InputError("found no pause or nothing else, expected both to learn from")
    counts = np.bincount(examples.numbers, minlength=N_FEATURES)
    kept = np.flatnonzero(counts >= options.least)
    weights, _ = _fit(examples, kept, options)
    largest = np.argsort(-np.abs(weights), kind="stable")[: options.most]
    kept = np.sort(kept[largest])
    weights, bias = _fit(examples, kept, options)
    bias += math.log(options.odds * options.kept_first)
    return PauseModel("", dict(zip(kept.tolist(), weights.tolist(), strict=True)), bias)


def _fit(
    examples: PauseExamples, kept: NDArray[np.int64], options: PauseTraining
) -> tuple[NDArray[np.float64], float]:
    """Returns the weights of the features that are kept, and the bias."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    columns = np.full(N_FEATURES, -1, dtype=np.int32)
    columns[kept] = np.arange(len(kept), dtype=np.int32)
    found = columns[examples.numbers]
    ends = np.concatenate([[0], np.cumsum(examples.n_features)])
    ends = np.concatenate([[0], np.cumsum(found >= 0)])[ends]
    found = found[found >= 0]
    ones = np.ones(len(found), dtype=np.float32)
    features = csr_matrix((ones, found, ends), shape=(len(examples.is_pause), len(kept)))
    regression = LogisticRegression(C=options.strength, max_iter=_MOST_STEPS)
    fitted = regression.fit(features, examples.is_pause)
    return fitted.coef_[0].astype(np.float64), float(fitted.intercept_[0])


@dataclass(frozen=True, slots=True)
class PauseTrainer:
    """Trains the model of pauses; see `network_training.NetworkTrainer`."""

    options: PauseTraining
    kind: ClassVar = KIND
    form: ClassVar = PauseExamples
    features: ClassVar[Sequence[str]] = ()

    @property
    def choices(self) -> Record:
        """The choices of the training by name."""
        return asdict(self.options)

    def read(
        self,
        gold: Path,
        split: str,
        read: BookReader,
        without: Collection[str],
        leave_out: Callable[[str], object],
    ) -> PauseExamples:
        """Returns the examples of the books of a split."""
        return read_pause_examples(gold, split, read, self.options, without, leave_out)

    def describe(self, examples: PauseExamples) -> Record:
        """Returns the books of the examples, and how many they are."""
        return {
            "books": list(examples.books),
            "places": len(examples.is_pause),
            "pauses": int(examples.is_pause.sum()),
        }

    def fit(self, examples: PauseExamples, report: Callable[[str], object]) -> Arrays:
        """Returns the weights that are learned from examples."""
        return weights_of(fit_pauses(examples, self.options))


def weights_of(model: PauseModel) -> Arrays:
    """Returns the weights of a model in 8 bits, as `load_pause_model` reads them."""
    numbers = np.array(sorted(model.weights), dtype=np.int64)
    weights = np.array([model.weights[number] for number in numbers.tolist()])
    scale = max(float(np.abs(weights).max(initial=0)), 1e-9) / _LARGEST_BYTE
    steps = np.diff(numbers, prepend=0)
    return {
        "steps": steps.astype(np.min_scalar_type(int(steps.max(initial=0)))),
        "weights": np.round(weights / scale).astype(np.int8),
        "scale": np.array([scale], dtype=np.float32),
        "bias": np.array([model.bias], dtype=np.float32),
    }
