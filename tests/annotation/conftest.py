"""Fixtures of the tests of annotations."""

import shutil

import pytest
from annotation_helpers import ANSWER, SPLITS, TALK, sample_edition, write_folder
from helpers import ANNOTATIONS


@pytest.fixture(scope="module")
def sample():
    return sample_edition()


@pytest.fixture
def copied(tmp_path):
    """The sample's annotations in a folder of their own."""
    folder = tmp_path / "annotations"
    for name in ("gold", "first", "second"):
        (folder / name).mkdir(parents=True)
        shutil.copy(ANNOTATIONS / name / "sample.jsonl", folder / name)
    lines = (ANNOTATIONS / "books.jsonl").read_text(encoding="utf-8").splitlines()
    (card,) = [line for line in lines if '"split":"sample"' in line]
    (folder / "books.jsonl").write_text(card + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def tiny(tmp_path):
    cards = {"11": SPLITS["train"], "12": SPLITS["dev"], "13": {"split": "sample"}}
    books = {"11": TALK, "12": ANSWER, "13": TALK}
    readings = {"11": TALK[8:]}
    return write_folder(tmp_path / "tiny", cards, gold=books, first=readings, second=readings)
