"""The classifier overrules the rules of what is speech, where it may."""

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from helpers import SAMPLE, cpu_seconds, refuse_weights

from miner.errors import InputError
from miner.speech.read import parse_spans
from miner.speech.speech_classifier import (
    N_FEATURES,
    WEIGHTS,
    SpeechClassifier,
    classifier_of,
    is_classified,
    load_classifier,
    read_features,
)


def classifier_with(**weights):
    """A classifier that knows a few words right before or inside a quotation."""
    found = np.zeros(N_FEATURES, dtype=np.float32)
    for word, weight in weights.items():
        for feature in (f"before: {word}", f"first word: {word}"):
            found[crc32(feature.encode()) % N_FEATURES] = weight
    return SpeechClassifier(found, 0.0)


def page(*paragraphs, language="en"):
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html lang='{language}'><body>{text}</body></html>".encode()


def utterances(book_spans):
    return [span.text for span in book_spans.spans if span.is_utterance]


def quoted(book_spans):
    return [span.text for span in book_spans.spans if span.quoted]


SIGN = "Over the gate hung a board. The sign said “No Entry here.”"
WORD = "She knew that the boat, called by all “gravity” was lost."
TALK = "“Who painted it?” asked Mara."


def test_what_the_rules_take_for_speech_is_overruled():
    book = parse_spans(page(SIGN, TALK), "7", classified=False)
    assert utterances(book) == ["“No Entry here.”", "“Who painted it?”"]
    classified = classifier_with(sign=5.0).classify(book)
    assert utterances(classified) == ["“Who painted it?”"]
    assert quoted(classified) == ["“No Entry here.”"]


def test_what_the_rules_do_not_take_for_speech_is_overruled():
    book = parse_spans(page(WORD, TALK), "7", classified=False)
    assert quoted(book) == ["“gravity”"]
    classified = classifier_with(gravity=-5.0).classify(book)
    assert utterances(classified) == ["“gravity”", "“Who painted it?”"]
    assert quoted(classified) == []


def test_a_judge_that_is_not_sure_leaves_the_rules():
    book = parse_spans(page(SIGN, WORD, TALK), "7", classified=False)
    assert classifier_with().classify(book) == book  # the probability is one half
    doubtful = SpeechClassifier(classifier_with(sign=1.0).weights, 0.0, overrules=0.9)
    assert doubtful.classify(book) == book


def test_the_probability_is_that_of_no_speech():
    book = parse_spans(page(SIGN, TALK), "7", classified=False)
    classifier = classifier_with(sign=3.0)
    said, asked = (n for n, span in enumerate(book.spans) if span.is_utterance)
    assert classifier.probability(book.spans, said) == pytest.approx(1 / (1 + np.exp(-3)), rel=1e-6)
    assert classifier.probability(book.spans, asked) == 0.5


def test_no_text_is_lost_and_narration_stays():
    book = parse_spans(page(SIGN, WORD, TALK), "7", classified=False)
    classified = classifier_with(sign=5.0, gravity=-5.0).classify(book)
    for before, after in zip(book.spans, classified.spans, strict=True):
        assert (before.text, before.start, before.in_marks) == (
            after.text,
            after.start,
            after.in_marks,
        )


NEVER_SPEECH = SpeechClassifier(np.zeros(N_FEATURES, dtype=np.float32), 9.0)


def test_speech_that_a_dash_opens_is_left_alone():
    lines = ["— Où est le bateau ? dit Mara.", "— Parti, dit Tobin.", "— Et les oies ?"] * 3
    book = parse_spans(page(*lines, language="fr"), "7", classified=False)
    assert len(utterances(book)) == 9
    assert NEVER_SPEECH.classify(book) == book


def test_speech_that_continues_is_judged_by_its_beginning():
    texts = ["“The boat is gone,” said Mara.", "“It left at nine.", "“Nobody saw it go.”"]
    book = parse_spans(page(*texts), "7", classified=False)
    assert [span.text for span in book.spans if span.continues] == ["“Nobody saw it go.”"]
    assert utterances(NEVER_SPEECH.classify(book)) == []
    assert quoted(classifier_with(left=9.0).classify(book)) == []  # it is no word of the first


@pytest.fixture
def strict(monkeypatch):
    """English books are classified by a classifier that knows of signs."""
    classifiers = {"en": classifier_with(sign=5.0, schild=5.0)}
    monkeypatch.setattr("miner.speech.speech_classifier.classifier_of", classifiers.get)


def test_a_book_is_judged_when_it_is_read(strict):
    assert utterances(parse_spans(page(SIGN, TALK), "7")) == ["“Who painted it?”"]


@pytest.mark.parametrize("options", [{"classified": False}, {"thoughts": True}])
def test_a_book_is_not_judged_where_the_caller_says_so(strict, options):
    assert "“No Entry here.”" in utterances(parse_spans(page(SIGN, TALK), "7", **options))


def test_a_book_without_any_speech_after_the_judgement_is_refused(strict):
    with pytest.raises(InputError, match="^no dialogue: "):
        parse_spans(page(SIGN), "7")


def test_other_languages_are_left_as_they_were(strict):
    texts = ["Am Tor hing ein Brett. Auf dem Schild stand: „Kein Zutritt.“", "„Ja“, sagte Mara."]
    german = page(*texts, language="de")
    assert "„Kein Zutritt.“" in utterances(parse_spans(german, "7"))
    assert parse_spans(german, "7") == parse_spans(german, "7", classified=False)


def test_only_languages_with_weights_have_a_judge():
    assert {path.stem for path in WEIGHTS.glob("*-*.safetensors")} == {"de-es-fr-it-pt"}
    assert isinstance(classifier_of("en"), SpeechClassifier)
    assert classifier_of("nl") is None and classifier_of("hu") is None and classifier_of("") is None


def test_the_judge_of_the_package_keeps_most_of_the_sample():
    data = SAMPLE.read_bytes()
    classified, unclassified = (
        parse_spans(data, "sample", classified=choice) for choice in (True, False)
    )
    assert abs(len(utterances(classified)) - len(utterances(unclassified))) <= 2


NAN = np.full(N_FEATURES, np.nan, dtype=np.float32)
ZEROS = np.zeros(N_FEATURES, dtype=np.float32)
ONE = np.zeros(1, dtype=np.float32)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be loaded: "),
        (b"no weights at all", "cannot be loaded: "),
        ((WEIGHTS / "en.safetensors").read_bytes()[:-9], "cannot be loaded: "),
        ({"weights": ZEROS}, "found weights of shapes .*, expected weights "),
        ({"weights": ZEROS[1:], "bias": ONE}, r"found weights of shapes .*\(65535,\)"),
        ({"weights": NAN, "bias": ONE}, "found weights with no number, expected weights"),
    ],
)
def test_damaged_weights_are_one_clear_line(tmp_path, content, message):
    refuse_weights(load_classifier, tmp_path / "xx.safetensors", content, message)


def spans_of(*paragraphs):
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    page = f"<html lang='en'><body>{text}<p>“Well?” said Bo.</p></body></html>"
    return parse_spans(page.encode(), "7", classified=False).spans


def facts_of(*paragraphs, nth=0):
    """The weights of the features of a quotation by number."""
    spans = spans_of(*paragraphs)
    positions = [n for n, span in enumerate(spans) if is_classified(span)]
    return dict(zip(*map(np.ndarray.tolist, read_features(spans, positions[nth])), strict=True))


def weight(features, feature):
    return features.get(crc32(feature.encode()) % N_FEATURES, 0.0)


SIGN_SPEECH_FEATURES = "Over the gate hung a board. The sign said “No Entry here” in red paint."


@pytest.mark.parametrize(
    "feature",
    [
        "before 0: said",
        "before 1: sign",
        "before: the sign",
        "after 0: in",
        "after: red",
        "after: in red",
        "first word: no",
        "words: 3",
        "ends: e",
        "narration before ends: d, capital True",
        "narration after begins: i, small True",
        "alone in its paragraph: False False",
        "speaks of I or you: False",
        "continues: False",
    ],
)
def test_a_fact_of_the_page(feature):
    assert weight(facts_of(SIGN_SPEECH_FEATURES), feature) == 1.0


def test_words_of_the_quotation_and_words_far_away_weigh_less():
    features = facts_of(SIGN_SPEECH_FEATURES)
    assert weight(features, "word: entry") == 0.5
    assert weight(features, "told before: gate") == pytest.approx(0.3)
    assert weight(features, "before: gate") == weight(features, "word: gate") == 0.0


def test_words_of_other_paragraphs_do_not_count():
    features = facts_of("The sign said nothing.", "“No Entry,” said Mara.")
    assert weight(features, "told before: sign") == 0.0
    assert weight(features, "alone in its paragraph: True False") == 1.0


def test_speech_near_is_counted_in_the_chapter_alone():
    texts = "“Go,” said Mara.", "“No.” “Yes.”"
    assert weight(facts_of(*texts, nth=1), "speech near: 3") == 1.0
    spans = spans_of(*texts)
    position = next(n for n, span in enumerate(spans) if span.text == "“No.”")
    elsewhere = [replace(span, chapter=9 * (n != position)) for n, span in enumerate(spans)]
    features = dict(zip(*map(np.ndarray.tolist, read_features(elsewhere, position)), strict=True))
    assert weight(features, "speech near: 0") == 1.0


def test_what_the_rules_say_is_a_fact():
    assert weight(facts_of("“Go,” said Mara."), "rule: True") == 1.0
    assert weight(facts_of("She knew the word “gravity” well."), "rule: False") == 1.0


def test_each_number_comes_once_and_is_in_range():
    spans = spans_of(SIGN_SPEECH_FEATURES)
    for position, span in enumerate(spans):
        if is_classified(span):
            numbers, weights = read_features(spans, position)
            assert numbers.dtype == np.int32 and weights.dtype == np.float32
            assert (
                len(numbers) == len(weights)
                and (0 <= numbers).all()
                and (numbers < N_FEATURES).all()
            )


LONG = "and then he went to the boat with all of them, " * 1_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "paragraph",
    ["“Do not go to the boat now.” " * 1_500, f"“{LONG}”", f"He was there {LONG} “Now,” {LONG}"],
    ids=["many quotations", "a long one", "long narration"],
)
def test_time_grows_with_the_length_of_a_book(paragraph):
    spans = spans_of(paragraph)
    classified = [n for n, span in enumerate(spans) if is_classified(span)]
    assert classified
    assert cpu_seconds(lambda: [read_features(spans, n) for n in classified], 3) < 3
