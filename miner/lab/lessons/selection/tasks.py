"""Examples -> how often a method finds the true response among others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.extras import import_extra
from miner.lab.lessons.examples import Context, Example, normal_form, split_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from miner.lab.lessons.selection.methods import Method, Vectors

BATCH = 100  # responses among which the true one is found; CD, section 4
_LONGEST_CONTEXT = 20  # C of UD, section 3.4: the turns of the longest context that is wanted
_CHUNK = 4096  # texts that a method encodes at a time, so that progress is seen
_ROWS = 512  # examples that are compared with all responses at a time
_ROUNDING = 8  # units of the last place: scores that are closer are the same


def one_of_many_accuracy(
    method: Method, examples: Sequence[Example], size: int = BATCH, seed: int = 0
) -> float:
    """Returns the share of contexts whose own response scores highest in its batch (CD, section 4).

    Full batches of a shuffle are taken; the rest is left out. False candidates are those that
    `Barred` leaves. A response that shares the highest score with others is
    found by its share: 1/2 if there is one other, so that a method that scores all the same finds
    one in `size`.
    """
    batches = draw_batches(len(examples), size, np.random.default_rng(seed))
    contexts, responses = encode(method, examples)
    better, tied = rank_in_batches(contexts, responses, Barred.of(examples), batches)
    return float(recall_of(better, tied, 1).mean())


def draw_batches(n: int, size: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Returns the full batches of a shuffle of `n` examples, [batches, size]."""
    if n < size:
        raise InputError(f"found {n:,} examples, expected at least {size}, as a batch has")
    return random.permutation(n)[: n - n % size].reshape(-1, size)


def encode(
    method: Method,
    examples: Sequence[Example],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> tuple[Vectors, Vectors]:
    """Returns the vectors of the contexts and of the responses of examples, each encoded once."""
    contexts: list[Context] = [one.context for one in examples]
    responses = [one.response for one in examples]
    total = len(contexts) + len(responses)
    return (
        _in_chunks(method.encode_contexts, contexts, lambda done: progress(done, total)),
        _in_chunks(
            method.encode_responses, responses, lambda done: progress(len(contexts) + done, total)
        ),
    )


def encode_contexts(method: Method, contexts: Sequence[Context]) -> Vectors:
    """Returns the vectors of contexts, [contexts, d], of at least one."""
    return _in_chunks(method.encode_contexts, contexts, lambda done: None)


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
    return np.array(_number_responses(examples)[1], np.int64)


def _number_responses(examples: Sequence[Example]) -> tuple[dict[str, int], list[int]]:
    """The number of each normal form of a response, and that of each response."""
    numbers: dict[str, int] = {}
    of_examples = [numbers.setdefault(normal_form(one.response), len(numbers)) for one in examples]
    return numbers, of_examples


@dataclass(frozen=True, slots=True)
class Barred:
    """Which responses are no false candidates of an example.

    They are those equal to the true one, and those equal to a turn of the context. Such a turn is
    often the response of another example of the same conversation, and a method that likes equal
    words would choose nothing else.
    """

    equal: NDArray[np.int64]
    numbers: csr_array  # which numbers are barred for each example, [examples, numbers], sparse

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Barred:
        """Returns what is barred for examples, by the turns that their contexts have."""
        from scipy.sparse import csr_array

        numbers, equal = _number_responses(examples)
        columns: list[int] = []
        ends = [0]
        for one, own in zip(examples, equal, strict=True):
            turns = {numbers.get(normal_form(turn)) for turn in one.context}
            columns += sorted({own, *turns} - {None})
            ends.append(len(columns))
        shape = len(equal), len(numbers)
        matrix = csr_array((np.ones(len(columns), bool), columns, ends), shape=shape)
        return cls(np.array(equal, np.int64), matrix)

    def false(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns which responses are false ones of which examples, [rows, columns]."""
        return ~self.numbers[rows][:, self.equal[columns]].toarray()

    def of_example(self, row: int) -> list[int]:
        """Returns the numbers of responses that are barred for an example."""
        start, end = self.numbers.indptr[row : row + 2]
        return self.numbers.indices[start:end].tolist()


def rank_in_batches(
    contexts: Vectors, responses: Vectors, barred: Barred, batches: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts the false responses of its batch that score higher than the true one, and as high."""
    better, tied = np.zeros(batches.shape, np.int64), np.zeros(batches.shape, np.int64)
    for row, batch in enumerate(batches):
        scores = dense(contexts[batch] @ responses[batch].T)
        false = barred.false(batch, batch)
        better[row], tied[row] = count_above(scores, np.diagonal(scores), false)
    return better, tied


def count_above(
    scores: NDArray[np.floating], true: NDArray[np.floating], false: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts the scores of false responses above that of the true one, and those equal to it.

    Scores that differ by no more than rounding are equal, since a product of matrices rounds the
    same sum in different ways.
    """
    if not np.isfinite(scores).all():
        raise InputError("found a score that is not a number, expected numbers only")
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


def draw_contexts(contexts: Sequence[Context], random: np.random.Generator) -> list[Context]:
    """Returns contexts of the lengths that UD draws: mostly short ones (section 3.4).

    The last c = min(t - 1, n - 1) turns stay, where t - 1 is the number of turns before the
    response, n = 10 C / eta + 2, eta is uniform between C / 2 and 10 C, and C is 20.
    """
    most = _LONGEST_CONTEXT
    eta = random.uniform(most / 2, 10 * most, len(contexts))
    lengths = np.floor(10 * most / eta + 2).astype(int) - 1
    return [context[-length:] for context, length in zip(contexts, lengths, strict=True)]


def other_books(examples: Sequence[Example]) -> list[NDArray[np.int64]]:
    """Returns, for each example, the numbers of the examples of other books.

    Examples without a book, and those of a source with one book, get all others. Examples of one
    book share one array.
    """
    books = np.array([one.book for one in examples])
    everywhere = np.arange(len(examples))
    pools = {name: np.flatnonzero(books != name) for name in set(books.tolist()) - {""}}
    pools[""] = everywhere
    if len(pools) == 2 and "" not in books:  # one book: anywhere else in it
        return [everywhere] * len(examples)
    return [pools[one.book] for one in examples]


def same_chapter(examples: Sequence[Example]) -> list[NDArray[np.int64]]:
    """Returns, for each example, the numbers of the examples of its chapter.

    It is empty for an example without a book or a chapter.
    """
    of_chapter: dict[tuple[str, int], list[int]] = {}
    for number, one in enumerate(examples):
        if one.book and one.chapter:
            of_chapter.setdefault((one.book, one.chapter), []).append(number)
    pools = {place: np.array(numbers) for place, numbers in of_chapter.items()}
    none = np.zeros(0, np.int64)
    return [pools.get((one.book, one.chapter), none) for one in examples]


def draw_candidates(
    pools: Sequence[NDArray[np.int64]], barred: Barred, n_false: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Returns false candidates for each example, drawn at random (UD, section 3.4).

    They are different examples, none with a barred response.
    """
    equal = barred.equal
    drawn = np.full((len(equal), n_false), -1, np.int64)
    groups: dict[int, list[int]] = {}
    for number, pool in enumerate(pools):
        groups.setdefault(id(pool), []).append(number)
    for numbers in groups.values():
        pool = pools[numbers[0]]
        same, counts = np.unique(equal[pool], return_counts=True)
        n_equal = dict(zip(same.tolist(), counts.tolist(), strict=True))
        for number in numbers:
            own = barred.of_example(number)
            n_left = len(pool) - sum(n_equal.get(one, 0) for one in own)
            if n_left < n_false:
                continue
            if n_left < 4 * n_false:  # few: all of them in a random order
                left = pool[~np.isin(equal[pool], own)]
                drawn[number] = random.permutation(left)[:n_false]
                continue
            while True:  # many: a draw with a barred response or a repeated one is rare
                row = pool[random.integers(len(pool), size=n_false)]
                if len(set(row.tolist())) == n_false and not {*equal[row].tolist()} & {*own}:
                    drawn[number] = row
                    break
    return drawn


def similar_candidates(
    examples: Sequence[Example], barred: Barred, n_false: int
) -> NDArray[np.int64]:
    """Returns the responses of other books that are most like the true one (UD, section 6.2).

    What is like it is measured by the cosine of TF-IDF vectors, with the statistics of the judged
    responses. Of equal responses the first is taken; of those as like, too.
    """
    import_extra("sklearn", "lab")
    from sklearn.feature_extraction.text import TfidfVectorizer

    first = np.unique(barred.equal, return_index=True)[1]  # one example of each response
    splitter: Any = split_words  # the types of scikit-learn know no callable
    counter = TfidfVectorizer(analyzer=splitter)
    try:
        vectors = counter.fit_transform([one.response for one in examples])
    except ValueError:  # no response has a word
        return np.full((len(examples), n_false), -1, np.int64)
    books = np.array([one.book for one in examples])
    has_others = len(set(books.tolist()) - {""}) > 1
    found = np.full((len(examples), n_false), -1, np.int64)
    of_first = vectors[first].T.tocsr()
    for start in range(0, len(examples), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(examples)))
        likeness = np.asarray((vectors[rows] @ of_first).todense())
        left_out = ~barred.false(rows, first)
        if has_others:
            of_rows = books[rows][:, None]
            left_out |= (books[first][None, :] == of_rows) & (of_rows != "")
        likeness[left_out] = -1
        enough = np.flatnonzero((~left_out).sum(axis=1) >= n_false)
        for row in enough.tolist():
            found[rows[row]] = first[_highest(likeness[row], n_false)]
    return found


def _highest(values: NDArray[np.floating], n: int) -> NDArray[np.int64]:
    """The places of the n highest of as many values or more; of equal ones the first."""
    least = np.partition(values, -n)[-n]
    places = np.flatnonzero(values >= least)
    return places[np.argsort(-values[places], kind="stable")][:n]


def rank_among(
    contexts: Vectors, responses: Vectors, numbers: NDArray[np.int64], candidates: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts the candidates that score higher than the true response, and as high."""
    n, n_false = candidates.shape
    columns = np.concatenate([numbers[:, None], candidates], axis=1)
    better, tied = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for start in range(0, n, _CHUNK):
        rows = slice(start, min(start + _CHUNK, n))
        of_rows, own = columns[rows], contexts[numbers[rows]]
        scores = np.stack(
            [_row_products(own, responses[of_rows[:, k]]) for k in range(n_false + 1)], axis=1
        )
        false = np.ones(scores.shape, bool)
        false[:, 0] = False
        better[rows], tied[rows] = count_above(scores, scores[:, 0], false)
    return better, tied


def _row_products(left: Vectors, right: Vectors) -> NDArray[np.floating]:
    """The dot product of each row with the row of the same number."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.einsum("nd,nd->n", left, right)
    return np.asarray((left * right).sum(axis=1), dtype=np.float64).ravel()
