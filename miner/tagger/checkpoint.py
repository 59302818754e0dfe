"""The folder of a checkpoint -> its tagger, computed by ONNX Runtime or by PyTorch.

ONNX Runtime computes the encoder, and NumPy the experts, without PyTorch.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from safetensors import safe_open
from tokenizers import Tokenizer

from miner.errors import InputError
from miner.extras import import_extra
from miner.files import CHECKPOINT_ENCODER, CHECKPOINT_WEIGHTS, reason_of, sha256_of
from miner.tagger.config import TaggingConfig, encoder_size, read_config, refuse_missing
from miner.tagger.decoding import TagScores
from miner.tagger.encoding import Window, find_special_tokens, make_plain
from miner.tagger.head import Array, Head, dequantize, is_part_of
from miner.tagger.tagger import NeuralTagger, Runtime, explained, finite
from miner.threads import threads_given
from miner.tokenizer_trial import TOKENIZER, refuse_failing_tokenizer

_FLOAT32, _BFLOAT16 = "float32", "bfloat16"
_UNUSUAL = "\N{SNOWMAN}"  # no vocabulary has it, and a tokenizer may fail at what it does not know


def load_checkpoint(
    path: Path, device: str | None = None, dtype: str = _FLOAT32, is_known: bool = False
) -> NeuralTagger:
    """Returns the tagger of a checkpoint.

    ONNX Runtime computes it on the CPU. PyTorch computes it on a GPU, in bfloat16, or if the
    checkpoint has no ONNX file.
    """
    refuse_other_dtype(dtype)
    refuse_missing(path)
    config, record = read_config(path)
    if not is_known:
        refuse_failing_tokenizer(path / TOKENIZER)
    tokenizer = read_tokenizer(path / TOKENIZER, encoder_size(record, "vocab_size"))
    device = device or ("cuda" if has_gpu() else "cpu")
    if (path / CHECKPOINT_ENCODER).is_file() and device == "cpu" and dtype == _FLOAT32:
        return NeuralTagger(OnnxRuntime(path, config), tokenizer, config)
    return NeuralTagger(_load_torch(path, device, dtype), tokenizer, config)


def _load_torch(path: Path, device: str, dtype: str) -> Runtime:
    torch = import_extra("torch", "train")
    import_extra("transformers", "train")
    from miner.tagger.torch_runtime import TorchRuntime, read_checkpoint

    model, _ = read_checkpoint(path)
    torch.nn.Module.to(model, device)
    model.encoder.to(getattr(torch, dtype))
    return TorchRuntime(path, model)


def refuse_other_dtype(dtype: str) -> None:
    """Raises an error if no encoder can be computed in numbers of this type."""
    if dtype not in (_FLOAT32, _BFLOAT16):
        raise InputError(f"found dtype {dtype!r}, expected {_FLOAT32} or {_BFLOAT16}")


def has_gpu() -> bool:
    """Whether PyTorch is installed and finds a GPU.

    Importing PyTorch takes seconds, so that the driver is looked for first.
    """
    has_driver = os.path.exists("/proc/driver/nvidia/version") or shutil.which("nvidia-smi")
    if not has_driver or find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()


def read_tokenizer(path: Path, n_tokens: int | None = None) -> Tokenizer:
    """Returns the tokenizer of a file; it neither cuts nor pads texts."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
        last = max(tokenizer.get_vocab().values(), default=0)
        if n_tokens is None or last < n_tokens:
            make_plain(tokenizer)
            last = max(last, *find_special_tokens(tokenizer))
            tokenizer.encode(_UNUSUAL)
    except Exception as error:  # the library raises no narrower error
        raise InputError(f"{path}: cannot be loaded: {reason_of(error)}") from error
    if n_tokens is not None and last >= n_tokens:
        raise InputError(
            f"{path}: found a token of number {last}, "
            f"expected fewer than {n_tokens}, as the encoder knows"
        )
    return tokenizer


WEIGHTS_KEY = "sha256 of the weights"  # in the metadata of the encoder's file


class OnnxRuntime:
    """Implements `tagger.Runtime` on the CPU."""

    # Larger batches leave the cache of the processor, and need more time and memory.
    tokens_at_once = 512
    libraries: tuple[str, ...] = ("onnxruntime",)

    def __init__(self, folder: Path, config: TaggingConfig) -> None:
        """Loads a checkpoint."""
        path, weights_path = folder / CHECKPOINT_ENCODER, folder / CHECKPOINT_WEIGHTS
        weights = _read_head(weights_path)
        self._folder = folder
        self._encoder = _load_encoder(path)
        exported_from = self._encoder.get_modelmeta().custom_metadata_map.get(WEIGHTS_KEY)
        if exported_from != sha256_of(weights_path.read_bytes()):
            raise InputError(f"{path}: found an encoder of other weights than {weights_path.name}")
        self.size = _size_of(self._encoder, path)
        try:
            self._head = Head(weights, config, self.size)
        except InputError as error:
            raise InputError(f"{weights_path}: {error}") from error

    def encode(self, windows: Sequence[Window], length: int) -> NDArray[np.float32]:
        """Returns the vectors of windows: (windows, length, size)."""
        ids = np.zeros((len(windows), length), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = window.ids
            mask[row, : len(window.ids)] = 1
        with explained(self._folder):
            (vectors,) = self._encoder.run(None, {"ids": ids, "mask": mask})
        return np.asarray(vectors)

    def score_structure(self, features: NDArray[np.float32]) -> TagScores:
        """Returns the scores by the structure expert: (utterances, 4)."""
        return finite(self._head.score_structure(features), self._folder)

    def score_text(
        self,
        vectors: NDArray[np.float32],
        features: NDArray[np.float32],
        structure: TagScores | None,
    ) -> TagScores:
        """Returns the mixed scores: (utterances, 4)."""
        return finite(self._head.score_text(vectors, features, structure), self._folder)


def _read_head(path: Path) -> dict[str, Array]:
    """Returns the weights of a checkpoint without those of its encoder."""
    try:
        with safe_open(path, "np") as file:
            names = [name for name in file.keys() if not is_part_of("encoder", name)]
            return dequantize({name: file.get_tensor(name) for name in names})
    except Exception as error:  # the library raises errors of many kinds at a damaged file
        raise InputError(f"{path}: cannot be loaded: {reason_of(error)}") from error


def _load_encoder(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised
    # Threads that wait for work by spinning take the cores from the other work of a run.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.intra_op_num_threads = threads_given()
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library raises errors of many kinds at a damaged file
        raise InputError(f"{path}: cannot be loaded: {reason_of(error)}") from error


def _size_of(encoder: onnxruntime.InferenceSession, path: Path) -> int:
    """Returns the size of an encoder's vectors."""
    inputs = [item.name for item in encoder.get_inputs()]
    shapes = [item.shape for item in encoder.get_outputs()]
    match inputs, shapes:
        case ["ids", "mask"], [[_, _, int(size)]]:
            return size
    raise InputError(
        f"{path}: found a model with inputs {', '.join(inputs)} and outputs of shape {shapes}, "
        "expected an encoder with ids, mask and one output of three dimensions"
    )
