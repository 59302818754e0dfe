"""`miner generation chat`: talk with a trained model in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from miner.app.cli.command import Command
from miner.app.cli.options import PATH
from miner.extras import import_extra
from miner.lab.app.cli.config_options import config_options
from miner.lab.lessons.generation.decoding import Decoding

_ANEW = "/new"


@click.command("chat", cls=Command, context_settings={"show_default": True})
@click.argument("folder", metavar="MODEL", type=PATH)
@click.option("--seed", type=int, default=0, help="Random seed of the answers.")
@config_options(Decoding)
def command(
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
    from miner.lab.lessons.generation.answering import Conversation
    from miner.lab.lessons.generation.model_folder import load_model

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
            note = click.style("left out", fg="yellow")
            click.echo(f"{note}: the oldest words, as the model reads no more", err=True)
        click.echo(f"{label}{answer}")
    if is_talk and not line:
        click.echo()
