"""Turns that nobody makes up as they speak: letters and verse, read out or printed as speech."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cache

from miner.languages.registry import LANGUAGES
from miner.speech.dialogues import Turn, strip_marks

_MIN_LINES = 3  # of verse; two lines are a rhyme in a talk
_FEWEST_WORDS = 20  # of a letter that only its closing shows; "Your servant, sir" is talk
_CLOSE = 160  # characters at the end of a letter that hold its closing and its signature
# A date line: "Longbourn, near Hertford, 15th October.", "Hunsford, Oct. 1811".
_DATE = re.compile(r"^[^.!?]{0,80}\b(?:1[5-9]\d\d|\d{1,2}(?:st|nd|rd|th))\b[^!?]{0,20}$")
# After "Dear Sir" a letter has a colon, ",—" or a new paragraph; "My dear Jane, come" is talk.
_AFTER_SALUTATION = r"(?:[,.—–-]*$|(:|,[—–-]))"


def is_set_piece(turn: Turn, blocks: Container[int], language: str) -> bool:
    """Whether a turn is a letter or verse, so that it is no answer to the turn before it.

    It is one if more than half of it stands in blocks that are a letter or verse on the page, if it
    has three lines of verse, or if it reads as a letter: without narration inside it, it has
    paragraphs after a date line, opens with a salutation and the stop that letters have after it,
    or ends with a closing ("Yours, etc.").
    """
    length = sum(len(span.text) for span in turn.spans)
    inside = sum(len(span.text) for span in turn.spans if span.paragraph in blocks)
    if 2 * inside > length:
        return True
    if sum(span.text.count("\n") for span in turn.spans) >= _MIN_LINES - 1:
        return True
    return _is_letter(turn, language)


def _is_letter(turn: Turn, language: str) -> bool:
    if any(map(str.strip, turn.between)):
        return False  # "My dear sir," said he, "..." is talk
    opening = strip_marks(turn.spans[0].text[:200]).lstrip("‘'\"“ ")
    has_paragraphs = turn.spans[-1].paragraph > turn.spans[0].paragraph
    if has_paragraphs and _DATE.search(strip_marks(turn.spans[0].text)):
        return True
    words = _words(language)
    if words is None:
        return False
    salutation, closing = words
    end = turn.spans[-1].text[-_CLOSE:]
    if (found := salutation.match(opening)) and "," not in found[1]:
        return bool(found[2]) or has_paragraphs
    return len(turn.quoted_text.split()) >= _FEWEST_WORDS and bool(closing.search(end))


@cache
def _words(language: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """The salutation and the closing of letters, or None where the language has no file."""
    if (found := LANGUAGES.get(language)) is None:
        return None
    openings = "|".join(filter(None, (found.speech.salutation, found.speech.title_alone)))
    return (
        re.compile(rf"\W*({openings or '(?!)'}){_AFTER_SALUTATION}", re.IGNORECASE),
        re.compile(found.page.letter_closing or "(?!)", re.IGNORECASE),
    )
