"""What is said of a model that answers: its training, and the answers that it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from miner.lab.lessons.examples import describe_part, describe_size
from miner.lab.lessons.generation.model_folder import best_step
from miner.lab.lessons.generation.models import perplexity

if TYPE_CHECKING:
    from miner.lab.lessons.generation.answering import Answered
    from miner.lab.lessons.generation.decoding import Decoding
    from miner.lab.lessons.generation.model_folder import Step
    from miner.lab.lessons.generation.tokens import TurnTokens


def describe_step(step: Step) -> str:
    """Returns a line about a point of the curve of a training."""
    judged = ""
    if step.validation is not None:
        judged = (
            f"   validation {step.validation:.4f}, perplexity {perplexity(step.validation):,.1f}"
        )
    return f"{step.n_pairs:>11,} pairs   loss {step.loss:.4f}{judged}   {step.seconds:,.1f} s"


def describe_training(record: Mapping[str, Any], steps: Sequence[Step]) -> str:
    """Returns lines about a training: on what, how fast, and what it reached."""
    trained, judged, cuts = record["train"], record["validation"], record["cuts"]
    peak = record["share_of_peak"]
    share = f", {peak:.1%} of its peak in bfloat16" if peak is not None else ""
    lines = [
        f"{record['kind']} of {record['n_weights']:,} weights learned from {describe_size(trained)}"
        f" in {steps[-1].seconds:,.1f} s",
        f"  {describe_part(trained)}",
        f"  {record['tokens_per_second']:,.0f} tokens a second on {record['device']}{share}",
        *_describe_cuts(cuts, record),
    ]
    best = best_step(steps)
    if judged and best.validation is not None:
        lines += [
            f"loss {best.validation:.4f}, perplexity {perplexity(best.validation):,.1f}, after "
            f"{best.n_pairs:,} pairs, on {describe_size(judged)}",
            f"  {describe_part(judged)}",
            *_describe_cuts(record["validation_cuts"], record),
        ]
    return "\n".join(lines)


def describe_answers(
    answered: Answered, source: str, decoding: Decoding, tokens: TurnTokens
) -> str:
    """Returns lines about answers: to what, how they were drawn, and what was cut."""
    n = len(answered.answers)
    n_empty = sum(not answer.predicted for answer in answered.answers)
    lines = [
        f"{n:,} answer{'s' * (n != 1)} by {decoding.describe()} to {source}",
        f"loss of the true responses {answered.loss:.4f}, perplexity "
        f"{perplexity(answered.loss):,.1f}",
    ]
    if answered.n_cut:
        lines.append(_cut_contexts(answered.n_cut, tokens.longest_context))
    if answered.n_responses_cut:
        lines.append(_cut_responses(answered.n_responses_cut, tokens.longest_response))
    if answered.n_ended:
        lines.append(f"{answered.n_ended:,} answers ended where the model had no room for more")
    if n_empty:
        lines.append(f"{n_empty:,} answers are empty")
    return "\n".join(lines)


def _describe_cuts(cuts: Mapping[str, int], record: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if cuts["contexts"]:
        lines.append(f"  {_cut_contexts(cuts['contexts'], record['longest_context'])}")
    if cuts["responses"]:
        lines.append(f"  {_cut_responses(cuts['responses'], record['longest_response'])}")
    return lines


def _cut_contexts(n: int, longest: int) -> str:
    return f"{n:,} contexts were longer than {longest} tokens and lost their oldest ones"


def _cut_responses(n: int, longest: int) -> str:
    return f"{n:,} responses were longer than {longest} tokens and lost their last ones"
