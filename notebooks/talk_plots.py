"""Talk in novels -> matplotlib figures: by chapter, by year, by place; and who share it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from statistics import fmean, median, quantiles

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from miner.app.plots import COLOURS, GREY, INK, PALE, SMALL, choose_looks, new_figure, tidy
from miner.lab.gold.dialogue_statistics import Talk
from miner.lab.gold.statistics import RANKS, CompanySize, CompanySizes

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


def plot_talk(talk: Talk) -> Figure:
    """Draws the share of talk in each chapter of a book and in the whole book."""
    figure = new_figure(6.0, 3.2)
    axes = figure.subplots()
    chapters = [item.chapter for item in talk.chapters]
    axes.bar(chapters, [100 * item.share for item in talk.chapters], color=COLOURS[0], width=0.8)
    axes.axhline(100 * talk.share, color=INK, linestyle="--", label=f"whole book: {talk.share:.0%}")
    axes.locator_params(axis="x", integer=True)
    axes.set(ylim=(0, 100), xlabel="chapter", ylabel="spoken words, % of all")
    axes.set_title(f"Talk in {talk.name}")
    axes.legend(frameon=False)
    tidy(axes)
    return figure


def plot_talks(talks: Sequence[Talk]) -> Figure:
    """Draws the share of talk in several books, with a mark per chapter; most talk is on top."""
    ranked = sorted((talk for talk in talks if talk.chapters), key=lambda talk: -talk.share)
    figure = new_figure(6.5, 1.4 + 0.26 * len(ranked))
    axes = figure.subplots()
    shares = [(place, item.share) for place, talk in enumerate(ranked) for item in talk.chapters]
    axes.plot(
        [100 * share for _, share in shares],
        [place for place, _ in shares],
        color=GREY,
        marker="|",
        markersize=8,
        linestyle="",
        label="a chapter",
    )
    axes.plot(
        [100 * talk.share for talk in ranked],
        range(len(ranked)),
        color=COLOURS[1],
        marker="D",
        markersize=6,
        linestyle="",
        label="the book",
    )
    axes.set_yticks(range(len(ranked)), [talk.name for talk in ranked])
    axes.set_ylim(len(ranked) - 0.5, -0.5)
    axes.set(xlim=(0, 100), xlabel="spoken words, % of all")
    axes.set_title("Talk by chapter")
    figure.legend(loc="outside lower right", ncols=2, frameon=False, fontsize=SMALL)
    tidy(axes, "x")
    axes.hlines(range(len(ranked)), 0, 100, color=PALE, linewidth=0.8, zorder=0)
    return figure


def plot_companies(companies: CompanySizes, title: str) -> Figure:
    """Draws how many people talk in a conversation, and how they share its turns.

    The upper plot shows the share of conversations and of turns by the number of speakers. The
    lower plot shows how the turns are shared between the speakers.
    """
    figure = new_figure(6.0, 6.0)
    above, below = figure.subplots(2, sharex=True)
    for axes in (above, below):
        tidy(axes)
    above.set(ylabel="share, %")
    above.set_title(title)
    _draw_sizes(above, companies)
    above.legend(frameon=False)
    sizes = companies.sizes
    _draw_ranks(below, sizes)
    below.set_xticks(
        [size.n_speakers for size in sizes],
        [f"{size.name}\n({size.n_conversations:,})" for size in sizes],
    )
    below.set(ylim=(0, 100), ylabel="of their turns, %")
    below.set(xlabel="speakers in a conversation (how many conversations)")
    figure.legend(
        *below.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=SMALL,
    )
    return figure


def _draw_sizes(axes: Axes, companies: CompanySizes) -> None:
    """Draws two bars for each size: the share of conversations and the share of turns."""
    shares = (companies.conversation_shares, companies.turn_shares)
    labels = ("of all conversations", "of all turns")
    for look, label, values, shift in zip(
        choose_looks(2), labels, shares, (-0.2, 0.2), strict=True
    ):
        bars = axes.bar(
            [size.n_speakers + shift for size in companies.sizes],
            [100 * value for value in values],
            width=0.38,
            color=look.colour,
            hatch=look.hatch,
            edgecolor="white",
            label=label,
        )
        axes.bar_label(bars, fmt="%.0f", fontsize=SMALL)


def _draw_ranks(axes: Axes, sizes: Sequence[CompanySize]) -> None:
    """Draws a bar for each size, stacked from the shares of its speakers."""
    bottom = [0.0] * len(sizes)
    for rank, look in enumerate(choose_looks(len(RANKS))):
        values = [100 * size.by_rank[rank] for size in sizes]
        axes.bar(
            [size.n_speakers for size in sizes],
            values,
            bottom=bottom,
            color=look.colour,
            hatch=look.hatch,
            edgecolor="white",
            label=RANKS[rank],
        )
        bottom = [start + value for start, value in zip(bottom, values, strict=True)]
