"""Files are complete or not there at all, and reading them names the place of an error."""

import errno
import inspect
import os
import re
import stat
import sys

import pytest
from helpers import ROOT

from miner.corpus.recipe import read_split_list
from miner.errors import InputError
from miner.files import (
    decode_text,
    file_signature,
    json_line,
    json_rows,
    name_paths,
    read_text,
    refuse_another,
    refuse_existing,
    sha256_of,
    whole_file,
    whole_folder,
)
from miner.lab.gold.mcn import read_any_tag_file
from miner.lab.gold.pdnc import find_novels, read_character_list


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new" / "tags.jsonl"
    with whole_file(path) as file:
        file.write(b"one\n")
        assert not path.exists()
    assert path.read_bytes() == b"one\n"
    with pytest.raises(InputError, match="exists already"), whole_file(path) as file:
        raise AssertionError("the block must not start")
    with pytest.raises(ZeroDivisionError), whole_file(path, force=True) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert state(path.parent) == {"tags.jsonl": b"one\n"}
    with whole_file(path, force=True) as file:
        file.write(b"two\n")
    assert state(path.parent) == {"tags.jsonl": b"two\n"}


def test_a_failed_file_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "a" / "b" / "c"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="found a folder"), whole_file(tmp_path, force=True):
        pass


def test_a_file_that_appeared_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "tags.jsonl"
    with pytest.raises(InputError, match="exists already"), whole_file(path) as file:
        file.write(b"ours")
        path.write_bytes(b"theirs")
    assert state(tmp_path) == {"tags.jsonl": b"theirs"}


def test_files_of_a_folder_appear_together_and_others_stay(tmp_path):
    folder = tmp_path / "plots"
    with whole_folder(folder) as work:
        (work / "one").write_bytes(b"1")
        assert not (folder / "one").exists()
    with pytest.raises(InputError, match="exists already"), whole_folder(folder):
        raise AssertionError("the block must not start")
    with pytest.raises(ZeroDivisionError), whole_folder(folder, force=True) as work:
        (work / "one").write_bytes(b"half")
        raise ZeroDivisionError
    (folder / "notes").write_bytes(b"mine")
    with whole_folder(folder, force=True) as work:
        (work / "one").write_bytes(b"2")
    assert state(folder) == {"one": b"2", "notes": b"mine"}
    with pytest.raises(InputError, match="found a file"), whole_folder(folder / "one", force=True):
        pass


def test_new_files_have_the_permissions_of_other_new_files(tmp_path):
    with whole_file(tmp_path / "whole") as file:
        file.write(b"")
    with whole_folder(tmp_path / "folder") as work:
        (work / "in it").write_bytes(b"")
    (tmp_path / "plain").write_bytes(b"")
    modes = {path.name: path.stat().st_mode for path in tmp_path.rglob("*") if path.is_file()}
    assert modes["whole"] == modes["in it"] == modes["plain"]


def test_an_empty_folder_may_be_filled(tmp_path):
    refuse_existing(tmp_path, force=False)


# What is no plain file: nothing is written to it or in its place.
SPECIAL = {
    "a link": lambda path: path.symlink_to("theirs"),
    "a broken link": lambda path: path.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/null"),
}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_no_plain_file_is_not_replaced(tmp_path, kind, force):
    (tmp_path / "theirs").write_text("theirs")
    path = tmp_path / "out"
    SPECIAL[kind](path)
    before = path.lstat()
    with pytest.raises(InputError, match="expected a plain file or a new name"):
        refuse_existing(path, force)
    with pytest.raises(InputError), whole_file(path, force):
        raise AssertionError("the block must not start")
    with pytest.raises(InputError, match="out: "), whole_folder(tmp_path, force=True) as work:
        (work / "out").write_text("ours")
    with (
        pytest.raises(InputError, match="expected a plain file"),
        whole_file(tmp_path / "new", force) as file,
    ):
        file.write(b"ours")
        SPECIAL[kind](tmp_path / "new")  # it appeared meanwhile
    assert path.lstat() == before and (tmp_path / "theirs").read_text() == "theirs"


def test_files_of_a_folder_may_be_in_folders(tmp_path):
    for content in (b"1", b"2"):
        with whole_folder(tmp_path / "out", force=True) as work:
            (work / "encoder").mkdir()
            (work / "encoder" / "one").write_bytes(content)
        assert (tmp_path / "out" / "encoder" / "one").read_bytes() == content
    mode = (tmp_path / "out" / "encoder").stat().st_mode
    assert stat.S_IMODE(mode) & stat.S_IXUSR


def test_force_replaces_no_folder_of_something_else(tmp_path):
    (tmp_path / "README.md").write_text("theirs")
    with pytest.raises(InputError, match="found files but no method.json of an earlier run"):
        refuse_existing(tmp_path, True, ("method.json", "other.json"))
    (tmp_path / "other.json").write_text("{}")
    refuse_existing(tmp_path, True, ("method.json", "other.json"))


@pytest.mark.parametrize(("name", "n"), [("a/", 200), ("long/", 1200)])
def test_a_folder_in_any_number_of_folders_is_made_or_is_one_line(tmp_path, name, n):
    path = tmp_path / (name * n) / "file"
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        with whole_file(path) as file:
            file.write(b"deep")
    except OSError as error:
        assert error.errno == errno.ENAMETOOLONG and list(tmp_path.iterdir()) == []
    else:
        assert path.read_bytes() == b"deep"
    finally:
        sys.setrecursionlimit(limit)


def test_a_run_with_other_options_is_not_resumed(tmp_path):
    refuse_another(tmp_path, {"a": 1, "b": 2}, {"b": 2, "a": 1})
    with pytest.raises(InputError, match="found a run with b 2, expected 3 to resume it"):
        refuse_another(tmp_path, {"a": 1, "b": 2}, {"a": 1, "b": 3})
    with pytest.raises(InputError, match="found a run with b 2, expected None to resume it"):
        refuse_another(tmp_path, {"a": 1, "b": 2}, {"a": 1})


def test_text_is_utf8_with_or_without_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("\ufeff“Été”".encode())
    assert read_text(path) == "“Été”"
    with pytest.raises(InputError, match=re.escape(f"{path}:2: found bytes that are not UTF-8")):
        decode_text(b"one\n\xe9\n", path)


def test_rows_come_back_with_their_places(tmp_path):
    rows = [{"b": "“Été”\u2028\n", "a": None}, {"c": 1}]
    text = (json_line(rows[0]) + b"\n" + json_line(rows[1])).decode()
    assert text == '{"b":"“Été”\u2028\\n","a":null}\n\n{"c":1}\n'
    path = tmp_path / "a.jsonl"
    assert list(json_rows(path, text)) == [(f"{path}:1", rows[0]), (f"{path}:3", rows[1])]
    for line, message in (("{", "bad JSON"), ("[1]", "list, expected an object")):
        with pytest.raises(InputError, match=re.escape(f"{path}:1: found {message}")):
            list(json_rows(path, line))


def test_a_file_is_named_with_the_beginning_of_its_digest(tmp_path):
    # The digest of sha256sum for an empty file.
    assert file_signature(tmp_path / "tags.jsonl", sha256_of(b"")) == "tags.jsonl@e3b0c442"


def test_names_are_as_long_as_they_must_be(tmp_path):
    one, other, third = (tmp_path / part for part in ("a/x/m", "b/x/m", "b/y"))
    assert name_paths([one, other, third]) == ["a/x/m", "b/x/m", "y"]
    with pytest.raises(InputError, match=r"m: found a second time, expected it once$"):
        name_paths([one, tmp_path / "b" / ".." / "a" / "x" / "m"])


LONG = "x" * 200_000


@pytest.mark.parametrize("rows", [f"{LONG}\n", f"HEADER\n{LONG}\n", f'HEADER\n"{LONG}\n,\n'])
@pytest.mark.parametrize(
    ("read", "name", "header"),
    [
        (read_split_list, "splits.csv", "book,split"),
        (read_any_tag_file, "mcn.csv", "para_index,sent,label"),
        (find_novels, "PDNC-Novel-Index.csv", "Novel Title,Source,Folder Name"),
        (read_character_list, "character_info.csv", "Main Name,Aliases,Gender"),
    ],
)
def test_a_cell_that_is_too_long_is_one_line_wherever_csv_is_read(
    tmp_path, read, name, header, rows
):
    path = tmp_path / name
    path.write_text(rows.replace("HEADER", header))
    line = rows.count("HEADER") + 1
    found = "field larger than field limit (131072), expected comma-separated fields"
    with pytest.raises(InputError, match=re.escape(f"{path}:{line}: {found}")):
        read(path if read in (read_split_list, read_any_tag_file) else tmp_path)


def test_no_other_module_reads_csv_than_those_that_are_tested():
    modules = sorted(path.name for path in (ROOT / "miner").rglob("*.py") if reads_csv(path))
    # The catalogue and the rows of examples may have long cells, and limits of their own.
    assert modules == ["catalog.py", "files.py", "rows.py"]


def reads_csv(path):
    return re.search(r"csv\.(Dict)?[Rr]eader", path.read_text(encoding="utf-8"))
