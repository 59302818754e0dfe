"""The parts of training that are not the loop: precision, trained weights, optimizer, order."""

from __future__ import annotations

import random
from itertools import cycle, islice

import torch
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from miner.lab.training.tagger.initialization import find_encoder_layers
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.tagger.config import Expert
from miner.tagger.model import ConversationTagger

LARGEST_GRADIENT = 1.0  # the norm to which gradients are clipped
_WEIGHT_DECAY = 0.01
_WARM_UP = 0.1  # share of the steps in which the learning rates rise


def training_dtype(name: str, device: str) -> torch.dtype:
    """Returns the type of numbers that training computes with."""
    if name == "auto":
        has_bfloat16 = device == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if has_bfloat16 else torch.float32
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[name]


def autocast(device: str, dtype: torch.dtype) -> torch.autocast:
    """Returns a context that computes with `dtype` where PyTorch considers it safe."""
    return torch.autocast(device, torch.bfloat16, enabled=dtype is torch.bfloat16)


def unfreeze(model: ConversationTagger, expert: Expert, config: TrainingConfig) -> None:
    """Sets which weights are trained: those of one expert, and, for the text, encoder layers.

    The encoder's embeddings and its lowest `config.frozen_layers` layers are never trained. The
    embeddings are half of the weights of a small encoder, and a few hundred chapters have too few
    words to train them.
    """
    model.requires_grad_(False)
    if expert is Expert.STRUCTURE and model.structure is not None:
        model.structure.requires_grad_(True)
        return
    model.text.requires_grad_(True)
    layers = find_encoder_layers(model)
    for layer in layers[len(layers) if config.frozen else config.frozen_layers :]:
        layer.requires_grad_(True)


def new_optimizer(model: ConversationTagger, config: TrainingConfig) -> Optimizer:
    """Returns an optimizer of the trained weights; the encoder has a learning rate of its own."""
    trained = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
    head = [weight for name, weight in trained if not name.startswith("encoder.")]
    groups = [{"params": head, "lr": config.head_rate}]
    if encoder := [weight for name, weight in trained if name.startswith("encoder.")]:
        groups.append({"params": encoder, "lr": config.encoder_rate})
    return AdamW(groups, weight_decay=_WEIGHT_DECAY, fused=model.device.type == "cuda")


def new_schedule(optimizer: Optimizer, n_steps: int) -> LambdaLR:
    """Returns a schedule whose rates rise over the first tenth of the steps and then fall to 0.

    The rates fall along a line from the first step on. `get_linear_schedule_with_warmup` of
    transformers differs: its first step has rate 0, and its line falls from the end of the warm-up.
    """
    warm_up = max(_WARM_UP * n_steps, 1)
    return LambdaLR(optimizer, lambda n: min((n + 1) / warm_up, max(0.0, 1 - n / n_steps)))


def epoch_order(n_chapters: int, n_processes: int) -> list[int]:
    """Returns the numbers of the chapters in a random order.

    Some numbers come twice if the processes would have unequal shares otherwise. The order is drawn
    from Python's global random generator.
    """
    order = list(range(n_chapters))
    random.shuffle(order)
    return order + list(islice(cycle(order), -n_chapters % n_processes))
