"""Ways to find speakers that are compared: the simple rules, the ablations, invented names."""

import numpy as np
import pytest
from characters_helpers import Scene
from hypothesis import given, settings
from hypothesis import strategies as st
from speaker_scenes import MARA, page

from miner.errors import InputError
from miner.lab.gold.pdnc import PdncNovel
from miner.lab.training.speakers import ABLATIONS
from miner.lab.training.speakers.systems import (
    OURS,
    RULES,
    LastTags,
    find_systems,
    mask_names,
    rule_attributor,
)
from miner.people.attributor import Decided, SpeakerAttributor, attributor_of
from miner.people.characters import find_characters
from miner.people.clues import Cue, find_clues, keep_names
from miner.people.names import FEMALE_NAMES, MALE_NAMES, NICKNAMES, join_spans
from miner.speech.read import parse_spans
from miner.speech.tags import Tag, TaggedSpan

CAST = (
    "“Yes,” said Mara Otway. “No,” said Mara Otway.",
    "“Yes,” said Mr. Bell. “No,” said Mr. Bell.",
)
HTML = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>The Ferry</title></head>
<body><h1>The Ferry</h1><h2>CHAPTER I</h2>{}</body></html>"""


def book_of(*texts):
    return parse_spans(HTML.format("".join(f"<p>{text}</p>" for text in texts)).encode(), "7")


class Openings:
    """Tags each utterance as the opening of a conversation, and counts the books."""

    n_books = 0

    def tag(self, book_spans):
        self.n_books += 1
        return [TaggedSpan(s, Tag.B_START if s.is_utterance else Tag.O) for s in book_spans.spans]


def names_of(speak, book_spans, characters=None):
    """The names of the speakers of a book."""
    spoken = speak(book_spans, characters)
    name = {character.id: character.name for character in spoken.characters}
    return [name.get(item.speaker, "") for item in spoken.spans if item.span.is_utterance]


def by_rules(*texts):
    """The speakers by the rules, without those of the cast."""
    book_spans = book_of(*CAST, *texts)
    attributor = rule_attributor()
    return names_of(
        lambda spans, given: attributor.attribute(spans, Openings().tag(spans), given), book_spans
    )[4:]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["“Come,” said Mara Otway.", "“Why?” asked the waiter."], ["Mara Otway", "waiter"]),
        (
            ["“Come,” said Mara Otway.", "“Why?”", "“Now.”"],
            ["Mara Otway", "Mr. Bell", "Mara Otway"],
        ),
        (["“Come,” said Mara Otway. “Now.”"], ["Mara Otway"] * 2),
        # A pronoun names nobody: they speak in turn, whoever "he" is.
        (["“Come,” said Mara Otway.", "“Why?” said she."], ["Mara Otway", "Mr. Bell"]),
    ],
)
def test_the_simple_rules(texts, expected):
    assert by_rules(*texts) == expected


def test_where_nobody_has_spoken_the_rules_know_nobody():
    speakers = names_of(
        lambda spans, given: rule_attributor().attribute(spans, Openings().tag(spans), given),
        book_of("Mara Otway sat by Mr. Bell.", "“Come.”", "“No,” said Mara Otway."),
    )
    assert speakers == ["", "Mara Otway"]


def test_names_alone_are_kept_as_cues():
    scene = Scene(*CAST, "“Come,” she said.", "“Why?” said the waiter.", "“Now,” said Mara Otway.")
    cues = [clue.cue(Cue.SAYS_AFTER) for clue in keep_names(find_clues(scene.chapter)).clues[4:]]
    assert [cue is not None for cue in cues] == [False, False, True]


class InTurn:
    """Lets two people speak in turn, unless the odds say that the last one goes on."""

    def decide(self, chapter, continues):
        first, second = chapter.candidates[0][:2]
        speakers = [first]
        for odds in continues[1:]:
            goes_on = odds >= 0
            speakers.append(speakers[-1] if goes_on else first + second - speakers[-1])
        sure = (1.0,) * len(speakers)
        return Decided(tuple(speakers), sure, sure)


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, "Mr. Bell"), ({"tag_share": 0.0}, "Mara Otway")],
)
def test_without_the_tags_nothing_says_that_the_last_speaker_does_not_go_on(options, expected):
    book_spans = book_of(*CAST, "“Come.”")
    tags = [
        TaggedSpan(span, Tag.B_OTHER, 0.99 if span.text == "“Come.”" else None)
        if span.is_utterance
        else TaggedSpan(span, Tag.O)
        for span in book_spans.spans
    ]
    attributor = SpeakerAttributor(InTurn(), **options)
    found = names_of(lambda spans, given: attributor.attribute(spans, tags, given), book_spans)
    assert found[-1] == expected


def test_every_ablation_is_a_way_of_its_own_and_others_are_refused():
    tagger = Openings()
    attributor = attributor_of("en")
    ways = find_systems(tagger, Openings(), attributor, list(ABLATIONS))
    assert [name for name, _ in ways] == [OURS, RULES, *(f"ours, {name}" for name in ABLATIONS)]
    with pytest.raises(InputError, match="'all'"):
        find_systems(tagger, Openings(), attributor, ["all"])
    book_spans = parse_spans(page(), "7")
    for _, speak in ways:
        assert len(speak(book_spans, None).spans) == len(book_spans.spans)
    assert tagger.n_books == 2  # the book and the masked book, each once


def test_tags_are_remembered_of_the_same_book_alone():
    tagger = Openings()
    remembered = LastTags(tagger)
    one, other = book_of("“Yes.”"), book_of("“No.”")
    assert remembered.tag(one) is remembered.tag(one)
    assert remembered.tag(other)[-1].span.text == "“No.”" and tagger.n_books == 2


# ---- invented names

STORY = (
    "Elizabeth Otway, whom the village called Lizzy, sat by Thomas Bell. Miss Otway was cold.",
    "“Lizzy,” said Mr. Bell, “the Otways are late. Does Elizabeth mind?”",
    "“I do not, Tom,” said Lizzy. “Thomas, ask Mrs. Bell.” Then Lizzy laughed at BELL AND SONS.",
)


def test_every_name_is_another_one_and_all_else_stays():
    book_spans = book_of(*STORY)
    masked = mask_names(book_spans)
    text = "".join(span.text for span in masked.book_spans.spans)
    assert not [name for name in ("Elizabeth", "Lizzy", "Otway", "Thomas", "Tom") if name in text]
    assert "“the " in text and "Miss " in text and "laughed at" in text
    assert len(masked.book_spans.spans) == len(book_spans.spans)
    for span, before in zip(masked.book_spans.spans, book_spans.spans, strict=True):
        assert (span.is_utterance, span.paragraph) == (before.is_utterance, before.paragraph)
    for paragraph in join_spans(masked.book_spans):
        assert [paragraph.text[start:end][0] for start, end in paragraph.utterances] == ["“"] * len(
            paragraph.utterances
        )


def test_a_given_name_keeps_its_gender_and_its_short_form():
    found = mask_names(book_of(*STORY)).words
    assert (found["BELL"], found["Bell"][0]) == (found["Bell"].upper(), found["BELL"][0])
    words = {word.lower(): other.lower() for word, other in found.items()}
    assert words["elizabeth"] in FEMALE_NAMES and words["thomas"] in MALE_NAMES
    assert words["elizabeth"] in NICKNAMES[words["lizzy"]]
    assert words["thomas"] in NICKNAMES[words["tom"]]
    assert words["otways"] == words["otway"] + "s"
    assert len({*words, *words.values()}) == 2 * len(words)


def test_the_people_of_a_masked_book_are_the_same_people():
    book_spans = book_of(*STORY)
    masked = mask_names(book_spans)

    def people(spans):
        cast = find_characters(join_spans(spans)).characters
        return [(len(one.aliases), one.gender, one.n_mentions) for one in cast]

    assert people(masked.book_spans) == people(book_spans) != []


def test_what_was_found_in_a_masked_book_has_the_names_and_spans_of_the_book():
    book_spans = book_of(*STORY)
    (_, ours), *_, (_, masked) = find_systems(
        Openings(), Openings(), attributor_of("en"), ["masked"]
    )
    found = masked(book_spans, None)
    assert [item.span for item in found.spans] == list(book_spans.spans)
    own = ours(book_spans, None)
    assert [(one.name, one.aliases) for one in found.characters] == [
        (one.name, one.aliases) for one in own.characters
    ]
    assert names_of(masked, book_spans) == names_of(ours, book_spans)


def test_given_characters_are_masked_and_keep_their_ids():
    masked = mask_names(parse_spans(page(), "7"))
    (mara,) = masked.mask([MARA])
    assert mara.id == MARA.id and mara.name != MARA.name and mara.aliases == (mara.name,)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.sampled_from("Otway Bell Dace Pell Mara Anna Ann Tom Thomas Will".split()),
        min_size=1,
        max_size=6,
    )
)
def test_no_two_names_become_one(names):
    texts = [f"Then {name} spoke, and {name} sat, and so did {name}." for name in names]
    words = mask_names(book_of("“Yes.”", *texts)).words
    assert len({other.lower() for other in words.values()}) == len(words)


# ---- one author left out


def test_an_author_is_known_by_the_code_of_the_corpus():
    pytest.importorskip("torch")
    from miner.lab.training.speakers.training import LeaveOneAuthorOut, SpeakerExample, has_code
    from miner.people.features import CandidateChapter

    assert has_code("Jenny Wren", "WREN") and not has_code("Wren Jenny", "WREN")
    chapter = CandidateChapter((), (), (), (), ())
    books = [("1", "Jenny Wren"), ("2", "J. Wren"), ("3", "Amos Dace"), ("4", "Wilf Gorse")]
    examples = [SpeakerExample(chapter, (), book, author) for book, author in books * 2]
    # The corpus knows better than the name who wrote the fourth book.
    novels = [
        PdncNovel("x", id, f"novel {id}", code)
        for id, code in (("9", "WREN"), ("4", "WREN"), ("3", "DACE"), ("8", "PELL"), ("5", ""))
    ]
    validation = LeaveOneAuthorOut(examples, novels)
    assert validation.left_out(novels[0]) == {"1", "2", "4"}
    assert validation.count_left_out(novels[:4]) == {"WREN": 6, "DACE": 2, "PELL": 0}
    with pytest.raises(InputError, match="novel 5: found no Author Code"):
        validation.left_out(novels[4])


def test_one_network_is_trained_for_each_author_without_its_books():
    pytest.importorskip("torch")
    from miner.lab.training.speakers.network import SpeakerTraining
    from miner.lab.training.speakers.training import LeaveOneAuthorOut, SpeakerExample
    from miner.people.features import read_candidates

    scene = Scene(*CAST)
    chapter = read_candidates(find_clues(scene.chapter), scene.book, frozenset())
    own = SpeakerExample(chapter, (0, 0, 1, 1), "1", "Jenny Wren")
    other = SpeakerExample(chapter, (1, 1, 0, 0), "2", "Amos Dace")
    novels = [
        PdncNovel("x", id, id, code) for id, code in (("1", "WREN"), ("2", "DACE"), ("3", "X"))
    ]
    trained: list[int] = []
    options = SpeakerTraining(first=4, second=4, epochs=20, rate=0.05)
    validation = LeaveOneAuthorOut([own, own, other], novels, options, trained.append)
    found = [validation.attributor_of(novel) for novel in (*novels, novels[0])]
    assert trained == [1, 2, 3]
    assert found[0] is found[3] and found[0] is not found[1]
    biases = [one.decider.weights["score.bias"] for one in found[:2]]
    assert not np.array_equal(*biases)
