"""Chapters with their speakers, as numbers -> the weights of the network that scores candidates.

The loss is that of a conditional random field: the negative logarithm of the probability that the
chain gives to all the annotated speakers of a stretch, among all sequences of speakers. So the
network learns from what would follow its own mistakes, not from the annotated history alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.autograd.function import FunctionCtx

from miner.errors import InputError
from miner.lab.learning.fields import Option
from miner.lab.learning.loop import Learner, Part, Row, fit
from miner.people.chain import NOBODY, Way, sum_sequences, ways_of
from miner.people.features import FEATURES, Array, CandidateChapter

_WEIGHT_DECAY = 0.01
_WARM_UP = 60  # steps
_LAST_RATE = 0.02  # the share of the rate at which the training ends
_STRETCH = 48  # utterances that are read at once; a longer chapter is several stretches
_SIMILAR = 6  # stretches whose numbers of people differ by less may be in one step
_LONGEST_STEP = 5.0  # the norm above which gradients are made shorter


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerTraining:
    """The choices of a training run of the network."""

    first: Annotated[int, Option("Size of the first hidden layer.", minimum=1)] = 192
    second: Annotated[int, Option("Size of the second hidden layer.", minimum=1)] = 64
    epochs: Annotated[int, Option("Epochs on the annotations.", minimum=1)] = 10
    batch: Annotated[int, Option("Stretches of up to 48 utterances per step.", minimum=1)] = 24
    rate: Annotated[
        float, Option("Learning rate; it rises over 60 steps and then falls along a line.")
    ] = 2e-3
    dropout: Annotated[float, Option("Dropout of the hidden values.")] = 0.2
    seed: Annotated[int, Option("Seed of the weights, the order and the dropout.")] = 0


class SpeakerNetwork(nn.Module):
    """The network of `attributor.NetworkDecider` in PyTorch, as it is trained."""

    def __init__(self, options: SpeakerTraining) -> None:
        super().__init__()
        self.first = nn.Linear(len(FEATURES), options.first)
        self.second = nn.Linear(options.first, options.second)
        self.score = nn.Linear(options.second, len(Way))
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Returns the scores of candidates: (..., ways) of (..., features)."""
        hidden = self.dropout(torch.relu(self.first(features)))
        hidden = self.dropout(torch.relu(self.second(hidden)))
        return self.score(hidden)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some utterances of a chapter that follow each other. People are columns of a table."""

    features: Array  # of all candidates, one utterance after the other
    places: NDArray[np.int64]  # (2, candidates): the utterance and the column of each
    n_people: int
    speakers: tuple[int, ...]  # the annotated speaker of each utterance
    start: tuple[int, int]  # the annotated last speaker before them, and the one before that


def divide_chapter(chapter: CandidateChapter, targets: Sequence[int]) -> Iterator[Stretch]:
    """Yields the stretches of a chapter; their candidates are those of the chapter, in order.

    `targets` are the positions of the speakers among the candidates of each utterance.
    """
    said = [numbers[target] for numbers, target in zip(chapter.candidates, targets, strict=True)]
    last, before = NOBODY, NOBODY
    for first in range(0, len(said), _STRETCH):
        end = min(first + _STRETCH, len(said))
        numbers = [np.array(items) for items in chapter.candidates[first:end]]
        own = np.array([last, before])
        people = np.unique(np.concatenate([*numbers, own[own != NOBODY]]))
        columns = {number: column for column, number in enumerate(people.tolist())}
        speakers = [columns[number] for number in said[first:end]]
        yield Stretch(
            np.concatenate(chapter.features[first:end]).astype(np.float16, copy=False),
            np.stack(
                [
                    np.repeat(np.arange(end - first), [len(items) for items in numbers]),
                    np.searchsorted(people, np.concatenate(numbers)),
                ]
            ),
            len(people),
            tuple(speakers),
            (columns.get(last, NOBODY), columns.get(before, NOBODY)),
        )
        for number in said[first:end]:
            if number != last:
                last, before = number, last


class _LogTotal(torch.autograd.Function):
    """The logarithm of the sum over all sequences; its gradient are the marginals."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, scores: torch.Tensor, lengths: list[int], starts: list[tuple[int, int]]
    ) -> torch.Tensor:
        chain = sum_sequences(scores.detach().numpy(), lengths, starts)
        ctx.save_for_backward(torch.from_numpy(chain.marginals))
        return torch.from_numpy(chain.log_total)

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (marginals,) = ctx.saved_tensors  # pyright: ignore[reportAttributeAccessIssue]
        return gradients[0][None, :, None, None] * marginals, None, None


def _loss(network: nn.Module, stretches: Sequence[Stretch], device: torch.device) -> torch.Tensor:
    """Returns the negative log-likelihood of the annotated speakers of stretches."""
    rows = torch.from_numpy(np.concatenate([one.features for one in stretches]))
    table = spread_scores(network(rows.to(device).float()).cpu(), stretches)
    lengths = [len(one.speakers) for one in stretches]
    totals = _LogTotal.apply(table, lengths, [one.start for one in stretches])
    return totals.sum() - score_of_gold(table, stretches)


def spread_scores(scores: torch.Tensor, stretches: Sequence[Stretch]) -> torch.Tensor:
    """Returns a table of scores: (ways, stretches, utterances, people).

    `scores` are those of all candidates of the stretches, in order: (candidates, ways).
    """
    lengths = [len(one.speakers) for one in stretches]
    size = (len(Way), len(stretches), max(lengths), max(one.n_people for one in stretches))
    numbers = np.repeat(np.arange(len(stretches)), [len(one.features) for one in stretches])
    utterances, columns = np.concatenate([one.places for one in stretches], axis=1)
    places = torch.from_numpy(np.stack([numbers, utterances, columns]))
    places = places.to(scores.device, non_blocking=True)
    ways = torch.arange(len(Way), device=scores.device)
    table = torch.full(size, float("-inf"), device=scores.device)
    table = table.index_put((ways[:, None], *places[:, None]), scores.T)
    for number, length in enumerate(lengths):  # what is not there needs a candidate, too
        table[:, number, length:] = 0.0
    return table


def score_of_gold(table: torch.Tensor, stretches: Sequence[Stretch]) -> torch.Tensor:
    """Returns the sum of the scores of the annotated speakers in the table of some stretches."""
    gold = [
        (way, number, utterance, speaker)
        for number, one in enumerate(stretches)
        for utterance, (speaker, way) in enumerate(
            zip(one.speakers, ways_of(one.speakers, one.start), strict=True)
        )
    ]
    places = torch.tensor(gold).T.to(table.device, non_blocking=True)
    return table[tuple(places)].sum()


def fit_network(
    examples: Sequence[tuple[CandidateChapter, Sequence[int]]],
    options: SpeakerTraining,
    report: Callable[[Row], object] = lambda row: None,
) -> dict[str, Array]:
    """Returns the weights, by the names that `attributor.NetworkDecider` takes.

    An example is a chapter with the position of the speaker among the candidates of each utterance.
    """
    stretches = [item for chapter, targets in examples for item in divide_chapter(chapter, targets)]
    if not stretches:
        raise InputError("found no utterance, expected some to learn from")
    torch.manual_seed(options.seed)
    order = np.random.default_rng(options.seed)
    network = SpeakerNetwork(options)
    optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, weight_decay=_WEIGHT_DECAY)
    n_steps = options.epochs * ceil(len(stretches) / options.batch)
    sizes = np.array([one.n_people for one in stretches]) // _SIMILAR

    def batches(_: int) -> list[list[Stretch]]:
        drawn = order.permutation(len(stretches))
        drawn = drawn[np.argsort(sizes[drawn], kind="stable")].tolist()
        firsts = range(0, len(drawn), options.batch)
        steps = [[stretches[n] for n in drawn[first : first + options.batch]] for first in firsts]
        return [steps[n] for n in order.permutation(len(steps))]

    def losses(wrapped: nn.Module, step: list[Stretch]) -> Iterator[Part]:
        n = sum(len(one.speakers) for one in step)
        loss = _loss(wrapped, step, network.score.weight.device) / n
        yield Part.of_mean(loss, n)

    learner = Learner(
        network=network,
        optimizer=optimizer,
        schedule=torch.optim.lr_scheduler.LambdaLR(
            optimizer,
            lambda step: min(1.0, (step + 1) / _WARM_UP) * max(_LAST_RATE, 1 - step / n_steps),
        ),
        batches=batches,
        losses=losses,
        validate=lambda epoch: {"epoch": epoch.number + 1, "loss": epoch.loss},
    )
    fit(learner, options.epochs, clip=_LONGEST_STEP, report=report)
    return {name: weight.cpu().numpy() for name, weight in network.state_dict().items()}
