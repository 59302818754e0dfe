"""`miner generation`: train models that answer, let them answer, and score the answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from miner.app.cli.command import CommandGroup
from miner.app.cli.options import PATH, force_option, json_option, out_option, quiet_option
from miner.app.cli.terminal import CountBar, open_console, show, show_json, show_note
from miner.extras import import_extra
from miner.lab.app.cli.options import (
    SOURCE,
    config_options,
    language_option,
    open_source,
    reader_options,
    source_argument,
    source_split_option,
)
from miner.lab.app.cli.training import KindGroup, Trainer, train_command
from miner.lab.lessons.generation.answers import Decoding

_ANEW = "/new"
_SHOWN = {"show_default": True}
Read = Callable[[str], bytes]  # a book by its number


@click.group(cls=CommandGroup)
def generation() -> None:
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
    example = _EXAMPLES.get(name, f"miner generation train {name} corpus -o model")
    help = _HELP.format(about=_describe()[name], example=example)
    return train_command(kind, _trainer, "model", kind.history_turns, help)


def _trainer() -> Trainer:
    from miner.lab.app.tables.lessons import describe_model_step, describe_model_training
    from miner.lab.lessons.generation.models import read_curve
    from miner.lab.lessons.generation.training import train_model

    return Trainer(train_model, describe_model_step, describe_model_training, read_curve)


@generation.group(
    cls=KindGroup,
    noun="kind",
    describe=_describe,
    command_of=_command_of,
    subcommand_metavar="KIND SOURCE -o OUT [OPTIONS]",
)
def train() -> None:
    """Train a model that answers.

    `miner generation train KIND --help` has the options of a kind. KIND is one of those below.

    \b
    miner generation train transformer corpus --validation corpus -o model
    miner generation train pretrained pairs.csv --model model -o tuned
    """  # noqa: D301 - click keeps the lines of a paragraph after \b


@generation.command(context_settings=_SHOWN)
@click.argument("folder", metavar="MODEL", type=PATH)
@source_argument
@out_option("File for the answers (JSON Lines).", required=True)
@source_split_option
@click.option(
    "--most-pairs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Answer N contexts, drawn by chance.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=32,
    help="Contexts that are answered at a time; fewer need less memory.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Random seed of the answers.")
@language_option()
@reader_options
@force_option
@quiet_option
@json_option
@config_options(Decoding)
def answer(
    folder: Path,
    source: str,
    out: Path,
    split: str | None,
    most_pairs: int | None,
    batch: int,
    seed: int,
    language: str,
    read: Read,
    force: bool,
    quiet: bool,
    as_json: bool,
    **values: Any,  # noqa: ANN401 - the fields of `Decoding`
) -> None:
    """Let a trained MODEL answer the contexts of SOURCE.

    MODEL is a folder of `miner generation train`. The file has each context with its true response
    and the answer of the model, for `miner generation score`. A book that the model was trained on
    is refused. A context that is longer than the model reads loses its oldest tokens, and a line
    says how many did.

    \b
    miner generation answer model corpus -o answers.jsonl
    miner generation answer model pairs.csv --decoding beam -o answers.jsonl
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    import_extra("torch", "generation")
    from miner.files import refuse_existing
    from miner.lab.app.tables.lessons import describe_answers
    from miner.lab.lessons.generation.answers import answer_examples, write_answers
    from miner.lab.lessons.generation.models import load_model, read_record
    from miner.lab.lessons.sources import draw_pairs

    refuse_existing(out, force)
    decoding = Decoding(**values)
    read_record(folder)  # before the source, which may take long
    found = open_source(source, split, "test", language, read)
    if most_pairs:
        found = draw_pairs(found, most_pairs, seed)
    trained = load_model(folder)
    with CountBar("answering", quiet or as_json) as bar:
        answered = answer_examples(trained, found.examples, decoding, seed, batch, bar.show)
    write_answers(out, answered.answers, force)
    name = ", ".join((found.source, *found.chosen))
    if as_json:
        about = {"source": name, "decoding": decoding.describe(), "seed": seed}
        counts = {name: value for name, value in asdict(answered).items() if name != "answers"}
        show_json(about | {"answers": len(answered.answers)} | counts)
    elif not quiet:
        click.echo(describe_answers(answered, name, decoding, trained.tokens))
        click.echo(f"wrote {out}")


@generation.command()
@click.argument("paths", metavar="ANSWERS...", nargs=-1, required=True, type=PATH)
@click.option(
    "--reference",
    type=SOURCE,
    required=True,
    metavar="SOURCE",
    help="What the models were trained on: the probabilities of its words, and random responses; "
    "its split train, unless another one is named (corpus:all).",
)
@click.option(
    "--vectors",
    metavar="NAME",
    help="Vectors of words for AVG, EXT, GRE and COH: a text file of fastText or word2vec, or a "
    "sentence encoder (a folder, an installed package that holds one, or a name on the Hugging "
    "Face Hub). Without them, these have no value.",
)
@click.option(
    "--papers", is_flag=True, help="Print the figures that the paper has for its data, too."
)
@click.option(
    "--show",
    "n_shown",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Print N contexts, drawn by chance, with what each model answered.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Draws of books for the 95% intervals.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed of all that is drawn.",
)
@language_option()
@reader_options
@json_option
def score(
    paths: tuple[Path, ...],
    reference: str,
    vectors: str | None,
    papers: bool,
    n_shown: int,
    resamples: int,
    seed: int,
    language: str,
    read: Read,
    as_json: bool,
) -> None:
    """Score the answers of dialogue models, side by side.

    Each of ANSWERS has those of one model to the same contexts: a table (JSON Lines, CSV, TSV or
    Parquet) with columns context, response and predicted, perhaps history, book and chapter; or a
    folder of contexts.txt, responses.txt and predicted.txt, a line each. The metrics are those of
    "The Gutenberg Dialogue Dataset", with 95% intervals over books, and a line says exactly what
    was scored. They were made for English. Below the models stand random responses and the true
    ones, which tell what a value means.

    \b
    miner generation score answers.jsonl --reference corpus
    miner generation score trf.csv gpt2.csv --reference corpus --vectors wiki.vec
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    from miner.files import name_paths
    from miner.lab.app.tables.lessons import tabulate_answers, tabulate_published_models
    from miner.lab.lessons.generation.answers import read_answers
    from miner.lab.lessons.generation.comparison import Scoring, compare_answers
    from miner.lab.lessons.generation.metrics import make_reference, nltk_version
    from miner.lab.lessons.papers import GENERATION

    nltk_version()  # its absence is told at once
    answers = {
        name: read_answers(path) for name, path in zip(name_paths(paths), paths, strict=True)
    }
    found = open_source(reference, None, "train", language, read)
    with CountBar("reference", as_json) as bar:
        of_training = make_reference(
            found.examples, ", ".join((found.source, *found.chosen)), progress=bar.show
        )
        compared = compare_answers(
            answers,
            of_training,
            vectors,
            Scoring(resamples, seed),
            n_shown=n_shown,
            begin=bar.rename,
            progress=bar.show,
        )
    if as_json:
        published = {"papers": [asdict(table) for table in GENERATION]} if papers else {}
        show_json(compared.to_json() | published)
        return
    width = open_console().width
    show(tabulate_answers(compared, width))
    if papers:
        click.echo()
        show(tabulate_published_models(GENERATION, width))


@generation.command(context_settings=_SHOWN)
@click.argument("folder", metavar="MODEL", type=PATH)
@click.option("--seed", type=int, default=0, help="Random seed of the answers.")
@config_options(Decoding)
def chat(
    folder: Path,
    seed: int,
    **values: Any,  # noqa: ANN401 - the fields of `Decoding`
) -> None:
    """Talk with a trained MODEL.

    MODEL is a folder of `miner generation train`. It answers each line that you enter, with as many
    turns before it in mind as it was trained on. The line /new begins a new conversation. An empty
    line, or the end of the input (Ctrl-D), ends the talk. Lines can be piped in, too.

    \b
    miner generation chat model
    miner generation chat model --temperature 1 --seed 7
    """  # noqa: D301 - click keeps the lines of a paragraph after \b
    import_extra("torch", "generation")
    from miner.lab.lessons.generation.answers import Conversation
    from miner.lab.lessons.generation.models import load_model

    decoding = Decoding(**values)
    conversation = Conversation(load_model(folder), decoding, seed)
    is_talk = sys.stdin.isatty()
    if is_talk:
        click.echo(f"{_ANEW} begins anew, an empty line ends", err=True)
    while True:
        if is_talk:
            click.echo(click.style("you   ", bold=True), nl=False)
        line = sys.stdin.readline()
        text = " ".join(line.split())
        if not text:
            break
        if text == _ANEW:
            conversation.forget()
            continue
        label = click.style("model ", bold=True) if is_talk else ""
        answer = conversation.answer(text)
        if conversation.was_cut:
            show_note("left out", "the oldest words, as the model reads no more")
        click.echo(f"{label}{answer}")
    if is_talk and not line:
        click.echo()
