"""The loop: it learns, ends, keeps the best, and goes on after an interruption as if none was."""

import pytest
import torch
from torch import nn

from miner.errors import InputError
from miner.lab.learning.loop import Learner, Part, State, fit


def learner_of(goals, keep=None, rate=0.05, with_schedule=True):
    """Learns y = 2 x with dropout; validation says what `goals` says of each epoch."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(1, 8), nn.Dropout(0.2), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (n + 1))

    def batches(epoch):
        torch.manual_seed(epoch)
        return torch.rand(4, 8, 1)

    def losses(wrapped, inputs):
        for part in inputs.split(4):  # two parts, whose gradients add up
            yield Part.of_mean(nn.functional.mse_loss(wrapped(part), 2 * part) / 2, len(part))

    return Learner(
        network=network,
        optimizer=optimizer,
        schedule=schedule if with_schedule else None,
        batches=batches,
        losses=losses,
        validate=lambda epoch: {"loss": epoch.loss, "goal": goals[epoch.number]},
        best=lambda rows: max(range(len(rows)), key=lambda n: rows[n]["goal"]),
        keep=keep,
    )


def weights(learner):
    return {name: value.clone() for name, value in learner.network.state_dict().items()}


def equal(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def test_it_learns_until_patience_ends_and_has_the_weights_of_the_best_epoch():
    kept = []
    learner = learner_of([0, 1, 3, 2, 2, 9], keep=lambda: kept.append(weights(learner)))
    curve = fit(learner, 6, patience=2)
    assert [row["goal"] for row in curve] == [0, 1, 3, 2, 2] and len(kept) == 3
    assert curve[0]["loss"] > curve[-1]["loss"]
    other = learner_of([0, 1, 3, 2, 2, 9])
    assert fit(other, 6, patience=2) == curve
    assert equal(kept[-1], weights(other)) and not equal(weights(learner), weights(other))


@pytest.mark.parametrize("with_schedule", [True, False])
@pytest.mark.parametrize("n_done", [1, 2, 3])
def test_a_resumed_training_comes_to_the_same_weights(tmp_path, n_done, with_schedule):
    goals, path = [1, 3, 2, 2], tmp_path / "state.pt"
    stages = (("first", 2), ("second", 4))
    whole = learner_of(goals, with_schedule=with_schedule)
    state = State()
    for stage, n_epochs in stages:
        fit(whole, n_epochs, state, stage=stage, clip=0.5)
    reported = []

    def stop(row):
        reported.append(row)
        if len(reported) == n_done + 1:
            raise KeyboardInterrupt

    for report in (stop, lambda row: None):
        resumed, again = learner_of(goals, with_schedule=with_schedule), State.read(path)
        try:
            for stage, n_epochs in stages:
                fit(resumed, n_epochs, again, stage=stage, clip=0.5, report=report)
        except KeyboardInterrupt:
            assert len(State.read(path).rows) == n_done
    assert again.curves == state.curves and equal(weights(resumed), weights(whole))


def test_a_state_is_replaced_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "state.pt"
    fit(learner_of([1]), 1, State(path))
    before, save = path.read_bytes(), torch.save

    def stopped(saved, file):
        file.write_bytes(b"half a state")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", stopped)
    with pytest.raises(KeyboardInterrupt):
        fit(learner_of([1, 2]), 2, State.read(path))
    assert path.read_bytes() == before and save


def test_what_cannot_go_on_is_one_line(tmp_path):
    path = tmp_path / "state.pt"
    path.write_bytes(b"half a state")
    with pytest.raises(InputError) as error:
        State.read(path)
    assert str(error.value).startswith(f"{path}: cannot be read (")
    assert str(error.value).endswith("the state of a training; `force=True` begins anew")
    with pytest.raises(InputError, match="found a loss of (nan|inf) in epoch 1, expected a small"):
        fit(learner_of([0], rate=1e30), 1)
