"""What the page tells of a quotation, as numbers."""

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from helpers import cpu_seconds

from miner.speech.read import parse_spans
from miner.speech.speech_classifier import N_FEATURES, is_classified, read_features


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


SIGN = "Over the gate hung a board. The sign said “No Entry here” in red paint."


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
    assert weight(facts_of(SIGN), feature) == 1.0


def test_words_of_the_quotation_and_words_far_away_weigh_less():
    features = facts_of(SIGN)
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
    spans = spans_of(SIGN)
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
