"""What `miner gold export` writes in each format, and what `miner gold import` makes of it."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from annotation_helpers import (
    back,
    documents,
    entities,
    gold,
    page,
    read_rows,
    turns_by_words,
    write_folder,
)
from helpers import ANNOTATIONS, SAMPLE, counts

from miner.annotation.annotations import read_annotations, read_split
from miner.errors import InputError
from miner.lab.gold import export
from miner.lab.gold.editions import open_edition, read_editions
from miner.lab.gold.export import describe_formats, find_writer
from miner.lab.gold.export.conll import conll_lines
from miner.lab.gold.export.label_studio import LABELING_CONFIG, tasks_from_edition
from miner.lab.measure.scores import Counts, score
from miner.speech.tag_files import read_tag_file

FORMATS = list(describe_formats())
EXISTS = "exists already, expected a new name (or --force to replace it)"
PAGES = {
    "11": ["Ann rose. “Go,” said she, “and  stay.”", "“No.”", "A sign: “Fides”.", "“Yes, I will.”"],
    "12": ["“Who is there?” asked somebody.", "“Only the wind.”"],
}
GOLD = {
    "11": [
        (1, 1, "Go", "Ann", 1),
        (1, 1, "and stay", "Ann", 1, "to the dog"),
        (1, 2, "No", "Bo", 1),
        (1, 3, "Fides", "", 0),
        (1, 4, "Yes, I will", "Cy", 2),
    ],
    "12": [(1, 1, "Who is there?", "?", 1), (1, 2, "Only the wind", "Ed", 1)],
}


@pytest.fixture
def two(tmp_path):
    """The words of an export of two short books."""
    (tmp_path / "books").mkdir()
    for id, paragraphs in PAGES.items():
        (tmp_path / "books" / f"{id}-h.htm").write_bytes(page(*paragraphs))
    cards = {"11": {}, "12": {"split": "dev"}}
    folder = write_folder(tmp_path / "tiny", cards, gold=GOLD)
    return "export", "--gold", folder, "--books", tmp_path / "books"


@pytest.fixture
def one(copied):
    """The words of an export of the sample."""
    return "export", "--gold", copied, "--split", "sample"


def exported(path, format, *words):
    done = gold(*words, "--format", format, "-o", path)
    assert (done.exit_code, done.output) == (0, "")
    return path


def state(path):
    return {p.name: p.read_bytes() for p in (path.iterdir() if path.is_dir() else [path])}


@pytest.mark.parametrize("format", FORMATS)
def test_what_exists_is_replaced_only_when_asked(tmp_path, one, format):
    out = exported(tmp_path / "deep" / "out.json", format, *one)
    before = state(out)
    words = (*one, "--format", format, "-o", out)
    again = gold(*words)
    assert (again.exit_code, again.stderr) == (1, f"miner: {out}: {EXISTS}\n")
    assert state(out) == before
    for path in out.iterdir() if out.is_dir() else [out]:
        path.write_text("old")
    assert gold(*words, "--force").exit_code == 0
    assert state(out) == before
    names = {"out.json", "out.xml"} if format == "labelstudio" else {"out.json"}
    assert {path.name for path in out.parent.iterdir()} == names


def test_a_labeling_interface_that_exists_is_kept_and_no_tasks_are_left_beside_it(tmp_path, one):
    config = tmp_path / "out" / "out.xml"
    config.parent.mkdir()
    config.write_text("mine")
    done = gold(*one, "--format", "labelstudio", "-o", config.with_suffix(".json"))
    assert (done.exit_code, done.stderr) == (1, f"miner: {config}: {EXISTS}\n")
    assert state(config.parent) == {"out.xml": b"mine"}


@pytest.mark.parametrize("format", FORMATS)
def test_what_exists_is_refused_before_a_book_is_read(tmp_path, copied, format):
    out = tmp_path / "out.json"
    out.write_text("mine")
    asked = []
    with pytest.raises(InputError, match="exists already"):
        found = read_editions(read_split(copied, "sample"), asked.append)
        find_writer(format)(found, out, False)
    assert (asked, out.read_text()) == ([], "mine")


def test_tasks_do_not_take_the_name_of_their_interface(tmp_path, one):
    for words in ((*one, "--format", "labelstudio"), ("tasks", "99999999", "--chapter", "1")):
        done = gold(*words, "-o", tmp_path / "out.xml")
        assert done.exit_code == 1 and "out.xml: found the ending of the label" in done.stderr
    assert not (tmp_path / "out.xml").exists()


def test_an_export_that_fails_leaves_nothing(tmp_path, two):
    (tmp_path / "books" / "12-h.htm").write_bytes(page("“It is another book altogether.”"))
    for format in FORMATS:
        done = gold(*two, "--format", format, "-o", tmp_path / "out" / "x.json")
        assert done.exit_code == 1
        assert done.stderr.startswith("miner: 12, chapter 1: found 0 of 2 annotated utterances in")
        assert not (tmp_path / "out").exists()


def test_an_unknown_split_or_format_is_refused(tmp_path, two):
    done = gold(*two, "--split", "prime", "--format", "tags", "-o", tmp_path / "x")
    assert done.exit_code == 1 and "found no split 'prime', expected train, dev" in done.stderr
    assert gold(*two, "--format", "csv", "-o", tmp_path / "x").exit_code == 2
    assert not (tmp_path / "x").exists()


def test_tasks_and_their_interface(tmp_path, one, sample):
    out = exported(tmp_path / "sample.json", "labelstudio", *one)
    assert json.loads(out.read_bytes()) == json.loads(json.dumps(tasks_from_edition(sample)))
    assert "“I see it’s brown,”" in out.read_text(encoding="utf-8")
    config = (tmp_path / "sample.xml").read_text(encoding="utf-8")
    assert config == LABELING_CONFIG and ElementTree.fromstring(config).tag == "View"


def test_two_annotated_chapters_in_one_chapter_of_the_edition(tmp_path, two):
    (tmp_path / "books" / "12-h.htm").unlink()
    (tmp_path / "books" / "11-h.htm").write_bytes(page(*PAGES["11"], "Rain.", *PAGES["12"]))
    rows = [*GOLD["11"], *((2, n + 10, *rest) for _, n, *rest in GOLD["12"])]
    folder = write_folder(tmp_path / "both", {"11": {}}, gold={"11": rows})
    words = ("export", "--gold", folder, *two[3:])
    tasks_file = exported(tmp_path / "both.json", "labelstudio", *words)
    first, second = (item["data"] for item in json.loads(tasks_file.read_bytes()))
    assert [first["chapter"], second["chapter"]] == [1, 2]
    assert first["text"].startswith("Ann rose. “Go,”") and first["paragraphs"][-1][0] == 4
    assert second["text"] == "“Who is there?” asked somebody.\n\n“Only the wind.”\n\n"
    assert second["paragraphs"] == [[6, 0], [7, 33]]
    assert gold("import", tasks_file, "-o", tmp_path / "new").exit_code == 0
    (annotated,) = read_annotations(folder).gold
    found = read_rows(tmp_path / "new" / "11.jsonl", "11")
    assert [fact.paragraph for fact in found] == [1, 1, 2, 3, 4, 6, 7]
    assert [replace(fact, paragraph=0) for fact in found] == [
        replace(fact, paragraph=0) for fact in annotated.annotations
    ]
    datasets = exported(tmp_path / "rows", "datasets", *words)
    chapters = [json.loads(line) for line in (datasets / "train.jsonl").open(encoding="utf-8")]
    assert [row["chapter"] for row in chapters] == [1, 2]
    assert chapters[1]["speaker"] == ["?", "", "Ed"] and len(chapters[0]["text"]) == 9


def test_columns(tmp_path, one, sample):
    out = exported(tmp_path / "sample.conll", "conll", *one)
    lines = out.read_bytes().decode().split("\n")
    assert lines == [*conll_lines([sample.located.tagged()]), ""]
    (rows,) = documents(lines)
    assert entities(rows) == turns_by_words(sample.located.tagged())


def test_columns_of_two_books(tmp_path, two):
    out = exported(tmp_path / "two.conll", "conll", *two)
    one, other = documents(out.read_text(encoding="utf-8").split("\n"))
    assert [len(entities(rows)) for rows in (one, other)] == [3, 2]
    assert [row[0] for row in other] == (
        "CHAPTER I “Who is there?” asked somebody. “Only the wind.”".split()
    )


def test_a_tags_file_scores_perfectly_against_itself(tmp_path, one, sample):
    books = read_tag_file(exported(tmp_path / "sample.jsonl", "tags", *one)).books
    tagged = sample.located.tagged()
    assert [book.spans for book in books] == [tagged.spans]
    figure = score(books, books, split="sample", resamples=3).total.end_to_end
    for unit in ("B-START", "I-START", "B-OTHER", "I-OTHER", "turn", "turn-pair", "dialogue"):
        assert figure[f"{unit}.f1"].value == 1.0
    assert (figure["accuracy"].value, figure["pk"].value) == (1.0, 0.0)
    assert counts(figure, "turn-pair") == Counts(106, 0, 0)


LOAD = """
import json, sys
from datasets import load_dataset
found = []
for folder in sys.argv[2:]:
    loaded = load_dataset(folder, cache_dir=sys.argv[1])
    tag = next(iter(loaded.values())).features["tag"]
    rows = {split: list(rows) for split, rows in loaded.items()}
    found.append([rows, type(tag.feature).__name__, tag.feature.names])
print(json.dumps(found))
"""


@pytest.mark.slow
def test_datasets_opens_the_folder_and_knows_the_tags(tmp_path, sample, one, two):
    folders = [
        exported(tmp_path / "one", "datasets", *one),
        exported(tmp_path / "splits", "datasets", *two),
    ]
    names = {"README.md", "train.jsonl", "dev.jsonl"}
    assert {path.name for path in folders[1].iterdir()} == names
    env = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    words = [sys.executable, "-c", LOAD, tmp_path / "cache", *folders]
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (whole, *_), (splits, *_) = found = json.loads(done.stdout)
    tags = ["B-START", "I-START", "B-OTHER", "I-OTHER", "O"]
    assert [item[1:] for item in found] == [["ClassLabel", tags]] * 2
    assert [row["chapter"] for row in whole["sample"]] == [1, 2, 3, 4, 5]
    flat = {
        key: [value for row in whole["sample"] for value in row[key]]
        for key in ("text", "tag", "kind", "paragraph", "speaker", "conversation")
    }
    spans, facts = sample.located.tagged().spans, sample.located.facts
    assert flat["text"] == [item.span.text for item in spans]
    assert [tags[n] for n in flat["tag"]] == [str(item.tag) for item in spans]
    assert flat["paragraph"] == [item.span.paragraph for item in spans]
    assert flat["speaker"] == [fact.speaker if fact else "" for fact in facts]
    assert flat["conversation"] == [fact.conversation if fact else 0 for fact in facts]
    assert [flat["kind"].count(kind) for kind in ("utterance", "quoted")] == [180, 8]
    (row,) = splits["train"]
    assert (row["book"], row["title"], len(splits["dev"])) == ("11", "Book 11", 1)
    assert list(zip(row["text"], row["tag"], row["speaker"], strict=True))[1:6] == [
        ("Ann rose. ", 4, ""),
        ("“Go,”", 0, "Ann"),
        (" said she, ", 4, ""),
        ("“and stay.”", 1, "Ann"),
        ("“No.”", 2, "Bo"),
    ]
    assert row["kind"][6:9] == ["narration", "quoted", "narration"]


def test_an_import_is_the_file_that_was_exported(tmp_path, one):
    tasks_file = exported(tmp_path / "sample.json", "labelstudio", *one)
    done = gold("import", tasks_file, "-o", tmp_path / "new")
    path = tmp_path / "new" / "sample.jsonl"
    assert (done.exit_code, done.output) == (0, f"{path}\n")
    original = ANNOTATIONS / "gold" / "sample.jsonl"
    assert read_rows(path, "sample") == read_rows(original, "sample")
    assert path.read_bytes() == original.read_bytes()
    path.write_text("mine")
    again = gold("import", tasks_file, "-o", tmp_path / "new")
    assert (again.exit_code, again.stderr) == (1, f"miner: {path}: {EXISTS}\n")
    assert path.read_text() == "mine"
    assert gold("import", tasks_file, "-o", tmp_path / "new", "--force").exit_code == 0
    assert path.read_bytes() == original.read_bytes()


def test_two_books_come_back_as_two_files(tmp_path, two):
    tasks_file = exported(tmp_path / "two.json", "labelstudio", *two)
    done = gold("import", tasks_file, "-o", tmp_path / "new")
    assert done.stdout.splitlines() == [str(tmp_path / "new" / f"{id}.jsonl") for id in GOLD]
    for book in read_annotations(two[2]).gold:
        id = book.card.book
        assert read_rows(tmp_path / "new" / f"{id}.jsonl", id) == book.annotations


def test_an_import_writes_all_or_nothing_and_only_what_is_finished(tmp_path, two):
    tasks_file = exported(tmp_path / "two.json", "labelstudio", *two)
    new = tmp_path / "new"
    new.mkdir()
    (new / "12.jsonl").write_text("mine")
    done = gold("import", tasks_file, "-o", new)
    assert (done.exit_code, done.stderr) == (1, f"miner: {new / '12.jsonl'}: {EXISTS}\n")
    assert state(new) == {"12.jsonl": b"mine"}
    unfinished = json.loads(tasks_file.read_bytes())
    unfinished[1]["annotations"][0]["was_cancelled"] = True
    tasks_file.write_text(json.dumps(unfinished))
    assert gold("import", tasks_file, "-o", new).stdout == f"{new / '11.jsonl'}\n"
    assert (new / "12.jsonl").read_text() == "mine"
    tasks_file.write_text(json.dumps(unfinished[1:]))
    done = gold("import", tasks_file, "-o", tmp_path / "none")
    assert done.stderr.startswith(f"miner: {tasks_file}: found no finished annotation")
    assert done.exit_code == 1 and not (tmp_path / "none").exists()


def test_words_said_twice_in_a_paragraph_come_back_twice(tmp_path):
    rows = [(1, 1, "No", "Ann", 1), (1, 1, "No", "Ann", 1), (1, 2, "Yes", "Bo", 1)]
    folder = write_folder(tmp_path / "a", {"11": {}}, gold={"11": rows})
    (annotated,) = read_annotations(folder).gold
    edition = open_edition(annotated, page("“No,” cried Ann, “no!” She ran.", "“Yes.”"))
    assert edition.located.n_found == {1: 3}
    assert back(tmp_path / "x.json", tasks_from_edition(edition)) == {
        "11": list(annotated.annotations)
    }


def test_blank_tasks_have_regions_and_no_facts(tmp_path):
    out = tmp_path / "blank.json"
    chapters = ("--chapter", "4", "--chapter", "2", "--chapter", "4")
    assert gold("tasks", "sample", *chapters, "-o", out).output == ""
    again = gold("tasks", "99999999", *chapters, "-o", out)  # refused before it is sought
    assert again.stderr == f"miner: {out}: {EXISTS}\n"
    blank = json.loads(out.read_bytes())
    assert [item["data"]["chapter"] for item in blank] == [4, 2]
    results = [result for item in blank for result in item["annotations"][0]["result"]]
    assert {result["from_name"] for result in results} == {"speech"} and len(results) == 63
    done = gold("import", out, "-o", tmp_path / "new")
    assert done.exit_code == 1 and "found conversation None, expected a whole number" in done.stderr
    none = gold("tasks", "sample", "--chapter", "6", "-o", tmp_path / "none.json")
    assert none.stderr.startswith("miner: sample: found nothing quoted in chapter 6, expected one")
    assert not (tmp_path / "none.json").exists()
    (tmp_path / "my book.htm").write_bytes(page("“Go,” said Ann, “and stay.”"))
    named = gold("tasks", tmp_path / "my book.htm", "--chapter", "1", "-o", tmp_path / "none.json")
    assert "miner: found 'my book' as book, expected letters, digits" in named.stderr


def test_each_format_is_one_file_and_the_help_describes_it(tmp_path, monkeypatch, copied):
    assert list(describe_formats()) == ["conll", "datasets", "labelstudio", "tags"]
    assert all(describe_formats().values())
    assert {format for format in FORMATS if format in gold("export", "--help").stdout} == {*FORMATS}
    (tmp_path / "word_count.py").write_text(
        '"""The number of spans.\n\nFor a test."""\n\n'
        "def write_editions(found, out, force):\n"
        "    out.write_text(str(sum(len(item.located.facts) for item in found)))\n"
    )
    monkeypatch.setattr(export, "__path__", [*export.__path__, str(tmp_path)])
    assert describe_formats()["wordcount"] == "The number of spans"
    out = tmp_path / "n.txt"
    books = read_split(copied, "sample")
    find_writer("wordcount")(read_editions(books, lambda id: SAMPLE.read_bytes()), out, False)
    assert int(out.read_text()) > 188
    with pytest.raises(InputError, match="found format 'csv', expected conll, datasets"):
        find_writer("csv")
