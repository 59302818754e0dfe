"""PyTorch as the library that computes a checkpoint: its errors, and numbers of fewer bits."""

import numpy as np
import pytest
from encoders import HIDDEN, save_checkpoint

from miner.errors import InputError
from miner.tagger.checkpoint import load_checkpoint
from miner.tagger.encoding import Window
from miner.tagger.features import FEATURES


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny")


@pytest.mark.parametrize("ids", [(2, 600, 3), (2, 2**40, 3), (2, *[5] * 600, 3)])
def test_tokens_that_the_encoder_cannot_read_are_one_line(folder, ids):
    runtime = load_checkpoint(folder, "cpu").runtime
    with pytest.raises(InputError) as error:
        runtime.encode([Window(ids, (0, len(ids) - 2), 0)], len(ids))
    (line,) = str(error.value).splitlines()
    assert line.startswith(f"{folder}: cannot be computed: ")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_arrays_are_float32_in_any_case(folder, dtype):
    runtime = load_checkpoint(folder, "cpu", dtype).runtime
    window = Window((2, 5, 6, 3), (0, 2), 0)
    vectors = runtime.encode([window, window], 8)
    assert vectors.shape == (2, 8, HIDDEN) == (2, 8, runtime.size)
    features = np.zeros((3, len(FEATURES)), np.float32)
    structure = runtime.score_structure(features)
    scores = runtime.score_text(np.zeros((3, 3 * HIDDEN), np.float32), features, structure)
    assert {array.dtype for array in (vectors, structure, scores)} == {np.dtype(np.float32)}
    assert structure.shape == scores.shape == (3, 4)
