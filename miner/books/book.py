"""The file of a book -> Book: blocks of clean text in reading order, each with its kind."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from miner.books.boilerplate import find_copyright, strip_boilerplate
from miner.books.chapters import (
    Outline,
    Start,
    find_chapter_starts,
    is_numbered,
    looks_like_heading,
    looks_set_off,
)
from miner.books.forms import read_page
from miner.books.markup import is_ornament
from miner.books.page import Page, TextBlock, count_words
from miner.books.parts import Part, PlacedText, find_parts
from miner.books.tables import find_rows
from miner.errors import InputError
from miner.languages.registry import LANGUAGES, any_of, code_from_name


class BlockKind(StrEnum):
    """What a block is on the page."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    VERSE = "verse"
    LETTER = "letter"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    ENTRY = "entry"  # a row of a table of contents, of pictures or of books
    BREAK = "break"  # a row of stars or the like between two scenes


# The kinds of blocks in which people may speak.
SPOKEN_KINDS = (BlockKind.PARAGRAPH, BlockKind.VERSE, BlockKind.LETTER)
# The parts of the blocks that are no story wherever they stand.
_PARTS = {
    BlockKind.CAPTION: Part.ILLUSTRATIONS,
    BlockKind.FOOTNOTE: Part.NOTES,
    BlockKind.ENTRY: Part.CONTENTS,
}


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the page.

    Args:
        index: counts from 0 in reading order; it is the `paragraph` of every span in the block.
        chapter: counts from 1; 0 before the first heading.
        kind: what the block is on the page.
        text: with single spaces; only verse keeps its line breaks.
        lead: the words at its start that the page sets apart, by italics, small capitals or the
            like; "" if there are none or many.
        scene: counts from 1 in each chapter. A printed break begins a scene: a row of stars, a
            rule, an ornament, a white space or the number of a section.
        part: the part of the book that it belongs to.
    """

    index: int
    chapter: int
    kind: BlockKind
    text: str
    lead: str = ""
    scene: int = 1
    part: Part = Part.STORY


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter of a book.

    Args:
        index: counts from 1 in the book; it is the `chapter` of its blocks.
        number: the number that is printed above it; None if there is none. Many books begin again
            with 1 in each part.
        title: its headings as they are printed, those of a part that begins there included.
        first: the index of its first block.
    """

    index: int
    number: int | None
    title: str
    first: int


@dataclass(frozen=True, slots=True)
class Book:
    """A parsed book.

    Args:
        id: the Gutenberg number as text ("1342"), or the file's stem where there is no number.
        title: from the header, else from <title>, the metadata of an EPUB or the first line.
        author: from the header, else as the title; "" where nothing names one.
        language: a two-letter code. It is the name in the file where that name is not known, and ""
            where the file has none.
        blocks: all blocks in reading order, those that are no part of the story among them.
        drops: the words left out, by reason.
        sha256: digest of the file's bytes, in hexadecimal.
        warnings: what is doubtful in the file, one line each.
        rights: the words by which Gutenberg says that the work is in copyright, "" if it does not.
            The copyright page of the printed book is no such word.
        chapters: the chapters, in order; none in a book without headings.
    """

    id: str
    title: str
    author: str
    language: str
    blocks: tuple[Block, ...]
    drops: tuple[tuple[str, int], ...]
    sha256: str
    warnings: tuple[str, ...] = ()
    rights: str = ""
    chapters: tuple[Chapter, ...] = ()

    @property
    def n_chapters(self) -> int:
        """The number of chapters; 0 in a book without headings."""
        return max((block.chapter for block in self.blocks), default=0)

    @property
    def n_words(self) -> int:
        """The number of words in blocks of all kinds."""
        return sum(self.words_by_part.values())

    @property
    def words_by_part(self) -> Counter[Part]:
        """The number of words in each part of the book, in the order of `Part`."""
        words = Counter(dict.fromkeys(Part, 0))
        for block in self.blocks:
            words[block.part] += count_words(block.text)
        return +words

    @property
    def story(self) -> tuple[Block, ...]:
        """The blocks of the story: what is mined by default."""
        return tuple(block for block in self.blocks if block.part is Part.STORY)


_WIDEST_VERSE = 70  # characters; longer lines are no verse
_ANNOUNCES = re.compile(r":[\s—–-]*$")  # the end of a text that a letter or a song follows
_LONGEST_CHAPTER = 50_000  # words
_LONGEST_INSET = 12  # blocks
_FEWEST_LINES = 3  # short paragraphs in a row from which a blockquote is verse
_LETTER_OPENING = re.compile(
    rf"\W*{any_of(lambda language: language.page.letter_opening)}", re.IGNORECASE
)
_CAPTIONS = tuple(f"[{word}" for language in LANGUAGES.values() for word in language.page.captions)
_FOOTNOTE = re.compile(rf"\[{any_of(lambda language: language.page.footnote)}\b", re.IGNORECASE)
_FOOTNOTES_TITLE = re.compile(
    rf"\W*{any_of(lambda language: language.page.footnotes_title)}\W*$", re.IGNORECASE
)
_NUMBERED_NOTE = re.compile(r"[\[({]?(?:\d+|[*\u2020])")
_TITLE = re.compile(
    r"^(?:The )?(?:Project Gutenberg(?:['\u2019]s)?(?: e-?(?:text|book))?|"
    r"Gutenberg e-?(?:text|book))(?: of)?[,:]?\s*|\s*[|:\u2014-]\s*Project Gutenberg$",
    re.IGNORECASE,
)


def parse_book(data: bytes, book_id: str) -> Book:
    """The book in the bytes of a file: HTML, plain text, EPUB or a zip file of Gutenberg."""
    if not isinstance(data, bytes):
        found = type(data).__name__
        raise TypeError(f"parse_book: found {found}, expected bytes; miner.read_book takes a path")
    try:
        page = read_page(data)
    except RecursionError as error:
        raise InputError("its elements are nested too deeply to parse") from error
    body = strip_boilerplate(page)
    if not body.text_blocks:
        raise InputError("the file holds no text of a book, expected paragraphs below its header")
    title, author = _title_and_author(page, body.fields)
    blocks, chapters = _blocks(body.text_blocks, author)
    return Book(
        id=book_id,
        title=title,
        author=author,
        language=_language(page.language, body.fields.get("language", "")),
        blocks=blocks,
        drops=tuple(sorted(body.drops.items())),
        sha256=hashlib.sha256(data).hexdigest(),
        warnings=page.warnings,
        rights=find_copyright(page.rights, body.header, body.footer),
        chapters=chapters,
    )


def _blocks(
    text_blocks: Sequence[TextBlock], author: str
) -> tuple[tuple[Block, ...], tuple[Chapter, ...]]:
    kinds, found = _find_chapters(text_blocks)
    parts = find_parts(_placed(text_blocks, kinds), author)
    starts = {start.position for start in found}
    chapter = 0
    scenes = _Scenes()
    blocks = []
    for index, (text_block, kind) in enumerate(zip(text_blocks, kinds, strict=True)):
        if index in starts:
            chapter += 1
            scenes = _Scenes()
        text = text_block.text if kind is BlockKind.VERSE else text_block.text.replace("\n", " ")
        scene = scenes.number_of(text_block, kind)
        blocks.append(Block(index, chapter, kind, text, text_block.lead, scene, parts[index]))
    chapters = (
        Chapter(index, start.number, start.title, start.position)
        for index, start in enumerate(found, 1)
    )
    return tuple(blocks), tuple(chapters)


def _placed(text_blocks: Sequence[TextBlock], kinds: Sequence[BlockKind]) -> list[PlacedText]:
    return [
        PlacedText(
            text_block.text,
            count_words(text_block.text),
            kind is BlockKind.HEADING,
            kind in (BlockKind.PARAGRAPH, BlockKind.LETTER),
            _PARTS.get(kind),
        )
        for text_block, kind in zip(text_blocks, kinds, strict=True)
    ]


def _find_chapters(text_blocks: Sequence[TextBlock]) -> tuple[list[BlockKind], list[Start]]:
    """The kind of each text block, and where the chapters begin.

    Where headings divide a book too little, its bold and centred paragraphs may be headings.
    """
    kinds = _kinds(text_blocks)
    outline = _outline(text_blocks, kinds)
    found = find_chapter_starts(outline)
    if _longest_chapter(outline, found) <= _LONGEST_CHAPTER and len(found) > 1:
        return kinds, found
    others = [
        BlockKind.HEADING if _is_set_off(text_block, kind) else kind
        for text_block, kind in zip(text_blocks, kinds, strict=True)
    ]
    more = find_chapter_starts(_outline(text_blocks, others))
    return (others, more) if len(more) > max(len(found), 1) else (kinds, found)


def _is_set_off(text_block: TextBlock, kind: BlockKind) -> bool:
    is_plain = kind is BlockKind.PARAGRAPH and not text_block.region
    is_set_off = is_plain and (text_block.bold or text_block.is_centred)
    return is_set_off and looks_set_off(text_block.text)


def _longest_chapter(outline: Sequence[Outline], found: Sequence[Start]) -> int:
    """The number of words of the longest chapter."""
    ends = [0, *(start.position for start in found), len(outline)]
    return max(sum(item.n_words for item in outline[a:b]) for a, b in pairwise(ends))


def _outline(text_blocks: Sequence[TextBlock], kinds: Sequence[BlockKind]) -> list[Outline]:
    outline = []
    for text_block, kind in zip(text_blocks, kinds, strict=True):
        if kind is BlockKind.HEADING:
            outline.append(Outline(text_block.level or 7, text_block.text, 0))
        else:
            # The words of tables of contents, captions and notes do not count for a chapter. A row
            # of dots does: it stands for words that are left out.
            counts = kind in SPOKEN_KINDS or (kind is BlockKind.BREAK and "." in text_block.text)
            outline.append(Outline(0, "", count_words(text_block.text) if counts else 0))
    return outline


@dataclass(slots=True)
class _Scenes:
    """Numbers the scenes of a chapter.

    A break parts two scenes if it stands between paragraphs. Above and below verse, letters and
    pictures it only sets these off from the text around them, and so it does after a colon.
    """

    number: int = 1
    follows_prose: bool = False  # whether the last block but rows of stars is a paragraph
    is_after_break: bool = False
    announces: bool = False  # whether the last block ends in a colon
    n_inset: int = 0  # the number of blocks in which a break may end what was announced

    def number_of(self, text_block: TextBlock, kind: BlockKind) -> int:
        """The number of the scene of the next block."""
        self.is_after_break |= text_block.after_break
        if kind is BlockKind.BREAK:
            return self.number
        if kind is BlockKind.HEADING and is_numbered(text_block.text):
            self.is_after_break = True
        elif self.is_after_break and (self.announces or self.n_inset):
            self.n_inset = _LONGEST_INSET if self.announces else 0
            self.is_after_break = False
        is_prose = kind is BlockKind.PARAGRAPH and "\n" not in text_block.text
        opens = is_prose or kind is BlockKind.HEADING
        self.number += self.is_after_break and self.follows_prose and opens
        self.follows_prose, self.is_after_break = is_prose, False
        self.announces = bool(_ANNOUNCES.search(text_block.text))
        self.n_inset = max(0, self.n_inset - 1)
        return self.number


def _kinds(text_blocks: Sequence[TextBlock]) -> list[BlockKind]:
    kinds = [_kind(text_block) for text_block in text_blocks]
    for position in _verse_in_blockquotes(text_blocks):
        if kinds[position] is BlockKind.PARAGRAPH:
            kinds[position] = BlockKind.VERSE
    headings, beside = set[int](), set[int]()
    for position, kind in enumerate(kinds):
        if kind is BlockKind.HEADING:
            headings.add(position)
        elif kind not in (BlockKind.PARAGRAPH, BlockKind.VERSE):
            beside.add(position)
    for position in find_rows(text_blocks, headings, beside):
        kinds[position] = BlockKind.ENTRY
    in_footnotes = False
    for position, (text_block, kind) in enumerate(zip(text_blocks, kinds, strict=True)):
        if kind is BlockKind.HEADING:
            in_footnotes = bool(_FOOTNOTES_TITLE.match(text_block.text))
        elif in_footnotes and kind in SPOKEN_KINDS and _NUMBERED_NOTE.match(text_block.text):
            kinds[position] = BlockKind.FOOTNOTE
    return kinds


def _verse_in_blockquotes(text_blocks: Sequence[TextBlock]) -> set[int]:
    """Positions of verse lines that are short paragraphs of one blockquote."""
    found: set[int] = set()
    run: list[int] = []
    for position, text_block in enumerate(text_blocks):
        if text_block.region == "blockquote" and len(text_block.text) <= _WIDEST_VERSE:
            run.append(position)
            continue
        if len(run) >= _FEWEST_LINES:
            found.update(run)
        run = []
    return found


def _kind(text_block: TextBlock) -> BlockKind:
    text = text_block.text
    if text_block.region in ("footnote", "caption"):
        return BlockKind(text_block.region)
    if text_block.region != "verse" and is_ornament(text):
        return BlockKind.BREAK
    if text_block.level:
        return BlockKind.HEADING
    if text.startswith("["):
        if text.startswith(_CAPTIONS):
            return BlockKind.CAPTION
        if _FOOTNOTE.match(text):
            return BlockKind.FOOTNOTE
    if text_block.region == "verse":
        return BlockKind.VERSE
    if text_block.region == "letter":
        return BlockKind.LETTER
    if "\n" in text and (text_block.preformatted or text_block.text.count("\n") >= 2):
        lines = text.split("\n")
        # Prose that keeps its printed lines begins most of them with a small letter.
        n_lower = sum(line[0].islower() for line in lines)
        is_narrow = max(map(len, lines)) <= _WIDEST_VERSE and n_lower < len(lines) / 3
        if is_narrow:
            return BlockKind.VERSE
    if looks_like_heading(text, text_block.bold) or (
        text_block.bold and text_block.is_centred and looks_set_off(text) and is_numbered(text)
    ):
        return BlockKind.HEADING
    if text_block.region == "blockquote" and _LETTER_OPENING.match(text):
        return BlockKind.LETTER
    return BlockKind.PARAGRAPH


def _title_and_author(page: Page, fields: dict[str, str]) -> tuple[str, str]:
    """Title and author from the header's fields, else from <title>: "Emma, by Jane Austen"."""
    title, author = page.title, page.author
    if not author:
        title, _, author = _TITLE.sub("", title).partition(", by ")
    return fields.get("title", title.strip()), fields.get("author", author.strip())


def _language(declared: str, field: str) -> str:
    """The code of the header's Language, else of what <html lang> declares."""
    name = field.split(",")[0].split("(")[0].strip().lower()
    return code_from_name(name) if name else declared.split("-")[0].lower()
