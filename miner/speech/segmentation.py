"""Paragraphs -> where speech begins and ends in them, by a model that is learned.

A dash may open speech, open and close "he said", or stand for a pause; "he said" may also stand
between commas. No rule tells these apart. So a paragraph is divided into segments, and a
linear-chain model says which of them are speech. A segment may be narration, go on with the speech
before it, or begin another speech. `models.cut_training` fits the weights.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import printable
from miner.speech.clauses import Ints, Segments, edge_of, find_segments, read_glue
from miner.speech.dashes import DASH, HAS_DASH, MAY_OPEN, Quoted, is_dashed
from miner.speech.segmentation_columns import Bools, ColumnReader, Hashes
from miner.speech.segmentation_features import N_FACTS, Facts, first_facts, second_facts
from miner.speech.weight_file import read_weights

Floats = NDArray[np.floating]

WEIGHTS = Path(__file__).parent / "weights" / "cuts.safetensors"
# The arcs from a segment to the next: narration goes on, speech begins, speech ends, speech goes
# on, and one speech ends where another begins.
TOLD, BEGINS, ENDS, SAID, CHANGES = range(5)
N_ARCS = 5
TO_SPEECH = np.array([0, 1, 0, 1, 1], np.float32)  # whether speech stands after each arc
_NEVER = -1e9
_SEGMENTS_AT_ONCE = 256
_MOST_NARRATION = 120_000  # characters of narration from which the use of words is read

_OPENERS = "\u00a1\u00bf\u00ab\u201e\u201c([\"'_\u2026 \n"
# The part of a glue that belongs to the speech before it: all up to a dash or an opening mark.
_END_OF_SPEECH = re.compile(
    rf"(?:\s*(?!{DASH}|\s|[\u00ab\u201e\u201c(\[\u00a1\u00bf]|-\s).)*", re.S
)
_LAST_DASH = re.compile(rf"(?:{DASH}|(?<!\S)-)$")
# A dash right before a word opens speech if a stop stands before it, even after "—said he".
_DASH_AFTER_STOP = re.compile(rf"[.:?!\u2026]\s*(?:{DASH})(?!\s)")


@dataclass(frozen=True, slots=True)
class Page:
    """The paragraphs of a book in which speech is looked for.

    Attributes:
        texts: the paragraphs.
        segments: their segments, and those of other paragraphs after them.
        reader: the columns of their segments.
        rows: the segments that may be speech; all others are narration.
        begins: whether there is narration before each of these.
        is_said: whether each of these must be speech.
    """

    texts: Sequence[str]
    segments: Segments
    reader: ColumnReader
    rows: Ints
    begins: Bools
    is_said: Bools

    @property
    def blocks(self) -> Ints:
        """The paragraph of each segment."""
        return self.segments.blocks[self.segments.first[: len(self.reader.starts)]]


def read_page(
    texts: Sequence[str],
    others: Sequence[str],
    quoted: Mapping[int, Sequence[Quoted]] | None = None,
    *,
    marks_open: bool = True,
) -> Page | None:
    """Returns what can be read of paragraphs; None if there is no word in them."""
    size = sum(map(len, others))
    others = others[:: max(1, round(size / _MOST_NARRATION))]
    every = [*texts, *others]
    segments = find_segments(every)
    blocks = segments.blocks[segments.first]
    n_segments = int(np.searchsorted(blocks, len(texts)))
    if not n_segments:
        return None
    dashed = np.array([is_dashed(text) for text in every], np.bool_)
    reader = ColumnReader(segments, n_segments, dashed)
    allowed = _allowed(segments, reader.starts, quoted or {}, MAY_OPEN if marks_open else HAS_DASH)
    rows = np.flatnonzero(allowed).astype(np.int32)
    begins = reader.starts[rows] | (np.diff(rows, prepend=-1) > 1)
    return Page(texts, segments, reader, rows, begins, allowed[rows] == 2)


def _allowed(
    segments: Segments,
    starts: Bools,
    quoted: Mapping[int, Sequence[Quoted]],
    opener: re.Pattern[str],
) -> Ints:
    """Returns where speech may stand: after what opens it, and as quotation marks show it.

    It is 0 for a segment that must be narration, 2 for one that must be speech, else 1.
    """
    n = len(starts)
    glues = [read_glue(edge_of(glue, True)).text for glue in segments.glues]
    may_open = np.array([opener.search(glue) is not None for glue in glues], np.int32)
    has_dash = [HAS_DASH.search(glue) is not None for glue in glues]
    at = np.flatnonzero(starts)
    opened = may_open[segments.before[segments.first[:n]]]
    total = np.cumsum(opened)
    found = (total - (total[at] - opened[at])[np.cumsum(starts) - 1] > 0).astype(np.int32)
    blocks = segments.blocks[segments.first[:n]]
    for block, ranges in quoted.items():
        left = list(reversed(ranges))
        last, after_dash = None, False
        for place in range(*np.searchsorted(blocks, (block, block + 1))):
            word = segments.first[place]
            while left and left[-1].end <= segments.starts[word]:
                left.pop()
            inside = left[-1] if left and left[-1].start <= segments.starts[word] else None
            after_dash = inside is None and (after_dash or has_dash[segments.before[word]])
            if inside is None:
                found[place] = after_dash
            else:
                found[place] = 2 if inside.is_whole or inside is not last else 1
            last = inside
    return found


class Table(NamedTuple):
    """The weights of facts. Most facts have none.

    Attributes:
        numbers: the row of each fact in `weights`, 0 if it has no weight: (N_FACTS,).
        weights: (facts, 1) for states, (facts, N_ARCS) for arcs. The first row is 0.
    """

    numbers: NDArray[np.unsignedinteger]
    weights: Floats

    def sum(self, facts: Hashes) -> Floats:
        """Returns the sums of the weights of the facts of each segment."""
        total = np.zeros((len(facts), self.weights.shape[1]), np.float32)
        for start in range(0, len(facts), _SEGMENTS_AT_ONCE):
            part = slice(start, start + _SEGMENTS_AT_ONCE)
            rows = self.numbers.take(facts[part], mode="clip")
            total[part] = self.weights.take(rows, axis=0, mode="clip").sum(axis=1)
        return total


class Weights(NamedTuple):
    """The weights of one reading.

    Attributes:
        states: for speech.
        arcs: for each arc.
    """

    states: Table
    arcs: Table

    def best_arcs(self, facts: Facts, page: Page) -> Ints:
        """Returns the best arc to each segment of a page."""
        said, arcs = self.states.sum(facts.states)[:, 0], self.arcs.sum(facts.arcs)
        starts = page.reader.starts
        found = np.full(len(starts), TOLD, np.int32)
        found[page.rows] = decode(said, arcs, page.begins, page.is_said)
        may_be_said = np.zeros(len(starts), np.bool_)
        may_be_said[page.rows] = True
        after_speech = np.concatenate([[False], TO_SPEECH[found[:-1]] > 0]) & ~starts
        found[~may_be_said & after_speech] = ENDS
        return found


def decode(said: Floats, arcs: Floats, begins: Bools, is_said: Bools) -> Ints:
    """Returns the best arc to each segment.

    Args:
        said: the score of each segment for speech.
        arcs: the score of each arc to it: (segments, N_ARCS).
        begins: whether there is narration before it, whatever is decoded there.
        is_said: whether it must be speech.
    """
    arcs = arcs + said[:, None] * TO_SPEECH
    arcs[is_said] += (1 - TO_SPEECH) * _NEVER
    back: list[tuple[int, int]] = []  # the best arcs to narration and to speech
    ends_in_speech: list[bool] = []  # whether all before each beginning does
    told = speech = 0.0
    for is_start, (tells, opens, ends, goes_on, changes) in zip(
        begins.tolist(), arcs.tolist(), strict=True
    ):
        if is_start:
            ends_in_speech.append(speech > told)
            told, speech = tells, opens
            back.append((TOLD, BEGINS))
            continue
        best, to_said = told + opens, BEGINS
        if speech + goes_on > best:
            best, to_said = speech + goes_on, SAID
        if speech + changes > best:
            best, to_said = speech + changes, CHANGES
        if told + tells >= speech + ends:
            told, to_told = told + tells, TOLD
        else:
            told, to_told = speech + ends, ENDS
        speech = best
        back.append((to_told, to_said))
    found = np.zeros(len(back), np.int32)
    is_speech = speech > told
    for place in range(len(back) - 1, -1, -1):
        arc = back[place][is_speech]
        found[place] = arc
        is_speech = ends_in_speech.pop() if begins[place] else arc in (ENDS, SAID, CHANGES)
    return found


@dataclass(frozen=True, slots=True)
class CutModel:
    """Says which segments are speech.

    Attributes:
        first: the weights of the reading without words.
        second: the weights of the reading with words.
        languages: the codes of the languages that have facts of their own.
    """

    first: Weights
    second: Weights
    languages: frozenset[str]

    def find_speech(self, page: Page, language: str) -> list[list[tuple[int, int]]]:
        """Returns the start and end of each speech in the paragraphs of a page."""
        language = language if language in self.languages else ""
        facts = self.read_twice(page, language)
        return ranges_of(page, self.second.best_arcs(facts, page))

    def read_twice(self, page: Page, language: str) -> Facts:
        """Returns the facts of the rows of a page in a second reading, after a first one."""
        arcs = self.first.best_arcs(first_facts(page.reader, page.rows), page)
        page.reader.add_reading(TO_SPEECH[arcs] == 0)
        return second_facts(page.reader, page.rows, language)


def ranges_of(page: Page, arcs: Ints) -> list[list[tuple[int, int]]]:
    """Returns the start and end of each speech in each paragraph of a page.

    A dash and an opening mark before speech belong to it, as do the stop and the closing mark after
    it. A dash that closes "—said he—" is narration.
    """
    segments, starts = page.segments, page.reader.starts
    blocks = page.blocks
    found: list[list[tuple[int, int]]] = [[] for _ in page.texts]
    has_dash = False  # whether a dash opened the narration
    for place in np.flatnonzero((arcs != SAID) & ((arcs != TOLD) | starts)).tolist():
        word = segments.first[place]
        block = int(blocks[place])
        text, of_block = page.texts[block], found[block]
        start = 0 if starts[place] else int(segments.ends[word - 1])
        glue = text[start : segments.starts[word]]
        arc = arcs[place]
        if starts[place]:
            has_dash = False
        if arc == ENDS:
            of_block.append((of_block.pop()[0], start + _end_of_speech(glue)))
            has_dash = HAS_DASH.search(glue) is not None
        elif arc in (BEGINS, CHANGES):
            closes = has_dash and arc == BEGINS and not _DASH_AFTER_STOP.search(glue)
            begun = 0 if starts[place] else start + _start_of_speech(glue, closes)
            if arc == CHANGES:
                of_block.append((of_block.pop()[0], begun))
            of_block.append((begun, len(text)))
    return found


def _end_of_speech(glue: str) -> int:
    """Returns how much of a glue belongs to the speech before it."""
    match = _END_OF_SPEECH.match(glue)
    return match.end() if match else 0


def _start_of_speech(glue: str, dash_closes: bool) -> int:
    """Returns where in a glue the speech after it begins."""
    start = len(glue.rstrip(_OPENERS))
    if not dash_closes and (dash := _LAST_DASH.search(glue, max(0, start - 2), start)):
        return dash.start()
    return len(glue) - len(glue[start:].lstrip())


@cache
def cut_model() -> CutModel | None:
    """Returns the model that comes with the package; None where it has none."""
    return load_cuts(WEIGHTS) if WEIGHTS.is_file() else None


def load_cuts(path: Path) -> CutModel:
    """Returns the model whose weights are in a file."""
    found = read_weights(path)
    try:
        first, second = (
            Weights(*(_table(found, f"{reading}.{part}") for part in Weights._fields))
            for reading in ("first", "second")
        )
        codes = bytes(found["languages"].astype(np.uint8)).decode().split()
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(f"{printable(path)}: found no weights of cuts ({error})") from error
    return CutModel(first, second, frozenset(codes))


def _table(found: Mapping[str, Floats], name: str) -> Table:
    """Returns weights of a file. It has the steps between the facts that have any, in order."""
    weights = found[f"{name}.weights"] * found[f"{name}.scale"]
    return table_of(np.cumsum(found[f"{name}.steps"].astype(np.int64)), weights)


def table_of(facts: NDArray[np.int64], weights: Floats) -> Table:
    """Returns the table of the weights of some facts."""
    numbers = np.zeros(N_FACTS, np.min_scalar_type(len(facts)))
    numbers[facts] = np.arange(1, len(facts) + 1)
    return Table(numbers, np.concatenate([np.zeros_like(weights[:1]), weights]))
