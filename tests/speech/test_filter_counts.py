"""Counts of what filters took: they add up."""

from miner.speech.filters import Amount, FilterCount, FilterCounts

LONG = FilterCount(Amount(1, 4, 20, 16), Amount(0, 1, 3, 5))
SHORT = FilterCount(Amount(1, 5, 17, 12), Amount(1, 5, 17, 12))


def test_sums_do_not_depend_on_the_order_and_keep_that_of_the_filters():
    one = FilterCounts(dialogues={"long": LONG, "short": SHORT}).add_book("language", 7, 30)
    other = FilterCounts(dialogues={"long": LONG, "short": SHORT})
    other = other.add_book("delimiters", 2, 5).add_book("language", 1, 1)
    assert one + other == other + one
    assert [*(one + other).dialogues] == [*(FilterCounts() + one).dialogues] == ["long", "short"]
    assert (one + other).dialogues["long"] == FilterCount(Amount(2, 8, 40, 32), Amount(0, 2, 6, 10))
    assert (one + other).books == {
        "language": Amount(2, 8, 31, 23),
        "delimiters": Amount(1, 2, 5, 3),
    }


def test_what_came_to_the_dialogues_is_what_came_to_their_first_filter():
    assert FilterCounts().came_to_dialogues == Amount()
    counts = FilterCounts(dialogues={"long": LONG, "short": SHORT})
    assert (counts + counts).came_to_dialogues == Amount(2, 8, 40, 32)
