"""The folder of a reader's checkpoint -> its tagger, computed by PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from miner.extras import import_extra
from miner.reader.config import read_reading_config
from miner.tagger.checkpoint import has_gpu, read_tokenizer, refuse_other_dtype
from miner.tagger.config import encoder_size, refuse_missing
from miner.tokenizer_trial import TOKENIZER, refuse_failing_tokenizer

if TYPE_CHECKING:
    from miner.reader.reader import ReaderTagger


def load_reader(path: Path, dtype: str = "float32", device: str | None = None) -> ReaderTagger:
    """Returns the tagger of a checkpoint, on a GPU if there is one.

    Args:
        path: the folder.
        dtype: "float32" or "bfloat16", in which the encoder computes.
        device: where PyTorch computes; None for a GPU, or the CPU where there is none.
    """
    refuse_other_dtype(dtype)
    refuse_missing(path)
    _, record = read_reading_config(path)
    refuse_failing_tokenizer(path / TOKENIZER)
    tokenizer = read_tokenizer(path / TOKENIZER, encoder_size(record, "vocab_size"))
    torch = import_extra("torch", "train")
    import_extra("transformers", "train")
    from miner.reader.model import ConversationReader
    from miner.reader.reader import ReaderTagger
    from miner.tagger.torch_runtime import read_model

    model, _ = read_model(path, record, ConversationReader)
    torch.nn.Module.to(model, device or ("cuda" if has_gpu() else "cpu"))
    model.encoder.to(getattr(torch, dtype))
    return ReaderTagger(model, tokenizer, path)
