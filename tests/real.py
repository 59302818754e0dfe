"""The real books, each parsed once for the tests of it, which stand together (`conftest.py`)."""

from functools import lru_cache

from helpers import BOOKS, read_file

from miner.books.sources import id_of
from miner.speech.spans import split_book
from miner.speech.typography import infer_typography

FILES = sorted(path.name for path in BOOKS.glob("*.htm*"))


@lru_cache(maxsize=2)
def real_book(file):
    path = BOOKS / file
    return read_file(path, id_of(path))


@lru_cache(maxsize=2)
def real_spans(file):
    book = real_book(file)
    return split_book(book, infer_typography(book))
