"""An encoder with a large vocabulary -> the same one with the pieces that some languages need.

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
from typing import Any

from tokenizers import Tokenizer
from torch import nn
from transformers import PreTrainedTokenizerFast

from miner.errors import InputError
from miner.lab.training.encoders.encoder import Encoder

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
