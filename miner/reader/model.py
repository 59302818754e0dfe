"""The reader: encoder, a vector per unit, a BiLSTM over the units of a chapter, and three heads.

The BERT+BiLSTM of "Mining Conversations from Novels" (section Identifying Conversations), in which
the BiLSTM reads mentions of people and breaks between paragraphs beside the utterances. One head
says whether an utterance opens a conversation, goes on with a turn or opens another one. A pointer
from utterances to mentions says who speaks: people are scored, not strings, since the evidence for
a person is summed over all mentions of it, as over the antecedents of one entity in "End-to-end
Neural Coreference Resolution" (Lee et al. 2017, section 3). A small network adds it to the features
of the candidates.

No score depends on who spoke before. `people.chain` sums over all sequences of speakers, in
training and in use, so that a model never learns from a history that it will not have.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel

from miner.people.chain import Way
from miner.people.features import FEATURES as CANDIDATE_FEATURES
from miner.reader.batch import Batch, Padded
from miner.reader.config import FORMAT, MODEL_TYPE, ReadingConfig, reading_config
from miner.reader.units import GENDERS, Mark, UnitKind
from miner.tagger.encoding import Encoding
from miner.tagger.features import FEATURES
from miner.tagger.head import OUTCOMES
from miner.tagger.model import batch_tokens, run_lstm, scores_of_tags

_FARTHEST = 80  # units; mentions that are farther away are all the same to a pointer
_FLOOR = -4.0  # where the evidence for people without a mention begins
_LEAST = 1e-20  # the least sum whose logarithm is taken
_FORBIDDEN = -1e4  # the score of a mention that is not there
_TOKENS_AT_ONCE = {"cpu": 4096, "cuda": 131_072}  # by kind of device
_PAD_TO = {"cpu": 8, "cuda": 256}  # tokens; on a GPU few large batches are faster than many exact


class ReaderConfig(PretrainedConfig):
    """What a checkpoint records beside its weights: the fields of `ReadingConfig`, and others.

    Args:
        encoder: the config of the encoder.
        dropout: the dropout before and after the BiLSTM and in the network of candidates.
        mask: the token that hides names.
        training: what the model was trained on and how; the model card prints it.
        format: the format of the checkpoint.
    """

    model_type = MODEL_TYPE

    def __init__(
        self,
        encoder: dict[str, Any] | None = None,
        dropout: float = 0.2,
        mask: int = 0,
        training: dict[str, Any] | None = None,
        format: int = FORMAT,
        **kwargs: Any,  # noqa: ANN401 - the fields of ReadingConfig, and what PretrainedConfig takes
    ) -> None:
        self.encoder = encoder or {}
        self.dropout = dropout
        self.mask = mask
        self.training = training or {}
        self.format = format
        for field in fields(ReadingConfig):
            setattr(self, field.name, kwargs.pop(field.name, field.default))
        self.feature_names = list(FEATURES)
        self.candidate_feature_names = list(CANDIDATE_FEATURES)
        super().__init__(**kwargs)

    def for_reading(self) -> ReadingConfig:
        """Returns the part that decides how a chapter is read."""
        return reading_config(vars(self))


class ReaderScores(NamedTuple):
    """The scores of several chapters. What is padded holds numbers that mean nothing."""

    tags: Tensor  # of the tags in `decoding.TAGS`: (chapters, utterances, 4)
    candidates: Tensor  # of each way in which each candidate may speak: (candidates, ways)
    # the evidence that a linked mention is each person of its chapter: (chapters, links, people)
    links: Tensor


class CandidateNetwork(nn.Module):
    """Scores candidates by their features and by what the pointer says of them."""

    def __init__(self, config: ReadingConfig, dropout: float) -> None:
        super().__init__()
        n_inputs = len(CANDIDATE_FEATURES) * config.features + 2
        self.first = nn.Linear(n_inputs, config.first)
        self.second = nn.Linear(config.first, config.second)
        self.score = nn.Linear(config.second, len(Way))
        self.dropout = nn.Dropout(dropout)
        self.reads_features = config.features

    def forward(self, features: Tensor, evidence: Tensor, best: Tensor) -> Tensor:
        """Returns the score of each way to speak: (candidates, ways).

        Args:
            features: (candidates, features).
            evidence: the evidence for each candidate: (candidates,).
            best: the most that there is for a candidate of the same utterance: (candidates,).
        """
        inputs = torch.stack([evidence, evidence - best], dim=1)
        if self.reads_features:
            inputs = torch.cat([features.float(), inputs], dim=1)
        hidden = self.dropout(torch.relu(self.first(inputs)))
        hidden = self.dropout(torch.relu(self.second(hidden)))
        return self.score(hidden)


class Pointer(nn.Module):
    """Points from units to mentions, and says how much this tells of each person."""

    def __init__(self, width: int, config: ReadingConfig) -> None:
        super().__init__()
        self.size = config.pointer
        self.spoken = nn.Linear(width, self.size)  # asks who speaks an utterance
        self.linked = nn.Linear(width, self.size)  # asks who a mention is
        self.key = nn.Linear(width, self.size)
        self.distance = nn.Embedding(2 * _FARTHEST + 1, 1)
        nn.init.zeros_(self.distance.weight)
        self.floor = nn.Parameter(torch.tensor(_FLOOR))

    def forward(self, queries: Tensor, asking: Padded, states: Tensor, batch: Batch) -> Tensor:
        """Returns the evidence for each person: (chapters, queries, people).

        It is the logarithm of the sum over the mentions of a person, and of a floor, which people
        without a mention have, too. A unit does not point to itself.

        Args:
            queries: (chapters, queries, size).
            asking: the units that ask: (chapters, queries).
            states: of all units: (chapters, units, width).
            batch: the mentions and their people.
        """
        mentions = batch.mentions
        keys = self.key(_rows(states, mentions))
        away = mentions.positions[:, None, :] - asking.positions[:, :, None]
        scores = queries @ keys.transpose(1, 2) / self.size**0.5
        scores = scores + self.distance(away.clamp(-_FARTHEST, _FARTHEST) + _FARTHEST)[..., 0]
        is_one = mentions.is_there[:, None, :] & (away != 0)
        scores = scores.masked_fill(~is_one, _FORBIDDEN)
        highest = scores.amax(dim=2, keepdim=True).detach()
        numbers = torch.arange(batch.n_people, device=states.device)
        is_person = (batch.people[..., None] == numbers).float()
        sums = ((scores - highest).exp() * is_one) @ is_person
        return torch.logaddexp((sums + _LEAST).log() + highest, self.floor)


class ConversationReader(PreTrainedModel):
    """An encoder, a BiLSTM over units, and heads for tags and speakers."""

    config_class = ReaderConfig
    config: ReaderConfig
    base_model_prefix = "encoder"

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__(config)
        reading = config.for_reading()
        plain = dict(config.encoder)
        encoder_config = AutoConfig.for_model(plain.pop("model_type"), **plain)
        self.encoder = AutoModel.from_config(encoder_config)
        if getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None  # unused
        size: int = encoder_config.hidden_size
        self.marks = nn.Embedding(len(Mark), size)
        self.utterance = nn.Linear(3 * size, reading.width)
        self.mention = nn.Linear(2 * size, reading.width)
        self.kind = nn.Embedding(len(UnitKind), reading.width)
        self.gender = nn.Embedding(len(GENDERS), reading.width)
        self.structure = None
        if reading.features:
            self.structure = nn.Sequential(
                nn.Linear(len(FEATURES), reading.width),
                nn.GELU(),
                nn.Linear(reading.width, reading.width),
            )
        self.norm = nn.LayerNorm(reading.width)
        self.dropout = nn.Dropout(config.dropout)
        self.lstm = None
        width = reading.width
        if reading.units == "lstm":
            self.lstm = nn.LSTM(
                width,
                reading.hidden,
                reading.layers,
                batch_first=True,
                bidirectional=True,
                dropout=config.dropout if reading.layers > 1 else 0.0,
            )
            width += 2 * reading.hidden
        self.outcomes = nn.Linear(width, len(OUTCOMES))
        self.pointer = Pointer(width, reading)
        self.candidates = CandidateNetwork(reading, config.dropout)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Keeps PyTorch's own initial weights; those of the encoder are loaded later."""

    def forward(self, batch: Batch) -> ReaderScores:
        """Returns the scores of chapters."""
        vectors = self._unit_vectors(batch, self.read_tokens(batch.encoding))
        with torch.autocast(self.device.type, enabled=False):  # sums need full precision
            chapters = list(self.norm(vectors.float()).split(batch.lengths))
            states = self._read_units(pad_sequence(chapters, batch_first=True), batch.lengths)
            spoken = _rows(states, batch.utterances)
            queries = self.pointer.spoken(spoken)
            evidence = self.pointer(queries, batch.utterances, states, batch)
            own = evidence.flatten().index_select(0, batch.evidence)
            most = torch.full_like(batch.utterances.positions, -torch.inf, dtype=torch.float32)
            most = most.flatten().scatter_reduce(0, batch.of_utterance, own.detach(), "amax")
            best = most.index_select(0, batch.of_utterance)
            linked = self.pointer.linked(_rows(states, batch.links))
            return ReaderScores(
                scores_of_tags(self.outcomes(spoken)),
                self.candidates(batch.features, own, best),
                self.pointer(linked, batch.links, states, batch),
            )

    def read_tokens(self, encoding: Encoding) -> Tensor:
        """Returns the vectors of the tokens of chapters: (tokens, size)."""
        kind = self.device.type
        at_once, step = (sizes.get(kind, sizes["cpu"]) for sizes in (_TOKENS_AT_ONCE, _PAD_TO))
        pad: int = self.encoder.config.pad_token_id or 0
        windows, order = batch_tokens(encoding, pad, at_once, self.device, step)
        embedding = self.encoder.get_input_embeddings()
        first_mark: int = embedding.num_embeddings
        read: list[Tensor] = []
        for ids, mask in windows:
            is_mark = ids >= first_mark
            words = embedding(ids.masked_fill(is_mark, pad))
            marks = self.marks((ids - first_mark).clamp(min=0))
            vectors = torch.where(is_mark[..., None], marks.to(words.dtype), words)
            states = self.encoder(inputs_embeds=vectors, attention_mask=mask).last_hidden_state
            read.append(states.reshape(-1, states.shape[-1]))
        return torch.cat(read).index_select(0, order).to(self.mention.weight.dtype)

    def _unit_vectors(self, batch: Batch, tokens: Tensor) -> Tensor:
        """Returns the vectors of the units of all chapters: (units, width)."""
        ends = [tokens.index_select(0, place) for place in (batch.first, batch.last)]
        both = torch.cat(ends, dim=1)
        with torch.autocast(self.device.type, enabled=False):
            means = nn.functional.embedding_bag(batch.members, tokens.float(), batch.bounds)
        spoken = torch.cat([both.index_select(0, batch.spoken), means.to(both.dtype)], dim=1)
        utterances = self.utterance(spoken)
        if self.structure is not None:
            utterances = utterances + self.structure(batch.structure)
        vectors = self.mention(both).index_copy(0, batch.spoken, utterances)
        return vectors + self.kind(batch.kinds) + self.gender(batch.genders)

    def _read_units(self, vectors: Tensor, lengths: list[int]) -> Tensor:
        """Returns the states of units: (chapters, units, width) of vectors of that shape."""
        if self.lstm is None:
            return self.dropout(vectors)
        several = torch.tensor(lengths) if len(set(lengths)) > 1 else None
        return run_lstm(self.lstm, self.dropout, vectors, several)


def _rows(states: Tensor, chosen: Padded) -> Tensor:
    """Returns the states of chosen units: (chapters, chosen, width)."""
    width = states.shape[2]
    return states.gather(1, chosen.positions[..., None].expand(-1, -1, width))
