"""Speakers of a short annotated book, judged by hand."""

import pytest
from speaker_scenes import BELL, MARA, WAITER, annotated_key, page, saying

from miner.lab.app.tables.speakers import tabulate_speaker_scores
from miner.lab.measure.speakers import draw_errors, score_annotated_speakers
from miner.people.cast import Character

M, B, W = MARA.id, BELL.id, WAITER.id
RIGHT = (M, B, M, B, W, B, B, M)


def scored(*ways, resamples=0, **options):
    named = [(f"way {n}", way) for n, way in enumerate(ways)]
    return score_annotated_speakers(
        [annotated_key()], lambda _: page(), named, resamples=resamples, **options
    )


def shares(*speakers, **options):
    """The accuracy of speakers on the gold spans, by measure."""
    (row,) = scored(saying(*speakers, **options)).rows
    return {name: score.value for name, score in row.on_gold.scores.items()}


def test_all_are_right_and_whom_nobody_knows_is_left_out_and_counted():
    found = scored(saying(*RIGHT))
    (row,) = found.rows
    for measures in (row.from_book, row.on_gold):
        assert [score.value for score in measures.scores.values()] == [1.0] * 5
        # Anaphoric are "she said" and "said the waiter". Three follow another one of the same
        # conversation whose speaker is known.
        assert tuple(measures.counts.values()) == (7, 4, 2, 1, 3)
    assert (found.n_utterances, found.n_unknown, found.n_missed, found.n_lost) == (7, 1, 0, 0)
    assert found.errors == ()


def test_a_wrong_speaker_is_wrong_in_its_kind_and_in_whether_the_last_one_goes_on():
    assert shares(B, *RIGHT[1:]) == pytest.approx(
        {"all": 6 / 7, "explicit": 3 / 4, "anaphoric": 1, "implicit": 1, "same or other": 2 / 3}
    )


def test_two_speakers_who_are_taken_for_each_other_still_change():
    assert shares(B, M, B, M, W, M, B, B)["same or other"] == 1


def test_nobody_is_no_answer():
    found = shares(*[None] * 8)
    assert set(found.values()) == {0}


def test_names_of_a_chapter_mean_different_characters():
    otway = Character("otway", "Otway", ("Otway",), "m", n_mentions=9)
    ids = {M: otway.id, B: otway.id, W: W}
    # Both are one character for the miner, who can be only one of the two.
    found = shares(*(ids[id] for id in RIGHT), characters=(otway, WAITER))
    assert 0 < found["all"] < 1


def test_the_waiter_of_another_chapter_is_another_one():
    other = Character("waiter-2", "waiter", ("waiter",), "m", WAITER.kind, chapter=2)
    speakers = (M, B, M, B, other.id, B, B, M)
    assert shares(*speakers, characters=(MARA, BELL, other))["anaphoric"] == 1 / 2


def test_a_name_that_no_character_has_is_wrong():
    assert shares(*RIGHT, characters=(MARA, WAITER))["all"] < 1


def test_an_utterance_that_is_not_found_is_wrong_from_the_book_and_right_on_the_gold():
    bare = page().replace("“Nobody sleeps here.”".encode(), b"Nobody sleeps here.")
    found = score_annotated_speakers(
        [annotated_key()], lambda _: bare, [("way", saying(*RIGHT))], resamples=0
    )
    assert (found.n_utterances, found.n_missed, found.n_lost) == (7, 1, 0)
    (row,) = found.rows
    assert (row.from_book["all"].value, row.on_gold["all"].value) == (pytest.approx(6 / 7), 1)
    assert (row.from_book["implicit"].value, row.on_gold["implicit"].value) == (0, 1)
    assert not found.errors[0].judged.is_found


def test_an_interval_is_over_chapters_and_needs_two():
    (row,) = scored(saying(B, *RIGHT[1:]), resamples=200).rows
    low, high = row.on_gold["all"].ends
    assert low == pytest.approx(4 / 5) and high == 1


def test_errors_are_shown_with_what_a_reader_needs():
    found = scored(saying(B, *RIGHT[1:]), saying(*[None] * 8))
    (error,) = found.errors  # of the first way alone
    record = error.to_json()
    assert record["utterance"] == "“Who has the key?”"
    assert record["before"].endswith("stand by the door.\n\n")
    assert record["after"].startswith(" asked Mara Otway.\n\n“It hung")
    assert (record["gold"], record["gold_character"]) == ("Mara Otway", "Mara Otway")
    assert (record["answer"], record["kind"], record["found"]) == ("Mr. Bell", "explicit", True)
    assert {"Mara Otway", "Mr. Bell", "waiter"} <= set(record["candidates"])
    assert "It is in the lock" not in record["after"]  # another chapter


def test_errors_are_drawn_once_each_and_in_order():
    errors = scored(saying(*[None] * 8)).errors
    drawn = draw_errors(errors, 4, seed=1)
    places = [item.judged.place for item in drawn]
    assert len(drawn) == 4 and places == sorted(set(places))
    assert draw_errors(errors, 100) == list(errors)
    assert draw_errors((), 3) == []


def test_the_table_says_what_was_left_out():
    *_, found, left_out, few, signature = tabulate_speaker_scores(scored(saying(*RIGHT)), "dev")
    assert str(found).startswith("7 of 7 annotated utterances found")
    assert str(left_out).startswith("left out: 1 whose speaker the annotator did not know")
    assert str(few).startswith("2 chapters: too few")
    assert "split:all|chapters:2|" in str(signature)
