"""The loss of a model on the tokens of responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from miner.lab.lessons.generation.batches import Collator, sort_by_length
from miner.lab.lessons.generation.tokens import NO_LOSS, EncodedPair, TurnTokens

if TYPE_CHECKING:
    from transformers import PreTrainedModel


_LARGEST = 700.0  # nats, of which the power can be computed


class SmoothedLoss:
    """The loss that a training makes small, as `transformers.Trainer` takes it.

    It is the cross-entropy of the tokens of responses, in nats for a token, with a share of the
    target spread over the whole vocabulary.

    Args:
        smoothing: the share.
    """

    def __init__(self, smoothing: float) -> None:
        self._smoothing = smoothing
        self._sum, self._n = 0.0, 0

    def __call__(
        self,
        outputs: Any,  # noqa: ANN401 - of any model of the library
        labels: Tensor,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Tensor:
        """Returns the loss of a batch."""
        has_loss = labels != NO_LOSS  # the scores of all words at all other tokens are much memory
        total = nn.functional.cross_entropy(
            outputs.logits[has_loss].float(),
            labels[has_loss],
            label_smoothing=self._smoothing,
            reduction="sum",
        )
        n = has_loss.sum()
        self._sum, self._n = self._sum + total.detach(), self._n + n
        return total / (n if num_items_in_batch is None else num_items_in_batch)

    def take_mean(self) -> float:
        """Returns the loss for a token since the last call."""
        mean = float(self._sum / self._n) if self._n else 0.0
        self._sum, self._n = 0.0, 0
        return mean


def sum_losses(
    model: PreTrainedModel,
    tokens: TurnTokens,
    pairs: Sequence[EncodedPair],
    batch: int = 64,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> NDArray[np.float64]:
    """Returns how surprised a model is by each response: nats, and how many tokens, [n, 2].

    The loss of all is the sum of the one over the sum of the other; `exp` of it is the perplexity.
    """
    found = np.zeros((len(pairs), 2))
    lengths = np.array([(len(pair.response), len(pair.context)) for pair in pairs])
    order = sort_by_length(np.arange(len(pairs)), lengths)
    collate = Collator(tokens, model.config.is_encoder_decoder)
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            numbers = order[start : start + batch]
            given = collate([pairs[number] for number in numbers])
            labels = given.pop("labels").to(model.device)
            logits = model(**{name: value.to(model.device) for name, value in given.items()}).logits
            has_loss = labels != NO_LOSS
            nats = torch.zeros(labels.shape, dtype=torch.float64)
            nats[has_loss.cpu()] = (
                nn.functional.cross_entropy(
                    logits[has_loss].float(), labels[has_loss], reduction="none"
                )
                .double()
                .cpu()
            )
            found[numbers, 0] = nats.sum(dim=1).numpy()
            found[numbers, 1] = has_loss.sum(dim=1).cpu().numpy()
            progress(start + len(numbers), len(order))
    model.train(was_training)
    return found


def perplexity(loss: float) -> float:
    """Returns e to the power of a loss in nats; infinity where that is no number any more."""
    return exp(loss) if loss < _LARGEST else inf


def mean_loss(losses: NDArray[np.float64]) -> float:
    """Returns the nats for a token of the rows of `sum_losses`."""
    nats, n = losses.sum(axis=0)
    return float(nats / n)
