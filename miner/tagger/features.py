"""Spans of a book -> chapters as the tagger reads them: paragraphs, utterances, features.

A chapter is a sequence of utterances with narration between them. The length of the narration, and
the number of its paragraphs, say much about whether a conversation continues. So do the position
of an utterance in its paragraph, and the end of the utterance before it.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from miner.speech.spans import BookSpans, Span
from miner.speech.wording import is_unclosed, strip_marks
from miner.tagger.feature_attributions import Likeness, Mention, Mentions, Names, compare_mentions

# To find out whether a speaker continues, the speaker of a paragraph is compared with the speakers
# of the paragraphs before it, and with the subjects of the narration between them.
_COMPARED = (
    "its speaker, and the last",
    "its speaker, and the one before the last",
    "its speaker or subject, and the last",
    "its speaker or subject, and the one before the last",
    "its subject, and the last",
    "the first subject between, and the last",
    "the last subject between, and the last",
    "the last subject between, and its speaker or subject",
)
# One column each, in this order; lengths are log(1 + characters) / 5, to be near 0..1.
FEATURES = (
    "first of the chapter",
    "first of its paragraph",
    "runs on from the paragraph before",
    "length of the utterance",
    "length of the narration since the last utterance",
    "paragraphs of narration since the last utterance",
    "paragraphs since the last utterance",
    "length of the narration before it in its paragraph",
    "length of the narration after the last utterance in that one's paragraph",
    "length of the narration after it up to the next utterance or paragraph",
    "quoted narration since the last utterance",
    "begins in lower case",
    "asks",
    "the last one asks",
    "the last one ends in a comma",
    "the last one ends without a closing mark",
    "short narration before ends in a comma or colon",
    "its paragraph's narration names somebody",
    "it names one whom the last paragraph of speech named",
    "it names others than the last paragraph of speech named",
    "it names one whom the paragraph of speech before the last named",
    "it names one whom the last paragraph of speech addressed or spoke of",
    "its paragraph's speech names one whom the last paragraph's narration named",
    "the narration between names one whom the last paragraph of speech named",
    "it names one not named for a while",
    "its narration says who speaks",
    "its narration says who speaks by a pronoun",
    "its narration has a subject",
    "its speaker goes on",
    "its speaker answers",
    "narration says who spoke last",
    *(f"{compared}: {likeness}" for compared in _COMPARED for likeness in Likeness),
    "the narration between names the last speaker alone",
    "the narration between names others alone",
    "the pronouns between fit the last speaker alone",
    "the pronouns between fit others alone",
    "the narration between tells of the narrator",
)
N_PLAIN = 25  # the first features, which need no words of any language
_QUOTES, _ASKS, _BREAKS, _LEADS_IN = map(tuple, ("\"”’»'“«", "?", ",—–-", ",:"))
_DASHES = tuple("—–―-")
_WORD = re.compile(r"[^\W\d_]+")
_A_WHILE = 8  # paragraphs of speech
_RECENT = 6  # paragraphs in which the name for a pronoun is sought
Parts = tuple[str, str]  # the narration and the speech of a paragraph
_FIRST_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph as the encoder reads it; `utterances` are character ranges of `text`.

    Books mark speech in many ways, but here every utterance stands in “ ”. An utterance that the
    book leaves open, because its speaker continues in the next paragraph, has no ”.
    """

    text: str
    utterances: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """The utterances of a chapter, their text, and their features."""

    book: str  # the id of the book
    number: int  # the number of the chapter
    language: str  # the code of its language; "" in prepared examples
    paragraphs: tuple[Paragraph, ...]  # the text
    places: tuple[int, ...]  # the index of each utterance among the spans of the book
    features: NDArray[np.float32]  # (utterances, len(FEATURES)), float32


def split_chapters(book_spans: BookSpans) -> Iterator[Chapter]:
    """Yields the chapters that hold an utterance, in order."""
    numbered = enumerate(book_spans.spans)
    for _, group in groupby(numbered, key=lambda item: item[1].chapter):
        spans = list(group)
        places = tuple(n for n, span in spans if span.is_utterance)
        if places:
            of_chapter = [span for _, span in spans]
            language = book_spans.book.language
            yield chapter_of(book_spans.book.id, of_chapter, places, language)


def chapter_of(book: str, spans: Sequence[Span], places: tuple[int, ...], language: str) -> Chapter:
    """Returns a chapter that holds an utterance."""
    paragraphs = tuple(_paragraphs(spans))
    parts = [_parted(paragraph) for paragraph in paragraphs]
    named, spoken = _named(paragraphs, parts), _spoken(paragraphs, parts, language)
    features = np.hstack([_features(spans), named, spoken])
    return Chapter(book, spans[0].chapter, language, paragraphs, places, features)


def _paragraphs(spans: Sequence[Span]) -> Iterator[Paragraph]:
    for _, group in groupby(spans, key=lambda span: span.paragraph):
        text = ""
        utterances: list[tuple[int, int]] = []
        for span in group:
            piece = _marked(span.text) if span.is_utterance else span.text
            if span.is_utterance:
                utterances.append((len(text), len(text) + len(piece)))
            text += piece
        yield Paragraph(text, tuple(utterances))


def _marked(text: str) -> str:
    """Returns an utterance in “ ”, without the ” if the book leaves it open."""
    return f"“{strip_marks(text)}" + ("" if is_unclosed(text) else "”")


def _features(spans: Sequence[Span]) -> NDArray[np.float32]:
    rows: list[list[float]] = []
    last: Span | None = None
    has_mark = True  # whether the speech of the last one's paragraph has closing marks
    between: list[Span] = []
    for n, span in enumerate(spans):
        if not span.is_utterance:
            between.append(span)
            continue
        left_open = bool(last and has_mark and not last.text.rstrip().endswith(_QUOTES))
        rows.append(_row(span, last, left_open, between, spans, n))
        if not last or span.paragraph != last.paragraph:
            has_mark = not span.text.lstrip().startswith(_DASHES)
        last, between = span, []
    return np.array(rows, dtype=np.float32)


def _row(
    span: Span,
    last: Span | None,
    left_open: bool,
    between: list[Span],
    spans: Sequence[Span],
    n: int,
) -> list[float]:
    here = [item for item in between if item.paragraph == span.paragraph]
    there = [item for item in between if last and item.paragraph == last.paragraph]
    own = {span.paragraph, last.paragraph if last else -1}
    apart = {item.paragraph for item in between if item.text.strip()} - own
    after = spans[n + 1] if n + 1 < len(spans) else None
    tag = after.text if after and not after.is_utterance else ""
    tag = tag if after and after.paragraph == span.paragraph else ""
    first_letter = _FIRST_LETTER.search(span.text)
    lead_in = "".join(item.text for item in here)
    return [
        last is None,
        last is None or span.paragraph != last.paragraph,
        span.continues,
        _size(span.text),
        _size("".join(item.text.strip() for item in between)),
        math.log1p(len(apart)),
        math.log1p(span.paragraph - last.paragraph) if last else 0.0,
        _size(lead_in.strip()),
        _size("".join(item.text for item in there).strip()) if last and here != there else 0.0,
        _size(tag.strip()),
        any(item.quoted for item in between),
        first_letter is not None and first_letter[0].islower(),
        _ends_in(span.text, _ASKS),
        bool(last and _ends_in(last.text, _ASKS)),
        bool(last and _ends_in(last.text, _BREAKS)),
        left_open,
        lead_in.rstrip().endswith(_LEADS_IN),
    ]


def _ends_in(speech: str, marks: tuple[str, ...]) -> bool:
    """Whether an utterance ends in one of the marks; its closing quotation mark does not count."""
    text = speech.rstrip()
    return text.endswith(marks) or (text.endswith(_QUOTES) and text[:-1].rstrip().endswith(marks))


def _named(paragraphs: tuple[Paragraph, ...], parts: list[Parts]) -> NDArray[np.float32]:
    """Returns the features of names, one row per utterance, the same in a paragraph.

    The person named beside an utterance is most often its speaker. A name is a capitalized word
    that occurs nowhere in the chapter in lower case, so that no list of names is needed.
    """
    common = {
        word
        for paragraph in paragraphs
        for word in _WORD.findall(paragraph.text)
        if word[0].islower()
    }

    def names(text: str) -> set[str]:
        words = set(_WORD.findall(text))
        return {w for w in words if len(w) > 2 and w[0].isupper() and w.lower() not in common}

    rows: list[list[float]] = []
    told_before: list[set[str]] = [set(), set()]  # of paragraphs of speech
    said_before: set[str] = set()
    recent: deque[set[str]] = deque(maxlen=_A_WHILE)
    between: set[str] = set()
    for paragraph, (narration, speech) in zip(paragraphs, parts, strict=True):
        told, said = names(narration), names(speech)
        if not paragraph.utterances:
            between |= told
            continue
        last, last_but_one = told_before[-1], told_before[-2]
        row = [
            bool(told),
            bool(told & last),
            bool(told and last and not told & last),
            bool(told & last_but_one),
            bool(told & said_before),
            bool(said & last),
            bool(between & last),
            bool((told | between).difference(*recent)),
        ]
        rows += [list(map(float, row))] * len(paragraph.utterances)
        told_before.append(told)
        recent.append(told | said | between)
        said_before, between = said, set()
    return np.array(rows, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Voice:
    """The speaker of a paragraph: `told` by an attribution, `likely` also by who acts there.

    Speakers alternate where speech follows speech without narration. A paragraph without an
    attribution then has the speaker of the paragraph of speech before the last.
    """

    told: Mention | None = None
    likely: Mention | None = None


def _spoken(
    paragraphs: tuple[Paragraph, ...], parts: list[Parts], language: str
) -> NDArray[np.float32]:
    """Returns the features of attributions, one row per utterance, the same in a paragraph."""
    mentions = Mentions(
        (paragraph.text for paragraph in paragraphs),
        (narration for narration, _ in parts),
        language,
    )
    rows: list[list[float]] = []
    last, before_last = _Voice(), _Voice()
    between: list[str] = []
    subjects: list[Mention | None] = []  # of the paragraphs between
    recent: deque[Names] = deque(maxlen=_RECENT)  # the latest first
    for paragraph, (narration, _) in zip(paragraphs, parts, strict=True):
        text, utterances = paragraph.text, paragraph.utterances
        if not utterances:
            subjects.append(mentions.resolved(mentions.subject(text), recent))
            between.append(text)
            recent.appendleft(mentions.named(text))
            continue
        lead_in = text[: utterances[0][0]]
        near = [mentions.named(lead_in), *recent]
        said = mentions.speaker(text, utterances, between[-1] if between else "")
        told = mentions.resolved(said, near)
        subject = mentions.resolved(mentions.subject(lead_in) or _after(paragraph, mentions), near)
        likely = told or subject
        first, final = (subjects[0], subjects[-1]) if subjects else (None, None)
        pairs = (
            (told, last.told),
            (told, before_last.told),
            (likely, last.likely),
            (likely, before_last.likely),
            (subject, last.likely),
            (first, last.likely),
            (final, last.likely),
            (final, likely),
        )
        found = [compare_mentions(*pair) for pair in pairs]
        row = [
            said is not None,
            said is not None and not (said.names or said.noun),
            subject is not None,
            said is not None and said.goes_on,
            said is not None and said.answers,
            last.told is not None,
            *(like is kind for like in found for kind in Likeness),
            *_told_of(last.told, [*between, lead_in], mentions),
        ]
        rows += [list(map(float, row))] * len(utterances)
        answers_at_once = not between and not lead_in.strip()
        alternating = before_last if answers_at_once else _Voice()
        voice = _Voice(told or alternating.told, likely or alternating.likely)
        last, before_last = voice, last
        names = mentions.named(narration)
        if told:
            names |= {name: told.gender or names.get(name, "") for name in told.names}
        recent.appendleft(names)
        between, subjects = [], []
    return np.array(rows, dtype=np.float32)


def _after(paragraph: Paragraph, mentions: Mentions) -> Mention | None:
    """Returns the subject of a sentence right after the first utterance."""
    (_, end), *others = paragraph.utterances
    after = paragraph.text[end : others[0][0] if others else len(paragraph.text)].strip()
    return mentions.subject(after) if after[:1].isupper() else None


def _told_of(speaker: Mention | None, between: list[str], mentions: Mentions) -> list[bool]:
    """Returns whether the narration since the last speech is about its speaker or about others."""
    names = {name for text in between for name in mentions.named(text)}
    known = speaker.names if speaker else frozenset()
    genders = {gender for text in between for gender in mentions.find_genders(text)}
    own = speaker.gender if speaker and speaker.gender in ("m", "f") else ""
    third = genders & {"m", "f"}
    return [
        bool(names and known) and names <= known,
        bool(names and known) and not names & known,
        bool(own) and third == {own},
        bool(own and third) and own not in third,
        "i" in genders,
    ]


def _parted(paragraph: Paragraph) -> Parts:
    """Returns the narration and the speech of a paragraph."""
    narration, speech, at = "", "", 0
    for start, end in paragraph.utterances:
        narration += paragraph.text[at:start] + " "
        speech += paragraph.text[start:end] + " "
        at = end
    return narration + paragraph.text[at:], speech


def _size(text: str) -> float:
    return math.log1p(len(text)) / 5
