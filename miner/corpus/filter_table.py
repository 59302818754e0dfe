"""What the filters of a corpus took, as the rows of a table.

After "The Gutenberg Dialogue Dataset", Table 2: each filter, its parameter, and how much it took.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from miner.corpus.filter_settings import FilterSettings
from miner.speech.filter_counts import Amount, FilterCounts

BOOKS = "books"
WORKS, DUPLICATES = "works", "duplicates"  # what is taken out as a copy, among the filters


@dataclass(frozen=True, slots=True)
class FilterLine:
    """A filter, as a table describes it.

    Attributes:
        name: as in the counts and in a recipe.
        title: what it takes, in words.
        parameter: its value, in words; "" if it has none.
        unit: what its share counts: "books", "dialogues", "turns" or "pairs".
    """

    name: str
    title: str
    parameter: str
    unit: str


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
    """A filter, and what it took.

    Attributes:
        line: the filter.
        taken: what it took.
        came: how much of its unit came to it.
    """

    line: FilterLine
    taken: Amount
    came: int

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
