"""Lines of one paragraph that are talk are paragraphs; verse and addresses stay as they are."""

import pytest

from miner.books.lines import Head, find_paragraphs, read_head


def divided(*lines, leads=()):
    return find_paragraphs(lines, leads or [""] * len(lines))


@pytest.mark.parametrize(
    ("lines", "starts"),
    [
        (["“Is the ferry in?” said Ann.", "“Not yet.”", "She sat down.", "“Then I wait.”"], 4),
        (["'Is the ferry in?'", "'Not yet.'"], 2),
        (["«Ist sie da?»", "«Noch nicht.»"], 2),
        (["Ann looked up:", "“Is the ferry in?”", "“Not yet.”"], 3),
        (["—Is the ferry in?", "—Not yet, said Bo.", "—Then I wait."], 3),
        (["-- Is the ferry in?", "-- Not yet."], 2),
        (["ANN. Is the ferry in?", "BO (at the oar). Not yet.", "[Exit ANN.]"], 3),
    ],
)
def test_each_line_of_talk_is_a_paragraph(lines, starts):
    assert divided(*lines) == list(range(starts))


def test_a_line_in_small_letters_goes_on_with_the_one_above():
    assert divided("“Is the ferry in?”", "asked Ann.", "“Not yet.”") == [0, 2]


@pytest.mark.parametrize(
    "lines",
    [
        ["The bell is in the river,", "And the moon is in the well;"],
        ["“The bell is in the river,", "“And the moon is in the well.”"],
        ["“The bell is in the river.", "The moon is in the well.”"],
        ["“The bell!” cried the river,", "“The moon!” cried the well."],
        ["“Still waters have no song.”", "—The Ferryman’s Almanac."],
        ["“Your loving sister.", "“Ann.”"],
        ["Ann Tarrant.", "The Magpie.", "Lower Quay."],
        ["ANN TARRANT.", "BO TARRANT.", "THE FERRYMAN."],
        ["Tools: two saws.", "Arms: one gun.", "Books: none."],
        ["—He put the oar down, and then—for he was", "—it must be said—tired, he sat."],
        ["“Is the ferry in?”"],
        [],
    ],
)
def test_verse_mottoes_addresses_lists_and_printed_lines_are_not_talk(lines):
    assert divided(*lines) == [0]


@pytest.mark.parametrize(
    ("text", "lead", "name", "speech"),
    [
        ("ANN. Is it in?", "", "ANN", "Is it in?"),
        ("ANN: Is it in?", "", "ANN", "Is it in?"),
        ("ANN.—Is it in?", "", "ANN", "Is it in?"),
        ("MRS. TARRANT (rising). Is it in?", "", "MRS. TARRANT", "Is it in?"),
        ("ANN [aside] Is it in?", "", "ANN", "Is it in?"),
        ("ANN, rising: Is it in?", "", "ANN", "Is it in?"),
        ("2ND FERRYMAN. I am.", "", "2ND FERRYMAN", "I am."),
        ("Ann. Is it in?", "Ann.", "Ann", "Is it in?"),
        ("Ann (aside). Is it in?", "Ann", "Ann", "Is it in?"),
        ("Ann, aside. Is it in?", "Ann, aside.", "Ann", "Is it in?"),
        ("The Ferryman: Is it in?", "", "The Ferryman", "Is it in?"),
        ("Q. Is it in?", "", "Q", "Is it in?"),
        ("Q.—Is it in?", "", "Q", "Is it in?"),
        ("ANN", "", "ANN", ""),
    ],
)
def test_the_name_that_heads_a_speech(text, lead, name, speech):
    head = read_head(text, lead)
    assert head is not None
    assert (head.name, text[head.end :]) == (name, speech)


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("Ann. Is it in?", ""),
        ("ANN looked out.", ""),
        ("MRS. TARRANT looked out.", ""),
        ("Ann looked out.", "Ann"),
        ("“ANN. Is it in?”", ""),
        ("She looked out at the river and said: no.", ""),
        ("", ""),
    ],
)
def test_other_first_words_head_nothing(text, lead):
    assert read_head(text, lead) is None


def test_a_name_is_set_apart_by_capitals_or_by_the_page():
    assert read_head("Ann: No.") == Head("Ann", 5, False)
    assert read_head("Ann: No.", "Ann:") == Head("Ann", 5, True)
