"""Trains the networks on the annotations: `python train.py --help`.

There are six, each with a command: the tagger, the reader, the network of the speakers, the
classifier of speech, the model of where speakers pause, and that of where speech begins and ends.
The last is trained from annotations and books, the others also from a file of prepared examples
alone. Another command makes an encoder for the tagger.

A run of the tagger goes from examples -> tensors -> stages of epochs -> the best epoch on dev -> a
run folder with the checkpoint, its calibration and scores, the metrics of every epoch, and the
exact command. Each expert is trained by itself: first the structure expert, then the text expert
with its encoder, on weak labels if there are any and then on the annotations. An epoch sets its own
random seed, so an interrupted run is resumed to the same result.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from miner.errors import InputError
from miner.extras import import_extra

if __name__ == "__main__":
    needed = "torch transformers accelerate onnx onnxscript matplotlib sklearn"
    for package in needed.split():
        try:
            import_extra(package, "train")
        except InputError as error:
            raise SystemExit(f"train.py: {error}") from error

import torch
from accelerate import Accelerator

from miner.app.cli.command import CommandGroup
from miner.app.cli.options import OUTPUT, PATH
from miner.app.cli.terminal import CountBar
from miner.files import CHECKPOINT_ENCODER, RUN_RECORD, json_lines, refuse_existing
from miner.lab.app.cli.options import config_options
from miner.lab.app.plots import evaluation as plots
from miner.lab.learning.loop import Epoch, Row, State, fit
from miner.lab.learning.network_training import NetworkRun, NetworkTrainer, train_network
from miner.lab.learning.run_folder import RunFolder, partial_folder, run_folder
from miner.lab.measure.scores import Scores
from miner.lab.training import pauses as pause_training
from miner.lab.training import quotation_kinds as kind_training
from miner.lab.training import segmentation
from miner.lab.training import speech as speech_training
from miner.lab.training.encoders.making import EncoderConfig, make_encoder
from miner.lab.training.reader import run as reader_training
from miner.lab.training.reader.training_config import ReaderTraining
from miner.lab.training.speakers import training as speaker_training
from miner.lab.training.tagger.encoded_chapters import ChapterEncoder
from miner.lab.training.tagger.model_selection import best_epoch, evaluate_epoch, trained_experts
from miner.lab.training.tagger.onnx_export import export_encoder
from miner.lab.training.tagger.prepared_examples import load_training_data, write_training_data
from miner.lab.training.tagger.run_folder import (
    BEST,
    METRICS,
    RELIABILITY,
    RUN_MARKERS,
    build_run_record,
    finish_run,
    metrics_row,
    score_as_tagged,
    write_run_record,
)
from miner.lab.training.tagger.steps import Stage, learner_of, stages_of
from miner.lab.training.tagger.throughput import Throughput, count_operations, find_peak
from miner.lab.training.tagger.training import (
    LARGEST_GRADIENT,
    initialize_from,
    new_model,
    training_dtype,
)
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import read_training_data
from miner.tagger.encoding import plain_tokenizer

Item = TypeVar("Item")


@click.group(
    "train.py",
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
def main() -> None:
    """Train the networks of the miner on annotated novels."""


@main.command()
@click.option("-o", "--out", type=OUTPUT, help="Run folder.")
@click.option("--prepare", type=OUTPUT, help="File for prepared examples; trains nothing.")
@click.option(
    "--examples",
    type=PATH,
    help="Prepared examples to train on, with the options that they were prepared with.",
)
@config_options(TrainingConfig)
@click.option("--resume", is_flag=True, help="Resume the interrupted run in OUT.")
@click.option("--force", is_flag=True, help="Replace the run in OUT, or the file of examples.")
@click.option(
    "--smoke",
    is_flag=True,
    help="Run every stage on the sample, in minutes and without a network; without --out, into a "
    "new temporary folder.",
)
def tagger(
    out: Path | None,
    prepare: Path | None,
    examples: Path | None,
    resume: bool,
    force: bool,
    smoke: bool,
    **choices: Any,
) -> None:
    """Train the conversation tagger and write a run folder that `miner --tagger OUT` takes."""
    config = TrainingConfig(**choices)
    config = config.for_smoke_test() if smoke else config
    if smoke and not (out or prepare):
        out = Path(tempfile.mkdtemp(prefix="smoke."))
    if (out is None) == (prepare is None) or (prepare and examples):
        raise InputError("expected --out, with or without --examples, or --prepare alone")
    if prepare:
        prepare_examples(config, prepare, force)
    elif out:
        run(config, out, examples, resume, force)


@main.command()
@click.option("-o", "--out", type=OUTPUT, help="Run folder.")
@click.option("--prepare", type=OUTPUT, help="File for prepared examples; trains nothing.")
@click.option(
    "--examples",
    type=PATH,
    help="Prepared examples to train on, with the options that they were prepared with.",
)
@config_options(ReaderTraining)
@click.option("--resume", is_flag=True, help="Resume the interrupted run in OUT.")
@click.option("--force", is_flag=True, help="Replace the run in OUT, or the file of examples.")
def reader(
    out: Path | None,
    prepare: Path | None,
    examples: Path | None,
    resume: bool,
    force: bool,
    **choices: Any,
) -> None:
    """Train the reader, tags and speakers in one, and write a run folder for `miner --tagger`."""
    config = ReaderTraining(**choices)
    if (out is None) == (prepare is None) or (prepare and examples):
        raise InputError("expected --out, with or without --examples, or --prepare alone")
    if prepare:
        reader_training.prepare_examples(config, prepare, force, report)
    elif out:
        finished = reader_training.train_reader(
            config, out, examples, resume, force, command(), report
        )
        show_scores(finished.scores)


@main.command()
@config_options(EncoderConfig)
@click.option("--force", is_flag=True, help="Replace files that are there.")
def encoder(force: bool, **choices: Any) -> None:
    """Restore an encoder, or keep part of its vocabulary: a folder that `--encoder` takes."""
    make_encoder(EncoderConfig(**choices), report, force)


@main.command()
@config_options(NetworkRun)
@config_options(speaker_training.SpeakerTraining)
@click.option("--force", is_flag=True, help="Replace files that are there.")
def speakers(**choices: Any) -> None:
    """Train the network that finds who speaks, and write its weights with a record beside."""
    train_with(speaker_training.SpeakerTraining, speaker_training.SpeakerTrainer, choices)


@main.command()
@config_options(NetworkRun)
@config_options(speech_training.SpeechTraining)
@click.option("--force", is_flag=True, help="Replace files that are there.")
def speech(**choices: Any) -> None:
    """Train the classifier of what is speech, and write its weights with a record beside."""
    train_with(speech_training.SpeechTraining, speech_training.SpeechTrainer, choices)


@main.command()
@config_options(NetworkRun)
@config_options(pause_training.PauseTraining)
@click.option("--force", is_flag=True, help="Replace files that are there.")
def pauses(**choices: Any) -> None:
    """Train where speakers pause, and write the weights with a record beside."""
    train_with(pause_training.PauseTraining, pause_training.PauseTrainer, choices)


@main.command()
@config_options(NetworkRun)
@config_options(kind_training.KindTraining)
@click.option("--force", is_flag=True, help="Replace files that are there.")
def kinds(**choices: Any) -> None:
    """Train the classifier of quotations that are no speech, and write its weights and record."""
    train_with(kind_training.KindTraining, kind_training.KindTrainer, choices)


@main.command()
@config_options(segmentation.SegmentationRun)
@config_options(segmentation.SegmentationTraining)
@click.option("--force", is_flag=True, help="Replace files that are there.")
def cuts(force: bool, **choices: Any) -> None:
    """Train where speech begins and ends between dashes, and write its weights with a record."""
    names = segmentation.SegmentationTraining.__dataclass_fields__
    options = segmentation.SegmentationTraining(**{name: choices.pop(name) for name in names})
    run = segmentation.SegmentationRun(**choices)
    segmentation.train_segmentation(run, options, force, command(), report)


def train_with(
    options: type[Any], trainer: Callable[[Any], NetworkTrainer[Any]], choices: dict[str, Any]
) -> None:
    """Trains a network other than the tagger, with the choices of the command line."""
    force = choices.pop("force")
    own = {name: choices.pop(name) for name in options.__dataclass_fields__}
    train_network(trainer(options(**own)), NetworkRun(**choices), force, command(), report)


def prepare_examples(config: TrainingConfig, path: Path, force: bool) -> None:
    """Writes all that a run of the tagger reads to a file, from which it trains elsewhere."""
    refuse_existing(path, force)
    model, tokenizer = new_model(config)
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    data = read_training_data(config, report, show_progress)
    write_training_data(path, data, config, plain, model.config.for_tagging(), force)
    report(f"{path}: {len(data.gold)} chapters, {path.stat().st_size / 1e6:.1f} MB")


def run(
    config: TrainingConfig, out: Path, prepared: Path | None, resume: bool, force: bool
) -> None:
    """Trains a tagger, and writes its run folder."""
    began = time.monotonic()
    refuse_existing(out, force, RUN_MARKERS)
    accelerator = Accelerator()
    device = accelerator.device
    dtype = training_dtype(config.dtype, device.type)
    peak = find_peak(device)

    def report_once(line: str) -> None:
        if accelerator.is_main_process:
            report(line)

    if device.type == "cuda" and peak is None:
        name = torch.cuda.get_device_name(device)
        report_once(f"{name}: its peak is not known, so shares of it are left out")

    # The model.
    model, tokenizer = new_model(config)
    if config.initialize_from:
        initialize_from(model, config.initialize_from)
    model.to(device)
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    encoder = ChapterEncoder(model, plain, dtype, config.frozen, config.vectors)

    # The data.
    if prepared:
        data = load_training_data(prepared, config, plain)
    else:
        data = read_training_data(config, report_once, show_progress)
    dev = data.splits[config.dev_split]

    # The run folder, which the first process makes.
    record = build_run_record(config, data.record, dtype, accelerator.num_processes, command())
    begun = run_folder(
        out,
        RUN_RECORD,
        record,
        resume=resume,
        force=force,
        markers=RUN_MARKERS,
        ignored=("command",),
    )
    is_first = accelerator.is_main_process
    with begun if is_first else nullcontext(RunFolder(partial_folder(out), record)) as folder:
        accelerator.wait_for_everyone()
        state = State.read(folder.state / "state.pt")
        if state.rows:
            began -= state.rows[-1]["seconds_of_run"]

        def report_row(row: Row) -> None:
            report_once(describe_epoch(row))
            if is_first:
                (folder.state / METRICS).write_bytes(json_lines(state.rows))

        # The training.
        dev_chapters = encoder.encode(show_progress(dev.examples, "encoding"))
        for stage in stages_of(config, data):

            def validate(epoch: Epoch, stage: Stage = stage) -> Row:
                experts = trained_experts(model, stage.expert)
                result = evaluate_epoch(model, dev_chapters, dev, config.dev_split, experts, dtype)
                speed = Throughput(epoch.seconds, epoch.n_tokens, count_operations(model), peak)
                return metrics_row(stage.name, epoch, speed, time.monotonic() - began, result)

            fit(
                learner_of(
                    stage,
                    encoder,
                    config,
                    accelerator,
                    show_progress,
                    validate,
                    keep=lambda: model.save_pretrained(folder.state / BEST),
                ),
                stage.n_epochs,
                state,
                stage=stage.name,
                patience=config.patience,
                clip=LARGEST_GRADIENT,
                accelerator=accelerator,
                report=report_row,
            )

        # The result.
        if not is_first:
            return
        if not config.epochs:
            model.save_pretrained(folder.state / BEST)
        best = best_epoch(state.curves.get("gold", []))
        finished = finish_run(folder, config, tokenizer, device, dtype, data.splits, best)
        figure = plots.plot_reliability(finished.calibration.bins, config.dev_split)
        plots.save_figure(figure, folder.made / RELIABILITY, force=True)
        try:
            export_encoder(folder.made)
        except InputError as error:
            report_once(f"{error}; tagging with this checkpoint needs PyTorch")
            (out / CHECKPOINT_ENCODER).unlink(missing_ok=True)  # of an earlier run
        finished = score_as_tagged(folder.made, out.name, finished, data.splits, config.resamples)
        write_run_record(folder.made, finished, state.rows)
    show_scores(finished.scores)
    report_once(f"wrote {out}, {time.monotonic() - began:.0f} seconds in all")


def show_scores(scores: Mapping[str, Scores]) -> None:
    """Prints the main scores of a run."""
    for name, of_split in scores.items():
        for unit in ("B-START", "turn-pair"):
            value = of_split.total.end_to_end[f"{unit}.f1"].value
            click.echo(f"{name}: {unit} F1 {format_value(value)}")


def command() -> str:
    """Returns the command line of this run."""
    return shlex.join(["python", *sys.argv])


def report(line: str) -> None:
    """Prints a line on standard error."""
    click.echo(line, err=True)


def show_progress(items: Sequence[Item], name: str) -> Iterator[Item]:
    """Yields the items, and shows how many are done: by a bar, or by a line now and then."""
    with CountBar(name, quiet=False) as bar:
        for done, item in enumerate(items):
            bar.show(done, len(items))
            yield item


def describe_epoch(row: Row) -> str:
    """Returns a line about an epoch, from its row in `metrics.jsonl`, which has more scores."""
    speed = row["tokens_per_second"]
    done = [f"{row['stage']} epoch {row['epoch']}: loss {format_value(row['loss'])}"]
    done += [f"dev loss {format_value(row['dev loss of mixture'])}"]
    done += [
        f"{unit} F1 {format_value(row[f'dev {unit}.f1'])}" for unit in ("B-START", "turn-pair")
    ]
    done += [f"{speed:,.0f} tokens/s"] if isinstance(speed, float) and speed else []
    return ", ".join([*done, f"{format_value(row['seconds'])} s"])


def format_value(value: str | int | float | None) -> str:
    """Returns a number with four digits, or a text as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
