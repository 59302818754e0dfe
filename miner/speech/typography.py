"""Book -> Typography: how the book marks speech, inferred with evidence.

Counting single characters misreads books: every apostrophe would count for single quotes, and every
quotation inside a speech for the inner marks. So each paragraph votes once. Its vote is for the
marks around its first quoted text that ends as speech does, with punctuation before the closing
mark. A paragraph that begins with a dash votes for dashes. Which marks a language uses is in its
file in `miner/languages`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from miner.books.book import SPOKEN_KINDS, Block, BlockKind, Book
from miner.books.language_identification import identify_language
from miner.errors import InputError
from miner.languages.language import DASH, MARKS, Conventions, Marks
from miner.languages.registry import ANY_CONVENTIONS, LANGUAGES, conventions_of, name_from_code

# A text in a language with a file has at least this share of its function words: novels have .14.
_FEWEST_WORDS = 0.1
# Letters, and different ones, from which a text without the function words of its language is
# identified.
_ENOUGH_LETTERS, _ENOUGH_DIFFERENT = 80, 15
# The two forms of written Norwegian, by the codes that they are identified as.
_WRITTEN_AS = {"nb": "no", "nn": "no"}
# The share of paragraphs with votes below which the marks of other languages are tried, and how
# many times as many votes these must have.
_FEWEST_VOTES, _MANY_TIMES = 0.05, 5
_FEW_VOTES = 5  # added to the number of votes: a few votes give less confidence than many
_VOTING_PART = 250  # characters of a block in which its first speech is looked for
_AFTER = r"(?=$|[\s)\],.;:!?\u2014\u2013-])"  # what may stand after a closing mark
# How speech ends before its closing mark.
_STOP = r"[,.!?;:\u2026\u2014\u2013_*)\]\u3002\uff01\uff1f\uff0c\u3001\uff0e\uff1b\uff1a-]"
_DASH_START = re.compile(
    r"(--|[\u2014\u2013\u2015-])(?=\s?[\w\u00bf\u00a1\"'\u201c\u2018.\u2026_])"
)


_CERTAIN = {
    marks.name: marks.opener
    for marks in MARKS.values()
    if not marks.is_apostrophe and marks.name not in ("low-high", "low-right")
}
# A single mark before a double one is certain, too: it opens speech that begins with a quotation.
_DOUBLE = ('"', "\u201c")
_NESTED = _CERTAIN | {m.name: m.opener for m in MARKS.values() if m.is_apostrophe}

# Single marks are left out: in a language that does not quote with them they are apostrophes.
_ANY_PRINTER = replace(
    ANY_CONVENTIONS, marks=tuple(marks.name for marks in MARKS.values() if not marks.is_apostrophe)
)

_UNLIKE = frozenset("\u00ab\u00bb\u201e")  # opening marks that no printer takes for others
_FAMILIES = {"double-curly": "double", "double-straight": "double", "right-right": "double"} | {
    "single-curly": "single",
    "single-straight": "single",
    "low-high": "low",
    "low-right": "low",
}


@dataclass(frozen=True, slots=True)
class Typography:
    """How a book marks speech."""

    language: str  # a key of `LANGUAGES`, or "" where none fits
    # the quotation marks that open speech; empty in a book that uses only dashes
    marks: tuple[Marks, ...]
    dash: bool  # whether a dash at the start of a paragraph opens speech
    # 0 to 1. The share of the votes that are for the chosen marks, shrunk towards 0 where
    # there are few votes; 1 where the user named the marks.
    confidence: float
    evidence: tuple[tuple[str, int], ...]  # the names of marks and their votes, most votes first

    @property
    def conventions(self) -> Conventions:
        """How printers of the book's language mark speech."""
        return conventions_of(self.language)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the marks that open speech, as `typography_from_names` takes them."""
        return (*(marks.name for marks in self.marks), *((DASH,) if self.dash else ()))


def spoken_blocks(blocks: Iterable[Block]) -> list[Block]:
    """The blocks in which people may speak: paragraphs, verse and letters."""
    return [block for block in blocks if block.kind in SPOKEN_KINDS]


def _paragraphs(book: Book) -> list[Block]:
    return [block for block in book.story if block.kind is BlockKind.PARAGRAPH]


def infer_typography(book: Book) -> Typography:
    """How the book marks speech, with the votes for it.

    The marks with the most votes are chosen, those of other languages if the book has nearly none
    of its own. Three kinds may join them: their straight or curly twin, if it has any votes; other
    marks that have a tenth of the votes or begin a hundredth of the paragraphs (of a preface from
    another printer, say), or one vote if they are of another shape; and dashes, if the language
    uses them and they have a tenth of the votes.
    Beside dashes, marks need a fourth of the votes where the language has both in few books.
    """
    blocks = _paragraphs(book)
    language = infer_language(book)
    conventions = conventions_of(language)
    found = _votes(blocks, conventions)
    if found.all.total() < _FEWEST_VOTES * len(blocks):
        # A German book may have the marks of a French printer.
        others = _votes(blocks, _ANY_PRINTER)
        if others.all.total() > _MANY_TIMES * found.all.total() + _FEW_VOTES:
            conventions, found = _ANY_PRINTER, others
    votes = found.all
    total = votes.total()
    if not total:
        return Typography(language, (), False, 0.0, ())
    best = max(votes, key=lambda name: (votes[name], name))
    dash = conventions.has_dash and votes[DASH] >= 0.1 * total
    names: list[str] = []
    # Few quotation marks beside dashes are for thoughts and titles in some languages.
    least = 0.02 if conventions.quotes_beside_dash else 0.25
    quotes = {name: count for name, count in votes.items() if name != DASH}
    if quotes:
        first = max(quotes, key=lambda name: (quotes[name], name))
        if first == best or quotes[first] >= least * total:
            names = [first, *_twins(first, votes)]
            names += _strangers(names, found)
    chosen = sum(votes[name] for name in names) + (votes[DASH] if dash else 0)
    return Typography(
        language=language,
        marks=tuple(MARKS[name] for name in names),
        dash=dash,
        confidence=chosen / (total + _FEW_VOTES),
        evidence=tuple(votes.most_common()),
    )


def typography_from_names(names: Iterable[str], language: str = "en") -> Typography:
    """The typography with the marks that the user names, for example ("double-curly", "dash")."""
    names = tuple(names)
    for name in names:
        if name != DASH and name not in MARKS:
            known = ", ".join((*MARKS, DASH))
            raise InputError(f"unknown quotation marks {name!r}, expected some of: {known}")
    marks = tuple(MARKS[name] for name in names if name != DASH)
    return Typography(language, marks, DASH in names, 1.0, ())


def _twins(name: str, votes: Counter[str]) -> list[str]:
    """The other marks of the same family that have votes: straight beside curly, say."""
    family = _FAMILIES.get(name)
    return [
        other
        for other, count in votes.most_common()
        if other != name and family and _FAMILIES.get(other) == family and count
    ]


def _strangers(names: list[str], votes: _Votes) -> list[str]:
    """Marks of another family that are no misprints.

    They have too many votes, or cannot be taken for those of the book: «You» among “you”.
    """
    total = votes.all.total()
    known = {mark for name in names for mark in (MARKS[name].opener, MARKS[name].closer)}
    return [
        name
        for name, count in votes.all.items()
        if name not in (*names, DASH)
        and (
            votes.begun[name] >= max(3, total / 100)
            or count >= max(3, total / 10)
            or (votes.closed[name] and MARKS[name].opener in _UNLIKE.difference(known))
        )
    ]


def infer_language(book: Book) -> str:
    """The declared language, unless the text clearly shows another.

    It is a key of `LANGUAGES`, or "" where none fits.
    """
    found = _find_language(book)
    return found if found in LANGUAGES else ""


def find_foreign_language(book: Book) -> str:
    """The name of the book's language if it is not in `LANGUAGES`; "" if it is or in doubt."""
    found = _find_language(book)
    return "" if not found or found in LANGUAGES else name_from_code(found)


def _find_language(book: Book) -> str:
    """The code of the book's language, or "" for a text too short to tell.

    The declared language is believed if the text has its function words, or is short. Otherwise
    the text is identified.
    """
    declared = book.language
    words = _sample(book)
    hits = _count_function_words(words)
    best = max(hits, key=lambda code: hits[code])
    least = _FEWEST_WORDS * words.total()
    claimed = hits.get(declared, 0)
    if claimed > least and hits[best] < 2 * claimed + 10:
        return declared
    texts = [block.text for block in _paragraphs(book)]
    letters = Counter(filter(str.isalpha, "".join(texts)))
    if letters.total() >= _ENOUGH_LETTERS and len(letters) >= _ENOUGH_DIFFERENT:
        found = identify_language(texts)
        if found.confidence > 0.5:
            return _WRITTEN_AS.get(found.code, found.code)
    return declared or (best if hits[best] > least else "")


def _sample(book: Book) -> Counter[str]:
    """The words of some fifty paragraphs, in small letters."""
    blocks = _paragraphs(book)
    words = Counter[str]()
    for block in blocks[:: max(1, len(blocks) // 50)]:
        words.update(block.text.lower().split())
    return words


def _count_function_words(words: Counter[str]) -> dict[str, int]:
    """How many of the words are function words of each language."""
    return {
        code: sum(words[word] for word in language.conventions.function_words.split())
        for code, language in LANGUAGES.items()
    }


class _Votes(NamedTuple):
    """Paragraphs by the name of the marks that they vote for."""

    all: Counter[str]
    begun: Counter[str]  # those that begin with the mark
    closed: Counter[str]  # those in which the closing mark stands, too


def _votes(blocks: Iterable[Block], conventions: Conventions) -> _Votes:
    """Returns the votes of paragraphs."""
    names = conventions.marks
    patterns = [(name, MARKS[name].opener, _speech_pattern(MARKS[name])) for name in names]
    votes, begun, closed = _Votes(Counter(), Counter(), Counter())
    for block in blocks:
        text = block.text
        if conventions.has_dash and text[0] in "-\u2014\u2013\u2015" and _DASH_START.match(text):
            votes[DASH] += 1
            continue
        # A paragraph that begins with a mark votes for it even if it has no closing mark: speech
        # over many paragraphs is closed only in the last.
        starts = _NESTED if text[1:2] in _DOUBLE else _CERTAIN
        first = next((name for name in names if text[0] in starts.get(name, "")), "")
        if first:
            begun[first] += 1
            closed[first] += MARKS[first].closer in text[1:]
        first_start = len(text)
        for name, opener, pattern in () if first else patterns:
            if opener in text:
                match = pattern.search(text, 0, _VOTING_PART)
                if match and match.start() < first_start:
                    first, first_start = name, match.start()
        if first:
            votes[first] += 1
            closed[first] += first_start < len(text)
    return _Votes(votes, begun, closed)


def _speech_pattern(marks: Marks) -> re.Pattern[str]:
    """The pattern of quoted text that ends as speech does, with punctuation before the mark."""
    opener, closer = re.escape(marks.opener), re.escape(marks.closer)
    # A lookbehind after the mark checks what stands before it: this lets the search skip from mark
    # to mark.
    at_start = rf"{opener}(?:(?<=[\s(\[\u2014\u2013\u2015-]{opener})|(?<!.{opener}))"
    if marks.is_apostrophe:
        # Apostrophes may stand inside. Nearly all speech begins with a capital or an inner mark.
        inside = rf"[^{opener}]*?" if marks.has_direction else r"(?:[^']|(?<=\w)'(?=\w))*?"
        first = r"(?=[A-Z\u00c0-\u00dd\"\u201c])"
        return re.compile(rf"{at_start}{first}{inside}{_STOP}{closer}{_AFTER}", re.DOTALL)
    if not marks.has_direction:
        return re.compile(rf"{at_start}(?=\S)[^{opener}]*{_STOP}{closer}{_AFTER}", re.DOTALL)
    return re.compile(rf"{opener} ?(?=\S)[^{opener}{closer}]*{_STOP} ?{closer}")
