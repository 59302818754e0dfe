"""Augmentation: where paragraphs are split, and what stays."""

import random
from itertools import groupby

import pytest
from encoders import sample, told
from hypothesis import given, settings
from hypothesis import strategies as st

from heuristic.gap import GapTagger
from miner.lab.training.tagger.training_data import augment, examples_from_tagger

SAMPLE = examples_from_tagger(sample(), GapTagger(150))


class Apart(random.Random):
    """Splits at every place, and gives the narration a paragraph of its own."""

    def random(self):
        return 0.999


def read(example):
    return [paragraph.text for paragraph in example.chapter.paragraphs]


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        (
            "“I am late.” Otway shook the rain from his hat. “Is she here?”",
            ["“I am late.”", "Otway shook the rain from his hat.", "“Is she here?”"],
        ),
        (
            "“I am late,” said Otway. He shook out his hat. “Is she here?”",
            ["“I am late,” said Otway. ", "He shook out his hat.", "“Is she here?”"],
        ),
        (
            "“Am I late?” Otway muttered. He shook out his hat. “Is she here?”",
            ["“Am I late?” Otway muttered.", "He shook out his hat.", "“Is she here?”"],
        ),
        ("Otway shook out his hat. “I am late.”", ["Otway shook out his hat.", "“I am late.”"]),
        (
            "He rose. “No!” He sat down again. “Well,” he said, “go on.” He listened.",
            ["He rose.", "“No!”", "He sat down again.", "“Well,” he said, “go on.” He listened."],
        ),
        (
            "«Zu spät!» Otto nahm die Mütze ab. «Ist sie da?»",
            ["“Zu spät!”", "Otto nahm die Mütze ab.", "“Ist sie da?”"],
        ),
    ],
)
def test_narration_that_can_stand_alone_gets_a_paragraph(whole, parts):
    (example,) = examples_from_tagger(
        told([whole], marks="guillemets" if "«" in whole else "double-curly"), GapTagger(150)
    )
    found = augment(example, 1.0, Apart())
    assert [text.strip() for text in read(found)] == [part.strip() for part in parts]


def test_narration_may_stay_with_what_was_said_before_it():
    whole = "“I am late.” Otway shook the rain from his hat. “Is she here?”"
    parts = ["“I am late.” Otway shook the rain from his hat.", "“Is she here?”"]
    (example,) = examples_from_tagger(told([whole]), GapTagger(150))
    for seed in range(40):
        found = [text.strip() for text in read(augment(example, 1.0, random.Random(seed)))]
        if found == parts:
            break
        assert len(found) == 3
    else:
        pytest.fail("narration never stayed with the first utterance")


@pytest.mark.parametrize(
    "whole",
    [
        "“I am late,” said Otway, “is she here?”",
        "“I am late,” said Mr. Otway. “Is she here?”",
        "“Am I late?” Otway muttered. “Is she here?”",
        "“I am late!” Mrs. Otway cried. “Is she here?”",
        "“I am,” Otway shook the rain from his hat, “late.”",
        "“I am late.” So. “Is she here?”",
        "Otway said, “I am late.”",
        "He looked at the clock, and said: “I am late.” He sat down.",
        "and he shook the rain from his hat. “I am late.”",
        "It rained. Nobody said a word.",
    ],
)
def test_narration_that_cannot_stand_alone_stays(whole):
    texts = ["“Is that you?”", whole, "“Yes.”"]
    (example,) = examples_from_tagger(told(texts), GapTagger(150))
    assert augment(example, 1.0, Apart()) is example


def test_a_share_of_0_splits_nothing():
    assert all(augment(item, 0.0, random.Random(0)) is item for item in SAMPLE)


@settings(max_examples=30)
@given(st.integers(0, 4), st.floats(0, 1), st.integers(0, 99))
def test_utterances_stay_as_they_are(n, share, seed):
    before = SAMPLE[n]
    after = augment(before, share, random.Random(seed))
    assert after.tags is before.tags and after.speakers is before.speakers
    assert after.chapter.places == before.chapter.places
    assert len(after.chapter.features) == len(before.chapter.features)
    assert said(after) == said(before)
    assert words(after) == words(before)
    assert len(after.chapter.paragraphs) >= len(before.chapter.paragraphs)
    numbers = [span.paragraph for span in after.spans]
    assert numbers == sorted(numbers)
    assert [span.continues for span in after.spans if span.is_utterance] == [
        span.continues for span in before.spans if span.is_utterance
    ]


def said(example):
    return [p.text[a:b] for p in example.chapter.paragraphs for a, b in p.utterances]


def words(example):
    return " ".join(paragraph.text for paragraph in example.chapter.paragraphs).split()


def test_the_sample_is_split_between_speech_and_before_it():
    cut = [augment(item, 1.0, random.Random(0)) for item in SAMPLE]
    more = sum(len(read(b)) - len(read(a)) for a, b in zip(SAMPLE, cut, strict=True))
    assert more == 6
    apart = [
        sum(any(s.is_utterance for s in g) for _, g in groupby(item.spans, lambda s: s.paragraph))
        for item in (*SAMPLE, *cut)
    ]
    assert sum(apart[len(SAMPLE) :]) > sum(apart[: len(SAMPLE)])  # speech is split from speech, too


def test_the_same_seed_splits_the_same_places():
    first, second = (
        [augment(item, 0.5, random.Random("1")).spans for item in SAMPLE] for _ in "ab"
    )
    others = [[augment(item, 0.5, random.Random(seed)).spans for item in SAMPLE] for seed in "234"]
    assert first == second
    assert any(first != other for other in others)
