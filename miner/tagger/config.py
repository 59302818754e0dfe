"""The config of a checkpoint: how its tagger reads a chapter and decodes scores.

The file `config.json` holds more, such as the shape of the model and the record of its training;
see `model.TaggerConfig`. Tagging with ONNX Runtime needs this part alone.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miner.errors import InputError
from miner.files import CHECKPOINT, CHECKPOINT_CONFIG
from miner.tagger.features import FEATURES

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MODEL_TYPE = "conversation-tagger"
FORMAT = 1  # raised when this version would read an older checkpoint wrongly
CONTEXTS = ("text", "span")
# A probability of the structure expert's answer, from which on the text of an utterance is not
# read. On dev, tags are the same as with all text read (a table is in tests/benchmarks/README.md).
SURE = 0.95
LONGEST_WINDOW = 65_536  # tokens; no encoder that we know of reads more at once
LARGEST_OFFSET = 1000.0
LARGEST_LAYER, MOST_LAYERS = 65_536, 64  # of the head; far above any that was useful


class Expert(StrEnum):
    """A part of the model that scores utterances by itself."""

    TEXT = "text"
    STRUCTURE = "structure"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingConfig:
    """What a tagger needs of the config of its checkpoint."""

    context: str = "text"  # "text" for running text in windows, "span" for each span alone
    window: int = 256  # the most tokens that the encoder reads at once, special tokens included
    margin: int = 32  # tokens at each edge of a window that serve as context only
    ends: int = 24  # tokens kept at each end of an utterance or of narration; 0 keeps all
    # paragraphs with speech that the BiLSTM reads at once; 0 reads a whole chapter
    paragraphs: int = 0
    features: bool = True  # whether the model reads structure features beside the vectors
    projection: int = 256  # the size to which utterance vectors are projected
    hidden: int = 128  # the size of the BiLSTM in each direction
    layers: int = 1  # the number of layers of the BiLSTM
    # the weight of the text expert, 0..1, when the model decides whether a conversation
    # opens. It is fitted on dev; the structure expert has the rest.
    start_share: float = 0.5
    turn_share: float = 0.5  # the same, when the model decides whether a new turn opens
    # windows are not read if they hold no utterance for which the structure expert's answer
    # has a lower probability; 1 reads all windows
    sure: float = SURE
    # added to the scores of B-START before decoding, and fitted on dev. B-START is rare, so
    # the most probable tags contain too few. Confidence ignores the offset.
    start_offset: float = 0.0
    # scores are divided by it, so that confidence is calibrated
    confidence_temperature: float = 1.0


def read_config(folder: Path) -> tuple[TaggingConfig, dict[str, Any]]:
    """Returns the config of a checkpoint, and the record that its file holds."""
    path = folder / CHECKPOINT_CONFIG
    record = read_record(folder)
    refuse_another_format(record, path)
    values = {
        field.name: record[field.name] for field in fields(TaggingConfig) if field.name in record
    }
    try:
        config = tagging_config(values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    refuse_long_window(config.window, record, path)
    return config, record


def refuse_missing(folder: Path) -> None:
    """Raises an error if a folder lacks a file of a checkpoint."""
    for name in CHECKPOINT:
        if not (folder / name).is_file():
            raise InputError(f"{folder}: found no {name}, expected a checkpoint of `train.py`")


def read_record(folder: Path) -> dict[str, Any]:
    """Returns what the config of a checkpoint holds, of whatever kind the checkpoint is."""
    path = folder / CHECKPOINT_CONFIG
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no UTF-8, no JSON, or a number of thousands of digits
        raise InputError(f"{path}: found bad JSON ({error}), expected a config") from error
    except RecursionError as error:
        raise InputError(
            f"{path}: found JSON that is nested too deeply, expected a config"
        ) from error
    return record if isinstance(record, dict) else {}


def refuse_long_window(window: int, record: Mapping[str, Any], path: Path) -> None:
    """Raises an error if the encoder of a checkpoint cannot read a whole window."""
    longest = encoder_size(record, "max_position_embeddings")
    if longest is not None and window > longest:
        raise InputError(
            f"{path}: found window {window}, expected at most {longest}, the encoder's"
        )


def encoder_size(record: Mapping[str, Any], name: str) -> int | None:
    """Returns a size from the config of an encoder; None if encoders of its kind have none."""
    encoder = record.get("encoder")
    size = encoder.get(name) if isinstance(encoder, dict) else None
    return size if type(size) is int else None


def tagging_config(values: Mapping[str, Any]) -> TaggingConfig:
    """Returns the config with these values; others have their defaults."""
    config = TaggingConfig(**values)
    ranges = {
        "margin": (0, LONGEST_WINDOW),
        "window": (3, LONGEST_WINDOW),
        "ends": (0, math.inf),
        "paragraphs": (0, math.inf),
        "projection": (1, LARGEST_LAYER),
        "hidden": (1, LARGEST_LAYER),
        "layers": (1, MOST_LAYERS),
        "start_share": (0.0, 1.0),
        "turn_share": (0.0, 1.0),
        "sure": (0.0, 1.0),
        "start_offset": (-LARGEST_OFFSET, LARGEST_OFFSET),
        "confidence_temperature": (1e-3, 1e3),
    }
    check_values(config, ranges)
    if config.context not in CONTEXTS:
        raise InputError(f"found context {config.context!r:.40}, expected {' or '.join(CONTEXTS)}")
    if config.context == "text" and config.window < (least := 2 * config.margin + 3):
        raise InputError(
            f"found window {config.window} with margin {config.margin}, expected {least} or more"
        )
    return config


def check_values(config: DataclassInstance, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Raises an error if a value of a config is of another type than its default, or too far off.

    Args:
        config: the config; each of its fields has a default.
        ranges: the least and the greatest value of fields, by name.
    """
    for field in fields(config):
        found, kind = getattr(config, field.name), type(field.default)
        is_number = kind is float and isinstance(found, int) and not isinstance(found, bool)
        if type(found) is not kind and not is_number:
            raise InputError(f"found {field.name} {found!r:.40}, expected {kind.__name__}")
    for name, (low, high) in ranges.items():
        found = getattr(config, name)
        if not low <= found <= high:  # NaN is in no range
            raise InputError(f"found {name} {found!r:.40}, expected {low:g} to {high:g}")


def refuse_another_format(record: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Raises an error if this version would read a checkpoint wrongly."""
    if (kind := record.get("model_type")) != MODEL_TYPE:
        raise InputError(f"{path}: found model type {kind!r:.40}, expected {MODEL_TYPE}")
    if record.get("format") != FORMAT or record.get("feature_names") != list(FEATURES):
        raise InputError(
            f"{path}: found a checkpoint of format {record.get('format')!r:.40}, or of other "
            f"features, expected format {FORMAT} with our {len(FEATURES)} features: "
            "train it again with this version"
        )
