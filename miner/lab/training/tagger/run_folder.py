"""The record of a run, the metrics of its epochs, its card, and the files of a finished one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from miner.files import CHECKPOINT_CONFIG, RUN_RECORD, json_lines
from miner.lab.learning.loop import Epoch, Row
from miner.lab.learning.prepared import Record
from miner.lab.learning.run_folder import RunFolder, write_card
from miner.lab.measure.scores import Scores, score
from miner.lab.training.tagger.encoded_chapters import ChapterEncoder
from miner.lab.training.tagger.model_selection import (
    Calibration,
    ChapterScores,
    EpochResult,
    calibration_error,
    fit_start_offset,
    fit_temperature,
    mix_experts,
    score_chapters,
    score_decoded,
    trained_experts,
)
from miner.lab.training.tagger.throughput import Throughput
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import AnnotatedExamples
from miner.score import format_score
from miner.speech.tags import TaggedBook
from miner.tagger.encoding import plain_tokenizer
from miner.tagger.head import dequantize, quantize
from miner.tagger.load import CheckpointTagger
from miner.tagger.torch_runtime import read_checkpoint, write_checkpoint
from miner.version import __version__

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_ON_THE_HUB = re.compile(r"[\w.-]+/[\w.-]+")
AS_TAGGED = ", as tagged"  # ends the name of scores as `miner compare` computes them
_UNITS = (("B-START", "B-START"), ("turn pairs", "turn-pair"), ("span pairs", "span-pair"))


def write_model_card(
    folder: Path,
    training: Mapping[str, Any],
    scores: Mapping[str, Scores],
    calibration: Calibration,
    errors: Mapping[str, float],
    title: str = "Conversation tagger",
) -> None:
    """Writes the card of a tagger: its scores, its calibration, its training and its limits."""
    head = ["library_name: transformers", "pipeline_tag: token-classification"]
    encoder = str(training.get("encoder", ""))
    if _ON_THE_HUB.fullmatch(encoder) and not Path(encoder).is_dir():
        head += [f"base_model: {encoder}"]
    languages = str(training.get("language", "en")).split(",")
    head += [f"language: {languages[0]}"] if len(languages) == 1 else ["language:"]
    head += [f"  - {language}" for language in languages if len(languages) > 1]
    head += ["tags:", "  - conversation-mining", "  - bilstm"]
    lines = [
        "Tags each utterance of a novel B-START, I-START, B-OTHER or I-OTHER. The tags say where",
        "conversations and turns begin. Use it with `miner mine BOOK --tagger FOLDER`.",
        "",
        "| | precision [95%] | recall [95%] | F1 [95%] |",
        "|---|---|---|---|",
    ]
    for split, of_split in scores.items():
        measures = of_split.total.end_to_end
        for label, unit in _UNITS:
            cells = (measures[f"{unit}.{part}"] for part in ("precision", "recall", "f1"))
            row = " | ".join(format_score(cell) for cell in cells)
            lines.append(f"| {split}: {label} | {row} |")
    lines += ["", "Scores on the annotated spans, with intervals from resampled chapters."]
    if any(name.endswith(AS_TAGGED) for name in scores):
        lines += [
            '"As tagged" is what `miner compare --tagger FOLDER` prints: tags as they are mined,',
            "which agree with the speakers. The other rows are of the model alone, computed by",
            "PyTorch from the whole text.",
        ]
    else:
        lines += [
            "They are of the model alone, computed by PyTorch from the whole text.",
            "`miner compare --tagger FOLDER` has those of its tags as they are mined, which agree",
            "with the speakers.",
        ]
    lines += ["Signatures:", ""]
    lines += [f"- `{one}`" for one in dict.fromkeys(item.signature for item in scores.values())]
    lines += [
        "",
        f"Confidence is calibrated on {training.get('dev')}: temperature "
        f"{calibration.temperature:.2f}. Expected calibration error "
        f"{', '.join(f'{error:.3f} on {split}' for split, error in errors.items())} "
        f"({calibration.error_before:.3f} on {training.get('dev')} before).",
        "",
        "## Training",
        "",
        *(f"- {key}: `{value}`" for key, value in training.items() if value != ""),
        "",
        "## Limits",
        "",
        f"The labels in `annotations` are of novels in {', '.join(languages)}. A language",
        "model made them, and no human checked them (see their datasheet). They contain no drama.",
        *(["Dialogue marked by dashes is not among them."] if languages == ["en"] else []),
    ]
    write_card(folder, title, ["\n".join(lines)], head)


METRICS = "metrics.jsonl"
RELIABILITY = "reliability.png"
RUN_MARKERS = (CHECKPOINT_CONFIG,)  # which each run folder has
BEST = "best"  # the folder of the best epoch in the state of a run
# The fields of the config that the record holds under other names, or not at all.
_RECORDED_OTHERWISE = frozenset(
    "gold books dev_language dev_book train_split dev_split test_split without chapters weak "
    "weak_tagger teacher teacher_share augment vectors initialize_from".split()
)


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
        "share of teachers": config.teacher_share if config.teacher else "",
        "dtype": str(dtype).removeprefix("torch."),
        "processes": n_processes,
        **data,
        "miner": __version__,
        "versions": {name: version(name) for name in ("torch", "transformers", "accelerate")},
    }


def metrics_row(
    stage: str, epoch: Epoch, throughput: Throughput, elapsed: float, result: EpochResult
) -> Row:
    """Returns the metrics of an epoch."""
    row: Row = {"stage": stage, "epoch": epoch.number + 1, "loss": epoch.loss}
    row["seconds"] = epoch.seconds
    row["tokens_per_second"] = throughput.tokens_per_second
    row["share_of_bf16_peak"] = throughput.share_of_peak
    row["seconds_of_run"] = elapsed
    row |= {f"dev loss of {name}": value for name, value in result.losses.items()}
    for unit in ("B-START", "turn-pair", "span-pair"):
        for part in ("precision", "recall", "f1"):
            name = f"{unit}.{part}"
            row[f"dev {name}"] = result.scores.total.end_to_end[name].value
    return row


def finish_run(
    folder: RunFolder,
    config: TrainingConfig,
    tokenizer: PreTrainedTokenizerFast,
    device: torch.device,
    dtype: torch.dtype,
    splits: Mapping[str, AnnotatedExamples],
    best: int,
) -> FinishedRun:
    """Calibrates the best epoch on dev, scores it, and writes the checkpoint."""
    shutil.copytree(folder.state / BEST, folder.made, dirs_exist_ok=True)
    tokenizer.save_pretrained(folder.made)
    model, _ = read_checkpoint(folder.made)
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
    model.config.training = folder.record | {"best epoch": best + 1}
    write_checkpoint(folder.made, model, quantized)
    return FinishedRun(scores, calibration, errors, model.config.training)


def score_as_tagged(
    checkpoint: Path,
    name: str,
    run: FinishedRun,
    splits: Mapping[str, AnnotatedExamples],
    resamples: int,
) -> FinishedRun:
    """Adds the scores of the checkpoint as `miner compare` computes them, before the others.

    They are on the spans of the gold as the others are, but of the tags as they are mined: with
    the speakers, by the runtime of this machine, of the windows that are read. They need the text,
    which prepared examples lack.
    """
    tagger = CheckpointTagger(checkpoint)
    scores: dict[str, Scores] = {}
    for split, gold in splits.items():
        blocks = (block for spans in gold.book_spans for block in spans.book.blocks)
        if any(block.text for block in blocks):
            tagged = [
                TaggedBook(spans.book.id, tuple(tagger.tag(spans)), name)
                for spans in gold.book_spans
            ]
            scores[split + AS_TAGGED] = score(gold.gold, tagged, split=split, resamples=resamples)
    return replace(run, scores={**scores, **run.scores})


def write_run_record(
    folder: Path, run: FinishedRun, rows: Sequence[Row], title: str = "Conversation tagger"
) -> None:
    """Writes the card, which has a title, the record and the metrics of a finished run."""
    write_model_card(folder, run.record, run.scores, run.calibration, run.calibration_errors, title)
    record = {
        "training": run.record,
        "calibration": asdict(run.calibration),
        "calibration errors": dict(run.calibration_errors),
        "scores": {name: item.to_json() for name, item in run.scores.items()},
    }
    (folder / RUN_RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (folder / METRICS).write_bytes(json_lines(rows))
