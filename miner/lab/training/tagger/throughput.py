"""How fast an epoch of training is: tokens a second, and the share of a GPU's peak.

The share is that of the model's own work, as in "PaLM: Scaling Language Modeling with Pathways"
(appendix B). Each weight of the encoder's layers multiplies each token: two operations forward,
and four more backward if the weight is trained. Attention between tokens, embeddings, which are
looked up, and the head, which reads utterances, are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from miner.lab.training.tagger.training import HasEncoder, find_encoder_layers

# Operations a second in bfloat16 without sparsity, from the makers' data sheets. The first name
# that the name of a device contains counts.
PEAKS = {
    "B200": 2250e12,
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100 NVL": 835e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "L4": 121e12,
    "A10": 125e12,
    "RTX 4090": 165e12,
}


@dataclass(frozen=True, slots=True)
class Throughput:
    """How fast an epoch was on one device."""

    seconds: float  # its duration
    n_tokens: int  # the tokens that the encoder read in it
    operations: int  # the operations of the model for a token
    peak: float | None  # the operations of the device in a second, or None where it is not known

    @property
    def tokens_per_second(self) -> float:
        """The tokens that the encoder read in a second."""
        return self.n_tokens / self.seconds

    @property
    def share_of_peak(self) -> float | None:
        """The share of the peak, 0..1; None where the peak is not known."""
        return self.tokens_per_second * self.operations / self.peak if self.peak else None


def count_operations(model: HasEncoder) -> int:
    """Returns the operations of the encoder's layers for a token, forward and backward.

    It depends on the weights that are trained at present.
    """
    layers: nn.ModuleList = find_encoder_layers(model)
    return sum((6 if item.requires_grad else 2) * item.numel() for item in layers.parameters())


def find_peak(device: torch.device) -> float | None:
    """Returns the operations of a device in a second; None for a CPU or an unknown GPU."""
    return peak_of(torch.cuda.get_device_name(device)) if device.type == "cuda" else None


def name_device() -> str:
    """Returns the name of the GPU, or "the processor, N threads"."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    n = torch.get_num_threads()
    return f"the processor, {n} thread{'s' * (n > 1)}"


def peak_of(name: str) -> float | None:
    """Returns the operations of a GPU in a second by its name; None for an unknown one.

    Example:
        >>> peak_of("NVIDIA H100 80GB HBM3")
        989000000000000.0
    """
    words = name.replace("-", " ").split()
    for known, peak in PEAKS.items():
        if all(word in words for word in known.split()):
            return peak
    return None
