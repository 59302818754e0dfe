"""The annotations as a whole: checked against their books, counted by hand, downloaded."""

import json
import shutil
from pathlib import Path

import pytest
from annotation.test_label_studio import ANNOTATIONS, SAMPLE
from click.testing import CliRunner
from loopback import answer

from miner.annotation.annotations import Annotation, read_annotations, row_of
from miner.annotation.fingerprints import fingerprint
from miner.annotation.statistics import count_annotations
from miner.annotation.validation import check, fetch_books
from miner.app.cli.main import main
from miner.files import json_line


def gold(*words, **env):
    return CliRunner().invoke(main, ["gold", *map(str, words)], env=env)


def page(*paragraphs):
    """A book of one chapter; its heading is paragraph 0."""
    body = "".join(f"<p>{text}</p>\n" for text in paragraphs)
    return f"<html><body><h2>CHAPTER I</h2>\n{body}</body></html>".encode()


def write_folder(folder, cards, **readings):
    """Annotations of books {id: changes}, gold={id: rows}, perhaps first and second, too.

    A row is (chapter, paragraph, text, speaker, conversation), with a remark or without.
    """
    folder.mkdir()
    lines = []
    for id, changes in cards.items():
        card = {"book": id, "title": f"Book {id}", "author": f"Author of {id}", "year": 1900}
        card |= {"country": "Britain", "domain": "sea", "person": 3, "split": "train"}
        lines.append(json.dumps(card | {"file": f"{id}-h.htm", "sha256": "0" * 64} | changes))
    (folder / "books.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, books in readings.items():
        (folder / name).mkdir()
        for id, rows in books.items():
            facts = [Annotation(*row[:2], fingerprint(row[2]), *row[3:]) for row in rows]
            lines = b"".join(json_line(row_of(id, fact)) for fact in facts)
            (folder / name / f"{id}.jsonl").write_bytes(lines)
    return folder


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


def rewrite(path, change):
    """Changes the rows of a file; those for which nothing comes back go."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [row for row in map(change, rows) if row]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")


def without(chapter):
    return lambda row: row if row["chapter"] != chapter else None


def problems(folder, data=SAMPLE):
    """What is wrong, from the library; the command says the same, a line each, and fails."""
    found = list(check(read_annotations(folder), "sample", lambda _: data).problems)
    if data is SAMPLE:
        done = gold("check", "--gold", folder, "--split", "sample", "-q")
        last = [f"miner: {len(found)} problems found in {folder}"] if found else []
        assert done.stderr.splitlines() == found + last
        assert (done.exit_code, done.stdout) == (int(bool(found)), "")
    return found


def test_the_sample_is_in_order(copied):
    checked = check(read_annotations(copied), "sample", lambda _: SAMPLE)
    assert checked.problems == ()
    (book,) = checked.books
    assert (book.card.book, book.n_chapters, book.is_annotated_one) == ("sample", 5, True)
    assert (book.n_all, book.n_found, book.least_coverage) == (188, 188, 1.0)
    assert problems(copied) == []
    (other,) = check(read_annotations(copied), "sample", lambda _: SAMPLE + b"\n").books
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


def test_spans_that_the_edition_has_not_are_a_problem(copied):
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
    (book,) = check(read_annotations(copied), "sample", lambda _: SAMPLE).books
    assert (book.n_found, book.least_coverage) == (176, 13 / 25)


def test_a_book_that_cannot_be_read_is_a_problem(copied):
    assert problems(copied, b"")[0].startswith("sample: the file is empty")

    def gone(id):
        raise FileNotFoundError(2, "No such file", id)

    checked = check(read_annotations(copied), "sample", gone)
    assert (len(checked.books), len(checked.problems)) == (0, 1)
    assert "No such file" in checked.problems[0]


def test_a_book_without_annotations_is_a_problem(copied):
    (copied / "gold" / "sample.jsonl").write_text("")
    line, *_ = problems(copied)
    assert line == "gold/sample: found no annotation, expected at least one chapter"


def test_readings_of_other_chapters_are_a_problem(copied):
    rewrite(copied / "second" / "sample.jsonl", without(3))
    unlike = "first, second: found other chapters in the one than in the other"
    assert problems(copied) == [unlike]
    rewrite(copied / "gold" / "sample.jsonl", without(5))
    foreign = "first/sample: found chapter 5, which gold has not"
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


FIRST = [  # chapter, paragraph, text, speaker, conversation; tags on the right
    (1, 1, "“Go,”", "Ann", 1),  # B-START
    (1, 1, "“on.”", "Ann", 1),  # I-START
    (1, 2, "“No.”", "Bo", 1),  # B-OTHER
    (1, 3, "“Fides”", "", 0),
    (1, 4, "“Yes.”", "Cy", 2),  # B-START
    (1, 5, "“So?”", "Ann", 1),  # B-START: resumed, and a pair that tags cannot say
    (1, 6, "“Why,”", "Bo", 1),  # B-OTHER
    (1, 6, "“oh!”", "Bo", 1),  # I-OTHER
    (2, 8, "“Who?”", "?", 1),  # B-START
    (2, 9, "“Me.”", "?", 1),  # B-OTHER
]
LAST = [(3, 1, "“Hm.”", "Dee", 1), (3, 2, "“Hm?”", "Ed", 1)]  # B-START, B-OTHER
SPLITS = {"train": {}, "dev": {"split": "dev", "year": 1901, "country": "Chile", "person": 1}}


@pytest.fixture
def tiny(tmp_path):
    cards = {"11": SPLITS["train"], "12": SPLITS["dev"], "13": {"split": "sample"}}
    books = {"11": FIRST, "12": LAST, "13": FIRST}
    readings = {"11": FIRST[8:]}
    return write_folder(tmp_path / "tiny", cards, gold=books, first=readings, second=readings)


COUNTS = ("books", "chapters", "twice", "spans", "utterances", "unknown", "conversations")
COUNTS += ("turns", "pairs", "interrupted", "B-START", "I-START", "B-OTHER", "I-OTHER")
BY_HAND = {
    "train": (1, 2, 1, 10, 9, 2, 3, 7, 3, 1, 4, 1, 3, 1),
    "dev": (1, 1, 0, 2, 2, 0, 1, 2, 1, 0, 1, 0, 1, 0),
    "test": (0,) * 14,
    "all": (2, 3, 1, 12, 11, 2, 4, 9, 4, 1, 5, 1, 4, 1),
    "sample": (1, 2, 0, 10, 9, 2, 3, 7, 3, 1, 4, 1, 3, 1),
}


def numbers(counted):
    return (*(counted[name] for name in COUNTS[:10]), *(counted["tags"][n] for n in COUNTS[10:]))


def test_counts_by_hand(tiny):
    said = json.loads(gold("stats", "--gold", tiny, "--json").stdout)
    assert said == count_annotations(read_annotations(tiny)).to_json()
    assert {name: numbers(counted) for name, counted in said["splits"].items()} == BY_HAND
    train, dev = BY_HAND["train"], BY_HAND["dev"]
    expected = {
        "domain": {"sea": BY_HAND["all"]},
        "country": {"Britain": train, "Chile": dev},
        "century": {"19th": train, "20th": dev},
        "narrator": {"first person": dev, "third person": train},
    }
    for kind, rows in expected.items():
        assert {name: numbers(counted) for name, counted in said[kind].items()} == rows
    assert list(said) == ["splits", *expected]


def test_counts_as_tables(tiny):
    done = gold("stats", "--gold", tiny)
    assert (done.exit_code, done.stderr) == (0, "")
    by_split, by_kind = done.stdout.split("all splits")
    rows = {line.split()[0]: line.split()[1:] for line in by_split.splitlines() if line.split()}
    assert tuple(rows["split"]) == COUNTS
    for name, row in BY_HAND.items():
        assert tuple(map(int, rows[name])) == row
    rows = [line.split() for line in by_kind.splitlines()]
    assert rows[0] == [name for name in COUNTS[:9] if name not in ("twice", "unknown")]
    assert ["Chile", "1", "1", "2", "2", "1", "2", "1"] in rows
    assert ["third", "person", "1", "2", "10", "9", "3", "7", "3"] in rows


def test_the_counts_of_our_annotations_agree_with_one_another():
    said = count_annotations(read_annotations(ANNOTATIONS)).to_json()
    everything = numbers(said["splits"]["all"])
    parts = [numbers(said["splits"][name]) for name in ("train", "dev", "test")]
    assert tuple(map(sum, zip(*parts, strict=True))) == everything
    for kind in ("domain", "country", "century", "narrator"):
        rows = [numbers(counted) for counted in said[kind].values()]
        assert tuple(map(sum, zip(*rows, strict=True))) == everything
        assert all(row[0] for row in rows)
    for counted in said["splits"].values():
        assert sum(counted["tags"].values()) == counted["utterances"] <= counted["spans"]
        assert counted["pairs"] == counted["tags"]["B-OTHER"]
        assert counted["turns"] == counted["pairs"] + counted["tags"]["B-START"]
    assert said["splits"]["sample"]["twice"] == said["splits"]["sample"]["chapters"] == 5


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
    folder = write_folder(tmp_path / "one", {"11": {}}, gold={"11": FIRST})
    done = gold("agreement", "--gold", folder)
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith("miner: found no ") and "in two readings" in done.stderr


def test_books_are_asked_for_one_by_one(tiny):
    asked = []

    def find(id):
        asked.append(id)
        if id == "13":
            raise PermissionError(13, "Permission denied", "13-h.htm")
        if id == "12":
            raise ValueError("12: no such number")
        return tiny / id

    found = fetch_books(read_annotations(tiny).gold, find)
    assert next(found) == ("11", tiny / "11")
    assert asked == ["11"]
    assert next(found) == ("12", "no such number")
    assert "Permission denied" in next(found)[1]
    assert next(found, None) is None


@pytest.mark.usefixtures("quick")
def test_what_can_be_had_is_downloaded_once_and_the_rest_named(tmp_path, tiny, site):
    body = page("“Go,” said Ann, “on.”")
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
        assert last == "miner: 1 of 2 books could not be had"
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
