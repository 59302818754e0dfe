"""Measures how fast the tagger learns on this machine: tokens a second, and the share of a GPU.

    python tests/benchmarks/bench_training.py --examples FILE --encoder NAME [--encoder-layers N]
        [--batch 1 --batch 8 ...] [--steps 50] [--dtype auto] [any choice that FILE was made with]

Steps of the text expert on prepared examples (`train.py tagger --prepare`), with one batch size
after the other, in one run and on the same chapters. Ten steps before are not measured. The share
of the peak is that of the encoder's own work, as `miner.lab.training.tagger.throughput` counts it.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import torch

from miner.lab.training.tagger.encoded_chapters import ChapterEncoder, EncodedChapter
from miner.lab.training.tagger.prepared_examples import load_training_data
from miner.lab.training.tagger.steps import step_losses
from miner.lab.training.tagger.throughput import (
    Throughput,
    count_operations,
    find_peak,
    name_device,
)
from miner.lab.training.tagger.training import (
    LARGEST_GRADIENT,
    new_model,
    new_optimizer,
    training_dtype,
    unfreeze,
)
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.tagger.config import Expert
from miner.tagger.encoding import plain_tokenizer
from miner.tagger.model import ConversationTagger

WARM_UP = 10  # steps


def measure(
    model: ConversationTagger,
    chapters: list[EncodedChapter],
    config: TrainingConfig,
    n_steps: int,
    dtype: torch.dtype,
) -> Throughput:
    """The throughput of some steps with as many chapters each as the config says."""
    device = model.device
    optimizer = new_optimizer(model, config)
    endless = cycle(chapters)
    n_tokens, began = 0, time.perf_counter()
    for n in range(WARM_UP + n_steps):
        if n == WARM_UP:
            wait(device)
            n_tokens, began = 0, time.perf_counter()
        of_step = list(islice(endless, config.batch))
        size = sum(len(item.tags) for item in of_step)
        for part in step_losses(model, of_step, size, Expert.TEXT, config, device, dtype):
            part.loss.backward()
            n_tokens += part.n_tokens
        torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimizer.step()
        optimizer.zero_grad()
    wait(device)
    seconds = time.perf_counter() - began
    return Throughput(seconds, n_tokens, count_operations(model), find_peak(device))


def wait(device: torch.device) -> None:
    """Waits until all is computed."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True, help="prepared examples")
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--encoder-layers", type=int, default=0)
    parser.add_argument("--batch", type=int, action="append", help="chapters of a step")
    parser.add_argument("--steps", type=int, default=50, help="that are measured")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--test-split", help="as the examples were prepared")
    parser.add_argument("--weak", action="append", default=[], help="likewise")
    parser.add_argument("--weak-tagger", default="tuned-gap", help="likewise")
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    config = TrainingConfig(
        encoder=options.encoder,
        encoder_layers=options.encoder_layers,
        test_split=options.test_split,
        weak=tuple(options.weak),
        weak_tagger=options.weak_tagger,
        epochs=1,
        structure_epochs=1,
    )
    model, tokenizer = new_model(config)
    model.to(device)
    dtype = training_dtype(options.dtype, device.type)
    plain = plain_tokenizer(tokenizer.backend_tokenizer)
    data = load_training_data(options.examples, config, plain)
    batches = options.batch or [1, 8]
    n_chapters = min(len(data.gold), (WARM_UP + options.steps) * max(batches))
    chapters = ChapterEncoder(model, plain, dtype).encode(data.gold.version(0)[:n_chapters])
    unfreeze(model, Expert.TEXT, config)
    model.train()
    model.encoder.eval()  # as in training
    print(f"{name_device()}, {str(dtype).removeprefix('torch.')}, {options.steps} steps")
    print(f"{'batch':>6} {'tokens/s':>10} {'ratio':>6} {'share of peak':>14} {'ms a step':>10}")
    first = None
    for batch in batches:
        pace = measure(model, chapters, replace(config, batch=batch), options.steps, dtype)
        first = first or pace.tokens_per_second
        share = pace.share_of_peak
        print(
            f"{batch:>6} {pace.tokens_per_second:>10,.0f} {pace.tokens_per_second / first:>6.2f} "
            f"{'' if share is None else f'{share:.1%}':>14} "
            f"{1000 * pace.seconds / options.steps:>10.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
