"""The config of a model in PyTorch, as transformers reads and writes it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from transformers import PretrainedConfig

from miner.speech.tags import TAGS
from miner.tagger.config import FORMAT, MODEL_TYPE, SURE, TaggingConfig, tagging_config
from miner.tagger.features import FEATURES


class TaggerConfig(PretrainedConfig):
    """What a checkpoint records beside its weights.

    Args:
        encoder: the config of the encoder.
        context: see `TaggingConfig`.
        window: see `TaggingConfig`.
        margin: see `TaggingConfig`.
        ends: see `TaggingConfig`.
        paragraphs: see `TaggingConfig`.
        features: see `TaggingConfig`.
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
        sure: see `TaggingConfig`.
        start_offset: added to the scores of B-START before decoding, and fitted on dev. B-START is
            rare, so the most probable tags contain too few. Confidence ignores the offset.
        confidence_temperature: scores are divided by it, so that confidence is calibrated.
        training: what the model was trained on and how; the model card prints it.
        format: the format of the checkpoint.
        **kwargs: as `PretrainedConfig` takes them.
    """

    model_type = MODEL_TYPE

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
        sure: float = SURE,
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
        self.sure = sure
        self.start_offset = start_offset
        self.confidence_temperature = confidence_temperature
        self.training = training or {}
        self.format = format
        self.tags = [str(tag) for tag in TAGS]
        self.feature_names = list(FEATURES)
        super().__init__(**kwargs)

    def for_tagging(self) -> TaggingConfig:
        """Returns the part that a tagger needs."""
        names = (field.name for field in fields(TaggingConfig))
        return tagging_config({name: getattr(self, name) for name in names})
