"""Talk in many novels -> matplotlib figures: by year, by the place in a novel, by length."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from statistics import fmean, median, quantiles

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from miner.app.plots.style import COLOURS, INK, PALE, SMALL, new_figure, tidy

_WIDTH = 6.5  # inches
_LINE = 0.27  # inches of height for each novel


def plot_talk_by_year(
    points: Sequence[tuple[float, float]],
    trends: Sequence[tuple[float, float]],
    title: str,
    named: Sequence[tuple[str, float, float]] = (),
) -> Figure:
    """Draws the share of talk of each author against the year, with the trend and its interval."""
    figure = new_figure(_WIDTH, 4.4)
    axes = figure.subplots()
    axes.plot(
        [year for year, _ in points],
        [share for _, share in points],
        color=COLOURS[0],
        marker="o",
        linestyle="",
        alpha=0.75,
        label="an author",
    )
    years = sorted({year for year, _ in points})
    (slope, intercept), *draws = trends
    if len(draws) > 1:
        drawn = [
            quantiles((a * year + b for a, b in draws), n=40, method="inclusive") for year in years
        ]
        axes.fill_between(
            years,
            [low for low, *_ in drawn],
            [high for *_, high in drawn],
            color=COLOURS[1],
            alpha=0.2,
            linewidth=0,
            label="95% interval of the trend",
        )
    axes.plot(
        years, [slope * year + intercept for year in years], color=COLOURS[1], label="the trend"
    )
    middle = median(year for _, year, _ in named) if named else 0
    for label, year, share in named:
        shift, side = (-5, "right") if year <= middle else (5, "left")  # away from each other
        axes.annotate(
            label,
            (year, share),
            (shift, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=SMALL,
        )
    axes.set(ylim=(0, 1), xlabel="year of publication (mean of an author's novels)")
    axes.set_ylabel("spoken words, % of all")
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=""))
    axes.set_title(title)
    tidy(axes, "both")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL)
    return figure


def plot_courses(
    named: Sequence[tuple[str, Sequence[float]]], courses: Sequence[Sequence[float]], title: str
) -> Figure:
    """Draws how talk rises and falls from the first page of a novel to the last.

    Above, each named novel is a row of cells. Below are the mean and the middle half of all novels.
    """
    height = _LINE * len(named)
    figure = new_figure(_WIDTH, 3.2 + height)
    above, below = figure.subplots(2, sharex=True, height_ratios=[0.5 + height, 1.7])
    cells = above.imshow(
        [shares for _, shares in named],
        cmap="cividis",
        vmin=0,
        vmax=1,
        aspect="auto",
        extent=(0, 100, len(named) - 0.5, -0.5),
        interpolation="nearest",
    )
    above.set_yticks(range(len(named)), [name for name, _ in named], fontsize=SMALL)
    above.set_title(title)
    bar = figure.colorbar(cells, ax=above, pad=0.02, format=PercentFormatter(1, symbol=""))
    bar.set_label("spoken words, %", fontsize=SMALL)
    n_parts = len(courses[0])
    columns = [
        [100 * share for share in part if isfinite(share)] for part in zip(*courses, strict=True)
    ]
    places = [100 * (part + 0.5) / n_parts for part in range(n_parts)]
    if len(courses) > 1:
        quarters = [quantiles(column, method="inclusive") for column in columns]
        below.fill_between(
            places,
            [low for low, _, _ in quarters],
            [high for _, _, high in quarters],
            color=COLOURS[0],
            alpha=0.2,
            linewidth=0,
            label="the middle half",
        )
    label = f"mean of {len(courses)}"
    below.plot(places, [fmean(column) for column in columns], COLOURS[0], marker="o", label=label)
    below.set(ylim=(0, 100), xlim=(0, 100), xlabel="place in the novel, % of its words")
    below.set_ylabel("spoken words, %")
    below.legend(frameon=False, ncols=2, fontsize=SMALL)
    tidy(below)
    return figure


def plot_spreads(
    groups: Sequence[tuple[str, Sequence[float]]], title: str, unit: str, ticks: Sequence[int]
) -> Figure:
    """Draws the median, the middle half and the middle nine tenths of each group of numbers."""
    figure = new_figure(_WIDTH, 1.5 + _LINE * len(groups))
    axes = figure.subplots()
    labels = {"thin": "nine tenths", "thick": "half of them", "dot": "median"}
    for place, (_, numbers) in enumerate(groups):
        if len(numbers) < 2:
            continue
        twentieths = quantiles(numbers, n=20, method="inclusive")
        low, first, middle, third, high = (twentieths[n - 1] for n in (1, 5, 10, 15, 19))
        colour = COLOURS[0]
        axes.plot([low, high], [place] * 2, color=colour, lw=1, label=labels.pop("thin", None))
        axes.plot(
            [first, third],
            [place] * 2,
            color=colour,
            lw=5,
            solid_capstyle="butt",
            label=labels.pop("thick", None),
        )
        axes.plot(
            [middle],
            [place],
            color="white",
            markeredgecolor=INK,
            marker="o",
            linestyle="",
            label=labels.pop("dot", None),
        )
    axes.set_yticks(range(len(groups)), [name for name, _ in groups], fontsize=SMALL)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
    axes.minorticks_off()
    axes.set(xlabel=f"{unit} (log scale)", title=title)
    tidy(axes, "x")
    for place in range(len(groups)):
        axes.axhline(place, color=PALE, linewidth=0.8, zorder=0)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL)
    return figure
