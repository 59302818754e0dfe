"""The lines of a paragraph -> the paragraphs that they are; and the name that heads one.

A transcriber may set each speech of a talk on a line of its own, all of them in one paragraph:
those lines are paragraphs. In a play, and in a novel that sets a scene as one, the name of its
speaker heads each speech.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_SENTENCE_ENDS = tuple(".!?:…”\"’'»“—)]")  # how a line of talk ends, with a mark or without
_IN_MARKS = re.compile(
    "|".join(f"{a}[^{a}{b}]+{b}" for a, b in ('""', "''", "“”", "‘’", "«»", "»«", "„“", "„”"))
)
_AFTER_DASH = re.compile(r"(?:[\u2014\u2013]|--)\s?[^\W\d_a-z]")
_FEWEST = 2  # lines of speech from which the lines of a paragraph are paragraphs

_CAPITAL = "A-Z\u00c0-\u00d6\u00d8-\u00de"
_BRACKETS = r"[(\[][^()\[\]]{1,600}[)\]]"
# What may stand between a name and its speech: "(aside).", ", rising:", or a stop alone.
_STOP = rf"(?:,? ?{_BRACKETS} ?[.:]?|(?:, [^\W\dA-Z_][^.:;!?()\[\]]{{0,60}})?[.:])"
_AFTER_NAME = re.compile(rf"(?:{_STOP}(?: ?(?:[\u2014\u2013]|--)|(?=\s|$))|$)\s*")
# A stop ends the name unless another word in capitals follows, as in "MRS. DYER".
_IN_CAPITALS = re.compile(
    rf"(?=[^a-z:(\[]*?[{_CAPITAL}]{{2}})([{_CAPITAL}\d][{_CAPITAL}\d’'.&, -]{{1,40}}?)"
    rf"(?={_AFTER_NAME.pattern})(?!\.\s+\W*[{_CAPITAL}]{{2}})"
)
_BEFORE_COLON = re.compile(
    rf"([{_CAPITAL}][\w’'-]*(?: [\w’'-]+){{0,3}})(?=(?: {_BRACKETS})?:)|"
    rf"([{_CAPITAL}])(?=\.(?:\s|[\u2014\u2013]|--))"
)
_FARTHEST = 700  # characters before the colon after a name and what is said to its actor


class Head(NamedTuple):
    """The name before a speech."""

    name: str  # as printed
    end: int  # where the speech begins; the length of the text if the name stands alone
    is_set_apart: bool  # whether the name is in capitals, or set apart by the page


def read_head(text: str, lead: str = "") -> Head | None:
    """Returns the name that may head a paragraph, with what is said to the actor behind it.

    Args:
        text: the paragraph.
        lead: the words at its start that the page sets apart, by italics or small capitals.

    >>> read_head("MRS. DYER (rising). Sit down.")
    Head(name='MRS. DYER', end=20, is_set_apart=True)
    >>> read_head("Susan. I will not.", "Susan."), read_head("Susan. I will not.")
    (Head(name='Susan', end=7, is_set_apart=True), None)
    """
    if lead[:1].isupper():
        name = re.split(r"[(\[,]", lead, maxsplit=1)[0].rstrip(" .:\u2014\u2013-")
        if after := _AFTER_NAME.match(text, len(name)):
            return Head(name, after.end(), True)
    # Nearly all paragraphs are told by their first characters, which is fast.
    if text[:3].upper() == text[:3] and (match := _IN_CAPITALS.match(text)):
        name = match[1]
    elif text.find(":", 0, _FARTHEST) < 0 and text[1:2] != ".":
        return None
    elif match := _BEFORE_COLON.match(text):
        name = match[0]
    else:
        return None
    after = _AFTER_NAME.match(text, match.end())
    return Head(name, after.end(), len(name) > 1 and name.isupper()) if after else None


def find_paragraphs(lines: Sequence[str], leads: Sequence[str]) -> list[int]:
    """Returns the lines that begin paragraphs: the first alone, unless the lines are talk.

    They are if all of them are sentences, and several are speech: in marks, behind a dash, or
    headed by the names of several speakers. A line with a small letter goes on with the one above.

    >>> find_paragraphs(["“Is it late?”", "asked Ann.", "“It is,” said Susan."], ["", "", ""])
    [0, 2]
    >>> find_paragraphs(["“The sun is late,", "And so are we.”"], ["", ""])
    [0]
    """
    if len(lines) < _FEWEST or not all(line.endswith(_SENTENCE_ENDS) for line in lines):
        return [0]
    in_marks = sum(bool(_IN_MARKS.match(line)) for line in lines)
    after_dash = sum(bool(_AFTER_DASH.match(line)) for line in lines)
    heads = [(line, read_head(line, lead)) for line, lead in zip(lines, leads, strict=True)]
    names = [h.name for line, h in heads if h and h.is_set_apart and h.end < len(line)]
    headed = len(names) if len(set(names)) > 1 else 0
    if max(in_marks, after_dash, headed) < _FEWEST:
        return [0]
    return [number for number, line in enumerate(lines) if not (number and line[:1].islower())]
