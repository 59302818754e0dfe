"""Chapters -> token windows for an encoder, and from what it says of them a vector per utterance.

The encoder reads running text, with its separator token between paragraphs, so that the vectors of
an utterance depend on the narration and the speech around it. A chapter is longer than a window, so
it is cut into overlapping windows of the same length. The vector of a token comes from the window
in which the token is farthest from an edge. Alternatively the encoder reads each span alone, as in
"Mining Conversations from Novels".

Encoded windows are added one by one and are not kept. A chapter of any length needs the memory of
three vectors per utterance, and these are the same bit by bit, no matter which windows were encoded
in one batch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from miner.errors import InputError
from miner.files import reason_of
from miner.tagger.config import TaggingConfig
from miner.tagger.features import Chapter, Paragraph
from miner.tokenizer_trial import is_panic

_N_SPECIAL = 2  # special tokens of a window: one before the text and one after it
Range = tuple[int, int]  # the first token and the token after the last


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens to encode at once."""

    ids: tuple[int, ...]  # the tokens, special tokens included
    # the tokens whose vectors are used, counted without the special tokens. The others are
    # context.
    taken: Range
    start: int  # the number in the chapter of the first token in `taken`


@dataclass(frozen=True, slots=True)
class Encoding:
    """A chapter in tokens."""

    windows: tuple[Window, ...]  # the windows; together they take each token once
    n_tokens: int  # the number of tokens, special tokens of windows excluded
    utterances: tuple[Range, ...]  # the tokens of each utterance
    # for each utterance, the tokens between the previous utterance and it. The range is empty
    # if there are none.
    narration: tuple[Range, ...]


UNREAD = Encoding((), 0, (), ())  # of a chapter whose text the encoder does not read


def encode_chapter(chapter: Chapter, tokenizer: Tokenizer, config: TaggingConfig) -> Encoding:
    """Returns the chapter in tokens, in the way that a model's config sets."""
    if config.context == "span":
        return encode_spans(chapter, tokenizer, config.window)
    return encode_text(chapter, tokenizer, config.window, config.margin, config.ends)


def sequence_slices(chapter: Chapter, n_paragraphs: int) -> list[slice]:
    """Returns the sequences that the BiLSTM reads at once, as slices of the chapter."""
    sizes = [len(paragraph.utterances) for paragraph in chapter.paragraphs if paragraph.utterances]
    if not n_paragraphs:
        return [slice(0, sum(sizes))]
    found: list[slice] = []
    start = 0
    for n in range(0, len(sizes), n_paragraphs):
        end = start + sum(sizes[n : n + n_paragraphs])
        found.append(slice(start, end))
        start = end
    return found


def encode_text(
    chapter: Chapter, tokenizer: Tokenizer, window: int, margin: int, ends: int = 0
) -> Encoding:
    """Returns the running text of a chapter in overlapping windows.

    The speaker, and whether a conversation continues, show near the ends of an utterance. Without
    the middle of long speech and narration, a window holds more turns and a chapter needs fewer
    windows.
    """
    tokens: list[int] = []
    utterances: list[Range] = []
    _, separator = find_special_tokens(tokenizer)
    paragraphs = [_shortened(paragraph, ends) for paragraph in chapter.paragraphs]
    encoded = tokenize([paragraph.text for paragraph in paragraphs], tokenizer)
    for paragraph, (ids, offsets) in zip(paragraphs, encoded, strict=True):
        at = 0
        for start, end in paragraph.utterances:
            inside = [n for n, (a, b) in enumerate(offsets) if a < end and b > start and b > a]
            low = max(inside[0], at) if inside else at  # a shared token is the first utterance's
            high = max(inside[-1] + 1, low) if inside else low
            tokens += _ends(ids[at:low], ends)
            first = len(tokens)
            tokens += _ends(ids[low:high], ends)
            utterances.append((first, len(tokens)))
            at = high
        tokens += [*_ends(ids[at:], ends), separator]
    narration: list[Range] = []
    before = 0
    for first, last in utterances:
        narration.append((min(before, first), first))
        before = max(last, before)
    windows = cut_windows(tokens, tokenizer, window, margin)
    return Encoding(windows, len(tokens), tuple(utterances), tuple(narration))


def encode_spans(chapter: Chapter, tokenizer: Tokenizer, window: int) -> Encoding:
    """Returns each utterance, and the narration before it, as a text of its own.

    A text is cut off at `window` tokens. "Mining Conversations from Novels" encodes spans alone in
    this way.
    """
    texts: list[str] = []
    pending = ""
    for paragraph in chapter.paragraphs:
        at = 0
        for start, end in paragraph.utterances:
            texts += [(pending + paragraph.text[at:start]).strip(), paragraph.text[start:end]]
            pending, at = "", end
        pending += paragraph.text[at:] + " "
    ranges: list[Range] = []
    windows: list[Window] = []
    n_tokens = 0
    room = window - _N_SPECIAL
    for ids, _ in tokenize(texts, tokenizer):
        ids = ids[:room]
        if ids:
            windows.append(Window(_with_special(ids, tokenizer), (0, len(ids)), n_tokens))
        ranges.append((n_tokens, n_tokens + len(ids)))
        n_tokens += len(ids)
    return Encoding(tuple(windows), n_tokens, tuple(ranges[1::2]), tuple(ranges[0::2]))


def _shortened(paragraph: Paragraph, ends: int) -> Paragraph:
    """Returns the paragraph without most of the words whose tokens would be left out.

    This saves tokenizing them. It is safe, since each word has at least one token, and its tokens
    do not depend on the words beside it.
    """
    if not ends:
        return paragraph
    text, at = "", 0
    utterances: list[Range] = []
    for start, end in paragraph.utterances:
        text += _outer_words(paragraph.text[at:start], ends)
        first = len(text)
        text += _outer_words(paragraph.text[start:end], ends)
        utterances.append((first, len(text)))
        at = end
    return Paragraph(text + _outer_words(paragraph.text[at:], ends), tuple(utterances))


def _outer_words(text: str, n: int) -> str:
    """Returns the first n and the last n words, with blanks; all of a short text."""
    if len(text) <= 4 * n:  # a word and its blank are at least two characters
        return text
    after = text.split(None, n)[n:]
    before = text.rsplit(None, n)
    if not after or len(before) <= n or len(after[0]) < len(text) - len(before[0]):
        return text
    return text[: len(text) - len(after[0])] + text[len(before[0]) :]


def _ends(ids: list[int], n: int) -> list[int]:
    """Returns the first n and the last n tokens; all of them if n is 0 or they are few."""
    return ids if not n or len(ids) <= 2 * n else ids[:n] + ids[-n:]


def cut_windows(
    tokens: Sequence[int], tokenizer: Tokenizer, window: int, margin: int
) -> tuple[Window, ...]:
    """Returns windows of the same length over all tokens, so that none needs padding."""
    room = window - _N_SPECIAL
    if room <= 2 * margin:
        raise InputError(
            f"found a window of {window} tokens and margins of {margin}, expected room between them"
        )
    n = len(tokens)
    if n <= room:
        return (Window(_with_special(tokens, tokenizer), (0, n), 0),) if n else ()
    count = -(-(n - 2 * margin) // (room - 2 * margin))
    starts = [(n - room) * k // (count - 1) for k in range(count)]
    seams = [
        (after + before + room) // 2 for before, after in zip(starts, starts[1:], strict=False)
    ]
    windows = []
    for start, low, high in zip(starts, [0, *seams], [*seams, n], strict=True):
        ids = _with_special(tokens[start : start + room], tokenizer)
        windows.append(Window(ids, (low - start, high - start), low))
    return tuple(windows)


def batch_windows(
    windows: Sequence[Window], step: int, tokens: int
) -> Iterator[tuple[int, list[int]]]:
    """Yields batches of windows of about the same length, so that they need little padding."""
    lengths: dict[int, list[int]] = {}
    longest = max((len(window.ids) for window in windows), default=0)
    for n, window in enumerate(windows):
        length = min(-(-len(window.ids) // step) * step, longest)
        lengths.setdefault(length, []).append(n)
    for length, numbers in lengths.items():
        rows = max(1, tokens // length)
        for at in range(0, len(numbers), rows):
            yield length, numbers[at : at + rows]


def tokenize(
    texts: Sequence[str], tokenizer: Tokenizer
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Returns the tokens of each text without special tokens, and their character ranges."""
    if not texts:
        return []
    try:
        encoded = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        # The library raises no narrower error.
        raise InputError(
            f"found a text at which the tokenizer fails: {reason_of(error)}"
        ) from error
    return [(item.ids, item.offsets) for item in encoded]


def find_special_tokens(tokenizer: Tokenizer) -> tuple[int, int]:
    """Returns the token before a window and the one after it, which also separates paragraphs."""
    ids = tokenizer.encode("").ids
    if len(ids) != _N_SPECIAL:
        raise InputError(
            f"found a tokenizer that adds {len(ids)} tokens to a text, "
            "expected that of an encoder, which adds one at each end"
        )
    first, last = ids
    return first, last


def plain_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """Returns a copy of a tokenizer that neither cuts nor pads texts."""
    plain = Tokenizer.from_str(tokenizer.to_str())
    make_plain(plain)
    return plain


def make_plain(tokenizer: Tokenizer) -> None:
    """Changes a tokenizer so that it neither cuts nor pads texts."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    find_special_tokens(tokenizer)


def _with_special(ids: Sequence[int], tokenizer: Tokenizer) -> tuple[int, ...]:
    first, last = find_special_tokens(tokenizer)
    return (first, *ids, last)


Vectors = NDArray[np.float32]


class WindowParts(NamedTuple):
    """What the tokens of a window add to the vectors of a chapter.

    The parts of a chapter of n utterances are numbered: utterance k is part k, the narration
    before it is part n + k, and the tokens of neither are part 2n.
    """

    taken: slice  # the tokens of the window that are taken, as a slice
    parts: NDArray[np.intp]  # the numbers of the parts in it: (parts,)
    shares: Vectors  # the share of each token in the mean of each part: (parts, taken tokens)
    begun: slice  # the utterances that begin in it, as a slice
    first: NDArray[np.intp]  # the taken tokens with which they begin: (utterances,)


class Parts:
    """The parts of a chapter, and which of them are in a window."""

    def __init__(self, encoding: Encoding) -> None:
        """Prepares the parts of a chapter in tokens."""
        n = len(encoding.utterances)
        ranges = (*encoding.utterances, *encoding.narration)
        part_of = np.full(encoding.n_tokens, 2 * n)
        for part, (low, high) in enumerate(ranges):
            part_of[low:high] = part
        sizes = [max(high - low, 1) for low, high in ranges]
        last = max(encoding.n_tokens - 1, 0)
        self.n_utterances = n
        self._part_of = part_of
        self._sizes = np.array([*sizes, 1], dtype=np.float32)
        self._starts = [min(low, last) for low, _ in encoding.utterances]

    def of_window(self, window: Window) -> WindowParts:
        """Returns what a window adds."""
        low, high = window.taken
        end = window.start + high - low
        # A small matrix product is several times as fast as adding row by row.
        parts, row_of = np.unique(self._part_of[window.start : end], return_inverse=True)
        is_of = row_of == np.arange(len(parts))[:, None]
        begun = slice(bisect_left(self._starts, window.start), bisect_left(self._starts, end))
        return WindowParts(
            slice(1 + low, 1 + high),  # skips the first special token
            parts,
            is_of.astype(np.float32) / self._sizes[parts, None],
            begun,
            np.array(self._starts[begun], dtype=np.intp) - window.start,
        )


@dataclass(slots=True)
class Pooling:
    """Adds up the windows of a chapter to the vectors of its utterances."""

    parts: Parts
    means: Vectors
    first: Vectors

    @classmethod
    def of(cls, encoding: Encoding, size: int) -> Pooling:
        """Returns empty sums of a chapter."""
        parts = Parts(encoding)
        n = parts.n_utterances
        means, first = np.zeros((2 * n + 1, size), np.float32), np.zeros((n, size), np.float32)
        return cls(parts, means, first)

    def add(self, window: Window, vectors: Vectors) -> None:
        """Adds the vectors of all tokens of a window, (tokens, size). Windows come in any order."""
        of_window = self.parts.of_window(window)
        taken = vectors[of_window.taken]
        self.means[of_window.parts] += of_window.shares @ taken  # a part is in it once
        self.first[of_window.begun] = taken[of_window.first]

    def vectors(self) -> Vectors:
        """Returns the vectors of the utterances: (utterances, 3 x size).

        A vector joins three: the mean over the utterance's tokens, its first token, and the mean
        over the narration since the previous utterance (zeros if there is none).
        """
        spoken, narrated = np.split(self.means[:-1], 2)
        return np.concatenate([spoken, self.first, narrated], axis=1)
