"""The text of a block whose marks do not balance -> the text with the marks that were meant.

Printers and transcribers leave a mark out, turn it the wrong way, set the space on its wrong side,
or leave a straight mark among curly ones. Such a block has a quotation that nothing closes, or a
closing mark where nothing is open. What may stand there instead is tried; if one reading alone
makes the marks balance, it is taken. The text as printed is never changed: only where its
quotations begin and end is read from the repaired one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import NamedTuple

from miner.languages.language import MARKS, Marks
from miner.speech.edges import opens_word
from miner.speech.quotation_marks import Scan, find_directions
from miner.speech.speech import (
    ends_in_tag,
    find_end_of_tag,
    find_tags,
    is_one_sentence,
    tells_who_spoke,
)

_MOST_FAULTS = 6  # faults of a block that is worth reading


# The most characters of a block that speech may open which lacks its mark, unless a tag follows.
_LONGEST_ALONE = 80
_LONGEST_TAG = 80  # characters of the narrator's words at the end of a block
_CRY = re.compile(r"[^.!?]*[!?]")
_ANNOUNCES = re.compile(r"[,:]\s*[\u2014\u2013-]+$")
_ENDS_SENTENCE = frozenset(".!?\u2026\u2019')")
_BREAKS_OFF = frozenset(",:;\u2014\u2013-")
_TURNED_CLOSER = re.compile(r"\s+\S(?!$)")


class RepairKind(StrEnum):
    """What is wrong with a mark."""

    MIXED = "mixed"  # a straight mark beside a curly one
    TURNED = "turned"  # it shows the wrong direction
    SPACED = "spaced"  # a space is missing before it
    MISSING = "missing"  # it was left out
    UNCLEAR = "unclear"  # the marks do not balance, and more or less than one reading would do


@dataclass(frozen=True, slots=True)
class Repair:
    """A place in a book where the marks of speech cannot be right as printed.

    Attributes:
        chapter: the number of the chapter, from 0.
        paragraph: the index of the block in the book, from 0.
        start: the character in the block's text.
        found: what stands there; empty where a mark is missing.
        assumed: what is read instead; empty where it is unclear.
        kind: what is wrong.
    """

    chapter: int
    paragraph: int
    start: int
    found: str
    assumed: str
    kind: RepairKind


class Fault(NamedTuple):
    """A stretch of text that shows a mark to be wrong or missing."""

    start: int  # the end of the quotation before, or the opening mark that nothing closes
    end: int  # the closing mark that closes nothing, or the mark that opens next
    lacks_opener: bool  # whether the mark at `end` closes nothing


class _Edit(NamedTuple):
    """A change of a text."""

    start: int
    end: int
    new: str
    kind: RepairKind
    opens: bool = False  # whether it makes speech open, and not close

    def guesses(self, text: str) -> int:
        """Returns how much it supposes: least if a mark stands there, most at the end of a text."""
        return 0 if self.kind is not RepairKind.MISSING else 1 + (self.start == len(text))


class Reading:
    """A text as it is read: the printed one, with the repairs so far."""

    __slots__ = ("_places", "edits", "printed", "text")

    def __init__(self, text: str) -> None:
        self.printed = self.text = text
        self.edits: list[_Edit] = []  # their places are those of the printed text
        self._places: list[int] | None = None

    def place(self, position: int) -> int:
        """Returns the place in the printed text of a place in the text as it is read."""
        return position if self._places is None else self._places[position]

    def unify(self, marks: Marks, twin: Marks) -> None:
        """Reads the straight marks of a book with curly ones as such, or the reverse."""
        if not (found := _unify(self.text, marks, twin)):
            return
        characters = list(self.text)
        for place, mark in found:
            characters[place] = mark
        self.text = "".join(characters)
        if marks.opener in self.printed or marks.closer in self.printed:
            self.edits = [
                _Edit(place, place + 1, mark, RepairKind.MIXED)
                for place, mark in found
                if not marks.is_apostrophe or mark == marks.opener
            ]

    def apply(self, edit: _Edit) -> None:
        """Makes a change; its places are those of the text as it is read."""
        places = self._places or list(range(len(self.text) + 1))
        start, end, new, *_ = edit
        self.edits.append(edit._replace(start=places[start], end=places[end]))
        self.text = _edited(self.text, edit)
        # An opening mark stands before all that it replaces, a closing one behind.
        rest = places[start] if edit.opens else places[end]
        places[start:end] = [places[start], *[rest] * (len(new) - 1)]
        self._places = places

    def repairs(self, chapter: int, paragraph: int, faults: Sequence[Fault]) -> list[Repair]:
        """Returns the changes of a block, and the faults that are left."""
        made = [
            Repair(chapter, paragraph, start, self.printed[start:end], new, kind)
            for start, end, new, kind, _ in self.edits
        ]
        places = (self.place(one.end if one.lacks_opener else one.start) for one in faults)
        unclear = (
            Repair(
                chapter, paragraph, place, self.printed[place : place + 1], "", RepairKind.UNCLEAR
            )
            for place in places
        )
        return sorted((*made, *unclear), key=attrgetter("start"))


def _edited(text: str, edit: _Edit) -> str:
    return text[: edit.start] + edit.new + text[edit.end :]


_TWINS = {
    "double-curly": "double-straight",
    "double-straight": "double-curly",
    "single-curly": "single-straight",
    "single-straight": "single-curly",
}


def twin_of(marks: Marks) -> Marks | None:
    """Returns the straight marks of curly ones, or the reverse."""
    return MARKS.get(_TWINS.get(marks.name, ""))


def _unify(text: str, marks: Marks, twin: Marks) -> list[tuple[int, str]]:
    """Returns the places of the marks in the other form, and what is meant there.

    A mark in the other form does what one in the form of the book does there.
    """
    if not marks.has_direction:
        return [(match.start(), marks.opener) for match in re.finditer(_either(twin), text)]
    if marks.is_apostrophe:
        return [
            (place, marks.opener if opens_word(text, place) else marks.closer)
            for place in (match.start() for match in re.finditer(_either(twin), text))
        ]
    return [
        (place, marks.opener if opens else marks.closer)
        for place, opens in find_directions(text, twin, marks)
    ]


def _either(marks: Marks) -> str:
    return f"[{marks.opener}{marks.closer}]"


def find_faults(
    scan: Scan, ranges: Iterable[tuple[int, int, bool]], end: int, goes_on: bool
) -> list[Fault]:
    """Returns where marks do not balance, up to the end of the text.

    Args:
        scan: where the marks of the book open and close.
        ranges: the start and the end of each quotation, and whether a mark closes it.
        end: the length of the text.
        goes_on: whether the last quotation may be left open at the end of the text.
    """
    closers, number = scan.closers(), 0
    found: list[Fault] = []
    position = 0
    for start, stop, closed in (*ranges, (end, end, True)):
        while number < len(closers) and closers[number] < start:
            if closers[number] >= position:
                found.append(Fault(position, closers[number], True))
                position = closers[number] + 1
            number += 1
        if not closed and not (stop == end and goes_on):
            found.append(Fault(start, stop, False))
        position = max(position, stop)
    return found


def may_go_on(text: str, following: str, marks: Marks) -> bool:
    """Returns whether speech that a block leaves open goes on in the next one.

    It does if that begins with the mark of speech, or the block breaks off before a quotation. It
    does not if the last words are the narrator's.
    """
    if following[:1] in marks.continues:
        return not ends_in_tag(text)
    return text[-1] in _BREAKS_OFF


def mend(
    reading: Reading, faults: Sequence[Fault], marks: Marks, read: Callable[[str], Sequence[Fault]]
) -> Sequence[Fault]:
    """Repairs a reading as far as one change alone makes its marks balance better.

    Args:
        reading: what is changed.
        faults: those of its text.
        marks: the marks of the book.
        read: returns the faults of a changed text.

    Returns:
        the faults that are left; of a block with more than it is worth to read, the first alone.
    """
    if len(faults) > _MOST_FAULTS:
        return faults[:1]
    passed = 0  # faults that no change takes away
    while passed < len(faults):
        tried = [
            (len(left), edit.guesses(reading.text), edit, left)
            for edit in dict.fromkeys(_edits(reading.text, faults[passed], marks))
            for left in (read(_edited(reading.text, edit)),)
        ]
        least = min((rank for *rank, _, _ in tried), default=[len(faults)])
        best = [(edit, left) for *rank, edit, left in tried if rank == least]
        if least[0] >= len(faults) or len(best) > 1:
            passed += 1
            continue
        edit, faults = best[0]
        reading.apply(edit)
    return faults


def _edits(text: str, fault: Fault, marks: Marks) -> Iterator[_Edit]:
    """Returns the changes that would explain a fault."""
    yield from (_opening_edits if fault.lacks_opener else _closing_edits)(text, fault, marks)


def _opening_edits(text: str, fault: Fault, marks: Marks) -> Iterator[_Edit]:
    """Returns where speech may open that ends in a mark at `fault.end`."""
    start, end, _ = fault
    opener = marks.opener
    # said Bo,’ and I know: the mark that closes nothing opens.
    for place in _turned_openers(marks).finditer(text, start, end + 3):
        told = find_end_of_tag(text, start, place.start()) if start else 0
        if not told and not tells_who_spoke(text, place.end()):
            yield _Edit(place.start(), place.end(), f" {opener}", RepairKind.TURNED, True)
    # said Bo,‘and I know
    for place in _unspaced_openers(marks).finditer(text, start, end):
        yield _Edit(place.start(), place.end(), f" {opener}", RepairKind.SPACED, True)
    if start:
        # said Bo, and I know.’
        if place := find_end_of_tag(text, start, end):
            yield _Edit(place, place, opener, RepairKind.MISSING, True)
    elif _may_open_block(text, end):
        # Come in,’ said Bo.
        yield _Edit(0, 0, opener, RepairKind.MISSING, True)


def _may_open_block(text: str, end: int) -> bool:
    """Whether a block up to a closing mark is speech: one sentence, or a cry and what follows."""
    if _ANNOUNCES.search(text, 0, end):  # He began:—’
        return False
    if not tells_who_spoke(text, end + 1) and end > _LONGEST_ALONE:
        return False
    return is_one_sentence(text, 0, end) or _CRY.match(text, 0, end) is not None


def _closing_edits(text: str, fault: Fault, marks: Marks) -> Iterator[_Edit]:
    """Returns where speech may end that opens at `fault.start`."""
    start, end, _ = fault
    closer = marks.closer
    # “Come in, “said Bo.
    if (turned := _TURNED_CLOSER.match(text, end)) and (
        text[turned.end()] in ",;:" or tells_who_spoke(text, turned.end())
    ):
        yield _Edit(end, turned.end(), f"{closer} ", RepairKind.TURNED)
    # “Come in, said Bo, “and I know.”
    for place in find_tags(text, start + 1, end):
        is_long = end - place > _LONGEST_TAG or not is_one_sentence(text, place, end)
        if end == len(text) and is_long:
            continue  # he may tell what somebody said
        if text[place - 1] not in "'’":
            yield _Edit(place, place, closer, RepairKind.MISSING)
        elif marks.is_apostrophe:
            yield _Edit(place - 1, place, f",{closer}", RepairKind.SPACED)
    if end == len(text) and text[-1] in _ENDS_SENTENCE:
        yield _Edit(end, end, closer, RepairKind.MISSING)


@cache
def _turned_openers(marks: Marks) -> re.Pattern[str]:
    """The pattern of a closing mark and the space behind it where an opening mark is meant."""
    return re.compile(
        rf"(?<=[,.;:!?\u2014\u2013)-]){marks.closer}\s(?=\w)|(?<=\w){marks.closer}\s(?=[A-Z])"
    )


@cache
def _unspaced_openers(marks: Marks) -> re.Pattern[str]:
    """The pattern of an opening mark without the space before it."""
    before = r"[\w,.;:!?)]" if marks.has_direction else r"[,.;:!?)]"
    return re.compile(rf"(?<={before}){marks.opener}(?=\w)")
