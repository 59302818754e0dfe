"""What holds for every real book, and the chapters that readers of some books know of."""

import csv
import re
from functools import lru_cache

import pytest
from helpers import BOOKS, needs_books
from real import FILES, real_book

from miner.books.book import BlockKind

# Of several makes and languages; every test run parses them.
HANDFUL = ("pg11-images.html", "1661-h.htm", "928-h.htm", "22367-h.htm", "2413-h.htm")
# Chapters that readers know of, and what stands beside them.
CHAPTERS = {
    "1342-h.htm": 61,
    "pg1342-images.html": 61 + 1,  # preface
    "158-h.htm": 55,
    "141-h.htm": 48,
    "161-h.htm": 50,
    "98-h.htm": 45,
    "580-h.htm": 57,
    "730-h.htm": 53,
    "766-h.htm": 64 + 2,  # two prefaces
    "883-h.htm": 67 + 1,  # postscript
    "1023-h.htm": 67 + 1,  # preface
    "345-h.htm": 27 + 1,  # note
    "74-h.htm": 35 + 2,  # preface and conclusion
    "76-h.htm": 43,
    "55-h.htm": 24 + 1,  # introduction
    "2413-h.htm": 35,
    "153-h.htm": 53,
    "145-h.htm": 86 + 2,  # prelude and finale
    "2701-h.htm": 135 + 2,  # extracts and epilogue
    "6593-h.htm": 208 + 1,  # dedication
    "1399-h.htm": 239,
    "84-h.htm": 24 + 4,  # letters
    "768-h.htm": 34,
    "36-h.htm": 27,
    "95-h.htm": 22,
    "244-h.htm": 14,
    "1661-h.htm": 12,
    "pg11-images.html": 12,
    "45334-h.htm": 38 + 11,  # introduction, and an essay in ten parts
    "52484-h.htm": 36,
    "54829-h.htm": 160 + 1,  # to the reader
    "55752-h.htm": 148,
    "34811-h.htm": 97,
}
LEFT_OVER = re.compile(
    r"\[Illustration|\{\d+\}|\[Pg \d|Project Gutenberg(?:™|-tm| Licen[cs]e| Literary| e-?[bt])|"
    r"(?:START|END) OF TH(?:IS|E) PROJECT|START: FULL|Distributed Proof|"
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ufffd\ue000\ue001]|  "
)
BESIDE_THE_TEXT = (BlockKind.CAPTION, BlockKind.ENTRY, BlockKind.FOOTNOTE)


@lru_cache(maxsize=1)
def words_by_file() -> dict[str, int]:
    """Words of each book as counted elsewhere, licence left out in most."""
    with (BOOKS / "catalog.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: int(row["words"] or 0) for row in csv.DictReader(file)}


def at_hand(files):
    """The files that are there; those of the handful are fast."""
    there = [file for file in files if file in FILES] or ["no books"]
    return [pytest.param(file, marks=[] if file in HANDFUL else pytest.mark.slow) for file in there]


@needs_books
@pytest.mark.parametrize("file", at_hand(FILES))
def test_a_real_book_is_whole_and_clean(file):
    book = real_book(file)
    left = [
        b.text for b in book.blocks if b.kind not in BESIDE_THE_TEXT if LEFT_OVER.search(b.text)
    ]
    assert not left
    assert all(block.text and block.text == block.text.strip() for block in book.blocks)
    assert [block.index for block in book.blocks] == list(range(len(book.blocks)))
    chapters = [0, *(block.chapter for block in book.blocks)]
    steps = {after - before for before, after in zip(chapters, chapters[1:], strict=False)}
    assert steps <= {0, 1}
    assert book.title
    assert book.n_words >= 0.9 * words_by_file().get(file, 0)
    assert sum(n for reason, n in book.drops if reason != "licence") <= 0.2 * book.n_words


@needs_books
@pytest.mark.parametrize("file", at_hand(CHAPTERS))
def test_a_real_book_has_the_chapters_that_readers_know(file):
    assert real_book(file).n_chapters == CHAPTERS[file]
