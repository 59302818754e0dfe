"""A score with its 95% interval, as the laboratory measures it and cards quote it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """The value of a measure, 0 to 1, with its 95% interval; None where it is not defined.

    Precision is undefined if nothing was predicted, recall if gold has nothing, and F1 if both
    hold. The interval is undefined with fewer than two chapters.
    """

    value: float | None
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval; without an interval, the value twice; without a value, 0."""
        value = self.value or 0.0
        return (
            value if self.low is None else self.low,
            value if self.high is None else self.high,
        )


def format_rate(value: float | None) -> str:
    """Formats a rate with three decimals; an undefined one is a dash."""
    return "—" if value is None else f"{value:.3f}"


def format_score(score: Score) -> str:
    """Formats a score with its 95% interval, if it has one: "0.750 [0.71–0.79]"."""
    if score.low is None or score.high is None:
        return format_rate(score.value)
    return f"{format_rate(score.value)} [{score.low:.2f}–{score.high:.2f}]"
