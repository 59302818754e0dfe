"""Examples from the MCN labels, weak labels, and the digest of examples."""

from dataclasses import replace

import numpy as np
import pytest
from annotation_helpers import MCN_ROWS, write_mcn
from encoders import sample
from helpers import MCN, needs_mcn

from heuristic.gap import GapTagger
from miner.errors import InputError
from miner.lab.training.tagger.training_data import (
    digest_examples,
    examples_from_tagger,
    read_examples,
)
from miner.speech.tags import TAGS, Tag


def no_book(book):
    raise AssertionError(f"read {book}")


def mcn_folder(folder, rows):
    """A folder of the MCN project whose four files have the same labels."""
    names = ("para_index", "sent", "label", "split_tag")
    for stem in ("gold-v1", "gold-v2", "heuristic-predictions"):
        write_mcn(folder / f"{stem}.csv", rows, names)
    test = [row for row in rows if row[3] == "test"]
    write_mcn(folder / "model-predictions-test.csv", test, ("para_index", "para", "pred_label"))
    return folder


def tags_of(example):
    return [TAGS[n] for n in example.tags]


def test_chapters_of_a_split_of_mcn(tmp_path):
    folder = mcn_folder(tmp_path, MCN_ROWS)
    train, test = (read_examples(folder, split, no_book) for split in ("train", "test"))
    (example,) = train.examples
    assert tags_of(example) == [Tag.B_START, Tag.I_START, Tag.B_OTHER]
    texts = [p.text[a:b] for p in example.chapter.paragraphs for a, b in p.utterances]
    assert texts == ["“Who is there?”", "“Answer me.”", "“A friend,”"]
    (example,) = test.examples
    assert (example.chapter.number, tags_of(example)) == (2, [Tag.B_START, Tag.B_OTHER])
    assert [item.span for item in test.gold[0].spans] == list(test.book_spans[0].spans)


def test_a_conversation_opens_again_in_the_next_chapter(tmp_path):
    rows = [
        ("0", "Chapter 1", "O", "train"),
        ("1", '"Who is there?"', "B-START", "train"),
        ("2", "Chapter 2", "O", "train"),
        ("3", '"A friend,"', "B-OTHER", "train"),
        ("3", " said the other.", "O", "train"),
        ("3", '"Let me in."', "I-OTHER", "train"),
        ("4", '"Come in."', "B-OTHER", "train"),
        ("4", '"It rains."', "I-OTHER", "train"),
        ("5", "Chapter 3", "O", "test"),
        ("6", '"Well?"', "B-START", "test"),
    ]
    examples = read_examples(mcn_folder(tmp_path, rows), "train", no_book)
    assert [tags_of(example) for example in examples.examples] == [
        [Tag.B_START],
        [Tag.B_START, Tag.I_START, Tag.B_OTHER, Tag.I_OTHER],
    ]
    assert [item.tag for item in examples.gold[0].spans if item.tag is not Tag.O] == [
        Tag.B_START,
        Tag.B_OTHER,
        Tag.I_OTHER,
        Tag.B_OTHER,
        Tag.I_OTHER,
    ]


def test_a_split_that_mcn_lacks(tmp_path):
    with pytest.raises(InputError, match="found no split 'dev', expected one of"):
        read_examples(mcn_folder(tmp_path, MCN_ROWS), "dev", no_book)


@pytest.mark.slow
@needs_mcn
def test_the_numbers_of_utterances_of_mcn():
    sizes = {
        split: sum(len(example.tags) for example in read_examples(MCN, split, no_book).examples)
        for split in ("train", "validation", "test")
    }
    assert sizes == {"train": 1404, "validation": 161, "test": 175}


def test_a_digest_changes_with_a_speaker():
    example, *_ = examples_from_tagger(sample(), GapTagger(150))
    other = replace(example, speakers=np.arange(len(example.speakers)))
    assert (
        digest_examples([replace(example)])
        == digest_examples([example])
        != digest_examples([other])
    )


def test_a_digest_changes_with_a_tag(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    other = [*MCN_ROWS[:3], ("4", '"Answer me."', "B-OTHER", "train"), *MCN_ROWS[4:]]
    found = [
        digest_examples(read_examples(mcn_folder(tmp_path / name, rows), "train", no_book).examples)
        for name, rows in (("a", MCN_ROWS), ("b", other))
    ]
    assert found[0] != found[1]
    assert len(found[0]) == 8
