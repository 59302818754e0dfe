"""`miner selection`: its commands, in the order in which the help lists them."""

import click

from miner.app.cli.errors import CommandGroup
from miner.lab.app.cli.selection import compare, score, train


@click.group("selection", cls=CommandGroup)
def group() -> None:
    """Measure what dialogues teach: find the true response.

    A method learns from pairs of a context and its response. It is judged by how often it finds the
    true response among others, as in "A Repository of Conversational Datasets" and "The Ubuntu
    Dialogue Corpus". Train one method on what two miners mined, and score both on the same pairs.

    \b
    SOURCE is
      a folder of pairs    the output of `miner mine` or `miner build`, in any
                           format, or a folder in it
      a file of pairs      CSV, TSV, JSON Lines or Parquet with columns context
                           and response, perhaps history, book and chapter
      annotations          the true turns of the annotated books (--books)
      the folder of MCN    the labels of "Mining Conversations from Novels"
      one with its split   corpus:train, annotations:dev+test, corpus:all

    \b
    miner selection train tf-idf corpus -o tf-idf          learn from a corpus
    miner selection score tf-idf corpus                    on its split test, if any
    miner selection compare tf-idf bm25 --on annotations   side by side
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


for _module in (train, score, compare):
    group.add_command(_module.command)
