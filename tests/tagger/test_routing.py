"""Streams of work side by side: the order of results, and how many items wait."""

import pytest

from miner.tagger.routing import route_in_order


def double(is_odd, items):
    """Even numbers as they are; odd ones in batches of two, as a model reads them."""
    if not is_odd:
        yield from items
        return
    batch = []
    for item in items:
        batch.append(10 * item)
        if len(batch) == 2:
            yield from batch
            batch.clear()
    yield from batch


@pytest.mark.parametrize("most_waiting", [1, 2, 5, 64])
@pytest.mark.parametrize(
    "items", [[], [2], [1], [1, 2, 4, 3, 5, 6], [2, 4, 1], [1, 2, 4, 6, 8], [1, 3, 5, 7, 2]]
)
def test_results_have_the_order_of_the_items(items, most_waiting):
    found = route_in_order(items, lambda item: item % 2 == 1, double, most_waiting)
    assert list(found) == [10 * item if item % 2 else item for item in items]


def test_at_most_64_items_wait_for_another():
    taken = []
    items = (taken.append(item) or item for item in [1, *range(2, 1000, 2)])
    found = route_in_order(items, lambda item: item % 2 == 1, double)
    assert next(found) == 10
    assert len(taken) == 64


def test_an_item_that_waits_for_no_other_comes_out_at_once():
    taken = []
    items = (taken.append(item) or item for item in [2, 4, 1, 3])
    found = route_in_order(items, lambda item: item % 2 == 1, double)
    assert next(found) == 2 and taken == [2]
