"""Paragraphs -> where speech begins and ends in them, by a model that is learned.

A dash may open speech, open and close "he said", or stand for a pause; "he said" may also stand
between commas. No rule tells these apart. So a paragraph is divided into clauses, and a chain of
weights says which of them are speech. A clause may be narration, go on with the speech before, or
begin another speech. `miner.lab.training.segmentation` fits the weights.

A feature is made of what stands in some columns, such as the glue before a clause and its first
word. Its number is a hash of these, so that no list of words is needed. A feature with words is
there twice, with the language of the book and without, so that a language without examples has
those of the others. A book is read twice: first without the words, which shows how words are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.files import printable
from miner.speech.clauses import (
    OF_BOOK,
    Bools,
    Clauses,
    ColumnReader,
    Columns,
    Hashes,
    Ints,
    edge_of,
    find_clauses,
    hash_of,
    read_glue,
)
from miner.speech.quotation_marks import DASH, HAS_DASH, MAY_OPEN, Quoted, is_dashed
from miner.speech.weight_file import read_weights

N_FEATURES = 2**20
NO_FEATURE = 0  # a feature without a weight
Templates = tuple[tuple[str, ...], ...]

# The columns that are words or parts of words.
_WORDS = frozenset(
    ("w1", "w2", "core", "tail", "suffix 2", "suffix 3", "suffix 4")
    + ("previous core", "previous tail", "next w1")
)


def _templates(text: str) -> Templates:
    """Returns templates, of which "|" divides one from the next, and "+" its columns."""
    parts = (template.strip() for template in text.split("|"))
    return tuple(() if part == "(all)" else tuple(re.split(r"\s*\+\s*", part)) for part in parts)


# What is told by the clause itself.
STATES = _templates(
    """
    (all) | w1 | w2 | core | tail | suffix 2 | suffix 3 | suffix 4 | case + suffix 3 |
    shape + length | length | glue | next glue | glue + next glue | tone | tone + length |
    asks + case | asks 2 + case | ending tone + ending tone 2 | word tone + word tone 2 |
    ending asks + case | depth + paragraph | depth + tone | depth + quotes + paragraph |
    depth + quotes + length + next glue | brackets | brackets + tone | first + paragraph |
    dashes + paragraph
    """
)
# What is told by the step from the clause before to this one.
ARCS = _templates(
    """
    (all) | glue | glue + case | glue + case + next glue | glue + next glue | w1 |
    mark + case + w1 | mark + case + suffix 3 | mark + case + suffix 2 | mark + case + suffix 4 |
    mark + case + tail | mark + case + w2 | mark + case + asks + asks 2 |
    mark + case + ending asks | mark + case + ending asks 2 |
    mark + case + ending asks + ending asks 2 | mark + case + asks + word tone |
    mark + case + asks + ending asks | mark + case + ending asks + name 2 |
    mark + case + ending tone | mark + case + word tone + word tone 2 |
    mark + case + ending tone + ending tone 2 | glue + case + asks | mark + case + asks + name 2 |
    mark + case + suffix 2 + name 2 | mark + case + shape | mark + case + tone |
    mark + case + length | mark + case + previous core |
    mark + case + previous asks + previous glue | mark + case + previous glue |
    mark + case + previous length | mark + case + next w1 | mark + case + next case + next glue |
    mark + case + next asks | glue + case + habit | mark + case + dash before + habit |
    mark + case + dash after + habit | mark + case + dash before + dash after |
    mark + case + dashes | mark + case + paragraph + first | mark + case + paragraph + dash before |
    mark + case + depth + paragraph | glue + depth | mark + case + depth + quotes | glue + quotes |
    glue + brackets | mark + case + brackets | glue + paragraph + habit | mark + asks |
    mark + ending asks | mark + core | mark + tail | mark + case + previous asks + previous length |
    mark + case + previous mark + previous case + previous asks |
    mark + case + previous mark + previous case + previous length |
    mark + case + previous mark + previous tail | mark + case + word tone
    """
)
# What the first reading adds.
READ_STATES = _templates(
    """
    tells + case | tells + tone read | tone read | tone read + length | ending tells + case
    """
)
READ_ARCS = _templates(
    """
    mark + tells | mark + case + tells | mark + case + tells + name 2 |
    mark + case + tells + next glue | mark + case + tells + ending tells |
    mark + case + tells + tone read | mark + case + tells + length | glue + case + tells |
    mark + case + ending tells | mark + case + ending tells + name 2 |
    mark + case + ending tells + ending asks | mark + case + previous tells + previous length |
    mark + case + previous tells + tone read |
    mark + case + previous tells + previous mark + previous case | mark + case + tone read |
    mark + case + tone read + length | mark + case + previous tone read + tone read |
    mark + case + next tells + next glue
    """
)


class Features(NamedTuple):
    """The numbers of the features of each clause: (clauses, features)."""

    states: Hashes  # of the clause itself
    arcs: Hashes  # of the step to it


class _Kinds(NamedTuple):
    """Facts by what they are made of: neither use nor words, how words are used, and words."""

    plain: Templates
    used: Templates
    worded: Templates


def _kinds(templates: Templates) -> _Kinds:
    used = tuple(columns for columns in templates if not OF_BOOK.isdisjoint(columns))
    worded = tuple(columns for columns in templates if not _WORDS.isdisjoint(columns))
    return _Kinds(
        tuple(item for item in templates if item not in used and item not in worded), used, worded
    )


_FIRST = _kinds(STATES), _kinds(ARCS)
_SECOND = _kinds(STATES + READ_STATES), _kinds(ARCS + READ_ARCS)


def first_features(reader: ColumnReader, rows: Ints) -> Features:
    """Returns the features of a first reading of some clauses, which knows no words."""
    columns = {name: column[rows] for name, column in reader.columns.items()}
    return Features(
        *(
            np.concatenate([_mixed(columns, kinds.plain), _used(reader, columns, kinds)], axis=1)
            for kinds in _FIRST
        )
    )


def second_features(reader: ColumnReader, rows: Ints, language: str) -> Features:
    """Returns all features: those of use after the plain ones, then those with words."""
    found = []
    columns = {name: column[rows] for name, column in reader.columns.items()}
    for kinds in _SECOND:
        worded = _mixed(columns, kinds.worded)
        if not found:
            own = _mixed_own_words(reader.own_words()[rows])
            worded = np.concatenate([worded, own], axis=1)
        parts = [_mixed(columns, kinds.plain), _used(reader, columns, kinds), worded]
        if language:
            parts.append(_mix(worded, np.uint32(hash_of(language))) % np.uint32(N_FEATURES))
        found.append(np.concatenate(parts, axis=1))
    return Features(*found)


def _used(reader: ColumnReader, columns: Columns, kinds: _Kinds) -> Hashes:
    """Returns the features of how words are used; `NO_FEATURE` in a text too short to show it."""
    if reader.is_short:
        return np.full((len(columns["w1"]), len(kinds.used)), NO_FEATURE, np.uint32)
    return _mixed(columns, kinds.used)


def places_of_use() -> tuple[slice, slice]:
    """Returns where the features of use are in a second reading, of states and of arcs."""
    states, arcs = (
        slice(len(kinds.plain), len(kinds.plain) + len(kinds.used)) for kinds in _SECOND
    )
    return states, arcs


def _mix(hashes: Hashes, column: Hashes | np.uint32) -> Hashes:
    mixed = (hashes ^ column) * np.uint32(0x9E3779B1)
    return mixed ^ (mixed >> np.uint32(15))


def _mixed(columns: Columns, templates: Iterable[Sequence[str]]) -> Hashes:
    found = []
    for names in templates:
        mixed = np.full(len(columns["w1"]), hash_of(" and ".join(names)), np.uint32)
        for name in names:
            mixed = _mix(mixed, columns[name])
        found.append(mixed)
    return np.stack(found, axis=1) % np.uint32(N_FEATURES)


def _mixed_own_words(words: Hashes) -> Hashes:
    return _mix(np.full_like(words, hash_of("own word")), words) % np.uint32(N_FEATURES)


Floats = NDArray[np.floating]

WEIGHTS = Path(__file__).parent / "weights" / "cuts.safetensors"
# The arcs from a clause to the next: narration goes on, speech begins, speech ends, speech goes
# on, and one speech ends where another begins.
TOLD, BEGINS, ENDS, SAID, CHANGES = range(5)
N_ARCS = 5
TO_SPEECH = np.array([0, 1, 0, 1, 1], np.float32)  # whether speech stands after each arc
_NEVER = -1e9
_CLAUSES_AT_ONCE = 256
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
    """The paragraphs of a book in which speech is looked for."""

    texts: Sequence[str]  # the paragraphs
    clauses: Clauses  # their clauses, and those of other paragraphs after them
    reader: ColumnReader  # the columns of their clauses
    rows: Ints  # the clauses that may be speech; all others are narration
    begins: Bools  # whether there is narration before each of these
    is_said: Bools  # whether each of these must be speech

    @property
    def blocks(self) -> Ints:
        """The paragraph of each clause."""
        return self.clauses.blocks[self.clauses.first[: len(self.reader.starts)]]


def read_page(
    texts: Sequence[str],
    others: Sequence[str],
    quoted: Mapping[int, Sequence[Quoted]] | None = None,
    language: str = "",
    *,
    marks_open: bool = True,
) -> Page | None:
    """Returns what can be read of paragraphs; None if there is no word in them."""
    size = sum(map(len, others))
    others = others[:: max(1, round(size / _MOST_NARRATION))]
    every = [*texts, *others]
    clauses = find_clauses(every)
    blocks = clauses.blocks[clauses.first]
    n_clauses = int(np.searchsorted(blocks, len(texts)))
    if not n_clauses:
        return None
    dashed = np.array([is_dashed(text) for text in every], np.bool_)
    reader = ColumnReader(clauses, n_clauses, dashed, language)
    allowed = _allowed(clauses, reader.starts, quoted or {}, MAY_OPEN if marks_open else HAS_DASH)
    rows = np.flatnonzero(allowed).astype(np.int32)
    begins = reader.starts[rows] | (np.diff(rows, prepend=-1) > 1)
    return Page(texts, clauses, reader, rows, begins, allowed[rows] == 2)


def _allowed(
    clauses: Clauses, starts: Bools, quoted: Mapping[int, Sequence[Quoted]], opener: re.Pattern[str]
) -> Ints:
    """Returns where speech may stand: after what opens it, and as quotation marks show it.

    It is 0 for a clause that must be narration, 2 for one that must be speech, else 1.
    """
    n = len(starts)
    glues = [read_glue(edge_of(glue, True)).text for glue in clauses.glues]
    may_open = np.array([opener.search(glue) is not None for glue in glues], np.int32)
    has_dash = [HAS_DASH.search(glue) is not None for glue in glues]
    at = np.flatnonzero(starts)
    opened = may_open[clauses.before[clauses.first[:n]]]
    total = np.cumsum(opened)
    found = (total - (total[at] - opened[at])[np.cumsum(starts) - 1] > 0).astype(np.int32)
    blocks = clauses.blocks[clauses.first[:n]]
    for block, ranges in quoted.items():
        left = list(reversed(ranges))
        last, after_dash = None, False
        for place in range(*np.searchsorted(blocks, (block, block + 1))):
            word = clauses.first[place]
            while left and left[-1].end <= clauses.starts[word]:
                left.pop()
            inside = left[-1] if left and left[-1].start <= clauses.starts[word] else None
            after_dash = inside is None and (after_dash or has_dash[clauses.before[word]])
            if inside is None:
                found[place] = after_dash
            else:
                found[place] = 2 if inside.is_whole or inside is not last else 1
            last = inside
    return found


class Table(NamedTuple):
    """The weights of features. Most features have none."""

    # the row of each feature in `weights`, 0 if it has no weight: (N_FEATURES,)
    numbers: NDArray[np.unsignedinteger]
    weights: Floats  # (features, 1) for states, (features, N_ARCS) for arcs. The first row is 0.

    def sum(self, features: Hashes) -> Floats:
        """Returns the sums of the weights of the features of each clause."""
        total = np.zeros((len(features), self.weights.shape[1]), np.float32)
        for start in range(0, len(features), _CLAUSES_AT_ONCE):
            part = slice(start, start + _CLAUSES_AT_ONCE)
            rows = self.numbers.take(features[part], mode="clip")
            total[part] = self.weights.take(rows, axis=0, mode="clip").sum(axis=1)
        return total


class Weights(NamedTuple):
    """The weights of one reading."""

    states: Table  # for speech
    arcs: Table  # for each arc

    def best_arcs(self, features: Features, page: Page) -> Ints:
        """Returns the best arc to each clause of a page."""
        said, arcs = self.states.sum(features.states)[:, 0], self.arcs.sum(features.arcs)
        starts = page.reader.starts
        found = np.full(len(starts), TOLD, np.int32)
        found[page.rows] = decode(said, arcs, page.begins, page.is_said)
        may_be_said = np.zeros(len(starts), np.bool_)
        may_be_said[page.rows] = True
        after_speech = np.concatenate([[False], TO_SPEECH[found[:-1]] > 0]) & ~starts
        found[~may_be_said & after_speech] = ENDS
        return found


def decode(said: Floats, arcs: Floats, begins: Bools, is_said: Bools) -> Ints:
    """Returns the best arc to each clause.

    `said` has the score of each clause for speech, and `arcs` of each arc to it: (clauses, N_ARCS).
    Where `begins`, narration stands before a clause, whatever is decoded there.
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
class SegmentationModel:
    """Says which clauses are speech."""

    first: Weights  # the weights of the reading without words
    second: Weights  # the weights of the reading with words
    languages: frozenset[str]  # the codes of the languages that have features of their own

    def find_speech(self, page: Page, language: str) -> list[list[tuple[int, int]]]:
        """Returns the start and end of each speech in the paragraphs of a page."""
        language = language if language in self.languages else ""
        features = self.read_twice(page, language)
        return ranges_of(page, self.second.best_arcs(features, page))

    def read_twice(self, page: Page, language: str) -> Features:
        """Returns the features of the rows of a page in a second reading, after a first one."""
        arcs = self.first.best_arcs(first_features(page.reader, page.rows), page)
        page.reader.add_reading(TO_SPEECH[arcs] == 0)
        return second_features(page.reader, page.rows, language)


def ranges_of(page: Page, arcs: Ints) -> list[list[tuple[int, int]]]:
    """Returns the start and end of each speech in each paragraph of a page.

    A dash and an opening mark before speech belong to it, as do the stop and the closing mark after
    it. A dash that closes "—said he—" is narration.
    """
    clauses, starts = page.clauses, page.reader.starts
    blocks = page.blocks
    found: list[list[tuple[int, int]]] = [[] for _ in page.texts]
    has_dash = False  # whether a dash opened the narration
    for place in np.flatnonzero((arcs != SAID) & ((arcs != TOLD) | starts)).tolist():
        word = clauses.first[place]
        block = int(blocks[place])
        text, of_block = page.texts[block], found[block]
        start = 0 if starts[place] else int(clauses.ends[word - 1])
        glue = text[start : clauses.starts[word]]
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
def segmentation_model() -> SegmentationModel | None:
    """Returns the model that comes with the package; None where it has none."""
    return load_segmentation(WEIGHTS) if WEIGHTS.is_file() else None


def load_segmentation(path: Path) -> SegmentationModel:
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
    return SegmentationModel(first, second, frozenset(codes))


def _table(found: Mapping[str, Floats], name: str) -> Table:
    """Returns weights of a file. It has the steps between the features that have any, in order."""
    weights = found[f"{name}.weights"] * found[f"{name}.scale"]
    return table_of(np.cumsum(found[f"{name}.steps"].astype(np.int64)), weights)


def table_of(features: NDArray[np.int64], weights: Floats) -> Table:
    """Returns the table of the weights of some features."""
    numbers = np.zeros(N_FEATURES, np.min_scalar_type(len(features)))
    numbers[features] = np.arange(1, len(features) + 1)
    return Table(numbers, np.concatenate([np.zeros_like(weights[:1]), weights]))
