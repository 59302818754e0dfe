"""A new model for training: a pre-trained encoder, and a head with random weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import set_seed
from torch import nn
from transformers import PretrainedConfig
from transformers.utils import logging

from miner.errors import InputError
from miner.files import reason_of
from miner.lab.training.encoders.encoder import load_encoder
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.tagger.encoding import Window, find_special_tokens, plain_tokenizer
from miner.tagger.model import ConversationTagger, TaggerConfig
from miner.tagger.torch_runtime import read_checkpoint

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

# What a saved encoder records of its own file; the model is trained in float32 in any case.
_OF_THE_FILE = ("_name_or_path", "dtype", "torch_dtype")


def new_model(config: TrainingConfig) -> tuple[ConversationTagger, PreTrainedTokenizerFast]:
    """Returns a model with the weights of its encoder and a new head, and the tokenizer."""
    set_seed(config.seed)
    logging.disable_progress_bar()
    loaded = load_encoder(config.encoder)
    tokenizer: Any = loaded.tokenizer
    pretrained = loaded.model.state_dict()
    encoder = _encoder_config(config, loaded.model.config)
    if config.masked and tokenizer.mask_token_id is None:
        raise InputError(f"{config.encoder}: found no mask token, expected one for `masked=`")
    model = ConversationTagger(
        TaggerConfig(
            encoder={k: v for k, v in encoder.to_dict().items() if k not in _OF_THE_FILE},
            context=config.context,
            window=config.window,
            margin=config.margin,
            ends=config.ends,
            paragraphs=config.paragraphs,
            features=config.features,
            projection=config.projection,
            hidden=config.hidden,
            layers=config.layers,
            dropout=config.dropout,
            masked=config.masked,
            mask=tokenizer.mask_token_id or 0,
            separator=find_special_tokens(plain_tokenizer(tokenizer.backend_tokenizer))[1],
        )
    )
    positions = getattr(encoder, "max_position_embeddings", None)
    longest = min(positions or config.window, tokenizer.model_max_length)
    if config.window > longest:
        raise InputError(
            f"found a window of {config.window} tokens, expected at most {longest}, the encoder's"
        )
    _check_layers("freeze", config.frozen_layers, encoder)
    find_encoder_layers(model)  # an encoder without separate layers is refused before training
    model.encoder.load_state_dict(
        {name: pretrained[name] for name in model.encoder.state_dict()}, strict=True
    )
    _check_reading(model, config.encoder)
    if not torch.cuda.is_available():  # on a CPU the fused kernel's backward pass is slow
        model.encoder.set_attn_implementation("eager")
    return model, tokenizer


def _encoder_config(config: TrainingConfig, encoder: Any) -> PretrainedConfig:  # noqa: ANN401
    """Returns the config of the pre-trained encoder, with as many layers as are kept."""
    if not hasattr(encoder, "num_hidden_layers"):
        raise InputError(
            f"{config.encoder}: found an encoder of type {encoder.model_type}, "
            "expected one for text"
        )
    _check_layers("keep", config.encoder_layers, encoder)
    if config.encoder_layers:
        encoder.num_hidden_layers = config.encoder_layers
        if getattr(encoder, "layer_types", None):
            encoder.layer_types = encoder.layer_types[: config.encoder_layers]
    return encoder


def _check_layers(verb: str, n_layers: int, encoder: Any) -> None:  # noqa: ANN401 - any config
    if n_layers > encoder.num_hidden_layers:
        raise InputError(
            f"found {n_layers} layers to {verb}, "
            f"expected at most {encoder.num_hidden_layers}, the encoder's"
        )


def find_encoder_layers(model: ConversationTagger) -> nn.ModuleList:
    """Returns the layers of the encoder, lowest first."""
    n_layers: int = model.encoder.config.num_hidden_layers
    for module in model.encoder.modules():
        if isinstance(module, nn.ModuleList) and len(module) == n_layers:
            return module
    kind = model.encoder.config.model_type
    raise InputError(
        f"found an encoder of type {kind}, expected one with {n_layers} separate layers"
    )


def _check_reading(model: ConversationTagger, encoder: str) -> None:
    """Raises an error if the encoder cannot read a full window, before any training."""
    n = model.config.window
    window = Window((model.config.separator,) * n, (0, n - 2), 0)
    model.eval()
    try:
        with torch.no_grad():
            model.read_windows([window], n)
    except Exception as error:  # encoders for other inputs raise errors of many kinds
        raise InputError(
            f"{encoder}: found no encoder that reads windows of {n} tokens ({reason_of(error)}), "
            "expected one for text, or a smaller `window=`"
        ) from error


def initialize_from(model: ConversationTagger, runs: Sequence[Path]) -> None:
    """Loads the weights of another run into the model, or the mean of those of several.

    Runs that began with the same weights have a mean that is often better than each of them
    ("Model soups", Wortsman et al. 2022, section 3).

    Raises:
        InputError: if a run cannot be loaded, or its model has another shape.
    """
    shapes = {name: value.shape for name, value in model.state_dict().items()}
    mean: dict[str, torch.Tensor] = {}
    for run in runs:
        weights = read_checkpoint(run)[0].state_dict()
        if shapes != {name: value.shape for name, value in weights.items()}:
            raise InputError(f"{run}: found a model of another shape, expected that of the options")
        for name, value in weights.items():
            share = value / len(runs) if value.is_floating_point() else value
            mean[name] = mean[name] + share if name in mean and share is not value else share
    model.load_state_dict(mean)
