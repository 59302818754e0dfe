"""A chapter -> for each utterance, all that the page tells of who speaks.

Nothing here decides. A clue is a mention in a certain place ("said she" after the speech, the
subject of the narration before it, the addressee of the last speech), or a set of people who are
near in some way. The model of the speakers weighs them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from miner.people.attributions import (
    Attribution,
    find_addressee,
    find_attributions,
    find_last_subject,
    find_subject,
)
from miner.people.calls import find_called, find_titles
from miner.people.cast import Kind
from miner.people.mentions import ChapterPeople, Mention, MentionKind, Person, mentions_between
from miner.people.names import (
    ANSWERS,
    GOES_ON,
    INTRODUCING,
    OWNING,
    SAY_WITH_PARTICLE,
    Paragraph,
)
from miner.people.relatives import find_relatives
from miner.speech.narration import SENTENCE_END

_REMEMBERED = 60  # mentions in narration, counted back, among which people are still at hand
_AHEAD = 3  # paragraphs after an utterance in which people are looked for
_BEFORE_FIRST = 4  # paragraphs before the first speech of a chapter that count as between
_NEAR = 80  # characters of narration beside an utterance that say how it is said

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_QUOTES = "\"”’'»“«"


class Cue(Enum):
    """The place of a mention that may tell who speaks an utterance."""

    SAYS_AFTER = "the subject of the verb of saying after it"
    SAYS_BEFORE = "the subject of the verb of saying before it"
    SAYS_BESIDE = "who is said to speak another utterance of its paragraph"
    LEADS_IN = "the first subject of the narration before it in its paragraph"
    LEADS_IN_LAST = "the last subject of the narration before it in its paragraph"
    ACTS_AFTER = "the first subject of the narration after it in its paragraph"
    BETWEEN_FIRST = "the first subject of the paragraphs since the last speech"
    BETWEEN_LAST = "the last subject of the paragraphs since the last speech"
    PARAGRAPH_AFTER = "the first subject of the paragraph of narration after its paragraph"
    SAYS_NEXT = "who is said to speak in the next paragraph of speech"
    SAYS_NEXT_BUT_ONE = "who is said to speak in the next paragraph of speech but one"
    SAID_LAST = "who is said to speak in the last paragraph of speech"
    ADDRESSED = "whom its paragraph addresses"
    ADDRESSED_LAST = "whom the last paragraph of speech addresses"
    ADDRESSED_BETWEEN = "whom the narration since the last speech addresses"
    ADDRESSED_NEXT = "whom the next paragraph of speech addresses"
    NAMED_AFTER = "the last name in the narration after it in its paragraph"


class Recency(NamedTuple):
    """How long ago narration mentioned a person."""

    rank: int  # the number of other people whom it mentioned since
    paragraphs: int  # the number of paragraphs since


@dataclass(frozen=True, slots=True)
class Calls:
    """Whom the speech of a place calls or names. People are numbers in the chapter."""

    called: frozenset[int] = frozenset()  # people whom it calls by name
    named: frozenset[int] = frozenset()  # people whom it names otherwise
    calls_man: bool = False  # whether it calls a man ("sir")
    calls_woman: bool = False  # whether it calls a woman ("madam")
    titles: frozenset[str] = frozenset()  # the words by which it calls them, in small letters


@dataclass(frozen=True, slots=True)
class NounUse:
    """How a chapter uses a noun for a person."""

    count: int = 0  # how often
    is_introduced: bool = False  # whether it comes first as somebody new: "a waiter"
    n_owned: int = 0  # how often it names the person by another one: "his wife"


@dataclass(frozen=True, slots=True)
class Clues:
    """What the page tells of the speaker of an utterance. People are numbers in the chapter."""

    span: int  # the position of the utterance in the spans of the book
    paragraph: int  # the position of its paragraph in the chapter
    text: str  # the utterance
    is_first: bool  # whether it is the first utterance of its paragraph
    is_headed: bool  # whether its tag is the name that heads it, in a scene set as a play
    n_between: int  # the number of paragraphs since the last paragraph of speech
    # the characters of narration before it in its paragraph, since the last utterance
    n_before: int
    n_after: int  # the same after it, up to the next utterance
    goes_on: bool  # whether narration beside it says that the last speaker continues
    answers: bool  # whether narration beside it says that somebody answers
    last_asks: bool  # whether the last paragraph of speech ends in a question
    # the mention in the place of each `Cue`, in its order; None where there is none
    cues: tuple[Mention | None, ...]
    # the people whom narration mentioned before it, the last ones first
    recent: Mapping[int, Recency]
    # the same, up to the next utterance or the end of its paragraph
    recent_after: Mapping[int, Recency]
    soon: frozenset[int]  # the people whom the next paragraphs of narration mention
    own: frozenset[int]  # the people whom the narration of its paragraph mentions
    between: frozenset[int]  # the people whom the paragraphs since the last speech mention
    calls: Calls  # whom it calls and names
    beside: Calls  # whom the other utterances of its paragraph by the same speaker call and name
    beside_before: bool  # whether the utterance that `SAYS_BESIDE` is of comes before it
    last: Calls  # whom the last paragraph of speech calls and names
    next: Calls  # whom the next paragraph of speech calls and names
    last_but_one: frozenset[int]  # people whom the last paragraph of speech but one calls
    next_but_one: frozenset[int]  # people whom the next paragraph of speech but one calls

    @property
    def at_hand(self) -> set[int]:
        """The people who are near enough to speak it."""
        cued = {mention.person for mention in self.cues if mention and mention.person is not None}
        return cued.union(
            self.recent_after,
            self.own,
            self.soon,
            self.last.called,
            self.last.named,
            self.next.called,
            self.next.named,
            self.last_but_one,
        )

    @property
    def tag(self) -> Mention | None:
        """The subject of the verb of saying beside it."""
        return self.cue(Cue.SAYS_AFTER) or self.cue(Cue.SAYS_BEFORE)

    @property
    def said(self) -> Mention | None:
        """Its tag, or else that of another utterance of its paragraph."""
        return self.tag or self.cue(Cue.SAYS_BESIDE)

    @property
    def told(self) -> int | None:
        """The person to whom the narration of its paragraph says by name that it is said, or I."""
        mention = self.cue(Cue.ADDRESSED)
        is_known = mention is not None and (
            mention.kind is MentionKind.NAME or mention.gender == "i"
        )
        return mention.person if mention is not None and is_known else None

    def cue(self, place: Cue) -> Mention | None:
        """Returns the mention in a place."""
        return self.cues[_NUMBER_OF_CUE[place]]


_NUMBER_OF_CUE = {cue: number for number, cue in enumerate(Cue)}


@dataclass(frozen=True, slots=True)
class ChapterClues:
    """A chapter with the clues of its utterances."""

    # the chapter; nouns that only a verb of saying shows to be people ("said the wub") are
    # among its people
    chapter: ChapterPeople
    clues: tuple[Clues, ...]  # of each utterance, in order
    n_mentions: tuple[int, ...]  # how often the chapter mentions each of its people
    # how the chapter uses the noun of each of its people; empty for people with a name
    nouns: tuple[NounUse, ...]
    first_seen: Mapping[int, int]  # the paragraph that first mentions each person


def find_clues(chapter: ChapterPeople) -> ChapterClues:
    """Returns a chapter with the clues of its utterances."""
    chapter = find_relatives(chapter)
    attributions = _attribute(chapter)
    chapter, attributions = _with_new_nouns(chapter, attributions)
    reader = _Reader(chapter, attributions)
    clues = tuple(clue for position in reader.spoken for clue in reader.read(position))
    counts = Counter(m.person for mentions in chapter.mentions for m in mentions)
    first_seen: dict[int, int] = {}
    for position, mentions in enumerate(chapter.mentions):
        for mention in mentions:
            if mention.person is not None:
                first_seen.setdefault(mention.person, position)
    return ChapterClues(
        chapter,
        clues,
        tuple(counts[number] for number in range(len(chapter.people))),
        _use_of_nouns(chapter),
        first_seen,
    )


def keep_names(found: ChapterClues) -> ChapterClues:
    """Returns a chapter whose cues are names alone: "said she" and "said his wife" tell nothing."""
    clues = (
        replace(
            clue, cues=tuple(m if m and m.kind is MentionKind.NAME else None for m in clue.cues)
        )
        for clue in found.clues
    )
    return replace(found, clues=tuple(clues))


def _attribute(chapter: ChapterPeople) -> dict[int, list[Attribution]]:
    found: dict[int, list[Attribution]] = {}
    before: Paragraph | None = None
    mentions_before: Sequence[Mention] = ()
    for position, (paragraph, mentions) in enumerate(
        zip(chapter.paragraphs, chapter.mentions, strict=True)
    ):
        if not paragraph.utterances:
            before, mentions_before = paragraph, mentions
            continue
        found[position] = find_attributions(paragraph, mentions, before, mentions_before)
        before, mentions_before = None, ()
    return found


def _with_new_nouns(
    chapter: ChapterPeople, attributions: dict[int, list[Attribution]]
) -> tuple[ChapterPeople, dict[int, list[Attribution]]]:
    """Returns the chapter with the people whom only a verb of saying shows."""
    people = list(chapter.people)
    numbers = {person.noun: number for number, person in enumerate(people) if person.noun}
    bearers = {person.character: number for number, person in enumerate(people)}
    numbers |= {
        noun: bearers[bearer] for noun, bearer in chapter.roles.items() if bearer in bearers
    }
    mentions = [dict.fromkeys(items) for items in chapter.mentions]

    def numbered(position: int, mention: Mention | None) -> Mention | None:
        if mention is None or not mention.noun:
            return mention
        if mention.noun not in numbers:
            numbers[mention.noun] = len(people)
            people.append(Person(Kind.UNNAMED, None, mention.noun, mention.gender))
        mention = mention._replace(person=numbers[mention.noun], noun="")
        mentions[position][mention] = None
        return mention

    found: dict[int, list[Attribution]] = {}
    for position, items in attributions.items():
        paragraph = chapter.paragraphs[position]
        # What leads in to a paragraph that begins with speech stands in the one before it.
        at = position if paragraph.text[: paragraph.utterances[0][0]].strip() else position - 1
        found[position] = []
        for after, before in items:
            found[position].append(Attribution(numbered(position, after), numbered(at, before)))
            at = position
    ordered = tuple(tuple(sorted(items, key=lambda mention: mention.start)) for items in mentions)
    return replace(chapter, people=tuple(people), mentions=ordered), found


def _use_of_nouns(chapter: ChapterPeople) -> tuple[NounUse, ...]:
    uses = [NounUse() for _ in chapter.people]
    for mentions in chapter.mentions:
        for mention in mentions:
            if mention.kind is MentionKind.NOUN and mention.person is not None:
                use = uses[mention.person]
                uses[mention.person] = NounUse(
                    use.count + 1,
                    use.is_introduced if use.count else mention.determiner in INTRODUCING,
                    use.n_owned + (mention.determiner in OWNING),
                )
    return tuple(uses)


class _Reader:
    """Reads the clues of the utterances of a chapter, one paragraph of speech after the other."""

    def __init__(
        self, chapter: ChapterPeople, attributions: Mapping[int, Sequence[Attribution]]
    ) -> None:
        self._paragraphs = chapter.paragraphs
        self._mentions = chapter.mentions
        self._attributions = attributions
        self.spoken = sorted(attributions)
        self._attributed = {  # the utterances of each paragraph that are attributed
            position: [n for n, item in enumerate(items) if item.nearest]
            for position, items in attributions.items()
        }
        self._told = [
            (position, mention.start, mention.person)
            for position, mentions in enumerate(chapter.mentions)
            for mention in mentions
            if mention.person is not None and not mention.in_speech
        ]
        self._places = [(position, start) for position, start, _ in self._told]
        self._runs = {position: self._read_runs(position) for position in self.spoken}
        self._calls = {position: self._read_calls(position) for position in self.spoken}
        self._whole = {position: _join_calls(*self._calls[position]) for position in self.spoken}
        self._addressed = {position: self._find_addressee(position) for position in self.spoken}

    def read(self, position: int) -> list[Clues]:
        """The clues of the utterances of a paragraph of speech."""
        order = bisect_left(self.spoken, position)
        near = {
            n: self.spoken[order + n] for n in (-2, -1, 1, 2) if 0 <= order + n < len(self.spoken)
        }
        last = near.get(-1)
        first_between = last + 1 if last is not None else max(0, position - _BEFORE_FIRST)
        between = range(first_between, position)
        paragraph, mentions = self._paragraphs[position], self._mentions[position]
        shared = self._shared_cues(position, between, near)
        people_between = self._people(between)
        own = self._people([position])
        soon = self._people(range(position + 1, min(position + 1 + _AHEAD, len(self._mentions))))
        calls_beside = self._read_calls_beside(position)
        found: list[Clues] = []
        text, at = paragraph.text, 0
        ends = [start for start, _ in paragraph.utterances[1:]] + [len(text)]
        for number, ((start, end), following) in enumerate(
            zip(paragraph.utterances, ends, strict=True)
        ):
            attribution = self._attributions[position][number]
            before, after = text[at:start].strip(), text[end:following].strip()
            cues = dict(shared)
            cues[Cue.SAYS_AFTER], cues[Cue.SAYS_BEFORE] = attribution
            beside = self._beside(position, number)
            if beside is not None:
                cues[Cue.SAYS_BESIDE] = self._attributions[position][beside].nearest
            cues[Cue.LEADS_IN] = find_subject(text, at, start, mentions) if before else None
            if before:
                cues[Cue.LEADS_IN_LAST] = find_last_subject(text, at, start, mentions)
                if cues[Cue.ADDRESSED_BETWEEN] is None:
                    cues[Cue.ADDRESSED_BETWEEN] = find_addressee(text, at, start, mentions)
            acting = self._acting(text, end, following, attribution)
            if after and acting < following:
                cues[Cue.ACTS_AFTER] = find_subject(text, acting, following, mentions)
                names = [
                    mention
                    for mention in mentions_between(mentions, acting, following)
                    if not mention.in_speech and mention.kind is MentionKind.NAME
                ]
                cues[Cue.NAMED_AFTER] = names[-1] if names else None
            said = before[-_NEAR:] + (text[end : end + _NEAR] if attribution.nearest else "")
            words = [word.lower() for word in _WORD.findall(said)]
            found.append(
                Clues(
                    span=paragraph.spans[number],
                    paragraph=position,
                    text=text[start:end],
                    is_first=number == 0,
                    is_headed=bool(paragraph.head),
                    n_between=len(between) if last is not None else 2 * _BEFORE_FIRST,
                    n_before=len(before),
                    n_after=len(after),
                    goes_on=_goes_on(words),
                    answers=any(word in ANSWERS for word in words),
                    last_asks=last is not None and self._asks(last),
                    cues=tuple(cues.get(cue) for cue in Cue),
                    recent=self._recent(position, start),
                    recent_after=self._recent(position, following),
                    soon=soon,
                    own=own,
                    between=people_between,
                    calls=self._calls[position][number],
                    beside=calls_beside[number],
                    beside_before=beside is not None and beside < number,
                    last=self._whole.get(near.get(-1, -1), Calls()),
                    next=self._whole.get(near.get(1, -1), Calls()),
                    last_but_one=self._whole.get(near.get(-2, -1), Calls()).called,
                    next_but_one=self._whole.get(near.get(2, -1), Calls()).called,
                )
            )
            at = end
        return found

    def _shared_cues(
        self, position: int, between: range, near: Mapping[int, int]
    ) -> dict[Cue, Mention | None]:
        """The cues that all utterances of a paragraph have in common."""
        cues: dict[Cue, Mention | None] = {Cue.ADDRESSED: self._addressed[position]}
        cues[Cue.ADDRESSED_BETWEEN] = None
        for place in between:
            text, mentions = self._paragraphs[place].text, self._mentions[place]
            cues[Cue.BETWEEN_FIRST] = cues.get(Cue.BETWEEN_FIRST) or find_subject(
                text, 0, len(text), mentions
            )
            cues[Cue.BETWEEN_LAST] = find_last_subject(text, 0, len(text), mentions) or cues.get(
                Cue.BETWEEN_LAST
            )
            cues[Cue.ADDRESSED_BETWEEN] = (
                find_addressee(text, 0, len(text), mentions) or cues[Cue.ADDRESSED_BETWEEN]
            )
        after = position + 1
        if after < len(self._paragraphs) and not self._paragraphs[after].utterances:
            text = self._paragraphs[after].text
            cues[Cue.PARAGRAPH_AFTER] = find_subject(text, 0, len(text), self._mentions[after])
        for cue, n in ((Cue.SAID_LAST, -1), (Cue.SAYS_NEXT, 1), (Cue.SAYS_NEXT_BUT_ONE, 2)):
            if n in near:
                cues[cue] = self._first_attribution(near[n])
        for cue, n in ((Cue.ADDRESSED_LAST, -1), (Cue.ADDRESSED_NEXT, 1)):
            if n in near:
                cues[cue] = self._addressed[near[n]]
        return cues

    def _beside(self, position: int, number: int) -> int | None:
        """The nearest other utterance of the paragraph that is attributed.

        Where no narration stands between two utterances, another one begins to speak.
        """
        attributed = self._attributed[position]
        at = bisect_left(attributed, number)
        before = attributed[at - 1 : at] if at else []
        after = [n for n in attributed[at : at + 2] if n != number][:1]
        runs = self._runs[position]
        near = [n for n in (*before, *after) if runs[n] == runs[number]]
        return min(near, key=lambda n: abs(n - number), default=None)

    def _read_runs(self, position: int) -> list[int]:
        """The run of each utterance: narration stands between all utterances of one run."""
        paragraph = self._paragraphs[position]
        begins = (
            not _WORD.search(paragraph.text, end, start)
            for (_, end), (start, _) in pairwise(paragraph.utterances)
        )
        return list(accumulate(begins, initial=0))

    def _first_attribution(self, position: int) -> Mention | None:
        return next((found for a in self._attributions[position] if (found := a.nearest)), None)

    def _acting(self, text: str, start: int, end: int, attribution: Attribution) -> int:
        """The place after an utterance from which narration tells who acts."""
        if attribution.after is None:
            return start
        sentence = SENTENCE_END.search(text, start, end)
        return sentence.end() if sentence else end

    def _find_addressee(self, position: int) -> Mention | None:
        paragraph, mentions = self._paragraphs[position], self._mentions[position]
        edges = [0, *(place for pair in paragraph.utterances for place in pair)]
        pieces = list(zip(edges[::2], [*edges[1::2], len(paragraph.text)], strict=True))
        for start, end in reversed(pieces):
            if found := find_addressee(paragraph.text, start, end, mentions):
                return found
        return None

    def _read_calls(self, position: int) -> list[Calls]:
        paragraph, mentions = self._paragraphs[position], self._mentions[position]
        found: list[Calls] = []
        for start, end in paragraph.utterances:
            called, named = find_called(paragraph.text, start, end, mentions)
            man, woman = find_titles(paragraph.text[start:end])
            found.append(Calls(called, named, bool(man), bool(woman), man | woman))
        return found

    def _read_calls_beside(self, position: int) -> list[Calls]:
        """What the other utterances of its run call, for each utterance."""
        found: list[Calls] = []
        calls = zip(self._runs[position], self._calls[position], strict=True)
        for _, run in groupby(calls, key=itemgetter(0)):
            own = [item for _, item in run]
            before = accumulate(own[:-1], _join_calls, initial=Calls())
            after = accumulate(reversed(own[1:]), _join_calls, initial=Calls())
            found += map(_join_calls, before, reversed(list(after)))
        return found

    def _asks(self, position: int) -> bool:
        paragraph = self._paragraphs[position]
        return paragraph.text[: paragraph.utterances[-1][1]].rstrip(_QUOTES).endswith("?")

    def _people(self, positions: Sequence[int]) -> frozenset[int]:
        """The people whom the narration of paragraphs mentions."""
        return frozenset(
            mention.person
            for position in positions
            for mention in self._mentions[position]
            if mention.person is not None and not mention.in_speech
        )

    def _recent(self, position: int, start: int) -> dict[int, Recency]:
        place = bisect_left(self._places, (position, start))
        found: dict[int, Recency] = {}
        for told, _, person in reversed(self._told[max(0, place - _REMEMBERED) : place]):
            if person not in found:
                found[person] = Recency(len(found), position - told)
        return found


def _join_calls(*calls: Calls) -> Calls:
    return Calls(
        frozenset().union(*(item.called for item in calls)),
        frozenset().union(*(item.named for item in calls)),
        any(item.calls_man for item in calls),
        any(item.calls_woman for item in calls),
        frozenset().union(*(item.titles for item in calls)),
    )


def _goes_on(words: Sequence[str]) -> bool:
    """Whether words of narration say that the last speaker continues."""
    particles = zip(words, words[1:], strict=False)
    return any(word in GOES_ON for word in words) or any(
        SAY_WITH_PARTICLE.get(word) == particle for word, particle in particles
    )
