"""Gutenberg HTML -> Book: blocks of clean text in reading order, each with its kind."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from miner.books.boilerplate import strip_boilerplate
from miner.books.chapters import Outline, chapter_starts, is_contents_title, looks_like_heading
from miner.books.page import TextBlock, count_words, read_page


class BlockKind(StrEnum):
    """What a block is on the page."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    VERSE = "verse"
    LETTER = "letter"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    CONTENTS = "contents"


# The blocks in which people may speak.
SPOKEN_KINDS = (BlockKind.PARAGRAPH, BlockKind.VERSE, BlockKind.LETTER)


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

    `id` is the Gutenberg number as text ("1342") or, without one, the file's stem. `language` is a
    two-letter code, the name as the file gives it where that is none we know, "" where the file
    does not tell. `drops` counts the words left out, by reason; footnotes, captions and tables of
    contents are not left out but are blocks of their own kind. `sha256` is that of the file's
    bytes.
    """

    id: str
    title: str
    author: str
    language: str
    blocks: tuple[Block, ...]
    drops: tuple[tuple[str, int], ...]
    sha256: str

    @property
    def n_chapters(self) -> int:
        """Chapters found: 0 in a book without headings."""
        return max((block.chapter for block in self.blocks), default=0)

    @property
    def n_words(self) -> int:
        """Words of all blocks, whatever their kind."""
        return sum(count_words(block.text) for block in self.blocks)


_LANGUAGES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "dutch": "nl",
    "portuguese": "pt",
    "hungarian": "hu",
    "catalan": "ca",
    "danish": "da",
    "finnish": "fi",
    "greek": "el",
    "latin": "la",
    "norwegian": "no",
    "polish": "pl",
    "russian": "ru",
    "swedish": "sv",
}
_LINKED = 0.6  # a lump is an entry of a table of contents when so much of it is links
_WIDEST_VERSE = 70  # characters of the longest line of a lump that is set as verse
_SENTENCE_ENDS = (".", "!", "?", "”", '"', "’", "»")
_SPEECH = re.compile(r"[\"'“‘«„].*[\"'”’»“]")
_LONGEST_TITLE = 25  # characters of "TABLE OF CONTENTS" and the like as a paragraph
_FEWEST_LINES = 3  # short paragraphs in a row in a blockquote that make them verse
_LETTER_OPENING = re.compile(
    r"\W*(?:(?:my |our )?(?:very )?(?:own )?"
    r"(?:dear|dearest|beloved|honou?r'?e?d|respected)\b.{0,60}"
    r"[,:\u2014-]\W*$|(?:sir|madam|gentlemen|messrs\.?.{0,40})[,:]\W*$)|"
    r"\W*(?:my )?dear(?:est)? [A-Z][\w. ]{1,30}[,:;\u2014]",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"^(?:The )?(?:Project Gutenberg(?:['\u2019]s)?(?: e-?(?:text|book))?|"
    r"Gutenberg e-?(?:text|book))(?: of)?[,:]?\s*|\s*[|:\u2014-]\s*Project Gutenberg$",
    re.IGNORECASE,
)


def read_book(path: Path, book_id: str) -> Book:
    """The book in a Gutenberg HTML file.

    Args:
        path: the file.
        book_id: what the book is to be called in everything made from it.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is empty, binary or no HTML, if it holds no text beside a licence, or if
            stripping would drop more than a fifth of the book. One line, without the path.
    """
    return parse_book(path.read_bytes(), book_id)


def parse_book(data: bytes, book_id: str) -> Book:
    """The book in the bytes of a Gutenberg HTML file; raises ValueError as `read_book` does."""
    try:
        page = read_page(data)
    except RecursionError as error:
        raise ValueError("its elements are nested too deeply to be read") from error
    body = strip_boilerplate(page)
    if not body.lumps:
        raise ValueError("the file holds no text of a book, expected paragraphs below its header")
    title, author = _title_and_author(page.title, body.fields)
    return Book(
        id=book_id,
        title=title,
        author=author,
        language=_language(page.language, body.fields.get("language", "")),
        blocks=_blocks(body.lumps),
        drops=tuple(sorted(body.drops.items())),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _blocks(lumps: Sequence[TextBlock]) -> tuple[Block, ...]:
    kinds = _kinds(lumps)
    outline = []
    for lump, kind in zip(lumps, kinds, strict=True):
        if kind is BlockKind.HEADING:
            outline.append(Outline(lump.level or 7, lump.text, 0))
        else:
            # Tables of contents, captions and notes start no chapter and fill none.
            n_words = count_words(lump.text) if kind in SPOKEN_KINDS else 0
            outline.append(Outline(0, "", n_words))
    starts = set(chapter_starts(outline))
    chapter = 0
    blocks = []
    for index, (lump, kind) in enumerate(zip(lumps, kinds, strict=True)):
        chapter += index in starts
        text = lump.text if kind is BlockKind.VERSE else lump.text.replace("\n", " ")
        blocks.append(Block(index, chapter, kind, text))
    return tuple(blocks)


def _kinds(lumps: Sequence[TextBlock]) -> list[BlockKind]:
    tables, verse = _contents_tables(lumps), _verse_in_blockquotes(lumps)
    kinds = []
    in_contents = False
    in_footnotes = False
    for position, lump in enumerate(lumps):
        kind = BlockKind.CONTENTS if position in tables else _kind(lump)
        if position in verse and kind is BlockKind.PARAGRAPH and not in_contents:
            kind = BlockKind.VERSE
        if kind is BlockKind.HEADING:
            if in_contents and not lump.level and not _prose_follows(lumps, position):
                kind = BlockKind.CONTENTS
            else:
                in_contents = is_contents_title(lump.text) or (
                    in_contents and lump.link_share >= _LINKED
                )
            in_footnotes = bool(re.match(r"\W*(?:foot)?notes?\W*$", lump.text, re.IGNORECASE))
        elif in_contents and kind in (BlockKind.PARAGRAPH, BlockKind.VERSE):
            in_contents = not _is_prose(lump)
            kind = BlockKind.CONTENTS if in_contents else kind
        elif kind in (BlockKind.PARAGRAPH, BlockKind.CONTENTS) and _is_short_contents_title(lump):
            in_contents = True
            kind = BlockKind.CONTENTS
        elif in_footnotes and re.match(r"[\[({]?(?:\d+|[*\u2020])", lump.text):
            kind = BlockKind.FOOTNOTE
        kinds.append(kind)
    return kinds


def _verse_in_blockquotes(lumps: Sequence[TextBlock]) -> set[int]:
    """Positions of lines of verse that are set as short paragraphs of one blockquote."""
    found: set[int] = set()
    run: list[int] = []
    for position, lump in enumerate(lumps):
        if lump.region == "blockquote" and len(lump.text) <= _WIDEST_VERSE:
            run.append(position)
            continue
        if len(run) >= _FEWEST_LINES:
            found.update(run)
        run = []
    return found


def _is_short_contents_title(lump: TextBlock) -> bool:
    """Whether a paragraph says "CONTENTS" and nothing else, as above a table of contents."""
    return len(lump.text) <= _LONGEST_TITLE and (
        is_contents_title(lump.text) and (lump.bold or lump.text[:1].isupper())
    )


def _is_prose(lump: TextBlock) -> bool:
    """Whether a lump is too long and too plain for an entry of a table of contents."""
    shortest = 150 if lump.text.endswith(_SENTENCE_ENDS) else 300
    return (
        len(lump.text) >= shortest
        and not lump.link_share
        and not looks_like_heading(lump.text[:60], lump.bold)
    )


def _prose_follows(lumps: Sequence[TextBlock], position: int) -> bool:
    """Whether prose stands close below a lump, and no other entry between."""
    for lump in lumps[position + 1 : position + 4]:
        if looks_like_heading(lump.text, lump.bold):
            return False
        if _is_prose(lump):
            return True
    return False


def _kind(lump: TextBlock) -> BlockKind:
    text = lump.text
    if lump.region in ("contents", "footnote", "caption"):
        return BlockKind(lump.region)
    if lump.level:
        return BlockKind.HEADING
    if text.startswith("["):
        if text.startswith(("[Illustration", "[Image", "[Ilustra", "[Illustrat")):
            return BlockKind.CAPTION
        if re.match(r"\[(?:foot)?note\b", text, re.IGNORECASE):
            return BlockKind.FOOTNOTE
    if lump.link_share >= _LINKED:
        return BlockKind.CONTENTS
    if lump.region == "verse":
        return BlockKind.VERSE
    if lump.region == "letter":
        return BlockKind.LETTER
    if "\n" in text and (lump.preformatted or lump.text.count("\n") >= 2):
        lines = text.split("\n")
        # Prose whose producer kept the printed lines goes on in lower case on most of them.
        n_lower = sum(line[0].islower() for line in lines)
        is_narrow = max(map(len, lines)) <= _WIDEST_VERSE and n_lower < len(lines) / 3
        if is_narrow and not _is_dialogue(lines):
            return BlockKind.VERSE
    if looks_like_heading(text, lump.bold):
        return BlockKind.HEADING
    if lump.region == "blockquote" and _LETTER_OPENING.match(text):
        return BlockKind.LETTER
    return BlockKind.PARAGRAPH


def _is_dialogue(lines: Sequence[str]) -> bool:
    """Whether lines are sentences and more than one of them is spoken, opening mark to closing."""
    return sum(bool(_SPEECH.match(line)) for line in lines) >= 2 and all(
        line.endswith(_SENTENCE_ENDS) for line in lines
    )


def _contents_tables(lumps: Sequence[TextBlock]) -> set[int]:
    """Positions of table rows in tables most of whose rows end in a link or a page number."""
    found: set[int] = set()
    for rows in _tables(lumps):
        n_entries = sum(
            lumps[row].link_share > 0 or bool(re.search(r" (?:\d+|[ivxlc]+)\W*$", lumps[row].text))
            for row in rows
        )
        if len(rows) >= 3 and n_entries >= len(rows) / 2:
            found.update(rows)
    return found


def _tables(lumps: Sequence[TextBlock]) -> Iterable[list[int]]:
    rows: list[int] = []
    for position, lump in enumerate(lumps):
        if lump.tag in ("tr", "td", "li"):
            rows.append(position)
        elif rows:
            yield rows
            rows = []
    if rows:
        yield rows


def _title_and_author(page_title: str, fields: dict[str, str]) -> tuple[str, str]:
    """Title and author from the header's fields, else from <title>: "Emma, by Jane Austen"."""
    title, _, author = _TITLE.sub("", page_title).partition(", by ")
    return fields.get("title", title.strip()), fields.get("author", author.strip())


def _language(declared: str, field: str) -> str:
    """The header's Language as a code, else what <html lang> declares."""
    name = field.split(",")[0].split("(")[0].strip().lower()
    return _LANGUAGES.get(name, declared.split("-")[0].lower() if not name else name)
