"""A training of the reader, from its data to its run folder."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn

from miner.errors import InputError
from miner.files import RUN_RECORD, json_lines, refuse_existing
from miner.lab.learning.loop import Epoch, Learner, Part, Row, State, fit
from miner.lab.learning.prepared import Record
from miner.lab.learning.run_folder import RunFolder, run_folder
from miner.lab.training.reader.evaluation import (
    DEV_LOSS,
    evaluate_reader,
    score_examples,
    share_of_right,
)
from miner.lab.training.reader.examples import (
    ReaderData,
    choose_chapters,
    load_reader_data,
    read_reader_data,
    write_reader_data,
)
from miner.lab.training.reader.losses import (
    GoldChapter,
    Steps,
    new_reader,
    step_losses,
    unfreeze,
)
from miner.lab.training.reader.training_config import ReaderTraining
from miner.lab.training.tagger.model_selection import (
    best_epoch,
    calibration_error,
    fit_start_offset,
    fit_temperature,
    score_decoded,
)
from miner.lab.training.tagger.run_folder import (
    BEST,
    METRICS,
    RUN_MARKERS,
    FinishedRun,
    metrics_row,
    score_as_tagged,
    write_run_record,
)
from miner.lab.training.tagger.throughput import Throughput, count_operations, find_peak
from miner.lab.training.tagger.training import (
    LARGEST_GRADIENT,
    new_optimizer,
    new_schedule,
    training_dtype,
)
from miner.reader.config import read_reading_config
from miner.reader.model import ConversationReader
from miner.reader.reader import encoder_of
from miner.tagger.encoding import plain_tokenizer
from miner.tagger.torch_runtime import read_model
from miner.version import __version__

Report = Callable[[str], object]
_TITLE = "Conversation reader"
_ELSEWHERE = frozenset("gold books train_split dev_split test_split without chapters".split())


def prepare_examples(config: ReaderTraining, path: Path, force: bool, report: Report) -> None:
    """Writes all that a run reads to a file, from which it trains elsewhere."""
    refuse_existing(path, force)
    model, tokenizer = new_reader(config)
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    data = read_reader_data(config, plain, model.encoder.config.vocab_size, report)
    write_reader_data(path, data, config, plain, force)
    report(f"{path}: {len(data.train)} chapters, {path.stat().st_size / 1e6:.1f} MB")


def train_reader(
    config: ReaderTraining,
    out: Path,
    prepared: Path | None,
    resume: bool,
    force: bool,
    command: str,
    report: Report,
) -> FinishedRun:
    """Trains a reader, writes its run folder, and returns its scores."""
    began = time.monotonic()
    refuse_existing(out, force, RUN_MARKERS)
    accelerator = Accelerator()
    if accelerator.num_processes > 1:
        raise InputError(f"found {accelerator.num_processes} processes, expected one")
    device = accelerator.device
    dtype, peak = training_dtype(config.dtype, device.type), find_peak(device)
    model, tokenizer = new_reader(config)
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    if prepared:
        data = load_reader_data(prepared, config, plain)
    else:
        data = read_reader_data(config, plain, model.encoder.config.vocab_size, report)
    data = choose_chapters(data, config)
    record = _build_record(config, data.record, dtype, command)
    with run_folder(
        out,
        RUN_RECORD,
        record,
        resume=resume,
        force=force,
        markers=RUN_MARKERS,
        ignored=("command",),
    ) as folder:
        state = State.read(folder.state / "state.pt")
        if state.rows:
            began -= state.rows[-1]["seconds_of_run"]
        unfreeze(model, config.frozen_layers)
        encoder = encoder_of(model, plain)

        def validate(epoch: Epoch) -> Row:
            dev = data.splits[config.dev_split]
            result = evaluate_reader(model, dev, config.dev_split, encoder, dtype)
            speed = Throughput(epoch.seconds, epoch.n_tokens, count_operations(model), peak)
            row = metrics_row("gold", epoch, speed, time.monotonic() - began, result.tags)
            return row | {"dev speakers": result.speakers}

        def report_row(row: Row) -> None:
            report(_describe_epoch(row))
            (folder.state / METRICS).write_bytes(json_lines(state.rows))

        learner = _learner_of(model, Steps(data.train, encoder, config, device), dtype, validate)
        fit(
            Learner(**learner, keep=lambda: model.save_pretrained(folder.state / BEST)),
            config.epochs,
            state,
            stage="gold",
            patience=config.patience,
            clip=LARGEST_GRADIENT,
            accelerator=accelerator,
            report=report_row,
        )
        best = best_epoch(state.rows, DEV_LOSS)
        tokenizer.save_pretrained(folder.made)
        finished = _finish(folder, config, plain, device, dtype, data, best)
        examples = {name: split.gold for name, split in data.splits.items()}
        finished = score_as_tagged(folder.made, out.name, finished, examples, config.resamples)
        write_run_record(folder.made, finished, state.rows, _TITLE)
    report(f"wrote {out}, {time.monotonic() - began:.0f} seconds in all")
    return finished


def _learner_of(
    model: ConversationReader,
    steps: Steps,
    dtype: torch.dtype,
    validate: Callable[[Epoch], Row],
) -> dict[str, Any]:
    config, device = steps.config, steps.device
    optimizer = new_optimizer(model, config)

    def batches(epoch: int) -> Iterator[list[GoldChapter]]:
        set_seed(config.seed * 1000 + epoch)
        model.train()
        model.encoder.eval()  # dropout in the encoder doubles the time of a step on a CPU
        return steps.of_epoch(epoch)

    def losses(wrapped: nn.Module, step: list[GoldChapter]) -> Iterator[Part]:
        return step_losses(wrapped, step, config, device, dtype)

    return {
        "network": model,
        "optimizer": optimizer,
        "schedule": new_schedule(optimizer, steps.count(), config.warm_up),
        "batches": batches,
        "losses": losses,
        "validate": validate,
        "best": lambda rows: best_epoch(rows, DEV_LOSS),
    }


def _finish(
    folder: RunFolder,
    config: ReaderTraining,
    tokenizer: Any,  # noqa: ANN401 - of the library of tokenizers
    device: torch.device,
    dtype: torch.dtype,
    data: ReaderData,
    best: int,
) -> FinishedRun:
    """Calibrates the best epoch on dev, scores it, and writes the checkpoint."""
    shutil.copytree(folder.state / BEST, folder.made, dirs_exist_ok=True)
    _, record = read_reading_config(folder.made)
    model, _ = read_model(folder.made, record, ConversationReader)
    nn.Module.to(model, device)
    encoder = encoder_of(model, tokenizer)
    dev, *_ = data.splits
    scores = {
        name: score_examples(model, split.examples, encoder, dtype)
        for name, split in data.splits.items()
    }
    rows = {name: [item.tags for item in found] for name, found in scores.items()}
    tags = {
        name: [example.tags for example in split.gold.examples]
        for name, split in data.splits.items()
    }
    offset = fit_start_offset(data.splits[dev].gold, rows[dev])
    calibration = fit_temperature(rows[dev], tags[dev], offset)
    temperature = calibration.temperature
    errors = {
        name: calibration_error(rows[name], tags[name], temperature, offset)[0] for name in rows
    }
    speakers = {
        name: share_of_right(split, scores[name], offset, temperature)
        for name, split in data.splits.items()
    }
    model.config.start_offset = offset
    model.config.confidence_temperature = temperature
    model.config.training = folder.record | {
        "best epoch": best + 1,
        **{f"right speakers of {name}": share for name, share in speakers.items()},
    }
    model.save_pretrained(folder.made)
    decoded = {
        name: score_decoded(split.gold, rows[name], name, config.resamples, offset)
        for name, split in data.splits.items()
    }
    return FinishedRun(decoded, calibration, errors, model.config.training)


def _build_record(config: ReaderTraining, data: Record, dtype: torch.dtype, command: str) -> Record:
    """Returns all that decides the result of a run, as the checkpoint's config keeps it."""
    choices = {name: value for name, value in asdict(config).items() if name not in _ELSEWHERE}
    return {
        "command": command,
        **choices,
        "dtype": str(dtype).removeprefix("torch."),
        **data,
        "miner": __version__,
        "versions": {name: version(name) for name in ("torch", "transformers", "accelerate")},
    }


def _describe_epoch(row: Row) -> str:
    """Returns a line about an epoch."""
    peak = row["share_of_bf16_peak"]
    return ", ".join(
        [
            f"epoch {row['epoch']}: loss {row['loss']:.4g}",
            f"{DEV_LOSS} {row[DEV_LOSS]:.4g}",
            *(f"{unit} F1 {row[f'dev {unit}.f1'] or 0:.4g}" for unit in ("B-START", "turn-pair")),
            f"right speakers {row['dev speakers']:.4g}",
            f"{row['tokens_per_second']:,.0f} tokens/s",
            *([f"{peak:.1%} of the bf16 peak"] if peak else []),
            f"{row['seconds']:.4g} s",
        ]
    )
