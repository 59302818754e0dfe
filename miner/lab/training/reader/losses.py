"""A model before its training, its steps and its losses."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from accelerate.utils import set_seed
from torch import Tensor, nn

from miner.lab.learning.loop import Part
from miner.lab.training.reader.examples import ReaderExample
from miner.lab.training.reader.training_config import ReaderTraining
from miner.lab.training.speakers.network import (
    Stretch,
    divide_chapter,
    score_of_gold,
    spread_scores,
)
from miner.lab.training.tagger.training import (
    autocast,
    chapters_loss,
    check_reading,
    find_encoder_layers,
    load_pretrained,
    set_encoder,
)
from miner.people.chain import NOBODY
from miner.reader.batch import Batch, ChapterEncoder, ReadChapter, group_by_tokens, join_chapters
from miner.reader.model import ConversationReader, ReaderConfig, ReaderScores
from miner.reader.units import Mark
from miner.tagger.encoding import Encoding, cut_windows, find_special_tokens, plain_tokenizer
from miner.tagger.model import SequenceScores

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

# the choices that the config of the model has, too
_SHAPE = tuple("window overlap ends units features width hidden layers masked_names".split())
_ABSENT = -1e4  # the evidence for a person whom a chapter does not have
_LIKE = {Mark.OPENS: "“", Mark.CLOSES: "”"}  # what the vector of a mark begins as


def new_reader(config: ReaderTraining) -> tuple[ConversationReader, PreTrainedTokenizerFast]:
    """Returns a model with the weights of its encoder and new heads, and the tokenizer."""
    set_seed(config.seed)
    pretrained = load_pretrained(config, "masked_names" if config.masked_names else "")
    tokenizer = pretrained.tokenizer
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    model = ConversationReader(
        ReaderConfig(
            encoder=pretrained.record,
            dropout=config.dropout,
            mask=getattr(tokenizer, "mask_token_id", None) or 0,
            **{name: getattr(config, name) for name in _SHAPE},
        )
    )
    set_encoder(model.eval(), pretrained)
    _, separator = find_special_tokens(plain)
    embedding = model.encoder.get_input_embeddings()
    for mark in Mark:
        like = plain.encode(_LIKE.get(mark, ""), add_special_tokens=False).ids or [separator]
        with torch.no_grad():
            model.marks.weight[mark] = embedding.weight[like].mean(dim=0)
    marks = [embedding.num_embeddings + Mark.BREAK] * (config.window - 2)
    windows = cut_windows(marks, plain, config.window, config.overlap // 2)
    encoding = Encoding(windows, len(marks), (), ())
    check_reading(lambda: model.read_tokens(encoding), config)
    return model, tokenizer


def unfreeze(model: ConversationReader, n_frozen: int) -> None:
    """Sets which weights are trained: all but the lowest layers of the encoder.

    If a layer is frozen, so is what comes before it: the embeddings and the vectors of the marks.
    """
    model.requires_grad_(True)
    if not n_frozen:
        return
    model.marks.requires_grad_(False)
    model.encoder.requires_grad_(False)
    for layer in find_encoder_layers(model)[n_frozen:]:
        layer.requires_grad_(True)


@dataclass(frozen=True, slots=True)
class GoldChapter:
    """A chapter as the model reads it, with its gold on the device of the model."""

    read: ReadChapter
    stretches: tuple[Stretch, ...]  # the speakers
    tags: Tensor  # (utterances,)
    n_people: int  # the people of the chapter

    @property
    def n_tokens(self) -> int:
        """The tokens of the chapter."""
        return len(self.read.units.tokens)


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a training: whole chapters, by their tokens."""

    examples: Sequence[ReaderExample]
    encoder: ChapterEncoder
    config: ReaderTraining
    device: torch.device

    def count(self) -> int:
        """Returns the number of steps in all epochs."""
        return sum(len(self._numbers(epoch)) for epoch in range(self.config.epochs))

    def of_epoch(self, epoch: int) -> Iterator[list[GoldChapter]]:
        """Yields the steps of an epoch, in an order that depends on its number and the seed."""
        rng = np.random.default_rng([self.config.seed, epoch])
        for numbers in self._numbers(epoch):
            yield [self.prepare(self.examples[n], rng) for n in numbers]

    def prepare(self, example: ReaderExample, rng: np.random.Generator) -> GoldChapter:
        """Returns a chapter as the model learns from it; `rng` draws the names that are hidden."""
        units, chapter = example.units, example.chapter
        tags = torch.from_numpy(example.tags.astype(np.int64))
        people = (units.people, example.links[:, 1], *map(np.array, chapter.candidates))
        return GoldChapter(
            self.encoder.encode(units, example.structure, chapter, example.links, rng),
            tuple(divide_chapter(chapter, example.targets)),
            tags.to(self.device, non_blocking=True),
            1 + max(int(numbers.max(initial=0)) for numbers in people),
        )

    def _numbers(self, epoch: int) -> list[list[int]]:
        order = list(range(len(self.examples)))
        random.Random(f"{self.config.seed} {epoch}").shuffle(order)
        sizes = [len(self.examples[n].units.tokens) for n in order]
        groups = group_by_tokens(sizes, self.config.batch)
        return [[order[n] for n in group] for group in groups]


def step_losses(
    model: nn.Module,
    step: Sequence[GoldChapter],
    config: ReaderTraining,
    device: torch.device,
    dtype: torch.dtype,
    at_once: int | None = None,
) -> Iterator[Part]:
    """Yields the losses of a step divided by its utterances.

    A GPU reads all chapters of a step at once, a CPU one after the other, if it is not said.
    """
    size = sum(len(chapter.tags) for chapter in step)
    if at_once is None:
        at_once = len(step) if device.type == "cuda" else 1
    for first in range(0, len(step), at_once):
        chapters = step[first : first + at_once]
        batch = join_chapters([chapter.read for chapter in chapters], device)
        with autocast(device.type, dtype):
            scores: ReaderScores = model(batch)
        loss = reader_loss(scores, batch, chapters, config)
        n_tokens = sum(len(window.ids) for window in batch.encoding.windows)
        yield Part(loss / size, loss, sum(len(one.tags) for one in chapters), n_tokens)


def reader_loss(
    scores: ReaderScores, batch: Batch, chapters: Sequence[GoldChapter], config: ReaderTraining
) -> Tensor:
    """Returns the weighted loss of chapters, summed over their utterances.

    Tags and speakers each have the loss of a conditional random field (Lafferty et al. 2001): minus
    the log-probability of the gold among all sequences. So nothing is learned from a history that
    will not be there.
    """
    rows = [
        [SequenceScores(part[: len(chapter.tags)], None)]
        for part, chapter in zip(scores.tags, chapters, strict=True)
    ]
    loss = config.tag_weight * chapters_loss(rows, [one.tags for one in chapters], [], 0.0, 0.0)
    stretches = [stretch for chapter in chapters for stretch in chapter.stretches]
    table = spread_scores(scores.candidates.float(), stretches)
    totals = log_totals(
        table, [len(one.speakers) for one in stretches], [one.start for one in stretches]
    )
    loss = loss + config.speaker_weight * (totals.sum() - score_of_gold(table, stretches))
    if config.link_weight:
        loss = loss + config.link_weight * link_loss(
            scores.links, batch, [chapter.n_people for chapter in chapters]
        )
    return loss


def link_loss(evidence: Tensor, batch: Batch, n_people: Sequence[int]) -> Tensor:
    """Returns minus the log-probability of the people whom the links mean, summed over the links.

    Args:
        evidence: `ReaderScores.links`.
        batch: the chapters.
        n_people: the people of each chapter, among whom the probability is shared.
    """
    sizes = torch.tensor(n_people).to(evidence.device, non_blocking=True)
    is_absent = torch.arange(evidence.shape[2], device=evidence.device) >= sizes[:, None]
    logs = evidence.masked_fill(is_absent[:, None], _ABSENT).log_softmax(dim=2)
    right = logs.gather(2, batch.linked[..., None])[..., 0]
    return -right.masked_fill(~batch.links.is_there, 0.0).sum()


def log_totals(scores: Tensor, lengths: Sequence[int], starts: Sequence[tuple[int, int]]) -> Tensor:
    """Returns the logarithm of the sum over all sequences of speakers, for each stretch.

    It is that of `chain.sum_sequences`, by its forward pass, on any device and without waiting for
    a number from it; PyTorch finds the gradients.

    Args:
        scores: (ways, stretches, utterances, people).
        lengths: the utterances of each stretch.
        starts: the last speaker before each stretch, and the one before that.
    """
    device, n_people = scores.device, scores.shape[3]
    scores = nn.functional.pad(scores, (0, 1), value=-torch.inf)  # nobody comes last
    highest = scores.detach().amax(dim=(0, 3), keepdim=True)
    odds = (scores - highest).exp()
    others = 1 - torch.eye(n_people + 1, device=device)
    begins = torch.zeros(len(starts), n_people + 1, n_people + 1)
    for number, (last, before) in enumerate(starts):
        begins[number, last, before] = 1
    assert NOBODY == -1  # so that nobody is the last column
    runs = torch.arange(scores.shape[2])[:, None] < torch.tensor(lengths)
    state = begins.to(device, non_blocking=True)
    runs = runs.to(device, non_blocking=True)
    logs: list[Tensor] = []
    for step in range(scores.shape[2]):
        other, last, before = odds[:, :, step, :, None].unbind(dim=0)
        turned = state.transpose(1, 2)
        rest = (state.sum(dim=2)[:, None, :] - turned).clamp(min=0) * others
        following = other * rest + last * state + before * turned
        total = following.sum(dim=(1, 2))
        logs.append(total.log())
        state = following / total[:, None, None]
    each = torch.stack(logs) + highest[0, :, :, 0].T
    return each.masked_fill(~runs, 0.0).sum(dim=0)
