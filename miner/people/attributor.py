"""A tagged book -> the speaker of each utterance, and tags that agree with the speakers.

A network of two hidden layers scores how each candidate may speak an utterance, and `chain` finds
how probable each speaker is, over all sequences of speakers of the chapter. A name beside a verb of
saying is a fact: nobody else speaks, whatever is found around it. The tags say where a conversation
opens, and whether the last speaker goes on. The speakers say the latter, too, so the odds that the
tagger gives to it are added to the scores. Then the tags of utterances that open no conversation
follow the speakers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import printable
from miner.people.addressees import Said, find_addressees
from miner.people.cast import Character, Kind, find_unnamed, slug_of
from miner.people.chain import Scores, Way, best_sequence, sum_sequences
from miner.people.character_files import NO_CHARACTERS, CharacterLists, SpokenBook
from miner.people.clues import ChapterClues, find_clues, keep_names
from miner.people.features import FEATURES, Array, CandidateChapter, read_candidates
from miner.people.mentions import UNKNOWN_NUMBER, BookPeople, Person, read_people
from miner.speech.spans import BookSpans
from miner.speech.tags import CONTINUATION, Tag, TaggedSpan
from miner.speech.weight_file import find_weights, read_weights
from miner.threads import one_blas_thread


class Decider(Protocol):
    """Decides who speaks the utterances of a chapter."""

    def decide(self, chapter: CandidateChapter, continues: Sequence[float]) -> Decided:
        """Returns the speakers; `continues` are log-odds that the last speaker goes on."""
        ...


class Decided(NamedTuple):
    """The speakers of a chapter."""

    speakers: tuple[int, ...]  # the number of the speaker of each utterance in the chapter
    confidence: tuple[float, ...]  # the probability of each speaker
    goes_on: tuple[float, ...]  # the probability that the last speaker goes on


# Added to the scores of the unknown person, who is never the one that is sought.
_UNKNOWN_ODDS = math.log(0.25)


class NetworkDecider:
    """Decides by a network and by the chain of the speakers."""

    def __init__(self, weights: Mapping[str, Array], *, facts: bool = True) -> None:
        """Takes the weights by name; see `weight_shapes`.

        Without `facts` a name beside a verb of saying is a clue as others are.
        """
        for name in sorted(weights.keys() ^ weight_shapes(0, 0).keys()):
            kind = "a weight" if name in weights else "no"
            raise InputError(f"found {kind} {name}, expected those of a network of speakers")
        expected = weight_shapes(weights["first.bias"].size, weights["second.bias"].size)
        for name, shape in expected.items():
            if weights[name].shape != shape:
                raise InputError(f"found {name} of shape {weights[name].shape}, expected {shape}")
        self.weights = {name: weight.astype(np.float32) for name, weight in weights.items()}
        self._facts = facts

    def score(self, features: Scores) -> Scores:
        """Returns the score of each way to speak of each candidate: (candidates, ways)."""
        hidden, weights = features, self.weights
        for layer in ("first", "second"):
            hidden = hidden @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"]
            hidden = np.maximum(hidden, 0)
        return hidden @ weights["score.weight"].T + weights["score.bias"]

    def decide(self, chapter: CandidateChapter, continues: Sequence[float]) -> Decided:
        """Returns the speakers; see `Decider`."""
        if not chapter.features:
            return Decided((), (), ())
        rows = np.concatenate(chapter.features).astype(np.float32, copy=False)
        return decide_by_scores(chapter, self.score(rows), continues, facts=self._facts)


def decide_by_scores(
    chapter: CandidateChapter, scores: Scores, continues: Sequence[float], *, facts: bool = True
) -> Decided:
    """Returns the speakers by the scores of all candidates and the chain of the speakers.

    Args:
        chapter: a chapter with at least one utterance.
        scores: of each way to speak of each candidate: (candidates, ways).
        continues: log-odds that the last speaker goes on, for each utterance.
        facts: whether nobody else speaks where a name stands beside a verb of saying.
    """
    table, people = _spread(chapter, scores, facts=facts)
    table[:, :, people == UNKNOWN_NUMBER] += _UNKNOWN_ODDS
    table[Way.LAST] += np.array(continues, dtype=np.float32)[:, None]
    marginals = sum_sequences(table[:, None], [len(chapter.spans)]).marginals[:, 0]
    of_people, goes_on = marginals.sum(axis=0), marginals[Way.LAST].sum(axis=1)
    best = best_sequence(of_people, goes_on)
    return Decided(
        tuple(people[best].tolist()),
        tuple(of_people[np.arange(len(best)), best].tolist()),
        tuple(goes_on.tolist()),
    )


def _spread(
    chapter: CandidateChapter, scores: Scores, *, facts: bool
) -> tuple[Scores, NDArray[np.int64]]:
    """Returns a table of the scores of candidates, (ways, utterances, people), and who they are.

    Whoever is no candidate has minus infinity; with `facts` so has everybody but the candidate
    whom the page says to speak.
    """
    numbers = np.concatenate([np.array(items) for items in chapter.candidates])
    people, columns = np.unique(numbers, return_inverse=True)
    sizes = [len(items) for items in chapter.candidates]
    rows = np.repeat(np.arange(len(sizes)), sizes)
    if facts:
        fact = np.array([-1 if item is None else item for item in chapter.facts])[rows]
        kept = (fact < 0) | (fact == numbers)
        rows, columns, scores = rows[kept], columns[kept], scores[kept]
    table = np.full((len(Way), len(sizes), len(people)), -np.inf, dtype=np.float32)
    table[:, rows, columns] = scores.T
    return table, people


def weight_shapes(first: int, second: int) -> dict[str, tuple[int, ...]]:
    """Returns the shape of each weight of a network with two hidden layers of these sizes."""
    return {
        "first.weight": (first, len(FEATURES)),
        "first.bias": (first,),
        "second.weight": (second, first),
        "second.bias": (second,),
        "score.weight": (len(Way), second),
        "score.bias": (len(Way),),
    }


TAG_SHARE = 1.0  # the weight of the tagger's odds; fitted on dev
_SUREST = 0.95  # no tag counts for more than one of this confidence; fitted on dev
_CONTINUING = frozenset(CONTINUATION.values())
WEIGHTS = Path(__file__).parent / "weights"


@dataclass(frozen=True, slots=True)
class SpeakerAttributor:
    """Finds the speakers of books."""

    decider: Decider  # decides who speaks
    tag_share: float = TAG_SHARE  # the weight of the tagger's odds; with 0 the tags say nothing
    names_only: bool = False  # whether pronouns and nouns that may tell the speaker are not read

    @one_blas_thread()
    def attribute(
        self,
        book_spans: BookSpans,
        tagged: Sequence[TaggedSpan],
        characters: Sequence[Character] | None = None,
        *,
        revise: bool = True,
    ) -> SpokenBook:
        """Returns the speakers of a book; see `Attributor`."""
        # A file of tags may have other utterances than the book.
        book_spans = replace(book_spans, spans=tuple(item.span for item in tagged))
        book = read_people(book_spans, characters)
        return speak(
            book,
            tagged,
            read_chapters(book, book_spans, names_only=self.names_only),
            self.decider,
            characters,
            tag_share=self.tag_share,
            revise=revise,
        )


def read_chapters(
    book: BookPeople, book_spans: BookSpans, *, names_only: bool = False
) -> Iterator[tuple[ChapterClues, CandidateChapter]]:
    """Yields the chapters of a book with their clues and their candidates, in order."""
    continuing = {n for n, span in enumerate(book_spans.spans) if span.continues}
    for chapter in book.chapters():
        clues = find_clues(chapter)
        if names_only:
            clues = keep_names(clues)
        yield clues, read_candidates(clues, book, continuing)


def speak(
    book: BookPeople,
    tagged: Sequence[TaggedSpan],
    chapters: Iterable[tuple[ChapterClues, CandidateChapter]],
    decider: Decider,
    characters: Sequence[Character] | None = None,
    *,
    tag_share: float = TAG_SHARE,
    revise: bool = True,
) -> SpokenBook:
    """Returns the speakers and the addressees of a tagged book, as a decider has them.

    With `revise` the tags agree with the speakers.
    """
    listed = _Characters(book, characters or ())
    spans = list(tagged)
    for clues, candidates in chapters:
        odds = [odds_of_going_on(tagged[n], tag_share) for n in candidates.spans]
        decided = decider.decide(candidates, odds)
        id_of = partial(listed.id_of, candidates.people, clues.chapter.number)
        before: tuple[Tag, str | None] | None = None
        said: list[Said] = []
        utterances = zip(candidates.spans, clues.clues, *decided, strict=True)
        for place, clue, number, sure, goes_on in utterances:
            speaker = id_of(number)
            called = sorted(filter(None, map(id_of, clue.calls.called - {number})))
            item = spans[place]
            if revise:
                item = _agreeing(item, speaker, before, goes_on)
            spans[place] = replace(
                item,
                speaker=speaker,
                speaker_confidence=None if speaker is None else sure,
            )
            told = None if clue.told is None else id_of(clue.told)
            said.append(Said(item.tag is Tag.B_START, speaker, tuple(called), told))
            before = item.tag, speaker
        for place, people in zip(candidates.spans, find_addressees(said), strict=True):
            spans[place] = replace(spans[place], addressees=people)
    return SpokenBook(tuple(spans), listed.characters(), book.unlisted)


def attribute_speakers(
    book_spans: BookSpans,
    tagged: Sequence[TaggedSpan],
    characters: CharacterLists = NO_CHARACTERS,
    *,
    revise: bool,
) -> SpokenBook:
    """Returns the speakers of a book by the attributor of its language.

    A book in a language without one has no speakers. Speakers that are there already are kept; the
    attributor tells no more of them than their names.
    """
    if isinstance(tagged, SpokenBook):
        return tagged
    given = characters.get(book_spans.book.id)
    attributor = attributor_of(book_spans.language)
    if attributor is None:
        return SpokenBook(tuple(tagged), _characters_of(tagged, given or ()))
    spoken = attributor.attribute(book_spans, tagged, given, revise=revise)
    if any(item.speaker is not None for item in tagged):
        return SpokenBook(tuple(tagged), _characters_of(tagged, spoken.characters))
    return spoken


def _characters_of(
    tagged: Sequence[TaggedSpan], known: Sequence[Character]
) -> tuple[Character, ...]:
    """Returns the characters of a book whose speakers are there already."""
    speaking = dict.fromkeys(id for item in tagged for id in (item.speaker, *item.addressees) if id)
    kept = {one.id: one for one in known if one.id in speaking or one.kind is Kind.NAMED}
    for id in speaking:
        kept.setdefault(id, Character(id, id, (id,)))
    return tuple(kept.values())


@cache
def attributor_of(language: str) -> SpeakerAttributor | None:
    """Returns the attributor of a language that comes with the package; None if there is none."""
    path = find_weights(WEIGHTS, language)
    return load_attributor(path) if path else None


def load_attributor(path: Path) -> SpeakerAttributor:
    """Returns the attributor whose weights are in a file."""
    weights = read_weights(path)
    try:
        return SpeakerAttributor(NetworkDecider(weights))
    except ValueError as error:
        raise InputError(f"{printable(path)}: cannot be loaded: {error}") from error


class _Characters:
    """The characters of a book: its cast, and whoever else speaks or is called."""

    def __init__(self, book: BookPeople, given: Sequence[Character]) -> None:
        self._cast = book.cast.characters
        # A given list has the unnamed people of an earlier run, perhaps under better names.
        self._given = find_unnamed(given)
        self._others: dict[tuple[str, int | None], Character] = {}
        self._taken = {character.id for character in self._cast}

    def id_of(self, people: Sequence[Person], chapter: int, number: int) -> str | None:
        """The id of a person of a chapter; None for the unknown one."""
        person = people[number]
        if person.kind is None:
            return None
        if person.character is not None:
            return self._cast[person.character].id
        # The waiter of another chapter is another waiter; the narrator is the same.
        key = (person.noun, chapter if person.noun else None)
        if known := self._given.get(key):
            return known.id
        if key not in self._others:
            name = person.noun or Kind.NARRATOR.value
            slug = slug_of(f"{name}-{chapter}" if person.noun else name, self._taken)
            self._taken.add(slug)
            gender = person.gender if person.gender in ("m", "f") else ""
            self._others[key] = Character(slug, name, (name,), gender, person.kind, chapter=key[1])
        return self._others[key].id

    def characters(self) -> tuple[Character, ...]:
        """All characters: the cast, then the others as they appear."""
        return (*self._cast, *self._others.values())


def odds_of_going_on(tagged: TaggedSpan, share: float = TAG_SHARE) -> float:
    """Returns the weighted log-odds that the last speaker goes on, as the tag has them.

    A tag without confidence says nothing.
    """
    if tagged.tag is Tag.B_START or tagged.confidence is None:
        return 0.0  # a new conversation may begin with anybody
    sure = min(_SUREST, max(0.5, tagged.confidence))
    odds = share * math.log(sure / (1 - sure))
    return odds if tagged.tag in _CONTINUING else -odds


def _agreeing(
    item: TaggedSpan, speaker: str | None, before: tuple[Tag, str | None] | None, goes_on: float
) -> TaggedSpan:
    """Returns an utterance with the tag that agrees with its speaker.

    The tagger and the speakers each give the probability that the tag is right. The confidence is
    the mean of the two: of the means and products that were tried on dev, pairs at 0.7 were the
    most precise with it for the share that they keep.
    """
    tag = _agreeing_tag(item.tag, speaker, before)
    confidence = item.confidence
    if confidence is not None and before is not None and tag is not Tag.B_START:
        continues = tag in _CONTINUING
        by_tagger = confidence if continues == (item.tag in _CONTINUING) else 1 - confidence
        confidence = (by_tagger + (goes_on if continues else 1 - goes_on)) / 2
    return replace(item, tag=tag, confidence=confidence)


def _agreeing_tag(tag: Tag, speaker: str | None, before: tuple[Tag, str | None] | None) -> Tag:
    """Returns the tag of an utterance after the one before it in its chapter."""
    if before is None or tag is Tag.B_START:
        return tag
    last_tag, last = before
    is_known = speaker is not None and last is not None
    goes_on = speaker == last if is_known else tag in _CONTINUING
    return CONTINUATION[last_tag] if goes_on else Tag.B_OTHER
