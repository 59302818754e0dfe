"""From clues to speakers: candidates, the chain of speakers, and learning in a small form."""

from itertools import product

import numpy as np
import pytest
from characters_helpers import Scene
from hypothesis import given
from hypothesis import strategies as st

from miner.errors import InputError
from miner.people.attributor import NetworkDecider, weight_shapes
from miner.people.chain import NOBODY, Way, best_sequence, sum_sequences, ways_of
from miner.people.clues import find_clues
from miner.people.features import FEATURES, MOST_CANDIDATES, read_candidates
from miner.people.mentions import NARRATOR_NUMBER, UNKNOWN_NUMBER

SAYS = "the subject of the verb of saying after it"
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
    mara, bell = (row_of(scene, chapter, -1, name) for name in ("Mara", "Mr. Bell"))
    assert (mara[f"{SAYS}: is it"], bell[f"{SAYS}: is it"]) == (1, 0)
    assert (mara[f"{SAYS}: is another"], bell[f"{SAYS}: is another"]) == (0, 1)


def test_a_pronoun_fits_a_gender():
    scene, chapter = chapter_of(MARA, BELL, "Her hat fell. Mara sat.", "“Come,” he said.")
    bell = row_of(scene, chapter, -1, "Mr. Bell")
    assert bell[f"{SAYS}: fits its gender"] == 1
    assert bell[f"{SAYS}: does not fit"] == 0


def test_a_noun_is_compared_with_the_names_that_take_its_turns():
    said = ["“Yes,” said Mara.", "“Come,” said the old lady."]
    scene, chapter = chapter_of(MARA, BELL, said[0], BELL, said[1], BELL, *said)
    of_mara, of_bell = (row_of(scene, chapter, -1, name) for name in ("Mara", "Mr. Bell"))
    alike, apart = (
        f"takes {turns} the one who is said to speak" for turns in ("the turns of", "turns with")
    )
    assert of_mara[alike] > of_bell[alike]
    assert of_bell[apart] > of_mara[apart] > 0


def test_tags_and_mentions_on_either_side_tell_who_is_present():
    scene, chapter = chapter_of(MARA, "“Come.”", "Mr. Bell sat.", "“Go, Ned,” said Mr. Bell.")
    bell = row_of(scene, chapter, 2, "Mr. Bell")
    mara = row_of(scene, chapter, 2, "Mara")
    assert (bell["utterances since the last tag"], bell["utterances to the next tag"]) == (0, 1)
    assert (mara["utterances since the last tag"], mara["utterances to the next tag"]) == (1, 0)
    assert bell["named shortly after"] > 0 == bell["named shortly before"]
    assert bell["paragraphs to the next mention"] == 1


# ---- the chain


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
)
def test_the_chain_sums_over_all_sequences_of_speakers(lengths, n_people, seed):
    rng = np.random.default_rng(seed)
    size = (len(Way), len(lengths), max(lengths), n_people)
    scores = rng.normal(scale=3, size=size).astype(np.float32)
    scores[:, :, :, 1:][rng.random(size)[:, :, :, 1:] < 0.2] = -np.inf
    last, before = rng.permutation([*range(n_people), NOBODY])[:2].tolist()
    starts = [(NOBODY, NOBODY) if last == NOBODY else (last, before)] * len(lengths)
    chain = sum_sequences(scores, lengths, starts)
    for n, length in enumerate(lengths):
        total, shares = 0.0, np.zeros(size[:1] + size[2:])
        for speakers in product(range(n_people), repeat=length):
            ways = ways_of(speakers, starts[n])
            steps = list(zip(ways, range(length), speakers, strict=True))
            weight = np.exp(sum(float(scores[way, n, step, who]) for way, step, who in steps))
            total += weight
            for place in steps:
                shares[place] += weight
        np.testing.assert_allclose(chain.marginals[:, n], shares / total, atol=1e-4)
        np.testing.assert_allclose(chain.log_total[n], np.log(total), atol=1e-4)


def test_the_ways_of_a_sequence():
    other, last, before = Way
    assert ways_of([5, 5, 6, 5, 7, 5, 6]) == [other, last, other, before, other, before, other]
    assert ways_of([6, 5], (5, 6)) == [before, before]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_best_sequence_is_the_one_with_the_largest_product(length, n_people, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_people), length).astype(np.float32)
    goes_on = rng.random(length).astype(np.float32)

    def product_of(speakers):
        found = np.prod([shares[step, who] for step, who in enumerate(speakers)])
        for step in range(1, length):
            same = speakers[step] == speakers[step - 1]
            found *= goes_on[step] if same else 1 - goes_on[step]
        return found

    best = max(map(product_of, product(range(n_people), repeat=length)))
    assert product_of(best_sequence(shares, goes_on)) == pytest.approx(best, rel=1e-4)


# ---- decisions


def preferring(**weights):
    """A decider that scores candidates by features, or by the way in which they speak."""
    of_ways = {way: weights.pop(way.name.lower(), 0.0) for way in Way}
    network = {name: np.zeros(shape, np.float32) for name, shape in weight_shapes(1, 1).items()}
    network["first.bias"][:] = 50.0  # so that nothing is cut off
    network["first.weight"][0] = [weights.get(name, 0.0) for name in FEATURES]
    network["second.weight"][:] = 1.0
    network["score.weight"][:] = 1.0
    network["score.bias"][:] = list(of_ways.values())
    return NetworkDecider(network)


def decided(decider, *texts, continues=()):
    scene, chapter = chapter_of(*texts)
    odds = [*continues, *[0.0] * (len(chapter.spans) - len(continues))]
    found = decider.decide(chapter, odds)
    return [scene.person(number) for number in found.speakers], found


def test_what_follows_decides_who_spoke_before():
    decider = preferring(before_last=5.0, last=-5.0, unknown=-20.0)
    texts = ["Mara sat by Mr. Bell.", "“Come.”", "“No.”", "“Why?” said Mara."]
    assert decided(decider, *texts)[0] == ["Mara", "Mr. Bell", "Mara"]


def test_a_name_beside_said_is_a_fact():
    decider = preferring(**{f"{SAYS}: is it": -9.0})
    assert decided(decider, MARA, BELL)[0] == ["Mara", "Mara", "Mr. Bell", "Mr. Bell"]
    guessing = NetworkDecider(decider.weights, facts=False)
    assert decided(guessing, MARA, BELL)[0] != ["Mara", "Mara", "Mr. Bell", "Mr. Bell"]


def test_whoever_is_called_does_not_speak_whatever_the_tag_says():
    called = "“Come here, Mara,” said Mara."
    assert decided(preferring(**{f"{SAYS}: is it": -9.0}), BELL, called)[0][-1] == "Mr. Bell"


def test_odds_from_elsewhere_that_the_last_speaker_goes_on():
    texts = [MARA, BELL, "“Come.”"]
    decider = preferring(unknown=-20.0)
    goes_on = decided(decider, *texts, continues=[0, 0, 0, 0, 5.0])
    changes = decided(decider, *texts, continues=[0, 0, 0, 0, -5.0])
    assert (goes_on[0][-1], changes[0][-1]) == ("Mr. Bell", "Mara")
    assert goes_on[1].goes_on[-1] > 0.9 > 0.1 > changes[1].goes_on[-1]


def test_an_unsure_speaker_makes_those_who_are_inferred_from_it_unsure():
    decider = preferring(last=5.0, unknown=-20.0)
    _, found = decided(
        decider, MARA, BELL, "“Come.” There it was. “No.”", continues=[0] * 4 + [-5.0]
    )
    assert found.speakers[-2] == found.speakers[-1] and found.goes_on[-1] > 0.9
    assert found.confidence[-1] < 1 and found.confidence[-2] < 1
    assert all(0 < sure <= 1 + 1e-6 for sure in found.confidence)


def test_an_unknown_person_speaks_only_where_nobody_else_is_likely():
    assert decided(preferring(unknown=1.0), MARA, "“Come.”")[0][-1] == "Mara"
    assert decided(preferring(unknown=9.0), MARA, "“Come.”")[0][-1] != "Mara"


@pytest.mark.parametrize("name", ["first.weight", "second.bias"])
def test_weights_of_another_shape_are_refused(name):
    weights = {key: np.zeros(shape, dtype=np.float32) for key, shape in weight_shapes(4, 3).items()}
    with pytest.raises(InputError, match=name):
        NetworkDecider({key: value for key, value in weights.items() if key != name})
    with pytest.raises(InputError, match="found a weight third.bias, expected those of"):
        NetworkDecider(weights | {"third.bias": weights["second.bias"]})
    with pytest.raises(InputError, match="found .* of shape .*, expected "):
        NetworkDecider(weights | {name: weights[name][:-1]})


# ---- learning


def test_learning_finds_who_is_said_to_speak_and_who_takes_turns():
    pytest.importorskip("torch")
    from miner.lab.training.speakers.network import SpeakerTraining, fit_network

    scene, chapter = chapter_of(*[MARA, BELL, "“Why?”", "“So.”"] * 20)
    wanted = [*["Mara"] * 2, *["Mr. Bell"] * 2, "Mara", "Mr. Bell"] * 20
    targets = tuple(
        [scene.person(number) for number in numbers].index(name)
        for numbers, name in zip(chapter.candidates, wanted, strict=True)
    )
    options = SpeakerTraining(first=8, second=4, epochs=60, batch=1, rate=0.01, dropout=0.0)
    losses: list[float] = []
    weights = fit_network([(chapter, targets)], options, lambda row: losses.append(row["loss"]))
    assert losses[-1] < 0.1 < losses[0]
    decider = NetworkDecider(weights, facts=False)
    found = decider.decide(chapter, [0.0] * len(wanted)).speakers
    assert [scene.person(number) for number in found] == wanted
    assert {name: weight.shape for name, weight in weights.items()} == weight_shapes(8, 4)
    again = fit_network([(chapter, targets)], options)
    assert np.array_equal(weights["score.bias"], again["score.bias"])


def test_the_loss_is_that_of_the_whole_sequence():
    torch = pytest.importorskip("torch")
    from miner.lab.training.speakers import network as learning

    _, chapter = chapter_of(MARA, BELL)
    (stretch,) = learning.divide_chapter(chapter, [0] * 4)
    model = learning.SpeakerNetwork(learning.SpeakerTraining(first=4, second=4, dropout=0.0))

    def loss():
        return learning._loss(model, [stretch, stretch], torch.device("cpu"))

    loss().backward()
    weight, step = model.score.weight, 1e-2
    slope = weight.grad[1, 2].item()
    with torch.no_grad():
        weight[1, 2] += step
        more = loss().item()
        weight[1, 2] -= 2 * step
        less = loss().item()
    assert (more - less) / (2 * step) == pytest.approx(slope, abs=2e-3)
    assert less > 0 < more


def test_without_an_utterance_nothing_is_learned():
    pytest.importorskip("torch")
    from miner.lab.training.speakers.network import SpeakerTraining, fit_network

    with pytest.raises(InputError, match="^found no utterance, expected some"):
        fit_network([], SpeakerTraining())
