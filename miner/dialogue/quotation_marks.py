"""The text of a block -> where quoted text begins and ends in it.

There are three kinds of quotation marks, and each is read in its own way. A curly or angled mark
shows its direction. The characters beside a straight mark show whether it opens or closes. A single
closing mark is also the apostrophe, so the rest of the block has to show which one closes. A dash
is a fourth case: it opens a paragraph of speech and, in many languages, closes and opens it again
around "he said".
"""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol

from miner.languages.language import Conventions
from miner.languages.marks import Marks
from miner.languages.registry import any_of

_DASHES = "\u2014\u2013\u2015-"
_OPENS_AFTER = frozenset(" \n\t([{\u2014\u2013\u2015-\u201c\u2018\u00ab\u201e/_*")
_CLOSES_BEFORE = frozenset(" \n\t)]},.;:!?\u2014\u2013\u2015-\u201d\u2019\u00bb\"'_*/")
_PAUSES = frozenset(",;:.!?\u2014\u2013-)")
_ENDS_SPEECH = frozenset(',.!?;:\u2026\u2014\u2013\u2015-)]_*\u201d"\u00bb')

# After an opening mark these look like quoted speech. Those of the second pattern are also words
# without the apostrophe, and count only in small letters.
_ELISIONS = re.compile(
    rf"{any_of(lambda language: language.apostrophes.elided)}\b|\d", re.IGNORECASE
)
_SMALL_ELISIONS = re.compile(rf"{any_of(lambda language: language.apostrophes.elided_small)}\b")
_CLIPPED = re.compile(
    rf"(?:.*[\s\u201c\u2018\"\u2014])?{any_of(lambda language: language.apostrophes.clipped)}$",
    re.IGNORECASE | re.DOTALL,
)
_SHORT_QUOTE = 60  # characters of the longest phrase in single marks, such as 'good will'


class Scanner(Protocol):
    """Finds one kind of marks in the text of a block."""

    def open(self, text: str, position: int) -> int:
        """The position of the next opening mark, or -1."""
        ...

    def close(self, text: str, position: int) -> tuple[int, bool]:
        """The end (exclusive) of the text quoted at `position`, and whether a mark ends it."""
        ...

    def continuation(self, text: str) -> int:
        """The length of the mark at the start that shows that speech runs on, or 0."""
        ...

    def first_mark(self, text: str) -> str:
        """The first mark of the text: "open", "close", or "" where it has none."""
        ...


@cache
def scanner_for(marks: Marks) -> Scanner:
    """The scanner that reads these marks."""
    return _ApostropheScanner(marks) if marks.is_apostrophe else _PlainScanner(marks)


def _beside(text: str, index: int) -> tuple[str, str]:
    """The characters before and after a mark; a space stands for the block's edge."""
    before = text[index - 1] if index else " "
    after = text[index + 1] if index + 1 < len(text) else " "
    return before, after


class _PlainScanner:
    """Marks that have no other use: curly and straight double marks, guillemets.

    A mark with a direction opens or closes as it shows, unless the characters beside it clearly
    contradict it: scanned books have closing marks at the start of words, and the reverse. The
    characters beside a straight mark decide what it does. Where they leave it open, it opens
    outside of speech and closes inside.
    """

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        opener, closer = re.escape(marks.opener), re.escape(marks.closer)
        # The mark comes first in each pattern, and a lookbehind checks what stands before it: this
        # lets the search skip from mark to mark.
        if marks.has_direction:
            misprint = rf"(?<=\S{opener})(?=[\s,.;:!?)]|$)"
            opens = rf"(?<={opener})(?!{misprint})|(?<!\S{closer})(?<={closer})(?=\w)"
            self._events = re.compile(rf"[{opener}{closer}](?:(?P<open>{opens})|(?P<close>))")
        else:
            before = r"\s(\[{\u201c\u2018\u00ab\u201e/_*"
            after = r"\s)\]},.;:!?\u2014\u2013\u2015\u201d\u2019\u00bb'_*/-"
            opens = rf"(?:(?<=[{before}]{opener})|(?<!.{opener}))(?=\S)"
            closes = rf"(?<=[^{before}]{opener})(?=$|[{after}])"
            dashed = rf"(?<=[\u2014\u2013\u2015-]{opener})(?!\s|$|[,.;:!?)])"
            self._events = re.compile(
                rf"{opener}(?:(?P<either>{dashed})|(?P<open>{opens})|(?P<close>{closes})|)",
                re.DOTALL,
            )

    def open(self, text: str, position: int) -> int:
        for match in self._events.finditer(text, position):
            if match.lastgroup != "close":
                return match.start()
        return -1

    def close(self, text: str, position: int) -> tuple[int, bool]:
        depth = 1
        reopened = -1
        for match in self._events.finditer(text, position):
            if match.lastgroup == "open":
                if not self._marks.has_direction:
                    return _cut_before(text, match.start())
                if depth == 1:
                    reopened = match.start()
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    return match.end(), True
        if reopened >= 0:
            return _cut_before(text, reopened)
        return len(text), False

    def continuation(self, text: str) -> int:
        return 1 if text[0] in self._marks.continues else 0

    def first_mark(self, text: str) -> str:
        match = self._events.search(text)
        return "" if match is None else "close" if match.lastgroup == "close" else "open"


def _cut_before(text: str, index: int) -> tuple[int, bool]:
    """The end of speech without a closing mark: before the next opening mark, at `index`."""
    return len(text[:index].rstrip()), False


class _ApostropheScanner:
    """Single marks, whose closing mark is also the apostrophe of "don't", "boys'" and "'tis"."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._opener = re.compile(re.escape(marks.opener))
        closer = re.escape(marks.closer)
        self._closer = re.compile(closer)
        self._ended_word = re.compile(rf"\w\w{closer}(?=[\s,.;:)\u2014])")

    def open(self, text: str, position: int) -> int:
        for match in self._opener.finditer(text, position):
            if self._opens(text, match.start()):
                return match.start()
        return -1

    def close(self, text: str, position: int) -> tuple[int, bool]:
        limit = self._next_clear_opener(text, position)
        weak = -1
        for match in self._closer.finditer(text, position, limit):
            index = match.start()
            before, after = _beside(text, index)
            if before in _ENDS_SPEECH and after in _CLOSES_BEFORE:
                return index + 1, True
            if before.isalnum() and after in _CLOSES_BEFORE:
                if after.isspace() and _is_clipped(text, position, index):
                    continue
                # The last such mark closes: those before it may be "goin'" and "the boys'". Where
                # no other mark opens in the paragraph, only a short phrase ends without a stop.
                if limit < len(text) or (weak < 0 and index - position <= _SHORT_QUOTE):
                    weak = index
        if weak >= 0:
            return weak + 1, True
        if limit < len(text):
            return _cut_before(text, limit)
        return len(text), False

    def continuation(self, text: str) -> int:
        return 1 if text[0] in self._marks.continues and self._opens(text, 0) else 0

    def first_mark(self, text: str) -> str:
        opening = self.open(text, 0)
        if self._closes_within(text, 0, opening if opening >= 0 else len(text)):
            return "close"
        return "open" if opening >= 0 else ""

    def _opens(self, text: str, index: int) -> bool:
        before, after = _beside(text, index)
        if before not in _OPENS_AFTER or not (
            after.isalnum()
            or after in '\u201c"\u2014\u2013-\u2026.[_('
            or (after in "'\u2019" and text[index + 2 : index + 3].isalpha())  # "''Tis he,' said I"
        ):
            return False
        if before == "-" and text[index - 2 : index] != "--" and not after.isupper():
            return False  # "rock-'n'-roll"
        if _is_elision(text, index + 1):
            # "'Tis true,' said he" opens speech, "'Tis true." does not.
            limit = self._next_clear_opener(text, index + 1)
            return self._closes_within(text, index + 1, limit)
        if _is_mid(text, index):
            return self.close(text, index + 1)[1]  # "in the 'rigging of"
        return True

    def _closes_within(self, text: str, position: int, limit: int) -> bool:
        for match in self._closer.finditer(text, position, limit):
            before, after = _beside(text, match.start())
            if before in _ENDS_SPEECH and after in _CLOSES_BEFORE:
                return True
        return False

    def _next_clear_opener(self, text: str, position: int) -> int:
        """The position of the next mark that must open, else the length of the text."""
        for match in self._opener.finditer(text, position):
            index = match.start()
            before, after = _beside(text, index)
            if not after.isalnum() or _is_elision(text, index + 1):
                continue
            if self._marks.has_direction and before in _OPENS_AFTER:
                if not _is_mid(text, index) or self._ended_word.search(text, position, index):
                    return index
                continue
            pauses = before.isspace() and text[:index].rstrip()[-1:] in _PAUSES
            if pauses or (before.isspace() and after.isupper()) or before in "\u2014\u2013":
                return index
        return len(text)


def _is_clipped(text: str, position: int, index: int) -> bool:
    """Whether the word before a mark lacks its last letter ("goin'") and is no quoted word."""
    inside = text[position:index]
    return bool(_CLIPPED.match(inside)) and not (inside.isalpha() and inside.lower() != "t")


def _is_mid(text: str, index: int) -> bool:
    """Whether a mark stands inside a sentence, before a small letter: "in the 'rigging"."""
    between = index > 1 and text[index - 1] == " " and text[index - 2].isalnum()
    return between and text[index + 1 : index + 2].islower()


def _is_elision(text: str, position: int) -> bool:
    return bool(_ELISIONS.match(text, position) or _SMALL_ELISIONS.match(text, position))


_DASH_START = re.compile(r"(?:--|[\u2014\u2013\u2015-])\s?(?=\S)")
_CLOSES_SCENE = re.compile("[^\u00ab\u00bb]*\u00bb")
_CLOSING_DASH = re.compile(r"\s?(?:--|[\u2014\u2013\u2015])[.,;:!?]?\s?")
_INNER_DASH = re.compile(r"\s?(?:--|[\u2014\u2013\u2015])\s?(?=[^\W\d_])")


def find_dash_speech(text: str, conventions: Conventions) -> list[tuple[int, int]]:
    """The start and end of each speech in a paragraph that a dash opens; empty without one.

    Where the language closes speech with a second dash (`dash_closes`), a dash before a small
    letter opens narration and the next dash ends it. Elsewhere narration is found by its verb: it
    runs from there to the end of the clause.
    """
    opening = _DASH_START.match(text)
    if opening is None or not text[opening.end()].isprintable():
        return []
    narration = _dash_attributions(text, opening.end()) if conventions.dash_closes else []
    if not narration:
        narration = find_attributions(text, conventions)
        # In French, marks enclose a scene and dashes change the speaker: a closing mark ends both.
        closing = _CLOSES_SCENE.match(text)
        if closing and text[closing.end() :].strip(" .,;:!?"):
            narration = [place for place in narration if place[1] <= closing.end()]
            narration.append((closing.end(), _next_scene(text, closing.end())))
    spoken = []
    position = 0
    for start, end in narration:
        if text[position:start].strip():
            spoken.append((position, start))
        position = end
    if text[position:].strip(" .,;:!?\u2014\u2013-"):
        spoken.append((position, len(text)))
    return spoken


def _next_scene(text: str, position: int) -> int:
    opening = text.find("\u00ab", position)
    return opening if opening >= 0 else len(text)


def _dash_attributions(text: str, position: int) -> list[tuple[int, int]]:
    found = []
    while True:
        match = _INNER_DASH.search(text, position)
        if match is None:
            return found
        if not text[match.end()].islower():
            position = match.end()
            continue
        closing = _CLOSING_DASH.search(text, match.end())
        end = closing.end() if closing else len(text)
        found.append((match.start(), end))
        position = end


_SUBJECTS = any_of(lambda language: language.conventions.attribution_subjects)
_ABBREVIATIONS = any_of(lambda language: language.abbreviations)


@cache
def _attribution_pattern(verbs: str, tails: str) -> re.Pattern[str]:
    subject = rf"(?:{_SUBJECTS}|[A-Z]\w+(?: [A-Z]\w+)?)"
    tail = rf"(?:, (?={tails})[^.;:!?\u2014]*)?" if tails else ""
    return re.compile(
        rf"(?<=[,.!?\u2026\u2014]) (?:(?:{verbs})\b|{subject} (?:{verbs})\b)"
        rf"(?:\b{_ABBREVIATIONS}\.|[^,.;:!?\u2014\u00ab\u00bb]){{0,80}}"
        rf"{tail}(?:[,.;:] ?|$)"
    )


def find_attributions(
    text: str, conventions: Conventions, start: int = 0, end: int | None = None
) -> list[tuple[int, int]]:
    """The start and end of each attribution ("said he"), found by its verb and the stops around."""
    pattern = _attribution_pattern(conventions.attribution_verbs, conventions.attribution_tails)
    return [
        match.span() for match in pattern.finditer(text, start, len(text) if end is None else end)
    ]
