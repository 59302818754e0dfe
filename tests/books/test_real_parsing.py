"""What parsing finds in real books, pinned; numbers only.

After a change that is meant to change them, look at the difference and write the table anew:

    python tests/test_real_parsing.py
"""

import csv
import json
import re
from collections import Counter
from functools import lru_cache

import pytest
from helpers import BOOKS, DATA, needs_books
from real import real_book

from miner.books.book import Block, BlockKind, Book

TABLE = DATA / "real_books.json"
FIELDS = ("words", "chapters", "drops", "blocks")
# Here the catalogue gives 94 words for a long novel; so many it has at least.
MISCOUNTED = {"40409-h.htm": 100_000}
# Short of the catalogue's words by more than 3 in a hundred: it counted the licence too.
SHORTEST = {"42264-h.htm": 0.90}
# Where the file says otherwise than the catalogue: a Spanish novel edited with English notes, and a
# file of the earliest make, which says nothing.
LANGUAGES = {"15725-h.htm": "en", "928-h.htm": ""}
# Chapters that readers of these books know of, and what stands beside them.
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
    r"\[Illustration|\{\d+\}|\[Pg \d|Project Gutenberg|(?:START|END) OF TH(?:IS|E) PROJECT|"
    r"START: FULL|Distributed Proof|[\x00-\x09\x0b-\x1f\x7f-\x9f\ufffd\ue000\ue001]|  "
)


@lru_cache(maxsize=1)
def catalogue() -> dict[str, dict[str, str]]:
    with (BOOKS / "catalog.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def names() -> list[str]:
    return sorted(json.loads(TABLE.read_text(encoding="utf-8")))


def facts(found: Book) -> dict[str, object]:
    kinds = Counter(block.kind.value for block in found.blocks)
    numbers = (found.n_words, found.n_chapters, dict(found.drops), dict(sorted(kinds.items())))
    return dict(zip(FIELDS, numbers, strict=True))


def in_text(block: Block) -> bool:
    return block.kind not in (BlockKind.CAPTION, BlockKind.CONTENTS, BlockKind.FOOTNOTE)


@needs_books
def test_the_table_lists_every_book():
    assert names() == sorted(catalogue())


@needs_books
@pytest.mark.parametrize("file", names())
def test_a_real_book(file):
    found = real_book(file)
    row = catalogue()[file]
    pinned = json.loads(TABLE.read_text(encoding="utf-8"))[file]
    assert facts(found) == pinned, f"{file} differs from {TABLE.name}"
    least = MISCOUNTED.get(file, SHORTEST.get(file, 0.97) * int(row["words"]))
    assert found.n_words >= least, f"{file}: words lost"
    if row["language"]:
        assert found.language == LANGUAGES.get(file, row["language"]), file
    assert found.n_chapters == CHAPTERS.get(file, found.n_chapters), file
    left = [b.text for b in found.blocks if in_text(b) and LEFT_OVER.search(b.text)]
    assert not left, f"{file}: {len(left)} blocks hold left-overs"
    assert [block.index for block in found.blocks] == list(range(len(found.blocks)))


if __name__ == "__main__":
    table = {name: facts(real_book(name)) for name in sorted(catalogue())}
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
