"""What stands beside a mark, by which it opens a quotation or is an apostrophe."""

from __future__ import annotations

import re

from miner.languages.registry import any_of

OPENS_AFTER = frozenset(" \n\t([{\u2014\u2013\u2015-\u201c\u2018\u00ab\u201e/_*")
# After an opening mark these look like quoted speech. Those of the second pattern are also words
# without the apostrophe, and count only in small letters.
_ELISIONS = re.compile(
    rf"{any_of(lambda language: language.apostrophes.elided)}\b|\d", re.IGNORECASE
)
_SMALL_ELISIONS = re.compile(rf"{any_of(lambda language: language.apostrophes.elided_small)}\b")


def beside(text: str, index: int) -> tuple[str, str]:
    """The characters before and after a mark; a space stands for the block's edge."""
    before = text[index - 1] if index else " "
    after = text[index + 1] if index + 1 < len(text) else " "
    return before, after


def is_elision(text: str, position: int) -> bool:
    """Whether a word that has lost its first letters ("'tis") stands behind an apostrophe."""
    return bool(_ELISIONS.match(text, position) or _SMALL_ELISIONS.match(text, position))


def opens_word(text: str, index: int) -> bool:
    """Whether a straight single mark opens a quotation and is no apostrophe."""
    before, after = beside(text, index)
    opens = before in OPENS_AFTER and (after.isalnum() or after in '\u201c"')
    return opens and not is_elision(text, index + 1)
