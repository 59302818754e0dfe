"""Scores of quotations by hand, and on the corpus."""

import re

import pytest
from helpers import CORPUS, NOVEL, kind_of, needs_corpus, offsets_of
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.annotation.alignment import fold_letters
from miner.books.book import Block, BlockKind, Book
from miner.lab.gold.pdnc import read_quotations
from miner.lab.measure.quotations import (
    Cause,
    find_spans_by_regex,
    find_spans_by_toggle,
    join_neighbours,
    score_quotations,
    score_spans,
)
from miner.speech.spans import BookSpans, Span


def test_the_simple_rules():
    text = 'He said "no" and “not\nnow.” Then:\n\n"I was there\n\n"and so" were “you\n'
    assert [text[a:b] for a, b in find_spans_by_regex(text)] == ["no", "not\nnow.", "and so"]
    assert [text[a:b] for a, b in find_spans_by_toggle(text)] == [
        "no",
        "not\nnow.",
        "I was there",
        "and so",
        "you\n",
    ]


def book_of(*paragraphs: str) -> BookSpans:
    """A book whose utterances stand between double quotation marks."""
    blocks = tuple(Block(i, 0, BlockKind.PARAGRAPH, text) for i, text in enumerate(paragraphs))
    spans: list[Span] = []
    for block in blocks:
        cuts = [0, *(i for m in re.finditer("“[^”]*”", block.text) for i in m.span())]
        for n, (start, end) in enumerate(zip(cuts, [*cuts[1:], len(block.text)], strict=True)):
            text = block.text[start:end]
            if text:
                kind = kind_of(text.startswith("“"))
                spans.append(Span(0, block.index, n, start, end, text, kind))
    return BookSpans(Book("99999", "", "", "en", blocks, (), ""), tuple(spans))


def test_another_edition_scores_the_same_as_its_own_text():
    gold = offsets_of(NOVEL, "Is the lamp lit?", "It was,", "until the oil\nran out. ")
    book = book_of(
        "THE LIGHT-HOUSE",
        "“_Is_ the lamp {7} lit?” asked Mara. She had one foot on the stair.",
        "“It was”, said Tobin; “until the oil ran out.”",
        "The “keeper” said nothing.",
    )
    for score in (
        score_spans(NOVEL, gold, find_spans_by_regex(NOVEL)),
        score_quotations(NOVEL, gold, book),
    ):
        assert (score.right, len(score.missed), len(score.spurious)) == (3, 0, 1)
        assert (score.precision, score.recall, score.f1) == (3 / 4, 1.0, 6 / 7)
        # "isthelamplit", "itwas" and "untiltheoilranout" are gold, "keeper" is not
        assert score.letters_right == score.letters_gold == 12 + 5 + 17
        assert score.letters_predicted == 34 + 6
        assert score.letter_f1 == 2 * 34 / (34 + 40)
        (error,) = score.spurious
        assert (error.cause, error.paragraph, error.text) == (Cause.ALONE, 3, "keeper")
        assert error.context.strip().startswith("The ") and error.context.strip().endswith(".")
        assert (score.unaligned, score.foreign) == (0, ())


@pytest.mark.parametrize(
    ("start", "end", "cause"),
    [
        (0, 0, None),
        (-3, 0, None),
        (3, 3, None),
        (-4, 0, Cause.START),
        (4, 0, Cause.START),
        (0, 5, Cause.END),
        (-4, 4, Cause.BOTH),
    ],
)
def test_ends_may_differ_by_three_characters(start, end, cause):
    text = "abcdefghijklmnopqrstuvwxyz"
    score = score_spans(text, [(10, 20)], [(10 + start, 20 + end)])
    assert score.right == (cause is None)
    assert [error.cause for error in score.missed] == ([cause] if cause else [])
    assert [error.cause for error in score.spurious] == ([cause] if cause else [])


def test_a_gold_span_is_matched_once_and_exact_ones_first():
    text = "a, b, c said the child"
    gold = [(0, 1), (3, 4)]
    score = score_spans(text, gold, [(0, 1), (3, 4), (6, 7)])
    assert (score.right, len(score.spurious), len(score.missed)) == (2, 1, 0)
    assert score.spurious[0].text == "c"


def test_one_span_over_two_and_two_over_one():
    text = "Come in, said the old woman, and shut the door behind you."
    parts = offsets_of(text, "Come in", "and shut the door behind you")
    whole = [(0, len(text))]
    assert [e.cause for e in score_spans(text, parts, whole).spurious] == [Cause.SEVERAL]
    assert [e.cause for e in score_spans(text, parts, whole).missed] == [Cause.END, Cause.START]
    assert [e.cause for e in score_spans(text, whole, parts).missed] == [Cause.SEVERAL]


def test_neighbours_without_a_mark_between_them_are_joined():
    text = (
        '"Who cried \'Fire!\' (it was late) below?" asked Mara. "I did," said Tobin, "once."\n\n'
        'He went on: "Nobody came,\n\nnobody at all."\n'
    )
    parts = ("Who cried", "Fire!", "below?", "I did,", "once.", "Nobody came,", "nobody at all.")
    gold = offsets_of(text, *parts)
    whole = offsets_of(text, "Who cried 'Fire!' (it was late) below?", *parts[3:])
    assert join_neighbours(text, reversed(gold)) == whole
    assert join_neighbours(text, whole) == whole
    strict, second = (
        score_spans(text, spans, whole) for spans in (gold, join_neighbours(text, gold))
    )
    assert (strict.right, len(strict.missed), len(strict.spurious)) == (4, 3, 1)
    assert (second.right, second.missed, second.spurious) == (5, (), ())


def test_a_mark_or_a_blank_line_inside_a_span_separates_it():
    text = '"Yes," he said, "no.\n\nBut when?" “Now,” she said, “or never.”'
    loose = offsets_of(text, 'Yes,"', '"no.\n\n', 'But when?" ', "Now,”", "“or never.")
    assert join_neighbours(text, loose) == loose
    assert join_neighbours("", []) == []


def test_words_of_one_edition_only():
    text = (
        'PREFACE\n\n"These pages were found in a drawer by their printer," I was told.\n\n'
        '"Who rang the bell?" asked the porter.\n'
    )
    book = book_of(
        "“Who rang the bell?” asked the porter.",
        "“Illustration: nobody ever answers here, whatever the hour,” was written below.",
    )
    score = score_quotations(text, find_spans_by_regex(text), book)
    assert (score.right, score.unaligned, len(score.missed)) == (1, 1, 1)
    assert (score.missed[0].paragraph, score.missed[0].cause) == (1, Cause.UNALIGNED)
    assert score.spurious == ()
    assert [error.paragraph for error in score.foreign] == [1]
    assert (score.precision, score.recall) == (1.0, 0.5)


def test_spans_without_a_letter_count_on_neither_side():
    text = '"...!" He wept. "Oh," he said.'
    score = score_spans(text, find_spans_by_regex(text), find_spans_by_regex(text))
    assert (score.right, score.missed, score.spurious) == (1, (), ())
    nothing = score_spans("", [], [])
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.letter_f1) == (0, 0, 0, 0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(['"', "word", "a", " ", ".", "\n\n", "“", "”"])), st.data())
def test_counts_add_up(pieces, data):
    text = "".join(pieces)
    gold = find_spans_by_regex(text)
    spoken = [span for span in gold if fold_letters(text[slice(*span)]).text]
    perfect = score_spans(text, gold, gold)
    assert (perfect.right, perfect.missed, perfect.spurious) == (len(spoken), (), ())
    other = find_spans_by_toggle(text)
    n_other = sum(bool(fold_letters(text[slice(*span)]).text) for span in other)
    score = score_spans(text, gold, other)
    assert score.right + len(score.missed) == len(spoken)
    assert score.right + len(score.spurious) == n_other
    assert score.letters_right <= min(score.letters_gold, score.letters_predicted)
    assert score_spans(text, other, gold).right == score.right


@needs_corpus
def test_the_regex_rule_on_a_novel_of_the_corpus():
    novel = read_quotations(CORPUS / "TheSignOfTheFour")
    score = score_spans(novel.text, novel.spans, find_spans_by_regex(novel.text))
    assert round(score.letter_f1, 3) == 0.845  # below 1 because some speech is not closed
    assert round(score.f1, 3) == 0.910


@needs_corpus
def test_the_corpus_as_a_book_scores_as_its_text_does():
    novel = read_quotations(CORPUS / "DaisyMiller")
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", novel.text)]
    curly = [re.sub('"([^"]*)"', r"“\1”", paragraph) for paragraph in paragraphs]
    by_text = score_spans(novel.text, novel.spans, find_spans_by_regex(novel.text))
    by_book = score_quotations(novel.text, novel.spans, book_of(*curly))
    assert by_book.right == by_text.right
    assert (by_book.letter_f1, by_book.f1) == (by_text.letter_f1, by_text.f1)
    assert (by_book.unaligned, by_book.foreign) == (0, ())
