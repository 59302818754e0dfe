"""The texts of blocks -> clauses, and what stands in and around each: columns of numbers.

Speech begins and ends at punctuation. What stands between two words is their *glue*: a space, a
comma and a space, a dash. A clause begins at the first word of a block and after each glue with a
mark that may divide speech from narration. All blocks of a book are read at once, as arrays.

A column has a number for each clause: the hash of its first word, the kind of the glue before it,
how many dashes are left in its paragraph. Some columns tell what is usual in the book itself. A
word that often stands in small letters after a question mark or a dash is a verb of saying there,
whatever the language is; a word that is rarer in narration than in paragraphs which a dash opens is
a word of speech. An occurrence does not count for itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from miner.languages.registry import LANGUAGES, any_of

Ints = NDArray[np.integer]

_EDGE = "\x02"  # stands between two blocks
_GLUE = re.compile(r"([\W_]+)")
# A hyphen or an apostrophe between two letters is a part of a word: "dit-il", "s'écria". Letters
# stand for them while words are looked for.
_JOINER = re.compile(r"['’-](?<=[^\W_].)(?=[^\W_])")
_LETTERS = {"'": "\ua78b", "’": "\ua78c", "-": "\ua7fa"}  # none is in use in print
_JOINERS = str.maketrans({letter: joiner for joiner, letter in _LETTERS.items()})
_DASHES = re.compile(r"-{2,}|[\u2014\u2013\u2015]|(?<!\S)-|-(?!\S)")
_DOTS = re.compile(r"\.(?:\s?\.)+|\u2026")
_DIVIDES = frozenset(
    '.,;:!?\u2014\u2026()[]\u00ab\u00bb\u2039\u203a\u201c\u201d\u201e"\u00bf\u00a1'
)
_OPENERS = frozenset("\u00ab\u2039\u201e\u201c")
_CLOSERS = frozenset("\u00bb\u203a\u201d")
_EITHER = frozenset('\u00ab\u00bb\u2039\u203a\u201c\u201d"')
_ABBREVIATION = re.compile(rf"[^\W\d_]|{any_of(lambda language: language.abbreviations)}")


@dataclass(frozen=True, slots=True)
class Glue:
    """What stands between two words."""

    text: str  # the glue, with one spelling for each kind of dash, dots and space
    divides: bool  # whether speech may begin or end here
    has_dash: bool  # whether a dash is in it
    marks: int  # how many quotations are open after it, more than before it
    opens: bool  # whether a quotation mark in it opens
    brackets: int  # how many parentheses are open after it, more than before it
    is_stop: bool  # whether it may stand after an abbreviation


@lru_cache(maxsize=8192)
def read_glue(raw: str) -> Glue:
    r"""Returns what a glue is made of.

    >>> read_glue(" -- ").text, read_glue("\n").divides
    (' — ', False)
    """
    text = _DOTS.sub("\u2026", _DASHES.sub("\u2014", " ".join(re.split(r"\s+", raw))))
    marks, opens = 0, False
    for place, character in enumerate(text):
        if character in _EITHER or character == "\u201e":
            at_word, at_end = place == 0, place == len(text) - 1
            is_opener = character in _OPENERS
            if at_word != at_end and character != "\u201e":
                is_opener = at_end
            marks += 1 if is_opener else -1
            opens |= is_opener
    return Glue(
        text,
        not _DIVIDES.isdisjoint(text),
        "\u2014" in text,
        marks,
        opens,
        sum((character in "([") - (character in ")]") for character in text),
        text in (". ", "."),
    )


@dataclass(frozen=True, slots=True)
class Clauses:
    """The words of some blocks and the clauses that they form."""

    vocabulary: tuple[str, ...]  # the different words, as printed
    # the different glues, as printed; the edge of a block is a character of its own
    glues: tuple[str, ...]
    words: Ints  # the word at each place: (words,), numbers of `vocabulary`
    before: Ints  # the glue before each word, and that after the last: (words + 1,)
    starts: Ints  # where each word begins in its block: (words,)
    ends: Ints  # where each word ends in its block: (words,)
    blocks: Ints  # the block of each word: (words,)
    first: Ints  # the place of the first word of each clause: (clauses,)


def find_clauses(texts: Sequence[str]) -> Clauses:
    """Returns the clauses of the texts of blocks, in order."""
    joined = _EDGE.join(("", *(text.replace(_EDGE, " ") for text in texts), ""))
    parts = _GLUE.split(_JOINER.sub(lambda match: _LETTERS[match[0]], joined))
    words, vocabulary = number_texts(parts[2:-1:2])
    vocabulary = tuple(word.translate(_JOINERS) for word in vocabulary)
    before, glues = number_texts(parts[1::2])
    ends = np.cumsum(np.fromiter(map(len, parts), np.int32, len(parts)), dtype=np.int32)
    n_edges = np.array([glue.count(_EDGE) for glue in glues], dtype=np.int32)
    blocks = np.cumsum(n_edges[before[:-1]], dtype=np.int32) - 1
    sizes = np.fromiter((len(text) + 1 for text in texts), np.int32, len(texts))
    offsets = np.concatenate([[1], 1 + np.cumsum(sizes)]).astype(np.int32)[blocks]
    first = _first_words(vocabulary, glues, words, before)
    return Clauses(
        vocabulary,
        glues,
        words,
        before,
        ends[1:-2:2] - offsets,
        ends[2:-1:2] - offsets,
        blocks,
        first,
    )


def number_texts(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Returns the texts as numbers, and the different texts in the order of their numbers."""
    different = tuple(dict.fromkeys(texts))
    numbers = dict(zip(different, range(len(different)), strict=True))
    return np.fromiter(map(numbers.__getitem__, texts), np.int32, len(texts)), different


def _first_words(
    vocabulary: Sequence[str], glues: Sequence[str], words: Ints, before: Ints
) -> Ints:
    """Returns the places at which clauses begin."""
    kinds = [read_glue(glue) for glue in glues]
    divides = np.array([kind.divides or _EDGE in kind.text for kind in kinds], dtype=np.bool_)
    is_stop = np.array([kind.is_stop for kind in kinds], dtype=np.bool_)
    is_short = np.array(
        [_ABBREVIATION.fullmatch(word) is not None for word in vocabulary], np.bool_
    )
    begins = divides[before[:-1]]
    begins[1:] &= ~(is_stop[before[1:-1]] & is_short[words[:-1]])
    return np.flatnonzero(begins).astype(np.int32)


def edge_of(glue: str, at_start: bool) -> str:
    """Returns the part of a glue that belongs to one block, with a sign for the block's edge."""
    if _EDGE not in glue:
        return glue
    parts = glue.split(_EDGE)
    return "^" + parts[-1] if at_start else parts[0] + "$"


Hashes = NDArray[np.uint32]
Bools = NDArray[np.bool_]
Columns = dict[str, Hashes]

N_OWN_WORDS = 8  # words at the beginning of a clause that count wherever they stand in it
_FEW = 3.0  # added to counts, so that rare words tell little
_NO_WORD, _NO_CLAUSE, _NO_LEVEL = 1, 1, 99  # the values of what is not there
_FEWEST_WORDS = 4000  # of a text that shows what is usual in it
# A narrator who is "I" says so oftener than this, for each time that others are said to speak.
_SHARE_OF_NARRATOR = 0.15
# The limits of levels.
_TONES = (-2, -1.2, -0.6, -0.25, 0.25, 0.6, 1.2)
_TONES_OF_CLAUSES = (-3, -2, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2, 3)
_LENGTHS = (2, 3, 4, 6, 9, 16)
# The ends of what goes before a glue, the strongest first.
_ENDS = ("?!", ".\u2026", ":;", ",")
# The columns that tell how words are used in the book.
OF_BOOK = frozenset(
    ("asks", "asks 2", "ending asks", "ending asks 2", "previous asks", "next asks")
    + ("tone", "word tone", "word tone 2", "ending tone", "ending tone 2")
    + ("tells", "ending tells", "tone read", "previous tells", "previous tone read", "next tells")
)


def hash_of(text: str) -> int:
    """Returns the hash of a word or of another text."""
    return crc32(text.encode())


class ColumnReader:
    """Reads the columns of the clauses of a book."""

    def __init__(self, clauses: Clauses, n_clauses: int, dashed: Bools, language: str = "") -> None:
        """Reads all that the words and the glue show."""
        n_words = len(clauses.words)
        self._clauses = clauses
        self.is_short = n_words < _FEWEST_WORDS  # too short to show how words are used
        self._first = clauses.first[:n_clauses]
        self._end = np.append(clauses.first[1:], n_words)[:n_clauses]
        self._lengths = self._end - self._first
        block = clauses.blocks[self._first]
        self.starts = np.diff(block, prepend=-1) > 0  # whether a clause is the first of its block
        self._ends = np.append(self.starts[1:], True)
        lower_of, lower = number_texts(_in_third_person(clauses, dashed, language))
        self._n_lower = len(lower)
        self._token = lower_of[clauses.words]
        self._is_capital = np.array([word[0].isupper() for word in clauses.vocabulary], np.bool_)[
            clauses.words
        ]
        self._counts = np.bincount(self._token, minlength=self._n_lower)
        self._places = [
            np.minimum(self._first + place, n_words - 1) for place in range(N_OWN_WORDS)
        ]
        self.columns: Columns = {}
        self._read_words(lower)
        right = self._read_glue()
        self._read_paragraphs(right, dashed, block)
        self._read_book(right, dashed[clauses.blocks])
        self._add_previous(("glue", "mark", "case", "core", "tail", "length", "asks"))
        self._add_next(("w1", "case", "asks"))

    def add_reading(self, told: Bools) -> None:
        """Adds the columns that a first reading of the book gives."""
        token, first, lengths = self._token, self._first, self._lengths
        begins = told & ~np.concatenate([[True], told[:-1]]) & ~self.starts
        word = token[first]
        hits = np.bincount(word[begins], minlength=self._n_lower)
        n_starts = np.bincount(word, minlength=self._n_lower)
        self.columns["tells"] = _rate(
            hits[word] - begins,
            n_starts[word] - 1,
            (0.01, 0.1, 0.25, 0.5, 0.75, 0.9),
            (1, 2, 4, 10),
        )
        ending, n_endings = self._endings[3]
        of_hits = np.bincount(ending, weights=hits, minlength=n_endings)[ending[word]]
        of_starts = np.bincount(ending, weights=n_starts, minlength=n_endings)[ending[word]]
        self.columns["ending tells"] = _rate(
            of_hits - begins, of_starts - 1, (0.01, 0.05, 0.15, 0.3, 0.5, 0.75), (1, 3, 10)
        )
        n_read = int(lengths.sum())
        is_told = np.ones(len(token), np.bool_)
        is_told[:n_read] = np.repeat(told, lengths)
        n_told = np.bincount(token[is_told], minlength=self._n_lower)
        own, of_own = is_told[:n_read], token[:n_read]
        tones = _log_ratio(
            (self._counts - n_told)[of_own] - ~own,
            n_told[of_own] - own,
            1 - (is_told.sum() + 1) / (len(token) + 2),
        )
        self.columns["tone read"] = self._tone_of_clauses(tones)
        self._add_previous(("tells", "tone read"))
        self._add_next(("tells",))

    def own_words(self) -> Hashes:
        """The hashes of the first words of each clause, 0 after its last: (clauses, words)."""
        return np.stack(
            [self._word(place, self._hashes, 0) for place in range(N_OWN_WORDS)], axis=1
        )

    def _word(self, place: int, table: NDArray, missing: int = _NO_WORD) -> Hashes:
        """Returns what a table tells of the word at a place of each clause."""
        found = table[self._token[self._places[place]]]
        return np.where(place < self._lengths, found, missing).astype(np.uint32)

    def _read_words(self, lower: Sequence[str]) -> None:
        cores, tails = zip(*map(_core_and_tail, lower), strict=True)
        self._hashes = _table(lower)
        suffixes: dict[int, Hashes] = {}
        self._endings: dict[int, tuple[Ints, int]] = {}
        for size in (2, 3, 4):
            ending, different = number_texts([core[-size:] for core in cores])
            suffixes[size] = _table(different)[ending]
            self._endings[size] = ending, len(different)
        n_small = np.bincount(self._token[~self._is_capital], minlength=self._n_lower)
        is_name = n_small < 0.05 * self._counts
        names = [
            np.where(
                place < self._lengths, self._is_capital[at] * (1 + is_name[self._token[at]]), 3
            ).astype(np.uint32)
            for place, at in enumerate(self._places[:3])
        ]
        self.columns |= {
            "w1": self._word(0, self._hashes),
            "w2": self._word(1, self._hashes),
            "core": self._word(0, _table(cores)),
            "tail": self._word(0, _table(tails)),
            "suffix 2": self._word(0, suffixes[2]),
            "suffix 3": self._word(0, suffixes[3]),
            "suffix 4": self._word(0, suffixes[4]),
            "case": self._is_capital[self._first].astype(np.uint32),
            "name 2": names[1],
            "shape": names[0] * 16 + names[1] * 4 + names[2],
            "length": np.digitize(self._lengths, _LENGTHS).astype(np.uint32),
        }

    def _read_glue(self) -> Mapping[str, NDArray]:
        """Reads the glue, and returns the tables of what each glue is for the words after it."""
        left, right = _glue_tables(self._clauses.glues)
        before = self._clauses.before
        self.columns |= {
            "glue": right["text"][before[self._first]],
            "mark": right["mark"][before[self._first]],
            "next glue": left["text"][before[self._end]],
        }
        return right

    def _read_paragraphs(self, right: Mapping[str, NDArray], dashed: Bools, block: Ints) -> None:
        starts, ends, columns = self.starts, self._ends, self.columns
        before = self._clauses.before[self._first]
        has_dash = right["dash"][before]
        number = np.cumsum(starts) - 1  # of the block
        at = np.flatnonzero(starts)
        depth = _running(right["marks"][before], at, number)
        depth = np.where(right["opens"][before] & (depth <= 0), 1, depth)
        brackets = _running(right["brackets"][before], at, number)
        n_dashes = _running(has_dash, at, number)
        n_left = np.add.reduceat(has_dash, at)[number] - n_dashes
        kinds = np.where(has_dash > 0, 1 + columns["mark"] * 2 + columns["case"], 0)
        is_inner = (has_dash > 0) & ~starts
        habit = _habit(dashed, block, is_inner, columns["case"])
        n_quoted = int((right["opens"][before] & starts).sum())  # paragraphs that a mark opens
        quotes = np.digitize(n_quoted / max(1, int(dashed.sum())), (0.01, 0.05, 0.2, 0.5))
        columns |= {
            "depth": np.clip(depth, -1, 2).astype(np.uint32),
            "brackets": np.clip(brackets, -1, 2).astype(np.uint32),
            "paragraph": columns["glue"][at][number],
            "first": starts.astype(np.uint32) * 2 + ends,
            "dashes": (np.minimum(n_dashes, 3) * 4 + np.minimum(n_left, 3)).astype(np.uint32),
            "habit": np.full(len(block), habit, np.uint32),
            "quotes": np.full(len(block), quotes, np.uint32),
            "dash before": _last_kind(kinds, is_inner, starts),
            "dash after": _last_kind(kinds[::-1], is_inner[::-1], ends[::-1])[::-1],
        }

    def _read_book(self, right: Mapping[str, NDArray], in_dashed: Bools) -> None:
        token, counts, before = self._token, self._counts, self._clauses.before
        n_words, n_lower = len(token), self._n_lower
        # Words in small letters after a question mark, an exclamation mark or a dash, and the words
        # right after these.
        breaks = right["breaks"][before[:-1]] & ~self._is_capital & in_dashed
        follows = np.zeros(n_words, np.bool_)
        follows[1:] = breaks[:-1] & ~right["divides"][before[1:-1]]
        n_breaks = np.bincount(token[breaks], minlength=n_lower)
        n_follows = np.bincount(token[follows], minlength=n_lower)
        told = np.bincount(token[~in_dashed], minlength=n_lower)
        said = counts - told
        share = (in_dashed.sum() + 1) / (n_words + 2)
        tones = _log_ratio(said, told, share)
        of_ending = self._endings[3][0]
        ending_tones = _log_ratio(
            np.bincount(of_ending, weights=said)[of_ending],
            np.bincount(of_ending, weights=told)[of_ending],
            share,
        )
        levels, ending_levels = np.digitize(tones, _TONES), np.digitize(ending_tones, _TONES)
        n_read = int(self._lengths.sum())
        self.columns |= {
            "asks": self._rate_of_word(0, n_breaks, breaks),
            "asks 2": self._rate_of_word(1, n_follows, follows),
            "ending asks": self._rate_of_ending(3, n_breaks, breaks),
            "ending asks 2": self._rate_of_ending(2, n_breaks, breaks),
            "tone": self._tone_of_clauses(tones[token[:n_read]]),
            "word tone": self._word(0, levels, _NO_LEVEL),
            "word tone 2": self._word(1, levels, _NO_LEVEL),
            "ending tone": self._word(0, ending_levels, _NO_LEVEL),
            "ending tone 2": self._word(1, ending_levels, _NO_LEVEL),
        }

    def _rate_of_word(self, place: int, hits: Ints, is_hit: Bools) -> Hashes:
        """Returns how often the word at a place is a hit elsewhere."""
        at = self._places[place]
        word = self._token[at]
        found = _rate(
            hits[word] - is_hit[at],
            self._counts[word] - is_hit[at],
            (0.001, 0.02, 0.1, 0.3, 0.6),
            (1, 2, 5),
            by_hits=True,
        )
        return np.where(place < self._lengths, found, _NO_LEVEL).astype(np.uint32)

    def _rate_of_ending(self, size: int, hits: Ints, is_hit: Bools) -> Hashes:
        """Returns how much oftener words with the ending of the first word are hits than others."""
        ending, n_endings = self._endings[size]
        own = is_hit[self._first]
        of_first = ending[self._token[self._first]]
        n_hits = np.bincount(ending, weights=hits, minlength=n_endings)[of_first] - own
        n_all = np.bincount(ending, weights=self._counts, minlength=n_endings)[of_first] - own
        usual = (hits.sum() + 1) / (self._counts.sum() + 1)
        times = (n_hits + usual) / (n_all + 1) / usual
        return np.digitize(times, (0.1, 0.3, 0.7, 1.5, 3, 6, 12)).astype(np.uint32)

    def _tone_of_clauses(self, tones: NDArray) -> Hashes:
        """Returns the level of the tone of each clause from the tones of its words."""
        sums = np.add.reduceat(tones, self._first) / np.sqrt(self._lengths)
        return np.digitize(sums, _TONES_OF_CLAUSES).astype(np.uint32)

    def _add_previous(self, names: Sequence[str]) -> None:
        """Adds the columns of the clauses before in the same block."""
        for name in names:
            self.columns[f"previous {name}"] = _shifted(self.columns[name], self.starts)

    def _add_next(self, names: Sequence[str]) -> None:
        """Adds the columns of the clauses after in the same block."""
        for name in names:
            backwards = _shifted(self.columns[name][::-1], self._ends[::-1])
            self.columns[f"next {name}"] = backwards[::-1]


def _in_third_person(clauses: Clauses, dashed: Bools, language: str) -> list[str]:
    """Returns the vocabulary in small letters, with "he said" for "I said" if the narrator is "I".

    Most books are told in the third person, so that little is known of "I said". In such a book
    these words are speech.
    """
    words = [word.lower() for word in clauses.vocabulary]
    known = LANGUAGES.get(language)
    others = known.speech.first_person if known else {}
    if not others:
        return words
    told = np.bincount(clauses.words[~dashed[clauses.blocks]], minlength=len(words))
    n_first, n_others = (
        int(told[[word in verbs for word in words]].sum())
        for verbs in (others.keys(), frozenset(others.values()))
    )
    is_narrator = n_first >= _SHARE_OF_NARRATOR * n_others
    return [others.get(word, word) for word in words] if is_narrator else words


def _core_and_tail(word: str) -> tuple[str, str]:
    """Returns the longest part of a word, and what follows it after a hyphen or an apostrophe.

    >>> _core_and_tail("s'écria-t-il")
    ('écria', '-t-il')
    """
    if "-" not in word and "'" not in word and "’" not in word:
        return word, ""
    core = max(re.split("['’-]", word), key=len)
    return core, word[word.index(core) + len(core) :]


def _table(texts: Sequence[str]) -> Hashes:
    return np.fromiter(map(crc32, map(str.encode, texts)), np.uint32, len(texts))


def _glue_tables(glues: Sequence[str]) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """Returns what each glue is for the words before it, and for the words after it."""
    tables = []
    for at_start in (False, True):
        kinds = [read_glue(edge_of(glue, at_start)) for glue in glues]
        tables.append(
            {
                "text": np.array([hash_of(kind.text) for kind in kinds], np.uint32),
                "mark": np.array([_mark(kind) for kind in kinds], np.uint32),
                "dash": np.array([kind.has_dash for kind in kinds], np.int32),
                "marks": np.array([kind.marks for kind in kinds], np.int32),
                "opens": np.array([kind.opens for kind in kinds], np.bool_),
                "brackets": np.array([kind.brackets for kind in kinds], np.int32),
                "divides": np.array([kind.divides for kind in kinds], np.bool_),
                "breaks": np.array([_breaks(kind.text) for kind in kinds], np.bool_),
            }
        )
    return tables[0], tables[1]


def _mark(kind: Glue) -> int:
    """Returns the kind of a glue: what ends before it, and whether it has a mark or a dash."""
    text = kind.text
    end = next((n for n, marks in enumerate(_ENDS) if not set(marks).isdisjoint(text)), len(_ENDS))
    quoted = 1 if kind.opens else 2 if kind.marks else 0
    bracket = max(-1, min(1, kind.brackets)) + 1
    return ((end * 3 + quoted) * 3 + bracket) * 4 + 2 * ("^" in text) + kind.has_dash


def _breaks(text: str) -> bool:
    return "^" not in text and not {"?", "!", "\u2014"}.isdisjoint(text)


def _rate(
    hits: NDArray,
    counts: NDArray,
    limits: Sequence[float],
    sizes: Sequence[int],
    by_hits: bool = False,
) -> Hashes:
    """Returns the level of a share, together with the level of what it is a share of."""
    share = np.digitize(hits / np.maximum(counts, 1), limits)
    return (np.digitize(hits if by_hits else counts, sizes) * 8 + share).astype(np.uint32)


def _log_ratio(said: NDArray, told: NDArray, share: float) -> NDArray:
    """Returns how much oftener than others words are said, as a logarithm."""
    usual = np.log(share / (1 - share))
    return np.log((said + _FEW * share) / (told + _FEW * (1 - share))) - usual


def _running(steps: Ints, at: Ints, number: Ints) -> Ints:
    """Returns the sum of the steps from the start of the block on."""
    total = np.cumsum(steps)
    return total - (total[at] - steps[at])[number]


def _last_kind(kinds: NDArray, is_inner: Bools, starts: Bools) -> Hashes:
    """Returns the kind of the last dash before each clause in its block, or 0."""
    places = np.arange(len(kinds))
    last = np.maximum.accumulate(np.where(is_inner, places, -1))
    previous = np.concatenate([[-1], last[:-1]])
    start = np.maximum.accumulate(np.where(starts, places, 0))
    return np.where(previous >= start, kinds[previous], 0).astype(np.uint32)


def _shifted(column: Hashes, starts: Bools) -> Hashes:
    """Returns the column of the clause before in the same block."""
    found = np.concatenate([np.full(1, _NO_CLAUSE, np.uint32), column[:-1]])
    return np.where(starts, _NO_CLAUSE, found).astype(np.uint32)


def _habit(dashed: Bools, block: Ints, is_inner: Bools, case: Hashes) -> int:
    """Returns how the book uses dashes inside paragraphs that a dash opens."""
    inside = is_inner & dashed[block]
    n_with = len(np.unique(block[inside]))
    often = np.digitize(n_with / max(1, int(dashed.sum())), (0.01, 0.05, 0.15, 0.35))
    small = np.digitize(np.mean(case[inside] == 0) if n_with else 0.0, (0.3, 0.6, 0.85))
    return int(often * 4 + small)
