"""Hand annotations: the tags that follow from the facts, fingerprints, and reading a folder."""

import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from helpers import ROOT
from hypothesis import given
from hypothesis import strategies as st

from miner.annotation.annotations import (
    Annotation,
    is_annotations,
    read_annotations,
    read_file,
    read_split,
    row_of,
)
from miner.annotation.derivation import count_interrupted_pairs, derive_tags
from miner.annotation.fingerprints import fingerprint
from miner.dialogue.tags import Tag, transition_error

FOLDER = ROOT / "annotations"
KEYS = ["book", "chapter", "paragraph", "fingerprint", "speaker", "conversation"]

FERRY = [
    # paragraph, text, speaker, conversation, tag
    (1, "“The ferry is late,”", "Ines", 1, "B-START"),
    (1, "“and so are you.”", "Ines", 1, "I-START"),
    (2, "the “Heron”", "", 0, "O"),
    (2, "“I walked round by the salt pans to be later still.”", "Ines", 1, "I-START"),
    (3, "“The ferry has nobody to scold it,”", "Ivo", 1, "B-OTHER"),
    (3, "“and I have.”", "Ivo", 1, "I-OTHER"),
    (4, "“You shall have more of it.”", "Ines", 1, "B-OTHER"),
    (5, "“At supper, for one.”", "Ines", 1, "I-OTHER"),
    (6, "“Boy! This trunk!”", "Ines", 2, "B-START"),
    (7, "“Which, miss?”", "boy", 2, "B-OTHER"),
    (8, "“Supper will be late, too.”", "Ivo", 1, "B-START"),  # resumed: the old number
    (9, "“Then I shall begin now.”", "Ines", 1, "B-OTHER"),
    (10, "“Fog.”", "Ines", 3, "B-START"),  # the same woman on another occasion
]


def fact(paragraph: int, speaker: str, conversation: int, chapter: int = 1, text: str = "Aye."):
    return Annotation(chapter, paragraph, fingerprint(text), speaker, conversation)


def test_the_tags_of_a_talk_at_the_ferry():
    facts = [fact(place, who, number, text=text) for place, text, who, number, _ in FERRY]
    assert [str(tag) for tag in derive_tags(facts)] == [row[4] for row in FERRY]


@pytest.mark.parametrize(("before", "after"), [("Ines", "?"), ("?", "Ines"), ("?", "?")])
def test_an_unknown_speaker_is_another_in_a_new_paragraph_only(before, after):
    opening = [fact(1, before, 1), fact(1, after, 1)]
    assert derive_tags(opening) == [Tag.B_START, Tag.I_START]
    assert derive_tags([fact(1, before, 1), fact(2, after, 1)]) == [Tag.B_START, Tag.B_OTHER]
    reply = [fact(1, "Ruben", 1), fact(2, before, 1), fact(2, "", 0), fact(2, after, 1)]
    assert derive_tags(reply) == [Tag.B_START, Tag.B_OTHER, Tag.O, Tag.I_OTHER]


def test_each_chapter_starts_a_conversation():
    facts = [fact(1, "Ines", 1), fact(2, "Ines", 1), fact(3, "Ines", 1, 2), fact(4, "Ines", 1, 2)]
    assert derive_tags(facts) == [Tag.B_START, Tag.I_START, Tag.B_START, Tag.I_START]


any_fact = st.tuples(
    st.integers(1, 3), st.sampled_from(["Ines", "Ruben", "?"]), st.integers(0, 3), st.integers(1, 2)
).map(lambda row: fact(row[0], row[1] if row[2] else "", row[2], row[3]))


@given(st.lists(any_fact, max_size=30))
def test_derived_tags_are_always_legal(facts):
    tags = derive_tags(facts)
    assert [tag is Tag.O for tag in tags] == [not item.is_utterance for item in facts]
    spoken = [tag for tag in tags if tag is not Tag.O]
    for before, after in pairwise([None, *spoken]):
        assert transition_error(after, before) == ""
    occasions = [(item.chapter, item.conversation) for item in facts if item.is_utterance]
    changes = [True, *(a != b for a, b in pairwise(occasions))][: len(occasions)]
    assert [tag is Tag.B_START for tag in spoken] == changes


def test_pairs_across_an_interruption_are_counted():
    facts = [
        *(fact(1, "Ines", 1), fact(2, "Ruben", 1), fact(3, "Ines", 2)),
        fact(4, "Ines", 1),  # answers paragraph 2: the first pair
        *(fact(5, "Ruben", 1), fact(6, "boy", 3)),
        fact(7, "Ruben", 1),  # the same speaker goes on: no pair
        fact(8, "boy", 2),  # answers paragraph 3: the second
        fact(9, "", 0),  # does not interrupt
        fact(10, "Ines", 2),
        fact(11, "?", 1),  # answers paragraph 7: the third
        *(fact(12, "boy", 1, chapter=2), fact(13, "Ines", 2, chapter=2)),  # another chapter
    ]
    assert count_interrupted_pairs(facts) == 3
    assert count_interrupted_pairs([item for item in facts if item.conversation != 2]) == 0


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("“Not _you_, René?”", "NOT YOU, RENE"),
        ("“A long—grey—road”", "'a long grey road'"),
        ("“To-morrow, at the œuvre.”", "to–morrow at the oeuvre…"),
    ],
)
def test_a_fingerprint_has_only_the_letters(text, other):
    assert fingerprint(text) == fingerprint(other)


def test_a_fingerprint_is_initials_number_of_letters_and_digest():
    found = fingerprint("“The gull, Mr. Pym!”")
    digest = hashlib.sha256(b"thegullmrpym").hexdigest()[:8]
    assert (found.initials, found.n_letters, found.digest) == ("tgmp", 12, digest)
    assert str(found) == f"tgmp.12.{digest}"
    cold, calm = fingerprint("“Cold tea.”"), fingerprint("“Calm tea.”")
    assert (cold.initials, cold.n_letters) == (calm.initials, calm.n_letters) == ("ct", 7)
    assert cold.digest != calm.digest


def test_a_text_without_letters_has_the_digest_of_what_is_between_the_marks():
    found = fingerprint("“——!”")
    assert (found.initials, found.n_letters) == ("", 0)
    assert found.digest == hashlib.sha256("——!".encode()).hexdigest()[:8]
    assert found == fingerprint("'——!'") == fingerprint('"——!"') == fingerprint("»——!«")
    assert found not in (fingerprint("“——?”"), fingerprint("“—!”"))


@given(st.text(), st.text().filter(str.strip), st.text())
def test_a_row_survives_writing_and_reading(tmp_path_factory, text, speaker, remark):
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    wanted = Annotation(3, 14, fingerprint(text), speaker, 1, remark)
    row = row_of("7", wanted)
    assert list(row) == (KEYS + ["remark"] if remark else KEYS)
    path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8", newline="")
    assert read_file(path, "7") == (wanted,)


def card(book: str, author: str, split: str, **changed) -> dict:
    row = {"book": book, "title": f"Tides {book}", "author": author, "year": 1888}
    row |= {"country": "Britain", "domain": "sea", "person": 3, "split": split}
    return row | {"file": f"{book}-h.htm", "sha256": "0" * 64} | changed


CARDS = [
    card("8", "Ada Orme", "train"),
    card("7", "Jon Pell", "test"),
    card("9", "Jon Pell", "test"),
    card("s", "nobody", "sample"),
]
ROWS = [row_of("7", fact(2, "Ines", 1)), row_of("7", fact(3, "Ruben", 1))]


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
    assert is_annotations(folder) and not is_annotations(tmp_path)
    assert [book.card.book for book in found.gold] == ["8", "7", "9", "s"]
    assert [book.card.book for book in found.first] == ["7"]
    assert found.second == ()  # the folder is missing
    seven = found.gold[1]
    assert seven.annotations == (fact(2, "Ines", 1), fact(3, "Ruben", 1))
    assert seven.chapters == (1,)
    assert (seven.card.author, seven.card.year, seven.card.file) == ("Jon Pell", 1888, "7-h.htm")
    digest = hashlib.sha256((folder / "gold" / "7.jsonl").read_bytes()).hexdigest()
    assert seven.source == f"7.jsonl@{digest[:8]}"


def test_the_parts_of_a_folder(tmp_path):
    folder = write(tmp_path / "a")
    found = read_annotations(folder)

    def part(split):
        assert read_split(folder, split) == found.of_split(split)
        return [book.card.book for book in found.of_split(split)]

    assert part("train") == ["8"]
    assert part("test") == ["7", "9"]
    assert part("test+train") == part("train+dev+test") == part("all") == ["8", "7", "9"]
    assert part("sample") == ["s"]
    for split, message in [
        ("dev", "found no book of split dev"),
        ("train+tests", "found no split 'tests', expected train, dev, test, sample, all, or"),
        ("", "found no split ''"),
        ("train+", "found no split ''"),
    ]:
        with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'a'}: {message}")):
            found.of_split(split)
        with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'a'}: {message}")):
            read_split(folder, split)


def test_a_part_is_read_without_the_files_of_others(tmp_path):
    folder = write(tmp_path / "a")
    (folder / "gold" / "8.jsonl").write_text("{", encoding="utf-8")
    assert [book.card.book for book in read_split(folder, "test")] == ["7", "9"]
    with pytest.raises(ValueError, match="bad JSON"):
        read_split(folder, "train")
    (folder / "gold" / "9.jsonl").unlink()
    with pytest.raises(ValueError, match=r"found no 9\.jsonl, expected one per book"):
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
    with pytest.raises(ValueError, match=re.escape(f"{folder / 'gold' / '7.jsonl'}:2: {message}")):
        read_annotations(folder)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"book": "9"}, "found None as title, expected str"),
        (card("9", "Jon Pell", "test", year="1888"), "found '1888' as year, expected int"),
        (card("9", "Jon Pell", "exam"), "found split 'exam', expected train, dev, test, sample"),
        (card("9", "Jon Pell", "dev"), "found Jon Pell in split dev, expected test, as the author"),
        (card("8", "Ada Orme", "train"), "found book 8 a second time, expected it once"),
    ],
)
def test_a_wrong_book_is_refused_with_file_and_line(tmp_path, row, message):
    folder = write(tmp_path / "a", cards=[*CARDS[:2], row])
    with pytest.raises(ValueError, match=re.escape(f"{folder / 'books.jsonl'}:3: {message}")):
        read_annotations(folder)


def test_books_and_files_must_be_the_same(tmp_path):
    folder = write(tmp_path / "a")
    (folder / "gold" / "9.jsonl").unlink()
    with pytest.raises(ValueError, match=r"gold: found no 9\.jsonl, expected one per book"):
        read_annotations(folder)
    foreign = write(tmp_path / "b")
    (foreign / "first" / "10.jsonl").write_text("")
    with pytest.raises(ValueError, match=r"first/10\.jsonl: found no book 10 in books\.jsonl"):
        read_annotations(foreign)
    (foreign / "gold" / "7.jsonl").write_bytes(b"\n\xe9\n")
    with pytest.raises(ValueError, match=r"7\.jsonl:2: found bytes that are no UTF-8"):
        read_annotations(foreign)
    with pytest.raises(FileNotFoundError):
        read_annotations(tmp_path / "c")


def test_the_real_annotations_hold_what_is_promised():
    real = read_annotations(FOLDER)
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


def test_no_real_row_holds_text_of_a_book():
    paths = [p for name in ("gold", "first", "second") for p in (FOLDER / name).iterdir()]
    assert paths
    n_initials = n_letters = 0
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row, where = json.loads(line), f"{path}:{number}"
            assert set(row) - {"remark"} == set(KEYS), where
            parts = re.fullmatch(r"(\w*)\.([0-9]+)\.[0-9a-f]{8}", row["fingerprint"])
            assert parts and len(parts[1]) <= int(parts[2]), where
            n_initials, n_letters = n_initials + len(parts[1]), n_letters + int(parts[2])
            for key in set(row) - {"remark", "speaker", "title"}:
                assert len(str(row[key])) <= len(row["fingerprint"]), where
    assert n_letters > 3 * n_initials


def test_the_worked_example_of_the_guidelines():
    """Its tags are those that the one function derives from its facts."""
    lines = (FOLDER / "GUIDELINES.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rows = [row for row in cells if len(row) == 5 and row[0].isdecimal()]
    assert len(rows) == 12
    facts = [
        Annotation(1, int(paragraph), fingerprint(text), speaker, int(conversation))
        for paragraph, text, speaker, conversation, _ in rows
    ]
    assert [str(tag) for tag in derive_tags(facts)] == [row[-1] for row in rows]
    assert count_interrupted_pairs(facts) == 1
