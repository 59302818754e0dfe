"""An encoder and its tokenizer, by any name or path, whole or with part of its vocabulary.

A Unigram tokenizer (Kudo 2018, "Subword Regularization") cuts a word into the pieces with the best
sum of scores. Scores stay, so a word whose pieces are all kept is cut as before, and any other
word is cut into smaller pieces. All single characters of a few scripts are kept, so that a word in
them is never unknown.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from miner.errors import InputError
from miner.files import (
    CHECKPOINT_CONFIG,
    parse_json,
    printable,
    read_text,
    reason_of,
    whole_folder,
)
from miner.hub import find_folder, load_config, load_from_hub, load_with
from miner.lab.learning.run_folder import write_card
from miner.tagger.config import MODEL_TYPE
from miner.tagger.torch_runtime import read_checkpoint


@dataclass(frozen=True, slots=True)
class Encoder:
    """A pre-trained encoder."""

    model: PreTrainedModel  # the encoder, in float32
    tokenizer: PreTrainedTokenizerFast  # its tokenizer
    source: str  # where it comes from
    license: str = ""  # its licence, as the Hugging Face Hub names it; "" if not known


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
    head = ["library_name: transformers"]
    head += [f"license: {encoder.license}"] if encoder.license else []
    with whole_folder(folder, force, (CHECKPOINT_CONFIG,)) as partial:
        encoder.model.save_pretrained(partial)
        encoder.tokenizer.save_pretrained(partial)
        write_card(partial, "Encoder", ["\n".join([f"Made from {encoder.source}.", *lines])], head)


_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")  # whose letters are kept, as Unicode names begin
_SPACE = "▁"  # begins a piece that begins a word
_SPECIAL = "bos_token_id eos_token_id pad_token_id cls_token_id sep_token_id".split()
_AT_ONCE = 1000  # paragraphs to tokenize together


def count_pieces(
    tokenizer: PreTrainedTokenizerFast, texts: Iterable[tuple[str, Collection[str]]]
) -> dict[str, Counter[int]]:
    """Returns how often each token is in the texts of each language."""
    found: dict[str, Counter[int]] = {}
    for language, paragraphs in texts:
        lines = list(paragraphs)
        of_language = found.setdefault(language, Counter())
        for first in range(0, len(lines), _AT_ONCE):
            encoded = tokenizer.backend_tokenizer.encode_batch(
                lines[first : first + _AT_ONCE], add_special_tokens=False
            )
            for item in encoded:
                of_language.update(item.ids)
    return found


def choose_pieces(
    tokenizer: PreTrainedTokenizerFast, counts: Mapping[str, Counter[int]], n: int
) -> list[int]:
    """Returns the tokens to keep, in their order.

    These are the special tokens, the single characters of some scripts, and the most frequent
    others. Each language has the same weight, however much text there is of it.
    """
    pieces = [piece for piece, _ in _read_model(tokenizer)["vocab"]]
    kept = {*tokenizer.all_special_ids}
    kept |= {number for number, piece in enumerate(pieces) if _is_character(piece)}
    if len(kept) > n:
        raise InputError(
            f"found {n} tokens to keep, expected at least the {len(kept)} of characters"
        )
    shares: dict[int, float] = {}
    for of_language in counts.values():
        for number, count in of_language.items():
            shares[number] = shares.get(number, 0.0) + count / of_language.total()
    by_share = sorted(shares, key=lambda number: (-shares[number], number))
    others = [number for number in by_share if number not in kept]
    return sorted(kept.union(others[: n - len(kept)]))


def keep_pieces(encoder: Encoder, kept: list[int]) -> Encoder:
    """Returns an encoder with some of its tokens, numbered anew in their order."""
    record = json.loads(encoder.tokenizer.backend_tokenizer.to_str())
    model = _read_model(encoder.tokenizer)
    renumber = {old: new for new, old in enumerate(kept)}.__getitem__
    model["vocab"] = [model["vocab"][number] for number in kept]
    model["unk_id"] = renumber(model["unk_id"])
    record["model"] = model
    record["added_tokens"] = [
        token | {"id": renumber(token["id"])} for token in record["added_tokens"]
    ]
    _renumber_post_processor(record["post_processor"], renumber)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(record)),
        model_max_length=encoder.tokenizer.model_max_length,
        **encoder.tokenizer.special_tokens_map,
    )
    before = encoder.model.get_input_embeddings()
    assert isinstance(before, nn.Embedding)
    rows = before.weight.detach()[kept].clone()
    config: Any = encoder.model.config
    for name in _SPECIAL:
        if (old := getattr(config, name, None)) in kept:
            setattr(config, name, renumber(old))
    config.vocab_size = len(kept)
    embeddings = nn.Embedding(*rows.shape, padding_idx=config.pad_token_id)
    embeddings.load_state_dict({"weight": rows})
    encoder.model.set_input_embeddings(embeddings)
    return Encoder(encoder.model, tokenizer, encoder.source, encoder.license)


def _read_model(tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    if model["type"] != "Unigram":
        raise InputError(f"found a tokenizer of kind {model['type']}, expected Unigram")
    return model


def _is_character(piece: str) -> bool:
    """Whether a piece is one character of the scripts, or a mark of any, or begins a word so."""
    character = piece.removeprefix(_SPACE) or _SPACE
    if len(character) > 1:
        return False
    is_letter = unicodedata.category(character)[0] in "LM"
    return not is_letter or unicodedata.name(character, "").startswith(_SCRIPTS)


def _renumber_post_processor(record: Any, renumber: Callable[[int], int]) -> None:  # noqa: ANN401
    """Changes the numbers of special tokens in what adds them to a text."""
    match record:
        case {"type": "Sequence", "processors": parts}:
            for part in parts:
                _renumber_post_processor(part, renumber)
        case {"type": "TemplateProcessing", "special_tokens": special}:
            for token in special.values():
                token["ids"] = [renumber(number) for number in token["ids"]]
        case {"type": "RobertaProcessing" | "BertProcessing"}:
            for name in ("sep", "cls"):
                text, number = record[name]
                record[name] = [text, renumber(number)]
