"""The BERT+BiLSTM tagger: an encoder, a vector per utterance, a BiLSTM over the chapter, scores.

A `PreTrainedModel`: `save_pretrained` writes encoder, head and config, `from_pretrained` reads
them without any network. Where the seed work ("Mining Conversations from Novels", section
Identifying Conversations) encodes each span alone and runs the BiLSTM over 4 paragraphs, ours reads
running text and a whole chapter; both are configurations of this code.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Self

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.utils.hub import cached_file

from miner.files import CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, reason_of
from miner.models.tagger.decoding import ALLOWED, FIRST, TAGS
from miner.models.tagger.encoding import Encoding, Window, batches
from miner.models.tagger.features import FEATURES, N_PLAIN, Chapter
from miner.models.tagger.pooling import Pooling
from miner.models.tagger.quantization import dequantize, is_quantized

_TOKENS_AT_ONCE = {"cpu": 2048, "cuda": 131_072}  # by kind of device
_VOICE = 64  # size of the vectors that are alike where one speaker speaks
_APART = 8  # utterances, at most, between two whose speakers are compared in training
_STRUCTURE = 64  # size of the layer over the structure features
# An utterance opens a conversation, opens another turn, or goes on; which of the two I- tags the
# last one is, the tags before it say.
_OUTCOMES = ("opens a conversation", "opens a turn", "goes on")
_OUTCOME_OF_TAG = (0, 2, 1, 2)
# What `from_pretrained` finds the files of a model by, beside its name.
_WHERE = ("cache_dir", "force_download", "local_files_only", "revision", "subfolder", "token")
FORMAT = 1  # of checkpoints; raised when an older one would be read wrongly


class Expert(StrEnum):
    """What scores an utterance."""

    TEXT = "text"
    STRUCTURE = "structure"


class TaggerConfig(PretrainedConfig):
    """What a checkpoint records beside its weights.

    Args:
        encoder: the encoder's own config, as a dict.
        context: "text" for running text in windows, "span" for each span alone.
        window: most tokens that the encoder reads at once.
        margin: tokens at the edges of a window that are only context.
        ends: tokens kept at either end of an utterance or a stretch of narration; 0 for all.
        paragraphs: how many paragraphs with speech the BiLSTM sees at once; 0 for a chapter.
        features: whether structure features stand beside the vectors.
        projection: size to which utterance vectors are projected.
        hidden: size of the BiLSTM, each direction.
        layers: of the BiLSTM.
        dropout: before and after the BiLSTM.
        start_share: weight of the text beside the structure where it is decided whether a
            conversation opens, fitted on dev.
        turn_share: likewise, whether another turn opens.
        masked: share of tokens that are hidden in training.
        mask: the token that hides them.
        separator: the token between paragraphs, which is never hidden.
        start_offset: added to the scores of B-START before decoding, fitted on dev: of a tag as
            rare, more are found where less sureness is asked of it. Confidence is without it.
        confidence_temperature: scores are divided by it, so that confidence is calibrated.
        training: what it was trained on and how, for the model card.
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


def refuse_another_version(record: Mapping[str, Any], where: str | os.PathLike[str]) -> None:
    """Stops at a checkpoint that this version would read wrongly.

    Args:
        record: its config, as the file has it.
        where: to be named.

    Raises:
        ValueError: if it is none of ours, of another format, or of other features.
    """
    if (kind := record.get("model_type")) != TaggerConfig.model_type:
        raise ValueError(f"{where}: found model type {kind}, expected {TaggerConfig.model_type}")
    if record.get("format") != FORMAT or record.get("feature_names") != list(FEATURES):
        raise ValueError(
            f"{where}: found a checkpoint of format {record.get('format')}, or of other features, "
            f"expected format {FORMAT} with our {len(FEATURES)}: train it again with this version"
        )


class SequenceScores(NamedTuple):
    """A sequence of utterances.

    `scores` are of `decoding.TAGS`: (utterances, 4). `alike` are above 0 where one speaker speaks:
    (utterances, 8), of each utterance and those 1 to 8 before it; None where the text is unread.
    """

    scores: Tensor
    alike: Tensor | None


class TextExpert(nn.Module):
    """Scores of the outcomes by what the encoder makes of the text, and by plain features."""

    def __init__(self, config: TaggerConfig, width: int) -> None:
        super().__init__()
        self.projection = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, config.projection), nn.GELU()
        )
        self.plain = None
        size = config.projection
        if config.features:
            self.plain = nn.Sequential(nn.Linear(N_PLAIN, _STRUCTURE), nn.GELU())
            size += _STRUCTURE
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
        self.voice = nn.Linear(size, _VOICE)
        self.voice_bias = nn.Parameter(torch.zeros(1))
        self.scores = nn.Linear(size + 1, len(_OUTCOMES))

    def forward(self, vectors: Tensor, features: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Of padded sequences: (sequences, utterances, 3), and `Stretch.alike`."""
        vectors = self.projection(vectors)
        if self.plain is not None:
            vectors = torch.cat([vectors, self.plain(features[..., :N_PLAIN])], dim=2)
        states = _read(self.lstm, self.dropout, vectors, lengths)
        voices = self.voice(states)
        alike = [
            nn.functional.pad((voices[:, n:] * voices[:, :-n]).sum(dim=-1), (n, 0))
            for n in range(1, min(_APART, voices.shape[1] - 1) + 1)
        ]
        alike += [voices.sum(dim=-1) * 0.0] * (_APART - len(alike))  # in use, as the others are
        together = torch.stack(alike, dim=2) / _VOICE**0.5 + self.voice_bias
        return self.scores(torch.cat([states, together[..., :1]], dim=2)), together


class StructureExpert(nn.Module):
    """Scores of the outcomes by the structure features alone."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.projection = nn.Sequential(nn.Linear(len(FEATURES), _STRUCTURE), nn.GELU())
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(_STRUCTURE, _STRUCTURE, batch_first=True, bidirectional=True)
        self.scores = nn.Linear(3 * _STRUCTURE, len(_OUTCOMES))

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Of padded sequences: (sequences, utterances, 3)."""
        return self.scores(_read(self.lstm, self.dropout, self.projection(features), lengths))


def _read(lstm: nn.LSTM, dropout: nn.Dropout, vectors: Tensor, lengths: Tensor) -> Tensor:
    """What a BiLSTM makes of padded sequences, and the sequences, side by side."""
    vectors = dropout(vectors)
    packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
    hidden, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
    return torch.cat([dropout(hidden), vectors], dim=2)


class ConversationTagger(PreTrainedModel):
    """An encoder and two experts, one on the text and one on the structure; see the module.

    Each is trained by itself, and their scores are mixed: trained together, the text learns by
    heart what the structure does not explain.
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
            self.encoder.pooler = None  # not used; distributed training refuses unused weights
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
        """As `PreTrainedModel.from_pretrained`; weights that are kept in 8 bits are restored.

        Raises:
            ValueError: if the checkpoint is of another version (`refuse_another_version`), or its
                weights are cut short; names it.
        """
        name = pretrained_model_name_or_path
        if name is None:
            return super().from_pretrained(name, *args, **kwargs)
        where = {key: kwargs[key] for key in _WHERE if key in kwargs}
        record, _ = TaggerConfig.get_config_dict(name, **where)
        file = os.path.join(name, where.get("subfolder", ""), CHECKPOINT_CONFIG)
        refuse_another_version(record, file)
        optional = {"_raise_exceptions_for_missing_entries": False}
        file = cached_file(name, CHECKPOINT_WEIGHTS, **where, **optional)
        if file is None:
            return super().from_pretrained(name, *args, **kwargs)
        try:
            with safe_open(file, "pt") as opened:
                is_whole = not is_quantized(opened.keys())
        except SafetensorError as error:
            raise ValueError(f"{file}: cannot be loaded: {reason_of(error)}") from error
        if is_whole:
            return super().from_pretrained(name, *args, **kwargs)
        if kwargs.get("config") is None:
            kwargs["config"] = TaggerConfig.from_dict(record)
        weights = dequantize(load_file(file))
        return super().from_pretrained(None, *args, state_dict=weights, **kwargs)

    def _init_weights(self, module: nn.Module) -> None:
        """PyTorch's own initial weights are kept; the encoder's are loaded over them."""

    def mixture(self, text: Tensor, structure: Tensor) -> Tensor:
        """The scores of both experts as one: (..., 4) of (..., 4) each.

        What is decided is two questions, and for each an expert has its own worth: whether a
        conversation opens is told by what the text is about, who speaks by its attributions.
        """
        starts, turns = self.config.start_share, self.config.turn_share
        (a, b), (c, d) = log_odds(text), log_odds(structure)
        opens, goes_on = starts * a + (1 - starts) * c, turns * b + (1 - turns) * d
        log = nn.functional.logsigmoid
        on, other = log(-opens) + log(goes_on), log(-opens) + log(-goes_on)
        return torch.stack([log(opens), on, other, on], dim=-1)

    def pooled(self, encoding: Encoding) -> Tensor:
        """The vectors of a chapter's utterances, as `Pooling.vectors` has them.

        Windows of one length are encoded together; windows of a chapter are nearly all of one. No
        more than a few thousand tokens at once on a CPU: beyond its cache, training on all windows
        of a chapter at once took three to four times as long.
        """
        device = self.device
        pooling = Pooling(encoding, self.encoder.config.hidden_size, device)
        at_once = _TOKENS_AT_ONCE.get(device.type, _TOKENS_AT_ONCE["cpu"])
        for length, numbers in batches(encoding.windows, 8, at_once):
            some = [encoding.windows[n] for n in numbers]
            for window, vectors in zip(some, self.read(some, length), strict=True):
                pooling.add(window, vectors)
        return pooling.vectors()

    def read(self, windows: Sequence[Window], length: int) -> Tensor:
        """What the encoder makes of windows: (windows, length, size).

        Args:
            windows: of at most `length` tokens; shorter ones are padded.
            length: in tokens, special ones included.
        """
        pad = self.encoder.config.pad_token_id or 0
        ids = torch.full((len(windows), length), pad)
        mask = torch.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = torch.tensor(window.ids)
            mask[row, : len(window.ids)] = 1
        told = None if mask.all() else mask.to(self.device)  # no mask to be added where none pads
        ids = ids.to(self.device)
        if self.training and self.config.masked:
            ids = self._masked(ids)
        return self.encoder(input_ids=ids, attention_mask=told).last_hidden_state

    def _masked(self, ids: Tensor) -> Tensor:
        """The tokens, some of them hidden: what is learned by heart from them is not to be."""
        hidden = torch.rand(ids.shape, device=ids.device) < self.config.masked
        hidden[:, 0] = False
        hidden &= ids != self.config.separator
        return ids.masked_fill(hidden, self.config.mask)

    def forward(
        self,
        encoding: Encoding,
        features: Tensor,
        cuts: Sequence[slice],
        pooled: Tensor | None = None,
        experts: Collection[Expert] = tuple(Expert),
    ) -> list[SequenceScores]:
        """What a chapter is made of, in the stretches that the BiLSTM sees at once.

        Args:
            encoding: the chapter.
            features: (utterances, len(FEATURES)).
            cuts: the stretches, as `sequence_slices` gives them.
            pooled: the utterances' vectors, where they are known already.
            experts: whose scores are mixed; without the text's it stays unread.
        """
        lengths = torch.tensor([cut.stop - cut.start for cut in cuts])
        structure = pad_sequence([features[cut] for cut in cuts], batch_first=True)
        alike: Tensor | None = None
        found: list[Tensor] = []
        if Expert.TEXT in experts:
            vectors = self.pooled(encoding) if pooled is None else pooled
            padded = pad_sequence([vectors[cut] for cut in cuts], batch_first=True)
            scores, alike = self.text(padded, structure, lengths)
            found.append(scores[..., list(_OUTCOME_OF_TAG)])
        if Expert.STRUCTURE in experts and self.structure is not None:
            found.append(self.structure(structure, lengths)[..., list(_OUTCOME_OF_TAG)])
        scores = self.mixture(*found) if len(found) > 1 else found[0]
        return [
            SequenceScores(scores[n, :length], None if alike is None else alike[n, :length])
            for n, length in enumerate(lengths.tolist())
        ]


def log_odds(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Of a conversation's opening, and, where none opens, of going on: of scores (..., 4)."""
    opens, goes_on, other, _ = scores.float().unbind(dim=-1)
    return opens - torch.logaddexp(goes_on, other), goes_on - other


def sequence_slices(chapter: Chapter, paragraphs: int) -> list[slice]:
    """The stretches of a chapter's utterances that the BiLSTM sees at once.

    Args:
        chapter: the chapter.
        paragraphs: how many paragraphs with speech; 0 for the whole chapter.
    """
    sizes = [len(paragraph.utterances) for paragraph in chapter.paragraphs if paragraph.utterances]
    if not paragraphs:
        return [slice(0, sum(sizes))]
    found: list[slice] = []
    at = 0
    for n in range(0, len(sizes), paragraphs):
        size = sum(sizes[n : n + paragraphs])
        found.append(slice(at, at + size))
        at += size
    return found


def speaker_loss(alike: Tensor, speakers: Tensor) -> Tensor:
    """Minus the log-probability that two utterances near each other have one speaker, or two.

    Whoever can tell the speakers of a passage apart knows where a turn ends, and every annotated
    utterance teaches it, not only the few where a turn goes on in a new paragraph.

    Args:
        alike: (utterances, 8), of a stretch.
        speakers: (utterances,), a number per speaker, -1 where unknown.

    Returns:
        The mean over pairs of utterances at most 8 apart; 0 where none is known.
    """
    scores: list[Tensor] = []
    same: list[Tensor] = []
    for apart in range(1, min(_APART, len(speakers) - 1) + 1):
        known = (speakers[apart:] >= 0) & (speakers[:-apart] >= 0)
        scores.append(alike[apart:, apart - 1][known])
        same.append((speakers[apart:] == speakers[:-apart])[known])
    if not sum(map(len, scores)):
        return alike.sum() * 0.0
    return nn.functional.binary_cross_entropy_with_logits(
        torch.cat(scores).float(), torch.cat(same).float()
    )


def sequence_loss(scores: Tensor, tags: Tensor) -> Tensor:
    """Minus the log-probability of the right tags among all legal sequences, per utterance.

    A linear-chain CRF whose transitions are the table of allowed successors and not trained: what
    `decoding.marginals` computes is what is trained.

    Args:
        scores: (utterances, 4).
        tags: (utterances,), indices of `decoding.TAGS`, a legal sequence.
    """
    steps = torch.zeros(len(TAGS), len(TAGS), device=scores.device)
    steps = steps.masked_fill(~torch.from_numpy(ALLOWED).to(scores.device), -1e4)
    first = torch.zeros(len(TAGS), device=scores.device)
    forward = scores[0] + first.masked_fill(~torch.from_numpy(FIRST).to(scores.device), -1e4)
    for row in scores[1:]:
        forward = torch.logsumexp(forward[:, None] + steps, dim=0) + row
    right = scores.gather(1, tags[:, None]).sum()
    return (torch.logsumexp(forward, dim=0) - right) / len(tags)
