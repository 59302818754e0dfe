"""Annotated books and the labels of MCN -> examples of the true turns of their dialogues.

A context is all the turns before in the same dialogue, as the tags of the gold divide it: a
conversation that is resumed after another one begins anew, as everywhere in this package.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from miner.annotation.annotations import read_split
from miner.errors import InputError
from miner.files import printable
from miner.lab.gold.coverage import Coverage
from miner.lab.gold.editions import BookReader, read_editions_at_hand
from miner.lab.gold.mcn import read_mcn
from miner.lab.lessons.example import Example
from miner.speech.dialogues import decode_dialogues, repair_book
from miner.speech.tags import TaggedBook


def read_annotated_examples(
    folder: Path, split: str, language: str, read: BookReader
) -> tuple[list[Example], Coverage]:
    """Returns the true turn pairs of annotated books, in clean text, and what they cover."""
    annotated = read_split(folder, split, language=language)
    editions, coverage = read_editions_at_hand(annotated, read)
    return [one for book in editions for one in _examples(book.located.tagged())], coverage


def annotated_books(folder: Path, split: str, language: str) -> tuple[str, ...]:
    """Returns the ids of the annotated books of a split, and opens none of them."""
    return tuple(book.card.book for book in read_split(folder, split, language=language))


def read_mcn_examples(folder: Path, split: str) -> list[Example]:
    """Returns the true turn pairs of the second version of the labels of MCN."""
    data = read_mcn(folder)
    if split == "all":
        return list(_examples(data.gold_v2))
    known = sorted({name for _, name in data.splits})
    if split not in known:
        raise InputError(
            f"{printable(folder)}: found no split {split!r}, expected one of {', '.join(known)}, "
            "all"
        )
    # A split may cut a conversation, whose second part then is one of its own.
    return list(_examples(repair_book(data.of_split(data.gold_v2, split))))


def _examples(tagged: TaggedBook) -> Iterator[Example]:
    for dialogue in decode_dialogues(tagged):
        texts = [turn.text for turn in dialogue.turns]
        for number in range(1, len(texts)):
            context = dialogue.turns[number - 1]
            yield Example(
                dialogue.book, tuple(texts[:number]), texts[number], context.spans[0].chapter
            )
