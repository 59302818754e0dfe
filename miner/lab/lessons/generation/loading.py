"""A name -> a model of Hugging Face and its tokenizer, and the room that a model has."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from miner.errors import InputError
from miner.files import printable, reason_of
from miner.hub import find_folder, load_config, load_from_hub, load_with

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from miner.lab.lessons.generation.tokens import TurnTokens

_NO_LIMIT = 2**31


def load_pretrained(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Returns a model and its tokenizer: a decoder, or an encoder with a decoder."""
    try:
        with quiet():
            if folder := find_folder(name):
                return _load(str(folder), True)
            return load_from_hub(name, _load)
    except Exception as error:  # the library raises errors of many kinds
        raise InputError(
            f"{printable(name)}: found no model ({reason_of(error)}), expected a folder of a "
            "decoder and its tokenizer, or a name on the Hugging Face Hub"
        ) from error


def context_room(config: Any, longest_response: int) -> int:  # noqa: ANN401 - of any model
    """Returns the most tokens of a context that a model has room for beside a response.

    A decoder reads both as one sequence; an encoder reads contexts alone.
    """
    positions = _positions(config)
    if config.is_encoder_decoder:
        return positions if longest_response <= positions else 0
    return positions - longest_response - 1  # the marker of the one who answers


def answer_room(config: Any, n_read: int) -> int:  # noqa: ANN401 - of any model
    """Returns the most tokens of an answer that a model has room for."""
    positions = _positions(config)
    return positions if config.is_encoder_decoder else positions - n_read


def _positions(config: Any) -> int:  # noqa: ANN401 - of any model
    """The tokens of the longest sequence; more than any has, where the config names none."""
    return getattr(config, "max_position_embeddings", None) or _NO_LIMIT


def choose_markers(model: PreTrainedModel, tokens: TurnTokens) -> None:
    """Makes a model begin and end its answers with the markers of turns, and nothing else of it.

    What the model came with for other tasks (beams, forced first tokens, lengths) would be taken
    wherever this project leaves an option to the library.
    """
    from transformers import GenerationConfig

    config = model.config
    config.pad_token_id, config.eos_token_id = tokens.padding, tokens.end
    chosen: dict[str, Any] = {"pad_token_id": tokens.padding, "eos_token_id": tokens.end}
    if config.is_encoder_decoder:
        config.decoder_start_token_id = chosen["decoder_start_token_id"] = tokens.answering
    model.generation_config = GenerationConfig(**chosen)


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps the library's bars and warnings from the terminal."""
    from transformers.utils import logging as library

    level, shown = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity(logging.ERROR)
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(level)
        if shown:
            library.enable_progress_bar()


def _load(name: str, here: bool) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads by the library's own classes."""
    from transformers import (
        AutoModelForCausalLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
    )

    config = load_config(name, here)
    if not config.is_encoder_decoder and hasattr(config, "is_decoder"):
        config.is_decoder = True  # else a masked model such as BERT would see what it has to find
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    tokenizer = load_with(AutoTokenizer, name, here)
    model = load_with(kind, name, here, config=config)
    return model.float(), tokenizer
