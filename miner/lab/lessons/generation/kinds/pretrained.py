"""Pretrained: a model by its name or path, trained further, such as GPT-2 or one of your own.

The second model of GD (section 5.2, Table 8) is GPT-2 with three turns of context. Any decoder of
Hugging Face can be taken, and any encoder with a decoder: a folder, or a name on the Hub. A folder
of `miner generation train` is fine-tuned; its tokens stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from miner.errors import InputError
from miner.files import printable
from miner.lab.learning.fields import Option
from miner.lab.lessons.embeddings import quiet
from miner.lab.lessons.examples import Example
from miner.lab.lessons.generation.kinds import Beginning, LearningOptions
from miner.lab.lessons.generation.models import (
    RECORD,
    choose_markers,
    context_room,
    load_model,
    load_pretrained,
)
from miner.lab.lessons.generation.tokens import TurnTokens, add_markers, read_lowercase

HISTORY_TURNS = 2  # three turns of context, as GD's GPT-2 has


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(LearningOptions):
    """Which model, and how it learns. GD takes 8 batches of 2 pairs."""

    model: Annotated[
        str, Option("The model: a folder, or a name on the Hugging Face Hub such as gpt2.")
    ] = ""
    batch: Annotated[int, Option("Pairs in a batch.", minimum=1)] = 16
    rate: Annotated[float, Option("Highest learning rate of AdamW.")] = 6.25e-5
    smoothing: Annotated[
        float, Option("Label smoothing: the share of the target spread over all tokens.")
    ] = 0.0
    lowercase: Annotated[
        bool, Option("Read all letters as small ones, as GD does; not of one of your own.")
    ] = False
    longest_context: Annotated[
        int, Option("Most tokens of a context; it loses its oldest ones.", minimum=4)
    ] = 256


def begin(examples: Sequence[Example], options: Options) -> Beginning:
    """Returns the model with its weights. One without the markers of turns learns them anew."""
    if not options.model:
        raise InputError(
            "pretrained: found no `model=`, expected a folder or a name on the Hugging Face Hub"
        )
    folder = Path(options.model).expanduser()
    trained_on: tuple[str, ...] = ()
    judged_on: tuple[str, ...] = ()
    if (folder / RECORD).is_file():
        if options.lowercase:
            raise InputError(
                f"`lowercase=True`: found {printable(folder)}, whose tokens stay as they are, "
                "expected a model that was not trained here"
            )
        trained = load_model(folder)
        model, tokenizer = trained.model, trained.tokens.tokenizer
        trained_on, judged_on = trained.trained_on, trained.judged_on
    else:
        model, tokenizer = load_pretrained(options.model)
        if options.lowercase:
            read_lowercase(tokenizer)
        if add_markers(tokenizer):
            with quiet():
                model.resize_token_embeddings(len(tokenizer))
    room = context_room(model.config, options.longest_response)
    if room < 1:
        raise InputError(
            f"{printable(options.model)}: found a model without room for a context and a response "
            f"of {options.longest_response} tokens, expected a smaller `longest_response=`"
        )
    tokens = TurnTokens(tokenizer, min(options.longest_context, room), options.longest_response)
    choose_markers(model, tokens)
    return Beginning(model, tokens, trained_on, judged_on)
