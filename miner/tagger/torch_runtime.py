"""A model computed by PyTorch, on a GPU or in bfloat16, and its files, of which no code is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from miner.errors import InputError
from miner.files import CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, reason_of
from miner.hub import load_with
from miner.tagger.config import read_config, refuse_missing
from miner.tagger.decoding import TagScores
from miner.tagger.encoding import Window
from miner.tagger.head import AnyArray, dequantize, refuse_other_weights
from miner.tagger.model import ConversationTagger, tensors_of
from miner.tagger.tagger import explained, finite

Model = TypeVar("Model", bound=PreTrainedModel)


def read_checkpoint(path: Path) -> tuple[ConversationTagger, PreTrainedTokenizerFast]:
    """Returns the model of a checkpoint, in float32 and on the CPU, and its tokenizer."""
    refuse_missing(path)
    _, record = read_config(path)
    return read_model(path, record, ConversationTagger)


def read_model(
    path: Path, record: dict[str, Any], kind: type[Model]
) -> tuple[Model, PreTrainedTokenizerFast]:
    """Returns the model in a folder, in float32 and on the CPU, and its tokenizer.

    Args:
        path: the folder, which has the files of a checkpoint.
        record: what its config holds, already checked.
        kind: the class of the model, an encoder with a head.
    """
    with _loading(path / CHECKPOINT_WEIGHTS):
        weights = dequantize(load_file(path / CHECKPOINT_WEIGHTS))
    _check_encoder(path / CHECKPOINT_CONFIG, record, len(weights))
    with _loading(path / CHECKPOINT_CONFIG):
        assert kind.config_class is not None
        config = kind.config_class.from_dict(record)
        with torch.device("meta"):  # its weights need no memory, however large they would be
            expected = kind(config).state_dict()
    try:
        shapes = {name: tuple(weight.shape) for name, weight in expected.items()}
        refuse_other_weights(weights, shapes)
    except InputError as error:
        raise InputError(f"{path / CHECKPOINT_WEIGHTS}: {error}") from error
    with _loading(path):
        model = kind(config)
        model.load_state_dict(tensors_of(weights))
        tokenizer = load_with(PreTrainedTokenizerFast, path, True)
    return model.eval(), tokenizer


@contextmanager
def _loading(path: Path) -> Iterator[None]:
    """Makes any error of the block name a file or a folder."""
    try:
        yield
    except Exception as error:  # the libraries raise errors of many kinds at a damaged file
        raise InputError(f"{path}: cannot be loaded: {reason_of(error)}") from error


def _check_encoder(path: Path, record: Mapping[str, Any], n_weights: int) -> None:
    """Raises an error if there is no encoder, or one of more layers than weights.

    To make a million layers would take hours.
    """
    encoder = record.get("encoder")
    if not isinstance(encoder, dict) or "model_type" not in encoder:
        raise InputError(f"{path}: found encoder {encoder!r:.40}, expected its config")
    for name, value in encoder.items():
        if "layers" in name and isinstance(value, int) and value > n_weights:
            raise InputError(
                f"{path}: found {name} {value!r:.40}, expected at most {n_weights}, "
                f"the weights in {CHECKPOINT_WEIGHTS}"
            )


def write_checkpoint(
    path: Path, model: ConversationTagger, quantized: Mapping[str, AnyArray] | None = None
) -> None:
    """Writes the weights and the config of a model into a folder, beside its tokenizer."""
    if quantized is None:
        model.save_pretrained(path)
        return
    model.config.save_pretrained(path)
    save_file(dict(quantized), path / CHECKPOINT_WEIGHTS, {"format": "pt"})


class TorchRuntime:
    """Implements `tagger.Runtime`."""

    libraries: tuple[str, ...] = ("torch", "transformers")

    def __init__(self, folder: Path, model: ConversationTagger) -> None:
        """Takes a model where it is, and in the type of numbers that it has."""
        self._folder = folder
        self.model = model.eval()
        self.size: int = model.encoder.config.hidden_size
        # On a CPU this is the fastest of 1,024 to 8,192; on a GPU it is not measured.
        self.tokens_at_once = 65_536 if model.device.type == "cuda" else 4096

    def encode(self, windows: Sequence[Window], length: int) -> NDArray[np.float32]:
        """Returns the vectors of windows: (windows, length, size)."""
        with explained(self._folder), torch.inference_mode():
            return self.model.read_windows(windows, length).float().cpu().numpy()

    def score_structure(self, features: NDArray[np.float32]) -> TagScores:
        """Returns the scores by the structure expert: (utterances, 4)."""
        with explained(self._folder), torch.inference_mode():
            scores = self.model.score_structure(self._tensor(features)).cpu().numpy()
        return finite(scores, self._folder)

    def score_text(
        self,
        vectors: NDArray[np.float32],
        features: NDArray[np.float32],
        structure: TagScores | None,
    ) -> TagScores:
        """Returns the mixed scores: (utterances, 4)."""
        with explained(self._folder), torch.inference_mode():
            scored = None if structure is None else self._tensor(structure)
            scores = self.model.score_text(self._tensor(vectors), self._tensor(features), scored)
            found = scores.float().cpu().numpy()
        return finite(found, self._folder)

    def _tensor(self, array: NDArray[np.float32]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.model.device)
