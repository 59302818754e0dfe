"""Words -> how often each word, or each pair of neighbours, is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

NGram = tuple[str, ...]
_Item = TypeVar("_Item", bound=Hashable)


def n_grams(words: Sequence[str], n: int) -> Iterator[NGram]:
    """Yields the `n` words from each word on, as many times as there are.

    >>> list(n_grams(["a", "lamp", "burns"], 2))
    [('a', 'lamp'), ('lamp', 'burns')]
    """
    return zip(*(words[start:] for start in range(n)), strict=False)


def count_n_grams(texts: Iterable[Sequence[str]], n: int) -> Counter[NGram]:
    """Returns how often each n-gram is in texts; none crosses from one text to the next."""
    return Counter(one for words in texts for one in n_grams(words, n))


def share_counts(counts: Mapping[_Item, int]) -> dict[_Item, float]:
    """Returns the share of each in all of them, 0..1."""
    total = sum(counts.values())
    return {one: n / total for one, n in counts.items()}
