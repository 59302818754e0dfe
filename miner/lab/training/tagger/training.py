"""A model before its training, what of it is trained and how fast, and its losses.

Chapters are computed side by side, and nothing waits for a number from the device: a GPU has then
always something to compute.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import torch
from accelerate.utils import set_seed
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR
from transformers import PretrainedConfig, PreTrainedModel
from transformers.utils import logging

from miner.errors import InputError
from miner.files import reason_of
from miner.lab.training.encoders.encoder import load_encoder
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.speech.tags import TAGS
from miner.tagger.config import Expert
from miner.tagger.decoding import ALLOWED, FIRST
from miner.tagger.encoding import Window, find_special_tokens, plain_tokenizer
from miner.tagger.model import ConversationTagger, SequenceScores, TaggerConfig, log_odds
from miner.tagger.torch_runtime import read_checkpoint

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

# What a saved encoder records of its own file; the model is trained in float32 in any case.
_OF_THE_FILE = ("_name_or_path", "dtype", "torch_dtype")


def new_model(config: TrainingConfig) -> tuple[ConversationTagger, PreTrainedTokenizerFast]:
    """Returns a model with the weights of its encoder and a new head, and the tokenizer."""
    set_seed(config.seed)
    pretrained = load_pretrained(config, "masked" if config.masked else "")
    tokenizer: Any = pretrained.tokenizer
    model = ConversationTagger(
        TaggerConfig(
            encoder=pretrained.record,
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
    set_encoder(model.eval(), pretrained)
    window = Window((model.config.separator,) * config.window, (0, config.window - 2), 0)
    check_reading(lambda: model.read_windows([window], config.window), config)
    return model, tokenizer


class EncoderChoices(Protocol):
    """What the options of a training say of its encoder."""

    @property
    def encoder(self) -> str:
        """A name on the Hub or a folder."""
        ...

    @property
    def encoder_layers(self) -> int:
        """Its lowest layers that are kept; 0 for all."""
        ...

    @property
    def frozen_layers(self) -> int:
        """Its lowest layers that are not trained."""
        ...

    @property
    def window(self) -> int:
        """The tokens that it reads at once."""
        ...


class Rates(Protocol):
    """The learning rates of a training."""

    @property
    def encoder_rate(self) -> float:
        """The rate of the encoder."""
        ...

    @property
    def head_rate(self) -> float:
        """The rate of all other weights."""
        ...


class HasEncoder(Protocol):
    """A model with an encoder."""

    encoder: Any


class Pretrained(NamedTuple):
    """A pre-trained encoder of as many layers as are kept."""

    record: dict[str, Any]  # its config
    weights: Mapping[str, Tensor]  # its weights, perhaps with those of layers that are not kept
    tokenizer: PreTrainedTokenizerFast  # its tokenizer


def load_pretrained(config: EncoderChoices, masking: str = "") -> Pretrained:
    """Returns the encoder that the options of a training name.

    `masking` is the option that needs a token to hide others with; "" if none does.
    """
    logging.disable_progress_bar()
    loaded = load_encoder(config.encoder)
    encoder, tokenizer = _encoder_config(config, loaded.model.config), loaded.tokenizer
    if masking and tokenizer.mask_token_id is None:
        raise InputError(f"{config.encoder}: found no mask token, expected one for `{masking}=`")
    positions = getattr(encoder, "max_position_embeddings", None)
    longest = min(positions or config.window, tokenizer.model_max_length)
    if config.window > longest:
        raise InputError(
            f"found a window of {config.window} tokens, expected at most {longest}, the encoder's"
        )
    _check_layers("freeze", config.frozen_layers, encoder)
    record = {k: v for k, v in encoder.to_dict().items() if k not in _OF_THE_FILE}
    return Pretrained(record, loaded.model.state_dict(), tokenizer)


def set_encoder(model: HasEncoder, pretrained: Pretrained) -> None:
    """Gives a model the weights of its pre-trained encoder."""
    find_encoder_layers(model)  # an encoder without separate layers is refused before training
    model.encoder.load_state_dict(
        {name: pretrained.weights[name] for name in model.encoder.state_dict()}, strict=True
    )
    if not torch.cuda.is_available():  # on a CPU the fused kernel's backward pass is slow
        model.encoder.set_attn_implementation("eager")


def _encoder_config(config: EncoderChoices, encoder: Any) -> PretrainedConfig:  # noqa: ANN401
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


def find_encoder_layers(model: HasEncoder) -> nn.ModuleList:
    """Returns the layers of the encoder, lowest first."""
    n_layers: int = model.encoder.config.num_hidden_layers
    for module in model.encoder.modules():
        if isinstance(module, nn.ModuleList) and len(module) == n_layers:
            return module
    kind = model.encoder.config.model_type
    raise InputError(
        f"found an encoder of type {kind}, expected one with {n_layers} separate layers"
    )


def check_reading(read: Callable[[], object], config: EncoderChoices) -> None:
    """Raises an error if the encoder cannot read a full window, before any training."""
    try:
        with torch.no_grad():
            read()
    except Exception as error:  # encoders for other inputs raise errors of many kinds
        raise InputError(
            f"{config.encoder}: found no encoder that reads windows of {config.window} tokens "
            f"({reason_of(error)}), expected one for text, or a smaller `window=`"
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


LARGEST_GRADIENT = 1.0  # the norm to which gradients are clipped
_WEIGHT_DECAY = 0.01
_WARM_UP = 0.1  # share of the steps in which the learning rates rise


def training_dtype(name: str, device: str) -> torch.dtype:
    """Returns the type of numbers that training computes with."""
    if name == "auto":
        has_bfloat16 = device == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if has_bfloat16 else torch.float32
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[name]


def autocast(device: str, dtype: torch.dtype) -> torch.autocast:
    """Returns a context that computes with `dtype` where PyTorch considers it safe."""
    return torch.autocast(device, torch.bfloat16, enabled=dtype is torch.bfloat16)


def unfreeze(model: ConversationTagger, expert: Expert, config: TrainingConfig) -> None:
    """Sets which weights are trained: those of one expert, and, for the text, encoder layers.

    The encoder's embeddings and its lowest `config.frozen_layers` layers are never trained. The
    embeddings are half of the weights of a small encoder, and a few hundred chapters have too few
    words to train them.
    """
    model.requires_grad_(False)
    if expert is Expert.STRUCTURE and model.structure is not None:
        model.structure.requires_grad_(True)
        return
    model.text.requires_grad_(True)
    layers = find_encoder_layers(model)
    for layer in layers[len(layers) if config.frozen else config.frozen_layers :]:
        layer.requires_grad_(True)


def new_optimizer(model: PreTrainedModel, config: Rates) -> Optimizer:
    """Returns an optimizer of the trained weights; the encoder has a learning rate of its own."""
    trained = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
    head = [weight for name, weight in trained if not name.startswith("encoder.")]
    groups = [{"params": head, "lr": config.head_rate}]
    if encoder := [weight for name, weight in trained if name.startswith("encoder.")]:
        groups.append({"params": encoder, "lr": config.encoder_rate})
    return AdamW(groups, weight_decay=_WEIGHT_DECAY, fused=model.device.type == "cuda")


def new_schedule(optimizer: Optimizer, n_steps: int, warm_up: float = _WARM_UP) -> LambdaLR:
    """Returns a schedule whose rates rise over a share of the steps and then fall to 0.

    The rates fall along a line from the first step on. `get_linear_schedule_with_warmup` of
    transformers differs: its first step has rate 0, and its line falls from the end of the warm-up.
    """
    rising = max(warm_up * n_steps, 1)
    return LambdaLR(optimizer, lambda n: min((n + 1) / rising, max(0.0, 1 - n / n_steps)))


def epoch_order(n_chapters: int, n_processes: int) -> list[int]:
    """Returns the numbers of the chapters in a random order.

    Some numbers come twice if the processes would have unequal shares otherwise. The order is drawn
    from Python's global random generator.
    """
    order = list(range(n_chapters))
    random.shuffle(order)
    return order + list(islice(cycle(order), -n_chapters % n_processes))


_FORBIDDEN = -1e4  # the score of a step that the table of successors does not allow


def chapters_loss(
    parts: Sequence[Sequence[SequenceScores]],
    tags: Sequence[Tensor],
    speakers: Sequence[Tensor],
    start_weight: float,
    speaker_weight: float,
    soft_labels: Sequence[Tensor] = (),
    teacher_share: float = 0.0,
) -> Tensor:
    """Returns the loss of chapters, summed over their utterances.

    The soft labels of teachers count with their share, 0..1, and the tags with the rest: chapters
    whose tags are not known have a share of 1.
    """
    rows = [torch.cat([part.scores for part in chapter]).float() for chapter in parts]
    scores, lengths = pad_sequence(rows, batch_first=True), [len(item) for item in rows]
    loss = scores.new_zeros((), dtype=torch.float64)
    if teacher_share < 1:
        gold = pad_sequence(list(tags), batch_first=True)
        is_other_tag = _on(scores.device, "is other tag")
        raised = scores + start_weight * ((gold == 0)[..., None] & is_other_tag)
        loss = loss + (1 - teacher_share) * _minus_log_probability(raised, gold, lengths).sum()
    if teacher_share:
        soft = pad_sequence(list(soft_labels), batch_first=True)
        loss = loss + teacher_share * _distillation_losses(scores, soft, lengths).sum()
    sequences = [part for chapter in parts for part in chapter]
    alike = [part.alike for part in sequences if part.alike is not None]
    if not alike or not speaker_weight:
        return loss
    sizes = [len(part.scores) for part in sequences]
    of_sequences = list(torch.cat(list(speakers)).split(sizes))
    each = _speaker_losses(
        pad_sequence(alike, batch_first=True),
        pad_sequence(of_sequences, batch_first=True, padding_value=-1),
    )
    weights = torch.tensor(sizes, dtype=each.dtype).to(each.device, non_blocking=True)
    return loss + speaker_weight * (weights * each).sum()


def sequence_loss(scores: Tensor, tags: Tensor) -> Tensor:
    """Returns minus the log-probability of the gold tags per utterance, among allowed sequences.

    This is a linear-chain CRF (Lafferty et al. 2001). Its transitions are the table of allowed
    successors and are not trained. `decoding.marginals` uses the same probabilities.

    Args:
        scores: (utterances, 4).
        tags: (utterances,), indices of `decoding.TAGS`; an allowed sequence.
    """
    return _minus_log_probability(scores[None], tags[None], [len(tags)])[0] / len(tags)


def speaker_loss(alike: Tensor, speakers: Tensor) -> Tensor:
    """Returns minus the log-probability that nearby utterances have the same speaker, or not.

    A model that tells the speakers of a passage apart knows where turns end. Every utterance with
    a known speaker teaches this, not only the few turns that run over several paragraphs.

    Args:
        alike: (utterances, n), as `SequenceScores.alike`.
        speakers: (utterances,), a number for each speaker, -1 where the speaker is unknown.
    """
    return _speaker_losses(alike[None], speakers[None])[0]


def _minus_log_probability(scores: Tensor, tags: Tensor, sizes: Sequence[int]) -> Tensor:
    """Returns minus the log-probability of the gold tags of each sequence: (sequences,).

    The sum over all allowed sequences of tags is a product of matrices, one for each utterance,
    in which a sum of logarithms takes the place of a product. It is computed by halves (Särkkä and
    García-Fernández 2021, "Temporal Parallelization of Bayesian Smoothers", section III): a
    sequence of n utterances takes log2(n) operations one after the other instead of n.

    Args:
        scores: (sequences, utterances, 4); rows after the end of a sequence count for nothing.
        tags: (sequences, utterances).
        sizes: the utterances of each sequence.
    """
    device, length = scores.device, scores.shape[1]
    is_inside = _inside(sizes, length, device)
    scores = scores.double()  # a long chapter has large sums
    gold = scores.gather(2, tags[..., None])[..., 0].masked_fill(~is_inside, 0.0).sum(dim=1)
    steps = _on(device, "steps") + scores[:, 1:, None, :]
    steps = torch.where(is_inside[:, 1:, None, None], steps, _on(device, "nothing"))
    while (n := steps.shape[1]) > 1:
        even = n // 2 * 2
        before, after = steps[:, 0:even:2], steps[:, 1:even:2]
        joined = torch.logsumexp(before[..., :, :, None] + after[..., None, :, :], dim=-2)
        steps = torch.cat([joined, steps[:, even:]], dim=1)
    total = _on(device, "first") + scores[:, 0]
    for step in steps.unbind(dim=1):  # one, or none
        total = torch.logsumexp(total[:, :, None] + step, dim=1)
    return torch.logsumexp(total, dim=1) - gold


def _distillation_losses(scores: Tensor, soft_labels: Tensor, sizes: Sequence[int]) -> Tensor:
    """Returns the cross-entropy with the soft labels of each sequence: (sequences,).

    The answer whether the turn continues counts by how probable the teachers find it that no
    conversation opens. So this is the cross-entropy of three outcomes, as in "Distilling the
    Knowledge in a Neural Network" (Hinton et al. 2015, section 2) at temperature 1; with outcomes
    that are certain it equals the loss of the tags. The first utterance always opens a
    conversation, and teaches nothing.

    Args:
        scores: (sequences, utterances, 4); rows after the end of a sequence count for nothing.
        soft_labels: (sequences, utterances, 2), as `teachers.SoftLabels`.
        sizes: the utterances of each sequence.
    """
    opens, continues = log_odds(scores)
    soft_opens, soft_continues = soft_labels.float().unbind(dim=-1)
    cross_entropy = nn.functional.binary_cross_entropy_with_logits
    losses = cross_entropy(opens, soft_opens, reduction="none")
    of_turns = cross_entropy(continues, soft_continues, reduction="none")
    losses = losses + (1 - soft_opens) * of_turns
    is_inside = _inside(sizes, scores.shape[1], scores.device)
    return losses.masked_fill(~is_inside, 0.0)[:, 1:].sum(dim=1)


def _inside(sizes: Sequence[int], length: int, device: torch.device) -> Tensor:
    """Returns which rows of padded sequences belong to them: (sequences, length)."""
    found = torch.arange(length) < torch.tensor(sizes)[:, None]
    return found.to(device, non_blocking=True)


def _speaker_losses(alike: Tensor, speakers: Tensor) -> Tensor:
    """Returns the speaker loss of each of several padded sequences: (sequences,).

    Args:
        alike: (sequences, utterances, n).
        speakers: (sequences, utterances); -1 where it is unknown, and after the end.
    """
    n_most = alike.shape[2]
    length = speakers.shape[1]
    before = nn.functional.pad(speakers, (n_most, 0), value=-1)
    others = torch.stack(
        [before[:, n_most - n : n_most - n + length] for n in range(1, n_most + 1)], dim=2
    )
    is_known = (others >= 0) & (speakers >= 0)[..., None]
    is_same = others == speakers[..., None]
    losses = nn.functional.binary_cross_entropy_with_logits(
        alike.float(), is_same.float(), reduction="none"
    )
    total = losses.masked_fill(~is_known, 0.0).sum(dim=(1, 2))
    return total / is_known.sum(dim=(1, 2)).clamp(min=1)


@cache
def _on(device: torch.device, name: str) -> Tensor:
    """Returns a table of the tags on a device, which is moved there once."""
    zeros = torch.zeros(len(TAGS), len(TAGS), dtype=torch.float64)
    tables = {
        "steps": zeros.masked_fill(~torch.from_numpy(ALLOWED), _FORBIDDEN),
        "first": zeros[0].masked_fill(~torch.from_numpy(FIRST), _FORBIDDEN),
        "nothing": zeros.masked_fill(~torch.eye(len(TAGS), dtype=torch.bool), _FORBIDDEN),
        "is other tag": torch.arange(len(TAGS)) != 0,
    }
    return tables[name].to(device)
