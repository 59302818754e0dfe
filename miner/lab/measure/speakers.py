"""Our speakers compared with those of the Project Dialogism Novel Corpus (PDNC)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import UNKNOWN, AnnotatedBook, Annotation
from miner.annotation.matching import ends_of
from miner.lab.gold.editions import BookReader, Coverage, Edition, read_editions_at_hand
from miner.lab.gold.pdnc import PdncNovel, read_quotations
from miner.lab.measure.quotations import align_book, block_starts
from miner.lab.measure.scores import resample_chapters, score_from_draws
from miner.lab.measure.speaker_matching import match_speakers
from miner.people.cast import Character, Kind, find_unnamed
from miner.people.character_files import SpokenBook
from miner.people.clues import Clues, Cue, find_clues
from miner.people.mentions import MentionKind, Person, read_people
from miner.score import Score
from miner.speech.spans import BookSpans, Span
from miner.version import __version__

# Finds the speakers of a book. The characters are found, too, if None are given.
Speak = Callable[[BookSpans, Sequence[Character] | None], SpokenBook]

KINDS = ("explicit", "anaphoric", "implicit")
CONTEXT = 400  # characters before and after an utterance that a reader sees

_SAID = (Cue.SAYS_AFTER, Cue.SAYS_BEFORE, Cue.SAYS_BESIDE)


@dataclass(frozen=True, slots=True)
class JudgedSpeaker:
    """An annotated utterance and the speaker that was found.

    Attributes:
        book: the id of the book.
        chapter: the number of the chapter.
        kind: one of `KINDS`, or "" if the annotators gave none.
        is_right: whether the speaker is right.
        keeps_turn: whether it is right that the speaker is the last one or another one; None for
            the first utterance of a conversation and next to a speaker whom nobody knows.
        gold: the speaker as annotated.
        meant: the name of the character who is taken for that speaker; "" if none is.
        answer: the name of the character who was found; "" for nobody.
        is_found: whether the miner found the utterance.
        place: where it stands: the position of its span, or the place in the text.
    """

    book: str
    chapter: int
    kind: str
    is_right: bool
    keeps_turn: bool | None
    gold: str
    meant: str
    answer: str
    is_found: bool
    place: int


@dataclass(frozen=True, slots=True)
class ShownError:
    """A wrong utterance with what a reader needs to name the cause.

    Attributes:
        judged: the utterance.
        text: its text.
        before: the text before it.
        after: the text after it.
        candidates: the people who are near it on the page.
    """

    judged: JudgedSpeaker
    text: str
    before: str
    after: str
    candidates: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The error as plain values."""
        judged = self.judged
        return {
            "book": judged.book,
            "chapter": judged.chapter,
            "kind": judged.kind,
            "before": self.before,
            "utterance": self.text,
            "after": self.after,
            "gold": judged.gold,
            "gold_character": judged.meant,
            "answer": judged.answer,
            "found": judged.is_found,
            "candidates": list(self.candidates),
        }


def kind_of(clue: Clues) -> str:
    """Returns the kind of a quotation, one of `KINDS`."""
    said = next((mention for cue in _SAID if (mention := clue.cue(cue))), None)
    if said is None:
        return "implicit"
    return "explicit" if said.kind is MentionKind.NAME else "anaphoric"


def people_at_hand(
    book_spans: BookSpans, characters: Sequence[Character] | None = None
) -> dict[int, tuple[str, ...]]:
    """Returns the names of the people who are near each utterance on the page, in order.

    The keys are positions in the spans of the book.
    """
    book = read_people(book_spans, characters)
    found: dict[int, tuple[str, ...]] = {}
    for chapter in book.chapters():
        read = find_clues(chapter)
        people = [
            book.cast.characters[person.character].name
            if person.character is not None
            else person.noun or str(person.kind or "")
            for person in read.chapter.people
        ]
        for clue in read.clues:
            found[clue.span] = tuple(sorted({people[number] for number in clue.at_hand} - {""}))
    return found


def context_of(spans: Sequence[Span], position: int) -> tuple[str, str]:
    """Returns the text before and after a span in its chapter; a blank line parts paragraphs."""
    chapter = spans[position].chapter
    before, after = "", ""
    paragraph = spans[position].paragraph
    for span in reversed(spans[:position]):
        if span.chapter != chapter or len(before) > CONTEXT:
            break
        before = span.text + ("" if span.paragraph == paragraph else "\n\n") + before
        paragraph = span.paragraph
    paragraph = spans[position].paragraph
    for span in spans[position + 1 :]:
        if span.chapter != chapter or len(after) > CONTEXT:
            break
        after += ("" if span.paragraph == paragraph else "\n\n") + span.text
        paragraph = span.paragraph
    return before[-CONTEXT:], after[:CONTEXT]


def draw_errors(errors: Sequence[ShownError], n: int, seed: int = 0) -> list[ShownError]:
    """Returns some of the errors, drawn at random, in their order; all if there are no more."""
    n_drawn = min(n, len(errors))
    drawn = np.random.default_rng(seed).choice(len(errors), n_drawn, replace=False)
    return [errors[number] for number in sorted(drawn.tolist())]


ALL = "all"
CHANGE = "same or other"  # whether the speaker is the last one of the conversation
MEASURES = (ALL, *KINDS, CHANGE)


@dataclass(frozen=True, slots=True)
class SpeakerMeasures:
    """The accuracy of the speakers, with 95% intervals, and how many utterances were judged.

    Attributes:
        scores: of each of `MEASURES`.
        counts: the number of utterances of each.
    """

    scores: tuple[Score, ...]
    counts: tuple[int, ...]

    def __getitem__(self, name: str) -> Score:
        """The score of one of `MEASURES`."""
        return self.scores[MEASURES.index(name)]

    def to_json(self) -> dict[str, Any]:
        """The scores and counts by name, as plain values."""
        return {
            score.name: score.to_json() | {"utterances": count}
            for score, count in zip(self.scores, self.counts, strict=True)
        }


@dataclass(frozen=True, slots=True)
class SpeakerRow:
    """The scores of one way to find speakers.

    Attributes:
        name: of the way.
        from_book: the scores on the spans that the miner finds, of all annotated utterances.
        on_gold: the scores on the annotated spans.
    """

    name: str
    from_book: SpeakerMeasures
    on_gold: SpeakerMeasures


@dataclass(frozen=True, slots=True)
class AnnotatedSpeakerScores:
    """The scores of all ways, and what they are of.

    Attributes:
        rows: the scores.
        n_utterances: the annotated utterances whose speaker is known.
        n_unknown: those whose speaker the annotator did not know; they are left out.
        n_missed: the utterances among `n_utterances` that the miner did not find.
        n_lost: the annotated utterances that the edition at hand does not have; they are left out.
        errors: the wrong utterances of the first row from the book.
        coverage: how many annotated chapters were at hand.
        signature: what was scored.
    """

    rows: tuple[SpeakerRow, ...]
    n_utterances: int
    n_unknown: int
    n_missed: int
    n_lost: int
    errors: tuple[ShownError, ...]
    coverage: Coverage
    signature: str

    def to_json(self) -> dict[str, Any]:
        """The scores as plain values, without the errors."""
        return {
            "rows": {
                row.name: {
                    "from_book": row.from_book.to_json(),
                    "on_gold_spans": row.on_gold.to_json(),
                }
                for row in self.rows
            },
            "utterances": self.n_utterances,
            "unknown": self.n_unknown,
            "missed": self.n_missed,
            "lost": self.n_lost,
            "coverage": self.coverage.to_json(),
            "signature": self.signature,
        }


def score_annotated_speakers(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    ways: Sequence[tuple[str, Speak]],
    *,
    split: str = "all",
    resamples: int = 1000,
    seed: int = 0,
    on_book: Callable[[str], object] | None = None,
) -> AnnotatedSpeakerScores:
    """Scores the speakers of annotated books.

    A book that is not at hand is left out and counted. People are those of the whole book;
    utterances are judged in the annotated chapters.
    """
    opened, coverage = read_editions_at_hand(books, read)
    judged: list[tuple[list[JudgedSpeaker], list[JudgedSpeaker]]] = [([], []) for _ in ways]
    errors: list[ShownError] = []
    n_unknown = n_lost = 0
    for edition in opened:
        if on_book:
            on_book(edition.annotated.card.book)
        gold = _Gold(edition)
        n_unknown += gold.n_unknown
        n_lost += sum(fact.is_utterance for fact in edition.located.lost)
        found_spans = gold.found_spans()
        for number, (_, speak) in enumerate(ways):
            for spans, kept in zip((found_spans, gold.spans), judged[number], strict=True):
                of_book = gold.judge(speak(spans, None))
                kept += of_book
                if number == 0 and spans is found_spans:
                    errors += gold.show_errors(of_book)
    first = judged[0][0]
    n_chapters = len({(item.book, item.chapter) for item in first})
    return AnnotatedSpeakerScores(
        tuple(
            SpeakerRow(name, *(measure_speakers(kept, resamples, seed) for kept in both))
            for (name, _), both in zip(ways, judged, strict=True)
        ),
        len(first),
        n_unknown,
        sum(not item.is_found for item in first),
        n_lost,
        tuple(errors),
        coverage,
        f"unit:utterance|split:{split}|chapters:{n_chapters}|bs:{resamples}|seed:{seed}"
        f"|version:{__version__}",
    )


class _Gold:
    """The annotated utterances of one edition."""

    def __init__(self, edition: Edition) -> None:
        self._edition = edition
        self.spans = edition.located.book_spans
        self._facts = edition.located.facts
        self._kinds: dict[int, str] = {}
        for chapter in read_people(self.spans).chapters():
            self._kinds |= {clue.span: kind_of(clue) for clue in find_clues(chapter).clues}
        self._utterances = [n for n, fact in enumerate(self._facts) if fact and fact.is_utterance]
        self.n_unknown = sum(self._fact(n).speaker == UNKNOWN for n in self._utterances)

    def found_spans(self) -> BookSpans:
        """The spans that the miner finds in the annotated chapters."""
        chapters = {span.chapter for span in self.spans.spans}
        spans = self._edition.book_spans.spans
        return replace(self.spans, spans=tuple(span for span in spans if span.chapter in chapters))

    def judge(self, spoken: SpokenBook) -> list[JudgedSpeaker]:
        """Judges the speakers that were found, on whichever spans."""
        named = {character.id: character.name for character in spoken.characters}
        meant = self._match(spoken.characters)
        found = {ends_of(item.span): item for item in spoken.spans if item.span.is_utterance}
        judged: list[JudgedSpeaker] = []
        last: tuple[Span, Annotation, str | None] | None = None
        for n in self._utterances:
            fact, span = self._fact(n), self.spans.spans[n]
            if fact.speaker == UNKNOWN:
                last = None
                continue
            item = found.get(ends_of(span))
            answer = item.speaker if item else None
            character = meant.get((span.chapter, fact.speaker))
            keeps_turn = None
            if last and (last[0].chapter, last[1].conversation) == (
                span.chapter,
                fact.conversation,
            ):
                goes_on = last[1].speaker == fact.speaker
                keeps_turn = None not in (answer, last[2]) and (answer == last[2]) == goes_on
            last = span, fact, answer
            judged.append(
                JudgedSpeaker(
                    book=self._edition.annotated.card.book,
                    chapter=span.chapter,
                    kind=self._kinds[n],
                    is_right=answer is not None and answer == character,
                    keeps_turn=keeps_turn,
                    gold=fact.speaker,
                    meant=named.get(character or "", ""),
                    answer=named.get(answer or "", ""),
                    is_found=item is not None,
                    place=n,
                )
            )
        return judged

    def show_errors(self, judged: Iterable[JudgedSpeaker]) -> list[ShownError]:
        """The wrong ones with their context and the people at hand."""
        near = people_at_hand(self.spans)
        shown: list[ShownError] = []
        for item in judged:
            if not item.is_right:
                span = self.spans.spans[item.place]
                before, after = context_of(self.spans.spans, item.place)
                shown.append(ShownError(item, span.text, before, after, near[item.place]))
        return shown

    def _fact(self, n: int) -> Annotation:
        fact = self._facts[n]
        assert fact is not None
        return fact

    def _match(self, characters: Sequence[Character]) -> dict[tuple[int, str], str]:
        """Returns the id of the character whom each name of each chapter means."""
        book = read_people(self.spans, characters)
        unnamed = find_unnamed(characters)
        narrator = next((one.id for one in characters if one.kind is Kind.NARRATOR), None)

        def id_of(person: Person, chapter: int) -> str | None:
            if person.character is not None:
                return characters[person.character].id
            if person.kind is Kind.NARRATOR:
                return narrator
            known = unnamed.get((person.noun, chapter))
            return known and known.id

        found: dict[tuple[int, str], str] = {}
        annotated = set(self._utterances)
        for chapter in book.chapters():
            read = find_clues(chapter)
            clues = [clue for clue in read.clues if clue.span in annotated]
            matched = match_speakers(
                [self._fact(clue.span).speaker for clue in clues],
                clues,
                read.chapter.people,
                book.cast,
                first_person=book.first_person,
                unknown=UNKNOWN,
            )
            for name, number in matched.items():
                character = id_of(read.chapter.people[number], chapter.number)
                if character is not None:
                    found[chapter.number, name] = character
        return found


def measure_speakers(
    judged: Iterable[JudgedSpeaker], resamples: int = 0, seed: int = 0
) -> SpeakerMeasures:
    """Returns the accuracy of the speakers, with intervals from resampled chapters."""
    counts: defaultdict[tuple[str, int], NDArray[np.int64]] = defaultdict(
        lambda: np.zeros((2, len(MEASURES)), dtype=np.int64)
    )
    for item in judged:
        row = counts[item.book, item.chapter]
        for name, is_right in _measured(item):
            column = MEASURES.index(name)
            row[0, column] += is_right
            row[1, column] += 1
    table = np.array([row.ravel() for row in counts.values()]).reshape(-1, 2 * len(MEASURES))
    total = table.sum(axis=0)
    values = _shares(total[None])[0]
    drawn = _shares(resample_chapters(table, resamples, seed))
    scores = (score_from_draws(name, values[n], drawn[:, n]) for n, name in enumerate(MEASURES))
    return SpeakerMeasures(tuple(scores), tuple(total[len(MEASURES) :].tolist()))


def _measured(item: JudgedSpeaker) -> Iterator[tuple[str, bool]]:
    """Yields the measures that an utterance counts for, and whether it is right in each."""
    yield ALL, item.is_right
    if item.kind:
        yield item.kind, item.is_right
    if item.keeps_turn is not None:
        yield CHANGE, item.keeps_turn


def _shares(totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns the share of right ones in each row of sums: (rows, measures); NaN without any."""
    right, counts = np.split(totals.astype(np.float64), 2, axis=1)
    with np.errstate(invalid="ignore"):
        return right / counts


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
