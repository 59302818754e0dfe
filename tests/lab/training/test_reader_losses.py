"""The losses of the reader, what of it is trained, and its steps."""

import numpy as np
import pytest
import torch
from characters_helpers import Scene
from encoders import KINDS, encoder, plain_of
from helpers import annotations_of_sample
from hypothesis import given
from hypothesis import strategies as st

from miner.errors import InputError
from miner.lab.training.reader.examples import find_links, read_reader_data
from miner.lab.training.reader.losses import (
    Steps,
    link_loss,
    log_totals,
    new_reader,
    step_losses,
    unfreeze,
)
from miner.lab.training.reader.training_config import ReaderTraining
from miner.people.chain import NOBODY, Way, sum_sequences
from miner.people.clues import find_clues
from miner.reader.batch import Batch, Padded
from miner.reader.reader import encoder_of
from miner.reader.units import UnitKind, place_units

SMALL = {"window": 64, "overlap": 16, "width": 16, "hidden": 8}


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """The chapters of the sample with their gold."""
    gold = annotations_of_sample(tmp_path_factory.mktemp("gold") / "sample-only")
    config = config_of(gold=gold, train_split="sample", dev_split="sample")
    n_tokens = len(plain_of().get_vocab())
    return read_reader_data(config, plain_of(), n_tokens, lambda line: None).train


def config_of(kind="bert", **choices):
    return ReaderTraining(encoder=str(encoder(kind)), **(SMALL | choices))


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
)
def test_totals_and_their_gradients_are_those_of_the_chain(lengths, n_people, seed):
    rng = np.random.default_rng(seed)
    size = (len(Way), len(lengths), max(lengths), n_people)
    scores = rng.normal(scale=3, size=size).astype(np.float32)
    scores[:, :, :, 1:][rng.random(size)[:, :, :, 1:] < 0.2] = -np.inf
    last, before = rng.permutation([*range(n_people), NOBODY])[:2].tolist()
    starts = [(NOBODY, NOBODY) if last == NOBODY else (last, before)] * len(lengths)
    given_scores = torch.from_numpy(scores).requires_grad_()
    totals = log_totals(given_scores, lengths, starts)
    totals.sum().backward()
    chain = sum_sequences(scores, lengths, starts)
    np.testing.assert_allclose(totals.detach(), chain.log_total, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(given_scores.grad, chain.marginals, atol=1e-4)


def test_the_loss_of_links_is_among_the_people_of_the_chapter():
    evidence = torch.zeros(2, 2, 4)
    evidence[0, 0, 1] = 2.0
    batch = {name: None for name in Batch._fields}
    links = Padded(torch.zeros(2, 2, dtype=torch.long), torch.tensor([[True, True], [True, False]]))
    linked = torch.tensor([[1, 0], [1, 0]])
    found = link_loss(evidence, Batch(**(batch | {"links": links, "linked": linked})), [4, 2])
    expected = np.log(np.exp(2) + 3) - 2 + np.log(4) + np.log(2)
    assert found.item() == pytest.approx(expected, rel=1e-5)


def test_a_pronoun_beside_said_is_linked_to_the_annotated_speaker():
    scene = Scene(
        "“Yes,” said Mara. “No,” said Mr. Bell.",
        "“Come,” she said.",
        "The waiter turned, and said:",
        "“Go.”",
        "“So,” he said.",
    )
    found = find_clues(scene.chapter)
    units, places = place_units(found, plain_of(), 1000, 0)
    number = {scene.person(n): n for n in range(len(found.chapter.people))}
    mara, bell = number["Mara"], number["Mr. Bell"]
    links = find_links(found, [mara, bell, mara, bell, None], places)
    shown = [(UnitKind(units.kinds[unit]).name, person) for unit, person in links.tolist()]
    assert shown == [("PRONOUN", mara), ("NOUN", bell)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_lowest_layers_can_be_frozen(kind):
    model, _ = new_reader(config_of(kind))
    unfreeze(model, 1)
    for name, weight in model.named_parameters():
        in_encoder = name.startswith(("encoder.", "marks."))
        assert weight.requires_grad == (not in_encoder or ".1." in name)
    unfreeze(model, 0)
    assert all(weight.requires_grad for weight in model.parameters())


def test_marks_begin_as_quotation_marks_and_the_separator():
    model, tokenizer = new_reader(config_of("roberta"))
    rows = model.encoder.get_input_embeddings().weight
    ids = tokenizer.encode("“", add_special_tokens=False)
    assert torch.allclose(model.marks.weight[0], rows[ids].mean(dim=0))
    assert torch.equal(model.marks.weight[2], rows[tokenizer.sep_token_id])


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"window": 4000}, "found a window of 4000 tokens, expected at most 512"),
        ({"frozen_layers": 3}, "found 3 layers to freeze, expected at most 2"),
        ({"window": 16}, "found window 16 with overlap 16, expected 19 or more"),
        ({"encoder": str(encoder("modernbert")), "masked_names": 0.5}, "found no mask token"),
        ({"link_weight": -1.0}, "found link_weight -1.0, expected 0 or more"),
        ({"tag_weight": 0.0, "speaker_weight": 0.0}, "found no weight of tags or speakers"),
        ({"warm_up": 1.0}, "found warm_up 1.0"),
    ],
)
def test_choices_that_cannot_be_used_are_one_line(choices, message):
    with pytest.raises(InputError, match=message):
        new_reader(ReaderTraining(**({"encoder": str(encoder()), **SMALL} | choices)))


def test_every_weight_learns(examples):
    model, _ = new_reader(config_of())
    unfreeze(model, 0)
    for part in losses_of(model, examples, config_of()):
        part.loss.backward()
    still = [
        name
        for name, weight in model.named_parameters()
        if weight.grad is None or not weight.grad.abs().sum()
    ]
    assert all("token_type" in name or ".key.bias" in name for name in still), still


@pytest.mark.parametrize(
    "choices",
    [{}, {"units": "none"}, {"features": False}, {"link_weight": 0.0}, {"masked_names": 1.0}],
)
def test_a_step_makes_the_loss_of_each_variant_smaller(examples, choices):
    config = config_of(dropout=0.0, **choices)
    model, _ = new_reader(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        losses.append(0.0)
        for part in losses_of(model, examples[:2], config):
            part.loss.backward()
            losses[-1] += part.total.item()
        optimizer.step()
    assert losses[-1] < losses[0]


def test_parts_of_a_step_add_up_to_it(examples):
    """A GPU reads all chapters of a step at once, a CPU one after the other."""
    config = config_of(dropout=0.0)
    model, _ = new_reader(config)
    alone = list(losses_of(model, examples, config))
    (together,) = losses_of(model, examples, config, at_once=len(examples))
    assert len(alone) == len(examples)
    total = sum(part.loss for part in alone)
    assert total.item() == pytest.approx(together.loss.item(), rel=1e-3)
    assert sum(part.n_tokens for part in alone) == together.n_tokens


def test_steps_hold_all_chapters_in_an_order_of_their_epoch(examples):
    config = config_of(batch=4000, epochs=2)
    model, _ = new_reader(config)
    steps = Steps(examples, encoder_of(model, plain_of()), config, torch.device("cpu"))
    orders = [
        [[chapter.n_tokens for chapter in step] for step in steps.of_epoch(epoch)]
        for epoch in (0, 1, 0)
    ]
    assert orders[0] == orders[2] != orders[1]
    sizes = sorted(len(example.units.tokens) for example in examples)
    for order in orders:
        assert sorted(n for step in order for n in step) == sizes
        assert all(len(step) == 1 or sum(step) <= 4000 for step in order)
    assert steps.count() == len(orders[0]) + len(orders[1])


def losses_of(model, examples, config, at_once=None):
    steps = Steps(examples, encoder_of(model, plain_of()), config, torch.device("cpu"))
    chapters = [steps.prepare(example, np.random.default_rng(0)) for example in examples]
    return step_losses(model, chapters, config, torch.device("cpu"), torch.float32, at_once)
