"""Who is said to speak, who acts, and who is spoken to; each rule in a small form."""

import pytest
from characters_helpers import Scene

from miner.people.attributions import (
    find_addressee,
    find_attributions,
    find_called,
    find_last_subject,
    find_subject,
)

CAST = ("“Yes,” said Mara. “No,” said Mara.", "“Yes,” said Mr. Bell. “No,” said Mr. Bell.")


def attributions(*texts):
    """The speakers after and before each utterance of the last paragraph, in words."""
    scene = Scene(*CAST, *texts)
    *_, before, paragraph = scene.chapter.paragraphs
    *_, mentions_before, mentions = scene.chapter.mentions
    introducing = () if before.utterances else (before, mentions_before)
    found = find_attributions(paragraph, mentions, *introducing)
    return [(scene.shown(item.after), scene.shown(item.before)) for item in found]


def of_narration(find, text):
    """What a function finds in a paragraph of narration, in words."""
    scene = Scene(*CAST, text)
    return scene.shown(find(text, 0, len(text), scene.chapter.mentions[-1]))


@pytest.mark.parametrize(
    ("text", "after", "before"),
    [
        ("“Come,” said Mara.", "Mara", None),
        ("“Come,” Mara said.", "Mara", None),
        ("“Come,” he said.", "m", None),
        ("“Come,” answered poor Mr. Bell.", "Mr. Bell", None),
        ("“Come,” said the wub.", "wub", None),
        ("“Come,” said the Tatar.", "tatar", None),
        ("“Come,” went on Mara.", "Mara", None),
        ("“Come.” Mara sat down.", None, None),
        ("“Come,” went Mara.", None, None),
        ("Then Mara cried: “Come!”", None, "Mara"),
        ("Turning to Mara, he said, “Come!”", None, "m"),
        ("Mara was afraid when he said, “Come!”", None, "m"),
        ("Mr. Bell, who saw Mara, said, “Come!”", None, None),
    ],
)
def test_the_subject_of_a_verb_of_saying(text, after, before):
    assert attributions(text) == [(after, before)]


def test_the_paragraph_before_may_introduce_the_speaker():
    assert attributions("Then Mara cried:", "“Come!”") == [(None, "Mara")]
    assert attributions("Then Mara cried.", "“Come!”") == [(None, None)]


def test_a_change_inside_a_paragraph():
    found = attributions("“Come,” said Mara. “No,” said Mr. Bell.")
    assert [after for after, _ in found] == ["Mara", "Mr. Bell"]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Mara sat. He stood.", "Mara", "m"),
        ("Her voice broke.", "f", "f"),
        ("It was late, very dark and cold when Mara came.", None, None),
    ],
)
def test_the_subjects_of_narration(text, first, last):
    assert of_narration(find_subject, text) == first
    assert of_narration(find_last_subject, text) == last


@pytest.mark.parametrize(
    ("text", "addressee"),
    [
        ("He turned to Mara.", "Mara"),
        ("He asked the waiter.", "waiter"),
        ("Mara sat.", None),
    ],
)
def test_to_whom_something_is_said(text, addressee):
    assert of_narration(find_addressee, text) == addressee


@pytest.mark.parametrize(
    ("speech", "is_called"),
    [
        ("“Well, Mara, come.”", True),
        ("“Come, Mara!”", True),
        ("“My dear Mara, come.”", True),
        ("“I saw Mara there.”", False),
        ("“Mara is there.”", False),
    ],
)
def test_a_speech_calls_somebody_or_only_names_them(speech, is_called):
    scene = Scene(*CAST, speech)
    called, named = find_called(speech, 0, len(speech), scene.chapter.mentions[-1])
    assert [scene.person(number) for number in (called if is_called else named)] == ["Mara"]
    assert not (named if is_called else called)
