"""Gold spans and predicted ones -> which utterance of the one is which of the other.

They match by place where both were read from the same paragraphs, and else by their letters, so
that two editions of a book can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from miner.annotation.alignment import words
from miner.dialogue.spans import Span
from miner.dialogue.tags import TaggedBook, TaggedSpan


def match_spans(gold: TaggedBook, predicted: TaggedBook) -> list[tuple[int, int]]:
    """Which utterance of gold is which of predicted: index pairs into the two `spans`, ascending.

    Where both were read from the same paragraphs, equal positions match. Otherwise (two editions
    of a book, or two ways to parse it) the fingerprints of the utterances are aligned in order
    (difflib, longest run first), and a match between two chapters counts only if it is one of a
    quarter of the utterances of either: a stray "Yes." does not tie a chapter to another. Spans
    with different fingerprints never match.
    """
    if same_paragraphs(gold, predicted):
        at = {_position(item.span): i for i, item in enumerate(predicted.spans)}
        places = [(i, at.get(_position(item.span))) for i, item in enumerate(gold.spans)]
        return [
            (i, j)
            for i, j in places
            if j is not None
            and gold.spans[i].span.is_utterance
            and predicted.spans[j].span.is_utterance
        ]
    return _aligned(gold, predicted)


def matched_tags(
    gold: Iterable[TaggedBook], predicted: Iterable[TaggedBook]
) -> Iterator[tuple[TaggedSpan, TaggedSpan]]:
    """The utterances that both sides have, gold first, each with its tag as it was given.

    A gold book without a prediction has none.
    """
    predictions = {book.book: book for book in predicted}
    for book in gold:
        if (other := predictions.get(book.book)) is not None:
            for i, j in match_spans(book, other):
                yield book.spans[i], other.spans[j]


def fingerprint(text: str) -> str:
    """The letters and digits of a text, folded as by `align.words`; the text where it has none.

    >>> fingerprint("“Don't _you_?”")
    'dontyou'
    """
    return "".join(words(text)) or text.strip()


def same_paragraphs(gold: TaggedBook, predicted: TaggedBook) -> bool:
    """Whether both have paragraphs of the same number, all of them with the same letters."""
    texts: list[dict[int, list[str]]] = []
    for book in (gold, predicted):
        found: dict[int, list[str]] = {}
        for item in book.spans:
            found.setdefault(item.span.paragraph, []).append(item.span.text)
        texts.append(found)
    common = texts[0].keys() & texts[1].keys()
    pairs = (("".join(texts[0][n]), "".join(texts[1][n])) for n in common)
    return bool(common) and all(a == b or fingerprint(a) == fingerprint(b) for a, b in pairs)


def _aligned(gold: TaggedBook, predicted: TaggedBook) -> list[tuple[int, int]]:
    """The matches of two books by fingerprint, in order; see `match_spans`."""
    golds, predictions = (
        [i for i, item in enumerate(book.spans) if item.span.is_utterance]
        for book in (gold, predicted)
    )
    matcher = SequenceMatcher(
        None,
        [fingerprint(gold.spans[i].span.text) for i in golds],
        [fingerprint(predicted.spans[i].span.text) for i in predictions],
        autojunk=False,
    )
    pairs = [
        (golds[block.a + n], predictions[block.b + n])
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
    ]
    links = [(gold.spans[i].span.chapter, predicted.spans[j].span.chapter) for i, j in pairs]
    n_links = Counter(links)
    n_golds = Counter(gold.spans[i].span.chapter for i in golds)
    n_predictions = Counter(predicted.spans[j].span.chapter for j in predictions)
    return [
        pair
        for pair, link in zip(pairs, links, strict=True)
        if 4 * n_links[link] >= min(n_golds[link[0]], n_predictions[link[1]])
    ]


def _position(span: Span) -> tuple[int, int, int]:
    return span.paragraph, span.start, span.end
