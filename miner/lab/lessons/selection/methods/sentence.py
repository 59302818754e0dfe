"""Sentence: a pre-trained sentence encoder, trained further on the pairs (in-batch negatives).

What one would train today: the trainer of `sentence-transformers` with its loss
`MultipleNegativesRankingLoss`, which is the dot-product loss of CD 4.3 with a cosine times 20. No
text is twice in a batch, so that no reply is its own false one. One encoder reads both sides, as in
Reimers and Gurevych (2019). Every so often the encoder is judged on validation, and the training
is kept so far that it can be resumed; the encoder with the highest accuracy is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from miner.errors import InputError
from miner.extras import import_extra
from miner.files import printable, telling
from miner.hub import load_sentence_encoder
from miner.lab.learning.fields import Option
from miner.lab.lessons.embeddings import (
    DEFAULT_ENCODER,
    DTYPE_HELP,
    ENCODER_HELP,
    Dtype,
    Embedder,
    context_texts,
    load_encoder,
    quiet,
    trim_batches,
)
from miner.lab.lessons.selection.methods import Step, Training
from miner.lab.lessons.selection.tasks import one_of_many_accuracy

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_ENCODER = "encoder"


@dataclass(frozen=True, slots=True)
class Options:
    """The encoder, and how it learns; the rate is that of the library's examples."""

    encoder: Annotated[str, Option(ENCODER_HELP)] = DEFAULT_ENCODER
    longest: Annotated[
        int, Option("Most tokens of a text; a context loses its oldest ones.", minimum=8)
    ] = 128
    epochs: Annotated[int, Option("Passes over the pairs.", minimum=1)] = 1
    batch: Annotated[int, Option("Pairs in a batch.", minimum=2)] = 64
    rate: Annotated[float, Option("Highest learning rate.")] = 5e-5
    dtype: Annotated[Dtype, Option(DTYPE_HELP)] = "float32"
    judged: Annotated[
        int, Option("Times in an epoch that it is judged and kept for a resumption.", minimum=1)
    ] = 4


def train(training: Training, folder: Path) -> None:
    """Trains the encoder, and writes it."""
    import_extra("datasets", "selection")
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.training_args import BatchSamplers

    from miner.lab.learning.library_trainer import QUIET, Curve

    options: Options = training.options
    if len(training.examples) < options.batch:
        raise InputError(
            f"found {len(training.examples)} pairs, expected at least {options.batch}, as a batch "
            "has"
        )
    model = load_encoder(options.encoder)
    limit = model.max_seq_length
    model.max_seq_length = min(limit, options.longest) if limit else options.longest
    # The library computes examples for its own card, with a bar, where there are none.
    model.model_card_data.generate_widget_examples = False
    model.model_card_data.widget = [{}]
    data = Dataset.from_dict(
        {
            "anchor": context_texts(model, [one.context for one in training.examples]),
            "positive": [one.response for one in training.examples],
        }
    )

    def judge(n_pairs: int, seconds: float) -> Step:
        accuracy = None
        if training.validation:
            accuracy = one_of_many_accuracy(Embedder(_ENCODER, model), training.validation)
            model.train()
        return Step(n_pairs, None, accuracy, seconds)

    def judged_at(n_batches: int) -> set[int]:
        every = -(-n_batches // (options.epochs * options.judged))
        return {*range(every, n_batches + 1, every), n_batches}

    curve = Curve(
        training.state,
        len(training.examples) * options.epochs,
        judged_at,
        judge,
        Step,
        lambda step: step.accuracy,
        lambda: model.save(str(training.state / _ENCODER), create_model_card=False),
        training.report,
        training.progress,
    )
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(curve.checkpoints),
        num_train_epochs=options.epochs,
        per_device_train_batch_size=options.batch,
        learning_rate=options.rate,
        warmup_steps=0.1,
        batch_sampler=BatchSamplers.NO_DUPLICATES,
        bf16=options.dtype == "bfloat16",
        use_cpu=model.device.type == "cpu",
        dataloader_pin_memory=model.device.type == "cuda",
        seed=training.seed % 2**31,
        data_seed=training.seed % 2**31,
        **QUIET,
    )
    trainer = SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=data, loss=_loss_of(model), callbacks=[curve]
    )
    with quiet():
        curve.train(trainer)
        best = load_sentence_encoder(training.state / _ENCODER)
        best.max_seq_length = model.max_seq_length
        best.save(str(folder / _ENCODER), create_model_card=False)


def load(folder: Path) -> Embedder:
    """Returns the method of a folder."""
    path = folder / _ENCODER
    if not path.is_dir():
        raise InputError(f"{printable(path)}: found no folder, expected a trained encoder")
    with telling(f"{printable(path)}: found no encoder", "a trained one"), quiet():
        return Embedder(_ENCODER, load_sentence_encoder(path))


def _loss_of(model: SentenceTransformer) -> Any:  # noqa: ANN401
    """The library's loss. The texts of a batch are encoded by length, without most padding."""
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    class Loss(MultipleNegativesRankingLoss):
        """It has the same value, and takes a third of the time where a text is long."""

        def forward(self, sentence_features: Any, labels: Any) -> Any:  # noqa: ANN401
            """Returns the loss of a batch: the tokens of contexts and of responses."""
            embeddings = [self._encode(features) for features in sentence_features]
            return self.compute_loss_from_embeddings(embeddings, labels)

        def _encode(self, features: dict[str, Any]) -> Any:  # noqa: ANN401
            import torch

            rows, parts = [], []
            for numbers, part in trim_batches(features):
                rows.append(numbers)
                parts.append(self.model(part)["sentence_embedding"])
            return torch.cat(parts)[torch.cat(rows).argsort()]

    return Loss(model)
