"""A tagger's tags -> guesses at the speaker and conversation of each quoted span of a chapter.

Tags say where conversations and turns begin, but not who speaks. The speaker and conversation of a
guess therefore depend on the decisions around it, and are computed again after each decision.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, product
from string import ascii_uppercase

from miner.annotation.annotations import UNKNOWN, Annotation
from miner.annotation.derivation import renumber_conversations
from miner.dialogue.spans import Span
from miner.dialogue.tags import Tag, TaggedSpan


@dataclass(frozen=True, slots=True)
class Guess:
    """A tagger's prediction for a quoted span.

    Attributes:
        tag: the predicted tag.
        dialogue: number of the predicted dialogue in the chapter, from 0; -1 if `tag` is O.
        turn: number of the turn in that dialogue, from 0; -1 if `tag` is O.
        confidence: of the tag, 0 to 1, or None if the tagger gives none.
    """

    tag: Tag
    dialogue: int
    turn: int
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A quoted span of a chapter and what is known about it.

    Attributes:
        span: the span, or None for a lost row, which was found on no span and is kept as it is.
        row: its place and fingerprint, and its speaker and conversation if it is decided.
        is_decided: whether the annotator has answered.
        starts_conversation: whether the annotator began a conversation here. The file does not say
            so when the spans before are undecided.
        guess: the tagger's prediction, if there is one.
        guessed: the facts that follow from `guess` if the span is not decided.
    """

    span: Span | None
    row: Annotation
    is_decided: bool = False
    starts_conversation: bool = False
    guess: Guess | None = None
    guessed: Annotation | None = None

    @property
    def fact(self) -> Annotation | None:
        """The decided or guessed facts; None if there are neither."""
        return self.row if self.is_decided else self.guessed


def find_guesses(tagged: Iterable[TaggedSpan], chapter: int) -> dict[tuple[int, int, int], Guess]:
    """Reads the guesses for a chapter from tagged spans.

    Args:
        tagged: spans of the book or of the chapter, narration included.
        chapter: number of the chapter.

    Returns:
        The guesses by paragraph, start and end.
    """
    found: dict[tuple[int, int, int], Guess] = {}
    dialogue, turn = -1, 0
    for item in tagged:
        span = item.span
        if span.chapter != chapter:
            continue
        place = span.paragraph, span.start, span.end
        if item.tag is Tag.O:
            found[place] = Guess(Tag.O, -1, -1, item.confidence)
            continue
        # The first utterance of a chapter begins a conversation, even if its tag is not B-START.
        if item.tag is Tag.B_START or dialogue < 0:
            dialogue, turn = dialogue + 1, 0
        elif item.tag is Tag.B_OTHER:
            turn += 1
        found[place] = Guess(item.tag, dialogue, turn, item.confidence)
    return found


def pick_unused_letter(taken: Collection[str]) -> str:
    """Returns the first unused letter: A, B, ... Z, AA, AB and so on.

    >>> pick_unused_letter({"A", "Ines"})
    'B'
    """
    names = ("".join(letters) for n in count(1) for letters in product(ascii_uppercase, repeat=n))
    return next(name for name in names if name not in taken)


def find_other_speaker(spoken: Sequence[str]) -> str:
    """Returns the last speaker who differs from the most recent one; "" if there is none.

    Unknown speakers are skipped.

    >>> find_other_speaker(["Ines", "Ivo", "Ines", "Ines"])
    'Ivo'
    """
    return next(
        (name for name in reversed(spoken) if name not in (UNKNOWN, *spoken[-1:])),
        "",
    )


def resolve_guesses(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Computes the facts of all guesses and numbers the conversations in the order they begin.

    A guessed span joins the conversation of the decided spans that are in the same predicted
    dialogue: first of those before it, else of those after it if that conversation has not begun
    by then. Otherwise it gets a new conversation. Within a predicted turn the speaker stays the
    same; at the next turn the other speaker of the conversation answers, or an unused letter if no
    other speaker is known.
    """
    entries = tuple(entries)
    resolver = _Resolver(entries)
    facts = [resolver.next_fact(n, entry) for n, entry in enumerate(entries)]
    numbered = iter(renumber_conversations(fact for fact in facts if fact is not None))
    done = []
    for entry, fact in zip(entries, facts, strict=True):
        fact = None if fact is None else next(numbered)
        if entry.is_decided and fact is not None:
            done.append(replace(entry, row=fact, guessed=None))
        else:
            done.append(replace(entry, guessed=fact))
    return tuple(done)


@dataclass(slots=True)
class _SpokenSoFar:
    """The speakers of a conversation so far, with the predicted dialogue and turn of the last."""

    spoken: list[str] = field(default_factory=list)
    last: tuple[int, int] | None = None


class _Resolver:
    """Walks through a chapter in reading order and derives the facts of each entry.

    It remembers the conversations so far, and knows the decisions that come later.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.talks: dict[int, _SpokenSoFar] = {}
        self.number_of: dict[int, int] = {}  # predicted dialogue -> conversation
        rows = [entry.row for entry in entries if entry.is_decided]
        self.taken = {row.speaker for row in rows}
        self.begun = {entry.row.conversation for entry in entries if entry.starts_conversation}
        self.newest = max((row.conversation for row in rows), default=0)
        self.decided: dict[int, list[tuple[int, int, Annotation]]] = {}
        for n, entry in enumerate(entries):
            if entry.is_decided and entry.guess and entry.row.is_utterance:
                of_dialogue = self.decided.setdefault(entry.guess.dialogue, [])
                of_dialogue.append((n, entry.guess.turn, entry.row))

    def next_fact(self, n: int, entry: Entry) -> Annotation | None:
        """The facts of the next entry, which is the n-th."""
        guess = entry.guess
        if entry.is_decided:
            fact = entry.row
        elif guess is None:
            return None
        elif guess.tag is Tag.O:
            return replace(entry.row, speaker="", conversation=0)
        else:
            fact = self._guess_fact(n, entry.row, guess)
        if fact.is_utterance:
            talk = self.talks.setdefault(fact.conversation, _SpokenSoFar())
            if entry.span is not None:  # the place of a lost row is unknown
                talk.spoken.append(fact.speaker)
                talk.last = None
                if guess is not None and guess.dialogue >= 0:
                    talk.last = guess.dialogue, guess.turn
                    self.number_of[guess.dialogue] = fact.conversation
        return fact

    def _guess_fact(self, n: int, row: Annotation, guess: Guess) -> Annotation:
        later = [item for item in self.decided.get(guess.dialogue, ()) if item[0] > n]
        number = self.number_of.get(guess.dialogue)
        if number is None:
            next_number = later[0][2].conversation if later else 0
            if next_number and next_number not in self.talks and next_number not in self.begun:
                number = next_number
            else:
                number = self.newest = self.newest + 1
        speaker = self._guess_speaker(self.talks.get(number, _SpokenSoFar()), number, guess, later)
        self.taken.add(speaker)
        return replace(row, speaker=speaker, conversation=number)

    def _guess_speaker(
        self,
        talk: _SpokenSoFar,
        number: int,
        guess: Guess,
        later: Iterable[tuple[int, int, Annotation]],
    ) -> str:
        if talk.last == (guess.dialogue, guess.turn):
            return talk.spoken[-1]
        if other := find_other_speaker(talk.spoken):
            return other
        taken = (UNKNOWN, *talk.spoken[-1:])
        for _, turn, fact in later:
            is_turn = fact.conversation == number and (turn - guess.turn) % 2 == 0
            if is_turn and fact.speaker not in taken:
                return fact.speaker
        return pick_unused_letter(self.taken)
