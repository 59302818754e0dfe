"""Folders of annotations: what is read, and which errors are found."""

import gzip
import hashlib
import json
import re
import shutil
import zipfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from annotation_helpers import fact, read_rows
from helpers import ANNOTATIONS
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import (
    READINGS,
    Annotation,
    annotations_folder,
    is_annotations,
    read_annotations,
    read_split,
    row_from_annotation,
)
from miner.errors import InputError

KEYS = ["book", "chapter", "paragraph", "fingerprint", "speaker", "conversation"]


@given(st.text(), st.text().filter(str.strip), st.text())
@settings(max_examples=40, deadline=None)
def test_a_row_survives_writing_and_reading(tmp_path_factory, text, speaker, remark):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    wanted = Annotation(3, 14, fingerprint(text), speaker, 1, remark)
    row = row_from_annotation("7", wanted)
    assert list(row) == (KEYS + ["remark"] if remark else KEYS)
    path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8", newline="")
    assert read_rows(path, "7") == (wanted,)


def card(book: str, author: str, split: str, **changed) -> dict:
    row = {"book": book, "title": f"Tides {book}", "author": author, "language": "en", "year": 1888}
    row |= {"country": "Britain", "domain": "sea", "person": 3, "split": split}
    return row | {"file": f"{book}-h.htm", "sha256": "0" * 64} | changed


CARDS = [
    card("8", "Ada Orme", "train"),
    card("7", "Jon Pell", "test"),
    card("9", "Jon Pell", "test"),
    card("s", "nobody", "sample"),
]
ROWS = [row_from_annotation("7", fact(2, "Ines", 1)), row_from_annotation("7", fact(3, "Ruben", 1))]


def lines(rows) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def write(folder: Path, cards=CARDS, rows=ROWS) -> Path:
    """A folder of annotations; `rows` are of book 7 in gold."""
    for name in ("gold", "first"):
        (folder / name).mkdir(parents=True)
    (folder / "books.jsonl").write_text(lines(cards))
    for book in "789s":
        (folder / "gold" / f"{book}.jsonl").write_text(lines(rows if book == "7" else ()))
    (folder / "first" / "7.jsonl").write_text(lines(ROWS))
    return folder


def test_a_folder_is_read_in_the_order_of_its_books(tmp_path):
    folder = write(tmp_path / "a", rows=[ROWS[0], "", ROWS[1]])
    found = read_annotations(folder)
    assert read_annotations(str(folder)) == found
    assert is_annotations(folder) and not is_annotations(tmp_path)
    (tmp_path / "books.jsonl").write_text("{}\n")  # as in a corpus
    assert not is_annotations(tmp_path)
    assert [book.card.book for book in found.gold] == ["8", "7", "9", "s"]
    assert [book.card.book for book in found.first] == ["7"]
    assert found.second == ()  # the folder is missing
    seven = found.gold[1]
    assert seven.annotations == (fact(2, "Ines", 1), fact(3, "Ruben", 1))
    assert seven.chapters == (1,)
    assert (seven.card.author, seven.card.year, seven.card.file) == ("Jon Pell", 1888, "7-h.htm")
    digest = hashlib.sha256((folder / "gold" / "7.jsonl").read_bytes()).hexdigest()
    assert seven.source == f"7.jsonl@{digest[:8]}"


def test_readings_may_be_packed(tmp_path):
    folder = write(tmp_path / "a")
    expected = read_annotations(folder)

    def pack(name, rows):
        with zipfile.ZipFile(folder / READINGS, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(name, lines(rows))

    pack("first/7.jsonl", ROWS[:1])
    assert read_annotations(folder) == expected  # the folder comes before what is packed
    shutil.rmtree(folder / "first")
    assert len(read_annotations(folder).first[0].annotations) == 1
    pack("first/7.jsonl", ROWS)
    assert read_annotations(folder) == expected
    pack("first/7.jsonl", [ROWS[0], "[]"])
    with pytest.raises(InputError, match=r"readings\.zip/first/7\.jsonl:2: found list, expected"):
        read_annotations(folder)
    pack("first/10.jsonl", ())
    with pytest.raises(InputError, match=r"readings\.zip/first/10\.jsonl: found no book 10 in"):
        read_annotations(folder)
    (folder / READINGS).write_bytes((folder / READINGS).read_bytes()[:-9])
    with pytest.raises(InputError, match=r"readings\.zip: the zip file is damaged: "):
        read_annotations(folder)


def test_books_are_chosen_by_split(tmp_path):
    folder = write(tmp_path / "a")
    found = read_annotations(folder)

    def ids_of(split):
        assert read_split(folder, split) == found.of_split(split)
        return [book.card.book for book in found.of_split(split)]

    assert ids_of("train") == ["8"]
    assert ids_of("test") == ["7", "9"]
    assert ids_of("test+train") == ids_of("train+dev+test") == ids_of("all") == ["8", "7", "9"]
    assert ids_of("sample") == ["s"]
    for split, message in [
        ("dev", "found no book of split dev"),
        ("train+tests", "found no split 'tests', expected train, dev, test, sample, all, or"),
        ("", "found no split ''"),
        ("train+", "found no split ''"),
    ]:
        with pytest.raises(InputError, match=re.escape(f"{tmp_path / 'a'}: {message}")):
            found.of_split(split)
        with pytest.raises(InputError, match=re.escape(f"{tmp_path / 'a'}: {message}")):
            read_split(folder, split)


def test_a_split_is_read_without_the_files_of_other_splits(tmp_path):
    folder = write(tmp_path / "a")
    (folder / "gold" / "8.jsonl").write_text("{", encoding="utf-8")
    assert [book.card.book for book in read_split(folder, "test")] == ["7", "9"]
    with pytest.raises(InputError, match="bad JSON"):
        read_split(folder, "train")
    (folder / "gold" / "9.jsonl").unlink()
    with pytest.raises(InputError, match=r"found no 9\.jsonl, expected one per book"):
        read_split(folder, "test")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ('{"book": ', "found bad JSON (Expecting value: line 1"),
        ("[7]", "found list, expected an object"),
        ({"speaker": ...}, "found None as speaker, expected str"),
        ({"chapter": "1"}, "found '1' as chapter, expected int"),
        ({"conversation": True}, "found True as conversation, expected int"),
        ({"remark": 5}, "found 5 as remark, expected text"),
        ({"book": "8"}, "found book '8', expected '7'"),
        ({"fingerprint": "ab.4"}, "found fingerprint 'ab.4', expected initials, number of"),
        ({"fingerprint": "a b.4.00112233"}, "found fingerprint 'a b.4.00112233', expected"),
        ({"fingerprint": "ab.4.0011223G"}, "found fingerprint 'ab.4.0011223G', expected"),
        ({"paragraph": 1}, "found chapter 1, paragraph 1 after chapter 1, paragraph 2, expected"),
        ({"conversation": 3}, "found conversation 3, expected at most 2, the next number of the"),
        ({"chapter": 2, "conversation": 2}, "found conversation 2, expected at most 1"),
        ({"conversation": -1}, "found a number below 0"),
        ({"speaker": ""}, "found speaker '' in conversation 1, expected a name in"),
        ({"speaker": " "}, "found speaker ' ' in conversation 1, expected a name in"),
        ({"conversation": 0}, "found speaker 'Ruben' in conversation 0, expected a name in"),
    ],
)
def test_a_wrong_row_is_refused_with_file_and_line(tmp_path, changed, message):
    row = changed
    if isinstance(changed, dict):
        row = {key: value for key, value in (ROWS[1] | changed).items() if value is not ...}
    folder = write(tmp_path / "a", rows=[ROWS[0], row])
    with pytest.raises(InputError, match=re.escape(f"{folder / 'gold' / '7.jsonl'}:2: {message}")):
        read_annotations(folder)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"book": "9"}, "found None as title, expected str"),
        (card("9", "Jon Pell", "test", year="1888"), "found '1888' as year, expected int"),
        (card("9", "Jon Pell", "dev", person=2), "found 2 as person, expected 1 or 3"),
        (card("9", "Jon Pell", "dev", year=10**30), f"found {10**30} as year, expected int up to"),
        (card("9", "Jon Pell", "exam"), "found split 'exam', expected train, dev, test, sample"),
        (card("9", "Jon Pell", "dev"), "found Jon Pell in split dev, expected test, as the author"),
        (card("8", "Ada Orme", "train"), "found book 8 a second time, expected it once"),
    ],
)
def test_a_wrong_book_is_refused_with_file_and_line(tmp_path, row, message):
    folder = write(tmp_path / "a", cards=[*CARDS[:2], row])
    with pytest.raises(InputError, match=re.escape(f"{folder / 'books.jsonl'}:3: {message}")):
        read_annotations(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chapter": 10**30}, f"found {10**30} as chapter, expected int up to 1000000000"),
        ({"paragraph": -(10**30)}, f"found -{10**30} as paragraph, expected int up to 1000000000"),
        ({"conversation": float("nan")}, "found nan as conversation, expected int up to 1000"),
        ({"speaker": None}, "found None as speaker, expected str"),
        ({"speaker": "\ud83d"}, "found half a character, expected whole ones"),
        (
            {"speaker": "A" * 10**4, "conversation": 0},
            "found speaker 'AAAAAAAAAAAA...AAA",
        ),
        ({"fingerprint": "a.1.x" * 10**4}, "found fingerprint 'a.1.xa.1.xa....1.xa.1.xa.1.x', exp"),
        (
            {"fingerprint": f"a.{'9' * 5000}.01234567"},
            "found fingerprint 'a.9999999999...9999.01234567'",
        ),
        ({"remark": ["a"] * 10**4}, "found ['a', 'a', 'a', 'a', 'a', 'a', ...] as remark, expect"),
        ({"book": "8" * 10**4}, "found book '888888888888...8888888888888', expected '7'"),
        ({"book": ["@"]}, "found JSON of too many levels, expected one object"),
        ({"chapter": ["@@"]}, "found a number of thousands of digits, expected one object"),
    ],
)
def test_a_row_that_was_made_to_break_is_refused_in_one_line(tmp_path, changes, message):
    folder = write(tmp_path / "a")
    path = folder / "gold" / "7.jsonl"
    row = json.dumps(json.loads(lines(ROWS).split("\n")[0]) | changes)
    row = row.replace('["@"]', "[" * 10**5).replace('["@@"]', "9" * 5000)
    path.write_text(row + "\n", encoding="utf-8")
    for read in (read_annotations, partial(read_split, split="test")):
        with pytest.raises(InputError) as error:
            read(folder)
        assert str(error.value).startswith(f"{path}:1: {message}")
        assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_books_and_files_must_be_the_same(tmp_path):
    folder = write(tmp_path / "a")
    (folder / "gold" / "9.jsonl").unlink()
    with pytest.raises(InputError, match=r"gold: found no 9\.jsonl, expected one per book"):
        read_annotations(folder)
    foreign = write(tmp_path / "b")
    (foreign / "first" / "10.jsonl").write_text("")
    with pytest.raises(InputError, match=r"first/10\.jsonl: found no book 10 in books\.jsonl"):
        read_annotations(foreign)
    (foreign / "gold" / "7.jsonl").write_bytes(b"\n\xe9\n")
    with pytest.raises(InputError, match=r"7\.jsonl:2: found bytes that are not UTF-8"):
        read_annotations(foreign)


def test_without_annotations_the_error_says_how_to_get_them(tmp_path, monkeypatch):
    gone = tmp_path / "c"
    wanted = rf"{gone}: found no annotations, expected a folder with books.jsonl; .* \((.*)\), "
    recorded = {"url": "https://example.org/miner.git", "vcs_info": {"vcs": "git"}}
    for record, source in (
        ({}, "the repository of conversation-miner"),
        ({"url": "file:///miner"}, "the repository of conversation-miner"),
        (recorded, "git clone https://example.org/miner.git"),
    ):
        monkeypatch.setattr(
            "miner.annotation.annotations.distribution",
            lambda name, record=record: SimpleNamespace(read_text=lambda _: json.dumps(record)),
        )
        for read in (read_annotations, partial(read_split, split="all")):
            with pytest.raises(
                InputError, match=wanted + ".*`gold=` or MINER_ANNOTATIONS$"
            ) as told:
                read(gone)
            assert re.match(wanted, str(told.value))[1] == source


def test_the_annotations_are_found_here_in_the_source_or_by_a_variable(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert annotations_folder() == ANNOTATIONS  # this package is read from its source
    monkeypatch.setattr("miner.annotation.annotations._PARENT", tmp_path / "elsewhere")
    recorded = json.dumps({"url": ANNOTATIONS.parent.as_uri(), "dir_info": {}})
    found = SimpleNamespace(read_text=lambda _: recorded)
    monkeypatch.setattr("miner.annotation.annotations.distribution", lambda name: found)
    assert annotations_folder() == ANNOTATIONS  # it was installed from there
    recorded = ""
    assert annotations_folder() == Path("annotations")  # which is not there
    write(tmp_path / "annotations")
    assert annotations_folder() == Path("annotations")
    monkeypatch.setenv("MINER_ANNOTATIONS", str(tmp_path / "mine"))
    assert annotations_folder() == tmp_path / "mine"


@pytest.mark.slow
def test_the_annotations_of_the_project_are_as_many_as_promised():
    real = read_annotations(ANNOTATIONS)
    gold = real.of_split("all")
    assert len(gold) >= 30
    assert sum(len(book.chapters) for book in gold) >= 72
    assert sum(item.is_utterance for book in gold for item in book.annotations) >= 6500
    assert len(real.of_split("test")) >= 8
    first, second = (
        {(book.card.book, chapter) for book in books for chapter in book.chapters}
        for books in (real.first, real.second)
    )
    assert len(first & second) >= 24
    (pride,) = (book for book in real.of_split("train") if book.card.book == "1342")
    assert set(range(1, 11)) <= set(pride.chapters)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "es", "fr", "hu", "it", "nl", "pt"])
def test_seven_other_languages_are_annotated(language):
    part = read_annotations(ANNOTATIONS).of_language(language)
    assert len(part.gold) >= 4
    assert sum(len(book.chapters) for book in part.gold) >= 12
    assert sum(item.is_utterance for book in part.gold for item in book.annotations) >= 900
    test = {book.card.book: book.chapters for book in part.of_split("test", language)}
    assert sum(map(len, test.values())) >= 5
    first, second = (
        {(book.card.book, chapter) for book in reading for chapter in book.chapters}
        for reading in (part.first, part.second)
    )
    assert first == second
    assert first >= {(book, chapter) for book, chapters in test.items() for chapter in chapters}
    assert 3 * len(first) >= sum(len(book.chapters) for book in part.gold)


@pytest.mark.slow
def test_no_row_of_the_project_holds_text_of_a_book():
    packed = zipfile.Path(ANNOTATIONS / READINGS)
    folders = [ANNOTATIONS / "gold", packed / "first", packed / "second"]
    paths = [path for folder in folders for path in folder.iterdir()]
    assert len(paths) > 200
    n_initials = n_letters = 0
    for path in paths:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        for number, line in enumerate(text.splitlines(), 1):
            row, where = json.loads(line), f"{path}:{number}"
            assert set(row) - {"remark"} == set(KEYS), where
            parts = re.fullmatch(r"(\w*)\.([0-9]+)\.[0-9a-f]{8}", row["fingerprint"])
            assert parts and len(parts[1]) <= int(parts[2]), where
            n_initials, n_letters = n_initials + len(parts[1]), n_letters + int(parts[2])
            for key in set(row) - {"remark", "speaker", "title"}:
                assert len(str(row[key])) <= len(row["fingerprint"]), where
    assert n_letters > 3 * n_initials


def test_books_are_chosen_by_language(tmp_path):
    cards = [*CARDS, card("n", "Ana Reis", "test", language="pt")]
    folder = write(tmp_path / "a", cards)
    (folder / "gold" / "n.jsonl").write_text("")
    found = read_annotations(folder)

    def ids_of(split, language):
        assert read_split(folder, split, language=language) == found.of_split(split, language)
        return [book.card.book for book in found.of_split(split, language)]

    assert [book.card.book for book in read_split(folder, "test")] == ids_of("test", "en")
    assert ids_of("test", "en") == ["7", "9"]
    assert ids_of("test", "pt") == ids_of("all", "pt") == ["n"]
    assert ids_of("test", "pt,en") == ids_of("test", "en, pt") == ids_of("test", "all")
    assert ids_of("all", "all") == ["8", "7", "9", "n"]
    for language, split, message in [
        ("fr", "test", "found no book in language 'fr', expected en, pt, all, or several"),
        ("pt,", "test", "found no book in language ''"),
        ("pt", "train", "found no book of split pt train"),
    ]:
        with pytest.raises(InputError, match=re.escape(f"{folder}: {message}")):
            found.of_split(split, language)
        with pytest.raises(InputError, match=re.escape(f"{folder}: {message}")):
            read_split(folder, split, language=language)
    english, portuguese = found.of_language("en"), found.of_language("pt")
    assert english.first == found.first and portuguese.first == ()
    assert [book.card.book for book in portuguese.gold] == ["n"]
    assert english.of_split("all") == found.of_split("all")


@pytest.mark.parametrize("language", ["", "English", "EN", "e"])
def test_the_language_of_a_book_is_a_code(tmp_path, language):
    folder = write(tmp_path / "a", [card("7", "Jon Pell", "test", language=language)])
    message = rf"books\.jsonl:1: found language '{language}', expected a code such as 'en'"
    with pytest.raises(InputError, match=message):
        read_annotations(folder)
