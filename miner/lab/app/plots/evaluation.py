"""Scores, confusion, reliability, trade-offs and learning curves -> matplotlib figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from miner.app.plots import COLOURS, GREY, INK, SMALL, Look, choose_looks, new_figure, tidy
from miner.errors import InputError
from miner.files import whole_file, whole_folder
from miner.lab.gold.dialogue_statistics import Lengths
from miner.lab.measure.compare import Comparison
from miner.lab.measure.confidence import Bin, KeptPairs, join_small_bins
from miner.lab.measure.scores import Confusion, Scores
from miner.lab.training.tagger.learning_curve import Learned
from miner.score import Score
from miner.speech.tags import TAGS

_BLUE = COLOURS[0]
_DPI = 150  # of files
_DARK = 0.71  # share of a cell above which white text is easier to read than black text
_COMPARED = (
    ("B-START recall", "B-START.recall"),
    ("B-START F1", "B-START.f1"),
    ("turn-pair precision", "turn-pair.precision"),
    ("turn-pair F1", "turn-pair.f1"),
)
_MARKED = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256)  # turns on the axis
_LONG = 28  # characters of a name that is too long for a legend of two columns


def draw_comparison(comparison: Comparison) -> dict[str, Figure]:
    """Draws the figures of a comparison, by their file names without ending.

    "scores" shows the taggers side by side, "lengths" the conversations of the gold and of each
    tagger. Each tagger has a "confusion-NAME", and a "reliability-NAME" if it gives a confidence.
    Names that would be the same are numbered.
    """
    where = f"{comparison.gold}, {comparison.split} split"
    rows = comparison.rows
    figures = {
        "scores": plot_scores(
            [(row.name, row.scores) for row in rows],
            f"Taggers compared ({where})",
            [(row.name, row.from_book) for row in rows if row.from_book],
        ),
        "lengths": plot_lengths(
            [row.lengths for row in rows], f"Length of conversations ({where})", comparison.lengths
        ),
    }
    taken: set[str] = set()
    for row in rows:
        stem = _file_stem(row.name, taken)
        taken.add(stem)
        figures[f"confusion-{stem}"] = plot_confusion(row.confusion, row.name, comparison.split)
        if row.bins:
            plot = plot_reliability(row.bins, comparison.split, row.name)
            figures[f"reliability-{stem}"] = plot
    return figures


def _file_stem(name: str, taken: set[str]) -> str:
    """The name as letters and digits with hyphens between them, numbered if it is taken."""
    plain = re.sub(r"\W+", "-", name).strip("-").lower() or "tagger"
    stem, n = plain, 1
    while stem in taken:
        n += 1
        stem = f"{plain}-{n}"
    return stem


def plot_scores(
    rows: Sequence[tuple[str, Scores]], title: str, from_book: Sequence[tuple[str, Scores]] = ()
) -> Figure:
    """Draws recall and F1 of B-START, precision and F1 of turn pairs, with their 95% intervals.

    An undefined score is drawn as a dash at 0.
    """
    figure = new_figure(7.5, 2.4 + 0.9 * len(rows) * (1.4 if from_book else 1))
    panels = figure.subplots(2, 2, sharey=True).ravel().tolist()
    shift = 0.18 if from_book else 0.0
    for axes, (label, measure) in zip(panels, _COMPARED, strict=True):
        for place, (look, (_, scores)) in enumerate(
            zip(choose_looks(len(rows)), rows, strict=True)
        ):
            score = scores.total.end_to_end[measure]
            _draw_score(axes, score, place - shift, look.colour, look.marker, look.colour)
        for place, (look, (_, scores)) in enumerate(
            zip(choose_looks(len(from_book)), from_book, strict=True)
        ):
            score = scores.total.end_to_end[measure]
            _draw_score(axes, score, place + shift, look.colour, look.marker, "white")
        axes.set(xlim=(0, 1), xlabel=f"{label} (0 to 1)")
        tidy(axes, "x")
        axes.tick_params(axis="y", length=0)
    panels[0].set_yticks(range(len(rows)), [name for name, _ in rows])
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    below = "95% intervals of resampled chapters"
    if from_book:
        below = f"filled: on the spans of the gold, hollow: from the book; {below}"
    figure.suptitle(title)
    figure.supxlabel(below, fontsize=SMALL, color=GREY)
    return figure


def _draw_score(
    axes: Axes, score: Score, place: float, colour: str, marker: str, inside: str
) -> None:
    """Draws one score at the height `place`: its interval, its marker and its number."""
    if score.low is not None and score.high is not None:
        axes.plot([score.low, score.high], [place, place], color=colour, linewidth=1.6)
    axes.plot(
        [score.value or 0.0],
        [place],
        color=colour,
        marker=marker if score.value is not None else "_",
        markersize=7,
        markerfacecolor=inside,
        linestyle="",
    )
    axes.annotate(
        "—" if score.value is None else f"{score.value:.2f}",
        (score.value or 0.0, place),
        xytext=(0, 6),
        textcoords="offset points",
        ha="center",
        fontsize=SMALL,
        color=INK,
    )


def plot_confusion(confusion: Confusion, name: str, split: str) -> Figure:
    """Draws how often each tag is predicted for each gold tag, as shares of the gold tag."""
    figure = new_figure(5.0, 4.6)
    axes = figure.subplots()
    axes.imshow(confusion.shares, cmap="Blues", vmin=0, vmax=1)
    for row, (counts, shares) in enumerate(zip(confusion.counts, confusion.shares, strict=True)):
        for column, (n, share) in enumerate(zip(counts, shares, strict=True)):
            text = f"{n:,}\n{share:.0%}" if sum(counts) else "—"
            colour = "white" if share > _DARK else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour)
    axes.set_xticks(range(len(TAGS)), TAGS)
    axes.set_yticks(range(len(TAGS)), TAGS)
    axes.set(xlabel="predicted tag", ylabel="gold tag")
    axes.set_title(f"Tags taken for one another\n{name}, {split} split")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    below = "utterances, and their share of all with the same gold tag (shade)"
    figure.supxlabel(below, fontsize=SMALL, color=GREY)
    return figure


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


def plot_learning_curve(points: Sequence[Learned], measure: str, split: str) -> Figure:
    """Draws a score by the number of training chapters: each run, the mean, the 95% intervals."""
    figure = new_figure()
    axes = figure.subplots()
    chapters = [point.n_chapters for point in points]
    lows, highs = zip(*(point.interval for point in points), strict=True)
    axes.fill_between(
        chapters, lows, highs, color=_BLUE, alpha=0.15, label="95% intervals of the runs"
    )
    axes.plot(chapters, [p.mean for p in points], color=_BLUE, marker="o", label="mean of the runs")
    axes.plot(
        [point.n_chapters for point in points for _ in point.values],
        [value for point in points for value in point.values],
        color=INK,
        marker="x",
        markersize=5,
        linestyle="",
        label="one run",
    )
    axes.set_xscale("log", base=2)
    axes.set_xticks(chapters, [f"{n:,}" for n in chapters])
    axes.minorticks_off()
    axes.set(ylim=(0, 1), xlabel="chapters trained on (log scale)", ylabel=f"{measure} (0 to 1)")
    axes.set_title(f"Learning curve, {split} split")
    axes.legend(frameon=False, loc="lower right")
    tidy(axes)
    return figure


def plot_reliability(bins: Sequence[Bin], split: str, name: str = "") -> Figure:
    """Draws how often tags are right by their confidence; below, how many tags there are.

    Bins of fewer than ten tags are joined with their neighbours.
    """
    bins = join_small_bins(bins)
    figure = new_figure(5.0, 4.4)
    above, below = figure.subplots(2, height_ratios=(3, 1), sharex=True)
    above.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="as sure as it is right")
    confidence = [item.confidence for item in bins]
    accuracy = [item.accuracy for item in bins]
    above.plot(confidence, accuracy, color=_BLUE, marker="o", label="tags", clip_on=False)
    ends = [item.interval for item in bins]
    above.vlines(confidence, *zip(*ends, strict=True), color=_BLUE, label="95% interval")
    above.set(xlim=(0, 1), ylim=(0, 1), ylabel="share that is right")
    above.set_title(f"Confidence of tags\n{name and f'{name}, '}{split} split", pad=10)
    above.legend(frameon=False, loc="lower right")
    tidy(above, "both")
    middles = [(item.low + item.high) / 2 for item in bins]
    widths = [item.high - item.low - 0.01 for item in bins]
    bars = below.bar(middles, [item.n for item in bins], width=widths, color=_BLUE)
    below.bar_label(bars, fmt="{:,.0f}", fontsize=SMALL)
    most = max((item.n for item in bins), default=1)
    below.set(xlabel="confidence", ylabel="tags (log)", yscale="log", ylim=(0.5, 10 * most))
    below.set_yticks([], minor=True)
    below.set_yticks([])  # each bar is labelled with its number
    tidy(below, "")
    return figure


def plot_tradeoff(kept: Sequence[KeptPairs], split: str) -> Figure:
    """Draws the precision of mined pairs by the share of them that is kept."""
    figure = new_figure()
    axes = figure.subplots()
    shown = [item for item in kept if item.precision.value is not None]
    share = [100 * item.share for item in shown]
    value = [item.precision.value or 0.0 for item in shown]
    low = [item.precision.ends[0] for item in shown]
    high = [item.precision.ends[1] for item in shown]
    axes.fill_between(share, low, high, color=_BLUE, alpha=0.15, label="95% interval")
    axes.plot(share, value, color=_BLUE, marker="o", label="turn pairs")
    for x, y, item in zip(share, value, shown, strict=True):
        axes.annotate(
            f"{item.min_confidence:g}",
            (x, y),
            xytext=(4, 6),
            textcoords="offset points",
            fontsize=SMALL,
        )
    axes.set(xlabel="pairs kept, % of all mined", ylabel="share that is right")
    axes.set_title(f"Pairs kept by --min-confidence, {split} split")
    axes.legend(frameon=False)
    tidy(axes)
    return figure


def save_figure(figure: Figure, path: Path, force: bool) -> None:
    """Writes a figure to a file, in the format that the ending names.

    The file is written as a whole or not at all.
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in figure.canvas.get_supported_filetypes():
        raise InputError(f"{path}: found ending {path.suffix!r}, expected one such as .png or .svg")
    with whole_file(path, force) as file:
        figure.savefig(file, format=kind, dpi=_DPI)


def save_figures(figures: Mapping[str, Figure], folder: Path, force: bool) -> list[Path]:
    """Writes figures into a folder as PNG files, all or none, and returns their paths."""
    with whole_folder(folder, force) as work:
        for name, figure in figures.items():
            figure.savefig(work / f"{name}.png", dpi=_DPI)
    return [folder / f"{name}.png" for name in figures]
