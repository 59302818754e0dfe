"""The quoted spans of a chapter under annotation, and the actions of the annotator.

A sheet never changes. Each action returns a new sheet, or raises an InputError of one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from miner.annotation.annotations import UNKNOWN, Annotation, derive_tags, renumber_conversations
from miner.app.annotator.guesses import (
    MAX_NAME,
    Entry,
    find_other_speaker,
    name_of_guess,
    pick_unused_letter,
    resolve_guesses,
)
from miner.errors import InputError
from miner.speech.tags import Tag

Entries = tuple[Entry, ...]


class NameNeeded(InputError):
    """An answer whose speaker nobody has named yet; the same answer with a name is possible.

    Attributes:
        letter: what the speaker may be called until the text gives a name.
    """

    def __init__(self, place: int, letter: str) -> None:
        super().__init__(
            f"place {place}: found a speaker without a name, "
            f"expected a name, or {letter} to call the speaker so"
        )
        self.letter = letter


@dataclass(frozen=True, slots=True)
class Sheet:
    """The entries of one chapter in reading order.

    A place is the index of a quoted span among the spans of the chapter, from 0. Lost rows are
    entries without a place.
    """

    entries: Entries  # as `guesses.resolve_guesses` returns them
    history: tuple[Entries, ...] = ()  # the entries before each action, oldest first

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
        """The names of the decided speakers, in the order in which they first speak."""
        rows = (entry.row for entry in self.entries if entry.is_decided and entry.row.is_utterance)
        return [name for name in dict.fromkeys(row.speaker for row in rows) if name != UNKNOWN]

    def rows(self) -> list[Annotation]:
        """The decided rows to save, lost ones included, with conversations numbered from 1."""
        return renumber_conversations(entry.row for entry in self.entries if entry.is_decided)

    def tags(self) -> list[Tag | None]:
        """The tag of each place, derived from decisions and guesses; None if it has neither."""
        facts = [entry.fact for entry in self.spans]
        tags = iter(derive_tags(fact for fact in facts if fact is not None))
        return [None if fact is None else next(tags) for fact in facts]

    def next_place(self, after: int | None = None) -> int | None:
        """Returns the place to decide next, None if all are decided.

        It is the undecided place with the lowest confidence. If no tagger gives a confidence, it is
        the next undecided place after `after` in reading order, and after the last one the first.
        """
        left = [(n, entry.guess) for n, entry in enumerate(self.spans) if not entry.is_decided]
        known = [
            (guess.confidence, n)
            for n, guess in left
            if guess is not None and guess.confidence is not None
        ]
        if known:
            return min(known)[1]
        places = [n for n, _ in left]
        return next(
            (n for n in places if after is not None and n > after), next(iter(places), None)
        )

    def keep_speaker(self, place: int, speaker: str | None = None) -> Sheet:
        """The previous speaker continues in the same conversation.

        A name is needed only if that speaker is a guess whom nobody has named.
        """
        before = self._previous_utterance(place, "same")
        if speaker is None:
            name = self._known_name(place, before.speaker)
        elif (name := _clean_name(speaker)) != before.speaker and self._is_known(before.speaker):
            raise InputError(
                f"place {place}: found {name} as the same speaker, expected {before.speaker}"
            )
        return self._decide(place, name, before.conversation)

    def change_speaker(self, place: int, speaker: str | None = None) -> Sheet:
        """Another speaker answers in the conversation of the previous utterance.

        Without a name, it is the last one in that conversation who is not the previous speaker. If
        nobody else has spoken in it, it is the character who is guessed at the place. A name is
        needed if that one is the previous speaker, or if none is guessed.
        """
        before = self._previous_utterance(place, "other")
        if speaker is not None and (name := _clean_name(speaker)) == before.speaker != UNKNOWN:
            raise InputError(
                f"place {place}: found {name} as the other speaker, who also spoke before, "
                "expected another name"
            )
        return self._answer(place, before.conversation, speaker)

    def start_conversation(self, place: int, speaker: str | None = None) -> Sheet:
        """A conversation begins. The speaker's name is needed."""
        if speaker is None:
            raise NameNeeded(place, self._unused_letter(place))
        name = _clean_name(speaker)
        newest = max((fact.conversation for fact in self._facts()), default=0)
        return self._decide(place, name, newest + 1, starts_conversation=True)

    def resume_conversation(
        self, place: int, conversation: int, speaker: str | None = None
    ) -> Sheet:
        """An earlier conversation resumes; the speaker is chosen as in `change_speaker`."""
        numbers = {fact.conversation for fact in self._facts() if fact.is_utterance}
        if conversation not in numbers:
            known = f"1 to {max(numbers)}" if numbers else "one that has begun"
            raise InputError(
                f"place {place}: found no conversation {conversation} to resume, expected {known}"
            )
        return self._answer(place, conversation, speaker)

    def set_speaker(self, place: int, speaker: str) -> Sheet:
        """Names the speaker and keeps the conversation, decided or guessed.

        A span without a conversation joins that of the previous utterance, or begins the first one.
        """
        entry, name = self._entry(place), _clean_name(speaker)
        if entry.fact is not None:
            number = self._utterance(place).conversation
            return self._decide(place, name, number, entry.starts_conversation)
        spoken = [fact for fact in self._facts(place) if fact.is_utterance]
        if not spoken:
            return self.start_conversation(place, name)
        return self._decide(place, name, spoken[-1].conversation)

    def mark_unknown(self, place: int) -> Sheet:
        """The text does not tell who speaks."""
        return self.set_speaker(place, UNKNOWN)

    def rename_speaker(self, place: int, speaker: str) -> Sheet:
        """Renames the speaker of a place in the whole chapter, lost rows included.

        If another speaker already has the new name, the two become one.
        """
        old, name = self._utterance(place).speaker, _clean_name(speaker)
        if not self._entry(place).is_decided or old == UNKNOWN:
            found = "an unknown speaker" if old == UNKNOWN else "a guess"
            raise InputError(f"place {place}: found {found}, expected a decided speaker to rename")
        return self._with_entries(
            replace(entry, row=replace(entry.row, speaker=name))
            if entry.is_decided and entry.row.speaker == old
            else entry
            for entry in self.entries
        )

    def mark_not_speech(self, place: int) -> Sheet:
        """The quoted span is not an utterance: conversation 0, no speaker."""
        return self._decide(place, "", 0)

    def accept_guess(self, place: int, speaker: str | None = None) -> Sheet:
        """The guess is right. A name is needed if its speaker is nobody known."""
        entry = self._entry(place)
        if entry.guessed is None:
            found = "a decided span" if entry.is_decided else "no guess"
            raise InputError(f"place {place}: found {found}, expected a guess to accept")
        guessed = entry.guessed
        if not guessed.is_utterance:
            return self.mark_not_speech(place)
        if speaker is None:
            name = self._known_name(place, guessed.speaker)
        else:
            name = _clean_name(speaker)
        return self._decide(place, name, guessed.conversation)

    def clear(self, place: int) -> Sheet:
        """Removes the decision; the span is undecided again, or guessed."""
        entry = self._entry(place)
        if not entry.is_decided:
            raise InputError(f"place {place}: found it undecided, expected a decision to clear")
        row = replace(entry.row, speaker="", conversation=0)
        undecided = replace(entry, row=row, is_decided=False, starts_conversation=False)
        return self._with_entry(place, undecided)

    def undo(self, place: int | None = None) -> Sheet:
        """The sheet before the last action, wherever that was; an undo cannot be undone."""
        if not self.history:
            raise InputError("found no action, expected one to undo")
        return Sheet(self.history[-1], self.history[:-1])

    def _entry(self, place: int) -> Entry:
        spans = self.spans
        if not 0 <= place < len(spans):
            raise InputError(f"found no place {place}, expected 0 to {len(spans) - 1}")
        return spans[place]

    def _utterance(self, place: int) -> Annotation:
        fact = self._entry(place).fact
        if fact is None or not fact.is_utterance:
            found = "it undecided" if fact is None else "it marked as not speech"
            raise InputError(
                f"place {place}: found {found}, expected same, other, new or resume first"
            )
        return fact

    def _facts(self, before: int | None = None) -> list[Annotation]:
        """The decided and guessed facts of all entries, or of the spans before a place."""
        entries: Sequence[Entry] = self.entries if before is None else self.spans[:before]
        return [entry.fact for entry in entries if entry.fact is not None]

    def _previous_utterance(self, place: int, action: str) -> Annotation:
        self._entry(place)
        spoken = [fact for fact in self._facts(place) if fact.is_utterance]
        if not spoken:
            raise InputError(
                f"place {place}: found no utterance before it, expected new instead of {action}"
            )
        return spoken[-1]

    def _answer(self, place: int, conversation: int, speaker: str | None) -> Sheet:
        """The given or the most likely speaker speaks next in a conversation."""
        if speaker is not None:
            return self._decide(place, _clean_name(speaker), conversation)
        facts = self._facts(place)
        spoken = [fact.speaker for fact in facts if fact.conversation == conversation]
        name = find_other_speaker(spoken) or self._guessed_name(place)
        if not name or name in spoken[-1:]:
            name = self._unused_letter(place)
        return self._decide(place, self._known_name(place, name), conversation)

    def _is_known(self, speaker: str) -> bool:
        """Whether the annotator has named this speaker, or said that the text does not."""
        return speaker == UNKNOWN or speaker in self.speakers

    def _guessed_name(self, place: int) -> str:
        """The name of the character who is guessed to speak; "" if none is."""
        guess = self._entry(place).guess
        return name_of_guess(guess, self.speakers) if guess is not None else ""

    def _known_name(self, place: int, speaker: str) -> str:
        """The name itself if the annotator gave it or a character has it.

        A guessed letter is never saved unasked.
        """
        guesses = (entry.guess for entry in self.spans if entry.guess is not None)
        if not self._is_known(speaker) and not any(speaker in guess.names for guess in guesses):
            raise NameNeeded(place, speaker)
        return speaker

    def _unused_letter(self, place: int) -> str:
        """A letter that no decided speaker has, and no guessed speaker before the place.

        Guesses after the place are computed again, so their letters are free.
        """
        entry = self._entry(place)
        taken = {item.row.speaker for item in self.entries if item is not entry}
        names = {name for item in self.spans if item.guess for name in item.guess.names}
        return pick_unused_letter(taken | names | {fact.speaker for fact in self._facts(place)})

    def _decide(
        self, place: int, speaker: str, conversation: int, starts_conversation: bool = False
    ) -> Sheet:
        entry = self._entry(place)
        row = replace(entry.row, speaker=speaker, conversation=conversation)
        decided = replace(entry, row=row, is_decided=True, starts_conversation=starts_conversation)
        return self._with_entry(place, decided)

    def _with_entry(self, place: int, changed: Entry) -> Sheet:
        old = self._entry(place)
        return self._with_entries(changed if entry is old else entry for entry in self.entries)

    def _with_entries(self, entries: Iterable[Entry]) -> Sheet:
        resolved = resolve_guesses(entries)
        return self if resolved == self.entries else Sheet(resolved, (*self.history, self.entries))


@dataclass(frozen=True, slots=True)
class Action:
    """A method of `Sheet` that the annotator can call, and the arguments that it takes."""

    method: Callable[..., Sheet]
    required: tuple[str, ...] = ("place",)
    optional: tuple[str, ...] = ()


ACTIONS = {
    "same": Action(Sheet.keep_speaker, optional=("speaker",)),
    "other": Action(Sheet.change_speaker, optional=("speaker",)),
    "new": Action(Sheet.start_conversation, optional=("speaker",)),
    "resume": Action(Sheet.resume_conversation, ("place", "conversation"), ("speaker",)),
    "speaker": Action(Sheet.set_speaker, ("place", "speaker")),
    "unknown": Action(Sheet.mark_unknown),
    "rename": Action(Sheet.rename_speaker, ("place", "speaker")),
    "nothing": Action(Sheet.mark_not_speech),
    "accept": Action(Sheet.accept_guess, optional=("speaker",)),
    "clear": Action(Sheet.clear),
    "undo": Action(Sheet.undo, (), ("place",)),
}


def apply_action(
    sheet: Sheet,
    action: str,
    place: int | None = None,
    speaker: str | None = None,
    conversation: int | None = None,
) -> Sheet:
    """Returns the sheet after an action."""
    if action not in ACTIONS:
        raise InputError(f"found action {action!r}, expected one of {', '.join(ACTIONS)}")
    chosen = ACTIONS[action]
    arguments = {"place": place, "speaker": speaker, "conversation": conversation}
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in chosen.required:
        if name not in given:
            raise InputError(f"{action}: found no {name}, expected one")
    for name in given:
        if name not in (*chosen.required, *chosen.optional):
            raise InputError(f"{action}: found a {name}, expected none")
    return chosen.method(sheet, **given)


def _clean_name(text: str) -> str:
    """The name of a speaker as it is saved, with single blanks."""
    name = " ".join(text.split())
    if not name:
        raise InputError(
            f"found no name, expected one, or {UNKNOWN} if the text does not tell who speaks"
        )
    if len(name) > MAX_NAME or not name.isprintable():
        raise InputError(
            f"found {name[:MAX_NAME]!r} as a name, expected at most {MAX_NAME} printable characters"
        )
    return name
