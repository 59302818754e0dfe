"""Scores, curves and sizes of methods of response selection -> matplotlib figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from miner.app.plots import GREY, INK, SMALL, Look, choose_looks, new_figure, tidy
from miner.files import shortest_ends
from miner.lab.lessons.selection.comparison import ComparedMethod, MethodComparison
from miner.lab.lessons.selection.scoring import Score

_PANEL, _ROW = 2.6, 0.34  # width of a panel and height of a row, in inches
_MOST_COLUMNS = 3  # panels side by side
_ROOM = 1.15  # of an axis, as a multiple of the furthest end
_MOST_TICKS = 6  # of an axis of sizes
_BESIDE = 1.03  # between the intervals of two lines at one size, as a multiple of the size


def draw_selection(comparison: MethodComparison) -> dict[str, Figure]:
    """Draws the figures of a comparison, by their file names without ending.

    "scores" has a panel for each task. "curves" has the accuracy on validation by the pairs seen,
    if a method has such a curve. "sizes" has the scores by the pairs trained on (UD, Figure 3), if
    methods of one kind were trained on several numbers of them.
    """
    figures = {"scores": plot_scores(comparison.rows, comparison.scored)}
    if any(len(_known(row)) > 1 for row in comparison.rows):
        figures["curves"] = plot_curves(comparison.rows)
    if has_sizes(comparison.rows):
        figures["sizes"] = plot_sizes(comparison.rows, comparison.scored)
    return figures


def has_sizes(rows: Sequence[ComparedMethod]) -> bool:
    """Whether methods of one kind, source and options were trained on several numbers of pairs."""
    return any(len({_size(row) for row in of}) > 1 for of in _series(rows).values())


def plot_scores(rows: Sequence[ComparedMethod], scored: str) -> Figure:
    """Draws the scores of methods with their 95% intervals, a panel for each task and measure."""
    tasks = _tasks(rows)
    looks = choose_looks(len(rows))
    figure, panels = _panels(len(tasks), 1.0 + _ROW * len(rows))
    for number, (axes, task) in enumerate(zip(panels, tasks, strict=True)):
        for place, (row, look) in enumerate(zip(rows, looks, strict=True)):
            _draw_score(axes, _score_of(row, task), place, look)
        furthest = max(_ends(_score_of(row, task))[1] for row in rows)
        axes.set(xlim=(0, min(1, _ROOM * furthest) or 1), ylim=(len(rows) - 0.5, -0.5))
        axes.set_title(" ".join(task), fontsize=SMALL + 2)
        is_first = number % _MOST_COLUMNS == 0
        axes.set_yticks(range(len(rows)), [row.name if is_first else "" for row in rows])
        axes.tick_params(axis="y", length=0)
        tidy(axes, "x")
    figure.supxlabel(f"95% intervals; {scored}", fontsize=SMALL, color=GREY, wrap=True)
    return figure


def plot_curves(rows: Sequence[ComparedMethod]) -> Figure:
    """Draws the 1-of-100 accuracy on validation by the pairs that were learned from."""
    figure = new_figure(6.0, 4.0)
    axes = figure.subplots()
    drawn = [row for row in rows if len(_known(row)) > 1]
    for row, look in zip(drawn, choose_looks(len(drawn)), strict=True):
        points = _known(row)
        axes.plot(
            [n for n, _ in points],
            [accuracy for _, accuracy in points],
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=4,
            label=row.name,
        )
    axes.set(xlabel="pairs learned from, repeated ones counted again", ylim=(0, None))
    axes.set(ylabel="1-of-100 accuracy on validation")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("Curves of the training")
    axes.legend(frameon=False, fontsize=SMALL + 1)
    tidy(axes)
    return figure


def plot_sizes(rows: Sequence[ComparedMethod], scored: str) -> Figure:
    """Draws scores by the number of pairs trained on (UD, Figure 3), a panel for each task.

    A line goes through the means of the methods of one size, which differ in their seed.
    """
    tasks = _tasks(rows)
    series = {name: of for name, of in _series(rows).items() if len({_size(r) for r in of}) > 1}
    looks = choose_looks(len(series))
    figure, panels = _panels(len(tasks), 2.6)
    sizes = sorted({_size(row) for of in series.values() for row in of})
    for axes, task in zip(panels, tasks, strict=True):
        for place, (name, of) in enumerate(series.items()):
            beside = _BESIDE ** (place - (len(series) - 1) / 2)
            _draw_sizes(axes, of, task, looks[place], name, beside)
        axes.set_xscale("log")
        axes.set_xticks(_some(sizes), [f"{n:,}" for n in _some(sizes)], rotation=30, ha="right")
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_title(" ".join(task), fontsize=SMALL + 2)
        tidy(axes)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", frameon=False, fontsize=SMALL + 1)
    below = f"pairs trained on (log scale); bars: 95% intervals; {scored}"
    figure.supxlabel(below, fontsize=SMALL, color=GREY, wrap=True)
    return figure


def _draw_sizes(
    axes: Axes,
    rows: Sequence[ComparedMethod],
    task: tuple[str, str],
    look: Look,
    label: str,
    beside: float,
) -> None:
    """Draws a line and its intervals, which stand `beside` times the size, so that all are seen."""
    means: list[tuple[int, float]] = []
    for size, of_size in groupby(sorted(rows, key=_size), key=_size):
        scores = [_score_of(row, task) for row in of_size]
        means.append((size, sum(score.value for score in scores) / len(scores)))
        for score in scores:
            at = size * beside
            axes.plot([at, at], _ends(score), color=look.colour, alpha=0.5, linewidth=1.4)
            axes.plot([at], [score.value], color=look.colour, marker="_", markersize=6)
    axes.plot(
        [size for size, _ in means],
        [value for _, value in means],
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=5,
        label=label,
    )


def _draw_score(axes: Axes, score: Score, place: float, look: Look) -> None:
    axes.plot(_ends(score), [place, place], color=look.colour, linewidth=1.6)
    axes.plot([score.value], [place], color=look.colour, marker=look.marker, markersize=6)
    axes.annotate(
        f"{score.value:.3f}",
        (score.value, place),
        xytext=(0, 5),
        textcoords="offset points",
        ha="center",
        fontsize=SMALL - 1,
        color=INK,
    )


def _panels(n: int, height: float) -> tuple[Figure, list[Axes]]:
    """Returns a figure and n panels of a height in inches, some side by side."""
    n_columns = min(n, _MOST_COLUMNS)
    n_rows = -(-n // n_columns)
    figure = new_figure(1.6 + _PANEL * n_columns, 0.6 + height * n_rows)
    grid = figure.subplots(n_rows, n_columns, squeeze=False).flatten().tolist()
    for axes in grid[n:]:
        axes.remove()
    return figure, grid[:n]


def _tasks(rows: Sequence[ComparedMethod]) -> list[tuple[str, str]]:
    """The tasks with their measures, in the order of the first method."""
    return [(score.task, score.measure) for score in rows[0].scores]


def _score_of(row: ComparedMethod, task: tuple[str, str]) -> Score:
    return next(score for score in row.scores if (score.task, score.measure) == task)


def _ends(score: Score) -> tuple[float, float]:
    """The ends of the interval; without an interval, the value twice."""
    low = score.value if score.low is None else score.low
    return low, score.value if score.high is None else score.high


def _series(rows: Sequence[ComparedMethod]) -> Mapping[str, list[ComparedMethod]]:
    """The methods of each line, by its label: of one kind, source and choice of options.

    An option counts only if two methods of the same kind, source and size differ in it. So the
    steps of a training may grow with its size.
    """
    alike: dict[tuple[str, str], list[ComparedMethod]] = {}
    for row, source in zip(rows, _sources(rows), strict=True):
        alike.setdefault((row.record["method"], source), []).append(row)
    series: dict[str, list[ComparedMethod]] = {}
    for kind, of in alike.items():
        differing = {
            name
            for one in of
            for other in of
            if _size(one) == _size(other)
            for name, value in _choices(one).items()
            if value != _choices(other).get(name)
        }
        for row in of:
            chosen = [f"{k} {v}" for k, v in _choices(row).items() if k in differing]
            series.setdefault(", ".join((*kind, *chosen)), []).append(row)
    return series


def _sources(rows: Sequence[ComparedMethod]) -> list[str]:
    """What each method was trained on; with the folders above, where two sources share a name."""
    trained = [row.record["train"] for row in rows]
    paths: dict[str, dict[str, str]] = {}  # of each name: the paths, and what they are called
    for part in trained:
        paths.setdefault(part["source"], {})[part.get("path", "")] = part["source"]
    for name, of in paths.items():
        known = [Path(path) for path in of if path]  # methods of an older version have none
        if len(of) > 1:
            ends = zip(known, shortest_ends(known), strict=True)
            of.update((str(path), end + name.removeprefix(path.name)) for path, end in ends)
    return [paths[part["source"]][part.get("path", "")] for part in trained]


def _choices(row: ComparedMethod) -> dict[str, Any]:
    """The options of a training, but its seed."""
    return {**row.record["options"], "history_turns": row.record["history_turns"]}


def _size(row: ComparedMethod) -> int:
    return row.record["train"]["examples"]


def _known(row: ComparedMethod) -> list[tuple[int, float]]:
    """The points of a curve that have an accuracy."""
    return [(step.n_pairs, step.accuracy) for step in row.curve if step.accuracy is not None]


def _some(sizes: Sequence[int]) -> list[int]:
    """Some of the sizes, the largest among them, so that their labels have room."""
    each = -(-len(sizes) // _MOST_TICKS)
    return list(reversed(sizes[::-1][::each]))
