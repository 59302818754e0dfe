"""Text of others -> text that a terminal can show, and of which Unicode's forms can be made.

What a file or the catalogue says passes here: the text of a book, and its title, author and
language in every form of file.
"""

from __future__ import annotations

import re
from unicodedata import combining

REPLACEMENT = "\ufffd"  # stands for what is no text
# A terminal takes them for commands, even in the title of a book.
_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_MAY_BE_MARK = re.compile("[\u0300-\u1fff\u20d0-\U0010ffff]")
_MARKS = re.compile(r"[^\w\s\0-\u02ff\u2000-\u206f]{100,}")  # no letter has a tenth of it


def clean_text(text: str) -> str:
    """The text with U+FFFD in the place of each control character."""
    return text if text.isprintable() else _CONTROL.sub(REPLACEMENT, text)


def clean_line(text: str) -> str:
    r"""The clean text on one line, with single spaces.

    >>> clean_line("The Lamp\n \x1b[2J")
    'The Lamp \ufffd[2J'
    """
    return clean_text(" ".join(text.split()))


def limit_marks(text: str) -> str:
    """The text with U+FFFD in the place of 100 and more marks on one letter.

    Unicode's forms sort the marks on a letter, which takes the square of their number.
    """
    if text.isascii() or not _MAY_BE_MARK.search(text):
        return text
    return _MARKS.sub(_without_marks, text)


def _without_marks(run: re.Match[str]) -> str:
    return REPLACEMENT * len(run[0]) if any(map(combining, run[0])) else run[0]
