"""Gutenberg HTML -> Book: blocks of clean text in reading order, each with its kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is on the page."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    VERSE = "verse"
    LETTER = "letter"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    CONTENTS = "contents"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the page.

    `index` counts from 0 in reading order and is the `paragraph` of every span in the block.
    `chapter` is 0 before the first heading. `text` has single spaces and no line breaks, except
    in verse, where a line break is kept.
    """

    index: int
    chapter: int
    kind: BlockKind
    text: str


@dataclass(frozen=True, slots=True)
class Book:
    """A parsed book.

    `id` is the Gutenberg number as text ("1342") or, without one, the file's stem. `drops` counts
    the words left out by reason. `sha256` is that of the file's bytes.
    """

    id: str
    title: str
    author: str
    language: str
    blocks: tuple[Block, ...]
    drops: tuple[tuple[str, int], ...]
    sha256: str
