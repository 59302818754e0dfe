"""What the page tells of the speaker of an utterance; each clue in a small form."""

import pytest
from characters_helpers import Scene

from miner.people.clues import Cue, find_clues

CAST = ("“Yes,” said Mara. “No,” said Mara.", "“Yes,” said Mr. Bell. “No,” said Mr. Bell.")


def clues_of(*texts):
    """The scene and the clues of its utterances, without those of the cast."""
    scene = Scene(*CAST, *texts)
    found = find_clues(scene.chapter)
    scene.chapter = found.chapter
    return scene, found.clues[4:]


@pytest.mark.parametrize(
    ("texts", "cue", "person"),
    [
        (["“Come,” said Mara."], Cue.SAYS_AFTER, "Mara"),
        (["Mara said: “Come!”"], Cue.SAYS_BEFORE, "Mara"),
        (["“Come.” “No,” said Mara."], Cue.SAYS_BESIDE, "Mara"),
        (["Mara sat. He stood. “Come.”"], Cue.LEADS_IN, "Mara"),
        (["Mara sat. He stood. “Come.”"], Cue.LEADS_IN_LAST, "m"),
        (["“Come.” Mara sat down."], Cue.ACTS_AFTER, "Mara"),
        (["Mara sat. He stood.", "“Come.”"], Cue.BETWEEN_FIRST, "Mara"),
        (["Mara sat. He stood.", "“Come.”"], Cue.BETWEEN_LAST, "m"),
        (["“Come.”", "Mara sat down."], Cue.PARAGRAPH_AFTER, "Mara"),
        (["“Come.”", "“No,” said Mara."], Cue.SAYS_NEXT, "Mara"),
        (["“Come.”", "“No.”", "“Yes,” said Mara."], Cue.SAYS_NEXT_BUT_ONE, "Mara"),
        (["“Come.”"], Cue.SAID_LAST, "Mr. Bell"),
        (["“Come,” he said to Mara."], Cue.ADDRESSED, "Mara"),
        (["He turned to Mara.", "“Come.”"], Cue.ADDRESSED_BETWEEN, "Mara"),
        (["“Come.”", "“No,” he said to Mara."], Cue.ADDRESSED_NEXT, "Mara"),
        (["“Come.” Taking his hat, Mara sat."], Cue.NAMED_AFTER, "Mara"),
    ],
    ids=lambda value: value.name if isinstance(value, Cue) else "",
)
def test_each_cue(texts, cue, person):
    scene, (clues, *_) = clues_of(*texts)
    assert scene.shown(clues.cue(cue)) == person


def test_who_is_said_to_speak_does_not_act_after_it():
    _, (clues,) = clues_of("“Come,” said Mara, smiling.")
    assert clues.cue(Cue.ACTS_AFTER) is None


def test_narration_beside_the_speech_says_that_the_speaker_goes_on_or_answers():
    _, clues = clues_of("“Come,” added Mara.", "“No,” answered he.", "“Yes,” went on Mara.")
    assert [(item.goes_on, item.answers) for item in clues] == [
        (True, False),
        (False, True),
        (True, False),
    ]


def test_what_stands_between_two_speeches_is_counted():
    _, clues = clues_of("It rained.", "Mara sat. “Come.” He stood. “No.”")
    assert [(item.n_between, item.n_before, item.is_first) for item in clues] == [
        (1, len("Mara sat."), True),
        (1, len("He stood."), False),
    ]


def test_the_last_paragraph_of_speech_asks():
    _, clues = clues_of("“Who?” said Mara.", "“I.”")
    assert [item.last_asks for item in clues] == [False, True]


def test_calls_of_the_speeches_around():
    scene, clues = clues_of("“Mara, come.”", "“Yes, sir.”", "“No, madam.”")
    assert [scene.person(number) for number in clues[1].last.called] == ["Mara"]
    assert clues[0].next.calls_man
    assert clues[1].next.calls_woman
    assert clues[2].last_but_one == clues[0].calls.called


def test_people_are_remembered_from_the_last_one_on():
    scene, (clues,) = clues_of("Mara sat. Mr. Bell stood.", "“Come.”")
    assert [scene.person(number) for number in clues.recent] == ["Mr. Bell", "Mara"]
    assert [(item.rank, item.paragraphs) for item in clues.recent.values()] == [(0, 1), (1, 1)]


def test_a_noun_that_speaks_is_a_person_of_the_chapter():
    scene, _ = clues_of("“Come,” said the wub. “No,” said the wub.")
    assert [person.noun for person in scene.chapter.people].count("wub") == 1


def test_how_a_chapter_uses_a_noun():
    scene = Scene("“Yes.”", "A waiter came. The waiter sat. His wife stood.")
    found = find_clues(scene.chapter)
    uses = {scene.person(n): use for n, use in enumerate(found.nouns) if use.count}
    assert (uses["waiter"].count, uses["waiter"].is_introduced) == (2, True)
    assert (uses["wife"].n_owned, uses["wife"].is_introduced) == (1, False)
