"""What is said of methods and models that learn from pairs: their training, and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from miner.app.tables import Shown, divide_columns, label_texts, new_table
from miner.lab.lessons.examples import describe_part, describe_size
from miner.lab.lessons.selection.methods import find_method

if TYPE_CHECKING:
    from miner.lab.lessons.generation.answers import Answered, Decoding
    from miner.lab.lessons.generation.comparison import AnswerComparison, ShownAnswers
    from miner.lab.lessons.generation.comparison import Score as MetricScore
    from miner.lab.lessons.generation.metrics import Metric
    from miner.lab.lessons.generation.models import Step as ModelStep
    from miner.lab.lessons.generation.tokens import TurnTokens
    from miner.lab.lessons.papers import PublishedTable
    from miner.lab.lessons.selection.comparison import MethodComparison, ShownContext
    from miner.lab.lessons.selection.methods import Step
    from miner.lab.lessons.selection.scoring import Score

_LONGEST_LINE = 100  # characters of a line of text, in a terminal of any width
_FAST = 100  # pairs a second, from which decimals say nothing


def describe_method_step(step: Step) -> str:
    """Returns a line about a point of the curve of a training."""
    loss = "" if step.loss is None else f"   loss {step.loss:.4f}"
    found = "" if step.accuracy is None else f"   1-of-100 {step.accuracy:.3f}"
    return f"{step.n_pairs:>11,} pairs{loss}{found}   {step.seconds:,.1f} s"


def describe_method_training(record: Mapping[str, Any], steps: Sequence[Step]) -> str:
    """Returns lines about a training: on what, how fast, and what it reached."""
    trained, last = record["train"], steps[-1]
    speed = last.n_pairs / last.seconds if last.seconds else 0
    rate = f"{speed:,.0f}" if speed >= _FAST else f"{speed:.1f}"
    begins = f"{record['method']} learned from {describe_size(trained)}"
    if not find_method(record["method"]).learns:
        begins = f"{record['method']} learns nothing; it was given {describe_size(trained)}"
    lines = [
        f"{begins} in {last.seconds:,.1f} s, {rate} pairs a second",
        f"  {describe_part(trained)}",
    ]
    known = [step for step in steps if step.accuracy is not None]
    if (judged := record["validation"]) and known:
        best = max(known, key=lambda step: step.accuracy or 0.0)
        lines += [
            f"1-of-100 {best.accuracy:.3f} after {best.n_pairs:,} pairs, on "
            f"{describe_size(judged)}",
            f"  {describe_part(judged)}",
        ]
    return "\n".join(lines)


def tabulate_methods(comparison: MethodComparison, width: int) -> list[Shown]:
    """Methods against tasks, and against harder ones, what was scored, and contexts to read."""
    rows = comparison.rows
    names = [row.name for row in rows]
    sizes = ("trained on", [f"{row.record['train']['examples']:,}" for row in rows])
    columns: dict[bool, list[tuple[str, Sequence[str]]]] = {False: [sizes], True: []}
    for number, score in enumerate(rows[0].scores):
        head = f"{score.task} {score.measure}"
        cells = [_format_score(row.scores[number]) for row in rows]
        columns[score.is_harder].append((head, cells))
    shown: list[Shown] = [*divide_columns(names, columns[False], width)]
    if columns[True]:
        shown += [
            "With false responses that are harder",
            *divide_columns(names, columns[True], width),
        ]
    return [*shown, *_lines_below(comparison, width)]


def tabulate_published_methods(tables: Sequence[PublishedTable], width: int) -> list[Shown]:
    """The tables of the papers, for their own data, in a terminal of so many characters."""
    shown: list[Shown] = []
    for published in tables:
        table = new_table(("", *published.columns, "here"), ("here",))
        for name, values, here in published.rows:
            table.add_row(name, *(f"{value:.3f}" for value in values), here)
        source = fill(published.source, min(width, _LONGEST_LINE), subsequent_indent="  ")
        shown += [source, table]
    return shown


def tabulate_method_scores(comparison: MethodComparison, width: int) -> list[Shown]:
    """A row for each task of one method, what was scored, and the contexts that are shown."""
    (row,) = comparison.rows
    table = new_table(("", "score [95%]"))
    for score in row.scores:
        table.add_row(f"{score.task} {score.measure}", _format_score(score))
    trained = row.record["train"]
    about = f"{row.name}: {row.record['method']}, trained on {describe_size(trained)}"
    return [about, f"  {describe_part(trained)}", "", table, *_lines_below(comparison, width)]


def _format_score(score: Score) -> str:
    """Returns a score with its 95% interval, if it has one: "0.301 [0.285–0.322]"."""
    if score.low is None or score.high is None:
        return f"{score.value:.3f}"
    return f"{score.value:.3f} [{score.low:.3f}–{score.high:.3f}]"


def _lines_below(comparison: MethodComparison, width: int) -> list[Shown]:
    width = min(width, _LONGEST_LINE)
    lines = [fill(f"scored: {comparison.scored}", width, subsequent_indent="  ")]
    lines += [fill(note, width, subsequent_indent="  ") for note in comparison.notes]
    return [*lines, *(line for one in comparison.shown for line in _show_context(one, width))]


def _show_context(shown: ShownContext, width: int) -> list[str]:
    """A context, its true response, and what each method ranked first."""
    example, n = shown.example, shown.n_candidates
    *before, last = example.context
    texts = [*(("before", turn) for turn in before), ("context", last)]
    texts.append(("response", example.response))
    for one in shown.choices:
        said = one.response
        if one.is_true:
            said = "the true response"
        else:
            said += f" (place of the true response: {one.place:g} of {n})"
        texts.append((one.method, said))
    place = f", book {example.book}" if example.book else ""
    place += f", chapter {example.chapter}" if example.chapter else ""
    return ["", f"ranked first of {n} responses{place}", *label_texts(texts, width)]


_BEST = "*"


def tabulate_answers(comparison: AnswerComparison, width: int) -> list[Shown]:
    """Models against metrics, what the metrics are, what was scored, and answers to read."""
    from miner.lab.lessons.generation.metrics import METRICS

    rows = comparison.rows
    columns: list[tuple[str, Sequence[str]]] = []
    if any(row.group for row in rows):
        columns.append(("group", [row.group for row in rows]))
    for number, metric in enumerate(METRICS):
        cells = [
            format_metric(row.scores[number], metric) + _BEST * (metric.name in row.best)
            for row in rows
        ]
        columns.append((metric.name, cells))
    width_of_text = min(width, _LONGEST_LINE)
    lines = [_legend(), f"scored: {comparison.scored}", *comparison.notes]
    return [
        *divide_columns([row.name for row in rows], columns, width),
        *(fill(line, width_of_text, subsequent_indent="  ") for line in lines),
        *(line for one in comparison.shown for line in _show_answers(one, width_of_text)),
    ]


def tabulate_published_models(tables: Sequence[PublishedTable], width: int) -> list[Shown]:
    """The tables of GD, for its own data."""
    shown: list[Shown] = []
    for published in tables:
        names = [name for name, _ in published.rows]
        columns = [
            (head, [values[number] for _, values in published.rows])
            for number, head in enumerate(published.columns)
        ]
        shown += [published.source, *divide_columns(names, columns, width)]
    return shown


def format_metric(score: MetricScore, metric: Metric) -> str:
    """Returns a score with its 95% interval, if it has one: "7.5 [7.1–7.9]"; "–" for none."""
    if score.value is None:
        return "–"
    digits = metric.digits
    shown = f"{score.value:.{digits}f}"
    if score.low is None or score.high is None:
        return shown
    return f"{shown} [{score.low:.{digits}f}–{score.high:.{digits}f}]"


def _legend() -> str:
    from miner.lab.lessons.generation.metrics import METRICS

    metrics = "; ".join(f"{metric.name} {metric.about}" for metric in METRICS)
    return (
        f"{metrics}. In brackets are 95% intervals. {_BEST} is a value whose interval is apart "
        "from that of every other model; more counts as better, but for KL. The row truth takes "
        "the true responses for answers, random those of other contexts of the training texts."
    )


def _show_answers(shown: ShownAnswers, width: int) -> list[str]:
    """A context, its true response, and what each model answered."""
    answer = shown.answer
    *before, last = answer.context
    texts = [*(("before", turn) for turn in before), ("context", last)]
    texts += [("response", answer.response), *shown.predicted]
    place = f", book {answer.book}" if answer.book else ""
    place += f", chapter {answer.chapter}" if answer.chapter else ""
    return ["", f"drawn by chance{place}", *label_texts(texts, width)]


def describe_model_step(step: ModelStep) -> str:
    """Returns a line about a point of the curve of a training."""
    from miner.lab.lessons.generation.models import perplexity

    judged = ""
    if step.validation is not None:
        judged = (
            f"   validation {step.validation:.4f}, perplexity {perplexity(step.validation):,.1f}"
        )
    return f"{step.n_pairs:>11,} pairs   loss {step.loss:.4f}{judged}   {step.seconds:,.1f} s"


def describe_model_training(record: Mapping[str, Any], steps: Sequence[ModelStep]) -> str:
    """Returns lines about a training: on what, how fast, and what it reached."""
    from miner.lab.lessons.generation.models import best_step, perplexity

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
    from miner.lab.lessons.generation.models import perplexity

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
