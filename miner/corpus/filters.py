"""Filters on books and dialogues: what a corpus leaves out, and a table of what they took.

A filter on books is a callable that looks at the spans of a book. It answers True, or why the
corpus leaves the book out. `mine_corpus` sets such a book aside with that reason, which run.json
records. A filter that answers False gives its name as the reason.

A recipe has further filters, `FilterSettings`. Their defaults are those of "The Gutenberg Dialogue
Dataset" (GD, section 3 and Table 2), where it has one. They are applied in its order: books of
unusual words, books with little speech, long turns, dialogues of one turn, dialogues of rare words.
Where its code (github.com/ricsinaruto/gutenberg-dialog) differs from its paper, the paper is
followed. The code also leaves out books with fewer than 15 dialogues in 10,000 words, which the
paper does not say; here they stay. Filters on dialogues are in `miner.speech.filters`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from miner.books.language_identification import can_identify
from miner.corpus.book_features import (
    BookFeatures,
    Hashes,
    WordCounts,
    kl_divergence,
    share_of_rare_words,
)
from miner.errors import InputError
from miner.speech.dialogues import Dialogue
from miner.speech.filters import MIN_TURNS, Amount, DialogueLimits, FilterCounts
from miner.speech.spans import BookSpans


class LanguageFilter:
    """Takes books of some languages, by their codes.

    >>> LanguageFilter("de", "nl")
    LanguageFilter('de', 'nl')
    """

    def __init__(self, *languages: str) -> None:
        self._languages = languages

    def __call__(self, book_spans: BookSpans) -> bool | str:
        """True, or which language the book has."""
        found = book_spans.language
        if found in self._languages:
            return True
        return f"a book in {found}, expected {' or '.join(self._languages)}"

    def __repr__(self) -> str:
        return f"LanguageFilter({', '.join(map(repr, self._languages))})"


# Of each number: whether it is a whole one, the least and the greatest, and whether `False` or None
# may stand for it.
_NUMBERS = {
    "max_kl_divergence": (False, 0, math.inf, True),
    "min_words_for_kl": (True, 0, math.inf, False),
    "min_delimiters": (False, 0, math.inf, True),
    "max_turn_words": (True, 1, math.inf, True),
    "min_confidence": (False, 0, 1, True),
    "min_turns": (True, 1, math.inf, True),
    "max_rare_words": (False, 0, 1, True),
    "n_frequent_words": (True, 1, math.inf, False),
}


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """What a corpus leaves out. `False` or None switches a filter off; a number is None then."""

    own_language: bool = True  # whether books go that are not in the language that they claim
    # books whose words diverge more from those of all books go.
    max_kl_divergence: float | None = 2.0
    min_words_for_kl: int = 20_000  # shorter books do not go for their words
    min_delimiters: float | None = 150  # books with fewer marks of speech in 10,000 words go
    max_turn_words: int | None = 100  # longer turns go
    set_pieces: bool = True  # whether letters and verse go
    min_confidence: float | None = None  # pairs that are less sure go, 0 to 1
    min_turns: int | None = MIN_TURNS  # dialogues of fewer turns go
    max_rare_words: float | None = 0.2  # dialogues with a larger share of rare words go, 0 to 1
    # how many words of a language are not rare, the most frequent ones.
    n_frequent_words: int = 100_000

    def __post_init__(self) -> None:
        for name in ("own_language", "set_pieces"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, bool):
                raise InputError(f"{name}: found {value!r}, expected true or false")
            object.__setattr__(self, name, bool(value))
        for name, (is_whole, least, greatest, may_be_off) in _NUMBERS.items():
            value = getattr(self, name)
            if may_be_off and (value is None or value is False):
                object.__setattr__(self, name, None)
            elif not _is_number(value, is_whole, least, greatest):
                kind = "a whole number" if is_whole else "a number"
                size = (
                    f"of at least {least}"
                    if greatest == math.inf
                    else f"from {least} to {greatest}"
                )
                off = ", or false" if may_be_off else ""
                raise InputError(f"{name}: found {value!r}, expected {kind} {size}{off}")

    @property
    def limits(self) -> DialogueLimits:
        """The limits of turns, pairs and dialogues."""
        return DialogueLimits(
            self.max_turn_words,
            self.min_confidence or 0.0,
            1 if self.min_turns is None else self.min_turns,
        )

    def rare_by(self, frequent: Hashes) -> Callable[[Dialogue], bool] | None:
        """Whether a dialogue has too many rare words, as a function; None if all may stay."""
        if self.max_rare_words is None:
            return None
        return partial(has_rare_words, frequent=frequent, max_share=self.max_rare_words)


def _is_number(value: object, is_whole: bool, least: float, greatest: float) -> bool:
    """Whether a value is a finite number of a kind and in a range."""
    if isinstance(value, bool) or not isinstance(value, int if is_whole else int | float):
        return False
    return least <= value <= greatest and math.isfinite(value)


def has_rare_words(dialogue: Dialogue, frequent: Hashes, max_share: float) -> bool:
    """Whether more than a share of a dialogue's words, from 0 to 1, is not among the frequent ones.

    After GD, section 3, Long utterances and rare words.
    """
    text = "\n".join(turn.text for turn in dialogue.turns)
    return share_of_rare_words(text, frequent) > max_share


def find_language_reason(features: BookFeatures, language: str, settings: FilterSettings) -> str:
    """Returns "own_language" if a book is not in the language that it claims, else "".

    A book stays if it claims none, or one that cannot be identified. GD divides books by the
    language that they claim and does not check it.
    """
    is_another = language and features.language and features.language != language
    return "own_language" if settings.own_language and is_another and can_identify(language) else ""


def find_book_reason(features: BookFeatures, settings: FilterSettings, total: WordCounts) -> str:
    """Returns the first filter that takes a book, or "" if it stays.

    They are "max_kl_divergence" and "min_delimiters": GD, section 3, Pre-filtering and Delimiter
    filter, in that order.
    """
    kl, delimiters = settings.max_kl_divergence, settings.min_delimiters
    is_long = features.n_words >= settings.min_words_for_kl
    if kl is not None and is_long and kl_divergence(features.words, total) > kl:
        return "max_kl_divergence"
    if delimiters is not None and features.delimiters_per_10_000_words < delimiters:
        return "min_delimiters"
    return ""


BOOKS = "books"
WORKS, DUPLICATES = "works", "duplicates"  # what is taken out as a copy, among the filters


@dataclass(frozen=True, slots=True)
class FilterLine:
    """A filter, as a table describes it."""

    name: str  # as in the counts and in a recipe
    title: str  # what it takes, in words
    parameter: str  # its value, in words; "" if it has none
    unit: str  # what its share counts: "books", "dialogues", "turns" or "pairs"


# In the order in which they take, copies of books and of dialogues among them. Empty turns always
# go.
_FILTERS = (
    FilterLine("own_language", "books in another language than they claim", "", BOOKS),
    FilterLine("max_kl_divergence", "books of unusual words", "KL divergence above {:g}", BOOKS),
    FilterLine(
        "min_delimiters", "books with little speech", "under {:g} marks in 10,000 words", BOOKS
    ),
    FilterLine(WORKS, "books that another book holds", "", BOOKS),
    FilterLine("empty_turns", "empty turns", "", "turns"),
    FilterLine("max_turn_words", "long turns", "over {:,} words", "turns"),
    FilterLine("set_pieces", "letters and verse", "", "turns"),
    FilterLine("min_confidence", "unsure pairs", "confidence below {:g}", "pairs"),
    FilterLine("min_turns", "short dialogues", "under {:,} turns", "dialogues"),
    FilterLine("max_rare_words", "dialogues of rare words", "over {:.0%} rare words", "dialogues"),
    FilterLine(DUPLICATES, "dialogues that another book has", "similarity {:g}", "dialogues"),
)


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A filter, and what it took."""

    line: FilterLine  # the filter
    taken: Amount  # what it took
    came: int  # how much of its unit came to it

    @property
    def share(self) -> float:
        """The share that it took of what came to it, 0 to 1; 0 if nothing came."""
        return getattr(self.taken, self.line.unit) / self.came if self.came else 0.0

    def to_record(self) -> dict[str, Any]:
        """The row as JSON has it."""
        return {
            "filter": self.line.name,
            "parameter": self.line.parameter,
            "taken": asdict(self.taken),
            "share": round(self.share, 6),
            "of": self.line.unit,
            "came": self.came,
        }


def describe_filters(
    settings: FilterSettings, works: bool = False, similarity: float | None = None
) -> tuple[FilterLine, ...]:
    """Returns the filters that are not switched off, in the order in which they take."""
    values = {line.name: getattr(settings, line.name, True) for line in _FILTERS}
    values |= {WORKS: works, DUPLICATES: similarity}
    return tuple(
        replace(line, parameter=line.parameter.format(values[line.name]))
        for line in _FILTERS
        if values[line.name] is not None and values[line.name] is not False
    )


def tabulate_filters(counts: FilterCounts, lines: Iterable[FilterLine]) -> list[FilterRow]:
    """Returns a row for each filter."""
    # Books that a filter on dialogues takes are not in `counts.books`, they came to all of these.
    left = sum(counts.books.values(), counts.came_to_dialogues).books
    rows: list[FilterRow] = []
    for line in lines:
        if line.unit == BOOKS:
            taken = counts.books.get(line.name, Amount())
            rows.append(FilterRow(line, taken, left))
            left -= taken.books
        elif count := counts.dialogues.get(line.name):
            rows.append(FilterRow(line, count.taken, getattr(count.came, line.unit)))
        else:
            rows.append(FilterRow(line, Amount(), 0))
    return rows
