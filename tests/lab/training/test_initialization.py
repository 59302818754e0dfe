"""New models: the encoder's weights, a random head, and encoders that do not fit are refused."""

import pytest
import torch
from encoders import KINDS, encoder, model_of, save_checkpoint, tokenizer_of
from transformers import AlbertConfig, AutoModel

from miner.errors import InputError
from miner.lab.training.tagger.training import find_encoder_layers, initialize_from, new_model
from miner.lab.training.tagger.training_config import TrainingConfig


def config_of(kind="bert", **given):
    small = {"projection": 16, "hidden": 8, "window": 64, "margin": 8, "masked": 0.0}
    return TrainingConfig(**({"encoder": str(encoder(kind))} | small | given))


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_model_has_the_weights_of_the_encoder_and_a_head_from_the_seed(kind):
    model, tokenizer = new_model(config_of(kind, seed=7))
    expected = AutoModel.from_pretrained(encoder(kind)).state_dict()
    for name, weight in model.encoder.state_dict().items():
        assert torch.equal(weight, expected[name])
    assert tokenizer.get_vocab() == tokenizer_of(kind).get_vocab()
    again, _ = new_model(config_of(kind, seed=7))
    other, _ = new_model(config_of(kind, seed=8))
    assert torch.equal(model.text.scores.weight, again.text.scores.weight)
    assert not torch.equal(model.text.scores.weight, other.text.scores.weight)


def test_the_config_of_the_model_is_that_of_the_training():
    config = new_model(config_of(context="span", paragraphs=4, features=False, ends=5))[0].config
    assert (config.context, config.paragraphs, config.features) == ("span", 4, False)
    assert (config.window, config.margin, config.ends, config.hidden) == (64, 8, 5, 8)
    assert "_name_or_path" not in config.encoder


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_an_encoder_stored_in_fewer_bits_is_trained_in_float32(tmp_path, dtype):
    AutoModel.from_pretrained(encoder()).to(dtype).save_pretrained(tmp_path)
    tokenizer_of().save_pretrained(tmp_path)
    model, _ = new_model(config_of(encoder=str(tmp_path)))
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    model.save_pretrained(tmp_path / "saved")
    loaded = type(model).from_pretrained(tmp_path / "saved")
    assert {weight.dtype for weight in loaded.parameters()} == {torch.float32}


@pytest.mark.parametrize("kind", KINDS)
def test_the_lowest_layers_of_any_encoder_are_kept(kind):
    model, _ = new_model(config_of(kind, encoder_layers=1))
    (kept,), first = find_encoder_layers(model), find_encoder_layers(model_of(kind))[0]
    assert kept.state_dict().keys() == first.state_dict().keys()
    for name, weight in kept.state_dict().items():
        assert torch.equal(weight, first.state_dict()[name])
    before = AutoModel.from_pretrained(encoder(kind))
    assert len(model.encoder.state_dict()) < len(before.state_dict())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"encoder_layers": 9}, "found 9 layers to keep, expected at most 2, the encoder's"),
        ({"frozen_layers": 9}, "found 9 layers to freeze, expected at most 2, the encoder's"),
        ({"window": 1024}, "found a window of 1024 tokens, expected at most 512, the encoder's"),
        ({"kind": "modernbert", "masked": 0.1}, "found no mask token, expected one for `masked=`"),
    ],
)
def test_an_encoder_that_does_not_fit_is_refused(given, message):
    with pytest.raises(InputError) as error:
        new_model(config_of(**given))
    assert str(error.value).endswith(message)


def test_a_window_that_an_encoder_cannot_read_is_refused():
    # The positions of RoBERTa begin after that of padding, so that two of 514 are unused.
    assert new_model(config_of("roberta", window=512))
    with pytest.raises(InputError, match="found no encoder that reads windows of 513 tokens"):
        new_model(config_of("roberta", window=513))


def test_an_encoder_whose_layers_share_weights_is_refused(tmp_path):
    sizes = {"embedding_size": 8, "hidden_size": 16, "num_attention_heads": 2}
    config = AlbertConfig(vocab_size=len(tokenizer_of()), intermediate_size=16, **sizes)
    AutoModel.from_config(config).save_pretrained(tmp_path)
    tokenizer_of().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="found an encoder of type albert, expected one with 12"):
        new_model(config_of(encoder=str(tmp_path)))


def test_a_model_takes_the_weights_of_another_run(tmp_path):
    run = save_checkpoint(tmp_path / "run", masked=0.0, seed=5)
    model, _ = new_model(config_of())
    initialize_from(model, [run])
    expected = model_of(seed=5).state_dict()
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, expected[name])


def test_a_model_takes_the_mean_of_the_weights_of_several_runs(tmp_path):
    runs = [save_checkpoint(tmp_path / str(n), masked=0.0, seed=n) for n in range(3)]
    model, _ = new_model(config_of())
    initialize_from(model, runs)
    of_runs = [model_of(seed=n).state_dict() for n in range(3)]
    for name, weight in model.state_dict().items():
        mean = torch.stack([weights[name] for weights in of_runs]).mean(dim=0)
        assert torch.allclose(weight, mean, atol=1e-6)
    assert not torch.equal(of_runs[0]["text.scores.weight"], of_runs[1]["text.scores.weight"])


def test_a_run_of_another_shape_is_refused(tmp_path):
    run = save_checkpoint(tmp_path / "run", hidden=16)
    with pytest.raises(InputError) as error:
        initialize_from(new_model(config_of())[0], [run])
    assert str(error.value) == (
        f"{run}: found a model of another shape, expected that of the options"
    )
