"""Tables of Gutenberg's catalogue: the texts that a query found, and the texts by language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miner.app.tables.layout import Shown, cut_column, new_table
from miner.languages.registry import LANGUAGES, name_from_code

if TYPE_CHECKING:
    from miner.books.catalog_query import CatalogResult

_SHOWN = 200  # texts, unless the query has a limit of its own
_COLUMNS = ("number", "title", "author", "in", "subject")
_WIDE = 100  # columns of a terminal from which there is room for a subject
_LONGEST = {"author": 28, "subject": 32}  # characters, before the title is cut, too


def tabulate_texts(result: CatalogResult, width: int) -> list[Shown]:
    """A row for each text, in `width` characters.

    Of more than `_SHOWN` texts the first are shown and the others counted, unless the query itself
    says how many there may be.
    """
    shown = result.entries[: _SHOWN if result.query.limit is None else None]
    names = _COLUMNS if width >= _WIDE else _COLUMNS[:-1]
    rows = []
    for entry in shown:
        author, subject = (next(iter(texts), "") for texts in (entry.authors, entry.subjects))
        languages = " ".join(entry.languages)
        cells = (str(entry.number), entry.title_line, author, languages, subject)
        rows.append(cells[: len(names)])
    for name in ("author", "subject"):
        if name in names:
            rows = _cut(rows, names.index(name), _LONGEST[name])
    for name in ("title", "author"):
        rows = cut_column(rows, names.index(name), names, width)
    table = new_table(names, ("title", "author", "in", "subject"))
    for row in rows:
        table.add_row(*row)
    n_left = len(result.entries) - len(shown)
    more = f"{n_left:,} more texts: --limit shows as many as it says, --ids and --json show all"
    return [table, more] if n_left else [table]


def tabulate_languages(counts: dict[str, int]) -> list[Shown]:
    """A row for each language: its code, its name, its texts, and whether its speech is known."""
    names = ("code", "language", "texts", "speech")
    table = new_table(names, ("language", "speech"))
    for code, n in counts.items():
        name = name_from_code(code)
        shown = "" if name.lower() == code else name  # of a language without a name here
        table.add_row(code or "none", shown, f"{n:,}", "known" if code in LANGUAGES else "")
    return [table]


def _cut(rows: list[tuple[str, ...]], column: int, longest: int) -> list[tuple[str, ...]]:
    return [(*row[:column], _shortened(row[column], longest), *row[column + 1 :]) for row in rows]


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
