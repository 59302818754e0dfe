"""The command `miner`: its commands, in the order in which the help lists them."""

from __future__ import annotations

import signal
import warnings
from functools import partial
from importlib import import_module

import click

from miner.app.cli.command import CommandGroup, LazyCommands
from miner.errors import SetAsideWarning
from miner.plugins import find_entries
from miner.version import __version__

_COMMANDS = {  # each with its module, in the order in which the help lists them
    "mine": "mine",
    "build": "build",
    "catalog": "catalog",
    **dict.fromkeys(("tag", "view", "profile", "annotate"), "book"),
}


def _names() -> list[str]:
    """The commands of the miner, then those that packages add by entry points."""
    return [*_COMMANDS, *find_entries("miner.commands")]


def _load(name: str) -> click.Command:
    if module := _COMMANDS.get(name):
        return getattr(import_module(f"miner.app.cli.{module}"), name)
    return find_entries("miner.commands")[name].load()


def _print_version(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from miner.tagger.load import SHIPPED

    taggers = (f"tagger {name}@{sha256[:8]}" for name, sha256 in SHIPPED.items())
    click.echo(", ".join([f"miner {__version__}", *taggers]))
    ctx.exit()


@click.group("miner", cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version, and that of the tagger in the package.",
)
def main() -> None:
    """Mine conversations from Project Gutenberg novels.

    The miner finds the utterances and the narration of a book, tags them, and writes its dialogues,
    turn by turn, and pairs of a turn and the next turn.

    \b
    A book is
      a file                   1342-h.htm, 1342-0.txt, pg1342.epub, 1342-h.zip
      a folder, or a pattern   books, "books/*.htm"
      a Gutenberg number       1342, looked up in --books, then downloaded
      a title                  "Pride and Prejudice"
      an address               https://www.gutenberg.org/ebooks/1342
      a query, for mine        --language de --subject fiction
      the word sample          a short story that comes with the package

    \b
    miner mine sample -o mined          all steps at once
    miner build recipe.toml -o corpus   many books: filtered, divided, described
    miner profile 1342                  how a book marks speech, and the evidence
    miner tag sample -o sample.tags     one tag per span, to correct or to score
    miner view sample -o sample.html    the book as a page with its conversations
    miner score --gold G --predicted P  how far to trust predicted tags

    \b
    The shell completes commands, options and names after one of these lines:
      eval "$(_MINER_COMPLETE=bash_source miner)"     in ~/.bashrc
      eval "$(_MINER_COMPLETE=zsh_source miner)"      in ~/.zshrc
      _MINER_COMPLETE=fish_source miner | source      in ~/.config/fish/config.fish
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    warnings.simplefilter("ignore", SetAsideWarning)  # the commands show all that is set aside
    # Termination and a closed terminal, like Ctrl-C, leave no half-written file.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # not every system has both
        if number and signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            before = signal.signal(number, signal.default_int_handler)
            # A process that calls the command as a function ends as it did before.
            click.get_current_context().call_on_close(partial(signal.signal, number, before))


main.commands = LazyCommands(_names, _load)  # pyright: ignore[reportAttributeAccessIssue]
