"""Words in quotation marks -> what the page tells of whether somebody says them.

Titles, inscriptions, letters, thoughts, and remembered or imagined words stand in quotation marks,
too. The words before and after the marks give most of them away ("the sign said", "she would have
cried"), and so does the quotation itself: a single word without a stop is seldom speech. A fact is
a text such as "before: would"; its number is a hash of it, so that no list of words is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from miner.speech.dialogues import strip_marks
from miner.speech.spans import Span

N_FACTS = 2**16
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[.,;:!?—-]")
_FIRST_PERSON = re.compile(r"\b(?:I|you|my|your|we|me)\b")
_NEAR = 6  # spans on either side among which speech is counted
_WORDS = 5  # words right before and right after
_OWN_WORDS = 12  # words at the beginning of the quotation
_REACH, _FAR = 90, 250  # characters of narration with words that count by place, and without
_ONCE, _OWN, _LOOSE = 1.0, 0.5, 0.3  # the weights of facts

Array = NDArray[np.float32]


def read_facts(spans: Sequence[Span], position: int) -> tuple[NDArray[np.int32], Array]:
    """Returns the numbers of the facts of a span in quotation marks, and the weight of each."""
    facts = facts_of_span(spans, position)
    numbers = np.fromiter((crc32(fact.encode()) % N_FACTS for fact in facts), np.int32, len(facts))
    weights = np.fromiter(facts.values(), np.float32, len(facts))
    return numbers, weights


def facts_of_span(spans: Sequence[Span], position: int) -> dict[str, float]:
    """Returns the facts of a span in quotation marks as texts, with the weight of each."""
    span = spans[position]
    before = narration_beside(spans, position - 1, span)
    after = narration_beside(spans, position + 1, span)
    text = strip_marks(span.text).strip()
    words_before = WORD.findall(before[-_REACH:].lower())[-_WORDS:]
    words_after = WORD.findall(after[:_REACH].lower())[:_WORDS]
    own = WORD.findall(text[:120].lower())
    facts: dict[str, float] = {}
    for distance, word in enumerate(reversed(words_before)):
        facts[f"before {distance}: {word}"] = facts[f"before: {word}"] = _ONCE
    for distance, word in enumerate(words_after):
        facts[f"after {distance}: {word}"] = facts[f"after: {word}"] = _ONCE
    for name, words in (("before", words_before), ("after", words_after)):
        for pair in zip(words, words[1:], strict=False):
            facts[f"{name}: {' '.join(pair)}"] = _ONCE
    facts.update({f"word: {word}": _OWN for word in own[:_OWN_WORDS]})
    for name, words in (("told before", before[-_FAR:]), ("told after", after[:_FAR])):
        facts.update({f"{name}: {word}": _LOOSE for word in WORD.findall(words.lower())})
    facts[f"first word: {own[0] if own else ''}"] = _ONCE
    facts[f"length: {min(8, len(text).bit_length())}"] = _ONCE
    facts[f"words: {min(4, len(own))}"] = _ONCE
    facts[f"ends: {text[-1:]}"] = _ONCE
    end, start = before.rstrip()[-1:], after.lstrip()[:1]
    facts[f"narration before ends: {end}, capital {text[:1].isupper()}"] = _ONCE
    facts[f"narration before ends: {end}"] = _ONCE
    facts[f"narration after begins: {start}, small {start.islower()}"] = _ONCE
    facts[f"alone in its paragraph: {not before.strip()} {not after.strip()}"] = _ONCE
    facts[f"capital: {text[:1].isupper()}"] = _ONCE
    facts[f"speaks of I or you: {bool(_FIRST_PERSON.search(text))}"] = _ONCE
    near = _count_speech(spans, position)
    facts[f"speech near: {near}"] = _ONCE
    facts[f"rule: {span.is_utterance}, speech near: {near > 2}"] = _ONCE
    facts[f"rule: {span.is_utterance}"] = _ONCE
    facts[f"continues: {span.continues}"] = _ONCE
    return facts


def narration_beside(spans: Sequence[Span], position: int, span: Span) -> str:
    """Returns the text of a neighbour in the same paragraph, or ""."""
    if 0 <= position < len(spans) and spans[position].paragraph == span.paragraph:
        return spans[position].text
    return ""


def _count_speech(spans: Sequence[Span], position: int) -> int:
    span = spans[position]
    around = spans[max(0, position - _NEAR) : position + _NEAR + 1]
    return sum(item.is_utterance and item.chapter == span.chapter for item in around) - (
        span.is_utterance
    )
