"""Tagged spans -> dialogues of turns -> pairs of a turn and its response."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress, count, pairwise
from typing import NamedTuple

from miner.languages.registry import LANGUAGES
from miner.speech.interruptions import join_speech
from miner.speech.narration import Narration, divide_narration, join_narration
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, repair_tags, transition_error
from miner.speech.wording import (
    clean_speech,
    complete_speech,
    drop_glosses,
    strip_marks,
)

_TWO = 2  # participants, of whom each speaks to the other


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says at a time: the span of a B- tag and the I- spans that follow it.

    Attributes:
        spans: the utterance spans, in reading order.
        confidences: the confidence of each span's tag and, last, of the tag after the turn, which
            decides that the turn ends. Empty if the tagger gives no confidence.
        before: the narration before its first span that does not belong to the turn before; for a
            turn that opens a dialogue, only what leads it in.
        between: the narration before each span but the first; empty where it is not known.
        after: the narration behind its last span in its paragraph: the tag ("said Ann"), and more.
            `narration.divide_narration` says what belongs to whom.
        speaker: the id of the character who speaks; None if nobody is known.
        speaker_confidence: the mean confidence of its spans in the speaker, 0..1; None if nobody is
            known.
        addressees: the ids of the characters to whom its spans are said; where the spans name
            nobody and two people talk, the other one.
        is_whole: whether it is all that its speaker says; False for one of several spans of a turn
            that `split_into_spans` made turns.
        language: the code of its language, or "".
    """

    spans: tuple[Span, ...]
    confidences: tuple[float, ...] = ()
    between: tuple[str, ...] = ()
    speaker: str | None = None
    speaker_confidence: float | None = None
    addressees: tuple[str, ...] = ()
    is_whole: bool = True
    before: str = ""
    after: str = ""
    language: str = ""

    @property
    def quoted_text(self) -> str:
        """The text with its quotation marks: the spans as printed, with one space between two."""
        return " ".join(span.text.strip() for span in self.spans)

    @property
    def text(self) -> str:
        """The text as spoken, fit to train on, as the output files have it.

        It is the spans without the marks around them, without marks of emphasis and glosses, joined
        by `join_speech` and cleaned. If it is whole, it begins with a capital, and the comma before
        the tag at its end is a full stop.

        >>> from miner.speech.kinds import SpanKind
        >>> span = Span(1, 7, 0, 0, 7, "“I _will_ come,”", SpanKind.UTTERANCE)
        >>> Turn((span,)).text
        'I will come.'
        """
        text = clean_speech(join_speech(self._parts, self.between, self.language))
        return complete_speech(text) if self.is_whole else text

    @property
    def inside(self) -> list[tuple[int, str]]:
        """The narration between its spans, each with its place in `text`, which goes on there.

        >>> from miner.speech.kinds import SpanKind
        >>> said = SpanKind.UTTERANCE
        >>> spans = Span(1, 7, 0, 0, 4, "“So,”", said), Span(1, 7, 2, 15, 21, "“come.”", said)
        >>> Turn(spans, between=(" said Ann, ",)).inside
        [(4, 'said Ann,')]
        """
        if not any(map(str.strip, self.between)):
            return []
        text = self.text
        letters = list(compress(count(), map(str.isalnum, text)))
        found: list[tuple[int, str]] = []
        n_letters = 0  # of the spans before
        for part, narration in zip(self._parts[:-1], self.between, strict=True):
            n_letters += sum(map(str.isalnum, part))
            if not narration.strip():
                continue
            place = len(text)
            if n_letters < len(letters):
                end = letters[n_letters - 1] + 1 if n_letters else 0
                place = max(end, text.rfind(" ", end, letters[n_letters]) + 1)
            found.append((place, narration.strip()))
        return found

    @property
    def _parts(self) -> list[str]:
        return [strip_marks(drop_glosses(span.text)) for span in self.spans]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The turns of one dialogue, in order.

    `(book, index, part)` is unique.

    Attributes:
        book: the id of the book.
        index: the number of the dialogue in its book, from 0. Filters do not change it.
        turns: at least one turn.
        part: the number of the part, from 0, if `filter_dialogues` split the dialogue.
    """

    book: str
    index: int
    turns: tuple[Turn, ...]
    part: int = 0

    @property
    def participants(self) -> tuple[str, ...]:
        """The ids of the speakers, as they begin to speak."""
        speakers = (turn.speaker for turn in self.turns)
        return tuple(dict.fromkeys(speaker for speaker in speakers if speaker is not None))


@dataclass(frozen=True, slots=True)
class Pair:
    """A turn (context) and the next turn of the same dialogue (response).

    `span_pairs` makes pairs of single spans.
    """

    book: str
    dialogue: int
    context: Turn
    response: Turn

    @property
    def confidence(self) -> float | None:
        """The probability that all tags of the pair are right, if errors are independent.

        It is the product of the confidences of both turns' tags and of the tag after the response.
        None if the tagger gives no confidence.
        """
        if not self.response.confidences:
            return None
        return math.prod((*self.context.confidences[:-1], *self.response.confidences))


def repair_book(tagged: TaggedBook) -> TaggedBook:
    """Returns the book with its tags repaired by `tags.repair_tags`, so that it has dialogues."""
    tags = repair_tags(item.tag for item in tagged.spans)
    spans = (replace(item, tag=tag) for item, tag in zip(tagged.spans, tags, strict=True))
    return replace(tagged, spans=tuple(spans))


def decode_dialogues(tagged: TaggedBook) -> list[Dialogue]:
    """Returns the dialogues of a book, in reading order, without narration.

    B-START opens a dialogue and B-OTHER another turn of it. An I- span belongs to the turn before
    it. After "Mining Conversations from Novels", section Identifying Conversations.
    """
    found: list[list[Turn]] = []
    for items, before, between, after, following in _turns(tagged):
        sure = tuple(item.confidence for item in (*items, following) if item is not None)
        if following is None:
            sure += (1.0,)  # the book ends here, so the turn does
        known = tuple(value for value in sure if value is not None)
        opens = items[0].tag is Tag.B_START
        turn = Turn(
            tuple(item.span for item in items),
            known if len(known) == len(sure) else (),
            tuple(between),
            *_speaker_of(items),
            tuple(dict.fromkeys(one for item in items for one in item.addressees)),
            before=before.opening if opens else before.before,
            after=after.after,
            language=tagged.language,
        )
        if opens:
            found.append([])
        found[-1].append(turn)
    return [
        _address(Dialogue(tagged.book, index, tuple(turns))) for index, turns in enumerate(found)
    ]


def _speaker_of(items: Sequence[TaggedSpan]) -> tuple[str | None, float | None]:
    """Returns the speaker of most characters of a turn, and the confidence in the speaker."""
    lengths: Counter[str | None] = Counter()
    for item in items:
        lengths[item.speaker] += len(item.span.text)
    (speaker, _), *_ = lengths.most_common(1)
    sure = [
        item.speaker_confidence
        for item in items
        if item.speaker == speaker and item.speaker_confidence is not None
    ]
    return speaker, math.fsum(sure) / len(sure) if sure else None


def _address(dialogue: Dialogue) -> Dialogue:
    """Returns the dialogue of two people with the other one as the addressee of each turn."""
    participants = dialogue.participants
    if len(participants) != _TWO:
        return dialogue
    first, second = participants
    other: dict[str | None, str] = {first: second, second: first}
    turns = (
        turn
        if turn.addressees or turn.speaker is None
        else replace(turn, addressees=(other[turn.speaker],))
        for turn in dialogue.turns
    )
    return replace(dialogue, turns=tuple(turns))


class _Tagged(NamedTuple):
    """The utterances of a turn with what is told around them."""

    items: list[TaggedSpan]
    before: Narration  # since the utterance before
    between: list[str]
    after: Narration  # up to the next utterance
    following: TaggedSpan | None  # the next utterance; None at the end of the book


def _turns(tagged: TaggedBook) -> Iterator[_Tagged]:
    turn: list[TaggedSpan] = []
    between: list[str] = []
    before = divide_narration((), None, None)
    narration: list[Span] = []  # since the last utterance
    for item in tagged.spans:
        if item.tag is Tag.O:
            narration.append(item.span)
            continue
        last = turn[-1] if turn else None
        if problem := transition_error(item.tag, last and last.tag):
            raise ValueError(
                f"book {tagged.book}, paragraph {item.span.paragraph}, span {item.span.index}: "
                f"{problem}"
            )
        if item.tag not in (Tag.B_START, Tag.B_OTHER):
            turn.append(item)
            between.append(join_narration(narration))
        else:
            divided = divide_narration(narration, last and last.span, item.span)
            if turn:
                yield _Tagged(turn, before, between, divided, item)
            turn, between, before = [item], [], divided
        narration = []
    if turn:
        after = divide_narration(narration, turn[-1].span, None)
        yield _Tagged(turn, before, between, after, None)


def turn_pairs(dialogue: Dialogue) -> list[Pair]:
    """Returns a pair for each two turns that follow each other in the dialogue."""
    return [
        Pair(dialogue.book, dialogue.index, context, response)
        for context, response in pairwise(dialogue.turns)
    ]


def span_pairs(dialogue: Dialogue) -> list[Pair]:
    """Returns a pair for each two spans that follow each other, in one turn or in two.

    "Mining Conversations from Novels" builds its utterance pairs in this way (section Constructing
    Utterance Pairs): each span of a turn answers the span before it.
    """
    return turn_pairs(split_into_spans(dialogue))


def split_into_spans(dialogue: Dialogue) -> Dialogue:
    """Returns the dialogue with each span as a turn of its own."""
    turns: list[Turn] = []
    for turn in dialogue.turns:
        between = turn.between or ("",) * (len(turn.spans) - 1)
        turns += (
            Turn(
                (span,),
                turn.confidences[number : number + 2],
                (),
                turn.speaker,
                turn.speaker_confidence,
                turn.addressees,
                is_whole=len(turn.spans) == 1,
                before="" if number else turn.before,
                after=after.strip(),
            )
            for number, (span, after) in enumerate(
                zip(turn.spans, (*between, turn.after), strict=True)
            )
        )
    return replace(dialogue, turns=tuple(turns))


def count_words_of_speakers(spans: Iterable[TaggedSpan]) -> dict[str | None, dict[int, int]]:
    """Returns the words that each speaker says in each chapter.

    Speakers are ids of characters, those who say most first; None stands for the utterances whose
    speaker is not known. Chapters are in the order of the book, those in which the speaker says
    nothing left out. Marks of speech are no words.
    """
    counts: dict[str | None, Counter[int]] = {}
    for item in spans:
        if item.span.is_utterance:
            said = counts.setdefault(item.speaker, Counter())
            said[item.span.chapter] += len(strip_marks(item.span.text).split())
    ranked = sorted(counts.items(), key=lambda counted: -counted[1].total())
    return {speaker: dict(said) for speaker, said in ranked}


_MIN_LINES = 3  # of verse; two lines are a rhyme in a talk
_FEWEST_WORDS = 20  # of a letter that only its closing shows; "Your servant, sir" is talk
_CLOSE = 160  # characters at the end of a letter that hold its closing and its signature
# A date line: "Longbourn, near Hertford, 15th October.", "Hunsford, Oct. 1811".
_DATE = re.compile(r"^[^.!?]{0,80}\b(?:1[5-9]\d\d|\d{1,2}(?:st|nd|rd|th))\b[^!?]{0,20}$")
# After "Dear Sir" a letter has a colon, ",—" or a new paragraph; "My dear Jane, come" is talk.
_AFTER_SALUTATION = r"(?:[,.—–-]*$|(:|,[—–-]))"


def is_letter_or_verse(turn: Turn, blocks: Container[int], language: str) -> bool:
    """Whether a turn is a letter or verse, so that it is no answer to the turn before it.

    It is one if more than half of it stands in blocks that are a letter or verse on the page, if it
    has three lines of verse, or if it reads as a letter: without narration inside it, it has
    paragraphs after a date line, opens with a salutation and the stop that letters have after it,
    or ends with a closing ("Yours, etc.").
    """
    length = sum(len(span.text) for span in turn.spans)
    inside = sum(len(span.text) for span in turn.spans if span.paragraph in blocks)
    if 2 * inside > length:
        return True
    if sum(span.text.count("\n") for span in turn.spans) >= _MIN_LINES - 1:
        return True
    return _is_letter(turn, language)


def _is_letter(turn: Turn, language: str) -> bool:
    if any(map(str.strip, turn.between)):
        return False  # "My dear sir," said he, "..." is talk
    opening = strip_marks(turn.spans[0].text[:200]).lstrip("‘'\"“ ")
    has_paragraphs = turn.spans[-1].paragraph > turn.spans[0].paragraph
    if has_paragraphs and _DATE.search(strip_marks(turn.spans[0].text)):
        return True
    words = _words(language)
    if words is None:
        return False
    salutation, closing = words
    end = turn.spans[-1].text[-_CLOSE:]
    if (found := salutation.match(opening)) and "," not in found[1]:
        return bool(found[2]) or has_paragraphs
    return len(turn.quoted_text.split()) >= _FEWEST_WORDS and bool(closing.search(end))


@cache
def _words(language: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """The salutation and the closing of letters, or None where the language has no file."""
    if (found := LANGUAGES.get(language)) is None:
        return None
    openings = "|".join(filter(None, (found.speech.salutation, found.speech.title_alone)))
    return (
        re.compile(rf"\W*({openings or '(?!)'}){_AFTER_SALUTATION}", re.IGNORECASE),
        re.compile(found.page.letter_closing or "(?!)", re.IGNORECASE),
    )
