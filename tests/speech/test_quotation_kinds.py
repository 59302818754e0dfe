"""Quotations that nobody says have their kind: by the page, by the words beside them, learned."""

from zlib import crc32

import numpy as np
import pytest
from helpers import refuse_weights

from miner.speech.kinds import SpanKind
from miner.speech.quotation_kinds import (
    KINDS,
    N_FEATURES,
    WEIGHTS,
    KindClassifier,
    kind_classifier,
    load_kind_classifier,
)
from miner.speech.read import parse_spans

TALK = "<p>“Who keeps the geese?” asked Mara.</p><p>“Nobody keeps them,” said Tobin.</p>"
HEAD = "<h2>CHAPTER I</h2>"
POEM = "<p class='poem'>“The heron stood upon one leg,<br/>And so he stands today.”</p>"


def kinds(body, language="en", talk=TALK, **options):
    """The kind of each quotation of a page before its talk, by its first words."""
    start = "" if body.startswith(HEAD) else f"{HEAD}<p>The boat lay at the steps.</p>"
    end = "<h2>CHAPTER II</h2>"
    page = f"<html lang='{language}'><body>{start}{body}{end}{talk}</body></html>"
    spans = parse_spans(page.encode(), "7", **options).spans
    quoted = [span for span in spans if span.in_marks][: -talk.count("“") or None]
    return [str(span.kind) for span in quoted]


MOTTOES = {
    "its source is behind it": "<p>“All geese are grey.”—<i>Old Ferry Song.</i></p>",
    "its source is below it": "<p>“All geese are grey at night.”</p><p>OTWAY.</p>",
    "its source is a title": "<p>“All geese are grey at night.”</p><p>The Ferry Book, II.</p>",
    "it is verse": POEM,
    "it is verse with speech in it": "<p class='poem'>“Come in,” the heron said,<br/>"
    "“And sit upon my bed.”<br/>The Heron’s Song.</p>",
}


@pytest.mark.parametrize("motto", MOTTOES.values(), ids=MOTTOES)
def test_what_stands_below_a_heading_with_its_source_is_a_motto(motto):
    assert set(kinds(f"{HEAD}{motto}<p>The boat lay at the steps.</p>")) == {"motto"}


def test_a_second_motto_may_follow():
    two = "<p>“All geese are grey.”</p><p>OTWAY.</p><p>“So is the sea.”—BELL.</p>"
    assert kinds(f"{HEAD}{two}<p>The boat lay there.</p>") == ["motto", "motto"]


@pytest.mark.parametrize(
    "opening",
    [
        "<p>“The geese are out!”</p><p>Nobody answered him.</p>",
        "<p>“The geese are out!”</p><p>“Again?”</p>",
        "<p>“The geese are out!” said Mara.</p><p>Tobin.</p>",
        "<p>The boat lay there.</p><p>“The geese are out!”</p><p>—It was Tobin.</p>",
    ],
)
def test_talk_below_a_heading_is_no_motto(opening):
    assert set(kinds(HEAD + opening)) == {"utterance"}


@pytest.mark.parametrize(
    "poem",
    [
        "<p class='poem'>“Come in,” the heron told the wren,<br/>“And sit by me and sing.”<br/>So"
        " he sat.</p>",
        "<blockquote><p>“Come in,” the heron told the wren,<br/>“Come in and sit by me.”<br/>So"
        " he went in.</p></blockquote>",
        POEM,
    ],
)
def test_a_poem_that_nobody_says_is_verse_and_so_is_the_speech_in_it(poem):
    assert set(kinds(f"<p>Over the old stove hung a rhyme:</p>{poem}")) == {"verse"}


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("Tobin stood up and sang:", "He sat down again."),
        ("Tobin stood up and began,—", "He sat down again."),
        ("Tobin stood up.", "As he sang, the geese came nearer."),
    ],
)
def test_a_poem_that_somebody_sings_is_one_speech(above, below):
    song = f"{POEM}<p class='poem'>“And so he stands tomorrow,<br/>And so he stands for ay.”</p>"
    assert kinds(f"<p>{above}</p>{song}<p>{below}</p>") == ["utterance", "utterance"]


LETTER = [
    "“Dear Mr. Otway,—The lease of the lock falls in at Lady Day.",
    "“Should you want it again, send word by the carrier.",
    "“Faithfully yours,<br/>“Bell and Son,<br/>“Melbury.”",
]


@pytest.mark.parametrize("wrapper", ["{}", "<blockquote>{}</blockquote>"])
def test_a_whole_letter_is_a_letter_with_its_close_and_signature(wrapper):
    letter = wrapper.format("".join(f"<p>{text}</p>" for text in LETTER))
    found = kinds(f"<p>He read it standing, with his hat on.</p>{letter}<p>He sat down.</p>")
    assert set(found) == {"letter"} and len(found) >= len(LETTER)


def test_a_letter_that_is_read_aloud_is_one_speech_of_its_reader():
    letter = "".join(f"<p>{text}</p>" for text in LETTER[:2])
    above = "<p>Mara broke the seal and read it aloud:</p>"
    assert kinds(f"{above}{letter}<p>She folded it.</p>") == ["utterance", "utterance"]


def test_speech_that_a_printed_letter_tells_is_speech():
    letter = "<p>My dear Bo,—On the way we met Tobin. “Where is your boat?” asked he.</p>"
    assert kinds(f"<blockquote>{letter}</blockquote>") == ["utterance"]


NAMED = {
    "“The geese are out,” he wrote to his aunt.": "letter",
    "He took his pen and wrote: “The geese are out.”": "letter",
    "Over the gate was the word “Geese,” painted in white.": "inscription",
    "“The geese are out,” was chalked upon the door.": "inscription",
    "The telegram, when it came at last, was short. “Geese out. Tobin.”": "inscription",
    "“The geese are out,” he thought, and sat down.": "thought",
    "“All geese are grey,” says the proverb, and so were these.": "other",
    "As the old song says, “All geese are grey.” So were these.": "other",
}


@pytest.mark.parametrize(("text", "kind"), NAMED.items())
def test_the_words_beside_a_quotation_name_its_kind(text, kind):
    assert kinds(f"<p>{text}</p>", classified=False) == [kind]


def test_a_proverb_that_a_narrator_cites_is_no_speech_in_both_its_halves():
    text = "“A goose in the lane,” runs the old saying, “is half sold.”"
    assert kinds(f"<p>{text}</p>") == ["other", "other"]


@pytest.mark.parametrize(
    "text",
    [
        "“The geese are out,” says the ferryman, and off he goes.",
        "“The geese are out,” said the preacher.",
        "The answer was short. “Geese,” said Tobin.",
    ],
)
def test_talk_that_looks_like_a_citation_is_speech(text):
    assert kinds(f"<p>{text}</p>") == ["utterance"]


ESSAY = (
    "<p>The “grey” of Mr. Otway is nowhere plainer than among geese, of which four were "
    "“strangers” here. Dr. Bell says, “I have counted nine of them at the lock.”</p>"
)


def test_a_book_in_which_nobody_talks_has_no_speech():
    with pytest.raises(Exception, match="no dialogue"):
        kinds(ESSAY, talk="<p>The word “goose” is to be used with care.</p>")
    assert kinds(ESSAY)[-1] == "utterance"  # what Dr. Bell says, where others talk


def test_a_classifier_names_what_the_rules_do_not():
    weights = np.zeros((len(KINDS), N_FEATURES), np.float32)
    weights[KINDS.index(SpanKind.INSCRIPTION), crc32(b"near before: board") % N_FEATURES] = 9
    bias = np.array([kind is SpanKind.OTHER for kind in KINDS], np.float32)
    page = "<p>He saw a board with “Geese” on it.</p><p>He called his hat a “crown” of hay.</p>"
    spans = parse_spans(f"<html lang='en'>{page}{TALK}</html>".encode(), "7", classified=False)
    found = KindClassifier(weights, bias).classify(spans)
    named = [span.kind for span in found.spans if span.quoted]
    assert named == [SpanKind.INSCRIPTION, SpanKind.OTHER]
    assert "".join(s.text for s in found.spans) == "".join(s.text for s in spans.spans)


def test_only_english_has_a_classifier_of_kinds():
    assert isinstance(kind_classifier("en"), KindClassifier) and kind_classifier("de") is None


def test_weights_of_other_shapes_are_refused(tmp_path):
    assert load_kind_classifier(WEIGHTS).weights.shape == (len(KINDS), N_FEATURES)
    other = {"weights": np.zeros((2, 3), np.float32), "bias": np.zeros(2, np.float32)}
    message = "found weights of shapes"
    refuse_weights(load_kind_classifier, tmp_path / "kinds.safetensors", other, message)
