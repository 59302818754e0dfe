"""A tagged book -> the speaker of each utterance, and tags that agree with the speakers.

A network of two hidden layers scores the candidates of an utterance. A beam search finds the most
probable sequence of speakers of a chapter. The tags say where a conversation opens, and whether the
last speaker goes on. The speakers say the latter, too. Both have their say in the search: the odds
that the tagger gives to "the last speaker goes on" are added to those of the network. Then the tags
of utterances that open no conversation follow the speakers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from miner.people.character_files import NO_CHARACTERS, CharacterLists, SpokenBook
from miner.people.clues import find_clues, keep_names
from miner.people.features import (
    FEATURES,
    HISTORY,
    Array,
    CandidateChapter,
    History,
    history_features,
    read_candidates,
)
from miner.people.mentions import BookPeople, Person, read_people
from miner.speech.spans import BookSpans
from miner.speech.tags import CONTINUATION, Tag, TaggedSpan
from miner.speech.weight_file import find_weights, read_weights
from miner.threads import one_blas_thread

N_INPUTS = len(FEATURES) + len(HISTORY)


class NetworkScorer:
    """Scores candidates with trained weights."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        """Takes the weights by name; see `weight_shapes`."""
        for name in sorted(weights.keys() ^ weight_shapes(0, 0).keys()):
            kind = "a weight" if name in weights else "no"
            raise InputError(f"found {kind} {name}, expected those of a network of speakers")
        expected = weight_shapes(weights["first.bias"].size, weights["second.bias"].size)
        for name, shape in expected.items():
            if weights[name].shape != shape:
                raise InputError(f"found {name} of shape {weights[name].shape}, expected {shape}")
        first = weights["first.weight"].astype(np.float32).T
        self._of_page = np.ascontiguousarray(first[: len(FEATURES)])
        self._of_history = np.ascontiguousarray(first[len(FEATURES) :])
        self._weights = {name: weight.astype(np.float32) for name, weight in weights.items()}

    def read(self, chapter: CandidateChapter) -> list[Scores]:
        """Returns the part of the first layer that the history does not change."""
        if not chapter.features:
            return []
        rows = np.concatenate(chapter.features).astype(np.float32, copy=False)
        hidden = rows @ self._of_page + self._weights["first.bias"]
        ends = np.cumsum([len(rows) for rows in chapter.features])
        return np.split(hidden, ends[:-1])

    def score(self, read: Scores, history: Scores) -> Scores:
        """Returns the score of each row: (rows,)."""
        hidden = np.maximum(read + history @ self._of_history, 0)
        weights = self._weights
        hidden = np.maximum(hidden @ weights["second.weight"].T + weights["second.bias"], 0)
        return (hidden @ weights["score.weight"].T + weights["score.bias"])[:, 0]


def weight_shapes(first: int, second: int) -> dict[str, tuple[int, ...]]:
    """Returns the shape of each weight of a network with two hidden layers of these sizes."""
    return {
        "first.weight": (first, N_INPUTS),
        "first.bias": (first,),
        "second.weight": (second, first),
        "second.bias": (second,),
        "score.weight": (1, second),
        "score.bias": (1,),
    }


BEAM = 8  # histories that are followed at once

Scores = NDArray[np.float32]


class Scorer(Protocol):
    """Scores candidates. What the history does not change is computed once for a chapter."""

    def read(self, chapter: CandidateChapter) -> list[Scores]:
        """Returns what `score` needs of each utterance: a row for each candidate."""
        ...

    def score(self, read: Scores, history: Scores) -> Scores:
        """Returns the score of each row: (rows,)."""
        ...


class Decoded(NamedTuple):
    """The speakers of a chapter."""

    speakers: tuple[int, ...]  # the number of the speaker of each utterance in the chapter
    # the probability of each speaker over all histories that were followed, so an unsure
    # speaker makes those who are inferred from it unsure
    confidence: tuple[float, ...]
    # the probability that the last speaker goes on, over the same histories
    goes_on: tuple[float, ...]


class _Step(NamedTuple):
    """A speaker, and the step before it, so that paths share what they have in common."""

    speaker: int
    confidence: float
    goes_on: float
    before: _Step | None


class _Path(NamedTuple):
    score: float
    history: History
    last: _Step | None


def _decoded(path: _Path) -> Decoded:
    steps: list[_Step] = []
    step = path.last
    while step is not None:
        steps.append(step)
        step = step.before
    steps.reverse()
    return Decoded(
        tuple(step.speaker for step in steps),
        tuple(step.confidence for step in steps),
        tuple(step.goes_on for step in steps),
    )


def decode_speakers(
    chapter: CandidateChapter,
    scorer: Scorer,
    continues: Sequence[float] | None = None,
    beam: int = BEAM,
) -> Decoded:
    """Returns the best sequence of speakers that the search finds."""
    paths = [_Path(0.0, History(), None)]
    utterances = zip(
        scorer.read(chapter), chapter.places, chapter.candidates, chapter.features, strict=True
    )
    for n, (read, place, candidates, features) in enumerate(utterances):
        history = np.concatenate(
            [history_features(path.history, place, candidates, features) for path in paths]
        )
        scores = scorer.score(np.tile(read, (len(paths), 1)), history).reshape(len(paths), -1)
        logs = scores.astype(np.float64)
        if continues is not None:
            for row, path in zip(logs, paths, strict=True):
                if path.history.last in candidates:
                    row[candidates.index(path.history.last)] += continues[n]
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        found = [
            (path.score + float(row[choice]), number, int(choice))
            for number, (path, row) in enumerate(zip(paths, logs, strict=True))
            for choice in np.argsort(-row, kind="stable")[:beam]
        ]
        found.sort(key=lambda item: (-item[0], item[1:]))
        scores_found = [score for score, *_ in found]
        shares = _shares(scores_found, [candidates[item[2]] for item in found])
        last = [candidates[choice] == paths[number].history.last for _, number, choice in found]
        goes_on = _shares(scores_found, last).get(True, 0.0)
        kept: dict[tuple[int, int, int], _Path] = {}
        for score, number, choice in found:
            path, speaker = paths[number], candidates[choice]
            after = path.history.after(speaker, place.paragraph)
            if after.key in kept:
                continue
            step = _Step(speaker, shares[speaker], goes_on, path.last)
            kept[after.key] = _Path(score, after, step)
            if len(kept) == beam:
                break
        paths = list(kept.values())
    return _decoded(paths[0])


def _shares(scores: Sequence[float], answers: Sequence[int]) -> dict[int, float]:
    """Returns the probability of each answer, from the scores of the histories that give it."""
    shares: dict[int, float] = {}
    for score, answer in zip(scores, answers, strict=True):
        shares[answer] = shares.get(answer, 0.0) + math.exp(score - scores[0])
    total = sum(shares.values())
    return {answer: share / total for answer, share in shares.items()}


TAG_SHARE = 2.0  # the weight of the tagger's odds; fitted on dev
_SUREST = 0.95  # no tag counts for more than one of this confidence; fitted on dev
_CONTINUING = frozenset(CONTINUATION.values())
WEIGHTS = Path(__file__).parent / "weights"


@dataclass(frozen=True, slots=True)
class SpeakerAttributor:
    """Finds the speakers of books."""

    scorer: Scorer  # scores the candidates
    # the number of histories that are followed at once; with 1 nothing is decided jointly
    beam: int = BEAM
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
        listed = _Characters(book, characters or ())
        continuing = {n for n, span in enumerate(book_spans.spans) if span.continues}
        spans = list(tagged)
        for chapter in book.chapters():
            clues = find_clues(chapter)
            if self.names_only:
                clues = keep_names(clues)
            candidates = read_candidates(clues, book, continuing)
            odds = [_odds_of_going_on(tagged[n], self.tag_share) for n in candidates.spans]
            decoded = decode_speakers(candidates, self.scorer, odds, self.beam)
            id_of = partial(listed.id_of, candidates.people, chapter.number)
            before: tuple[Tag, str | None] | None = None
            said: list[Said] = []
            utterances = zip(candidates.spans, clues.clues, *decoded, strict=True)
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
        return SpeakerAttributor(NetworkScorer(weights))
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
        if known := self._given.get((person.noun, chapter)):
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


def _odds_of_going_on(tagged: TaggedSpan, share: float) -> float:
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
