"""The encoder for ONNX Runtime: the vectors and the tags of PyTorch, and no weight twice."""

import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from encoders import KINDS, exported, plain_of, sample, save_checkpoint
from helpers import ROOT
from models_helpers import change_config

from miner.errors import InputError
from miner.files import CHECKPOINT_ENCODER, CHECKPOINT_WEIGHTS
from miner.lab.training.tagger import onnx_export
from miner.lab.training.tagger.onnx_export import export_encoder
from miner.tagger.checkpoint import OnnxRuntime, load_checkpoint
from miner.tagger.encoding import encode_text
from miner.tagger.features import split_chapters
from miner.tagger.torch_runtime import TorchRuntime

# An export takes seconds.
SLOW_KINDS = [
    pytest.param(kind, marks=[pytest.mark.slow] if kind != "bert" else []) for kind in KINDS
]
SLOW_TRUE = pytest.param(True, marks=pytest.mark.slow)


@pytest.fixture
def both(tmp_path):
    """Makes the taggers of a checkpoint by ONNX Runtime and by PyTorch, which read all windows."""

    def make(kind, quantized):
        folder = shutil.copytree(exported(kind, quantized), tmp_path / "copy")
        change_config(folder, sure=1.0)
        by_onnx = load_checkpoint(folder, "cpu")
        (folder / CHECKPOINT_ENCODER).unlink()
        by_torch = load_checkpoint(folder, "cpu")
        assert isinstance(by_onnx.runtime, OnnxRuntime)
        assert isinstance(by_torch.runtime, TorchRuntime)
        return by_onnx, by_torch

    return make


@pytest.mark.parametrize("kind", SLOW_KINDS)
def test_tags_are_those_of_pytorch(kind, both):
    by_onnx, by_torch = both(kind, False)
    for chapter in split_chapters(sample()):
        found, expected = by_onnx.score_chapter(chapter), by_torch.score_chapter(chapter)
        np.testing.assert_allclose(found, expected, atol=1e-3)
    found, expected = by_onnx.tag(sample()), by_torch.tag(sample())
    assert [item.tag for item in found] == [item.tag for item in expected]
    assert len({item.tag for item in found}) > 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_tags_of_a_quantized_checkpoint_are_nearly_those_of_pytorch(kind, both):
    by_onnx, by_torch = both(kind, True)
    found, expected = by_onnx.tag(sample()), by_torch.tag(sample())
    same = [a.tag is b.tag for a, b in zip(found, expected, strict=True)]
    assert np.mean(same) > 0.97
    apart = [
        abs(a.confidence - b.confidence)
        for a, b in zip(found, expected, strict=True)
        if a.confidence is not None
    ]
    assert np.mean(apart) < 0.03


@pytest.mark.parametrize("quantized", [False, SLOW_TRUE])
def test_vectors_do_not_depend_on_the_windows_in_the_batch(quantized):
    """Neither on their number nor on their padding; so a book has the same scores among others."""
    runtime = load_checkpoint(exported(quantized=quantized), "cpu").runtime
    chapter = next(split_chapters(sample()))
    windows = encode_text(chapter, plain_of(), 64, 8).windows[:5]
    together = runtime.encode(windows, 64)
    assert together.shape == (5, 64, runtime.size) and together.dtype == np.float32
    for window, vectors in zip(windows, together, strict=True):
        assert np.array_equal(runtime.encode([window], 64)[0], vectors)
        padded = runtime.encode([window], 80)[0, :64]
        np.testing.assert_allclose(padded, vectors, atol=1e-5 if not quantized else 0.1)


@pytest.mark.parametrize("quantized", [False, SLOW_TRUE])
def test_large_weights_are_not_stored_twice(quantized):
    folder = exported(quantized=quantized)
    proto = onnx.load(folder / CHECKPOINT_ENCODER, load_external_data=False)
    places = {
        tensor.name: {entry.key: entry.value for entry in tensor.external_data}
        for tensor in proto.graph.initializer
        if tensor.external_data
    }
    assert "encoder.embeddings.word_embeddings.weight" in places
    assert {place["location"] for place in places.values()} == {CHECKPOINT_WEIGHTS}
    scales = [name for name in places if name.startswith("scale of ")]
    assert bool(scales) == quantized
    kept = [tensor for tensor in proto.graph.initializer if not tensor.external_data]
    assert all(np.prod(tensor.dims) < 4096 for tensor in kept)
    products = [node.op_type for node in proto.graph.node]
    assert ("MatMulIntegerToFloat" in products) == quantized


@pytest.mark.slow
def test_the_file_names_no_place_and_is_the_same_again(tmp_path):
    folder = shutil.copytree(exported(), tmp_path / "copy")
    before = (folder / CHECKPOINT_ENCODER).read_bytes()
    for place in (b"/tmp", b"/root", b"/work", b"site-packages", b".py"):
        assert place not in before
    code = (
        "import sys; from pathlib import Path; from miner.lab.training.tagger.onnx_export import *"
    )
    code += "; export_encoder(Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, cwd=ROOT
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert (folder / CHECKPOINT_ENCODER).read_bytes() == before


@pytest.mark.slow
def test_an_encoder_that_gives_other_vectors_is_not_kept(tmp_path, monkeypatch):
    folder = save_checkpoint(tmp_path / "tiny")
    encode = OnnxRuntime.encode
    monkeypatch.setattr(
        OnnxRuntime, "encode", lambda self, *given: encode(self, *given)[..., ::-1].copy()
    )
    with pytest.raises(InputError) as error:
        export_encoder(folder)
    assert str(error.value).startswith(f"{folder}: found an exported encoder whose vectors have")
    assert not (folder / CHECKPOINT_ENCODER).exists()
    assert isinstance(load_checkpoint(folder, "cpu").runtime, TorchRuntime)


def test_an_encoder_that_cannot_be_exported_is_one_line(tmp_path, monkeypatch):
    folder = save_checkpoint(tmp_path / "tiny")

    def fail(model):
        raise NotImplementedError("no such operator\nin this version")

    monkeypatch.setattr(onnx_export, "_export", fail)
    with pytest.raises(InputError) as error:
        export_encoder(folder)
    assert str(error.value) == f"{folder}: the encoder cannot be exported: no such operator"
    assert not (folder / CHECKPOINT_ENCODER).exists()
