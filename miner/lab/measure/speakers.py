"""Our speakers compared with those of the Project Dialogism Novel Corpus (PDNC)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from miner.annotation.annotations import UNKNOWN, AnnotatedBook, Annotation
from miner.lab.gold.coverage import Coverage
from miner.lab.gold.editions import BookReader, Edition, read_editions_at_hand
from miner.lab.gold.pdnc import PdncNovel, read_quotations
from miner.lab.measure.quotations import align_book, block_starts

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
