"""Annotated books that `read` cannot give: left out, counted and named; the rest is scored."""

from dataclasses import replace

import pytest
from helpers import ANNOTATIONS, SAMPLE, annotations_of_two

import miner
from miner.annotation.annotations import read_split
from miner.errors import InputError
from miner.lab.gold.editions import (
    Coverage,
    LeftOutBook,
    note_of_few,
    read_editions,
    read_editions_at_hand,
)
from miner.lab.measure.compare import sweep_gaps
from miner.lab.measure.confidence import judge_mined_pairs
from miner.tagger.load import load_tagger

GAP = load_tagger("gap")
COVERAGE = Coverage("chapters", 7, (LeftOutBook("7", "no such page", 2),))
NOTE = "figures are of 5 of 7 chapters: 1 book not at hand (7)"


def read(id: str) -> bytes:
    if id == "7":
        raise InputError("7: no such page")
    return SAMPLE.read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return annotations_of_two(tmp_path_factory.mktemp("gold") / "annotations")


def test_a_comparison_is_of_the_rest_and_says_so(folder):
    found = miner.compare(str(folder), [("gap", GAP)], "sample", read=read, resamples=5)
    whole = miner.compare(ANNOTATIONS, [("gap", GAP)], "sample", read=read, resamples=5)
    assert (found.coverage, found.notes) == (COVERAGE, (NOTE, *note_of_few({"": 5})))
    assert found.to_json()["coverage"] == {
        "unit": "chapters",
        "all": 7,
        "left_out": 2,
        "books_left_out": [{"book": "7", "why": "no such page"}],
    }
    for scores, of_whole in (
        (found.rows[0].scores, whole.rows[0].scores),
        (found.rows[0].from_book, whole.rows[0].from_book),
    ):
        assert scores.total == of_whole.total
        assert "|chapters:5 of 7|" in scores.signature
        assert "|chapters:5|" in of_whole.signature
    assert whole.coverage is not None and whole.notes == whole.coverage.notes == found.notes[1:]


def test_a_sweep_and_judged_pairs_are_of_the_rest(folder):
    books = read_split(folder, "sample")
    swept = sweep_gaps(books, read, [(150, GAP)], split="sample", resamples=0)
    assert swept.coverage == COVERAGE
    assert "|chapters:5 of 7|" in next(iter(swept.gaps.values())).signature
    judged = judge_mined_pairs(books, read, GAP)
    assert judged.coverage == COVERAGE
    assert {book for book, _ in judged.pairs.n_gold} == {"sample"}


def test_without_any_book_nothing_is_scored(folder):
    def closed(id: str) -> bytes:
        raise OSError(13, "Permission denied", f"{id}-h.htm")

    books = read_split(folder, "sample")
    wanted = "found none of 2 annotated books, expected one; sample: "
    for fail in (
        lambda: miner.compare(folder, [("gap", GAP)], "sample", read=closed),
        lambda: sweep_gaps(books, closed, [], split="sample"),
        lambda: judge_mined_pairs(books, closed, GAP),
        lambda: read_editions_at_hand(books, closed),
    ):
        with pytest.raises(InputError, match=f"^{wanted}.*Permission denied.*sample-h.htm"):
            fail()
    assert read_editions_at_hand([], closed) == ([], Coverage("chapters", 0, ()))


def test_a_book_that_cannot_be_given_is_an_error_unless_asked(folder):
    """A model is not trained on less than it was to be."""
    with pytest.raises(InputError, match="^7: no such page$"):
        list(read_editions(read_split(folder, "sample"), read))


def test_a_book_at_hand_with_another_text_is_still_an_error(folder):
    def other(id: str) -> bytes:
        return SAMPLE.read_bytes() if id == "sample" else b"<p>\xe2\x80\x9cNo.\xe2\x80\x9d</p>"

    with pytest.raises(InputError, match=r"^7, chapter 1: found 0 of \d+ annotated utterances"):
        miner.compare(folder, [("gap", GAP)], "sample", read=other)


def test_books_of_test_are_not_swept_unless_asked(folder):
    def closed(id: str) -> bytes:
        raise AssertionError(f"opened {id}")

    one, other = read_split(folder, "sample")
    books = (one, replace(other, card=replace(other.card, split="test")))
    with pytest.raises(InputError, match="^found 1 books of test, expected"):
        sweep_gaps(books, closed, [], split="all")
    with pytest.raises(AssertionError, match="^opened sample$"):
        sweep_gaps(books, closed, [], split="all", on_test=True)
