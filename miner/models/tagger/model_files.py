"""Reads and writes the model of a checkpoint in PyTorch, without running code from its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from transformers import PreTrainedTokenizerFast

from miner.files import CHECKPOINT, CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, reason_of
from miner.models.tagger.config import read_config
from miner.models.tagger.model import ConversationTagger, read_weights
from miner.models.tagger.model_config import TaggerConfig
from miner.models.tagger.quantization import Array

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def read_checkpoint(path: Path) -> tuple[ConversationTagger, PreTrainedTokenizerBase]:
    """Returns the model of a checkpoint, in float32 and on the CPU, and its tokenizer.

    Raises:
        ValueError: if the folder holds no checkpoint, a checkpoint of another format, or damaged
            files. The message names the file.
    """
    weights_file = path / CHECKPOINT_WEIGHTS
    for name in CHECKPOINT:
        if not (path / name).is_file():
            raise ValueError(f"{path}: found no {name}, expected a checkpoint of `train.py`")
    _, record = read_config(path)
    _refuse_unknown_layers(record, path)
    try:
        model = ConversationTagger(TaggerConfig.from_dict(record))
        different = model.load_state_dict(read_weights(weights_file), strict=False)
        tokenizer = PreTrainedTokenizerFast.from_pretrained(path)
    except Exception as error:  # the libraries raise errors of many kinds at a damaged file
        raise ValueError(f"{path}: cannot be loaded: {reason_of(error)}") from error
    if wrong := sorted([*different.missing_keys, *different.unexpected_keys]):
        raise ValueError(f"{weights_file}: found other weights than expected, first {wrong[0]}")
    return model.eval(), tokenizer


def _refuse_unknown_layers(record: Mapping[str, Any], path: Path) -> None:
    """Raises a ValueError if a config has more layers than there are weights: it may be endless."""
    weights_file = path / CHECKPOINT_WEIGHTS
    try:
        with safe_open(weights_file, "np") as file:
            n_weights = len(file.keys())
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path}: cannot be loaded: {reason_of(error)}") from error
    encoder = record.get("encoder")
    in_encoder = encoder.get("num_hidden_layers") if isinstance(encoder, dict) else None
    for n_layers in (record.get("layers"), in_encoder):
        if isinstance(n_layers, int) and n_layers > n_weights:
            raise ValueError(
                f"{path / CHECKPOINT_CONFIG}: found {n_layers} layers, "
                f"expected at most the {n_weights} weights of {CHECKPOINT_WEIGHTS}"
            )


def write_checkpoint(
    path: Path, model: ConversationTagger, quantized: Mapping[str, Array] | None = None
) -> None:
    """Writes the weights and the config of a model into a folder, beside its tokenizer.

    Args:
        path: the folder.
        model: the model.
        quantized: the quantized weights of the model, if those are to be stored.
    """
    if quantized is None:
        model.save_pretrained(path)
        return
    model.config.save_pretrained(path)
    save_file(dict(quantized), path / CHECKPOINT_WEIGHTS, {"format": "pt"})
