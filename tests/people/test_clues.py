"""What the page tells of the speaker of an utterance; each clue in a small form."""

from dataclasses import replace

import pytest
from characters_helpers import Scene, paragraphs_of

from miner.people.attributions import (
    find_addressee,
    find_attributions,
    find_last_subject,
    find_subject,
)
from miner.people.calls import find_called, find_titles
from miner.people.cast import Character, Kind
from miner.people.clues import Cue, find_clues
from miner.people.features import read_candidates
from miner.people.mentions import (
    NARRATOR_NUMBER,
    UNKNOWN_NUMBER,
    MentionKind,
    people_from_paragraphs,
)

CAST = ("“Yes,” said Mara. “No,” said Mara.", "“Yes,” said Mr. Bell. “No,” said Mr. Bell.")


def clues_of(*texts):
    """The scene and the clues of its utterances, without those of the cast."""
    scene = Scene(*CAST, *texts)
    found = find_clues(scene.chapter)
    scene.chapter = found.chapter
    return scene, found.clues[4:]


@pytest.mark.parametrize(
    ("texts", "cue", "person"),
    [
        (["“Come,” said Mara."], Cue.SAYS_AFTER, "Mara"),
        (["Mara said: “Come!”"], Cue.SAYS_BEFORE, "Mara"),
        (["“Come.” It rained. “No,” said Mara."], Cue.SAYS_BESIDE, "Mara"),
        (["“Come.” “No,” said Mara."], Cue.SAYS_BESIDE, None),
        (["Mara sat. He stood. “Come.”"], Cue.LEADS_IN, "Mara"),
        (["Mara sat. He stood. “Come.”"], Cue.LEADS_IN_LAST, "m"),
        (["“Come.” Mara sat down."], Cue.ACTS_AFTER, "Mara"),
        (["Mara sat. He stood.", "“Come.”"], Cue.BETWEEN_FIRST, "Mara"),
        (["Mara sat. He stood.", "“Come.”"], Cue.BETWEEN_LAST, "m"),
        (["“Come.”", "Mara sat down."], Cue.PARAGRAPH_AFTER, "Mara"),
        (["“Come.”", "“No,” said Mara."], Cue.SAYS_NEXT, "Mara"),
        (["“Come.”", "“No.”", "“Yes,” said Mara."], Cue.SAYS_NEXT_BUT_ONE, "Mara"),
        (["“Come.”"], Cue.SAID_LAST, "Mr. Bell"),
        (["“Come,” he said to Mara."], Cue.ADDRESSED, "Mara"),
        (["He turned to Mara.", "“Come.”"], Cue.ADDRESSED_BETWEEN, "Mara"),
        (["“Come.”", "“No,” he said to Mara."], Cue.ADDRESSED_NEXT, "Mara"),
        (["“Come.” Taking his hat, Mara sat."], Cue.NAMED_AFTER, "Mara"),
    ],
    ids=lambda value: value.name if isinstance(value, Cue) else "",
)
def test_each_cue(texts, cue, person):
    scene, (clues, *_) = clues_of(*texts)
    assert scene.shown(clues.cue(cue)) == person


@pytest.mark.parametrize(
    ("text", "head", "person"),
    [
        ("Mara. “Come.” (Aloud.) “No.”", "Mara", "Mara"),
        ("MR. BELL (rising): “Come.” “No.”", "MR. BELL", "Mr. Bell"),
        ("2ND FERRYMAN. “Come.” “No.”", "2ND FERRYMAN", "2nd ferryman"),
    ],
)
def test_the_name_that_heads_a_speech_speaks_all_of_it(text, head, person):
    scene = Scene(*CAST, text)
    chapter = scene.chapter
    headed = replace(chapter.paragraphs[-1], head=head)
    found = find_clues(replace(chapter, paragraphs=(*chapter.paragraphs[:-1], headed)))
    scene.chapter = found.chapter
    assert [scene.shown(clue.tag) for clue in found.clues[4:]] == [person] * 2
    assert None not in read_candidates(found, scene.book, frozenset()).facts[4:]


def test_who_is_said_to_speak_does_not_act_after_it():
    _, (clues,) = clues_of("“Come,” said Mara, smiling.")
    assert clues.cue(Cue.ACTS_AFTER) is None


def test_narration_beside_the_speech_says_that_the_speaker_goes_on_or_answers():
    _, clues = clues_of("“Come,” added Mara.", "“No,” answered he.", "“Yes,” went on Mara.")
    assert [(item.goes_on, item.answers) for item in clues] == [
        (True, False),
        (False, True),
        (True, False),
    ]


def test_what_stands_between_two_speeches_is_counted():
    _, clues = clues_of("It rained.", "Mara sat. “Come.” He stood. “No.”")
    assert [(item.n_between, item.n_before, item.is_first) for item in clues] == [
        (1, len("Mara sat."), True),
        (1, len("He stood."), False),
    ]


def test_the_last_paragraph_of_speech_asks():
    _, clues = clues_of("“Who?” said Mara.", "“I.”")
    assert [item.last_asks for item in clues] == [False, True]


def test_calls_of_the_speeches_around():
    scene, clues = clues_of("“Mara, come.”", "“Yes, sir.”", "“No, madam.”")
    assert [scene.person(number) for number in clues[1].last.called] == ["Mara"]
    assert clues[0].next.calls_man
    assert clues[1].next.calls_woman
    assert clues[2].last_but_one == clues[0].calls.called


def test_people_are_remembered_from_the_last_one_on():
    scene, (clues,) = clues_of("Mara sat. Mr. Bell stood.", "“Come.”")
    assert [scene.person(number) for number in clues.recent] == ["Mr. Bell", "Mara"]
    assert [(item.rank, item.paragraphs) for item in clues.recent.values()] == [(0, 1), (1, 1)]


def test_a_noun_that_speaks_is_a_person_of_the_chapter():
    scene, _ = clues_of("“Come,” said the wub. “No,” said the wub.")
    assert [person.noun for person in scene.chapter.people].count("wub") == 1


def test_how_a_chapter_uses_a_noun():
    scene = Scene("“Yes.”", "A waiter came. The waiter sat. His wife stood.")
    found = find_clues(scene.chapter)
    uses = {scene.person(n): use for n, use in enumerate(found.nouns) if use.count}
    assert (uses["waiter"].count, uses["waiter"].is_introduced) == (2, True)
    assert (uses["wife"].n_owned, uses["wife"].is_introduced) == (1, False)


def attributions(*texts):
    """The speakers after and before each utterance of the last paragraph, in words."""
    scene = Scene(*CAST, *texts)
    *_, before, paragraph = scene.chapter.paragraphs
    *_, mentions_before, mentions = scene.chapter.mentions
    introducing = () if before.utterances else (before, mentions_before)
    found = find_attributions(paragraph, mentions, *introducing)
    return [(scene.shown(item.after), scene.shown(item.before)) for item in found]


def of_narration(find, text):
    """What a function finds in a paragraph of narration, in words."""
    scene = Scene(*CAST, text)
    return scene.shown(find(text, 0, len(text), scene.chapter.mentions[-1]))


@pytest.mark.parametrize(
    ("text", "after", "before"),
    [
        ("“Come,” said Mara.", "Mara", None),
        ("“Come,” Mara said.", "Mara", None),
        ("“Come,” he said.", "m", None),
        ("“Come,” answered poor Mr. Bell.", "Mr. Bell", None),
        ("“Come,” said the wub.", "wub", None),
        ("“Come,” said the Tatar.", "tatar", None),
        ("“Come,” went on Mara.", "Mara", None),
        ("“Come.” Mara sat down.", None, None),
        ("“Come,” went Mara.", None, None),
        ("“Come,” said one of the carters.", "carter", None),
        ("“Come,” said another.", "another", None),
        ("“Come,” said the good-natured old Mara.", "Mara", None),
        ("“Come,” said the carter to Mara.", "carter", None),
        ("“Come,” put in Mara.", "Mara", None),
        ("“Come,” cried they all.", "all", None),
        ("“Come,” they said.", "they", None),
        ("“Come,” said both the boys together.", "boys", None),
        ("“Come,” said Mara and the waiter.", "Mara and the waiter", None),
        ("“Come,” said Mara and Mr. Bell laughed.", "Mara", None),
        ("“Come,” said the carter when they were gone.", "carter", None),
        ("Both boys cried to Mara: “Come!”", None, "boys"),
        ("The carter asked Mara, “Is it far?”", None, "carter"),
        ("He turned and said to Mara, “Come!”", None, "m"),
        ("“Come,” said to Mara a voice.", "voice", None),
        ("Then Mara cried: “Come!”", None, "Mara"),
        ("Turning to Mara, he said, “Come!”", None, "m"),
        ("Mara was afraid when he said, “Come!”", None, "m"),
        ("Mr. Bell, who saw Mara, said, “Come!”", None, "Mr. Bell"),
        ("“Come!” Mara cried.", "Mara", None),
        ("“Come!” Mara laughed.", None, None),
        ("“Come.” Mara said no more.", None, None),
        ("“Come!” And Mara called him.", None, None),
        ("“Come,” whispered the wub to Mara.", "wub", None),
        ("“Come,” the wub called to Mara.", "wub", None),
        ("“Come,” said Mara’s voice.", "Mara", None),
        ("“Come,” said Mara’s friend.", None, None),
        ("Mr. Bell rose, and turning to Mara said, “Come!”", None, "Mr. Bell"),
        ("He looked up at Mara, and then said to her, “Come!”", None, "m"),
        ("Mara sat down and Mr. Bell took a key and said, “Come!”", None, "Mr. Bell"),
        ("But when Mara, with a sigh, said, “Come!”", None, "Mara"),
        ("Mr. Bell saw Mara, who cried, “Come!”", None, "Mara"),
        ("Mara rose, and the wub, with a sigh, said, “Come!”", None, None),
        ("Mara says, “Come!” Mr. Bell says, “No!”", None, "Mara"),
    ],
)
def test_the_subject_of_a_verb_of_saying(text, after, before):
    assert attributions(text)[0] == (after, before)


def test_the_paragraph_before_may_introduce_the_speaker():
    assert attributions("Then Mara cried:", "“Come!”") == [(None, "Mara")]
    assert attributions("Then Mara cried.", "“Come!”") == [(None, None)]


def test_a_change_inside_a_paragraph():
    found = attributions("“Come,” said Mara. “No,” said Mr. Bell.")
    assert [after for after, _ in found] == ["Mara", "Mr. Bell"]


def test_what_stands_between_a_tag_and_the_next_speech():
    texts = "“Oh,” said Mara, as Mr. Bell came, “you!”", "Mara spoke, as Mr. Bell came, “You!”"
    assert [attributions(text)[-1] for text in texts] == [(None, "Mara"), (None, None)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Mara sat. He stood.", "Mara", "m"),
        ("Her voice broke.", "f", "f"),
        ("It was late, very dark and cold when Mara came.", None, None),
    ],
)
def test_the_subjects_of_narration(text, first, last):
    assert of_narration(find_subject, text) == first
    assert of_narration(find_last_subject, text) == last


@pytest.mark.parametrize(
    ("text", "addressee"),
    [("He turned to Mara.", "Mara"), ("He asked the waiter.", "waiter"), ("Mara sat.", None)],
)
def test_to_whom_something_is_said(text, addressee):
    assert of_narration(find_addressee, text) == addressee


@pytest.mark.parametrize(
    ("speech", "is_called"),
    [
        ("“Well, Mara, come.”", True),
        ("“Come, Mara!”", True),
        ("“My dear Mara, come.”", True),
        ("“I saw Mara there.”", False),
        ("“Mara is there.”", False),
        ("“Come, Mara’s dog!”", False),
        ("“I saw Mr. Bell, Mara, and nobody else.”", False),
        ("“Listen. Mara, who knows him, is there.”", False),
        ("“Mara.”", False),
        ("“Mara!”", True),
    ],
)
def test_a_speech_calls_somebody_or_only_names_them(speech, is_called):
    scene = Scene(*CAST, speech)
    called, named = find_called(speech, 0, len(speech), scene.chapter.mentions[-1])
    people = {scene.person(number) for number in called}
    assert people == ({"Mara"} if is_called else set())
    assert is_called or "Mara" in {scene.person(number) for number in named}


def test_a_speech_calls_by_a_title_and_does_not_only_name_it():
    assert find_titles("“Yes, aunt; good evening, sir.”") == ({"sir"}, {"aunt"})
    assert find_titles("“I saw the captain, and my aunt.”") == (frozenset(), frozenset())


MARA = "“Yes,” said Mara. “No,” said Mara."
OTWAY = "“Yes,” said Captain Otway. “No,” said Captain Otway."
BELL = "“Yes,” said Captain Bell. “No,” said Captain Bell."


def test_a_name_a_noun_and_a_pronoun_are_mentions():
    assert Scene(MARA, "Mara saw the waiter, and he bowed.").mentions() == [
        ("Mara", "name", "Mara"),
        ("the waiter", "noun", "waiter"),
        ("he", "pronoun", "m"),
    ]


def test_only_names_are_mentions_in_speech():
    assert Scene(MARA, "“I saw Mara and the waiter.”").mentions() == [("Mara", "name", "Mara")]


def test_the_captain_is_the_character_of_that_title():
    scene = Scene(OTWAY, "The captain sat.")
    assert scene.mentions() == [("The captain", "noun", "Captain Otway")]


def test_of_two_captains_the_one_whom_the_chapter_names_is_meant():
    scene = Scene(OTWAY, "The captain sat.", BELL, chapters=(1, 1, 2))
    assert scene.mentions() == [("The captain", "noun", "Captain Otway")]


def test_of_two_captains_in_one_chapter_neither_is_meant():
    assert Scene(OTWAY, BELL, "The captain sat.").mentions()[0][2] == "captain"


def test_a_number_tells_two_people_of_one_noun_apart():
    scene = Scene("“Yes.”", "The first man sat. The second man stood.")
    assert [person for _, _, person in scene.mentions()] == ["first man", "second man"]


@pytest.mark.parametrize(("word", "may_act"), [("him", False), ("he", True), ("my", False)])
def test_only_subjects_can_act(word, may_act):
    (mention,) = Scene(f"“Yes.” And {word} too.").chapter.mentions[0]
    assert mention.may_act is may_act


def test_the_narrator_is_part_of_the_story_if_it_says_i():
    assert Scene("I sat. “Yes,” I said. He sat.").chapter.first_person
    assert not Scene("He sat. “Yes,” he said. She sat. They sat.").chapter.first_person


def test_every_chapter_has_a_narrator_and_an_unknown_person():
    people = Scene("“Yes.”").chapter.people
    assert people[NARRATOR_NUMBER].kind is Kind.NARRATOR
    assert people[UNKNOWN_NUMBER].kind is None


def test_i_is_the_narrator():
    (mention,) = Scene("I sat. “Yes.”").chapter.mentions[0]
    assert (mention.kind, mention.person) == (MentionKind.PRONOUN, NARRATOR_NUMBER)


def test_chapters_without_speech_are_left_out():
    scene = Scene("Nobody spoke.", "“Yes.”", chapters=(1, 2))
    assert [chapter.number for chapter in scene.book.chapters()] == [2]


def test_a_noun_that_two_have_as_an_alias_means_whom_the_chapter_names():
    texts = ("Mara sat. “Yes,” said the nurse.", "Nan sat. “Yes,” said the nurse.")
    paragraphs = paragraphs_of(*texts)
    apart = tuple(replace(one, chapter=number) for number, one in enumerate(paragraphs, 1))
    listed = [Character(name.lower(), name, (name, "the nurse"), "f") for name in ("Mara", "Nan")]
    book = people_from_paragraphs(apart, listed)
    speakers = [
        chapter.people[mention.person].character
        for chapter in book.chapters()
        for mention in chapter.mentions[0]
        if mention.kind is MentionKind.NOUN
    ]
    assert speakers == [0, 1]


def test_a_title_that_a_character_seldom_has_is_not_its_noun():
    often = ["Mara sat. “Yes,” said Mara."] * 40
    texts = ("“Yes,” said Princess Mara.", *often, "Mara saw the princess.")
    assert Scene(*texts).mentions()[-1] == ("the princess", "noun", "princess")
    assert Scene(*["“Yes,” said Princess Mara."] * 9, texts[-1]).mentions()[-1][2] != "princess"
