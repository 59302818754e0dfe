"""Works in copyright are in no corpus; a command that only looks at a book shows them."""

import json

import pytest
from corpus_helpers import mined, record, run
from helpers import SAMPLE, said

import miner
from miner.errors import InputError

NOTICE = "** This is a COPYRIGHTED Project Gutenberg eBook, Details Below **"
WHY = "in copyright: the file says 'This is a COPYRIGHTED Project Gutenberg eBook'"


@pytest.fixture
def copyrighted(tmp_path):
    """The sample with Gutenberg's header of a work in copyright."""
    header = f"<pre>{NOTICE}\n\n*** START OF THE PROJECT GUTENBERG EBOOK ***</pre>"
    path = tmp_path / "7-h.htm"
    html = SAMPLE.read_text(encoding="utf-8")
    path.write_text(html.replace("<body>", f"<body>{header}", 1), encoding="utf-8")
    assert header in path.read_text(encoding="utf-8")
    return path


def test_a_work_in_copyright_is_set_aside_and_the_others_are_mined(copyrighted, tmp_path):
    done = run(copyrighted, "sample", "-q", "-o", tmp_path / "out")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"set aside: {copyrighted}: {WHY}\n"
    written = record(tmp_path / "out")
    assert [entry["id"] for entry in written["books"]] == ["sample"]
    assert written["set_aside"] == [{"file": "7-h.htm", "why": WHY}]
    assert b"7-h" not in (tmp_path / "out" / "spans.jsonl").read_bytes()


def test_one_work_in_copyright_is_refused(copyrighted):
    with pytest.raises(InputError, match="7-h.htm: in copyright: the file says 'This is a COPY"):
        miner.mine(copyrighted, tagger="gap")


def test_commands_that_only_look_at_a_book_go_on(copyrighted):
    assert miner.read_book(copyrighted).rights == "This is a COPYRIGHTED Project Gutenberg eBook"
    assert "double-curly" in said("profile", copyrighted)
    assert json.loads(said("tag", copyrighted, "--tagger", "gap").splitlines()[0])["book"] == "7"


def test_a_book_that_says_nothing_is_mined(tmp_path):
    assert miner.read_book("sample").rights == ""
    assert record(mined(tmp_path, "sample"))["set_aside"] == []
