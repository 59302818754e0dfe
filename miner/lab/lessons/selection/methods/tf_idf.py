"""TF-IDF: cosine of weighted words, with the statistics of the training examples (CD 4.1, UD 4.1).

The weight of a word is its count times its inverse document frequency, where each context and each
response of training is a document. A response scores by the cosine of its vector with that of the
context.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from miner.errors import InputError
from miner.extras import import_extra
from miner.files import printable, read_text, reason_of
from miner.lab.lessons.examples import Context, join_turns, split_words
from miner.lab.lessons.selection.methods import Training

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_WORDS, _NUMBERS = "words.txt", "numbers.npz"


@dataclass(frozen=True, slots=True)
class Options:
    """TF-IDF has no options."""


def train(training: Training, folder: Path) -> None:
    """Counts in how many contexts and responses each word of the examples is."""
    import_extra("sklearn", "lab")
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [join_turns(one.context) for one in training.examples]
    texts += [one.response for one in training.examples]
    if not any(map(split_words, texts)):
        raise InputError("found no text with a word, expected some to learn from")
    splitter: Any = split_words  # the types of scikit-learn know no callable
    counter = TfidfVectorizer(analyzer=splitter)
    counter.fit(texts)
    write_vocabulary(folder, counter.get_feature_names_out(), {"idf": counter.idf_})


def load(folder: Path) -> TfIdf:
    """Returns the method of a folder."""
    words, arrays = read_vocabulary(folder, "idf")
    return TfIdf(words, arrays["idf"])


class TfIdf:
    """The method. Words that training has not seen count nothing."""

    def __init__(self, words: Sequence[str], idf: np.ndarray) -> None:
        import_extra("sklearn", "lab")
        from sklearn.feature_extraction.text import TfidfVectorizer

        splitter: Any = split_words
        self._vectorizer = TfidfVectorizer(analyzer=splitter, vocabulary=list(words))
        self._vectorizer.idf_ = idf

    def encode_contexts(self, contexts: Sequence[Context]) -> csr_array:
        """The vectors of contexts, all turns of each together, [n, words].

        Their length is 1, or 0 if all words are unknown.
        """
        return self.encode_responses([join_turns(context) for context in contexts])

    def encode_responses(self, responses: Sequence[str]) -> csr_array:
        """The vectors of responses, [n, words], of length 1, or 0 if all words are unknown."""
        from scipy.sparse import csr_array

        return csr_array(self._vectorizer.transform(list(responses)))


def write_vocabulary(folder: Path, words: Iterable[str], numbers: dict[str, np.ndarray]) -> None:
    """Writes words, one a line, and arrays of numbers that belong to them."""
    (folder / _WORDS).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    np.savez(folder / _NUMBERS, allow_pickle=False, **numbers)  # pyright: ignore[reportArgumentType]


def read_vocabulary(
    folder: Path, of_words: str, names: Sequence[str] = ()
) -> tuple[list[str], dict[str, np.ndarray]]:
    """Returns the words of a folder, and its numbers by their names."""
    try:
        words = read_text(folder / _WORDS).split("\n")[:-1]
        if len(set(words)) < len(words):
            raise InputError("found a word twice")
        with ZipFile(folder / _NUMBERS) as file:
            if any(item.compress_type != ZIP_STORED for item in file.infolist()):
                raise InputError("found compressed numbers, which may have any size")
        with np.load(folder / _NUMBERS, allow_pickle=False) as file:
            numbers = {name: file[name] for name in (of_words, *names)}
        for name, array in numbers.items():
            if array.shape != ((len(words),) if name == of_words else ()):
                raise InputError(f"found {array.size:,} {name} of {len(words):,} words")
            if array.dtype.kind != "f" or not np.isfinite(array).all():
                raise InputError(f"found {name} that is no finite number")
        return words, numbers
    except Exception as error:  # the library raises errors of many kinds at a damaged file
        raise InputError(f"{printable(folder)}: cannot be loaded: {reason_of(error)}") from error
