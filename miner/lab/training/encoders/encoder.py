"""An encoder with its tokenizer, by name or by folder, and the folder that it is written to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from miner.errors import InputError
from miner.files import (
    CARD,
    CHECKPOINT_CONFIG,
    parse_json,
    printable,
    read_text,
    reason_of,
    whole_folder,
)
from miner.hub import find_folder, load_config, load_from_hub, load_with
from miner.tagger.config import MODEL_TYPE
from miner.tagger.torch_runtime import read_checkpoint


@dataclass(frozen=True, slots=True)
class Encoder:
    """A pre-trained encoder.

    Attributes:
        model: the encoder, in float32.
        tokenizer: its tokenizer.
        source: where it comes from.
        license: its licence, as the Hugging Face Hub names it; "" if not known.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    source: str
    license: str = ""


def load_encoder(name: str) -> Encoder:
    """Returns the encoder of a name on the Hugging Face Hub or of a folder."""
    try:
        if not (folder := find_folder(name)):
            return load_from_hub(name, _load)
        if (folder / CHECKPOINT_CONFIG).is_file() and _is_tagger(folder):
            tagger, tokenizer = read_checkpoint(folder)
            return Encoder(tagger.encoder, tokenizer, name)
        return _load(str(folder), True)
    except Exception as error:  # transformers raises errors of many kinds
        raise InputError(f"{printable(name)}: found no encoder ({reason_of(error)})") from error


def _is_tagger(folder: Path) -> bool:
    path = folder / CHECKPOINT_CONFIG
    record = parse_json(read_text(path), printable(path), "a config")
    return isinstance(record, dict) and record.get("model_type") == MODEL_TYPE


def _load(name: str, here: bool) -> Encoder:
    load_config(name, here)  # a hostile one is refused before anything is built
    tokenizer = load_with(AutoTokenizer, name, here, use_fast=True)
    model = load_with(AutoModel, name, here, dtype=torch.float32)
    return Encoder(model.eval(), tokenizer, name)


def write_encoder(encoder: Encoder, folder: Path, lines: list[str], force: bool = False) -> None:
    """Writes an encoder to a folder that transformers loads, with a card."""
    head = ["---", "library_name: transformers"]
    head += [f"license: {encoder.license}"] if encoder.license else []
    with whole_folder(folder, force, (CHECKPOINT_CONFIG,)) as partial:
        encoder.model.save_pretrained(partial)
        encoder.tokenizer.save_pretrained(partial)
        card = [*head, "---", "", "# Encoder", "", f"Made from {encoder.source}.", *lines, ""]
        (partial / CARD).write_text("\n".join(card), encoding="utf-8")
