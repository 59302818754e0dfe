"""What is said of methods of response selection: their training, and their scores side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from miner.selection.methods import Step

_FAST = 100  # pairs a second, from which decimals say nothing


def describe_step(step: Step) -> str:
    """Returns a line about a point of the curve of a training."""
    loss = "" if step.loss is None else f"   loss {step.loss:.4f}"
    found = "" if step.accuracy is None else f"   1-of-100 {step.accuracy:.3f}"
    return f"{step.n_pairs:>11,} pairs{loss}{found}   {step.seconds:,.1f} s"


def describe_training(record: Mapping[str, Any], steps: Sequence[Step]) -> str:
    """Returns lines about a training: on what, how fast, and what it reached.

    Args:
        record: of the method (`TrainedMethod.record`).
        steps: the curve.
    """
    trained, last = record["train"], steps[-1]
    speed = last.n_pairs / last.seconds if last.seconds else 0
    rate = f"{speed:,.0f}" if speed >= _FAST else f"{speed:.1f}"
    lines = [
        f"{record['method']} learned from {_size(trained)} in {last.seconds:,.1f} s, {rate} pairs "
        f"a second",
        f"  {describe_part(trained)}",
    ]
    known = [step for step in steps if step.accuracy is not None]
    if (judged := record["validation"]) and known:
        best = max(known, key=lambda step: step.accuracy or 0.0)
        lines += [
            f"1-of-100 {best.accuracy:.3f} after {best.n_pairs:,} pairs, on {_size(judged)}",
            f"  {describe_part(judged)}",
        ]
    return "\n".join(lines)


def describe_part(part: Mapping[str, Any]) -> str:
    """Returns where examples come from, and which of them were taken."""
    return ", ".join([part["source"], *part["chosen"]])


def _size(part: Mapping[str, Any]) -> str:
    n = len(part["books"])
    of = f"{n:,} book{'s' * (n != 1)}" if n else "books without an id"
    return f"{part['examples']:,} pairs of {of}"
