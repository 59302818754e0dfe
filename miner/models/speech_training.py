"""Annotated books -> the weights of the judge of speech.

The rules judge first, and their answer is one of the facts. So the judge learns from spans that no
judge has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.editions import BookReader
from miner.annotation.locate import locate, refuse_losses
from miner.dialogue.read import parse_spans
from miner.dialogue.speech_facts import N_FACTS, read_facts
from miner.dialogue.speech_judge import SpeechJudge, is_judged

STRENGTH = 0.2  # the inverse of the regularization, `C` of scikit-learn; fitted on books of train


def fit_judge(
    books: Iterable[AnnotatedBook],
    read: BookReader,
    on_book: Callable[[str], None] = lambda _: None,
    strength: float = STRENGTH,
) -> SpeechJudge:
    """Returns a judge that learns from annotated books by logistic regression.

    Args:
        books: the annotated books.
        read: returns the bytes of a book by its id.
        on_book: called with the id of each book that is read.
        strength: the inverse of the regularization.

    Raises:
        ValueError: if the books do not have both, speech and other quotations, or if a chapter is
            not found as it was annotated.
        OSError: if a book cannot be read.
    """
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    numbers: list[np.ndarray] = []
    values: list[np.ndarray] = []
    ends, unsaid = [0], list[bool]()
    for annotated in books:
        book = annotated.card.book
        book_spans = parse_spans(read(book), book, judged=False)
        located = locate(annotated, book_spans)
        refuse_losses(located)
        said = {
            (span.paragraph, span.start, span.end): fact.is_utterance
            for span, fact in zip(located.book_spans.spans, located.facts, strict=True)
            if fact is not None
        }
        for position, span in enumerate(book_spans.spans):
            place = (span.paragraph, span.start, span.end)
            if is_judged(span) and place in said:
                of_span, weights = read_facts(book_spans.spans, position)
                numbers.append(of_span)
                values.append(weights)
                ends.append(ends[-1] + len(of_span))
                unsaid.append(not said[place])
        on_book(book)
    if len(set(unsaid)) < 2:
        raise ValueError("found no speech or no other quotations, expected both to learn from")
    facts = csr_matrix(
        (np.concatenate(values), np.concatenate(numbers), ends), shape=(len(unsaid), N_FACTS)
    )
    fitted = LogisticRegression(C=strength, max_iter=300).fit(facts, unsaid)
    return SpeechJudge(fitted.coef_[0].astype(np.float32), float(fitted.intercept_[0]))


def save_judge(judge: SpeechJudge, path: Path) -> None:
    """Writes the weights of a judge, in 16 bits; `speech_judge.load_judge` reads them."""
    bias = np.array([judge.bias], dtype=np.float16)
    save_file({"weights": judge.weights.astype(np.float16), "bias": bias}, path)
