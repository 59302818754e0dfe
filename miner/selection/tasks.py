"""Examples -> how often a method finds the true response among others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from miner.selection.examples import Context, Example, normal_form

if TYPE_CHECKING:
    from miner.selection.methods import Method, Vectors

BATCH = 100  # responses among which the true one is found; CD, section 4
_CHUNK = 4096  # texts that a method encodes at a time, so that progress is seen
_ROUNDING = 8  # units of the last place: scores that are closer are the same


def one_of_many_accuracy(
    method: Method, examples: Sequence[Example], size: int = BATCH, seed: int = 0
) -> float:
    """Returns the share of contexts whose own response scores highest in its batch (CD, section 4).

    Full batches of a shuffle are taken; the rest is left out. Equal responses are no false
    candidates (`examples.normal_form`). A response that shares the highest score with others is
    found by its share: 1/2 if there is one other, so that a method that scores all the same finds
    one in `size`.

    Args:
        method: what is judged.
        examples: at least `size`.
        size: the responses in a batch.
        seed: of the shuffle.

    Raises:
        ValueError: if there are fewer examples than a batch has, or a score is not a number.
    """
    batches = draw_batches(len(examples), size, np.random.default_rng(seed))
    contexts, responses = encode(method, examples)
    better, tied = rank_in_batches(contexts, responses, equal_responses(examples), batches)
    return float(recall_of(better, tied, 1).mean())


def draw_batches(n: int, size: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Returns the full batches of a shuffle of `n` examples, [batches, size].

    Raises:
        ValueError: if there are fewer examples than a batch has.
    """
    if n < size:
        raise ValueError(f"found {n:,} examples, expected at least {size}, as a batch has")
    return random.permutation(n)[: n - n % size].reshape(-1, size)


def encode(
    method: Method,
    examples: Sequence[Example],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> tuple[Vectors, Vectors]:
    """Returns the vectors of the contexts and of the responses of examples, each encoded once.

    Args:
        method: what encodes them.
        examples: at least one.
        progress: called with the number of texts that are done and of all.

    Returns:
        Two times [examples, d], dense or sparse.
    """
    contexts: list[Context] = [one.context for one in examples]
    responses = [one.response for one in examples]
    total = len(contexts) + len(responses)
    return (
        _in_chunks(method.encode_contexts, contexts, lambda done: progress(done, total)),
        _in_chunks(
            method.encode_responses, responses, lambda done: progress(len(contexts) + done, total)
        ),
    )


def _in_chunks(
    encoder: Callable[[Sequence[Any]], Vectors],
    texts: Sequence[Any],
    progress: Callable[[int], object],
) -> Vectors:
    """The vectors of texts, of some thousand at a time."""
    parts = []
    for start in range(0, len(texts), _CHUNK):
        parts.append(encoder(texts[start : start + _CHUNK]))
        progress(min(start + _CHUNK, len(texts)))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts))


def equal_responses(examples: Sequence[Example]) -> NDArray[np.int64]:
    """Returns a number for each response, [examples]; equal responses have the same."""
    numbers: dict[str, int] = {}
    return np.array(
        [numbers.setdefault(normal_form(one.response), len(numbers)) for one in examples], np.int64
    )


def rank_in_batches(
    contexts: Vectors,
    responses: Vectors,
    equal: NDArray[np.int64],
    batches: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts the false responses of its batch that score higher than the true one, and as high.

    Args:
        contexts: [examples, d].
        responses: [examples, d].
        equal: the numbers of `equal_responses`.
        batches: the examples of each batch, [batches, size].

    Returns:
        Those that score higher and those that score the same, two times [batches, size].

    Raises:
        ValueError: if a score is not a number.
    """
    better, tied = np.zeros(batches.shape, np.int64), np.zeros(batches.shape, np.int64)
    for row, batch in enumerate(batches):
        scores = dense(contexts[batch] @ responses[batch].T)
        false = equal[batch][:, None] != equal[batch][None, :]
        better[row], tied[row] = count_above(scores, np.diagonal(scores), false)
    return better, tied


def count_above(
    scores: NDArray[np.floating], true: NDArray[np.floating], false: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts the scores of false responses above that of the true one, and those equal to it.

    Scores that differ by no more than rounding are equal, since a product of matrices rounds the
    same sum in different ways.

    Args:
        scores: [contexts, candidates].
        true: [contexts].
        false: which candidates are false responses, [contexts, candidates].

    Returns:
        Two times [contexts].

    Raises:
        ValueError: if a score is not a number.
    """
    if not np.isfinite(scores).all():
        raise ValueError("found a score that is not a number, expected numbers only")
    nearest = _ROUNDING * np.finfo(scores.dtype).eps * np.abs(scores).max(axis=1, keepdims=True)
    above = scores - true[:, None]
    better = (above > nearest) & false
    tied = (np.abs(above) <= nearest) & false
    return better.sum(axis=1), tied.sum(axis=1)


def recall_of(better: NDArray[np.int64], tied: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Returns whether the true response is among the first `k`, 0..1, for each context.

    A true response that shares its score with others may stand at each of their places alike; the
    value is the share of the places that are among the first `k`.
    """
    return np.clip((k - better) / (tied + 1), 0, 1)


def dense(vectors: Vectors) -> NDArray[np.floating]:
    """Returns vectors as an array of numbers with a decimal point, whatever they were."""
    array = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)
