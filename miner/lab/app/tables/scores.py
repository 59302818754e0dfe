"""Tables of scores: of one tagger, of several side by side, of mined pairs and of quotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from miner.annotation.matching import CAUSES
from miner.app.tables import Shown, cut_column, new_table
from miner.lab.measure.language_scores import LETTERS
from miner.score import format_rate, format_score

if TYPE_CHECKING:
    from rich.table import Table

    from miner.lab.gold.editions import Checked
    from miner.lab.gold.statistics import AnnotationCounts, AnnotationStatistics
    from miner.lab.measure.agreement import Agreement
    from miner.lab.measure.compare import Comparison
    from miner.lab.measure.confidence import KeptPairs, PairErrors
    from miner.lab.measure.language_scores import LanguageScores
    from miner.lab.measure.pdnc_speakers import SpeakerPair
    from miner.lab.measure.quotations import CorpusScores
    from miner.lab.measure.scores import Measures, Part, Scores

_COMPARED = (
    ("B-START", "B-START"),
    ("turn pairs", "turn-pair"),
    ("span pairs (MCN's)", "span-pair"),
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
    ("span pairs (MCN's)", "span-pair"),
    ("dialogues, exact", "dialogue"),
    ("utterances found", "utterance"),
)


def tabulate_scores(scores: Scores) -> list[Shown]:
    """The scores end to end, the scores on gold spans, and a row for each book."""
    total = scores.total
    shown = [
        *_measures_table("End to end: missed utterances and spurious ones count", total.end_to_end),
        *_measures_table(
            f"On gold spans: the {total.n_matched:,} of {total.n_gold:,} that both have",
            total.on_gold_spans,
        ),
    ]
    if len(scores.books) > 1:
        names = ("book", "B-START P", "R", "F1", "turn pairs P", "R", "F1", "Pk")
        table = new_table(names)
        for name, part in scores.books.items():
            measures = part.end_to_end
            cells = ("B-START.precision", "B-START.recall", "B-START.f1")
            cells += ("turn-pair.precision", "turn-pair.recall", "turn-pair.f1", "pk")
            table.add_row(name, *(format_rate(measures[cell].value) for cell in cells))
        shown += ["Per book, end to end", table]
    return shown


def _measures_table(title: str, measures: Measures) -> list[Shown]:
    table = new_table(("", "precision", "recall", "F1 [95%]"))
    for label, unit in _MEASURES:
        table.add_row(
            label,
            format_rate(measures[f"{unit}.precision"].value),
            format_rate(measures[f"{unit}.recall"].value),
            format_score(measures[f"{unit}.f1"]),
        )
    for label, name in (("tags right", "accuracy"), ("Pk, 0 is best", "pk")):
        table.add_row(label, "", "", format_score(measures[name]))
    table.add_row("WindowDiff, 0 is best", "", "", format_score(measures["windowdiff"]))
    return [title, table]


def tabulate_comparison(comparison: Comparison) -> list[Shown]:
    """The two measures of MCN; then precision, recall and F1 of each tagger, also by book."""
    shown: list[Shown] = []
    where = f"({comparison.gold}, {comparison.split} split)"
    if any(row.readme for row in comparison.rows):
        heads = ("", "B-START recall", "its README", "span-pair precision", "its README")
        table = new_table(heads)
        for row in comparison.rows:
            if row.readme:
                measures = row.scores.total.end_to_end
                table.add_row(
                    row.name,
                    format_score(measures["B-START.recall"]),
                    f"{row.readme[0]:.2f}",
                    format_score(measures["span-pair.precision"]),
                    f"{row.readme[1]:.2f}",
                )
        shown += [f"The table of MCN again {where}", table]
    from_book = [(row.name, row.from_book) for row in comparison.rows if row.from_book]
    on_gold = [(row.name, row.scores) for row in comparison.rows]
    names = [row.name for row in comparison.rows]
    title = "On the spans of the gold" if from_book else "All on the same labels"
    shown += [f"{title} {where}", _compared_table(on_gold)]
    if from_book:
        shown += [
            f"From the book to the tags, on the spans that are found {where}",
            _compared_table(from_book, (("utterances found", "utterance"), *_COMPARED)),
            "Each book, on the spans of the gold",
            _parts_table("book", [list(s.books.items()) for _, s in on_gold], names),
        ]
    if from_book and comparison.rows[0].domains:
        parts = [[(name, s.total) for name, s in row.domains.items()] for row in comparison.rows]
        shown += ["The same of each domain", _parts_table("domain", parts, names)]
    return shown


def _compared_table(
    rows: Sequence[tuple[str, Scores]], units: Sequence[tuple[str, str]] = _COMPARED
) -> Table:
    """Precision, recall and F1 of each tagger, unit by unit."""
    table = new_table(("", "precision [95%]", "recall [95%]", "F1 [95%]"))
    for label, unit in units:
        table.add_section()
        table.add_row(label)
        for name, scores in rows:
            measures = scores.total.end_to_end
            parts = (measures[f"{unit}.{part}"] for part in ("precision", "recall", "f1"))
            table.add_row(f"  {name}", *map(format_score, parts))
    return table


def _parts_table(
    kind: str, rows: Sequence[Sequence[tuple[str, Part]]], names: Sequence[str]
) -> Table:
    """A section for each book or domain, with its size and a row for each tagger."""
    heads = ("B-START recall", "F1", "turn-pair precision", "F1")
    measures = ("B-START.recall", "B-START.f1", "turn-pair.precision", "turn-pair.f1")
    table = new_table((kind, "chapters", "utterances", "tagger", *heads))
    for parts in zip(*rows, strict=True):
        label, first = parts[0]
        size = label, str(first.n_chapters), f"{first.n_gold:,}"
        for name, (_, part) in zip(names, parts, strict=True):
            scores = (format_rate(part.end_to_end[measure].value) for measure in measures)
            table.add_row(*size, name, *scores)
            size = "", "", ""
    return table


def tabulate_sweep(swept: Mapping[int, Scores], split: str) -> list[Shown]:
    """The scores of the gap heuristic for each gap; the best B-START F1 is marked."""
    names = ("gap", "B-START P", "R", "F1 [95%]", "turn pairs P", "R", "F1 [95%]", "")
    table = new_table(names)

    best = max(swept, key=lambda gap: swept[gap].total.end_to_end["B-START.f1"].value or 0.0)
    for gap, scores in swept.items():
        measures = scores.total.end_to_end
        cells: list[str] = []
        for unit in ("B-START", "turn-pair"):
            cells += [
                format_rate(measures[f"{unit}.{part}"].value) for part in ("precision", "recall")
            ]
            cells.append(format_score(measures[f"{unit}.f1"]))
        table.add_row(str(gap), *cells, "best" if gap == best else "")
    return [f"The gap, in characters, on the spans of the gold ({split} split)", table]


def tabulate_errors(errors: PairErrors, name: str, split: str) -> list[Shown]:
    """How many of 100 mined pairs are wrong, and why."""
    table = new_table(("of the mined pairs are", "pairs", "of 100", "because"), ("because",))
    each = 100 / max(errors.n_pairs, 1)
    table.add_row("right", f"{errors.n_right:,}", f"{each * errors.n_right:.1f}", "")
    table.add_row("wrong", f"{errors.n_wrong:,}", f"{each * errors.n_wrong:.1f}", "")
    for cause, n in sorted(errors.causes.items(), key=lambda item: -item[1]):
        table.add_row(f"  {cause}", f"{n:,}", f"{each * n:.1f}", CAUSES[cause])
    return [
        f"{errors.n_pairs:,} turn pairs mined by {name} from the books ({split} split)",
        table,
        f"{errors.n_missed:,} of {errors.n_right + errors.n_missed:,} gold pairs were not mined",
    ]


def tabulate_tradeoff(kept: Sequence[KeptPairs], name: str, split: str) -> list[Shown]:
    """How many pairs are kept at each minimum confidence, and how many of those are right."""
    table = new_table(
        ["--min-confidence", "pairs kept", "of all", "precision [95%]", "recall [95%]"]
    )
    for item in kept:
        cells = [f"{item.min_confidence:g}", str(item.n_pairs), f"{item.share:.1%}"]
        table.add_row(*cells, format_score(item.precision), format_score(item.recall))
    return [f"Turn pairs mined by {name}, {split} split", table]


def tabulate_quotations(scored: CorpusScores, width: int) -> list[Shown]:
    """The scores of each novel, beside those of two simple rules, and the means over novels."""
    novels = scored.novels
    names = ("novel", "P", "R", "F1", "letters", "joined", "regex", "toggle")
    rows = [novel.row() for novel in novels]
    cells = [[novel.title, *map(format_rate, row)] for novel, row in zip(novels, rows, strict=True)]
    table = new_table(names)
    for row in cut_column(cells, 0, names, width):
        table.add_row(*row)
    if rows:
        table.add_section()
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        table.add_row(f"mean of {len(rows)}", *map(format_rate, means))
    n_missed = sum(len(novel.ours.missed) for novel in novels)
    n_spurious = sum(len(novel.ours.spurious) for novel in novels)
    return [
        "Quotations found, against the corpus (spans, both ends right)",
        table,
        "F1 four times more: of letters, with nested quotations joined, of two plain rules\n"
        f"{n_missed:,} spans missed, {n_spurious:,} spurious; "
        f"{sum(novel.ours.unaligned for novel in novels)} gold spans not in our edition, "
        f"{sum(len(novel.ours.foreign) for novel in novels)} of ours not in the corpus's",
        *scored.coverage.notes,
    ]


def tabulate_languages(rows: Sequence[LanguageScores], split: str) -> list[Shown]:
    """A table of speech, one of conversations, and one of confidence if a tagger gives it."""
    speech = _table_of_units(rows, (("utterances", "utterance"), ("letters", LETTERS)))
    talk = _table_of_units(rows, (("B-START", "B-START"), ("turn pairs", "turn-pair")))
    shown: list[Shown] = [
        f"Speech that is found, by its exact ends and by its letters ({split} split)",
        speech,
        f"Conversations, from the book to the tags ({split} split)",
        talk,
    ]
    if any(len(row.kept) > 1 for row in rows):
        title = (
            "Turn pairs that --min-confidence keeps: the share that is right, and the share kept"
        )
        shown += [f"{title} ({split} split)", _table_of_confidence(rows)]
    return shown


def _table_of_units(rows: Sequence[LanguageScores], units: Sequence[tuple[str, str]]) -> Table:
    """Precision, recall and F1 of some units, with a section for each tagger."""
    heads = [f"{label} P" for label, _ in units]
    columns = [column for head in heads for column in (head, "R", "F1 [95%]")]
    table = new_table(("", "chapters", "utterances", *columns))
    for tagger, of_tagger in groupby(rows, key=lambda row: row.tagger):
        table.add_section()
        table.add_row(tagger)
        for row in of_tagger:
            cells: list[str] = []
            for _, unit in units:
                cells += [
                    format_rate(row.scores[f"{unit}.{part}"].value)
                    for part in ("precision", "recall")
                ]
                cells.append(format_score(row.scores[f"{unit}.f1"]))
            sizes = f"{row.n_chapters:,}", f"{row.n_utterances:,}"
            table.add_row(f"  {row.language}", *sizes, *cells)
    return table


def _table_of_confidence(rows: Sequence[LanguageScores]) -> Table:
    """Precision of the pairs and their share at each least confidence."""
    rows = [row for row in rows if len(row.kept) > 1]
    table = new_table(("", *(f"{kept.min_confidence:g}" for kept in rows[0].kept)))
    for tagger, of_tagger in groupby(rows, key=lambda row: row.tagger):
        table.add_section()
        table.add_row(tagger)
        for row in of_tagger:
            cells = [f"{format_rate(kept.precision.value)} {kept.share:.0%}" for kept in row.kept]
            table.add_row(f"  {row.language}", *cells)
    return table


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
