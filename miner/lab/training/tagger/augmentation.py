"""Spans of a chapter -> the same with some paragraphs split at random.

Training splits some paragraphs at random. Authors put the actions of a speaker into the paragraph
of the speech or into one of their own. A new paragraph nearly always has a new speaker, so a model
sees few examples of a speaker who continues in a new one. Splitting paragraphs at narration makes
more of them, and the model has to look at who acts in the narration.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from miner.speech.spans import Span
from miner.speech.speech import tells_who_spoke

# The share of splits between two utterances after which the narration stays with the first one.
_STAYS = 0.3
_SHORTEST = 8  # characters; narration has to be longer to stand alone
_OPENS = re.compile(r"""[\s“"‘'(]*(\w)""")
_CLOSES = re.compile(r"""[.!?…:;—][)\]”’»"']*\s*$""")
_STOPS = re.compile(r"""[.!?…][)\]”’»"']*\s*$""")
_NEXT_SENTENCE = re.compile(r"""(?<=[.!?…])[)\]”’»"']*\s+(?=\w)""")
_SHORT = re.compile(r"\b(?:Mr|Mrs|Ms|Messrs|Dr|St|Capt|Col|Gen|Rev|Mme|Mlle|Esq|Jr|Sr|No|[A-Z])\.$")


def split_paragraphs(spans: Sequence[Span], share: float, rng: random.Random) -> Iterator[Span]:
    """Yields the spans with some paragraphs split in two or three.

    A paragraph can be split around a whole sentence of narration between two utterances, and after
    sentences of narration before its first utterance. A sentence that names the speaker ("Holmes
    muttered.") stays beside the utterance before it.

    Args:
        spans: the spans of a chapter.
        share: the share of the possible places at which paragraphs are split, 0..1.
        rng: chooses the places.
    """
    n_added = 0  # paragraphs
    for number, group in groupby(spans, key=lambda span: span.paragraph):
        paragraph = list(group)
        for n, span in enumerate(paragraph):
            at = _split_point(paragraph, n)
            if at is None or rng.random() >= share:
                yield replace(span, paragraph=number + n_added)
                continue
            if at:
                yield replace(span, paragraph=number + n_added, text=span.text[:at])
            stays = n > 0 and rng.random() < _STAYS
            n_added += n > 0 and not stays
            text = span.text[at:].rstrip()
            yield replace(span, paragraph=number + n_added, text=text if stays else text.lstrip())
            n_added += 1


def _split_point(paragraph: Sequence[Span], n: int) -> int | None:
    """Returns where text that can stand in its own paragraph begins in a span, or None."""
    span = paragraph[n]
    if span.is_utterance or span.quoted or n + 1 == len(paragraph):
        return None
    if not paragraph[n + 1].is_utterance or not _CLOSES.search(span.text):
        return None
    if not n:
        return 0 if _begins_sentence(span.text) and _STOPS.search(span.text) else None
    if not paragraph[n - 1].is_utterance:
        return None
    if _begins_sentence(span.text) and not tells_who_spoke(span.text):
        return 0 if _STOPS.search(paragraph[n - 1].text) and _can_stand_alone(span.text) else None
    for found in _NEXT_SENTENCE.finditer(span.text):
        rest = span.text[found.end() :]
        if (
            _begins_sentence(rest)
            and _can_stand_alone(rest)
            and not _SHORT.search(span.text[: found.start()])
        ):
            return found.end()
    return None


def _begins_sentence(text: str) -> bool:
    """Whether a text begins with a sentence."""
    found = _OPENS.match(text)
    return found is not None and found[1].isupper()


def _can_stand_alone(text: str) -> bool:
    return len(text.strip()) > _SHORTEST
