"""All choices of a training of the reader; `train.py` turns each field into an option."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from miner.errors import InputError
from miner.lab.learning.fields import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderTraining:
    """The choices of a training run.

    Raises:
        InputError: if two choices contradict each other.
    """

    # The data.
    gold: Annotated[Path, Option("Folder of annotations.")] = Path("annotations")
    books: Annotated[Path | None, Option("Folder of Gutenberg files.", envvar="MINER_BOOKS")] = None
    language: Annotated[
        str, Option("Languages of the annotations, joined with commas, or all.")
    ] = "en"
    train_split: Annotated[str, Option("Splits to train on, joined with +.")] = "train"
    dev_split: Annotated[str, Option("Splits that choose the best epoch, joined with +.")] = "dev"
    test_split: Annotated[str | None, Option("Splits to score once, at the end.")] = None
    without: Annotated[tuple[str, ...], Option("Number of a book to leave out of training.")] = ()
    chapters: Annotated[
        int | None, Option("Train on this many chapters, chosen by the seed.", minimum=1)
    ] = None

    # The encoder.
    encoder: Annotated[
        str, Option("Pre-trained encoder: a name on the Hub, a folder, or a run of the tagger.")
    ] = "sentence-transformers/all-MiniLM-L6-v2"
    encoder_layers: Annotated[
        int, Option("Number of its lowest layers to keep; 0 keeps all.", minimum=0)
    ] = 0
    frozen_layers: Annotated[
        int,
        Option(
            "Number of its lowest layers that are not trained; with 1 or more neither are its "
            "embeddings and the vectors of the marks.",
            minimum=0,
        ),
    ] = 0
    window: Annotated[int, Option("Tokens that the encoder reads at once.")] = 512
    overlap: Annotated[int, Option("Tokens that a window shares with the next one.")] = 128
    ends: Annotated[int, Option("Tokens kept at each end of long spans; 0 keeps all.")] = 48
    masked_names: Annotated[
        float, Option("Share of mentions by name hidden in training; 1 hides them always.")
    ] = 0.0

    # The model.
    units: Annotated[
        Literal["lstm", "none"], Option("A BiLSTM over the units of a chapter, or none.")
    ] = "lstm"
    features: Annotated[
        bool, Option("Read the features of utterances and candidates beside the text.")
    ] = True
    width: Annotated[int, Option("Size of the vectors of units.")] = 256
    hidden: Annotated[int, Option("Size of the BiLSTM in each direction.")] = 128
    layers: Annotated[int, Option("Layers of the BiLSTM.")] = 1
    dropout: Annotated[float, Option("Dropout before and after the BiLSTM.")] = 0.2

    # The training.
    epochs: Annotated[int, Option("Epochs on the annotations.", minimum=1)] = 3
    patience: Annotated[
        int, Option("Epochs without a better one on dev before training stops.", minimum=0)
    ] = 2
    batch: Annotated[
        int, Option("Tokens of a step, which has whole chapters, at least one.", minimum=1)
    ] = 16_384
    encoder_rate: Annotated[float, Option("Learning rate of the encoder.")] = 4e-5
    head_rate: Annotated[float, Option("Learning rate of all else.")] = 1e-3
    warm_up: Annotated[float, Option("Share of the steps in which the rates rise.")] = 0.1
    tag_weight: Annotated[float, Option("Weight of the loss of the tags.")] = 1.0
    speaker_weight: Annotated[float, Option("Weight of the loss of the speakers.")] = 1.0
    link_weight: Annotated[
        float, Option("Weight of the loss of links from nouns and pronouns; 0 learns none.")
    ] = 0.3
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16"],
        Option("Numbers to compute with; auto: bfloat16 on GPUs that have it, else float32."),
    ] = "auto"
    seed: Annotated[int, Option("Seed of the weights, the order and the dropout.")] = 0

    # The result.
    resamples: Annotated[int, Option("Resampled sets of chapters for the intervals.")] = 1000

    def __post_init__(self) -> None:
        for name in ("tag_weight", "speaker_weight", "link_weight"):
            if not getattr(self, name) >= 0:
                raise InputError(f"found {name} {getattr(self, name)}, expected 0 or more")
        if not self.tag_weight + self.speaker_weight:
            raise InputError("found no weight of tags or speakers, expected one above 0")
        if not 0 <= self.warm_up < 1:
            raise InputError(f"found warm_up {self.warm_up}, expected 0 or more and less than 1")
