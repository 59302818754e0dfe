"""Our speakers against those of the Project Dialogism Novel Corpus, in the chapters of both."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from miner.annotation.annotations import UNKNOWN, AnnotatedBook, Annotation
from miner.annotation.editions import BookReader, Edition, editions
from miner.annotation.pdnc import PdncNovel, read_quotations
from miner.evaluation.quotations import aligned, block_starts

_LEAST_OVERLAP = 0.5  # of a span's letters that must lie in a quotation of the corpus
_SEEN = 2  # spans from which a pair of names that share no word is believed to be one person
_SHORT = 3  # letters from which a word may be short for another that it begins
_WORD = re.compile(r"\w+")
_TITLES = set("mr mrs miss ms dr sir lady lord the a an of old young little uncle aunt".split())


@dataclass(frozen=True, slots=True)
class SpeakerPair:
    """An annotated utterance, and the speaker whom the corpus gives it."""

    book: str
    fact: Annotation
    theirs: str
    agree: bool


def speaker_pairs(
    books: Sequence[AnnotatedBook], novels: Sequence[PdncNovel], read: BookReader
) -> list[SpeakerPair]:
    """Every utterance that both annotate, with both speakers, in reading order.

    The edition is aligned with the corpus's text by letters. Names agree if they share a word
    that is no title, or a short form of it, or if more than half of the utterances of our name in
    the book, at least two, have theirs.
    """
    of_id = {novel.gutenberg_id: novel for novel in novels}
    pairs: list[SpeakerPair] = []
    for edition in editions([book for book in books if book.card.book in of_id], read):
        pairs += _judged(edition, of_id[edition.annotated.card.book])
    return pairs


def _judged(edition: Edition, novel: PdncNovel) -> list[SpeakerPair]:
    annotated = read_quotations(novel.folder)
    book = edition.book_spans.book
    at, alignment = block_starts(book), aligned(book, annotated.text)
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
        if n >= _LEAST_OVERLAP * (place[1] - place[0]):
            found.append((fact, speaker))
    same = _same_person([(fact.speaker, theirs) for fact, theirs in found])
    return [
        SpeakerPair(book.id, fact, theirs, same(fact.speaker, theirs)) for fact, theirs in found
    ]


def _same_person(named: Sequence[tuple[str, str]]) -> Callable[[str, str], bool]:
    """Whether a name of ours and one of theirs are of one person, as the book's pairs tell."""
    ours: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for a, b in named:
        ours[a][b] += 1

    def same(a: str, b: str) -> bool:
        if a == UNKNOWN:
            return False
        if any(_is_name_of(x, y) for x in _words(a) for y in _words(b)):
            return True
        most, n = ours[a].most_common(1)[0]
        return most == b and n >= _SEEN and 2 * n > ours[a].total()

    return same


def _is_name_of(one: str, other: str) -> bool:
    """Whether two words are one name, or the one is short for the other ("Kit", "Kitty")."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and (len(short) >= _SHORT or short == long)


def _words(name: str) -> set[str]:
    return set(_WORD.findall(name.casefold())) - _TITLES
