"""Examples -> a trained model in a folder; an interrupted training is resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from miner.errors import InputError
from miner.files import json_line, refuse_existing
from miner.lab.learning.run_folder import run_folder, write_curve
from miner.lab.lessons.examples import Part, books_of, check_parts, keep_turns, refuse_shared_books
from miner.lab.lessons.generation.kinds import ModelKind
from miner.lab.lessons.generation.learning import Learning, learn
from miner.lab.lessons.generation.model_folder import (
    RECORD,
    Step,
    TrainedModel,
    load_model,
    write_card,
    write_weights,
)
from miner.lab.lessons.generation.models import count_operations, share_of_peak
from miner.lab.training.tagger.throughput import name_device
from miner.version import __version__


def train_model(
    kind: ModelKind,
    options: Any,  # noqa: ANN401 - of the class `kind.options`
    train: Part,
    validation: Part | None,
    out: Path,
    *,
    seed: int = 0,
    history_turns: int | None = 0,
    resume: bool = False,
    force: bool = False,
    report: Callable[[Step], object] = lambda step: None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> TrainedModel:
    """Trains a model and writes its folder."""
    check_parts(train, validation, "a model")
    if validation and not validation.examples:
        raise InputError(f"{validation.source}: found no pairs, expected some to judge on")
    refuse_existing(out, force, (RECORD,))
    from transformers import set_seed

    set_seed(seed % 2**31)
    examples = keep_turns(train.examples, history_turns)
    beginning = kind.begin(examples, options)
    if validation:
        judged = books_of(validation.examples)
        refuse_shared_books(beginning.trained_on, judged, validation.source)
    record: dict[str, Any] = {
        "kind": kind.name,
        "options": asdict(options),
        "seed": seed,
        "history_turns": history_turns,
        "longest_context": beginning.tokens.longest_context,
        "longest_response": beginning.tokens.longest_response,
        "train": train.describe(),
        "validation": validation.describe() if validation else None,
        "trained_on_before": list(beginning.trained_on),
        "judged_on_before": list(beginning.judged_on),
        "version": __version__,
    }
    pairs, cuts = beginning.tokens.encode(examples)
    judged_on = keep_turns(validation.examples, history_turns) if validation else []
    judged_pairs, judged_cuts = beginning.tokens.encode(judged_on)
    operations = count_operations(beginning.model, pairs)
    with run_folder(out, RECORD, record, resume=resume, force=force) as folder:
        learning = Learning(pairs, judged_pairs, options, seed, folder.state, report, progress)
        steps = learn(beginning, learning)
        speed = steps[-1].n_tokens / steps[-1].seconds
        record |= {
            "cuts": asdict(cuts),
            "validation_cuts": asdict(judged_cuts),
            "device": name_device(),
            "n_weights": beginning.model.num_parameters(),
            "tokens_per_second": speed,
            "share_of_peak": share_of_peak(operations, speed),
        }
        write_weights(folder.made, beginning)
        (folder.made / RECORD).write_bytes(json_line(record))
        write_curve(folder.made, steps)
        write_card(folder.made, out.name, record, steps)
    return load_model(out)
