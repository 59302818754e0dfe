"""How fast a model learned: tokens a second, and the share of a GPU's peak.

The share is that of the model's own work, as in "PaLM: Scaling Language Modeling with Pathways"
(appendix B): each weight that multiplies a token takes two operations forward and four backward.
Attention between tokens is not counted, and embeddings are looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from miner.lab.lessons.generation.tokens import EncodedPair
from miner.lab.training.tagger.throughput import find_peak

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def count_operations(model: PreTrainedModel, pairs: Sequence[EncodedPair]) -> float:
    """Returns the operations of a training for a token of these pairs, forward and backward.

    The encoder of a model that has one reads contexts, and its decoder responses; a decoder without
    an encoder reads both. The matrix that gives the scores of all words is part of the decoder.
    """
    n_contexts = sum(len(pair.context) for pair in pairs)
    n_responses = sum(len(pair.response) for pair in pairs)
    head: Any = model.get_output_embeddings()
    n_head = head.weight.numel() if head is not None else 0
    inner: Any = model.base_model
    if not model.config.is_encoder_decoder:
        return 6.0 * (_count_layers(inner) + n_head)
    encoder, decoder = _count_layers(inner.encoder), _count_layers(inner.decoder)
    total = n_contexts * encoder + n_responses * (decoder + n_head)
    return 6.0 * total / (n_contexts + n_responses)


def share_of_peak(operations: float, tokens_per_second: float) -> float | None:
    """Returns the share of the GPU's peak in bfloat16, 0..1; None without a known GPU."""
    peak = find_peak(torch.device("cuda")) if torch.cuda.is_available() else None
    return tokens_per_second * operations / peak if peak else None


def _count_layers(module: torch.nn.Module) -> int:
    """The weights of a module without those that are looked up."""
    looked_up = {
        id(weight)
        for part in module.modules()
        if isinstance(part, torch.nn.Embedding)
        for weight in part.parameters()
    }
    return sum(weight.numel() for weight in module.parameters() if id(weight) not in looked_up)
