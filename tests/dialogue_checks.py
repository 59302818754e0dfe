"""Checks of spans that several tests make."""

from miner.books.book import BlockKind
from miner.dialogue.spans import STORY_KINDS


def check_spans(book, found):
    """The spans of each block of the story join to its text, and other blocks have none."""
    by_block = {}
    for span in found:
        by_block.setdefault(span.paragraph, []).append(span)
    story = [block for block in book.blocks if block.kind in STORY_KINDS and block.text]
    assert list(by_block) == [block.index for block in story]
    for block in story:
        parts = by_block[block.index]
        assert "".join(span.text for span in parts) == block.text
        assert [span.index for span in parts] == list(range(len(parts)))
        assert all(block.text[span.start : span.end] == span.text for span in parts)
        assert all(span.text and span.chapter == block.chapter for span in parts)
        assert not any(span.is_utterance and span.quoted for span in parts)
        assert not any(span.continues for span in parts[1:])
        if block.kind is BlockKind.HEADING:
            assert [span.is_utterance for span in parts] == [False]
    assert all(span.is_utterance for span in found if span.continues)
