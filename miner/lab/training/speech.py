"""Annotated books -> the weights of the classifier of speech.

The rules decide first, and their answer is one of the features. So the classifier learns from spans
that none has seen. Features are hashed: an example has numbers alone, from which no word can be
read.

English has a classifier of its own, of the spans in quotation marks. That of other languages learns
from the quotations of all of them together, and from some of English, whose features count for all
languages alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import ENGLISH, read_split
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, Edition, read_editions
from miner.lab.learning.fields import Option
from miner.lab.learning.prepared import Record
from miner.lab.learning.run_folder import Arrays
from miner.speech.kinds import SpanKind
from miner.speech.set_pieces import find_pieces, is_sure, lay_out
from miner.speech.spans import Span
from miner.speech.speech_classifier import (
    N_FEATURES,
    N_QUOTATION_FEATURES,
    Array,
    QuotationClassifier,
    SpeechClassifier,
    find_quotations,
    is_classified,
    read_features,
    read_quotation_features,
    weigh_marks,
)

KIND = "judge of speech"
_MOST_STEPS = 300
# English has many times more annotations than the other languages: one passage of this many is
# learned from beside them.
_EACH_OF_ENGLISH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechTraining:
    """The choices of a training run of the classifier."""

    # Fitted on books of the split train that were held out. The other languages take 2.
    strength: Annotated[
        float, Option("Inverse of the regularization, `C` of scikit-learn's logistic regression.")
    ] = 0.2
    language: Annotated[
        str, Option("English, or other languages with commas between, which share a classifier.")
    ] = ENGLISH


@dataclass(frozen=True, slots=True)
class SpeechExamples:
    """Annotated spans in quotation marks, span by span."""

    books: tuple[str, ...]  # the id of the book of each span
    unsaid: NDArray[np.bool_]  # whether it is no speech: (spans,), bool
    n_facts: NDArray[np.int32]  # the number of facts of each: (spans,)
    numbers: NDArray[np.int32]  # the numbers of all facts: (facts,)
    weights: Array  # the weights of all facts: (facts,)


class _Example(NamedTuple):
    """What is read of a span or a passage: its facts, their weights, whether it is no speech."""

    numbers: NDArray[np.int32]
    weights: Array
    unsaid: bool


def read_speech_examples(
    gold: Path,
    split: str,
    read: BookReader,
    without: Collection[str] = (),
    leave_out: Callable[[str], object] | None = None,
    language: str = ENGLISH,
) -> SpeechExamples:
    """Returns the annotated spans of a split in English, or the annotated passages of others."""
    is_english = language == ENGLISH
    languages = language if is_english else f"{language},{ENGLISH}"
    annotated = read_split(gold, split, without, languages)
    books: list[str] = []
    examples: list[_Example] = []
    for edition in read_editions(annotated, read, leave_out, classified=False):
        examples += _read_spans(edition) if is_english else _read_passages(edition)
        books += [edition.annotated.card.book] * (len(examples) - len(books))
    return SpeechExamples(
        tuple(books),
        np.array([item.unsaid for item in examples], dtype=np.bool_),
        np.array([len(item.numbers) for item in examples], dtype=np.int32),
        np.concatenate([np.zeros(0, dtype=np.int32), *(item.numbers for item in examples)]),
        np.concatenate([np.zeros(0, dtype=np.float32), *(item.weights for item in examples)]),
    )


def _read_spans(edition: Edition) -> Iterator[_Example]:
    """Yields the annotated spans in quotation marks of a book."""
    said = dict(_answers(edition))
    layout = lay_out(edition.book_spans)
    for piece in find_pieces(layout):
        if is_sure(layout, piece):
            continue
        for span, position in ((layout.spans[position], position) for position in piece):
            answer = said.get((span.paragraph, span.start, span.end))
            if is_classified(span) and answer is not None:
                yield _Example(*read_features(layout.spans, position), not answer)


def _read_passages(edition: Edition) -> Iterator[_Example]:
    """Yields the annotated passages of a book, cut as the annotator cut them."""
    language = edition.annotated.card.language
    each = _EACH_OF_ENGLISH if language == ENGLISH else 1
    of_language = "" if language == ENGLISH else language
    spans = _with_rules(edition)
    weight_of_marks = weigh_marks(edition.book_spans.spans)
    for passage in find_quotations(spans)[::each]:
        n_letters = Counter[bool]()
        for position in passage:
            fact = edition.located.facts[position]
            n_letters[fact is not None and fact.is_utterance] += _count_letters(spans[position])
        facts = read_quotation_features(spans, passage, of_language, weight_of_marks)
        yield _Example(*facts, n_letters[False] >= n_letters[True])


def _with_rules(edition: Edition) -> list[Span]:
    """Returns the annotated spans of a book with what the rules say of them as their answer.

    A span of which the miner quotes less than half is narration, as it is without annotations.
    """
    quoted: dict[int, list[Span]] = {}
    for span in edition.book_spans.spans:
        if span.in_marks:
            quoted.setdefault(span.paragraph, []).append(span)
    spans = []
    located = edition.located
    for span, fact in zip(located.book_spans.spans, located.facts, strict=True):
        n_letters = Counter[bool]()
        for found in quoted.get(span.paragraph, ()) if fact else ():
            n_letters[found.is_utterance] += _count_letters(span, found.start, found.end)
        is_quoted = n_letters.total() and 2 * n_letters.total() >= _count_letters(span)
        said = bool(is_quoted) and n_letters[True] >= n_letters[False]
        kind = SpanKind.OTHER if is_quoted else SpanKind.NARRATION
        spans.append(replace(span, kind=SpanKind.UTTERANCE if said else kind))
    return spans


def _count_letters(span: Span, start: int = 0, end: int | None = None) -> int:
    """Returns the number of letters of a span between two places of its block."""
    end = span.end if end is None else end
    text = span.text[max(start - span.start, 0) : max(end - span.start, 0)]
    return sum(map(str.isalnum, text))


def _answers(edition: Edition) -> Iterator[tuple[tuple[int, int, int], bool]]:
    """Yields the places of the annotated spans of a book, and whether they are speech."""
    located = edition.located
    for span, fact in zip(located.book_spans.spans, located.facts, strict=True):
        if fact is not None:
            yield (span.paragraph, span.start, span.end), fact.is_utterance


def fit_classifier(
    examples: SpeechExamples, options: SpeechTraining
) -> SpeechClassifier | QuotationClassifier:
    """Returns a classifier that learns from annotated spans or passages by logistic regression."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    if len(set(examples.unsaid.tolist())) < 2:
        raise InputError("found no speech or no other quotations, expected both to learn from")
    ends = np.concatenate([[0], np.cumsum(examples.n_facts)])
    is_english = options.language == ENGLISH
    shape = len(examples.unsaid), N_FEATURES if is_english else N_QUOTATION_FEATURES
    facts = csr_matrix((examples.weights, examples.numbers, ends), shape=shape)
    regression = LogisticRegression(C=options.strength, max_iter=_MOST_STEPS)
    fitted = regression.fit(facts, examples.unsaid)
    classifier = SpeechClassifier if is_english else QuotationClassifier
    return classifier(fitted.coef_[0].astype(np.float32), float(fitted.intercept_[0]))


@dataclass(frozen=True, slots=True)
class SpeechTrainer:
    """Trains the classifier of speech; see `network_training.NetworkTrainer`."""

    options: SpeechTraining
    kind: ClassVar = KIND
    form: ClassVar = SpeechExamples
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
    ) -> SpeechExamples:
        """Returns the examples of a split of the annotations."""
        return read_speech_examples(gold, split, read, without, leave_out, self.options.language)

    def describe(self, examples: SpeechExamples) -> Record:
        """Returns the books of the examples, and how many they are."""
        return {
            "books": list(dict.fromkeys(examples.books)),
            "spans": len(examples.unsaid),
            "spans that are no speech": int(examples.unsaid.sum()),
        }

    def fit(self, examples: SpeechExamples, report: Callable[[str], object]) -> Arrays:
        """Returns the weights that are learned from examples."""
        return weights_of(fit_classifier(examples, self.options))


def weights_of(classifier: SpeechClassifier | QuotationClassifier) -> Arrays:
    """Returns the weights of a classifier in 16 bits, as `load_classifier` reads them."""
    bias = np.array([classifier.bias], dtype=np.float16)
    return {"weights": classifier.weights.astype(np.float16), "bias": bias}
