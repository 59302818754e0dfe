"""Trains the tagger on the annotations: `python train.py --help`.

A run goes from examples -> tensors -> stages of epochs -> the best epoch on dev -> a run folder
with the checkpoint, its calibration and scores, the metrics of every epoch, and the exact command.

Each expert is trained by itself: first the structure expert, then the text expert with its encoder,
on weak labels if there are any and then on the annotations. An epoch sets its own random seed, so
an interrupted run is resumed to the same result.
"""

from __future__ import annotations

import math
import random
import shlex
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from miner.extras import import_extra

if __name__ == "__main__":
    for package in ("torch", "transformers", "accelerate", "onnx", "onnxscript", "matplotlib"):
        try:
            import_extra(package, "train")
        except ValueError as error:
            raise SystemExit(f"train.py: {error}") from error

from accelerate import Accelerator
from accelerate.utils import set_seed

from miner.app.cli.config_options import config_options
from miner.app.plots import evaluation as plots
from miner.books.book_file import read_book_file
from miner.books.download import find_book
from miner.books.sources import find_sources
from miner.files import refuse_existing
from miner.models.load import load_tagger
from miner.models.tagger.augmentation import augment
from miner.models.tagger.config import Expert
from miner.models.tagger.encoded_chapters import ChapterEncoder, EncodedChapter
from miner.models.tagger.encoding import plain_tokenizer
from miner.models.tagger.examples import Example, read_examples
from miner.models.tagger.initialization import initialize_from, new_model
from miner.models.tagger.losses import chapter_loss
from miner.models.tagger.model_selection import BestEpoch, evaluate_epoch, trained_experts
from miner.models.tagger.onnx_export import export_encoder
from miner.models.tagger.run_folder import (
    RELIABILITY,
    MetricsRow,
    RunState,
    begin_run,
    build_run_record,
    finish_run,
    metrics_row,
    resume_run,
    write_run_record,
    write_state,
)
from miner.models.tagger.training import (
    autocast,
    epoch_order,
    new_optimizer,
    new_schedule,
    training_dtype,
    unfreeze,
)
from miner.models.tagger.training_config import TrainingConfig
from miner.models.tagger.weak_labels import find_held_out_books, tag_weakly

_LARGEST_GRADIENT = 1.0  # the norm to which gradients are clipped
Item = TypeVar("Item")


class Stage(NamedTuple):
    """Epochs that train one expert on the same chapters."""

    name: str
    expert: Expert
    examples: Sequence[Example]
    n_epochs: int


@click.command(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Run folder.")
@config_options(TrainingConfig)
@click.option("--resume", is_flag=True, help="Resume the interrupted run in OUT.")
@click.option("--force", is_flag=True, help="Replace the run in OUT.")
@click.option("--smoke", is_flag=True, help="Run every stage on the sample, in a minute.")
def main(out: Path, resume: bool, force: bool, smoke: bool, **choices: Any) -> None:
    """Train the conversation tagger and write a run folder that `miner --tagger OUT` takes."""
    try:
        config = TrainingConfig(**choices)
        run(config.for_smoke_test() if smoke else config, out, resume, force)
    except (ValueError, OSError) as error:
        raise SystemExit(f"train.py: {error}") from error


def run(config: TrainingConfig, out: Path, resume: bool, force: bool) -> None:
    """Trains a model, and writes its run folder."""
    if not resume:
        refuse_existing(out, force)
    accelerator = Accelerator()
    device, n_processes = accelerator.device, accelerator.num_processes
    dtype = training_dtype(config.dtype, device.type)

    # The model.
    model, tokenizer = new_model(config)
    if config.initialize_from:
        initialize_from(model, config.initialize_from)
    model.to(device)
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    encoder = ChapterEncoder(model, plain, dtype, config.frozen, config.vectors)

    # The data. Dev and test are read now, so that an error shows before hours of training.
    def read_book(book: str) -> bytes:
        return read_book_file(find_book(book, config.books)[1])

    def report(line: str) -> None:
        if accelerator.is_main_process:
            click.echo(line, err=True)

    def leave_out(line: str) -> None:
        left_out.append(line)
        report(f"left out, {line}")

    left_out: list[str] = []
    training = read_examples(config.gold, config.train_split, read_book, config.without, leave_out)
    dev = read_examples(config.gold, config.dev_split, read_book)
    splits = {config.dev_split: dev}
    if config.test_split:
        splits[config.test_split] = read_examples(config.gold, config.test_split, read_book)
    examples = list(training.examples)
    if config.chapters:
        random.Random(config.seed).shuffle(examples)
        examples = examples[: config.chapters]
    weak: list[Example] = []
    if config.weak:
        sources, missing = find_sources(config.weak, config.books)
        if missing:
            raise ValueError(str(missing[0]))
        tagger = load_tagger(config.weak_tagger)
        held_out = find_held_out_books(config.gold, config.without)
        weak = tag_weakly(show_progress(sources, "weak labels"), tagger, held_out, report)

    # The run folder.
    command = shlex.join(["python", *sys.argv])
    record = build_run_record(config, examples, dev, weak, left_out, dtype, n_processes, command)
    best, rows, state = BestEpoch(), list[MetricsRow](), None
    if resume:
        state = resume_run(out, record)
        model.load_state_dict(state.model)
        best, rows, record = state.best, state.rows, state.record
    else:
        begin_run(out)

    # The training.
    stages = [
        Stage("structure", Expert.STRUCTURE, examples, config.structure_epochs * config.features),
        Stage("weak", Expert.TEXT, weak, config.weak_epochs * bool(weak)),
        Stage("gold", Expert.TEXT, examples, config.epochs),
    ]
    stages = [stage for stage in stages if stage.n_epochs]
    n_done = [stage.name for stage in stages].index(state.stage) if state else 0
    dev_chapters = encoder.encode(show_progress(dev.examples, "encoding"))
    for stage in stages[n_done:]:
        unfreeze(model, stage.expert, config)
        optimizer = new_optimizer(model, config)
        n_steps = stage.n_epochs * math.ceil(len(stage.examples) / (config.batch * n_processes))
        schedule = new_schedule(optimizer, n_steps)
        if state:
            optimizer.load_state_dict(state.optimizer)
            schedule.load_state_dict(state.schedule)
        wrapped, optimizer = accelerator.prepare(model, optimizer)
        chapters: list[EncodedChapter] = []
        for epoch in range(state.epoch if state else 0, stage.n_epochs):
            set_seed(config.seed * 1000 + epoch)
            order = epoch_order(len(stage.examples), n_processes)
            started, total_loss, n_tags, n_tokens = time.monotonic(), 0.0, 0, 0
            if config.augment_share or not chapters:
                augmented = augment_examples(stage.examples, config, epoch)
                reads_text = stage.expert is Expert.TEXT
                chapters = encoder.encode(show_progress(augmented, "encoding"), reads_text)
            wrapped.train()
            model.encoder.eval()  # dropout in the encoder doubles the time of a step on a CPU
            per_step = config.batch * n_processes
            steps = range(0, len(order), per_step)
            for first in show_progress(steps, f"{stage.name} {epoch + 1} of {stage.n_epochs}"):
                of_step = [chapters[n] for n in order[first : first + per_step]]
                of_process = of_step[accelerator.process_index :: n_processes]
                # Gradients are averaged over processes, and each utterance has the same weight.
                size = sum(len(item.tags) for item in of_step) / n_processes
                for item in of_process:  # one at a time: gradients add up, memory does not
                    with autocast(device.type, dtype):
                        parts = wrapped(
                            item.encoding,
                            item.features,
                            item.sequences,
                            item.vectors,
                            [stage.expert],
                        )
                    weights = config.start_weight, config.speaker_weight
                    loss = chapter_loss(parts, item.tags, item.speakers, *weights)
                    accelerator.backward(loss / size)
                    total_loss += loss.item()
                    n_tags += len(item.tags)
                    n_tokens += sum(len(window.ids) for window in item.encoding.windows)
                accelerator.clip_grad_norm_(wrapped.parameters(), _LARGEST_GRADIENT)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            seconds = time.monotonic() - started

            # The epoch on dev.
            experts = trained_experts(model, stage.expert)
            result = evaluate_epoch(model, dev_chapters, dev, config.dev_split, experts, dtype)
            row = metrics_row(stage.name, epoch, total_loss / n_tags, seconds, n_tokens, result)
            rows.append(row)
            report(" ".join(f"{name} {format_value(value)}" for name, value in row.items()))
            n_epochs_done = epoch + 1
            if stage.name == "gold":
                best = best.compare(epoch, result.goal, result.losses["mixture"])
                if best.epoch == epoch and accelerator.is_main_process:
                    model.save_pretrained(out)
                if epoch - best.epoch >= config.patience:
                    n_epochs_done = stage.n_epochs
            if accelerator.is_main_process:
                trained = model.state_dict(), optimizer.state_dict(), schedule.state_dict()
                write_state(out, RunState(stage.name, n_epochs_done, *trained, best, rows, record))
            if n_epochs_done == stage.n_epochs:
                break
        state = None

    # The result.
    if accelerator.is_main_process:
        finished = finish_run(out, config, tokenizer, device, dtype, splits, record, best)
        figure = plots.plot_reliability(finished.calibration.bins, config.dev_split)
        plots.save_figure(figure, out / RELIABILITY, force=True)
        write_run_record(out, finished)
        try:
            export_encoder(out)
        except ValueError as error:
            report(f"{error}; tagging with this checkpoint needs PyTorch")
        for name, scores in finished.scores.items():
            for unit in ("B-START", "turn-pair"):
                value = scores.total.end_to_end[f"{unit}.f1"].value
                click.echo(f"{name}: {unit} F1 {format_value(value)}")


def augment_examples(
    examples: Sequence[Example], config: TrainingConfig, epoch: int
) -> list[Example]:
    """Returns the chapters as an epoch reads them, with some paragraphs split at random."""
    if not config.augment_share:
        return list(examples)
    return [
        augment(example, config.augment_share, random.Random(f"{config.seed} {epoch} {n}"))
        for n, example in enumerate(examples)
    ]


def show_progress(items: Sequence[Item], name: str) -> Iterable[Item]:
    """Returns the items; iterating over them shows a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(items, name, console=console, transient=True) if console.is_terminal else items


def format_value(value: str | int | float | None) -> str:
    """Returns a number with four digits, or a text as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
