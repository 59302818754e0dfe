"""Passages, and what the page tells of each, as numbers."""

from zlib import crc32

import numpy as np
import pytest
from helpers import cpu_seconds

from miner.speech.read import parse_spans
from miner.speech.speech_classifier import (
    N_QUOTATION_FEATURES,
    find_quotations,
    is_in_marks,
    read_quotation_features,
    weigh_marks,
)

TALK = "— Où est le bateau ? dit Mara."
THOUGHT = "«Il est trop tard.» pensa Tobin."


def spans_of(*paragraphs, language="fr"):
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    page = f"<html lang='{language}'><body>{text}</body></html>"
    return parse_spans(page.encode(), "7", classified=False).spans


def passages_of(*paragraphs, language="fr"):
    spans = spans_of(*paragraphs, language=language)
    return [[spans[n].text.strip() for n in quotation] for quotation in find_quotations(spans)]


def facts_of(*paragraphs, language=""):
    """The weights of a quotation's features by number. A talk before it makes the page a book."""
    spans = spans_of(*[TALK] * 2, *paragraphs)
    features = read_quotation_features(
        spans, find_quotations(spans)[2], language, weigh_marks(spans)
    )
    return dict(zip(*map(np.ndarray.tolist, features), strict=True))


def weight(features, feature, language=""):
    number = crc32(feature.encode()) % N_QUOTATION_FEATURES
    if language:
        number ^= crc32(language.encode()) % N_QUOTATION_FEATURES
    return features.get(number, 0.0)


def test_speech_goes_on_after_the_words_of_the_narrator():
    found = passages_of("—La barca —dijo Mara— se ha ido.", "—¿Ya?", language="es")
    assert found == [["—La barca", "se ha ido."], ["—¿Ya?"]]


def test_each_mark_opens_a_passage():
    assert passages_of("«Va,» dit Mara. «Reste,» dit Tobin.") == [["«Va,»"], ["«Reste,»"]]


def test_narration_and_blank_books_have_no_passages():
    assert passages_of("Il pleuvait.", "«Va,» dit Mara.") == [["«Va,»"]]
    assert find_quotations(()) == []


def test_a_dash_is_no_mark():
    spans = spans_of(TALK, THOUGHT)
    assert [is_in_marks(spans[quotation[0]]) for quotation in find_quotations(spans)] == [
        False,
        True,
    ]


def test_marks_weigh_more_the_more_of_them_a_book_has():
    few, many = (
        weigh_marks(spans_of(*[TALK] * dashes, *[THOUGHT] * marks))
        for dashes, marks in ((16, 2), (2, 16))
    )
    assert few < 0 < many
    assert weigh_marks(()) == 0


@pytest.mark.parametrize(
    "feature",
    [
        "after 0: pensa",
        "stem after: pens",
        "stem after 0: pens",
        "words: 4",
        "opener: mark",
        "opener: mark, alone True False",
        "opener: mark, words 4, ends .",
        "rule: False",
    ],
)
def test_a_fact_of_the_page(feature):
    assert weight(facts_of(THOUGHT), feature) == 1.0


def test_forms_of_a_word_have_the_same_stem():
    forms = ("«Trop tard.» pensait Tobin.", "«Trop tard.» pensèrent-ils.")
    assert [weight(facts_of(form), "stem after 0: pens") for form in forms] == [1.0, 1.0]


def test_a_dash_has_the_facts_of_the_words_beside_it_alone():
    features = facts_of("— Il est trop tard ! dit Tobin.")
    assert weight(features, "opener: dash") == weight(features, "stem after 0: dit") == 1.0
    assert weight(features, "word: tard") == weight(features, "opener: mark") == 0.0


def test_each_fact_counts_for_all_languages_and_for_its_own():
    alike, french = facts_of(THOUGHT), facts_of(THOUGHT, language="fr")
    assert len(french) == 2 * len(alike)
    for language in ("", "fr"):
        assert weight(french, "stem after: pens", language) == 1.0
    assert weight(alike, "stem after: pens", "fr") == weight(french, "stem after: pens", "it") == 0


def test_numbers_are_in_range():
    spans = spans_of(TALK, THOUGHT)
    for quotation in find_quotations(spans):
        numbers, weights = read_quotation_features(spans, quotation, "hu", 0)
        assert numbers.dtype == np.int32 and weights.dtype == np.float32
        assert len(numbers) == len(weights)
        assert (0 <= numbers).all() and (numbers < N_QUOTATION_FEATURES).all()


@pytest.mark.slow
@pytest.mark.parametrize("paragraph", ["«Reste ici, mon ami.» " * 1_500, "— Va, dit-il. " * 3_000])
def test_time_grows_with_the_length_of_a_book(paragraph):
    spans = spans_of(paragraph)
    quotations = find_quotations(spans)
    assert quotations
    assert (
        cpu_seconds(lambda: [read_quotation_features(spans, p, "fr", 0) for p in quotations], 3) < 3
    )
