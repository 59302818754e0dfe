"""The command `miner`: its commands, in the order in which the help lists them."""

from __future__ import annotations

import signal

import click

from miner.app.cli import annotate, compare, mine, profile, quotations, score, tag, view
from miner.app.cli.errors import CommandGroup
from miner.app.cli.gold.group import group as gold_group
from miner.version import __version__


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="miner")
def main() -> None:
    """Mine conversations from Project Gutenberg novels.

    A book is an HTML file, a folder or glob of files, a Gutenberg number, or the word `sample` (a
    short story that comes with the package). The miner finds its utterances and its narration, tags
    them, and writes its dialogues, turn by turn, and pairs of a turn and the next turn.

    \b
    miner mine sample -o mined          all steps at once
    miner profile 1342-h.htm            how a book marks speech, and the evidence
    miner tag 1342-h.htm -o tags.jsonl  one tag per span, to correct or to score
    miner view sample -o sample.html    the book as a page with its conversations
    miner score --gold G --predicted P  how far to trust predicted tags
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    # Termination and a closed terminal, like Ctrl-C, leave no half-written file.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # not every system has both
        if number and signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, signal.default_int_handler)


for _module in (mine, tag, view, profile, score, compare, quotations, annotate):
    main.add_command(_module.command)
main.add_command(gold_group)
