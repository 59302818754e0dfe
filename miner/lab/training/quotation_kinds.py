"""Labelled and annotated quotations -> the weights of the classifier of their kinds.

`kinds.jsonl` beside the annotations has the kind of some quotations, which were read for it. The
annotations tell only what is no speech. Where the rules name the kind of that, it is learned, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import ENGLISH, read_split
from miner.errors import InputError
from miner.files import json_rows, read_text
from miner.lab.gold.editions import BookReader, read_editions
from miner.lab.learning.fields import Option
from miner.lab.learning.prepared import Record
from miner.lab.learning.run_folder import Arrays
from miner.speech.kinds import SpanKind
from miner.speech.quotation_kinds import (
    KINDS,
    N_FEATURES,
    Array,
    KindClassifier,
    read_kind_features,
)
from miner.speech.read import parse_spans
from miner.speech.set_pieces import Layout, lay_out

KIND = "judge of kinds"
LABELS = "kinds.jsonl"
_MOST_STEPS = 300
_WEIGHT_OF_LABEL = 3.0  # of a label among what the rules say


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTraining:
    """The choices of a training run of the classifier."""

    # Fitted by five parts of the books, each of which was held out once.
    strength: Annotated[
        float, Option("Inverse of the regularization, `C` of scikit-learn's logistic regression.")
    ] = 0.3


@dataclass(frozen=True, slots=True)
class KindExamples:
    """Quotations that are no speech, one by one."""

    books: tuple[str, ...]  # the id of the book of each
    kinds: NDArray[np.int32]  # the number of the kind of each in `KINDS`: (quotations,)
    labelled: NDArray[np.bool_]  # whether the kind was read, and not named by a rule: (quotations,)
    n_facts: NDArray[np.int32]  # the number of facts of each: (quotations,)
    numbers: NDArray[np.int32]  # the numbers of all facts: (facts,)
    weights: Array  # the weights of all facts: (facts,)


@dataclass(frozen=True, slots=True)
class Label:
    """The kind of a quotation, as somebody read it."""

    paragraph: int  # the number of the paragraph when it was read
    fingerprint: str  # what is kept of its text
    kind: SpanKind


def read_labels(path: Path) -> dict[str, list[Label]]:
    """Returns the labels of each book."""
    labels: dict[str, list[Label]] = {}
    for where, row in json_rows(path, read_text(path)):
        try:
            label = Label(row["paragraph"], row["fingerprint"], SpanKind(row["kind"]))
        except (KeyError, ValueError) as error:
            raise InputError(f"{where}: found no kind of a quotation: {error}") from error
        labels.setdefault(row["book"], []).append(label)
    return labels


def read_kind_examples(
    gold: Path,
    split: str,
    read: BookReader,
    without: Collection[str] = (),
    leave_out: Callable[[str], object] | None = None,
) -> KindExamples:
    """Returns the quotations of a split that are no speech, and those with a label elsewhere."""
    labels = read_labels(gold / LABELS)
    books: list[str] = []
    found: list[tuple[int, bool, tuple[NDArray[np.int32], Array]]] = []
    annotated = read_split(gold, split, without, ENGLISH)
    for edition in read_editions(annotated, read, leave_out, classified=False):
        book = edition.annotated.card.book
        layout = lay_out(edition.book_spans)
        unsaid = {
            (span.paragraph, span.start, span.end)
            for span, fact in zip(
                edition.located.book_spans.spans, edition.located.facts, strict=True
            )
            if fact is not None and not fact.is_utterance
        }
        found += _examples(layout, labels.pop(book, []), unsaid)
        books += [book] * (len(found) - len(books))
    for book in [book for book in labels if book not in without]:
        try:
            book_spans = parse_spans(read(book), book, classified=False)
        except (InputError, OSError) as error:
            if leave_out is None:
                raise
            leave_out(f"{book}: {error}")
            continue
        found += _examples(lay_out(book_spans), labels[book], frozenset())
        books += [book] * (len(found) - len(books))
    facts = [item for _, _, item in found]
    return KindExamples(
        tuple(books),
        np.array([kind for kind, _, _ in found], dtype=np.int32),
        np.array([labelled for _, labelled, _ in found], dtype=np.bool_),
        np.array([len(numbers) for numbers, _ in facts], dtype=np.int32),
        np.concatenate([np.zeros(0, dtype=np.int32), *(numbers for numbers, _ in facts)]),
        np.concatenate([np.zeros(0, dtype=np.float32), *(weights for _, weights in facts)]),
    )


def _examples(
    layout: Layout, labels: Collection[Label], unsaid: Collection[tuple[int, int, int]]
) -> Iterator[tuple[int, bool, tuple[NDArray[np.int32], Array]]]:
    """Yields the number of the kind of each quotation, whether it has a label, and its facts."""
    known = _locate(layout, labels)
    for position, span in enumerate(layout.spans):
        if not span.in_marks or span.kind in (SpanKind.MOTTO, SpanKind.VERSE):
            continue
        kind = known.get(position)
        if kind is None and (span.paragraph, span.start, span.end) in unsaid:
            kind = span.kind
        if kind in KINDS:  # not what the rules take for speech, which may be anything
            facts = read_kind_features(layout, position)
            yield KINDS.index(kind), position in known, facts


def _locate(layout: Layout, labels: Collection[Label]) -> dict[int, SpanKind]:
    """Returns the kinds of the spans that have a label, by their positions.

    A label is of the span with its text that stands nearest to where it was read.
    """
    places: dict[str, list[int]] = {label.fingerprint: [] for label in labels}
    for position, span in enumerate(layout.spans):
        if span.in_marks and (found := str(fingerprint(span.text))) in places:
            places[found].append(position)
    kinds: dict[int, SpanKind] = {}
    for label in labels:
        at = label.paragraph
        near = sorted(places[label.fingerprint], key=lambda n: abs(layout.spans[n].paragraph - at))
        if near:
            kinds[near[0]] = label.kind
    return kinds


def fit_kinds(examples: KindExamples, options: KindTraining) -> KindClassifier:
    """Returns a classifier that learns from quotations by multinomial logistic regression."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    if missing := set(range(len(KINDS))) - set(examples.kinds.tolist()):
        names = ", ".join(KINDS[number] for number in sorted(missing))
        raise InputError(f"found no {names}, expected quotations of all kinds to learn from")
    ends = np.concatenate([[0], np.cumsum(examples.n_facts)])
    shape = len(examples.kinds), N_FEATURES
    facts = csr_matrix((examples.weights, examples.numbers, ends), shape=shape)
    regression = LogisticRegression(C=options.strength, max_iter=_MOST_STEPS)
    sure = np.where(examples.labelled, _WEIGHT_OF_LABEL, 1.0)
    fitted = regression.fit(facts, examples.kinds, sample_weight=sure)
    return KindClassifier(fitted.coef_.astype(np.float32), fitted.intercept_.astype(np.float32))


@dataclass(frozen=True, slots=True)
class KindTrainer:
    """Trains the classifier of kinds; see `network_training.NetworkTrainer`."""

    options: KindTraining
    kind: ClassVar = KIND
    form: ClassVar = KindExamples
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
    ) -> KindExamples:
        """Returns the examples of a split of the annotations, and those with a label."""
        return read_kind_examples(gold, split, read, without, leave_out)

    def describe(self, examples: KindExamples) -> Record:
        """Returns the books of the examples, and how many they are."""
        return {
            "books": list(dict.fromkeys(examples.books)),
            "quotations": len(examples.kinds),
            "quotations with a label": int(examples.labelled.sum()),
        }

    def fit(self, examples: KindExamples, report: Callable[[str], object]) -> Arrays:
        """Returns the weights that are learned from examples."""
        classifier = fit_kinds(examples, self.options)
        return {
            "weights": classifier.weights.astype(np.float16),
            "bias": classifier.bias.astype(np.float16),
        }
