"""Text blocks of a page -> which of them are rows of tables: of contents, of pictures, of books.

A row is short, or a link, or ends in the number of a page. A heading in such a table is a row, too,
and begins no chapter.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from miner.books.chapters import is_contents_title, is_numbered, looks_like_heading
from miner.books.page import TextBlock, count_words

_LINKED = 0.6  # share of links from which a text block is a row by itself
_SENTENCE_ENDS = (".", "!", "?", "”", '"', "’", "»")
_LONGEST_TITLE = 25  # characters of a paragraph like "TABLE OF CONTENTS"
_FEWEST_ROWS = 3
_NEAR = 4  # text blocks below a heading among which its text is looked for
# The numbers in "4. The Ferry 5. The Mill".
_LISTED = re.compile(r"(?:^|[\s.])(?:\d{1,3}|[IVXLC]{1,7})\. (?=[A-Z“\"‘])")
_WORDS_OF_ROW = 30  # the most words for each number in a list that is one paragraph
_PAGE_NUMBER = re.compile(r" (?:\d+|[ivxlc]+)\W*$")


def find_rows(
    text_blocks: Sequence[TextBlock], headings: Container[int], beside: Container[int]
) -> set[int]:
    """The positions of all rows of tables.

    Args:
        text_blocks: those of the book.
        headings: the positions of headings, and of paragraphs that look like one.
        beside: the positions of what is no row in any table: captions, footnotes and letters.
    """
    found = _rows_of_tables(text_blocks)
    found.update(n for n, one in enumerate(text_blocks) if n not in beside and _is_row(one))
    inside = False
    for position, text_block in enumerate(text_blocks):
        if position in headings and position not in found:
            if inside and not text_block.level and not _prose_follows(text_blocks, position):
                found.add(position)
            else:
                inside = is_contents_title(text_block.text) or (
                    inside and text_block.link_share >= _LINKED
                )
        elif position in beside:
            continue
        elif inside and position not in found:
            inside = not _is_prose(text_block)
            if inside:
                found.add(position)
        elif _is_short_title(text_block):
            inside = True
            found.add(position)
    return found


def _is_row(text_block: TextBlock) -> bool:
    """Whether a text block is a row by itself: its class says so, or nearly all of it is a link."""
    if text_block.region == "contents":
        return True
    return not text_block.level and text_block.link_share >= _LINKED


def _is_short_title(text_block: TextBlock) -> bool:
    """Whether a paragraph is only the title of a table of contents: "CONTENTS"."""
    return len(text_block.text) <= _LONGEST_TITLE and (
        is_contents_title(text_block.text) and (text_block.bold or text_block.text[:1].isupper())
    )


def _is_prose(text_block: TextBlock) -> bool:
    """Whether a text block is too long and plain for a row of a table, and no list."""
    if len(_LISTED.findall(text_block.text)) > count_words(text_block.text) / _WORDS_OF_ROW:
        return False
    shortest = 150 if text_block.text.endswith(_SENTENCE_ENDS) else 300
    return (
        len(text_block.text) >= shortest
        and not text_block.link_share
        and not looks_like_heading(text_block.text[:60], text_block.bold)
    )


def _prose_follows(text_blocks: Sequence[TextBlock], position: int) -> bool:
    """Whether prose follows a text block closely, with no other heading between."""
    for text_block in text_blocks[position + 1 : position + _NEAR]:
        if text_block.level or looks_like_heading(text_block.text, text_block.bold):
            return False
        if _is_prose(text_block):
            return True
    return False


def _rows_of_tables(text_blocks: Sequence[TextBlock]) -> set[int]:
    """Positions of the rows of tables in which most rows have a link or end in a page number.

    Above the first chapter all tables of short rows are found: the numbers of their pages may be
    left out, and their heading may be a picture.
    """
    first = _first_chapter(text_blocks)
    found: set[int] = set()
    for rows in _tables(text_blocks):
        if len(rows) < _FEWEST_ROWS:
            continue
        n_entries = sum(
            text_blocks[row].link_share > 0 or bool(_PAGE_NUMBER.search(text_blocks[row].text))
            for row in rows
        )
        is_short = rows[-1] < first and not any(_is_prose(text_blocks[row]) for row in rows)
        if n_entries >= len(rows) / 2 or is_short:
            found.update(rows)
    return found


def _first_chapter(text_blocks: Sequence[TextBlock]) -> int:
    """The position of the first numbered heading above prose, or 0."""
    return next(
        (
            position
            for position, text_block in enumerate(text_blocks)
            if text_block.level
            and is_numbered(text_block.text)
            and any(map(_is_prose, text_blocks[position + 1 : position + _NEAR]))
        ),
        0,
    )


def _tables(text_blocks: Sequence[TextBlock]) -> Iterator[list[int]]:
    rows: list[int] = []
    for position, text_block in enumerate(text_blocks):
        if text_block.tag in ("tr", "td", "li"):
            rows.append(position)
        elif rows:
            yield rows
            rows = []
    if rows:
        yield rows
