"""Stores weights in a quarter of their size: matrices in 8 bits, other weights in 16.

This is the symmetric quantization per output channel of "Integer Quantization for Deep Learning
Inference" (Wu et al. 2020, section 3). Only files are smaller: a loaded model computes in float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

_MIN_WEIGHTS = 4096  # of a matrix that is worth quantizing
_SCALE = "scale of "  # begins the name of the scales of a matrix


def quantize(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns the weights in 8 and 16 bits.

    A matrix of at least 4096 weights becomes int8: each row is divided by its scale, which is its
    largest absolute weight over 127. The scales are stored as float16 under a name of their own.
    All other floating-point weights become float16, and integers stay.

    Args:
        weights: the weights of a model, by name.

    Raises:
        ValueError: if a weight is not finite or too large for 16 bits. The message names it.
    """
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if not weight.is_floating_point():
            found[name] = weight.contiguous()
            continue
        if weight.dim() == 2 and weight.numel() >= _MIN_WEIGHTS:
            least = torch.finfo(torch.float16).smallest_normal
            scale = (weight.abs().amax(dim=1) / 127).clamp(min=least).half()
            found[_SCALE + name] = rest = scale
            found[name] = (weight / scale.float()[:, None]).round().clamp(-127, 127).to(torch.int8)
        else:
            found[name] = rest = weight.half().contiguous()
        if not torch.isfinite(rest).all():
            raise ValueError(f"{name}: found weights that 16 bits cannot hold")
    return found


def is_quantized(names: Iterable[str]) -> bool:
    """Whether weights with these names come from `quantize`."""
    return any(name.startswith(_SCALE) for name in names)


def dequantize(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns weights from `quantize` as float32, up to rounding; others keep their values."""
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        scale = weights.get(_SCALE + name)
        if scale is not None:
            found[name] = weight.float() * scale.float()[:, None]
        elif not name.startswith(_SCALE):
            found[name] = weight.float() if weight.is_floating_point() else weight
    return found
