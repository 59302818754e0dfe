"""Stores weights in a quarter of their size: matrices in 8 bits, other weights in 16.

This is the symmetric quantization per output channel of "Integer Quantization for Deep Learning
Inference" (Wu et al. 2020, section 3). PyTorch computes with them in float32, and ONNX Runtime in 8
bits (see `onnx_export`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError

Array = NDArray[Any]  # of numbers of any type
_MIN_WEIGHTS = 4096  # of a matrix that is worth quantizing
_SCALE = "scale of "  # begins the name of the scales of a matrix


def quantize(weights: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the weights in 8 and 16 bits.

    A matrix of at least 4096 weights becomes int8: each row is divided by its scale, which is its
    largest absolute weight over 127. The scales are stored as float16 under a name of their own.
    All other floating-point weights become float16, and integers stay.
    """
    found: dict[str, Array] = {}
    for name, weight in weights.items():
        if not np.issubdtype(weight.dtype, np.floating):
            found[name] = weight
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            if weight.ndim == 2 and weight.size >= _MIN_WEIGHTS:
                least = np.finfo(np.float16).smallest_normal
                scale = np.maximum(np.abs(weight).max(axis=1) / 127, least).astype(np.float16)
                found[scale_name(name)] = rest = scale
                steps = np.round(weight / scale.astype(np.float32)[:, None])
                found[name] = np.clip(np.nan_to_num(steps), -127, 127).astype(np.int8)
            else:
                found[name] = rest = weight.astype(np.float16)
        if not np.isfinite(rest).all():
            raise InputError(f"{name}: found weights that 16 bits cannot hold")
    return found


def scale_name(name: str) -> str:
    """Returns the name of the scales of a quantized matrix."""
    return _SCALE + name


def is_part_of(module: str, name: str) -> bool:
    """Whether a weight, or the scales of one, belong to a module of a model."""
    return name.removeprefix(_SCALE).startswith(f"{module}.")


def is_quantized(names: Iterable[str]) -> bool:
    """Whether weights with these names come from `quantize`."""
    return any(name.startswith(_SCALE) for name in names)


def dequantize(weights: Mapping[str, Array]) -> dict[str, Array]:
    """Returns weights from `quantize` as float32, up to rounding; others keep their values."""
    found: dict[str, Array] = {}
    for name, weight in weights.items():
        scale = weights.get(scale_name(name))
        if scale is None and weight.dtype == np.int8:
            raise InputError(f"{name}: found 8 bits without their scales")
        if scale is not None:
            if weight.ndim != 2 or scale.shape != weight.shape[:1]:
                raise InputError(
                    f"{name}: found {scale.shape} scales of {weight.shape} weights, "
                    "expected one for each row"
                )
            found[name] = weight.astype(np.float32) * scale.astype(np.float32)[:, None]
        elif not name.startswith(_SCALE):
            is_float = np.issubdtype(weight.dtype, np.floating)
            found[name] = weight.astype(np.float32) if is_float else weight
    return found
