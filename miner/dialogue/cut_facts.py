"""Segments -> what the page tells of whether they are speech, as numbers.

A fact is made of what stands in some columns, such as the glue before a segment and its first word.
Its number is a hash of these, so that no list of words is needed. Each fact is there twice, with
the language of the book and without, so that a language without examples has those of the others.

Some columns tell what is usual in the book itself. A word that often stands in small letters after
a question mark or a dash is a verb of saying there, whatever the language is; a word that is rarer
in narration than in paragraphs which a dash opens is a word of speech.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from miner.dialogue.segments import Ints, Segments, edge_of, read_glue

N_STATE_FACTS = 2**20
N_ARC_FACTS = 2**20
_N_OWN_WORDS = 8  # words at the beginning of a segment that count wherever they stand in it
_FEW = 3.0  # added to counts, so that rare words tell little

Hashes = NDArray[np.uint32]

# What each fact is made of.
STATE_FACTS: tuple[tuple[str, ...], ...] = (
    (),
    ("w1",),
    ("w1", "w2"),
    ("w2",),
    ("last",),
    ("core",),
    ("tail",),
    ("suffix 2",),
    ("suffix 3",),
    ("suffix 4",),
    ("case", "suffix 3"),
    ("case", "w1"),
    ("shape", "length"),
    ("length",),
    ("glue",),
    ("next glue",),
    ("glue", "next glue"),
    ("tone",),
    ("tone", "length"),
    ("asks", "case"),
    ("asks", "case", "glue"),
    ("asks 2", "case"),
    ("ending tone", "ending tone 2"),
    ("word tone", "word tone 2"),
    ("ending asks", "case"),
    ("depth", "paragraph"),
    ("depth", "tone"),
    ("brackets",),
    ("brackets", "tone"),
    ("first", "paragraph"),
    ("dashes", "paragraph"),
    ("person", "suffix 3"),
)
ARC_FACTS: tuple[tuple[str, ...], ...] = (
    (),
    ("glue",),
    ("glue", "case"),
    ("glue", "case", "next glue"),
    ("glue", "next glue"),
    ("glue", "w1"),
    ("glue", "core"),
    ("case", "core"),
    ("w1",),
    ("mark", "case", "w1"),
    ("mark", "case", "suffix 3"),
    ("mark", "case", "suffix 2"),
    ("mark", "case", "suffix 4"),
    ("mark", "case", "tail"),
    ("mark", "case", "w1", "w2"),
    ("mark", "case", "suffix 3", "w2"),
    ("mark", "case", "suffix 2", "w2", "next glue"),
    ("mark", "case", "suffix 2", "shape", "length"),
    ("mark", "case", "w2"),
    ("mark", "case", "asks"),
    ("mark", "case", "asks", "asks 2"),
    ("mark", "case", "ending asks"),
    ("mark", "case", "ending asks 2"),
    ("mark", "case", "ending asks", "ending asks 2"),
    ("mark", "case", "ending asks", "word tone"),
    ("mark", "case", "asks", "word tone"),
    ("mark", "case", "asks", "ending asks"),
    ("mark", "case", "ending asks", "name 2"),
    ("mark", "case", "ending asks", "asks 2"),
    ("mark", "case", "ending tone"),
    ("mark", "case", "word tone", "word tone 2"),
    ("mark", "case", "ending tone", "ending tone 2"),
    ("glue", "case", "asks"),
    ("glue", "case", "asks", "next glue"),
    ("mark", "case", "asks", "name 2"),
    ("mark", "case", "suffix 2", "name 2"),
    ("mark", "case", "shape"),
    ("mark", "case", "tone"),
    ("mark", "case", "tone", "length"),
    ("mark", "case", "length"),
    ("mark", "case", "previous tone", "tone"),
    ("mark", "case", "previous w1"),
    ("mark", "case", "previous core"),
    ("mark", "case", "previous asks", "previous glue"),
    ("mark", "case", "previous glue"),
    ("mark", "case", "previous length"),
    ("mark", "case", "previous last"),
    ("mark", "case", "next w1"),
    ("mark", "case", "next case", "next glue"),
    ("mark", "case", "next asks"),
    ("glue", "case", "habit"),
    ("mark", "case", "asks", "habit"),
    ("mark", "case", "dash before", "habit"),
    ("mark", "case", "dash after", "habit"),
    ("mark", "case", "dash before", "dash after"),
    ("mark", "case", "dash before", "dash after", "asks"),
    ("mark", "case", "dashes"),
    ("mark", "case", "paragraph", "first"),
    ("mark", "case", "paragraph", "dash before"),
    ("mark", "case", "depth", "paragraph"),
    ("glue", "depth"),
    ("glue", "brackets"),
    ("mark", "case", "brackets"),
    ("glue", "paragraph", "habit"),
    ("mark", "asks"),
    ("mark", "ending asks"),
    ("mark", "asks", "ending asks", "name 2"),
    ("mark", "core"),
    ("mark", "tail"),
    ("mark", "case", "previous asks", "previous length"),
    ("mark", "case", "previous asks", "previous length", "tone"),
    ("mark", "case", "previous mark", "previous case", "previous asks"),
    ("mark", "case", "previous mark", "previous case", "previous length"),
    ("mark", "case", "previous mark", "previous tail"),
    ("mark", "case", "word tone"),
    ("mark", "case", "previous asks", "w1"),
)

# Facts from a first reading of the book, in which words had no facts of their own.
READ_STATE_FACTS: tuple[tuple[str, ...], ...] = (
    ("tells", "case"),
    ("tells", "tone read"),
    ("tone read",),
    ("tone read", "length"),
    ("tone read", "case", "w1"),
    ("ending tells", "case"),
)
READ_ARC_FACTS: tuple[tuple[str, ...], ...] = (
    ("mark", "tells"),
    ("mark", "case", "tells"),
    ("mark", "case", "tells", "asks"),
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
    ("mark", "case", "previous tells", "w1"),
    ("mark", "case", "previous tells", "previous tone read", "tone read"),
    ("mark", "case", "previous tells", "previous mark", "previous case"),
    ("mark", "case", "tone read"),
    ("mark", "case", "tone read", "length"),
    ("mark", "case", "previous tone read", "tone read"),
    ("mark", "case", "next tells", "next glue"),
)


def hash_of(text: str) -> int:
    """Returns the hash of a word or of another text."""
    return crc32(text.encode())


def read_facts(
    segments: Segments, n_segments: int, spoken: NDArray[np.bool_], language: str, told=None
) -> tuple[Hashes, Hashes]:
    """Returns the numbers of the facts of each segment: (segments, facts), of states and of arcs.

    Args:
        segments: the segments of the paragraphs of a book.
        n_segments: how many of the segments have facts. The others show what is usual in the book.
        spoken: whether a dash opens each block.
        language: the code of the language, or "" for the facts without a language alone.
    """
    columns = _read_columns(segments, n_segments, spoken, told)
    n = n_segments
    if told is not None:
        return (
            _with_language(
                np.stack([_mixed(f, columns, n) for f in READ_STATE_FACTS], 1), language, N_STATE_FACTS
            ),
            _with_language(
                np.stack([_mixed(f, columns, n) for f in READ_ARC_FACTS], 1), language, N_ARC_FACTS
            ),
        )
    own = columns.pop("own words")
    state = [_mixed(facts, columns, n) for facts in STATE_FACTS]
    seed = np.uint32(hash_of("own word"))
    state += [_mix(np.full(n, seed, np.uint32), own[:, place]) for place in range(_N_OWN_WORDS)]
    arcs = [_mixed(facts, columns, n) for facts in ARC_FACTS]
    return (
        _with_language(np.stack(state, axis=1), language, N_STATE_FACTS),
        _with_language(np.stack(arcs, axis=1), language, N_ARC_FACTS),
    )


def _mix(hashes: Hashes, column: Hashes) -> Hashes:
    mixed = (hashes ^ column) * np.uint32(0x9E3779B1)
    return mixed ^ (mixed >> np.uint32(15))


def _mixed(facts: Sequence[str], columns: Mapping[str, Hashes], n: int) -> Hashes:
    mixed = np.full(n, hash_of(" and ".join(facts)), np.uint32)
    for name in facts:
        mixed = _mix(mixed, columns[name])
    return mixed


def _with_language(facts: Hashes, language: str, size: int) -> Hashes:
    mask = np.uint32(size - 1)
    if not language:
        return facts & mask
    of_language = _mix(facts, np.uint32(hash_of(language)))  # type: ignore[arg-type]
    return np.concatenate([facts, of_language], axis=1) & mask


def _read_columns(
    segments: Segments, n: int, spoken: NDArray[np.bool_], segment_told=None
) -> dict[str, Hashes]:
    words, before = segments.words, segments.before
    n_words = len(words)
    first = segments.first[:n]
    end = np.append(segments.first[1:], n_words)[:n]  # the place after the last word
    lengths = end - first
    block = segments.blocks[first]
    starts_block = np.diff(block, prepend=-1) > 0
    ends_block = np.append(starts_block[1:], True)

    # The words.
    lower, lower_of = _lowered(segments.vocabulary)
    token = lower_of[words]
    cores, tails = zip(*map(_core_and_tail, lower), strict=True) if lower else ((), ())
    hashes = _table(hash_of, lower)
    core_hashes = _table(hash_of, cores)
    tail_hashes = _table(hash_of, tails)
    suffixes = [_table(lambda word, k=k: hash_of(word[-k:]), cores) for k in (2, 3, 4)]
    is_capital = np.array([word[0].isupper() for word in segments.vocabulary], np.bool_)
    capital = is_capital[words]

    def word(place: int, table: Hashes, missing: int = 1) -> Hashes:
        """The values of the word at a place of each segment."""
        at = np.minimum(first + place, n_words - 1)
        return np.where(place < lengths, table[token[at]], np.uint32(missing)).astype(np.uint32)

    # The glue.
    left, right = _glue_tables(segments.glues)
    glue = right["text"][before[first]]
    next_glue = left["text"][before[end]]
    has_dash = right["dash"][before[first]]
    case = np.where(capital[first], 1, 0).astype(np.uint32)
    mark = right["mark"][before[first]]

    endings = {}
    for size, table in ((2, suffixes[0]), (3, suffixes[1])):
        different, ending = np.unique(table, return_inverse=True)
        endings[size] = (ending, len(different))

    # What is usual in the book.
    in_spoken = spoken[segments.blocks]
    n_lower = len(lower)
    breaks = right["asks"][before[:-1]]
    breaks &= ~capital & in_spoken
    counts = np.bincount(token, minlength=n_lower)
    asks = np.bincount(token[breaks], minlength=n_lower)
    follows = np.zeros(n_words, np.bool_)
    follows[1:] = breaks[:-1] & ~right["divides"][before[1:-1]]
    asks_2 = np.bincount(token[follows], minlength=n_lower)
    told = np.bincount(token[~in_spoken], minlength=n_lower)
    said = counts - told
    share = (in_spoken.sum() + 1) / (n_words + 2)
    tone = np.log((said + _FEW * share) / (told + _FEW * (1 - share))) - np.log(share / (1 - share))
    n_small = np.bincount(token[~capital], minlength=n_lower)
    is_name = (n_small == 0) | (n_small < 0.05 * counts)

    def rate(place: int, hits: Ints, is_hit: NDArray[np.bool_]) -> Hashes:
        """How often the word at a place stands where a verb of saying does, itself left out."""
        at = np.minimum(first + place, n_words - 1)
        own = is_hit[at].astype(np.int64)
        n_hits, n_all = hits[token[at]] - own, counts[token[at]] - own
        level = np.digitize(n_hits / np.maximum(n_all, 1), (0.001, 0.02, 0.1, 0.3, 0.6))
        found = np.digitize(n_hits, (1, 2, 5)) * 8 + level
        return np.where(place < lengths, found, 99).astype(np.uint32)

    def suffix_rate(place: int, size: int, hits: Ints, is_hit: NDArray[np.bool_]) -> Hashes:
        ending, n_endings = endings[size]
        of_hits = np.bincount(ending, weights=hits, minlength=n_endings)
        of_all = np.bincount(ending, weights=counts, minlength=n_endings)
        at = np.minimum(first + place, n_words - 1)
        own = is_hit[at].astype(np.int64)
        n_hits, n_all = of_hits[ending[token[at]]] - own, of_all[ending[token[at]]] - own
        base = (hits.sum() + 1) / (counts.sum() + 1)
        level = np.digitize((n_hits + base) / (n_all + 1) / base, (0.1, 0.3, 0.7, 1.5, 3, 6, 12))
        return np.where(place < lengths, level, 99).astype(np.uint32)

    def suffix_tone(place: int, size: int) -> Hashes:
        ending, n_endings = endings[size]
        of_told = np.bincount(ending, weights=told, minlength=n_endings)
        of_said = np.bincount(ending, weights=said, minlength=n_endings)
        value = np.log((of_said + _FEW * share) / (of_told + _FEW * (1 - share))) - np.log(
            share / (1 - share)
        )
        level = np.digitize(value, (-2, -1.2, -0.6, -0.25, 0.25, 0.6, 1.2))
        at = np.minimum(first + place, n_words - 1)
        return np.where(place < lengths, level[ending[token[at]]], 99).astype(np.uint32)

    def word_tone(place: int) -> Hashes:
        level = np.digitize(tone, (-2, -1.2, -0.6, -0.25, 0.25, 0.6, 1.2))
        at = np.minimum(first + place, n_words - 1)
        return np.where(place < lengths, level[token[at]], 99).astype(np.uint32)

    def name(place: int) -> Hashes:
        at = np.minimum(first + place, n_words - 1)
        found = capital[at] * (1 + is_name[token[at]])
        return np.where(place < lengths, found, 3).astype(np.uint32)

    tones = np.add.reduceat(tone[token], first) / np.sqrt(lengths) if n else np.zeros(0)
    tone_level = np.digitize(tones, (-3, -2, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2, 3)).astype(np.uint32)
    asks_level = rate(0, asks, breaks)
    length = np.digitize(lengths, (2, 3, 4, 6, 9, 16)).astype(np.uint32)

    # The paragraph.
    depth, brackets = (
        _running(right[name][before[first]], block, starts_block) for name in ("marks", "brackets")
    )
    depth = np.where(right["opens"][before[first]] & (depth <= 0), 1, depth)
    n_dashes = np.add.reduceat(has_dash, np.flatnonzero(starts_block)) if n else has_dash
    dashes_until = _running(has_dash, block, starts_block)
    dashes_left = n_dashes[np.cumsum(starts_block) - 1] - dashes_until if n else has_dash
    dash_kind = np.where(has_dash > 0, 1 + mark * 2 + case, 0).astype(np.uint32)
    opening = glue[np.maximum.accumulate(np.where(starts_block, np.arange(n), 0))] if n else glue
    is_inner = (has_dash > 0) & ~starts_block
    columns = {
        "w1": word(0, hashes),
        "w2": word(1, hashes),
        "last": hashes[token[end - 1]],
        "core": word(0, core_hashes),
        "tail": word(0, tail_hashes),
        "suffix 2": word(0, suffixes[0]),
        "suffix 3": word(0, suffixes[1]),
        "suffix 4": word(0, suffixes[2]),
        "person": word(1, suffixes[0]),
        "case": case,
        "shape": name(0) * 16 + name(1) * 4 + name(2),
        "name 2": name(1),
        "length": length,
        "glue": glue,
        "mark": mark,
        "next glue": next_glue,
        "tone": tone_level,
        "asks": asks_level,
        "asks 2": rate(1, asks_2, follows),
        "ending asks": suffix_rate(0, 3, asks, breaks),
        "ending asks 2": suffix_rate(0, 2, asks, breaks),
        "ending tone": suffix_tone(0, 3),
        "ending tone 2": suffix_tone(1, 3),
        "word tone": word_tone(0),
        "word tone 2": word_tone(1),
        "depth": np.clip(depth, -1, 2).astype(np.uint32),
        "brackets": np.clip(brackets, -1, 2).astype(np.uint32),
        "paragraph": opening,
        "first": starts_block.astype(np.uint32) * 2 + ends_block,
        "dashes": (np.minimum(dashes_until, 3) * 4 + np.minimum(dashes_left, 3)).astype(np.uint32),
        "habit": np.full(n, _habit(spoken, block, is_inner, case), np.uint32),
        "dash before": _last_kind(dash_kind, is_inner, starts_block),
        "dash after": _last_kind(dash_kind[::-1], is_inner[::-1], ends_block[::-1])[::-1],
    }
    if segment_told is not None:
        # told: whether each of the segments is narration
        is_told = np.ones(n_words, np.bool_)
        is_told[: end[-1] if n else 0] = np.repeat(segment_told, lengths)
        begins_told = segment_told & ~np.concatenate([[True], segment_told[:-1]]) & ~starts_block
        w1 = token[first]
        hits = np.bincount(w1[begins_told], minlength=n_lower)
        all_starts = np.bincount(w1, minlength=n_lower)
        own = begins_told.astype(np.int64)
        n_hits, n_all = hits[w1] - own, all_starts[w1] - 1
        columns["tells"] = (
            np.digitize(n_hits / np.maximum(n_all, 1), (0.01, 0.1, 0.25, 0.5, 0.75, 0.9)) * 8
            + np.digitize(n_all, (1, 2, 4, 10))
        ).astype(np.uint32)
        ending, n_endings = endings[3]
        of_hits = np.bincount(ending, weights=hits, minlength=n_endings)
        of_all = np.bincount(ending, weights=all_starts, minlength=n_endings)
        n_hits, n_all = of_hits[ending[w1]] - own, of_all[ending[w1]] - 1
        columns["ending tells"] = (
            np.digitize(n_hits / np.maximum(n_all, 1), (0.01, 0.05, 0.15, 0.3, 0.5, 0.75)) * 8
            + np.digitize(n_all, (1, 3, 10))
        ).astype(np.uint32)
        told_read = np.bincount(token[is_told], minlength=n_lower)
        said_read = counts - told_read
        part = 1 - (is_told.sum() + 1) / (n_words + 2)
        # a word does not count for itself
        mine = is_told[: end[-1] if n else 0]
        tok = token[: len(mine)]
        a, b = said_read[tok] - ~mine, told_read[tok] - mine
        value = np.log((a + _FEW * part) / (b + _FEW * (1 - part))) - np.log(part / (1 - part))
        sums = np.add.reduceat(value, first) / np.sqrt(lengths) if n else np.zeros(0)
        columns["tone read"] = np.digitize(
            sums, (-3, -2, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2, 3)
        ).astype(np.uint32)
        for column in ("tells", "tone read"):
            columns[f"previous {column}"] = _shifted(columns[column], starts_block, 1)
        columns["next tells"] = _shifted(columns["tells"][::-1], ends_block[::-1], 1)[::-1]
    for column in ("w1", "core", "asks", "glue", "length", "last", "tone", "mark", "case", "tail"):
        columns[f"previous {column}"] = _shifted(columns[column], starts_block, 1)
    for column in ("w1", "case", "asks"):
        columns[f"next {column}"] = _shifted(columns[column][::-1], ends_block[::-1], 1)[::-1]
    places = range(_N_OWN_WORDS)
    columns["own words"] = np.stack([word(place, hashes, 0) for place in places], axis=1)
    return columns


def _lowered(vocabulary: Sequence[str]) -> tuple[list[str], Ints]:
    """Returns the different words in small letters, and the number of each word among them."""
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(word.lower(), len(numbers)) for word in vocabulary]
    return list(numbers), np.array(found, np.int32)


def _core_and_tail(word: str) -> tuple[str, str]:
    """Returns the longest part of a word and what is joined to it by a hyphen.

    >>> _core_and_tail("s'écria-t-il")
    ('écria', '-t-il')
    """
    if "-" not in word and "'" not in word and "’" not in word:
        return word, ""
    parts = re.split("['’-]", word)
    core = max(parts, key=len)
    return core, word[word.index(core) + len(core) :]


def _table(value: Callable[[str], int], texts: Sequence[str]) -> Hashes:
    return np.fromiter(map(value, texts), np.uint32, len(texts))


def _glue_tables(glues: Sequence[str]) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """Returns what each glue is, as the end of the words before and the beginning of those after."""
    tables = []
    for at_start in (False, True):
        texts = [edge_of(glue, at_start) for glue in glues]
        kinds = [read_glue(text) for text in texts]
        tables.append(
            {
                "text": _table(lambda kind: hash_of(kind.text), kinds),
                "mark": _table(_mark, kinds),
                "dash": np.array([kind.has_dash for kind in kinds], np.int32),
                "marks": np.array([kind.marks for kind in kinds], np.int32),
                "opens": np.array([kind.opens for kind in kinds], np.bool_),
                "brackets": np.array([kind.parentheses for kind in kinds], np.int32),
                "divides": np.array([kind.divides for kind in kinds], np.bool_),
                "asks": np.array([_asks(kind.text) for kind in kinds], np.bool_),
            }
        )
    return tables[0], tables[1]


def _mark(kind) -> int:
    """Returns the kind of a glue: what ends before it and whether it has a dash."""
    text = kind.text
    end = next((n for n, marks in enumerate(("?!", ".…", ":;", ",")) if set(marks) & set(text)), 4)
    quoted = 0 if not kind.marks and not kind.opens else 1 if kind.opens else 2
    bracket = kind.parentheses + 1 if abs(kind.parentheses) < 2 else 1
    edge = 2 if "^" in text else 0
    return ((end * 3 + quoted) * 3 + bracket) * 4 + edge + kind.has_dash


def _asks(text: str) -> bool:
    return bool(set("?!\u2014") & set(text)) and "^" not in text


def _running(steps: Ints, block: Ints, starts_block: NDArray[np.bool_]) -> Ints:
    """Returns the sum of the steps from the start of the block on."""
    total = np.cumsum(steps)
    if not len(total):
        return total
    at = np.flatnonzero(starts_block)
    return total - (total[at] - steps[at])[np.cumsum(starts_block) - 1]


def _last_kind(kinds: Hashes, is_inner: NDArray[np.bool_], starts: NDArray[np.bool_]) -> Hashes:
    """Returns the kind of the last dash before each segment in its block, or 0."""
    n = len(kinds)
    if not n:
        return kinds
    places = np.arange(n)
    last = np.maximum.accumulate(np.where(is_inner, places, -1))
    previous = np.concatenate([[-1], last[:-1]])
    start = np.maximum.accumulate(np.where(starts, places, 0))
    return np.where(previous >= start, kinds[previous], 0).astype(np.uint32)


def _shifted(column: Hashes, starts: NDArray[np.bool_], missing: int) -> Hashes:
    """Returns the column of the segment before in the same block."""
    found = np.concatenate([np.full(1, missing, np.uint32), column[:-1]])[: len(column)]
    return np.where(starts, np.uint32(missing), found).astype(np.uint32)


def _habit(
    spoken: NDArray[np.bool_], block: Ints, is_inner: NDArray[np.bool_], case: Hashes
) -> int:
    """Returns how the book uses dashes inside paragraphs that a dash opens."""
    inside = is_inner & spoken[block]
    n_blocks = max(1, int(spoken.sum()))
    n_with = len(np.unique(block[inside]))
    often = np.digitize(n_with / n_blocks, (0.01, 0.05, 0.15, 0.35))
    small = np.digitize((case[inside] == 0).mean() if n_with else 0.0, (0.3, 0.6, 0.85))
    return int(often * 4 + small)
