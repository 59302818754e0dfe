"""Taggers that a package registers by an entry point, ours and another's."""

import sys

import pytest
from encoders import told

from miner.errors import InputError
from miner.tagger.load import find_registered_taggers, load_tagger, tagger_label

MODULE = '''
from dataclasses import dataclass

from miner.speech.tags import Tag, TaggedSpan


@dataclass(frozen=True)
class EverySpan:
    """Begins a conversation with every utterance."""

    word: str = "plain"

    @property
    def label(self):
        return f"every span, {self.word}"

    def tag(self, book_spans):
        return [
            TaggedSpan(span, Tag.B_START if span.is_utterance else Tag.O)
            for span in book_spans.spans
        ]
'''


@pytest.fixture
def other_package(tmp_path, monkeypatch):
    """An installed package that registers the tagger `every-span`."""
    (tmp_path / "every_span.py").write_text(MODULE)
    info = tmp_path / "every_span-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: every-span\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[miner.taggers]\nevery-span = every_span:EverySpan\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "every-span"
    sys.modules.pop("every_span", None)


def test_the_taggers_of_this_project_are_registered():
    assert {"gap", "gd", "narration", "tuned-gap"} <= set(find_registered_taggers())
    assert tagger_label("gap") == "gap 150"
    assert tagger_label("gap:90") == "gap 90"
    assert load_tagger("tuned-gap") != load_tagger("gap")


def test_a_tagger_of_another_package_is_found_by_its_name(other_package):
    assert other_package in find_registered_taggers()
    spans = told(["“Is the lamp lit?” asked Mara.", "“It was,” said Tobin, “until now.”"])
    tags = [str(item.tag) for item in load_tagger(other_package).tag(spans)]
    assert tags.count("B-START") == 3 and set(tags) == {"B-START", "O"}
    assert tagger_label("every-span:loud") == "every span, loud"


def test_a_name_that_no_package_registers_is_refused():
    with pytest.raises(InputError, match="no tagger 'every-span': expected one of auto, gap"):
        load_tagger("every-span")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gap:wide", "found a gap of 'wide', expected a number of characters, as in gap:300"),
        ("narration:3", "found '3', expected narration alone"),
    ],
)
def test_an_argument_that_a_tagger_does_not_take_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        load_tagger(name)
