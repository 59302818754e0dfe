"""A tagger's tags -> guesses at what an annotator will say of the quoted spans of a chapter.

Tags say where a conversation begins and who goes on, not who speaks. What a guess comes to, a
speaker and a conversation, depends on what is decided around it, and is worked out anew each time.
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
    """What a tagger says of a quoted span: `tag`, and how sure it is of it, 0..1 or None.

    `dialogue` counts the conversations of the chapter from 0, as the tagger has them, and `turn`
    the turns of the conversation. Both are -1 where `tag` is O.
    """

    tag: Tag
    dialogue: int
    turn: int
    sure: float | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A quoted span of a chapter and what is known of it.

    `row` has its place and letters, and its facts where it is decided; `guessed` are the facts that
    follow from `guess`, where it is not. `span` is None for a row that was found on no span: it is
    decided, and kept as it is. `begins` says that the annotator had its conversation begin there;
    the file does not tell, where what is before is undecided.
    """

    span: Span | None
    row: Annotation
    is_decided: bool = False
    begins: bool = False
    guess: Guess | None = None
    guessed: Annotation | None = None

    @property
    def fact(self) -> Annotation | None:
        """The facts, decided or guessed; None where neither."""
        return self.row if self.is_decided else self.guessed


def guesses(tagged: Iterable[TaggedSpan], chapter: int) -> dict[tuple[int, int, int], Guess]:
    """The guesses at the spans of a chapter, by paragraph, start and end.

    Args:
        tagged: the spans of a book or of the chapter, tagged; narration included.
        chapter: its number.
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
        # A chapter begins a conversation, whatever the tag says.
        if item.tag is Tag.B_START or dialogue < 0:
            dialogue, turn = dialogue + 1, 0
        elif item.tag is Tag.B_OTHER:
            turn += 1
        found[place] = Guess(item.tag, dialogue, turn, item.confidence)
    return found


def fresh_speaker(taken: Collection[str]) -> str:
    """The first letter that no speaker has: A, B, ... Z, AA, AB and so on.

    >>> fresh_speaker({"A", "Ines"})
    'B'
    """
    names = ("".join(letters) for n in count(1) for letters in product(ascii_uppercase, repeat=n))
    return next(name for name in names if name not in taken)


def other_speaker(spoken: Sequence[str]) -> str:
    """The last one who spoke and is not the one who spoke last; "" if there is none.

    An unknown speaker is nobody in particular.

    >>> other_speaker(["Ines", "Ivo", "Ines", "Ines"])
    'Ivo'
    """
    return next(
        (name for name in reversed(spoken) if name not in (UNKNOWN, *spoken[-1:])),
        "",
    )


def settled(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries with their guesses worked out, conversations numbered as they begin.

    A guessed span is of the conversation of the decided ones that the tagger puts with it, those
    before it first, unless that begins later; else of one of its own. Its speaker goes on or
    alternates with the other one of the conversation, and has a letter that nobody has where no
    other is known.
    """
    entries = tuple(entries)
    walk = _Walk(entries)
    facts = [walk.fact(n, entry) for n, entry in enumerate(entries)]
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
class _Talk:
    """A conversation so far: who spoke, in order, and the turn of the last one, as guessed."""

    spoken: list[str] = field(default_factory=list)
    last: tuple[int, int] | None = None


class _Walk:
    """The entries of a chapter in reading order, each with what was before and is decided later."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.talks: dict[int, _Talk] = {}
        self.number_of: dict[int, int] = {}  # of the tagger's conversations
        rows = [entry.row for entry in entries if entry.is_decided]
        self.taken = {row.speaker for row in rows}
        self.begun = {entry.row.conversation for entry in entries if entry.begins}
        self.newest = max((row.conversation for row in rows), default=0)
        self.decided: dict[int, list[tuple[int, int, Annotation]]] = {}
        for n, entry in enumerate(entries):
            if entry.is_decided and entry.guess and entry.row.is_utterance:
                of_dialogue = self.decided.setdefault(entry.guess.dialogue, [])
                of_dialogue.append((n, entry.guess.turn, entry.row))

    def fact(self, n: int, entry: Entry) -> Annotation | None:
        """The facts of the next entry."""
        guess = entry.guess
        if entry.is_decided:
            fact = entry.row
        elif guess is None:
            return None
        elif guess.tag is Tag.O:
            return replace(entry.row, speaker="", conversation=0)
        else:
            fact = self._guessed(n, entry.row, guess)
        if fact.is_utterance:
            talk = self.talks.setdefault(fact.conversation, _Talk())
            if entry.span is not None:  # where a lost row stands is not known
                talk.spoken.append(fact.speaker)
                talk.last = None
                if guess is not None and guess.dialogue >= 0:
                    talk.last = guess.dialogue, guess.turn
                    self.number_of[guess.dialogue] = fact.conversation
        return fact

    def _guessed(self, n: int, row: Annotation, guess: Guess) -> Annotation:
        later = [item for item in self.decided.get(guess.dialogue, ()) if item[0] > n]
        number = self.number_of.get(guess.dialogue)
        if number is None:
            next_number = later[0][2].conversation if later else 0
            if next_number and next_number not in self.talks and next_number not in self.begun:
                number = next_number
            else:
                number = self.newest = self.newest + 1
        speaker = self._speaker(self.talks.get(number, _Talk()), number, guess, later)
        self.taken.add(speaker)
        return replace(row, speaker=speaker, conversation=number)

    def _speaker(
        self,
        talk: _Talk,
        number: int,
        guess: Guess,
        later: Iterable[tuple[int, int, Annotation]],
    ) -> str:
        if talk.last == (guess.dialogue, guess.turn):
            return talk.spoken[-1]
        if other := other_speaker(talk.spoken):
            return other
        taken = (UNKNOWN, *talk.spoken[-1:])
        for _, turn, fact in later:
            is_turn = fact.conversation == number and (turn - guess.turn) % 2 == 0
            if is_turn and fact.speaker not in taken:
                return fact.speaker
        return fresh_speaker(self.taken)
