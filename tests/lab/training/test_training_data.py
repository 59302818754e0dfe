"""The chapters that each epoch reads of several languages, and the books that choose the epoch."""

from functools import cache

import pytest
from helpers import ANNOTATIONS, SAMPLE, annotations_of_two
from models_helpers import read_sample

from miner.errors import InputError
from miner.files import json_line, json_rows, read_text
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import (
    AugmentedChapters,
    BalancedChapters,
    read_examples,
    read_training_data,
)


@cache
def examples():
    return read_examples(ANNOTATIONS, "sample", read_sample).examples


def balanced(languages, power, size, share=0.0, seed=0):
    """Chapters of the sample, over and over, in these languages."""
    some = tuple(examples()[n % len(examples())] for n in range(len(languages)))
    return BalancedChapters(AugmentedChapters(some, share, seed), languages, power, size, seed)


def test_languages_with_few_chapters_count_for_more():
    languages = ("en",) * 90 + ("de",) * 10
    assert balanced(languages, 1.0, 50).counts == {"de": 5, "en": 45}
    assert balanced(languages, 0.5, 40).counts == {"de": 10, "en": 30}
    assert balanced(languages, 0.0, 40).counts == {"de": 20, "en": 20}
    assert len(balanced(languages, 0.3, 41).version(2)) == 41


def test_all_chapters_of_a_language_come_before_any_comes_again():
    chapters = balanced(("en",) * 4 + ("de",), 0.0, 4)
    epochs = [[item.chapter.number for item in chapters.version(n)] for n in range(4)]
    english = [number for numbers in epochs for number in numbers[2:]]
    assert set(english[:4]) == set(english[4:]) == {item.chapter.number for item in examples()[:4]}
    assert {number for numbers in epochs for number in numbers[:2]} == {
        examples()[4].chapter.number
    }
    others = balanced(("en",) * 4 + ("de",), 0.0, 4, seed=1)
    assert epochs != [[item.chapter.number for item in others.version(n)] for n in range(4)]


def test_a_chapter_that_comes_again_in_an_epoch_is_split_at_other_places():
    chapters = balanced(("en", "de"), 0.0, 12, share=0.5)
    again = chapters.version(0)[:6]
    assert len({item.chapter.number for item in again}) == 1
    assert len({tuple(part.text for part in item.chapter.paragraphs) for item in again}) > 1


@pytest.fixture
def two(tmp_path):
    """Annotations of an English book of train and a Dutch one, and how a run reads them."""
    gold = annotations_of_two(tmp_path)
    path = gold / "books.jsonl"
    rows = [row for _, row in json_rows(path, read_text(path))]
    rows[0] |= {"split": "dev"}
    rows[1] |= {"split": "train", "language": "nl", "author": "another"}
    third = rows[1] | {"book": "8", "author": "a third", "language": "en"}
    text = read_text(gold / "gold" / "7.jsonl").replace('"book": "7"', '"book": "8"')
    (gold / "gold" / "8.jsonl").write_text(text, encoding="utf-8")
    path.write_bytes(b"".join(map(json_line, [*rows, third])))
    books = tmp_path / "books"
    books.mkdir()
    for name in ("sample.html", "7-h.htm", "8-h.htm"):
        (books / name).write_bytes(SAMPLE.read_bytes())

    def read(**choices):
        config = TrainingConfig(gold=gold, books=books, **choices)
        return read_training_data(config, str, lambda items, name: items)

    return read


def books_of(chapters):
    return {item.chapter.book for item in chapters}


def test_a_run_reads_the_languages_that_it_is_told(two):
    data = two(language="en")
    assert books_of(data.gold.version(0)) == {"8"}
    data = two(language="en,nl", balance=0.0, epoch_chapters=6)
    assert data.gold.counts == {"en": 3, "nl": 3}
    assert books_of(data.gold.version(0)) == {"7", "8"}


def test_books_move_from_train_to_dev(two):
    data = two(language="en,nl", dev_language="en", dev_book=("7",))
    assert books_of(data.gold.version(0)) == {"8"}
    assert books_of(data.splits["dev"].examples) == {"sample", "7"}
    assert [book.book for book in data.splits["dev"].gold] == ["sample", "7"]
    assert data.record["books of dev"] == "7"


def test_the_chapters_of_an_epoch_need_a_balance():
    with pytest.raises(InputError, match="found `epoch_chapters=` without `balance=`"):
        TrainingConfig(epoch_chapters=3)
