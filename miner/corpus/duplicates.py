"""The dialogues of many books -> those that are near copies of a dialogue in an earlier book.

The words of a dialogue are cut into shingles of three. The similarity of two dialogues is the
Jaccard similarity of their shingles, estimated from signatures of 128 values (MinHash, Broder
1997). Pairs with an equal band of their signatures are candidates (Leskovec, Rajaraman and Ullman,
"Mining of Massive Datasets", section 3.4), and their whole signatures decide. Signatures are in a
file and bands in a database; memory is some 30 bytes a dialogue.

Dialogues of one book are never duplicates of each other: a refrain is the author's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import numpy as np

from miner.corpus.works import Hashes, hash_shingles, hash_words, insert_columns, mix, open_database
from miner.errors import InputError
from miner.extras import import_extra
from miner.files import writing

if TYPE_CHECKING:
    from datasketch import MinHash

SHINGLE = 3  # words
# "How do you do?" – "Very well, thank you." is in many books and copied from none.
LEAST_WORDS = 20
N_VALUES = 128  # the estimate of a similarity of 0.8 has a standard deviation of 0.035
# Of each value the low 16 bits are kept, which two unlike values share once in 65,536 times ("b-bit
# minwise hashing", Li and König 2010): 256 bytes a dialogue.
_VALUE = np.dtype("<u2")
_SCHEME, _SEED = "affine32", 1  # of datasketch: signatures are the same in all its versions
_RECALL = 0.9  # of the bands, for a pair that is just similar enough
_BLOCK = 1 << 13  # signatures or pairs that are read at a time
_CANDIDATES = """
    select distinct one.signature, other.signature
    from bands one join bands other on one.hash = other.hash and one.number = other.number
    where one.book < other.book
"""


@dataclass(frozen=True, slots=True, eq=False)
class Signatures:
    """The signatures of the dialogues of one book that have enough words."""

    # which dialogues they are: their places among the texts that were signed, ascending.
    keys: np.ndarray
    values: np.ndarray  # a row for each, (dialogues, 128), uint16


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A dialogue that goes, and the one that stays in its place."""

    key: int  # the dialogue that goes, as in the `Signatures` of its book
    kept_book: int  # the place of the book whose dialogue stays
    kept_key: int  # that dialogue
    similarity: float  # the estimated similarity of the two


def sign_dialogues(texts: Iterable[str]) -> Signatures:
    """The signatures of the dialogues of a book."""
    keys, rows = [], []
    for key, words in enumerate(hash_words(texts)):
        if len(words) >= LEAST_WORDS:
            keys.append(key)
            rows.append(_sign(np.unique(hash_shingles(words, SHINGLE))))
    values = np.array(rows, dtype=_VALUE).reshape(len(rows), N_VALUES)
    return Signatures(np.array(keys, dtype=np.uint32), values)


def _sign(shingles: Hashes) -> np.ndarray:
    minhash = _empty_minhash().copy()
    minhash.update_batch((shingles >> np.uint64(32)).tolist())
    return minhash.hashvalues.astype(_VALUE)


@cache
def _empty_minhash() -> MinHash:
    # Half a second, which only those who sign dialogues wait.
    datasketch = import_extra("datasketch", "build")
    return datasketch.MinHash(num_perm=N_VALUES, seed=_SEED, scheme=_SCHEME, hashfunc=int)


def find_duplicates(
    books: Iterable[Signatures], work: Path, least: float = 0.8
) -> list[list[Duplicate]]:
    """The dialogues of each book that go because an earlier book has them, too.

    In the order of the corpus, a dialogue goes if it is similar enough to a dialogue of an earlier
    book that stays. If there are several, it goes for one with an equal signature, else for the
    first of them. So what goes is never far from what stays, as it would be at the end of a chain,
    and the first book loses nothing.
    """
    if not 0.5 <= least <= 1:
        raise InputError(f"found a least similarity of {least}, expected 0.5 to 1")
    with writing(work), TemporaryFile(dir=work) as file:
        n, books_of, keys, hashes = 0, list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        for n, signatures in enumerate(books, 1):
            file.write(signatures.values.tobytes())
            books_of.append(np.full(len(signatures.keys), n - 1))
            keys.append(signatures.keys)
            hashes.append(_hash_values(signatures.values))
        file.flush()
        if not sum(map(len, keys)):
            return [[] for _ in range(n)]
        books_of, keys, hashes = map(np.concatenate, (books_of, keys, hashes))
        values = np.memmap(file, _VALUE, "r", shape=(len(keys), N_VALUES))
        # For each signature the first one that is equal, which may be itself.
        _, index, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        first = index[inverse]
        similar = sorted(_find_similar(values, books_of, np.sort(index), least, work))
    return _decide(n, books_of, keys, first, similar)


def n_rows_of_band(least: float) -> int:
    """How many values of a signature make a band.

    As many as find a pair that is just similar enough with a probability of at least 0.9. More
    similar ones are found almost always, and the more values, the fewer others are compared.

    >>> n_rows_of_band(0.8)
    8
    """
    return max(
        n
        for n in range(1, N_VALUES + 1)
        if n == 1 or 1 - (1 - least**n) ** (N_VALUES // n) >= _RECALL
    )


def _hash_values(values: np.ndarray) -> Hashes:
    """A number for each row of some values."""
    hashes = np.zeros(len(values), dtype=np.uint64)
    for column in values.T:
        hashes = mix(hashes + column.astype(np.uint64) + np.uint64(1))
    return hashes


def _find_similar(
    values: np.ndarray, books_of: np.ndarray, places: np.ndarray, least: float, work: Path
) -> Iterator[tuple[int, int, float]]:
    """The pairs of signatures of two books that are similar enough: later, earlier, similarity."""
    n_rows = n_rows_of_band(least)
    n_bands = N_VALUES // n_rows
    with open_database(work) as database:
        database.execute("create table bands (hash ubigint, number int, signature int, book int)")
        for start in range(0, len(places), _BLOCK):
            part = places[start : start + _BLOCK]
            bands = values[part, : n_bands * n_rows].reshape(-1, n_rows)
            insert_columns(
                database,
                "bands",
                _hash_values(bands),
                np.tile(np.arange(n_bands), len(part)),
                np.repeat(part, n_bands),
                np.repeat(books_of[part], n_bands),
            )
        database.execute(_CANDIDATES)
        while candidates := database.fetchmany(_BLOCK):
            earlier, later = np.array(candidates).T
            similarity = (values[earlier] == values[later]).mean(axis=1)
            is_similar = similarity >= least
            found = (later[is_similar], earlier[is_similar], similarity[is_similar])
            yield from zip(*(column.tolist() for column in found), strict=True)


def _decide(
    n_books: int,
    books_of: np.ndarray,
    keys: np.ndarray,
    first: np.ndarray,
    similar: Sequence[tuple[int, int, float]],
) -> list[list[Duplicate]]:
    """Takes the dialogues in their order: one goes if an earlier one that it is a copy of stays."""
    places = np.arange(len(keys))
    kept = places.copy()  # for each dialogue the one that stays for it
    similarities: dict[int, float] = {}
    for later, earlier, similarity in similar:
        if later not in similarities and earlier not in similarities:
            kept[later] = earlier
            similarities[later] = similarity
    # One with the signature of an earlier one goes for that, or where that goes. The first one of a
    # book stays with all that its own book has like it.
    again = np.flatnonzero(first != places)
    firsts = first[again]
    goes = (kept[firsts] != firsts) | (books_of[firsts] != books_of[again])
    kept[again[goes]] = kept[firsts[goes]]
    found: list[list[Duplicate]] = [[] for _ in range(n_books)]
    for place in np.flatnonzero(kept != places).tolist():
        stays, similarity = kept[place], similarities.get(int(first[place]), 1.0)
        found[books_of[place]].append(
            Duplicate(int(keys[place]), int(books_of[stays]), int(keys[stays]), similarity)
        )
    return found
