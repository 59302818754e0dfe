"""`miner generation train`: train a model that answers; each kind is a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.command import Command
from miner.lab.app.cli.config_options import config_options
from miner.lab.app.cli.training import KindGroup, Trainer, run_training, training_options

if TYPE_CHECKING:
    from miner.lab.lessons.generation.kinds import ModelKind

_HELP = """{about}.

It learns to write the response of each pair of SOURCE from the turns before it, and writes a
folder: the model as Hugging Face's libraries read it, its card (README.md), what it was trained on
(training.json), and the curve of its training (curve.jsonl). What a SOURCE is, `miner generation
--help` says.

\b
{example}
"""
_EXAMPLES = {
    "transformer": "miner generation train transformer corpus --validation corpus -o model",
    "pretrained": "miner generation train pretrained corpus --model gpt2 -o gpt\n"
    "miner generation train pretrained pairs.csv --model model -o tuned",
}


def _describe() -> dict[str, str]:
    from miner.lab.lessons.generation.kinds import describe_kinds

    return describe_kinds()


def _command_of(name: str) -> click.Command:
    """Returns the command that trains a kind of model, with the options of the kind last."""
    from miner.lab.lessons.generation.kinds import find_kind

    kind = find_kind(name)

    def train(**values: Any) -> None:
        _train(kind, **values)

    example = _EXAMPLES.get(name, f"miner generation train {name} corpus -o model")
    help = _HELP.format(about=_describe()[name], example=example)
    decorated = config_options(kind.options)(train)
    decorated = training_options("model", kind.history_turns)(decorated)
    shown = {"show_default": True}
    return click.command(name, Command, help=help, context_settings=shown)(decorated)


@click.group(
    "train",
    cls=KindGroup,
    noun="kind",
    describe=_describe,
    command_of=_command_of,
    subcommand_metavar="KIND SOURCE -o OUT [OPTIONS]",
)
def command() -> None:
    """Train a model that answers.

    `miner generation train KIND --help` has the options of a kind. KIND is one of those below.

    \b
    miner generation train transformer corpus --validation corpus -o model
    miner generation train pretrained pairs.csv --model model -o tuned
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


def _train(
    kind: ModelKind,
    **values: Any,
) -> None:
    from miner.lab.app.tables.model_training import describe_step, describe_training
    from miner.lab.lessons.generation.model_folder import read_curve
    from miner.lab.lessons.generation.training import train_model

    trainer = Trainer(train_model, describe_step, describe_training, read_curve)
    run_training(kind, trainer, **values)
