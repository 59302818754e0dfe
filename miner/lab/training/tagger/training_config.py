"""All choices of a training run; `train.py` turns each field into an option of the command line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from miner.errors import InputError
from miner.lab.learning.fields import Option
from miner.tagger.load import CHECKPOINTS

_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
_WEAK_TAGGER = "tuned-gap"
_AUGMENT = 0.6  # the share of places to split at if none is given


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
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
    dev_language: Annotated[
        str | None, Option("Languages of dev and test.  [default: those of --language]")
    ] = None
    dev_book: Annotated[
        tuple[str, ...], Option("Number of a book to move from training to dev.")
    ] = ()
    chapters: Annotated[
        int | None, Option("Train on this many chapters, chosen by the seed.", minimum=1)
    ] = None
    balance: Annotated[
        float | None,
        Option(
            "Share of a language in an epoch: its chapters to this power; 0 for equal shares. "
            "Default: each chapter once.",
            minimum=0,
            maximum=1,
        ),
    ] = None
    epoch_chapters: Annotated[
        int | None, Option("Chapters of an epoch with --balance; default: all.", minimum=1)
    ] = None
    weak: Annotated[
        tuple[str, ...], Option("Book (number, file, folder) to train on with weak labels.")
    ] = ()
    weak_tagger: Annotated[
        str, Option("Tagger that makes the weak labels, as for `miner --tagger`.")
    ] = _WEAK_TAGGER
    teacher: Annotated[
        tuple[str, ...],
        Option(
            "Checkpoint whose probabilities are learned beside the tags, and on books of --weak "
            "alone; of several, their mean."
        ),
    ] = ()
    augment: Annotated[
        float | None,
        Option(
            "Share of the possible places at which paragraphs are split in training. "
            "Default: 0.6, or 0 with --frozen.",
            minimum=0,
            maximum=1,
        ),
    ] = None

    # The encoder.
    encoder: Annotated[
        str,
        Option("Pre-trained encoder: a name on the Hub, a folder, or a run folder of the tagger."),
    ] = _ENCODER
    encoder_layers: Annotated[
        int, Option("Number of its lowest layers to keep; 0 keeps all.", minimum=0)
    ] = 0
    frozen: Annotated[bool, Option("Train the head only, on vectors computed once.")] = False
    frozen_layers: Annotated[
        int, Option("Number of its lowest layers that are not trained.", minimum=0)
    ] = 0
    vectors: Annotated[Path | None, Option("Folder that keeps a frozen encoder's vectors.")] = None
    initialize_from: Annotated[
        tuple[Path, ...],
        Option("Run folder whose weights the training starts from; of several, their mean."),
    ] = ()

    # The model.
    context: Annotated[
        Literal["text", "span"], Option("Encode running text in windows, or each span alone.")
    ] = "text"
    window: Annotated[int, Option("Tokens that the encoder reads at once.")] = 256
    margin: Annotated[int, Option("Tokens at each edge of a window that are context only.")] = 32
    ends: Annotated[int, Option("Tokens kept at each end of long spans; 0 keeps all.")] = 24
    paragraphs: Annotated[
        int, Option("Paragraphs with speech that the BiLSTM reads at once; 0 reads a chapter.")
    ] = 0
    features: Annotated[bool, Option("Read structure features beside the text.")] = True
    projection: Annotated[int, Option("Size of the projected vectors.")] = 256
    hidden: Annotated[int, Option("Size of the BiLSTM in each direction.")] = 128
    layers: Annotated[int, Option("Layers of the BiLSTM.")] = 1
    dropout: Annotated[float, Option("Dropout before and after the BiLSTM.")] = 0.2
    masked: Annotated[float, Option("Share of tokens hidden in training.")] = 0.15

    # The training.
    structure_epochs: Annotated[
        int, Option("Epochs that train the structure expert, before the text expert.", minimum=0)
    ] = 12
    weak_epochs: Annotated[int, Option("Epochs on weak labels, if there are any.", minimum=1)] = 1
    epochs: Annotated[
        int,
        Option("Epochs on the annotations; 0 keeps the weights of --initialize-from.", minimum=0),
    ] = 4
    patience: Annotated[
        int, Option("Epochs without a better one on dev before training stops.", minimum=0)
    ] = 2
    batch: Annotated[int, Option("Chapters per step and process.", minimum=1)] = 1
    encoder_rate: Annotated[float, Option("Learning rate of the encoder.")] = 1e-4
    head_rate: Annotated[float, Option("Learning rate of the head.")] = 2e-3
    start_weight: Annotated[float, Option("Extra cost of missing a B-START.")] = 0.0
    speaker_weight: Annotated[float, Option("Weight of telling speakers apart.")] = 0.5
    teacher_share: Annotated[
        float,
        Option("Share of the teachers in the loss of annotated chapters.", minimum=0, maximum=1),
    ] = 0.5
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16"],
        Option("Numbers to compute with; auto: bfloat16 on GPUs that have it, else float32."),
    ] = "auto"
    seed: Annotated[int, Option("Seed of the weights, the order and the dropout.")] = 0

    # The result.
    resamples: Annotated[int, Option("Resampled sets of chapters for the intervals.")] = 1000
    quantize: Annotated[bool, Option("Store weights in 8 bits, a quarter of the size.")] = False

    def __post_init__(self) -> None:
        if self.features and not (self.structure_epochs or self.initialize_from):
            raise InputError("found `structure_epochs=0`, expected 1 or more, or `features=False`")
        if not (self.epochs or self.initialize_from):
            raise InputError("found `epochs=0`, expected 1 or more, or `initialize_from=`")
        if self.epoch_chapters and self.balance is None:
            raise InputError("found `epoch_chapters=` without `balance=`, expected both")
        if self.teacher and self.weak_tagger != _WEAK_TAGGER:
            raise InputError(
                "found `weak_tagger=` with `teacher=`, expected one: teachers label weak books"
            )
        if self.augment and self.frozen:
            raise InputError(
                "found `augment=` with `frozen=True`, whose vectors are computed once: expected 0"
            )

    @property
    def augment_share(self) -> float:
        """The share of places to split paragraphs at, 0..1, with the default filled in."""
        if self.augment is None:
            return 0.0 if self.frozen else _AUGMENT
        return self.augment

    def for_smoke_test(self) -> TrainingConfig:
        """Returns the config of a short run on the sample that passes through every stage.

        It needs no network: unless another encoder is named, that of the package's tagger is taken.
        """
        return replace(
            self,
            encoder=str(CHECKPOINTS / "en") if self.encoder == _ENCODER else self.encoder,
            train_split="sample",
            dev_split="sample",
            weak=("sample",),
            structure_epochs=min(self.structure_epochs, 1),
            epochs=2,
        )
