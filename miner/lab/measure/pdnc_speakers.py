"""Speakers scored against the Project Dialogism Novel Corpus (PDNC), which people annotated.

There are two tasks. With characters given, the cast is made from the list of the corpus, and a
speaker is right if it is the annotated character. End to end, the characters are found, too. Each
found one then stands for at most one of the corpus, chosen so that as many mentions as possible are
aliases of the character they stand for. In both, a quotation has the speaker of most of its letters
in the utterances that the miner finds. A quotation without any counts as wrong.

Each annotated addressee of a quotation counts, and each one found for an utterance of it; one is
right if it stands for an annotated character. An annotated group of no name counts for nobody.

Where nobody calls the narrator of a novel by name, neither the text nor the list says who it is.
That is taken from the gold: such a narrator stands for the character most of whose words it has.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from miner.annotation.annotations import UNKNOWN, AnnotatedBook, Annotation
from miner.extras import import_extra
from miner.lab.gold.editions import BookReader, Coverage, Edition, read_editions_at_hand
from miner.lab.gold.pdnc import (
    PdncCharacter,
    PdncNovel,
    Quotation,
    read_character_list,
    read_novels_at_hand,
    read_quotations,
)
from miner.lab.measure.quotations import align_book, block_starts
from miner.lab.measure.scores import score_from_draws
from miner.lab.measure.speakers import (
    ALL,
    CONTEXT,
    KINDS,
    JudgedBooks,
    JudgedSpeaker,
    ShownError,
    Speak,
    people_at_hand,
)
from miner.people.cast import Character, Kind, character_of
from miner.people.character_files import SpokenBook
from miner.score import Score
from miner.speech.read import parse_spans

GIVEN, END_TO_END = "given", "end_to_end"  # the tasks
UNKNOWABLE = "_unknowable"  # the speaker of a quotation that the annotators could not tell
_NOBODY = "_"  # the names of the corpus for those who are no character begin with it
_NOT_A_WORD = re.compile(r"[^\w ]")
_NOUN_SHARE = 0.5  # of a mention, that a noun counts when characters are matched

# Returns the systems that find the speakers of a novel, with names that are the same for all.
SystemsOf = Callable[[PdncNovel], Sequence[tuple[str, Speak]]]


@dataclass(frozen=True, slots=True)
class NovelSpeakerScore:
    """The quotations of one novel whose speaker is right, and of how many, of all and by kind."""

    title: str
    id: str  # its Gutenberg number
    right: Mapping[str, int]
    counts: Mapping[str, int]
    # the numbers of addressees that are right, that were found and that are annotated
    addressees: tuple[int, int, int] = (0, 0, 0)

    def accuracy(self, kind: str = ALL) -> float | None:
        """The share of the quotations of a kind that have the right speaker; None without any."""
        return self.right.get(kind, 0) / self.counts[kind] if self.counts.get(kind) else None


@dataclass(frozen=True, slots=True)
class NovelScores:
    """The scores of all novels by one system that finds speakers."""

    novels: tuple[NovelSpeakerScore, ...]

    def mean(self, kind: str = ALL, resamples: int = 1000, seed: int = 0) -> Score:
        """The mean accuracy of the novels that have quotations of a kind."""
        return self._mean([novel.accuracy(kind) for novel in self.novels], resamples, seed)

    def addressees(self, resamples: int = 1000, seed: int = 0) -> tuple[Score, Score]:
        """The mean precision and recall of the addressees of each novel."""
        counted = [novel.addressees for novel in self.novels]
        precision = [right / found if found else None for right, found, _ in counted]
        recall = [right / listed if listed else None for right, _, listed in counted]
        return self._mean(precision, resamples, seed), self._mean(recall, resamples, seed)

    @staticmethod
    def _mean(values: Sequence[float | None], resamples: int, seed: int) -> Score:
        found = [value for value in values if value is not None]
        if len(found) < 2:
            return Score(found[0] if found else None, None, None)
        drawn = np.random.default_rng(seed).choice(found, (resamples, len(found))).mean(axis=1)
        return score_from_draws(sum(found) / len(found), drawn)


@dataclass(frozen=True, slots=True)
class TaskScores:
    """The scores of all systems in one task."""

    rows: tuple[tuple[str, NovelScores], ...]  # by the name of the system
    errors: tuple[ShownError, ...]  # of the first system

    def to_json(self, resamples: int, seed: int) -> dict[str, Any]:
        """The scores as plain values, without the errors."""
        return {
            name: {
                "mean": {
                    kind: asdict(scores.mean(kind, resamples, seed)) for kind in (ALL, *KINDS)
                },
                "addressees": dict(
                    zip(
                        ("precision", "recall"),
                        map(asdict, scores.addressees(resamples, seed)),
                        strict=True,
                    )
                ),
                "novels": {
                    novel.title: {
                        kind: {"right": novel.right.get(kind, 0), "quotations": count}
                        for kind, count in novel.counts.items()
                    }
                    for novel in scores.novels
                },
            }
            for name, scores in self.rows
        }


@dataclass(frozen=True, slots=True)
class CorpusSpeakerScores:
    """The scores of the novels that are at hand, and what they are of."""

    given: TaskScores  # with the characters given
    end_to_end: TaskScores  # characters are found, too
    n_unknowable: int  # quotations whose speaker the annotators could not tell; they are left out
    coverage: Coverage

    def to_json(self, resamples: int = 1000, seed: int = 0) -> dict[str, Any]:
        """The scores as plain values, without the errors."""
        return {
            GIVEN: self.given.to_json(resamples, seed),
            END_TO_END: self.end_to_end.to_json(resamples, seed),
            "unknowable": self.n_unknowable,
            "coverage": self.coverage.to_json(),
        }


def score_corpus_speakers(
    corpus: Path, read: BookReader, systems_of: SystemsOf
) -> CorpusSpeakerScores:
    """Scores the speakers of every novel of the corpus that has a Gutenberg number.

    A novel that is not at hand is left out and counted.
    """
    import_extra("scipy", "lab")
    opened, coverage = read_novels_at_hand(corpus, read)
    judged = JudgedBooks(GIVEN, END_TO_END, shown=[GIVEN, END_TO_END])
    n_unknowable = 0
    for novel, content in opened:
        gold = NovelGold(novel, content)
        n_unknowable += gold.n_unknowable
        judged.add(gold, systems_of(novel))
    given, end_to_end = (
        TaskScores(
            tuple(
                (name, NovelScores(tuple(map(_count, [novel for novel, _ in opened], of_novels))))
                for name, of_novels in of_system.items()
            ),
            tuple(judged.errors[task]),
        )
        for task, of_system in judged.of_task.items()
    )
    return CorpusSpeakerScores(given, end_to_end, n_unknowable, coverage)


def _count(novel: PdncNovel, judged: Iterable[JudgedSpeaker]) -> NovelSpeakerScore:
    right: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    addressees = [0, 0, 0]
    for item in judged:
        addressees = [sum(pair) for pair in zip(addressees, item.addressees, strict=True)]
        for kind in {ALL, item.kind} - {""}:
            counts[kind] += 1
            right[kind] += item.is_right
    n_right, n_found, n_listed = addressees
    return NovelSpeakerScore(
        novel.title, novel.gutenberg_id, dict(right), dict(counts), (n_right, n_found, n_listed)
    )


class NovelGold:
    """The quotations of one novel on the spans that the miner finds."""

    def __init__(self, novel: PdncNovel, data: bytes) -> None:
        """Reads the novel and its Gutenberg file."""
        self._novel = novel
        annotated = read_quotations(novel.folder)
        self._text = annotated.text
        self._quotations = [item for item in annotated.quotations if item.speaker != UNKNOWABLE]
        self.n_unknowable = len(annotated.quotations) - len(self._quotations)
        self._listed = read_character_list(novel.folder)
        # Thoughts in quotation marks count as quotations, because the corpus counts them.
        self._spans = parse_spans(data, novel.gutenberg_id, thoughts=True)
        self._placed = self._place_utterances()

    def judge(self, speak: Speak, task: str) -> list[JudgedSpeaker]:
        """Judges the speakers of the quotations, with the characters given or found."""
        given = task == GIVEN
        characters = _given_characters(self._listed) if given else None
        spoken = speak(self._spans, characters)
        found = [self._speaker_of(quotation, spoken) for quotation in self._quotations]
        said = [speaker for speaker, _, _ in found]
        numbers = _numbers_of_names(self._listed)
        gold = [numbers.get(quotation.speaker.strip()) for quotation in self._quotations]
        if characters is not None:
            stands_for = {character.id: n for n, character in enumerate(characters)}
        else:
            stands_for = match_characters(spoken, self._listed)
        narrators = _narrators(spoken, said, gold)
        if not given:  # one to one
            taken = set(narrators.values())
            stands_for = {id: n for id, n in stands_for.items() if n not in taken}
        stands_for |= narrators
        named = {character.id: character.name for character in spoken.characters}
        meant = {number: named.get(id, "") for id, number in stands_for.items()}
        return [
            JudgedSpeaker(
                book=self._novel.gutenberg_id,
                chapter=self._spans.spans[place].chapter if place is not None else 0,
                kind=quotation.type.lower(),
                is_right=number is not None and stands_for.get(speaker or "") == number,
                keeps_turn=None,
                gold=quotation.speaker,
                meant=meant.get(number, "") if number is not None else "",
                answer=named.get(speaker or "", ""),
                is_found=is_found,
                place=row,
                addressees=_count_addressees(
                    [stands_for.get(id) for id in self._addressees_of(quotation, spoken)],
                    {
                        numbers.get(name.strip())
                        for name in quotation.addressees
                        if not name.startswith(_NOBODY)
                    },
                ),
            )
            for row, (quotation, number, (speaker, place, is_found)) in enumerate(
                zip(self._quotations, gold, found, strict=True)
            )
        ]

    def show_errors(self, judged: Iterable[JudgedSpeaker]) -> list[ShownError]:
        """The wrong ones with their context and the people at hand."""
        near = people_at_hand(self._spans)
        shown: list[ShownError] = []
        for item in judged:
            if item.is_right:
                continue
            quotation = self._quotations[item.place]
            (start, _), (_, end) = quotation.spans[0], quotation.spans[-1]
            at_hand = {
                name
                for part in quotation.spans
                for _, _, place in _overlapping(self._placed, *part)
                for name in near.get(place, ())
            }
            shown.append(
                ShownError(
                    item,
                    self._text[start:end],
                    self._text[max(0, start - CONTEXT) : start],
                    self._text[end : end + CONTEXT],
                    tuple(sorted(at_hand)),
                )
            )
        return shown

    def _place_utterances(self) -> list[tuple[int, int, int]]:
        """The start and end of each utterance in the corpus's text, and its position in the spans.

        An utterance that the corpus's text lacks is left out.
        """
        book = self._spans.book
        alignment, starts = align_book(book, self._text), block_starts(book)
        placed: list[tuple[int, int, int]] = []
        for position, span in enumerate(self._spans.spans):
            if span.is_utterance:
                at = starts[span.paragraph]
                place = alignment.to_b(at + span.start, at + span.end)
                if place is not None:
                    placed.append((*place, position))
        return sorted(placed)

    def _addressees_of(self, quotation: Quotation, spoken: SpokenBook) -> set[str]:
        return {
            one
            for start, end in quotation.spans
            for _, _, place in _overlapping(self._placed, start, end)
            for one in spoken.spans[place].addressees
        }

    def _speaker_of(
        self, quotation: Quotation, spoken: SpokenBook
    ) -> tuple[str | None, int | None, bool]:
        """Returns who has most of its letters, one utterance of it, and whether it is found."""
        letters: Counter[str | None] = Counter()
        position: int | None = None
        for start, end in quotation.spans:
            for first, after, place in _overlapping(self._placed, start, end):
                letters[spoken.spans[place].speaker] += min(end, after) - max(start, first)
                position = place
        speaker = letters.most_common(1)[0][0] if letters else None
        return speaker, position, bool(letters)


def _count_addressees(
    found: Collection[int | None], listed: Collection[int | None]
) -> tuple[int, int, int]:
    """Returns how many are right, found and annotated; None is a character of nobody's list."""
    right = {number for number in found if number is not None and number in listed}
    return len(right), len(found), len(listed)


def _given_characters(listed: Sequence[PdncCharacter]) -> list[Character]:
    characters: list[Character] = []
    taken: set[str] = set()
    for item in listed:
        character = character_of(item.name, item.aliases, item.gender, taken)
        taken.add(character.id)
        characters.append(character)
    return characters


def _numbers_of_names(listed: Sequence[PdncCharacter]) -> dict[str, int]:
    numbers = {item.name.strip(): n for n, item in reversed(list(enumerate(listed)))}
    for n, item in enumerate(listed):
        for alias in item.aliases:
            numbers.setdefault(alias.strip(), n)
    return numbers


def _overlapping(
    placed: Sequence[tuple[int, int, int]], start: int, end: int
) -> Iterator[tuple[int, int, int]]:
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


def _narrators(
    spoken: SpokenBook, said: Sequence[str | None], gold: Sequence[int | None]
) -> dict[str, int]:
    """Returns for whom a narrator without a name stands: the one most of whose words it has."""
    votes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    narrators = {
        item.id for item in spoken.characters if item.kind is Kind.NARRATOR and not item.n_mentions
    }
    for speaker, number in zip(said, gold, strict=True):
        if speaker in narrators and number is not None:
            votes[speaker][number] += 1
    return {speaker: counts.most_common(1)[0][0] for speaker, counts in votes.items()}


_MIN_OVERLAP = 0.5  # share of a span that must lie in a quotation of the corpus
_MIN_SEEN = 2  # spans needed to take two names that share no word for one person
_MIN_SHORT = 3  # letters of a word that may be a short form of a longer one
_WORD = re.compile(r"\w+")
_TITLES = set("mr mrs miss ms dr sir lady lord the a an of old young little uncle aunt".split())


@dataclass(frozen=True, slots=True)
class SpeakerPair:
    """An annotated utterance, and its speaker in the corpus (`theirs`)."""

    book: str
    fact: Annotation
    theirs: str
    agree: bool


@dataclass(frozen=True, slots=True)
class ComparedSpeakers:
    """The utterances that both annotate, and of how many annotated chapters they are."""

    pairs: tuple[SpeakerPair, ...]
    coverage: Coverage


def compare_speakers(
    books: Sequence[AnnotatedBook], novels: Sequence[PdncNovel], read: BookReader
) -> ComparedSpeakers:
    """Pairs our speaker with the corpus's, for each utterance that both annotate, in reading order.

    Each book is aligned with the corpus's text by its letters. Two names agree in two cases: they
    share a word that is no title, or a short form of it; or the corpus gives their name to more
    than half of the utterances of our name in the book, and to at least two of them. A book that is
    not at hand is left out and counted.
    """
    of_id = {novel.gutenberg_id: novel for novel in novels}
    of_both = [book for book in books if book.card.book in of_id]
    opened, coverage = read_editions_at_hand(of_both, read)
    pairs: list[SpeakerPair] = []
    for edition in opened:
        pairs += _pair_speakers(edition, of_id[edition.annotated.card.book])
    return ComparedSpeakers(tuple(pairs), coverage)


def _pair_speakers(edition: Edition, novel: PdncNovel) -> list[SpeakerPair]:
    """The utterances of one book that the corpus annotates, too."""
    annotated = read_quotations(novel.folder)
    book = edition.book_spans.book
    at, alignment = block_starts(book), align_book(book, annotated.text)
    spans = sorted(
        (start, end, quotation.speaker)
        for quotation in annotated.quotations
        for start, end in quotation.spans
    )
    starts = [start for start, _, _ in spans]
    found: list[tuple[Annotation, str]] = []
    for span, fact in zip(edition.located.book_spans.spans, edition.located.facts, strict=True):
        if fact is None or not fact.is_utterance:
            continue
        place = alignment.to_b(at[span.paragraph] + span.start, at[span.paragraph] + span.end)
        if place is None:
            continue
        inside: Counter[str] = Counter()
        first = max(0, bisect_right(starts, place[0]) - 1)
        for start, end, speaker in spans[first:]:
            if start >= place[1]:
                break
            inside[speaker] += max(0, min(end, place[1]) - max(start, place[0]))
        speaker, n = next(iter(inside.most_common(1)), ("", 0))
        if n >= _MIN_OVERLAP * (place[1] - place[0]):
            found.append((fact, speaker))
    is_same = _name_matcher([(fact.speaker, theirs) for fact, theirs in found])
    return [
        SpeakerPair(book.id, fact, theirs, is_same(fact.speaker, theirs)) for fact, theirs in found
    ]


def _name_matcher(named: Sequence[tuple[str, str]]) -> Callable[[str, str], bool]:
    """Returns a function that says whether our name and their name belong to one person."""
    ours: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for a, b in named:
        ours[a][b] += 1

    def is_same(a: str, b: str) -> bool:
        if a == UNKNOWN:
            return False
        if any(_is_name_of(x, y) for x in _words(a) for y in _words(b)):
            return True
        most, n = ours[a].most_common(1)[0]
        return most == b and n >= _MIN_SEEN and 2 * n > ours[a].total()

    return is_same


def _is_name_of(one: str, other: str) -> bool:
    """Whether two words are the same name, or one is a short form of the other ("Kit", "Kitty")."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and (len(short) >= _MIN_SHORT or short == long)


def _words(name: str) -> set[str]:
    return set(_WORD.findall(name.casefold())) - _TITLES
