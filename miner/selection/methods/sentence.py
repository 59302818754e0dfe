"""Sentence: a pre-trained sentence encoder, trained further on the pairs (in-batch negatives).

What one would train today: the trainer of `sentence-transformers` with its loss
`MultipleNegativesRankingLoss`, which is the dot-product loss of CD 4.3 with a cosine times 20. No
text is twice in a batch, so that no reply is its own false one. One encoder reads both sides, as in
Reimers and Gurevych (2019). The epoch with the highest accuracy on validation is kept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from miner.extras import import_extra
from miner.fields import Option
from miner.files import json_line, json_rows, printable, read_text, reason_of
from miner.selection.embeddings import (
    DEFAULT_ENCODER,
    ENCODER_HELP,
    Embedder,
    Vectors,
    context_texts,
    load_encoder,
)
from miner.selection.examples import Context
from miner.selection.methods import Step, Training
from miner.selection.tasks import one_of_many_accuracy

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


def train(training: Training, folder: Path) -> None:
    """Trains the encoder, and writes it.

    Raises:
        ValueError: if the encoder cannot be loaded, or there are fewer pairs than a batch has.
        MissingExtraError: if `sentence-transformers` or `datasets` is not installed.
    """
    import_extra("datasets", "selection")
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from sentence_transformers.sentence_transformer.training_args import BatchSamplers

    options: Options = training.options
    if len(training.examples) < options.batch:
        raise ValueError(
            f"found {len(training.examples)} pairs, expected at least {options.batch}, as a batch "
            "has"
        )
    model = load_encoder(options.encoder)
    limit = model.max_seq_length
    model.max_seq_length = min(limit, options.longest) if limit else options.longest
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
        save_strategy="epoch",
        save_total_limit=1,
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
        loss=MultipleNegativesRankingLoss(model),
        callbacks=[_curve_of(model, training)],
    )
    interrupted = sorted(checkpoints.glob("checkpoint-*"))
    trainer.train(resume_from_checkpoint=str(interrupted[-1]) if interrupted else None)
    best = _library().SentenceTransformer(str(training.state / _ENCODER), local_files_only=True)
    best.max_seq_length = model.max_seq_length
    best.save(str(folder / _ENCODER), create_model_card=False)


def load(folder: Path) -> Sentence:
    """Returns the method of a folder.

    Raises:
        ValueError: if the encoder is missing or damaged; names its folder.
    """
    path = folder / _ENCODER
    if not path.is_dir():
        raise ValueError(f"{printable(path)}: found no folder, expected a trained encoder")
    try:
        model = _library().SentenceTransformer(str(path), local_files_only=True)
    except Exception as error:  # the libraries raise errors of many kinds
        raise ValueError(
            f"{printable(path)}: found no encoder ({reason_of(error)}), expected a trained one"
        ) from error
    return Sentence(model)


class Sentence:
    """The method.

    Args:
        model: the trained encoder.
    """

    def __init__(self, model: SentenceTransformer) -> None:
        self._embedder = Embedder(_ENCODER, model)

    def encode_contexts(self, contexts: Sequence[Context]) -> Vectors:
        """The embeddings of contexts, of length 1, [n, d]."""
        return self._embedder.encode_contexts(contexts)

    def encode_responses(self, responses: Sequence[str]) -> Vectors:
        """The embeddings of responses, of length 1, [n, d]."""
        return self._embedder.encode_texts(responses)


def _library() -> Any:  # noqa: ANN401 - the types of the library come with it
    return import_extra("sentence_transformers", "selection")


def _curve_of(model: SentenceTransformer, training: Training) -> Any:  # noqa: ANN401
    """What the trainer calls: it reports each epoch, and keeps the best encoder in the state."""
    from transformers import TrainerCallback

    n = len(training.examples)
    path = training.state / _STEPS
    steps = [Step(**row) for _, row in json_rows(path, read_text(path))] if path.is_file() else []

    class Curve(TrainerCallback):
        """The curve of the training."""

        def __init__(self) -> None:
            self.began = time.perf_counter()
            self.before = steps[-1].seconds if steps else 0.0
            self.best = max((step.accuracy or 0.0 for step in steps), default=-1.0)
            for step in steps:
                training.report(step)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
            """Shows the progress."""
            done = round(n * args.num_train_epochs * state.global_step / max(1, state.max_steps))
            training.progress(done, int(n * args.num_train_epochs))

        def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ANN401
            """Judges the epoch."""
            seconds = self.before + time.perf_counter() - self.began
            accuracy = None
            if training.validation:
                began = time.perf_counter()
                accuracy = one_of_many_accuracy(Sentence(model), training.validation)
                self.began += time.perf_counter() - began
                model.train()
            if accuracy is None or accuracy > self.best:
                self.best = accuracy or 0.0
                model.save(str(training.state / _ENCODER), create_model_card=False)
            step = Step(round(n * state.epoch), None, accuracy, seconds)
            training.report(step)
            with path.open("ab") as file:
                file.write(json_line(asdict(step)))

    return Curve()
