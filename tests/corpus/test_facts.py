"""Facts of a book: what is counted, in which texts, and that their bytes are whole."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import DATA, SAMPLE

from miner.books.book import BlockKind
from miner.corpus.facts import BookFacts, count_delimiters, find_facts
from miner.corpus.word_counts import count_words
from miner.errors import InputError
from miner.speech.read import parse_spans

PAGE = """<html lang="{language}"><head><title>The Lamp</title></head><body>
<h1>THE LAMP</h1><h2>CHAPTER I</h2>
{body}
</body></html>"""
STORY = """<p>Mara stood on the stair of the lighthouse with one hand on the rail, and looked up at
the dark room above her where the lamp should have been.</p>
<p>“Is it lit?” she asked. “Tobin, answer me.”</p>
<p>“It was,” said he, “until the oil ran out.</p>
<p>“And then the ‘keeper’ went to bed.”</p>
"""


def spans_of(body, language="en", quotes=()):
    page = PAGE.format(language=language, body=body)
    return parse_spans(page.encode(), "7", quotes, judged=False)


def test_words_are_those_of_all_blocks():
    book_spans = spans_of(STORY + '<p class="footnote">[Footnote 1: A lamp of whale oil.]</p>')
    facts = find_facts(book_spans)
    assert facts.n_words == book_spans.book.n_words == 64
    assert facts.words.to_bytes() == count_words(b.text for b in book_spans.book.blocks).to_bytes()
    whale = count_words(["whale"]).hashes[0]
    assert whale in facts.words.hashes


def test_delimiters_are_two_for_each_opening_mark_of_the_book():
    # Five openings; the nested marks are no marks of this book's speech.
    assert count_delimiters(spans_of(STORY)) == 10
    # An apostrophe is no mark.
    text = "<p>'Don't go,' said the 'keeper'.</p><p>'I won't,' said Mara.</p>" * 3
    assert count_delimiters(spans_of(text, quotes=("single-straight",))) == 2 * 9


def test_marks_around_what_is_no_speech_are_delimiters_too():
    book_spans = spans_of(STORY + "<p>Her father wrote the ballad called “The Lamp” there.</p>")
    assert [span.text for span in book_spans.spans if span.quoted] == ["“The Lamp”"]
    assert count_delimiters(book_spans) == 12


def test_a_dash_that_opens_speech_counts_for_its_end_too():
    text = "<p>—Ven aquí —dijo Ana—, que es tarde.</p><p>Nadie vino.</p>" * 4
    assert count_delimiters(spans_of(text, "es", ("dash",))) == 2 * 4


def test_delimiters_stand_in_10_000_words():
    facts = find_facts(spans_of(STORY))
    assert facts.delimiters_per_10_000_words == 10_000 * 10 / facts.n_words
    empty = BookFacts(count_words([]), 0, 0, "", 0.0)
    assert empty.delimiters_per_10_000_words == 0


def test_letters_and_verse_are_named_by_their_blocks():
    poem = "<div class='poem'><p>The lamp is out,<br>the stair is long,<br>and nobody</p></div>"
    facts = find_facts(spans_of(STORY + poem + "<p>Then nobody spoke for a long time.</p>"))
    assert facts.set_pieces == (6,)
    assert find_facts(spans_of(STORY)).set_pieces == ()


def test_the_language_is_that_of_the_paragraphs_whatever_the_file_claims():
    spanish = (
        "<p>El viejo molinero estaba junto a la ventana y miraba el patio, donde los niños jugaban "
        "con el perro desde la mañana.</p><p>—Hoy va a llover —dijo en voz baja.</p>"
    )
    book_spans = spans_of(spanish, "en", ("dash",))
    facts = find_facts(book_spans)
    assert book_spans.book.language == "en"
    assert (facts.language, facts.language_confidence) == ("es", 1.0)
    french = parse_spans((DATA / "guillemets_fr.html").read_bytes(), "clef")
    assert find_facts(french).language == "fr"


def test_verse_and_letters_show_the_language_where_there_is_no_paragraph():
    prose = spans_of(STORY)
    verse = tuple(replace(block, kind=BlockKind.VERSE) for block in prose.book.blocks)
    in_verse = replace(prose, book=replace(prose.book, blocks=verse))
    assert find_facts(in_verse).language == "en"
    assert find_facts(in_verse).set_pieces == tuple(range(len(verse)))


def test_bytes_give_the_facts_again():
    book_spans = parse_spans(SAMPLE.read_bytes(), "sample")
    sketch = np.array([1, 2**64 - 1, 7], np.uint64)
    facts = find_facts(book_spans, sketch)
    data = facts.to_bytes()
    read = BookFacts.from_bytes(data)
    assert read.to_bytes() == data == find_facts(book_spans, sketch).to_bytes()
    assert read.sketch.tolist() == sketch.tolist()
    assert (read.n_words, read.n_delimiters, read.language) == (5196, facts.n_delimiters, "en")
    assert read.words.n_distinct == facts.words.n_distinct
    assert find_facts(book_spans).sketch.tolist() == []


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda data: b"", "found b'', expected the facts of a book"),
        (lambda data: b"[]" + data[2:], "found b'[]"),
        (lambda data: b"3\n" + data, "found b'3', expected the facts of a book"),
        (lambda data: b"{}\n" + data, "found b'{}', expected the facts of a book"),
        (lambda data: data[:-1], "found facts of version 1 with "),
        (lambda data: data.replace(b'"version":1', b'"version":2'), "found facts of version 2"),
    ],
)
def test_bytes_that_are_no_facts_are_refused_in_one_line(change, message):
    data = find_facts(spans_of(STORY)).to_bytes()
    with pytest.raises(InputError) as error:
        BookFacts.from_bytes(change(data))
    assert str(error.value).startswith(message) and "\n" not in str(error.value)
