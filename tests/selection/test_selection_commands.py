"""The commands `miner selection`: what they write and show, and what they refuse."""

import json
import re
import subprocess
import sys

import pytest
from build_helpers import recipe_of
from helpers import ANNOTATIONS, failed, run, said
from shelf import write_shelf

from miner.corpus.build import build_corpus
from miner.selection.methods import describe_methods
from miner.selection.sources import read_examples


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A corpus of novels whose test split has more than a batch of pairs."""
    folder = tmp_path_factory.mktemp("corpus")
    recipe = recipe_of(folder, write_shelf(folder / "books", 18), "text = {}\n")
    recipe.write_text(
        recipe.read_text("utf-8").replace("= 60", "= 40").replace("= 20\n", "= 30\n"), "utf-8"
    )
    build_corpus(recipe, folder / "corpus")
    for split in ("train", "validation", "test"):
        assert len(read_examples(folder / "corpus", split)) >= 100
    return folder / "corpus"


@pytest.fixture(scope="module")
def tfidf(corpus):
    """TF-IDF of the training split."""
    out = corpus.parent / "tfidf"
    said("selection", "train", "tf-idf", corpus, "-o", out, "-q")
    return out


def test_a_method_is_trained_into_a_folder(corpus, tmp_path):
    out = tmp_path / "method"
    words = ("selection", "train", "tf-idf", corpus, "-o", out, "--validation", corpus)
    lines = said(*words, "--history-turns", "all").splitlines()
    examples, judged = (read_examples(corpus, split) for split in ("train", "validation"))
    books = {one.book for one in examples}
    assert lines[0].startswith(
        f"tf-idf learned from {len(examples):,} pairs of {len(books)} books in "
    )
    assert re.search(r" s, [\d,.]+ pairs a second$", lines[0])
    assert lines[1] == "  corpus/jsonl/pairs, train"
    assert re.fullmatch(
        rf"1-of-100 0\.\d+ after {len(examples):,} pairs, on {len(judged):,} pairs of \d+ books?",
        lines[2],
    )
    assert lines[3:] == ["  corpus/jsonl/pairs, validation", f"wrote {out}"]
    record = json.loads((out / "method.json").read_bytes())
    assert set(record["train"]["books"]) == books and record["history_turns"] is None
    assert not (tmp_path / "method.partial").exists()


def test_json_has_the_record_and_the_curve(corpus, tmp_path):
    words = ("selection", "train", "tf-idf", corpus, "-o", tmp_path / "m", "--most-pairs", 50)
    shown = json.loads(said(*words, "--seed", 5, "--json"))
    assert (shown["record"]["method"], shown["record"]["seed"]) == ("tf-idf", 5)
    n = len(read_examples(corpus, "train"))
    assert shown["record"]["train"]["chosen"] == [f"50 of {n} pairs drawn with seed 5"]
    (step,) = shown["curve"]
    assert (step["n_pairs"], step["accuracy"]) == (50, None) and step["seconds"] > 0


def test_books_of_another_source_are_left_out(corpus, tmp_path):
    out = tmp_path / "method"
    said(
        *("selection", "train", "tf-idf", corpus, "--split", "all", "-o", out, "-q"),
        *("--without-books-of", f"{corpus}:test", "--without-books-of", f"{corpus}:validation"),
    )
    record = json.loads((out / "method.json").read_bytes())
    assert set(record["train"]["books"]) == {one.book for one in read_examples(corpus, "train")}
    assert [note.partition(" of ")[2] for note in record["train"]["chosen"]] == [
        "corpus:test",
        "corpus:validation",
    ]


def test_an_annotated_book_is_learned_from(tmp_path):
    words = ("selection", "train", "tf-idf", f"{ANNOTATIONS}:sample", "-o", tmp_path / "m")
    lines = said(*words).splitlines()
    assert lines[0].startswith("tf-idf learned from 106 pairs of 1 book in ")
    assert lines[1] == "  annotations, sample"


def test_the_method_must_not_exist_unless_it_is_replaced(corpus, tfidf):
    words = ("selection", "train", "tf-idf", corpus, "-o", tfidf)
    assert failed(*words).startswith(f"{tfidf}: exists already, expected a new name")
    assert run(*words, "--force").exit_code == 0


def test_the_help_of_training_lists_the_methods_and_imports_none():
    code = (
        "import sys\nfrom miner.app.cli.main import main\n"
        "main(['selection', 'train', '--help'], prog_name='miner', standalone_mode=False)\n"
        "print([name for name in sys.modules if name.startswith('miner.selection.methods.')])\n"
        "print([name for name in ('torch', 'numpy', 'sklearn', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    *shown, methods, heavy = done.stdout.splitlines()
    assert (methods, heavy, done.stderr) == ("[]", "[]", "")
    text = " ".join(" ".join(shown).split())
    for name, about in describe_methods().items():
        assert f" {name} {about}" in text


def test_the_help_of_a_method_has_its_options():
    text = " ".join(said("selection", "train", "bm25", "--help").split())
    assert "--k1 " in text and "--b " in text and "--most-pairs N" in text


def pairs(tmp_path, n, response="Yes number {}.", book="", name="pairs.csv"):
    """A file of n pairs of a user."""
    rows = "".join(f"{book},Is this {i}?,{response.format(i)}\n" for i in range(n))
    path = tmp_path / name
    path.write_text(f"book,context,response\n{rows}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("telepathy", "CORPUS"), "found method 'telepathy', expected "),
        (("tf-idf", "none"), "none: No such file or directory"),
        (("tf-idf", "CORPUS", "--split", "dev"), "CORPUS: found no split 'dev', expected train, "),
        (("tf-idf", "CORPUS/text", "--without-books-of", "CORPUS:test"),
         "text/dialogues.txt, train: found * pairs that name no book, expected a book of each"),
        (("tf-idf", "CORPUS:test", "--validation", "CORPUS:test"),
         "corpus/jsonl/pairs, test: found * books that the method was trained on (*"),
        (("tf-idf", "CORPUS", "--validation", "FEW"),
         "pairs.csv: found 99 examples, expected at least 100, as a batch has"),
        (("tf-idf", "EMPTY"),
         "EMPTY: found none of 3 with a text on each side, expected pairs of a context and"),
    ],
)  # fmt: skip
def test_a_bad_training_is_refused_in_one_line(corpus, tmp_path, words, message):
    places = {
        "CORPUS": str(corpus),
        "FEW": str(pairs(tmp_path, 99)),
        "EMPTY": str(pairs(tmp_path, 3, "", name="empty.csv")),
    }
    for name, place in places.items():
        words = [word.replace(name, place) for word in words]
        message = message.replace(name, place)
    line = failed("selection", "train", *words, "-o", tmp_path / "out")
    start, _, rest = message.partition("*")
    assert line.startswith(start) and rest.partition("*")[0] in line
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.partial").exists()
