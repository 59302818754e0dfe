"""Networks: they learn, are resumed exactly, and are read back from their folders."""

import random

import numpy as np
import pytest
import torch

from miner.errors import InputError
from miner.lab.lessons.examples import Example
from miner.lab.lessons.selection import networks
from miner.lab.lessons.selection.methods import Training, find_method
from miner.lab.lessons.selection.methods import rnn as recurrent
from miner.lab.lessons.selection.networks import Vocabulary, pad, smoothed_loss
from miner.lab.lessons.selection.tasks import one_of_many_accuracy

WORDS = [a + b for a in ("mill", "ferry", "lamp", "goose", "oak") for b in ("", "s", "man", "er")]
SMALL = {
    "n-grams": {"embedding": 16, "hidden": 32, "epochs": 8, "batch": 32, "rate": 5e-3},
    "lstm": {"hidden": 16, "embedding": 16, "epochs": 2, "batch": 16},
    "rnn": {"hidden": 8, "embedding": 16, "epochs": 2, "batch": 16},
}


def pairs(n, seed):
    """Pairs whose response has the word of its context."""
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        one, two = rng.sample(WORDS, 2)
        made.append(
            Example("b", (f"Where are the {one} and the {two}?",), f"{two} and {one}, sir.")
        )
    return made


def training_of(name, state, steps, **given):
    kind = find_method(name)
    options = kind.read_options(SMALL[name] | given)
    state.mkdir(exist_ok=True)
    training = Training(
        pairs(400, 1), pairs(200, 2), options, 3, state, steps.append, lambda done, total: None
    )
    return kind, training


@pytest.fixture(scope="module", params=SMALL)
def learned(request, tmp_path_factory):
    """The name of a method, its folder and its curve."""
    root, steps = tmp_path_factory.mktemp("learned"), []
    kind, training = training_of(request.param, root / "state", steps)
    folder = root / "out"
    folder.mkdir()
    kind.train(training, folder)
    return request.param, folder, steps, training


def test_a_network_read_from_its_folder_scores_as_its_best_epoch_did(learned):
    name, folder, steps, training = learned
    method = find_method(name).load(folder)
    best = max(step.accuracy for step in steps)
    assert name != "n-grams" or best > 0.3  # they learn what a context and its response share
    assert one_of_many_accuracy(method, training.validation) == pytest.approx(best)
    assert [step.n_pairs for step in steps] == [400 * n for n in range(1, len(steps) + 1)]
    contexts = method.encode_contexts([("Where is the mill?",), ("Is it", "far?")])
    assert contexts.shape == method.encode_responses(["Yes.", ""]).shape


@pytest.mark.parametrize("name", SMALL)
def test_an_interrupted_training_comes_to_the_same_weights(name, tmp_path, monkeypatch):
    folders = []
    for number, is_interrupted in enumerate((False, True)):
        folder, steps = tmp_path / str(number), []
        folder.mkdir()
        kind, training = training_of(name, tmp_path / f"state{number}", steps, epochs=2)
        if is_interrupted:
            calls = []

            def stop(*given, calls=calls):
                calls.append(given)
                if len(calls) == 2:
                    raise KeyboardInterrupt
                return one_of_many_accuracy(*given)

            with monkeypatch.context() as patch:
                patch.setattr(networks, "one_of_many_accuracy", stop)
                with pytest.raises(KeyboardInterrupt):
                    kind.train(training, folder)
            assert len(steps) == 1
            steps.clear()
        kind.train(training, folder)
        assert len(steps) == 2
        folders.append(folder)
    first, second = ((folder / "network.safetensors").read_bytes() for folder in folders)
    assert first == second


def test_damaged_files_are_named(learned, tmp_path):
    name, folder, _, _ = learned
    for broken, message in (
        ("network.safetensors", "found no weights"),
        ("shape.json", "expected the sizes of a network"),
    ):
        copy = tmp_path / broken
        copy.mkdir()
        for path in folder.iterdir():
            (copy / path.name).write_bytes(path.read_bytes())
        (copy / broken).write_text('{"cell": 3, "x": 1}', encoding="utf-8")
        with pytest.raises(InputError, match=message) as error:
            find_method(name).load(copy)
        assert broken in str(error.value)


def test_unknown_features_share_the_hashed_numbers():
    vocabulary = Vocabulary(["mill"], 3)
    assert vocabulary.encode(["mill"]) == [4] and len(vocabulary) == 5
    assert set(vocabulary.encode([f"word{n}" for n in range(60)])) == {1, 2, 3}
    assert pad([[1], [2, 3]]).tolist() == [[1, 0], [2, 3]]


def test_an_equal_response_is_no_false_one():
    scores = torch.tensor([[0.0, 5.0], [1.0, 0.0]])
    same = torch.ones(2, 2, dtype=torch.bool)
    assert smoothed_loss(scores, same).item() == pytest.approx(0)
    plain = smoothed_loss(scores, torch.eye(2, dtype=torch.bool), 0.0)
    assert plain.item() == pytest.approx(
        torch.nn.functional.cross_entropy(scores, torch.arange(2)).item()
    )


def test_batches_have_all_examples_once_and_none_alone():
    batches = networks.draw_batches([3] * 41, 8, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(41))
    assert sorted(map(len, batches)) == [8, 8, 8, 8, 9]


def test_a_false_response_never_equals_the_true_one_where_there_is_another():
    forms = ["yes"] * 5 + ["no"] * 5
    drawn = recurrent.draw_false(np.arange(10), forms, np.random.default_rng(0))
    assert all(forms[a] != forms[b] for a, b in enumerate(drawn))
