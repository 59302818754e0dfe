"""The commands `miner selection`: what they write and show, and what they refuse."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from build_helpers import recipe_of
from helpers import ANNOTATIONS, failed, run, said
from shelf import write_shelf

from miner.corpus.build import build_corpus
from miner.lab.lessons.selection.methods import describe_methods
from miner.lab.lessons.sources import read_source


def read_examples(source, split=None, role="test"):
    return list(read_source(source, split, role).examples)


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
        "methods = 'miner.lab.lessons.selection.methods.'\n"
        "print([name for name in sys.modules if name.startswith(methods)])\n"
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


def mute(tmp_path):
    """A file without responses."""
    path = tmp_path / "mute.csv"
    path.write_text("context,reply\nIs this one?,It is.\n", encoding="utf-8")
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
         "corpus/jsonl/pairs, test: found * books of the training (*"),
        (("tf-idf", "CORPUS", "--validation", "FEW"),
         "pairs.csv: found 99 examples, expected at least 100, as a batch has"),
        (("tf-idf", "EMPTY"),
         "EMPTY: found none of 3 with a text on each side, expected pairs of a context and"),
        (("tf-idf", "MUTE"), "MUTE: found no column response (context, reply), expected "),
    ],
)  # fmt: skip
def test_a_bad_training_is_refused_in_one_line(corpus, tmp_path, words, message):
    places = {
        "CORPUS": str(corpus),
        "FEW": str(pairs(tmp_path, 99)),
        "EMPTY": str(pairs(tmp_path, 3, "", name="empty.csv")),
        "MUTE": str(mute(tmp_path)),
    }
    for name, place in places.items():
        words = [word.replace(name, place) for word in words]
        message = message.replace(name, place)
    line = failed("selection", "train", *words, "-o", tmp_path / "out")
    start, _, rest = message.partition("*")
    assert line.startswith(start) and rest.partition("*")[0] in line
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.partial").exists()


def test_what_learns_nothing_and_what_is_chosen_is_said(corpus, tmp_path):
    pytest.importorskip("sentence_transformers")
    from encoders import encoder

    validation = ("--validation", f"{corpus}:validation")
    given = {"sim": ("--encoder", encoder()), "tf-idf": (), "rnn": ("--epochs", 2)}
    verbs = {"sim": "learns nothing; it was given ", "tf-idf": "", "rnn": ""}
    for method, more in given.items():
        out = tmp_path / method
        words = ("selection", "train", method, f"{corpus}:train", *validation, *more)
        lines = said(*words, "-o", out).splitlines()
        first = next(line for line in lines if line.startswith(f"{method} learn"))
        assert first.startswith(f"{method} {verbs[method] or 'learned from '}")
        card = " ".join((out / "README.md").read_text().split())
        assert f"It {verbs[method] or 'was trained on '}" in card
        # Methods of one step have nothing to choose from.
        assert ("on which it was chosen" in card) == (method == "rnn")


@pytest.mark.parametrize("method", ["sim", "map", "sentence"])
def test_an_encoder_that_cannot_be_loaded_is_refused_in_one_line(method, corpus, tmp_path):
    pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    gone = tmp_path / "gone"
    words = ("selection", "train", method, corpus, "-o", tmp_path / "out", "--encoder", gone)
    assert failed(*words).startswith(f"{gone}: found no sentence encoder (")
    assert list(tmp_path.iterdir()) == []


# ---- scores


@pytest.fixture(scope="module")
def bm25(corpus):
    """BM25 of 60 pairs of the training split."""
    out = corpus.parent / "bm25"
    said("selection", "train", "bm25", corpus, "-o", out, "-q", "--most-pairs", 60)
    return out


QUICK = ("--shuffles", 2, "--resamples", 20)
TASKS = ["1-of-100 R@1", "1-of-100 MRR", "1 in 2 R@1", "1 in 10 R@1", "1 in 10 R@2",
         "1 in 10 R@5", "1 in 10 MRR"]  # fmt: skip
SCORE = r"[01]\.\d{3} \[[01]\.\d{3}–[01]\.\d{3}\]"


def test_a_method_is_scored_on_the_test_split(corpus, tfidf):
    lines = said("selection", "score", tfidf, corpus, *QUICK).splitlines()
    n = len(read_examples(corpus, "train"))
    books = {one.book for one in read_examples(corpus, "train")}
    assert lines[0] == f"tfidf: tf-idf, trained on {n} pairs of {len(books)} books"
    assert lines[1] == "  corpus/jsonl/pairs, train"
    rows = [line for line in lines if re.search(SCORE, line)]
    assert [re.split(" {2,}", row)[0] for row in rows] == TASKS
    tested = read_examples(corpus, "test")
    told = " ".join(" ".join(lines).split())
    assert (
        f"scored: corpus/jsonl/pairs, test: {len(tested) // 100 * 100} of {len(tested)} examples "
        f"of {len({one.book for one in tested})} books in {len(tested) // 100} batch" in told
    )
    assert "mean of 2 draws, intervals by 20 draws of books, seed 0" in told
    assert told.endswith("contexts of 1 turn")


def test_the_scores_of_the_table_are_those_of_json(corpus, tfidf):
    words = ("selection", "score", tfidf, corpus, *QUICK, "--harder", "--seed", 3)
    record = json.loads(said(*words, "--json"))
    (row,) = record["rows"]
    cells = dict(re.findall(rf"^(\S.*?) {{2,}}({SCORE})", said(*words), re.MULTILINE))
    assert len(cells) == len(row["scores"]) == len(TASKS) + 4
    for one in row["scores"]:
        shown = f"{one['value']:.3f} [{one['low']:.3f}–{one['high']:.3f}]"
        assert cells[f"{one['task']} {one['measure']}"] == shown
    assert "seed 3" in record["scored"]
    other = json.loads(said(*words[:-1], 4, "--json"))["rows"]
    assert other[0]["scores"] != row["scores"]


def test_fewer_examples_are_scored_if_fewer_are_asked_for(corpus, tfidf):
    words = ("selection", "score", tfidf, corpus, *QUICK, "--json", "--most-examples", 100)
    record = json.loads(said(*words))
    assert {one["n_examples"] for one in record["rows"][0]["scores"]} == {100}
    assert ": 100 of " in record["scored"]


def test_annotations_are_scored_with_their_books(corpus, tfidf):
    record = json.loads(said("selection", "score", tfidf, f"{ANNOTATIONS}:sample", "--json"))
    (row,) = record["rows"]
    assert record["scored"].startswith("annotations, sample: 100 of 106 examples of 1 book in 1 ")
    assert row["scores"][0]["n_books"] == 1 and row["scores"][0]["low"] is None
    found = dict(re.findall(r"^(\S.*?) {2,}([01]\.\d{3})$", said(
        "selection", "score", tfidf, ANNOTATIONS, "--split", "sample"
    ), re.MULTILINE))  # fmt: skip
    assert list(found) == TASKS  # one book has no interval


def test_a_file_of_a_user_is_scored_and_what_it_does_not_tell_is_said(tfidf, tmp_path):
    path = pairs(tmp_path, 120)
    told = " ".join(said("selection", "score", tfidf, path, *QUICK).split())
    assert "scored: pairs.csv: 100 of 120 examples of books without an id in 1 batch" in told
    assert "intervals by 20 draws of examples" in told
    assert "120 of 120 examples name no book: nothing tells whether a method" in told


def test_pairs_without_a_text_are_left_out_and_said_to_be(tfidf, tmp_path):
    path = pairs(tmp_path, 120)
    with path.open("a", encoding="utf-8") as file:
        file.write(",Is anybody there?,\n")
    done = run("selection", "score", tfidf, path, *QUICK)
    assert done.exit_code == 0
    assert done.stderr.startswith("left out: pairs.csv: 1 ") and done.stderr.count("\n") == 1


# ---- comparisons


def test_methods_are_compared_in_the_order_of_the_command(corpus, tfidf, bm25):
    words = ("selection", "compare", bm25, tfidf, "--on", corpus, *QUICK)
    lines = said(*words).splitlines()
    rows = [line for line in lines if re.search(SCORE, line)]
    assert [row.split()[0] for row in rows] == ["bm25", "tfidf"] * (len(rows) // 2)
    n = len(read_examples(corpus, "train"))
    assert [row.split()[1] for row in rows[:2]] == ["60", str(n)]
    heads = " ".join(line for line in lines if "R@" in line or "MRR" in line)
    assert [heads.count(task) for task in TASKS] == [1] * len(TASKS)
    alone = json.loads(said("selection", "score", tfidf, corpus, *QUICK, "--json"))
    beside = json.loads(said(*words, "--json"))
    assert beside["rows"][1]["scores"] == alone["rows"][0]["scores"]
    assert beside["scored"] == alone["scored"] and "papers" not in beside


def test_harder_tasks_have_a_table_of_their_own(corpus, tfidf, bm25):
    words = ("selection", "compare", tfidf, bm25, "--on", corpus, *QUICK)
    first, found, second = said(*words, "--harder").partition(
        "With false responses that are harder"
    )
    assert found and "1 in 10 alike R@1" in second and "1 in 10 of the chapter R@1" in second
    assert "1 in 10 alike" not in first and "1-of-100" not in second.partition("scored:")[0]
    assert "harder: of the same chapter, or most like the true one" in " ".join(second.split())
    assert "harder" not in said(*words)


def test_the_papers_are_beside(corpus, tfidf):
    words = ("selection", "compare", tfidf, "--on", corpus, *QUICK, "--papers")
    shown = said(*words)
    assert re.search(r"^polyai-encoder +0\.613 +0\.306 +0\.842 +n-grams", shown, re.MULTILINE)
    assert re.search(r"^LSTM +0\.878 +0\.604 +0\.745 +0\.926 +lstm", shown, re.MULTILINE)
    record = json.loads(said(*words, "--json"))
    assert [len(table["rows"]) for table in record["papers"]] == [9, 3]


def test_contexts_are_shown_with_what_each_method_ranked_first(corpus, tfidf, bm25):
    words = ("selection", "compare", tfidf, bm25, "--on", corpus, *QUICK, "--show", 10)
    record = json.loads(said(*words, "--json"))["shown"]
    shown = said(*words)
    tested = {(one.context[-1], one.response) for one in read_examples(corpus, "test")}
    blocks = re.split(r"\nranked first of (?=\d+ responses)", shown)[1:]
    assert len(blocks) == len(record) == 10
    for block, one in zip(blocks, record, strict=True):
        assert (one["context"][-1], one["response"]) in tested
        told = " ".join(block.split())
        n = one["candidates"]
        place = f"{n} responses, book {one['book']}, chapter {one['chapter']} context "
        assert told.startswith(place)
        assert f"response {one['response']} tfidf " in told
        for choice in one["choices"]:
            said_of = choice["method"] + " the true response"
            if not choice["is_true"]:
                place = f"(place of the true response: {choice['place']:g} of {n})"
                said_of = f"{choice['method']} {choice['response']} {place}"
            assert said_of in told


def test_a_comparison_is_drawn(corpus, tfidf, tmp_path):
    pytest.importorskip("matplotlib")
    small = tmp_path / "small"
    said("selection", "train", "tf-idf", corpus, "-o", small, "-q", "--most-pairs", 50)
    words = ("selection", "compare", tfidf, small, "--on", corpus, *QUICK)
    plots = tmp_path / "plots"
    assert said(*words, "--plots", plots).endswith(f"wrote scores.png, sizes.png in {plots}\n")
    assert sorted(path.name for path in plots.iterdir()) == ["scores.png", "sizes.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in plots.iterdir())
    assert failed(*words, "--plots", plots).startswith(f"{plots}: exists already, ")
    assert run(*words, "--plots", plots, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "TFIDF", "FEW"), "pairs.csv: found 99 examples, expected at least 100, as a "),
        (("score", "TFIDF", "MUTE"), "MUTE: found no column response (context, reply), "),
        (("score", "TFIDF", "CORPUS:train"),
         "tfidf on corpus/jsonl/pairs, train: found * books of the training ("),
        (("score", "TFIDF", "CORPUS:all"), "tfidf on corpus/jsonl/pairs, all: found * books of"),
        (("score", "TFIDF", "CORPUS", "--split", "dev"), "CORPUS: found no split 'dev', expected "),
        (("score", "CORPUS", "CORPUS"),
         "CORPUS: found no method.json, expected a folder of `miner selection train`"),
        (("compare", "TFIDF", "TFIDF", "--on", "CORPUS"), "TFIDF: found a second time, expected "),
        (("compare", "TFIDF", "gone", "--on", "CORPUS"), "gone: found no method.json, expected "),
        (("compare", "TFIDF", "BROKEN", "--on", "CORPUS"), "BROKEN: cannot be loaded: "),
        (("compare", "TFIDF", "--on", "CORPUS:train"), "tfidf on corpus/jsonl/pairs, train: found"),
        (("compare", "TFIDF", "--on", "ANNOTATIONS:gone"), "ANNOTATIONS: found no split 'gone'"),
    ],
)  # fmt: skip
def test_a_bad_scoring_is_refused_in_one_line(corpus, tfidf, tmp_path, words, message):
    broken = shutil.copytree(tfidf, tmp_path / "broken")
    (broken / "words.txt").unlink()
    places = {
        **{"CORPUS": corpus, "TFIDF": tfidf, "BROKEN": broken, "ANNOTATIONS": ANNOTATIONS},
        **{"FEW": pairs(tmp_path, 99), "MUTE": mute(tmp_path)},
    }
    for name, place in places.items():
        words = [word.replace(name, str(place)) for word in words]
        message = message.replace(name, str(place))
    line = failed("selection", *words)
    start, _, rest = message.partition("*")
    assert line.startswith(start) and rest in line


def test_an_interrupted_training_says_how_it_is_resumed(corpus, tmp_path, monkeypatch):
    """TF-IDF keeps nothing, so that nothing is left and the same command begins anew."""
    from miner.lab.lessons.selection.methods import tf_idf

    words = ("selection", "train", "tf-idf", corpus, "-o", tmp_path / "out")

    def interrupt(training, folder):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tf_idf, "train", interrupt)
        done = run(*words)
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "miner: interrupted\n")
    assert list(tmp_path.iterdir()) == []

    def keep_and_interrupt(training, folder):
        (training.state / "step").write_text("1")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tf_idf, "train", keep_and_interrupt)
        done = run(*words)
    kept = tmp_path / "out.partial"
    line = f"miner: interrupted; what is done is kept in {kept}, --resume continues\n"
    assert (done.exit_code, done.stderr) == (130, line)
    assert failed(*words).startswith(f"{kept}: exists already, expected --resume to go on ")
    other = failed(*words, "--resume", "--seed", 3)
    assert other.startswith(f"{kept}: found a run with seed 0, expected 3 to resume it")
    assert run(*words, "--resume").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_training_that_was_killed_leaves_nothing_in_its_folder_and_is_resumed(corpus, tmp_path):
    """A process that is killed cleans nothing up."""
    out = tmp_path / "out"
    words = ("selection", "train", "tf-idf", corpus, "-o", out)
    script = (
        "import os, sys\n"
        "from miner.app.cli.main import main\n"
        "from miner.lab.lessons.selection.methods import tf_idf\n"
        "def die(training, folder):\n"
        "    (folder / 'half').write_text('1')\n"
        "    os.kill(os.getpid(), 9)\n"
        "tf_idf.train = die\n"
        "main()\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, *map(str, words)], check=False)
    assert killed.returncode == -9
    assert [path.name for path in tmp_path.iterdir()] == ["out.partial"]
    assert run(*words, "--resume").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not (out / "half").exists() and (out / "method.json").is_file()


def test_several_processes_are_refused_in_one_line(corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    line = failed("selection", "train", "bm25", corpus, "-o", tmp_path / "out")
    assert line.startswith("found 2 processes, expected one")
    assert not list(tmp_path.iterdir())
