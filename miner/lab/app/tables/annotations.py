"""Tables of the annotations: what there is, how it fits the books, and how far readings agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from miner.app.tables.layout import Shown, new_table
from miner.score import format_rate

if TYPE_CHECKING:
    from miner.lab.gold.editions import Checked
    from miner.lab.gold.statistics import AnnotationCounts, AnnotationStatistics
    from miner.lab.measure.agreement import Agreement
    from miner.lab.measure.speakers import SpeakerPair


def tabulate_check(checked: Checked) -> list[Shown]:
    """A row for each book: how its annotations fit the edition at hand."""
    names = ("book", "title", "split", "chapters", "spans", "found", "worst chapter", "edition")
    table = new_table(names, ("title", "split", "edition"))
    for book in checked.books:
        edition = "as annotated" if book.is_annotated_one else "another"
        table.add_row(
            book.card.book,
            book.card.title,
            book.card.split,
            str(book.n_chapters),
            f"{book.n_all:,}",
            f"{book.n_found:,}",
            f"{book.least_coverage:.1%}",
            edition,
        )
    total = sum(book.n_all for book in checked.books)
    found = sum(book.n_found for book in checked.books)
    summary = f"{len(checked.books)} books: {found:,} of {total:,} annotated spans found"
    return [table, f"{summary}, {len(checked.problems)} problems"]


def tabulate_statistics(statistics: AnnotationStatistics) -> list[Shown]:
    """How much is annotated, by split and by kind of book."""
    columns = ("books", "chapters", "twice", "spans", "utterances", "unknown", "conversations")
    columns += ("turns", "pairs", "interrupted", *statistics.splits[0].tags)

    def row(counted: AnnotationCounts) -> list[str]:
        values = [getattr(counted, name) for name in columns[:10]]
        return [counted.name, *(f"{value:,}" for value in (*values, *counted.tags.values()))]

    table = new_table(("split", *columns))
    for counted in statistics.splits:
        if counted.name in ("all", "sample"):
            table.add_section()
        table.add_row(*row(counted))
    shown: list[Shown] = ["Annotated, by split", table]
    table = new_table(("all splits", *columns[:2], *columns[3:5], *columns[6:9]))
    for kind, rows in statistics.kinds:
        table.add_section()
        table.add_row(kind)
        for counted in rows:
            values = [getattr(counted, name) for name in (*columns[:2], *columns[3:5])]
            values += [getattr(counted, name) for name in columns[6:9]]
            table.add_row(f"  {counted.name}", *(f"{value:,}" for value in values))
    return [*shown, table]


def tabulate_agreement(agreements: Mapping[str, Agreement]) -> list[Shown]:
    """How far readings agree, with a column for each pair of readings."""
    records = [agreement.to_json() for agreement in agreements.values()]
    table = new_table(("", *agreements))
    for name in records[0]:
        values = [record[name] for record in records]
        cells = [f"{value:,}" if isinstance(value, int) else format_rate(value) for value in values]
        table.add_row(name, *cells)
    return ["Readings of the same chapters, made independently of each other", table]


def tabulate_speakers(pairs: Sequence[SpeakerPair], list_differences: bool) -> list[Shown]:
    """How many speakers agree with the corpus, by book; then, optionally, each difference."""
    table = new_table(("book", "utterances of both", "same speaker", "share"))
    books = dict.fromkeys(pair.book for pair in pairs)
    for name in (*books, "all"):
        of_book = [pair for pair in pairs if name in (pair.book, "all")]
        same = sum(pair.agree for pair in of_book)
        table.add_row(name, f"{len(of_book):,}", f"{same:,}", f"{same / max(len(of_book), 1):.1%}")
    differences = [
        f"{pair.book}, chapter {pair.fact.chapter}, paragraph {pair.fact.paragraph}: "
        f"ours {pair.fact.speaker}, theirs {pair.theirs}"
        + (f" ({pair.fact.remark})" if pair.fact.remark else "")
        for pair in pairs
        if not pair.agree and list_differences
    ]
    return ["Speakers, against the Project Dialogism Novel Corpus", table, *differences]
