"""A recipe becomes a corpus: chosen, filtered, divided, described, and the same each time."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict

import pytest
from build_helpers import RECIPE, digests, recipe_of
from click.testing import CliRunner
from helpers import DATA, wait_until
from shelf import novel, sentence, write_shelf

from miner.app.cli.main import main
from miner.corpus.build import build_corpus
from miner.corpus.export import describe_formats, find_format
from miner.corpus.output import OutputFolder
from miner.corpus.recipe import example_recipe, parse_recipe
from miner.errors import InputError


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """Twelve novels, one of them twice, and a file that is no book."""
    folder = write_shelf(tmp_path_factory.mktemp("shelf") / "books", chapters=1)
    # Another edition: other spelling here and there, an introduction, its own number.
    page = novel(3, chapters=1).replace("beside the", "Beside the")
    page = page.replace("eBook #9003", "eBook #9103")
    page = page.replace("<h2>CHAPTER 1", "<h2>INTRODUCTION</h2><p>A new edition.</p><h2>CHAPTER 1")
    (folder / "9103-h.htm").write_text(page, encoding="utf-8")
    (folder / "9999-h.htm").write_bytes(b"\0\1\2" * 1000)
    return folder


def rows(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def built(books, tmp_path_factory):
    """A corpus, and the folder that it is in."""
    folder = tmp_path_factory.mktemp("built")
    return build_corpus(recipe_of(folder, books), folder / "corpus"), folder / "corpus"


def test_every_book_is_in_one_split_or_has_a_reason(built, books):
    corpus, out = built
    listed = {row["id"]: row for row in rows(out / "books.jsonl")}
    assert len(listed) == 13
    assert all(bool(row["split"]) != bool(row["left_out"]) for row in listed.values())
    assert {row["split"] for row in listed.values()} == {"train", "validation", "test", None}
    (copy,) = (row for row in listed.values() if row["left_out"])
    assert (copy["id"], copy["left_out"], copy["copy_of"]) in {
        ("9103", "works", "9003"),
        ("9003", "works", "9103"),
    }
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "left out as duplicates: 1 edition of one work, named in books.jsonl\n  - " in card
    assert f"({copy['id']}): stays as {copy['title']} ({copy['copy_of']})\n" in card
    (aside,) = corpus.set_aside
    assert aside.name.endswith("9999-h.htm")


def test_the_files_hold_what_the_statistics_say(built):
    corpus, out = built
    for row in corpus.record["statistics"]:
        pattern = f"jsonl/dialogues/{row['split']}-*.jsonl"
        dialogues = [one for path in out.glob(pattern) for one in rows(path)]
        assert len(dialogues) == row["dialogues"] > 0
        assert sum(one["n_turns"] for one in dialogues) == row["turns"]
        pairs = [
            one for path in out.glob(f"jsonl/pairs/{row['split']}-*.jsonl") for one in rows(path)
        ]
        assert len(pairs) == row["pairs"] == row["turns"] - row["dialogues"]


def test_a_pair_has_the_turns_before_it_and_names_its_book(built):
    _, out = built
    (path,) = out.glob("jsonl/pairs/train-*.jsonl")
    pairs = rows(path)
    assert all(len(row["history"]) == min(2, row["turn"] - 1) for row in pairs)
    listed = {row["id"]: row for row in rows(out / "books.jsonl")}
    for row in pairs:
        book = listed[row["book"]]
        assert [row[key] for key in ("title", "author", "language")] == [
            book[key] for key in ("title", "author", "language")
        ]
        assert book["split"] == "train"


def test_no_text_of_one_split_is_in_another(built):
    _, out = built
    texts = {}
    for path in out.glob("jsonl/dialogues/*.jsonl"):
        split = path.name.partition("-")[0]
        for row in rows(path):
            for turn in row["turns"]:
                texts.setdefault(turn["text"], set()).add(split)
    assert len(texts) > 100
    assert all(len(splits) == 1 for splits in texts.values())


def test_run_json_has_the_digest_of_every_file(built):
    corpus, out = built
    found = digests(out)
    named = {name: sha for name, sha in found.items() if name != "run.json"}
    assert json.loads((out / "run.json").read_bytes())["files"] == named
    assert {path.relative_to(out).as_posix() for path in corpus.paths} == set(found)


@pytest.mark.parametrize(
    "workers", [pytest.param(1, id="again"), pytest.param(2, marks=pytest.mark.slow)]
)
def test_the_same_recipe_and_books_give_the_same_bytes(built, books, tmp_path, workers):
    _, out = built
    again = tmp_path / "again"
    build_corpus(out / "recipe.toml", again, workers=workers)
    assert digests(again) == digests(out)


def test_a_build_knows_no_words_of_the_one_before_it(tmp_path):
    books = write_shelf(tmp_path / "books", 2, chapters=1)
    recipe = recipe_of(tmp_path, books)
    build_corpus(recipe, tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    for path in books.iterdir():
        page = path.read_text(encoding="utf-8")
        path.write_text(page.replace(" the ", " thee ").replace(" was ", " wast "), "utf-8")
    build_corpus(recipe, tmp_path / "out")
    build_corpus(recipe, tmp_path / "elsewhere")
    assert digests(tmp_path / "out") == digests(tmp_path / "elsewhere")


def test_a_growing_corpus_never_moves_a_book(built, books, tmp_path):
    _, out = built
    more = shutil.copytree(books, tmp_path / "more")
    for seed in range(20, 26):
        (more / f"{9000 + seed}-h.htm").write_text(novel(seed, chapters=1), encoding="utf-8")
    build_corpus(recipe_of(tmp_path, more), tmp_path / "grown")
    before = {row["id"]: row["split"] for row in rows(out / "books.jsonl") if row["split"]}
    after = {row["id"]: row["split"] for row in rows(tmp_path / "grown" / "books.jsonl")}
    assert len(after) == 19 and before.items() <= after.items()


def test_a_dialogue_that_another_book_has_is_taken_out_and_named(tmp_path):
    books = write_shelf(tmp_path / "books", 3)
    import random

    draw = random.Random(5)
    shared = "".join(f"<p>“{sentence(draw).capitalize()}.”</p>\n" for _ in range(4))
    for number in (9000, 9002):
        path = books / f"{number}-h.htm"
        page = path.read_text(encoding="utf-8")
        page = page.replace("<h2>CHAPTER 2", f"<h2>CHAPTER 9</h2>\n{shared}<h2>CHAPTER 2")
        path.write_text(page, encoding="utf-8")
    corpus = build_corpus(recipe_of(tmp_path, books), tmp_path / "out")
    (row,) = rows(tmp_path / "out" / "duplicates.jsonl")
    assert (row["book"], row["of_book"], row["similarity"]) == ("9002", "9000", 1)
    (stayed,) = (
        one
        for path in (tmp_path / "out").glob("jsonl/dialogues/*.jsonl")
        for one in rows(path)
        if (one["book"], one["dialogue"], one["part"])
        == ("9000", row["of_dialogue"], row["of_part"])
    )
    assert [turn["raw"] in shared for turn in stayed["turns"]] == [True] * 4
    (taken,) = (one for one in corpus.record["filters"] if one["filter"] == "duplicates")
    assert (taken["taken"]["dialogues"], taken["taken"]["turns"]) == (1, 4)


def test_a_filter_is_switched_off_by_one_line(built, books, tmp_path):
    corpus, _ = built
    names = [row["filter"] for row in corpus.record["filters"]]
    recipe = recipe_of(tmp_path, books, "[filters]\nmax_kl_divergence = false\nmin_turns = false")
    other = build_corpus(recipe, tmp_path / "out")
    left = [row["filter"] for row in other.record["filters"]]
    assert [name for name in names if name not in ("max_kl_divergence", "min_turns")] == left


def test_formats_that_cannot_be_divided_have_a_folder_for_each_split(books, tmp_path):
    recipe = recipe_of(tmp_path, books, "convokit = {}\nchat = { narration = true }")
    build_corpus(recipe, tmp_path / "out")
    names = set(digests(tmp_path / "out"))
    assert "convokit/train/utterances.jsonl" in names
    assert "chat/chat/test-00000-of-00001.jsonl" in names


def test_a_fixed_list_of_splits_goes_before_the_hash(tmp_path):
    books = write_shelf(tmp_path / "books", 2, chapters=1)
    (tmp_path / "splits.csv").write_text("book,split\n9000,test\n9001,train\n77,train\n")
    text = RECIPE.format(books=books, more="")
    text = text.replace("[splits]", f'[splits]\nlist = "{tmp_path / "splits.csv"}"')
    (tmp_path / "recipe.toml").write_text(text)
    corpus = build_corpus(tmp_path / "recipe.toml", tmp_path / "out")
    splits = {row["id"]: row["split"] for row in rows(tmp_path / "out" / "books.jsonl")}
    assert splits == {"9000": "test", "9001": "train"}
    assert corpus.record["unused_of_split_list"] == ["77"]
    card = " ".join((tmp_path / "out" / "README.md").read_text(encoding="utf-8").split())
    assert "A fixed list, which `run.json` has, says in which split a book is" in card
    assert "All of one work" not in card
    assert corpus.record["empty_splits"] == ""  # the list has no validation


def test_a_split_without_a_book_is_named_with_what_helps(tmp_path):
    out = tmp_path / "out"
    recipe = recipe_of(tmp_path, write_shelf(tmp_path / "books", 2, chapters=1))
    text = recipe.read_text().replace("train = 60", 'by = "author"\ntrain = 99.8')
    recipe.write_text(text.replace("= 20", "= 0.1"))
    done = CliRunner().invoke(main, ["build", str(recipe), "-o", str(out), "-q"])
    line = json.loads((out / "run.json").read_bytes())["empty_splits"]
    assert line.startswith("no book is in validation (0.1%) and test (0.1%): a hash of the author ")
    assert (done.exit_code, done.stderr) == (0, f"warning: {line}\n")
    card = (out / "README.md").read_text(encoding="utf-8")
    assert f"N{line[1:]}." in " ".join(card.split())
    assert re.findall(r'split="(\w+)"', card) == ["train"]


def test_a_list_that_lacks_a_book_is_completed_and_the_build_resumed(tmp_path):
    books = write_shelf(tmp_path / "books", 2, chapters=1)
    splits, recipe, out = tmp_path / "splits.csv", tmp_path / "recipe.toml", tmp_path / "out"
    text = RECIPE.format(books=books, more="")
    recipe.write_text(text.replace("[splits]", f'[splits]\nlist = "{splits}"'))
    splits.write_text("book,split\n9000,test\n")
    with pytest.raises(InputError, match="list of splits has no book 9001, expected"):
        build_corpus(recipe, out)
    splits.write_text("book,split\n9000,test\n9001,train\n77,train\n")
    done = CliRunner().invoke(main, ["build", str(recipe), "-o", str(out), "--resume", "-q"])
    assert done.stderr == "the list of splits has 1 book that the corpus lacks\n"
    build_corpus(recipe, tmp_path / "again")
    assert digests(out) == digests(tmp_path / "again")


def started(recipe, out, until):
    """A build that has come so far, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "miner", "build", recipe, "-o", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_until(lambda: until() or process.poll() is not None, pause=0.005)
    return process


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("shards/*.shard", marks=pytest.mark.slow),
        pytest.param("stages/kept/*.shard", marks=pytest.mark.slow),
        "stages/written/*",
    ],
)
def test_a_build_that_was_killed_goes_on_to_the_same_bytes(built, books, tmp_path, place):
    _, out = built
    again, partial = tmp_path / "again", tmp_path / "again.partial"
    process = started(out / "recipe.toml", again, lambda: any(partial.glob(place)))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not again.exists() or digests(again) == digests(out)
    with (
        pytest.raises(InputError, match="`resume=True`")
        if not again.exists()
        else pytest.raises(InputError, match="exists")
    ):
        build_corpus(out / "recipe.toml", again)
    if not again.exists():
        build_corpus(out / "recipe.toml", again, resume=True)
        assert not partial.exists()
    assert digests(again) == digests(out)


@pytest.mark.slow
def test_files_that_belonged_to_other_books_do_not_stay(built, books, tmp_path):
    _, out = built
    changing = shutil.copytree(books, tmp_path / "books")
    recipe = recipe_of(tmp_path, changing)

    def stop(progress):
        if progress.name == "writing" and progress.n_done == progress.n:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_corpus(recipe, tmp_path / "again", on_stage=stop)
    for row in rows(out / "books.jsonl"):
        if row["split"] == "test":
            (changing / f"{row['id']}-h.htm").unlink()
    build_corpus(recipe, tmp_path / "again", resume=True)
    build_corpus(recipe, tmp_path / "whole")
    assert digests(tmp_path / "again") == digests(tmp_path / "whole")


@pytest.mark.slow
def test_a_resumed_build_has_no_file_of_books_that_are_gone(books, tmp_path, monkeypatch):
    shelf = shutil.copytree(books, tmp_path / "books")
    recipe, out = recipe_of(tmp_path, shelf), tmp_path / "out"
    with monkeypatch.context() as killed:
        killed.setattr(OutputFolder, "put_in_place", lambda folder: os.kill(os.getpid(), 2))
        with pytest.raises(KeyboardInterrupt):
            build_corpus(recipe, out)
    for row in rows(tmp_path / "out.partial" / "output" / "books.jsonl"):
        if row["split"] == "test":
            (shelf / row["file"]).unlink()
    corpus = build_corpus(recipe, out, resume=True)
    assert set(digests(out)) == {*corpus.record["files"], "run.json"}
    assert not list(out.rglob("*test*"))


def test_an_earlier_corpus_is_replaced_as_a_whole(built, tmp_path):
    _, out = built
    shelf = write_shelf(tmp_path / "books", 2, chapters=1)
    build_corpus(recipe_of(tmp_path, shelf, "convokit = {}"), tmp_path / "out")
    with pytest.raises(InputError, match="exists already"):
        build_corpus(out / "recipe.toml", tmp_path / "out")
    build_corpus(out / "recipe.toml", tmp_path / "out", force=True)
    assert digests(tmp_path / "out") == digests(out)
    assert not (tmp_path / "out" / "convokit").exists()


def test_a_build_that_keeps_nothing_says_what_took_the_books(books, tmp_path):
    recipe = recipe_of(tmp_path, books, "[filters]\nmin_delimiters = 9000")
    with pytest.raises(
        InputError, match=r"min_delimiters: 13.*: 1, such as .*9999.*binary"
    ) as found:
        build_corpus(recipe, tmp_path / "out")
    assert found.value.__notes__ == ["nothing was written"]  # another build would end so, too
    assert [item.name for item in tmp_path.iterdir()] == ["recipe.toml"]


def test_the_example_is_a_recipe_with_every_setting(tmp_path):
    recipe = parse_recipe(example_recipe(), "example")
    named = example_recipe()
    for table in ("filters", "duplicates", "splits", "mining"):
        for key in recipe.record()[table]:
            assert f"\n{key} =" in named or f"\n# {key} =" in named, key
    recipe = parse_recipe(re.sub(r"\n# (?=[\w\[]+\]?( =|\n))", "\n", named), "with the comments")
    assert set(recipe.formats) == set(describe_formats())
    for name, options in recipe.formats.items():
        if name != "parquet":  # whose spans are left out
            assert options == (find_format(name).options and find_format(name).options())
            assert all(f"{option} = " in named for option in (asdict(options) if options else ()))
    printed = CliRunner().invoke(main, ["build", "--example"])
    assert (printed.exit_code, printed.output) == (0, named)
    (tmp_path / "recipe.toml").write_text(named)
    done = CliRunner().invoke(
        main, ["build", str(tmp_path / "recipe.toml"), "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output


NAMED = 'name = "a"\nsources = ["sample"]\n'
BAD = {
    'name = "a"': "found no sources and no [catalog], expected one of them",
    'sources = ["sample"]': "found no name, expected it",
    'name = 3\nsources = ["sample"]': "name: found 3, expected a text",
    'name = "a"\nsources = "sample"': "sources: found 'sample', expected a list",
    NAMED + 'colour = "red"': "found colour, expected one of name, sources",
    NAMED + "[filters]\nmax_words = 3": "[filters] found max_words, expected one of ",
    NAMED + "[filters]\nmin_turns = 0": "[filters] min_turns: found 0",
    NAMED + '[filters]\nmax_rare_words = "all"': (
        "[filters] max_rare_words: found 'all', expected a number or false"
    ),
    NAMED + "[splits]\ntrain = 50": "[splits] found splits of 60 percent",
    NAMED + "[splits]\nlist = 3": "[splits] list: found 3, expected",
    NAMED + "[formats]\nword = {}": "[formats] found format 'word'",
    NAMED + "[formats]\nchat = { narration = 3 }": "[formats] chat: narration: found 3",
    NAMED + '[formats]\ncsv = { tables = ["x"] }': "[formats] csv: found tables ('x',)",
    NAMED + '[catalog]\nlanguage = "??"': "[catalog] language: found",
    NAMED + "[duplicates]\ndialogues = 3": "[duplicates] dialogues: found 3",
    NAMED + "[mining]\nhistory_turns = -2": "[mining] history_turns: found -2",
    NAMED + "[filters]\nmin_words_for_kl = 1" + 400 * "0": "found a number of 401 digits",
    NAMED + "[mining]\nhistory_turns = 1" + 5000 * "0": "4300 digits",
    NAMED + "a = " + 5000 * "[" + 5000 * "]": "brackets in too many brackets",
    NAMED + '[mining]\nquotes = ["curly"]': "[mining] quotes: unknown quotation marks 'curly'",
    NAMED + "[mining]\ntagger = false": "tagger: found False, expected a text",
    NAMED + "[splits]\nfolds = 3": "found folds, expected one of by, train, validation, test, "
    "unlisted, list",
    NAMED + '[splits]\nlist = ""': "[splits] list: found '', expected the name of a file",
    'name = "a"\nsources = ["a\\u0000b"]': "a NUL in a name, expected",
    NAMED + "[split]\ntrain = 90": "found split, expected one of name, sources, languages, plots, "
    "[catalog], [mining], [filters], [duplicates], [splits], [formats]",
    NAMED + 'languages = ["English"]': "languages: found 'English', expected codes such as 'en'",
    'name = " "\nsources = ["sample"]': "name: found ' ', expected what the corpus is called",
    "name = ": "expected TOML as `miner build --example` prints it",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_wrong_recipe_gets_one_line(text, tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    done = CliRunner().invoke(main, ["build", str(path), "-o", str(tmp_path / "out")])
    (line,) = done.stderr.splitlines()
    assert done.exit_code == 1 and line.startswith(f"miner: {path}: "), line
    assert BAD[text] in line
    assert [item.name for item in tmp_path.iterdir()] == ["recipe.toml"]


def test_a_source_that_does_not_exist_is_found_before_any_work(tmp_path):
    recipe = recipe_of(tmp_path, "nowhere/to/be/found")
    with pytest.raises(InputError, match=r"recipe\.toml: nowhere/to/be/found: no such file"):
        build_corpus(recipe, tmp_path / "out")


def test_copies_that_a_recipe_keeps_in_two_splits_are_named(books, tmp_path):
    lists = tmp_path / "splits.csv"
    lists.write_text("book,split\n9003,train\n9103,test\n")
    text = RECIPE.format(books=books, more="[duplicates]\nworks = false\ndialogues = false")
    text = text.replace("[splits]", f'[splits]\nlist = "{lists}"\nunlisted = "hash"')
    (tmp_path / "recipe.toml").write_text(text)
    done = CliRunner().invoke(
        main, ["build", str(tmp_path / "recipe.toml"), "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 0
    assert "warning: 1 pair of books in two splits with text in common" in done.stderr
    (leak,) = json.loads((tmp_path / "out" / "run.json").read_bytes())[
        "books_that_share_text_over_splits"
    ]
    assert {leak["book"], leak["other"]} == {"9003", "9103"} and leak["share"] > 0.9


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_tables_without_a_row_are_not_offered(tmp_path, format):
    """German books have no characters, and `datasets` opens no table without a row."""
    datasets = pytest.importorskip("datasets")
    text = RECIPE.format(books=DATA / "german_low.html", more="[filters]\nmin_delimiters = 0")
    text = text.replace("jsonl = {}", f"{format} = {{}}")
    (tmp_path / "recipe.toml").write_text(text)
    build_corpus(tmp_path / "recipe.toml", tmp_path / "out")
    out = str(tmp_path / "out")
    names = datasets.get_dataset_config_names(out)
    assert "characters" not in names and "pairs" in names
    for name in names:
        assert sum(map(len, datasets.load_dataset(out, name).values())) > 0
