"""What the names of elements, classes and pictures say of the text in them.

Gutenberg's producers and its ebookmaker have used these names for twenty years. This stage knows
them; `page` knows in which order the elements of a page are read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, cast

from bs4.element import NavigableString, Tag

from miner.languages.registry import any_of

# What an element's class or id says about the text in it. The first pattern that matches wins, and
# the region of an outer element holds for everything inside it.
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
HEADINGS = {f"h{level}": level for level in range(1, 7)}
# Classes of paragraphs that stand for a heading element. The first group is its level.
_HEADING_CLASS = re.compile(
    r"p?h([1-6])|(?:ch|chap(?:ter)?|section|story|part|book)[-_]?"
    r"(?:head(?:ing|er)?|hd|title|num(?:ber)?|no|name)\d?|heading\d?|head\d?|chap(?:ter)?\d?"
)
_LONGEST_HEADING = 200  # characters; a longer element of such a class holds a chapter
_MOST_IN_HEADING = 60  # elements and texts in it
_USUAL_LEVEL = 2  # of the headings of chapters
_CENTRED_CLASS = re.compile(r"(?:text-?)?cent(?:er|re)(?:ed|d)?\d?|ctr|tac|cb?")
_CENTRED_STYLE = re.compile(r"text-align:\s*center", re.IGNORECASE)
_BOLD_CLASS = re.compile(r"bold|cb")
_BREAK_CLASS = re.compile(
    r"tb|(?:thought|scene|section|time)[-_]?break|[sp]break|asterisms?|asterisks|dinkus|fivestars?"
)
_PAGE_CLASS = re.compile(
    r"page-?nu?m\w*|pageno|page|pb|pagebreak|pgnum|folionum|foliono|indexpageno|versenum|verseno|linenum"
)
_ANCHOR_CLASS = re.compile(r"fn-?anchor\w*|citation|footnote-?ref\w*|fn-?ref|noteref|pginternal")
_ANCHOR_TEXT = re.compile(r"\s*[\[({]?(?:\d{1,4}|[*†‡§]+|[A-Za-z])[\])}]?\s*")
_LONGEST_PAGE_NUMBER = 20  # characters, brackets included: "[Pg lxxxviii]"

_ROW = re.compile(r"[\s*·•~=+#_.:—–\-⁂※❦❧☙✻✽∗◆◇●○■□]+")
_SIGN = re.compile(r"[*·•~=+#_⁂※❦❧☙✻✽∗◆◇●○■□]|(?:[—–-]\s?){3}|(?:\.\s?){5}")
_ORNAMENT = re.compile(rf"\W*{any_of(lambda language: language.page.ornament)}\b", re.IGNORECASE)
_PICTURE = re.compile(
    rf"\W*(?:{any_of(lambda language: language.page.picture)}|\S+\.(?:jpe?g|png|gif|svg)\W*$)",
    re.IGNORECASE,
)


class Look(NamedTuple):
    """What the name, the classes and the style of an element say of it; as in `page.TextBlock`."""

    region: str = ""
    level: int = 0
    is_centred: bool = False
    is_bold: bool = False
    is_break: bool = False  # whether it parts two scenes if it has no words


def names_of(tag: Tag) -> list[str]:
    """The classes of an element."""
    return cast("list[str]", tag.get("class") or [])


def look_at(tag: Tag, name: str) -> Look:
    """What an element says of itself."""
    if not tag.attrs:
        return _look(name, (), "", "")
    classes = tuple(names_of(tag))
    look = _look(name, classes, str(tag.get("align") or ""), str(tag.get("style") or ""))
    if look.level and name not in HEADINGS and not _is_short(tag):
        look = look._replace(level=0)
    identity = tag.get("id")
    if identity and not any(map(_region, classes)) and (region := _region(str(identity))):
        look = look._replace(region=region)
    return look


@lru_cache(maxsize=4096)
def _look(name: str, classes: tuple[str, ...], align: str, style: str) -> Look:
    words = [word.lower() for word in classes]
    regions = filter(None, map(_region, words))
    levels = [
        int(heading[1] or _USUAL_LEVEL)
        for word in words
        if (heading := _HEADING_CLASS.fullmatch(word))
    ]
    return Look(
        region=next(regions, _REGION_OF_TAG.get(name, "")),
        level=HEADINGS.get(name) or max(levels, default=0),
        is_centred=name == "center"
        or align.lower() == "center"
        or any(map(_CENTRED_CLASS.fullmatch, words))
        or bool(_CENTRED_STYLE.search(style)),
        is_bold=name in ("b", "strong", "big") or any(map(_BOLD_CLASS.fullmatch, words)),
        is_break=name == "hr" or any(map(_BREAK_CLASS.fullmatch, words)),
    )


@lru_cache(maxsize=4096)  # there are many ids and few classes
def _region(word: str) -> str:
    """The region that a class or id names, or ""."""
    word = word.lower()
    return next((region for region, pattern in _REGIONS if pattern.fullmatch(word)), "")


def _is_short(tag: Tag) -> bool:
    """Whether an element has so little in it that it may be a heading."""
    n_characters = 0
    for number, item in enumerate(tag.descendants):
        if isinstance(item, NavigableString):
            n_characters += len(item.strip())
        if number > _MOST_IN_HEADING or n_characters > _LONGEST_HEADING:
            return False
    return True


def is_ornament(text: str) -> bool:
    """Whether a text is a row of stars, dots or dashes, as between scenes.

    >>> is_ornament("* * *"), is_ornament(". . ."), is_ornament("—...")
    (True, False, False)
    """
    return not text[:1].isalnum() and bool(_ROW.fullmatch(text) and _SIGN.search(text))


def words_of_picture(picture: Tag) -> str:
    """The words that are drawn in a picture, by its alt or its title, or ""."""
    for name in ("alt", "title"):
        text = " ".join(str(picture.get(name) or "").split())
        if text:
            is_described = _PICTURE.match(text) or _ORNAMENT.match(text)
            return "" if is_described or is_ornament(text) else text
    return ""


def is_drawn_ornament(picture: Tag) -> bool:
    """Whether a picture is an ornament, by its alt, title or class."""
    texts = (str(picture.get(name) or "") for name in ("alt", "title"))
    return any(is_ornament(text.strip()) or _ORNAMENT.match(text) for text in texts) or (
        look_at(picture, "img").is_break
    )


def is_caption(tag: Tag) -> bool:
    """Whether an inline element is a caption, by its class or as a link to a picture's file."""
    if any(_CAPTION.fullmatch(word.lower()) for word in names_of(tag)):
        return True
    target = str(tag.get("href") or "").lower()
    is_picture = target.endswith((".jpg", ".jpeg", ".png", ".gif"))
    return is_picture and any(not part.isspace() for part in tag.strings)


def inline_drop(tag: Tag, name: str) -> str:
    """Why an inline element is no part of the sentence around it, or ""."""
    words = [word.lower() for word in names_of(tag)]
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
