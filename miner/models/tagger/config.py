"""The config of a checkpoint, and the check that this version can read it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from transformers import PretrainedConfig

from miner.dialogue.tags import TAGS
from miner.models.tagger.features import FEATURES

FORMAT = 1  # raised when this version would read an older checkpoint wrongly


class Expert(StrEnum):
    """A part of the model that scores utterances by itself."""

    TEXT = "text"
    STRUCTURE = "structure"


class TaggerConfig(PretrainedConfig):
    """What a checkpoint records beside its weights.

    Args:
        encoder: the config of the encoder.
        context: "text" for running text in windows, "span" for each span alone.
        window: the most tokens that the encoder reads at once, special tokens included.
        margin: tokens at each edge of a window that serve as context only.
        ends: tokens kept at each end of an utterance or of narration; 0 keeps all.
        paragraphs: paragraphs with speech that the BiLSTM reads at once; 0 reads a whole chapter.
        features: whether the model reads structure features beside the vectors.
        projection: the size to which utterance vectors are projected.
        hidden: the size of the BiLSTM in each direction.
        layers: the number of layers of the BiLSTM.
        dropout: the dropout before and after the BiLSTM.
        start_share: the weight of the text expert, 0..1, when the model decides whether a
            conversation opens. It is fitted on dev; the structure expert has the rest.
        turn_share: the same, when the model decides whether a new turn opens.
        masked: the share of tokens that are hidden in training.
        mask: the id of the token that hides them.
        separator: the id of the token between paragraphs, which is never hidden.
        start_offset: added to the scores of B-START before decoding, and fitted on dev. B-START is
            rare, so the most probable tags contain too few. Confidence ignores the offset.
        confidence_temperature: scores are divided by it, so that confidence is calibrated.
        training: what the model was trained on and how; the model card prints it.
        format: the format of the checkpoint.
        **kwargs: as `PretrainedConfig` takes them.
    """

    model_type = "conversation-tagger"

    def __init__(
        self,
        encoder: dict[str, Any] | None = None,
        context: str = "text",
        window: int = 256,
        margin: int = 32,
        ends: int = 24,
        paragraphs: int = 0,
        features: bool = True,
        projection: int = 256,
        hidden: int = 128,
        layers: int = 1,
        dropout: float = 0.2,
        start_share: float = 0.5,
        turn_share: float = 0.5,
        masked: float = 0.0,
        mask: int = 0,
        separator: int = 0,
        start_offset: float = 0.0,
        confidence_temperature: float = 1.0,
        training: dict[str, Any] | None = None,
        format: int = FORMAT,
        **kwargs: Any,  # noqa: ANN401 - what PretrainedConfig takes
    ) -> None:
        self.encoder = encoder or {}
        self.context = context
        self.window = window
        self.margin = margin
        self.ends = ends
        self.paragraphs = paragraphs
        self.features = features
        self.projection = projection
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.start_share = start_share
        self.turn_share = turn_share
        self.masked = masked
        self.mask = mask
        self.separator = separator
        self.start_offset = start_offset
        self.confidence_temperature = confidence_temperature
        self.training = training or {}
        self.format = format
        self.tags = [str(tag) for tag in TAGS]
        self.feature_names = list(FEATURES)
        super().__init__(**kwargs)


def refuse_another_format(record: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Raises an error if this version would read a checkpoint wrongly.

    Args:
        record: the checkpoint's config, as its file has it.
        path: the file, for the message.

    Raises:
        ValueError: if the config is of another kind of model, of another format, or of a model
            that reads other features.
    """
    if (kind := record.get("model_type")) != TaggerConfig.model_type:
        raise ValueError(f"{path}: found model type {kind}, expected {TaggerConfig.model_type}")
    if record.get("format") != FORMAT or record.get("feature_names") != list(FEATURES):
        raise ValueError(
            f"{path}: found a checkpoint of format {record.get('format')}, or of other features, "
            f"expected format {FORMAT} with our {len(FEATURES)} features: "
            "train it again with this version"
        )
