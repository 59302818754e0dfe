"""Annotated books -> the weights of the judge of speech.

The rules judge first, and their answer is one of the facts. So the judge learns from spans that no
judge has seen. Facts are hashed: an example has numbers alone, from which no word can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import read_split
from miner.annotation.editions import BookReader, Edition, read_editions
from miner.dialogue.speech_facts import N_FACTS, Array, read_facts
from miner.dialogue.speech_judge import SpeechJudge, is_judged
from miner.files import printable
from miner.models.prepared_files import Arrays, Record, digest_arrays, read_prepared, write_prepared
from miner.models.tagger.training_config import Option

KIND = "judge of speech"
_MOST_STEPS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechTraining:
    """The choices of a training run of the judge."""

    # Fitted on books of the split train that were held out.
    strength: Annotated[
        float, Option("Inverse of the regularization, `C` of scikit-learn's logistic regression.")
    ] = 0.2


@dataclass(frozen=True, slots=True)
class SpeechExamples:
    """Annotated spans in quotation marks, span by span.

    Attributes:
        books: the id of the book of each span.
        unsaid: whether it is no speech: (spans,), bool.
        n_facts: the number of facts of each: (spans,).
        numbers: the numbers of all facts: (facts,).
        weights: the weights of all facts: (facts,).
    """

    books: tuple[str, ...]
    unsaid: NDArray[np.bool_]
    n_facts: NDArray[np.int32]
    numbers: NDArray[np.int32]
    weights: Array

    @property
    def digest(self) -> str:
        """8 hexadecimal digits that change with any fact and any answer."""
        return digest_arrays(self._arrays())

    def write(self, path: Path, record: Record, force: bool = False) -> None:
        """Writes the examples to a file, from which `load_speech_examples` reads them.

        Raises:
            ValueError: if the file exists and `force` is False.
            OSError: if it cannot be written.
        """
        write_prepared(path, KIND, record, self._arrays(), force)

    def _arrays(self) -> Arrays:
        arrays: Arrays = asdict(self)
        return arrays | {"books": np.array(self.books, dtype=np.str_)}


def read_speech_examples(
    gold: Path,
    split: str,
    read: BookReader,
    without: Collection[str] = (),
    leave_out: Callable[[str], object] | None = None,
) -> SpeechExamples:
    """Returns the annotated spans of a split.

    Args:
        gold: a folder of annotations.
        split: as `read_split` takes it.
        read: gives the bytes of a book by its id.
        without: ids of books to leave out.
        leave_out: called with a line for each chapter that is left out; see
            `editions.read_editions`.

    Raises:
        ValueError: as `read_split` and `read_editions` raise it.
        OSError: if a file cannot be read.
    """
    books: list[str] = []
    unsaid: list[bool] = []
    numbers: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
    weights: list[Array] = [np.zeros(0, dtype=np.float32)]
    editions = read_editions(read_split(gold, split, without), read, leave_out, judged=False)
    for edition in editions:
        said = _answers(edition)
        spans = edition.book_spans.spans
        for position, span in enumerate(spans):
            answer = said.get((span.paragraph, span.start, span.end))
            if is_judged(span) and answer is not None:
                of_span, weights_of_span = read_facts(spans, position)
                numbers.append(of_span)
                weights.append(weights_of_span)
                unsaid.append(not answer)
                books.append(edition.annotated.card.book)
    return SpeechExamples(
        tuple(books),
        np.array(unsaid, dtype=np.bool_),
        np.array([len(item) for item in numbers[1:]], dtype=np.int32),
        np.concatenate(numbers),
        np.concatenate(weights),
    )


def _answers(edition: Edition) -> dict[tuple[int, int, int], bool]:
    """Returns whether the annotated spans of a book are speech, by their places."""
    located = edition.located
    return {
        (span.paragraph, span.start, span.end): fact.is_utterance
        for span, fact in zip(located.book_spans.spans, located.facts, strict=True)
        if fact is not None
    }


def load_speech_examples(path: Path) -> tuple[SpeechExamples, Record]:
    """Returns the examples of a file, and what they were made from.

    Raises:
        ValueError: if the file holds no such examples; names it.
        OSError: if it cannot be read.
    """
    record, arrays = read_prepared(path, KIND)
    try:
        found = SpeechExamples(**(arrays | {"books": tuple(arrays["books"].tolist())}))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{printable(path)}: found {error}, expected facts of spans") from error
    n_facts = found.n_facts.sum()
    sizes = len(found.unsaid), len(found.n_facts), len(found.numbers), len(found.weights)
    if sizes != (len(found.books), len(found.books), n_facts, n_facts):
        raise ValueError(
            f"{printable(path)}: found arrays of {sizes}, expected those of {len(found.books)} "
            f"spans with {n_facts} facts"
        )
    return found, record


def fit_judge(examples: SpeechExamples, options: SpeechTraining) -> SpeechJudge:
    """Returns a judge that learns from annotated spans by logistic regression.

    Raises:
        ValueError: if the spans do not have both, speech and other quotations.
    """
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    if len(set(examples.unsaid.tolist())) < 2:
        raise ValueError("found no speech or no other quotations, expected both to learn from")
    ends = np.concatenate([[0], np.cumsum(examples.n_facts)])
    shape = len(examples.unsaid), N_FACTS
    facts = csr_matrix((examples.weights, examples.numbers, ends), shape=shape)
    regression = LogisticRegression(C=options.strength, max_iter=_MOST_STEPS)
    fitted = regression.fit(facts, examples.unsaid)
    return SpeechJudge(fitted.coef_[0].astype(np.float32), float(fitted.intercept_[0]))


def weights_of(judge: SpeechJudge) -> Arrays:
    """Returns the weights of a judge in 16 bits, as `speech_judge.load_judge` reads them."""
    bias = np.array([judge.bias], dtype=np.float16)
    return {"weights": judge.weights.astype(np.float16), "bias": bias}
