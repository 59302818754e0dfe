"""A model computed by PyTorch, on a GPU or in bfloat16."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from miner.tagger.decoding import TagScores
from miner.tagger.encoding import Window
from miner.tagger.model import ConversationTagger
from miner.tagger.runtime_errors import explained, finite


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
