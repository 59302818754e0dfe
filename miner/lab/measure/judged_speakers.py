"""Utterances whose speaker was judged, and the wrong ones as a reader sees them.

The kinds are those of the Project Dialogism Novel Corpus (PDNC): a verb of saying beside the
quotation has a name (explicit: "said Mara"), a pronoun or a noun (anaphoric: "said she", "said the
waiter"), or there is none (implicit).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from miner.people.cast import Character
from miner.people.clues import Clues, Cue, find_clues
from miner.people.mentions import MentionKind, read_people
from miner.people.spoken_book import SpokenBook
from miner.speech.spans import BookSpans, Span

# Finds the speakers of a book. The characters are found, too, if None are given.
Speak = Callable[[BookSpans, Sequence[Character] | None], SpokenBook]

KINDS = ("explicit", "anaphoric", "implicit")
CONTEXT = 400  # characters before and after an utterance that a reader sees

_SAID = (Cue.SAYS_AFTER, Cue.SAYS_BEFORE, Cue.SAYS_BESIDE)


@dataclass(frozen=True, slots=True)
class JudgedSpeaker:
    """An annotated utterance and the speaker that was found.

    Attributes:
        book: the id of the book.
        chapter: the number of the chapter.
        kind: one of `KINDS`, or "" if the annotators gave none.
        is_right: whether the speaker is right.
        keeps_turn: whether it is right that the speaker is the last one or another one; None for
            the first utterance of a conversation and next to a speaker whom nobody knows.
        gold: the speaker as annotated.
        meant: the name of the character who is taken for that speaker; "" if none is.
        answer: the name of the character who was found; "" for nobody.
        is_found: whether the miner found the utterance.
        place: where it stands: the position of its span, or the place in the text.
    """

    book: str
    chapter: int
    kind: str
    is_right: bool
    keeps_turn: bool | None
    gold: str
    meant: str
    answer: str
    is_found: bool
    place: int


@dataclass(frozen=True, slots=True)
class ShownError:
    """A wrong utterance with what a reader needs to name the cause.

    Attributes:
        judged: the utterance.
        text: its text.
        before: the text before it.
        after: the text after it.
        candidates: the people who are near it on the page.
    """

    judged: JudgedSpeaker
    text: str
    before: str
    after: str
    candidates: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The error as plain values."""
        judged = self.judged
        return {
            "book": judged.book,
            "chapter": judged.chapter,
            "kind": judged.kind,
            "before": self.before,
            "utterance": self.text,
            "after": self.after,
            "gold": judged.gold,
            "gold_character": judged.meant,
            "answer": judged.answer,
            "found": judged.is_found,
            "candidates": list(self.candidates),
        }


def kind_of(clue: Clues) -> str:
    """Returns the kind of a quotation, one of `KINDS`."""
    said = next((mention for cue in _SAID if (mention := clue.cue(cue))), None)
    if said is None:
        return "implicit"
    return "explicit" if said.kind is MentionKind.NAME else "anaphoric"


def people_at_hand(
    book_spans: BookSpans, characters: Sequence[Character] | None = None
) -> dict[int, tuple[str, ...]]:
    """Returns the names of the people who are near each utterance on the page, in order.

    The keys are positions in the spans of the book.
    """
    book = read_people(book_spans, characters)
    found: dict[int, tuple[str, ...]] = {}
    for chapter in book.chapters():
        read = find_clues(chapter)
        people = [
            book.cast.characters[person.character].name
            if person.character is not None
            else person.noun or str(person.kind or "")
            for person in read.chapter.people
        ]
        for clue in read.clues:
            found[clue.span] = tuple(sorted({people[number] for number in clue.at_hand} - {""}))
    return found


def context_of(spans: Sequence[Span], position: int) -> tuple[str, str]:
    """Returns the text before and after a span in its chapter; a blank line parts paragraphs."""
    chapter = spans[position].chapter
    before, after = "", ""
    paragraph = spans[position].paragraph
    for span in reversed(spans[:position]):
        if span.chapter != chapter or len(before) > CONTEXT:
            break
        before = span.text + ("" if span.paragraph == paragraph else "\n\n") + before
        paragraph = span.paragraph
    paragraph = spans[position].paragraph
    for span in spans[position + 1 :]:
        if span.chapter != chapter or len(after) > CONTEXT:
            break
        after += ("" if span.paragraph == paragraph else "\n\n") + span.text
        paragraph = span.paragraph
    return before[-CONTEXT:], after[:CONTEXT]


def draw_errors(errors: Sequence[ShownError], n: int, seed: int = 0) -> list[ShownError]:
    """Returns some of the errors, drawn at random, in their order; all if there are no more."""
    n_drawn = min(n, len(errors))
    drawn = np.random.default_rng(seed).choice(len(errors), n_drawn, replace=False)
    return [errors[number] for number in sorted(drawn.tolist())]
