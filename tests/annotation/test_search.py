"""How annotations are found in other editions: in their place, or not at all."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from printings import (
    FIRST,
    GOLD,
    MARKS,
    NOVEL,
    PREFACE,
    SIZES,
    WHERE,
    Printing,
    check_places,
    check_spans,
    gold_of,
    labelled,
    place_of,
    split,
    wheres,
    without_kinds,
)

from miner.annotation.alignment import fold_letters
from miner.annotation.locate import locate


@given(
    st.builds(
        Printing,
        marks=st.sampled_from(list(MARKS)),
        spelling=st.booleans(),
        cap=st.sampled_from(["", "element", "lost"]),
        pages=st.sampled_from(["", "marked", "bare"]),
        preface=st.sampled_from([(), PREFACE]),
        numbers=st.sampled_from(["Chapter {}", "{}", "Book the First, Chapter {}"]),
        underscores=st.booleans(),
    )
)
@settings(max_examples=30, deadline=None)
def test_annotations_are_in_place_in_other_editions(printing):
    located = locate(GOLD, split(printing))
    check_spans(located)
    check_places(located, printing)
    assert located.lost == ()


def test_an_edition_that_differs_in_everything_at_once():
    printing = Printing("single", True, "element", "bare", PREFACE, "{}", True)
    located = locate(GOLD, split(printing))
    check_places(located, printing)
    texts = {
        fact: span.text for fact, span in zip(located.facts, located.book_spans.spans, strict=True)
    }
    assert texts[place_of("colour")] == (
        "‘It waited, and 3 I was _sorry_ to see what color they had painted it.’"
    )
    assert texts[place_of("for I only")] == "‘for I only say no.’"
    chapters = {span.chapter for span in located.book_spans.spans}
    assert chapters == {2, 3, 4}  # the preface counts in this edition
    assert located.n_all.keys() == {1, 2, 3}


@pytest.mark.parametrize("chapter", [1, 2, 3])
def test_a_repeated_passage_elsewhere_gets_no_annotation(chapter):
    body = NOVEL[chapter - 1][1].split("\n")
    again = ("The Reader’s Dream", "\n".join(["He dreamt it once more.", *body[:9]]))
    gold = replace(GOLD, annotations=tuple(f for f in GOLD.annotations if f.chapter == chapter))
    after = locate(gold, split(Printing(chapters=(*NOVEL, again))))
    assert after.lost == ()
    assert after.book_spans.spans == without_kinds(
        span for span in FIRST.spans if span.chapter == chapter
    )
    before = locate(gold, split(Printing(preface=tuple(body[4:9]))))
    check_places(before, Printing(), 1.0)


def test_no_two_annotations_share_words():
    lines = ["“Is anybody coming up the hill with me?”", "“Well?”"]
    lines.append("“Well, there is another stone. There is always another stone on this hill.”")
    gold = gold_of(*((line, name, 1) for line, name in zip(lines, "ABC", strict=True)))
    other = [lines[0], "“What?”", lines[2].replace("this", "that")]
    assert labelled(gold, *other) == [(lines[0], "A"), (other[2], "C")]


def test_a_missing_short_speech_is_not_found_in_narration():
    lines = ["“Has the ferry come over from the mill?”", "“Yes.”", "She said yes to us all."]
    lines.append("“Then we had better go down to it.”")
    gold = gold_of(*((lines[n], "ABCD"[n], 1) for n in (0, 1, 3)))
    assert labelled(gold, lines[0], *lines[2:]) == [(lines[0], "A"), (lines[3], "D")]


def test_speech_without_letters_is_found_in_other_marks():
    lines = ["“So it was you who left the gate open?”", "“——!”", "“Once more, and louder, please.”"]
    gold = gold_of(*((line, name, 1) for line, name in zip(lines, "ABC", strict=True)))
    printed = [re.sub("[“”]", '"', line) for line in lines]
    assert labelled(gold, *printed) == list(zip(printed, "ABC", strict=True))


def test_a_preface_with_the_beginning_of_a_chapter_gets_no_annotation():
    preface = ("He always began to read aloud with this:", *NOVEL[0][1].split("\n")[:6])
    check_places(locate(GOLD, split(Printing(preface=preface))), Printing(), 1.0)


def test_a_word_in_two_parts_loses_no_speech():
    lines = [
        "“You have come to-day, then,” said Orla, and put down the kettle.",
        "“I have, indeed.”",
    ]
    gold = gold_of(("You have come to-day, then,", "A", 1), ("I have, indeed.", "B", 1))
    printed = [line.replace("to-day", "today") for line in lines]
    assert labelled(gold, *printed) == [("“You have come today, then,”", "A"), (lines[1], "B")]


QUESTION = "“Will the river rise again before the harvest?”"

ASKED, WENT = "“Has the ferry come over from the mill?”", "“Then we had better go down to it.”"


@pytest.mark.parametrize(
    ("speech", "printed"),
    [
        ("Yes.", "She said yes to us all."),
        ("Yes.", "“Yes, and it is full of sheep,” said the boy."),
        ("Yes.", "“It has, yes, and it is full of sheep.”"),
        ("Yes.", "“The boy said ‘Yes’ and ran.”"),
        ("Yes.", "“I think,” yes said she “so.”"),
        ("Yes.", "It was a no—yes— that was it."),
        ("Yes.", "It was a —yes—no that was it."),
        ("Yes.", "It was a “Hm!”—yes—“Ha!” that was it."),
        ("Come.", "“Yes, come.”"),
        ("Well, come now.", "“Well, come now, Bram.”"),
        ("I saw nobody in it at noon.", "“I saw nobody in it at noon, and what is more, no dog.”"),
        (QUESTION, "“Come down here at once, good people, and help us!”"),
        (QUESTION, "“Without theatrical rehearsals reverends ask bishops to Hertfordshire?”"),
        ("Oh! my dear, I am glad.", "“Oh, my dear,” continued she, “I am glad.”"),
    ],
)
def test_a_missing_speech_is_not_found_in_other_text(speech, printed):
    gold = gold_of((ASKED, "A", 1), (speech, "B", 1), (WENT, "C", 1))
    assert labelled(gold, ASKED, printed, WENT) == [(ASKED, "A"), (WENT, "C")]
    # Nor is it in a paragraph of the very number of its own.
    own = [replace(f, paragraph=n) for n, f in enumerate(gold.annotations, 1)]
    gold = replace(gold, annotations=tuple(own))
    assert labelled(gold, ASKED, printed, WENT) == [(ASKED, "A"), (WENT, "C")]


def test_speeches_of_two_paragraphs_are_not_the_ends_of_one():
    gold = gold_of((ASKED, "A", 1), ("Yes.", "B", 1), ("At noon.", "A", 1), (WENT, "B", 1))
    found = labelled(gold, ASKED, "“Yes, they will all be here at noon.”", WENT)
    assert found == [(ASKED, "A"), (WENT, "B")]


def test_a_speech_that_moved_past_another_is_lost():
    gold = gold_of((ASKED, "A", 1), (QUESTION, "B", 1), (WENT, "C", 1))
    other = QUESTION.replace("before", "ere")
    for lines in ([ASKED, WENT, other], [other, ASKED, WENT]):
        assert labelled(gold, *lines) == [(ASKED, "A"), (WENT, "C")]


def test_the_larger_part_of_a_speech_split_by_narration_is_found():
    speech = "Oh! my dear, I am quite delighted with the ferry and everybody who is in it."
    gold = gold_of((ASKED, "A", 1), (speech, "B", 1), (WENT, "C", 1))
    larger = "“I am quite delighted with the ferry and everybody who is in it.”"
    printed = f"“Oh, my dear,” continued she, {larger}"
    assert labelled(gold, ASKED, printed, WENT) == [(ASKED, "A"), (larger, "B"), (WENT, "C")]


def test_a_long_speech_ends_at_its_mark_even_if_the_miner_does_not_end_it():
    gold = gold_of((ASKED, "A", 1), (WENT, "B", 1))
    for before in ("", "She said—"):
        printed = f"{before}“Then we had better go down to it—— she stopped and looked at the water"
        assert labelled(gold, ASKED, printed)[1:] == [("“Then we had better go down to it——", "B")]


def test_speech_without_marks_takes_none_from_its_neighbours():
    gold = gold_of(("Hm!", "A", 1), (WENT, "B", 1), ("Ha!", "C", 1))
    found = [("“Hm!”", "A"), ("—then we had better go down to it—", "B"), ("“Ha!”", "C")]
    assert labelled(gold, "".join(text for text, _ in found)) == found


def test_equal_speeches_are_lost_if_it_is_unclear_which_one_is_missing():
    lines = [ASKED, "“Yes.”", "“No.”", "“Yes.”", WENT, "“Yes.”"]
    gold = gold_of(*((line, name, 1) for line, name in zip(lines, "ABCDEF", strict=True)))
    left = [(ASKED, "A"), (WENT, "E"), ("“Yes.”", "F")]
    assert labelled(gold, ASKED, "“Yes.”", WENT, "“Yes.”") == left
    known = [(ASKED, "A"), ("“Yes.”", "B"), ("“No.”", "C"), *left[1:]]
    assert labelled(gold, *lines[:3], *lines[4:]) == known


def without(*gone: tuple[int, int]) -> tuple[tuple[str, str], ...]:
    """The novel without some lines of its chapters, each counted from 0."""
    return tuple(
        (title, "\n".join(x for k, x in enumerate(body.split("\n")) if (n, k) not in gone))
        for n, (title, body) in enumerate(NOVEL)
    )


LINES = [(n, k) for n, size in enumerate(SIZES) for k in range(size)]


@given(st.sets(st.sampled_from(LINES), max_size=20), st.sampled_from(list(MARKS)), st.booleans())
@settings(max_examples=50, deadline=None)
def test_no_annotation_is_on_a_wrong_span_if_paragraphs_are_missing(gone, marks, parted):
    chapters = without(*gone)
    if not parted:
        chapters = (("All of it", "\n".join(body for _, body in chapters)),)
    located = locate(GOLD, split(Printing(marks, chapters=chapters)))
    check_spans(located)
    left = [line for line in LINES if line not in gone][::-1]
    for fact, (paragraph, before, text) in wheres(located).items():
        at, first_before, first_text = WHERE[fact]
        assert left[paragraph] == LINES[::-1][at]
        for printed, first in ((before, first_before), (text, first_text)):
            assert fold_letters(printed).text == fold_letters(first).text


def test_missing_speech_is_not_found_in_other_chapters():
    # The last speech of the first chapter is gone, and the next begins with the same.
    (first, second, third) = without((0, SIZES[0] - 1))
    second = (second[0], "“No,” said Orla.\n" + second[1])
    located = locate(GOLD, split(Printing(chapters=(first, second, third))))
    assert located.lost == (GOLD.annotations[27],)
    # A chapter in two parts is found, but nothing of it between them, nor a small part apart.
    body = first[1].split("\n")
    between = ("Between", "“No,” said Orla.\nNothing else was said.")
    gold = replace(GOLD, annotations=GOLD.annotations[:28])
    for at in (13, 20):
        head, tail = ("A", "\n".join(body[:at])), ("B", "\n".join(body[at:]))
        located = locate(gold, split(Printing(chapters=(head, tail, second))))
        assert located.lost == (GOLD.annotations[27],)
        located = locate(gold, split(Printing(chapters=(head, between, tail, second))))
        n_head = sum(len(LINES) - WHERE[fact][0] <= at for fact in gold.annotations)
        assert located.lost == gold.annotations[27 if at == 13 else n_head :]
    # A single speech in another chapter is none of its parts.
    river = next(k for k, line in enumerate(body) if "river" in line)
    for n in (1, 2):
        chapters = list(without((0, river)))
        chapters[n] = (chapters[n][0], chapters[n][1] + "\n" + body[river])
        located = locate(gold, split(Printing(chapters=tuple(chapters))))
        assert located.lost == (place_of("the river"),)
    # Nor is it where that chapter repeats what is beside it.
    printing = Printing(preface=tuple(body[:6]), chapters=without((0, 2)))
    assert locate(gold, split(printing)).lost == (place_of("lower landing"),)


def test_two_chapters_in_one_of_the_edition_share_no_span():
    lines = [ASKED, "“No.”", QUESTION, ASKED, WENT]
    gold = gold_of(*((line, name, 1) for line, name in zip(lines, "ABCDE", strict=True)))
    facts = [replace(fact, chapter=1 + (n > 2)) for n, fact in enumerate(gold.annotations)]
    gold = replace(gold, annotations=tuple(facts))
    left = [(lines[n], "ABCDE"[n]) for n in (0, 1, 2, 4)]
    assert labelled(gold, *(text for text, _ in left)) == left


def test_a_chapter_of_short_speeches_only_is_found():
    lines = ["“Yes.”", "“No, Sir.”", "“Well?”"]
    gold = gold_of(*((line, name, 1) for line, name in zip(lines, "ABC", strict=True)))
    assert labelled(gold, *lines) == list(zip(lines, "ABC", strict=True))


def test_a_preface_in_the_spelling_of_the_annotations_gets_no_annotation():
    printing = Printing(spelling=True, preface=tuple(NOVEL[0][1].split("\n")[:6]))
    check_places(locate(GOLD, split(printing)), printing, 1.0)
    # Not even where the chapter itself has fewer speeches with the same letters.
    lines = NOVEL[0][1].split("\n")
    printing = replace(printing, spelling=False, preface=tuple(lines[:14]))
    lines[:22] = [re.sub(r"(\w{5,})", r"\1e", line) for line in lines[:22]]
    gold = replace(GOLD, annotations=GOLD.annotations[:28])
    chapters = ((NOVEL[0][0], "\n".join(lines)), *NOVEL[1:])
    located = locate(gold, split(replace(printing, chapters=chapters)))
    assert {span.chapter for span in located.book_spans.spans} == {2}
    assert len(located.lost) < 5


def test_another_book_with_the_same_short_speeches_gets_no_annotation():
    lines = ["“Yes.”", "“How is the weather up there on your mountain?”", "“No.”", "“Well?”"]
    located = locate(GOLD, split(Printing(chapters=(("Other", "\n".join(lines)),))))
    assert located.lost == GOLD.annotations


@pytest.mark.parametrize("marks", MARKS)
def test_a_span_is_cut_as_the_annotation_says(marks):
    lines = ["“Stay. The boat is not here yet.”", "“Then we wait, and sing, if you like, at noon.”"]
    parts = [("Stay.", "A", 1), ("+The boat is not here yet.", "B", 1)]
    parts += [("Then we wait, and sing,", "C", 1), ("+at noon.", "D", 1)]
    opener, closer = (MARKS[marks].get(mark, mark) for mark in "“”")
    printed = [line.replace("“", opener).replace("”", closer) for line in lines]
    assert labelled(gold_of(*parts), *printed) == [
        (f"{opener}Stay.", "A"),
        (f"The boat is not here yet.{closer}", "B"),
        (f"{opener}Then we wait, and sing,", "C"),
        (f"at noon.{closer}", "D"),
    ]


def test_speech_that_runs_on_does_so_after_locating():
    for printing in (Printing(), Printing("single"), Printing(preface=PREFACE, spelling=True)):
        spans = locate(GOLD, split(printing)).book_spans.spans
        (span,) = [span for span in spans if span.continues]
        assert span.text[1:].startswith("nobody on the island slept")
    silent = [
        replace(fact, speaker="", conversation=0) if fact == place_of("island") else fact
        for fact in GOLD.annotations
    ]
    located = locate(replace(GOLD, annotations=tuple(silent)), FIRST)
    assert not any(span.continues for span in located.book_spans.spans)


def test_speech_that_the_miner_did_not_see_is_found_by_its_letters():
    gold = gold_of(
        ("Who goes there with a lantern?", "A", 1), ("Nobody at all", "B", 1), ("Hm!", "C", 1)
    )
    lines = [
        "Who goes there with a lantern? cried the guard.",
        "Nobody at all— said a voice.",
        "Hm!",
    ]
    found = [("Who goes there with a lantern?", "A"), ("Nobody at all—", "B"), ("Hm!", "C")]
    assert labelled(gold, *lines) == found
    lines[1] = lines[1].replace("—", ",")  # nothing says where so few words would end
    assert labelled(gold, *lines) == [found[0], found[2]]


@pytest.mark.parametrize(
    "printed",
    [
        "“Will the river rise again ere the harvest, Bram?”",
        "“But will the river rise again ere the harvest?”",
        "“The river rise again before the harvest?”",
        "“Will the river rise again ere the harvest?”",
        "“Will the river rise again before the harvest, Bram?”",
        "“But will the river rise again before the harvest?”",
    ],
)
def test_a_word_more_or_less_at_an_end_does_not_move_the_ends(printed):
    gold = gold_of((QUESTION, "A", 1), ("It did so every year of my life.", "B", 1))
    answer = "“It did so every year of my life.”"
    found = labelled(gold, f"He turned to her. {printed} he asked. Nobody else spoke.", answer)
    assert found == [(printed, "A"), (answer, "B")]


def test_a_speech_that_two_paragraphs_share_is_lost():
    gold = gold_of((ASKED, "A", 1), (QUESTION, "B", 1), (WENT, "C", 1))
    parts = ["“Will the river rise", "again before the harvest?”"]
    assert labelled(gold, ASKED, *parts, WENT) == [(ASKED, "A"), (WENT, "C")]


def test_equal_initials_and_numbers_of_letters_are_not_enough():
    gold = gold_of((QUESTION, "A", 1), ("Yes.", "B", 1), ("It is far too early to tell.", "C", 1))
    lines = [QUESTION, "“Yet.”", "“It is far too early to tell.”"]
    assert labelled(gold, *lines) == [(lines[0], "A"), (lines[2], "C")]


def test_two_speeches_without_letters_in_a_row_are_two():
    gold = gold_of(("“——!”", "A", 1), ("“——!”", "B", 1), (QUESTION, "C", 1))
    lines = ["“——!”", "“——!”", QUESTION]
    assert labelled(gold, *lines) == list(zip(lines, "ABC", strict=True))
