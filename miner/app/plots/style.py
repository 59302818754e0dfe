"""The look of all plots: colours for colour-blind readers, and never colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice

from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
