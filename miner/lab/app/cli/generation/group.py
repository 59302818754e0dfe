"""`miner generation`: its commands, in the order in which the help lists them."""

import click

from miner.app.cli.errors import CommandGroup
from miner.lab.app.cli.generation import answer, chat, score, train


@click.group("generation", cls=CommandGroup)
def group() -> None:
    """Measure what dialogues teach: answer in own words.

    A model learns from pairs of a context and its response, and answers contexts that it has not
    seen. Answers are judged by the seventeen metrics of "The Gutenberg Dialogue Dataset", side by
    side with random responses and with the true ones; those of other people's models, too.

    \b
    SOURCE is
      a folder of pairs    the output of `miner mine` or `miner build`, in any
                           format, or a folder in it
      a file of pairs      CSV, TSV, JSON Lines or Parquet with columns context
                           and response, perhaps history, book and chapter
      annotations          the true turns of the annotated books (--books)
      one with its split   corpus:train, annotations:dev+test, corpus:all

    \b
    miner generation train transformer corpus --validation corpus -o model
    miner generation answer model corpus -o answers.jsonl
    miner generation score answers.jsonl --reference corpus
    miner generation chat model
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


for _module in (train, answer, score, chat):
    group.add_command(_module.command)
