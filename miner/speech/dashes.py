"""Paragraphs -> whether a dash or a quotation mark in them may open speech."""

from __future__ import annotations

import re
from typing import NamedTuple

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
    """The place of text between quotation marks.

    Attributes:
        start: the first character.
        end: the character after the last.
        is_whole: whether it is all speech, so that no narration is looked for in it.
    """

    start: int
    end: int
    is_whole: bool
