"""Trained taggers teach another: chapters -> the mean of the probabilities that they give.

A network learns more from the probabilities of a larger one, or of an ensemble, than from the right
answers alone (Hinton, Vinyals and Dean 2015, "Distilling the Knowledge in a Neural Network",
sections 2 and 3). They are called soft labels, and need no annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.lab.training.tagger.training import training_dtype
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.tagger.checkpoint import has_gpu
from miner.tagger.decoding import TagScores, marginals
from miner.tagger.features import Chapter
from miner.tagger.load import choose_one_tagger, load_checkpoint_tagger, tagger_signature
from miner.tagger.tagger import NeuralTagger

# The probabilities of the two answers of `model.log_odds`, 0..1: (utterances, 2), float16. The
# first is that a conversation opens; the second is that the turn continues, if none opens.
SoftLabels = NDArray[np.float16]
# Returns the items; iterating over them may show how far it is, under a name.
Progress = Callable[[Sequence[Any], str], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Teachers:
    """Trained taggers that label chapters. Each has windows and a tokenizer of its own."""

    taggers: tuple[NeuralTagger, ...]
    progress: Progress

    @classmethod
    def load(cls, config: TrainingConfig, progress: Progress) -> Self:
        """Returns the teachers of a run, who compute with the same numbers and read all windows.

        Raises:
            InputError: if one cannot be loaded.
        """
        dtype = training_dtype(config.dtype, "cuda" if has_gpu() else "cpu")
        taggers: list[NeuralTagger] = []
        for name in _checkpoint_names(config):
            tagger = load_checkpoint_tagger(name, str(dtype).removeprefix("torch."))
            if not isinstance(tagger, NeuralTagger):
                raise InputError(f"{name}: found a reader, expected a checkpoint of the tagger")
            taggers.append(replace(tagger, config=replace(tagger.config, sure=1.0)))
        return cls(tuple(taggers), progress)

    def label(self, chapters: Sequence[Chapter]) -> Iterator[SoftLabels]:
        """Yields the soft labels of each chapter."""
        scored = [tagger.score_chapters(chapters) for tagger in self.taggers]
        for _, *of_chapter in zip(self.progress(chapters, "soft labels"), *scored, strict=True):
            yield mean_labels([scores for _, scores in of_chapter])


def mean_labels(scores: Sequence[TagScores]) -> SoftLabels:
    """Returns the soft labels of a chapter from the scores that several taggers give it.

    The mean is that of the probabilities of the tags. These are the model's own: neither the offset
    of B-START nor the temperature of confidence is applied. Both are fitted to the tags of dev,
    which training may not see, and the student has them fitted anew.

    Args:
        scores: those of each tagger, (utterances, 4).
    """
    opens, starts_on, turns, goes_on = np.mean([marginals(item) for item in scores], axis=0).T
    continues = starts_on + goes_on
    none_opens = continues + turns
    share = np.divide(continues, none_opens, out=np.zeros_like(opens), where=none_opens > 0)
    return np.stack([opens, share], axis=1).astype(np.float16)


def teacher_signatures(config: TrainingConfig) -> list[str]:
    """Returns the name of each teacher of a run with the start of its digest: "large@1ec0df8c"."""
    return [tagger_signature(name) for name in _checkpoint_names(config)]


def _checkpoint_names(config: TrainingConfig) -> list[str]:
    """Returns the paths of the teachers; "auto" is the package's tagger for the languages."""
    languages = [code.strip() for code in config.language.split(",")]
    return [choose_one_tagger(name, languages) for name in config.teacher]
