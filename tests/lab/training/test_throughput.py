"""Tokens a second and the share of a GPU's peak."""

import pytest
import torch
from encoders import HIDDEN, model_of

from miner.lab.training.tagger.throughput import Throughput, count_operations, find_peak, peak_of
from miner.lab.training.tagger.training import unfreeze
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.tagger.config import Expert

# A layer of the tiny encoder: four square matrices, two of the feed-forward part, and their biases,
# and two normalizations.
LAYER = 4 * (HIDDEN * HIDDEN + HIDDEN) + 2 * HIDDEN * 128 + 128 + HIDDEN + 4 * HIDDEN


@pytest.mark.parametrize(
    ("given", "expected"), [({}, 12), ({"frozen_layers": 1}, 8), ({"frozen": True}, 4)]
)
def test_a_trained_weight_takes_six_operations_and_another_one_two(given, expected):
    model = model_of()
    unfreeze(model, Expert.TEXT, TrainingConfig(**given))
    assert count_operations(model) == expected * LAYER


def test_the_share_of_the_peak():
    speed = Throughput(seconds=2.0, n_tokens=1000, operations=6_000_000, peak=12e9)
    assert speed.tokens_per_second == 500
    assert speed.share_of_peak == pytest.approx(0.25)


def test_there_is_no_share_of_an_unknown_peak():
    assert Throughput(2.0, 1000, 6, None).share_of_peak is None
    assert find_peak(torch.device("cpu")) is None


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("NVIDIA H100 80GB HBM3", 989e12),
        ("NVIDIA H100 PCIe", 756e12),
        ("NVIDIA H200", 989e12),
        ("NVIDIA A100-SXM4-80GB", 312e12),
        ("NVIDIA L4", 121e12),
        ("NVIDIA L40S", 362e12),
        ("NVIDIA L40", None),
        ("Some Other GPU 9000", None),
    ],
)
def test_the_peak_of_a_device_by_its_name(name, peak):
    assert peak_of(name) == peak
