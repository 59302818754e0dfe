"""The quoted spans of a chapter under annotation: decided, guessed or neither, and what to do.

A sheet never changes. Each action gives a new one, or a ValueError in one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from miner.annotation.annotations import UNKNOWN, Annotation
from miner.annotation.derivation import derive_tags, renumber_conversations
from miner.app.annotator.guesses import Entry, fresh_speaker, other_speaker, settled
from miner.dialogue.tags import Tag

_LONGEST_NAME = 100  # characters; what is longer is no name but text of the book

Entries = tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The entries of one chapter in reading order, and those before each action, oldest first.

    `place` counts the spans of the chapter that are annotated from 0; rows that were found on no
    span are entries without a place. The entries are as `guesses.settled` gives them.
    """

    entries: Entries
    before: tuple[Entries, ...] = ()

    @property
    def spans(self) -> list[Entry]:
        """The entries that have a span, by place."""
        return [entry for entry in self.entries if entry.span is not None]

    @property
    def lost(self) -> list[Annotation]:
        """The rows that were found on no span."""
        return [entry.row for entry in self.entries if entry.span is None]

    @property
    def n_decided(self) -> int:
        """How many spans are decided."""
        return sum(entry.is_decided for entry in self.spans)

    @property
    def speakers(self) -> list[str]:
        """Who is known to speak, in the order in which they first do; guesses left out."""
        rows = (entry.row for entry in self.entries if entry.is_decided and entry.row.is_utterance)
        return [name for name in dict.fromkeys(row.speaker for row in rows) if name != UNKNOWN]

    def rows(self) -> list[Annotation]:
        """The rows to save, lost ones included: what is decided, conversations counted from 1."""
        return renumber_conversations(entry.row for entry in self.entries if entry.is_decided)

    def tags(self) -> list[Tag | None]:
        """The derived tag of each place; guesses count as if they were right, None is undecided."""
        facts = [entry.fact for entry in self.spans]
        tags = iter(derive_tags(fact for fact in facts if fact is not None))
        return [None if fact is None else next(tags) for fact in facts]

    def next_place(self, after: int | None = None) -> int | None:
        """The place to decide next, None where all are decided.

        Where a tagger says how sure it is, the least sure; else the next one in reading order after
        the place given, from the beginning again after the last.
        """
        left = [(n, entry.guess) for n, entry in enumerate(self.spans) if not entry.is_decided]
        known = [(guess.sure, n) for n, guess in left if guess and guess.sure is not None]
        if known:
            return min(known)[1]
        places = [n for n, _ in left]
        return next(
            (n for n in places if after is not None and n > after), next(iter(places), None)
        )

    def same(self, place: int) -> Sheet:
        """The speaker of the utterance before goes on, in the same conversation."""
        before = self._utterance_before(place, "same")
        return self._decided(place, before.speaker, before.conversation)

    def other(self, place: int, speaker: str | None = None) -> Sheet:
        """Another speaker in the conversation of the utterance before.

        Without a name, the last one who spoke in it and is not the speaker before; where nobody
        else has spoken yet, a letter that nobody has.
        """
        before = self._utterance_before(place, "other")
        if speaker is not None and (name := _name(speaker)) == before.speaker != UNKNOWN:
            raise ValueError(
                f"place {place}: found {name} as the other speaker, who spoke before, "
                "expected another name"
            )
        return self._decided(place, *self._answer(place, before.conversation, speaker))

    def new(self, place: int, speaker: str | None = None) -> Sheet:
        """A conversation begins; without a name, its speaker is a letter that nobody has."""
        name = self._fresh(place) if speaker is None else _name(speaker)
        newest = max((fact.conversation for fact in self._facts()), default=0)
        return self._decided(place, name, newest + 1, begins=True)

    def resume(self, place: int, conversation: int, speaker: str | None = None) -> Sheet:
        """An old conversation goes on; without a name, its speaker is as in `other`."""
        numbers = {fact.conversation for fact in self._facts() if fact.is_utterance}
        if conversation not in numbers:
            known = f"1 to {max(numbers)}" if numbers else "one that has begun"
            raise ValueError(
                f"place {place}: found no conversation {conversation} to resume, expected {known}"
            )
        return self._decided(place, *self._answer(place, conversation, speaker))

    def speaker(self, place: int, speaker: str) -> Sheet:
        """The name of the speaker; the conversation stays as it is, or is guessed.

        Where neither is known, the conversation of the utterance before goes on, or one begins.
        """
        entry, name = self._entry(place), _name(speaker)
        if entry.fact is not None:
            number = self._utterance(place).conversation
            return self._decided(place, name, number, entry.begins)
        spoken = [fact for fact in self._facts(place) if fact.is_utterance]
        return (
            self._decided(place, name, spoken[-1].conversation) if spoken else self.new(place, name)
        )

    def unknown(self, place: int) -> Sheet:
        """The text does not tell who speaks."""
        return self.speaker(place, UNKNOWN)

    def rename(self, place: int, speaker: str) -> Sheet:
        """Another name for the speaker of a place, everywhere in the chapter, lost rows included.

        Where somebody has that name already, the two become one.
        """
        old, name = self._utterance(place).speaker, _name(speaker)
        if not self._entry(place).is_decided or old == UNKNOWN:
            found = "an unknown speaker" if old == UNKNOWN else "a guess"
            raise ValueError(f"place {place}: found {found}, expected a decided speaker to rename")
        return self._after(
            replace(entry, row=replace(entry.row, speaker=name))
            if entry.is_decided and entry.row.speaker == old
            else entry
            for entry in self.entries
        )

    def nothing(self, place: int) -> Sheet:
        """What is quoted is no utterance: conversation 0, no speaker."""
        return self._decided(place, "", 0)

    def accept(self, place: int) -> Sheet:
        """The guess is right."""
        entry = self._entry(place)
        if entry.guessed is None:
            found = "it decided" if entry.is_decided else "no guess"
            raise ValueError(f"place {place}: found {found}, expected a guess to accept")
        return self._decided(place, entry.guessed.speaker, entry.guessed.conversation)

    def clear(self, place: int) -> Sheet:
        """Undecided again, or guessed."""
        entry = self._entry(place)
        if not entry.is_decided:
            raise ValueError(f"place {place}: found it undecided, expected a decision to clear")
        row = replace(entry.row, speaker="", conversation=0)
        return self._with(place, replace(entry, row=row, is_decided=False, begins=False))

    def undo(self) -> Sheet:
        """As it was before the last action; that cannot be undone."""
        if not self.before:
            raise ValueError("found no action, expected one to undo")
        return Sheet(self.before[-1], self.before[:-1])

    def _entry(self, place: int) -> Entry:
        spans = self.spans
        if not 0 <= place < len(spans):
            raise ValueError(f"found no place {place}, expected 0 to {len(spans) - 1}")
        return spans[place]

    def _utterance(self, place: int) -> Annotation:
        fact = self._entry(place).fact
        if fact is None or not fact.is_utterance:
            found = "it undecided" if fact is None else "no utterance"
            raise ValueError(
                f"place {place}: found {found}, expected same, other, new or resume first"
            )
        return fact

    def _facts(self, before: int | None = None) -> list[Annotation]:
        """What is decided or guessed, everywhere or on the spans before a place."""
        entries: Sequence[Entry] = self.entries if before is None else self.spans[:before]
        return [entry.fact for entry in entries if entry.fact is not None]

    def _utterance_before(self, place: int, action: str) -> Annotation:
        self._entry(place)
        spoken = [fact for fact in self._facts(place) if fact.is_utterance]
        if not spoken:
            raise ValueError(
                f"place {place}: found no utterance before it, expected new instead of {action}"
            )
        return spoken[-1]

    def _answer(self, place: int, number: int, speaker: str | None) -> tuple[str, int]:
        """Who speaks next in a conversation, and its number."""
        if speaker is not None:
            return _name(speaker), number
        spoken = [fact.speaker for fact in self._facts(place) if fact.conversation == number]
        return other_speaker(spoken) or self._fresh(place), number

    def _fresh(self, place: int) -> str:
        """A letter that nobody has who is decided elsewhere, or guessed before.

        A guess after it gives way.
        """
        entry = self._entry(place)
        taken = {item.row.speaker for item in self.entries if item is not entry}
        return fresh_speaker(taken | {fact.speaker for fact in self._facts(place)})

    def _decided(self, place: int, speaker: str, conversation: int, begins: bool = False) -> Sheet:
        entry = self._entry(place)
        row = replace(entry.row, speaker=speaker, conversation=conversation)
        return self._with(place, replace(entry, row=row, is_decided=True, begins=begins))

    def _with(self, place: int, changed: Entry) -> Sheet:
        old = self._entry(place)
        return self._after(changed if entry is old else entry for entry in self.entries)

    def _after(self, entries: Iterable[Entry]) -> Sheet:
        done = settled(entries)
        return self if done == self.entries else Sheet(done, (*self.before, self.entries))


def act(
    sheet: Sheet,
    action: str,
    place: int | None = None,
    speaker: str | None = None,
    conversation: int | None = None,
) -> Sheet:
    """The sheet after an action, by its name: a method of `Sheet`, see `ACTIONS`.

    Raises:
        ValueError: if there is no such action, if it takes something that is not given or is given
            something that it does not take, or as the action itself does.
    """
    if action not in ACTIONS:
        raise ValueError(f"found action {action!r}, expected one of {', '.join(ACTIONS)}")
    needed, optional = ACTIONS[action]
    wanted = {"place": place, "speaker": speaker, "conversation": conversation}
    given = {name: value for name, value in wanted.items() if value is not None}
    for name in needed:
        if name not in given:
            raise ValueError(f"{action}: found no {name}, expected one")
    for name in given:
        if name not in (*needed, *optional):
            raise ValueError(f"{action}: found a {name}, expected none")
    if action == "undo":
        return sheet.undo()  # wherever it is asked for
    return getattr(sheet, action)(**given)


# What each action takes: needed, and where it is wanted.
ACTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "same": (("place",), ()),
    "other": (("place",), ("speaker",)),
    "new": (("place",), ("speaker",)),
    "resume": (("place", "conversation"), ("speaker",)),
    "speaker": (("place", "speaker"), ()),
    "unknown": (("place",), ()),
    "rename": (("place", "speaker"), ()),
    "nothing": (("place",), ()),
    "accept": (("place",), ()),
    "clear": (("place",), ()),
    "undo": ((), ("place",)),
}


def _name(text: str) -> str:
    """A speaker's name as it is saved, blanks run together."""
    name = " ".join(text.split())
    if not name:
        raise ValueError(f"found no name, expected one, or {UNKNOWN} where the text does not tell")
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise ValueError(
            f"found {name[:_LONGEST_NAME]!r} as a name, "
            f"expected at most {_LONGEST_NAME} characters that can be printed"
        )
    return name
