"""What is said of methods of response selection: their training, and their scores side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from miner.app.tables.layout import Shown, divide_columns, label_texts, new_table
from miner.lab.lessons.examples import describe_part, describe_size
from miner.lab.lessons.selection.methods import find_method

if TYPE_CHECKING:
    from miner.lab.lessons.papers import PublishedTable
    from miner.lab.lessons.selection.comparison import MethodComparison, ShownContext
    from miner.lab.lessons.selection.methods import Step
    from miner.lab.lessons.selection.scoring import Score

_LONGEST_LINE = 100  # characters of a line of text, in a terminal of any width
_FAST = 100  # pairs a second, from which decimals say nothing


def describe_step(step: Step) -> str:
    """Returns a line about a point of the curve of a training."""
    loss = "" if step.loss is None else f"   loss {step.loss:.4f}"
    found = "" if step.accuracy is None else f"   1-of-100 {step.accuracy:.3f}"
    return f"{step.n_pairs:>11,} pairs{loss}{found}   {step.seconds:,.1f} s"


def describe_training(record: Mapping[str, Any], steps: Sequence[Step]) -> str:
    """Returns lines about a training: on what, how fast, and what it reached."""
    trained, last = record["train"], steps[-1]
    speed = last.n_pairs / last.seconds if last.seconds else 0
    rate = f"{speed:,.0f}" if speed >= _FAST else f"{speed:.1f}"
    begins = f"{record['method']} learned from {describe_size(trained)}"
    if not find_method(record["method"]).learns:
        begins = f"{record['method']} learns nothing; it was given {describe_size(trained)}"
    lines = [
        f"{begins} in {last.seconds:,.1f} s, {rate} pairs a second",
        f"  {describe_part(trained)}",
    ]
    known = [step for step in steps if step.accuracy is not None]
    if (judged := record["validation"]) and known:
        best = max(known, key=lambda step: step.accuracy or 0.0)
        lines += [
            f"1-of-100 {best.accuracy:.3f} after {best.n_pairs:,} pairs, on "
            f"{describe_size(judged)}",
            f"  {describe_part(judged)}",
        ]
    return "\n".join(lines)


def tabulate_comparison(comparison: MethodComparison, width: int) -> list[Shown]:
    """Methods against tasks, and against harder ones, what was scored, and contexts to read."""
    rows = comparison.rows
    names = [row.name for row in rows]
    sizes = ("trained on", [f"{row.record['train']['examples']:,}" for row in rows])
    columns: dict[bool, list[tuple[str, Sequence[str]]]] = {False: [sizes], True: []}
    for number, score in enumerate(rows[0].scores):
        head = f"{score.task} {score.measure}"
        cells = [format_score(row.scores[number]) for row in rows]
        columns[score.is_harder].append((head, cells))
    shown: list[Shown] = [*divide_columns(names, columns[False], width)]
    if columns[True]:
        shown += [
            "With false responses that are harder",
            *divide_columns(names, columns[True], width),
        ]
    return [*shown, *_lines_below(comparison, width)]


def tabulate_published(tables: Sequence[PublishedTable], width: int) -> list[Shown]:
    """The tables of the papers, for their own data, in a terminal of so many characters."""
    shown: list[Shown] = []
    for published in tables:
        table = new_table(("", *published.columns, "here"), ("here",))
        for name, values, here in published.rows:
            table.add_row(name, *(f"{value:.3f}" for value in values), here)
        source = fill(published.source, min(width, _LONGEST_LINE), subsequent_indent="  ")
        shown += [source, table]
    return shown


def tabulate_scores(comparison: MethodComparison, width: int) -> list[Shown]:
    """A row for each task of one method, what was scored, and the contexts that are shown."""
    (row,) = comparison.rows
    table = new_table(("", "score [95%]"))
    for score in row.scores:
        table.add_row(f"{score.task} {score.measure}", format_score(score))
    trained = row.record["train"]
    about = f"{row.name}: {row.record['method']}, trained on {describe_size(trained)}"
    return [about, f"  {describe_part(trained)}", "", table, *_lines_below(comparison, width)]


def format_score(score: Score) -> str:
    """Returns a score with its 95% interval, if it has one: "0.301 [0.285–0.322]"."""
    if score.low is None or score.high is None:
        return f"{score.value:.3f}"
    return f"{score.value:.3f} [{score.low:.3f}–{score.high:.3f}]"


def _lines_below(comparison: MethodComparison, width: int) -> list[Shown]:
    width = min(width, _LONGEST_LINE)
    lines = [fill(f"scored: {comparison.scored}", width, subsequent_indent="  ")]
    lines += [fill(note, width, subsequent_indent="  ") for note in comparison.notes]
    return [*lines, *(line for one in comparison.shown for line in _show_context(one, width))]


def _show_context(shown: ShownContext, width: int) -> list[str]:
    """A context, its true response, and what each method ranked first."""
    example, n = shown.example, shown.n_candidates
    *before, last = example.context
    texts = [*(("before", turn) for turn in before), ("context", last)]
    texts.append(("response", example.response))
    for one in shown.choices:
        said = one.response
        if one.is_true:
            said = "the true response"
        else:
            said += f" (place of the true response: {one.place:g} of {n})"
        texts.append((one.method, said))
    place = f", book {example.book}" if example.book else ""
    place += f", chapter {example.chapter}" if example.chapter else ""
    return [
        "",
        f"ranked first of {n} responses{place}",
        *label_texts(texts, width),
    ]
