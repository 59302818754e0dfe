"""The model of pauses learns from uninterrupted speech where a stop stands."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import annotations_of_two
from models_helpers import read_sample

from miner.errors import InputError
from miner.lab.learning.run_folder import write_weights
from miner.lab.training.pauses import PauseTrainer, PauseTraining
from miner.speech.pauses import load_pause_model, read_pause_features, read_tokens

# The sample is short, so that its rare features count, too.
ALL = PauseTraining(least=1, kept=1.0, kept_first=1.0, odds=1.0)


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    gold = annotations_of_two(tmp_path_factory.mktemp("gold") / "two")
    return PauseTrainer(ALL).read(gold, "sample", read_sample, (), print)


def weights_of(examples, options, folder):
    path = folder / "en.safetensors"
    trainer = PauseTrainer(options)
    write_weights(path, trainer.fit(examples, print), trainer.choices, force=True)
    return path


def test_the_speech_of_a_book_teaches_where_its_speakers_pause(examples, tmp_path):
    path = weights_of(examples, replace(ALL, odds=3.0), tmp_path)
    model = load_pause_model(path, "en")
    pause = model.probability("No, Mr. Tarrant", "I have not seen him.")
    none = model.probability("I have not seen", "the keeper.")
    assert pause > 0.5 > none
    assert path.stat().st_size < 200_000


def test_places_are_known_by_numbers_alone(examples):
    assert 0 < examples.is_pause.sum() < len(examples.is_pause) / 2
    assert examples.n_features.sum() == len(examples.numbers)
    assert PauseTrainer(ALL).describe(examples) == {
        "books": ["sample", "7"],
        "places": len(examples.is_pause),
        "pauses": examples.is_pause.sum(),
    }


def test_a_narrator_who_rather_breaks_in_at_pauses_makes_them_likelier(examples, tmp_path):
    words = "I have not seen", "the keeper."
    found = [
        load_pause_model(weights_of(examples, replace(ALL, odds=odds), tmp_path), "en").probability(
            *words
        )
        for odds in (1.0, 10.0)
    ]
    chances = [one / (1 - one) for one in found]
    assert chances[1] / chances[0] == pytest.approx(10, rel=0.02)


def test_fewer_places_without_a_stop_are_kept_by_chance_and_the_same_again(tmp_path):
    gold = annotations_of_two(tmp_path / "two")
    few = PauseTrainer(PauseTraining(kept=0.2, kept_first=0.2))
    first, second = (few.read(gold, "sample", read_sample, ["7"], print) for _ in range(2))
    assert first.books == ("sample",)
    assert first.is_pause.mean() > 1 / 3
    np.testing.assert_array_equal(first.numbers, second.numbers)


def test_speech_without_pauses_teaches_nothing(examples):
    no_pause = type(examples)(
        ("7",), np.zeros(1, bool), np.ones(1, np.int32), np.zeros(1, np.int32)
    )
    with pytest.raises(InputError, match="^found no pause or nothing else"):
        PauseTrainer(ALL).fit(no_pause, print)


def test_a_language_has_numbers_of_its_own():
    places = (["said"], ["that"])
    english, french = (read_pause_features(*places, language) for language in ("en", "fr"))
    assert len(english) == len(french) and not {*english} & {*french}


def test_an_abbreviated_title_keeps_its_stop():
    assert read_tokens("No, Mr. Ball. It’s late--go!", "en") == [
        *("No", ",", "Mr.", "Ball", ".", "It’s", "late", "--", "go", "!")
    ]
    assert read_tokens("Mr. Ball", "")[:2] == ["Mr", "."]


def test_a_place_without_words_beside_it_has_its_stop_already(examples, tmp_path):
    model = load_pause_model(weights_of(examples, ALL, tmp_path), "en")
    assert model.probability("", "it rains") == model.probability("it rains!", "go") == 1.0


def test_weights_of_another_model_are_refused(tmp_path):
    path = tmp_path / "en.safetensors"
    write_weights(path, {"weights": np.zeros(3, np.float16)}, {}, force=False)
    with pytest.raises(InputError, match="found weights, expected the weights of pauses"):
        load_pause_model(path, "en")


def test_features_that_tell_most_have_weights(examples, tmp_path):
    found = [
        load_pause_model(weights_of(examples, replace(ALL, most=most), tmp_path), "en")
        for most in (50, 500)
    ]
    assert [len(model.weights) for model in found] == [50, 500]


def test_older_books_teach_nothing(tmp_path):
    gold = annotations_of_two(tmp_path / "two")
    late = PauseTrainer(PauseTraining(since=3000))
    with pytest.raises(InputError, match="^found no pause or nothing else"):
        late.fit(late.read(gold, "sample", read_sample, (), print), print)
