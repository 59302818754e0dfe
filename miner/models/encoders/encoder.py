"""An encoder with its tokenizer, by name or by folder, and the folder that it is written to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from miner.errors import InputError
from miner.files import CARD, CHECKPOINT_CONFIG, reason_of, whole_folder


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
    """Returns the encoder of a name on the Hugging Face Hub or of a folder.

    Raises:
        InputError: if it cannot be loaded.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, use_fast=True)
        model = AutoModel.from_pretrained(name, dtype=torch.float32)
    except Exception as error:  # transformers raises errors of many kinds
        raise InputError(f"{name}: found no encoder ({reason_of(error)})") from error
    return Encoder(model.eval(), tokenizer, name)


def write_encoder(encoder: Encoder, folder: Path, lines: list[str], force: bool = False) -> None:
    """Writes an encoder to a folder that transformers loads, with a card.

    Args:
        encoder: the encoder.
        folder: the folder.
        lines: what the card says of it, beside its source.
        force: whether an existing folder is replaced.

    Raises:
        InputError: if the folder exists and `force` is False.
        OSError: if it cannot be written.
    """
    head = ["---", "library_name: transformers"]
    head += [f"license: {encoder.license}"] if encoder.license else []
    with whole_folder(folder, force, (CHECKPOINT_CONFIG,)) as partial:
        encoder.model.save_pretrained(partial)
        encoder.tokenizer.save_pretrained(partial)
        card = [*head, "---", "", "# Encoder", "", f"Made from {encoder.source}.", *lines, ""]
        (partial / CARD).write_text("\n".join(card), encoding="utf-8")
