"""The dialogues of many books -> those that are near copies of a dialogue in an earlier book.

The words of a dialogue are cut into shingles of three. The similarity of two dialogues is the
Jaccard similarity of their shingles, estimated from signatures of 128 values (MinHash, Broder
1997). Pairs with an equal band of their signatures are candidates (Leskovec, Rajaraman and Ullman,
"Mining of Massive Datasets", section 3.4), and their whole signatures decide. All this is kept in
files that are read in parts; memory is some 30 bytes a dialogue.

Dialogues of one book are never duplicates of each other: a refrain is the author's.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from miner.corpus.works import Hashes, hash_shingles, hash_words, mix
from miner.errors import InputError
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
_KEY = np.dtype("<u4")
_SCHEME, _SEED = "affine32", 1  # of datasketch: signatures are the same in all its versions
_RECALL = 0.9  # of the bands, for a pair that is just similar enough
_N_PARTITIONS = 256  # by the first 8 bits of a hash
_BUFFER = 1 << 20  # records that are collected before they are written, 16 MB
_RECORD = np.dtype([("hash", "<u8"), ("row", "<u8")])
_BAND = np.uint64(0x7F)  # the bits of a band's hash that hold its number
_BLOCK = 1 << 13  # pairs whose signatures are compared at a time


@dataclass(frozen=True, slots=True, eq=False)
class Signatures:
    """The signatures of the dialogues of one book that have enough words.

    Args:
        keys: which dialogues they are: their places among the texts that were signed, ascending.
        values: a row for each, (dialogues, 128).
    """

    keys: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def to_bytes(self) -> bytes:
        """The signatures as bytes, the same on every machine."""
        return self.keys.astype(_KEY).tobytes() + self.values.astype(_VALUE).tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Signatures:
        """The signatures that `to_bytes` wrote."""
        size = _KEY.itemsize + N_VALUES * _VALUE.itemsize
        n, rest = divmod(len(content), size)
        if rest:
            raise InputError(f"found {len(content)} bytes of signatures, expected {size} for each")
        keys = np.frombuffer(content, dtype=_KEY, count=n)
        values = np.frombuffer(content, dtype=_VALUE, offset=n * _KEY.itemsize)
        return cls(keys, values.reshape(n, N_VALUES))


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A dialogue that goes, and the one that stays in its place.

    Args:
        key: the dialogue that goes, as in the `Signatures` of its book.
        kept_book: the place of the book whose dialogue stays.
        kept_key: that dialogue.
        similarity: the estimated similarity of the two.
    """

    key: int
    kept_book: int
    kept_key: int
    similarity: float


@dataclass(frozen=True, slots=True, eq=False)
class Duplicates:
    """The dialogues of a corpus that go: the same place in each array is one of them.

    Args:
        books: the place of its book, ascending.
        keys: which dialogue of the book it is, ascending in each book.
        kept_books: the place of the book whose dialogue stays.
        kept_keys: that dialogue.
        similarities: the estimated similarity of the two.
    """

    books: np.ndarray
    keys: np.ndarray
    kept_books: np.ndarray
    kept_keys: np.ndarray
    similarities: np.ndarray

    def __len__(self) -> int:
        return len(self.books)

    def of_book(self, place: int) -> list[Duplicate]:
        """The dialogues of one book that go, in their order."""
        part = slice(*np.searchsorted(self.books, (place, place + 1)))
        columns = (self.keys, self.kept_books, self.kept_keys, self.similarities)
        return [Duplicate(*row) for row in zip(*(c[part].tolist() for c in columns), strict=True)]


def sign_dialogues(texts: Iterable[str]) -> Signatures:
    """The signatures of the dialogues of a book."""
    keys, rows = [], []
    for key, words in enumerate(hash_words(texts)):
        if len(words) >= LEAST_WORDS:
            keys.append(key)
            rows.append(_sign(np.unique(hash_shingles(words, SHINGLE))))
    values = np.array(rows, dtype=_VALUE).reshape(len(rows), N_VALUES)
    return Signatures(np.array(keys, dtype=_KEY), values)


def _sign(shingles: Hashes) -> np.ndarray:
    minhash = _empty_minhash().copy()
    minhash.update_batch((shingles >> np.uint64(32)).tolist())
    return minhash.hashvalues.astype(_VALUE)


@cache
def _empty_minhash() -> MinHash:
    from datasketch import MinHash  # half a second, which only those who sign dialogues wait

    return MinHash(num_perm=N_VALUES, seed=_SEED, scheme=_SCHEME, hashfunc=int)


def find_duplicates(books: Iterable[Signatures], work: Path, least: float = 0.8) -> Duplicates:
    """The dialogues that go because an earlier book has them, too.

    In the order of the corpus, a dialogue goes if it is similar enough to a dialogue of an earlier
    book that stays. If there are several, it goes for one with an equal signature, else for the
    first of them. So what goes is never far from what stays, as it would be at the end of a chain,
    and the first book loses nothing.
    """
    if not 0.5 <= least <= 1:
        raise InputError(f"found a least similarity of {least}, expected 0.5 to 1")
    folder = work / "duplicates"
    with writing(work):
        if folder.exists():  # a process was killed
            shutil.rmtree(folder)
        folder.mkdir()
        try:
            n_rows = n_rows_of_band(least)
            table = _write_table(books, folder, n_rows)
            first = _find_exact(table)
            return _decide(table, first, _find_similar(table, first, n_rows, least))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


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


@dataclass(frozen=True, slots=True)
class _Table:
    """The signatures of all books on disk, a row for a dialogue, in the order of the corpus.

    Args:
        folder: where they are.
        starts: the first row of each book, and the number of rows at the end.
    """

    folder: Path
    starts: np.ndarray

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    def books_of(self, rows: np.ndarray) -> np.ndarray:
        """The places of the books of some rows."""
        return np.searchsorted(self.starts, rows, side="right") - 1

    def keys_of(self, rows: np.ndarray) -> np.ndarray:
        """The keys of some rows in their books."""
        return self._read("keys", _KEY, ())[rows]

    def values_of(self, rows: np.ndarray) -> np.ndarray:
        """The signatures of some rows."""
        return self._read("values", _VALUE, (N_VALUES,))[rows]

    def _read(self, name: str, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        if not self.n_rows:
            return np.empty((0, *shape), dtype=dtype)
        return np.memmap(self.folder / name, dtype, "r", shape=(self.n_rows, *shape))

    def partitions(self, name: str) -> Iterator[np.ndarray]:
        """The records of one kind in parts, those with one hash together, by hash and row."""
        for path in sorted(self.folder.glob(f"{name}.*")):
            records = np.fromfile(path, dtype=_RECORD)
            yield records[np.lexsort((records["row"], records["hash"]))]


class _Partitions:
    """Files of records, divided by the first bits of their hashes."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._waiting: list[np.ndarray] = []
        self._n_waiting = 0

    def add(self, hashes: Hashes, rows: np.ndarray) -> None:
        """Adds a record for each hash. Records are written when they are many."""
        records = np.empty(len(hashes), dtype=_RECORD)
        records["hash"], records["row"] = hashes, rows
        self._waiting.append(records)
        self._n_waiting += len(records)
        if self._n_waiting >= _BUFFER:
            self.write()

    def write(self) -> None:
        """Writes what was added."""
        records = np.concatenate([np.empty(0, dtype=_RECORD), *self._waiting])
        numbers = (records["hash"] >> np.uint64(56)).astype(np.int64)
        records = records[np.argsort(numbers, kind="stable")]
        ends = np.cumsum(np.bincount(numbers, minlength=_N_PARTITIONS))
        for number, part in enumerate(np.split(records, ends[:-1])):
            if len(part):
                with (self._folder / f"{self._name}.{number:03}").open("ab") as file:
                    file.write(part.tobytes())
        self._waiting, self._n_waiting = [], 0


def _write_table(books: Iterable[Signatures], folder: Path, n_rows: int) -> _Table:
    starts = [0]
    wholes, bands = _Partitions(folder, "whole"), _Partitions(folder, "band")
    with (folder / "keys").open("wb") as keys, (folder / "values").open("wb") as values:
        for signatures in books:
            rows = np.arange(starts[-1], starts[-1] + len(signatures), dtype=np.uint64)
            keys.write(signatures.keys.astype(_KEY).tobytes())
            values.write(signatures.values.astype(_VALUE).tobytes())
            wholes.add(_hash_values(signatures.values), rows)
            for number in range(N_VALUES // n_rows):
                band = signatures.values[:, number * n_rows : (number + 1) * n_rows]
                bands.add((_hash_values(band) & ~_BAND) | np.uint64(number), rows)
            starts.append(starts[-1] + len(signatures))
    wholes.write()
    bands.write()
    return _Table(folder, np.array(starts, dtype=np.int64))


def _hash_values(values: np.ndarray) -> Hashes:
    """A number for each row of some values."""
    hashes = np.zeros(len(values), dtype=np.uint64)
    for column in values.T:
        hashes = mix(hashes + column.astype(np.uint64) + np.uint64(1))
    return hashes


def _find_exact(table: _Table) -> np.ndarray:
    """For each row: the first row with the same signature, which may be itself."""
    first = np.arange(table.n_rows, dtype=np.uint32)
    for records in table.partitions("whole"):
        rows = records["row"].astype(np.int64)
        starts = _starts_of(records["hash"])
        first[rows] = np.repeat(rows[starts], np.diff(starts, append=len(rows)))
    return first


def _starts_of(hashes: Hashes) -> np.ndarray:
    """The places in sorted hashes where another one begins."""
    return np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]])[: len(hashes)])


_Found = tuple[np.ndarray, np.ndarray, np.ndarray]  # later rows, earlier rows, similarities


def _find_similar(table: _Table, first: np.ndarray, n_rows: int, least: float) -> _Found:
    """The pairs of rows of two books that are similar enough; of equal rows the first counts."""
    empty = np.empty(0, dtype=np.int64)
    later, earlier, similarities = [empty], [empty], [np.empty(0)]
    n_bands = N_VALUES // n_rows
    for records in table.partitions("band"):
        rows = records["row"].astype(np.int64)
        records = records[first[rows] == rows]
        for one, other, band in _pairs_in(table, records):
            is_equal = table.values_of(one) == table.values_of(other)
            in_bands = is_equal[:, : n_bands * n_rows].reshape(-1, n_bands, n_rows).all(axis=2)
            similarity = is_equal.mean(axis=1)
            # A pair with several equal bands is found in each, and taken in the first of them.
            is_taken = (similarity >= least) & (in_bands.argmax(axis=1) == band)
            later.append(other[is_taken])
            earlier.append(one[is_taken])
            similarities.append(similarity[is_taken])
    return np.concatenate(later), np.concatenate(earlier), np.concatenate(similarities)


def _pairs_in(
    table: _Table, records: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Pairs of rows of two books with one hash, the earlier row first, with the number of the band.

    They come some at a time.
    """
    rows, hashes = records["row"].astype(np.int64), records["hash"]
    starts = _starts_of(hashes)
    sizes = np.diff(starts, append=len(rows))
    for size in np.unique(sizes[sizes > 1]):
        places = starts[sizes == size, None] + np.arange(size)
        for apart in range(1, size):
            one, other = places[:, :-apart].ravel(), places[:, apart:].ravel()
            is_between = table.books_of(rows[one]) != table.books_of(rows[other])
            one, other = one[is_between], other[is_between]
            for start in range(0, len(one), _BLOCK):
                part = slice(start, start + _BLOCK)
                band = (hashes[one[part]] & _BAND).astype(np.int64)
                yield rows[one[part]], rows[other[part]], band


def _decide(table: _Table, first: np.ndarray, similar: _Found) -> Duplicates:
    """Takes the rows in their order: a row goes if an earlier one that it is a copy of stays."""
    kept = np.arange(table.n_rows, dtype=np.uint32)  # for each row the one that stays for it
    later, earlier, similarities = similar
    row_similarity: dict[int, float] = {}
    order = np.lexsort((earlier, later))
    for row, other, similarity in zip(
        later[order].tolist(), earlier[order].tolist(), similarities[order].tolist(), strict=True
    ):
        if row not in row_similarity and other not in row_similarity:
            kept[row] = other
            row_similarity[row] = similarity
    # A row with the signature of an earlier one goes for that, or where that goes. The first one
    # of a book stays with all that its own book has like it.
    again = np.flatnonzero(first != np.arange(table.n_rows))
    firsts = first[again]
    goes = (kept[firsts] != firsts) | (table.books_of(firsts) != table.books_of(again))
    kept[again[goes]] = kept[firsts[goes]]
    gone = np.flatnonzero(kept != np.arange(table.n_rows))
    kept = kept[gone]
    return Duplicates(
        table.books_of(gone),
        table.keys_of(gone),
        table.books_of(kept),
        table.keys_of(kept),
        np.array([row_similarity.get(row, 1.0) for row in first[gone].tolist()]),
    )
