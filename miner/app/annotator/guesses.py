"""A tagger's tags -> guesses at the speaker and conversation of each quoted span of a chapter.

The tags say where conversations and turns begin. Some taggers also say which character speaks. The
facts of a guess depend on the decisions around it, too, and are computed again after each decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, product
from string import ascii_uppercase

from miner.annotation.annotations import UNKNOWN, Annotation, renumber_conversations
from miner.people.cast import Character
from miner.people.character_files import SpokenBook
from miner.speech.spans import Span
from miner.speech.tags import Tag

MAX_NAME = 100  # characters; a longer name would be text of the book


@dataclass(frozen=True, slots=True)
class Guess:
    """A tagger's prediction for a quoted span."""

    tag: Tag
    dialogue: int  # number of the predicted dialogue in the chapter, from 0; -1 if `tag` is O
    turn: int  # number of the turn in that dialogue, from 0; -1 if `tag` is O
    confidence: float | None  # of the tag, 0 to 1, or None if the tagger gives none
    # of the character who speaks: the one to show, then others that nobody else has. Empty if
    # nobody is known
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A quoted span of a chapter and what is known about it."""

    # the span, or None for a lost row, which was found on no span and is kept as it is
    span: Span | None
    row: Annotation  # its place and fingerprint, and its speaker and conversation if it is decided
    is_decided: bool = False  # whether the annotator has answered
    # whether the annotator began a conversation here. The file does not say so when the spans
    # before are undecided
    starts_conversation: bool = False
    guess: Guess | None = None  # the tagger's prediction, if there is one
    # the facts that follow from `guess` if the span is not decided
    guessed: Annotation | None = None

    @property
    def fact(self) -> Annotation | None:
        """The decided or guessed facts; None if there are neither."""
        return self.row if self.is_decided else self.guessed


def find_guesses(spoken: SpokenBook, chapter: int) -> dict[tuple[int, int, int], Guess]:
    """Reads the guesses for a chapter from tagged spans.

    Where the speaker of a span is not known, it is the one who says most of its turn.
    """
    found: dict[tuple[int, int, int], Guess] = {}
    speakers: dict[tuple[int, int, int], str | None] = {}
    said: dict[tuple[int, int], Counter[str]] = {}
    dialogue, turn = -1, 0
    for item in spoken:
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
        speakers[place] = item.speaker
        of_turn = said.setdefault((dialogue, turn), Counter())
        if item.speaker is not None:
            of_turn[item.speaker] += len(span.text)
    names = find_names(spoken.characters, chapter)
    for place, speaker in speakers.items():
        guess = found[place]
        most = said[guess.dialogue, guess.turn].most_common(1)
        speaker = speaker or next((known for known, _ in most), None)
        found[place] = replace(guess, names=names.get(speaker or "", ()))
    return found


def find_names(characters: Iterable[Character], chapter: int) -> dict[str, tuple[str, ...]]:
    """Returns the names of the characters whom a chapter may have, by the character's id.

    The name to show is first. No two characters have a name in common: a name that several have is
    left out, and so is a character without another one. Names that no annotation may have, since
    they are too long or not printable, are left out, too.
    """
    named = {
        one.id: tuple(dict.fromkeys(" ".join(name.split()) for name in (one.name, *one.aliases)))
        for one in characters
        if one.chapter in (None, chapter)
    }
    holders = Counter(name for names in named.values() for name in names)
    found = {
        id: tuple(
            name
            for name in names
            if holders[name] == 1 and 0 < len(name) <= MAX_NAME and name.isprintable()
        )
        for id, names in named.items()
    }
    return {id: names for id, names in found.items() if names}


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
    return next((name for name in reversed(spoken) if name not in (UNKNOWN, *spoken[-1:])), "")


def name_of_guess(guess: Guess, named: Container[str]) -> str:
    """Returns the name of the guessed character; "" if none is guessed."""
    return next((name for name in guess.names if name in named), next(iter(guess.names), ""))


def resolve_guesses(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Computes the facts of all guesses and numbers the conversations in the order they begin.

    A guessed span joins the conversation of the decided spans that are in the same predicted
    dialogue: first of those before it, else of those after it if that conversation has not begun
    by then. Otherwise it gets a new conversation.

    A guessed character goes by the name that the annotator has given it, if that is one of its
    names, or else by its own. Where no character is guessed, the speaker stays the same within a
    predicted turn; at the next turn the other speaker of the conversation answers, or an unused
    letter if no other speaker is known. A decision counts for more than a guess: the rest of a turn
    has the speaker whom the annotator chose for its beginning, and where the annotator has put a
    guessed speaker into the turn before, somebody else answers.
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
    """The speakers of a conversation so far, with what was guessed of the last."""

    spoken: list[str] = field(default_factory=list)
    # the guess for the last of them, decided or not; None if there was none
    last: Guess | None = None
    is_decided: bool = False  # whether the last of them is decided


class _Resolver:
    """Walks through a chapter in reading order and derives the facts of each entry.

    It remembers the conversations so far, and knows the decisions that come later.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.talks: dict[int, _SpokenSoFar] = {}
        self.number_of: dict[int, int] = {}  # predicted dialogue -> conversation
        rows = [entry.row for entry in entries if entry.is_decided]
        self.named = {row.speaker for row in rows}
        self.taken = self.named | {
            name for entry in entries if entry.guess for name in entry.guess.names
        }
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
                talk.last, talk.is_decided = None, entry.is_decided
                if guess is not None and guess.dialogue >= 0:
                    talk.last = guess
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
        last, name = talk.last, name_of_guess(guess, self.named)
        if last is not None and (last.dialogue, last.turn) == (guess.dialogue, guess.turn):
            if not name or last.names == guess.names:
                return talk.spoken[-1]
        # The tag says that somebody else speaks, and the annotator who spoke before.
        elif guess.tag is Tag.B_OTHER and talk.is_decided and name == talk.spoken[-1]:
            if last is None or last.names != guess.names:
                name = ""
        if name:
            return name
        if other := find_other_speaker(talk.spoken):
            return other
        taken = (UNKNOWN, *talk.spoken[-1:])
        for _, turn, fact in later:
            is_turn = fact.conversation == number and (turn - guess.turn) % 2 == 0
            if is_turn and fact.speaker not in taken:
                return fact.speaker
        return pick_unused_letter(self.taken)
