"""A comparison of taggers -> its figures, by the names of their files."""

from __future__ import annotations

import re

from matplotlib.figure import Figure

from miner.lab.app.plots.evaluation import plot_confusion, plot_reliability, plot_scores
from miner.lab.app.plots.fiction import plot_lengths
from miner.lab.measure.compare import Comparison


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
            [row.lengths for row in rows],
            f"Length of conversations ({where})",
            comparison.lengths,
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
