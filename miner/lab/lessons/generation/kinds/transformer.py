"""Transformer: an encoder and a decoder from scratch, with a tokenizer trained on the corpus.

The first model of GD (section 5.2, Table 7): the base Transformer of tensor2tensor, with layers
normalised before they compute, sines for positions and one table of embeddings, which Pegasus
(Zhang et al. 2020) shares. The sizes of GD are `--hidden 512 --layers 6 --heads 8 --filter 2048`.
Tokens are those of byte-pair encoding; GD takes the 100,000 most frequent words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from transformers import PegasusConfig, PegasusForConditionalGeneration

from miner.errors import InputError
from miner.lab.learning.fields import Option
from miner.lab.lessons.examples import Example
from miner.lab.lessons.generation.kinds import Beginning, LearningOptions
from miner.lab.lessons.generation.models import choose_markers
from miner.lab.lessons.generation.tokens import TurnTokens, train_tokenizer

HISTORY_TURNS = 0  # GD trains it on pairs of utterances


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(LearningOptions):
    """The sizes of the model, and how it learns."""

    hidden: Annotated[int, Option("Numbers of a token's vector.", minimum=8)] = 256
    layers: Annotated[int, Option("Layers of the encoder, and of the decoder.", minimum=1)] = 4
    heads: Annotated[int, Option("Heads of attention.", minimum=1)] = 4
    filter: Annotated[int, Option("Units between the two products of a layer.", minimum=1)] = 1024
    dropout: Annotated[float, Option("Share of the numbers left out.")] = 0.1
    vocabulary: Annotated[int, Option("Tokens of the vocabulary.", minimum=1)] = 8000
    lowercase: Annotated[bool, Option("Read all letters as small ones, as GD does.")] = True
    longest_context: Annotated[
        int, Option("Most tokens of a context; it loses its oldest ones.", minimum=4)
    ] = 96

    def shares(self) -> dict[str, float]:
        """The options that are shares, by their names."""
        return {**LearningOptions.shares(self), "dropout": self.dropout}


def begin(examples: Sequence[Example], options: Options) -> Beginning:
    """Returns a model with random weights, and its tokenizer."""
    if options.hidden % (2 * options.heads):
        raise InputError(
            f"found `hidden={options.hidden}` and `heads={options.heads}`, expected an even "
            "number for each head"
        )
    texts = [text for one in examples for text in (one.context[-1], one.response)]
    tokenizer = train_tokenizer(texts, options.vocabulary, options.lowercase)
    tokens = TurnTokens(tokenizer, options.longest_context, options.longest_response)
    config = PegasusConfig(
        vocab_size=len(tokenizer),
        pad_token_id=tokens.padding,
        max_position_embeddings=max(options.longest_context, options.longest_response),
        d_model=options.hidden,
        encoder_layers=options.layers,
        decoder_layers=options.layers,
        encoder_attention_heads=options.heads,
        decoder_attention_heads=options.heads,
        encoder_ffn_dim=options.filter,
        decoder_ffn_dim=options.filter,
        activation_function="relu",
        dropout=options.dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        scale_embedding=True,
        init_std=options.hidden**-0.5,
        forced_eos_token_id=None,
    )
    model = PegasusForConditionalGeneration(config)
    choose_markers(model, tokens)
    return Beginning(model, tokens)
