"""Scores by hand, equal to those of scikit-learn, seqeval and NLTK, and those of MCN."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers import MCN, NAMES, book, counts, needs_mcn, spans_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.metrics.segmentation import pk, windowdiff
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2
from sklearn.metrics import precision_recall_fscore_support

from miner import __version__
from miner.errors import InputError
from miner.lab.gold.mcn import read_any_tag_file, read_mcn
from miner.lab.measure.scores import Counts, score, window_size
from miner.speech.tags import Tag, TaggedBook, repair_tags

TAGS = [str(tag) for tag in Tag if tag is not Tag.O]


def rates(measures, unit: str) -> list[float | None]:
    return [measures[f"{unit}.{rate}"].value for rate in ("precision", "recall", "f1")]


def test_by_hand_on_the_same_spans():
    result = score([book("SsRrR|SR")], [book("SRRrS|RR")], resamples=0)
    measures = result.total.end_to_end
    # Spans 0..6. Gold S s R r R | S R, predicted S R R r S | R R.
    assert counts(measures, "utterance") == Counts(7, 0, 0)
    assert counts(measures, "B-START") == Counts(1, 1, 1)  # gold 0 5, predicted 0 4
    assert counts(measures, "I-START") == Counts(0, 0, 1)  # gold 1
    assert counts(measures, "B-OTHER") == Counts(2, 2, 1)  # gold 2 4 6, predicted 1 2 5 6
    assert counts(measures, "I-OTHER") == Counts(1, 0, 0)  # 3
    assert rates(measures, "B-START") == [1 / 2, 1 / 2, 1 / 2]
    assert rates(measures, "B-OTHER") == [2 / 4, 2 / 3, pytest.approx(4 / 7)]
    # Never predicted: no precision, but recall and F1 are 0.
    assert rates(measures, "I-START") == [None, 0, 0]
    assert rates(measures, "micro") == [4 / 7, 4 / 7, 4 / 7]
    assert measures["accuracy"].value == 4 / 7
    # Precision (1/2 + 0 + 2/4 + 1) / 4, recall (1/2 + 0 + 2/3 + 1) / 4, F1 (1/2 + 0 + 4/7 + 1) / 4.
    assert rates(measures, "macro") == pytest.approx([2 / 4, (13 / 6) / 4, (29 / 14) / 4])
    # Gold turns 01 23 4 | 5 6 (START: 01 5), predicted 0 1 23 4 | 5 6 (START: 0 4).
    assert counts(measures, "turn-START") == Counts(0, 2, 2)
    assert counts(measures, "turn-OTHER") == Counts(2, 2, 1)  # gold 23 4 6, predicted 1 23 5 6
    assert counts(measures, "turn") == Counts(2, 4, 3)  # 5 is a turn on both sides, of two kinds
    # Gold 01-23 23-4 5-6, predicted dialogues 0 1 23 and 4 5 6: 0-1 1-23 4-5 5-6.
    assert counts(measures, "turn-pair") == Counts(1, 3, 2)
    assert rates(measures, "turn-pair") == [1 / 4, 1 / 3, pytest.approx(2 / 7)]
    # Gold 0-1 1-2 2-3 3-4 5-6, predicted 0-1 1-2 2-3 4-5 5-6.
    assert counts(measures, "span-pair") == Counts(4, 1, 1)
    assert counts(measures, "dialogue") == Counts(0, 2, 2)
    # k = 7 utterances / 2 dialogues / 2 = 1.75 -> 2. Chapter 1: gaps 0000 and 0001, windows 00 00
    # 00 and 00 00 01. Chapter 2 has one gap: no window.
    assert measures["pk"].value == measures["windowdiff"].value == 1 / 3
    # All spans are on both sides and all tags legal, so the other figure is the same.
    assert result.total.on_gold_spans == measures


def test_windowdiff_counts_boundaries_and_pk_does_not():
    # k = 6 utterances / 2 dialogues / 2 = 1.5 -> 2. Gaps 10000 and 11000, windows gold 10 00 00 00
    # and predicted 11 10 00 00: the first differs in number only.
    measures = score([book("SSRRRR")], [book("SSSRRR")], resamples=0).total.end_to_end
    assert measures["pk"].value == 1 / 4
    assert measures["windowdiff"].value == 2 / 4


def test_by_hand_with_a_missed_and_a_spurious_utterance():
    # Spans 0..4: gold S R S R O, predicted S R O R R. Matched 0 1 3, missed 2, spurious 4.
    part = score([book("SRSRO")], [book("SROR" + "R")], resamples=0).total
    assert (part.n_gold, part.n_predicted, part.n_matched) == (4, 4, 3)
    measures = part.end_to_end
    assert counts(measures, "utterance") == Counts(3, 1, 1)
    assert counts(measures, "B-START") == Counts(1, 0, 1)
    assert counts(measures, "B-OTHER") == Counts(2, 1, 0)
    assert measures["accuracy"].value == 3 / 5
    # Gold pairs 0-1 2-3, predicted 0-1 1-3 3-4.
    assert counts(measures, "turn-pair") == Counts(1, 2, 1)
    assert counts(measures, "dialogue") == Counts(0, 1, 2)  # gold 01 23, predicted 0134


def test_a_dialogue_keeps_its_beginning_when_its_first_span_is_not_matched():
    # Without span 2, gold's 3 still is of another dialogue than 1: S R S, against S R R.
    measures = score([book("SRSRO")], [book("SRORR")], resamples=0).total.on_gold_spans
    assert counts(measures, "utterance") == Counts(3, 0, 0)
    assert counts(measures, "B-START") == Counts(1, 0, 1)
    assert counts(measures, "B-OTHER") == Counts(1, 1, 0)
    assert counts(measures, "turn-pair") == Counts(1, 1, 0)
    # k = 4 / 2 / 2 = 1; gaps 01 and 00: one window of two is wrong.
    assert measures["pk"].value == 1 / 2


def test_turns_keep_their_spans_apart_when_the_first_is_not_matched():
    # Gold S R R r without span 2: 1 and 3 are two turns still, S R R, and not one, S R r.
    measures = score([book("SRRr")], [book("SROR")], resamples=0).total.on_gold_spans
    assert counts(measures, "turn") == Counts(3, 0, 0)
    # Gold S s R r without span 0 and 2: S R.
    measures = score([book("SsRr")], [book("OSOR")], resamples=0).total.on_gold_spans
    assert counts(measures, "B-START") == Counts(1, 0, 0)
    assert counts(measures, "B-OTHER") == Counts(1, 0, 0)


def test_illegal_predicted_tags_count_as_they_are_and_are_repaired_for_turns():
    # Predicted R s R: the first R is repaired to S, and then s is legal.
    part = score([book("SsR")], [book("RsR")], resamples=0).total
    assert part.n_repaired == 1
    assert counts(part.end_to_end, "B-START") == Counts(0, 0, 1)
    assert counts(part.end_to_end, "turn-pair") == Counts(1, 0, 0)
    assert counts(part.on_gold_spans, "B-START") == Counts(1, 0, 0)


def test_illegal_gold_is_refused():
    with pytest.raises(ValueError, match="book 7, paragraph 1, span 0: found I-OTHER after B-ST"):
        score([book("Sr")], [book("SR")])


def test_a_gold_book_without_prediction_is_missed_and_the_reverse_is_ignored():
    result = score([book("SR", "1"), book("SR", "2")], [book("SR", "3"), book("SR", "1")])
    assert (result.missing, result.ignored) == (["2"], ["3"])
    assert counts(result.total.end_to_end, "turn-pair") == Counts(1, 0, 1)
    assert {book: part.n_matched for book, part in result.books.items()} == {"1": 2, "2": 0}
    assert rates(result.books["2"].end_to_end, "turn-pair") == [None, 0, 0]
    assert result.books["2"].on_gold_spans["turn-pair.f1"].value is None


def test_no_gold_and_books_given_twice_are_refused():
    with pytest.raises(InputError, match="no gold"):
        score([], [book("S")])
    with pytest.raises(InputError, match="predicted: found book 7 more than once"):
        score([book("S")], [book("S"), book("S")])


def test_only_the_chapters_of_gold_are_judged():
    whole = book("SR|SR|SR")
    gold = replace(whole, spans=whole.spans[2:4])
    measures = score([gold], [book("SR|RR|RR")], resamples=0).total.end_to_end
    # Predicted is one dialogue through three chapters. Judged are its spans 2 and 3 and their
    # pair; the pairs 1-2 and 3-4 and the dialogue reach out of chapter 2.
    assert counts(measures, "utterance") == Counts(2, 0, 0)
    assert counts(measures, "B-START") == Counts(0, 0, 1)
    assert counts(measures, "turn-pair") == Counts(1, 0, 0)
    assert counts(measures, "dialogue") == Counts(0, 0, 1)


def test_a_spurious_utterance_counts_in_a_chapter_of_pure_narration():
    result = score([book("SR|O")], [book("SR|S")], resamples=0)
    assert counts(result.total.end_to_end, "B-START") == Counts(1, 1, 0)
    assert result.total.n_chapters == 2


@pytest.mark.parametrize(
    ("letters", "expected"),
    # 4 / 1 / 2; 6 utterances in 2 chapters of one dialogue that runs on; at least 1; nothing.
    [("SRRR", 2), ("SRROR|RR", 2), ("SSS", 1), ("OO", 1)],
)
def test_window_is_half_the_mean_gold_dialogue(letters, expected):
    assert window_size([book(letters)]) == expected


@st.composite
def tagged_pair(draw):
    """Two legal taggings of the same utterances and narration, in up to four chapters."""
    n = draw(st.integers(1, 40))
    is_spoken = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    chapters = sorted(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    sides = []
    for _ in range(2):
        letters = draw(st.lists(st.sampled_from("SsRrRr"), min_size=n, max_size=n))
        tags = [NAMES[c] if spoken else Tag.O for c, spoken in zip(letters, is_spoken, strict=True)]
        sides.append(TaggedBook("7", spans_of(repair_tags(tags), chapters)))
    return sides


def spoken(tagged: TaggedBook, chapter: int | None = None) -> list[str]:
    return [
        str(item.tag)
        for item in tagged.spans
        if item.tag is not Tag.O and chapter in (None, item.span.chapter)
    ]


@settings(max_examples=30, deadline=None)
@given(tagged_pair())
def test_tags_are_scored_as_by_scikit_learn(sides):
    gold, predicted = map(spoken, sides)
    assume(gold)
    measures = score([sides[0]], [sides[1]], resamples=0).total.end_to_end
    expected = precision_recall_fscore_support(gold, predicted, labels=TAGS, zero_division=np.nan)
    for n, tag in enumerate(TAGS):
        for value, theirs in zip(rates(measures, tag), expected, strict=False):
            if value is None:
                assert np.isnan(theirs[n])
            else:
                assert value == pytest.approx(theirs[n])
    occurring = [tag for tag in TAGS if tag in gold + predicted]
    for average in ("micro", "macro"):
        expected = precision_recall_fscore_support(
            gold, predicted, labels=occurring, average=average, zero_division=0
        )
        assert rates(measures, average) == pytest.approx(list(expected[:3]))


@settings(max_examples=30, deadline=None)
@given(tagged_pair())
def test_turns_are_scored_as_by_seqeval(sides):
    gold, predicted = map(spoken, sides)
    assume(gold)
    measures = score([sides[0]], [sides[1]], resamples=0).total.end_to_end
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a kind of turn that one side has not
        report = classification_report(
            [gold], [predicted], mode="strict", scheme=IOB2, output_dict=True
        )
    for unit, name in (("turn-START", "START"), ("turn-OTHER", "OTHER"), ("turn", "micro avg")):
        if name in report:
            expected = [report[name][key] for key in ("precision", "recall", "f1-score")]
            assert [value or 0 for value in rates(measures, unit)] == pytest.approx(expected)
        else:
            assert rates(measures, unit)[2] is None


@settings(max_examples=30, deadline=None)
@given(tagged_pair())
def test_boundaries_are_scored_as_by_nltk(sides):
    k = window_size([sides[0]])
    errors = {"pk": 0.0, "windowdiff": 0.0}
    n_windows = 0
    for chapter in range(1, 5):
        # NLTK takes a string of the gaps, with 1 for a boundary.
        gold, predicted = (
            "".join("1" if tag == "B-START" else "0" for tag in spoken(side, chapter)[1:])
            for side in sides
        )
        n = len(gold) - k + 1
        if n > 0:
            n_windows += n
            errors["pk"] += pk(gold, predicted, k) * n
            errors["windowdiff"] += windowdiff(gold, predicted, k) * n
    measures = score([sides[0]], [sides[1]], resamples=0).total.end_to_end
    for name, sum_of_errors in errors.items():
        if n_windows:
            assert measures[name].value == pytest.approx(sum_of_errors / n_windows)
        else:
            assert measures[name].value is None


@settings(max_examples=30, deadline=None)
@given(tagged_pair())
def test_gold_against_itself_is_right_and_json_has_no_nan(sides):
    result = score([sides[0]], [sides[0]], resamples=20)
    text = json.dumps(result.to_json(), allow_nan=False)
    for name, values in json.loads(text)["total"]["end_to_end"]["scores"].items():
        assert values["value"] in (None, 0.0 if name in ("pk", "windowdiff") else 1.0)
    json.dumps(score([sides[0]], [sides[1]], resamples=20).to_json(), allow_nan=False)


def test_counts_add_up_over_books():
    golds = [book("SRR|SsR", "1"), book("SR", "2")]
    predictions = [book("SRS|SRR", "1"), book("SS", "2")]
    result = score(golds, predictions, resamples=0)
    one, other = (result.books[book].end_to_end.counts for book in "12")
    for unit, total in result.total.end_to_end.counts.items():
        sums = [getattr(one[unit], key) + getattr(other[unit], key) for key in ("tp", "fp", "fn")]
        assert Counts(*sums) == total


def test_intervals_are_those_of_resampled_chapters():
    gold, predicted = book("SRSR|SsRR|SSS|SRR"), book("SRRR|SSRR|SRS|SRR")
    measures = score([gold], [predicted], resamples=200, seed=3).total.end_to_end
    # The same draws, but every resampled book is put together and scored from its tags.
    draws = np.random.default_rng(3).multinomial(4, [1 / 4] * 4, size=200)
    f1s = []
    for draw in draws:
        ours, theirs = [], []
        for chapter, n in enumerate(draw, 1):
            ours += spoken(gold, chapter) * n
            theirs += spoken(predicted, chapter) * n
        f1s.append(precision_recall_fscore_support(ours, theirs, labels=["B-START"])[2][0])
    low, high = np.percentile(f1s, [2.5, 97.5])
    found = measures["B-START.f1"]
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.low < found.value < found.high
    again = score([gold], [predicted], resamples=200, seed=3).total.end_to_end
    assert again == measures
    assert score([gold], [predicted], resamples=200, seed=4).total.end_to_end != measures


def test_one_chapter_has_no_interval():
    measures = score([book("SR")], [book("SS")]).total.end_to_end
    assert {(s.low, s.high) for s in measures.scores.values()} == {(None, None)}


def test_the_signature_says_what_was_scored():
    gold = replace(book("SR|SR"), source="gold.csv@01234567")
    result = score([gold], [book("SR|SR")], split="test", resamples=10, seed=5)
    assert result.signature == (
        "unit:span|gold:gold.csv@01234567|predicted:memory|split:test|chapters:2"
        f"|k:1|bs:10|seed:5|version:{__version__}"
    )
    two = score([gold, replace(book("S", "8"), source="b.csv@89abcdef")], [], resamples=10)
    # The digest is of the two sources, a line each.
    assert "|gold:2-files@22d17f4b|predicted:none|" in two.signature


@needs_mcn
@pytest.mark.parametrize(
    ("name", "start", "micro", "turn_pair", "span_pair"),
    [
        # B-START and micro P, R, F1 as published; the figures of pairs were computed here.
        ("heuristic", (0.909, 0.370, 0.526), (0.800, 0.800, 0.800), 0.790, (0.896, 0.993)),
        ("model", (0.613, 0.704, 0.655), (0.827, 0.817, 0.822), 0.808, (0.943, 0.899)),
    ],
)
def test_the_predictions_of_mcn(name, start, micro, turn_pair, span_pair):
    mcn = read_mcn(MCN)
    gold = mcn.of_split(mcn.gold_v2, "test")
    measures = score([gold], [getattr(mcn, name)], split="test").total.end_to_end
    assert rates(measures, "B-START") == pytest.approx(start, abs=5e-4)
    assert rates(measures, "micro") == pytest.approx(micro, abs=5e-4)
    assert rates(measures, "turn-pair")[2] == pytest.approx(turn_pair, abs=5e-4)
    assert rates(measures, "span-pair")[:2] == pytest.approx(span_pair, abs=5e-4)


@needs_mcn
@pytest.mark.parametrize("stem", ["heuristic-predictions", "model-predictions-test"])
def test_files_read_one_by_one_score_as_those_read_together(stem):
    mcn = read_mcn(MCN)
    gold = read_any_tag_file(MCN / "gold-v2.csv", split="test")
    predicted = read_any_tag_file(MCN / f"{stem}.csv", repair=True)
    together = mcn.heuristic if stem.startswith("heuristic") else mcn.model
    assert score(gold.books, predicted.as_read) == score(
        [mcn.of_split(mcn.gold_v2, "test")], [together]
    )
