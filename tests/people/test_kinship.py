"""Who is whose kin in a book, and whom "said his wife" means."""

import pytest
from characters_helpers import Scene

from miner.people.clues import Cue, find_clues
from miner.people.kinship import Relation

DALES = "“Yes,” said {0}. “No,” said {0}."


def spoken_by(*names):
    return [DALES.format(name) for name in names]


def kin(name, relation, *texts):
    """The people who may be that to somebody, the likeliest first."""
    scene = Scene(*texts)
    characters = scene.book.cast.characters
    (owner,) = (n for n, one in enumerate(characters) if name in one.aliases)
    weights = scene.book._kinship.find(owner, relation)
    return [characters[n].name for n in sorted(weights, key=lambda n: -weights[n])]


@pytest.mark.parametrize(
    ("name", "relation", "texts", "found"),
    [
        ("Mr. Dale", Relation.SPOUSE, spoken_by("Mr. Dale", "Mrs. Dale"), ["Mrs. Dale"]),
        (
            "Miss Dale",
            Relation.PARENT,
            spoken_by("Mr. Dale", "Mrs. Dale", "Miss Dale"),
            ["Mrs. Dale", "Mr. Dale"],
        ),
        (
            "Mara",
            Relation.SIBLING,
            [*spoken_by("Mara", "Adam"), "Mara’s brother Adam came."],
            ["Adam"],
        ),
        (
            "Adam",
            Relation.SIBLING,
            [*spoken_by("Mara", "Adam"), "Mara’s brother Adam came."],
            ["Mara"],
        ),
        (
            "Adam",
            Relation.PARENT,
            [*spoken_by("Adam", "Mr. Bell"), "There sat Adam, the son of Mr. Bell."],
            ["Mr. Bell"],
        ),
        (
            "Mara",
            Relation.SPOUSE,
            [*spoken_by("Mara", "Mr. Bell"), "She sang. Mara and her husband, Mr. Bell, bowed."],
            ["Mr. Bell"],
        ),
        (
            "Mara",
            Relation.PARENT,
            [*spoken_by("Mara", "Mrs. Orr"), "Mara saw her mother, Mrs. Orr and the cook."],
            [],
        ),
    ],
    ids=["titles", "surname", "possessive", "inverse", "of", "pronoun", "a list"],
)
def test_whose_kin_somebody_is(name, relation, texts, found):
    assert kin(name, relation, *texts) == found


HOUSE = spoken_by("Mr. Dale", "Mrs. Dale", "Miss Dale", "Mara")


def speaker(*texts):
    """Who is said to speak the last utterance, in words."""
    scene = Scene(*HOUSE, *texts)
    found = find_clues(scene.chapter)
    scene.chapter = found.chapter
    return scene.shown(found.clues[-1].cue(Cue.SAYS_AFTER))


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["Mr. Dale sat.", "“Come,” said his wife."], "Mrs. Dale"),
        (["“Mr. Dale, come,” said his lady."], "Mrs. Dale"),
        (["Mr. Dale sat.", "“Come,” said the lady."], "lady"),
        (["Miss Dale sat.", "“Come,” said her mother."], "Mrs. Dale"),
        (["Mr. Dale sat.", "“Come,” said Miss Dale’s mother."], "Mrs. Dale"),
        (["“Mara, come,” said her mother."], "mother"),
        (["Miss Dale sat.", "“Come,” said her aunt."], "aunt"),
    ],
    ids=["said last", "called", "a lady", "mother", "owner", "called has none", "not known"],
)
def test_a_word_for_kin_means_the_kin_of_who_is_near(texts, found):
    assert speaker(*texts) == found
