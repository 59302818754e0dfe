"""What the commands that train on pairs share: options, the training, a command for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from miner.app.cli.command import Command, CommandGroup, LazyCommands
from miner.app.cli.options import (
    TurnCount,
    force_option,
    json_option,
    out_option,
    quiet_option,
    together,
)
from miner.app.cli.terminal import CountBar, show_json
from miner.errors import InputError
from miner.lab.app.cli.options import (
    SOURCE,
    config_options,
    language_option,
    open_source,
    reader_options,
    source_argument,
)

if TYPE_CHECKING:
    from miner.lab.learning.fields import Kind


class Trainer(NamedTuple):
    """What a command trains with, and what it says of it."""

    learn: Callable[..., Any]  # `train_method` or `train_model`
    describe_step: Callable[[Any], str]  # returns a line about a step of the curve
    # returns lines about a training, from its record and its curve
    describe_training: Callable[[Mapping[str, Any], Sequence[Any]], str]
    read_curve: Callable[[Path], list[Any]]  # returns the curve of a folder


def train_command(
    kind: Kind, trainer: Callable[[], Trainer], what: str, history_turns: int, help: str
) -> click.Command:
    """Returns the command that trains a kind of what it trains, with the kind's options last.

    `trainer` is called when the command runs.
    """

    def train(**values: Any) -> None:  # noqa: ANN401 - of all options
        _train(kind, trainer(), **values)

    options = together(
        source_argument,
        out_option(f"Folder for the {what}; it must not exist yet.", required=True),
        click.option(
            "--split",
            metavar="NAME",
            help="Split of SOURCE to learn from, several joined by +, or all.  [default: train, "
            "where there are splits]",
        ),
        click.option(
            "--validation",
            type=SOURCE,
            metavar="SOURCE",
            help=f"Pairs of other books, on which the {what} is chosen while it is trained: by "
            "default their split validation (dev of annotations).",
        ),
        click.option(
            "--history-turns",
            type=TurnCount(),
            default=history_turns,
            help="How many turns before its last turn a context has, or `all`. 0 is the immediate "
            "context alone.",
        ),
        click.option(
            "--most-pairs",
            type=click.IntRange(min=1),
            metavar="N",
            help="Learn from N pairs, drawn by chance. More pairs with the same seed hold these.",
        ),
        click.option(
            "--without-books-of",
            type=SOURCE,
            multiple=True,
            metavar="SOURCE",
            help="Leave out the pairs of the books of another source, which is to be scored: of "
            "all its splits, unless one is named (annotations:dev+test). May be repeated.",
        ),
        click.option(
            "--seed",
            type=int,
            default=0,
            help="Random seed of the pairs drawn and of the training.",
        ),
        click.option(
            "--resume",
            is_flag=True,
            help="Resume an interrupted training into OUT, if there is one.",
        ),
        language_option(),
        reader_options,
        force_option,
        quiet_option,
        json_option,
        config_options(kind.options),
    )
    shown = {"show_default": True}
    return click.command(kind.name, Command, help=help, context_settings=shown)(options(train))


def _train(
    kind: Kind,
    trainer: Trainer,
    source: str,
    out: Path,
    split: str | None,
    validation: str | None,
    history_turns: int | None,
    most_pairs: int | None,
    without_books_of: tuple[str, ...],
    seed: int,
    resume: bool,
    language: str,
    read: Callable[[str], bytes],
    force: bool,
    quiet: bool,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - the options of the kind
) -> None:
    """Trains, and shows the progress, the curve and what was reached."""
    from miner.files import refuse_existing
    from miner.lab.lessons.sources import books_of_source, draw_pairs, leave_out_books

    refuse_existing(out, force)
    options = kind.read_options(values)
    found = open_source(source, split, "train", language, read)
    for other in without_books_of:
        found = leave_out_books(found, books_of_source(other, language=language), Path(other).name)
    if most_pairs:
        found = draw_pairs(found, most_pairs, seed)
    judged = None
    if validation:
        judged = open_source(validation, None, "validation", language, read)
    with CountBar(f"training {kind.name}", quiet or as_json) as bar:

        def report(step: Any) -> None:  # noqa: ANN401 - of the trainer
            if not quiet and not as_json:
                bar.echo(trainer.describe_step(step))

        trained = trainer.learn(
            kind,
            options,
            found,
            judged,
            out,
            seed=seed,
            history_turns=history_turns,
            resume=resume,
            force=force,
            report=report,
            progress=bar.show,
        )
    steps = trainer.read_curve(out)
    if as_json:
        show_json({"record": trained.record, "curve": [asdict(step) for step in steps]})
    elif not quiet:
        click.echo(trainer.describe_training(trained.record, steps))
        click.echo(f"wrote {out}")


class KindGroup(CommandGroup):
    """A group with a command for each kind of what is trained. Its help imports none of them."""

    def __init__(
        self,
        *,
        noun: str,
        describe: Callable[[], dict[str, str]],
        command_of: Callable[[str], click.Command],
        **options: Any,  # noqa: ANN401 - of click
    ) -> None:
        super().__init__(**options)
        self._noun, self._describe = noun, describe
        self.commands = LazyCommands(describe, command_of)  # pyright: ignore[reportAttributeAccessIssue]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a kind."""
        if cmd_name not in self.commands and not ctx.resilient_parsing:
            kinds = ", ".join(self.commands)
            raise InputError(f"found {self._noun} {cmd_name!r}, expected {kinds}")
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the kinds and what they are."""
        with formatter.section(f"{self._noun.capitalize()}s"):
            formatter.write_dl(list(self._describe().items()))
