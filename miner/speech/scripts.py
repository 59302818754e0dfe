"""The blocks of a story -> the speeches of scenes that a novel sets as a play.

The name of its speaker heads each speech, in capitals or set apart by small capitals or italics,
or plain with a colon. There are no quotation marks, and what the actors do stands in brackets:

    KATE. Is the horse at the door?
    SIMON (aside). She means to fly! (Aloud.) It is, madam.

Names that return by turns tell such a scene from a glossary, a list or the entries of a diary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from miner.books.book import SPOKEN_KINDS, Block, BlockKind
from miner.books.lines import Head, read_head
from miner.speech.speech import tells_who_spoke

_KINDS = frozenset({BlockKind.HEADING, *SPOKEN_KINDS})
_FEWEST_SPEECHES = 3
# The least share of speeches that ask or exclaim where names are not in capitals: they may be the
# words of a list or the hours of a diary.
_SHARE_OF_CALLS = 0.25
_LONGEST_GAP = 4  # blocks from a head to the next one; between them are directions and songs
_DIRECTION = re.compile(r"(?:\s*[(\[][^()\[\]]*(?:[)\]][.:]?|$))+\s*")
_CALL = re.compile(r"[?!]")
_OPENERS, _CLOSERS = "\"'“‘«„»", "\"'”’»“«"


class Speech(NamedTuple):
    """The place of a speech in a block."""

    start: int  # behind the name and what is said to the actor there
    end: int
    directions: tuple[tuple[int, int], ...]  # the places of what is said to the actor within it


def find_heads(blocks: Iterable[Block]) -> dict[int, Head]:
    """Returns the names that head the speeches of all scenes, by the index of their block."""
    story = [block for block in blocks if block.kind in _KINDS]
    return {
        story[position].index: head
        for scene in _find_scenes(story)
        for position, head in scene.items()
    }


def find_speeches(blocks: Iterable[Block]) -> dict[int, Speech | None]:
    """Returns the speeches of all scenes by the index of their block.

    It is None for a block with a name and no speech. Speeches in quotation marks are left out.
    """
    story = [block for block in blocks if block.kind in _KINDS]
    found: dict[int, Speech | None] = {}
    for scene in _find_scenes(story):
        for position, head in scene.items():
            block = story[position]
            if head.end == len(block.text):
                found[block.index] = None
                block, head = story[position + 1], head._replace(end=0)
            if not _is_in_marks(block.text[head.end :]):
                found[block.index] = _find_speech(block.text, head.end)
    return found


def _find_scenes(blocks: Sequence[Block]) -> Iterator[dict[int, Head]]:
    """Yields the heads of each scene by the position of their block."""
    run: dict[int, Head] = {}
    last = 0
    for position, block in enumerate(blocks):
        is_heading = block.kind is BlockKind.HEADING
        if run and (is_heading or position - last > _LONGEST_GAP):
            yield from _scene(run, blocks)
            run = {}
        head = None if is_heading else read_head(block.text, block.lead)
        if head and not tells_who_spoke(head.name):
            run[position], last = head, position
    yield from _scene(run, blocks)


def _scene(run: Mapping[int, Head], blocks: Sequence[Block]) -> Iterator[dict[int, Head]]:
    """Yields the heads of a run that are names, if it is a scene."""
    if len(run) < _FEWEST_SPEECHES:
        return
    counts = Counter(head.name.casefold() for head in run.values())
    heads: dict[int, Head] = {}
    n_calls = 0
    for position, head in run.items():
        speech = _block_of_speech(position, head, run, blocks)
        is_sure = counts[head.name.casefold()] > 1 or (
            head.is_set_apart and speech is blocks[position]
        )
        if speech and is_sure:
            heads[position] = head
            n_calls += bool(_CALL.search(speech.text))
    names = [head.name.casefold() for head in heads.values()]
    n_changes = sum(name != following for name, following in pairwise(names))
    returns = len(names) > len(set(names)) and 2 * n_changes >= len(names)
    is_shouted = all(len(head.name) > 1 and head.name.isupper() for head in heads.values())
    calls = n_calls >= _SHARE_OF_CALLS * len(heads)
    if len(names) >= _FEWEST_SPEECHES and returns and (is_shouted or calls):
        yield heads


def _block_of_speech(
    position: int, head: Head, run: Mapping[int, Head], blocks: Sequence[Block]
) -> Block | None:
    """Returns the block of what a name heads: the next one if the name stands alone, or None."""
    if head.end < len(blocks[position].text):
        return blocks[position]
    if not head.is_set_apart or position + 1 in run or position + 1 == len(blocks):
        return None
    return blocks[position + 1] if blocks[position + 1].kind in SPOKEN_KINDS else None


def _find_speech(text: str, start: int) -> Speech | None:
    """Returns the speech in a text from a place on; None where there are only directions."""
    directions = [match.span() for match in _DIRECTION.finditer(text, start)]
    end = len(text)
    if directions and directions[0][0] == start:
        start = directions.pop(0)[1]
    if directions and directions[-1][1] == end:
        end = directions.pop()[0]
    is_spoken = any(map(str.isalnum, text[start:end]))
    return Speech(start, end, tuple(directions)) if is_spoken else None


def _is_in_marks(text: str) -> bool:
    """Whether a speech is in quotation marks, apart from directions."""
    said = _DIRECTION.sub("", text).strip()
    return said[:1] in _OPENERS and said.rstrip(" .,;:—–-")[-1:] in _CLOSERS
