"""Asks whether better mining teaches a machine to talk better: one model, several miners.

    python tests/benchmarks/bench_generation.py --books DIR --work DIR [--vectors NAME]
        [--every 3] [--pairs 20000 | --words 1000000] [--seeds 1] [--true 20000]
        [--option NAME=VALUE] [--tuning NAME=VALUE] [--decoding greedy] [-o FILE]

The models of GD, section 5: a Transformer from scratch learns from the pairs of each miner
("zero-shot", ZS) and is then fine-tuned on true pairs ("FT"); a baseline (B) learns from as many
true pairs alone. The true pairs are those of the annotations: the split train to fine-tune on, dev
to stop at the least loss, test to judge on.

The miners read the same English books, every n-th of those that are neither in dev and test nor by
one of their authors: GD's own rule on whole paragraphs ("paragraphs"), the gap of 150 characters on
this project's spans ("gap") and the trained tagger ("tagger"). As many pairs of each are drawn by
the seed, and learned from for as many steps at most. The pairs of some miners are longer than those
of others: with --words, the pairs drawn of each hold as many words; what no model reads of long
texts does not count.

Beside the metrics stands what the models lose: nats for a word of the true responses, which does
not depend on the tokens of a model, on the responses that all of them read whole, and the
difference to the gap on the same responses, also for each seed alone; and how many answers differ,
and how many tell who speaks. Intervals: 95%, books drawn anew 1,000 times. All that is made is kept
in the work folder, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench_miners import (
    ROOT,
    draw,
    judged_examples,
    mine_all,
    read_mined,
    read_option,
)
from numpy.typing import NDArray

from miner.lab.app.tables.lessons import format_metric
from miner.lab.lessons.examples import Example, Part, keep_turns
from miner.lab.lessons.generation.answers import (
    Answer,
    Decoding,
    answer_examples,
    read_answers,
    write_answers,
)
from miner.lab.lessons.generation.comparison import AnswerComparison, compare_answers
from miner.lab.lessons.generation.kinds import find_kind
from miner.lab.lessons.generation.metrics import METRICS, make_reference, split_words
from miner.lab.lessons.generation.models import best_step, load_model, read_curve, sum_losses
from miner.lab.lessons.generation.training import train_model
from miner.lab.measure.scores import resample_chapters, score_from_draws

MINERS = ("paragraphs", "gap", "tagger")
SCRATCH, TUNED, BASELINE = "ZS", "FT", "B"
# An answer that tells who speaks: "said mr. polly", "he asked".
_SAYS, _WHO = "said|cried|asked|replied", "he|she|i"
NARRATION = re.compile(rf"\b(?:{_SAYS}) (?:the|mr|mrs|{_WHO})\b|\b(?:{_WHO}) (?:{_SAYS})\b")


@dataclass(frozen=True)
class Run:
    """A model of the benchmark."""

    group: str
    miner: str
    seed: int

    @property
    def name(self) -> str:
        """Of its folder, and in tables."""
        return " ".join(filter(None, (self.group, self.miner)))

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return f"{self.name.replace(' ', '-')}-{self.seed}"


class Bench:
    """What all models share: the true pairs, and the choices."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.work = options, options.work
        size = f"{options.words}-words" if options.words else f"{options.pairs}-pairs"
        self.models, self.answers = (self.work / kind / size for kind in ("models", "answers"))
        self.true = {split: self.read_true(split) for split in ("train", "dev", "test")}
        self.decoding = Decoding(decoding=options.decoding)

    def read_true(self, split: str) -> list[Example]:
        """The true pairs of a split; they are kept, since reading their books takes a while."""
        path = self.work / "true" / f"{split}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            found = judged_examples(ROOT / "annotations", self.options.books, split)
            path.write_text(json.dumps([asdict(one) for one in found]), encoding="utf-8")
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [Example(**row | {"context": tuple(row["context"])}) for row in rows]

    def runs_of(self, seed: int) -> list[Run]:
        """The models of a seed; a fine-tuned one comes after the one it begins from."""
        miners = self.options.miner or MINERS
        runs = [Run(group, name, seed) for group in (SCRATCH, TUNED) for name in miners]
        return runs if self.options.miner else [*runs, Run(BASELINE, "", seed)]

    def draw(self, examples: Sequence[Example], seed: int) -> list[Example]:
        """The pairs that a model from scratch learns from, at random, in their order."""
        if not self.options.words:
            return draw(examples, self.options.pairs, seed)
        read = find_kind("transformer").read_options(dict(self.options.option))
        order = random.Random(seed).sample(range(len(examples)), len(examples))
        chosen, n_words = [], 0
        for i in order:
            if n_words >= self.options.words:
                break
            chosen.append(i)
            context, response = (
                split_words(examples[i].context[-1]),
                split_words(examples[i].response),
            )
            n_words += min(len(context), read.longest_context)  # a word has a token or more
            n_words += min(len(response), read.longest_response)
        print(f"  {len(chosen):,} pairs, {n_words:,} words", file=sys.stderr, flush=True)
        return [examples[i] for i in sorted(chosen)]

    def train(self, run: Run) -> None:
        """Trains a model, if it is not there."""
        out = self.models / run.folder
        if (out / "training.json").exists():
            return
        values: dict[str, Any] = dict(self.options.option)
        kind = find_kind("pretrained" if run.group == TUNED else "transformer")
        out.parent.mkdir(parents=True, exist_ok=True)
        print(f"{run.name}, seed {run.seed}: training", file=sys.stderr, flush=True)
        if run.group == SCRATCH:
            pairs = [pair.example for pair in read_mined(self.work / "mined" / run.miner)]
            train = Part(self.draw(pairs, run.seed), run.miner)
        elif run.group == TUNED:
            before = self.models / Run(SCRATCH, run.miner, run.seed).folder
            values = {"model": str(before), **dict(self.options.tuning)}
            true = draw(self.true["train"], self.options.true, run.seed)
            train = Part(true, "annotations, train")
        else:
            train = Part(self.draw(self.true["train"], run.seed), "annotations, train")
        train_model(
            kind,
            kind.read_options(values),
            train,
            Part(self.true["dev"], "annotations, dev"),
            out,
            seed=run.seed,
            history_turns=0,
            resume=True,
            report=lambda step: print(f"  {step}", file=sys.stderr, flush=True),
        )

    def answer(self, run: Run) -> list[Answer]:
        """The answers of a model to the test contexts; they are kept."""
        way = self.options.decoding
        path = self.answers / f"{run.folder}-{way}.jsonl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            trained = load_model(self.models / run.folder)
            found = answer_examples(trained, self.true["test"], self.decoding, run.seed)
            write_answers(path, found.answers)
        return read_answers(path)

    def lose(self, run: Run) -> NDArray[np.float64]:
        """The nats of each test response, not a number for those that the model reads in part."""
        path = self.answers / f"{run.folder}.npy"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            trained = load_model(self.models / run.folder)
            examples = keep_turns(self.true["test"], trained.history_turns)
            pairs, _ = trained.tokens.encode(examples)
            nats = sum_losses(trained.model, trained.tokens, pairs)[:, 0]
            nats[[pair.response[-1] != trained.tokens.end for pair in pairs]] = np.nan
            np.save(path, nats)
        return np.load(path)

    def rows_of_answers(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """How alike the answers of each model are, and how many of them tell who speaks."""
        rows = []
        for run in runs:
            texts = [answer.predicted for answer in self.answer(run)]
            narrating = sum(bool(NARRATION.search(text)) for text in texts)
            row = {"model": run.name, "seed": run.seed, "answers": len(texts)}
            rows.append(row | {"different": len(set(texts)), "with narration": narrating})
        return rows

    def rows_of_losses(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """Nats for a word of the true responses, the mean over the seeds, and over the gap."""
        nats: dict[str, NDArray[np.float64]] = {}
        n_seeds = len({run.seed for run in runs})
        for run in runs:
            nats[run.name] = nats.get(run.name, 0.0) + self.lose(run) / n_seeds
        whole = ~np.isnan(np.sum(list(nats.values()), axis=0))
        examples = [one for one, is_whole in zip(self.true["test"], whole, strict=True) if is_whole]
        words = np.array([len(split_words(one.response)) for one in examples])
        rows = []
        for name, lost in nats.items():
            group = name.partition(" ")[0]
            row = {"model": name, "responses": len(examples), "words": int(words.sum())}
            row["nats for a word"] = rate(lost[whole], words, examples)
            gap = f"{SCRATCH if group == BASELINE else group} gap"
            if name != gap:
                over = lost[whole] - nats[gap][whole]
                row["over the gap"] = rate(over, words, examples)
            rows.append(row)
        return rows

    def compare(self, seed: int) -> AnswerComparison:
        """The metrics of the models of a seed."""
        runs = self.runs_of(seed)
        reference = make_reference(keep_turns(self.true["train"], 0), "annotations, train")
        return compare_answers(
            {run.name: self.answer(run) for run in runs},
            reference,
            self.options.vectors,
            groups={run.name: run.group for run in runs},
            n_shown=10,
        )


def rate(nats: NDArray[np.float64], words: NDArray[np.int64], examples: Sequence[Example]) -> str:
    """Nats for a word, with the interval over books."""
    names = list(dict.fromkeys(one.book for one in examples))
    of = np.array([names.index(one.book) for one in examples])
    table = np.stack([np.bincount(of, nats), np.bincount(of, words)], axis=1)
    drawn = resample_chapters(table, 1000, 0)
    found = score_from_draws(nats.sum() / words.sum(), drawn[:, 0] / drawn[:, 1])
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Prints rows as a table in Markdown."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for row in rows:
        print("| " + " | ".join(str(row.get(column, "")) for column in columns) + " |")
    print()


def print_comparison(found: AnswerComparison) -> None:
    """Prints the metrics, what was scored, and the answers to the same ten contexts."""
    rows = []
    for scored in found.rows:
        row = {"model": scored.name}
        for score, metric in zip(scored.scores, METRICS, strict=True):
            mark = "**" if metric.name in scored.best else ""
            row[metric.name] = f"{mark}{format_metric(score, metric)}{mark}"
        rows.append(row)
    print_table(rows)
    print(found.scored, *found.notes, sep="\n", end="\n\n")
    for one in found.shown:
        print("context  ", one.answer.context[-1])
        print("response ", one.answer.response)
        for name, text in one.predicted:
            print(f"{name:<14}", text)
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--books", type=Path, required=True, help="folder of Gutenberg HTML files")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is made")
    parser.add_argument("--vectors", help="vectors of words, or a sentence encoder")
    parser.add_argument("--every", type=int, default=3, help="which of the books are mined")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--pairs", type=int, default=20_000, help="pairs of each miner")
    size.add_argument("--words", type=int, help="words of each miner's pairs, in place of --pairs")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--decoding", default="greedy", help="greedy, nucleus or beam")
    parser.add_argument(
        "--option", action="append", type=read_option, default=[], help="of the Transformer"
    )
    parser.add_argument(
        "--tuning", action="append", type=read_option, default=[], help="of the fine-tuning"
    )
    parser.add_argument("--true", type=int, default=20_000, help="true pairs to fine-tune on")
    parser.add_argument("--only", type=int, metavar="SEED", help="train one seed, and no more")
    parser.add_argument(
        "--miner", action="append", choices=MINERS, help="compare these, without the baseline"
    )
    parser.add_argument("-o", "--out", type=Path, help="file for the scores (JSON)")
    options = parser.parse_args()
    if options.miner and "gap" not in options.miner:
        parser.error("found no gap among the miners, expected it: differences are those to the gap")
    mine_all(options.books, options.work, options.miner or MINERS, options.every)
    bench = Bench(options)
    seeds = range(options.seeds) if options.only is None else [options.only]
    runs = [run for seed in seeds for run in bench.runs_of(seed)]
    for run in runs:
        bench.train(run)
    if options.only is not None:
        return
    losses = bench.rows_of_losses(runs)
    print_table(losses)
    for seed in seeds:
        print(f"Seed {seed} alone:")
        print_table(bench.rows_of_losses([run for run in runs if run.seed == seed]))
    print_table(bench.rows_of_answers(runs))
    for run in runs:
        best = best_step(read_curve(bench.models / run.folder))
        print(f"{run.folder}: best after {best.n_pairs:,} pairs: {best}")
    found = [bench.compare(seed) for seed in range(options.seeds)]
    for one in found:
        print_comparison(one)
    if options.out:
        kept = {"losses": losses, "scores": [one.to_json() for one in found]}
        options.out.write_text(json.dumps(kept, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
