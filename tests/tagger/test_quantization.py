"""Quantized weights: their rounding error, their size, and weights that do not fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.errors import InputError
from miner.tagger.head import dequantize, quantize


def weights_of(seed, rows, columns, size=1.0):
    values = np.random.default_rng(seed).standard_normal((rows, columns)) * size
    return values.astype(np.float32)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.sampled_from([(64, 64), (2, 4000), (300, 384)]), st.floats(-3, 3))
def test_a_matrix_comes_back_within_half_a_step_of_each_row(seed, shape, magnitude):
    weight = weights_of(seed, *shape, 10**magnitude)
    weight[0] *= 1e-3  # rows of their own scale
    quantized = quantize({"a": weight})
    back = dequantize(quantized)["a"]
    assert quantized["a"].dtype == np.int8 and back.dtype == np.float32
    least = np.finfo(np.float16).smallest_normal  # of steps
    step = (np.abs(weight).max(axis=1, keepdims=True) / 127).clip(min=least)
    # Half a step of rounding, and the scale's own eleven bits over at most 127 steps.
    assert (np.abs(back - weight) <= step * (0.5 + 127 * 2**-11)).all()


def test_other_weights_get_16_bits_and_integers_stay():
    few = np.ones((3, 4), np.float32)
    weights = {"bias": np.array([0.1, -3.0], np.float32), "n": np.array([7]), "few": few}
    quantized = quantize(weights)
    assert [quantized[name].dtype for name in weights] == [np.float16, np.int64, np.float16]
    back = dequantize(quantized)
    assert list(back) == list(weights)
    np.testing.assert_allclose(back["bias"], weights["bias"], atol=1e-3)
    assert back["n"].tolist() == [7] and back["few"].dtype == np.float32


def test_a_quarter_of_the_size():
    weight = weights_of(0, 1000, 384)
    quantized = quantize({"a": weight})
    assert sum(item.nbytes for item in quantized.values()) < 0.26 * weight.nbytes


def test_a_row_of_zeros_stays():
    weight = np.zeros((64, 64), np.float32)
    weight[1] = 1.0
    back = dequantize(quantize({"a": weight}))["a"]
    assert not back[0].any()
    np.testing.assert_allclose(back, weight, atol=1e-3)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e9])
@pytest.mark.parametrize("shape", [(3,), (64, 64)])
def test_weights_that_16_bits_cannot_hold_are_refused(value, shape):
    weight = np.zeros(shape, np.float32)
    weight[0] = value
    with pytest.raises(InputError, match="^a: found weights that 16 bits cannot hold$"):
        quantize({"fine": np.ones(2, np.float32), "a": weight})


def test_plain_weights_are_left_as_they_are():
    weight = weights_of(1, 64, 64)
    np.testing.assert_array_equal(dequantize({"a": weight})["a"], weight)
