"""What the commands show: tables for people, made of results that other modules computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from miner.evaluation.scores import rounded, with_interval
from miner.files import RUN_RECORD

if TYPE_CHECKING:
    from rich.table import Table

    from miner.annotation.statistics import AnnotationStatistics, Counted
    from miner.annotation.validation import Checked
    from miner.corpus.build import CorpusRun
    from miner.dialogue.typography import Typography
    from miner.evaluation.agreement import Agreement
    from miner.evaluation.compare import Comparison, SweptGap
    from miner.evaluation.confidence import Kept
    from miner.evaluation.pair_errors import PairErrors
    from miner.evaluation.quotations import NovelScore
    from miner.evaluation.scores import Figure, Part, Scores
    from miner.evaluation.speakers import SpeakerPair

# What a command shows, in order: lines of text and tables.
Shown: TypeAlias = "Table | str"

_BOOKS_SHOWN = 30
_WIDE = 110  # columns of a terminal from which a table of books has room for all it could show
_NARROWEST = 12  # columns of a text that is cut to make room
_GAP = 2  # columns between two columns of a table
_COMPARED = (
    ("B-START", "B-START"),
    ("turn pairs", "turn-pair"),
    ("span pairs (the seed's)", "span-pair"),
)
_MEASURES = (
    ("B-START", "B-START"),
    ("I-START", "I-START"),
    ("B-OTHER", "B-OTHER"),
    ("I-OTHER", "I-OTHER"),
    ("all tags, micro", "micro"),
    ("all tags, macro", "macro"),
    ("turns (seqeval entities)", "turn"),
    ("turn pairs", "turn-pair"),
    ("span pairs (the seed's)", "span-pair"),
    ("dialogues, exact", "dialogue"),
    ("utterances found", "utterance"),
)


def scores_tables(scores: Scores) -> list[Shown]:
    """End to end and on gold spans, precision and recall together; then a row for each book."""
    total = scores.total
    shown = [
        *_figure_table("End to end: missed utterances and spurious ones count", total.end_to_end),
        *_figure_table(
            f"On gold spans: the {total.n_matched:,} of {total.n_gold:,} that both have",
            total.on_gold_spans,
        ),
    ]
    if len(scores.books) > 1:
        names = ("book", "B-START P", "R", "F1", "turn pairs P", "R", "F1", "Pk")
        table = _table(names)
        for part in scores.books:
            figure = part.end_to_end
            names = ("B-START.precision", "B-START.recall", "B-START.f1")
            names += ("turn-pair.precision", "turn-pair.recall", "turn-pair.f1", "pk")
            table.add_row(part.book, *(rounded(figure[name].value) for name in names))
        shown += ["Per book, end to end", table]
    return shown


def _figure_table(title: str, figure: Figure) -> list[Shown]:
    table = _table(("", "precision", "recall", "F1 [95%]"))
    for label, unit in _MEASURES:
        table.add_row(
            label,
            rounded(figure[f"{unit}.precision"].value),
            rounded(figure[f"{unit}.recall"].value),
            with_interval(figure[f"{unit}.f1"]),
        )
    for label, name in (("tags right", "accuracy"), ("Pk, 0 is best", "pk")):
        table.add_row(label, "", "", with_interval(figure[name]))
    table.add_row("WindowDiff, 0 is best", "", "", with_interval(figure["windowdiff"]))
    return [title, table]


def comparison_tables(comparison: Comparison) -> list[Shown]:
    """The taggers by the seed's two measures; then by all that matters, both halves of each."""
    shown: list[Shown] = []
    where = f"({comparison.gold}, {comparison.split} split)"
    if any(row.readme for row in comparison.rows):
        heads = ("", "B-START recall", "its README", "span-pair precision", "its README")
        table = _table(heads)
        for row in comparison.rows:
            if row.readme:
                figure = row.scores.total.end_to_end
                table.add_row(
                    row.name,
                    with_interval(figure["B-START.recall"]),
                    f"{row.readme[0]:.2f}",
                    with_interval(figure["span-pair.precision"]),
                    f"{row.readme[1]:.2f}",
                )
        shown += [f"The seed's table again {where}", table]
    from_book = [(row.name, row.from_book) for row in comparison.rows if row.from_book]
    on_gold = [(row.name, row.scores) for row in comparison.rows]
    names = [row.name for row in comparison.rows]
    title = "On the spans of the gold" if from_book else "All on the same labels"
    shown += [f"{title} {where}", _compared(on_gold)]
    if from_book:
        shown += [
            f"From the book to the tags, on the spans that are found {where}",
            _compared(from_book, (("utterances found", "utterance"), *_COMPARED)),
            "B-START F1 / turn-pair F1 of each book, on the spans of the gold",
            _by_part("book", [[(p.book, p) for p in s.books] for _, s in on_gold], names),
        ]
    if from_book and comparison.rows[0].domains:
        parts = [[(name, s.total) for name, s in row.domains] for row in comparison.rows]
        shown += ["The same of each domain", _by_part("domain", parts, names)]
    return shown


def _compared(
    rows: Sequence[tuple[str, Scores]], units: Sequence[tuple[str, str]] = _COMPARED
) -> Table:
    """Precision, recall and F1 of each row, unit by unit."""
    table = _table(("", "precision [95%]", "recall [95%]", "F1 [95%]"))
    for label, unit in units:
        table.add_section()
        table.add_row(label)
        for name, scores in rows:
            figure = scores.total.end_to_end
            parts = (figure[f"{unit}.{part}"] for part in ("precision", "recall", "f1"))
            table.add_row(f"  {name}", *map(with_interval, parts))
    return table


def _by_part(kind: str, rows: Sequence[Sequence[tuple[str, Part]]], names: Sequence[str]) -> Table:
    """A line for each book, or domain: its size, and both F1 of each row."""
    table = _table((kind, "chapters", "utterances", *names))
    for parts in zip(*rows, strict=True):
        cells = [
            " / ".join(
                rounded(part.end_to_end[f"{unit}.f1"].value) for unit in ("B-START", "turn-pair")
            )
            for _, part in parts
        ]
        label, first = parts[0]
        table.add_row(label, str(first.n_chapters), f"{first.n_gold:,}", *cells)
    return table


def sweep_table(swept: Sequence[SweptGap], split: str) -> list[Shown]:
    """The gap heuristic by its gap; the best B-START F1 is marked."""
    names = ("gap", "B-START P", "R", "F1 [95%]", "turn pairs P", "R", "F1 [95%]", "")
    table = _table(names)

    def f1(item: SweptGap) -> float:
        return item.scores.total.end_to_end["B-START.f1"].value or 0.0

    best = max(swept, key=f1)
    for item in swept:
        figure = item.scores.total.end_to_end
        cells: list[str] = []
        for unit in ("B-START", "turn-pair"):
            cells += [rounded(figure[f"{unit}.{part}"].value) for part in ("precision", "recall")]
            cells.append(with_interval(figure[f"{unit}.f1"]))
        table.add_row(str(item.gap), *cells, "best" if item is best else "")
    return [f"The gap, in characters, on the spans of the gold ({split} split)", table]


def errors_table(errors: PairErrors, name: str, split: str) -> list[Shown]:
    """Of 100 mined pairs, how many are wrong, and why."""
    from miner.evaluation.pair_errors import CAUSES

    table = _table(("of the mined pairs are", "pairs", "of 100", "because"), ("because",))
    each = 100 / max(errors.n_pairs, 1)
    table.add_row("right", f"{errors.n_right:,}", f"{each * errors.n_right:.1f}", "")
    table.add_row("wrong", f"{errors.n_wrong:,}", f"{each * errors.n_wrong:.1f}", "")
    for cause, n in sorted(errors.causes, key=lambda item: -item[1]):
        table.add_row(f"  {cause}", f"{n:,}", f"{each * n:.1f}", CAUSES[cause])
    return [
        f"{errors.n_pairs:,} turn pairs mined by {name} from the books ({split} split)",
        table,
        f"{errors.n_missed:,} of {errors.n_right + errors.n_missed:,} gold pairs were not mined",
    ]


def tradeoff_table(kept: Sequence[Kept], name: str, split: str) -> list[Shown]:
    """What is kept at each least confidence."""
    table = _table(["--min-confidence", "pairs kept", "of all", "precision [95%]", "recall [95%]"])
    for item in kept:
        cells = [f"{item.least:g}", str(item.n_pairs), f"{item.share:.1%}"]
        table.add_row(*cells, with_interval(item.precision), with_interval(item.recall))
    return [f"Turn pairs mined by {name}, {split} split", table]


def check_table(checked: Checked) -> list[Shown]:
    """How the annotations fit the editions at hand, a line each book."""
    names = ("book", "title", "split", "chapters", "spans", "found", "worst chapter", "edition")
    table = _table(names, ("title", "split", "edition"))
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


def statistics_tables(statistics: AnnotationStatistics) -> list[Shown]:
    """What is annotated, by split, and by kind of book."""
    columns = ("books", "chapters", "twice", "spans", "utterances", "unknown", "conversations")
    columns += ("turns", "pairs", "interrupted", *statistics.splits[0].tags)

    def row(counted: Counted) -> list[str]:
        values = [getattr(counted, name) for name in columns[:10]]
        return [counted.name, *(f"{value:,}" for value in (*values, *counted.tags.values()))]

    table = _table(("split", *columns))
    for counted in statistics.splits:
        if counted.name in ("all", "sample"):
            table.add_section()
        table.add_row(*row(counted))
    shown: list[Shown] = ["Annotated, by split", table]
    table = _table(("all splits", *columns[:2], *columns[3:5], *columns[6:9]))
    for kind, rows in statistics.kinds:
        table.add_section()
        table.add_row(kind)
        for counted in rows:
            values = [getattr(counted, name) for name in (*columns[:2], *columns[3:5])]
            values += [getattr(counted, name) for name in columns[6:9]]
            table.add_row(f"  {counted.name}", *(f"{value:,}" for value in values))
    return [*shown, table]


def agreement_table(agreements: Mapping[str, Agreement]) -> list[Shown]:
    """How far readings agree, a column for each pair of them."""
    records = [agreement.to_json() for agreement in agreements.values()]
    table = _table(("", *agreements))
    for name in records[0]:
        values = [record[name] for record in records]
        cells = [f"{value:,}" if isinstance(value, int) else rounded(value) for value in values]
        table.add_row(name, *cells)
    return ["Readings of the same chapters, made independently of each other", table]


def speakers_tables(pairs: Sequence[SpeakerPair], list_differences: bool) -> list[Shown]:
    """How many speakers agree with the corpus's, book by book, then each difference if asked."""
    table = _table(("book", "utterances of both", "same speaker", "share"))
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


def quotation_tables(novels: Sequence[NovelScore], width: int) -> list[Shown]:
    """Span F1 of each novel, ours beside two rules, and the means over novels."""
    names = ("novel", "P", "R", "F1", "letters", "joined", "regex", "toggle")
    rows = [novel.row() for novel in novels]
    cells = [[novel.title, *map(rounded, row)] for novel, row in zip(novels, rows, strict=True)]
    table = _table(names)
    for row in _cut(cells, 0, names, width):
        table.add_row(*row)
    if rows:
        table.add_section()
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        table.add_row(f"mean of {len(rows)}", *map(rounded, means))
    n_missed = sum(len(novel.ours.missed) for novel in novels)
    n_spurious = sum(len(novel.ours.spurious) for novel in novels)
    return [
        "Quotations found, against the corpus (spans, both ends right)",
        table,
        "F1 four times more: of letters, with nested quotations joined, of two plain rules\n"
        f"{n_missed:,} spans missed, {n_spurious:,} spurious; "
        f"{sum(novel.ours.unaligned for novel in novels)} gold spans not in our edition, "
        f"{sum(len(novel.ours.foreign) for novel in novels)} of ours not in the corpus's",
    ]


def run_table(run: CorpusRun, width: int) -> list[Shown]:
    """A row for each of the first mined books and the sum of all, in so many columns of text."""
    is_wide = width >= _WIDE
    keys = ["utterances", "quoted_not_speech", "dialogues", "turns", "pairs"]
    names = ["book", "title", "words", "utterances", "quoted only", "dialogues", "turns", "pairs"]
    if is_wide:
        names.append("marks")
    else:
        keys.remove("quoted_not_speech")
        names.remove("quoted only")
    rows = []
    for entry in run.entries[:_BOOKS_SHOWN]:
        numbers = [f"{entry['words']:,}", *(f"{entry['counts'][key]:,}" for key in keys)]
        marks = entry["typography"]
        evidence = [f"{', '.join(marks['marks'])} {marks['confidence']:.2f}"] if is_wide else []
        rows.append([entry["id"], entry["title"], *numbers, *evidence])
    if (n_left := len(run.entries) - _BOOKS_SHOWN) > 0:
        rows.append(["more", f"{n_left} in {RUN_RECORD}", *[""] * (len(names) - 2)])
    totals = run.totals
    numbers = [f"{totals['words']:,}", *(f"{totals.get(key, 0):,}" for key in keys)]
    rows.append(["all", f"{totals['books']:,} books", *numbers, *[""] * is_wide])
    table = _table(names, ("title", "marks"))
    *rows, total = _cut(rows, 1, names, width)
    for row in rows:
        table.add_row(*row)
    if len(rows) > 1:
        table.add_section()
        table.add_row(*total)
    return [table]


def tagged_by(run: CorpusRun) -> str:
    """Which taggers tagged how many books: "en@0123abcd (7 books), gap (1 book)"."""
    counts = Counter(entry["tagger"] for entry in run.entries)
    return ", ".join(f"{name} ({n} book{'s' * (n > 1)})" for name, n in counts.most_common())


def _cut(
    rows: Sequence[Sequence[str]], column: int, names: Sequence[str], width: int
) -> list[list[str]]:
    """The rows with the texts of one column cut so that the table has room in `width`."""
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]
    room = max(_NARROWEST, width - sum(widths) - _GAP * (len(names) - 1) + widths[column])
    return [
        [
            f"{cell[: room - 1].rstrip()}…" if i == column and len(cell) > room else cell
            for i, cell in enumerate(row)
        ]
        for row in rows
    ]


def typography_tables(name: str, typography: Typography) -> list[Shown]:
    """What opens speech in a book, and the votes for it."""
    chosen = ", ".join(typography.names) or "nothing"
    title = (
        f"{name}: speech is opened by {chosen} "
        f"(confidence {typography.confidence:.2f}, language {typography.language or 'unknown'})"
    )
    if not typography.evidence:
        return [title, "no paragraph votes for any mark"]
    table = _table(("marks", "paragraphs that vote for them", "share", "used"))
    total = sum(count for _, count in typography.evidence)
    for marks, count in typography.evidence:
        used = "yes" if marks in typography.names else ""
        table.add_row(marks, f"{count:,}", f"{count / total:.1%}", used)
    return [title, table]


def _table(columns: Sequence[str], texts: Sequence[str] = ()) -> Table:
    """A table without frame; the first column and those of `texts` are words."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for position, column in enumerate(columns):
        is_text = column in texts
        table.add_column(
            column,
            justify="left" if is_text or not position else "right",
            no_wrap=True,
        )
    return table
