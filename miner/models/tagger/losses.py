"""The losses of training: of the tags of a sequence, of its speakers, and of a whole chapter."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from miner.dialogue.tags import TAGS
from miner.models.tagger.decoding import ALLOWED, FIRST
from miner.models.tagger.model import SequenceScores

_FORBIDDEN = -1e4  # the score of a step that the table of successors does not allow


def chapter_loss(
    parts: Sequence[SequenceScores],
    tags: Tensor,
    speakers: Tensor,
    start_weight: float,
    speaker_weight: float,
) -> Tensor:
    """Returns the loss of a chapter, summed over its utterances.

    Args:
        parts: the scores of the chapter's sequences, in order.
        tags: (utterances,), the indices of the gold tags in `decoding.TAGS`.
        speakers: (utterances,), a number for each speaker, -1 where the speaker is unknown.
        start_weight: added to the scores of the other tags where the gold tag is B-START, so that
            missing a start costs more.
        speaker_weight: the weight of the speaker loss beside the loss of the tags.
    """
    scores = torch.cat([part.scores for part in parts]).float()
    is_start = (tags == 0)[:, None]
    is_other_tag = torch.arange(len(TAGS), device=scores.device) != 0
    loss = sequence_loss(scores + start_weight * (is_start & is_other_tag), tags) * len(tags)
    start = 0
    for part in parts:
        end = start + len(part.scores)
        if part.alike is not None:
            weight = speaker_weight * len(part.scores)
            loss = loss + weight * speaker_loss(part.alike, speakers[start:end])
        start = end
    return loss


def sequence_loss(scores: Tensor, tags: Tensor) -> Tensor:
    """Returns minus the log-probability of the gold tags per utterance, among allowed sequences.

    This is a linear-chain CRF (Lafferty et al. 2001). Its transitions are the table of allowed
    successors and are not trained. `decoding.marginals` uses the same probabilities.

    Args:
        scores: (utterances, 4).
        tags: (utterances,), indices of `decoding.TAGS`; an allowed sequence.
    """
    steps = torch.zeros(len(TAGS), len(TAGS), device=scores.device)
    steps = steps.masked_fill(~torch.from_numpy(ALLOWED).to(scores.device), _FORBIDDEN)
    first = torch.zeros(len(TAGS), device=scores.device)
    first = first.masked_fill(~torch.from_numpy(FIRST).to(scores.device), _FORBIDDEN)
    forward = scores[0] + first
    for row in scores[1:]:
        forward = torch.logsumexp(forward[:, None] + steps, dim=0) + row
    gold = scores.gather(1, tags[:, None]).sum()
    return (torch.logsumexp(forward, dim=0) - gold) / len(tags)


def speaker_loss(alike: Tensor, speakers: Tensor) -> Tensor:
    """Returns minus the log-probability that nearby utterances have the same speaker, or not.

    A model that tells the speakers of a passage apart knows where turns end. Every utterance with
    a known speaker teaches this, not only the few turns that run over several paragraphs.

    Args:
        alike: (utterances, n), as `SequenceScores.alike`.
        speakers: (utterances,), a number for each speaker, -1 where the speaker is unknown.

    Returns:
        The mean over pairs of utterances at most n apart; 0 if no pair is known.
    """
    scores: list[Tensor] = []
    same: list[Tensor] = []
    for distance in range(1, min(alike.shape[1], len(speakers) - 1) + 1):
        known = (speakers[distance:] >= 0) & (speakers[:-distance] >= 0)
        scores.append(alike[distance:, distance - 1][known])
        same.append((speakers[distance:] == speakers[:-distance])[known])
    if not sum(map(len, scores)):
        return alike.sum() * 0.0
    return nn.functional.binary_cross_entropy_with_logits(
        torch.cat(scores).float(), torch.cat(same).float()
    )
