"""Text blocks of a book, each with its kind -> the part of the book that each belongs to.

The story is what a novel tells. Before and behind it stand title pages, tables of contents,
prefaces, notes and advertisements. Each of these is decided by its heading and by what its text
looks like: a preface is signed or dated or names the author of the book, and nobody speaks in it.
A preface that belongs to the tale is signed by one of its people, or is about them. In doubt a
block is of the story, because a lost page of it is worse than a critic among the cast.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from miner.books.chapters import is_contents_title, is_numbered
from miner.books.sections import (
    ATTRIBUTED,
    NUMERAL,
    SHORTEST_PROSE,
    SHORTEST_TEXT,
    SPEECH,
    WRITERS,
    BookText,
    Part,
    PlacedText,
    Section,
    find_sections,
    folded,
)
from miner.languages.language import PartWords
from miner.languages.registry import any_of


def _beginning(field: Callable[[PartWords], str]) -> re.Pattern[str]:
    """The pattern of texts that begin with the words of a field, in any language."""
    words = any_of(lambda language: field(language.parts))
    return re.compile(rf"\W*{words}(?!\w)", re.IGNORECASE)


# The first pattern that a heading matches names its part.
_TITLES = {
    Part.PREFACE: _beginning(lambda words: words.preface),
    Part.NOTES: _beginning(lambda words: words.notes),
    Part.INDEX: _beginning(lambda words: words.index),
    Part.ADVERTISEMENTS: _beginning(lambda words: words.advertisements),
    Part.FRONT: _beginning(lambda words: words.front),
}
_CHAPTER = re.compile(
    rf"\W*{any_of(lambda language: language.headings.chapter)}\b|"
    rf".*\b{any_of(lambda language: language.headings.chapter_after_number)}\W*$",
    re.IGNORECASE,
)
_LONGEST_TITLE = 100  # characters of a heading that names a part
_ILLUSTRATIONS = _beginning(lambda words: words.illustrations)
_FRONTISPIECE = _beginning(lambda words: words.frontispiece)
_END = re.compile(rf"\W*{any_of(lambda language: language.parts.end)}\W*", re.IGNORECASE)
_IMPRINT = re.compile(
    rf"(?<!\w){any_of(lambda language: language.parts.imprint)}(?!\w)", re.IGNORECASE
)
_PRICE = re.compile(
    r"[$£ƒ€¢] ?\d|\d\$\d|\b\d+s\. ?(?:\d+d\b|net\b)|\b\d+/\d+ net\b|\b(?:f|K|Fr|L)\.? \d+[.,]\d\d\b"
)
_NO_LETTER = re.compile(r"[\W\d_]+")
_LONGEST_DEDICATION = 600  # words
_LONGEST_BLURB = 120  # words above the first heading
_LONGEST_FRONT = 250  # words of a dedication and the like above the first of numbered chapters
_LONGEST_PREFACE = 12_000  # words; longer is a frame of the story
_LONGEST_SIGNED = 3000  # words of a preface that only its signature shows
_LONGEST_IMPRINT = 60  # words
_LONGEST_ADVERTISEMENT = 500  # words below one heading
_IMPRINT_SHARE = 0.08  # of blocks, from which a section is an advertisement
_LEAST_STORY = 0.3  # share of the prose; with less, the book is no story with a preface
_LONGEST_END = 60  # characters of the line that ends the story
_LARGEST_TAIL = 0.15  # share of the words that may follow the line that ends the story


def find_parts(blocks: Sequence[PlacedText], author: str) -> list[Part]:
    """The part of each block of a book.

    Args:
        blocks: all blocks of the book, in order.
        author: the author's name, or "".
    """
    book = BookText(blocks, author)
    sections = list(find_sections(blocks))
    chapters = _chapters(sections, book)
    parts = [Part.STORY] * len(blocks)
    story = first = sections[chapters[0]].start if chapters else len(blocks)
    for section in _joined([section for section in sections if section.start < first]):
        is_only = section.end == len(blocks)
        part = _part_above(section, book, is_chaptered=bool(chapters), is_only=is_only)
        if part is Part.STORY:
            story = min(story, section.start)
            if not chapters:
                first = section.start
                break
        _mark(parts, section, part)
    if chapters and not chapters[0]:
        _mark_title_page(parts, sections[0])
    behind = _first_behind(sections, chapters, book)
    for section in sections[:behind]:
        if section.start >= first and _is_preface_between(section, book):
            _mark(parts, section, Part.PREFACE)
    part = Part.STORY
    for section in sections[behind:]:
        if section.start > first:
            part = _part_behind(section, book) or part
            _mark(parts, section, part)
    _mark_below_end(parts, blocks, book)
    _mark_imprint(parts, blocks)
    if _is_no_story(parts, blocks):
        parts = [Part.STORY] * len(blocks)
    for position, block in enumerate(blocks):
        if block.part is not None:
            parts[position] = block.part
    _mark_tables(parts, blocks, story)
    return parts


def _part_named(heading: str) -> Part | None:
    """The part whose title a heading is, or None."""
    if len(heading) > _LONGEST_TITLE:
        return None
    return next((part for part, pattern in _TITLES.items() if pattern.match(heading)), None)


def _title(section: Section) -> Part | None:
    """The part that the last title among its headings names, or None.

    "Introduction" below the number of a chapter is the title of that chapter.
    """
    found = None
    for heading in section.headings:
        if NUMERAL.fullmatch(heading) and found is None or _CHAPTER.match(heading):
            return None
        found = _part_named(heading) or found
    return found


def _chapters(sections: Sequence[Section], book: BookText) -> list[int]:
    """The indices of the sections that are numbered chapters; none if they do not divide the book.

    Bare numbers in a preface or above the first heading "Chapter" are none of the story.
    """
    called = [n for n, section in enumerate(sections) if any(map(_CHAPTER.match, section.headings))]
    first_called = called[0] if len(called) > 1 else 0
    found: list[int] = []
    is_preface = False
    for index, section in enumerate(sections):
        numbers = [
            heading
            for heading in section.headings
            if is_numbered(heading) and _part_named(heading) is None
        ]
        is_preface = (is_preface or _title(section) is Part.PREFACE) and all(
            map(NUMERAL.fullmatch, numbers)
        )
        if not numbers or is_preface or not section.n_words:
            continue
        if section.is_numeral and index < first_called:
            continue
        if found or not book.is_about_author(section):
            found.append(index)
    return found if len(found) > 1 else []


def _joined(sections: Sequence[Section]) -> list[Section]:
    """The sections above the first chapter, each with those below it that have bare numbers."""
    found: list[Section] = []
    for section in sections:
        if found and section.is_numeral:
            last = found[-1]
            body = last.body + section.body
            found[-1] = Section(last.start, last.headings, body, section.end)
        else:
            found.append(section)
    return found


def _part_above(section: Section, book: BookText, *, is_chaptered: bool, is_only: bool) -> Part:
    """The part of a section above the first chapter."""
    title = _title(section)
    if title is Part.PREFACE:
        return Part.STORY if _is_fiction(section, book) else Part.PREFACE
    if _is_of_mottoes(section):
        return Part.FRONT
    if title not in (None, Part.FRONT):
        return title
    if section.is_told and not book.is_about_author(section):
        return Part.STORY
    if title is not None and (is_chaptered or section.n_words < _LONGEST_DEDICATION):
        return title
    if section.n_prose < SHORTEST_TEXT:
        is_chapter = section.n_words and any(map(is_numbered, section.headings))
        return Part.STORY if is_chapter else Part.FRONT
    if book.is_about_author(section):
        return Part.PREFACE
    if section.start == 0 and not is_only and section.n_words <= _LONGEST_BLURB:
        return Part.FRONT
    if is_chaptered and section.headings and section.n_words < _LONGEST_FRONT:
        return Part.FRONT
    if is_chaptered and section.n_words < _LONGEST_SIGNED and _is_signed(section, book):
        return Part.PREFACE
    return Part.STORY


def _is_signed(section: Section, book: BookText) -> bool:
    """Whether a section ends with a date or is signed by the author."""
    return section.is_dated or book.is_signed_by_author(section)


def _is_fiction(section: Section, book: BookText) -> bool:
    """Whether a section with the title of a preface belongs to the story.

    It does not if it is dated or about the author, or if its title names a writer or an edition.
    Else it does if one of the story's people has signed it, if people talk in it, or if they are
    named again and again.
    """
    if section.is_dated or any(map(WRITERS.search, section.headings)):
        return False
    signers = book.signers(section)
    if any(map(book.is_of_story, signers)):
        return True
    if book.is_about_author(section) or (signers and not section.is_told):
        return False
    return section.is_told or section.n_words > _LONGEST_PREFACE or book.is_about_people(section)


def _is_of_mottoes(section: Section) -> bool:
    """Whether most blocks are quotations with their sources."""
    n_mottoes = sum(bool(ATTRIBUTED.search(block.text)) for block in section.body)
    return n_mottoes > len(section.body) / 2


def _first_behind(sections: Sequence[Section], chapters: Sequence[int], book: BookText) -> int:
    """The index of the first section behind the story."""
    if chapters:
        after = range(chapters[-1] + 1, len(sections))
        return next((n for n in after if _part_behind(sections[n], book)), len(sections))
    behind = len(sections)
    while behind > 1 and _title_behind(sections[behind - 1]):
        behind -= 1
    return behind


def _title_behind(section: Section) -> Part | None:
    """The part of a section behind the story by its title or its prices, or None."""
    title = _title(section)
    if title is Part.FRONT or (title is Part.PREFACE and section.is_told):
        return None
    if title is None and not section.is_told and _is_advertisement(section):
        return Part.ADVERTISEMENTS
    return title


def _part_behind(section: Section, book: BookText) -> Part | None:
    """The part of a section behind the last chapter, or None if nothing tells it from the story."""
    part = _title_behind(section)
    if part is None and (
        any(book.names_author(folded(heading)) for heading in section.headings)
        or (not section.is_told and book.is_signed_by_author(section))
    ):
        return Part.PREFACE
    return part


def _is_preface_between(section: Section, book: BookText) -> bool:
    """Whether a section among those of the story is a preface beyond doubt."""
    if _title(section) is not Part.PREFACE or section.is_told:
        return False
    return _is_signed(section, book) or book.is_about_author(section)


def _mark(parts: list[Part], section: Section, part: Part) -> None:
    """Sets the part of all blocks of a section. What stands above the title is a title page."""
    start = section.start
    if part is Part.PREFACE:
        for heading in section.headings:
            if _part_named(heading) is Part.PREFACE:
                break
            parts[start] = Part.FRONT
            start += 1
        else:
            start = section.start
    parts[start : section.end] = [part] * (section.end - start)


def _mark_title_page(parts: list[Part], section: Section) -> None:
    """Sets the part of the headings above the first chapter's."""
    for position, heading in enumerate(section.headings, section.start):
        if is_numbered(heading):
            break
        parts[position] = Part.FRONT


def _mark_below_end(parts: list[Part], blocks: Sequence[PlacedText], book: BookText) -> None:
    """Sets the parts of what follows the line that ends the story."""
    left = _LARGEST_TAIL * sum(block.n_words for block in blocks)
    for position in range(len(blocks) - 1, -1, -1):
        block = blocks[position]
        if len(block.text) <= _LONGEST_END and _END.fullmatch(block.text):
            break
        left -= block.n_words
        if left < 0:
            return
    else:
        return
    below = list(find_sections(blocks[position + 1 :]))
    if any(section.is_told for section in below) or _chapters(below, book):
        return
    if blocks[position].is_heading and below and not below[0].headings:
        if below[0].n_prose >= SHORTEST_TEXT and not _is_advertisement(below[0]):
            return  # a chapter called "The End"
    for section in below:
        part = _part_behind(section, book) or _part_named(
            section.body[0].text if section.body else ""
        )
        if part is None:
            part = Part.PREFACE if _is_signed(section, book) else Part.NOTES
        for place in range(position + 1 + section.start, position + 1 + section.end):
            if parts[place] is Part.STORY:
                parts[place] = part


def _mark_imprint(parts: list[Part], blocks: Sequence[PlacedText]) -> None:
    """Sets the part of the lines of printers and publishers below the last words of the story."""
    last = max((n for n, part in enumerate(parts) if part is Part.STORY), default=-1)
    first = last + 1
    for position in range(last, -1, -1):
        block = blocks[position]
        if SPEECH.match(block.text):
            break
        if block.n_words < _LONGEST_IMPRINT and _is_imprint(block.text):
            first = position
        elif block.n_words >= SHORTEST_PROSE:
            break
    parts[first : last + 1] = [Part.ADVERTISEMENTS] * (last + 1 - first)


def _is_advertisement(section: Section) -> bool:
    """Whether a section has prices, or lines of printers or publishers."""
    n_lines = sum(_is_imprint(block.text) for block in section.body)
    n_lines += sum(map(_is_imprint, section.headings))
    is_short = section.n_words <= _LONGEST_ADVERTISEMENT
    return is_short and n_lines >= max(1, _IMPRINT_SHARE * len(section.body))


def _is_imprint(text: str) -> bool:
    """Whether there is a price in a text, or the words of a line of a printer or publisher."""
    return bool(_PRICE.search(text) or _IMPRINT.search(text))


def _is_no_story(parts: Sequence[Part], blocks: Sequence[PlacedText]) -> bool:
    """Whether so little is left of the text that the book must be no story."""
    words = Counter[bool]()
    for part, block in zip(parts, blocks, strict=True):
        if block.part is None and not block.is_heading:
            words[part is Part.STORY] += block.n_words
    return words[True] < _LEAST_STORY * words.total() or not words


def _mark_tables(parts: list[Part], blocks: Sequence[PlacedText], first: int) -> None:
    """Sets the parts of the rows of tables and of the headings above them.

    Args:
        parts: those of all blocks; changed.
        blocks: all blocks.
        first: the position of the first block of the story.
    """
    headings = {_letters(block.text) for block in blocks if block.is_heading} - {""}
    positions = [n for n, block in enumerate(blocks) if block.part is Part.CONTENTS]
    for _, group in groupby(enumerate(positions), lambda place: place[1] - place[0]):
        rows = [position for _, position in group]
        above = rows[0] - 1
        titled = above >= 0 and blocks[above].is_heading
        part = _part_of_table(blocks[above].text) if titled else None
        if part is not None and parts[above] is not Part.STORY or part and titled:
            parts[above] = part
        if part is None:
            part = _part_by_rows([blocks[row].text for row in rows], headings)
        if part is None and above >= first and parts[above] is not Part.STORY:
            part = parts[above]
        for row in rows:
            part = _part_of_table(blocks[row].text) or part
            parts[row] = part or Part.CONTENTS


def _part_of_table(title: str) -> Part | None:
    """The part of a table with a title, or None."""
    if _ILLUSTRATIONS.match(title):
        return Part.ILLUSTRATIONS
    if is_contents_title(title):
        return Part.CONTENTS
    part = _part_named(title)
    return part if part in (Part.INDEX, Part.NOTES, Part.ADVERTISEMENTS) else None


def _part_by_rows(rows: Sequence[str], headings: set[str]) -> Part | None:
    """The part of a table by what its rows look like, or None."""
    few = max(2, len(rows) / 5)
    if sum(bool(_PRICE.search(row)) for row in rows) >= few:
        return Part.ADVERTISEMENTS
    if sum(_letters(row) in headings for row in rows) >= few:
        return Part.CONTENTS
    if _FRONTISPIECE.match(" ".join(rows[:2])) or sum(row[0] in "\"“‘'«„»" for row in rows) >= few:
        return Part.ILLUSTRATIONS
    return None


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).lower()
