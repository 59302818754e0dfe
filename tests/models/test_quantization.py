"""Quantized weights: their rounding error, their size, and weights that do not fit."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.models.tagger.quantization import dequantize, quantize


def weights_of(seed, rows, columns, size=1.0):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) * size


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.sampled_from([(64, 64), (2, 4000), (300, 384)]), st.floats(-3, 3))
def test_a_matrix_comes_back_within_half_a_step_of_each_row(seed, shape, magnitude):
    weight = weights_of(seed, *shape, 10**magnitude)
    weight[0] *= 1e-3  # rows of their own scale
    quantized = quantize({"a": weight})
    back = dequantize(quantized)["a"]
    assert quantized["a"].dtype is torch.int8 and back.dtype is torch.float32
    least = torch.finfo(torch.float16).smallest_normal  # of steps
    step = (weight.abs().amax(dim=1, keepdim=True) / 127).clamp(min=least)
    # Half a step of rounding, and the scale's own eleven bits over at most 127 steps.
    assert ((back - weight).abs() <= step * (0.5 + 127 * 2**-11)).all()


def test_other_weights_get_16_bits_and_integers_stay():
    weights = {"bias": torch.tensor([0.1, -3.0]), "n": torch.tensor([7]), "few": torch.ones(3, 4)}
    quantized = quantize(weights)
    assert [quantized[name].dtype for name in weights] == [
        torch.float16,
        torch.int64,
        torch.float16,
    ]
    back = dequantize(quantized)
    assert list(back) == list(weights)
    assert torch.allclose(back["bias"], weights["bias"], atol=1e-3)
    assert back["n"].tolist() == [7] and back["few"].dtype is torch.float32


def test_a_quarter_of_the_size():
    weight = weights_of(0, 1000, 384)
    quantized = quantize({"a": weight})
    size = sum(item.numel() * item.element_size() for item in quantized.values())
    assert size < 0.26 * weight.numel() * 4


def test_a_row_of_zeros_stays():
    weight = torch.zeros(64, 64)
    weight[1] = 1.0
    assert torch.equal(dequantize(quantize({"a": weight}))["a"][0], weight[0])
    assert torch.allclose(dequantize(quantize({"a": weight}))["a"], weight, atol=1e-3)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e9])
@pytest.mark.parametrize("shape", [(3,), (64, 64)])
def test_weights_that_16_bits_cannot_hold_are_refused(value, shape):
    weight = torch.zeros(shape)
    weight[0] = value
    with pytest.raises(ValueError, match="^a: found weights that 16 bits cannot hold$"):
        quantize({"fine": torch.ones(2), "a": weight})


def test_plain_weights_are_left_as_they_are():
    weight = weights_of(1, 64, 64)
    assert torch.equal(dequantize({"a": weight})["a"], weight)
