"""From the bytes of a file to its spans, and the files that are refused."""

import pytest
from helpers import DATA, SAMPLE

from miner.errors import InputError
from miner.speech.read import parse_spans


def test_the_spans_of_a_file_know_their_book_and_typography():
    found = parse_spans(SAMPLE.read_bytes(), "sample")
    assert found.book.id == "sample" and found.typography is not None
    assert [mark.name for mark in found.typography.marks] == ["double-curly"]
    assert sum(span.is_utterance for span in found.spans) == 181


def test_marks_may_be_given_instead_of_inferred():
    page = b"<html><body><p>'Go,' said Ann.</p><p>\"Stay,\" said Bo.</p></body></html>"
    found = parse_spans(page, "7", ["single-straight"])
    assert [span.text for span in found.spans if span.is_utterance] == ["'Go,'"]


def test_a_book_in_a_language_without_a_file_is_refused_unless_its_marks_are_named():
    speech = "„Kde je loď?“ zeptala se žena s husami, když stála na břehu a nikdo na ni nečekal."
    page = f"<html lang='cs'><body><p>{speech}</p></body></html>".encode()
    with pytest.raises(InputError, match=r"^found Czech, expected one of ca, da, de, .*`quotes=`"):
        parse_spans(page, "7")
    found = parse_spans(page, "7", ["low-high"])
    assert [span.text for span in found.spans if span.is_utterance] == ["„Kde je loď?“"]


PLAYS = {
    "names before the lines": ["ANN. Where is the boat?", "BO. Gone.", "ANN. And the geese?"],
    "names above the lines": ["Ann", "Where is the boat?", "Bo (rising)", "Gone.", "Ann", "And?"],
}


@pytest.mark.parametrize("name", PLAYS)
def test_a_play_says_so_even_if_some_of_it_is_quoted(name):
    lines = PLAYS[name] * 4 + ["He reads: “Come home,” and sighs."]
    page = "".join(f"<p>{line}</p>" for line in lines)
    with pytest.raises(InputError, match=r"^a play: .* plays are not mined$"):
        parse_spans(f"<html><body>{page}</body></html>".encode(), "7")


def test_a_novel_with_repeated_short_paragraphs_is_no_play():
    lines = ["“Where is the boat?”", "“Gone.”", "Silence.", "“And the geese?” said Ann."] * 4
    page = "".join(f"<p>{line}</p>" for line in lines)
    found = parse_spans(f"<html><body>{page}</body></html>".encode(), "7")
    assert sum(span.is_utterance for span in found.spans) == 12


@pytest.mark.parametrize(
    ("file", "reason"),
    [("play.html", "a play: "), ("no_dialogue.html", "no dialogue: found no speech")],
)
def test_a_book_without_dialogue_is_refused(file, reason):
    with pytest.raises(InputError, match=f"^{reason}"):
        parse_spans((DATA / file).read_bytes(), "7")
