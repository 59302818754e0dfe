"""Books with quotation marks are printed anew with dashes, and what is said stays known."""

import random

import pytest

from miner.lab.training.segmentation_printing import (
    PRINTINGS,
    Printing,
    choose_printing,
    pieces_of_book,
    pieces_of_text,
    print_pages,
)
from miner.speech.read import parse_spans

PAGE = (
    "The ferryman looked at the river.",
    "“Is the boat here?” asked the woman.",
    "“No,” said Bo, “and it is late.”",
    "“It is.” She rose. “Come.”",
    "Bo said: “There is bread.”",
    "“Eat.”",
    "“The ‘Marigold’ is late,” he said.",
)


def printed(printing, *paragraphs):
    """The paragraphs in another printing, with brackets around what is said."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    spans = parse_spans(f"<html lang='en'><body>{text}</body></html>".encode(), "7")
    for page in print_pages(pieces_of_book(spans), printing, random.Random(3)):
        found = page.text
        for start, end in reversed(page.speech):
            found = f"{found[:start]}[{found[start:end]}]{found[end:]}"
        yield found


def test_only_commas_set_attributions_off():
    assert list(printed(Printing("—"), *PAGE)) == [
        "The ferryman looked at the river.",
        "[—Is the boat here?] asked the woman.",
        "[—No,] said Bo, [and it is late.]",
        "[—It is.] She rose. [Come.]",
        "Bo said: [—There is bread.]",
        "[—Eat.]",
        "[—The ‘Marigold’ is late,] he said.",
    ]


def test_dashes_close_attributions():
    assert list(printed(Printing("—", "—", "—", moves_stop=True), *PAGE[:3], PAGE[4])) == [
        "The ferryman looked at the river.",
        "[—Is the boat here?]—asked the woman.",
        "[—No]—said Bo—, [and it is late.]",
        "Bo said: [—There is bread.]",
    ]


def test_marks_enclose_a_scene():
    found = list(printed(Printing("— ", closes_scene=True), *PAGE[:3]))
    assert found == [
        "The ferryman looked at the river.",
        "[«Is the boat here?] asked the woman.",
        "[— No,] said Bo, [and it is late.»]",
    ]


def test_a_dash_may_reopen_speech():
    (found,) = printed(Printing("—", reopens=True), PAGE[3])
    assert found in ("[—It is.] She rose.[—Come.]", "[—It is.] She rose. [—Come.]")


@pytest.mark.parametrize("printing", PRINTINGS)
def test_all_that_is_said_is_kept(printing):
    said = "".join(found for found in printed(printing, *PAGE))
    for words in ("Is the boat here?", "No", "it is late.", "Come.", "There is bread.", "Eat."):
        assert words in said


def test_equal_seeds_give_equal_printings():
    first, second = (choose_printing(random.Random("7 1")) for _ in range(2))
    assert first == second


def test_pages_with_dashes_are_printed_in_other_ways():
    text = "—Ven—dijo Bo—, que es tarde. —Voy."
    said = ["—Ven", "que es tarde.", "—Voy."]
    speech = [(text.index(part), text.index(part) + len(part)) for part in said]
    pieces = pieces_of_text(text, speech)
    assert [piece.text for piece in pieces] == ["Ven,", "dijo Bo,", "que es tarde.", "Voy."]
    assert [piece.is_said for piece in pieces] == [True, False, True, True]
    (page,) = print_pages([pieces], Printing("– "), random.Random(1))
    assert page.text.startswith("– Ven, dijo Bo, que es tarde.")
    assert [page.text[start:end].strip("– ") for start, end in page.speech] == [
        *("Ven,", "que es tarde.", "Voy."),
    ]
