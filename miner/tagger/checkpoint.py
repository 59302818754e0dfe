"""The folder of a checkpoint -> its tagger, computed by ONNX Runtime or by PyTorch."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

from miner.errors import InputError
from miner.extras import import_extra
from miner.files import CHECKPOINT, CHECKPOINT_ENCODER, reason_of
from miner.tagger.config import encoder_size, read_config
from miner.tagger.encoding import find_special_tokens, make_plain
from miner.tagger.tagger import NeuralTagger, Runtime
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
    if dtype not in (_FLOAT32, _BFLOAT16):
        raise InputError(f"found dtype {dtype!r}, expected {_FLOAT32} or {_BFLOAT16}")
    for name in CHECKPOINT:
        if not (path / name).is_file():
            raise InputError(f"{path}: found no {name}, expected a checkpoint of `train.py`")
    config, record = read_config(path)
    if not is_known:
        refuse_failing_tokenizer(path / TOKENIZER)
    tokenizer = read_tokenizer(path / TOKENIZER, encoder_size(record, "vocab_size"))
    device = device or ("cuda" if has_gpu() else "cpu")
    if (path / CHECKPOINT_ENCODER).is_file() and device == "cpu" and dtype == _FLOAT32:
        from miner.tagger.onnx_runtime import OnnxRuntime

        return NeuralTagger(OnnxRuntime(path, config), tokenizer, config)
    return NeuralTagger(_load_torch(path, device, dtype), tokenizer, config)


def _load_torch(path: Path, device: str, dtype: str) -> Runtime:
    torch = import_extra("torch", "train")
    import_extra("transformers", "train")
    from miner.tagger.model_files import read_checkpoint
    from miner.tagger.torch_runtime import TorchRuntime

    model, _ = read_checkpoint(path)
    torch.nn.Module.to(model, device)
    model.encoder.to(getattr(torch, dtype))
    return TorchRuntime(path, model)


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
