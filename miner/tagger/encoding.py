"""Chapters -> token windows for an encoder, and the place of each utterance in them.

The encoder reads running text, with its separator token between paragraphs, so that the vectors of
an utterance depend on the narration and the speech around it. A chapter is longer than a window, so
it is cut into overlapping windows of the same length. The vector of a token comes from the window
in which the token is farthest from an edge. Alternatively the encoder reads each span alone, as in
"Mining Conversations from Novels".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    """Tokens to encode at once.

    Attributes:
        ids: the tokens, special tokens included.
        taken: the tokens whose vectors are used, counted without the special tokens. The others
            are context.
        start: the number in the chapter of the first token in `taken`.
    """

    ids: tuple[int, ...]
    taken: Range
    start: int


@dataclass(frozen=True, slots=True)
class Encoding:
    """A chapter in tokens.

    Attributes:
        windows: the windows; together they take each token once.
        n_tokens: the number of tokens, special tokens of windows excluded.
        utterances: the tokens of each utterance.
        narration: for each utterance, the tokens between the previous utterance and it. The range
            is empty if there are none.
    """

    windows: tuple[Window, ...]
    n_tokens: int
    utterances: tuple[Range, ...]
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
    chapter: Chapter,
    tokenizer: Tokenizer,
    window: int,
    margin: int,
    ends: int = 0,
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
    encoded = _tokenized([paragraph.text for paragraph in paragraphs], tokenizer)
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
    windows = _windows(tokens, tokenizer, window, margin)
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
    for ids, _ in _tokenized(texts, tokenizer):
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


def _windows(
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


def _tokenized(
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
