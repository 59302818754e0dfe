"""The spans of a book -> the same spans, with the kind of each quotation that nobody says.

The rules of `speech` and `set_pieces` name the kind where a word beside the marks or the page tells
it: a motto, verse, a letter, what is written, inscribed or thought. A multinomial logistic
regression judges all other quotations that are no speech. Its features are the words beside the
quotation, or above and below it, and its own; they are hashed, as in `speech_classifier`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import printable
from miner.speech.kinds import SpanKind
from miner.speech.set_pieces import (
    Layout,
    find_pieces,
    is_sure,
    lay_out,
    narration_above,
    narration_below,
    narration_beside,
)
from miner.speech.spans import BookSpans
from miner.speech.speech_classifier import WORD
from miner.speech.weight_file import read_weights
from miner.speech.wording import strip_marks

WEIGHTS = Path(__file__).parent / "weights" / "kinds.safetensors"
LANGUAGE = "en"  # whose quotations it knows
N_FEATURES = 2**13
# In the order of the rows of the weights. Mottoes and verse are told by the page alone.
KINDS = (
    SpanKind.THOUGHT,
    SpanKind.LETTER,
    SpanKind.INSCRIPTION,
    SpanKind.OTHER,
)
_BESIDE, _OWN_WORDS, _LAST_WORDS = 5, 8, 5  # words beside a quotation, and at its ends
_REACH = 120  # characters of narration beside a quotation
_ONCE, _OWN, _LOOSE = 1.0, 0.5, 0.3  # the weights of features
_ANNOUNCES = frozenset(":,—-")  # ends of narration that announces what stands below

Array = NDArray[np.float32]


def features_of_kind(layout: Layout, position: int) -> dict[str, float]:
    """Returns the features of a quotation as texts, with the weight of each."""
    span = layout.spans[position]
    paragraph = layout.paragraphs[layout.number[position]]
    is_alone = paragraph.quoted == position
    text = strip_marks(span.text)
    own = WORD.findall(text[:_REACH].lower())
    features = {
        f"alone {is_alone}, {paragraph.kind}": _ONCE,
        f"ends: {text[-1:]}, capital {text[:1].isupper()}": _ONCE,
        f"words: {min(5, len(own).bit_length())}, alone {is_alone}": _ONCE,
        f"lines: {min(4, text.count(chr(10)))}": _ONCE,
    }
    features.update({f"word: {word}": _OWN for word in own[:_OWN_WORDS]})
    last = WORD.findall(text[-_REACH:].lower())[-_LAST_WORDS:]
    features.update({f"last word: {word}": _OWN for word in last})
    if is_alone:
        before, after = narration_above(layout, paragraph), narration_below(layout, paragraph)
    else:
        before = narration_beside(layout.spans, position - 1, span)
        after = narration_beside(layout.spans, position + 1, span)
        if not before and span.start < 2:
            before = narration_above(layout, paragraph)
    before, after = before[-_REACH:].strip().lower(), after[:_REACH].strip().lower()
    place = "above" if is_alone else "before"
    announces = before[-1:] in _ANNOUNCES
    features[f"{place} ends: {before[-1:]}"] = _ONCE
    features[f"{place} announces: {announces}"] = _ONCE
    words_before, words_after = WORD.findall(before), WORD.findall(after)
    near = words_before[-_BESIDE - 1 :]
    if not is_alone or announces:
        features.update({f"near before: {word}": _ONCE for word in near})
        pairs = zip(near, near[1:], strict=False)
        features.update({f"near before: {' '.join(pair)}": _ONCE for pair in pairs})
    features.update({f"near after: {word}": _ONCE for word in words_after[:_BESIDE]})
    features.update({f"told: {word}": _LOOSE for word in (*words_before, *words_after)})
    return features


def read_kind_features(layout: Layout, position: int) -> tuple[NDArray[np.int32], Array]:
    """Returns the numbers of the features of a quotation, and the weight of each."""
    features = features_of_kind(layout, position)
    hashes = [crc32(feature.encode()) % N_FEATURES for feature in features]
    return np.array(hashes, np.int32), np.fromiter(features.values(), np.float32, len(features))


@dataclass(frozen=True, slots=True)
class KindClassifier:
    """Says of quotations of which kind they are, in English."""

    weights: Array  # the weight of each feature for each kind: (len(KINDS), N_FEATURES)
    bias: Array  # (len(KINDS),)

    def scores(self, layout: Layout, position: int) -> Array:
        """Returns the log-odds of each kind, up to a constant."""
        numbers, values = read_kind_features(layout, position)
        return self.weights[:, numbers] @ values + self.bias

    def classify(self, book_spans: BookSpans) -> BookSpans:
        """Returns the book with the kind of each quotation that is no speech.

        What the rules name keeps its name. All of a set piece is of one kind.
        """
        layout = lay_out(book_spans)
        spans = list(book_spans.spans)
        for piece in find_pieces(layout):
            if spans[piece[0]].kind is SpanKind.OTHER and not is_sure(layout, piece):
                scores = sum((self.scores(layout, position) for position in piece), self.bias * 0)
                kind = KINDS[int(np.argmax(scores))]
                for position in piece:
                    spans[position] = replace(spans[position], kind=kind)
        return replace(book_spans, spans=tuple(spans))


def unsay_citations(book_spans: BookSpans) -> BookSpans:
    """Returns a book in which nobody talks without speech: an essay cites what authors say.

    Nobody talks where no speech opens a paragraph and most of what stands in marks is no speech.
    """
    said = [span for span in book_spans.spans if span.is_utterance]
    n_unsaid = sum(span.quoted for span in book_spans.spans)
    if len(said) > n_unsaid or any(not span.start for span in said):
        return book_spans
    spans = (
        replace(span, kind=SpanKind.OTHER, continues=False) if span.is_utterance else span
        for span in book_spans.spans
    )
    return replace(book_spans, spans=tuple(spans))


@cache
def kind_classifier(language: str) -> KindClassifier | None:
    """Returns the classifier that the package has for a language; None where there is none."""
    return load_kind_classifier(WEIGHTS) if language == LANGUAGE else None


def load_kind_classifier(path: Path) -> KindClassifier:
    """Returns the classifier whose weights are in a file."""
    weights = read_weights(path)
    shapes = {name: weight.shape for name, weight in weights.items()}
    expected = {"weights": (len(KINDS), N_FEATURES), "bias": (len(KINDS),)}
    if shapes != expected:
        raise InputError(
            f"{printable(path)}: found weights of shapes {shapes}, expected {expected}"
        )
    return KindClassifier(weights["weights"], weights["bias"])
