"""Mined pairs against gold: each cause of a wrong pair by hand, and the sums of counts."""

import pytest
from helpers import NAMES, book, kind_of, spans_of
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from miner.annotation.matching import CAUSES, judge_pairs
from miner.lab.measure.confidence import PairErrors, count_pair_errors
from miner.speech.dialogues import decode_dialogues, repair_book, turn_pairs
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, repair_tags


def judged(gold: str, predicted: str) -> PairErrors:
    return count_pair_errors(judge_pairs([book(gold)], [book(predicted)]))


def told(errors: PairErrors) -> tuple[int, dict[str, int], int]:
    """The right pairs, the wrong pairs by cause without zeros, and the missed pairs."""
    return errors.n_right, {name: n for name, n in errors.causes.items() if n}, errors.n_missed


# Gold and prediction, one letter per paragraph; right, wrong by cause, and missed pairs.
CASES = {
    "all right": ("SRRSsRr", "SRRSsRr", 3, {}, 0),
    "a title": ("SRO", "SRR", 1, {"not speech": 1}, 0),
    "narration first": ("OSR", "SRR", 1, {"not speech": 1}, 0),
    "nothing is speech": ("OOO", "SRR", 0, {"not speech": 2}, 0),
    "a title in a turn": ("SOR", "SsR", 0, {"not speech": 1}, 1),
    "run on": ("SRSR", "SRRR", 2, {"two conversations": 1}, 0),
    "run on over narration": ("SROSR", "SRORR", 2, {"two conversations": 1}, 0),
    "no answer in either": ("SSS", "SRR", 0, {"two conversations": 2}, 0),
    "goes on": ("Ss", "SR", 0, {"one turn taken for two": 1}, 0),
    "the answer goes on": ("SRr", "SRR", 0, {"one turn taken for two": 1, "half a turn": 1}, 1),
    "two speak as one": ("SRR", "SsR", 0, {"speakers merged": 1}, 2),
    "two answer as one": ("SRR", "SRr", 0, {"speakers merged": 1}, 2),
    "two conversations in a turn": ("SSR", "SsR", 0, {"speakers merged": 1}, 1),
    "the turn began before": ("SsR", "SRR", 0, {"one turn taken for two": 1, "half a turn": 1}, 1),
    "the turn goes on elsewhere": ("SRr", "SRS", 0, {"half a turn": 1}, 1),
    "a turn between": ("SRR", "SOR", 0, {"speech missed": 1}, 2),
    "a part of the turn": ("SsR", "SOR", 0, {"speech missed": 1}, 1),
    "a part of the answer": ("SRr", "SRO", 0, {"speech missed": 1}, 1),
    "one part elsewhere, one missed": ("SRrr", "SRSO", 0, {"speech missed": 1}, 1),
    "nothing mined": ("SRR", "SSS", 0, {}, 2),
    "nothing to mine": ("SSS", "SSS", 0, {}, 0),
}


@pytest.mark.parametrize(
    ("gold", "predicted", "right", "causes", "missed"), CASES.values(), ids=CASES
)
def test_causes_by_hand(gold, predicted, right, causes, missed):
    errors = judged(gold, predicted)
    assert told(errors) == (right, causes, missed)
    assert errors.n_pairs == right + sum(causes.values())


def paragraph(*parts: tuple[str, str], n=0) -> tuple[TaggedSpan, ...]:
    """The spans of one paragraph: text and the letter of its tag."""
    spans, start = [], 0
    for index, (text, letter) in enumerate(parts):
        tag = NAMES[letter]
        span = Span(1, n, index, start, start + len(text), text, kind_of(tag is not Tag.O))
        spans.append(TaggedSpan(span, tag))
        start += len(text)
    return tuple(spans)


ANSWER = ("“Not at all.”", "R")


def told_of(gold, predicted):
    """The counts for one paragraph and an answer to it."""
    golds, guesses = (
        [TaggedBook("7", (*paragraph(*parts), *paragraph(ANSWER, n=1)))]
        for parts in (gold, predicted)
    )
    return told(count_pair_errors(judge_pairs(golds, guesses)))


def test_speech_cut_elsewhere():
    cut = 0, {"span cut wrongly": 1}, 1
    whole = ("“Do you mind it?” said she.", "S")
    said = (("“Do you mind it?”", "S"), (" said she.", "O"))
    assert told_of(said, [whole]) == cut
    assert told_of([whole], said) == cut
    assert told_of(said, said)[0] == told_of([whole], [whole])[0] == 1
    # A span beside speech has no part of it.
    after = (("“Do you mind it?”", "O"), (" said she.", "S"))
    assert told_of(said, after) == (0, {"not speech": 1}, 1)
    # "not speech" comes before "span cut wrongly".
    both = (("“Do you ", "S"), ("mind it?”", "s"), (" said she.", "s"))
    assert told_of(said, both) == (0, {"not speech": 1}, 1)
    assert told_of(said, (*both[:2], (" said she.", "O"))) == cut


def test_the_same_offsets_in_another_paragraph_are_another_place():
    gold, predicted = book("SOR"), book("OSR")
    assert told(count_pair_errors(judge_pairs([gold], [predicted]))) == (0, {"not speech": 1}, 1)


def test_only_the_annotated_chapters_count():
    everything = book("SR|SR|SO")
    assert told(count_pair_errors(judge_pairs([everything], [everything]))) == (2, {}, 0)
    first, second = (
        TaggedBook("7", tuple(item for item in everything.spans if item.span.chapter == n))
        for n in (1, 2)
    )
    assert told(count_pair_errors(judge_pairs([first], [everything]))) == (1, {}, 0)
    assert told(count_pair_errors(judge_pairs([second], [book("SS|SS|SR")]))) == (0, {}, 1)
    # A pair of an annotated chapter and another is not judged; one of two annotated ones is.
    assert told(count_pair_errors(judge_pairs([first], [book("SR|RR|RR")]))) == (1, {}, 0)
    assert told(count_pair_errors(judge_pairs([everything], [book("SR|RR|SO")]))) == (
        2,
        {"two conversations": 1},
        0,
    )


def test_books_are_counted_together_but_judged_apart():
    golds = [book("SRR", "1"), book("SR", "2", shift=0), book("OO", "3")]
    guesses = [book("SsR", "1"), book("SR", "2"), book("SR", "3")]
    errors = count_pair_errors(judge_pairs(golds, guesses))
    assert told(errors) == (1, {"speakers merged": 1, "not speech": 1}, 2)
    assert (errors.n_pairs, errors.n_wrong) == (3, 2)
    with pytest.raises(ValueError):
        judge_pairs(golds, guesses[:2])


def test_every_cause_is_listed_in_order_with_its_count():
    errors = judged("SR", "SR")
    assert errors.causes == dict.fromkeys(CAUSES, 0)
    assert count_pair_errors(judge_pairs([], [])) == PairErrors(0, 0, errors.causes, 0)
    assert to_builtins(judged("SRO", "SRR")) == {
        "pairs": 2,
        "right": 1,
        "causes": {name: int(name == "not speech") for name in CAUSES},
        "missed": 0,
    }
    seen = {name for _, _, _, causes, _ in CASES.values() for name in causes}
    assert seen | {"span cut wrongly"} == set(CAUSES)


TAGS = st.lists(st.tuples(*[st.sampled_from(list(NAMES.values()))] * 2), max_size=14)


def places(tagged: TaggedBook) -> list[tuple]:
    """The turn pairs of a book as paragraphs, each of which has one span here."""
    return [
        tuple(
            tuple(span.paragraph for span in turn.spans) for turn in (pair.context, pair.response)
        )
        for dialogue in decode_dialogues(repair_book(tagged))
        for pair in turn_pairs(dialogue)
    ]


@given(TAGS)
@settings(max_examples=30, deadline=None)
def test_the_counts_add_up(tags):
    chapters = [1 + n // 5 for n in range(len(tags))]
    truth, guess = ([pair[n] for pair in tags] for n in (0, 1))
    gold = TaggedBook("7", spans_of(repair_tags(truth), chapters))
    predicted = TaggedBook("7", spans_of(guess, chapters))  # legal or not
    errors = count_pair_errors(judge_pairs([gold], [predicted]))
    golds, mined = places(gold), places(predicted)
    assert errors.n_pairs == len(mined)
    assert errors.n_right == len(set(golds) & set(mined))
    assert errors.n_wrong == sum(errors.causes.values()) == errors.n_pairs - errors.n_right
    assert errors.n_missed == len(golds) - errors.n_right
    itself = count_pair_errors(judge_pairs([gold], [gold]))
    assert told(itself) == (len(golds), {}, 0)
    # A pair with a span that is narration in gold counts as "not speech" only.
    narration = {n for n, tag in enumerate(truth) if tag is Tag.O}
    n_strange = sum(bool(narration & {*context, *response}) for context, response in mined)
    assert errors.causes["not speech"] == n_strange
    assert errors.causes["span cut wrongly"] == 0
