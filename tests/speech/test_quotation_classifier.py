"""The classifier of several languages overrules the rules in marks and behind dashes."""

from zlib import crc32

import numpy as np
import pytest

from miner.speech.read import parse_spans
from miner.speech.speech_classifier import (
    N_QUOTATION_FEATURES,
    OVERRULES_DASH,
    OVERRULES_MARK,
    QuotationClassifier,
    classifier_of,
    find_quotations,
)

LANGUAGES = ("de", "es", "fr", "it", "pt")


def quotation_classifier(bias=0.0, **weights):
    """A classifier that knows the stems of a few words after a quotation, in all languages."""
    found = np.zeros(N_QUOTATION_FEATURES, dtype=np.float32)
    for stem, weight in weights.items():
        found[crc32(f"stem after: {stem}".encode()) % N_QUOTATION_FEATURES] = weight
    return QuotationClassifier(found, bias)


def page(*paragraphs, language="fr"):
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html lang='{language}'><body>{text}</body></html>".encode()


def utterances(book_spans):
    return [span.text.strip() for span in book_spans.spans if span.is_utterance]


def unsaid(book_spans):
    return [span.text.strip() for span in book_spans.spans if span.quoted]


TALK = "«Où est le bateau ?» demanda Mara."
THOUGHT = "«Il est trop tard.» se répéta Tobin."
DASH = "—Es muy tarde —pensó Tobín—, y anochece."


def test_what_the_rules_take_for_speech_is_overruled():
    book = parse_spans(page(TALK, THOUGHT), "7", classified=False)
    classified = quotation_classifier(répé=2.0).classify(book)
    assert utterances(classified) == ["«Où est le bateau ?»"]
    assert unsaid(classified) == ["«Il est trop tard.»"]


def test_what_the_rules_do_not_take_for_speech_stays_none():
    book = parse_spans(
        page(TALK, "Puis le mot «retour» fut crié du bateau."), "7", classified=False
    )
    assert unsaid(book) == ["«retour»"]
    assert quotation_classifier(crié=-2.0).classify(book) == book


def test_no_part_of_a_thought_behind_a_dash_is_speech():
    lines = ["—¿Dónde está la barca?", "—Ya se fue.", DASH]
    book = parse_spans(page(*lines, language="es"), "7", classified=False)
    classified = quotation_classifier(pens=9.0).classify(book)
    assert utterances(classified) == ["—¿Dónde está la barca?", "—Ya se fue."]
    assert unsaid(classified) == ["—Es muy tarde", "y anochece."]


def test_behind_a_dash_the_judge_must_be_surer():
    between = (OVERRULES_MARK + OVERRULES_DASH) / 2
    classifier = quotation_classifier(bias=float(np.log(between / (1 - between))))
    book = parse_spans(page(TALK, "— Parti, dit Tobin.", "— Hier ?"), "7", classified=False)
    assert classifier.probability(book, find_quotations(book.spans)[0]) == pytest.approx(between)
    assert utterances(classifier.classify(book)) == ["— Parti,", "— Hier ?"]


def test_a_judge_that_is_not_sure_leaves_the_rules():
    book = parse_spans(page(TALK, THOUGHT), "7", classified=False)
    assert quotation_classifier().classify(book) == book


def test_what_nobody_says_goes_on_in_the_next_paragraphs():
    texts = [TALK, "Et Tobin relisait : «Il est trop tard.", "«Personne ne viendra.»", TALK]
    book = parse_spans(page(*texts), "7", classified=False)
    found = np.zeros(N_QUOTATION_FEATURES, dtype=np.float32)
    found[crc32(b"stem before: reli") % N_QUOTATION_FEATURES] = 9.0
    assert [span.text for span in book.spans if span.continues] == ["«Personne ne viendra.»"]
    classified = QuotationClassifier(found, 0.0).classify(book)
    assert unsaid(classified) == ["«Il est trop tard.", "«Personne ne viendra.»"]
    assert not any(span.continues for span in classified.spans)


def test_no_text_is_lost_and_narration_stays():
    book = parse_spans(page(TALK, THOUGHT), "7", classified=False)
    classified = quotation_classifier(bias=9.0).classify(book)
    assert utterances(classified) == []
    places = [
        [(span.text, span.start, span.end, span.in_marks) for span in found.spans]
        for found in (book, classified)
    ]
    assert places[0] == places[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_the_judge_that_it_shares(language):
    assert classifier_of(language) is classifier_of(language)
    assert isinstance(classifier_of(language), QuotationClassifier)


# Each book has speech, and one quotation that nobody says.
BOOKS = {
    "de": ["»Wo ist das Boot?« fragte Mara.", "Das Haus am Fluß hieß »Zur Fähre« und war alt."],
    "es": ["—¿Dónde está la barca? —preguntó Mara.", "—Ya se fue —contestó Tobín."],
    "fr": [TALK, "Il relut la plaque où l’on avait gravé le mot «Quotation» en lettres noires."],
    "it": ["— Dov'è la barca? — chiese Mara.", "— È partita, — rispose Tobia."],
    "pt": ["—Onde está o barco? —perguntou Mara.", "—Partiu —respondeu Tobias."],
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_judge_of_the_package_keeps_plain_speech(language):
    data = page(*BOOKS[language] * 3, language=language)
    classified, unclassified = (
        parse_spans(data, "7", classified=choice) for choice in (True, False)
    )
    assert utterances(classified) == utterances(unclassified)
    assert len(utterances(classified)) in (3, 6)


def test_the_judge_of_the_package_knows_what_nobody_says():
    thought = "Et je pensais en marchant : «Personne ne viendra ce soir, il est bien trop tard.»"
    data = page(*[TALK] * 3, thought)
    assert thought[28:] in utterances(parse_spans(data, "7", classified=False))
    assert unsaid(parse_spans(data, "7")) == [thought[28:]]
