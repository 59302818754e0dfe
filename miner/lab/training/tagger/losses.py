"""The losses of training: of the tags of sequences, of their speakers, and of whole chapters.

Chapters are computed side by side, and nothing waits for a number from the device: a GPU has then
always something to compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from miner.speech.tags import TAGS
from miner.tagger.decoding import ALLOWED, FIRST
from miner.tagger.model import SequenceScores

_FORBIDDEN = -1e4  # the score of a step that the table of successors does not allow


def chapters_loss(
    parts: Sequence[Sequence[SequenceScores]],
    tags: Sequence[Tensor],
    speakers: Sequence[Tensor],
    start_weight: float,
    speaker_weight: float,
) -> Tensor:
    """Returns the loss of chapters, summed over their utterances."""
    rows = [torch.cat([part.scores for part in chapter]).float() for chapter in parts]
    scores, gold = pad_sequence(rows, batch_first=True), pad_sequence(list(tags), batch_first=True)
    is_other_tag = _on(scores.device, "is other tag")
    scores = scores + start_weight * ((gold == 0)[..., None] & is_other_tag)
    loss = _minus_log_probability(scores, gold, [len(item) for item in rows]).sum()
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
