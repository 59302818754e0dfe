"""Characters corrected by hand, given back to `mine`: who speaks in a small book."""

import json

import pytest
from corpus_helpers import bytes_of, record, run
from helpers import failed, interrupted_after
from helpers import run as command

import miner
import miner.corpus.pipeline
from heuristic.gap import GapTagger
from miner.errors import InputError

# An innkeeper with two names whom nothing joins, a master and his pupil, a waiter, and an "I".
CHAPTERS = (
    """
    “Is the lamp lit?” said Mrs. Otway. | “It was,” said Tobin, “until the oil ran out.”
    “Then fill it,” said Mrs. Otway. | Mrs. Otway sat down. Tobin took the can.
    “Good evening,” said Nan Pell. | “We are full,” said Tobin. | Nan Pell sighed.
    “Not to me,” said Nan Pell, “for I keep the books.” | “So she does,” said Mrs. Otway.
    “Shall I bring the soup?” said a waiter. | “Bring it,” said Tobin.
    """,
    """
    “You are early, David,” said Tobin. | “I ran,” I said, and I sat down by the fire.
    “Sit nearer, David,” said Mrs. Otway. | I thanked Mrs. Otway, and I took off my coat.
    “I was cold,” I said. | “So I see,” said Tobin. | I looked at the lamp, and I slept.
    “And David never told us!” said Mrs. Otway. | “He told me,” said Tobin. | I said nothing.
    “I did tell,” I said. | “Hush, David,” said Mrs. Otway. | I went up, and I shut my door.
    """,
)
NARRATED = "“Is it late?” asked David. | “It is,” said Tobin. | David sighed."


def page(*chapters):
    blocks = []
    for number, chapter in enumerate(chapters, 1):
        blocks.append(f"<h2>Chapter {number}</h2>")
        texts = (text.strip() for line in chapter.splitlines() for text in line.split("|"))
        blocks += [f"<p>{text}</p>" for text in texts if text]
    return (
        f"<html lang='en'><head><title>The Inn</title></head><body>{''.join(blocks)}</body></html>"
    )


@pytest.fixture(scope="module")
def inn(tmp_path_factory):
    path = tmp_path_factory.mktemp("inn") / "inn.html"
    path.write_text(page(*CHAPTERS), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(inn):
    return miner.mine(inn, tagger="gap")


def write(folder, rows):
    path = folder / "characters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def speakers(book):
    """The speaker of each utterance, by its beginning."""
    rows = (row for row in book.rows("spans") if row["kind"] == "utterance")
    return {row["text"].strip("“”,"): row["speaker"] for row in rows}


def corrected(folder, found, inn, change):
    """The book mined with its characters after a change by hand, and the speakers that differ."""
    rows = {row["id"]: row for row in found.rows("characters")}
    change(rows)
    given = miner.mine(inn, tagger="gap", characters=write(folder, rows.values()))
    before = speakers(found)
    return given, {text: to for text, to in speakers(given).items() if to != before[text]}


def test_who_speaks_before_any_correction(found):
    assert {row["id"]: (row["kind"], row["chapter"]) for row in found.rows("characters")} == {
        "mrs-otway": ("named", None),
        "tobin": ("named", None),
        "nan-pell": ("named", None),
        "waiter-1": ("unnamed", 1),
        "narrator": ("narrator", None),
    }
    said = speakers(found)
    assert said["Then fill it"] == "mrs-otway" and said["Good evening"] == "nan-pell"
    assert said["Shall I bring the soup?"] == "waiter-1" and said["I ran"] == "narrator"


@pytest.mark.parametrize("tagger", ["gap", "auto"])
def test_a_list_without_corrections_changes_nothing(inn, tmp_path, tagger):
    found = miner.mine(inn, tagger=tagger)
    path = tmp_path / "characters.jsonl"
    path.write_bytes(found.encoded["characters"])
    again = miner.mine(inn, tagger=tagger, characters=path)
    assert again.encoded == found.encoded


def test_a_nameless_narrator_is_the_same_where_i_is_rare(tmp_path):
    rare = "“Who is it?” Tobin asked me. | " + "He sat, and she ran. | " * 6
    path = tmp_path / "inn.html"
    path.write_text(page(CHAPTERS[0], rare), encoding="utf-8")
    found = miner.mine(path, tagger="gap")
    assert {row["id"]: row["addressed"] for row in found.rows("characters")}["narrator"]
    again = miner.mine(path, tagger="gap", characters=write(tmp_path, found.rows("characters")))
    assert again.encoded == found.encoded


def test_two_rows_may_be_merged(inn, found, tmp_path):
    def merge(rows):
        rows["mrs-otway"]["aliases"] += rows.pop("nan-pell")["aliases"]

    book, changed = corrected(tmp_path, found, inn, merge)
    assert {text for text, one in speakers(found).items() if one == "nan-pell"} <= set(changed)
    assert set(changed.values()) == {"mrs-otway"}
    assert "nan-pell" not in {one.id for one in book.characters}
    rows = {row["id"]: row for row in book.rows("characters")}
    was = {row["id"]: row for row in found.rows("characters")}
    for key in ("mentions", "utterances"):
        merged = was["mrs-otway"][key] + was["nan-pell"][key]
        assert rows["mrs-otway"][key] == merged


def test_a_character_may_have_another_name(inn, found, tmp_path):
    def rename(rows):
        rows["mrs-otway"]["name"] = "Martha Otway"

    book, changed = corrected(tmp_path, found, inn, rename)
    assert changed == {}
    names = {row["speaker"]: row["speaker_name"] for row in book.rows("spans")}
    assert names["mrs-otway"] == "Martha Otway" and names["tobin"] == "Tobin"
    assert "Martha Otway" in {row["context_speaker_name"] for row in book.rows()}


def test_the_narrator_may_have_names(inn, found, tmp_path):
    def name(rows):
        rows["narrator"] |= {"id": "david", "name": "David", "aliases": ["David"]}

    book, changed = corrected(tmp_path, found, inn, name)
    own = {text for text, one in speakers(found).items() if one == "narrator"}
    assert own == set(changed) and set(changed.values()) == {"david"}
    (turn,) = (
        turn for row in book.rows("dialogues") for turn in row["turns"] if "early" in turn["text"]
    )
    assert turn["addressees"][0] == "david"  # "You are early, David" calls the narrator


def test_a_narrator_with_names_speaks_where_i_is_rare(tmp_path):
    path = tmp_path / "inn.html"
    path.write_text(page(CHAPTERS[0], NARRATED), encoding="utf-8")
    row = {"book": "inn", "id": "david", "name": "David", "aliases": ["David"], "gender": "m"}
    given = write(tmp_path, [row | {"kind": "narrator"}])
    assert speakers(miner.mine(path, tagger="gap", characters=given))["Is it late?"] == "david"


def test_an_unnamed_person_may_have_a_better_name(inn, found, tmp_path):
    def name(rows):
        rows["waiter-1"] |= {"id": "old-peter", "name": "Old Peter"}

    book, changed = corrected(tmp_path, found, inn, name)
    assert changed == {"Shall I bring the soup?": "old-peter"}
    names = {row["speaker"]: row["speaker_name"] for row in book.rows("spans")}
    assert names["old-peter"] == "Old Peter" and "waiter-1" not in names


def test_tags_that_are_read_back_keep_the_names_of_their_speakers(inn, tmp_path):
    found = miner.mine(inn)
    tags = tmp_path / "inn.tags"
    keys = list(found.rows("spans")[0])[:15]
    tags.write_text(
        "".join(json.dumps({key: row[key] for key in keys}) + "\n" for row in found.rows("spans")),
        encoding="utf-8",
    )
    again = miner.mine(inn, tagger=tags)
    assert again.rows("characters") == found.rows("characters")
    assert again.rows("spans") == found.rows("spans")


def test_the_list_is_an_option_of_the_run(inn, found, tmp_path):
    given = write(tmp_path, found.rows("characters"))
    out = tmp_path / "out"
    done = run(inn, "sample", "--characters", given, "-o", out)
    why = "no characters of this book in characters.jsonl: they were found"
    assert (done.exit_code, done.stderr) == (0, f"warning: sample.html: {why}\n")
    said = record(out)
    assert said["options"]["characters"] == miner.corpus.pipeline.open_characters(given).signature
    assert said["options"]["characters"].startswith("characters.jsonl@")
    assert [entry["warnings"] for entry in said["books"]] == [[], [why]]
    assert str(tmp_path).encode() not in b"".join(bytes_of(out).values())


def test_a_list_that_lacks_those_who_often_speak_is_said_in_one_line(inn, found, tmp_path):
    rows = [row for row in found.rows("characters") if row["id"] not in ("tobin", "nan-pell")]
    done = run(inn, "--characters", write(tmp_path, rows), "-o", tmp_path / "out")
    why = "characters.jsonl lacks some who often speak: Tobin"
    assert (done.exit_code, done.stderr) == (0, f"warning: inn.html: {why}\n")


def test_a_list_without_any_of_the_books_is_refused_before_any_work(inn, found, tmp_path):
    rows = [row | {"book": "11"} for row in found.rows("characters")]
    given = write(tmp_path, rows)
    line = f"{given}: found characters of 11, expected characters of"
    assert failed("mine", inn, "sample", "--characters", given, "-o", tmp_path / "out") == (
        f"{line} inn, sample"
    )
    assert failed("tag", inn, "--characters", given) == f"{line} inn"
    with pytest.raises(InputError, match="expected characters of inn$"):
        miner.mine(inn, characters=given)
    assert not (tmp_path / "out").exists()
    assert failed("mine", inn, "--characters", tmp_path / "gone", "-o", tmp_path / "out") == (
        f"{tmp_path / 'gone'}: No such file or directory"
    )


def test_a_run_is_resumed_with_the_same_list_alone(inn, found, tmp_path, monkeypatch):
    given, out = write(tmp_path, found.rows("characters")), tmp_path / "out"
    words = (inn, "sample", "-q", "-o", out, "--characters")
    with monkeypatch.context() as context:
        stopping = interrupted_after(miner.corpus.pipeline.parse_spans, 1)
        context.setattr("miner.corpus.pipeline.parse_spans", stopping)
        assert run(*words, given).exit_code == 130
    (tmp_path / "elsewhere").mkdir()
    moved = write(tmp_path / "elsewhere", found.rows("characters"))
    write(tmp_path, found.rows("characters")[:-1])
    refused = run(*words, given, "--resume")
    assert refused.exit_code == 1 and "a run with options characters characters.jsonl@" in (
        refused.stderr
    )
    assert run(*words, moved, "--resume").exit_code == 0
    assert [entry["id"] for entry in record(out)["books"]] == ["inn", "sample"]


def test_a_loaded_tagger_takes_the_list_too(inn, found, tmp_path):
    rows = found.rows("characters")
    for row in rows:
        row["id"] = f"the-{row['id']}"
    given = write(tmp_path, rows)
    for tagger in (miner.load_tagger("auto"), GapTagger()):
        book = miner.mine(inn, tagger=tagger, characters=given)
        assert "the-tobin" in speakers(book).values()
        assert str(tmp_path) not in book.entry["tagger"]


def test_tags_of_a_heuristic_have_no_speakers_and_that_is_said(inn, found, tmp_path):
    given = write(tmp_path, found.rows("characters"))
    done = command("tag", inn, "--tagger", "gap", "--characters", given)
    assert done.exit_code == 0
    assert done.stderr == (
        "warning: inn: the tagger gap names no speakers: --characters changed nothing\n"
    )
    done = command("tag", inn, "--characters", given)
    assert done.stderr == "" and '"speaker":"tobin"' in done.stdout
