"""The spans of a book -> its passages, and what the page tells of whether somebody says them.

A passage is what one quotation mark or one dash opens: all its spans in one paragraph, without the
narrator's words between them. Somebody says all of it, or nobody does. The facts of a passage are
those of its first span, and some more that mean the same in all languages. Each fact has two
numbers: one for all languages and one for its own. So what is learned in one language helps in the
others, and the language can still differ.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from miner.speech.dialogues import strip_marks
from miner.speech.spans import Span
from miner.speech.speech_features import WORD, Array, facts_of_span, narration_beside

N_PASSAGE_FACTS = 2**17
Passage = tuple[int, ...]  # the positions of its spans

_MARKS = frozenset("\"'“”‘’«»„‚›‹「『")
_DASHES = frozenset("—–―-")
_STEM = 4  # letters by which the forms of a word, and kindred words of two languages, are one
_WORDS = 5  # words right before and right after
_REACH = 90  # characters in which they are looked for
_TELLS_OF_THOUGHT = re.compile(r"(?:stem )?(?:before|after)(?: \d+)?: |rule: ")


def find_passages(spans: Sequence[Span]) -> list[Passage]:
    """Returns the passages of a book in reading order.

    A mark opens a passage of its own, and so does the first speech of a paragraph. Speech that
    goes on after the narrator's words belongs to the passage before.
    """
    passages: list[list[int]] = []
    paragraph = -1
    for position, span in enumerate(spans):
        if not span.in_marks:
            continue
        if span.paragraph != paragraph or _opener(span) in _MARKS:
            passages.append([])
        passages[-1].append(position)
        paragraph = span.paragraph
    return [tuple(passage) for passage in passages]


def is_in_marks(span: Span) -> bool:
    """Whether a quotation mark opens a span, and not a dash."""
    return _opener(span) in _MARKS


def weigh_marks(spans: Sequence[Span]) -> int:
    """Returns how much more often marks open speech in a book than dashes do: -8 to 8 or so.

    In a book that seldom uses marks beside its dashes, marks are for other things than speech.
    """
    openers = [_opener(span) for span in spans if span.in_marks]
    n_marks = sum(opener in _MARKS for opener in openers)
    n_dashes = sum(opener in _DASHES for opener in openers)
    return round(math.log2((n_marks + 1) / (n_dashes + 1)) / 2)


def read_passage_facts(
    spans: Sequence[Span], passage: Passage, language: str, weight_of_marks: int
) -> tuple[NDArray[np.int32], Array]:
    """Returns the numbers of the facts of a passage, and the weight of each."""
    facts = _facts(spans, passage[0], weight_of_marks)
    hashes = [crc32(fact.encode()) % N_PASSAGE_FACTS for fact in facts]
    numbers = np.array(hashes, dtype=np.int32)
    weights = np.fromiter(facts.values(), np.float32, len(facts))
    if not language:
        return numbers, weights
    # XOR with a number of the language gives each fact a second number of its own.
    of_language = numbers ^ np.int32(crc32(language.encode()) % N_PASSAGE_FACTS)
    return np.concatenate([numbers, of_language]), np.concatenate([weights, weights])


def _facts(spans: Sequence[Span], position: int, weight_of_marks: int) -> dict[str, float]:
    span = spans[position]
    before = narration_beside(spans, position - 1, span)
    after = narration_beside(spans, position + 1, span)
    text = strip_marks(span.text).strip()
    facts = facts_of_span(spans, position)
    for word in WORD.findall(before[-_REACH:].lower())[-_WORDS:]:
        facts[f"stem before: {word[:_STEM]}"] = 1.0
    for distance, word in enumerate(WORD.findall(after[:_REACH].lower())[:_WORDS]):
        facts[f"stem after: {word[:_STEM]}"] = 1.0
        facts[f"stem after {distance}: {word[:_STEM]}"] = 1.0
    if not is_in_marks(span):
        # What a dash opens is speech, unless the words beside it tell of a thought.
        facts = {fact: weight for fact, weight in facts.items() if _TELLS_OF_THOUGHT.match(fact)}
        facts[f"opener: {'dash' if _opener(span) in _DASHES else 'none'}"] = 1.0
        return facts
    n_words = min(4, len(WORD.findall(text)))
    facts["opener: mark"] = 1.0
    facts[f"opener: mark, alone {not before.strip()} {not after.strip()}"] = 1.0
    facts[f"opener: mark, words {n_words}, ends {text[-1:]}"] = 1.0
    facts[f"opener: mark, marks in the book {weight_of_marks}"] = 1.0
    return facts


def _opener(span: Span) -> str:
    return span.text.lstrip()[:1]
