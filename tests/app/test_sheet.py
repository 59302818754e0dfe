"""A chapter under annotation: the actions, the guesses, and the rows to save."""

import re
from dataclasses import replace

import pytest
from annotation_helpers import read_rows
from annotator_helpers import STEPS, TALK, arguments, edit, facts_of, opened, shown, tagged_as
from helpers import NAMES
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import derive_tags, row_from_annotation
from miner.app.annotator.guesses import find_guesses, find_names
from miner.app.annotator.sheet import ACTIONS, NameNeeded, apply_action
from miner.app.annotator.sheet_file import NOTHING_TAGGED
from miner.errors import InputError
from miner.files import json_line
from miner.people.cast import Character, Kind
from miner.speech.tags import Tag, repair_tags


def do(sheet, action, place=None, *more):
    """The sheet after a step; a speaker without a name is called by the letter that is offered."""
    conversation, speaker = arguments(action, more)
    try:
        return apply_action(sheet, action, place, speaker, conversation)
    except NameNeeded as needed:
        return apply_action(sheet, action, place, needed.letter, conversation)


def blank(tmp_path_factory, tagged=NOTHING_TAGGED):
    path = tmp_path_factory.mktemp("sheet") / "7.jsonl"
    return opened(path, tagged=tagged).current().sheet


@pytest.fixture
def sheet(tmp_path_factory):
    """The chapter of the ferry, nothing decided or guessed."""
    return blank(tmp_path_factory)


@pytest.fixture
def done(sheet):
    for place, (action, *more) in enumerate(STEPS):
        sheet = do(sheet, action, place, *more)
    return sheet


def saved(sheet, path):
    """The rows as `read_rows` reads them back."""
    path.write_bytes(b"".join(json_line(row_from_annotation("7", row)) for row in sheet.rows()))
    return read_rows(path, "7")


def test_a_whole_chapter_is_annotated(done, tmp_path):
    rows = saved(done, tmp_path / "x.jsonl")
    assert facts_of(rows) == TALK
    texts = [entry.span.text for entry in done.spans]
    assert [row.fingerprint for row in rows] == [fingerprint(text) for text in texts]
    letters = {None: "-", Tag.O: "O", Tag.B_START: "S", Tag.I_START: "s", Tag.B_OTHER: "R"}
    letters[Tag.I_OTHER] = "r"
    assert "".join(letters[tag] for tag in done.tags()) == "SsRRROSRSRr"
    assert done.speakers == ["Ruth", "Tom", "boy"]
    assert (done.n_decided, len(done.spans), done.next_place()) == (11, 11, None)


def test_other_is_the_last_speaker_but_the_previous_one(sheet):
    sheet = do(do(do(sheet, "new", 0, "Ruth"), "other", 1, "Tom"), "other", 2, "Ines")
    assert shown(do(sheet, "other", 3))[3] == "Tom1"
    assert shown(do(do(sheet, "same", 3), "other", 4))[3:5] == ["Ines1", "Tom1"]
    unknown = do(do(sheet, "unknown", 2), "other", 3)
    assert shown(unknown)[1:4] == ["Tom1", "?1", "Tom1"]


def test_a_speaker_without_a_name_gets_an_unused_letter(sheet):
    sheet = do(do(sheet, "new", 0), "other", 1)
    assert shown(sheet)[:2] == ["A1", "B1"]
    assert shown(do(sheet, "new", 2))[:3] == ["A1", "B1", "C2"]
    assert shown(do(do(sheet, "rename", 0, "C"), "new", 2))[:3] == ["C1", "B1", "A2"]
    assert shown(do(sheet, "new", 1))[:2] == ["A1", "B2"]  # its own letter is free
    for place in range(2, 11):
        sheet = do(sheet, "new", place)
    assert sheet.speakers == list("ABCDEFGHIJK")


def test_conversations_are_numbered_in_the_order_of_the_book(sheet):
    sheet = do(do(sheet, "new", 6, "Tom"), "new", 3, "Ruth")
    assert (shown(sheet)[3], shown(sheet)[6]) == ("Ruth1", "Tom2")
    sheet = do(do(sheet, "new", 0, "Tom"), "resume", 8, 3)
    assert [shown(sheet)[n] for n in (0, 3, 6)] == ["Tom1", "Ruth2", "Tom3"]
    assert shown(sheet)[8] == "A3"  # Tom spoke last in it, and nobody else
    sheet = do(sheet, "clear", 0)
    assert [shown(sheet)[n] for n in (0, 3, 6, 8)] == ["", "Ruth1", "Tom2", "A2"]


def test_a_speaker_is_renamed_in_the_whole_chapter(done):
    renamed = do(done, "rename", 3, "Ruth Amory")
    assert shown(renamed) == [name.replace("Ruth", "Ruth Amory") for name in shown(done)]
    one = do(done, "rename", 7, "Tom")  # the boy was Tom
    assert one.speakers == ["Ruth", "Tom"]
    only = do(done, "speaker", 3, "  Ruth \n Amory ")
    assert shown(only)[3] == "Ruth Amory1"
    assert [shown(only)[n] for n in (0, 8)] == ["Ruth1", "Ruth1"]


def test_a_name_alone_continues_the_previous_conversation(sheet):
    sheet = do(do(do(sheet, "speaker", 0, "Ruth"), "nothing", 1), "speaker", 2, "Tom")
    assert shown(sheet)[:4] == ["Ruth1", "0", "Tom1", ""]
    begun = do(do(sheet, "new", 5), "unknown", 6)
    assert shown(begun)[5:7] == ["A2", "?2"]
    before = do(begun, "speaker", 8, "Tom")
    assert shown(before)[8] == "Tom2"


def test_a_span_that_is_not_speech_answers_nobody(done):
    cleared = do(do(done, "nothing", 6), "clear", 7)
    assert shown(cleared)[6:8] == ["0", ""]
    assert shown(do(cleared, "same", 7))[7] == "Tom1"


def test_an_action_without_effect_is_not_recorded(done):
    assert do(done, "nothing", 5) is done
    assert do(done, "same", 10) is done


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([("same", 0)], "place 0: found no utterance before it, expected new instead of same"),
        ([("nothing", 0), ("other", 1)], "place 1: found no utterance before it, expected new"),
        ([("new", 11)], "found no place 11, expected 0 to 10"),
        ([("new", -1)], "found no place -1, expected 0 to 10"),
        ([("new", 0, "  ")], "found no name, expected one, or ? if the text does not tell who"),
        ([("new", 0, "x" * 101)], "expected at most 100 printable characters"),
        ([("new", 0, "a\x00b")], "found 'a\\x00b' as a name, expected at most"),
        ([("new", 0, "\ud800")], "found '\\ud800' as a name, expected at most"),
        ([("new", 0, "Tom"), ("other", 1, " Tom ")], "place 1: found Tom as the other speaker"),
        ([("resume", 0, 1)], "place 0: found no conversation 1 to resume, expected one that has"),
        ([("new", 0), ("resume", 1, 2)], "found no conversation 2 to resume, expected 1 to 1"),
        ([("new", 0), ("resume", 1, 0)], "found no conversation 0 to resume, expected 1 to 1"),
        ([("speaker", 3, "\n")], "found no name, expected one, or ? if the text does not tell who"),
        ([("nothing", 3), ("unknown", 3)], "place 3: found it marked as not speech, expected same"),
        ([("new", 0, "?"), ("rename", 0, "Tom")], "found an unknown speaker, expected a decided"),
        ([("accept", 3)], "place 3: found no guess, expected a guess to accept"),
        ([("clear", 3)], "place 3: found it undecided, expected a decision to clear"),
        ([("undo",)], "found no action, expected one to undo"),
        ([("sing", 3)], "found action 'sing', expected one of same, other, new, resume"),
        ([("keep_speaker", 3)], "found action 'keep_speaker', expected one of same, other"),
        ([("nothing", 3, "Tom")], "nothing: found a speaker, expected none"),
        (
            [("new", 0, "Ruth"), ("same", 1, "Tom")],
            "place 1: found Tom as the same speaker, expected Ruth",
        ),
        ([("new",)], "new: found no place, expected one"),
        ([("rename", 3)], "rename: found no speaker, expected one"),
        ([("resume", 3, None)], "resume: found no conversation, expected one"),
    ],
)
def test_an_impossible_action_is_refused_in_one_line(sheet, steps, message):
    *first, last = steps
    for step in first:
        sheet = do(sheet, *step)
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        do(sheet, *last)
    assert "\n" not in str(raised.value)


def test_only_an_accepted_guess_is_saved(tmp_path):
    path = tmp_path / "7.jsonl"
    file = opened(path, tagged=tagged_as("SsRRRSRSRr"))
    wanted = ["A1?", "A1?", "B1?", "A1?", "B1?", "0?", "C2?", "D2?", "E3?", "F3?", "F3?"]
    assert shown(file.current().sheet) == wanted
    assert path.read_bytes() == b""
    edit(file, "accept", 2)
    assert [(row.speaker, row.conversation) for row in read_rows(path, "7")] == [("B", 1)]
    again = opened(path, tagged=tagged_as("SsRRRSRSRr")).current().sheet
    wanted[2] = "B1"
    assert shown(again) == shown(file.current().sheet) == wanted
    for place in [n for n in range(11) if n != 2]:
        edit(file, "accept", place)
    assert shown(file.current().sheet) == [name.strip("?") for name in wanted]
    assert len(read_rows(path, "7")) == 11


def test_guesses_follow_what_is_decided(tmp_path_factory):
    sheet = blank(tmp_path_factory, tagged_as("SsRRRSRSRr"))
    named = do(do(sheet, "speaker", 3, "Ruth"), "speaker", 2, "Tom")
    assert shown(named)[:6] == ["Ruth1?", "Ruth1?", "Tom1", "Ruth1", "Tom1?", "0?"]
    joined = do(named, "resume", 6, 1, "Ruth")  # the tagger begins a conversation here
    assert shown(joined)[6:9] == ["Ruth1", "Tom1?", "A2?"]
    parted = do(named, "new", 3, "Ines")
    assert shown(parted)[1:6] == ["A1?", "Tom1", "Ines2", "B2?", "0?"]
    gone = do(named, "nothing", 3)
    assert shown(gone)[2:5] == ["Tom1", "0", "A1?"]
    assert shown(do(do(named, "accept", 4), "clear", 4)) == shown(named)


RUTH = Character("ruth", "Ruth Amory", ("Ruth", "Miss Amory", "Amory"), "f")
TOM = Character("tom", "Tom", ("Tom", "Amory"), "m")
BOY = Character("boy-2", "boy", ("boy",), "m", Kind.UNNAMED, chapter=2)
OTHER_BOY = Character("boy-1", "boy", ("boy",), "m", Kind.UNNAMED, chapter=1)
CAST = [RUTH, TOM, BOY, OTHER_BOY]
SPOKEN = ["ruth", "ruth", "tom", "ruth", "tom", "tom", "boy-2", "ruth", "", ""]


def by_name(speakers=SPOKEN, characters=CAST, letters="SsRRRSRSRr"):
    """The tags of a tagger that says who speaks, too."""
    return tagged_as(letters, speakers=speakers, characters=characters)


def test_a_guess_has_the_name_of_the_character(tmp_path_factory):
    sheet = blank(tmp_path_factory, by_name())
    assert shown(sheet) == [
        *("Ruth Amory1?", "Ruth Amory1?", "Tom1?", "Ruth Amory1?", "Tom1?", "0?", "Tom2?"),
        *("boy2?", "Ruth Amory3?", "A3?", "A3?"),
    ]
    for place in range(9):
        sheet = apply_action(sheet, "accept", place)  # no name is needed
    assert sheet.speakers == ["Ruth Amory", "Tom", "boy"]
    with pytest.raises(NameNeeded):
        apply_action(sheet, "accept", 9)


def test_a_guess_goes_by_the_name_that_the_annotator_gave(tmp_path_factory):
    sheet = blank(tmp_path_factory, by_name())
    for name, wanted in (("Miss Amory", "Miss Amory"), ("Ruth", "Ruth"), ("Eva", "Ruth Amory")):
        assert shown(do(sheet, "speaker", 0, name))[3] == f"{wanted}1?"
    # Two have this name, so it does not say who is meant.
    assert shown(do(sheet, "speaker", 0, "Amory"))[2:4] == ["Tom1?", "Ruth Amory1?"]
    renamed = do(do(sheet, "accept", 0), "rename", 0, "Ruth")
    assert shown(renamed)[:4] == ["Ruth1", "Ruth1?", "Tom1?", "Ruth1?"]


def test_a_decision_counts_for_more_than_a_guessed_character(tmp_path_factory):
    sheet = blank(tmp_path_factory, by_name())
    begun = do(sheet, "new", 0, "Eva")
    assert shown(begun)[:4] == ["Eva1", "Eva1?", "Tom1?", "Ruth Amory1?"]  # one turn, one speaker
    swapped = do(do(sheet, "accept", 1), "speaker", 2, "Ruth Amory")
    # Ruth said that, so somebody else answers, and Tom's guess stays.
    assert shown(swapped)[2:5] == ["Ruth Amory1", "A1?", "Tom1?"]
    both = do(sheet, "speaker", 3, "Tom")
    assert shown(both)[2:5] == ["Tom1?", "Tom1", "Ruth Amory1?"]


def test_other_without_another_speaker_is_the_guessed_character(tmp_path_factory):
    sheet = blank(tmp_path_factory, by_name())
    begun = do(sheet, "new", 2, "Tom")
    assert shown(apply_action(begun, "other", 3))[2:4] == ["Tom2", "Ruth Amory2"]
    begun = do(sheet, "new", 3, "Eva")
    assert shown(apply_action(begun, "other", 4))[4] == "Tom2"
    begun = do(sheet, "new", 3, "Tom")
    with pytest.raises(NameNeeded) as needed:  # Tom is guessed, and he has spoken
        apply_action(begun, "other", 4)
    assert needed.value.letter == "A"


def test_who_says_most_of_a_turn_says_what_has_no_speaker(tmp_path_factory):
    sheet = blank(tmp_path_factory, by_name(["", "ruth", *SPOKEN[2:]]))
    assert shown(sheet)[:3] == ["Ruth Amory1?", "Ruth Amory1?", "Tom1?"]


def test_no_two_speakers_of_a_chapter_have_one_name(tmp_path_factory):
    """Letters that name a character are used, and names that two characters have say nothing."""
    twins = [replace(RUTH, name="A"), replace(TOM, aliases=("boy",)), BOY]
    sheet = blank(tmp_path_factory, by_name(characters=twins))
    assert shown(sheet)[:3] == ["A1?", "A1?", "Tom1?"]
    assert shown(sheet)[6:] == ["Tom2?", "B2?", "A3?", "C3?", "C3?"]
    with pytest.raises(NameNeeded) as needed:
        apply_action(sheet, "new", 3)
    assert needed.value.letter == "B"


def test_a_name_that_no_annotation_may_have_is_not_guessed():
    names = ("A\u200bB", "word " * 30, " Ruth\nAmory ")
    assert find_names([Character("ruth", "x" * 101, names)], 2) == {"ruth": ("Ruth Amory",)}
    assert find_names([Character("ruth", "x" * 101, ())], 2) == {}


def test_suggested_names_are_of_characters_whom_nobody_has_named(tmp_path):
    file = opened(tmp_path / "7.jsonl", tagged=by_name())
    assert file.suggest_names(file.current().sheet) == ["Ruth Amory", "Tom", "boy"]
    assert file.suggest_names(edit(file, "new", 0, "Miss Amory")) == ["Tom", "boy"]


def test_a_guess_follows_later_decisions_in_its_conversation(tmp_path):
    """As after a restart, when spans with low confidence were decided first."""
    path = tmp_path / "7.jsonl"
    file = opened(path, tagged=tagged_as("SsRRRSRSRr"))
    edit(file, "speaker", 10, "Tom")
    sheet = opened(path, tagged=tagged_as("SsRRRSRSRr")).current().sheet
    assert shown(sheet)[8:] == ["E3?", "Tom3?", "Tom3"]


def test_a_new_conversation_does_not_join_earlier_guesses(tmp_path_factory):
    """It does not reuse their letters either, and later guesses continue it."""
    sheet = blank(tmp_path_factory, tagged_as("SsRRRSRSRr"))
    begun = do(sheet, "new", 2)
    assert shown(begun)[:5] == ["A1?", "A1?", "B2", "C2?", "B2?"]
    assert begun.tags()[:4] == [Tag.B_START, Tag.I_START, Tag.B_START, Tag.B_OTHER]
    named = do(begun, "speaker", 2, "Tom")
    assert shown(named)[:5] == ["A1?", "A1?", "Tom2", "B2?", "Tom2?"]
    assert shown(do(named, "other", 2))[:3] == ["A1?", "A1?", "B1"]
    assert shown(do(do(named, "clear", 2), "accept", 2))[:3] == ["A1?", "A1?", "B1"]


def test_the_tags_shown_include_guesses(tmp_path_factory):
    letters = "SsRRRSRSRr"
    sheet = blank(tmp_path_factory, tagged_as(letters))
    spoken = [item.tag for item in tagged_as(letters) if item.span.chapter == 2]
    assert [tag for tag in sheet.tags() if tag is not Tag.O] == [
        t for t in spoken if t is not Tag.O
    ]
    assert sheet.tags()[5] is Tag.O


def test_the_first_utterance_of_a_chapter_begins_a_conversation():
    found = list(find_guesses(tagged_as("RrRSsSsRRr"), 2).values())
    assert [(guess.dialogue, guess.turn) for guess in found if guess.tag is not Tag.O] == [
        *((0, 0), (0, 0), (0, 1), (1, 0), (1, 0), (2, 0), (2, 0), (2, 1), (2, 2), (2, 2))
    ]


def test_the_next_place_is_the_least_confident_or_the_next_in_order(tmp_path_factory):
    sheet = do(blank(tmp_path_factory), "nothing", 4)
    assert [sheet.next_place(n) for n in (None, 0, 3, 10)] == [0, 1, 5, 0]
    confidences = [0.9, 0.8, 0.95, 0.4, 0.6, 0.4, 0.7, 0.99, 0.5, 0.9]
    sheet = blank(tmp_path_factory, tagged_as("SsRRRSRSRr", confidences=confidences))
    order = []
    while (place := sheet.next_place(order[-1] if order else None)) is not None:
        sheet = do(sheet, "accept", place)
        order.append(place)
    assert order == [3, 6, 9, 4, 7, 1, 0, 10, 2, 8, 5]  # last, the span without a guess


@settings(max_examples=15, deadline=None)
@given(
    letters=st.lists(st.sampled_from("SsRRr"), min_size=10, max_size=10),
    order=st.permutations(range(11)),
    again=st.booleans(),
)
def test_guesses_accepted_in_any_order_give_the_tags_of_the_tagger(
    tmp_path_factory, letters, order, again
):
    """The same holds if the file is opened again after each answer."""
    wanted = repair_tags([NAMES[letter] for letter in letters])
    tagged = tagged_as([next(key for key in NAMES if NAMES[key] is tag) for tag in wanted])
    path = tmp_path_factory.mktemp("sheet") / "7.jsonl"
    file = opened(path, tagged=tagged)
    for place in order:
        sheet = edit(file, "accept", place)
        assert [tag for tag in sheet.tags() if tag is not Tag.O] == wanted
        file = opened(path, tagged=tagged) if again else file
    assert [tag for tag in derive_tags(read_rows(path, "7")) if tag is not Tag.O] == wanted


names = st.sampled_from([None, "Ruth", "Tom", "?", "B", "Zoë “Zo”"])
any_step = st.tuples(
    st.sampled_from(list(ACTIONS)), st.integers(0, 10), names, st.sampled_from([None, 1, 2, 3])
)


def taking(action, place, speaker, conversation):
    """The arguments of a step that its action takes."""
    taken = (*ACTIONS[action].required, *ACTIONS[action].optional)
    given = {"place": place, "speaker": speaker, "conversation": conversation}
    return {key: value for key, value in given.items() if key in taken}


@pytest.mark.parametrize("letters", [None, "SsRRRSRSRr", "SSSSSSSSSS"])
@settings(max_examples=15, deadline=None)
@given(steps=st.lists(any_step, max_size=30))
def test_any_actions_leave_a_valid_file_and_can_be_undone(tmp_path_factory, letters, steps):
    tagged = tagged_as(letters) if letters else NOTHING_TAGGED
    first = sheet = blank(tmp_path_factory, tagged)
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    for step in steps:
        before = sheet
        try:
            sheet = apply_action(sheet, step[0], **taking(*step))
        except ValueError:
            continue
        if step[0] == "undo":
            assert sheet.entries == before.history[-1]
        elif sheet is not before:
            assert sheet.undo() == before
    rows = saved(sheet, path)
    assert list(rows) == sheet.rows()
    decided = [entry.span.text for entry in sheet.spans if entry.is_decided]
    assert [row.fingerprint for row in rows] == [fingerprint(text) for text in decided]
    known = [tag for tag in sheet.tags() if tag is not None]
    if not letters or sheet.n_decided == len(sheet.spans):
        assert known == derive_tags(rows)
    numbers = [entry.fact.conversation for entry in sheet.spans if entry.fact]
    begun = list(dict.fromkeys(number for number in numbers if number))
    assert begun == list(range(1, len(begun) + 1))
    while sheet.history:
        sheet = sheet.undo()
    assert sheet == first
