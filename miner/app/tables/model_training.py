"""What is said of a model that answers: its training, and the answers that it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, Any

from miner.app.tables.parts import describe_part, describe_size

if TYPE_CHECKING:
    from miner.generation.answering import Answered
    from miner.generation.decoding import Decoding
    from miner.generation.model_folder import Step


def describe_step(step: Step) -> str:
    """Returns a line about a point of the curve of a training."""
    judged = ""
    if step.validation is not None:
        judged = f"   validation {step.validation:.4f}, perplexity {exp(step.validation):,.1f}"
    return f"{step.n_pairs:>11,} pairs   loss {step.loss:.4f}{judged}   {step.seconds:,.1f} s"


def describe_training(record: Mapping[str, Any], steps: Sequence[Step]) -> str:
    """Returns lines about a training: on what, how fast, and what it reached.

    Args:
        record: of the training (`TrainedModel.record`).
        steps: the curve.
    """
    trained, judged, cuts = record["train"], record["validation"], record["cuts"]
    peak = record["share_of_peak"]
    share = f", {peak:.1%} of its peak in bfloat16" if peak is not None else ""
    lines = [
        f"{record['kind']} of {record['n_weights']:,} weights learned from {describe_size(trained)}"
        f" in {steps[-1].seconds:,.1f} s",
        f"  {describe_part(trained)}",
        f"  {record['tokens_per_second']:,.0f} tokens a second on {record['device']}{share}",
    ]
    if cuts["contexts"]:
        lines.append(
            f"  {cuts['contexts']:,} contexts were longer than {record['longest_context']} tokens "
            "and lost their oldest ones"
        )
    if cuts["responses"]:
        lines.append(
            f"  {cuts['responses']:,} responses were longer than {record['longest_response']} "
            "tokens and lost their last ones"
        )
    known = [step for step in steps if step.validation is not None]
    if judged and known:
        best = min(known, key=lambda step: step.validation or 0.0)
        assert best.validation is not None
        lines += [
            f"loss {best.validation:.4f}, perplexity {exp(best.validation):,.1f}, after "
            f"{best.n_pairs:,} pairs, on {describe_size(judged)}",
            f"  {describe_part(judged)}",
        ]
    return "\n".join(lines)


def describe_answers(
    answered: Answered, source: str, decoding: Decoding, longest_context: int
) -> str:
    """Returns lines about answers: to what, how they were drawn, and what was cut.

    Args:
        answered: the answers.
        source: what they answer.
        decoding: how they were drawn.
        longest_context: the most tokens that the model reads.
    """
    n = len(answered.answers)
    n_empty = sum(not answer.predicted for answer in answered.answers)
    lines = [
        f"{n:,} answer{'s' * (n != 1)} by {decoding.describe()} to {source}",
        f"loss of the true responses {answered.loss:.4f}, perplexity {exp(answered.loss):,.1f}",
    ]
    if answered.n_cut:
        lines.append(
            f"{answered.n_cut:,} contexts were longer than {longest_context} tokens and lost their "
            "oldest ones"
        )
    if n_empty:
        lines.append(f"{n_empty:,} answers are empty")
    return "\n".join(lines)
