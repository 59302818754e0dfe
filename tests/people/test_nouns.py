"""Which phrases of narration mean a person, and by which noun."""

import pytest

from miner.people.nouns import find_nouns, gender_of_noun, read_noun, singular_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The old man sat.", "man"),
        ("A second man stood.", "second man"),
        ("Another man stood.", "another man"),
        ("One of the men stood.", "man"),
        ("The youngest of the three men stood.", "youngest man"),
        ("All of the men stood.", "men"),
        ("The page-boy stood.", None),
    ],
)
def test_a_listed_noun_is_a_person_wherever_it_stands(text, name):
    assert [phrase.name for phrase in find_nouns(text)] == [name] * (name is not None)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (" the wub", "wub"),
        (" the page-boy", "page-boy"),
        (" the friendly carter gruffly", "carter"),
        (" the carter smiling", "carter"),
        (" the driver of the second cart", "driver"),
        (" a carter in the corner", "carter"),
        (" one of the carters", "carter"),
        (" another of the old carters", "another carter"),
        (" one of the crew", "one"),
        (" one of them", "one"),
        (" another", "another"),
        (" somebody else", "somebody"),
        (" both boys together", "boys"),
        (" two or three voices at once", "voices"),
        (" all of the whole school", "school"),
        (" they all", "all"),
        (" everybody", "everybody"),
        (" they", "they"),
        (" at once", None),
        (" of them", None),
    ],
)
def test_any_word_may_be_a_noun_where_a_person_must_stand(text, name):
    phrase = read_noun(text, 0, len(text))
    assert (phrase and phrase.name) == name


@pytest.mark.parametrize(
    ("noun", "singular"),
    [("carters", "carter"), ("policemen", "policeman"), ("ladies", "lady"), ("witness", "witness")],
)
def test_one_of_several(noun, singular):
    assert singular_of(noun) == singular


def test_the_last_part_of_a_noun_tells_the_gender():
    assert [gender_of_noun(noun) for noun in ("bun-woman", "grave-digger")] == ["f", ""]
