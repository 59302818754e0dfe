"""characters.jsonl: round trips, corrections by hand, what is refused and where."""

import json
import pickle

import pytest
from characters_helpers import paragraphs_of
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.errors import InputError
from miner.people.cast import Character, Kind, find_mentions
from miner.people.character_files import (
    SpokenBook,
    character_from_row,
    open_characters,
    read_characters,
    row_from_character,
)
from miner.people.characters import find_characters
from miner.people.given_cast import cast_from_characters
from miner.people.names import find_names
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedSpan

TEXTS = (
    "“Yes,” said Mara. “No,” said Tobin. Then Miss Mara Otway sat.",
    "“Sit, Tobin,” said Mr. Bell. “Well, Bell,” said Mr. Bell.",
) * 3
ROW = {
    "book": "7",
    "id": "mara",
    "name": "Mara",
    "aliases": ["Mara"],
    "gender": "f",
    "kind": "named",
}


def file_of(folder, *rows):
    path = folder / "characters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_row_has_the_keys_of_the_file_in_their_order():
    character = Character("mara", "Mara", ("Mara", "Miss Otway"), "f", n_mentions=7)
    row = row_from_character("7", character, 3, 1)
    assert list(row.items()) == [
        ("book", "7"),
        ("id", "mara"),
        ("name", "Mara"),
        ("aliases", ["Mara", "Miss Otway"]),
        ("gender", "f"),
        ("kind", "named"),
        ("chapter", None),
        ("mentions", 7),
        ("utterances", 3),
        ("addressed", 1),
    ]
    assert character_from_row(row) == character


def test_who_speaks_comes_first_and_who_is_only_named_last():
    people = [
        Character(id, id, (id,), n_mentions=n)
        for id, n in (("arden", 9), ("bell", 20), ("dace", 2), ("nan", 1), ("tobin", 30))
    ]
    span = Span(1, 1, 0, 0, 4, "“So”", SpanKind.UTTERANCE)
    said = ("nan", ("dace",)), ("nan", ()), ("arden", ("nan", "dace")), ("tobin", ("nan",))
    spans = tuple(TaggedSpan(span, Tag.B_START, None, who, None, to) for who, to in said)
    ranked = SpokenBook(spans, tuple(people)).ranked
    assert [one.id for one in ranked] == ["nan", "tobin", "arden", "dace", "bell"]


def test_what_is_found_is_written_read_and_means_the_same(tmp_path):
    paragraphs = paragraphs_of(*TEXTS)
    names = find_names(paragraphs)
    found = find_characters(paragraphs, names)
    path = file_of(tmp_path, *(row_from_character("7", one, 0, 0) for one in found.characters))
    read = read_characters(path)["7"]
    assert [(one.id, one.aliases) for one in read] == [
        (one.id, one.aliases) for one in found.characters
    ]
    again = cast_from_characters(read, names, found)
    assert find_mentions(again.forms, names, paragraphs) == find_mentions(
        found.forms, names, paragraphs
    )


def test_corrections_by_hand_count(tmp_path):
    path = file_of(
        tmp_path,
        {**ROW, "aliases": ["Mara", "Bell", "Mara"], "gender": ""},
        {**ROW, "id": "i", "name": "I", "aliases": [], "gender": "m", "kind": "narrator"},
        {**ROW, "id": "boy", "name": "Jem", "aliases": ["boy"], "kind": "unnamed", "chapter": 2},
        {**ROW, "book": "8"},
    )
    lists = read_characters(path)
    mara, narrator, boy = lists["7"]
    assert mara == Character("mara", "Mara", ("Mara", "Bell"))
    assert (narrator.kind, narrator.gender) == (Kind.NARRATOR, "m")
    assert (boy.kind, boy.chapter) == (Kind.UNNAMED, 2)
    assert lists["8"] == (Character("mara", "Mara", ("Mara",), "f"),)


def test_a_list_travels_by_its_path_and_is_read_again_when_it_has_changed(tmp_path):
    path = file_of(tmp_path, ROW)
    file = open_characters(path)
    assert dict(file) == read_characters(path) and len(pickle.dumps(file)) < 500
    assert pickle.loads(pickle.dumps(file)) == file
    signature = file.signature
    file_of(tmp_path, {**ROW, "name": "Mara Otway"})
    assert [one.name for one in file["7"]] == ["Mara Otway"] and file.signature != signature
    assert signature.startswith("characters.jsonl@") and len(signature) == len(path.name) + 9
    file_of(tmp_path, {**ROW, "id": ""})
    with pytest.raises(InputError, match="found '' as id"):
        open_characters(path)


def test_a_list_of_none_of_the_books_is_refused(tmp_path):
    rows = [{**ROW, "book": str(n)} for n in range(7)]
    file = open_characters(file_of(tmp_path, *rows))
    file.refuse_others(["6", "7"])
    file.refuse_others([])
    with pytest.raises(InputError) as error:
        file.refuse_others(["7", "8", "7"])
    assert str(error.value) == (
        f"{file.path}: found characters of 0, 1, 2, 3, 4, ..., expected characters of 7, 8"
    )
    file_of(tmp_path)
    with pytest.raises(InputError, match="found characters of no book, expected characters of 7$"):
        file.refuse_others(["7"])


@pytest.mark.parametrize(
    "row, message",
    [
        ({**ROW, "id": ""}, "found '' as id, expected text"),
        ({**ROW, "name": 7}, "found 7 as name, expected text"),
        ({**ROW, "aliases": "Mara"}, "found 'Mara' as aliases, expected a list of names"),
        ({**ROW, "aliases": [""]}, r"found \[''\] as aliases, expected a list of names"),
        ({**ROW, "gender": "F"}, "found gender 'F', expected m, f or an empty text"),
        ({**ROW, "kind": "dog"}, "found kind 'dog', expected one of named, narrator, unnamed"),
        ({**ROW, "kind": []}, r"found kind \[\], expected one of named"),
        ({"id": "mara"}, "found no book, name, aliases, gender, kind, expected book, id, name"),
        ({**ROW, "book": 7}, "found 7 as book, expected text"),
        *(
            (
                {**ROW, "chapter": n},
                f"found chapter {n!r}, expected a number to 1000000000, or null",
            )
            for n in (-1, "2", 2.0, True, 10**9 + 1, 2**31, 2**63, 10**30)
        ),
        (ROW, "found the id 'mara' again, expected a new one"),
        (
            {**ROW, "id": "nan"},
            "found no alias of 'nan' that is not of 'mara' or others, expected one of its own",
        ),
    ],
)
def test_a_bad_row_is_refused_with_its_place(tmp_path, row, message):
    path = file_of(tmp_path, ROW, row)
    with pytest.raises(InputError, match=f"^{path}:2: {message}"):
        read_characters(path)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text.strip()
)


@settings(max_examples=25)
@given(NAMES, st.lists(NAMES, unique=True, max_size=4), st.sampled_from(["m", "f", ""]))
def test_any_name_is_read_as_it_was_written(tmp_path_factory, name, aliases, gender):
    path = tmp_path_factory.mktemp("characters") / "characters.jsonl"
    character = Character("one", name, tuple(aliases), gender)
    path.write_text(json.dumps(row_from_character("7", character, 0, 0)), encoding="utf-8")
    assert read_characters(path) == {"7": (character,)}
