"""Checkpoints: loaded as they were saved, in the given type of numbers, or refused in one line."""

import json
import shutil

import numpy as np
import pytest
import torch
from encoders import model_of, sample, save_checkpoint, tokenizer_of
from models_helpers import change_config
from safetensors.torch import load_file, save_file

from miner.models.tagger.checkpoint import load_checkpoint, read_checkpoint
from miner.models.tagger.features import FEATURES, split_chapters
from miner.models.tagger.model import ConversationTagger
from miner.models.tagger.quantization import quantize
from miner.models.tagger.tagger import NeuralTagger


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny")


@pytest.fixture
def copy(checkpoint, tmp_path):
    """A copy that a test may damage."""
    return shutil.copytree(checkpoint, tmp_path / "copy")


def refusal(folder):
    """The line with which a folder is refused, without the folder."""
    with pytest.raises(ValueError) as error:
        load_checkpoint(folder)
    (line,) = str(error.value).splitlines()
    assert line.startswith(str(folder))
    return line.removeprefix(str(folder))


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (
            {"model_type": "bert"},
            "/config.json: found model type bert, expected conversation-tagger",
        ),
        (
            {"format": 99},
            "/config.json: found a checkpoint of format 99, or of other features, "
            f"expected format 1 with our {len(FEATURES)} features: "
            "train it again with this version",
        ),
        (
            {"feature_names": ["asks"]},
            "/config.json: found a checkpoint of format 1, or of other features, "
            f"expected format 1 with our {len(FEATURES)} features: "
            "train it again with this version",
        ),
    ],
)
def test_the_config_of_another_model_is_refused(copy, values, line):
    change_config(copy, **values)
    assert refusal(copy) == line


def test_features_in_another_order_are_refused(copy):
    names = json.loads((copy / "config.json").read_text(encoding="utf-8"))["feature_names"]
    change_config(copy, feature_names=names[::-1])
    assert "train it again with this version" in refusal(copy)


@pytest.mark.parametrize("names", [None, 17])
def test_features_that_are_not_a_list_are_refused(copy, names):
    change_config(copy, feature_names=names)
    assert "/config.json: found" in refusal(copy)


@pytest.mark.parametrize(
    "values", [{"format": 99}, {"feature_names": ["asks"]}, {"model_type": "bert"}]
)
@pytest.mark.parametrize("is_short", [False, True])
@pytest.mark.parametrize("subfolder", ["", "kept"])
def test_from_pretrained_refuses_another_format_too(copy, tmp_path, values, is_short, subfolder):
    if is_short:
        weights = quantize(load_file(copy / "model.safetensors"))
        save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    folder = copy.rename(tmp_path / subfolder) if subfolder else copy
    name, where = (tmp_path, {"subfolder": subfolder}) if subfolder else (copy, {})
    config = ConversationTagger.from_pretrained(name, config=None, **where).config
    change_config(folder, **values)
    for given in ({}, {"config": config}):
        with pytest.raises(ValueError) as error:
            ConversationTagger.from_pretrained(name, **where, **given)
        assert str(error.value) == f"{folder}{refusal(folder)}"


@pytest.mark.parametrize("left", [0, 5, 5000, -100])
def test_from_pretrained_names_truncated_weights(copy, left):
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(ValueError) as error:
        ConversationTagger.from_pretrained(copy)
    assert str(error.value).startswith(f"{path}: cannot be loaded: ")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{"model_type": "conv', "/config.json: found bad JSON (Unterminated string"),
        (b"", "/config.json: found bad JSON (Expecting value"),
        (b"\xff\xfe{", "/config.json: found bad JSON ('utf-8' codec can't decode"),
        (b"[]", "/config.json: found model type None, expected conversation-tagger"),
        (b"{}", "/config.json: found model type None, expected conversation-tagger"),
    ],
)
def test_a_broken_config_is_refused(copy, data, line):
    (copy / "config.json").write_bytes(data)
    assert refusal(copy).startswith(line)


@pytest.mark.parametrize("left", [0, 5, 5000, -100])
def test_truncated_weights_are_refused(copy, left):
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:left])
    assert refusal(copy).startswith(": cannot be loaded: ")


def test_missing_weights_are_refused(copy):
    (copy / "model.safetensors").unlink()
    assert refusal(copy).startswith(": found no model.safetensors, expected")


@pytest.mark.parametrize("lost", [True, False])
def test_other_weights_than_expected_are_refused(copy, lost):
    path = copy / "model.safetensors"
    weights = load_file(path)
    if lost:
        del weights["text.scores.bias"]
    else:
        weights["scores.more"] = torch.zeros(4)
    save_file(weights, path, metadata={"format": "pt"})
    name = "text.scores.bias" if lost else "scores.more"
    expected = f"/model.safetensors: found other weights than expected, first {name}"
    assert refusal(copy) == expected


def test_weights_of_another_size_are_refused(copy):
    change_config(copy, hidden=9)
    assert refusal(copy).startswith(": cannot be loaded: ")


@pytest.mark.parametrize("data", [None, b'{"version": "1.0', b"{}"])
def test_a_tokenizer_that_is_missing_or_broken_is_refused(copy, data):
    path = copy / "tokenizer.json"
    path.unlink() if data is None else path.write_bytes(data)
    assert refusal(copy).startswith((": cannot be loaded: ", ": found no tokenizer.json, "))


def test_a_tokenizer_without_its_config_is_refused(copy):
    (copy / "tokenizer_config.json").unlink()
    assert "tokenizer" in refusal(copy)


def test_a_folder_without_config_is_refused(tmp_path):
    assert refusal(tmp_path)


def test_a_loaded_model_tags_as_the_one_that_was_saved(checkpoint):
    saved = NeuralTagger(model_of(), tokenizer_of())
    assert NeuralTagger(*read_checkpoint(checkpoint)).tag(sample()) == saved.tag(sample())


def test_a_checkpoint_computes_in_float32_by_default(checkpoint):
    tagger = load_checkpoint(checkpoint, "cpu")
    assert {weight.dtype for weight in tagger.model.parameters()} == {torch.float32}


def test_the_encoder_computes_in_bfloat16_on_request(checkpoint):
    many = load_checkpoint(checkpoint, "cpu")
    few = load_checkpoint(checkpoint, "cpu", "bfloat16")
    assert few.model.encoder.dtype is torch.bfloat16
    assert few.model.text.scores.weight.dtype is torch.float32
    for chapter in split_chapters(sample()):
        found, expected = few.score_chapter(chapter), many.score_chapter(chapter)
        assert found == pytest.approx(expected, abs=0.1)
        assert not np.array_equal(found, expected)


def test_another_dtype_is_refused(checkpoint):
    with pytest.raises(ValueError) as error:
        load_checkpoint(checkpoint, dtype="float16")
    assert str(error.value) == "found dtype 'float16', expected float32 or bfloat16"
