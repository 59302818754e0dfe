"""The BERT+BiLSTM tagger: encoder, a vector per utterance, BiLSTM over the chapter, tag scores.

The model is a `PreTrainedModel`: `save_pretrained` writes the encoder, the head and the config, and
`from_pretrained` reads them without a network. "Mining Conversations from Novels" (section
Identifying Conversations) encodes each span alone and runs the BiLSTM over 4 paragraphs. By default
this model reads running text and a whole chapter; its config can reproduce the paper's variant.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.utils.hub import cached_file

from miner.errors import InputError
from miner.files import CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, reason_of
from miner.speech.tags import TAGS
from miner.tagger.config import (
    FORMAT,
    MODEL_TYPE,
    SURE,
    Expert,
    TaggingConfig,
    refuse_another_format,
    tagging_config,
)
from miner.tagger.encoding import Encoding, Range, Window, batch_windows
from miner.tagger.features import FEATURES, N_PLAIN
from miner.tagger.head import (
    OUTCOME_OF_TAG,
    OUTCOMES,
    STRUCTURE,
    VOICE,
    AnyArray,
    dequantize,
    is_quantized,
)


class TaggerConfig(PretrainedConfig):
    """What a checkpoint records beside its weights: the fields of `TaggingConfig`, and others.

    Args:
        encoder: the config of the encoder.
        dropout: the dropout before and after the BiLSTM.
        masked: the share of tokens that are hidden in training.
        mask: the id of the token that hides them.
        separator: the id of the token between paragraphs, which is never hidden.
        training: what the model was trained on and how; the model card prints it.
        format: the format of the checkpoint.
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


_PAD_TO = 8  # tokens; windows are padded to a multiple of it


class WindowBatch(NamedTuple):
    """Windows that the encoder reads at once."""

    ids: Tensor  # their tokens: (windows, length)
    # 1 for tokens and 0 for padding, of the same shape; None if nothing is padded, since
    # encoders are faster without a mask
    mask: Tensor | None


class TokenTensors(NamedTuple):
    """The tokens of a chapter, and the parts that are pooled.

    The parts of a chapter of n utterances are the n utterances and then, for each of them, the
    narration before it.
    """

    batches: tuple[WindowBatch, ...]  # the windows
    # where the vector of each token of the chapter lies among those of all windows, one batch
    # after the other: (tokens,)
    order: Tensor
    members: Tensor  # the tokens of the parts, part after part
    bounds: Tensor  # where each part begins in `members`: (2 x utterances,)
    first: Tensor  # the first token of each utterance: (utterances,)


def token_tensors(
    encoding: Encoding, pad: int, tokens_at_once: int, device: torch.device
) -> TokenTensors:
    """Returns a chapter in tensors on a device."""
    batches, order = batch_tokens(encoding, pad, tokens_at_once, device)
    parts = np.array([*encoding.utterances, *encoding.narration], dtype=np.int64).reshape(-1, 2)
    sizes = parts[:, 1] - parts[:, 0]
    bounds = np.cumsum(sizes) - sizes
    members = np.repeat(parts[:, 0] - bounds, sizes) + np.arange(sizes.sum())
    last = max(encoding.n_tokens - 1, 0)
    first = np.minimum(parts[: len(encoding.utterances), 0], last)
    arrays = (members, bounds, first)
    return TokenTensors(batches, order, *(_move(torch.from_numpy(a), device) for a in arrays))


def batch_tokens(
    encoding: Encoding, pad: int, tokens_at_once: int, device: torch.device, step: int = _PAD_TO
) -> tuple[tuple[WindowBatch, ...], Tensor]:
    """Returns the windows of a chapter in batches, and `TokenTensors.order`.

    Windows are padded to a multiple of `step` tokens.
    """
    order = np.zeros(encoding.n_tokens, dtype=np.int64)
    batches: list[WindowBatch] = []
    n_rows = 0
    for length, numbers in batch_windows(encoding.windows, step, tokens_at_once):
        windows = [encoding.windows[n] for n in numbers]
        for window in windows:
            low, high = window.taken
            row = n_rows + 1 + low  # skips the first special token
            order[window.start : window.start + high - low] = np.arange(row, row + high - low)
            n_rows += length
        batches.append(window_batch(windows, length, pad, device))
    return tuple(batches), _move(torch.from_numpy(order), device)


def window_batch(
    windows: Sequence[Window], length: int, pad: int, device: torch.device
) -> WindowBatch:
    """Returns windows as the encoder reads them."""
    if all(len(window.ids) == length for window in windows):
        ids = torch.tensor([window.ids for window in windows])
        return WindowBatch(_move(ids, device), None)
    ids = torch.full((len(windows), length), pad)
    mask = torch.zeros_like(ids)
    for row, window in enumerate(windows):
        ids[row, : len(window.ids)] = torch.tensor(window.ids)
        mask[row, : len(window.ids)] = 1
    return WindowBatch(_move(ids, device), _move(mask, device))


def _move(tensor: Tensor, device: torch.device) -> Tensor:
    """Returns a tensor on a device, without waiting for what a GPU computes before."""
    return tensor.to(device, non_blocking=True)


def join_encodings(encodings: Sequence[Encoding]) -> Encoding:
    """Returns several chapters as one, so that the encoder reads their windows together."""
    if len(encodings) == 1:
        return encodings[0]
    windows: list[Window] = []
    utterances: list[Range] = []
    narration: list[Range] = []
    n = 0
    for one in encodings:
        windows += [Window(item.ids, item.taken, item.start + n) for item in one.windows]
        utterances += [(low + n, high + n) for low, high in one.utterances]
        narration += [(low + n, high + n) for low, high in one.narration]
        n += one.n_tokens
    return Encoding(tuple(windows), n, tuple(utterances), tuple(narration))


_TOKENS_AT_ONCE = {"cpu": 2048, "cuda": 131_072}  # by kind of device
_DISTANCE = 8  # utterances, at most, between two whose speakers are compared
# The arguments by which `from_pretrained` finds a model's files, beside its name.
_PLACE = ("cache_dir", "force_download", "local_files_only", "revision", "subfolder", "token")


class SequenceScores(NamedTuple):
    """The scores of a sequence of utterances."""

    scores: Tensor  # of the tags in `decoding.TAGS`: (utterances, 4).
    # compares each utterance with those 1 to 8 before it, above 0 if they have the same
    # speaker: (utterances, 8). None if the text was not read.
    alike: Tensor | None


class TextExpert(nn.Module):
    """Scores the outcomes by the encoder's vectors and by the plain features."""

    def __init__(self, config: TaggerConfig, width: int) -> None:
        super().__init__()
        self.projection = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, config.projection), nn.GELU()
        )
        self.plain = None
        size = config.projection
        if config.features:
            self.plain = nn.Sequential(nn.Linear(N_PLAIN, STRUCTURE), nn.GELU())
            size += STRUCTURE
        self.dropout = nn.Dropout(config.dropout)
        self.lstm = nn.LSTM(
            size,
            config.hidden,
            config.layers,
            batch_first=True,
            bidirectional=True,
            dropout=config.dropout if config.layers > 1 else 0.0,
        )
        size += 2 * config.hidden
        self.voice = nn.Linear(size, VOICE)
        self.voice_bias = nn.Parameter(torch.zeros(1))
        self.scores = nn.Linear(size + 1, len(OUTCOMES))

    def forward(
        self, vectors: Tensor, features: Tensor, lengths: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Returns the scores of the outcomes, and `SequenceScores.alike`, of padded sequences.

        They are (sequences, utterances, 3) and (sequences, utterances, 8). `lengths` is None if no
        sequence is padded.
        """
        states = self._states(vectors, features, lengths)
        voices = self.voice(states)
        alike = [
            self._compare(voices, n) for n in range(1, min(_DISTANCE, voices.shape[1] - 1) + 1)
        ]
        # Zeros that depend on the voices: each weight must have a gradient in a short sequence too.
        none = voices.sum(dim=-1) * 0.0 + self.voice_bias
        alike += [none] * (_DISTANCE - len(alike))
        together = torch.stack(alike, dim=2)
        return self.scores(torch.cat([states, together[..., :1]], dim=2)), together

    def score(self, vectors: Tensor, features: Tensor) -> Tensor:
        """Returns the scores of the outcomes of one sequence: (utterances, 3).

        The result is that of `forward`. Nothing in it depends on the length of the sequence, so it
        can be exported.
        """
        states = self._states(vectors[None], features[None], None)
        likeness = self._compare(self.voice(states), 1)
        return self.scores(torch.cat([states, likeness[..., None]], dim=2))[0]

    def _states(self, vectors: Tensor, features: Tensor, lengths: Tensor | None) -> Tensor:
        vectors = self.projection(vectors)
        if self.plain is not None:
            vectors = torch.cat([vectors, self.plain(features[..., :N_PLAIN])], dim=2)
        return run_lstm(self.lstm, self.dropout, vectors, lengths)

    def _compare(self, voices: Tensor, n: int) -> Tensor:
        """Returns the likeness of the voice of each utterance with that n before it."""
        products = (voices[:, n:] * voices[:, :-n]).sum(dim=-1)
        return nn.functional.pad(products, (n, 0)) / VOICE**0.5 + self.voice_bias


class StructureExpert(nn.Module):
    """Scores the outcomes by the structure features alone."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.projection = nn.Sequential(nn.Linear(len(FEATURES), STRUCTURE), nn.GELU())
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(STRUCTURE, STRUCTURE, batch_first=True, bidirectional=True)
        self.scores = nn.Linear(3 * STRUCTURE, len(OUTCOMES))

    def forward(self, features: Tensor, lengths: Tensor | None) -> Tensor:
        """Returns the scores of the outcomes of padded sequences: (sequences, utterances, 3)."""
        return self.scores(run_lstm(self.lstm, self.dropout, self.projection(features), lengths))


def run_lstm(lstm: nn.LSTM, dropout: nn.Dropout, vectors: Tensor, lengths: Tensor | None) -> Tensor:
    """Returns the states of a BiLSTM over sequences, joined with its input vectors."""
    vectors = dropout(vectors)
    if lengths is None:
        hidden = lstm(vectors)[0]
    else:
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
    return torch.cat([dropout(hidden), vectors], dim=2)


class ConversationTagger(PreTrainedModel):
    """An encoder with two experts, one on the text and one on the structure.

    Each expert is trained by itself, and their scores are mixed. When both were trained together,
    the text expert memorized the examples that the structure did not explain.
    """

    config_class = TaggerConfig
    config: TaggerConfig
    base_model_prefix = "encoder"

    def __init__(self, config: TaggerConfig) -> None:
        super().__init__(config)
        plain = dict(config.encoder)
        encoder_config = AutoConfig.for_model(plain.pop("model_type"), **plain)
        self.encoder = AutoModel.from_config(encoder_config)
        if getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None  # unused, and distributed training refuses unused weights
        self.text = TextExpert(config, 3 * encoder_config.hidden_size)
        self.structure = StructureExpert(config.dropout) if config.features else None
        self.post_init()

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | os.PathLike[str] | None,
        *args: Any,  # noqa: ANN401 - what PreTrainedModel takes
        **kwargs: Any,  # noqa: ANN401
    ) -> Self:
        """Loads a model as `PreTrainedModel.from_pretrained` does, quantized weights too."""
        name = pretrained_model_name_or_path
        if name is None:
            return super().from_pretrained(name, *args, **kwargs)
        place = {key: kwargs[key] for key in _PLACE if key in kwargs}
        record, _ = TaggerConfig.get_config_dict(name, **place)
        file = os.path.join(name, place.get("subfolder", ""), CHECKPOINT_CONFIG)
        refuse_another_format(record, file)
        optional = {"_raise_exceptions_for_missing_entries": False}
        file = cached_file(name, CHECKPOINT_WEIGHTS, **place, **optional)
        if file is None:
            return super().from_pretrained(name, *args, **kwargs)
        try:
            with safe_open(file, "pt") as opened:
                needs_dequantizing = is_quantized(opened.keys())
        except SafetensorError as error:
            raise InputError(f"{file}: cannot be loaded: {reason_of(error)}") from error
        if not needs_dequantizing:
            return super().from_pretrained(name, *args, **kwargs)
        if kwargs.get("config") is None:
            kwargs["config"] = TaggerConfig.from_dict(record)
        weights = tensors_of(dequantize(load_file(file)))
        return super().from_pretrained(None, *args, state_dict=weights, **kwargs)

    def _init_weights(self, module: nn.Module) -> None:
        """Keeps PyTorch's own initial weights; those of the encoder are loaded later."""

    def mix_scores(self, text: Tensor, structure: Tensor) -> Tensor:
        """Returns the weighted scores of both experts: (..., 4) from (..., 4) each.

        Tagging an utterance answers two questions: does a conversation open, and, if not, does the
        turn continue? Each expert has its own weight for each question, since the text says more
        about the first, and attributions say more about the second.
        """
        start_share, turn_share = self.config.start_share, self.config.turn_share
        (text_opens, text_continues), (opens, continues) = log_odds(text), log_odds(structure)
        opens = start_share * text_opens + (1 - start_share) * opens
        continues = turn_share * text_continues + (1 - turn_share) * continues
        log = nn.functional.logsigmoid
        same_turn, new_turn = log(-opens) + log(continues), log(-opens) + log(-continues)
        return torch.stack([log(opens), same_turn, new_turn, same_turn], dim=-1)

    def score_structure(self, features: Tensor) -> Tensor:
        """Returns the scores by the structure expert of one sequence: (utterances, 4)."""
        assert self.structure is not None
        return scores_of_tags(self.structure(features[None], None)[0])

    def score_text(self, vectors: Tensor, features: Tensor, structure: Tensor | None) -> Tensor:
        """Returns the scores of one sequence by the text expert, mixed with the structure's.

        `vectors` are (utterances, 3 x width); the scores (utterances, 4).
        """
        scores = scores_of_tags(self.text.score(vectors, features))
        return scores if structure is None else self.mix_scores(scores, structure)

    def read_chapter(self, encoding: Encoding) -> Tensor:
        """Returns the vectors of a chapter's utterances: (utterances, 3 x width).

        They are those of `Pooling.vectors`, and gradients pass through them.
        Windows of the same length are encoded together, and nearly all windows of a chapter have
        the same length. On a CPU at most a few thousand tokens are encoded at once: with all
        windows of a chapter at once, training took three to four times as long.
        """
        n, size = len(encoding.utterances), self.encoder.config.hidden_size
        if not encoding.n_tokens:
            return torch.zeros(n, 3 * size, device=self.device)
        at_once = _TOKENS_AT_ONCE.get(self.device.type, _TOKENS_AT_ONCE["cpu"])
        chapter = token_tensors(encoding, self._pad, at_once, self.device)
        read = [self._encode(batch).reshape(-1, size) for batch in chapter.batches]
        vectors = torch.cat(read).index_select(0, chapter.order).float()
        with torch.autocast(self.device.type, enabled=False):  # sums need full precision
            pooled = nn.functional.embedding_bag(chapter.members, vectors, chapter.bounds)
        spoken, narrated = pooled.chunk(2)
        first = vectors.index_select(0, chapter.first)
        return torch.cat([spoken, first, narrated], dim=1)

    def read_windows(self, windows: Sequence[Window], length: int) -> Tensor:
        """Returns the encoder's vectors of windows: (windows, length, size)."""
        return self._encode(window_batch(windows, length, self._pad, self.device))

    @property
    def _pad(self) -> int:
        return self.encoder.config.pad_token_id or 0

    def _encode(self, batch: WindowBatch) -> Tensor:
        ids = self._hide_tokens(batch.ids) if self.training and self.config.masked else batch.ids
        return self.encoder(input_ids=ids, attention_mask=batch.mask).last_hidden_state

    def _hide_tokens(self, ids: Tensor) -> Tensor:
        """Returns the tokens with a share of them hidden, so that the model memorizes less."""
        hidden = torch.rand(ids.shape, device=ids.device) < self.config.masked
        hidden[:, 0] = False
        hidden &= ids != self.config.separator
        return ids.masked_fill(hidden, self.config.mask)

    def forward(
        self,
        encoding: Encoding,
        features: Tensor,
        sequences: Sequence[slice],
        vectors: Tensor | None = None,
        experts: Collection[Expert] = tuple(Expert),
    ) -> list[SequenceScores]:
        """Returns the scores of chapters, one item for each sequence that the BiLSTM reads.

        `encoding` is a chapter in tokens, or several by `join_encodings`. If the vectors of the
        utterances are known, the encoder reads nothing.
        """
        sizes = [part.stop - part.start for part in sequences]
        # Sequences of one length need no packing, which takes longer.
        lengths = torch.tensor(sizes) if len(set(sizes)) > 1 else None
        structure = pad_sequence([features[part] for part in sequences], batch_first=True)
        alike: Tensor | None = None
        found: list[Tensor] = []
        if Expert.TEXT in experts:
            vectors = self.read_chapter(encoding) if vectors is None else vectors
            padded = pad_sequence([vectors[part] for part in sequences], batch_first=True)
            scores, alike = self.text(padded, structure, lengths)
            found.append(scores_of_tags(scores))
        if Expert.STRUCTURE in experts and self.structure is not None:
            found.append(scores_of_tags(self.structure(structure, lengths)))
        scores = self.mix_scores(*found) if len(found) > 1 else found[0]
        return [
            SequenceScores(scores[n, :length], None if alike is None else alike[n, :length])
            for n, length in enumerate(sizes)
        ]


def tensors_of(weights: Mapping[str, AnyArray]) -> dict[str, Tensor]:
    """Returns weights as PyTorch takes them."""
    return {name: torch.from_numpy(np.ascontiguousarray(item)) for name, item in weights.items()}


def scores_of_tags(outcomes: Tensor) -> Tensor:
    """Returns the scores of the tags from those of the outcomes: (..., 4) from (..., 3)."""
    # An index on a GPU would wait for what is computed before.
    return torch.stack([outcomes[..., n] for n in OUTCOME_OF_TAG], dim=-1)


def log_odds(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Returns two log-odds of scores (..., 4), each (...).

    The first is that a conversation opens. The second is that the turn continues, if no
    conversation opens.
    """
    opens, continues, new_turn, _ = scores.float().unbind(dim=-1)
    return opens - torch.logaddexp(continues, new_turn), continues - new_turn
