"""Speakers scored against the Project Dialogism Novel Corpus (PDNC), which people annotated.

There are two tasks. With characters given, the cast is made from the list of the corpus, and a
speaker is right if it is the annotated character. End to end, the characters are found, too. Each
found one then stands for at most one of the corpus, chosen so that as many mentions as possible are
aliases of the character they stand for.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from miner.annotation.coverage import Coverage
from miner.annotation.pdnc import (
    PdncCharacter,
    PdncNovel,
    Quotation,
    read_character_list,
    read_quotations,
)
from miner.characters.cast import Character, Kind, character_of
from miner.characters.spoken_book import Attributor, SpokenBook
from miner.dialogue.read import parse_spans
from miner.dialogue.spans import BookSpans
from miner.dialogue.tags import Tagger
from miner.evaluation.quotations import align_book, block_starts

TYPES = ("Explicit", "Anaphoric", "Implicit")
_NOT_A_WORD = re.compile(r"[^\w ]")
_NOUN_SHARE = 0.5  # of a mention, that a noun counts when characters are matched


@dataclass(frozen=True, slots=True)
class SpeakerScore:
    """The quotations of one novel whose speaker is right.

    Attributes:
        title: of the novel.
        id: its Gutenberg number.
        right: the number of right ones of all and of each type, by "all" or the type.
        counts: the number of all quotations and of each type.
    """

    title: str
    id: str
    right: Mapping[str, int]
    counts: Mapping[str, int]

    def accuracy(self, kind: str = "all") -> float | None:
        """The share of the quotations of a type that have the right speaker; None without any."""
        return self.right.get(kind, 0) / self.counts[kind] if self.counts.get(kind) else None


@dataclass(frozen=True, slots=True)
class CorpusSpeakerScores:
    """The scores of the novels that are at hand, and what they are of."""

    novels: tuple[SpeakerScore, ...]
    coverage: Coverage

    def mean(self, kind: str = "all") -> float:
        """The mean accuracy of the novels that have quotations of a type."""
        found = [value for novel in self.novels if (value := novel.accuracy(kind)) is not None]
        return sum(found) / len(found) if found else 0.0

    def interval(
        self, kind: str = "all", n_samples: int = 1000, seed: int = 0
    ) -> tuple[float, float]:
        """The 95% interval of the mean, from resampled novels."""
        found = [value for novel in self.novels if (value := novel.accuracy(kind)) is not None]
        if not found:
            return 0.0, 0.0
        draws = np.random.default_rng(seed).choice(found, (n_samples, len(found))).mean(axis=1)
        low, high = np.quantile(draws, (0.025, 0.975))
        return float(low), float(high)


def score_speakers(
    novel: PdncNovel, data: bytes, tagger: Tagger, attributor: Attributor, *, given: bool
) -> SpeakerScore:
    """Scores the speakers of one novel.

    Args:
        novel: the novel.
        data: the bytes of its Gutenberg file.
        tagger: tags the book.
        attributor: finds the speakers.
        given: whether the list of characters is given.
    """
    annotated = read_quotations(novel.folder)
    listed = read_character_list(novel.folder)
    # Thoughts in quotation marks count as quotations, because the corpus counts them.
    book_spans = parse_spans(data, novel.gutenberg_id, thoughts=True)
    characters = _given_characters(listed) if given else None
    spoken = attributor.attribute(book_spans, tagger.tag(book_spans), characters)
    said = _speakers_of_quotations(book_spans, spoken, annotated.text, annotated.quotations)
    numbers = _numbers_of_names(listed)
    gold = [numbers.get(quotation.speaker) for quotation in annotated.quotations]
    if given:
        assert characters is not None
        stands_for = {character.id: n for n, character in enumerate(characters)}
    else:
        stands_for = match_characters(spoken, listed)
    stands_for |= _narrator(spoken, said, gold)
    right: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for quotation, speaker, number in zip(annotated.quotations, said, gold, strict=True):
        is_right = number is not None and stands_for.get(speaker or "") == number
        for kind in {"all", quotation.type} - {""}:
            counts[kind] += 1
            right[kind] += is_right
    return SpeakerScore(novel.title, novel.gutenberg_id, dict(right), dict(counts))


def _given_characters(listed: Sequence[PdncCharacter]) -> list[Character]:
    characters: list[Character] = []
    taken: set[str] = set()
    for item in listed:
        character = character_of(item.name, item.aliases, item.gender, taken)
        taken.add(character.id)
        characters.append(character)
    return characters


def _numbers_of_names(listed: Sequence[PdncCharacter]) -> dict[str, int]:
    numbers = {item.name: n for n, item in reversed(list(enumerate(listed)))}
    for n, item in enumerate(listed):
        for alias in item.aliases:
            numbers.setdefault(alias, n)
    return numbers


def _speakers_of_quotations(
    book_spans: BookSpans, spoken: SpokenBook, text: str, quotations: Sequence[Quotation]
) -> list[str | None]:
    """Returns the speaker of most letters of each quotation; None where none is known."""
    alignment, starts = align_book(book_spans.book, text), block_starts(book_spans.book)
    placed: list[tuple[int, int, str | None]] = []
    for item in spoken.spans:
        span = item.span
        if span.is_utterance:
            at = starts[span.paragraph]
            place = alignment.to_b(at + span.start, at + span.end)
            if place is not None:
                placed.append((*place, item.speaker))
    placed.sort(key=lambda item: item[:2])
    found: list[str | None] = []
    for quotation in quotations:
        letters: Counter[str | None] = Counter()
        for start, end in quotation.spans:
            for first, after, speaker in _overlapping(placed, start, end):
                letters[speaker] += min(end, after) - max(start, first)
        found.append(letters.most_common(1)[0][0] if letters else None)
    return found


def _overlapping(
    placed: Sequence[tuple[int, int, str | None]], start: int, end: int
) -> Iterable[tuple[int, int, str | None]]:
    from bisect import bisect_left

    position = bisect_left(placed, start, key=lambda item: item[1] - 1)
    while position < len(placed) and placed[position][0] < end:
        if placed[position][1] > start:
            yield placed[position]
        position += 1


def match_characters(spoken: SpokenBook, listed: Sequence[PdncCharacter]) -> dict[str, int]:
    """Returns for each found character, by id, the character of the list that it stands for.

    No two stand for the same one. The sum of the mentions by an alias of the list is the largest
    possible (Kuhn, "The Hungarian method for the assignment problem", 1955).
    """
    from scipy.optimize import linear_sum_assignment

    aliases = [{_folded(alias) for alias in (item.name, *item.aliases)} for item in listed]
    heads = [{alias.rpartition(" ")[2] for alias in of_item} for of_item in aliases]
    shared = np.zeros((len(spoken.characters), len(listed)))
    for row, character in zip(shared, spoken.characters, strict=True):
        if character.kind is Kind.UNNAMED:
            row[:] = [_NOUN_SHARE * (character.name.split()[-1] in of_item) for of_item in heads]
            continue
        own = [_folded(alias) for alias in character.aliases]
        for n, of_item in enumerate(aliases):
            row[n] = sum(
                1 / (1 + rank) for rank, alias in enumerate(own) if alias in of_item
            ) * max(1, character.n_mentions)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return {
        spoken.characters[row].id: int(column)
        for row, column in zip(rows, columns, strict=True)
        if shared[row, column] > 0
    }


def _folded(alias: str) -> str:
    return _NOT_A_WORD.sub("", alias.lower()).removeprefix("the ").strip()


def _narrator(
    spoken: SpokenBook, said: Sequence[str | None], gold: Sequence[int | None]
) -> dict[str, int]:
    """Returns for whom the narrator stands: the character most of whose words it has.

    The text seldom names the narrator, and the list does not say who it is.
    """
    votes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    narrators = {item.id for item in spoken.characters if item.kind is Kind.NARRATOR}
    for speaker, number in zip(said, gold, strict=True):
        if speaker in narrators and number is not None:
            votes[speaker][number] += 1
    return {speaker: counts.most_common(1)[0][0] for speaker, counts in votes.items()}
