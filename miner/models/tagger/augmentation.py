"""Chapters with their right tags -> the same chapters in other paragraphs, to train on.

What a speaker does between two sentences an author writes into the paragraph of the speech, or
gives a paragraph of its own; who speaks is the same. Where a new paragraph is nearly always a new
speaker's, those that are not are learned from few examples: cut so, every chapter has more, on both
sides of the question, and whether the speech goes on can only be told by who acts between.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from miner.dialogue.spans import Span
from miner.dialogue.speech import tells_who_spoke
from miner.models.tagger.examples import Example
from miner.models.tagger.features import chapter_of

# In so many of the cuts inside speech, the narration stays in the paragraph of what was said.
_STAYS = 0.3
_SHORTEST = 8  # characters of narration that can stand alone
_OPENS = re.compile(r"""[\s“"‘'(]*(\w)""")
_CLOSES = re.compile(r"""[.!?…:;—][)\]”’»"']*\s*$""")
_STOPS = re.compile(r"""[.!?…][)\]”’»"']*\s*$""")
_NEXT_SENTENCE = re.compile(r"""(?<=[.!?…])[)\]”’»"']*\s+(?=\w)""")
_SHORT = re.compile(r"\b(?:Mr|Mrs|Ms|Messrs|Dr|St|Capt|Col|Gen|Rev|Mme|Mlle|Esq|Jr|Sr|No|[A-Z])\.$")


def augment(example: Example, share: float, rng: random.Random) -> Example:
    """The chapter with some of its paragraphs cut in two or three; its utterances stay as they are.

    A paragraph can be cut around a whole sentence of narration between two of its utterances, and
    after sentences of narration before its first. Who spoke ("Holmes muttered.") stays beside what
    was said before it.

    Args:
        example: a chapter with its tags, which stay the same, too.
        share: of the places where a paragraph can be cut, 0 to 1.
        rng: chooses them.
    """
    spans = tuple(_recut(example.spans, share, rng))
    if spans == example.spans:
        return example
    chapter = chapter_of(example.chapter.book, spans, example.chapter.places)
    return replace(example, chapter=chapter, spans=spans)


def _recut(spans: Sequence[Span], share: float, rng: random.Random) -> Iterator[Span]:
    more = 0  # paragraphs than there were
    for number, group in groupby(spans, key=lambda span: span.paragraph):
        paragraph = list(group)
        for n, span in enumerate(paragraph):
            at = _cut(paragraph, n)
            if at is None or rng.random() >= share:
                yield replace(span, paragraph=number + more)
                continue
            if at:
                yield replace(span, paragraph=number + more, text=span.text[:at])
            stays = n > 0 and rng.random() < _STAYS
            more += n > 0 and not stays
            text = span.text[at:].rstrip()
            yield replace(span, paragraph=number + more, text=text if stays else text.lstrip())
            more += 1


def _cut(paragraph: Sequence[Span], n: int) -> int | None:
    """Where, in a span of narration, what can stand in a paragraph of its own begins."""
    span = paragraph[n]
    if span.is_utterance or span.quoted or n + 1 == len(paragraph):
        return None
    if not paragraph[n + 1].is_utterance or not _CLOSES.search(span.text):
        return None
    if not n:
        return 0 if _opens(span.text) and _STOPS.search(span.text) else None
    if not paragraph[n - 1].is_utterance:
        return None
    if _opens(span.text) and not tells_who_spoke(span.text):
        return 0 if _STOPS.search(paragraph[n - 1].text) and _stands(span.text) else None
    for found in _NEXT_SENTENCE.finditer(span.text):
        rest = span.text[found.end() :]
        if _opens(rest) and _stands(rest) and not _SHORT.search(span.text[: found.start()]):
            return found.end()
    return None


def _opens(text: str) -> bool:
    """Whether a sentence begins here."""
    found = _OPENS.match(text)
    return found is not None and found[1].isupper()


def _stands(text: str) -> bool:
    return len(text.strip()) > _SHORTEST
