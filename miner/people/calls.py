"""An utterance and its mentions -> whom it calls, by name or by a title.

A call is a name between stops: “Well, Mara, come.” A name that owns something, that follows another
one in a list, that a clause of its own explains or that is all of an answer is only named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from miner.people.mentions import Mention, MentionKind, mentions_between
from miner.people.names import (
    BEFORE_VOCATIVE,
    CALLS_MAN,
    CALLS_WOMAN,
    JOINING,
    OWNING_ENDING,
    RELATIVE,
)

_BEFORE = 40  # characters in which what opens a call is looked for

_OPENS = rf"(?:^[—–]?|[,.!?;:“‘\"'(])\s*(?:(?:{BEFORE_VOCATIVE})\s+)*"
_OPENS_CALL = re.compile(rf"{_OPENS}$")
_ENDS_CALL = re.compile(
    rf"(?!{OWNING_ENDING})[,.!?;:—–”’\"'-]"
    rf"(?!\s+(?:{'|'.join(map(re.escape, sorted(RELATIVE))) or '(?!)'})\b)"
)
_LISTED = re.compile(rf",?\s+(?:(?:{'|'.join(map(re.escape, sorted(JOINING))) or '(?!)'})\s+)?")
_MARKS = "“”‘’\"' \n\t"
_CALL = rf"{_OPENS}({{}})\s*[,.!?;:—–”’\"'-]"
_MAN = re.compile(_CALL.format(CALLS_MAN), re.IGNORECASE)
_WOMAN = re.compile(_CALL.format(CALLS_WOMAN), re.IGNORECASE)


def find_called(
    text: str, start: int, end: int, mentions: Sequence[Mention]
) -> tuple[frozenset[int], frozenset[int]]:
    """Returns the people whom an utterance calls, and the others whom it names."""
    called: set[int] = set()
    named: set[int] = set()
    last: Mention | None = None
    speech = text[start:end]
    for mention in mentions_between(mentions, start, end):
        if mention.kind is not MentionKind.NAME:
            continue
        at = mention.start - start
        is_listed = last is not None and _LISTED.fullmatch(text, last.end, mention.start)
        is_call = (
            not is_listed
            and _OPENS_CALL.search(speech, max(0, at - _BEFORE), at)
            and _ENDS_CALL.match(text, mention.end)
            and speech.strip(_MARKS) != f"{text[mention.start : mention.end]}."
        )
        assert mention.person is not None
        (called if is_call else named).add(mention.person)
        last = mention
    return frozenset(called), frozenset(named - called)


def find_titles(speech: str) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the words by which an utterance calls a man, and those by which it calls a woman."""
    man, woman = (
        frozenset(match[1].lower() for match in pattern.finditer(speech))
        for pattern in (_MAN, _WOMAN)
    )
    return man, woman
