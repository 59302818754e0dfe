"""The narration between two utterances -> what is told of each.

A tag stands behind its speech: “Yes,” said Ann. So the narration there belongs to that speech, up
to the end of its paragraph, unless the last sentence announces the next speech: “Yes.” But Bob
cried: All other narration belongs to the speech after it. If both speeches are in one paragraph,
only the tag belongs to the first: “Yes,” said Ann. Bob laughed. “No!”
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from miner.languages.registry import LANGUAGES
from miner.speech.spans import Span
from miner.speech.speech import tells_who_spoke

_NO_ENDS = "".join(
    rf"(?<!\b{re.escape(short)}\.)"
    for language in LANGUAGES.values()
    for short in language.attribution.sentence_abbreviations
)
SENTENCE_END = re.compile(rf"(?<=[.!?;]){_NO_ENDS}\s")
# How narration ends that announces the speech after it.
_LEADS_IN = (",", ":", "—", "–", "-")
_NEAR = 80  # characters in which a clause tells who spoke
_CLOSING = "”’»\"' "  # what may follow the last stop of a speech
_JOINING = frozenset().union(
    *(
        words
        for language in LANGUAGES.values()
        for words in (language.people.joining, language.people.subordinate)
    )
)
# “Yes,” said Ann, *and* Bob cried: “No!”
_JOINT = re.compile(rf",\s+(?:{'|'.join(map(re.escape, sorted(_JOINING)))})\s")


class Narration(NamedTuple):
    """The narration between two utterances, as printed, with a line for each paragraph."""

    after: str  # what belongs to the first of them
    before: str  # what belongs to the second
    # that part of `before` which leads in the second, even if it opens a conversation: it stands in
    # the paragraph of the utterance, or announces it at the end of the one before
    opening: str


def join_narration(spans: Iterable[Span]) -> str:
    """Returns the text of narration, with a line for each paragraph."""
    return "\n".join(text for _, text in _paragraphs(spans))


def divide_narration(spans: Sequence[Span], first: Span | None, second: Span | None) -> Narration:
    """Returns the narration between two utterances, divided between them.

    At the start of a book, there is no first; at its end, there is no second.
    """
    paragraphs = [(number, text) for number, text in _paragraphs(spans) if text.strip()]
    own = ""  # behind the first utterance, in its paragraph
    if first is not None and paragraphs and paragraphs[0][0] == first.paragraph:
        (_, own), *paragraphs = paragraphs
    cut = len(own)
    if first is not None and second is not None and not paragraphs:
        cut = _end_of_first(own, first.text, first.paragraph == second.paragraph)
    before = [text for _, text in paragraphs] or [own[cut:]]
    is_beside = second is not None and paragraphs and paragraphs[-1][0] == second.paragraph
    leads_in = not paragraphs or is_beside or before[-1].rstrip().endswith(_LEADS_IN)
    return Narration(own[:cut].strip(), _joined(before), before[-1].strip() if leads_in else "")


def _joined(texts: Iterable[str]) -> str:
    return "\n".join(map(str.strip, texts))


def _paragraphs(spans: Iterable[Span]) -> list[tuple[int, str]]:
    """Returns the text of each paragraph, with the paragraph's number."""
    return [
        (paragraph, "".join(span.text for span in group))
        for paragraph, group in groupby(spans, key=lambda span: span.paragraph)
    ]


def _end_of_first(narration: str, speech: str, is_shared: bool) -> int:
    """The end of what belongs to the speech before narration; the rest belongs to the next speech.

    If both stand in one paragraph (`is_shared`), only a tag belongs to the first. Elsewhere only a
    last sentence belongs to the next speech, if it leads it in.
    """
    leads_in = any(map(str.isalpha, narration)) and narration.rstrip().endswith(_LEADS_IN)
    if not (leads_in or is_shared):
        return len(narration)
    starts = [0, *(stop.end() for stop in SENTENCE_END.finditer(narration.rstrip()))]
    has_tag = _begins_with_tag(narration, speech, leads_in and len(starts) == 1)
    if len(starts) > 1:
        return starts[1 if has_tag else 0] if is_shared else starts[-1]
    if not has_tag:
        return 0
    joints = [
        joint.start() + 1
        for joint in _JOINT.finditer(narration)
        if leads_in and tells_who_spoke(narration[joint.end() : joint.end() + _NEAR])
    ]
    return joints[-1] if joints else len(narration)


def _begins_with_tag(narration: str, speech: str, leads_in: bool) -> bool:
    """Whether the first sentence behind a speech goes on with its sentence, or says who spoke.

    “Yes.” Bob said, “No.” announces the next speech, because the first one ended its sentence.
    """
    first = next(filter(str.isalpha, narration), "")
    if first.islower() or speech.rstrip(_CLOSING).endswith(","):
        return True
    return not leads_in and tells_who_spoke(narration)
