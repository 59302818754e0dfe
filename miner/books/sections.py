"""Blocks of a book -> its sections, and what shows a preface: who signs it, whom it names.

A section is what stands below one heading, or below several with nothing between them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from miner.books.chapters import is_numbered
from miner.languages.registry import any_of


class Part(StrEnum):
    """A part of a book."""

    FRONT = "front"  # title page, dedication, motto of the book, what the publisher says of it
    CONTENTS = "contents"  # tables of contents
    ILLUSTRATIONS = "illustrations"  # lists of pictures, and captions
    PREFACE = "preface"  # prefaces, introductions and afterwords, by the author or about him
    STORY = "story"  # what is told; in a book that tells no story, its text
    NOTES = "notes"  # footnotes, notes, appendices, glossaries, errata
    INDEX = "index"
    ADVERTISEMENTS = "advertisements"  # of other books, and the lines of printers at the end


class PlacedText(NamedTuple):
    """A text block as this stage sees it."""

    text: str
    n_words: int
    is_heading: bool
    is_prose: bool  # a paragraph or a letter; not verse
    part: Part | None  # of captions, footnotes and rows of tables, which are no story anywhere


WRITERS = re.compile(rf"\b{any_of(lambda language: language.parts.writers)}", re.IGNORECASE)
NUMERAL = re.compile(r"\W*(?:[IVXLC]+|\d{1,3})\W*")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_DATE_AT_END = re.compile(r"(?:[.!?] |\n)[^.!?]{0,40}\b1[5-9]\d\d\W*$")
_YEAR = re.compile(r"\b1[5-9]\d\d\b")
_INITIALS = re.compile(r"\W*(?:(?:[A-Z]\.|de|von|van) ?){2,6}\W*", re.IGNORECASE)
_ABBREVIATED = any_of(lambda language: language.abbreviations)
SPEECH = re.compile(r"[\"'“‘«„»—–]|--")
# A motto: "God created great whales. —Genesis."
ATTRIBUTED = re.compile(r"[—–-] ?[\"“‘]?(?:[A-Z]\. ?)*[A-Z][^.!?]{1,80}[.”\"’]*$")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z\u00df-\u00ff]{2,}")

SHORTEST_TEXT = 40  # words of prose; less under headings is a title page
SHORTEST_PROSE = 20  # words of a paragraph; shorter ones stand on title pages, too
_LONGEST_SIGNATURE = 80  # characters
_SIGNING_BLOCKS = 10  # at the end of a preface, among which its signature is
_WORDS_OF_SIGNATURE = 4  # of a name
_FEWEST_OF_PERSON = 5  # times that the book has the name of one of its people
_FEWEST_TOLD, _TOLD_SHARE = 3, 0.15  # paragraphs that begin as speech does where people talk
_LEADING = 12  # names that the story has most often
_WORDS_OF_LEADING = 60  # a text is of the story if it has one of them in so many words
_WORDS_OF_HERO = 350  # and if it has one name of the story in so many words
_FEWEST_OF_HERO = 4
_NAMES_SHARE = 0.12  # of words with a capital, from which they are no names: each noun has one
_WORDS_OF_AUTHOR = 300  # an essay names its author once in so many words
_FEWEST_OF_AUTHOR = 3
_TIMES_AS_OFTEN = 3  # as in the whole book


@dataclass(frozen=True)
class Section:
    """Headings with nothing between them, and what stands below them.

    Attributes:
        start: the position of the first heading.
        headings: the texts of the headings.
        body: the blocks below them, without captions, footnotes and rows of tables.
        end: the position after the last block.
    """

    start: int
    headings: tuple[str, ...]
    body: tuple[PlacedText, ...]
    end: int

    @cached_property
    def n_words(self) -> int:
        """The number of words below the headings."""
        return sum(block.n_words for block in self.body)

    @cached_property
    def n_prose(self) -> int:
        """The number of words in paragraphs of some length."""
        return sum(
            block.n_words
            for block in self.body
            if block.is_prose and block.n_words >= SHORTEST_PROSE
        )

    @cached_property
    def is_told(self) -> bool:
        """Whether people talk in it."""
        n_speech = sum(
            bool(SPEECH.match(block.text)) and not ATTRIBUTED.search(block.text)
            for block in self.body
        )
        return n_speech >= max(_FEWEST_TOLD, _TOLD_SHARE * len(self.body))

    @cached_property
    def text(self) -> str:
        """The text below the headings."""
        return "\n".join(block.text for block in self.body)

    @cached_property
    def is_numeral(self) -> bool:
        """Whether its headings are bare numbers."""
        return bool(self.headings) and all(map(NUMERAL.fullmatch, self.headings))

    @cached_property
    def is_dated(self) -> bool:
        """Whether it ends with a year, as a preface does."""
        last = self.body[-1].text if self.body else ""
        return bool(_DATE_AT_END.search(last)) or any(map(_YEAR.search, self.signatures))

    @cached_property
    def signatures(self) -> tuple[str, ...]:
        """The short lines at its end, among which a signature is."""
        lines = (block.text.rsplit("\n", 1)[-1] for block in self.body[1:][-_SIGNING_BLOCKS:])
        return tuple(line for line in lines if len(line) <= _LONGEST_SIGNATURE)


def find_sections(blocks: Sequence[PlacedText]) -> Iterator[Section]:
    """The sections of a book. A table without a numbered heading ends one."""
    start, headings, body = 0, list[str](), list[PlacedText]()
    for position, block in enumerate(blocks):
        below = position > start + len(headings)
        is_below_table = (
            block.part is None and position and blocks[position - 1].part is Part.CONTENTS
        )
        if below and (
            block.is_heading
            or (is_below_table and not body and not any(map(is_numbered, headings)))
        ):
            yield Section(start, tuple(headings), tuple(body), position)
            start, headings, body = position, [], []
        if block.is_heading:
            headings.append(block.text)
        elif block.part is None:
            body.append(block)
    if start < len(blocks):
        yield Section(start, tuple(headings), tuple(body), len(blocks))


class BookText:
    """What is known of the whole book; found when a preface asks for it."""

    def __init__(self, blocks: Sequence[PlacedText], author: str) -> None:
        self._blocks = blocks
        words = re.findall(r"[^\W\d_]{3,}", author.partition("(")[0])
        self.author = [folded(word) for word in words]

    @cached_property
    def text(self) -> str:
        """The text of all blocks."""
        return "\n".join(block.text for block in self._blocks)

    @cached_property
    def leading(self) -> re.Pattern[str] | None:
        """The pattern of the names that the book has most often, or None if they cannot be told."""
        names = Counter(_NAME.findall(self.text))
        if names.total() > _NAMES_SHARE * sum(block.n_words for block in self._blocks):
            return None
        found = [name for name, _ in names.most_common(_LEADING) if name.lower() not in self.author]
        return re.compile(rf"\b(?:{'|'.join(found)})\b", re.IGNORECASE) if found else None

    def is_about_author(self, section: Section) -> bool:
        """Whether a section names the author often, and more often than the book does."""
        if not self.author or section.n_words < SHORTEST_TEXT:
            return False
        text, surname = folded(section.text), rf"\b{self.author[-1]}\b"
        n_found = len(re.findall(surname, text))
        if n_found < max(_FEWEST_OF_AUTHOR, section.n_words / _WORDS_OF_AUTHOR):
            return False
        if not self.names_author(text):
            return False
        share = len(re.findall(surname, folded(self.text))) / len(self.text)
        return n_found / len(text) >= _TIMES_AS_OFTEN * share

    def names_author(self, text: str) -> bool:
        """Whether a folded text has the author's surname after another name or a title."""
        if not self.author:
            return False
        before = "|".join((*self.author[:-1], _ABBREVIATED.lower(), "miss"))
        return bool(re.search(rf"\b(?:{before})\.? {self.author[-1]}\b", text))

    def is_signed_by_author(self, section: Section) -> bool:
        """Whether the author's name or initials are the signature of a section."""
        return any(
            _INITIALS.fullmatch(line)
            or (_is_name(line) and WRITERS.search(line))
            or (_is_name(line) and self.author and self.author[-1] in folded(line))
            for line in section.signatures
        )

    def signers(self, section: Section) -> list[str]:
        """The last words of the names that may be the signature of a section; not the author's."""
        found = []
        for line in section.signatures:
            words = re.findall(r"[^\W\d_]{3,}", line)
            if words and _is_name(line) and not _YEAR.search(line):
                if folded(words[-1]) not in self.author:
                    found.append(words[-1])
        return found

    def is_of_story(self, name: str) -> bool:
        """Whether the book often has a name, and not as a common word."""
        found = re.findall(rf"\b{name}\b", self.text, re.IGNORECASE)
        n_small = sum(word.islower() for word in found)
        return len(found) >= _FEWEST_OF_PERSON and n_small < len(found) / 2

    def is_about_people(self, section: Section) -> bool:
        """Whether a section has the names that the story has most often again and again."""
        if self.leading is None:
            return True
        n_found = len(self.leading.findall(section.text))
        if n_found >= max(2, section.n_words / _WORDS_OF_LEADING):
            return True
        least = max(_FEWEST_OF_HERO, section.n_words / _WORDS_OF_HERO)
        return any(
            count >= least
            and folded(name) not in self.author
            and len(re.findall(rf"\b{name}\b", self.text)) >= count + _FEWEST_OF_PERSON
            for name, count in Counter(_NAME.findall(section.text)).items()
        )


def folded(text: str) -> str:
    """A text in small letters without accents."""
    if text.isascii():
        return text.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text.lower()))


def _is_name(line: str) -> bool:
    """Whether a line may be a name: some words, nearly all with a capital."""
    words = re.findall(r"[^\W\d_]+", line)
    n_small = sum(word[0].islower() for word in words)
    return 0 < len(words) <= _WORDS_OF_SIGNATURE and n_small <= len(words) / 3
