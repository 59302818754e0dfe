"""Which capitals are names, where each name begins and ends, and what its form is."""

from dataclasses import replace

import pytest
from characters_helpers import names_in, paragraphs_of
from helpers import cpu_seconds
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from miner.people.names import Form, Paragraph, find_names, join_spans, parse_form
from miner.speech.read import parse_spans


def test_a_name_has_a_capital_inside_sentences():
    assert names_in("The ferry left. Then Mara waved, and Tobin with her.") == ["Mara", "Tobin"]


def test_a_name_that_heads_a_speech_says_it():
    (paragraph,) = paragraphs_of("MARA (to Tobin). “Come.”")
    names = find_names(
        [replace(paragraph, head="MARA"), *paragraphs_of("“Well, Mara!” She met Tobin.")]
    )
    assert [name.says for name in names] == [True, False, False, False]


def test_a_word_that_also_stands_in_small_letters_needs_more_capitals():
    small = "We will, she will, they will, you will go. "
    assert names_in(small * 9 + "Then Will sat.") == []
    assert names_in(small * 9 + "Then Will sat. " * 15) == ["Will"] * 15


@pytest.mark.parametrize(
    "text, form",
    [
        ("Mr. Otway", (("mr",), ("Otway",))),
        ("Mary King", ((), ("Mary", "King"))),
        ("Mr. King", (("mr",), ("King",))),
        ("Capt. Otway", (("captain",), ("Otway",))),
        ("Poor Little Nan", (("poor", "little"), ("Nan",))),
        ("St. John Otway", ((), ("St. John", "Otway"))),
        ("Charles de la Mare", ((), ("Charles", "de", "la", "Mare"))),
        ("Madame de Brie", (("madame",), ("Brie",))),
        ("Duke of Arden", (("duke",), ("of Arden",))),
        ("R. Otway", ((), ("R.", "Otway"))),
        ("Mara D. Otway", ((), ("Mara", "D.", "Otway"))),
        ("M'Carthy", ((), ("M’Carthy",))),
        ("Captain", (("captain",), ())),
        ("M. le Comte", (("monsieur", "comte"), ())),
        ("d’Artan", ((), ("d’Artan",))),
    ],
)
def test_a_form_is_the_titles_and_the_words(text, form):
    (name,) = find_names(paragraphs_of(f"They saw {text} there, and {text}.")[:1])[:1]
    assert name.form == Form(*form)
    assert parse_form(text) == Form(*form)


def test_a_possessive_is_no_part_of_the_name():
    assert names_in("It was Mara’s boat, and Mara'll row.") == ["Mara", "Mara"]


def test_words_in_capitals_are_written_as_elsewhere():
    forms = [name.form.words for name in find_names(paragraphs_of("TOBIN ran. Then Tobin sat."))]
    assert forms == [("Tobin",), ("Tobin",)]


def test_the_first_word_of_a_sentence_joins_no_name():
    assert names_in("Presently Mara sat.") == ["Mara"]
    assert names_in("Old Nan Mara sat. Nan Mara rose.")[0] == "Old Nan Mara"


def test_a_title_may_stand_alone_but_not_one_that_says_no_rank():
    assert names_in("They asked the Captain. Poor Mr. said the sign. She saw Old there.") == [
        "Captain"
    ]


def test_headings_and_long_runs_have_no_names():
    heading = Paragraph(0, 1, "How Mara Met Tobin", (), (), True)
    assert find_names((heading,)) == ()
    assert names_in("They read Mara Tobin Nan Bess Otway Dell Hob there.") == []


def test_a_name_knows_whether_it_is_said():
    paragraphs = paragraphs_of("“Yes, Mara,” said Tobin. “Mara!”", "Tobin sat.")
    assert [(name.paragraph, name.in_speech) for name in find_names(paragraphs)] == [
        (0, True),
        (0, False),
        (0, True),
        (1, False),
    ]


WORDS = st.sampled_from(
    "Mara Tobin Mr. Mrs Captain de la of the sat. said “ ” ’s O’Dell I. R. TOM A, St. Old".split()
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # where the machine is busy
@given(st.lists(WORDS, max_size=30))
@example("Mara Mr. de Mr. Mrs".split())
def test_names_are_in_order_and_can_be_read_back(words):
    text = " ".join(words)
    last = 0
    for name in find_names(paragraphs_of(text)):
        assert last <= name.start < name.end
        last = name.end
        assert name.form.titles or name.form.words
        printed = text[name.start : name.end]
        if not printed.isupper() and "TOM" not in printed:
            assert parse_form(printed) == name.form


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "Mara " * 20_000,
        "Mr. " * 20_000,
        "A-" * 20_000,
        "O’" * 20_000,
        "Mara" + " " * 200_000 + "b " * 9,
        "“Mara,” she. " * 10_000,
    ],
    ids=["names", "titles", "hyphens", "apostrophes", "spaces", "speech"],
)
def test_a_page_of_a_machine_takes_no_longer(text):
    paragraphs = paragraphs_of(text)
    assert cpu_seconds(lambda: find_names(paragraphs), 3) < 3


def test_a_quality_may_be_a_surname():
    texts = ["We saw Good, and then Good saw Captain Good."] * 6
    assert set(names_in(*texts)) == {"Good", "Captain Good"}
    assert names_in("We saw Good, and a good man.") == []
    assert names_in("There sat Good Mara.", "There sat Mara.") == ["Good Mara", "Mara"]


PAGE = """<html lang="en"><body><h2>Chapter I</h2>
<p>“Is the kettle on?” asked Mara. “It is late.”</p>
<p>Tobin nodded.</p></body></html>"""


def test_paragraphs_are_the_blocks_with_the_places_of_their_speech():
    found = parse_spans(PAGE.encode(), "0")
    heading, first, second = join_spans(found)
    assert [heading.is_heading, first.is_heading, second.is_heading] == [True, False, False]
    assert second.text == "Tobin nodded."
    assert second.utterances == second.spans == ()
    said = [first.text[start:end] for start, end in first.utterances]
    assert said == ["“Is the kettle on?”", "“It is late.”"]
    assert [found.spans[number].text for number in first.spans] == said
    assert {paragraph.chapter for paragraph in (first, second)} == {found.spans[-1].chapter}
    assert [paragraph.index for paragraph in (heading, first, second)] == [0, 1, 2]


def test_narration_keeps_its_places():
    first = join_spans(parse_spans(PAGE.encode(), "0"))[1]
    assert first.narration.split() == ["asked", "Mara."]
    assert len(first.narration) == len(first.text)
    assert first.narration.index("asked") == first.text.index("asked")


def test_places_count_from_the_first_span_that_is_there():
    found = parse_spans(PAGE.encode(), "0")
    left = [span for span in found.spans if span.paragraph != 1 or span.index > 0]
    first = join_spans(replace(found, spans=tuple(left)))[1]
    assert first.text == " asked Mara. “It is late.”"
    assert first.text[slice(*first.utterances[0])] == "“It is late.”"
