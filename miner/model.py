"""The BERT+BiLSTM tagger: an encoder, a vector per utterance, a BiLSTM over the chapter, scores.

A `PreTrainedModel`: `save_pretrained` writes encoder, head and config, `from_pretrained` reads
them without any network. Where the seed work ("Mining Conversations from Novels", section
Identifying Conversations) encodes each span alone and runs the BiLSTM over 4 paragraphs, ours reads
running text and a whole chapter; both are configurations of this code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel

from miner.decoding import ALLOWED, FIRST, TAGS
from miner.encoding import Encoding
from miner.features import FEATURES, Chapter

_TOKENS_AT_ONCE = {"cpu": 2048, "cuda": 131_072}  # by kind of device
_VOICE = 64  # size of the vectors that are alike where one speaker speaks
_APART = 8  # utterances, at most, between two whose speakers are compared in training
_STRUCTURE = 64  # size of the layer over the structure features
# An utterance opens a conversation, opens another turn, or goes on; which of the two I- tags the
# last one is, the tags before it say.
_OUTCOMES = ("opens a conversation", "opens a turn", "goes on")
_OUTCOME_OF_TAG = (0, 2, 1, 2)
FORMAT = 1  # of checkpoints; raised when an older one would be read wrongly


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
        text_share: weight of the text's scores; the structure's have the rest.
        masked: share of tokens that are hidden in training.
        mask: the token that hides them.
        separator: the token between paragraphs, which is never hidden.
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
        text_share: float = 0.4,
        masked: float = 0.0,
        mask: int = 0,
        separator: int = 0,
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
        self.text_share = text_share
        self.masked = masked
        self.mask = mask
        self.separator = separator
        self.confidence_temperature = confidence_temperature
        self.training = training or {}
        self.format = format
        self.tags = [str(tag) for tag in TAGS]
        self.feature_names = list(FEATURES)
        super().__init__(**kwargs)


class Stretch(NamedTuple):
    """A sequence of utterances.

    `scores` are of `decoding.TAGS`: (utterances, 4), a mixture of those of the `experts`: one reads
    the text, one the structure alone. Each is trained by itself: trained together, the text learns
    by heart what the structure does not explain. `voices` are vectors, (utterances, size), that
    `ConversationTagger.same_speaker` compares.
    """

    scores: Tensor
    voices: Tensor
    experts: tuple[Tensor, ...]


class ConversationTagger(PreTrainedModel):
    """Encoder, BiLSTM and scores; see the module."""

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
        self.width = width = 3 * encoder_config.hidden_size  # of an utterance's vector
        self.projection = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, config.projection), nn.GELU()
        )
        size = config.projection
        if config.features:
            self.structure = nn.Sequential(nn.Linear(len(FEATURES), _STRUCTURE), nn.GELU())
            self.structure_lstm = nn.LSTM(
                _STRUCTURE, _STRUCTURE, batch_first=True, bidirectional=True
            )
            self.structure_scores = nn.Linear(3 * _STRUCTURE, len(_OUTCOMES))
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
        self.voice = nn.Linear(2 * config.hidden + size, _VOICE)
        self.voice_bias = nn.Parameter(torch.zeros(1))
        self.scores = nn.Linear(2 * config.hidden + size + 1, len(_OUTCOMES))
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """PyTorch's own initial weights are kept; the encoder's are loaded over them."""

    def pooled(self, encoding: Encoding) -> Tensor:
        """The vectors of a chapter's utterances: (utterances, 3 x encoder's size).

        Of the encoder's last layer, side by side: the mean over the utterance's tokens, its first
        token, and the mean over the narration since the utterance before (zeros where none is).
        """
        device = self.scores.weight.device
        tokens = self._tokens(encoding, device)
        sums = torch.cat([tokens.new_zeros(1, tokens.shape[1]), tokens.cumsum(0)])
        parts = []
        for ranges in (encoding.utterances, encoding.narration):
            edges = torch.tensor(ranges, device=device)
            size = (edges[:, 1] - edges[:, 0]).clamp(min=1)[:, None]
            parts.append((sums[edges[:, 1]] - sums[edges[:, 0]]) / size)
        spoken, narrated = parts
        starts = torch.tensor([low for low, _ in encoding.utterances], device=device)
        first = tokens[starts.clamp(max=len(tokens) - 1)]
        return torch.cat([spoken, first, narrated], dim=1)

    def _tokens(self, encoding: Encoding, device: torch.device) -> Tensor:
        """The encoder's vectors of all tokens of a chapter, float32.

        Windows of one length are encoded together; windows of a chapter are nearly all of one. No
        more than a few thousand tokens at once on a CPU: beyond its cache, training on all windows
        of a chapter at once took three to four times as long.
        """
        size = self.encoder.config.hidden_size
        tokens = torch.zeros(max(encoding.n_tokens, 1), size, device=device)
        lengths: dict[int, list[int]] = {}
        for n, window in enumerate(encoding.windows):
            lengths.setdefault(-(-len(window.ids) // 8) * 8, []).append(n)
        rows: list[Tensor] = []
        places: list[Tensor] = []
        pad = self.encoder.config.pad_token_id or 0
        at_once = _TOKENS_AT_ONCE.get(device.type, _TOKENS_AT_ONCE["cpu"])
        batches = [
            (length, numbers[n : n + max(1, at_once // length)])
            for length, numbers in lengths.items()
            for n in range(0, len(numbers), max(1, at_once // length))
        ]
        for length, numbers in batches:
            ids = torch.full((len(numbers), length), pad, device=device)
            mask = torch.zeros_like(ids)
            for row, n in enumerate(numbers):
                window = encoding.windows[n]
                ids[row, : len(window.ids)] = torch.tensor(window.ids, device=device)
                mask[row, : len(window.ids)] = 1
            if self.training and self.config.masked:
                ids = self._masked(ids)
            told = None if mask.all() else mask  # without padding, no mask to be added anywhere
            vectors = self.encoder(input_ids=ids, attention_mask=told).last_hidden_state.float()
            for row, n in enumerate(numbers):
                low, high = encoding.windows[n].taken
                rows.append(vectors[row, 1 + low : 1 + high])  # after the first special token
                start = encoding.windows[n].start
                places.append(torch.arange(start, start + high - low, device=device))
        if not rows:
            return tokens
        return tokens.index_copy(0, torch.cat(places), torch.cat(rows))

    def _masked(self, ids: Tensor) -> Tensor:
        """The tokens, some of them hidden: what is learned by heart from them is not to be."""
        hidden = torch.rand(ids.shape, device=ids.device) < self.config.masked
        hidden[:, 0] = False
        hidden &= ids != self.config.separator
        return ids.masked_fill(hidden, self.config.mask)

    def stretches(
        self, pooled: Sequence[Tensor], features: Sequence[Tensor], structure_only: bool = False
    ) -> list[Stretch]:
        """What the BiLSTM makes of each sequence of utterances.

        Args:
            pooled: of each sequence, as `pooled` gives them.
            features: of each sequence, (utterances, len(FEATURES)).
            structure_only: score by the features alone.
        """
        lengths = torch.tensor([len(item) for item in pooled])
        vectors = self.projection(pad_sequence(list(pooled), batch_first=True))
        alone: Tensor | None = None
        if self.config.features:
            structure = self.structure(pad_sequence(list(features), batch_first=True))
            read = self._read(self.structure_lstm, self.dropout(structure), lengths)
            alone = self.structure_scores(torch.cat(read, dim=2))
            vectors = torch.cat([vectors, structure.detach()], dim=2)
        states = torch.cat(self._read(self.lstm, self.dropout(vectors), lengths), dim=2)
        voices = self.voice(states)
        same = self.same_speaker(voices[:, 1:], voices[:, :-1])
        same = nn.functional.pad(same, (1, 0))[..., None]  # nobody speaks before the first
        experts = [] if structure_only else [self.scores(torch.cat([states, same], dim=2))]
        experts += [] if alone is None else [alone]
        share = self.config.text_share
        mixed = experts[0]
        if len(experts) > 1:
            mixed = share * experts[0] + (1 - share) * experts[1]
        by_tag = [scores[..., list(_OUTCOME_OF_TAG)] for scores in (mixed, *experts)]
        found: list[Stretch] = []
        for n, length in enumerate(lengths.tolist()):
            first, *others = (scores[n, :length] for scores in by_tag)
            found.append(Stretch(first, voices[n, :length], tuple(others)))
        return found

    def _read(self, lstm: nn.LSTM, vectors: Tensor, lengths: Tensor) -> list[Tensor]:
        """What a BiLSTM makes of padded sequences, and the sequences."""
        packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
        return [self.dropout(hidden), vectors]

    def same_speaker(self, one: Tensor, other: Tensor) -> Tensor:
        """Scores, above 0 where one speaker speaks: (...) for voices of (..., size)."""
        return (one * other).sum(dim=-1) / _VOICE**0.5 + self.voice_bias

    def forward(
        self,
        encoding: Encoding,
        features: Tensor,
        cuts: Sequence[slice],
        pooled: Tensor | None = None,
        structure_only: bool = False,
    ) -> list[Stretch]:
        """What a chapter is made of, in the stretches that the BiLSTM sees at once.

        Args:
            encoding: the chapter.
            features: (utterances, len(FEATURES)).
            cuts: the stretches, as `pieces` gives them.
            pooled: the utterances' vectors, where they are known already.
            structure_only: leave the text unread.
        """
        if structure_only:
            vectors = features.new_zeros(len(features), self.width)
        else:
            vectors = self.pooled(encoding) if pooled is None else pooled
        return self.stretches(
            [vectors[cut] for cut in cuts], [features[cut] for cut in cuts], structure_only
        )


def pieces(chapter: Chapter, paragraphs: int) -> list[slice]:
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


def speaker_loss(model: ConversationTagger, voices: Tensor, speakers: Tensor) -> Tensor:
    """Minus the log-probability that two utterances near each other have one speaker, or two.

    Whoever can tell the speakers of a passage apart knows where a turn ends, and every annotated
    utterance teaches it, not only the few where a turn goes on in a new paragraph.

    Args:
        model: compares the voices.
        voices: (utterances, size), of a stretch.
        speakers: (utterances,), a number per speaker, -1 where unknown.

    Returns:
        The mean over pairs of utterances at most 8 apart; 0 where none is known.
    """
    terms: list[Tensor] = []
    for apart in range(1, min(_APART, len(speakers) - 1) + 1):
        known = (speakers[apart:] >= 0) & (speakers[:-apart] >= 0)
        scores = model.same_speaker(voices[apart:], voices[:-apart])[known]
        same = (speakers[apart:] == speakers[:-apart])[known]
        terms.append(
            nn.functional.binary_cross_entropy_with_logits(
                scores.float(), same.float(), reduction="none"
            )
        )
    together = torch.cat(terms) if terms else voices.new_zeros(0)
    return together.mean() if len(together) else voices.sum() * 0.0


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
