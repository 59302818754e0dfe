"""What was measured -> pictures, as matplotlib figures; commands and notebooks draw the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from miner.calibration import Bin
from miner.files import whole_file
from miner.tradeoff import Kept

_SIZE = (5.0, 4.0)  # inches
_BLUE, _GREY = "#2a6f97", "#8d99a6"


def reliability_plot(bins: Sequence[Bin], split: str) -> Figure:
    """How often tags of some confidence are right, above how many there are.

    Args:
        bins: as `calibration.calibrated` gives them.
        split: whose tags they are, for the title.
    """
    figure = Figure(figsize=_SIZE, layout="constrained")
    above, below = figure.subplots(2, height_ratios=(3, 1), sharex=True)
    above.plot([0, 1], [0, 1], color=_GREY, linestyle="--", label="as sure as it is right")
    above.plot(
        [item.confidence for item in bins],
        [item.accuracy for item in bins],
        color=_BLUE,
        marker="o",
        label="tags",
    )
    above.set(xlim=(0, 1), ylim=(0, 1), ylabel="share that is right")
    above.set_title(f"Confidence of tags, {split} split")
    above.legend(frameon=False)
    middles = [(item.low + item.high) / 2 for item in bins]
    below.bar(middles, [item.n for item in bins], width=0.09, color=_BLUE)
    below.set(xlabel="confidence", ylabel="tags", yscale="log")
    return figure


def tradeoff_plot(kept: Sequence[Kept], split: str) -> Figure:
    """The precision of mined pairs against the share of them that is kept.

    Args:
        kept: as `tradeoff.tradeoff` gives them.
        split: whose pairs they are, for the title.
    """
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    shown = [item for item in kept if item.precision.value is not None]
    share = [100 * item.share for item in shown]
    value = [item.precision.value or 0.0 for item in shown]
    low = [
        v if s.precision.low is None else s.precision.low for v, s in zip(value, shown, strict=True)
    ]
    high = [
        v if s.precision.high is None else s.precision.high
        for v, s in zip(value, shown, strict=True)
    ]
    axes.fill_between(share, low, high, color=_BLUE, alpha=0.15, label="95% interval")
    axes.plot(share, value, color=_BLUE, marker="o", label="turn pairs")
    for x, y, item in zip(share, value, shown, strict=True):
        axes.annotate(
            f"{item.least:g}", (x, y), xytext=(4, 6), textcoords="offset points", fontsize=8
        )
    axes.set(xlabel="pairs kept, % of all mined", ylabel="share that is right")
    axes.set_title(f"Pairs kept by --min-confidence, {split} split")
    axes.legend(frameon=False)
    return figure


def save(figure: Figure, path: Path, force: bool) -> None:
    """Writes a figure whole, in the format that its ending names.

    Raises:
        ValueError: if the ending names no format that can be drawn.
        FileExistsError: if the file exists, unless `force`.
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in figure.canvas.get_supported_filetypes():
        raise ValueError(f"{path}: found ending {path.suffix!r}, expected one such as .png or .svg")
    with whole_file(path, force) as file:
        figure.savefig(file, format=kind, dpi=150)
