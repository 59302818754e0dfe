"""How all plots look: colours that colour-blind people tell apart, and never colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito, "Color Universal Design" (2008), the darker ones first; yellow is too pale here.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, GREY, PALE = "#222222", "#6B7280", "#D9DEE5"
SMALL = 8  # points, of labels inside a plot
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo")


@dataclass(frozen=True, slots=True)
class Look:
    """How one series is drawn; two series differ in more than their colour."""

    colour: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    hatch: str


def looks(n: int) -> list[Look]:
    """The looks of so many series.

    The cycles of colours, markers and lines have different lengths, so they repeat together only
    after 210 series.
    """
    parts = zip(*map(cycle, (COLOURS, _MARKERS, _LINES, _HATCHES)), strict=False)
    return [Look(*part) for part in islice(parts, n)]


def new_figure(width: float = 5.0, height: float = 4.0) -> Figure:
    """An empty figure of so many inches, which no global state knows of."""
    return Figure(figsize=(width, height), layout="constrained")


def tidy(axes: Axes, grid: str = "y") -> None:
    """Takes the frame's upper and right line away and puts a pale grid behind what is drawn.

    Args:
        axes: to change.
        grid: of which axis there are lines: "x", "y", "both", or "" for none.
    """
    axes.spines[["top", "right"]].set_visible(False)
    if grid:
        axes.set_axisbelow(True)
        axes.grid(axis=grid, color=PALE, linewidth=0.8)  # pyright: ignore[reportArgumentType]
