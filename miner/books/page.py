"""The text of an HTML file -> the text blocks of the page, in order, each with its surroundings.

This stage knows HTML; `markup` knows the names that Gutenberg's producers give to things. It does
not know what a licence, a chapter or a conversation is. It removes page numbers and footnote
anchors, because they stand inside sentences. It keeps everything else, and records what the page
says about it. A heading that is a picture has the words that the page gives for the picture.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from posixpath import basename
from typing import NamedTuple, cast
from urllib.parse import unquote

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from bs4.element import NavigableString, Tag

from miner.books.book_file import DecodedText, clean_line
from miner.books.chapters import is_contents_title, looks_like_heading
from miner.books.lines import find_paragraphs
from miner.books.markup import (
    HEADINGS,
    inline_drop,
    is_caption,
    is_drawn_ornament,
    is_ornament,
    look_at,
    names_of,
    words_of_picture,
)
from miner.errors import InputError

# Stands for a <br> or the end of a line of verse until white space is normalized; private use.
BREAK = "\ue000"
# Stands behind the first words of a block or line if an element sets them apart from the rest.
_LEAD = "\ue002"
# Stands behind a drop cap until the cap is joined to the rest of its word.
_CAP = "\ue001"

_BLOCK_TAGS = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody"
    " tfoot thead tr ul".split()
)
_SKIPPED_TAGS = frozenset("head style script title noscript template object map svg".split())
_SKIPPED = re.compile(rf"<(/?)({'|'.join(sorted(_SKIPPED_TAGS))})\b[^<>]*>", re.IGNORECASE)
_PAGE_TAG = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_BLOCK_TAG = re.compile(r"<(?:html|body|p|div|pre|br|h[1-6])\b", re.IGNORECASE)
_HEAD = 64 * 2**10  # characters among which a page has one of the first; a header may come before
_CHARACTERS_OF_A_TAG = 2000  # the most beside each tag of a page without the first
_ANY_TAG = re.compile("<[^<>]*>")
_RIGHTS_NAME = re.compile(r"(?:dc|dcterms|pg)\.rights", re.IGNORECASE)
_PAGE_TEXT = re.compile(r"\[(?:Pg|Page|p\.)\s*[\divxlc]+\]|\{[\divxlc]+\}", re.IGNORECASE)
_PLAIN_ANCHOR = re.compile(r"(?<=[^\s\ue000([])\[\d{1,3}\]")  # "cetacean.[1]", without a link
_NOTE_TEXT = re.compile(r"(?<=\S)\s*(\[Footnote\b[^]]*\])")  # a note set within its sentence
_DROP_CAP_CLASS = re.compile(r"drop-?cap\w*|dcap|letra|initial|firstletter|first-letter")
# White space after a drop cap belongs to the page and not to the text, unless the letter and what
# follows can both be words: "T HE" and "I T" are one word, "I HAVE" and "A MAN" are two.
_GAP_IN_WORD = re.compile(rf"(?<![AIO]){_CAP}\s*|{_CAP}\s*(?=[B-DF-HJ-NP-TV-XZ]{{1,4}}\b)")
_BREAKS = re.compile(rf"{BREAK}(?: ?{BREAK})+")  # the white line between two paragraphs
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")
_LONGEST_LEAD = 40  # characters of words that are set apart: the name before a speech
# Limits on what is parsed: memory grows with the tags, and the stack with their depth.
MOST_TAGS = 1_500_000
_DEEPEST = 300
# The words beside the tags are counted roughly: in whole files of Gutenberg they are up to 0.12%
# more than those that are read. From this share and this number on, some were lost.
_LOST_SHARE = 0.01
_FEWEST_LOST = 50


@dataclass(slots=True)
class TextBlock:
    """A stretch of text between two block boundaries of the page."""

    text: str  # with single spaces; a line break of verse or a <br> is a newline
    level: int  # 1 to 6 in a heading element, else 0
    # "licence", "note", "contents", "footnote", "caption", "verse", "letter", "blockquote",
    # or "" where the surroundings say nothing
    region: str
    tag: str  # name of the element that held the text
    link_share: float  # share of the characters that are links within the page, 0 to 1
    bold: bool  # whether all of it is bold or big
    preformatted: bool  # whether it stood in a <pre>
    lead: str = ""  # the words at its start that italics, small capitals or the like set apart
    is_centred: bool = False  # whether it is centred on the page
    # whether the page has a rule, a row of stars, an ornament or a white space above it; a row of
    # stars is a text block of its own, and is so itself
    after_break: bool = False


@dataclass(slots=True)
class Page:
    """A page."""

    text_blocks: list[TextBlock]  # all of them, in order
    title: str  # what <title>, an EPUB's metadata or the first line of a plain text says, or ""
    language: str  # what <html lang> or an EPUB's metadata says, or ""
    drops: Counter[str]  # the words removed from within text blocks, by reason
    warnings: tuple[str, ...]  # what is doubtful in the file, one line each
    # about how many words are in no text block, because a tag, a comment or an element around
    # them is not closed; 0 if they are as few as in any file
    n_lost: int
    rights: str = ""  # what <meta name="dc.rights"> or an EPUB's metadata says, or "".
    author: str = ""  # what an EPUB's metadata says, or ""; HTML may name the author in its title


def count_words(text: str) -> int:
    r"""The number of words in a text that has single spaces and newlines only.

    >>> count_words("So it was.\nSo it is."), count_words("")
    (6, 0)
    """
    return text.count(" ") + text.count("\n") + bool(text)


def is_html(text: str) -> bool:
    """Whether a text is HTML, and not a plain text in which a tag may be quoted.

    >>> is_html("<p>It was late."), is_html("Late. " * 500 + "He typed <p>.")
    (True, False)
    """
    if re.match(r"\s*<[a-z!?]", text, re.IGNORECASE) or _PAGE_TAG.search(text, 0, _HEAD):
        return True
    n_tags = sum(1 for _ in _BLOCK_TAG.finditer(text))
    return n_tags * _CHARACTERS_OF_A_TAG > len(text)


def read_html(decoded: DecodedText, files: Container[str] = ()) -> Page:
    """The page of an HTML file."""
    text = decoded.text
    if not _BLOCK_TAG.search(text):
        start = " ".join(text[:40].split())
        raise InputError(f"the file is not HTML: it starts {start!r}, expected tags such as <p>")
    if (n_tags := text.count("<")) > MOST_TAGS:
        raise InputError(f"the file has {n_tags:,} tags, expected a book of at most {MOST_TAGS:,}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        # Encoded again: lxml reads bytes faster, and this way it ignores a wrong declaration.
        soup = _Soup(text.encode("utf-8"), "lxml", from_encoding="utf-8")
    try:
        walk = _Walk(_find_broken(soup), files)
        walk.visit(soup, _Around())
        walk.flush(_Around(), "")
        html = cast("Tag | None", soup.find("html"))
        title = cast("Tag | None", soup.find("title"))
        n_lost = _count_lost_words(text, walk)
        lost = f"words lost in a tag, a comment or an element that is not closed: about {n_lost:,}"
        return Page(
            text_blocks=walk.text_blocks,
            title=clean_line(title.get_text()) if title else "",
            language=clean_line(str(html.get("lang") or html.get("xml:lang") or ""))
            if html
            else "",
            drops=walk.drops,
            warnings=decoded.warnings + (lost,) * bool(n_lost),
            n_lost=n_lost,
            rights=_find_rights(soup),
        )
    finally:
        soup.decompose()  # the tree is full of cycles; freeing it keeps memory flat over many books


def _find_rights(soup: BeautifulSoup) -> str:
    """What the elements <meta> say of the rights, by any of the names that Gutenberg gives them."""
    found = (
        clean_line(str(meta.get("content") or ""))
        for meta in (soup.head or soup).find_all("meta")
        if _RIGHTS_NAME.fullmatch(str(meta.get("name") or ""))
    )
    return " ".join(filter(None, found))


def _count_lost_words(text: str, walk: _Walk) -> int:
    """About how many words of a page the walk did not see, though they stand beside its tags."""
    parts, position, skipped = [], 0, ""
    for match in _SKIPPED.finditer(text):
        is_end, name = bool(match[1]), match[2].lower()
        if not is_end and not skipped:
            parts.append(text[position : match.start()])
            position, skipped = match.start(), name
        elif is_end and name == skipped:
            position, skipped = match.end(), ""
    parts.append(text[position:])
    n_words = len(_ANY_TAG.sub("", "".join(parts)).split())
    n_read = sum(count_words(block.text) for block in walk.text_blocks) + walk.drops.total()
    n_lost = n_words - n_read
    return n_lost if n_lost > max(_FEWEST_LOST, _LOST_SHARE * n_words) else 0


class _Soup(BeautifulSoup):
    """A tree that is given up as soon as it grows too deep."""

    def pushTag(self, tag: Tag) -> None:
        super().pushTag(tag)
        if len(self.tagStack) > _DEEPEST:
            raise InputError(f"its elements are nested more than {_DEEPEST} levels deep")


def _find_broken(soup: BeautifulSoup) -> set[int]:
    """The ids of the objects of all elements that hold a <br>."""
    found: set[int] = set()
    for tag in soup.find_all("br"):
        for outer in tag.parents:
            if id(outer) in found:
                break
            found.add(id(outer))
    return found


class _Around(NamedTuple):
    """What the elements around a text say of it; as in `TextBlock`."""

    region: str = ""
    level: int = 0
    link: int = 0  # the number of links around it
    bold: int = 0  # the number of elements around it that are bold or big
    is_centred: bool = False
    preformatted: bool = False


@dataclass(slots=True)
class _Walk:
    """One pass over the tree; text gathers in `parts` up to the next boundary of a block.

    `broken` are the ids of the objects of all elements that hold a <br>; `files` are the names of
    the book's other files.
    """

    broken: set[int]
    files: Container[str]
    text_blocks: list[TextBlock] = field(default_factory=list)
    drops: Counter[str] = field(default_factory=Counter)
    parts: list[str] = field(default_factory=list)
    pictures: list[str] = field(
        default_factory=list
    )  # the words drawn in those since the last block
    linked: int = 0
    plain: bool = False
    # What stands between the last text block and the next one.
    is_broken: bool = False  # a rule or an ornament
    is_blank: bool = False  # an element without words
    is_pictured: bool = False  # a picture, which has white space around it

    def visit(self, element: Tag, around: _Around) -> None:
        for child in element.contents:
            if type(child) is NavigableString:
                if self.parts or not child.isspace():  # blanks between blocks are no text
                    self.add(child, around)
                continue
            if not isinstance(child, Tag):
                continue  # a comment, a declaration or the like
            name = child.name
            if name == "br":
                self.parts.append(BREAK)
            elif name == "img":
                self._see_picture(child)
            elif name in _SKIPPED_TAGS:
                continue
            elif name in ("td", "th"):  # the cells of a row are one text block
                self.parts.append(" ")
                self.visit(child, around)
                self.parts.append(" ")
            elif name in _BLOCK_TAGS:
                self._visit_block(child, name, around)
            else:
                self._visit_inline(child, name, around)

    def _visit_block(self, tag: Tag, name: str, around: _Around) -> None:
        look, region = look_at(tag, name), around.region
        inner = _Around(
            # A quotation and a letter may hold other things, which nothing else does.
            look.region or region if region in ("", "blockquote", "letter") else region,
            look.level or around.level,
            around.link,
            around.bold + look.is_bold,
            around.is_centred or look.is_centred,
            around.preformatted or name == "pre",
        )
        if inner.region == region == "verse" and name not in HEADINGS:
            # The lines of a stanza are one block of verse, in any elements.
            if "stanza" not in (tag.get("class") or ()) and id(tag) not in self.broken:
                self._visit_line(tag, inner)
                return
        self.flush(around, tag.parent.name if tag.parent is not None else "")
        n_before = len(self.text_blocks)
        self.visit(tag, inner)
        self.flush(inner, name)
        if len(self.text_blocks) == n_before:
            self.is_broken |= look.is_break
            # "<p>&nbsp;</p>" is there for its height; "<p><br></p>" is left over from conversions.
            self.is_blank |= "\xa0" in (tag.string or "")

    def _visit_line(self, tag: Tag, around: _Around) -> None:
        self._end_line()
        n_parts = len(self.parts)
        self.visit(tag, around)
        if all(not self.parts[n].strip() for n in range(n_parts, len(self.parts))):
            self.parts.append(BREAK + BREAK)  # an empty line divides stanzas
        self._end_line()

    def _end_line(self) -> None:
        last = next((part for part in reversed(self.parts) if not part.isspace()), BREAK)
        if not last.endswith(BREAK):
            self.parts.append(BREAK)

    def _visit_inline(self, tag: Tag, name: str, around: _Around) -> None:
        classes = names_of(tag)
        if classes or name in ("a", "sup") or tag.get("role"):
            reason = inline_drop(tag, name)
            if reason:
                self.drops[reason] += len(tag.get_text().split()) or 1
                after = tag.next_sibling
                if reason == "footnote anchors" and after and after.get_text()[:1].isalpha():
                    self.parts.append(" ")  # a note follows a whole word; a page may break one
                return
            if any(_DROP_CAP_CLASS.fullmatch(word) for word in classes) and tag.string:
                self._add_drop_cap(tag.string)
                return
            if around.region in ("", "blockquote") and is_caption(tag):
                self.flush(around, name)
                self.visit(tag, around._replace(region="caption"))
                self.flush(around._replace(region="caption"), name)
                return
        if name == "a" and self._is_within_book(str(tag.get("href") or "")):
            around = around._replace(link=around.link + 1)
        if look_at(tag, name).is_bold:
            around = around._replace(bold=around.bold + 1)
        n_parts, is_first = len(self.parts), self._is_at_start()
        self.visit(tag, around)
        if is_first and name not in ("a", "sup"):
            self._end_lead(n_parts)

    def _is_at_start(self) -> bool:
        """Whether no text stands before this place in its block or line."""
        for part in self.parts[:-4:-1]:  # a cell begins with a space
            if not part[-_LONGEST_LEAD:].isspace():
                return part.endswith(BREAK)
        return len(self.parts) <= 3

    def _end_lead(self, n_parts: int) -> None:
        """Marks the end of the words since a place, if they are few."""
        n_characters = sum(map(len, self.parts[n_parts : n_parts + _LONGEST_LEAD]))
        if 0 < n_characters <= _LONGEST_LEAD >= len(self.parts) - n_parts:
            self.parts.append(_LEAD)

    def _is_within_book(self, href: str) -> bool:
        path = href.partition("#")[0]
        return basename(unquote(path)) in self.files if path else bool(href)

    def add(self, text: str, around: _Around) -> None:
        self.parts.append(text.replace("\n", BREAK) if around.preformatted else text)
        if around.link:
            self.linked += len(text)
        if not (around.bold or self.plain or text.isspace()):
            self.plain = True

    def _add_drop_cap(self, letters: str) -> None:
        letters = letters.strip()
        is_letter = sum(character.isalpha() for character in letters) == 1 and letters[-1].isupper()
        self.parts.append(letters + _CAP * is_letter)

    def _see_picture(self, picture: Tag) -> None:
        alt = str(picture.get("alt") or "").strip()
        if 0 < len(alt) <= 2 and alt[-1].isalpha() and alt[-1].isupper():
            self._add_drop_cap(alt)
        elif words := words_of_picture(picture):
            self.pictures.append(words)
            self.is_pictured = True
        elif is_drawn_ornament(picture):
            self.is_broken = True
        else:
            self.is_pictured = True

    def flush(self, around: _Around, tag: str) -> None:
        parts, linked, plain, pictures = self.parts, self.linked, self.plain, self.pictures
        if not parts and not pictures:
            return
        self.parts, self.linked, self.plain, self.pictures = [], 0, False, []
        found = self._divide("".join(parts), around, tag, linked, not plain)
        if pictures and not any(any(map(str.isalnum, block.text)) for block in found):
            found = self._divide_pictures(pictures, around, tag)
        for block in found:
            block.is_centred = around.is_centred
            is_row = is_ornament(block.text)
            is_blank = self.is_blank and not self.is_pictured
            block.after_break = self.is_broken or is_blank or is_row
            self.is_broken = self.is_blank = self.is_pictured = False
        self.text_blocks += found

    def _divide(
        self, text: str, around: _Around, tag: str, linked: int, bold: bool
    ) -> list[TextBlock]:
        region, level, preformatted = around.region, around.level, around.preformatted
        return divide_text(text, self.drops, region, level, tag, linked, bold, preformatted)

    def _divide_pictures(self, pictures: list[str], around: _Around, tag: str) -> list[TextBlock]:
        """The headings that are pictures, in a heading element or alone in a block."""
        if around.level:
            return self._divide(" ".join(pictures), around, tag, 0, False)
        around = around._replace(region="" if around.region == "caption" else around.region)
        return [
            block
            for words in pictures
            if looks_like_heading(words, True) or is_contents_title(words)
            for block in self._divide(words, around, tag, 0, True)
        ]


def divide_text(
    text: str,
    drops: Counter[str],
    region: str,
    level: int = 0,
    tag: str = "p",
    n_linked: int = 0,
    bold: bool = False,
    preformatted: bool = False,
) -> list[TextBlock]:
    """The text blocks of a stretch of text without markup.

    Page numbers and footnote anchors are left out, two `BREAK`s divide blocks, and a note within a
    sentence is a block after it.
    """
    if not text or text.isspace():
        return []
    notes: list[str] = []
    if "[" in text or "{" in text:
        text, n_pages = _PAGE_TEXT.subn("", text)
        if n_pages:
            drops["page numbers"] += n_pages
        text, n_anchors = _PLAIN_ANCHOR.subn("", text)
        if n_anchors:
            drops["footnote anchors"] += n_anchors
        if "[Footnote" in text:
            # Where no bracket closes, each note would be sought to the end of the text.
            end = text.rfind("]") + 1
            notes = _NOTE_TEXT.findall(text, 0, end)
            text = _NOTE_TEXT.sub("", text[:end]) + text[end:]
    if _CAP in text:
        text = _GAP_IN_WORD.sub("", text).replace(_CAP, "")
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    text = clean_line(text)
    share = min(n_linked / len(text), 1.0) if text else 0.0
    if text and BREAK not in text and _LEAD not in text:
        pieces = [(text, "")]
    else:
        is_prose = not level and region in ("", "blockquote")
        pieces = [
            paragraph for piece in _BREAKS.split(text) for paragraph in _paragraphs(piece, is_prose)
        ]
    found = [
        TextBlock(clean, level, region, tag, share, bold, preformatted, lead)
        for clean, lead in pieces
    ]
    region = region if region in ("licence", "note") else "footnote"
    for note in notes:
        clean = " ".join(note.replace(BREAK, " ").split())
        found.append(TextBlock(clean, 0, region, tag, 0.0, False, False))
    return found


def _paragraphs(text: str, is_prose: bool) -> list[tuple[str, str]]:
    """The paragraphs of a text, each with the words at its start that are set apart."""
    lines: list[str] = []
    leads: list[str] = []
    for line in text.split(BREAK):
        lead, _, rest = line.partition(_LEAD)
        if clean := " ".join((lead + rest).replace(_LEAD, "").split()):
            lines.append(clean)
            leads.append(lead.strip() if _LEAD in line else "")
    starts = find_paragraphs(lines, leads) if is_prose else [0]
    joint = "\n" if len(starts) == 1 else " "
    ends = [*starts[1:], len(lines)]
    return [
        (joint.join(lines[start:end]), leads[start])
        for start, end in zip(starts, ends, strict=True)
        if lines
    ]
