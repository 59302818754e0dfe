"""Reads and writes checkpoints: the files of a trained model, without running code from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from miner.files import CHECKPOINT, CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, reason_of
from miner.models.tagger.config import TaggerConfig, refuse_another_format
from miner.models.tagger.model import ConversationTagger
from miner.models.tagger.quantization import dequantize
from miner.models.tagger.tagger import NeuralTagger

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def load_checkpoint(path: Path, device: str | None = None, dtype: str = "float32") -> NeuralTagger:
    """Returns the tagger of a checkpoint.

    Args:
        path: the folder of the checkpoint.
        device: where the model runs, as PyTorch names it. The default is a GPU if there is one.
        dtype: the numbers that the encoder computes with, "float32" or "bfloat16". bfloat16 is
            faster on some processors and changes some tags.

    Raises:
        ValueError: if `dtype` is another word, or as `read_checkpoint` raises it.
    """
    if dtype not in _DTYPES:
        raise ValueError(f"found dtype {dtype!r}, expected {' or '.join(_DTYPES)}")
    model, tokenizer = read_checkpoint(path)
    torch.nn.Module.to(model, device or ("cuda" if torch.cuda.is_available() else "cpu"))
    model.encoder.to(_DTYPES[dtype])
    return NeuralTagger(model, tokenizer)


def read_checkpoint(path: Path) -> tuple[ConversationTagger, PreTrainedTokenizerBase]:
    """Returns the model of a checkpoint, in float32 and on the CPU, and its tokenizer.

    Raises:
        ValueError: if the folder holds no checkpoint, a checkpoint of another format, or damaged
            files. The message names the file.
    """
    config_file, weights_file = path / CHECKPOINT_CONFIG, path / CHECKPOINT_WEIGHTS
    for name in CHECKPOINT:
        if not (path / name).is_file():
            raise ValueError(f"{path}: found no {name}, expected a checkpoint of `train.py`")
    try:
        record = json.loads(config_file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{config_file}: found bad JSON ({error}), expected a config") from error
    refuse_another_format(record if isinstance(record, dict) else {}, config_file)
    try:
        model = ConversationTagger(TaggerConfig.from_dict(record))
        different = model.load_state_dict(dequantize(load_file(weights_file)), strict=False)
        tokenizer = PreTrainedTokenizerFast.from_pretrained(path)
    except Exception as error:  # the libraries raise errors of many kinds at a damaged file
        raise ValueError(f"{path}: cannot be loaded: {reason_of(error)}") from error
    if wrong := sorted([*different.missing_keys, *different.unexpected_keys]):
        raise ValueError(f"{weights_file}: found other weights than expected, first {wrong[0]}")
    return model.eval(), tokenizer


def write_checkpoint(
    path: Path, model: ConversationTagger, quantized: Mapping[str, Tensor] | None = None
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
