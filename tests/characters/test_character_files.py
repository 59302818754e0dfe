"""characters.jsonl: round trips, corrections by hand, what is refused and where."""

import json

import pytest
from characters_helpers import paragraphs_of
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.characters.cast import Character, Kind, cast_from_characters, find_mentions
from miner.characters.character_files import (
    read_characters,
    row_from_character,
    write_characters,
)
from miner.characters.characters import find_characters
from miner.characters.names import find_names

TEXTS = (
    "“Yes,” said Mara. “No,” said Tobin. Then Miss Mara Otway sat.",
    "“Sit, Tobin,” said Mr. Bell. “Well, Bell,” said Mr. Bell.",
) * 3
ROW = {"id": "mara", "name": "Mara", "aliases": ["Mara"], "gender": "f", "kind": "named"}


def file_of(folder, *rows):
    path = folder / "characters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_row_has_the_keys_of_the_file_in_their_order():
    character = Character("mara", "Mara", ("Mara", "Miss Otway"), "f", n_mentions=7)
    assert list(row_from_character(character, 3).items()) == [
        ("id", "mara"),
        ("name", "Mara"),
        ("aliases", ["Mara", "Miss Otway"]),
        ("gender", "f"),
        ("kind", "named"),
        ("mentions", 7),
        ("utterances", 3),
    ]


def test_what_is_found_is_written_read_and_means_the_same(tmp_path):
    paragraphs = paragraphs_of(*TEXTS)
    names = find_names(paragraphs)
    found = find_characters(paragraphs, names)
    path = tmp_path / "characters.jsonl"
    write_characters(path, found.characters, {"miss-mara-otway": 3})
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["utterances"] for row in rows if row["id"] == "miss-mara-otway"] == [3]
    assert {row["utterances"] for row in rows if row["id"] != "miss-mara-otway"} == {0}
    read = read_characters(path)
    assert [(one.id, one.aliases) for one in read] == [
        (one.id, one.aliases) for one in found.characters
    ]
    again = cast_from_characters(read, names)
    assert find_mentions(again.forms, names, paragraphs) == find_mentions(
        found.forms, names, paragraphs
    )
    with pytest.raises(ValueError, match="exists already"):
        write_characters(path, found.characters)
    write_characters(path, [], force=True)
    assert read_characters(path) == ()


def test_corrections_by_hand_count(tmp_path):
    path = file_of(
        tmp_path,
        {**ROW, "aliases": ["Mara", "Bell", "Mara"], "gender": ""},
        {"id": "i", "name": "I", "aliases": [], "gender": "m", "kind": "narrator"},
    )
    mara, narrator = read_characters(path)
    assert mara == Character("mara", "Mara", ("Mara", "Bell"))
    assert (narrator.kind, narrator.gender) == (Kind.NARRATOR, "m")


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
        ({"id": "mara"}, "found no name, aliases, gender, kind, expected id, name"),
        (ROW, "found the id 'mara' again, expected a new one"),
        (
            {**ROW, "id": "nan"},
            "found no alias of 'nan' that is not of 'mara' or others, expected one of its own",
        ),
    ],
)
def test_a_bad_row_is_refused_with_its_place(tmp_path, row, message):
    path = file_of(tmp_path, ROW, row)
    with pytest.raises(ValueError, match=f"^{path}:2: {message}"):
        read_characters(path)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text.strip()
)


@settings(max_examples=25)
@given(NAMES, st.lists(NAMES, unique=True, max_size=4), st.sampled_from(["m", "f", ""]))
def test_any_name_is_read_as_it_was_written(tmp_path_factory, name, aliases, gender):
    path = tmp_path_factory.mktemp("characters") / "characters.jsonl"
    character = Character("one", name, tuple(aliases), gender)
    write_characters(path, [character])
    assert read_characters(path) == (character,)
