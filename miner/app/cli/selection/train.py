"""`miner selection train`: train a method; each kind is a command with its own options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.config_options import config_options
from miner.app.cli.errors import CommandGroup
from miner.app.cli.options import (
    TurnCount,
    books_option,
    force_option,
    json_option,
    language_option,
    mirror_option,
    out_option,
    quiet_option,
)
from miner.app.cli.selection.sources import SourceName, open_source
from miner.app.cli.terminal import CountBar, show_json

if TYPE_CHECKING:
    from miner.selection.methods import MethodKind, Step

_HELP = """{about}.

It learns from the pairs of SOURCE and writes a folder: the method, its card (README.md), what it
was trained on (method.json), and the curve of its training (curve.jsonl). What a SOURCE is, `miner
selection --help` says.

\b
miner selection train {name} corpus -o {folder}
"""


class _Methods(Mapping[str, click.Command]):
    """The commands of the methods. A module is imported when its command is asked for."""

    def __getitem__(self, name: str) -> click.Command:
        from miner.selection.methods import find_method

        if name not in list(self):
            raise KeyError(name)
        return _command_of(find_method(name))

    def __iter__(self) -> Iterator[str]:
        return iter(_describe_methods())

    def __len__(self) -> int:
        return len(_describe_methods())


class _MethodGroup(CommandGroup):
    """The group of the methods. Its help imports none of them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Methods()  # pyright: ignore[reportAttributeAccessIssue]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a method.

        Raises:
            ValueError: if there is no such method; names all.
        """
        if cmd_name not in self.commands and not ctx.resilient_parsing:
            methods = ", ".join(self.commands)
            raise ValueError(f"found method {cmd_name!r}, expected {methods}")
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the methods and what they are."""
        with formatter.section("Methods"):
            formatter.write_dl(list(_describe_methods().items()))


def _describe_methods() -> dict[str, str]:
    from miner.selection.methods import describe_methods

    return describe_methods()


@click.group("train", cls=_MethodGroup, subcommand_metavar="METHOD SOURCE -o OUT [OPTIONS]")
def command() -> None:
    """Train a method.

    `miner selection train METHOD --help` has the options of a method. METHOD is one of those below.

    \b
    miner selection train tf-idf corpus -o tf-idf
    miner selection train bm25 pairs.csv --most-pairs 10000 -o bm25
    miner selection train tf-idf mined --without-books-of annotations:dev+test -o b
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


def _command_of(kind: MethodKind) -> click.Command:
    """Returns the command that trains a method, with the options of the method last."""

    def train(**values: Any) -> None:
        _train(kind, **values)

    help = _HELP.format(
        about=_describe_methods()[kind.name], name=kind.name, folder=kind.name.replace("-", "")
    )
    decorated = config_options(kind.options)(train)
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    shown = {"show_default": True}
    return click.command(kind.name, help=help, context_settings=shown)(decorated)


_OPTIONS = (
    click.argument("source", metavar="SOURCE", type=SourceName()),
    out_option("Folder for the method; it must not exist yet.", required=True),
    click.option(
        "--split",
        metavar="NAME",
        help="Split of SOURCE to learn from, several joined by +, or all.  [default: train, where "
        "there are splits]",
    ),
    click.option(
        "--validation",
        type=SourceName(),
        metavar="SOURCE",
        help="Pairs of other books, on which the method is chosen while it is trained: by default "
        "their split validation (dev of annotations).",
    ),
    click.option(
        "--history-turns",
        type=TurnCount(),
        default=0,
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
        type=SourceName(),
        multiple=True,
        metavar="SOURCE",
        help="Leave out the pairs of the books of another source, which is to be scored: of all "
        "its splits, unless one is named (annotations:dev+test). May be repeated.",
    ),
    click.option(
        "--seed", type=int, default=0, help="Random seed of the pairs drawn and of the training."
    ),
    click.option(
        "--resume",
        is_flag=True,
        help="Resume an interrupted training into OUT, if there is one.",
    ),
    language_option(),
    books_option,
    mirror_option,
    force_option,
    quiet_option,
    json_option,
)


def _train(
    kind: MethodKind,
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
    books: Path | None,
    mirror: str | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    from miner.app.tables.selection import describe_step, describe_training
    from miner.files import refuse_existing
    from miner.selection.method_folder import read_curve
    from miner.selection.sources import books_of_source, draw_pairs, leave_out_books
    from miner.selection.training import train_method

    refuse_existing(out, force)
    options = kind.read_options(values)
    found = open_source(source, split, "train", language, books, mirror)
    for other in without_books_of:
        found = leave_out_books(found, books_of_source(other, language=language), Path(other).name)
    if most_pairs:
        found = draw_pairs(found, most_pairs, seed)
    judged = None
    if validation:
        judged = open_source(validation, None, "validation", language, books, mirror)

    with CountBar(f"training {kind.name}", quiet or as_json) as bar:

        def report(step: Step) -> None:
            if not quiet and not as_json:
                bar.echo(describe_step(step))

        trained = train_method(
            kind,
            options,
            found.part,
            judged.part if judged else None,
            out,
            seed=seed,
            history_turns=history_turns,
            resume=resume,
            force=force,
            report=report,
            progress=bar.show,
        )
    steps = read_curve(out)
    if as_json:
        show_json({"record": trained.record, "curve": [asdict(step) for step in steps]})
    elif not quiet:
        click.echo(describe_training(trained.record, steps))
        click.echo(f"wrote {out}")
