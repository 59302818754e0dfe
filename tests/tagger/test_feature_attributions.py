"""The speaker whom narration names, and whether two mentions are of one person."""

import pytest

from miner.books.book import Block, BlockKind, Book
from miner.speech.spans import split_book
from miner.speech.typography import typography_from_names
from miner.tagger.feature_attributions import Likeness, Mention, Mentions, compare_mentions


def parts_of(text):
    """A paragraph, and where its utterances start and end."""
    book = Book("0", "", "", "en", (Block(0, 1, BlockKind.PARAGRAPH, text),), (), "")
    spans = split_book(book, typography_from_names(["double-curly"])).spans
    return text, [(span.start, span.end) for span in spans if span.is_utterance]


def speaker_of(text, before="", *others, language="en"):
    mentions = Mentions((text, before, *others), (before, *others), language)
    return mentions.speaker(*parts_of(text), before)


@pytest.mark.parametrize(
    ("text", "names", "noun", "gender"),
    [
        ("“Come,” said Mara.", {"Mara"}, "", ""),
        ("“Come,” Mara said to him, and rose.", {"Mara"}, "", ""),
        ("“Come,” said Mrs. Otway.", {"Otway"}, "", "f"),
        ("“Come!” cried he.", set(), "", "m"),
        ("“Come,” she whispered.", set(), "", "f"),
        ("“Come,” said I.", set(), "", "i"),
        ("“Come,” they cried.", set(), "", "t"),
        ("“Come,” said the old keeper.", set(), "keeper", ""),
        ("“Come,” answered the little man sorrowfully.", set(), "man", "m"),
        ("“Come,” said the queen to her.", set(), "queen", "f"),
        ("Then Mara said, “Come.”", {"Mara"}, "", ""),
        ("After a while he asked: “Why?”", set(), "", "m"),
        ("“Come,” said Mara, “and see.”", {"Mara"}, "", ""),
        ("“Come.” “No,” said Mara.", {"Mara"}, "", ""),
    ],
)
def test_narration_names_the_speaker(text, names, noun, gender):
    found = speaker_of(text, "", "The keeper and his queen saw her come to an end then.")
    assert found is not None
    assert (set(found.names), found.noun, found.gender) == (names, noun, gender)


@pytest.mark.parametrize(
    "text",
    [
        "“Come.”",
        "“Come.” She rose and went to the window, and there she said nothing.",
        "Mara rose. “Come.”",
        "“Come,” and the door fell shut.",
    ],
)
def test_narration_that_names_no_speaker_gives_none(text):
    assert speaker_of(text) is None


def test_the_paragraph_before_may_name_the_speaker():
    found = speaker_of("“Come.”", "Then, after a pause, Mara added—")
    assert found is not None and found.names == {"Mara"} and found.goes_on
    assert speaker_of("“Come.”", "Then, after a pause, Mara added a word.") is None


@pytest.mark.parametrize(
    ("verb", "goes_on", "answers"),
    [
        ("said", False, False),
        ("continued", True, False),
        ("went on", True, False),
        ("hurried on", True, False),
        ("replied", False, True),
    ],
)
def test_verbs_that_go_on_and_verbs_that_answer(verb, goes_on, answers):
    found = speaker_of(f"“Come,” he {verb}, “and see.”")
    assert found is not None
    assert (found.goes_on, found.answers) == (goes_on, answers)


def test_a_word_that_the_chapter_writes_small_is_no_name():
    assert speaker_of("“Come,” said Keeper.", "", "A keeper sat there.") is None
    found = speaker_of("“Come,” said Keeper.")
    assert found is not None and found.names == {"Keeper"}


def test_names_have_the_gender_of_pronouns_and_titles():
    told = "Mara sat down. She took her hat and her coat. Mr. Otway rose."
    assert speaker_of("“Come,” said Mara.", "", told).gender == "f"
    assert speaker_of("“Come,” said Otway.", "", told).gender == "m"
    both = "Mara and Otway sat down. She took her hat and his coat, and her gloves."
    assert speaker_of("“Come,” said Mara.", "", both).gender == ""


@pytest.mark.parametrize(
    ("text", "names", "gender"),
    [
        ("Mara rose and went out.", {"Mara"}, ""),
        ("Then she rose.", set(), "f"),
        ("At once Mrs. Otway rose.", {"Otway"}, ""),
        ("I rose.", set(), "i"),
    ],
)
def test_the_subject_of_narration(text, names, gender):
    found = Mentions(["then at once"], [], "en").subject(text)
    assert found is not None
    assert (set(found.names), found.gender) == (names, gender)


@pytest.mark.parametrize("text", ["", "The rain fell.", "It rained all day, and then Mara came."])
def test_narration_whose_first_words_name_nobody(text):
    assert Mentions(["the rain it"], [], "en").subject(text) is None


def mention(names="", noun="", gender=""):
    return Mention(frozenset(names.split()), noun, gender)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (mention("Mara"), mention("Mara Otway"), Likeness.SAME),
        (mention("Mara"), mention("Tobin"), Likeness.OTHER),
        (mention(noun="keeper"), mention(noun="keeper"), Likeness.SAME),
        (mention(noun="keeper"), mention(noun="boy"), Likeness.OTHER),
        (mention(gender="m"), mention(gender="m"), Likeness.SAME),
        (mention(gender="m"), mention(gender="f"), Likeness.OTHER),
        (mention("Mara", gender="f"), mention(gender="f"), Likeness.PERHAPS),
        (mention("Mara", gender="f"), mention(gender="m"), Likeness.OTHER),
        (mention("Mara"), mention(gender="f"), None),
        (mention("Mara"), mention(gender="i"), Likeness.OTHER),
        (mention("Mara"), mention(noun="keeper"), None),
        (mention("Mara"), None, None),
        (None, None, None),
    ],
)
def test_likeness(one, other, expected):
    assert compare_mentions(one, other) == expected
    assert compare_mentions(other, one) == expected


@pytest.mark.parametrize(
    ("recent", "names"),
    [
        ([{"Mara": "f", "Tobin": "m"}], {"Mara"}),
        ([{"Tobin": "m"}, {}, {"Mara": "f"}], {"Mara"}),
        ([{"Mara": "f"}, {"Otway": "f"}], {"Mara"}),  # the nearest
        ([{"Mara": "f", "Otway": "f"}, {"Mara": "f"}], set()),  # there are two
        ([{"Mara": ""}], set()),
        ([], set()),
    ],
)
def test_a_pronoun_stands_for_the_only_one_of_its_gender(recent, names):
    she = mention(gender="f")
    found = Mentions([], [], "en").resolved(she, recent)
    assert found == mention(" ".join(names), gender="f")


@pytest.mark.parametrize(
    "given",
    [None, mention("Mara", gender="f"), mention(noun="girl", gender="f"), mention(gender="i")],
)
def test_only_pronouns_of_persons_are_resolved(given):
    assert Mentions([], [], "en").resolved(given, [{"Otway": "f"}]) == given


def test_a_pronoun_that_is_resolved_keeps_its_verb():
    added = Mention(frozenset(), "", "m", goes_on=True)
    found = Mentions([], [], "en").resolved(added, [{"Tobin": "m"}])
    assert found == Mention(frozenset({"Tobin"}), "", "m", goes_on=True)


def test_names_in_narration_have_their_genders():
    told = "Mrs. Mara sat down. Tobin took his hat, and his coat."
    assert Mentions([told], [told], "en").named("Tobin and Mara and Otway") == {
        "Tobin": "m",
        "Mara": "f",
        "Otway": "",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He took her hat.", {"m", "f"}),
        ("It was mine, and I took it.", {"i"}),
        ("The rain fell.", set()),
        ("His coat was wet.", {"m"}),
        ("They rose.", set()),
    ],
)
def test_pronouns_of_narration(text, expected):
    assert Mentions([], [], "en").find_genders(text) == expected


@pytest.mark.parametrize(
    ("language", "text", "names", "noun", "gender"),
    [
        ("de", "“Komm”, sagte Mara.", {"Mara"}, "", ""),
        ("de", "“Komm”, sagte der Wärter zu Mara.", set(), "wärter", "m"),
        ("de", "“Komm”, rief sie.", set(), "", "f"),
        ("de", "“Komm”, sagte ich.", set(), "", "i"),
        ("fr", "“Viens”, lui avait-elle dit.", set(), "", "f"),
        ("fr", "“Viens”, répondit l’aubergiste.", set(), "aubergiste", ""),
        ("fr", "“Viens”, dit le jeune comte à Mara.", set(), "comte", "m"),
        ("es", "“Ven”—dijo el pobre viejo con pena.", set(), "viejo", "m"),
        ("es", "“Ven”—gruñó doña Mara.", {"Mara"}, "", "f"),
        ("es", "“Ven”—gruñó con pena.", set(), "", ""),
        ("it", "“Vieni”, mormorò lei.", set(), "", "f"),
        ("nl", "“Kom,” bromde de oude man.", set(), "man", "m"),
        ("pt", "“Vem”, rosnou elle.", set(), "", "m"),
        ("hu", "“Jöjj”, morogta a bankár.", set(), "bankár", ""),
        ("hu", "“Jöjj”, morogta Mara.", {"Mara"}, "", ""),
        ("fi", "“Tule”, sanoi Mara.", {"Mara"}, "", ""),
        ("es", "Por fin Mara rompió el silencio: “¡Ven aquí!”", {"Mara"}, "", ""),
        ("fr", "Le comte sourit: “Viens donc!”", set(), "comte", "m"),
    ],
)
def test_other_languages_need_no_verbs_of_saying(language, text, names, noun, gender):
    found = speaker_of(text, "", "Words that are no names: por le.", language=language)
    assert found is not None
    assert (set(found.names), found.noun, found.gender) == (names, noun, gender)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "“Komm.” Mara erhob sich."),
        ("es", "“Ven”, y Mara se levantó."),
        ("fr", "Mara se leva. “Viens.”"),
    ],
)
def test_what_follows_or_leads_in_otherwise_names_no_speaker(language, text):
    assert speaker_of(text, language=language) is None


def test_german_nouns_are_no_names_though_they_have_capitals():
    texts = ["Der Abend kam.", "Mara sah den Garten, und Garten und Abend gefielen ihr."]
    assert Mentions(texts, texts, "de").named(texts[1]).keys() == {"Mara"}


@pytest.mark.parametrize(
    ("language", "verb", "goes_on", "answers"),
    [("pt", "acrescentou", True, False), ("de", "erwiderte", False, True)],
)
def test_verbs_of_other_languages_go_on_and_answer(language, verb, goes_on, answers):
    found = speaker_of(f"“...”, {verb} Mara.", language=language)
    assert found is not None
    assert (found.goes_on, found.answers) == (goes_on, answers)
