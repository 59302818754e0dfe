"""Speech in speech: which marks are inside others of their kind, and where all of it closes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from miner.languages.language import Marks
from miner.speech.edges import OPENS_AFTER, beside, is_elision

# Speech in a speech opens with a mark of the other kind, and speech in that with one of the first
# kind again: “‘“Stop!” cried he, “or I fire!”’ So a mark right after one of the other kind is in
# another of its own kind. So is the second of a block that begins with one, “He began: ‘I cried,
# “Stop!” and ran, if a mark of the other kind is open there.
_LEVELS = frozenset("\u2018'\u201c\"\u201e\u00ab\u00bb\u2039\u203a")


def is_inner(text: str, index: int, marks: Marks) -> bool:
    """Whether a mark opens speech right after a mark of another kind that opens speech, too."""
    other = index - 1
    if other > 0 and text[other] == " ":
        other -= 1
    if other < 0 or text[other] not in _LEVELS or text[other] in (marks.opener, marks.closer):
        return False
    before, _ = beside(text, other)
    _, after = beside(text, index)
    if marks.is_apostrophe and is_elision(text, index + 1):
        return False
    return (before in OPENS_AFTER or before in _LEVELS) and not after.isspace()


@cache
def _second_level(marks: Marks) -> re.Pattern[str]:
    """The pattern of the marks of speech in speech. Its groups say what they do."""
    opener, closer = (
        ('[\u201c"]', '[\u201d"]') if marks.is_apostrophe else ("[\u2018']", "[\u2019']")
    )
    before = r"\s\u2014\u2013(\u201c\u2018\"'"
    return re.compile(
        rf"(?P<close>(?<=[^{before}]){closer}(?!\w))|(?P<open>(?<![^{before}]){opener}(?=\w))"
    )


def find_inner(
    text: str, marks: Marks, openers: Sequence[int], nested: Sequence[int]
) -> frozenset[int]:
    """The opening marks, of those that may be nested, that are in speech of the same kind."""
    inner = [place for place in nested if place and is_inner(text, place, marks)]
    is_word = marks.is_apostrophe and len(openers) > 1 and is_elision(text, openers[1] + 1)
    if len(openers) > 1 and not openers[0] and openers[1] in nested and not is_word:
        events = [
            match.lastgroup
            for match in _second_level(marks).finditer(text, 1, openers[1])
            if not (match.lastgroup == "open" and is_elision(text, match.end()))
        ]
        if events[-1:] == ["open"]:
            inner.append(openers[1])
    return frozenset(inner)


def closers_of(opens: Sequence[bool]) -> list[int]:
    """The number of the mark that closes what is open before each mark, and after the last.

    It is the number of marks where none does.
    """
    n_marks = len(opens)
    closers = [n_marks] * (n_marks + 1)
    for number in range(n_marks - 1, -1, -1):
        if not opens[number]:
            closers[number] = number
        elif (inner := closers[number + 1]) < n_marks:
            closers[number] = closers[inner + 1]
    return closers


class Levels:
    """Where the marks of a text close, if some of them are inside others of their kind."""

    def __init__(self, inner: frozenset[int], marks: Sequence[tuple[int, bool]], end: int) -> None:
        self._inner = inner
        self._places = [place for place, _ in marks]
        self._closers = closers_of([opens for _, opens in marks])
        self._end = end

    def close(self, position: int) -> tuple[int, bool] | None:
        """The end of the text quoted at `position`; None if no inner mark comes first in it."""
        number = bisect_left(self._places, position)
        if number == len(self._places) or self._places[number] not in self._inner:
            return None
        closer = self._closers[number]
        return (
            (self._places[closer] + 1, True) if closer < len(self._places) else (self._end, False)
        )


def closes_inner(text: str, marks: Marks) -> bool:
    """Whether a text ends in a mark that closes speech in speech, and in no other."""
    ends = len(text) > 1 and text[-1] in ('\u201d"' if marks.is_apostrophe else "\u2019'")
    return ends and not text[-2].isalnum()
