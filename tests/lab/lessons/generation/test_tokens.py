"""Turns as tokens: markers, cuts, and the loss on responses alone."""

import numpy as np
import pytest
import torch
from generation_helpers import pairs

from miner.errors import InputError
from miner.lab.lessons.examples import Example
from miner.lab.lessons.generation.models import SmoothedLoss
from miner.lab.lessons.generation.tokens import (
    MARKERS,
    NO_LOSS,
    Collator,
    EncodedPair,
    LengthSampler,
    TurnTokens,
    train_tokenizer,
)

TEXTS = [text for one in pairs(100, 0) for text in (*one.context, one.response)]


@pytest.fixture(scope="module")
def tokens():
    return TurnTokens(train_tokenizer(TEXTS, 500, lowercase=True), 64, 16)


def written(tokens, row):
    return tokens.tokenizer.convert_ids_to_tokens(row)


def test_each_turn_begins_with_its_speaker_and_ends_with_the_marker_of_its_end(tokens):
    example = Example("a", ("Good day.", "Sir?", "Where is the kettle?"), "In the cellar, sir.")
    ([pair], cuts) = tokens.encode([example])
    shown = written(tokens, pair.context)
    markers = [token for token in shown if token in MARKERS]
    assert markers == ["<speaker1>", "<end>", "<speaker2>", "<end>", "<speaker1>", "<end>"]
    assert shown[0] == "<speaker1>" and shown[-1] == "<end>"
    assert written(tokens, pair.response)[-1] == "<end>" and pair.response.count(tokens.end) == 1
    assert (cuts.contexts, cuts.responses) == (0, 0)


def test_the_last_turn_is_the_first_speakers_whatever_the_number_of_turns(tokens):
    for n in (1, 2, 3, 4):
        ([row], _) = tokens.encode_contexts([("Sir?",) * n])
        speakers = [t for t in written(tokens, row) if t.startswith("<speaker")]
        assert speakers == (["<speaker1>", "<speaker2>"] * n)[:n][::-1]


def test_a_context_is_cut_from_the_left_and_a_response_at_its_end_and_both_are_counted():
    tokens = TurnTokens(train_tokenizer(TEXTS, 500, lowercase=True), 6, 4)
    long = Example("a", ("Good day to you, sir.", "Where is the kettle?"), "In the cellar, sir.")
    short = Example("a", ("Sir?",), "In.")
    found, cuts = tokens.encode([long, short])
    whole = TurnTokens(tokens.tokenizer, 100, 100).encode([long])[0][0]
    assert found[0].context == whole.context[-6:] and found[0].response == whole.response[:4]
    assert found[0].response[-1] != tokens.end  # it did not end there
    assert (cuts.contexts, cuts.responses) == (1, 1)


def test_text_comes_back_from_its_tokens_in_small_letters(tokens):
    for text in ("In the Cellar, sir.", "Où est-il? — “Là!”", "naïve 🙂"):
        ([pair], _) = TurnTokens(tokens.tokenizer, 64, 64).encode([Example("a", ("x",), text)])
        assert tokens.decode(pair.response) == text.lower()
    assert tokens.decode([*pair.response, *pair.response]) == "naïve 🙂"  # up to the first end


def test_a_text_with_the_letters_of_a_marker_has_no_marker(tokens):
    ([pair], _) = tokens.encode([Example("a", ("<end> <speaker2>",), "<pad>")])
    assert pair.context.count(tokens.end) == 1 and tokens.answering not in pair.context
    assert tokens.decode(pair.response) == "<pad>"


def test_a_vocabulary_without_room_for_the_bytes_is_refused():
    with pytest.raises(InputError, match="found `vocabulary=200`, expected at least 260"):
        train_tokenizer(TEXTS, 200, lowercase=True)


def test_the_loss_is_on_the_response_alone(tokens):
    rows = [EncodedPair([7, 8, 9], [4, 5, 1]), EncodedPair([7], [6, 1])]
    decoder = Collator(tokens, has_encoder=False)(rows)
    answering, padding = tokens.answering, tokens.padding
    assert decoder["input_ids"].tolist() == [
        [7, 8, 9, answering, 4, 5],
        [7, answering, 6, padding, padding, padding],
    ]
    no = NO_LOSS
    assert decoder["labels"].tolist() == [[no, no, no, 4, 5, 1], [no, 6, 1, no, no, no]]
    assert decoder["attention_mask"].tolist() == [[1] * 6, [1, 1, 1, 0, 0, 0]]
    both = Collator(tokens, has_encoder=True)(rows)
    assert both["input_ids"].tolist() == [[7, 8, 9], [7, padding, padding]]
    assert both["decoder_input_ids"].tolist() == [[answering, 4, 5], [answering, 6, padding]]
    assert both["labels"].tolist() == [[4, 5, 1], [6, 1, no]]


class Outputs:
    """What a model returns."""

    def __init__(self, logits):
        self.logits = logits


def test_the_loss_is_the_cross_entropy_of_the_judged_tokens():
    logits = torch.tensor([[[2.0, 0.0], [0.0, 1.0], [5.0, 5.0]]])
    labels = torch.tensor([[0, 0, NO_LOSS]])
    by_hand = -np.log(np.exp(2) / (np.exp(2) + 1)) - np.log(1 / (1 + np.exp(1)))
    loss = SmoothedLoss(0.0)
    assert loss(Outputs(logits), labels).item() == pytest.approx(by_hand / 2, rel=1e-6)
    assert loss(Outputs(logits), labels, 4).item() == pytest.approx(by_hand / 4, rel=1e-6)
    assert loss.take_mean() == pytest.approx(by_hand / 2, rel=1e-6)
    # A tenth of the target is spread over both tokens: the mean of their losses.
    wrong = -np.log(1 / (np.exp(2) + 1)) - np.log(np.exp(1) / (1 + np.exp(1)))
    smooth = 0.9 * by_hand + 0.1 * (by_hand + wrong) / 2
    assert SmoothedLoss(0.1)(Outputs(logits), labels).item() == pytest.approx(smooth / 2, rel=1e-6)


def test_batches_have_examples_of_about_one_length_each_once_in_an_order_of_the_epoch():
    random = np.random.default_rng(0)
    rows = [
        EncodedPair([1] * int(a), [1] * int(b)) for a, b in random.integers(1, 60, size=(1000, 2))
    ]
    sampler = LengthSampler(rows, 20, 5)
    first, again = list(sampler), list(sampler)
    sampler.set_epoch(1)
    second = list(sampler)
    assert first == again != second and sorted(first) == sorted(second) == list(range(1000))

    def padding(order):
        batches = [order[i : i + 20] for i in range(0, 1000, 20)]
        longest = sum(max(len(rows[i].response) for i in batch) * 20 for batch in batches)
        return longest / sum(len(row.response) for row in rows)

    assert padding(first) < 1.15 < 1.5 < padding(random.permutation(1000).tolist())
