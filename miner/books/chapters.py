"""Headings of a book -> which of them begin a chapter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from miner.languages.registry import LANGUAGES, any_of

_DIVISIONS = any_of(lambda language: language.headings.divisions)
_NUMERALS = any_of(lambda language: language.headings.numerals)
_ARTICLE = any_of(lambda language: language.headings.article)
_PARTS = any_of(lambda language: language.headings.parts)
_CHAPTER = any_of(lambda language: language.headings.chapter)
_CHAPTER_AFTER_NUMBER = any_of(lambda language: language.headings.chapter_after_number)

_NUMBER = rf"(?:[ivxlcdm]{{1,9}}|\d{{1,3}}|(?:{_ARTICLE} )?{_NUMERALS}|\w{{2,12}})"
_NUMBERED = re.compile(
    rf"\W*(?:{_DIVISIONS}\b(?:\W*$|\W+{_NUMBER}\b)|[ivxlc]{{1,8}}\s*(?:[.:)\u2014-].*|\W*$)|"
    rf"\d{{1,3}}\s*(?:[.:)\u2014-].*|\W*$)|{_NUMBER}\.? {_DIVISIONS}\b)",
    re.IGNORECASE,
)
# A paragraph counts as a heading only if it looks more like one than a heading element must.
_NUMBERED_PARAGRAPH = re.compile(
    rf"\W*(?i:{_DIVISIONS}\W+(?:[ivxlc]{{1,9}}|\d{{1,3}}))(?:\W*$|[.:\u2014]|\s+[A-ZÀ-Þ])"
)
_NUMERAL = re.compile(r"\W*[IVXLC]{1,8}\.?$")
_LAST = re.compile(
    rf"\W*{any_of(lambda language: language.headings.last_chapter)}\W*$", re.IGNORECASE
)
_PART = re.compile(rf"\W*(?:{_ARTICLE} )?(?:\w+ )?{_PARTS}\b", re.IGNORECASE)
_NOT_A_CHAPTER = re.compile(
    rf"\W*{any_of(lambda language: language.headings.no_chapter)}\b", re.IGNORECASE
)
_CALLED_CHAPTER = re.compile(
    rf"\W*(?:{_ARTICLE} \w+ )?{_CHAPTER}\b|\W*\w+\.? {_CHAPTER_AFTER_NUMBER}\b", re.IGNORECASE
)
_CONTENTS_TITLE = re.compile(
    rf"\W*{any_of(lambda language: language.headings.contents)}\b.{{0,20}}",
    re.IGNORECASE | re.DOTALL,
)
# Where the number of a chapter stands in its heading.
_PRINTED = rf"(?:[ivxlc]{{1,9}}|\d{{1,3}}|{_NUMERALS})"
_PRINTED_NUMBERS = tuple(
    re.compile(rf"\W*(?:{_ARTICLE} )?{pattern}", re.IGNORECASE)
    for pattern in (
        rf"{_DIVISIONS}\W*(?:{_ARTICLE} )?({_PRINTED})(?!\w)",  # "CHAPTER THE FIRST"
        rf"({_PRINTED})\W{{0,2}} {_DIVISIONS}\b",  # "21. Kapitel"
        rf"({_PRINTED})(?:\s*[.:)\u2014-]|\W*$)",  # "II. The Bees"
        r"(\d{1,3})\s+(?-i:[A-ZÀ-Þ])",  # "2 THE BEES"
    )
)
_ROMAN = re.compile(r"(c{0,3})(xc|xl|l?x{0,4})(ix|iv|v?i{0,4})")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_WORD_VALUES = tuple(
    (re.compile(pattern), value * step)
    for language in LANGUAGES.values()
    for words, first, step in ((language.headings.numbers, 1, 1), (language.headings.tens, 2, 10))
    for value, pattern in enumerate(words, first)
)
_LONGEST_HEADING = 120  # characters of a paragraph that only looks like a heading
_LONGEST_SET_OFF = 80
_LONGEST_CHAPTER_TITLE = 400  # characters; the headings of "Tom Jones" tell the story
_SHORTEST_CHAPTER = 40  # words; less text under a heading is a title page or a dedication
_LONGEST_MOTTO = 60  # words
_LONGEST_TITLE_PAGE = 250  # words above the first of many numbered chapters
_PARAGRAPH = 7  # the level of a paragraph that looks like a heading


@dataclass(frozen=True, slots=True)
class Outline:
    """A heading or a stretch of text."""

    level: int  # 1 to 6 for a heading element, 7 for a paragraph that looks like one, 0 for text
    text: str  # the text of a heading; may be "" for other text
    n_words: int  # words of the text; 0 for a heading


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning of a chapter."""

    position: int  # of its first heading in the outline
    number: int | None  # the number that is printed above it
    title: str  # its headings, those of a part that begins there included


def looks_like_heading(text: str, bold: bool) -> bool:
    """Whether a paragraph is really a heading: "CHAPTER IV", a bare numeral, "Part 2".

    >>> looks_like_heading("CHAPTER IV. In which nothing happens", False)
    True
    >>> looks_like_heading("Chapter IV of the book I was reading bored me, and I said so.", False)
    False
    """
    if len(text) > _LONGEST_HEADING or text[0] in "\"'“‘«»„—–":
        return False
    if (text.isupper() or bold) and (_NUMERAL.match(text) or _LAST.match(text)):
        return True
    numbered = text[:1].isupper() and _NUMBERED_PARAGRAPH.match(text)
    return bool(numbered) and not text.endswith((",", ";"))


def looks_set_off(text: str) -> bool:
    """Whether a centred or bold paragraph may be the title of a chapter: "BY THE RIVER".

    >>> looks_set_off("By the River"), looks_set_off("“No fishing,”"), looks_set_off("Dear Ann,")
    (True, False, False)
    """
    return (
        len(text) <= _LONGEST_SET_OFF
        and (text[0].isupper() or text[0].isdigit())
        and not text.endswith((",", ";", ":"))
    )


def is_contents_title(text: str) -> bool:
    """Whether a heading announces a table of contents or of illustrations."""
    return bool(_CONTENTS_TITLE.fullmatch(text))


def is_numbered(text: str) -> bool:
    """Whether a heading has the number of a chapter or another division: "II. The Bees"."""
    return bool(_NUMBERED.match(text)) and len(text) <= _LONGEST_CHAPTER_TITLE


def printed_number(heading: str) -> int | None:
    """The number of a chapter or a part in its heading, or None.

    >>> printed_number("CHAPTER XIV. The Gate"), printed_number("Chapter the Twenty-first")
    (14, 21)
    >>> printed_number("The Gate"), printed_number("CHAPTER THE LAST")
    (None, None)
    """
    found = (pattern.match(heading) for pattern in _PRINTED_NUMBERS)
    numbers = (_value(match[1].lower()) for match in found if match)
    return next((number for number in numbers if number), None)


def _value(number: str) -> int | None:
    """The value of a number in digits, in Roman numerals or in words."""
    if number.isdecimal():
        return int(number)
    if _ROMAN.fullmatch(number):
        values = [_ROMAN_VALUES[letter] for letter in number]
        return sum(
            -value if value < following else value
            for value, following in zip(values, [*values[1:], 0], strict=True)
        )
    values = [_value_of_word(word) for word in re.split("[- ]", number)]
    return sum(filter(None, values)) if all(values) else None


def _value_of_word(word: str) -> int | None:
    return next((value for pattern, value in _WORD_VALUES if pattern.fullmatch(word)), None)


def find_chapter_starts(outline: Sequence[Outline]) -> list[Start]:
    """Where the chapters of an outline begin, in order.

    Headings without text between them (part, chapter, title) are one start. A table of contents
    above them and "End of Part One" are not part of it.

    The book itself shows which heading levels begin chapters. It is the level of the headings
    called "Chapter", or else of the numbered headings, and every level above it. Where nothing is
    numbered, it is the level that divides the book into the most parts of some length. Headings of
    lower levels are headlines inside a chapter.
    """
    runs = _runs(outline)
    deepest = _deepest_chapter_level(outline, runs)
    candidates = []
    for run, n_words in runs:
        headings = [outline[position] for position in run]
        is_named = any(is_numbered(heading.text) for heading in headings)
        is_last = headings[0].level == _PARAGRAPH and bool(_LAST.match(headings[0].text))
        if n_words < _SHORTEST_CHAPTER and not is_named:
            continue
        if is_contents_title(headings[-1].text):
            continue
        if all(_NOT_A_CHAPTER.match(heading.text) for heading in headings):
            continue
        # The last chapter may be headed by a paragraph where all others have a heading element.
        if min(heading.level for heading in headings) <= deepest or is_last:
            candidates.append((run, n_words, is_named))
    mostly_named = sum(is_named for *_, is_named in candidates) >= 0.7 * len(candidates)
    starts: list[Start] = []
    for run, n_words, is_named in candidates:
        headings = [outline[position] for position in run]
        if mostly_named and not is_named:
            if all(_is_caption(heading) for heading in headings):
                continue
            if not starts and n_words < _LONGEST_TITLE_PAGE:
                continue
        first = _first_of_chapter(headings)
        titles = _titles([heading.text for heading in headings[first:]], is_first=not starts)
        starts.append(Start(run[first], _number_of(titles), " · ".join(titles)))
    return starts


def _titles(headings: Sequence[str], *, is_first: bool) -> list[str]:
    """The headings of a chapter, without those of the title page above the first one."""
    numbered = (n for n, text in enumerate(headings) if is_numbered(text) or _PART.match(text))
    start = next(numbered, len(headings) - 1 if is_first else 0)
    return [" ".join(text.split()) for text in headings[start:]]


def _number_of(titles: Sequence[str]) -> int | None:
    """The number of a chapter by its headings; that of a part only if nothing else has one."""
    ranked = sorted(titles, key=lambda text: bool(_PART.match(text)))
    numbers = map(printed_number, ranked)
    return next((number for number in numbers if number is not None), None)


def _first_of_chapter(headings: Sequence[Outline]) -> int:
    """The index of the first heading that belongs to the chapter below all of them."""
    contents = [n for n, heading in enumerate(headings) if is_contents_title(heading.text)]
    first = contents[-1] + 1 if contents else 0
    while first < len(headings) and _NOT_A_CHAPTER.match(headings[first].text):
        first += 1
    return first if first < len(headings) else 0


def _is_caption(heading: Outline) -> bool:
    """Whether a heading among numbered chapters is a picture's: quoted, or a whole sentence."""
    return heading.text[:1] in "\"'“‘«„" or (
        heading.text.endswith((".", "”", '"')) and len(heading.text.split()) > 5
    )


def _runs(outline: Sequence[Outline]) -> list[tuple[list[int], int]]:
    """Groups of headings with nothing between them, each with the number of words that follow.

    A motto between two headings does not separate them. It is a few words below the heading of a
    part, or above a heading of a lower level.
    """
    runs: list[tuple[list[int], int]] = []
    run: list[int] = []
    n_words = 0
    for position, item in enumerate(outline):
        if not item.level:
            n_words += item.n_words
        elif run and (
            n_words == 0 or (n_words < _LONGEST_MOTTO and _is_part(outline, run, item.level))
        ):
            run.append(position)
            n_words = 0
        else:
            if run:
                runs.append((run, n_words))
            run, n_words = [position], 0
    if run and n_words:
        runs.append((run, n_words))
    return runs


def _is_part(outline: Sequence[Outline], run: Sequence[int], next_level: int) -> bool:
    """Whether headings belong to a part that holds the heading of `next_level` below them."""
    part = any(_PART.match(outline[position].text) for position in run[-2:])
    return part or next_level > max(outline[position].level for position in run)


def _deepest_chapter_level(
    outline: Sequence[Outline], runs: Sequence[tuple[list[int], int]]
) -> int:
    called, numbered, dividing = Counter[int](), Counter[int](), Counter[int]()
    for run, n_words in runs:
        if n_words >= _SHORTEST_CHAPTER:
            # Above the first chapter stands the title of the book.
            own = run[-1:] if run is runs[0][0] else run
            dividing[min(outline[position].level for position in own)] += 1
        for position in run:
            called[outline[position].level] += bool(_CALLED_CHAPTER.match(outline[position].text))
        counted = [outline[position] for position in run if is_numbered(outline[position].text)]
        # The number of a part above that of its first chapter does not count.
        counted = [heading for heading in counted if not _PART.match(heading.text)] or counted
        for heading in counted[:1]:
            numbered[heading.level] += 1
    for counts in (called, numbered):
        often = [level for level, count in counts.items() if count >= 2]
        if often:
            most = max(counts[level] for level in often)
            return max(level for level in often if counts[level] >= most / 4)
    return max(dividing, key=lambda level: (dividing[level], -level), default=0)
