"""Annotated chapters -> the weights of the network that scores candidates.

The network learns with the annotated history: each utterance knows who really spoke before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from miner.errors import InputError
from miner.lab.gold.editions import BookReader
from miner.lab.learning.fields import Option
from miner.lab.learning.loop import Learner, Part, Row, fit
from miner.lab.learning.prepared import Record
from miner.lab.learning.run_folder import Arrays
from miner.lab.training.speakers.examples import (
    KIND,
    SpeakerExample,
    read_speaker_examples,
    without_people,
)
from miner.people.attributor import N_INPUTS
from miner.people.features import FEATURES, Array, History, history_features

_WEIGHT_DECAY = 0.01
_WARM_UP = 100  # steps
_LAST_RATE = 0.02  # the share of the rate at which the training ends


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerTraining:
    """The choices of a training run of the network."""

    first: Annotated[int, Option("Size of the first hidden layer.", minimum=1)] = 96
    second: Annotated[int, Option("Size of the second hidden layer.", minimum=1)] = 48
    epochs: Annotated[int, Option("Epochs on the annotations.", minimum=1)] = 4
    batch: Annotated[int, Option("Utterances per step.", minimum=1)] = 512
    rate: Annotated[
        float, Option("Learning rate; it rises over 100 steps and then falls along a line.")
    ] = 2e-3
    dropout: Annotated[float, Option("Dropout of the hidden values.")] = 0.1
    seed: Annotated[int, Option("Seed of the weights, the order and the dropout.")] = 0


@dataclass(frozen=True, slots=True)
class SpeakerTrainer:
    """Trains the network of the speakers; see `network_training.NetworkTrainer`."""

    options: SpeakerTraining
    kind: ClassVar = KIND
    form: ClassVar = list[SpeakerExample]
    features: ClassVar[Sequence[str]] = FEATURES

    @property
    def choices(self) -> Record:
        """The choices of the training by name."""
        return asdict(self.options)

    def read(
        self,
        gold: Path,
        split: str,
        read: BookReader,
        without: Collection[str],
        leave_out: Callable[[str], object],
    ) -> list[SpeakerExample]:
        """Returns the examples of a split of the annotations."""
        found = read_speaker_examples(gold, split, read, without, leave_out)
        return list(map(without_people, found))

    def describe(self, examples: list[SpeakerExample]) -> Record:
        """Returns the books of the examples, and how many they are."""
        return {
            "books": list(dict.fromkeys(example.book for example in examples)),
            "chapters": len(examples),
            "utterances": sum(len(example.targets) for example in examples),
        }

    def fit(self, examples: list[SpeakerExample], report: Callable[[str], object]) -> Arrays:
        """Returns the weights that are learned from examples."""
        return fit_network(
            examples,
            self.options,
            lambda row: report(f"epoch {row['epoch']} loss {row['loss']:.4g}"),
        )


class SpeakerNetwork(nn.Module):
    """The network of `scorer.NetworkScorer` in PyTorch, as it is trained."""

    def __init__(self, options: SpeakerTraining) -> None:
        super().__init__()
        self.first = nn.Linear(N_INPUTS, options.first)
        self.second = nn.Linear(options.first, options.second)
        self.score = nn.Linear(options.second, 1)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Returns the scores of candidates: (..., candidates) of (..., candidates, inputs)."""
        hidden = self.dropout(torch.relu(self.first(features)))
        hidden = self.dropout(torch.relu(self.second(hidden)))
        return self.score(hidden).squeeze(-1)


def fit_network(
    examples: Sequence[SpeakerExample],
    options: SpeakerTraining,
    report: Callable[[Row], object] = lambda row: None,
) -> dict[str, Array]:
    """Returns the weights, by the names that `scorer.NetworkScorer` takes.

    The network learns from all utterances whose speaker is known.
    """
    rows, targets = [], list[int]()
    for example in examples:
        for target, candidates in zip(example.targets, read_with_gold(example), strict=True):
            if target >= 0:
                rows.append(candidates.astype(np.float16))
                targets.append(target)
    if not rows:
        raise InputError("found no utterance with a known speaker, expected some to learn from")
    torch.manual_seed(options.seed)
    order = np.random.default_rng(options.seed)
    network = SpeakerNetwork(options)
    optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, weight_decay=_WEIGHT_DECAY)
    n_steps = options.epochs * ceil(len(rows) / options.batch)

    def batches(_: int) -> list[list[int]]:
        drawn = order.permutation(len(rows)).tolist()
        return [drawn[n : n + options.batch] for n in range(0, len(rows), options.batch)]

    def losses(wrapped: nn.Module, numbers: list[int]) -> Iterator[Part]:
        device = network.score.weight.device
        features = pad_sequence(
            [torch.from_numpy(rows[n]) for n in numbers], batch_first=True
        ).float()
        sizes = torch.tensor([len(rows[n]) for n in numbers])
        is_padding = torch.arange(features.shape[1])[None] >= sizes[:, None]
        scores = wrapped(features.to(device)).masked_fill(is_padding.to(device), float("-inf"))
        right = torch.tensor([targets[n] for n in numbers], device=device)
        yield Part.of_mean(nn.functional.cross_entropy(scores, right), len(numbers))

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
    fit(learner, options.epochs, report=report)
    return {name: weight.cpu().numpy() for name, weight in network.state_dict().items()}


def read_with_gold(example: SpeakerExample) -> Iterable[Array]:
    """Yields the inputs of each utterance with the gold history: (candidates, inputs)."""
    chapter, history = example.chapter, History()
    utterances = zip(
        chapter.places, chapter.candidates, chapter.features, example.targets, strict=True
    )
    for place, candidates, features, target in utterances:
        yield np.hstack([features, history_features(history, place, candidates, features)])
        # The unknown person is the last candidate, which is also what -1 means.
        history = history.after(candidates[target], place.paragraph)
