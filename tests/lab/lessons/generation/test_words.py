"""Words as GD has them: lower case, contractions, stops of sentences; n-grams of them."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.lab.lessons.generation.metrics import (
    count_n_grams,
    n_grams,
    nltk_version,
    share_counts,
    split_words,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The lamp is lit.", "the lamp is lit ."),
        ("I can't. I won't!", "i ca n't . i wo n't !"),
        ("I can’t. I won’t!", "i ca n't . i wo n't !"),
        ("“Well,” said she; isn't it?", "`` well , '' said she ; is n't it ?"),
        ("He met Mr. Otway and Dr. Hale. Both ran.",
         "he met mr. otway and dr. hale . both ran ."),
        ("It is St. Ives, Col. Hay. So?", "it is st. ives , col. hay . so ?"),
        ("J. S. Hale came at 3.50 sharp.", "j. s. hale came at 3.50 sharp ."),
        ("Well—no… Yes -- no.", "well -- no ... yes -- no ."),
        ("L’homme d’ailleurs.", "l'homme d'ailleurs ."),
        ("", ""),
        (" \n ", ""),
    ],
)  # fmt: skip
def test_words_are_those_of_gd(text, words):
    assert split_words(text) == words.split()


@given(st.text(alphabet="abMr.’'“”—… !?\n", max_size=40))
def test_no_letter_is_lost_and_none_is_large(text):
    joined = "".join(split_words(text))
    letters = [c for c in text.lower() if c.isalpha()]
    assert [c for c in joined if c.isalpha()] == letters and joined == joined.lower()


def test_words_do_not_depend_on_data_of_nltk_on_the_computer(tmp_path):
    code = (
        "import nltk\nnltk.data.path[:] = []\n"
        "from miner.lab.lessons.generation.metrics import split_words\n"
        "print(*split_words('Mr. Otway left. Who knows why?'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout == "mr. otway left . who knows why ?\n"


def test_without_nltk_the_extra_is_named():
    code = (
        "import sys\nsys.modules['nltk'] = None\n"
        "from miner.lab.lessons.generation.metrics import split_words\n"
        "try:\n    split_words('a')\nexcept ValueError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("found no nltk") and "the extra generation" in done.stdout
    assert nltk_version()[0].isdigit()


def test_n_grams_are_counted_within_a_text():
    assert list(n_grams(["a"], 2)) == []
    counts = count_n_grams([["a", "b", "a", "b"], ["b"]], 2)
    assert counts == {("a", "b"): 2, ("b", "a"): 1}
    assert share_counts(counts) == {("a", "b"): 2 / 3, ("b", "a"): 1 / 3}
    assert share_counts({}) == {}
