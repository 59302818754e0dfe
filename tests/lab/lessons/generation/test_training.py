"""Models that answer: they learn, are kept, resumed and fine-tuned; what is refused."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest
import torch
from generation_helpers import PLACES, QUICK, pairs, train, write_gpt2, write_other

from miner.errors import InputError
from miner.lab.lessons.examples import Example
from miner.lab.lessons.generation.answers import (
    Conversation,
    Decoding,
    answer_contexts,
    answer_examples,
)
from miner.lab.lessons.generation.kinds import find_kind
from miner.lab.lessons.generation.models import (
    best_step,
    count_operations,
    load_model,
    mean_loss,
    perplexity,
    read_curve,
    sum_losses,
)
from miner.lab.lessons.generation.tokens import EncodedPair

GREEDY = Decoding(decoding="greedy", longest=20)
# Enough where it does not matter how well a model learns.
FEW = {"train": pairs(48, 1), "validation": pairs(8, 2, "v"), "epochs": 1}


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A Transformer that was trained."""
    return train(tmp_path_factory.mktemp("learned") / "model")


def judged(trained, examples):
    return sum_losses(trained.model, trained.tokens, trained.tokens.encode(examples)[0])


def test_a_transformer_learns_to_answer(learned):
    examples = [
        Example(f"t{n}", one.context[-1:], one.response) for n, one in enumerate(pairs(30, 9, "t"))
    ]
    found = answer_examples(learned, examples, GREEDY)
    right = sum(one.predicted == one.response.lower() for one in found.answers)
    assert right >= 25
    assert found.loss < 0.5 and found.n_cut == 0


def test_the_weights_of_the_least_validation_loss_are_kept(learned):
    curve = read_curve(learned.folder)
    best = best_step(curve)
    assert best.validation == min(step.validation for step in curve)
    validation = [Example(one.book, one.context[-1:], one.response) for one in pairs(40, 2, "v")]
    assert mean_loss(judged(learned, validation)) == pytest.approx(best.validation, rel=1e-4)


def test_training_ends_when_the_loss_has_not_become_smaller_for_some_judgements(tmp_path):
    # Responses of other books that have nothing to do with those learned from: it gets worse.
    other = [Example("v", ("Sir?",), f"{n} {n * n}") for n in range(40)]
    trained = train(tmp_path / "m", validation=other, epochs=12, patience=2, rate=2e-2)
    curve = read_curve(trained.folder)
    assert len(curve) < 12
    losses = [step.validation for step in curve]
    assert losses.index(min(losses)) == len(losses) - 3


def test_the_folder_says_what_it_is(learned):
    record = json.loads((learned.folder / "training.json").read_bytes())
    assert record["kind"] == "transformer" and record["options"]["hidden"] == 32
    assert record["train"]["examples"] == 160 and record["validation"]["examples"] == 40
    assert learned.books == ("a0", "a1", "a2", "v0", "v1", "v2")
    assert record["tokens_per_second"] > 0 and record["share_of_peak"] is None
    assert record["cuts"] == {"contexts": 0, "responses": 0}
    card = (learned.folder / "README.md").read_text("utf-8")
    assert "160 pairs of 3 books" in card and "tokens a second on the processor" in card
    names = {path.name for path in learned.folder.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "curve.jsonl"} <= names
    assert not learned.folder.with_name("model.partial").exists()


def test_the_librarys_own_classes_read_the_folder(learned):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    model = AutoModelForSeq2SeqLM.from_pretrained(learned.folder, local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(learned.folder, local_files_only=True)
    ids = torch.tensor([learned.tokens.encode_contexts([("Where is the kettle?",)])[0][0]])
    written = model.generate(input_ids=ids, max_new_tokens=20)
    shown = tokenizer.decode(written[0])
    assert shown.startswith("<speaker2>") and shown.endswith("in the cellar, sir.<end>")


def test_equal_choices_give_equal_weights_and_another_seed_others(tmp_path):
    seeds = {"one": 3, "again": 3, "other": 4}
    made = [train(tmp_path / name, **FEW, seed=seed) for name, seed in seeds.items()]
    one, two, three = (m.model.state_dict() for m in made)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not all(torch.equal(one[name], three[name]) for name in one)


class Stopped(Exception):
    """What stops a training."""


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 4])
def test_an_interrupted_training_comes_to_the_same_weights(tmp_path, at):
    steps = []
    given = {"dropout": 0.1, "validations": 2, "accumulate": 2, "epochs": 4}
    whole = train(tmp_path / "whole", **given)

    def stop(done, total):
        if done > at * 80 + 30:  # between two validations
            raise Stopped

    with pytest.raises(Stopped) as error:
        train(tmp_path / "m", progress=stop, **given)
    assert "`resume=True` continues" in error.value.__notes__[0]
    assert not (tmp_path / "m").exists()
    # What a process leaves that is killed while it writes a checkpoint.
    checkpoint = next((tmp_path / "m.partial").rglob("checkpoint-*"))
    (checkpoint.with_name("checkpoint-999")).mkdir()
    resumed = train(tmp_path / "m", resume=True, report=steps.append, **given)
    one, two = whole.model.state_dict(), resumed.model.state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    curves = [
        [(s.n_pairs, s.loss, s.validation) for s in curve]
        for curve in (steps, read_curve(whole.folder))
    ]
    assert curves[0] == curves[1] and len(curves[0]) == 8


def test_a_training_that_ended_early_is_not_trained_on_after_an_interruption(tmp_path, monkeypatch):
    other = [Example("v", ("Sir?",), f"{n} {n * n}") for n in range(40)]
    given = {"validation": other, "patience": 1, "rate": 2e-2, "epochs": 9}

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("miner.lab.lessons.generation.training.write_weights", full)
        with pytest.raises(OSError, match="No space"):
            train(tmp_path / "m", **given)
    steps = []
    trained = train(tmp_path / "m", resume=True, report=steps.append, **given)
    assert steps == read_curve(trained.folder) and len(steps) < 9


def test_a_training_that_is_stopped_before_its_first_judgement_leaves_nothing(tmp_path):
    def stop(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        train(tmp_path / "m", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_state_is_refused_in_one_line(tmp_path):
    def stop(done, total):
        if done > 200:
            raise Stopped

    with pytest.raises(Stopped):
        train(tmp_path / "m", progress=stop)
    for path in (tmp_path / "m.partial").rglob("model.safetensors"):
        path.write_bytes(b"no weights")
    with pytest.raises(InputError, match="cannot be read .*, expected the state of a training"):
        train(tmp_path / "m", resume=True)


@pytest.mark.slow
def test_a_decoder_by_its_path_learns_to_answer_with_its_own_words(tmp_path):
    gpt2 = write_gpt2(tmp_path / "gpt2")
    trained = train(
        tmp_path / "m", "pretrained", model=str(gpt2), epochs=25, rate=6e-3, history_turns=1
    )
    assert not trained.model.config.is_encoder_decoder and trained.history_turns == 1
    found = answer_examples(trained, pairs(30, 9, "t"), GREEDY)
    assert sum(one.predicted == one.response for one in found.answers) >= 25  # letters as they are
    assert all(len(one.context) == 2 for one in found.answers)
    # Contexts of one batch have different lengths, and are filled up at the left.
    alone = [answer_contexts(trained, [one.context], GREEDY).texts[0] for one in found.answers[:5]]
    assert alone == [one.predicted for one in found.answers[:5]]


def test_a_decoder_has_room_for_context_and_response_together(tmp_path):
    gpt2 = write_gpt2(tmp_path / "gpt2", positions=24)
    trained = train(tmp_path / "m", "pretrained", model=str(gpt2), history_turns=1, **FEW)
    assert trained.tokens.longest_context == 24 - 16 - 1
    assert trained.record["cuts"]["contexts"] == 48  # cut from the left, and counted
    found = answer_examples(trained, pairs(5, 9, "t"), Decoding(decoding="greedy", longest=99))
    assert found.n_cut == 5
    assert found.n_ended > 0  # where there was no more room
    with pytest.raises(InputError, match="gpt2: found a model without room for a context and a"):
        train(tmp_path / "n", "pretrained", model=str(gpt2), longest_response=24)


def test_a_trained_model_is_fine_tuned_and_remembers_its_books(learned, tmp_path):
    new = [Example(f"n{i % 2}", ("Who calls?",), "The ferryman, sir.") for i in range(64)]
    judge = [Example(f"v{i % 2}", ("Who calls?",), "The ferryman, sir.") for i in range(4)]
    given = {"model": str(learned.folder), "epochs": 8, "rate": 3e-3}
    tuned = train(tmp_path / "tuned", "pretrained", train=new, validation=judge, **given)
    assert tuned.model.config.is_encoder_decoder
    assert set(tuned.books) == {*learned.books, "n0", "n1"}
    assert answer_contexts(tuned, [("Who calls?",)], GREEDY).texts == ["the ferryman, sir."]
    with pytest.raises(InputError, match=r"tuned: found 1 book of the training \(a1\)"):
        answer_examples(tuned, [Example("a1", ("x",), "y")], GREEDY)
    judge = [Example("a1", ("x",), "y")]  # of the first training, not of this one
    with pytest.raises(InputError, match=r"found 1 book of the training \(a1\)"):
        train(tmp_path / "n", "pretrained", model=str(learned.folder), train=new, validation=judge)


@pytest.mark.parametrize("kind", ["bart", "t5", "bert"])
def test_models_of_other_kinds_answer_by_our_options_alone(tmp_path, kind):
    folder = write_other(tmp_path / kind, kind)
    trained = train(tmp_path / "m", "pretrained", model=str(folder), epochs=2, rate=5e-3)
    own = trained.model.generation_config
    assert own.forced_bos_token_id is None and not own.no_repeat_ngram_size
    found = answer_examples(trained, pairs(6, 9, "t"), GREEDY)
    assert all(one.predicted for one in found.answers)
    if kind == "bert":  # a masked model must not see what it has to find
        pair = trained.tokens.encode(pairs(1, 9))[0][0]
        ids = torch.tensor([[*pair.context, trained.tokens.answering, *pair.response]])
        with torch.inference_mode():
            one = trained.model(input_ids=ids).logits[0, 3]
            ids[0, -1] = 5
            other = trained.model(input_ids=ids).logits[0, 3]
        assert torch.allclose(one, other)


def test_lowercase_is_the_choice_of_a_pretrained_model(tmp_path):
    gpt2 = write_gpt2(tmp_path / "gpt2")
    trained = train(tmp_path / "m", "pretrained", model=str(gpt2), lowercase=True, **FEW)
    tokens = load_model(trained.folder).tokens
    row = tokens.encode_contexts([("KETTLE",)])[0][0]
    # The library's own classes end where an answer ends.
    config = json.loads((trained.folder / "generation_config.json").read_bytes())
    assert (config["eos_token_id"], config["pad_token_id"]) == (tokens.end, tokens.padding)
    assert trained.tokens.tokenizer.decode(row[1:-1]) == "kettle"
    with pytest.raises(InputError, match="`lowercase=True`: found .*m, whose tokens stay"):
        train(tmp_path / "n", "pretrained", model=str(tmp_path / "m"), lowercase=True)


@pytest.mark.parametrize("way", ["nucleus", "greedy", "beam"])
def test_ways_of_drawing_answers(learned, way):
    contexts = [one.context[-1:] for one in pairs(20, 5)]
    decoding = Decoding(decoding=way, temperature=3.0, longest=5)
    first, again, other = (
        answer_contexts(learned, contexts, decoding, seed=seed).texts for seed in (1, 1, 2)
    )
    assert first == again and all(first)
    assert (other != first) == (way == "nucleus")
    narrow = Decoding(top_p=1e-6, longest=20)  # a small nucleus is greedy
    found = [answer_contexts(learned, contexts, one).texts for one in (narrow, GREEDY)]
    assert found[0] == found[1]


def test_a_conversation_remembers_as_many_turns_as_the_model_reads(tmp_path):
    # What it answers is said in the turn before the last one.
    made = [
        Example(f"a{n % 3}", (f"The {PLACES[n % 4]}.", "Good."), f"{PLACES[n % 4]}, sir.")
        for n in range(160)
    ]
    validation = [Example("v", one.context, one.response) for one in made[:8]]
    trained = train(tmp_path / "m", train=made, validation=validation, epochs=8, history_turns=2)
    talk = Conversation(trained, GREEDY)
    for place in PLACES[:4]:
        talk.turns[:] = [f"The {place}."]
        assert talk.answer("Good.") == f"{place}, sir."
        assert talk.turns == [f"The {place}.", "Good.", f"{place}, sir."]
    talk.forget()
    assert talk.turns == []
    talk.answer("Good. " * 200)
    assert talk.was_cut
    talk.forget()
    talk.answer("Good.")
    assert not talk.was_cut


def test_losses_are_those_of_one_example_at_a_time(learned):
    examples = [
        Example(f"t{n}", one.context[-1:], one.response) for n, one in enumerate(pairs(10, 9, "t"))
    ]
    examples.append(Example("t", ("Who?",), "A much longer response than all of the others, sir."))
    together = judged(learned, examples)
    alone = np.concatenate([judged(learned, [one]) for one in examples])
    assert together == pytest.approx(alone, rel=1e-4)
    assert together[:, 1].max() == QUICK["longest_response"]
    assert perplexity(2.0) == pytest.approx(np.exp(2)) and perplexity(1e4) == float("inf")


def test_operations_are_counted_by_hand(learned):
    # One layer of 32: attention 4 * (32 * 32 + 32), products 2 * 32 * 64 + 64 + 32, norms 2 * 64.
    attention, norm = 4 * (32 * 32 + 32), 2 * 32
    encoder = attention + (2 * 32 * 64 + 64 + 32) + 2 * norm + norm
    decoder = 2 * attention + (2 * 32 * 64 + 64 + 32) + 3 * norm + norm
    head = len(learned.tokens.tokenizer) * 32
    found = count_operations(learned.model, [EncodedPair([1] * 30, [1] * 10)])
    assert found == pytest.approx(6 * (0.75 * encoder + 0.25 * (decoder + head)))


def test_what_cannot_be_trained_is_refused(tmp_path, learned):
    with pytest.raises(InputError, match="pretrained: found no `model=`, expected a folder or"):
        train(tmp_path / "m", "pretrained")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: found no model .*expected a folder of a decoder"):
        train(tmp_path / "m", "pretrained", model=str(tmp_path / "empty"))
    with pytest.raises(InputError, match="no folder.*: found no model .there is no such folder."):
        train(tmp_path / "m", "pretrained", model="no folder/at all")
    with pytest.raises(InputError, match="`hidden=30` and `heads=4`, expected an even number"):
        train(tmp_path / "m", hidden=30, heads=4)
    with pytest.raises(InputError, match=r"found 2 books of the training \(a0, a1\)"):
        train(tmp_path / "m", validation=pairs(2, 1))
    with pytest.raises(InputError, match="found option 'size', expected one of"):
        find_kind("transformer").read_options({"size": 3})
    with pytest.raises(InputError, match="found kind 'oracle', expected pretrained, transformer"):
        find_kind("oracle")
    with pytest.raises(InputError, match="exists already"):
        train(learned.folder)
    with pytest.raises(InputError, match="`rate=1000000.0`: found a loss of .* a smaller rate"):
        train(tmp_path / "m", rate=1e6, clip=1e9)
    for name, value in {"rate": 0.0, "clip": -1.0, "warmup": 1.0, "smoothing": 2.0,
                        "dropout": 1.0}.items():  # fmt: skip
        with pytest.raises(InputError, match=f"found --{name} {value}, expected "):
            train(tmp_path / "m", **{name: value})
    assert {path.name for path in tmp_path.iterdir()} == {"empty"}


def test_a_damaged_folder_is_refused_in_one_line(tmp_path, learned):
    copy = tmp_path / "copy"
    shutil.copytree(learned.folder, copy)
    (copy / "training.json").write_text("{}", "utf-8")
    with pytest.raises(InputError, match="training.json: found another record, expected that"):
        load_model(copy)
    shutil.copy(learned.folder / "training.json", copy)
    (copy / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InputError, match="copy: found no model .*expected a folder of a decoder"):
        load_model(copy)
    with pytest.raises(InputError, match="found no training.json, expected a folder of `miner gen"):
        load_model(tmp_path)


def test_decoding_refuses_what_draws_nothing():
    with pytest.raises(InputError, match="found `top_p=0`, expected more than 0 and at most 1"):
        Decoding(top_p=0)
    with pytest.raises(InputError, match="found `temperature=0`, expected more than 0"):
        Decoding(temperature=0)
    assert Decoding().describe() == "nucleus 0.9 at temperature 0.7"
    assert set(asdict(Decoding())) == {"decoding", "top_p", "temperature", "beams", "longest"}
