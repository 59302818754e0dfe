"""The spans of a book -> the same spans, with a model's word on whether somebody says them.

Titles, inscriptions, letters, thoughts, and remembered or imagined words stand in quotation marks,
too. The words before and after the marks give most of them away ("the sign said", "she would have
cried"), and so does the quotation itself: a single word without a stop is seldom speech. A feature
is a text such as "before: would"; its number is a hash of it, so that no list of words is needed.

The rules of `speech` judge first; their answer is a feature among the others. A logistic regression
overrules them where it is surer of the contrary than a threshold. English has a model of its own,
which classifies each span in quotation marks.

Other languages share a model that classifies quotations. A quotation is what one mark or one dash
opens: all its spans in one paragraph, without the narrator's words between them. Somebody says all
of it, or nobody does. Its features are those of its first span, and some more that mean the same in
all languages. Each has two numbers: one for all languages and one for its own. So what is learned
in one language helps in the others, and the language can still differ. A thought behind a dash is
rare, so the model must be surer there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import printable
from miner.speech.kinds import SpanKind
from miner.speech.set_pieces import (
    find_pieces,
    is_sure,
    lay_out,
    narration_beside,
)
from miner.speech.spans import BookSpans, Span
from miner.speech.weight_file import find_weights, read_weights
from miner.speech.wording import strip_marks

WEIGHTS = Path(__file__).parent / "weights"
N_FEATURES, N_QUOTATION_FEATURES = 2**16, 2**17
# The probability of no speech from which on the rules are overruled: in English, fitted on dev; for
# what a mark or a dash opens elsewhere, fitted on books that were held out, most of them of train.
OVERRULES, OVERRULES_MARK, OVERRULES_DASH = 0.5, 0.6, 0.8
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[.,;:!?—-]")
_FIRST_PERSON = re.compile(r"\b(?:I|you|my|your|we|me)\b")
_NEAR = 6  # spans on either side among which speech is counted
_WORDS = 5  # words right before and right after
_OWN_WORDS = 12  # words at the beginning of the quotation
_REACH, _FAR = 90, 250  # characters of narration with words that count by place, and without
_ONCE, _OWN, _LOOSE = 1.0, 0.5, 0.3  # the weights of features
_MARKS = frozenset("\"'“”‘’«»„‚›‹「『")
_ENGLISH_MARKS = "\"'“”‘’«»„‚›‹"
_DASHES = frozenset("—–―-")
_STEM = 4  # letters by which the forms of a word, and kindred words of two languages, are one
_TELLS_OF_THOUGHT = re.compile(r"(?:stem )?(?:before|after)(?: \d+)?: |rule: ")

Array = NDArray[np.float32]
Quotation = tuple[int, ...]  # the positions of its spans


def read_features(spans: Sequence[Span], position: int) -> tuple[NDArray[np.int32], Array]:
    """Returns the numbers of the features of a span in quotation marks, and the weight of each."""
    features = features_of_span(spans, position)
    numbers = np.fromiter(
        (crc32(feature.encode()) % N_FEATURES for feature in features), np.int32, len(features)
    )
    weights = np.fromiter(features.values(), np.float32, len(features))
    return numbers, weights


def features_of_span(spans: Sequence[Span], position: int) -> dict[str, float]:
    """Returns the features of a span in quotation marks as texts, with the weight of each."""
    span = spans[position]
    before = narration_beside(spans, position - 1, span)
    after = narration_beside(spans, position + 1, span)
    text = strip_marks(span.text).strip()
    words_before = WORD.findall(before[-_REACH:].lower())[-_WORDS:]
    words_after = WORD.findall(after[:_REACH].lower())[:_WORDS]
    own = WORD.findall(text[:120].lower())
    features: dict[str, float] = {}
    for distance, word in enumerate(reversed(words_before)):
        features[f"before {distance}: {word}"] = features[f"before: {word}"] = _ONCE
    for distance, word in enumerate(words_after):
        features[f"after {distance}: {word}"] = features[f"after: {word}"] = _ONCE
    for name, words in (("before", words_before), ("after", words_after)):
        for pair in zip(words, words[1:], strict=False):
            features[f"{name}: {' '.join(pair)}"] = _ONCE
    features.update({f"word: {word}": _OWN for word in own[:_OWN_WORDS]})
    for name, words in (("told before", before[-_FAR:]), ("told after", after[:_FAR])):
        features.update({f"{name}: {word}": _LOOSE for word in WORD.findall(words.lower())})
    features[f"first word: {own[0] if own else ''}"] = _ONCE
    features[f"length: {min(8, len(text).bit_length())}"] = _ONCE
    features[f"words: {min(4, len(own))}"] = _ONCE
    features[f"ends: {text[-1:]}"] = _ONCE
    end, start = before.rstrip()[-1:], after.lstrip()[:1]
    features[f"narration before ends: {end}, capital {text[:1].isupper()}"] = _ONCE
    features[f"narration before ends: {end}"] = _ONCE
    features[f"narration after begins: {start}, small {start.islower()}"] = _ONCE
    features[f"alone in its paragraph: {not before.strip()} {not after.strip()}"] = _ONCE
    features[f"capital: {text[:1].isupper()}"] = _ONCE
    features[f"speaks of I or you: {bool(_FIRST_PERSON.search(text))}"] = _ONCE
    near = _count_speech(spans, position)
    features[f"speech near: {near}"] = _ONCE
    features[f"rule: {span.is_utterance}, speech near: {near > 2}"] = _ONCE
    features[f"rule: {span.is_utterance}"] = _ONCE
    features[f"continues: {span.continues}"] = _ONCE
    return features


def _count_speech(spans: Sequence[Span], position: int) -> int:
    span = spans[position]
    around = spans[max(0, position - _NEAR) : position + _NEAR + 1]
    return sum(item.is_utterance and item.chapter == span.chapter for item in around) - (
        span.is_utterance
    )


def find_quotations(spans: Sequence[Span]) -> list[Quotation]:
    """Returns the quotations of a book in reading order.

    A mark opens a quotation of its own, and so does the first speech of a paragraph. Speech that
    goes on after the narrator's words belongs to the quotation before.
    """
    quotations: list[list[int]] = []
    paragraph = -1
    for position, span in enumerate(spans):
        if not span.in_marks:
            continue
        if span.paragraph != paragraph or _opener(span) in _MARKS:
            quotations.append([])
        quotations[-1].append(position)
        paragraph = span.paragraph
    return [tuple(quotation) for quotation in quotations]


def is_in_marks(span: Span) -> bool:
    """Whether a quotation mark opens a span, and not a dash."""
    return _opener(span) in _MARKS


def weigh_marks(spans: Sequence[Span]) -> int:
    """Returns how much more often marks open speech in a book than dashes do: -8 to 8 or so.

    In a book that seldom uses marks beside its dashes, marks are for other things than speech.
    """
    openers = [_opener(span) for span in spans if span.in_marks]
    n_marks = sum(opener in _MARKS for opener in openers)
    n_dashes = sum(opener in _DASHES for opener in openers)
    return round(math.log2((n_marks + 1) / (n_dashes + 1)) / 2)


def read_quotation_features(
    spans: Sequence[Span], quotation: Quotation, language: str, weight_of_marks: int
) -> tuple[NDArray[np.int32], Array]:
    """Returns the numbers of the features of a quotation, and the weight of each."""
    features = _features(spans, quotation[0], weight_of_marks)
    hashes = [crc32(feature.encode()) % N_QUOTATION_FEATURES for feature in features]
    numbers = np.array(hashes, dtype=np.int32)
    weights = np.fromiter(features.values(), np.float32, len(features))
    if not language:
        return numbers, weights
    # XOR with a number of the language gives each feature a second number of its own.
    of_language = numbers ^ np.int32(crc32(language.encode()) % N_QUOTATION_FEATURES)
    return np.concatenate([numbers, of_language]), np.concatenate([weights, weights])


def _features(spans: Sequence[Span], position: int, weight_of_marks: int) -> dict[str, float]:
    span = spans[position]
    before = narration_beside(spans, position - 1, span)
    after = narration_beside(spans, position + 1, span)
    text = strip_marks(span.text).strip()
    features = features_of_span(spans, position)
    for word in WORD.findall(before[-_REACH:].lower())[-_WORDS:]:
        features[f"stem before: {word[:_STEM]}"] = 1.0
    for distance, word in enumerate(WORD.findall(after[:_REACH].lower())[:_WORDS]):
        features[f"stem after: {word[:_STEM]}"] = 1.0
        features[f"stem after {distance}: {word[:_STEM]}"] = 1.0
    if not is_in_marks(span):
        # What a dash opens is speech, unless the words beside it tell of a thought.
        features = {
            feature: weight
            for feature, weight in features.items()
            if _TELLS_OF_THOUGHT.match(feature)
        }
        features[f"opener: {'dash' if _opener(span) in _DASHES else 'none'}"] = 1.0
        return features
    n_words = min(4, len(WORD.findall(text)))
    features["opener: mark"] = 1.0
    features[f"opener: mark, alone {not before.strip()} {not after.strip()}"] = 1.0
    features[f"opener: mark, words {n_words}, ends {text[-1:]}"] = 1.0
    features[f"opener: mark, marks in the book {weight_of_marks}"] = 1.0
    return features


def _opener(span: Span) -> str:
    return span.text.lstrip()[:1]


@dataclass(frozen=True, slots=True)
class SpeechClassifier:
    """Says of words in quotation marks whether they are speech, in English."""

    weights: Array  # the weight of each feature for "it is no speech": (N_FEATURES,)
    bias: float
    overrules: float = OVERRULES  # the probability from which on the rules are overruled

    def probability(self, spans: Sequence[Span], position: int) -> float:
        """Returns the probability that a span in quotation marks is no speech."""
        return _probability(self, *read_features(spans, position))

    def classify(self, book_spans: BookSpans) -> BookSpans:
        """Returns the book with each span in quotation marks classified.

        A set piece is classified as a whole: it is no speech, or one that continues. So is speech
        that runs on in the next paragraphs, by its beginning.
        """
        layout = lay_out(book_spans)
        spans = list(book_spans.spans)
        for piece in find_pieces(layout):
            first = spans[piece[0]]
            judged = [position for position in piece if is_classified(spans[position])]
            if not judged or is_sure(layout, piece):
                continue
            unsaid = fmean(self.probability(layout.spans, position) for position in judged)
            if first.is_utterance and unsaid > self.overrules:
                for position in piece:
                    spans[position] = replace(spans[position], kind=SpanKind.OTHER, continues=False)
            elif first.quoted and 1 - unsaid > self.overrules:
                for position in piece:
                    spans[position] = replace(
                        spans[position], kind=SpanKind.UTTERANCE, continues=position > piece[0]
                    )
        return replace(book_spans, spans=tuple(spans))


def is_classified(span: Span) -> bool:
    """Whether English classifies a span: words that quotation marks of their own open."""
    return span.in_marks and not span.continues and _opener(span) in _ENGLISH_MARKS


@dataclass(frozen=True, slots=True)
class QuotationClassifier:
    """Says of quotations whether they are speech, in several languages."""

    weights: Array  # the weight of each feature for "it is no speech": (N_QUOTATION_FEATURES,)
    bias: float

    def probability(self, book_spans: BookSpans, quotation: Quotation) -> float:
        """Returns the probability that a quotation of a book is no speech."""
        spans, language = book_spans.spans, book_spans.language
        features = read_quotation_features(spans, quotation, language, weigh_marks(spans))
        return _probability(self, *features)

    def classify(self, book_spans: BookSpans) -> BookSpans:
        """Returns the book with the quotations that nobody says as quoted narration.

        A quotation that continues from the paragraph before is what that one is. What the rules
        take for no speech, such as a letter, stays none.
        """
        spans = list(book_spans.spans)
        for position in self._unsaid(book_spans):
            spans[position] = replace(spans[position], kind=SpanKind.OTHER, continues=False)
        return replace(book_spans, spans=tuple(spans))

    def _unsaid(self, book_spans: BookSpans) -> Iterator[int]:
        """Yields the position of each utterance that is no speech."""
        spans, language = book_spans.spans, book_spans.language
        weight_of_marks = weigh_marks(spans)
        is_unsaid = False  # whether the quotation before was
        for quotation in find_quotations(spans):
            first = spans[quotation[0]]
            if not first.continues:
                is_unsaid = first.is_utterance
                if is_unsaid:
                    features = read_quotation_features(spans, quotation, language, weight_of_marks)
                    sure = OVERRULES_MARK if is_in_marks(first) else OVERRULES_DASH
                    is_unsaid = _probability(self, *features) > sure
            if is_unsaid:
                yield from quotation


Classifier = SpeechClassifier | QuotationClassifier


def _probability(classifier: Classifier, numbers: NDArray[np.int32], values: Array) -> float:
    score = float(classifier.weights[numbers] @ values) + classifier.bias
    return float(1 / (1 + np.exp(-score)))


@cache
def classifier_of(language: str) -> Classifier | None:
    """Returns the classifier of a language that the package has; None where there is none."""
    path = find_weights(WEIGHTS, language)
    return load_classifier(path) if path else None


def load_classifier(path: Path) -> Classifier:
    """Returns the classifier whose weights are in a file; their number tells which it is."""
    weights = read_weights(path)
    shapes = {name: weight.shape for name, weight in weights.items()}
    for kind, n_features in (
        (SpeechClassifier, N_FEATURES),
        (QuotationClassifier, N_QUOTATION_FEATURES),
    ):
        if shapes == {"weights": (n_features,), "bias": (1,)}:
            return kind(weights["weights"], float(weights["bias"][0]))
    raise InputError(
        f"{printable(path)}: found weights of shapes {shapes}, "
        f"expected weights ({N_FEATURES},) or ({N_QUOTATION_FEATURES},) and bias (1,)"
    )
