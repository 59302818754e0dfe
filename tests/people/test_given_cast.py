"""Given characters, and what the names of a book mean then; each rule in a small form."""

from dataclasses import replace

from characters_helpers import paragraphs_of

from miner.people.cast import Character, character_of, find_mentions
from miner.people.mentions import people_from_paragraphs
from miner.people.names import find_names


def given(*rows: tuple[str, str, str]) -> list[Character]:
    """A character for each name, gender and aliases with "|" between them."""
    return [
        character_of(name, filter(None, aliases.split("|")), gender)
        for name, gender, aliases in rows
    ]


def spoken_by(*names: str) -> list[str]:
    """Two speeches of each name, which show that it is a person's."""
    return [f"“Yes,” said {name}. “No,” said {name}." for name in names]


def meant(characters: list[Character], *chapters: str) -> list[str]:
    """Each name of the chapters with the id of the character whom it means."""
    texts = paragraphs_of(*chapters)
    paragraphs = [replace(paragraph, chapter=n) for n, paragraph in enumerate(texts)]
    names = find_names(paragraphs)
    cast = people_from_paragraphs(tuple(paragraphs), characters).cast
    found = find_mentions(cast.forms, names, paragraphs)
    return [
        f"{paragraphs[name.paragraph].text[name.start : name.end]}: "
        + ("nobody" if position is None else cast.characters[position].id)
        for name, position in zip(names, found, strict=True)
    ]


OTWAYS = given(("Mara Otway", "f", "Mara|Mrs. Otway"), ("Tobin Otway", "m", "Tobin|Otway"))


def test_a_form_means_whoever_has_it_as_an_alias():
    assert meant(OTWAYS, "Then Mara saw Otway and Nan, and Mrs. Otway sat.") == [
        "Mara: mara-otway",
        "Otway: tobin-otway",
        "Nan: nobody",
        "Mrs. Otway: mara-otway",
    ]


def test_a_form_that_nobody_has_is_looked_up_with_less():
    assert meant(OTWAYS, "They saw Poor Mara, Captain Tobin, Mr. Otway, Miss Tobin there.") == [
        "Poor Mara: mara-otway",
        "Captain Tobin: tobin-otway",
        "Mr. Otway: tobin-otway",
        "Miss Tobin: nobody",
    ]


def test_a_shared_alias_means_whom_the_chapter_names():
    sisters = given(("Jane", "f", "Miss Otway"), ("Mara", "f", "Miss Otway"))
    assert meant(sisters, "Here Jane sat. Miss Otway rose.", "Here Mara sat. Miss Otway rose.") == [
        "Jane: jane",
        "Miss Otway: jane",
        "Mara: mara",
        "Miss Otway: mara",
    ]


def test_where_nobody_is_named_a_shared_alias_means_whoever_has_no_other():
    dukes = given(("Duke of Arden", "m", "Duke"), ("Duke", "m", ""))
    assert meant(dukes, "They saw the Duke.", "There the Duke of Arden saw the Duke of it.") == [
        "Duke: duke",
        "Duke of Arden: duke-of-arden",
        "Duke: duke-of-arden",
    ]


def test_an_alias_without_a_capital_is_a_noun():
    listed = given(("Barber", "m", "the old barber|a barber"), ("Nan", "f", "my nurse"))
    cast = people_from_paragraphs((), listed).cast
    assert cast.nouns == {"barber": (0,), "nurse": (1,)}


def test_an_alias_with_an_article_is_a_noun_if_the_language_lists_it():
    cast = people_from_paragraphs((), given(("Nan", "f", "The Nurse|The Lamb|Nurse"))).cast
    assert cast.nouns == {"nurse": (0,)}


def test_a_short_name_is_that_of_the_one_whom_it_fits():
    listed = given(("Thomas Pell", "m", ""), ("Catherine Dace", "f", ""), ("Mrs. Bell", "f", ""))
    names = "Tom, Mr. Pell, Kitty, Miss Dace, Mrs. Pell, Bell".split(", ")
    assert meant(listed, *spoken_by(*names))[::2] == [
        "Tom: thomas-pell",
        "Mr. Pell: thomas-pell",
        "Kitty: catherine-dace",
        "Miss Dace: catherine-dace",
        "Mrs. Pell: nobody",
        "Bell: mrs-bell",
    ]
    assert meant(given(("Amy Dace", "f", "")), *spoken_by("Aunt Dace"))[0] == "Aunt Dace: nobody"


def test_of_two_whom_a_name_fits_it_means_the_one_who_was_found_under_it():
    listed = given(("Jane Otway", "f", ""), ("Jane Bell", "f", ""))
    texts = (*["They saw Jane Bell."] * 3, "They saw Jane Otway.", *spoken_by("Jane"))
    assert meant(listed, *texts)[-1] == "Jane: jane-bell"


def test_the_forms_of_one_who_was_found_follow_those_that_are_listed():
    texts = spoken_by("Captain Otway", "Otway", "Captain Otway")
    texts.append("“Aye,” said the Captain. " * 3)
    assert meant(given(("Captain Otway", "m", "")), *texts)[-1] == "Captain: captain-otway"


def test_letter_case_hyphens_and_apostrophes_do_not_matter():
    listed = given(("macAdam", "m", ""), ("O'dell", "m", ""), ("Mary Ann", "f", ""))
    names = ("Macadam", "O’Dell", "Mary-Ann")
    assert meant(listed, *spoken_by(*names))[::2] == [
        "Macadam: macadam",
        "O’Dell: odell",
        "Mary-Ann: mary-ann",
    ]


def test_those_who_often_speak_and_are_in_no_row_are_known():
    texts = [*spoken_by("Nan Pell", "Tobin Otway") * 3, *spoken_by("Captain Dace")]
    texts += spoken_by("Tobin", "Mrs. Bell") * 3

    def unlisted(*rows: tuple[str, str, str]) -> tuple[str, ...]:
        return people_from_paragraphs(tuple(paragraphs_of(*texts)), given(*rows)).unlisted

    assert unlisted(("Mr. Otway", "m", "")) == ("Nan Pell", "Mrs. Bell")
    assert unlisted(("Tobin Otway", "m", ""), ("nan", "f", "Nan pell"), ("Bell", "f", "")) == ()
    assert people_from_paragraphs(tuple(paragraphs_of(*texts))).unlisted == ()


def test_a_place_that_has_the_name_of_a_given_one_stays_a_place():
    texts = ["“Yes,” said Mr. Arden.", *["They lived in Arden Street, near Arden Street."] * 3]
    assert "Arden Street: nobody" in meant(given(("Mr. Arden", "m", "")), *texts)
