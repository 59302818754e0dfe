"""Utterances match by place or by letters, and never by chance."""

import pytest
from helpers import book, counts
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.annotation.matching import ends_of, letters_of, match_spans
from miner.lab.measure.scores import Counts, score
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span


def test_spans_match_by_place_where_the_paragraphs_are_the_same():
    # Both say the same twice; gold has the first only, predicted the second only.
    texts = ["“Yes.”", "“Yes.”"]
    assert match_spans(book("SO", texts=texts), book("OS", texts=texts)) == []
    assert match_spans(book("SR", texts=texts), book("SR", texts=texts)) == [(0, 0), (1, 1)]


def test_marks_at_the_ends_of_a_span_do_not_count():
    gold = book("SO", texts=["—Sí, voy", "—dijo él."])
    assert match_spans(gold, book("SO", texts=["—Sí, voy—", "dijo él."])) == [(0, 0)]
    assert match_spans(gold, book("SO", texts=["—Sí, voy—dijo", " él."])) == []
    for text, start, end in [(" —… ", 11, 13), ("—¿Y?»", 12, 13), ("Y", 10, 11)]:
        assert ends_of(Span(1, 3, 0, 10, 10 + len(text), text, SpanKind.UTTERANCE)) == (
            3,
            start,
            end,
        )


def test_spans_match_by_letters_where_the_paragraphs_differ():
    gold = book("SRO|SR", texts=["“Good day!”", "‘Why?’", "he asked", "“_No_ one.”", "“Oh.”"])
    other = book(
        "OSR|SR", texts=["A heading", '"Good day!"', '"Why?"', '"No one."', '"Ah."'], shift=40
    )
    assert match_spans(gold, other) == [(0, 1), (1, 2), (3, 3)]
    measures = score([gold], [other], resamples=0).total.end_to_end
    assert counts(measures, "utterance") == Counts(3, 1, 1)


def test_the_number_of_a_paragraph_alone_does_not_match():
    gold = book("SR", texts=["“One.”", "“Two.”"])
    moved = book("SRR", texts=["“Two.”", "“One.”", "“Two.”"])
    assert match_spans(gold, moved) == [(0, 1), (1, 2)]


def test_a_stray_match_does_not_link_chapters():
    # Gold covers the second chapter; its "Yes." that was not found is also said in the first.
    whole = book("SRRRRR|SRRRRR", texts=[*("abcde"), "yes", *("vwxyz"), "no"], shift=9)
    gold = book("SRRRRRR", texts=["yes", *("vwxyz"), "no"])
    assert match_spans(gold, whole) == [(n, n + 5) for n in range(1, 7)]
    part = score([gold], [whole], resamples=0).total
    assert (part.n_gold, part.n_predicted, part.n_matched) == (7, 6, 6)


words = st.sampled_from(["“Yes.”", "‘yes’", "“No.”", "“So it is.”", "“—”", "“…”", "“Who?”"])


@settings(max_examples=30, deadline=None)
@given(st.lists(words, max_size=12), st.lists(words, max_size=12), st.booleans())
def test_no_two_spans_with_different_letters_match(ours, theirs, is_shifted):
    gold = book("S" * len(ours), texts=ours or None)
    other = book("S" * len(theirs), texts=theirs or None, shift=5 * is_shifted)
    pairs = match_spans(gold, other)
    for i, j in pairs:
        assert letters_of(ours[i]) == letters_of(theirs[j])
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in zip(pairs, pairs[1:], strict=False))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Don't _you_, Mr. X?”", "dontyoumrx"),
        ("« Où ÇA ? »", "ouca"),
        ("12 o’clock", "12oclock"),
        ("“—” ", "“—”"),
    ],
)
def test_letters_of_a_text(text, expected):
    assert letters_of(text) == expected
