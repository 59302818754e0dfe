"""The file of a chapter under annotation: which rows are kept or lost, and who may write."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from annotation_helpers import read_rows
from annotator_helpers import (
    AFTER,
    BEFORE,
    BOOK,
    FERRY,
    STEPS,
    TALK,
    edit,
    facts_of,
    opened,
    shown,
    story,
    tagged_as,
)
from helpers import ANNOTATIONS, SAMPLE

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import row_from_annotation
from miner.app.annotator.sheet_file import SheetFile, StaleEdit
from miner.errors import InputError
from miner.files import json_line
from miner.speech.read import parse_spans


def test_undo_restores_the_saved_file(tmp_path):
    path = tmp_path / "7.jsonl"
    file = opened(path)
    states = [path.read_bytes()]
    for place, (action, *more) in enumerate(STEPS):
        edit(file, action, place, *more)
        states.append(path.read_bytes())
    assert facts_of(read_rows(path, "7")) == TALK
    assert len(set(states)) == len(states)
    for state in reversed(states[:-1]):
        edit(file, "undo")
        assert path.read_bytes() == state
    assert not [name for name in os.listdir(tmp_path) if name != path.name]


@dataclass
class Annotated:
    """A file in which all chapters are annotated, and its lines."""

    path: Path
    lines: list[bytes]

    def rows(self, chapter):
        return [line for line in self.lines if json.loads(line)["chapter"] == chapter]

    def write(self, lines):
        self.lines = list(lines)
        self.path.write_bytes(b"".join(self.lines))


@pytest.fixture
def annotated(tmp_path):
    """The three chapters in one file, annotated."""
    path = tmp_path / "7.jsonl"
    for chapter, steps in ((3, [("new", "Tom"), ("same",), ("other", "Ruth")]), (2, STEPS)):
        file = opened(path, chapter)
        for place, (action, *more) in enumerate(steps):
            edit(file, action, place, *more)
    file = opened(path, 1)
    edit(edit(file, "new", 0, "Ruth") and file, "other", 1, "Tom")
    return Annotated(path, path.read_bytes().splitlines(keepends=True))


def test_chapters_are_saved_in_the_order_of_the_book(annotated):
    rows = read_rows(annotated.path, "7")
    assert [row.chapter for row in rows] == [1] * 2 + [2] * 11 + [3] * 3


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_rows_of_other_chapters_are_kept_byte_for_byte(annotated, mark):
    rows = [json.loads(line) for line in annotated.lines]
    first = json.dumps(rows[0] | {"who": "a reader", "remark": "é \\u2028"}).encode() + b" \r\n"
    last = b"  " + annotated.lines[-1].replace(b",", b" , ").rstrip()  # no newline at the end
    inside, after = annotated.rows(2), [*annotated.rows(3)[:2], last]
    kept = [mark + first, annotated.lines[1]]
    annotated.write([*kept, *inside, *after])
    before = annotated.path.read_bytes()
    file = opened(annotated.path)
    assert annotated.path.read_bytes() == before
    edit(file, "clear", 4)
    wanted = b"".join([*kept, *inside[:4], *inside[5:], *after, b"\n"])
    assert annotated.path.read_bytes() == wanted
    edit(file, "undo")
    assert annotated.path.read_bytes() == before + b"\n"
    assert len(read_rows(annotated.path, "7")) == len(rows)


def test_a_row_is_placed_on_its_own_span_among_equal_texts(tmp_path):
    """Several spans of the chapter have the same text."""
    path = tmp_path / "7.jsonl"
    edit(opened(path), "new", 7, "boy")
    again = opened(path).current().sheet
    assert shown(again) == [""] * 7 + ["boy1"] + [""] * 3
    edit(opened(path), "new", 4, "Tom")
    assert shown(opened(path).current().sheet)[4:8] == ["Tom1", "", "", "boy2"]


def test_a_row_that_is_found_on_no_span_is_kept_and_listed(annotated):
    rows = [json.loads(line) for line in annotated.lines]
    third = next(n for n, row in enumerate(rows) if row["chapter"] == 2) + 3
    lost = rows[third] | {"fingerprint": str(fingerprint("“And the herring?”")), "speaker": "Ada"}
    annotated.write(json_line(row) for row in [*rows[:third], lost, *rows[third + 1 :]])
    before = annotated.path.read_bytes()
    file = opened(annotated.path)
    sheet = file.current().sheet
    assert [row_from_annotation("7", row) for row in sheet.lost] == [lost]
    assert shown(sheet)[2:5] == ["Tom1", "", "Tom1"]
    sheet = edit(file, "other", 3)
    assert shown(sheet)[3] == "Ruth1"
    kept = [row.speaker for row in read_rows(annotated.path, "7") if row.chapter == 2]
    assert sorted(kept[2:5]) == ["Ada", "Ruth", "Tom"] and "Ada" in sheet.speakers
    edit(file, "new", 2, "Ada")
    edit(file, "rename", 2, "Ada Lunt")
    assert [row.speaker for row in file.current().sheet.lost] == ["Ada Lunt"]
    for _ in range(3):
        edit(file, "undo")
    assert annotated.path.read_bytes() == before


def test_a_lost_row_counts_when_conversations_are_numbered(tmp_path):
    path = tmp_path / "7.jsonl"
    file = opened(path)
    edit(file, "new", 4, "Tom")
    (line,) = path.read_bytes().splitlines(keepends=True)
    row = json.loads(line)
    gone = {"fingerprint": str(fingerprint("“Lost and gone, my dear.”")), "speaker": "Ada"}
    path.write_bytes(json_line(row | gone) + json_line(row | {"conversation": 2}))
    sheet = edit(opened(path), "new", 0, "Ruth")
    assert [(row.speaker, row.conversation) for row in read_rows(path, "7")] == [
        *(("Ruth", 1), ("Ada", 2), ("Tom", 3))
    ]
    assert shown(sheet)[:5] == ["Ruth1", "", "", "", "Tom3"]


def test_a_lost_row_at_the_end_is_kept_and_gets_no_answer(tmp_path):
    """Its place is unknown, so no guess answers it."""
    path = tmp_path / "7.jsonl"
    for place in (0, 1):
        edit(opened(path), "new", place, "Ruth")
    first, second = map(json.loads, path.read_bytes().splitlines())
    gone = second | {"fingerprint": str(fingerprint("“Lost.”")), "speaker": "Ada"}
    path.write_bytes(b"".join(map(json_line, [first, second, gone, gone | {"paragraph": 90}])))
    file = opened(path, tagged=tagged_as("SsRRRSRSRr"))
    assert [fact.speaker for fact in file.current().sheet.lost] == ["Ada", "Ada"]
    assert shown(file.current().sheet)[:3] == ["Ruth1", "Ruth2", "A2?"]
    edit(file, "accept", 2)
    names = [fact.speaker for fact in read_rows(path, "7")]
    assert names == ["Ruth", "Ruth", "Ada", "A", "Ada"]


HAND = "He turned to the door"  # narration of paragraph 4


@pytest.mark.parametrize("paragraph", [4, 3])
def test_unquoted_words_are_found_in_their_own_paragraph_only(annotated, paragraph):
    rows = [json.loads(line) for line in annotated.lines]
    first = next(n for n, row in enumerate(rows) if row["chapter"] == 2)
    words = {"fingerprint": str(fingerprint(HAND)), "speaker": "Tom", "conversation": 1}
    rows.insert(first + 5, rows[first + 1 + paragraph] | words)
    annotated.write(map(json_line, rows))
    sheet = opened(annotated.path).current().sheet
    texts = [entry.span.text for entry in sheet.spans]
    assert len(sheet.lost) == (paragraph == 3) and (HAND in texts) == (paragraph == 4)
    assert sheet.n_decided == len(sheet.spans) == (12 if paragraph == 4 else 11)


def test_a_span_that_was_split_by_hand_stays_as_it_is(annotated):
    """The annotator made one span of two spans and the narration between them."""
    rows = [json.loads(line) for line in annotated.lines]
    first = next(n for n, row in enumerate(rows) if row["chapter"] == 2)
    whole = {"fingerprint": str(fingerprint(re.sub("<.*?>", "", FERRY[0])))}
    annotated.write(
        json_line(row) for row in [*rows[:first], rows[first] | whole, *rows[first + 2 :]]
    )
    before = annotated.path.read_bytes()
    file = opened(annotated.path)
    version = file.current()
    assert version.sheet.lost == []
    assert version.sheet.spans[0].span.text == FERRY[0]
    assert len(version.sheet.spans) == 10
    assert "".join(s.text for s in version.spans) == "".join(
        s.text for s in BOOK.spans if s.chapter == 2
    )
    edit(file, "clear", 3)
    edit(file, "other", 3)
    assert annotated.path.read_bytes() == before


def test_rows_from_another_edition_are_found_by_their_letters(annotated):
    """Its preface shifts the paragraph numbers, and its marks and spelling differ."""
    preface = ["It is an old story.", "The author has told it to nobody."] * 4
    chapters = [[*preface, *BEFORE], [text.replace("today", "to-day") for text in FERRY], AFTER]
    other = story(*([re.sub("[“”]", '"', text) for text in chapter] for chapter in chapters))
    for chapter in (1, 3):  # the rows of other chapters would be out of order
        annotated.write(line for line in annotated.lines if line not in annotated.rows(chapter))
    sheet = opened(annotated.path, book=other).current().sheet
    assert sheet.lost == []
    assert [name for name in shown(sheet) if name] == [f"{who}{n or 0}" for _, who, n in TALK]


def test_a_row_that_fits_two_places_of_another_edition_is_lost(tmp_path):
    path = tmp_path / "7.jsonl"
    file = opened(path)
    for place, (action, *more) in enumerate(STEPS[:4]):
        edit(file, action, place, *more)
    edit(file, "clear", 3)
    edit(file, "new", 4, "Tom")
    edit(file, "new", 9, "Ines")
    other = story(["It is an old story."] * 5, FERRY)
    sheet = opened(path, book=other).current().sheet
    assert shown(sheet)[:3] == ["Ruth1", "Ruth1", ""]
    assert [str(row.fingerprint) for row in sheet.lost] == [str(fingerprint("“Yes.”"))] * 2
    assert shown(sheet)[9] == "Ines3"


@pytest.mark.parametrize(
    ("chapter", "other", "message"),
    [
        (
            2,
            story([*BEFORE, *["It rained."] * 40], FERRY),
            "chapter 3 in paragraph 14, expected it",
        ),
        (3, story(BEFORE, ["It rained."], AFTER), "chapter 2 in paragraph 8, expected it before"),
    ],
)
def test_a_file_is_refused_if_the_edition_numbers_its_paragraphs_differently(
    annotated, chapter, other, message
):
    before = annotated.path.read_bytes()
    with pytest.raises(InputError, match=re.escape(f"{annotated.path}: found {message}")) as raised:
        opened(annotated.path, chapter, book=other)
    assert str(raised.value).endswith("in this edition")
    assert annotated.path.read_bytes() == before


@pytest.mark.parametrize("chapter", range(1, 6))
def test_the_gold_of_the_sample_is_read_and_written_unchanged(tmp_path, chapter):
    gold = ANNOTATIONS / "gold" / "sample.jsonl"
    book_spans = parse_spans(SAMPLE.read_bytes(), "sample", ())
    path = tmp_path / "sample.jsonl"
    path.write_bytes(gold.read_bytes())
    file = SheetFile(path, book_spans, chapter)
    version = file.current()
    rows = b"".join(json_line(row_from_annotation("sample", row)) for row in version.sheet.rows())
    assert rows and version.head + rows + version.tail == gold.read_bytes()
    assert version.sheet.n_decided == len(version.sheet.spans) and not version.sheet.lost
    file.edit(version.revision, "nothing", 3)
    assert path.read_bytes() != gold.read_bytes()
    file.edit(file.current().revision, "undo")
    assert path.read_bytes() == gold.read_bytes()


OF_ANOTHER_BOOK = (
    b'{"book":"8","chapter":2,"paragraph":9,"fingerprint":"a.1.00000000",'
    b'"speaker":"A","conversation":1}'
)


@pytest.mark.parametrize(
    ("chapter", "content", "message"),
    [
        (9, None, "7: found nothing quoted in chapter 9, expected one of the chapters 1 to 4"),
        (4, None, "7: found nothing quoted in chapter 4, expected one of the chapters 1 to 4"),
        (2, OF_ANOTHER_BOOK, "7.jsonl:1: found book '8', expected '7'"),
        (2, b"<html>\n", "7.jsonl:1: found bad JSON"),
        (2, b"\n\xe9\n", "7.jsonl:2: found bytes that are not UTF-8"),
    ],
)
def test_what_cannot_be_annotated_is_refused_and_unchanged(tmp_path, chapter, content, message):
    book = story(BEFORE, FERRY, AFTER, ["It rained, and nobody spoke."])
    path = tmp_path / "7.jsonl"
    if content:
        path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(message)):
        opened(path, chapter, book=book)
    assert path.read_bytes() == content if content else not path.exists()


def test_a_file_that_is_a_link_stays_one(tmp_path):
    real, link = tmp_path / "real.jsonl", tmp_path / "7.jsonl"
    real.touch()
    link.symlink_to(real)
    edit(opened(link), "new", 0)
    assert link.is_symlink() and len(read_rows(real, "7")) == 1


def test_a_file_that_changed_elsewhere_is_not_overwritten(annotated):
    file = opened(annotated.path)
    seen = file.current().revision
    changed = b"".join(annotated.lines).replace(b'"boy"', b'"girl"')
    assert changed != annotated.path.read_bytes()
    annotated.path.write_bytes(changed)
    with pytest.raises(StaleEdit, match="changed on disk"):
        file.edit(seen, "clear", 0)
    assert annotated.path.read_bytes() == changed
    with pytest.raises(StaleEdit, match="older state"):
        file.edit(seen, "clear", 0)
    edit(file, "clear", 0)
    assert annotated.path.read_bytes() == changed.replace(annotated.rows(2)[0], b"", 1)
    annotated.path.unlink()
    assert file.current().sheet.n_decided == 0 and not file.current().sheet.history
    edit(file, "new", 0)
    assert len(read_rows(annotated.path, "7")) == 1


def test_answers_in_another_chapter_are_kept_and_stop_nobody(annotated):
    """As when two chapters are open in two windows; the answers here can still be undone."""
    second, third = opened(annotated.path, 2), opened(annotated.path, 3)
    before = annotated.path.read_bytes()
    seen = second.current().revision
    edit(second, "clear", 0)
    cleared = second.current().revision
    edit(third, "clear", 1)
    assert second.current().revision == cleared != seen
    edit(second, "undo")
    edit(third, "undo")
    assert annotated.path.read_bytes() == before


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "socket"])
def test_what_is_no_ordinary_file_is_refused_in_one_line(tmp_path, kind):
    path = tmp_path / "out"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path(os.devnull)
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    with pytest.raises(InputError) as raised:
        opened(path)
    assert str(raised.value) == f"{path}: found a {kind}, expected an ordinary file or a new name"
    assert os.listdir(tmp_path) == ([] if kind == "device" else ["out"])


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    path = tmp_path / "7.jsonl"
    others = [
        ".7.jsonl.original",
        ".7.jsonl.writing.notes.txt",
        ".8.jsonl.writing.abcdefgh",
        "7.jsonl.writing.abcdefgh",
        ".7xjsonl.writing.abcdefgh",
    ]
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / ".7.jsonl.writing.folder_8").mkdir()
    code = f"""
import os, signal
from pathlib import Path
from miner.files import whole_file
with whole_file(Path({str(path)!r})) as file:
    file.write(b"half of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == len(others) + 2
    opened(path)
    assert sorted(os.listdir(tmp_path)) == sorted([*others, ".7.jsonl.writing.folder_8", path.name])


def test_a_failed_write_leaves_the_state_unchanged(tmp_path, monkeypatch):
    path = tmp_path / "7.jsonl"
    file = opened(path)
    edit(file, "new", 0, "Ruth")
    before, seen = path.read_bytes(), file.current()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="cannot be written: No space left"):
        file.edit(seen.revision, "same", 1)
    monkeypatch.undo()
    assert (path.read_bytes(), file.current()) == (before, seen)
    assert os.listdir(tmp_path) == [path.name]
    assert shown(edit(file, "same", 1))[:2] == ["Ruth1", "Ruth1"]
