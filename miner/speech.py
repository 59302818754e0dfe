"""Whether a quoted stretch is speech, or a title, a word under discussion, a phrase lifted out."""

from __future__ import annotations

from miner.book import Block


def is_speech(block: Block, start: int, end: int, closed: bool, continues: bool) -> bool:
    """Whether the quoted stretch of the block is spoken."""
    return True
