"""BM25: weighted words with saturation and length, statistics of the training responses (CD 4.1).

The weights are those of `bm25s`, by Lucene's formula: a response's word w with count f has the
weight idf(w) f / (f + k1 (1 - b + b length / mean length)). A context is the count of its words.
The idf and the mean length are those of the responses of training, as if these were the documents
of a search engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from miner.errors import InputError
from miner.extras import import_extra
from miner.lab.learning.fields import Option
from miner.lab.lessons.examples import Context, join_turns, split_words
from miner.lab.lessons.selection.methods import Training
from miner.lab.lessons.selection.methods.tf_idf import read_vocabulary, write_vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NUMBERS = ("mean_length", "k1", "b")


@dataclass(frozen=True, slots=True)
class Options:
    """The constants of the formula; by default those of `bm25s`."""

    k1: Annotated[
        float, Option("How much a word's repetition adds; with 0, nothing.", minimum=0)
    ] = 1.5
    b: Annotated[
        float, Option("How much a long response loses: 0 nothing, 1 most.", minimum=0, maximum=1)
    ] = 0.75


def train(training: Training, folder: Path) -> None:
    """Counts in how many responses each word is, and the words of a response."""
    bm25s = import_extra("bm25s", "selection")
    options: Options = training.options
    responses = [split_words(one.response) for one in training.examples]
    if not any(responses):
        raise InputError("found no response with a word, expected some to learn from")
    # Without saturation and length the weight of a word is its idf, in whatever response it is.
    index: Any = bm25s.BM25(method="lucene", k1=0, b=0, dtype="float64")
    index.index(responses, create_empty_token=False, show_progress=False)
    words = sorted(index.vocab_dict)
    first = index.scores["indptr"][[index.vocab_dict[word] for word in words]]
    numbers = {
        "idf": index.scores["data"][first],
        "mean_length": np.mean([len(response) for response in responses]),
        "k1": np.float64(options.k1),
        "b": np.float64(options.b),
    }
    write_vocabulary(folder, words, numbers)


def load(folder: Path) -> Bm25:
    """Returns the method of a folder."""
    words, arrays = read_vocabulary(folder, "idf", _NUMBERS)
    mean_length, k1, b = (float(arrays[name]) for name in _NUMBERS)
    return Bm25(words, arrays["idf"], mean_length, k1, b)


class Bm25:
    """The method. Words that training has not seen count nothing but length."""

    def __init__(
        self, words: Sequence[str], idf: np.ndarray, mean_length: float, k1: float, b: float
    ) -> None:
        import_extra("sklearn", "lab")
        from sklearn.feature_extraction.text import CountVectorizer

        as_they_are: Any = list  # the types of scikit-learn know no callable
        self._counter = CountVectorizer(analyzer=as_they_are, vocabulary=list(words))
        self._idf, self._mean_length, self._k1, self._b = idf, mean_length, k1, b

    def encode_contexts(self, contexts: Sequence[Context]) -> csr_array:
        """The counts of the words of contexts, all turns of each together, [n, words]."""
        return self._count([split_words(join_turns(context)) for context in contexts])

    def encode_responses(self, responses: Sequence[str]) -> csr_array:
        """The weights of the words of responses, [n, words]."""
        split = [split_words(response) for response in responses]
        weights = self._count(split)
        length = np.array([len(response) for response in split]) / self._mean_length
        # The number of a response stands beside each of its different words.
        length = np.repeat(length, np.diff(weights.indptr))
        saturation = self._k1 * (1 - self._b + self._b * length)
        weights.data = self._idf[weights.indices] * weights.data / (weights.data + saturation)
        return weights

    def _count(self, texts: list[list[str]]) -> csr_array:
        from scipy.sparse import csr_array

        return csr_array(self._counter.transform(texts), dtype=np.float64)
