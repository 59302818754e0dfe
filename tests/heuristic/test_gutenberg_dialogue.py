"""The published rules by language: which paragraphs speak, and what they say."""

import pytest

from heuristic.gutenberg_dialogue import GutenbergDialogueTagger
from miner.books.book import Block, BlockKind, Book
from miner.speech.kinds import SpanKind
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import Tag
from miner.speech.typography import typography_from_names


def tagged(language, *paragraphs):
    """What the tagger makes of a book in which nothing was found."""
    blocks = tuple(Block(n, 1, BlockKind.PARAGRAPH, text) for n, text in enumerate(paragraphs))
    spans = tuple(Span(1, b.index, 0, 0, len(b.text), b.text, SpanKind.NARRATION) for b in blocks)
    book = Book("7", "", "", language, blocks, (), "")
    typography = typography_from_names(["double-curly"], language)
    return GutenbergDialogueTagger().tag(BookSpans(book, spans, typography))


def said(language, *paragraphs):
    """The speech of each paragraph."""
    spans = [item.span for item in tagged(language, *paragraphs)]
    of_paragraphs = [[s for s in spans if s.paragraph == n] for n in range(len(paragraphs))]
    assert ["".join(span.text for span in group) for group in of_paragraphs] == [*paragraphs]
    return [[span.text.strip() for span in group if span.is_utterance] for group in of_paragraphs]


@pytest.mark.parametrize("language", ["es", "fr", "hu", "it", "pt"])
@pytest.mark.parametrize("dash", ["—", "–", "―", "--"])
def test_in_five_languages_every_second_part_of_a_dash_paragraph_is_speech(language, dash):
    page = (
        f"{dash} Ida {dash} mondta Ferenc, {dash} gyere.",
        f"{dash}Gyere, kérte Ferenc.",  # an attribution between commas counts as speech
        f"{dash}Jó {dash} hosszú szünet {dash} megyek {dash} szólt.",
        f"Azt mondta: {dash}Jó.",
        "„Jó.”",
    )
    assert said(language, *page) == [
        ["Ida", "gyere."],
        ["Gyere, kérte Ferenc."],
        ["Jó", "megyek"],
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("opens", "closes"), [("„", "“"), ("»", "«"), ('"', '"')], ids=["low", "angle", "straight"]
)
def test_in_german_a_paragraph_speaks_if_a_mark_opens_it(opens, closes):
    page = (
        f"{opens}Ja{closes}, sagte Ida, {opens}gern.{closes}",
        f"—{opens}Ja{closes}, sagte Ida.",
        f"Ida sagte: {opens}Ja.{closes}",
        f"{opens}Ja, sagte Ida.",
    )
    assert said("de", *page) == [["Ja", "gern."], ["Ja"], [], ["Ja, sagte Ida."]]


@pytest.mark.parametrize(("opens", "closes"), [("“", "”"), ('"', '"'), ("‘", "’")])
@pytest.mark.parametrize("language", ["en", "nl", "sv"])
def test_elsewhere_the_marks_of_a_paragraph_must_be_even_and_the_first_word_capital(
    language, opens, closes
):
    page = (
        f"Ida said: {opens}Yes,{closes} and {opens}no.{closes}",
        f"{opens}Yes, said Ida.",
        f"The {opens}heron{closes} lay there.",
    )
    assert said(language, *page) == [["Yes,", "no."], [], []]


def test_an_apostrophe_ends_no_speech():
    assert said("en", "‘It’s Ida’s,’ he said.") == [["It’s Ida’s,"]]


def test_the_mark_of_a_book_is_the_one_it_has_most_of():
    assert said("en", "“Yes.”", "“No.”", '"So," he said') == [["Yes."], ["No."], []]
    assert said("de", "„Ja.“", "»Nein.«", "»So.«") == [[], ["Nein."], ["So."]]


def test_conversations_are_parted_by_the_gap():
    page = ("—Ida.", "—Sí.", "x" * 150, "—¿Y?", "x" * 151, "—Ya.")
    tags = [item.tag for item in tagged("es", *page) if item.tag is not Tag.O]
    assert tags == [Tag.B_START, Tag.B_OTHER, Tag.B_OTHER, Tag.B_START]
    assert GutenbergDialogueTagger().gives_confidence is False
