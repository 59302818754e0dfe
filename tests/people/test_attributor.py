"""Speakers of tagged books: who has none, whose are kept, and which tags follow them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers import refuse_weights

from miner.people.attributor import (
    WEIGHTS,
    attribute_speakers,
    attributor_of,
    load_attributor,
    weight_shapes,
)
from miner.people.cast import Character
from miner.speech.read import parse_spans
from miner.speech.tags import Tag, TaggedSpan, repair_tags

TEXTS = (
    "Mara stood on the quay with her brother Tobin and looked for the boat.",
    "“Is the lamp lit?” asked Mara.",
    "“It was,” said Tobin. “Then the oil ran out.”",
    "“Did you tell anybody?” asked Mara.",
    "“No,” said Tobin.",
)


@cache
def book(*texts, language="en"):
    text = "".join(f"<p>{paragraph}</p>" for paragraph in texts or TEXTS)
    page = f"<html lang='{language}'><body>{text}</body></html>"
    return parse_spans(page.encode(), "7", classified=False)


def tagged(book_spans, **of_span):
    """A new conversation, and then a new turn at each utterance."""
    tags = iter(repair_tags([Tag.B_OTHER] * sum(s.is_utterance for s in book_spans.spans)))
    return [
        TaggedSpan(span, next(tags), **of_span) if span.is_utterance else TaggedSpan(span, Tag.O)
        for span in book_spans.spans
    ]


def spoken(items):
    return [item for item in items if item.span.is_utterance]


def test_each_utterance_has_its_speaker_and_narration_has_none():
    found = attribute_speakers(book(), tagged(book()), revise=False)
    names = {character.id: character.name for character in found.characters}
    assert [names[item.speaker] for item in spoken(found)] == [
        "Mara",
        "Tobin",
        "Tobin",
        "Mara",
        "Tobin",
    ]
    assert all(0 < item.speaker_confidence <= 1 for item in spoken(found))
    assert all(item.speaker is None for item in found if not item.span.is_utterance)


def test_tags_follow_the_speakers_where_they_are_revised():
    given = tagged(book())
    kept, revised = (attribute_speakers(book(), given, revise=choice) for choice in (False, True))
    assert [item.tag for item in kept] == [item.tag for item in given]
    assert [item.speaker for item in kept] == [item.speaker for item in revised]
    tags = [item.tag for item in spoken(revised)]
    expected = [Tag.B_START, Tag.B_OTHER, Tag.I_OTHER, Tag.B_OTHER, Tag.B_OTHER]
    assert tags == expected
    assert repair_tags(tags) == tags


def test_a_tag_that_is_revised_is_less_sure_than_one_that_both_give():
    items = [
        replace(item, tag=Tag.B_OTHER if n > 1 and item.tag is not Tag.O else item.tag)
        for n, item in enumerate(tagged(book(), confidence=0.7))
    ]
    found = spoken(attribute_speakers(book(), items, revise=True))
    tags = {item.tag: item.confidence for item in found}
    assert tags[Tag.I_OTHER] < 0.7 < tags[Tag.B_OTHER]
    assert found[0].confidence == 0.7  # a beginning is the tagger's alone


def test_where_conversations_begin_is_not_revised():
    given = tagged(book())
    third = [n for n, item in enumerate(given) if item.span.is_utterance][2]
    given[third] = replace(given[third], tag=Tag.B_START)
    found = attribute_speakers(book(), given, revise=True)
    assert [n for n, item in enumerate(found) if item.tag is Tag.B_START] == [
        n for n, item in enumerate(given) if item.tag is Tag.B_START
    ]


def test_given_characters_are_those_who_speak():
    given = (Character("m", "Mara Otway", ("Mara",), "f"), Character("t", "Tobin", ("Tobin",)))
    found = attribute_speakers(book(), tagged(book()), {"7": given, "8": ()}, revise=False)
    assert [item.speaker for item in spoken(found)] == ["m", "t", "t", "m", "t"]
    assert [character.id for character in found.characters] == ["m", "t"]


def test_speakers_that_are_there_are_kept():
    given = tagged(book(), speaker="a-voice", addressees=("somebody",))
    found = attribute_speakers(book(), given, revise=True)
    assert list(found) == given
    assert {"a-voice": "a-voice", "somebody": "somebody"}.items() <= names_of(found).items()
    known = (Character("a-voice", "A voice", ("voice",)),)
    found = attribute_speakers(book(), given, {"7": known}, revise=True)
    assert list(found) == given
    assert names_of(found) == {"a-voice": "A voice", "somebody": "somebody"}


def names_of(found):
    return {character.id: character.name for character in found.characters}


def test_a_language_without_weights_has_no_speakers():
    german = book("„Ist die Lampe an?“, fragte Mara.", "„Nein“, sagte Tobin.", language="de")
    given = tagged(german)
    found = attribute_speakers(german, given, revise=True)
    assert list(found) == given and list(found.characters) == []
    listed = (Character("mara", "Mara", ("Mara",)),)
    found = attribute_speakers(german, given, {"7": listed}, revise=True)
    assert list(found) == given and list(found.characters) == list(listed)


def test_only_english_has_weights():
    assert {path.stem for path in WEIGHTS.glob("*.safetensors")} == {"en"}
    assert attributor_of("en") is attributor_of("en")
    assert attributor_of("de") is None and attributor_of("") is None


def test_the_confidence_of_the_tagger_has_a_say():
    """Without names, a sure tag decides who of two goes on."""
    texts = (*TEXTS, "“Then nobody did.”")
    unsaid = book(*texts)
    last = len(unsaid.spans) - 1

    def speaker(tag):
        given = tagged(unsaid)
        given[last] = replace(given[last], tag=tag, confidence=0.999)
        return attribute_speakers(unsaid, given, revise=False)[last].speaker

    assert speaker(Tag.I_OTHER) == "tobin"
    assert speaker(Tag.B_OTHER) == "mara"


ZEROS = {name: np.zeros(shape, dtype=np.float32) for name, shape in weight_shapes(4, 3).items()}


def without(name):
    return {key: value for key, value in ZEROS.items() if key != name}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be loaded: "),
        (b"no weights at all", "cannot be loaded: "),
        ((WEIGHTS / "en.safetensors").read_bytes()[:-9], "cannot be loaded: "),
        (without("second.bias"), "cannot be loaded: found no second.bias, expected those of a"),
        (ZEROS | {"bias": ZEROS["score.bias"]}, "cannot be loaded: found a weight bias, expected"),
        (ZEROS | {"first.bias": np.zeros((), np.float32)}, "cannot be loaded: found first.weight"),
        (
            ZEROS | {"score.bias": np.full(1, np.nan, np.float32)},
            "found score.bias with no number, expected weights",
        ),
    ],
)
def test_damaged_weights_are_one_clear_line(tmp_path, content, message):
    refuse_weights(load_attributor, tmp_path / "xx.safetensors", content, message)
