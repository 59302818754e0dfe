"""Lengths of conversations, shares of talk, sizes of companies -> matplotlib figures."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from miner.app.plots.style import (
    COLOURS,
    GREY,
    INK,
    PALE,
    SMALL,
    Look,
    choose_looks,
    new_figure,
    tidy,
)
from miner.lab.gold.statistics import RANKS, CompanySize, CompanySizes
from miner.speech.statistics import Lengths, Talk

_MARKED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256)  # turns on the axis
_LONG = 28  # characters of a name that is too long for a legend of two columns


def plot_lengths(lengths: Sequence[Lengths], title: str, gold: Lengths | None = None) -> Figure:
    """Draws the share of conversations with at least n turns, one line per book or tagger.

    A book without conversations has no line.
    """
    drawn = list(zip(choose_looks(len(lengths)), lengths, strict=True))
    if gold is not None:
        drawn.insert(0, (Look(INK, "*", "-", ""), gold))
    figure = new_figure(6.0, 3.9 + 0.1 * len(drawn))
    axes = figure.subplots()
    longest = 1
    for look, item in drawn:
        points = item.at_least()
        if not points:
            continue
        longest = max(longest, len(points))
        marked = [n - 1 for n in _MARKED if n <= len(points)]
        axes.plot(
            [n for n, _ in points],
            [100 * share for _, share in points],
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markevery=marked,
            markersize=8 if item is gold else 5,
            linewidth=2.6 if item is gold else 1.5,
            label=f"{item.name}: {len(item.turns):,} conversations, median {item.median:g}",
        )
    ticks = [n for n in _MARKED if n <= longest]
    axes.set_xscale("log")
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()
    axes.set(
        ylim=(0, 103),
        xlabel="turns (log scale)",
        ylabel="conversations with at least that many turns, %",
    )
    axes.set_title(title)
    tidy(axes, "both")
    columns = 1 if max((len(item.name) for _, item in drawn), default=0) > _LONG else 2
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=SMALL)
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
