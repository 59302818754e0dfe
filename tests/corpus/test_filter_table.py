"""The table of the filters: which rows it has, and their shares."""

from miner.corpus.filters import FilterLine, FilterSettings, describe_filters, tabulate_filters
from miner.speech.filters import Amount, FilterCount, FilterCounts

OFF = FilterSettings(
    own_language=False,
    max_kl_divergence=False,
    min_delimiters=False,
    max_turn_words=False,
    set_pieces=False,
    min_turns=False,
    max_rare_words=False,
)


def test_each_filter_has_a_line_with_its_value_in_the_order_in_which_they_take():
    lines = describe_filters(FilterSettings(max_turn_words=1000, min_confidence=0.7))
    assert [(line.name, line.parameter, line.unit) for line in lines] == [
        ("own_language", "", "books"),
        ("max_kl_divergence", "KL divergence above 2", "books"),
        ("min_delimiters", "under 150 marks in 10,000 words", "books"),
        ("empty_turns", "", "turns"),
        ("max_turn_words", "over 1,000 words", "turns"),
        ("set_pieces", "", "turns"),
        ("min_confidence", "confidence below 0.7", "pairs"),
        ("min_turns", "under 2 turns", "dialogues"),
        ("max_rare_words", "over 20% rare words", "dialogues"),
    ]


def test_a_filter_that_is_off_has_no_line():
    assert [line.name for line in describe_filters(OFF)] == ["empty_turns"]
    assert "min_confidence" not in [line.name for line in describe_filters(FilterSettings())]


def test_shares_are_of_what_came_to_the_filter_in_its_own_unit():
    counts = FilterCounts(
        dialogues={
            "empty_turns": FilterCount(Amount(6, 100, 500, 400), Amount()),
            "max_turn_words": FilterCount(Amount(6, 100, 500, 400), Amount(0, 2, 20, 30)),
            "min_turns": FilterCount(Amount(6, 110, 480, 370), Amount(1, 55, 60, 5)),
        }
    )
    counts = counts.add_book("own_language", 8, 20).add_book("own_language", 2, 10)
    counts = counts.add_book("min_delimiters", 1, 3).add_book("works", 50, 200)
    rows = tabulate_filters(counts, describe_filters(FilterSettings(set_pieces=False)))
    assert [(row.line.name, row.taken, row.came, row.share) for row in rows] == [
        ("own_language", Amount(2, 10, 30, 20), 10, 0.2),
        ("max_kl_divergence", Amount(), 8, 0.0),
        ("min_delimiters", Amount(1, 1, 3, 2), 8, 0.125),
        ("empty_turns", Amount(), 500, 0.0),
        ("max_turn_words", Amount(0, 2, 20, 30), 500, 0.04),
        ("min_turns", Amount(1, 55, 60, 5), 110, 0.5),
        ("max_rare_words", Amount(), 0, 0.0),
    ]


def test_another_filter_of_books_may_stand_among_the_lines():
    counts = FilterCounts().add_book("own_language", 1, 2).add_book("works", 3, 9)
    works = FilterLine("works", "other editions", "", "books")
    lines = (*describe_filters(OFF), works)
    rows = tabulate_filters(counts, lines)
    assert [(row.line.name, row.came) for row in rows] == [("empty_turns", 0), ("works", 2)]
