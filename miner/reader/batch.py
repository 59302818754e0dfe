"""Chapters in units -> the tensors that the model reads at once.

All sizes are known before anything is moved to a device, so that nothing waits for a number from
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from miner.people.features import CandidateChapter
from miner.reader.config import ReadingConfig
from miner.reader.units import NO_ONE, Units, encode_units, hide_names
from miner.tagger.encoding import Encoding
from miner.tagger.model import join_encodings

NO_LINKS = np.zeros((0, 2), dtype=np.int32)


@dataclass(frozen=True, slots=True)
class ReadChapter:
    """A chapter as the model reads it."""

    units: Units  # its units
    encoding: Encoding  # the windows of its tokens
    structure: NDArray[np.floating]  # the structure features: (utterances, len(features.FEATURES))
    candidates: CandidateChapter  # the candidates of each utterance
    # mentions, as positions of units, with the people who they are known to be: (links, 2)
    links: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ChapterEncoder:
    """Makes windows of chapters for a model."""

    tokenizer: Tokenizer  # the tokenizer of its encoder; it neither cuts nor pads texts
    config: ReadingConfig
    n_tokens: int  # the tokens that the encoder knows
    mask: int  # the token that hides names

    def encode(
        self,
        units: Units,
        structure: NDArray[np.floating],
        candidates: CandidateChapter,
        links: NDArray[np.int32] = NO_LINKS,
        rng: np.random.Generator | None = None,
    ) -> ReadChapter:
        """Returns a chapter as the model reads it.

        In training `rng` draws the names that are hidden. Without it none is, or all are.
        """
        share = self.config.masked_names
        if share == 1 or (share and rng):
            units = hide_names(units, share, self.mask, rng or np.random.default_rng(0))
        encoding = encode_units(units, self.tokenizer, self.config)
        return ReadChapter(units, encoding, structure, candidates, links)


def group_by_tokens(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yields the numbers of chapters that are read at once, in order.

    They have at most so many tokens together, or are one chapter.
    """
    group: list[int] = []
    n = 0
    for number, size in enumerate(sizes):
        if group and n + size > most:
            yield group
            group, n = [], 0
        group.append(number)
        n += size
    if group:
        yield group


class Padded(NamedTuple):
    """Positions of units of several chapters, padded with 0: (chapters, most of a chapter)."""

    positions: Tensor
    is_there: Tensor  # False for padding


class Batch(NamedTuple):
    """Several chapters in tensors. Units are numbered through all chapters unless it is said."""

    encoding: Encoding  # the windows of all chapters
    lengths: list[int]  # the units of each chapter
    first: Tensor  # the first token of each unit: (units,)
    last: Tensor  # its last token: (units,)
    members: Tensor  # the tokens of the utterances, one utterance after the other
    bounds: Tensor  # where each utterance begins in `members`: (all utterances,)
    spoken: Tensor  # which units are utterances: (all utterances,)
    kinds: Tensor  # (units,)
    genders: Tensor  # (units,)
    structure: Tensor  # (all utterances, len(features.FEATURES))
    utterances: Padded  # of each chapter, counted in the chapter
    mentions: Padded  # the mentions of each chapter whose person is known, counted in the chapter
    people: Tensor  # the person of each of them: (chapters, mentions); `n_people` for padding
    n_people: int  # the most people of a chapter
    features: Tensor  # of candidates, of one utterance after the other: (candidates, features)
    # where the evidence of each candidate stands among those of all people for all utterances,
    # which are (chapters, utterances, n_people): (candidates,)
    evidence: Tensor
    # its utterance, counted through the padded utterances of all chapters: (candidates,)
    of_utterance: Tensor
    links: Padded  # the linked mentions of each chapter, counted in the chapter
    linked: Tensor  # the person of each: (chapters, links); 0 for padding


def join_chapters(chapters: Sequence[ReadChapter], device: torch.device) -> Batch:
    """Returns chapters in tensors on a device. Each has at least one utterance."""

    def on_device(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True)

    def padded(rows: Sequence[NDArray[np.integer]], fill: int = 0) -> NDArray[np.int64]:
        table = np.full((len(rows), max(1, *map(len, rows))), fill, dtype=np.int64)
        for row, values in zip(table, rows, strict=True):
            row[: len(values)] = values
        return table

    def positions(rows: Sequence[NDArray[np.integer]]) -> Padded:
        sizes = np.array([len(row) for row in rows])
        table = padded(rows)
        is_there = np.arange(table.shape[1]) < sizes[:, None]
        return Padded(on_device(table), on_device(is_there))

    units = [chapter.units for chapter in chapters]
    n_tokens = np.cumsum([0, *(len(one.tokens) for one in units)])
    n_units = np.cumsum([0, *(len(one.kinds) for one in units)])
    ranges = np.concatenate(
        [one.ranges.astype(np.int64) + n for one, n in zip(units, n_tokens[:-1], strict=True)]
    )
    kinds = np.concatenate([one.kinds for one in units]).astype(np.int64)
    utterances = [one.utterances for one in units]
    spoken = np.concatenate([rows + n for rows, n in zip(utterances, n_units[:-1], strict=True)])
    members, bounds = _members(ranges[spoken])
    mentions = [np.flatnonzero(one.people != NO_ONE) for one in units]
    people = [one.people[rows] for one, rows in zip(units, mentions, strict=True)]
    candidates = [_candidates_of(chapter.candidates) for chapter in chapters]
    linked = [chapter.links[:, 1] for chapter in chapters]
    n_people = 1 + max(
        max(int(rows.max(initial=0)) for rows in column)
        for column in (people, [numbers for _, numbers in candidates], linked)
    )
    most = max(map(len, utterances))
    rows = np.concatenate([row + n * most for n, (row, _) in enumerate(candidates)])
    numbers = np.concatenate([numbers for _, numbers in candidates])
    arrays = [item for chapter in chapters for item in chapter.candidates.features]
    return Batch(
        join_encodings([chapter.encoding for chapter in chapters]),
        np.diff(n_units).tolist(),
        on_device(ranges[:, 0]),
        on_device(ranges[:, 1] - 1),
        on_device(members),
        on_device(bounds),
        on_device(spoken),
        on_device(kinds),
        on_device(np.concatenate([one.genders for one in units]).astype(np.int64)),
        on_device(np.concatenate([one.structure for one in chapters]).astype(np.float32)),
        positions(utterances),
        positions(mentions),
        on_device(padded(people, n_people)),
        n_people,
        on_device(np.concatenate(arrays)),
        on_device(rows * n_people + numbers),
        on_device(rows),
        positions([chapter.links[:, 0] for chapter in chapters]),
        on_device(padded(linked)),
    )


def _members(ranges: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the tokens of ranges, one range after the other, and where each range begins."""
    sizes = ranges[:, 1] - ranges[:, 0]
    bounds = np.cumsum(sizes) - sizes
    return np.repeat(ranges[:, 0] - bounds, sizes) + np.arange(sizes.sum()), bounds


def _candidates_of(chapter: CandidateChapter) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the utterance and the number of each candidate of a chapter."""
    sizes = [len(numbers) for numbers in chapter.candidates]
    rows = np.repeat(np.arange(len(sizes)), sizes)
    return rows, np.concatenate([np.array(numbers) for numbers in chapter.candidates])
