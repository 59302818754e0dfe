"""Chapters -> token windows for an encoder, and where each utterance is in them.

An encoder reads running text, paragraphs parted by its separator token, so that what it makes of an
utterance has seen the narration and the speech around. A chapter is longer than the encoder's
window: it is cut into windows of one length that overlap, and each token is taken from the window
in which it stands farthest from an edge. Or it reads each span alone, as the seed work does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miner.models.tagger.features import Chapter, Paragraph

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_N_SPECIAL = 2  # tokens: before a window and after it
Range = tuple[int, int]  # first token and the token after the last


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of tokens to encode at once, special tokens included.

    Tokens `taken` of the window, counted without its special tokens, stand for tokens `start`
    onwards of the chapter.
    """

    ids: tuple[int, ...]
    taken: Range
    start: int


@dataclass(frozen=True, slots=True)
class Encoding:
    """A chapter in tokens.

    `windows` cover `n_tokens` tokens. `utterances` and `narration` have, per utterance, its tokens
    and those since the utterance before, which may be none.
    """

    windows: tuple[Window, ...]
    n_tokens: int
    utterances: tuple[Range, ...]
    narration: tuple[Range, ...]


NOTHING = Encoding((), 0, (), ())  # a chapter that is not read


def encode_text(
    chapter: Chapter,
    tokenizer: PreTrainedTokenizerBase,
    window: int,
    margin: int,
    ends: int = 0,
) -> Encoding:
    """The running text of a chapter, in overlapping windows.

    Who speaks and whether a talk goes on is told around the ends of what is said. Where the middle
    of long speeches and long narration is left out, a window holds more turns, and there are fewer
    windows to read.

    Args:
        chapter: what to encode.
        tokenizer: a fast one, since offsets are needed.
        window: most tokens of a window, special tokens included.
        margin: tokens at either end of a window that are only context, unless the chapter begins
            or ends there.
        ends: tokens that are kept at either end of an utterance, and of narration inside a
            paragraph; 0 to keep all.

    Raises:
        ValueError: if the margins leave no room in a window.
    """
    tokens: list[int] = []
    utterances: list[Range] = []
    _, separator = special_tokens(tokenizer)
    paragraphs = [_shortened(paragraph, ends) for paragraph in chapter.paragraphs]
    encoded = _tokenized([paragraph.text for paragraph in paragraphs], tokenizer)
    for paragraph, (ids, offsets) in zip(paragraphs, encoded, strict=True):
        at = 0
        for start, end in paragraph.utterances:
            inside = [n for n, (a, b) in enumerate(offsets) if a < end and b > start and b > a]
            low = max(inside[0], at) if inside else at  # a token of two is the first one's
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
    windows = _windows(tokens, tokenizer, window, margin)
    return Encoding(windows, len(tokens), tuple(utterances), tuple(narration))


def encode_spans(chapter: Chapter, tokenizer: PreTrainedTokenizerBase, window: int) -> Encoding:
    """Each utterance, and the narration before it, as a text of its own, cut off at the window.

    After "Mining Conversations from Novels", where each span is encoded alone.
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
    for ids, _ in _tokenized(texts, tokenizer):
        ids = ids[:room]
        if ids:
            windows.append(Window(_with_special(ids, tokenizer), (0, len(ids)), n_tokens))
        ranges.append((n_tokens, n_tokens + len(ids)))
        n_tokens += len(ids)
    return Encoding(tuple(windows), n_tokens, tuple(ranges[1::2]), tuple(ranges[0::2]))


def _shortened(paragraph: Paragraph, ends: int) -> Paragraph:
    """The paragraph without most of the words whose tokens would be left out.

    A word has one token or more, and none has more for what stands on the other side of a blank.
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
    """The text, or its first and last words, so many of each, with the blanks beside them."""
    if len(text) <= 4 * n:  # a word and its blank are two characters
        return text
    after = text.split(None, n)[n:]
    before = text.rsplit(None, n)
    if not after or len(before) <= n or len(after[0]) < len(text) - len(before[0]):
        return text
    return text[: len(text) - len(after[0])] + text[len(before[0]) :]


def _ends(ids: list[int], n: int) -> list[int]:
    """The tokens, or so many at either end of them."""
    return ids if not n or len(ids) <= 2 * n else ids[:n] + ids[-n:]


def _windows(
    tokens: Sequence[int], tokenizer: PreTrainedTokenizerBase, window: int, margin: int
) -> tuple[Window, ...]:
    """Windows over all tokens, all of one length, so that none has to be padded."""
    room = window - _N_SPECIAL
    if room <= 2 * margin:
        raise ValueError(
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


def batches(windows: Sequence[Window], step: int, tokens: int) -> Iterator[tuple[int, list[int]]]:
    """Windows of about one length together, so that little is padded.

    Args:
        windows: of any lengths.
        step: lengths are rounded up to a multiple of it, or to that of the longest window.
        tokens: at once, unless a single window has more.

    Yields:
        The length to pad to, and the numbers of the windows in a batch, in order.
    """
    lengths: dict[int, list[int]] = {}
    longest = max((len(window.ids) for window in windows), default=0)
    for n, window in enumerate(windows):
        length = min(-(-len(window.ids) // step) * step, longest)
        lengths.setdefault(length, []).append(n)
    for length, numbers in lengths.items():
        rows = max(1, tokens // length)
        for at in range(0, len(numbers), rows):
            yield length, numbers[at : at + rows]


def _tokenized(
    texts: Sequence[str], tokenizer: PreTrainedTokenizerBase
) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """The tokens of each text without special ones, and the characters of each token."""
    if not texts:
        return []
    encoded = tokenizer(
        list(texts),
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        truncation=False,
        verbose=False,
    )
    return list(zip(encoded["input_ids"], encoded["offset_mapping"], strict=True))


def special_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[int, int]:
    """The token before a window and the one after it, which also stands between paragraphs.

    Raises:
        ValueError: if the tokenizer has none.
    """
    first = _special(tokenizer.cls_token_id, tokenizer.bos_token_id)
    return first, _special(tokenizer.sep_token_id, tokenizer.eos_token_id)


def _with_special(ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    first, last = special_tokens(tokenizer)
    return (first, *ids, last)


def _special(*ids: object) -> int:
    """The first id that the tokenizer has."""
    found = next((id for id in ids if isinstance(id, int)), None)
    if found is None:
        raise ValueError("found a tokenizer without tokens for the ends, expected an encoder's")
    return found
