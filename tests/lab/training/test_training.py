"""The parts of training: which weights are trained, at which rates, in which order and numbers."""

import random
from collections import Counter

import pytest
import torch
from encoders import KINDS, model_of

from miner.lab.training.tagger.training import (
    autocast,
    epoch_order,
    new_optimizer,
    new_schedule,
    training_dtype,
    unfreeze,
)
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.tagger.config import Expert


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("given", "layers"),
    [
        ({}, ".0. .1."),
        ({"frozen_layers": 1}, ".1."),
        ({"frozen_layers": 2}, ""),
        ({"frozen": True}, ""),
    ],
)
def test_training_the_text_changes_its_expert_and_the_layers_that_are_not_frozen(
    kind, given, layers
):
    model = model_of(kind)
    unfreeze(model, Expert.TEXT, TrainingConfig(**given))
    for name, weight in model.named_parameters():
        of_encoder = name.startswith("encoder.")
        is_chosen = any(layer in name for layer in layers.split())
        assert weight.requires_grad == (is_chosen if of_encoder else name.startswith("text."))
    changed = [name for name, item in model.encoder.named_parameters() if item.requires_grad]
    assert bool(changed) == bool(layers)


def test_training_the_structure_changes_nothing_else():
    model = model_of()
    for expert in (Expert.TEXT, Expert.STRUCTURE):  # even if the text was trained before
        unfreeze(model, expert, TrainingConfig())
    for name, weight in model.named_parameters():
        assert weight.requires_grad == name.startswith("structure.")


def test_the_encoder_has_a_rate_of_its_own():
    model, config = model_of(), TrainingConfig(head_rate=0.002, encoder_rate=0.0001)
    unfreeze(model, Expert.TEXT, config)
    head, encoder = new_optimizer(model, config).param_groups
    assert (head["lr"], encoder["lr"]) == (0.002, 0.0001)
    assert {id(weight) for weight in head["params"]} == {id(w) for w in model.text.parameters()}
    assert encoder["params"]
    unfreeze(model, Expert.TEXT, TrainingConfig(frozen=True))
    assert len(new_optimizer(model, config).param_groups) == 1


def test_rates_rise_for_a_tenth_of_the_steps_and_fall_to_nothing():
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=0.002)
    schedule = new_schedule(optimizer, 20)
    rates = []
    for _ in range(20):
        rates += schedule.get_last_lr()
        optimizer.step()
        schedule.step()
    assert rates[:2] == pytest.approx([0.001, 0.0019])
    assert rates[2:] == pytest.approx([0.002 * (1 - n / 20) for n in range(2, 20)])
    assert schedule.get_last_lr() == [0.0]


@pytest.mark.parametrize("n_processes", [1, 2, 3])
def test_each_process_has_as_many_chapters_as_the_others(n_processes):
    random.seed(1)
    order = epoch_order(7, n_processes)
    assert len(order) % n_processes == 0 and len(order) < 7 + n_processes
    assert set(order) == set(range(7)) and max(Counter(order).values()) <= 2
    random.seed(1)
    assert epoch_order(7, n_processes) == order
    assert epoch_order(7, n_processes) != order  # the next epoch has another order


def test_a_cpu_computes_in_float32_by_default():
    assert training_dtype("auto", "cpu") is torch.float32
    assert training_dtype("bfloat16", "cpu") is torch.bfloat16
    assert training_dtype("float32", "cuda") is torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_products_are_computed_with_the_given_type_of_numbers(dtype):
    layer = torch.nn.Linear(4, 4)
    with autocast("cpu", dtype):
        assert layer(torch.ones(2, 4)).dtype is dtype
