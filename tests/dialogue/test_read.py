"""From the bytes of a file to its spans, and the files that are refused."""

import pytest
from helpers import DATA, SAMPLE

from miner.dialogue.read import parse_spans


def test_the_spans_of_a_file_know_their_book_and_typography():
    found = parse_spans(SAMPLE.read_bytes(), "sample")
    assert found.book.id == "sample" and found.typography is not None
    assert [mark.name for mark in found.typography.marks] == ["double-curly"]
    assert sum(span.is_utterance for span in found.spans) == 180


def test_marks_may_be_given_instead_of_inferred():
    page = b"<html><body><p>'Go,' said Ann.</p><p>\"Stay,\" said Bo.</p></body></html>"
    found = parse_spans(page, "7", ["single-straight"])
    assert [span.text for span in found.spans if span.is_utterance] == ["'Go,'"]


@pytest.mark.parametrize(
    ("file", "reason"),
    [("play.html", "a play: "), ("no_dialogue.html", "no dialogue: found no speech")],
)
def test_a_book_without_dialogue_is_refused(file, reason):
    with pytest.raises(ValueError, match=f"^{reason}"):
        parse_spans((DATA / file).read_bytes(), "7")
