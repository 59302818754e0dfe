"""`miner selection train`: train a method; each kind is a command with its own options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.command import Command
from miner.lab.app.cli.config_options import config_options
from miner.lab.app.cli.training import KindGroup, Trainer, run_training, training_options

if TYPE_CHECKING:
    from miner.lab.lessons.selection.methods import MethodKind

_HELP = """{about}.

It learns from the pairs of SOURCE and writes a folder: the method, its card (README.md), what it
was trained on (method.json), and the curve of its training (curve.jsonl). What a SOURCE is, `miner
selection --help` says.

\b
miner selection train {name} corpus -o {folder}
"""


def _describe() -> dict[str, str]:
    from miner.lab.lessons.selection.methods import describe_methods

    return describe_methods()


def _command_of(name: str) -> click.Command:
    """Returns the command that trains a method, with the options of the method last."""
    from miner.lab.lessons.selection.methods import find_method

    kind = find_method(name)

    def train(**values: Any) -> None:
        _train(kind, **values)

    help = _HELP.format(about=_describe()[name], name=name, folder=name.replace("-", ""))
    decorated = training_options("method", 0)(config_options(kind.options)(train))
    shown = {"show_default": True}
    return click.command(name, Command, help=help, context_settings=shown)(decorated)


@click.group(
    "train",
    cls=KindGroup,
    noun="method",
    describe=_describe,
    command_of=_command_of,
    subcommand_metavar="METHOD SOURCE -o OUT [OPTIONS]",
)
def command() -> None:
    """Train a method.

    `miner selection train METHOD --help` has the options of a method. METHOD is one of those below.

    \b
    miner selection train tf-idf corpus -o tf-idf
    miner selection train bm25 pairs.csv --most-pairs 10000 -o bm25
    miner selection train tf-idf mined --without-books-of annotations:dev+test -o b
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


def _train(
    kind: MethodKind,
    **values: Any,
) -> None:
    from miner.lab.app.tables.selection import describe_step, describe_training
    from miner.lab.lessons.selection.method_folder import read_curve
    from miner.lab.lessons.selection.training import train_method

    trainer = Trainer(train_method, describe_step, describe_training, read_curve)
    run_training(kind, trainer, **values)
