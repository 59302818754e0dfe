"""The agreement of two readings of the same chapters, by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import (
    AnnotatedBook,
    Annotation,
    Annotations,
    BookCard,
    tag_annotations,
)
from miner.errors import InputError
from miner.lab.measure.agreement import (
    compare_readings,
    compare_readings_by_language,
    measure_agreement,
)

RAIN = [
    # paragraph, text, speaker, conversation; tags: S s R R S R O S
    (1, "“Is it raining?”", "Ines", 1),
    (1, "“Look out.”", "Ines", 1),
    (2, "“It is.”", "Ruben", 1),
    (3, "“Then I stay.”", "Ines", 1),
    (4, "“Boy!”", "Ines", 2),
    (5, "“Miss?”", "boy", 2),
    (6, "the “Heron”", "", 0),
    (7, "“Stay, then.”", "Ruben", 1),
]


def reading(rows, *, chapter: int = 1, book: str = "7") -> AnnotatedBook:
    card = BookCard(
        book, "Rain", "Ada Orme", "en", 1888, "Britain", "sea", 3, "dev", "7.htm", "0" * 64
    )
    facts = tuple(
        Annotation(chapter, 100 * chapter + place, fingerprint(text), who, number)
        for place, text, who, number in rows
    )
    return AnnotatedBook(card, facts)


def joined(*books: AnnotatedBook) -> AnnotatedBook:
    return AnnotatedBook(books[0].card, tuple(item for book in books for item in book.annotations))


def called(names: dict[str, str]):
    return [(place, text, names.get(who, who), number) for place, text, who, number in RAIN]


def changed(at: int, **facts):
    """RAIN with one row changed."""
    place, text, who, number = RAIN[at]
    row = (place, text, facts.get("who", who), facts.get("number", number))
    return [*RAIN[:at], row, *RAIN[at + 1 :]]


def compared(first, second):
    return measure_agreement([first], [second], resamples=0)


SHARES = (
    "same span",
    "speech or not",
    "speaker",
    "conversation goes on",
    "same tag",
    "kappa of tags",
    "B-START F1",
    "turn-pair F1",
)


def test_a_reading_agrees_with_itself():
    found = compared(reading(RAIN), reading(RAIN)).to_json()
    assert found == {"chapters": 1, "spans": 8, "spans of both": 8} | dict.fromkeys(SHARES, 1.0)


@pytest.mark.parametrize(
    "names",
    [
        {"Ines": "Miss Vell", "Ruben": "Mr Aske", "boy": "page"},
        {"Ines": "Ruben", "Ruben": "Ines"},
    ],
)
def test_other_names_for_the_same_people_change_nothing(names):
    found = compared(reading(RAIN), reading(called(names)))
    assert found == compared(reading(RAIN), reading(RAIN))


def test_names_are_matched_in_each_chapter():
    first = joined(reading(RAIN), reading(RAIN, chapter=2))
    swapped = reading(called({"Ines": "Ruben", "Ruben": "Ines"}), chapter=2)
    assert compared(first, joined(reading(RAIN), swapped)).speaker == 1.0


def test_one_name_for_two_people_lowers_the_agreement():
    # Ines has 4 utterances, Ruben 2 and the boy 1; "he" can stand for one of the two only.
    found = compared(reading(RAIN), reading(called({"Ruben": "he", "boy": "he"})))
    assert found.speaker == 6 / 7
    assert found.boundary == found.kappa == 1.0
    # With Ruben for Ines all of the first talk is one turn, but its bounds are the same.
    found = compared(reading(RAIN), reading(called({"Ruben": "Ines"})))
    assert (found.speaker, found.boundary, found.n_same_tag) == (5 / 7, 1.0, 6)


def test_a_moved_boundary():
    # S s R R r S O S: the call for the boy continues the talk, and his answer begins another.
    second = reading(changed(4, number=1))
    found = compared(reading(RAIN), second)
    assert (found.n_spans, found.n_both, found.n_same_tag) == (8, 8, 6)
    assert found.boundary == 4 / 6
    assert found.same_spans == found.speech == found.speaker == 1.0
    shares = found.to_json()
    assert shares["same tag"] == 6 / 8
    # B-START at rows 0 4 7 and 0 5 7.
    assert shares["B-START F1"] == pytest.approx(2 / 3)
    # Pairs 01-2 2-3 4-5 and 01-2 2-34.
    assert shares["turn-pair F1"] == pytest.approx(2 / 5)


def test_kappa_is_that_of_the_five_tags():
    found = compared(reading(RAIN), reading(changed(4, number=1)))
    # Observed 48/64; by chance S 3*3, I-START 1*1, B-OTHER 3*2, O 1*1 of 64.
    assert found.kappa == pytest.approx((48 - 17) / (64 - 17))
    assert found.kappa == pytest.approx(cohen_kappa_score(list("SsRRSROS"), list("SsRRrSOS")))


def test_a_span_that_is_cut_differently():
    cut = [(3, "“Then", "Ines", 1), (3, "I stay.”", "Ines", 1)]
    second = reading([*RAIN[:3], *cut, *RAIN[4:]])
    found = compared(reading(RAIN), second)
    assert (found.n_spans, found.n_both, found.n_same_tag) == (10, 7, 7)
    assert found.same_spans == 7 / 10
    assert found.speech == found.speaker == found.boundary == found.kappa == 1.0
    shares = found.to_json()
    assert shares["B-START F1"] == 1.0
    assert shares["turn-pair F1"] == pytest.approx(2 / 3)


def test_a_span_that_is_speech_in_one_reading_only():
    second = reading(changed(6, who="Ruben", number=3))
    found = compared(reading(RAIN), second)
    assert found.speech == 7 / 8
    assert found.speaker == found.boundary == 1.0


def test_equal_spans_of_a_paragraph_are_kept_apart():
    rows = [(1, "“No.”", "Ines", 1), (1, "“No.”", "Ines", 1), (2, "“Why?”", "Ruben", 1)]
    other = [rows[0], (1, "“No.”", "Ruben", 1), rows[2]]
    found = compared(reading(rows), reading(other))
    assert (found.n_both, found.n_same_tag) == (3, 1)


def test_only_chapters_of_both_count():
    first = joined(reading(RAIN), reading(RAIN, chapter=2))
    second = joined(reading(changed(4, number=1), chapter=2), reading(RAIN, chapter=3))
    found = compared(first, second)
    alone = compared(reading(RAIN, chapter=2), reading(changed(4, number=1), chapter=2))
    assert found.to_json() == alone.to_json()


def test_books_are_matched_by_name():
    other = reading(RAIN, book="8")
    found = measure_agreement(
        [reading(RAIN), other], [other, reading(changed(4, number=1))], resamples=0
    )
    assert (found.n_chapters, found.n_both, found.n_same_tag) == (2, 16, 14)
    assert found.boundary == 10 / 12


@pytest.mark.parametrize(
    "second", [[], [reading(RAIN, book="8")], [reading(RAIN, chapter=2)]], ids=str
)
def test_no_chapter_in_common_is_refused(second):
    with pytest.raises(InputError, match="found no chapter in two readings, expected at least one"):
        measure_agreement([reading(RAIN)], second)


def test_the_readings_of_a_folder_and_its_gold():
    gold, second = (reading(RAIN),), (reading(changed(4, number=1)),)
    found = compare_readings(Annotations(Path("a"), gold, gold, second))
    assert {name: item.n_same_tag for name, item in found.items()} == {
        "first, second": 6,
        "gold, first": 8,
        "gold, second": 6,
    }
    with pytest.raises(InputError, match="found no chapter in two readings"):
        compare_readings(Annotations(Path("a"), gold, (), ()))


def test_annotations_as_a_tagged_book_without_text():
    book = reading(RAIN)
    tagged = tag_annotations(book)
    assert [item.span.text for item in tagged.spans] == [
        str(f.fingerprint) for f in book.annotations
    ]
    assert [item.span.index for item in tagged.spans] == [0, 1, 0, 0, 0, 0, 0, 0]
    assert tagged.spans[1].span.start == tagged.spans[0].span.end == len(tagged.spans[0].span.text)
    assert [item.span.quoted for item in tagged.spans] == [row[3] == 0 for row in RAIN]


def test_readings_of_several_languages_are_compared_one_by_one():
    english, dutch = joined(reading(RAIN)), reading(RAIN, book="8")
    dutch = replace(dutch, card=replace(dutch.card, language="nl"))
    other = replace(dutch, annotations=reading(changed(3, who="Ruben"), book="8").annotations)
    annotations = Annotations(Path("a"), (english, dutch), (english, dutch), (english, other))
    found = compare_readings_by_language(annotations)
    assert list(found) == ["en", "nl"]
    assert found["en"].speaker == 1 > found["nl"].speaker
    assert (
        found["nl"].to_json()
        == compare_readings(annotations.of_language("nl"))["first, second"].to_json()
    )
    with pytest.raises(InputError, match="found no chapter in two readings"):
        compare_readings_by_language(replace(annotations, second=(english,)))
