"""The experts in NumPy: the scores and the weights of those in PyTorch."""

import numpy as np
import pytest
import torch
from encoders import HIDDEN, model_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from miner.errors import InputError
from miner.tagger.features import FEATURES
from miner.tagger.head import Head, dequantize, gelu, head_shapes, log_sigmoid, quantize, sigmoid

SHAPES = (
    {},
    {"layers": 2},
    {"features": False},
    {"layers": 3, "features": False, "hidden": 5, "projection": 7},
    {"start_share": 0.3, "turn_share": 0.8, "paragraphs": 4},
)
floats = arrays(np.float32, 9, elements=st.floats(-100, 100, width=32))


def head_of(model):
    """The weights of a model without those of its encoder, and the head that they make."""
    weights = {
        name: weight.numpy()
        for name, weight in model.state_dict().items()
        if not name.startswith("encoder.")
    }
    return weights, Head(weights, model.config.for_tagging(), HIDDEN)


@pytest.mark.parametrize("n", [1, 2, 3, 700])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_are_those_of_pytorch(shape, n):
    model = model_of(**shape)
    _, head = head_of(model)
    random = np.random.default_rng(n)
    vectors = random.normal(0, 2, (n, 3 * HIDDEN)).astype(np.float32)
    features = random.random((n, len(FEATURES)), np.float32)
    structure = of_structure = None
    with torch.no_grad():
        if model.structure is not None:
            of_structure = model.score_structure(torch.from_numpy(features))
            structure = head.score_structure(features)
            assert structure.shape == (n, 4) and structure.dtype == np.float32
            np.testing.assert_allclose(structure, of_structure, atol=1e-4)
        expected = model.score_text(
            torch.from_numpy(vectors), torch.from_numpy(features), of_structure
        )
    found = head.score_text(vectors, features, structure)
    assert found.shape == (n, 4) and found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert n == 1 or np.ptp(found, axis=0).min() > 0.1


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_have_the_shapes_of_those_in_pytorch(shape):
    model = model_of(**shape)
    weights, _ = head_of(model)
    expected = head_shapes(model.config.for_tagging(), HIDDEN)
    assert {name: weight.shape for name, weight in weights.items()} == expected


@settings(deadline=None)
@given(floats)
def test_functions_are_those_of_pytorch(values):
    tensor = torch.from_numpy(values)
    for found, expected in (
        (gelu(values), torch.nn.functional.gelu(tensor)),
        (sigmoid(values), torch.sigmoid(tensor)),
        (log_sigmoid(values), torch.nn.functional.logsigmoid(tensor)),
    ):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


def test_extreme_values_are_finite_and_no_warning(recwarn):
    extreme = np.array([-3e38, -1e4, -100, 0, 100, 1e4, 3e38], np.float32)
    assert sigmoid(extreme).tolist() == pytest.approx([0, 0, 0, 0.5, 1, 1, 1])
    assert gelu(extreme[1:-1]).tolist() == pytest.approx([0, 0, 0, 100, 1e4])
    assert log_sigmoid(extreme[1:-1]).tolist() == pytest.approx([-1e4, -100, -np.log(2), 0, 0])
    assert not recwarn


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
