"""From clues to speakers: candidates, history, the search, and learning in a small form."""

import numpy as np
import pytest
from characters_helpers import Scene
from hypothesis import given
from hypothesis import strategies as st

from miner.errors import InputError
from miner.lab.training.speakers.training import SpeakerExample
from miner.people.attributor import N_INPUTS, NetworkScorer, decode_speakers, weight_shapes
from miner.people.clues import find_clues
from miner.people.features import (
    FEATURES,
    HISTORY,
    MOST_CANDIDATES,
    History,
    Place,
    history_features,
    read_candidates,
)
from miner.people.mentions import NARRATOR_NUMBER, UNKNOWN_NUMBER

MARA = "“Yes,” said Mara. “No,” said Mara."
BELL = "“Yes,” said Mr. Bell. “No,” said Mr. Bell."


def chapter_of(*texts):
    """The scene of texts, and its chapter as the model reads it."""
    scene = Scene(*texts)
    found = find_clues(scene.chapter)
    scene.chapter = found.chapter
    return scene, read_candidates(found, scene.book, set())


def row_of(scene, chapter, utterance, person):
    """The features of a person for an utterance, by name."""
    numbers = chapter.candidates[utterance]
    position = next(n for n, number in enumerate(numbers) if scene.person(number) == person)
    return dict(zip(FEATURES, chapter.features[utterance][position], strict=True))


def test_the_people_at_hand_are_candidates_and_the_unknown_one_is_the_last():
    scene, chapter = chapter_of(MARA, BELL, "The waiter came.", "“Come.”")
    names = [scene.person(number) for number in chapter.candidates[-1]]
    assert set(names[:-1]) == {"Mara", "Mr. Bell", "waiter"}
    assert chapter.candidates[-1][-1] == UNKNOWN_NUMBER


def test_the_narrator_is_a_candidate_in_its_own_story_alone():
    _, chapter = chapter_of("I sat. “Yes,” I said.")
    assert NARRATOR_NUMBER in chapter.candidates[0]
    _, chapter = chapter_of("He sat. “Yes,” he said.")
    assert NARRATOR_NUMBER not in chapter.candidates[0]


def test_a_crowd_leaves_no_more_candidates_than_fit():
    crowd = [f"“Yes,” said M{'a' * n}ra. “No,” said M{'a' * n}ra." for n in range(1, 40)]
    _, chapter = chapter_of(*crowd)
    assert max(map(len, chapter.candidates)) <= MOST_CANDIDATES


def test_a_name_beside_the_speech_is_compared():
    scene, chapter = chapter_of(MARA, BELL, "“Come,” said Mara.")
    cue = "the subject of the verb of saying after it"
    mara, bell = (row_of(scene, chapter, -1, name) for name in ("Mara", "Mr. Bell"))
    assert (mara[f"{cue}: is it"], bell[f"{cue}: is it"]) == (1, 0)
    assert (mara[f"{cue}: is another"], bell[f"{cue}: is another"]) == (0, 1)


def test_a_pronoun_fits_a_gender():
    scene, chapter = chapter_of(MARA, BELL, "Her hat fell. Mara sat.", "“Come,” he said.")
    cue = "the subject of the verb of saying after it"
    bell = row_of(scene, chapter, -1, "Mr. Bell")
    assert bell[f"{cue}: fits its gender"] == 1
    assert bell[f"{cue}: does not fit"] == 0


def test_two_speak_in_turn():
    history = History()
    for speaker in (5, 6, 5):
        history = history.after(speaker, 0)
    assert (history.last, history.before_last, history.third) == (5, 6, -1)
    assert history.turns == {5: 2, 6: 1}


@given(st.lists(st.integers(2, 5), max_size=30))
def test_the_last_three_speakers_differ(speakers):
    history = History()
    for number, speaker in enumerate(speakers):
        history = history.after(speaker, number)
    seen = list(dict.fromkeys(reversed(speakers)))
    assert history.last == (seen[0] if seen else -1)
    assert history.before_last == (seen[1] if len(seen) > 1 else -1)
    known = [number for number in history.key if number != -1]
    assert len(known) == len(set(known))


def test_where_the_last_speaker_spoke():
    history = History().after(5, 0).after(6, 1)
    page = np.zeros((2, len(FEATURES)), dtype=np.float32)

    def names(place):
        rows = history_features(history, place, [6, 5], page)
        return [{name for name, value in zip(HISTORY, row, strict=True) if value} for row in rows]

    last, before_last = names(Place(2, True, False, False, False))
    assert "spoke last, nothing between" in last
    assert "spoke before the last, nothing between" in before_last
    last, before_last = names(Place(2, True, False, False, True))
    assert "spoke last, paragraphs between" in last
    last, _ = names(Place(1, False, False, True, False))
    assert {"spoke last, in this paragraph"} <= last


class Preferring:
    """Scores candidates by features of a name alone."""

    def __init__(self, **weights):
        inputs = (*FEATURES, *HISTORY)
        self.weights = np.array([weights.get(name, 0.0) for name in inputs], dtype=np.float32)

    def read(self, chapter):
        return list(chapter.features)

    def score(self, read, history):
        return np.hstack([read, history]) @ self.weights


def speakers(scorer, *texts, **options):
    scene, chapter = chapter_of(*texts)
    decoded = decode_speakers(chapter, scorer, **options)
    return [scene.person(number) for number in decoded.speakers], decoded.confidence


def test_the_search_weighs_what_follows():
    # Who spoke before the last speaks now; the last utterance names its speaker.
    scorer = Preferring(
        **{
            "the subject of the verb of saying after it: is it": 9.0,
            "spoke before the last, nothing between": 5.0,
            "unknown": -9.0,
        }
    )
    texts = [MARA, BELL, "“Come.”", "“No.”", "“Why?” said Mara."]
    assert speakers(scorer, *texts)[0][-3:] == ["Mara", "Mr. Bell", "Mara"]


def test_odds_from_elsewhere_that_the_last_speaker_goes_on():
    texts = [MARA, BELL, "“Come.”"]
    scorer = Preferring(
        **{"the subject of the verb of saying after it: is it": 9.0, "unknown": -9.0}
    )
    n = len(chapter_of(*texts)[1].spans)
    goes_on = speakers(scorer, *texts, continues=[0.0] * (n - 1) + [5.0])
    changes = speakers(scorer, *texts, continues=[0.0] * (n - 1) + [-5.0])
    assert (goes_on[0][-1], changes[0][-1]) == ("Mr. Bell", "Mara")
    assert goes_on[1][-1] > 0.9


def test_confidence_is_a_probability():
    _, confidence = speakers(Preferring(), MARA, "“Come.”")
    assert all(0 < value <= 1 for value in confidence)


def test_an_unsure_speaker_makes_those_who_are_inferred_from_it_unsure():
    scorer = Preferring(
        **{
            "the subject of the verb of saying after it: is it": 9.0,
            "spoke last, in this paragraph": 9.0,
            "unknown": -9.0,
        }
    )
    texts = [MARA, BELL, "Somebody came.", "“Come.” There it was. “No.”"]
    scene, chapter = chapter_of(*texts)
    decoded = decode_speakers(chapter, scorer)
    assert decoded.speakers[-2] == decoded.speakers[-1]
    assert decoded.goes_on[-1] > 0.9  # that it is the same speaker is sure, but not who
    assert decoded.confidence[-2] < 0.7 and decoded.confidence[-1] < 0.7


def test_a_chapter_has_the_same_speakers_as_one_history_at_a_time_if_nothing_depends_on_it():
    scorer = Preferring(**{"the subject of the verb of saying after it: is it": 9.0})
    assert speakers(scorer, MARA, BELL)[0] == speakers(scorer, MARA, BELL, beam=1)[0]


def test_a_network_scores_as_its_layers_do():
    rng = np.random.default_rng(0)
    shapes = weight_shapes(4, 3)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    scorer = NetworkScorer(weights)
    _, chapter = chapter_of(MARA, BELL)
    history = rng.normal(size=(len(chapter.features[0]), len(HISTORY))).astype(np.float32)
    rows = np.hstack([chapter.features[0], history])
    hidden = np.maximum(rows @ weights["first.weight"].T + weights["first.bias"], 0)
    hidden = np.maximum(hidden @ weights["second.weight"].T + weights["second.bias"], 0)
    expected = (hidden @ weights["score.weight"].T + weights["score.bias"])[:, 0]
    found = scorer.score(scorer.read(chapter)[0], history)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["first.weight", "second.bias"])
def test_weights_of_another_shape_are_refused(name):
    weights = {key: np.zeros(shape, dtype=np.float32) for key, shape in weight_shapes(4, 3).items()}
    with pytest.raises(InputError, match=name):
        NetworkScorer({key: value for key, value in weights.items() if key != name})
    with pytest.raises(InputError, match="found a weight third.bias, expected those of"):
        NetworkScorer(weights | {"third.bias": weights["second.bias"]})
    with pytest.raises(InputError, match="found .* of shape .*, expected "):
        NetworkScorer(weights | {name: weights[name][:-1]})


def test_learning_finds_who_is_said_to_speak():
    pytest.importorskip("torch")
    from miner.lab.training.speakers.training import SpeakerTraining, fit_network

    scene, chapter = chapter_of(*[MARA, BELL] * 10)
    wanted = ["Mara", "Mara", "Mr. Bell", "Mr. Bell"] * 10
    targets = tuple(
        [scene.person(number) for number in numbers].index(name)
        for numbers, name in zip(chapter.candidates, wanted, strict=True)
    )
    example = SpeakerExample(chapter, targets, "7", "Anonymous")
    options = SpeakerTraining(first=8, second=4, epochs=40, batch=16, rate=0.02, dropout=0.0)
    losses: list[float] = []
    weights = fit_network([example], options, lambda row: losses.append(row["loss"]))
    assert losses[-1] < 0.1 < losses[0]
    found = decode_speakers(chapter, NetworkScorer(weights)).speakers
    assert [scene.person(number) for number in found] == wanted
    assert weights["first.weight"].shape == (8, N_INPUTS)
    assert fit_network([example], options)["score.bias"] == weights["score.bias"]


def test_without_a_known_speaker_nothing_is_learned():
    pytest.importorskip("torch")
    from miner.lab.training.speakers.training import SpeakerTraining, fit_network

    _, chapter = chapter_of(MARA, BELL)
    unknown = SpeakerExample(chapter, (-1,) * len(chapter.spans), "7", "Anonymous")
    for examples in ([], [unknown]):
        with pytest.raises(InputError, match="^found no utterance with a known speaker"):
            fit_network(examples, SpeakerTraining())
