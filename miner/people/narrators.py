"""The paragraphs of a book and its cast -> who tells each of them as "I".

Others call the narrator by name when they talk to "I", and nobody tells "Jane went" while Jane
tells. A line above a part of the book may say who tells it ("Dr. Otway's Diary"), and so may the
narrator ("Call me Otway"). Each is evidence for or against a character in a part. The narrators
are the sequence with the most evidence, in which changes are few.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from miner.people.cast import Cast, Character, Kind, find_mentions, join_characters
from miner.people.evidence import acts
from miner.people.names import (
    LETTER_CLOSING,
    NAMES_ITSELF,
    NARRATOR,
    NICKNAMES,
    OWNING,
    SUBJECTS,
    TELLS,
    TOWARDS,
    Name,
    Paragraph,
    is_say,
    parse_form,
    spelt_out,
)

# Somebody who is part of the story tells a book if this share of the pronouns that are subjects is
# "I" or "we". In a part of it, and where "I" speak in a part of another, the share may be smaller.
_BOOK, _PART = 0.25, 0.12
_STORY_INSIDE, _SUBJECTS = 0.3, 20  # the least share where "I" do not speak, and of how many
_READ_OUT = 0.7  # a part of which more than this share is speech is told aloud, as a story inside
_APART = 2  # paragraphs, at most, from one turn of a talk to the next
_TITLE = 100  # characters; no line that names a narrator is longer
_LONGEST_NAME = 5  # words of a name in such a line
_BEFORE_NAME = 24  # characters before a name in which the narrator says that it is its own
_NEAR = 24  # characters beside "I" in which its verb is looked for


class _Use(Enum):
    """What a part shows of a character."""

    CALLED_TO_I = "somebody who talks to I calls it"
    CALLED = "anybody calls it"
    CALLED_BY_I = "I call it"
    SAYS = "narration has its name beside a verb of saying"
    ACTS = "narration tells what it does"
    NARRATED = "narration names it otherwise"
    NAMES_ITSELF = "the narrator says that this is its name"
    SIGNS = "its name is all that stands in the last paragraph, or after the end of a letter"
    IN_TITLE = "a line above the part says that it tells what follows"


# What each use weighs as evidence that the character tells the part. A title counts on its own.
_WEIGHTS = {
    _Use.CALLED_TO_I: 1.0,
    _Use.CALLED: 0.15,
    _Use.CALLED_BY_I: -2.0,
    _Use.SAYS: -0.7,
    _Use.ACTS: -0.7,
    _Use.NARRATED: -0.1,
    _Use.NAMES_ITSELF: 3.0,
    _Use.SIGNS: 3.0,
    _Use.IN_TITLE: 0.0,
}
_MOST = 12.0  # the most evidence of one part for a character, or against it
_IN_TITLE = 20.0  # the evidence of a title
_NOBODY = 0.03  # evidence of each paragraph of a talk with "I" that the narrator has no name
_BEGIN = 1.0  # what the first narrator with a name costs, in evidence
_CHANGE = 4.0  # what each change costs, but for one that a title tells
# Characters with so many pieces of evidence or a title are compared, and no more than so many.
_FOR = (_Use.CALLED, _Use.CALLED_TO_I, _Use.NAMES_ITSELF, _Use.SIGNS)
_LEAST, _CANDIDATES = 3, 40

# A character who tells more than this share of the paragraphs is a narrator of the book.
_TELLER = 0.03
# Two characters whom others call when they talk to one narrator are one if they share a word, or if
# the second is called so often, and by people who talk to "I" in nearly the same share of times.
_OFTEN, _NEARLY = 5, 0.8
# The name of a narrator does something in narration at most this often for each call, and stands
# there at most this often.
_DOES, _STANDS = 0.1, 0.5

_SUBJECT = re.compile(
    rf"(?<![\w’'-])(?i:{'|'.join(sorted({*SUBJECTS, *NARRATOR} - OWNING)) or '(?!)'})"
    r"(?![\w-])(?!’[dl])"
)
_WORD_AFTER = re.compile(r"\s+(?:\w+ly\s+)?([^\W\d_]+)")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)\s+$")
_WORD = re.compile(r"[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)*")
_TELLS = re.compile(rf"\b{TELLS}\b")
_TOWARDS = re.compile(TOWARDS)
_CLOSING = re.compile(rf"^\W*$|{LETTER_CLOSING}", re.IGNORECASE)
_NAMES_ITSELF_BEFORE = re.compile(rf"\b{NAMES_ITSELF}\s*$")


class Doings(NamedTuple):
    """In how many paragraphs a book shows a character in each way.

    A name that narration never has beside a verb of saying, and by which nobody is called, is that
    of somebody who does not speak: a dog, a place, the dead.
    """

    says: int  # narration has its name beside a verb of saying
    acts: int  # narration tells what it does
    called: int  # speech calls it
    called_to_i: int  # speech of somebody who talks to the narrator calls it


class Narration(NamedTuple):
    """Who tells a book."""

    # the character who tells each paragraph, as a position in the cast; None for somebody without a
    # name, or where nobody tells of itself
    narrators: tuple[int | None, ...]
    # whether the narrator of each paragraph is part of the story
    first_person: tuple[bool, ...]
    doings: tuple[Doings, ...]  # what each character of the cast is seen to do

    def of_chapter(self, positions: Sequence[int]) -> tuple[int | None, bool]:
        """Returns who tells most of a chapter, and whether that narrator is part of the story."""
        told = [position for position in positions if self.first_person[position]]
        if 2 * len(told) < len(positions):
            return None, False
        return Counter(self.narrators[position] for position in told).most_common(1)[0][0], True


@dataclass(slots=True)
class _Part:
    """A chapter, or what stands under one line in it that names a narrator."""

    positions: list[int] = field(default_factory=list)  # of its paragraphs
    subjects: Counter[str] = field(default_factory=Counter)  # its pronouns, by gender
    n_letters: int = 0  # the length of its text
    n_spoken: int = 0  # the length of its speech
    n_talks: int = 0  # its paragraphs in which somebody talks to "I"
    speaks: bool = False  # whether "I" speak in it
    # what it shows of each character
    uses: defaultdict[int, Counter[_Use]] = field(default_factory=lambda: defaultdict(Counter))

    def evidence(self, character: int | None) -> float:
        """How much shows that a character tells the part."""
        found = {} if character is None else self.uses.get(character, {})
        evidence = sum(_WEIGHTS[use] * n for use, n in found.items())
        return max(-_MOST, min(_MOST, evidence)) + _IN_TITLE * self.is_titled(character)

    def is_titled(self, character: int | None) -> bool:
        """Whether a line above the part says that a character tells it, and not in speech."""
        is_told = self.n_spoken <= _READ_OUT * self.n_letters
        found = () if character is None else self.uses.get(character, ())
        return is_told and _Use.IN_TITLE in found


def find_narrators(
    paragraphs: Sequence[Paragraph], names: Sequence[Name], cast: Cast, *, joins: bool
) -> tuple[Cast, Narration]:
    """Returns the cast of a book with its narrators, and what each tells.

    A given list may say who tells the book. Then another one tells no more than what stands under
    his name. Somebody without a name tells what is left; that may be a character of the list, too.

    Args:
        paragraphs: the paragraphs of the book.
        names: its names.
        cast: its characters.
        joins: whether names by which others call a narrator become those of one character.
    """
    parts = _read_parts(paragraphs, names, find_mentions(cast.forms, names, paragraphs), cast)
    runs = _runs_in_first_person(parts)
    listed = {n for n, one in enumerate(cast.characters) if one.kind is Kind.NARRATOR}
    usual = _usual_narrator(listed, parts)
    if usual is not None and not runs and not cast.characters[usual].is_nameless_narrator:
        runs = [parts]  # a given narrator may speak even where "I" is rare
    told = [part for run in runs for part in run]
    narrators = [n for run in runs for n in _best_sequence(run, listed, usual)]
    if joins:
        cast, position = join_characters(cast, _find_joined(told, narrators, cast))
        for part in parts:
            _renumber(part, position)
        narrators = [n for run in runs for n in _best_sequence(run, listed, usual)]
    doings = _count_doings(parts, len(cast.characters))
    found: list[int | None] = [None] * len(paragraphs)
    first_person = [False] * len(paragraphs)
    for part, narrator in zip(told, narrators, strict=True):
        for at in part.positions:
            found[at], first_person[at] = narrator, True
    n_told = Counter(narrator for narrator in found if narrator is not None)
    characters = tuple(
        replace(one, kind=Kind.NARRATOR) if n_told[n] > _TELLER * len(paragraphs) else one
        for n, one in enumerate(cast.characters)
    )
    narration = Narration(tuple(found), tuple(first_person), doings)
    return replace(cast, characters=characters), narration


def _usual_narrator(listed: Collection[int], parts: Sequence[_Part]) -> int | None:
    """Returns who tells what no other narrator of a list does: the only one, or the nameless."""
    named = {character for part in parts for character in part.uses}
    able = listed if len(listed) == 1 else [n for n in sorted(listed) if n not in named]
    return next(iter(able)) if len(able) == 1 else None


def _runs_in_first_person(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Returns the parts whose narrator is part of the story, in runs that one person may tell."""
    whole: Counter[str] = sum((part.subjects for part in parts), Counter())
    if _share_of_i(whole) > _BOOK:
        return [[part for part in parts if _share_of_i(part.subjects) > _PART]]
    runs: list[list[_Part]] = [[]]
    for part in parts:
        share = _share_of_i(part.subjects)
        is_long = part.subjects.total() >= _SUBJECTS
        if share > _PART if part.speaks else is_long and share > _STORY_INSIDE:
            runs[-1].append(part)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _share_of_i(subjects: Mapping[str, int]) -> float:
    told = subjects["i"]
    return told / max(1, told + subjects["m"] + subjects["f"])


def _renumber(part: _Part, position: Sequence[int]) -> None:
    uses: defaultdict[int, Counter[_Use]] = defaultdict(Counter)
    for character, found in part.uses.items():
        uses[position[character]].update(found)
    part.uses = uses


def _count_doings(parts: Sequence[_Part], n_characters: int) -> tuple[Doings, ...]:
    total: defaultdict[int, Counter[_Use]] = defaultdict(Counter)
    for part in parts:
        for character, uses in part.uses.items():
            total[character].update(uses)
    shown = (_Use.SAYS, _Use.ACTS, _Use.CALLED, _Use.CALLED_TO_I)
    return tuple(Doings(*(total[n][use] for use in shown)) for n in range(n_characters))


def _best_sequence(
    parts: Sequence[_Part], listed: Collection[int], usual: int | None
) -> list[int | None]:
    """Returns the narrator of each part (Viterbi 1967, "Error bounds for convolutional codes")."""
    total: Counter[int] = Counter()
    for part in parts:
        for character, uses in part.uses.items():
            total[character] += sum(uses[use] for use in _FOR)
            total[character] += _LEAST * part.is_titled(character)
    able = [character for character, n in total.most_common(_CANDIDATES) if n >= _LEAST]
    if listed:
        titled = {n for part in parts for n in part.uses if part.is_titled(n)}
        able = [n for n in able if n in listed or n in titled]
    able = [n for n in able if n != usual]
    states: list[int | None] = [usual, *able]
    best = [0.0, *(-_BEGIN for _ in able)]
    came: list[list[int]] = []  # for each part and state, the state of the part before
    for part in parts:
        top = max(range(len(states)), key=lambda n: best[n])
        changed = [best[top] - _CHANGE * (not part.is_titled(state)) for state in states]
        came.append([n if best[n] >= changed[n] else top for n in range(len(states))])
        best = [
            max(best[n], changed[n])
            + (_NOBODY * part.n_talks if state == usual else part.evidence(state))
            for n, state in enumerate(states)
        ]
    found: list[int | None] = []
    state = max(range(len(states)), key=lambda n: best[n])
    for before in reversed(came):
        found.append(states[state])
        state = before[state]
    return found[::-1]


def _find_joined(
    parts: Sequence[_Part], narrators: Sequence[int | None], cast: Cast
) -> list[tuple[int, int]]:
    """Returns each narrator with another character who is the same person."""
    n_told: Counter[int] = Counter()
    for part, narrator in zip(parts, narrators, strict=True):
        if narrator is not None:
            n_told[narrator] += len(part.positions)
    found: dict[int, int] = {}
    words = [_words_of(character) for character in cast.characters]
    for narrator, _ in n_told.most_common():
        if narrator in found:
            continue
        uses = _uses_while(narrator, parts, narrators)
        own = _share_to_i(uses[narrator])
        for other in dict.fromkeys((*n_told, *uses)):
            counts = uses[other]
            if other in found or other in found.values() or other == narrator:
                continue
            genders = {cast.characters[n].gender for n in (narrator, other)} - {""}
            is_often = counts[_Use.CALLED_TO_I] >= _OFTEN and (
                other in n_told or _share_to_i(counts) >= _NEARLY * own
            )
            shares = bool(words[other] & words[narrator])
            is_called = counts[_Use.CALLED_TO_I] > 0 or (shares and other in n_told)
            if len(genders) < 2 and (shares or is_often) and is_called and _is_only_called(counts):
                found[other] = narrator
    return [(narrator, other) for other, narrator in found.items()]


def _uses_while(
    narrator: int, parts: Sequence[_Part], narrators: Sequence[int | None]
) -> defaultdict[int, Counter[_Use]]:
    """Returns the uses of all characters in the parts that a narrator tells."""
    uses: defaultdict[int, Counter[_Use]] = defaultdict(Counter)
    for part, of_part in zip(parts, narrators, strict=True):
        if of_part == narrator:
            for character, counts in part.uses.items():
                uses[character].update(counts)
    return uses


def _is_only_called(counts: Mapping[_Use, int]) -> bool:
    """Whether a name is not one by which narration tells of somebody, or by which "I" call one."""
    called = counts[_Use.CALLED]
    return (
        counts[_Use.SAYS] + counts[_Use.ACTS] <= max(1, _DOES * called)
        and counts[_Use.NARRATED] <= max(1, _STANDS * called)
        and counts[_Use.CALLED_BY_I] <= _DOES * called
    )


def _share_to_i(counts: Mapping[_Use, int]) -> float:
    return counts[_Use.CALLED_TO_I] / max(1, counts[_Use.CALLED])


def _words_of(character: Character) -> frozenset[str]:
    """Returns the words of a character's names, and what each may be short for."""
    words = {word.lower() for alias in character.aliases for word in parse_form(alias).words}
    return frozenset(words).union(*(NICKNAMES.get(word, ()) for word in words))


def _read_parts(
    paragraphs: Sequence[Paragraph],
    names: Sequence[Name],
    mentioned: Sequence[int | None],
    cast: Cast,
) -> list[_Part]:
    """Returns the parts of a book in reading order, with what each shows of the characters."""
    titles = _Titles(cast)
    of_paragraph: defaultdict[int, list[tuple[Name, int]]] = defaultdict(list)
    for name, character in zip(names, mentioned, strict=True):
        if character is not None:
            of_paragraph[name.paragraph].append((name, character))
    parts: list[_Part] = []
    chapter: int | None = None
    for position in sorted(range(len(paragraphs)), key=lambda n: paragraphs[n].index):
        paragraph = paragraphs[position]
        title = titles.narrator_of(paragraph)
        if title is not None or paragraph.chapter != chapter:
            parts.append(_Part())
        if title is not None:
            parts[-1].uses[title][_Use.IN_TITLE] += 1
        parts[-1].positions.append(position)
        chapter = paragraph.chapter
    for part in parts:
        _read_part(part, paragraphs, of_paragraph)
    return parts


def _read_part(
    part: _Part,
    paragraphs: Sequence[Paragraph],
    names: Mapping[int, Sequence[tuple[Name, int]]],
) -> None:
    by_i: set[int] = set()  # the paragraphs in which "I" speak
    to_i: set[int] = set()  # those in which somebody talks to "I"
    spoken: list[int] = []
    for place, position in enumerate(part.positions):
        paragraph = paragraphs[position]
        if paragraph.is_heading:
            continue
        part.n_letters += len(paragraph.text)
        part.n_spoken += sum(end - start for start, end in paragraph.utterances)
        genders, speaks, is_object = _read_pronouns(paragraph.narration)
        part.subjects.update(genders)
        if paragraph.utterances:
            spoken.append(place)
            if speaks:
                by_i.add(place)
            elif is_object:
                to_i.add(place)
    for one, other in pairwise(spoken):
        if other - one <= _APART and (one in by_i) != (other in by_i):
            to_i.add(other if one in by_i else one)
    part.n_talks, part.speaks = len(to_i), bool(by_i)
    for place, position in enumerate(part.positions):
        text = paragraphs[position].text
        is_last = position == part.positions[-1]
        found = {  # a cry that is repeated counts once
            (character, use): None
            for name, character in names.get(position, ())
            for use in _uses(name, text, place in by_i, place in to_i, is_last)
        }
        for character, use in found:
            part.uses[character][use] += 1


def _uses(name: Name, text: str, is_by_i: bool, is_to_i: bool, is_last: bool) -> Iterator[_Use]:
    """Yields what a name in a text shows of its character."""
    if is_by_i or not name.in_speech:
        before = text[max(0, name.start - _BEFORE_NAME) : name.start]
        if _NAMES_ITSELF_BEFORE.search(before):
            yield _Use.NAMES_ITSELF
            return
    if is_last and not _WORD.search(text, name.end) and _CLOSING.search(text[: name.start]):
        yield _Use.SIGNS
    elif not name.in_speech:
        yield _Use.SAYS if name.says else _Use.ACTS if acts(name, text) else _Use.NARRATED
    elif name.called:
        yield _Use.CALLED
        if is_by_i or is_to_i:
            yield _Use.CALLED_BY_I if is_by_i else _Use.CALLED_TO_I


def _read_pronouns(narration: str) -> tuple[Counter[str], bool, bool]:
    """Returns the genders of the subjects, whether "I" speak, and whether "me" is an object."""
    genders: Counter[str] = Counter()
    speaks = is_object = False
    for match in _SUBJECT.finditer(narration):
        word = match[0].lower()
        if word not in SUBJECTS:
            is_object = True
            continue
        genders[SUBJECTS[word]] += 1
        if word in NARRATOR and not speaks:
            after = _WORD_AFTER.match(narration, match.end(), match.end() + _NEAR)
            before = _WORD_BEFORE.search(narration, max(0, match.start() - _NEAR), match.start())
            speaks = any(found and is_say(found[1]) for found in (after, before))
    return genders, speaks, is_object


class _Titles:
    """The names of a book's characters in the lines above its parts, where case tells nothing."""

    def __init__(self, cast: Cast) -> None:
        self._meant: dict[tuple[str, ...], int] = {}
        for form, meant in cast.forms.items():
            words = [word for part in form.words for word in part.split()]
            self._meant[tuple(map(spelt_out, (*form.titles, *words)))] = meant[0]

    def narrator_of(self, paragraph: Paragraph) -> int | None:
        """The character who tells what follows a heading, or a line that is written as one."""
        text = paragraph.text
        if len(text) > _TITLE or paragraph.utterances:
            return None
        if not _TELLS.search(text.title() if paragraph.is_heading else text):
            return None
        words = [spelt_out(word) for word in _WORD.findall(text.lower())]
        starts = (
            range(len(words)) if paragraph.is_heading else range(min(_LONGEST_NAME, len(words)))
        )
        for start in starts:
            if start and _TOWARDS.fullmatch(words[start - 1]):
                continue
            for end in range(min(len(words), start + _LONGEST_NAME), start, -1):
                character = self._meant.get(tuple(words[start:end]))
                if character is not None:
                    return character
        return None
