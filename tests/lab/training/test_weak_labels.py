"""Weak labels: the tags of a tagger on whole books, without those that the annotations judge by."""

import shutil

import pytest
from encoders import sample
from helpers import DATA, ROOT, SAMPLE, annotations_of_sample

from heuristic.gap import GapTagger
from miner.books.sources import find_sources
from miner.errors import InputError
from miner.lab.training.tagger.training_data import (
    examples_from_tagger,
    find_held_out_books,
    tag_weakly,
)


def sources_of(*words):
    sources, missing = find_sources([str(word) for word in words])
    assert not missing
    return sources


def test_weak_labels_are_the_tags_of_the_tagger():
    found = tag_weakly(sources_of("sample"), GapTagger(300), {}, pytest.fail)
    expected = examples_from_tagger(sample(), GapTagger(300))
    assert [item.tags.tolist() for item in found] == [item.tags.tolist() for item in expected]


def test_books_that_the_annotations_judge_by_are_left_out(tmp_path):
    for name in ("155-h.htm", "24-h.htm", "7-h.htm", "pg24-images.html"):
        shutil.copy(SAMPLE, tmp_path / name)
    shutil.copy(DATA / "play.html", tmp_path)
    lines = []
    held_out = find_held_out_books(ROOT / "annotations")
    found = tag_weakly(sources_of(tmp_path), GapTagger(), held_out, lines.append)
    assert {item.chapter.book for item in found} == {"7"}
    assert lines[:3] == [
        "155: left out, since it is of split test",
        "24: left out, since it is of split dev",
        "pg24-images: left out, since it is of split dev",
    ]
    assert len(lines) == 4 and lines[3].startswith("play: left out, a play: ")


def test_books_are_left_out_on_request(tmp_path):
    gold = annotations_of_sample(tmp_path / "gold")
    assert find_held_out_books(gold) == {}
    held_out = find_held_out_books(gold, ["sample"])
    assert held_out == {"sample": "as was asked"}
    lines = []
    with pytest.raises(InputError) as error:
        tag_weakly(sources_of("sample"), GapTagger(), held_out, lines.append)
    assert str(error.value) == "found no book for weak labels but those left out"
    assert lines == ["sample: left out, as was asked"]


def test_a_folder_that_holds_no_annotations_holds_out_nothing(tmp_path):
    assert find_held_out_books(tmp_path) == {}
