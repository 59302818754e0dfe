"""Methods that were trained -> their scores on the same examples, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import name_paths
from miner.lab.lessons.comparison import Comparison
from miner.lab.lessons.examples import Example, keep_turns, refuse_too_few, refuse_trained_on
from miner.lab.lessons.selection.methods import Step
from miner.lab.lessons.selection.scoring import HARDER, Score, Scoring, score_method
from miner.lab.lessons.selection.tasks import (
    BATCH,
    Barred,
    count_above,
    dense,
    draw_batches,
    encode,
)
from miner.lab.lessons.selection.training import TrainedMethod, load_method, read_curve, read_record

if TYPE_CHECKING:
    from miner.lab.lessons.examples import Part


@dataclass(frozen=True, slots=True)
class Choice:
    """What a method takes for the response of a context."""

    method: str  # its name
    response: str  # the response that it ranks first
    is_true: bool  # whether that is the true response, or one with the same words
    place: float  # of the true response among the candidates, from 1


@dataclass(frozen=True, slots=True)
class ShownContext:
    """A context, its true response, and what each method chose among the candidates."""

    example: Example  # without the turns that none of the methods reads
    n_candidates: int  # the responses among which the true one is found
    choices: tuple[Choice, ...]  # one of each method

    def to_json(self) -> dict[str, Any]:
        """The context and the choices as plain values."""
        return {
            "book": self.example.book,
            "chapter": self.example.chapter,
            "context": list(self.example.context),
            "response": self.example.response,
            "candidates": self.n_candidates,
            "choices": [asdict(one) for one in self.choices],
        }


@dataclass(frozen=True, slots=True)
class DrawnBatch:
    """A batch of examples, of which the first are shown."""

    examples: tuple[Example, ...]  # the batch; their responses are the candidates
    n_shown: int  # how many contexts are shown

    @classmethod
    def draw(cls, examples: Sequence[Example], n_shown: int, seed: int) -> DrawnBatch:
        """Returns a batch that is drawn by chance."""
        if n_shown > BATCH:
            raise InputError(f"found {n_shown} contexts to show, expected at most {BATCH}")
        batch = draw_batches(len(examples), BATCH, np.random.default_rng(seed))[0]
        return cls(tuple(examples[number] for number in batch), n_shown)

    def choose(self, trained: TrainedMethod, name: str) -> list[Choice]:
        """Returns what a method chooses for each context that is shown."""
        examples = keep_turns(self.examples, trained.history_turns)
        contexts, responses = encode(trained.method, examples)
        scores = dense(contexts[: self.n_shown] @ responses.T)
        false, true = self._candidates()
        better, tied = count_above(scores, np.diagonal(scores), false)
        first = _first(scores, false, true)
        return [
            Choice(
                name,
                examples[first[row]].response,
                not false[row, first[row]],
                float(1 + better[row] + tied[row] / 2),
            )
            for row in range(self.n_shown)
        ]

    def show(
        self, choices: Sequence[Sequence[Choice]], history_turns: int | None
    ) -> list[ShownContext]:
        """Returns the contexts that are shown, each with what the methods chose."""
        examples = keep_turns(self.examples[: self.n_shown], history_turns)
        false, true = self._candidates()
        n_candidates = (false | true).sum(axis=1).tolist()
        return [
            ShownContext(example, n_candidates[row], tuple(of[row] for of in choices))
            for row, example in enumerate(examples)
        ]

    def _candidates(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which responses are false ones and which are true, two times [contexts, responses].

        The others are turns of the context.
        """
        barred = Barred.of(self.examples)
        shown, all_of_them = np.arange(self.n_shown), np.arange(len(self.examples))
        true = barred.equal[shown][:, None] == barred.equal[None, :]
        return barred.false(shown, all_of_them), true


def _first(
    scores: NDArray[np.floating], false: NDArray[np.bool_], true: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The candidate with the highest score of each row.

    It is a false one, where the true one shares its score. So a method that scores all the same is
    not seen to be right.
    """
    scores = np.where(false | true, scores, -np.inf)
    highest = scores == scores.max(axis=1, keepdims=True)
    return np.argmax(highest.astype(np.int64) * 2 + (highest & false), axis=1)


_SHORTEST_DRAWN = 2  # turns that a context keeps, whatever `draw_contexts` draws


@dataclass(frozen=True, slots=True)
class ComparedMethod:
    """A method of a comparison."""

    name: str  # what tables call it: the end of its path, as long as it must be to be the only one
    record: Mapping[str, Any]  # of its training; see `TrainedMethod.record`
    curve: tuple[Step, ...]  # of its training
    scores: tuple[Score, ...]  # on the examples

    def to_json(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "name": self.name,
            "record": dict(self.record),
            "curve": [asdict(step) for step in self.curve],
            "scores": [asdict(score) for score in self.scores],
        }


MethodComparison = Comparison[ComparedMethod, ShownContext]


def compare_methods(
    folders: Sequence[Path],
    found: Part,
    scoring: Scoring,
    *,
    n_shown: int = 0,
    begin: Callable[[str], object] = lambda name: None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> MethodComparison:
    """Scores methods on the same examples.

    Each reads as many turns of a context as it was trained on.
    """
    names = name_paths(folders)
    records = read_records(folders)
    for name, record in zip(names, records, strict=True):
        refuse_trained_on(record, found.examples, f"{name} on {found.source}")
    refuse_too_few(found.examples, BATCH, found.source)
    drawn = DrawnBatch.draw(found.examples, n_shown, scoring.seed) if n_shown else None
    rows: list[ComparedMethod] = []
    choices: list[list[Choice]] = []
    for name, folder in zip(names, folders, strict=True):
        begin(name)
        trained = load_method(folder)
        turns = trained.history_turns
        scores = score_method(trained.method, found.examples, scoring, turns, progress)
        curve = tuple(read_curve(folder))
        rows.append(ComparedMethod(name, trained.record, curve, tuple(scores)))
        if drawn:
            choices.append(drawn.choose(trained, name))
    return Comparison(
        tuple(rows),
        _scored(found, records, scoring),
        (*_notes(found, names, records), *_notes_of_scores(rows[0].scores, scoring.harder)),
        tuple(drawn.show(choices, _most_turns(records))) if drawn else (),
    )


def read_records(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Returns what `method.json` says in each folder."""
    return [read_record(folder) for folder in folders]


def _scored(found: Part, records: Sequence[Mapping[str, Any]], scoring: Scoring) -> str:
    """What exactly was scored, in one line."""
    turns = {record["history_turns"] for record in records}
    most = _most_turns(records)
    if len(turns) > 1:
        context = "contexts as long as each method reads"
    elif most is None:
        context = "contexts of all turns"
    else:
        context = f"contexts of {most + 1} turn{'s' * (most > 0)}"
    if most is None or most >= _SHORTEST_DRAWN:
        context += ", for 1 in 2 and 1 in 10 no longer than a length that is drawn (UD, 3.4)"
    source = ", ".join((found.source, *found.chosen))
    return f"{source}: {scoring.describe(found.examples)}; {context}"


def _most_turns(records: Sequence[Mapping[str, Any]]) -> int | None:
    """The most turns before the last one of a context that a method reads; None for all."""
    turns = [record["history_turns"] for record in records]
    return None if None in turns else max(turns)


def _notes_of_scores(scores: Sequence[Score], harder: bool) -> list[str]:
    """Which tasks have fewer examples than the first, or none, and why."""
    most = scores[0].n_examples
    scored = {one.task: one.n_examples for one in scores}
    counts = {task: scored.get(task, 0) for task in HARDER if harder}
    of_others = "have too few different false responses"
    return [
        f"{task}: {n:,} of {most:,} examples, as the others {of_others}"
        if n
        else f"{task}: not scored, as all examples {of_others}"
        for task, n in counts.items()
        if n < most
    ]


def _notes(found: Part, names: Sequence[str], records: Sequence[Mapping[str, Any]]) -> list[str]:
    notes = list(found.coverage.notes) if found.coverage else []
    if n := found.n_without_book:
        notes.append(
            f"{n:,} of {len(found.examples):,} examples name no book: nothing tells whether a "
            "method was trained on it"
        )
    unnamed = [
        name for name, record in zip(names, records, strict=True) if not record["train"]["books"]
    ]
    if unnamed:
        notes.append(
            f"trained on pairs that name no book, perhaps on those scored: {', '.join(unnamed)}"
        )
    return notes
