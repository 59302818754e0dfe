"""Which tag is predicted for which gold tag, counted by hand."""

from helpers import book

from miner.annotation.matching import match_tags
from miner.lab.measure.scores import count_confusion
from miner.speech.tags import TAGS, TaggedBook


def test_confusion_counts_utterances_that_both_sides_have():
    gold, predicted = book("SRrR|S"), book("SSrR|S")
    counts = dict(zip(TAGS, count_confusion(match_tags([gold], [predicted])).counts, strict=True))
    assert {str(tag): dict(zip(map(str, TAGS), row, strict=True)) for tag, row in counts.items()}[
        "B-OTHER"
    ] == {"B-START": 1, "I-START": 0, "B-OTHER": 1, "I-OTHER": 0}
    assert sum(map(sum, counts.values())) == 5
    fewer = TaggedBook("7", predicted.spans[1:])
    found = count_confusion(match_tags([gold, book("S", "8")], [fewer, book("S", "9")]))
    assert sum(map(sum, found.counts)) == 4  # neither a missed span nor a book without prediction
    assert found.to_json()["B-START"] == {"B-START": 1, "I-START": 0, "B-OTHER": 0, "I-OTHER": 0}
