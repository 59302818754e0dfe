"""The choices of a training run: contradictions are refused, defaults depend on one another."""

from dataclasses import fields

import click
import pytest
from click.testing import CliRunner

from miner.errors import InputError
from miner.lab.app.cli.options import config_options
from miner.lab.training.tagger.training_config import TrainingConfig


@click.command()
@config_options(TrainingConfig)
def command(**given):
    config = TrainingConfig(**given)
    click.echo(repr(config))


def run(*words):
    return CliRunner().invoke(command, words)


def test_without_options_the_command_line_gives_the_defaults():
    assert run().output.strip() == repr(TrainingConfig())


def test_each_field_is_an_option_with_a_help_text():
    options = {item.name: item for item in command.params}
    assert set(options) == {item.name for item in fields(TrainingConfig)}
    for name, option in options.items():
        assert f"--{name.replace('_', '-')}" in option.opts
        assert option.help


def test_options_of_every_type(tmp_path):
    words = ("--weak", "11", "--weak", "12", "--augment", "0.5", "--no-features", "--quantize")
    words += ("--context", "span", "--chapters", "3", "--gold", str(tmp_path))
    expected = TrainingConfig(
        weak=("11", "12"),
        augment=0.5,
        features=False,
        quantize=True,
        context="span",
        chapters=3,
        gold=tmp_path,
    )
    assert run(*words).output.strip() == repr(expected)


@pytest.mark.parametrize(
    "words",
    [
        ("--context", "page"),
        ("--epochs", "-1"),
        ("--augment", "1.5"),
        ("--chapters", "0"),
        ("--seed", "x"),
    ],
)
def test_values_out_of_range_are_a_usage_error(words):
    done = run(*words)
    assert done.exit_code == 2 and f"Invalid value for '{words[0]}'" in done.output


def test_the_folder_of_books_comes_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("MINER_BOOKS", str(tmp_path))
    assert run().output.strip() == repr(TrainingConfig(books=tmp_path))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"structure_epochs": 0},
            "found `structure_epochs=0`, expected 1 or more, or `features=False`",
        ),
        ({"epochs": 0}, "found `epochs=0`, expected 1 or more, or `initialize_from=`"),
        (
            {"augment": 0.5, "frozen": True},
            "found `augment=` with `frozen=True`, whose vectors are computed once: expected 0",
        ),
    ],
)
def test_contradictions_are_refused(given, message):
    with pytest.raises(InputError) as error:
        TrainingConfig(**given)
    assert str(error.value) == message


def test_a_run_from_other_weights_or_without_features_needs_no_structure_epochs(tmp_path):
    TrainingConfig(structure_epochs=0, features=False)
    TrainingConfig(structure_epochs=0, initialize_from=(tmp_path,))


@pytest.mark.parametrize(
    ("given", "share"),
    [({}, 0.6), ({"frozen": True}, 0.0), ({"augment": 0.2}, 0.2), ({"augment": 0.0}, 0.0)],
)
def test_paragraphs_are_split_unless_the_encoder_is_frozen(given, share):
    assert TrainingConfig(**given).augment_share == share


def test_a_smoke_test_trains_every_stage_on_the_sample():
    config = TrainingConfig(hidden=7).for_smoke_test()
    assert (config.train_split, config.dev_split, config.weak) == ("sample", "sample", ("sample",))
    assert (config.structure_epochs, config.weak_epochs, config.epochs) == (1, 1, 2)
    assert config.hidden == 7
