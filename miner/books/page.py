"""The text of an HTML file -> the text blocks of the page, in order, each with its surroundings.

This stage knows HTML and twenty years of Gutenberg's class names. It does not know what a licence,
a chapter or a conversation is. It removes page numbers and footnote anchors, because they stand
inside sentences. It keeps everything else, and records what the page says about it.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from functools import lru_cache
from posixpath import basename
from typing import cast
from urllib.parse import unquote

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from bs4.element import NavigableString, Tag

from miner.books.book_file import DecodedText, clean_line
from miner.books.lines import find_paragraphs
from miner.errors import InputError

# Stands for a <br> or the end of a line of verse until white space is normalized; private use.
BREAK = "\ue000"
# Stands behind the first words of a block or line if an element sets them apart from the rest.
_LEAD = "\ue002"
# Stands behind a drop cap until the cap is joined to the rest of its word.
_CAP = "\ue001"

# What an element's class or id says about the text in it. The first pattern that matches wins, and
# the region of an outer element holds for everything inside it. Gutenberg's producers and its
# ebookmaker use these names.
_REGIONS = tuple(
    (region, re.compile(pattern))
    for region, pattern in (
        ("licence", r"pg-boilerplate|pg_boilerplate|pg-?header|pg-?footer"),
        ("note", r"trans-?note\w*|tnotes?|tn|trn|transcrib[\w-]*|mynote|notebox|fbox"),
        ("contents", r"toc[\w-]*|contents?|tableofcontents|table-of-contents|loi|illustrlist"),
        ("footnote", r"foot-?notes?\d*|foot|fn|fnote|endnotes?"),
        ("caption", r"caption[\w-]*|fig(?:ure|center|centre|left|right|c)?|illus\w*|figcaption"),
        ("verse", r"poem\w*|poetry[\w-]*|stanza\w*|verse\d*|line-block|lg|song|canto|line"),
        ("letter", r"letter\d*|epistle|telegram|correspondence"),
    )
)
_CAPTION = dict(_REGIONS)["caption"]
_REGION_OF_TAG = {"blockquote": "blockquote", "figure": "caption", "figcaption": "caption"}
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
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_RIGHTS_NAME = re.compile(r"(?:dc|dcterms|pg)\.rights", re.IGNORECASE)
_PAGE_CLASS = re.compile(
    r"page-?nu?m\w*|pageno|page|pb|pagebreak|pgnum|folionum|foliono|indexpageno|versenum|verseno|linenum"
)
_PAGE_TEXT = re.compile(r"\[(?:Pg|Page|p\.)\s*[\divxlc]+\]|\{[\divxlc]+\}", re.IGNORECASE)
_ANCHOR_CLASS = re.compile(r"fn-?anchor\w*|citation|footnote-?ref\w*|fn-?ref|noteref|pginternal")
_ANCHOR_TEXT = re.compile(r"\s*[\[({]?(?:\d{1,4}|[*†‡§]+|[A-Za-z])[\])}]?\s*")
_PLAIN_ANCHOR = re.compile(r"(?<=[^\s\ue000([])\[\d{1,3}\]")  # "cetacean.[1]", without a link
_NOTE_TEXT = re.compile(r"(?<=\S)\s*(\[Footnote\b[^]]*\])")  # a note set within its sentence
_DROP_CAP_CLASS = re.compile(r"drop-?cap\w*|dcap|letra|initial|firstletter|first-letter")
# White space after a drop cap belongs to the page and not to the text, unless the letter and what
# follows can both be words: "T HE" and "I T" are one word, "I HAVE" and "A MAN" are two.
_GAP_IN_WORD = re.compile(rf"(?<![AIO]){_CAP}\s*|{_CAP}\s*(?=[B-DF-HJ-NP-TV-XZ]{{1,4}}\b)")
_BREAKS = re.compile(rf"{BREAK}(?: ?{BREAK})+")  # the white line between two paragraphs
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")
_LONGEST_LEAD = 40  # characters of words that are set apart: the name before a speech
_LONGEST_PAGE_NUMBER = 20  # characters, brackets included: "[Pg lxxxviii]"
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
        walk.visit(soup, "", 0, 0, 0, False)
        walk.flush("", 0, "", False)
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
    linked: int = 0
    plain: bool = False

    def visit(
        self, element: Tag, region: str, level: int, link: int, bold: int, preformatted: bool
    ) -> None:
        for child in element.contents:
            if type(child) is NavigableString:
                if self.parts or not child.isspace():  # blanks between blocks are no text
                    self.add(child, link, bold, preformatted)
                continue
            if not isinstance(child, Tag):
                continue  # a comment, a declaration or the like
            name = child.name
            if name == "br":
                self.parts.append(BREAK)
            elif name == "img":
                self._add_drop_cap_image(child)
            elif name in _SKIPPED_TAGS:
                continue
            elif name in ("td", "th"):  # the cells of a row are one text block
                self.parts.append(" ")
                self.visit(child, region, level, link, bold, preformatted)
                self.parts.append(" ")
            elif name in _BLOCK_TAGS:
                self._visit_block(child, name, region, level, link, bold, preformatted)
            else:
                self._visit_inline(child, name, region, level, link, bold, preformatted)

    def _visit_block(
        self, tag: Tag, name: str, region: str, level: int, link: int, bold: int, preformatted: bool
    ) -> None:
        outer = tag.parent.name if tag.parent is not None else ""
        inner = _region(tag, name, region)
        if inner == region == "verse" and name not in _HEADINGS:
            # The lines of a stanza are one block of verse, in any elements.
            if "stanza" not in (tag.get("class") or ()) and id(tag) not in self.broken:
                self._visit_line(tag, inner, level, link, bold, preformatted)
                return
        if self.parts:
            self.flush(region, level, outer, preformatted)
        inner_level = _HEADINGS.get(name, level)
        inner_preformatted = preformatted or name == "pre"
        self.visit(tag, inner, inner_level, link, bold, inner_preformatted)
        if self.parts:
            self.flush(inner, inner_level, name, inner_preformatted)

    def _visit_line(
        self, tag: Tag, region: str, level: int, link: int, bold: int, preformatted: bool
    ) -> None:
        self._end_line()
        n_parts = len(self.parts)
        self.visit(tag, region, level, link, bold, preformatted)
        if all(not self.parts[n].strip() for n in range(n_parts, len(self.parts))):
            self.parts.append(BREAK + BREAK)  # an empty line divides stanzas
        self._end_line()

    def _end_line(self) -> None:
        last = next((part for part in reversed(self.parts) if not part.isspace()), BREAK)
        if not last.endswith(BREAK):
            self.parts.append(BREAK)

    def _visit_inline(
        self, tag: Tag, name: str, region: str, level: int, link: int, bold: int, preformatted: bool
    ) -> None:
        classes = tag.get("class") or ()
        if classes or name in ("a", "sup") or tag.get("role"):
            reason = _inline_drop(tag, name, classes)
            if reason:
                self.drops[reason] += len(tag.get_text().split()) or 1
                after = tag.next_sibling
                if reason == "footnote anchors" and after and after.get_text()[:1].isalpha():
                    self.parts.append(" ")  # a note follows a whole word; a page may break one
                return
            if any(_DROP_CAP_CLASS.fullmatch(word) for word in classes) and tag.string:
                self._add_drop_cap(tag.string)
                return
            if region in ("", "blockquote") and _is_caption(tag, classes):
                self.flush(region, level, name, preformatted)
                self.visit(tag, "caption", level, link, bold, preformatted)
                self.flush("caption", level, name, preformatted)
                return
        if name == "a" and self._is_within_book(str(tag.get("href") or "")):
            link += 1
        if name in ("b", "strong", "big"):
            bold += 1
        n_parts, is_first = len(self.parts), self._is_at_start()
        self.visit(tag, region, level, link, bold, preformatted)
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

    def add(self, text: str, link: int, bold: int, preformatted: bool) -> None:
        self.parts.append(text.replace("\n", BREAK) if preformatted else text)
        if link:
            self.linked += len(text)
        if not (bold or self.plain or text.isspace()):
            self.plain = True

    def _add_drop_cap(self, letters: str) -> None:
        letters = letters.strip()
        is_letter = sum(character.isalpha() for character in letters) == 1 and letters[-1].isupper()
        self.parts.append(letters + _CAP * is_letter)

    def _add_drop_cap_image(self, image: Tag) -> None:
        alt = str(image.get("alt") or "").strip()
        if 0 < len(alt) <= 2 and alt[-1].isalpha() and alt[-1].isupper():
            self._add_drop_cap(alt)

    def flush(self, region: str, level: int, tag: str, preformatted: bool) -> None:
        parts, linked, plain = self.parts, self.linked, self.plain
        if not parts:
            return
        self.parts, self.linked, self.plain = [], 0, False
        text = "".join(parts)
        self.text_blocks += divide_text(
            text, self.drops, region, level, tag, linked, not plain, preformatted
        )


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


def _region(tag: Tag, name: str, region: str) -> str:
    if region and region not in ("blockquote", "letter"):
        return region
    identity = tag.get("id")
    for word in (*(tag.get("class") or ()), *((str(identity),) if identity else ())):
        found = _region_of_word(word)
        if found:
            return found
    return _REGION_OF_TAG.get(name, region)


@lru_cache(maxsize=4096)  # there are many ids and few classes
def _region_of_word(word: str) -> str:
    """The region that a class or id names, or ""."""
    word = word.lower()
    return next((region for region, pattern in _REGIONS if pattern.fullmatch(word)), "")


def _is_caption(tag: Tag, classes: object) -> bool:
    """Whether an inline element is a caption, by its class or as a link to a picture's file."""
    if any(_CAPTION.fullmatch(str(word).lower()) for word in cast("list[str]", classes)):
        return True
    target = str(tag.get("href") or "").lower()
    is_picture = target.endswith((".jpg", ".jpeg", ".png", ".gif"))
    return is_picture and any(not part.isspace() for part in tag.strings)


def _inline_drop(tag: Tag, name: str, classes: object) -> str:
    """Why an inline element is no part of the sentence around it, or ""."""
    words = [str(word).lower() for word in cast("list[str]", classes)]
    if tag.get("role") == "doc-pagebreak" or any(_PAGE_CLASS.fullmatch(word) for word in words):
        if _short_text(tag) is not None:
            return "page numbers"
    href = str(tag.get("href") or "")
    anchor = any(_ANCHOR_CLASS.fullmatch(word) for word in words)
    if anchor or (name == "a" and "#" in href) or name == "sup":
        text = _short_text(tag) or ""
        noted = anchor or name == "sup" or re.search(r"#\D*(?:f(oot)?n|note)", href, re.IGNORECASE)
        digits = any(character.isdigit() or character in "*†‡§[" for character in text)
        if noted and digits and _ANCHOR_TEXT.fullmatch(text):
            return "footnote anchors"
    return ""


def _short_text(tag: Tag) -> str | None:
    """The text of an element, or None if it is longer than a page number."""
    parts: list[str] = []
    n_characters = 0
    for part in tag.strings:
        parts.append(part)
        n_characters += len(part.strip())
        if n_characters > _LONGEST_PAGE_NUMBER:
            return None
    text = "".join(parts)
    return text if len(text.strip()) <= _LONGEST_PAGE_NUMBER else None
