"""Sentence: a pre-trained sentence encoder, trained further on the pairs (in-batch negatives).

What one would train today: the trainer of `sentence-transformers` with its loss
`MultipleNegativesRankingLoss`, which is the dot-product loss of CD 4.3 with a cosine times 20. No
text is twice in a batch, so that no reply is its own false one. One encoder reads both sides, as in
Reimers and Gurevych (2019). Every so often the encoder is judged on validation, and the training
is kept so far that it can be resumed; the encoder with the highest accuracy is taken.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from miner.errors import InputError
from miner.extras import import_extra
from miner.files import json_line, json_lines, json_rows, printable, read_text, reason_of
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

_ENCODER, _STEPS, _CHECKPOINTS = "encoder", "steps.jsonl", "checkpoints"


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
    from transformers.trainer_callback import PrinterCallback
    from transformers.trainer_utils import get_last_checkpoint

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
    checkpoints = training.state / _CHECKPOINTS
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=options.epochs,
        per_device_train_batch_size=options.batch,
        learning_rate=options.rate,
        warmup_steps=0.1,
        batch_sampler=BatchSamplers.NO_DUPLICATES,
        save_strategy="no",  # the curve says when
        save_total_limit=1,
        bf16=options.dtype == "bfloat16",
        use_cpu=model.device.type == "cpu",
        dataloader_pin_memory=model.device.type == "cuda",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=training.seed % 2**31,
        data_seed=training.seed % 2**31,
    )
    trainer = SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=data,
        loss=_loss_of(model),
        callbacks=[_curve_of(model, training)],
    )
    trainer.remove_callback(PrinterCallback)
    kept = get_last_checkpoint(str(checkpoints)) if checkpoints.is_dir() else None
    with quiet():
        trainer.train(resume_from_checkpoint=kept)
        best = load_sentence_encoder(training.state / _ENCODER)
        best.max_seq_length = model.max_seq_length
        best.save(str(folder / _ENCODER), create_model_card=False)


def load(folder: Path) -> Embedder:
    """Returns the method of a folder."""
    path = folder / _ENCODER
    if not path.is_dir():
        raise InputError(f"{printable(path)}: found no folder, expected a trained encoder")
    try:
        with quiet():
            model = load_sentence_encoder(path)
    except Exception as error:  # the libraries raise errors of many kinds
        raise InputError(
            f"{printable(path)}: found no encoder ({reason_of(error)}), expected a trained one"
        ) from error
    return Embedder(_ENCODER, model)


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


def _curve_of(model: SentenceTransformer, training: Training) -> Any:  # noqa: ANN401
    """What the trainer calls: it judges and keeps the training, and the best encoder so far."""
    from transformers import TrainerCallback

    n, options = len(training.examples), training.options
    path = training.state / _STEPS

    class Curve(TrainerCallback):
        """The curve of the training."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
            """Takes the points of an interrupted training up to where it goes on."""
            rows = [row for _, row in json_rows(path, read_text(path))] if path.is_file() else []
            rows = [row for row in rows if row["n_pairs"] <= self._pairs(state)]
            path.write_bytes(json_lines(rows))
            steps = [Step(**row) for row in rows]
            for step in steps:
                training.report(step)
            self.before = steps[-1].seconds if steps else 0.0
            self.best = max((step.accuracy or 0.0 for step in steps), default=-1.0)
            self.every = -(-state.max_steps // (options.epochs * options.judged))
            self.began = time.perf_counter()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
            """Shows the progress, and judges every so often."""
            training.progress(self._pairs(state), n * options.epochs)
            if state.global_step % self.every == 0 or state.global_step == state.max_steps:
                self._judge(state)
                control.should_save = True

        def _judge(self, state: Any) -> None:  # noqa: ANN401
            seconds = self.before + time.perf_counter() - self.began
            accuracy = None
            if training.validation:
                began = time.perf_counter()
                accuracy = one_of_many_accuracy(Embedder(_ENCODER, model), training.validation)
                self.began += time.perf_counter() - began
                model.train()
            if accuracy is None or accuracy > self.best:
                self.best = accuracy or 0.0
                model.save(str(training.state / _ENCODER), create_model_card=False)
            step = Step(self._pairs(state), None, accuracy, seconds)
            training.report(step)
            with path.open("ab") as file:
                file.write(json_line(asdict(step)))

        def _pairs(self, state: Any) -> int:  # noqa: ANN401
            """How many pairs were learned from."""
            return round(n * options.epochs * state.global_step / max(1, state.max_steps))

    return Curve()
