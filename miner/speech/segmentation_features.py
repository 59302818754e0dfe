"""The columns of segments -> what the page tells of whether they are speech, as numbers.

A fact is made of what stands in some columns, such as the glue before a segment and its first word.
Its number is a hash of these, so that no list of words is needed. A fact with words is there twice,
with the language of the book and without, so that a language without examples has those of the
others. A book is read twice: first without the words, which shows how words are used in the book.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from miner.speech.clauses import Ints
from miner.speech.segmentation_columns import OF_BOOK, ColumnReader, Columns, Hashes, hash_of

N_FACTS = 2**20
NO_FACT = 0  # a fact without a weight
Templates = tuple[tuple[str, ...], ...]

# The columns that are words or parts of words.
_WORDS = frozenset(
    ("w1", "w2", "core", "tail", "suffix 2", "suffix 3", "suffix 4")
    + ("previous core", "previous tail", "next w1")
)
# What is told by the segment itself.
STATES: Templates = (
    (),
    ("w1",),
    ("w2",),
    ("core",),
    ("tail",),
    ("suffix 2",),
    ("suffix 3",),
    ("suffix 4",),
    ("case", "suffix 3"),
    ("shape", "length"),
    ("length",),
    ("glue",),
    ("next glue",),
    ("glue", "next glue"),
    ("tone",),
    ("tone", "length"),
    ("asks", "case"),
    ("asks 2", "case"),
    ("ending tone", "ending tone 2"),
    ("word tone", "word tone 2"),
    ("ending asks", "case"),
    ("depth", "paragraph"),
    ("depth", "tone"),
    ("depth", "quotes", "paragraph"),
    ("depth", "quotes", "length", "next glue"),
    ("brackets",),
    ("brackets", "tone"),
    ("first", "paragraph"),
    ("dashes", "paragraph"),
)
# What is told by the step from the segment before to this one.
ARCS: Templates = (
    (),
    ("glue",),
    ("glue", "case"),
    ("glue", "case", "next glue"),
    ("glue", "next glue"),
    ("w1",),
    ("mark", "case", "w1"),
    ("mark", "case", "suffix 3"),
    ("mark", "case", "suffix 2"),
    ("mark", "case", "suffix 4"),
    ("mark", "case", "tail"),
    ("mark", "case", "w2"),
    ("mark", "case", "asks", "asks 2"),
    ("mark", "case", "ending asks"),
    ("mark", "case", "ending asks 2"),
    ("mark", "case", "ending asks", "ending asks 2"),
    ("mark", "case", "asks", "word tone"),
    ("mark", "case", "asks", "ending asks"),
    ("mark", "case", "ending asks", "name 2"),
    ("mark", "case", "ending tone"),
    ("mark", "case", "word tone", "word tone 2"),
    ("mark", "case", "ending tone", "ending tone 2"),
    ("glue", "case", "asks"),
    ("mark", "case", "asks", "name 2"),
    ("mark", "case", "suffix 2", "name 2"),
    ("mark", "case", "shape"),
    ("mark", "case", "tone"),
    ("mark", "case", "length"),
    ("mark", "case", "previous core"),
    ("mark", "case", "previous asks", "previous glue"),
    ("mark", "case", "previous glue"),
    ("mark", "case", "previous length"),
    ("mark", "case", "next w1"),
    ("mark", "case", "next case", "next glue"),
    ("mark", "case", "next asks"),
    ("glue", "case", "habit"),
    ("mark", "case", "dash before", "habit"),
    ("mark", "case", "dash after", "habit"),
    ("mark", "case", "dash before", "dash after"),
    ("mark", "case", "dashes"),
    ("mark", "case", "paragraph", "first"),
    ("mark", "case", "paragraph", "dash before"),
    ("mark", "case", "depth", "paragraph"),
    ("glue", "depth"),
    ("mark", "case", "depth", "quotes"),
    ("glue", "quotes"),
    ("glue", "brackets"),
    ("mark", "case", "brackets"),
    ("glue", "paragraph", "habit"),
    ("mark", "asks"),
    ("mark", "ending asks"),
    ("mark", "core"),
    ("mark", "tail"),
    ("mark", "case", "previous asks", "previous length"),
    ("mark", "case", "previous mark", "previous case", "previous asks"),
    ("mark", "case", "previous mark", "previous case", "previous length"),
    ("mark", "case", "previous mark", "previous tail"),
    ("mark", "case", "word tone"),
)
# What the first reading adds.
READ_STATES: Templates = (
    ("tells", "case"),
    ("tells", "tone read"),
    ("tone read",),
    ("tone read", "length"),
    ("ending tells", "case"),
)
READ_ARCS: Templates = (
    ("mark", "tells"),
    ("mark", "case", "tells"),
    ("mark", "case", "tells", "name 2"),
    ("mark", "case", "tells", "next glue"),
    ("mark", "case", "tells", "ending tells"),
    ("mark", "case", "tells", "tone read"),
    ("mark", "case", "tells", "length"),
    ("glue", "case", "tells"),
    ("mark", "case", "ending tells"),
    ("mark", "case", "ending tells", "name 2"),
    ("mark", "case", "ending tells", "ending asks"),
    ("mark", "case", "previous tells", "previous length"),
    ("mark", "case", "previous tells", "tone read"),
    ("mark", "case", "previous tells", "previous mark", "previous case"),
    ("mark", "case", "tone read"),
    ("mark", "case", "tone read", "length"),
    ("mark", "case", "previous tone read", "tone read"),
    ("mark", "case", "next tells", "next glue"),
)


class Facts(NamedTuple):
    """The numbers of the facts of each segment: (segments, facts).

    Attributes:
        states: of the segment itself.
        arcs: of the step to it.
    """

    states: Hashes
    arcs: Hashes


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


def first_facts(reader: ColumnReader, rows: Ints) -> Facts:
    """Returns the facts of a first reading of some segments, which knows no words."""
    columns = {name: column[rows] for name, column in reader.columns.items()}
    return Facts(
        *(
            np.concatenate([_mixed(columns, kinds.plain), _used(reader, columns, kinds)], axis=1)
            for kinds in _FIRST
        )
    )


def second_facts(reader: ColumnReader, rows: Ints, language: str) -> Facts:
    """Returns all facts: those of use after the plain ones, then those with words."""
    found = []
    columns = {name: column[rows] for name, column in reader.columns.items()}
    for kinds in _SECOND:
        worded = _mixed(columns, kinds.worded)
        if not found:
            own = _mixed_own_words(reader.own_words()[rows])
            worded = np.concatenate([worded, own], axis=1)
        parts = [_mixed(columns, kinds.plain), _used(reader, columns, kinds), worded]
        if language:
            parts.append(_mix(worded, np.uint32(hash_of(language))) % np.uint32(N_FACTS))
        found.append(np.concatenate(parts, axis=1))
    return Facts(*found)


def _used(reader: ColumnReader, columns: Columns, kinds: _Kinds) -> Hashes:
    """Returns the facts of how words are used; `NO_FACT` in a text too short to show it."""
    if reader.is_short:
        return np.full((len(columns["w1"]), len(kinds.used)), NO_FACT, np.uint32)
    return _mixed(columns, kinds.used)


def places_of_use() -> tuple[slice, slice]:
    """Returns where the facts of use are in a second reading, of states and of arcs."""
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
    return np.stack(found, axis=1) % np.uint32(N_FACTS)


def _mixed_own_words(words: Hashes) -> Hashes:
    return _mix(np.full_like(words, hash_of("own word")), words) % np.uint32(N_FACTS)
