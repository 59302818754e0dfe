"""Tables of speakers: how many are right, by kind of quotation, for each way to find them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from miner.app.tables import Shown, cut_column, new_table
from miner.lab.measure.speakers import ALL, CHANGE, KINDS
from miner.score import format_rate, format_score

if TYPE_CHECKING:
    from miner.lab.measure.pdnc_speakers import CorpusSpeakerScores, TaskScores
    from miner.lab.measure.speakers import AnnotatedSpeakerScores, SpeakerMeasures


class _Published(NamedTuple):
    """Figures that others published, in percent; None where they gave none."""

    name: str
    overall: str
    kinds: tuple[float | None, float | None, float | None] = (None, None, None)


# Others judged other choices of the corpus's novels, so their figures compare only roughly.
_PUBLISHED_GIVEN = (
    _Published("BookNLP+ [1]", "0.785", (0.986, 0.702, 0.664)),
    _Published("8-billion-parameter LLM, not trained [2]", "0.906"),
    _Published("large ModernBERT, joint scoring [3]", "0.945 ± 0.024", (0.993, 0.955, 0.893)),
)
_PUBLISHED_END_TO_END = (
    _Published("BookNLP [4]", "0.400"),
    _Published("BookNLP, where its candidates resolve [4]", "0.620"),
)
_SOURCES = (
    "published, not measured by us, and on other choices of the corpus's novels; only the kinds of",
    "[1] were seen at their source, the others are quoted at second hand:",
    "[1] BookNLP trained again on 22 of its novels: github.com/deezer/character_embeddings_qa",
    "[2] Llama 3: arXiv 2406.11380",
    "[3] as reported in August 2026",
    "[4] Vishnubhotla et al., arXiv 2307.03734",
)


def tabulate_speaker_scores(scored: AnnotatedSpeakerScores, split: str) -> list[Shown]:
    """The accuracy of each way, from the book and on the gold spans."""
    shown: list[Shown] = []
    for title, measures in (
        ("From the book", [(row.name, row.from_book) for row in scored.rows]),
        ("On the spans of the gold", [(row.name, row.on_gold) for row in scored.rows]),
    ):
        shown += [f"{title}: utterances with the right speaker ({split} split)"]
        shown += [_measures_table(measures)]
    found = scored.n_utterances - scored.n_missed
    return [
        *shown,
        f"{found:,} of {scored.n_utterances:,} annotated utterances found; one that is not found "
        "counts as wrong from the book",
        f"left out: {scored.n_unknown:,} whose speaker the annotator did not know, "
        f"{scored.n_lost:,} that this edition does not have",
        *scored.coverage.notes,
        scored.signature,
    ]


def _measures_table(rows: Sequence[tuple[str, SpeakerMeasures]]) -> Shown:
    names = (ALL, *KINDS, CHANGE)
    table = new_table(("", *(f"{name} [95%]" for name in names)))
    for name, measures in rows:
        table.add_row(name, *(format_score(measures[measure]) for measure in names))
    table.add_section()
    table.add_row("utterances", *(f"{count:,}" for count in rows[0][1].counts.values()))
    return table


def tabulate_corpus_speakers(
    scored: CorpusSpeakerScores, width: int, resamples: int = 1000, seed: int = 0
) -> list[Shown]:
    """The means over novels of each way beside published ones, then ours of each novel."""
    return [
        "Characters given: quotations with the right speaker, mean over novels",
        _task_table(scored.given, _PUBLISHED_GIVEN, resamples, seed),
        "End to end, with the characters that are found",
        _task_table(scored.end_to_end, _PUBLISHED_END_TO_END, resamples, seed),
        *_SOURCES,
        "",
        "Addressees: those found that are annotated, and those annotated that are found",
        _addressees_table(scored, resamples, seed),
        f"Each novel, {scored.given.rows[0][0]}: characters given, then end to end"
        if scored.given.rows
        else "",
        _novels_table(scored, width),
        f"left out: {scored.n_unknowable:,} quotations whose speaker the annotators could not tell",
        *scored.coverage.notes,
    ]


def _task_table(
    task: TaskScores, published: Sequence[_Published], resamples: int, seed: int
) -> Shown:
    names = (ALL, *KINDS)
    table = new_table(("", *(f"{name} [95%]" for name in names)))
    for name, scores in task.rows:
        means = (scores.mean(kind, resamples, seed) for kind in names)
        table.add_row(name, *map(format_score, means))
    table.add_section()
    for figure in published:
        table.add_row(figure.name, figure.overall, *map(format_rate, figure.kinds))
    return table


def _addressees_table(scored: CorpusSpeakerScores, resamples: int, seed: int) -> Shown:
    heads = (f"{task}: {name} [95%]" for task in ("given", "found") for name in ("P", "R"))
    table = new_table(("", *heads))
    for (name, given), (_, found) in zip(scored.given.rows, scored.end_to_end.rows, strict=True):
        both = (*given.addressees(resamples, seed), *found.addressees(resamples, seed))
        table.add_row(name, *map(format_score, both))
    return table


def _novels_table(scored: CorpusSpeakerScores, width: int) -> Shown:
    heads = ("novel", "quotations", *(2 * ("all", "expl.", "anaph.", "impl.")))
    rows: list[list[str]] = []
    (_, given), (_, found) = scored.given.rows[0], scored.end_to_end.rows[0]
    for one, other in zip(given.novels, found.novels, strict=True):
        cells = [
            format_rate(scores.accuracy(kind)) for scores in (one, other) for kind in (ALL, *KINDS)
        ]
        rows.append([one.title, f"{one.counts[ALL]:,}", *cells])
    table = new_table(heads)
    for row in cut_column(rows, 0, heads, width):
        table.add_row(*row)
    return table
