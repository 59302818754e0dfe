"""Two editions of one text -> the pairs of letters that correspond to each other.

Editions differ in punctuation, hyphens, line breaks, page numbers and front matter. So only letters
and digits are compared, without case and accents.

Words are paired first, by patience diff (Bram Cohen). Runs of words that occur once in each text
are the anchors. The longest rising sequence of anchors is kept, each anchor is extended while the
words agree, and the gaps between are searched again for shorter runs. Small gaps go to `difflib`,
by word and then by letter ("to-day" and "today"). Text that still differs, or that was moved to
another place, stays unpaired.

A fingerprint of a span has enough of its letters to find it in a book, and too little to read it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from reprlib import repr as shown

from miner.errors import InputError

_RUNS = (8, 5, 3)  # words in an anchor, longest first; shorter runs pair by chance in large gaps
_SMALL_GAP = 10_000  # words of one side times words of the other; difflib is too slow for more
_SMALL_CHANGE = 120  # the most letters on either side of a gap that is compared by letter
_LIKE_WORDS = 0.3  # the least share of words in a gap that must pair, or none does
_LIKE_LETTERS = 0.6  # the same for letters, which pair by chance more often
_LIGATURES = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d"}  # NFKD keeps these

_Block = tuple[int, int, int]  # start in a, start in b, length
_Text = Sequence[str]  # words, or one string of letters
_Gap = tuple[int, int, int, int]  # start and end in a, start and end in b


@dataclass(frozen=True, slots=True)
class Letters:
    """The folded letters and digits of a text."""

    text: str  # the letters
    # for each letter, the offset of its character in the text. Offsets never fall, and two letters
    # of one ligature have the same offset.
    offsets: array[int]
    words: tuple[str, ...]  # the words, which join to `text`

    def within(self, start: int, end: int) -> tuple[int, int]:
        """Returns the range of letters between two character offsets."""
        return bisect_left(self.offsets, start), bisect_left(self.offsets, end)


class _Folding(dict[int, str]):
    """What each code point becomes: letters, nothing (an accent) or a space (other characters)."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    """Returns the letters of a character, "" for an accent or a space for another character."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return ""  # an accent, soft hyphen or joiner does not end the word
    plain = unicodedata.normalize("NFKD", character).casefold()
    plain = "".join(_LIGATURES.get(c, c) for c in unicodedata.normalize("NFKD", plain))
    return "".join(c for c in plain if c.isalnum()) or " "


_FOLDING = _Folding()


def fold_words(text: str) -> tuple[str, ...]:
    """Returns the words of a text in letters and digits, without case and accents.

    Characters are decomposed (NFKD), combining marks are dropped and the case is folded: "É" is
    "e", "ß" is "ss" and "½" is "12". "æ", "œ", "ø", "ł" and "đ" become "ae", "oe", "o", "l" and
    "d". Accents and invisible characters (soft hyphen, joiner) do not separate words; any other
    character, also the underscore, does.

    >>> fold_words("Phœbe’s _café_")
    ('phoebe', 's', 'cafe')
    """
    return tuple(text.translate(_FOLDING).split())


def fold_letters(text: str) -> Letters:
    """Returns the letters and digits of a text, folded as by `fold_words`, with their offsets."""
    folded = fold_words(text)
    pieces = map(_FOLDING.__getitem__, map(ord, text))
    offsets = array("q", [i for i, piece in enumerate(pieces) if piece != " " for _ in piece])
    return Letters("".join(folded), offsets, folded)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The letters of text `a` and their counterparts in text `b`.

    `blocks` are (start in a, start in b, length), counted in letters. They rise in both texts, and
    no two touch in both. The letters of a block are equal; letters outside have no counterpart.
    """

    a: Letters
    b: Letters
    blocks: tuple[_Block, ...]

    def paired(self, start: int, end: int) -> Iterator[_Block]:
        """Yields the blocks between two letters of `a`, cut to fit, in order."""
        first = bisect_right(self.blocks, start, key=lambda block: block[0]) - 1
        for k in range(max(first, 0), len(self.blocks)):
            at, to, length = self.blocks[k]
            if at >= end:
                return
            low, high = max(at, start), min(at + length, end)
            if low < high:
                yield low, to + low - at, high - low

    def to_b(self, start: int, end: int, share: float = 0.5) -> tuple[int, int] | None:
        """Returns where characters `start` to `end` of text a are in text b.

        The result reaches from the first letter that has a counterpart to the last. So it leaves
        out marks at the ends, and letters of a changed word at an end.
        """
        low, high = self.a.within(start, end)
        found = list(self.paired(low, high))
        if not found or sum(length for _, _, length in found) < share * (high - low):
            return None
        last = found[-1]
        return self.b.offsets[found[0][1]], self.b.offsets[last[1] + last[2] - 1] + 1

    def reversed(self) -> Alignment:
        """Returns the same pairs from `b` to `a`."""
        return Alignment(self.b, self.a, tuple((to, at, length) for at, to, length in self.blocks))


def align(a: str, b: str) -> Alignment:
    """Returns the pairs of letters of two editions of one text, by the method of this module.

    Time and memory grow about linearly with the length. Two novels of 160,000 words take about two
    seconds.
    """
    left, right = fold_letters(a), fold_letters(b)
    starts_a, starts_b = _starts(left.words), _starts(right.words)
    blocks: list[_Block] = []
    for i, j, n in _words_paired(left.words, right.words):
        blocks.append((starts_a[i], starts_b[j], starts_a[i + n] - starts_a[i]))
    changes = list(_gaps(blocks, (0, len(left.text), 0, len(right.text))))
    for change in changes:
        if max(change[1] - change[0], change[3] - change[2]) <= _SMALL_CHANGE:
            blocks.extend(_differ(left.text, right.text, change, _LIKE_LETTERS))
    return Alignment(left, right, _joined(sorted(blocks)))


def _starts(words: Sequence[str]) -> list[int]:
    """Returns the number of letters before each word and, last, of all letters."""
    return list(accumulate(map(len, words), initial=0))


def _gaps(blocks: Sequence[_Block], whole: _Gap) -> Iterator[_Gap]:
    """Yields the gaps between blocks that have text on both sides."""
    at, end_a, to, end_b = whole
    for i, j, n in (*blocks, (end_a, end_b, 0)):
        if i > at and j > to:
            yield at, i, to, j
        at, to = i + n, j + n


def _words_paired(a: Sequence[str], b: Sequence[str]) -> list[_Block]:
    """Returns the blocks of equal words, in order."""
    whole = (0, len(a), 0, len(b))
    blocks = _edges(a, b, whole)
    waiting = [(gap, 0) for gap in _gaps(blocks, whole)]
    while waiting:
        gap, level = waiting.pop()
        size = (gap[1] - gap[0]) * (gap[3] - gap[2])
        if size <= _SMALL_GAP:
            blocks.extend(_differ(a, b, gap, _LIKE_WORDS))
        elif level < len(_RUNS):
            found = _anchored(a, b, gap, _RUNS[level])
            blocks.extend(found)
            waiting.extend((inner, level + 1) for inner in _gaps(found, gap))
    return sorted(blocks)


def _edges(a: Sequence[str], b: Sequence[str], gap: _Gap) -> list[_Block]:
    """Returns the blocks of equal words with which two texts begin and end."""
    a0, a1, b0, b1 = gap
    most = min(a1 - a0, b1 - b0)
    head = 0
    while head < most and a[a0 + head] == b[b0 + head]:
        head += 1
    tail = 0
    while tail < most - head and a[a1 - tail - 1] == b[b1 - tail - 1]:
        tail += 1
    blocks = [(a0, b0, head), (a1 - tail, b1 - tail, tail)]
    return [block for block in blocks if block[2]]


def _anchored(a: Sequence[str], b: Sequence[str], gap: _Gap, run: int) -> list[_Block]:
    """Returns blocks grown from the runs of words that occur once on each side of a gap."""
    a0, a1, b0, b1 = gap
    once_a, once_b = _once(a, a0, a1, run), _once(b, b0, b1, run)
    pairs = [(i, once_b[words]) for words, i in once_a.items() if words in once_b]
    blocks: list[_Block] = []
    at, to = a0, b0
    for i, j in _rising(sorted(pairs)):
        if i < at or j < to:
            continue  # inside the block before
        end_i, end_j = i + run, j + run
        while i > at and j > to and a[i - 1] == b[j - 1]:
            i, j = i - 1, j - 1
        while end_i < a1 and end_j < b1 and a[end_i] == b[end_j]:
            end_i, end_j = end_i + 1, end_j + 1
        blocks.append((i, j, end_i - i))
        at, to = end_i, end_j
    return blocks


def _once(words: Sequence[str], start: int, end: int, run: int) -> dict[tuple[str, ...], int]:
    """Returns each run of words that occurs once from `start` to `end`, with its start."""
    first: dict[tuple[str, ...], int] = {}
    again: set[tuple[str, ...]] = set()
    part = words[start:end]
    for i, key in enumerate(zip(*(part[k:] for k in range(run)), strict=False), start):
        if first.setdefault(key, i) != i:
            again.add(key)
    for key in again:
        del first[key]
    return first


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the longest part of the sequence that rises in the second number, too."""
    tops: list[int] = []  # tops[n]: smallest end of a rising sequence of n + 1
    ends: list[int] = []  # which pair that end belongs to
    before: list[int] = []
    for k, (_, j) in enumerate(pairs):
        n = bisect_left(tops, j)
        before.append(ends[n - 1] if n else -1)
        tops[n : n + 1] = [j]
        ends[n : n + 1] = [k]
    chosen: list[tuple[int, int]] = []
    k = ends[-1] if ends else -1
    while k >= 0:
        chosen.append(pairs[k])
        k = before[k]
    return chosen[::-1]


def _differ(a: _Text, b: _Text, gap: _Gap, likeness: float) -> list[_Block]:
    """Returns the matching blocks of a small gap by `difflib`; none if the sides are unlike."""
    a0, a1, b0, b1 = gap
    matcher = SequenceMatcher(None, a[a0:a1], b[b0:b1], autojunk=False)
    blocks = [(a0 + i, b0 + j, n) for i, j, n in matcher.get_matching_blocks() if n]
    # Without this a few words would pair all over a long passage that only one edition has.
    paired = sum(n for _, _, n in blocks)
    return blocks if 2 * paired >= likeness * (a1 - a0 + b1 - b0) else []


def _joined(blocks: Sequence[_Block]) -> tuple[_Block, ...]:
    """Returns the blocks with those joined that touch in both texts."""
    joined: list[_Block] = []
    for i, j, n in blocks:
        if joined and (joined[-1][0] + joined[-1][2], joined[-1][1] + joined[-1][2]) == (i, j):
            i, j, before = joined.pop()
            n += before
        joined.append((i, j, n))
    return tuple(joined)


QUOTES = "\"'“”‘’„‚«»"  # marks of speech, which differ between editions
_PATTERN = re.compile(r"(?P<initials>\w*)\.(?P<letters>[0-9]{1,9})\.(?P<digest>[0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What an annotation keeps of the text of its span, written "initials.n_letters.digest"."""

    initials: str  # the first letter of each word, folded by `fold_words`
    n_letters: int  # the number of letters
    # the first 8 hexadecimal digits of the SHA-256 of the letters. For a span without letters
    # ("——!") it is of all characters but quotation marks.
    digest: str

    def __str__(self) -> str:
        return f"{self.initials}.{self.n_letters}.{self.digest}"


def fingerprint(text: str) -> Fingerprint:
    """Returns the fingerprint of a span's text. Texts with the same letters have the same one.

    >>> str(fingerprint("“Don't _you_?”"))
    'dty.7.1ec0df8c'
    """
    folded = fold_words(text)
    letters = "".join(folded)
    digested = letters or "".join(c for c in text if c not in QUOTES).strip()
    digest = hashlib.sha256(digested.encode()).hexdigest()[:8]
    return Fingerprint("".join([word[0] for word in folded]), len(letters), digest)


def parse_fingerprint(written: str) -> Fingerprint:
    """Returns the fingerprint that `str` wrote."""
    match = _PATTERN.fullmatch(written)
    if match is None:
        raise InputError(
            f"found fingerprint {shown(written)}, "
            "expected initials, number of letters and 8 hexadecimal digits, with points between"
        )
    return Fingerprint(match["initials"], int(match["letters"]), match["digest"])
