"""Which names are people, which are one person, and of which gender; each rule in a small form."""

from collections import Counter

import pytest
from characters_helpers import genders_in, paragraphs_of, people_in
from helpers import cpu_seconds

from miner.errors import InputError
from miner.people.cast import (
    Character,
    Kind,
    refuse_unclear,
    slug_of,
)
from miner.people.characters import all_bearers, find_characters
from miner.people.clues import find_clues
from miner.people.mentions import read_people
from miner.speech.read import parse_spans

# Each person speaks twice, which makes a name a person's, and nobody answers.
SAID = "“Yes,” said {0}. “No,” said {0}."
SILENCE = ["It rained."] * 3


def spoken_by(*names: str) -> list[str]:
    return [text for name in names for text in (SAID.format(name), *SILENCE)]


def test_who_speaks_is_a_person_and_what_stands_after_in_is_none():
    found = people_in(
        *spoken_by("Mara"), "They lived in Arden, near Brill. They left Arden. Then in Brill again."
    )
    assert found == {"mara": {"Mara"}}


@pytest.mark.parametrize(
    "text",
    [
        "They saw Mr. Otway there.",
        "“Come, Otway,” she said. Otway’s hat fell.",
        "Then Otway smiled and Otway sat down.",
    ],
    ids=["a title", "called", "acts"],
)
def test_a_title_a_call_and_an_act_show_a_person(text):
    (aliases,) = people_in(text).values()
    assert aliases & {"Otway", "Mr. Otway"}


def test_a_house_that_is_named_after_somebody_is_none():
    texts = [*spoken_by("Mr. Otway", "Mr. Hall"), "“Come,” said Otway Lodge; Otway Lodge smiled."]
    assert people_in(*texts) == {"mr-otway": {"Mr. Otway"}, "mr-hall": {"Mr. Hall"}}


def test_a_greeting_is_no_person():
    assert (
        people_in("“Farewell, Christmas!” she said. Farewell’s hat and Christmas fell." * 3) == {}
    )


def test_a_cry_is_no_person():
    assert people_in("“Hist, Hark!” she said. “Now, Hark!” she said.") == {}


def test_a_character_has_an_id_a_name_and_its_aliases_by_number():
    cast = find_characters(
        paragraphs_of(*spoken_by("Mrs. Bell"), "Mrs. Adèle Bell sat.", *spoken_by("Adèle") * 2)
    )
    (found,) = cast.characters
    assert (found.id, found.name) == ("mrs-bell", "Mrs. Bell")
    assert found.aliases == ("Adèle", "Mrs. Bell", "Mrs. Adèle Bell")
    assert (found.gender, found.kind, found.n_mentions) == ("f", Kind.NAMED, 7)


def test_the_usual_name_is_the_fullest_that_is_not_rare():
    texts = spoken_by("Mara") * 9 + ["Mara Otway sat.", "They saw Mara Otway.", "Miss Mara sat."]
    (found,) = find_characters(paragraphs_of(*texts)).characters
    assert found.name == "Mara Otway"


def test_two_people_of_one_name_have_two_ids():
    texts = spoken_by("Mr. Bell", "Mrs. Bell", "Mr. Bell’s")
    assert set(people_in(*texts)) == {"mr-bell", "mrs-bell"}


def test_short_names_are_those_of_the_person():
    texts = spoken_by("Elizabeth", "Lizzy", "Miss Elizabeth Otway", "Miss Elizabeth")
    assert people_in(*texts) == {
        "miss-elizabeth-otway": {"Elizabeth", "Lizzy", "Miss Elizabeth Otway", "Miss Elizabeth"}
    }


def test_a_short_name_is_not_that_of_somebody_hardly_named():
    texts = [*spoken_by("Bob") * 15, "They spoke of Sir Robert Bell."]
    assert people_in(*texts) == {"bob": {"Bob"}, "sir-robert-bell": {"Sir Robert Bell"}}


def test_a_family_stays_apart():
    texts = spoken_by("Mr. Wilcox", "Mrs. Wilcox", "Miss Wilcox", "Charles Wilcox") * 4
    texts += spoken_by("Charles") * 4
    assert people_in(*texts) == {
        "mr-wilcox": {"Mr. Wilcox"},
        "mrs-wilcox": {"Mrs. Wilcox"},
        "miss-wilcox": {"Miss Wilcox"},
        "charles-wilcox": {"Charles Wilcox", "Charles"},
    }


def test_a_son_with_a_title_is_not_his_father_where_there_is_a_mother():
    texts = spoken_by("Mr. Sedley", "Mr. Joseph Sedley", "Joseph", "Joseph") * 4
    assert len(people_in(*texts)) == 1
    assert len(people_in(*texts, *spoken_by("Mrs. Sedley") * 2)) == 3


def test_the_wife_of_bute_is_not_bute():
    texts = spoken_by("Mrs. Bute Crawley", "Bute Crawley", "Mrs. Bute")
    assert people_in(*texts) == {
        "mrs-bute-crawley": {"Mrs. Bute Crawley", "Mrs. Bute"},
        "bute-crawley": {"Bute Crawley"},
    }


def test_the_eldest_daughter_is_never_called_by_her_given_name_after_the_title():
    texts = spoken_by("Jane Otway", "Miss Mary Otway", "Miss Otway")
    assert people_in(*texts)["jane-otway"] == {"Jane Otway", "Miss Otway"}


def test_a_surname_alone_is_that_of_the_man_or_of_the_only_woman():
    texts = spoken_by("Mr. Bell", "Miss Bell", "Bell")
    assert people_in(*texts)["mr-bell"] == {"Mr. Bell", "Bell"}
    assert people_in(*spoken_by("Miss Briggs", "Briggs")) == {
        "miss-briggs": {"Miss Briggs", "Briggs"}
    }
    assert len(people_in(*spoken_by("Mrs. Bell", "Bell"))) == 2


def test_forms_that_stand_in_one_clause_are_two_people():
    texts = spoken_by("Mr. Bell", "Bell") * 2
    assert len(people_in(*texts)) == 1
    assert len(people_in(*texts, *["Mr. Bell nodded to Bell."] * 3)) == 2


def exchange(*speakers: str) -> list[str]:
    """A paragraph of speech for each speaker, one right after the other."""
    return [f"“Yes,” said {speaker}." for speaker in speakers]


def test_of_one_surname_those_who_talk_to_each_other_are_two():
    met = ["Mr. Bell sat. Tobin Bell stood."]
    assert people_in(*met, *exchange("Mr. Bell", "Tobin", "Mr. Bell", "Tobin Bell")) == {
        "mr-bell": {"Mr. Bell"},
        "tobin-bell": {"Tobin Bell", "Tobin"},
    }
    assert len(people_in(*met, *exchange("Mr. Bell", "Nan", "Tobin Bell", "Nan"))) == 2
    assert set(people_in(*exchange("Miss Bell", "Miss Ann Bell", "Miss Bell", "Ann"))) == {
        "miss-bell",
        "miss-ann-bell",
    }
    assert set(people_in(*exchange("Mr. Bell", "Captain Bell", "Mr. Bell", "Captain Bell"))) == {
        "mr-bell",
        "captain-bell",
    }


def test_two_names_that_speak_in_turn_with_others_are_of_one_person():
    talk = exchange("Nan", "the Canadian", "Nan", "Mara", "Nan", "Mara") * 2
    called = ["“Come, Mara,” said Nan.", "“No,” said the Canadian.", *SILENCE] * 3
    assert set(people_in(*talk, *called)) == {"nan", "mara"}
    # Allies speak in turn with a third, too, but they also speak to each other.
    assert set(people_in(*talk, *exchange("Mara", "the Canadian") * 2)) == {
        "nan",
        "mara",
        "canadian",
    }


def test_a_relative_of_somebody_is_somebody_else():
    texts = spoken_by("Mr. Bell", "Tobin Bell", "Tobin") * 2
    assert len(people_in(*texts)) == 1
    assert len(people_in(*texts, "Mr. Bell sat there with his eldest son, Tobin.")) == 2
    assert len(people_in(*texts, "There sat Tobin Bell and Mr. Bell, his father.")) == 2


def test_qualities_tell_two_people_apart_who_talk_to_each_other():
    texts = exchange("Big Ned", "Little Ned", "Big Ned", "Little Ned")
    assert set(people_in(*texts)) == {"big-ned", "little-ned"}
    assert len(people_in(*exchange("Big Ned", "Nan", "Little Ned", "Nan") * 2)) == 2


def test_a_surname_is_that_of_the_son_where_the_father_is_not_spoken_to():
    home = [*exchange("Robert", "Nan", "Mr. Bell", "Nan") * 6, "Robert Bell sat."]
    met = exchange("Mr. Bell", "Robert") * 4
    paragraphs = paragraphs_of(*home) + paragraphs_of(*met, chapter=2)
    found = {each.id: each.n_mentions for each in find_characters(paragraphs).characters}
    assert found == {"robert": 6 + 6 + 1 + 4, "mr-bell": 4, "nan": 12}


def test_initials_and_longer_given_names_are_of_one_person():
    assert len(people_in(*spoken_by("Gilbert Otway", "G. Otway"))) == 1
    assert len(people_in(*spoken_by("Gilbert Otway", "George Otway"))) == 2
    assert len(people_in(*spoken_by("Ferdin Otway", "Ferdinard Otway"))) == 1


def test_a_name_of_two_words_that_hardly_occurs_owns_no_surname():
    texts = [*spoken_by("Otway") * 20, "They saw Mr. Nicholas Otway.", "“Yes,” said Otway Hall."]
    assert "Otway" in people_in(*texts)["otway"]


def test_a_given_name_may_stand_nearly_always_alone():
    texts = [*spoken_by("Jude") * 20, "They saw Jude Fawley."]
    assert people_in(*texts) == {"jude": {"Jude", "Jude Fawley"}}


def test_a_town_is_no_person_because_somebody_has_its_name():
    texts = ["They lived in Brill. Then they left Brill."] * 15
    assert people_in(*texts, "They saw Monsieur Brill.") == {}


def test_young_jerry_is_not_jerry():
    texts = spoken_by("Jerry") * 5 + ["And Young Jerry sat. Then Young Jerry nodded."] * 4
    assert set(people_in(*texts)) == {"jerry", "young-jerry"}
    assert set(people_in(*spoken_by("Jerry") * 5, "Poor Jerry sat.")) == {"jerry"}


CAPTAIN = "The Captain nodded. “Yes,” said the Captain. And the Captain sat."


def test_a_title_alone_is_the_person_who_has_it():
    assert people_in(CAPTAIN, *spoken_by("Captain Bell")) == {
        "captain-bell": {"Captain Bell", "Captain"}
    }
    assert people_in(CAPTAIN) == {"captain": {"Captain"}}


def test_of_two_captains_the_chapter_tells_which_is_meant():
    first = paragraphs_of(CAPTAIN, *spoken_by("Captain Bell"), chapter=1)
    second = paragraphs_of(CAPTAIN, *spoken_by("Captain Otway"), chapter=2)
    found = {each.id: each for each in find_characters(first + second).characters}
    assert set(found) == {"captain-bell", "captain-otway"}
    assert {each.n_mentions for each in found.values()} == {5}


@pytest.mark.parametrize("title", ["Sir", "Madame", "Miss", "Mr"])
def test_a_word_of_address_alone_is_nobody(title):
    texts = [f"“Yes, {title},” she said. “Well, {title}!”"] * 4
    assert people_in(*texts) == {}


def test_an_aunt_is_not_the_mother_of_the_name():
    texts = spoken_by("Mrs. March", "Aunt March", "Beth March", "Beth") * 4
    assert set(people_in(*texts)) == {"mrs-march", "aunt-march", "beth-march"}
    assert people_in(*spoken_by("Polly", "Aunt Polly")) == {"aunt-polly": {"Polly", "Aunt Polly"}}


def test_a_noble_title_has_no_short_name():
    texts = [*spoken_by("Lady Catherine") * 9, *spoken_by("Kitty") * 4]
    assert set(people_in(*texts)) == {"lady-catherine", "kitty"}
    assert len(people_in(*spoken_by("Catherine") * 9, *spoken_by("Kitty") * 4)) == 1


def test_a_given_name_is_stronger_than_a_few_pronouns():
    text = "Mary took his hat. " * 5
    assert genders_in(text) == {"mary": "f"}
    assert genders_in(text * 3) == {"mary": "m"}


def test_his_lordship_is_the_lord_and_the_narrator_may_name_somebody_madame():
    found = people_in(*spoken_by("Lord Steyne"), *["“Yes,” said his Lordship."] * 4)
    assert found == {"lord-steyne": {"Lord Steyne", "Lordship"}}
    assert set(people_in(*spoken_by("Madame") * 2)) == {"madame"}
    found = people_in(*spoken_by("Lady Vane"), *["“Yes,” said my Lady."] * 4)
    assert found == {"lady-vane": {"Lady Vane", "Lady"}}


def test_mother_is_a_person_where_narration_says_so():
    assert people_in(*["“Yes, Mother,” she said."] * 5) == {}
    assert set(people_in(*["“Yes,” said Mother. Then Mother sat."] * 2)) == {"mother"}


def test_two_dukes_and_a_king_are_known_by_their_places():
    texts = spoken_by("the Duke of Arden", "the Duke of Brill", "the King of Hearts", "the King")
    assert people_in(*texts) == {
        "king-of-hearts": {"King of Hearts", "King"},
        "duke-of-arden": {"Duke of Arden"},
        "duke-of-brill": {"Duke of Brill"},
    }


@pytest.mark.parametrize(
    "text, gender",
    [
        ("Mr. Vane sat.", "m"),
        ("Mrs. Captain Vane sat.", "f"),
        ("Then Bridget Vane smiled. She sat. Bridget Vane nodded.", "f"),
        ("Then Vanya Petrovna smiled. Vanya Petrovna nodded and sat.", "f"),
        ("Vane took his hat. Vane took her coat. Then Vane nodded. Vane smiled.", ""),
        ("Vane took his hat. Vane took his coat. Vane lost his way. Vane shut his eyes.", "m"),
    ],
)
def test_titles_names_and_pronouns_tell_the_gender(text, gender):
    assert set(genders_in(text).values()) == {gender}


def test_pronouns_of_sentences_that_name_two_tell_nothing():
    text = "Vane took his hat to Otway. " * 6
    assert genders_in(text, *spoken_by("Vane")).get("vane") == ""


def test_a_book_without_capitals_or_names_has_no_characters():
    assert people_in() == people_in("") == people_in("nothing here. “no,” she said.") == {}


def test_a_book_in_another_language_has_those_who_speak():
    texts = ["„Ja“, sagte Mara. Die Frau schwieg im Garten, und der Hund schlief."] * 3
    assert people_in(*texts) == {"mara": {"Mara"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "said Q{0} Smith. ",
        "said John Q{0} Smith. ",
        "said Mr. Q{0}. Then Smith, Mr. Smith. ",
        "said Abcd{0}. ",
        "said Captain Q{0}. The Captain sat. ",
        "said Captain Smith Q{0} of the Captain. ",
    ],
)
def test_a_page_of_a_machine_takes_no_longer(text):
    letters = "abcdefghijklmnopqrst"
    words = [a + b + c for a in letters for b in letters for c in letters[:5]]
    times = []
    for n in (250, 1000):
        paragraphs = paragraphs_of("".join(text.format(word) for word in words[:n]))
        times.append(cpu_seconds(lambda paragraphs=paragraphs: find_characters(paragraphs)))
    assert times[1] < 10 * times[0] + 0.2


FORMS = {
    "speeches of one paragraph": "“Yes,” said Mara to Tobin. ",
    "names in one speech": "“Mara, Tobin and the man. ",
    "names in one paragraph": "Mara and Tobin saw the man. ",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_the_time_of_clues_is_in_proportion_to_the_length(name):
    def seconds(n):
        text = f"<html lang='en'><body><p>“Yes,” said Mara.</p><p>{FORMS[name] * n}</p>"
        book = parse_spans(text.encode(), "7")

        def read():
            chapters = [find_clues(chapter) for chapter in read_people(book).chapters()]
            assert sum(len(chapter.clues) for chapter in chapters) > 0

        return cpu_seconds(read)

    seconds(1)
    assert seconds(1600) < 6 * seconds(400)


def test_two_characters_without_an_alias_of_their_own_are_unclear():
    both = [Character("mara", "Miss Otway", ()), Character("jane", "Miss Otway", ("Miss Otway",))]
    message = "found no alias of 'jane' that is not of 'mara' or others, expected one of its own"
    with pytest.raises(InputError, match=message):
        refuse_unclear(both)


def test_a_character_has_a_gender_and_an_id():
    with pytest.raises(ValueError, match="gender: found 'x', expected m, f or nothing"):
        Character("nan", "Nan", (), "x")
    with pytest.raises(ValueError, match="id: found none"):
        Character("", "Nan", ())


def test_an_id_is_in_small_letters_of_ascii_and_the_only_one():
    assert slug_of("St. John O’Dell") == "st-john-odell"
    assert slug_of("Zoë", {"zoe", "zoe-2"}) == "zoe-3"
    assert slug_of("Ω") == "character"


def test_people_with_titles_of_one_rank_are_in_the_order_of_these():
    titles = ["empress", "emperor", "queen", "king"]
    bearers = {title: Counter({title: 1}) for title in titles}
    assert list(all_bearers(bearers, "majesty")) == sorted(titles)
