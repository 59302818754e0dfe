"""The config of a reader's checkpoint: how it cuts a chapter, its shape, and how it decodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from miner.errors import InputError
from miner.files import CHECKPOINT_CONFIG
from miner.people.features import FEATURES as CANDIDATE_FEATURES
from miner.tagger.config import (
    LARGEST_LAYER,
    LARGEST_OFFSET,
    LONGEST_WINDOW,
    MOST_LAYERS,
    check_values,
    read_record,
    refuse_long_window,
)
from miner.tagger.features import FEATURES

MODEL_TYPE = "conversation-reader"
FORMAT = 1  # raised when this version would read an older checkpoint wrongly
UNITS = ("lstm", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingConfig:
    """What decides how a reader reads a chapter."""

    window: int = 512  # the most tokens that the encoder reads at once, special tokens included
    overlap: int = 128  # tokens that a window shares with the next one
    ends: int = 48  # tokens kept at each end of an utterance or of narration; 0 keeps all
    # "lstm" for a BiLSTM over the units of a chapter; "none" if each unit stands for itself
    units: str = "lstm"
    # whether the structure features of utterances and the features of candidates are read
    features: bool = True
    width: int = 256  # the size of the vector of a unit
    hidden: int = 128  # the size of the BiLSTM in each direction
    layers: int = 1  # the number of layers of the BiLSTM
    pointer: int = 128  # the size of the vectors that a pointer compares
    first: int = 192  # the sizes of the two hidden layers of the network that scores candidates
    second: int = 64
    # the share of mentions by name whose words are hidden in training; with 1 always
    masked_names: float = 0.0
    # added to the scores of B-START before decoding, and fitted on dev
    start_offset: float = 0.0
    # scores of tags are divided by it, so that confidence is calibrated
    confidence_temperature: float = 1.0

    def __post_init__(self) -> None:
        size, share = (1, LARGEST_LAYER), (0.0, 1.0)
        ranges = {
            "window": (3, LONGEST_WINDOW),
            "overlap": (0, LONGEST_WINDOW),
            "ends": (0, LONGEST_WINDOW),
            **dict.fromkeys(("width", "hidden", "pointer", "first", "second"), size),
            "layers": (1, MOST_LAYERS),
            "masked_names": share,
            "start_offset": (-LARGEST_OFFSET, LARGEST_OFFSET),
            "confidence_temperature": (1e-3, 1e3),
        }
        check_values(self, ranges)
        if self.units not in UNITS:
            raise InputError(f"found units {self.units!r:.40}, expected {' or '.join(UNITS)}")
        if self.window < (least := self.overlap + 3):
            raise InputError(
                f"found window {self.window} with overlap {self.overlap}, expected {least} or more"
            )


def reading_config(values: Mapping[str, Any]) -> ReadingConfig:
    """Returns the config of a record, which may hold other things, too."""
    names = (field.name for field in fields(ReadingConfig))
    return ReadingConfig(**{name: values[name] for name in names if name in values})


def read_reading_config(folder: Path) -> tuple[ReadingConfig, dict[str, Any]]:
    """Returns the config of a reader's checkpoint, and the record that its file holds."""
    path, record = folder / CHECKPOINT_CONFIG, read_record(folder)
    if (kind := record.get("model_type")) != MODEL_TYPE:
        raise InputError(f"{path}: found model type {kind!r:.40}, expected {MODEL_TYPE}")
    ours = {"feature_names": [*FEATURES], "candidate_feature_names": [*CANDIDATE_FEATURES]}
    if record.get("format") != FORMAT or any(record.get(k) != v for k, v in ours.items()):
        raise InputError(
            f"{path}: found a reader of format {record.get('format')!r:.40}, or of other "
            f"features, expected format {FORMAT} with our features: train it again with this "
            "version"
        )
    try:
        config = reading_config(record)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    refuse_long_window(config.window, record, path)
    return config, record
