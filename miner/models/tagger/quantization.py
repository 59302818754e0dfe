"""Weights in a quarter of their size: 8-bit matrices with a scale per row, the rest in half.

Symmetric quantization per output channel, as "Integer Quantization for Deep Learning Inference"
(Wu et al. 2020, section 3) has it for weights. It is for the file only: what is loaded is computed
with as any other model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

_FEWEST = 4096  # weights of a matrix that are worth a row of scales
_SCALE = "scale of "


def quantize(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights in 8 and 16 bits.

    A matrix of at least 4096 weights becomes int8, each row divided by its greatest weight and
    times 127; the scales of its rows, float16, are beside it under a name of their own. Whatever
    else is of floating point becomes float16.

    Args:
        weights: of a model, by name.

    Raises:
        ValueError: if a weight is not finite, or too great for 16 bits; names it.
    """
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if not weight.is_floating_point():
            found[name] = weight.contiguous()
            continue
        if weight.dim() == 2 and weight.numel() >= _FEWEST:
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
    """Whether the weights of these names are what `quantize` made."""
    return any(name.startswith(_SCALE) for name in names)


def dequantize(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights that `quantize` made, float32, less what was rounded; others as they are."""
    found: dict[str, Tensor] = {}
    for name, weight in weights.items():
        scale = weights.get(_SCALE + name)
        if scale is not None:
            found[name] = weight.float() * scale.float()[:, None]
        elif not name.startswith(_SCALE):
            found[name] = weight.float() if weight.is_floating_point() else weight
    return found
