"""The command `miner`: its commands, in the order in which the help lists them."""

from __future__ import annotations

import signal

import click

from miner import __version__
from miner.app.cli import annotate, compare, gold, mine, profile, quotations, score, tag, view
from miner.app.cli.errors import Group


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="miner")
def main() -> None:
    """Mine conversations from Project Gutenberg novels.

    A book goes in as an HTML file, a folder or glob of them, a Gutenberg number, or the word
    `sample` (a short work that comes with the package). Out come its utterances and narration in
    order, tagged; its dialogues, turn by turn; and pairs of a turn and its answer.

    \b
    miner mine sample -o mined          the whole way, in one step
    miner profile 1342-h.htm            how a book marks speech, and the evidence
    miner tag 1342-h.htm -o tags.jsonl  one tag per span, to correct or to score
    miner view sample -o sample.html    the book as a page, its conversations marked
    miner score --gold G --predicted P  how far to trust it
    """  # noqa: D301 - click's mark for lines that are to stay as they are
    # Whoever stops the program in another way than Ctrl-C gets no half file, either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


for _module in (mine, tag, view, profile, score, compare, quotations, annotate):
    main.add_command(_module.command)
main.add_command(gold.group)
