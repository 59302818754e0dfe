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
from miner.tagger.head import Head, gelu, head_shapes, log_sigmoid, sigmoid

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


def test_other_weights_are_refused():
    model = model_of()
    weights, _ = head_of(model)
    (bias,) = weights["text.voice_bias"]
    n = len(weights)
    for name, value, line in (
        ("text.voice_bias", None, f"found no text.voice_bias, expected the {n} weights"),
        ("text.more", bias, f"found a weight text.more, expected the {n} weights"),
        ("text.voice_bias", np.zeros(2), "found text.voice_bias of shape (2,), expected (1,)"),
        ("text.voice_bias", np.array([np.nan]), "found text.voice_bias with NaN or infinity"),
    ):
        changed = {**weights, name: value}
        changed = {key: item for key, item in changed.items() if item is not None}
        with pytest.raises(InputError) as error:
            Head(changed, model.config.for_tagging(), HIDDEN)
        assert str(error.value).startswith(line)
    with pytest.raises(InputError, match=r"found text.projection.0.weight of shape \(96,\)"):
        Head(weights, model.config.for_tagging(), 2 * HIDDEN)


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
