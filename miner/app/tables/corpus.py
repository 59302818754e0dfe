"""Tables of a corpus that was built: filters, duplicates, statistics, files, in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from miner.app.tables.layout import Shown, cut_column, new_table
from miner.corpus.card import (
    cells_of_filter,
    describe_duplicates,
    languages_of,
    rows_of_statistics,
)
from miner.files import CARD

if TYPE_CHECKING:
    from miner.corpus.statistics import CorpusAccount, Duplicates

_SHOWN = 3  # examples of duplicates
_MEASURES = ("books", "#U", "|U|", "#D", "|D|", "sd", "20+", "pairs")
_LEGEND = (
    "#U turns, |U| words a turn, #D dialogues, |D| turns a dialogue, sd of |D|,",
    "20+ dialogues of 20 turns and more",
)
_FILTERS = ("filter", "parameter", "books", "dialogues", "turns", "pairs", "share")
_WIDE = 100  # columns of a terminal in which the pairs of the statistics have room
_GAP = 2  # blanks between two columns of a table


def tabulate_account(account: CorpusAccount, width: int) -> list[Shown]:
    """The account of a build in `width` characters: filters, duplicates, statistics, files."""
    shown: list[Shown] = []
    if account.filters:
        shown += ["What the filters took, in this order", _tabulate_filters(account, width)]
    for item in account.duplicates:
        shown += [*describe_examples(item, width), ""]
    if account.statistics:
        shown += [_tabulate_statistics(account, width), *_LEGEND]
    shown += _describe_files(account)
    return shown


def _tabulate_statistics(account: CorpusAccount, width: int) -> Shown:
    """A row for each split and language, in the columns of GD's Table 3 and the lines after it.

    A narrow terminal has the first columns only, with whole numbers.
    """
    is_one = len(languages_of(account.statistics)) == 1
    heads = ["split"] if is_one else ["split", "lang"]
    rows = [
        [*[split, language or "?"][: len(heads)], *cells]
        for split, language, cells in rows_of_statistics(account)
    ]
    names = [*heads, *_MEASURES]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    n = len(names) - (width < _WIDE)
    while n > len(heads) + 1 and sum(widths[:n]) + _GAP * (n - 1) > width:
        n -= 1
    table = new_table(names[:n], ("lang",))
    for row in rows:
        table.add_row(*row[:n])
    return table


def _tabulate_filters(account: CorpusAccount, width: int) -> Shown:
    """A row for each filter, as in GD's Table 2. Units that no filter took have no column.

    Where there is no room beside the name of a filter, its parameter stands below it.
    """
    rows = [cells_of_filter(row) for row in account.filters]
    always = ("filter", "parameter", "share")
    places = [
        place
        for place, name in enumerate(_FILTERS)
        if name in always or any(row[place] for row in rows)
    ]
    names = [_FILTERS[place] for place in places]
    cells = [[row[place] for place in places] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    if sum(widths) + _GAP * (len(widths) - 1) > width:
        names.remove("parameter")
        below = [[f"  {row.pop(1)}", *row[1:]] for row in cells]
        cut = cut_column([*cells, *below], 0, names, width)
        cells = [
            [f"{name}\n{parameter}".rstrip(), *rest]
            for (name, *rest), (parameter, *_) in zip(
                cut[: len(cells)], cut[len(cells) :], strict=True
            )
        ]
    table = new_table(names, ("parameter",))
    for row in cells:
        table.add_row(*row)
    return table


def describe_examples(item: Duplicates, width: int) -> list[str]:
    """A line about what was left out as a duplicate, and a line for each of the first few."""
    lines = [describe_duplicates(item)]
    lines += [
        _cut(f"  {left_out}: stays as {kept}", width) for left_out, kept in item.examples[:_SHOWN]
    ]
    if 0 < len(item.examples[:_SHOWN]) < item.n:
        lines.append(f"  and {item.n - len(item.examples[:_SHOWN]):,} more")
    return lines


def _describe_files(account: CorpusAccount) -> list[str]:
    """The files, a line for each place."""
    places = [item.place for item in account.files]
    names = [figure.path for figure in account.illustrations]
    return ["", _enumerate("files", [CARD, *places, *names, *account.other_files])]


def _enumerate(before: str, names: Sequence[str]) -> str:
    return "\n".join([before, *(f"  {name}" for name in names)])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"
