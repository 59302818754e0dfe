"""Tables of mined books, of a corpus and of the catalogue, and how all tables look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, TypeAlias

from miner.files import CARD, RUN_RECORD, one_line
from miner.languages.registry import LANGUAGES, name_from_code

if TYPE_CHECKING:
    from rich.table import Table

    from miner.books.book import Book
    from miner.books.catalog_search import CatalogResult
    from miner.corpus.run import CorpusRun
    from miner.corpus.statistics import CorpusAccount, Duplicates
    from miner.speech.repairs import Repair
    from miner.speech.typography import Typography

# One thing that a command prints: a line of text or a table.
Shown: TypeAlias = "Table | str"

_MIN_TEXT = 12  # columns that are left to a text that is cut
_GAP = 2  # blanks between two columns of a table
_LEAST_TEXT = 20  # characters of a line of text beside its label
_WIDE = 100  # columns of a terminal from which a table has all its columns


def new_table(columns: Sequence[str], texts: Sequence[str] = ()) -> Table:
    """Returns an empty table without a frame; numbers are aligned right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for position, column in enumerate(columns):
        is_text = column in texts
        table.add_column(
            column, justify="left" if is_text or not position else "right", no_wrap=True
        )
    return table


def cut_column(
    rows: Sequence[Sequence[str]], column: int, names: Sequence[str], width: int
) -> list[list[str]]:
    """Cuts the texts of one column so that the table fits into a width."""
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]
    room = max(_MIN_TEXT, width - sum(widths) - _GAP * (len(names) - 1) + widths[column])
    return [
        [shorten(cell, room) if i == column else cell for i, cell in enumerate(row)] for row in rows
    ]


def shorten(text: str, longest: int) -> str:
    """Returns a text, or its beginning with "…" if it is longer than so many characters."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def divide_columns(
    names: Sequence[str], columns: Sequence[tuple[str, Sequence[str]]], width: int
) -> list[Table]:
    """Returns columns in as many tables as a terminal needs; each begins with the names of rows."""
    first = max(map(len, names))
    parts: list[list[tuple[str, Sequence[str]]]] = []
    room = 0
    for head, cells in columns:
        taken = max(map(len, (head, *cells))) + _GAP
        if not parts or taken > room:
            parts.append([])
            room = width - first
        parts[-1].append((head, cells))
        room -= taken
    tables: list[Table] = []
    for part in parts:
        table = new_table(("", *(head for head, _ in part)))
        for number, name in enumerate(names):
            table.add_row(name, *(cells[number] for _, cells in part))
        tables.append(table)
    return tables


def label_texts(texts: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Returns texts in lines, each beside its label."""
    indent = max(len(label) for label, _ in texts) + _GAP
    return [
        fill(
            " ".join(text.split()),
            max(width, indent + _LEAST_TEXT),
            initial_indent=label.ljust(indent),
            subsequent_indent=" " * indent,
        )
        for label, text in texts
    ]


_BOOKS_SHOWN = 30
# The columns of the table of books that need a wider terminal, with the least width of it.
_WIDTHS = {"speakers": 90, "quoted only": 120, "marks": 120}
_COUNTS = {
    "utterances": "utterances",
    "quoted only": "quoted_not_speech",
    "speakers": "speakers",
    "dialogues": "dialogues",
    "turns": "turns",
    "pairs": "pairs",
}


def tabulate_run(run: CorpusRun, width: int) -> list[Shown]:
    """A row for each of the first mined books, and the sum of all, in `width` characters."""
    names = ["book", "title", "words", *_COUNTS, "marks"]
    names = [name for name in names if width >= _WIDTHS.get(name, 0)]
    keys = [_COUNTS[name] for name in names if name in _COUNTS]
    has_marks = "marks" in names
    rows = []
    for entry in run.entries[:_BOOKS_SHOWN]:
        numbers = [f"{entry['words']:,}", *(f"{entry['counts'][key]:,}" for key in keys)]
        marks = entry["typography"]
        evidence = [f"{', '.join(marks['marks'])} {marks['confidence']:.2f}"] if has_marks else []
        rows.append([entry["id"], entry["title"], *numbers, *evidence])
    if (n_left := len(run.entries) - _BOOKS_SHOWN) > 0:
        rows.append(["more", f"{n_left} in {RUN_RECORD}", *[""] * (len(names) - 2)])
    totals = run.totals
    numbers = [f"{totals['words']:,}", *(f"{totals.get(key, 0):,}" for key in keys)]
    rows.append(["all", f"{totals['books']:,} books", *numbers, *[""] * has_marks])
    table = new_table(names, ("title", "marks"))
    *rows, total = cut_column(rows, 1, names, width)
    for row in rows:
        table.add_row(*row)
    if len(rows) > 1:
        table.add_section()
        table.add_row(*total)
    return [table]


def describe_taggers(run: CorpusRun) -> str:
    """How many books each tagger tagged: "en@0123abcd (7 books), gap (1 book)"."""
    counts = Counter(entry["tagger"] for entry in run.entries)
    return ", ".join(f"{name} ({n} book{'s' * (n > 1)})" for name, n in counts.most_common())


def describe_speakers(run: CorpusRun) -> str:
    """How many utterances have a speaker: "176 of 181 utterances (97.2%)"; "" if there is none."""
    n_utterances = run.totals.get("utterances", 0)
    if not n_utterances:
        return ""
    n_known = n_utterances - run.totals["utterances_without_speaker"]
    return f"{n_known:,} of {n_utterances:,} utterances ({n_known / n_utterances:.1%})"


def describe_left_out(run: CorpusRun) -> str:
    """What the filters left out: "2 long turns, 8 short dialogues"; "" if nothing."""
    counts = Counter[str]()
    for entry in run.entries:
        counts.update(entry["filtered"])
    return ", ".join(f"{n:,} {reason}" for reason, n in counts.items() if n)


def tabulate_typography(
    name: str, typography: Typography, repairs: Sequence[Repair]
) -> list[Shown]:
    """The marks that open speech in a book, the votes for them, and how many are wrong."""
    chosen = ", ".join(typography.names) or "nothing"
    title = (
        f"{name}: speech is opened by {chosen} "
        f"(confidence {typography.confidence:.2f}, language {typography.language or 'unknown'})"
    )
    if not typography.evidence:
        return [title, "no paragraph votes for any mark"]
    table = new_table(("marks", "paragraphs that vote for them", "share", "used"))
    total = sum(count for _, count in typography.evidence)
    for marks, count in typography.evidence:
        used = "yes" if marks in typography.names else ""
        table.add_row(marks, f"{count:,}", f"{count / total:.1%}", used)
    kinds = Counter(repair.kind for repair in repairs)
    if not kinds:
        return [title, table]
    counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    return [title, table, f"marks that cannot be right as printed: {counts}"]


_BESIDE = 30  # characters shown on either side of a mark


def list_repairs(book: Book, repairs: Sequence[Repair]) -> list[str]:
    """A line for each place where a mark is wrong: the text, and in brackets what is read."""
    texts = {block.index: block.text for block in book.blocks}
    lines: list[str] = []
    for repair in repairs:
        text, start = texts[repair.paragraph], repair.start
        end = start + len(repair.found)
        read = repair.assumed.strip() or "?"
        before, after = text[max(0, start - _BESIDE) : start], text[end : end + _BESIDE]
        lines.append(
            one_line(
                f"chapter {repair.chapter}, paragraph {repair.paragraph}: {repair.kind}: "
                f"{before}{repair.found}[{read}]{after}"
            )
        )
    return lines


def tabulate_parts(book: Book) -> Shown:
    """The parts of a book with their words."""
    table = new_table(("part of the book", "words"))
    for part, count in book.words_by_part.items():
        table.add_row(part.value, f"{count:,}")
    return table


_EXAMPLES_SHOWN = 3  # examples of duplicates
_MEASURES = ("books", "#U", "|U|", "#D", "|D|", "sd", "20+", "pairs")
_LEGEND = (
    "#U turns, |U| words a turn, #D dialogues, |D| turns a dialogue, sd of |D|,",
    "20+ dialogues of 20 turns and more",
)
_FILTERS = ("filter", "parameter", "books", "dialogues", "turns", "pairs", "share")


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
    from miner.corpus import card

    is_one = len(card.languages_of(account.statistics)) == 1
    heads = ["split"] if is_one else ["split", "lang"]
    rows = [
        [*[split, language or "?"][: len(heads)], *cells]
        for split, language, cells in card.rows_of_statistics(account)
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
    from miner.corpus import card

    rows = [card.cells_of_filter(row) for row in account.filters]
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
    from miner.corpus import card

    lines = [card.describe_duplicates(item)]
    examples = item.examples[:_EXAMPLES_SHOWN]
    lines += [shorten(f"  {left_out}: stays as {kept}", width) for left_out, kept in examples]
    if 0 < len(examples) < item.n:
        lines.append(f"  and {item.n - len(examples):,} more")
    return lines


def _describe_files(account: CorpusAccount) -> list[str]:
    """The files, a line for each place."""
    places = [item.place for item in account.files]
    names = [figure.path for figure in account.illustrations]
    lines = [f"  {name}" for name in (CARD, *places, *names, *account.other_files)]
    return ["", "\n".join(["files", *lines])]


_TEXTS_SHOWN = 200  # texts, unless the query has a limit of its own
_COLUMNS = ("number", "title", "author", "in", "subject")
_LONGEST = {"author": 28, "subject": 32}  # characters, before the title is cut, too


def tabulate_texts(result: CatalogResult, width: int) -> list[Shown]:
    """A row for each text, in `width` characters.

    Of more than `_TEXTS_SHOWN` texts the first are shown and the others counted, unless the query
    itself says how many there may be.
    """
    shown = result.entries[: _TEXTS_SHOWN if result.query.limit is None else None]
    names = _COLUMNS if width >= _WIDE else _COLUMNS[:-1]
    rows = []
    for entry in shown:
        author, subject = (next(iter(texts), "") for texts in (entry.authors, entry.subjects))
        languages = " ".join(entry.languages)
        cells = (str(entry.number), entry.title_line, author, languages, subject)
        rows.append(cells[: len(names)])
    for name in ("author", "subject"):
        if name in names:
            column, longest = names.index(name), _LONGEST[name]
            rows = [(*r[:column], shorten(r[column], longest), *r[column + 1 :]) for r in rows]
    for name in ("title", "author"):
        rows = cut_column(rows, names.index(name), names, width)
    table = new_table(names, ("title", "author", "in", "subject"))
    for row in rows:
        table.add_row(*row)
    n_left = len(result.entries) - len(shown)
    more = f"{n_left:,} more texts: --limit shows as many as it says, --ids and --json show all"
    return [table, more] if n_left else [table]


def tabulate_catalog_languages(counts: dict[str, int]) -> list[Shown]:
    """A row for each language: its code, its name, its texts, and whether its speech is known."""
    names = ("code", "language", "texts", "speech")
    table = new_table(names, ("language", "speech"))
    for code, n in counts.items():
        name = name_from_code(code)
        shown = "" if name.lower() == code else name  # of a language without a name here
        table.add_row(code or "none", shown, f"{n:,}", "known" if code in LANGUAGES else "")
    return [table]
