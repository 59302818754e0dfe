"""What is said of dialogue models: the scores of their answers, and answers to read."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from miner.app.tables.layout import Shown, divide_columns, label_texts
from miner.lab.lessons.generation.metrics import METRICS

if TYPE_CHECKING:
    from miner.lab.lessons.generation.comparison import AnswerComparison, Score, ShownAnswers
    from miner.lab.lessons.generation.metrics import Metric
    from miner.lab.lessons.papers import PublishedTable

_LONGEST_LINE = 100  # characters of a line of text, in a terminal of any width
_BEST = "*"


def tabulate_answers(comparison: AnswerComparison, width: int) -> list[Shown]:
    """Models against metrics, what the metrics are, what was scored, and answers to read."""
    rows = comparison.rows
    columns: list[tuple[str, Sequence[str]]] = []
    if any(row.group for row in rows):
        columns.append(("group", [row.group for row in rows]))
    for number, metric in enumerate(METRICS):
        cells = [
            format_score(row.scores[number], metric) + _BEST * (metric.name in row.best)
            for row in rows
        ]
        columns.append((metric.name, cells))
    width_of_text = min(width, _LONGEST_LINE)
    lines = [_legend(), f"scored: {comparison.scored}", *comparison.notes]
    return [
        *divide_columns([row.name for row in rows], columns, width),
        *(fill(line, width_of_text, subsequent_indent="  ") for line in lines),
        *(line for one in comparison.shown for line in _show_answers(one, width_of_text)),
    ]


def tabulate_published(tables: Sequence[PublishedTable], width: int) -> list[Shown]:
    """The tables of GD, for its own data."""
    shown: list[Shown] = []
    for published in tables:
        names = [name for name, _ in published.rows]
        columns = [
            (head, [values[number] for _, values in published.rows])
            for number, head in enumerate(published.columns)
        ]
        shown += [published.source, *divide_columns(names, columns, width)]
    return shown


def format_score(score: Score, metric: Metric) -> str:
    """Returns a score with its 95% interval, if it has one: "7.5 [7.1–7.9]"; "–" for none."""
    if score.value is None:
        return "–"
    digits = metric.digits
    shown = f"{score.value:.{digits}f}"
    if score.low is None or score.high is None:
        return shown
    return f"{shown} [{score.low:.{digits}f}–{score.high:.{digits}f}]"


def _legend() -> str:
    metrics = "; ".join(f"{metric.name} {metric.about}" for metric in METRICS)
    return (
        f"{metrics}. In brackets are 95% intervals. {_BEST} is a value whose interval is apart "
        "from that of every other model; more counts as better, but for KL. The row truth takes "
        "the true responses for answers, random those of other contexts of the training texts."
    )


def _show_answers(shown: ShownAnswers, width: int) -> list[str]:
    """A context, its true response, and what each model answered."""
    answer = shown.answer
    *before, last = answer.context
    texts = [*(("before", turn) for turn in before), ("context", last)]
    texts += [("response", answer.response), *shown.predicted]
    place = f", book {answer.book}" if answer.book else ""
    place += f", chapter {answer.chapter}" if answer.chapter else ""
    return ["", f"drawn by chance{place}", *label_texts(texts, width)]
