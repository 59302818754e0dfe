"""The text of a block -> where quoted text begins and ends in it.

There are three kinds of quotation marks, and each is read in its own way. A curly or angled mark
shows its direction. The characters beside a straight mark show whether it opens or closes. A single
closing mark is also the apostrophe, so the rest of the block has to show which one closes. Dashes
are read in `segmentation`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple, Protocol

from miner.languages.language import Marks
from miner.languages.registry import any_of
from miner.speech.edges import OPENS_AFTER, beside, is_elision
from miner.speech.levels import Levels, closers_of, find_inner, is_inner

_CLOSES_BEFORE = frozenset(" \n\t)]},.;:!?\u2014\u2013\u2015-\u201d\u2019\u00bb\"'_*/")
_PAUSES = frozenset(",;:.!?\u2014\u2013-)")
_ENDS_SPEECH = frozenset(',.!?;:\u2026\u2014\u2013\u2015-)]_*\u201c\u201d"\u00bb')

_CLIPPED = re.compile(any_of(lambda language: language.apostrophes.clipped), re.IGNORECASE)
_SHORT_QUOTE = 60  # characters of the longest phrase in single marks, such as 'good will'


class Scan(Protocol):
    """One kind of marks in the text of a block.

    A scan reads the text once. After that every question costs next to nothing, so that a block
    takes time in proportion to its length, whatever its marks are.
    """

    def open(self, position: int) -> int:
        """The position of the next opening mark, or -1."""
        ...

    def close(self, position: int) -> tuple[int, bool]:
        """The end (exclusive) of the text quoted at `position`, and whether a mark ends it."""
        ...

    def continuation(self) -> int:
        """The length of the mark at the start that shows that speech runs on, or 0."""
        ...

    def first_mark(self) -> str:
        """The first mark of the text: "open", "close", or "" where it has none."""
        ...

    def closers(self) -> Sequence[int]:
        """The places, in order, of the marks that can do nothing but close."""
        ...


def scan(text: str, marks: Marks) -> Scan:
    """Where these marks open and close in a text."""
    return _ApostropheScan(text, marks) if marks.is_apostrophe else _PlainScan(text, marks)


def _end_of_words(text: str, index: int) -> int:
    """The end of the text before `index` without the white space at its end."""
    while index and text[index - 1].isspace():
        index -= 1
    return index


def _first_from(positions: Sequence[int], start: int, default: int) -> int:
    """The first of the sorted positions from `start` on."""
    place = bisect_left(positions, start)
    return positions[place] if place < len(positions) else default


def _last_within(positions: Sequence[int], start: int, end: int) -> int:
    """The last of the sorted positions from `start` up to `end` (exclusive), or -1."""
    place = bisect_left(positions, end) - 1
    return positions[place] if place >= 0 and positions[place] >= start else -1


@cache
def _plain_events(marks: Marks) -> re.Pattern[str]:
    """The pattern of a plain mark. Its group says what the mark does."""
    opener, closer = re.escape(marks.opener), re.escape(marks.closer)
    # The mark comes first in each pattern, and a lookbehind checks what stands before it: this
    # lets the search skip from mark to mark.
    if marks.has_direction:
        misprint = rf"(?<=\S{opener})(?=[\s,.;:!?)]|$)"
        opens = rf"(?<={opener})(?!{misprint})|(?<!\S{closer})(?<={closer})(?=[\u2019']?\w)"
        return re.compile(rf"[{opener}{closer}](?:(?P<open>{opens})|(?P<close>))")
    before = r"\s(\[{\u201c\u2018\u00ab\u201e/_*"
    after = r"\s)\]},.;:!?\u2014\u2013\u2015\u201d\u2019\u00bb'_*/-"
    opens = rf"(?:(?<=[{before}]{opener})|(?<!.{opener}))(?=\S)"
    closes = rf"(?<=[^{before}]{opener})(?=$|[{after}])"
    dashed = rf"(?<=[\u2014\u2013\u2015-]{opener})(?!\s|$|[,.;:!?)])"
    return re.compile(
        rf"{opener}(?:(?P<either>{dashed})|(?P<open>{opens})|(?P<close>{closes})|)", re.DOTALL
    )


def find_directions(text: str, straight: Marks, curly: Marks) -> Iterator[tuple[int, bool]]:
    """Yields the place of each straight mark among curly ones, and whether it opens.

    Where the characters beside it leave this open, it does what the mark before it did not. One
    after a digit is for inches.
    """
    opens = False
    pattern = re.compile(rf"[{curly.opener}{curly.closer}]|{_plain_events(straight).pattern}", re.S)
    for match in pattern.finditer(text):
        place = match.start()
        if text[place] != straight.opener:
            opens = text[place] == curly.opener
        elif match.lastgroup and not text[place - 1 : place].isdigit():
            opens = match.lastgroup == "open" or (match.lastgroup == "either" and not opens)
            yield place, opens
        elif is_inner(text, place, straight):
            opens = True
            yield place, opens


class _PlainScan:
    """Marks that have no other use: curly and straight double marks, guillemets.

    A mark with a direction opens or closes as it shows, unless the characters beside it clearly
    contradict it: scanned books have closing marks at the start of words, and the reverse. The
    characters beside a straight mark decide what it does. Where they leave it open, it opens
    outside of speech and closes inside.
    """

    def __init__(self, text: str, marks: Marks) -> None:
        self._text = text
        self._marks = marks
        self._places: list[int] = []
        self._events: list[str | None] = []
        for match in _plain_events(marks).finditer(text):
            self._places.append(match.start())
            self._events.append(match.lastgroup)
        self._openings = [
            place
            for place, event in zip(self._places, self._events, strict=True)
            if event != "close"
        ]
        self._levels: Levels | None = None
        if any(last == "open" and event != "close" for last, event in pairwise(self._events)):
            self._read_levels()
        if marks.has_direction:
            self._read_nesting()

    def _read_levels(self) -> None:
        """Notes the marks that are inside others of their kind, if there are any."""
        events = list(zip(self._places, self._events, strict=True))
        openers = [place for place, event in events if event != "close"]
        # A mark can be inside another only if none closes between the two.
        nested = [
            place
            for (_, last), (place, event) in pairwise(events)
            if last == "open" and event != "close"
        ]
        if inner := find_inner(self._text, self._marks, openers, nested):
            opens = [
                (place, event == "open" or place in inner)
                for place, event in events
                if event or place in inner
            ]
            self._levels = Levels(inner, opens, len(self._text))

    def _read_nesting(self) -> None:
        """Notes how deep the quotations are nested, and which mark closes each of them."""
        self._depths: list[int] = []  # before each mark
        self._reopened: dict[int, int] = {}  # at each depth, the last mark that opens there
        depth = 0
        for number, event in enumerate(self._events):
            self._depths.append(depth)
            if event == "open":
                self._reopened[depth] = number
            depth += 1 if event == "open" else -1
        self._closers = closers_of([event == "open" for event in self._events])

    def open(self, position: int) -> int:
        return _first_from(self._openings, position, -1)

    def close(self, position: int) -> tuple[int, bool]:
        if self._levels and (found := self._levels.close(position)):
            return found
        number = bisect_left(self._places, position)
        if number == len(self._places):
            return len(self._text), False
        if not self._marks.has_direction:
            place = self._places[number]
            return self._cut_before(place) if self._events[number] == "open" else (place + 1, True)
        closer = self._closers[number]
        if closer < len(self._places):
            return self._places[closer] + 1, True
        reopened = self._reopened.get(self._depths[number], -1)
        if reopened >= number:
            return self._cut_before(self._places[reopened])
        return len(self._text), False

    def _cut_before(self, index: int) -> tuple[int, bool]:
        """The end of speech without a closing mark: before the next opening mark, at `index`."""
        return _end_of_words(self._text, index), False

    def continuation(self) -> int:
        return 1 if self._text[0] in self._marks.continues else 0

    def first_mark(self) -> str:
        return "" if not self._events else "close" if self._events[0] == "close" else "open"

    def closers(self) -> Sequence[int]:
        places = zip(self._places, self._events, strict=True)
        return [place for place, event in places if event == "close"]


class _ApostropheScan:
    """Single marks, whose closing mark is also the apostrophe of "don't", "boys'" and "'tis"."""

    def __init__(self, text: str, marks: Marks) -> None:
        self._text = text
        self._marks = marks
        self._end = len(text)
        # Marks that close whatever stands around them, and marks that may close: all of these,
        # those that end no clipped word ("goin'"), and those before a space, each with the start
        # of its word.
        self._strong: list[int] = []
        self._weak: list[int] = []
        self._unclipped: list[int] = []
        self._spaced: list[int] = []
        self._words: dict[int, int] = {}
        self._read_closers()
        # Marks that must open, and marks that must if a word has ended in a mark before them.
        self._openers = _places_of(text, marks.opener)
        self._clear: list[int] = []
        self._clear_after_word: list[int] = []
        for index in self._openers:
            self._read_opener(index)
        self._ended: list[int] = []
        if self._clear_after_word:
            ended_word = rf"\w\w{re.escape(marks.closer)}(?=[\s,.;:)\u2014])"
            self._ended = [match.end() - 1 for match in re.finditer(ended_word, text)]
        self._openings: list[int] | None = None
        self._levels: Levels | None = None
        if len(self._openers) > 1 and ("\u201c" in text or '"' in text):
            self._read_levels()

    def _read_levels(self) -> None:
        """Notes the marks that are inside others of their kind, if there are any."""
        text, marks = self._text, self._marks
        first = [0] if self._openers[0] == 0 else []
        inner = {index for index in self._openers if index and is_inner(text, index, marks)}
        opens = sorted({*first, *inner, *filter(self._opens, self._openers)})
        if found := find_inner(text, marks, opens, opens):
            events = dict.fromkeys(self._strong, False) | dict.fromkeys(opens, True)
            self._levels = Levels(found, sorted(events.items()), self._end)

    def _read_closers(self) -> None:
        text = self._text
        for index in _places_of(text, self._marks.closer):
            before, after = beside(text, index)
            if after not in _CLOSES_BEFORE:
                continue
            if before in _ENDS_SPEECH:
                self._strong.append(index)
            elif before.isalnum():
                self._weak.append(index)
                if after.isspace():
                    start = index
                    while start and not _is_word_break(text[start - 1]):
                        start -= 1
                    self._spaced.append(index)
                    self._words[index] = start
                    if _CLIPPED.fullmatch(text, start, index):
                        continue
                self._unclipped.append(index)

    def _read_opener(self, index: int) -> None:
        text = self._text
        before, after = beside(text, index)
        if not after.isalnum() or is_elision(text, index + 1):
            return
        if self._marks.has_direction and before in OPENS_AFTER:
            (self._clear_after_word if _is_mid(text, index) else self._clear).append(index)
            return
        end = _end_of_words(text, index)
        pauses = before.isspace() and text[end - 1 : end] in _PAUSES
        if pauses or (before.isspace() and after.isupper()) or before in "\u2014\u2013":
            self._clear.append(index)

    def open(self, position: int) -> int:
        if self._openings is None:
            self._openings = [index for index in self._openers if self._opens(index)]
        return _first_from(self._openings, position, -1)

    def close(self, position: int) -> tuple[int, bool]:
        if self._levels and (found := self._levels.close(position)):
            return found
        limit = self._next_clear_opener(position)
        strong = _first_from(self._strong, position, self._end)
        if strong < limit:
            return strong + 1, True
        weak = self._weak_closer(position, limit)
        if weak >= 0:
            return weak + 1, True
        if limit < self._end:
            return _end_of_words(self._text, limit), False
        return self._end, False

    def _weak_closer(self, position: int, limit: int) -> int:
        """The position of the mark after a word that closes a quotation, or -1.

        The last such mark closes: those before it may be "goin'" and "the boys'". Where no other
        mark opens in the paragraph, only a short phrase ends without a stop.
        """
        if limit == self._end:
            for place in range(bisect_left(self._weak, position), len(self._weak)):
                index = self._weak[place]
                if index - position > _SHORT_QUOTE:
                    return -1
                if index not in self._words or not self._is_clipped(position, index):
                    return index
            return -1
        last = _last_within(self._unclipped, position, limit)
        first = _first_from(self._spaced, position, self._end)
        if last <= first < limit and self._words[first] <= position:
            # The mark ends the first word. A quoted word may look like a clipped one.
            if not self._is_clipped(position, first):
                return first
            return _last_within(self._unclipped, position, first)
        return last

    def _is_clipped(self, position: int, index: int) -> bool:
        """Whether the word before a mark lacks its last letter ("goin'") and is no quoted word."""
        start = self._words[index]
        if start > position:
            return _CLIPPED.fullmatch(self._text, start, index) is not None
        if not _CLIPPED.fullmatch(self._text, position, index):
            return False
        word = self._text[position:index]
        return not word.isalpha() or word.lower() == "t"

    def continuation(self) -> int:
        return 1 if self._text[0] in self._marks.continues and self._opens(0) else 0

    def first_mark(self) -> str:
        opening = self.open(0)
        if self._closes_within(0, opening if opening >= 0 else self._end):
            return "close"
        return "open" if opening >= 0 else ""

    def closers(self) -> Sequence[int]:
        return self._strong

    def _opens(self, index: int) -> bool:
        text = self._text
        before, after = beside(text, index)
        if before not in OPENS_AFTER or not (
            after.isalnum()
            or after in '\u201c"\u2014\u2013-\u2026.[_('
            or (after in "'\u2019" and text[index + 2 : index + 3].isalpha())  # "''Tis he,' said I"
        ):
            return False
        if before == "-" and text[index - 2 : index] != "--" and not after.isupper():
            return False  # "rock-'n'-roll"
        if is_elision(text, index + 1):
            # "'Tis true,' said he" opens speech, "'Tis true." does not.
            return self._closes_within(index + 1, self._next_clear_opener(index + 1))
        if _is_mid(text, index):
            return self.close(index + 1)[1]  # "in the 'rigging of"
        return True

    def _closes_within(self, position: int, limit: int) -> bool:
        return _first_from(self._strong, position, self._end) < limit

    def _next_clear_opener(self, position: int) -> int:
        """The position of the next mark that must open, else the length of the text."""
        clear = _first_from(self._clear, position, self._end)
        ended = _first_from(self._ended, position + 2, self._end)  # a word has two letters
        return min(clear, _first_from(self._clear_after_word, ended + 2, self._end))


def _places_of(text: str, mark: str) -> list[int]:
    return [match.start() for match in re.finditer(re.escape(mark), text)] if mark in text else []


def _is_word_break(character: str) -> bool:
    return character.isspace() or character in '\u201c\u2018"\u2014'


def _is_mid(text: str, index: int) -> bool:
    """Whether a mark stands inside a sentence, before a small letter: "in the 'rigging"."""
    between = index > 1 and text[index - 1] == " " and text[index - 2].isalnum()
    return between and text[index + 1 : index + 2].islower()


DASH = r"--|[\u2014\u2013\u2015]"
_OPENING_DASH = re.compile(rf"(?:{DASH}|-(?!-))\s?(?=\S)")
HAS_DASH = re.compile(DASH)
MAY_OPEN = re.compile(rf"{DASH}|[\u00ab\u00bb\u201e\u201c\u201d\"]")


def is_dashed(text: str) -> bool:
    """Whether a dash opens a paragraph.

    >>> is_dashed("—Adiós."), is_dashed("Adiós—dijo.")
    (True, False)
    """
    opening = _OPENING_DASH.match(text)
    return opening is not None and text[opening.end()].isprintable()


def has_dash(text: str) -> bool:
    """Whether a dash stands in a text."""
    return HAS_DASH.search(text) is not None


def may_hold_speech(text: str) -> bool:
    """Whether a paragraph has a dash or a quotation mark."""
    return is_dashed(text) or MAY_OPEN.search(text) is not None


class Quoted(NamedTuple):
    """The place of text between quotation marks."""

    start: int  # the first character
    end: int  # the character after the last
    is_whole: bool  # whether it is all speech, so that no narration is looked for in it
