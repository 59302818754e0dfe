"""Blocks made to take long: time grows with the length of a block, whatever its marks are."""

import pytest
from helpers import cpu_seconds

from miner.books.book import Block, BlockKind, Book
from miner.languages.language import MARKS
from miner.speech.dialogues import decode_dialogues
from miner.speech.spans import split_book
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, repair_tags
from miner.speech.typography import typography_from_names

N = 20_000
MOST = 5  # seconds
# With a search to the end of the block from every mark, each of these takes minutes.
BLOCKS = {
    "openers never closed": "“" * N,
    "openers with words": "“Now " * N,
    "single openers": "‘" * N,
    "straight marks": '"' * N,
    "elisions": "'Tis so " * N,
    "curly elisions": "‘tis so " * N,
    "marks inside sentences": "the 'rigging " * N,
    "curly marks inside sentences": "the ‘rigging " * N,
    "clipped words": "‘Goin’ " * N,
    "guillemets": "«Oui " * N,
    "dots after speech": "“Now.”" + "." * N,
    "asides": "“Now " + "(with a sigh " * N + "”",
}
NAMES = [name for name in MARKS if name not in ("guillemets-inward", "low-high", "low-right")]


def work(texts: list[str]) -> float:
    """The seconds that a book of these paragraphs takes."""
    blocks = tuple(Block(n, 1, BlockKind.PARAGRAPH, text) for n, text in enumerate(texts))
    book = Book("7", "", "", "en", blocks, (), "")

    def split_and_decode():
        spans = split_book(book, typography_from_names(NAMES)).spans
        tags = repair_tags(Tag.I_OTHER if span.is_utterance else Tag.O for span in spans)
        tagged = tuple(map(TaggedSpan, spans, tags))
        for dialogue in decode_dialogues(TaggedBook("7", tagged)):
            assert all(isinstance(turn.text, str) for turn in dialogue.turns)
        assert "".join(span.text for span in spans) == "".join(texts)

    return cpu_seconds(split_and_decode, MOST)


@pytest.mark.slow
@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_takes_time_in_proportion_to_its_length(name):
    assert work([BLOCKS[name]]) < MOST


def test_letters_take_time_in_proportion_to_their_number():
    assert work(["“Dear Bo,—The geese are yours"] * 8_000) < MOST
