"""A run folder: its record, the state of an interrupted run, and the files of a finished one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from miner.errors import InputError
from miner.files import (
    CARD,
    CHECKPOINT,
    CHECKPOINT_CONFIG,
    CHECKPOINT_ENCODER,
    RUN_RECORD,
    find_other,
    json_line,
    make_folders,
    printable,
    reason_of,
    refuse_another,
)
from miner.lab.learning.prepared_files import Record
from miner.lab.measure.scores import Scores, score
from miner.lab.training.tagger.calibration import Calibration, calibration_error, fit_temperature
from miner.lab.training.tagger.encoded_chapters import ChapterEncoder
from miner.lab.training.tagger.examples import AnnotatedExamples
from miner.lab.training.tagger.model_card import AS_TAGGED, format_model_card
from miner.lab.training.tagger.model_selection import (
    BestEpoch,
    ChapterScores,
    EpochResult,
    fit_start_offset,
    mix_experts,
    score_chapters,
    score_decoded,
    trained_experts,
)
from miner.lab.training.tagger.throughput import Pace
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.speech.tags import TaggedBook
from miner.tagger.encoding import plain_tokenizer
from miner.tagger.load import CheckpointTagger
from miner.tagger.model_files import read_checkpoint, write_checkpoint
from miner.tagger.quantization import dequantize, quantize
from miner.version import __version__

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

STATE = "state.pt"  # from which an interrupted run is resumed; a finished run has none
METRICS = "metrics.jsonl"
RELIABILITY = "reliability.png"
_PARTIAL = f"{STATE}.partial"
RUN_MARKERS = (CHECKPOINT_CONFIG, STATE, _PARTIAL)  # one of which each run folder has
# The fields of the config that the record holds under other names, or not at all.
_RECORDED_OTHERWISE = frozenset(
    "gold books dev_language dev_book train_split dev_split test_split without chapters weak "
    "weak_tagger augment vectors "
    "initialize_from".split()
)
MetricsRow = dict[str, str | int | float | None]


@dataclass(frozen=True, slots=True)
class RunState:
    """What an interrupted run is resumed from, written after each epoch.

    Accelerate's `save_state` writes a folder of several files. This is one file, so that it is
    replaced as a whole, and the random states are not needed: each epoch sets its own seed.

    Attributes:
        stage: the name of the stage.
        epoch: the epochs of the stage that are done.
        model: the weights of the model.
        optimizer: the state of the optimizer.
        schedule: the state of the schedule of the learning rates.
        best: the best epoch so far.
        rows: the metrics so far.
        record: the record of the run.
    """

    stage: str
    epoch: int
    model: dict[str, Tensor]
    optimizer: dict[str, Any]
    schedule: dict[str, Any]
    best: BestEpoch
    rows: list[MetricsRow]
    record: Record


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The scores of a finished run by split and expert, its calibration on dev, and its record."""

    scores: Mapping[str, Scores]
    calibration: Calibration
    calibration_errors: Mapping[str, float]
    record: Record


def build_run_record(
    config: TrainingConfig, data: Record, dtype: torch.dtype, n_processes: int, command: str
) -> Record:
    """Returns all that decides the result of a run, as the checkpoint's config keeps it."""
    choices = {k: v for k, v in asdict(config).items() if k not in _RECORDED_OTHERWISE}
    return {
        "command": command,
        "initialized from": " ".join(map(str, config.initialize_from)),
        **choices,
        "augment": config.augment_share,
        "dtype": str(dtype).removeprefix("torch."),
        "processes": n_processes,
        **data,
        "miner": __version__,
        "versions": {name: version(name) for name in ("torch", "transformers", "accelerate")},
    }


def begin_run(out: Path) -> None:
    """Makes the run folder, and deletes the files of an older run in it."""
    make_folders(out)
    names = (STATE, METRICS, RUN_RECORD, *CHECKPOINT, CHECKPOINT_ENCODER, CARD, RELIABILITY)
    for name in names:
        if other := find_other(out, name):
            raise InputError(f"{printable(other)}: found no plain file, expected one")
    for name in names:
        (out / name).unlink(missing_ok=True)


def resume_run(out: Path, record: Record) -> RunState:
    """Returns the state of the interrupted run in a folder."""
    path = out / STATE
    if not path.is_file():
        raise InputError(f"{out}: found no {STATE}, expected an interrupted run to resume")
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # PyTorch raises errors of many kinds at a damaged file
        raise InputError(
            f"{path}: cannot be read ({reason_of(error)}); `force=True` starts again"
        ) from error
    if "record" not in saved:
        raise InputError(f"{path}: found a state of an older version; `force=True` starts again")
    refuse_another(out, saved["record"], record | {"command": saved["record"]["command"]})
    return RunState(**(saved | {"best": BestEpoch(**saved["best"])}))


def write_state(out: Path, state: RunState) -> None:
    """Writes what a run is resumed from, and the metrics so far."""
    saved = {name: getattr(state, name) for name in RunState.__dataclass_fields__}
    partial = out / _PARTIAL
    torch.save(saved | {"best": asdict(state.best)}, partial)
    partial.replace(out / STATE)
    (out / METRICS).write_bytes(b"".join(map(json_line, state.rows)))


def metrics_row(
    stage: str, epoch: int, loss: float, pace: Pace, elapsed: float, result: EpochResult
) -> MetricsRow:
    """Returns the metrics of an epoch."""
    row: MetricsRow = {"stage": stage, "epoch": epoch + 1, "loss": loss, "seconds": pace.seconds}
    row["tokens_per_second"] = pace.tokens_per_second
    row["share_of_bf16_peak"] = pace.share_of_peak
    row["seconds_of_run"] = elapsed
    row |= {f"dev loss of {name}": value for name, value in result.losses.items()}
    for unit in ("B-START", "turn-pair", "span-pair"):
        for part in ("precision", "recall", "f1"):
            name = f"{unit}.{part}"
            row[f"dev {name}"] = result.scores.total.end_to_end[name].value
    return row


def finish_run(
    out: Path,
    config: TrainingConfig,
    tokenizer: PreTrainedTokenizerFast,
    device: torch.device,
    dtype: torch.dtype,
    splits: Mapping[str, AnnotatedExamples],
    record: Record,
    best: BestEpoch,
) -> FinishedRun:
    """Calibrates the best epoch on dev, scores it, and writes the checkpoint."""
    tokenizer.save_pretrained(out)
    model, _ = read_checkpoint(out)
    quantized = None
    if config.quantize:
        quantized = quantize({name: item.numpy() for name, item in model.state_dict().items()})
        stored = {name: torch.from_numpy(item) for name, item in dequantize(quantized).items()}
        model.load_state_dict(stored)  # scores the weights that are stored
    nn.Module.to(model, device)
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    encoder = ChapterEncoder(model, plain, dtype, config.frozen, config.vectors)
    dev, *_ = splits
    scores: dict[str, Scores] = {}
    offsets: dict[str, float] = {}  # of the mixture and of each expert alone, fitted on dev
    mixed: dict[str, ChapterScores] = {}
    for split, gold in splits.items():
        chapters = encoder.encode(gold.examples)
        alone = {
            expert: score_chapters(model, chapters, [expert], dtype)
            for expert in trained_experts(model)
        }
        mixed[split] = mix_experts(model, alone)
        named = {"": mixed[split]}
        if len(alone) > 1:
            named |= {f", {expert} alone": rows for expert, rows in alone.items()}
        for name, rows in named.items():
            if split == dev:
                offsets[name] = fit_start_offset(gold, rows)
            scores[split + name] = score_decoded(gold, rows, split, config.resamples, offsets[name])
    tags = {split: [example.tags for example in gold.examples] for split, gold in splits.items()}
    calibration = fit_temperature(mixed[dev], tags[dev], offsets[""])
    errors = {
        split: calibration_error(rows, tags[split], calibration.temperature, offsets[""])[0]
        for split, rows in mixed.items()
    }
    model.config.start_offset = offsets[""]
    model.config.confidence_temperature = calibration.temperature
    model.config.training = record | {"best epoch": best.epoch + 1}
    write_checkpoint(out, model, quantized)
    return FinishedRun(scores, calibration, errors, model.config.training)


def score_as_tagged(
    out: Path, run: FinishedRun, splits: Mapping[str, AnnotatedExamples], resamples: int
) -> FinishedRun:
    """Adds the scores of the checkpoint as `miner compare` computes them, before the others.

    They are on the spans of the gold as the others are, but of the tags as they are mined: with
    the speakers, by the runtime of this machine, of the windows that are read. They need the text,
    which prepared examples lack.
    """
    tagger = CheckpointTagger(out)
    scores: dict[str, Scores] = {}
    for split, gold in splits.items():
        if all(spans.book.blocks for spans in gold.book_spans):
            tagged = [
                TaggedBook(spans.book.id, tuple(tagger.tag(spans)), out.name)
                for spans in gold.book_spans
            ]
            scores[split + AS_TAGGED] = score(gold.gold, tagged, split=split, resamples=resamples)
    return replace(run, scores={**scores, **run.scores})


def write_run_record(out: Path, run: FinishedRun) -> None:
    """Writes the card and the record of a finished run, and deletes the state of the training."""
    card = format_model_card(run.record, run.scores, run.calibration, run.calibration_errors)
    (out / CARD).write_text(card, encoding="utf-8")
    record = {
        "training": run.record,
        "calibration": asdict(run.calibration),
        "calibration errors": dict(run.calibration_errors),
        "scores": {name: item.to_json() for name, item in run.scores.items()},
    }
    (out / RUN_RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (out / STATE).unlink(missing_ok=True)
