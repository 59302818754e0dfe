"""Annotations checked against their books and one another, and the download of the books."""

import json
import shutil
from pathlib import Path

import pytest
from annotation_helpers import TALK, gold, page, write_folder
from helpers import SAMPLE as SAMPLE_FILE
from loopback import answer

from miner.annotation.annotations import read_annotations
from miner.lab.gold.editions import check_annotations

SAMPLE = SAMPLE_FILE.read_bytes()


def rewrite(path, change):
    """Changes the rows of a file; those for which nothing comes back go."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [row for row in map(change, rows) if row]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")


def without(chapter):
    return lambda row: row if row["chapter"] != chapter else None


def problems(folder, data=SAMPLE):
    """What is wrong, from the library; the command says the same, a line each, and fails."""
    found = list(check_annotations(read_annotations(folder), "sample", lambda _: data).problems)
    if data is SAMPLE:
        done = gold("check", "--gold", folder, "--split", "sample", "-q")
        last = [f"miner: {len(found)} problems found in {folder}"] if found else []
        assert done.stderr.splitlines() == found + last
        assert (done.exit_code, done.stdout) == (int(bool(found)), "")
    return found


def test_the_sample_has_no_problems(copied):
    checked = check_annotations(read_annotations(copied), "sample", lambda _: SAMPLE)
    assert checked.problems == ()
    (book,) = checked.books
    assert (book.card.book, book.n_chapters, book.is_annotated_one) == ("sample", 5, True)
    assert (book.n_all, book.n_found, book.least_coverage) == (188, 188, 1.0)
    assert problems(copied) == []
    (other,) = check_annotations(read_annotations(copied), "sample", lambda _: SAMPLE + b"\n").books
    assert (other.is_annotated_one, other.n_found) == (False, 188)


def test_check_prints_its_table(copied):
    done = gold("check", "--split", "sample", "--gold", copied)
    assert (done.exit_code, done.stderr) == (0, "")
    head, row, last = (line.split() for line in done.stdout.splitlines() if line[:1].isalnum())
    assert head[:5] == ["book", "title", "split", "chapters", "spans"]
    assert (row[0], row[4:]) == (
        "sample",
        ["sample", "5", "188", "188", "100.0%", "as", "annotated"],
    )
    assert " ".join(last) == "1 books: 188 of 188 annotated spans found, 0 problems"


def test_spans_that_the_edition_lacks_are_a_problem(copied):
    changed = []

    def change(row):
        if row["chapter"] == 4 and len(changed) < 12:
            row["fingerprint"] = f"zqx.{len(changed) + 30}.00000000"
            changed.append(row)
        return row

    rewrite(copied / "gold" / "sample.jsonl", change)
    (line,) = problems(copied)
    assert line.startswith("sample, chapter 4: found 13 of 25 annotated spans in this edition, ")
    assert "expected at least 97%; first lost: paragraph 124, no utterance, zqx.30.0000" in line
    (book,) = check_annotations(read_annotations(copied), "sample", lambda _: SAMPLE).books
    assert (book.n_found, book.least_coverage) == (176, 13 / 25)


def test_a_book_that_cannot_be_read_is_a_problem(copied):
    assert problems(copied, b"")[0].startswith("sample: the file is empty")

    def gone(id):
        raise FileNotFoundError(2, "No such file", id)

    checked = check_annotations(read_annotations(copied), "sample", gone)
    assert (len(checked.books), len(checked.problems)) == (0, 1)
    assert "No such file" in checked.problems[0]


def test_a_book_without_annotations_is_a_problem(copied):
    (copied / "gold" / "sample.jsonl").write_text("")
    line, *_ = problems(copied)
    assert line == "gold/sample: found no annotation, expected at least one chapter"


def test_readings_of_other_chapters_are_a_problem(copied):
    rewrite(copied / "second" / "sample.jsonl", without(3))
    unlike = "first, second: found different chapters, expected the same"
    assert problems(copied) == [unlike]
    rewrite(copied / "gold" / "sample.jsonl", without(5))
    foreign = "first/sample: found chapter 5, expected a chapter of the gold"
    assert problems(copied) == [unlike, foreign]
    (copied / "second" / "sample.jsonl").unlink()
    assert problems(copied) == [unlike, foreign]


def test_two_editions_of_one_work_are_a_problem(copied):
    card = json.loads((copied / "books.jsonl").read_text(encoding="utf-8"))
    card |= {"book": "7", "split": "dev", "author": "Somebody Else"}
    with (copied / "books.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(card) + "\n")
    shutil.copy(copied / "gold" / "sample.jsonl", copied / "gold" / "7.jsonl")
    rewrite(copied / "gold" / "7.jsonl", lambda row: row | {"book": "7"})
    assert problems(copied) == ["sample, 7: found the same spans, expected different works"]
    # A few common phrases make no copy: all but the long spans, and less than half of those.
    n_long = [0]

    def change(row):
        is_long = row["fingerprint"].index(".") >= 8
        n_long[0] += is_long
        if is_long and n_long[0] % 5 > 1:
            row["fingerprint"] = f"otherwords.{n_long[0]}.00000000"
        return row

    rewrite(copied / "gold" / "7.jsonl", change)
    assert n_long[0] > 30
    assert problems(copied) == []


@pytest.mark.slow
def test_agreement_of_readings(copied):
    shown = gold("agreement", "--gold", copied)
    assert (shown.exit_code, shown.stderr) == (0, "")
    rows = {line[:22].strip(): line[22:].split() for line in shown.stdout.splitlines()}
    assert rows["chapters"] == ["5", "5", "5"]
    assert rows["spans"] == ["188", "188", "188"]
    said = json.loads(gold("agreement", "--gold", copied, "--json").stdout)
    assert list(said) == ["first, second", "gold, first", "gold, second"]
    assert [f"{record['kappa of tags']:.3f}" for record in said.values()] == rows["kappa of tags"]
    shutil.copy(copied / "first" / "sample.jsonl", copied / "second" / "sample.jsonl")
    same = json.loads(gold("agreement", "--gold", copied, "--json").stdout)["first, second"]
    assert {value for value in same.values() if isinstance(value, float)} == {1.0}


def test_agreement_of_no_readings(tmp_path):
    folder = write_folder(tmp_path / "one", {"11": {}}, gold={"11": TALK})
    done = gold("agreement", "--gold", folder)
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith("miner: found no ") and "in two readings" in done.stderr


@pytest.mark.usefixtures("quick")
def test_books_are_downloaded_once_and_missing_ones_are_named(tmp_path, tiny, site):
    body = page("“Go,” said Ann, “on.”") + b"*** END OF THE PROJECT GUTENBERG EBOOK ***"
    site.pages["/11.html"] = answer(body)
    words = ["fetch", "--gold", tiny, "--mirror", site.mirror]
    env = {"MINER_CACHE": str(tmp_path / "cache")}
    for n in range(2):
        done = gold(*words, **env)
        assert done.exit_code == 1
        book, _, path = done.stdout.strip().partition(": ")
        assert (book, Path(path).read_bytes()) == ("11", body)
        missing, last = done.stderr.splitlines()
        assert missing.startswith("12: http") and "/12.html answered 404" in missing
        assert last == "miner: 1 of 2 books could not be downloaded"
        assert site.paths == ["/11.html"] + ["/12.html"] * (n + 1)
    quiet = gold(*words, "--split", "train", "-q", **env)
    assert (quiet.exit_code, quiet.output) == (0, "")
    assert len(site.paths) == 3


@pytest.mark.usefixtures("quick")
def test_the_sample_needs_no_download(copied, site):
    done = gold("fetch", "--gold", copied, "--split", "sample", "--mirror", site.mirror)
    assert (done.exit_code, done.stderr, site.paths) == (0, "", [])
    assert done.stdout.startswith("sample: ") and done.stdout.endswith("sample.html\n")
    none = gold("fetch", "--gold", copied, "--mirror", site.mirror)
    assert (none.exit_code, none.stdout) == (1, "")
    assert none.stderr == f"miner: {copied}: found no book of split all\n"
