"""What the commands show: tables for people, made of results that other modules computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from miner.compare import Comparison
    from miner.mine import Run, SetAside
    from miner.quotations import NovelScore
    from miner.scores import Figure, Score, Scores
    from miner.typography import Typography

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


def number(value: float | None) -> str:
    """Three decimals, or a dash where a measure is not defined."""
    return "—" if value is None else f"{value:.3f}"


def with_interval(score: Score) -> str:
    """A score and its 95% interval."""
    if score.low is None or score.high is None:
        return number(score.value)
    return f"{number(score.value)} [{score.low:.2f}–{score.high:.2f}]"


def scores_tables(scores: Scores) -> list[Table]:
    """End to end and on gold spans, precision and recall together; then a row for each book."""
    total = scores.total
    tables = [
        _figure_table("End to end: missed utterances and spurious ones count", total.end_to_end),
        _figure_table(
            f"On gold spans: the {total.n_matched:,} of {total.n_gold:,} that both have",
            total.on_gold_spans,
        ),
    ]
    if len(scores.books) > 1:
        names = ("book", "B-START P", "R", "F1", "turn pairs P", "R", "F1", "Pk")
        table = _table("Per book, end to end", names)
        for part in scores.books:
            figure = part.end_to_end
            names = ("B-START.precision", "B-START.recall", "B-START.f1")
            names += ("turn-pair.precision", "turn-pair.recall", "turn-pair.f1", "pk")
            table.add_row(part.book, *(number(figure[name].value) for name in names))
        tables.append(table)
    return tables


def _figure_table(title: str, figure: Figure) -> Table:
    table = _table(title, ("", "precision", "recall", "F1 [95%]"))
    for label, unit in _MEASURES:
        table.add_row(
            label,
            number(figure[f"{unit}.precision"].value),
            number(figure[f"{unit}.recall"].value),
            with_interval(figure[f"{unit}.f1"]),
        )
    boundaries = (
        f"Pk {with_interval(figure['pk'])}, WindowDiff {with_interval(figure['windowdiff'])}"
    )
    accuracy = f"accuracy of tags {with_interval(figure['accuracy'])}"
    table.caption = f"{boundaries} (0 is best); {accuracy}"
    return table


def comparison_tables(comparison: Comparison) -> list[Table]:
    """The taggers by the seed's two measures, each with its other half; then all that matters."""
    tables = []
    if any(row.readme for row in comparison.rows):
        table = _table(
            f"The seed's table again ({comparison.gold}, {comparison.split} split)",
            ("", "B-START recall", "its README", "span-pair precision", "its README"),
        )
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
        tables.append(table)
    table = _table(
        f"All on the same labels ({comparison.gold}, {comparison.split} split)",
        ("", "B-START P", "R", "F1 [95%]", "turn pairs P", "R", "F1 [95%]", "span pairs P", "R"),
    )
    for row in comparison.rows:
        figure = row.scores.total.end_to_end
        cells = [row.name]
        for unit in ("B-START", "turn-pair"):
            cells += [
                number(figure[f"{unit}.precision"].value),
                number(figure[f"{unit}.recall"].value),
            ]
            cells.append(with_interval(figure[f"{unit}.f1"]))
        cells += [number(figure[f"span-pair.{part}"].value) for part in ("precision", "recall")]
        table.add_row(*cells)
    return [*tables, table]


def quotation_tables(novels: Sequence[NovelScore]) -> list[Table]:
    """Span F1 of each novel, ours beside two rules, and the means over novels."""
    names = ("novel", "P", "R", "F1", "letters F1", "F1, nested joined", "regex F1", "toggle F1")
    table = _table("Quotations found, against the corpus (spans, both ends right)", names)
    rows = [novel.row() for novel in novels]
    for novel, row in zip(novels, rows, strict=True):
        table.add_row(novel.title, *map(number, row))
    if rows:
        table.add_section()
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        table.add_row(f"mean of {len(rows)}", *map(number, means))
    n_missed = sum(len(novel.ours.missed) for novel in novels)
    n_spurious = sum(len(novel.ours.spurious) for novel in novels)
    table.caption = (
        f"{n_missed:,} spans missed, {n_spurious:,} spurious; "
        f"{sum(novel.ours.unaligned for novel in novels)} gold spans not in our edition, "
        f"{sum(len(novel.ours.foreign) for novel in novels)} of ours not in the corpus's"
    )
    return [table]


def run_table(run: Run) -> Table:
    """One row for each mined book and their sum."""
    names = ("book", "title", "words", "utterances", "quoted only", "dialogues", "turns", "pairs")
    table = _table("Mined", (*names, "marks"))
    keys = ("utterances", "quoted_not_speech", "dialogues", "turns", "pairs")
    for entry in run.entries:
        title = entry["title"] if len(entry["title"]) <= 40 else entry["title"][:39] + "…"
        marks = entry["typography"]
        table.add_row(
            entry["id"],
            title,
            f"{entry['words']:,}",
            *(f"{entry['counts'][key]:,}" for key in keys),
            f"{', '.join(marks['marks'])} ({marks['confidence']:.2f})",
        )
    if len(run.entries) > 1:
        totals = run.totals
        table.add_section()
        table.add_row(
            f"{totals['books']} books",
            "",
            f"{totals['words']:,}",
            *(f"{totals[key]:,}" for key in keys),
        )
    return table


def set_aside_lines(set_aside: Iterable[SetAside]) -> list[str]:
    """One line for each source that gave nothing."""
    return [f"set aside: {item.word}: {item.why}" for item in set_aside]


def typography_tables(name: str, typography: Typography) -> list[Table]:
    """What opens speech in a book, and the votes for it."""
    chosen = ", ".join(typography.names) or "nothing"
    title = (
        f"{name}: speech is opened by {chosen} "
        f"(confidence {typography.confidence:.2f}, language {typography.language or 'unknown'})"
    )
    table = _table(title, ("marks", "paragraphs that vote for them", "share", "used"))
    total = sum(count for _, count in typography.evidence)
    for marks, count in typography.evidence:
        used = "yes" if marks in typography.names else ""
        table.add_row(marks, f"{count:,}", f"{count / total:.1%}", used)
    return [table]


def _table(title: str, columns: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, caption_justify="left")
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", overflow="fold")
    return table
