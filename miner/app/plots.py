"""Figures of a corpus, as PNG files whose bytes depend on nothing else, and the look of all plots.

The colours are for colour-blind readers, and never colour alone tells anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle, islice

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from miner.corpus.card import format_percent, name_of_language
from miner.corpus.filters import FilterRow
from miner.corpus.statistics import (
    CorpusAccount,
    Histogram,
    Illustration,
    LengthStatistics,
    languages_of,
    shares_at_least,
    splits_of,
    statistics_of_language,
    statistics_of_split,
)

FOLDER = "figures"
_DPI = 150
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_MARKED = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)


def draw_corpus(account: CorpusAccount) -> list[Illustration]:
    """Draws the figures of a corpus: its dialogues, its turns, and what its filters took.

    A figure without anything to show is left out.
    """
    figures: list[tuple[str, str, Figure]] = []
    if parts := divide_statistics(account):
        kind = "split" if len(languages_of(account.statistics)) == 1 else "language"
        figures += [
            (
                "turns",
                f"Dialogues with at least so many turns, by {kind}",
                plot_dialogue_lengths(parts, f"Length of dialogues\n{account.name}"),
            ),
            (
                "words",
                f"Turns with at least so many words, by {kind}",
                plot_turn_lengths(parts, f"Length of turns\n{account.name}"),
            ),
        ]
    if account.filters:
        figure = plot_filters(account.filters, f"What the filters took\n{account.name}")
        figures.append(("filters", "What each filter took of what came to it", figure))
    return [
        Illustration(f"{FOLDER}/{name}.png", caption, _png(figure))
        for name, caption, figure in figures
    ]


def divide_statistics(account: CorpusAccount) -> dict[str, LengthStatistics]:
    """Returns the statistics by split, or by language if there are several languages.

    The keys are the names of the lines in a figure.
    """
    statistics = account.statistics
    languages = languages_of(statistics)
    if len(languages) > 1:
        return {name_of_language(one): statistics_of_language(statistics, one) for one in languages}
    return {split: statistics_of_split(statistics, split) for split in splits_of(statistics)}


def plot_dialogue_lengths(parts: Mapping[str, LengthStatistics], title: str) -> Figure:
    """Draws the share of dialogues with at least n turns, on log scales, a line for each part."""
    return _plot_lengths(
        parts,
        lambda part: part.turns_of_dialogues,
        lambda part: f"{_n(part.n_dialogues, 'dialogue')}, mean {part.mean_turns:.2f}",
        title,
        "turns",
        "dialogues",
    )


def plot_turn_lengths(parts: Mapping[str, LengthStatistics], title: str) -> Figure:
    """Draws the share of turns with at least n words, on log scales, a line for each part.

    Turns without a word have no place on the scale; the others are a share of all.
    """
    return _plot_lengths(
        parts,
        lambda part: part.words_of_turns,
        lambda part: f"{_n(part.n_turns, 'turn')}, mean {part.mean_words:.2f}",
        title,
        "words",
        "turns",
    )


def _plot_lengths(
    parts: Mapping[str, LengthStatistics],
    histogram_of: Callable[[LengthStatistics], Histogram],
    describe: Callable[[LengthStatistics], str],
    title: str,
    unit: str,
    counted: str,
) -> Figure:
    figure = new_figure(6.0, 3.9 + 0.1 * len(parts))
    axes = figure.subplots()
    longest = 1
    for look, (name, part) in zip(choose_looks(len(parts)), parts.items(), strict=True):
        points = [point for point in shares_at_least(histogram_of(part)) if point[0]]
        if not points:
            continue
        longest = max(longest, points[-1][0])
        axes.plot(
            [n for n, _ in points],
            [100 * share for _, share in points],
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markevery=[place for place, (n, _) in enumerate(points) if n in _MARKED],
            markersize=5,
            linewidth=1.5,
            label=f"{name}: {describe(part)}",
        )
    ticks = [n for n in _TICKS if n <= longest]
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel=f"{unit} (both scales are log)", ylabel=f"{counted} with at least so many, %")
    axes.set_title(title)
    tidy(axes, "both")
    columns = 1 if len(parts) < 4 else 2
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=SMALL)
    return figure


def plot_filters(rows: Sequence[FilterRow], title: str) -> Figure:
    """Draws what each filter took, in percent of what came to it."""
    figure = new_figure(7.0, 1.5 + 0.36 * len(rows))
    axes = figure.subplots()
    places = range(len(rows))
    bars = axes.barh(places, [100 * row.share for row in rows], height=0.6, color=COLOURS[0])
    axes.bar_label(bars, [_describe(row) for row in rows], padding=4, fontsize=SMALL, color=GREY)
    names = [
        f"{row.line.title}\n{row.line.parameter}" if row.line.parameter else row.line.title
        for row in rows
    ]
    axes.set_yticks(places, names, fontsize=SMALL)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    most = max((100 * row.share for row in rows), default=0.0) or 1.0
    axes.set(xlim=(0, 1.9 * most), xlabel="% of the books, turns, pairs or dialogues that came")
    axes.set_title(title)
    tidy(axes, "x")
    return figure


def _describe(row: FilterRow) -> str:
    """The label of a bar: "2 of 40 books (5.0%)"."""
    taken = getattr(row.taken, row.line.unit)
    if not row.came:
        return "nothing came"
    return f"{taken:,} of {row.came:,} {row.line.unit} ({format_percent(row.share)})"


def _n(n: int, unit: str) -> str:
    return f"{n:,} {unit}{'' if n == 1 else 's'}"


def _png(figure: Figure) -> bytes:
    """The figure as a file. It does not name the version of its maker, as it would by itself."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=_DPI, metadata={"Software": None})
    return file.getvalue()


# Okabe and Ito, "Color Universal Design" (2008), darker colours first, without the pale yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, GREY, PALE = "#222222", "#6B7280", "#D9DEE5"
SMALL = 8  # font size of labels inside a plot, in points
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo")


@dataclass(frozen=True, slots=True)
class Look:
    """How one series is drawn."""

    colour: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    hatch: str


def choose_looks(n: int) -> list[Look]:
    """Returns looks for n series; neighbours differ in more than their colour.

    The cycles of colours, markers and lines have different lengths, so a look repeats only after
    210 series.
    """
    parts = zip(*map(cycle, (COLOURS, _MARKERS, _LINES, _HATCHES)), strict=False)
    return [Look(*part) for part in islice(parts, n)]


def new_figure(width: float = 5.0, height: float = 4.0) -> Figure:
    """Returns an empty figure, size in inches, that is not registered with pyplot."""
    return Figure(figsize=(width, height), layout="constrained")


def tidy(axes: Axes, grid: str = "y") -> None:
    """Removes the upper and right line of the frame and puts a pale grid behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        axes.set_axisbelow(True)
        axes.grid(axis=grid, color=PALE, linewidth=0.8)  # pyright: ignore[reportArgumentType]
