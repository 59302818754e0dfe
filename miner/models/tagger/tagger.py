"""A checkpoint -> a tagger, interchangeable with the heuristics."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from transformers import PreTrainedTokenizerFast

from miner.dialogue.spans import BookSpans
from miner.dialogue.tags import Tag, TaggedSpan
from miner.files import CHECKPOINT, CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, reason_of
from miner.models.tagger.decoding import TAGS, marginals, viterbi
from miner.models.tagger.encoding import (
    NOTHING,
    Encoding,
    Window,
    batches,
    encode_spans,
    encode_text,
)
from miner.models.tagger.features import Chapter, chapters
from miner.models.tagger.model import (
    ConversationTagger,
    TaggerConfig,
    refuse_another_version,
    sequence_slices,
)
from miner.models.tagger.pooling import Pooling
from miner.models.tagger.quantization import dequantize

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# By kind of device; on a CPU the fastest of 1,024 to 8,192, on a GPU not measured.
_TOKENS_AT_ONCE = {"cpu": 4096, "cuda": 65_536}
_BUCKET = 64  # tokens; windows that are not full are padded to a multiple
_UTTERANCES_AT_ONCE = 16_384  # of the chapters that the BiLSTM reads side by side
ScoredChapters = list[tuple[Chapter, NDArray[np.float32]]]


@dataclass(slots=True)
class _Reading:
    """A book whose windows are being read: its chapters, and how many windows are still to come."""

    chapters: list[Chapter]
    poolings: list[Pooling]
    left: int = 0


_Waiting = tuple[Window, Pooling, _Reading]  # where what is read of a window goes to


@dataclass(frozen=True, slots=True)
class NeuralTagger:
    """Tags books with a trained model; confidence is the marginal probability of the tag."""

    model: ConversationTagger
    tokenizer: PreTrainedTokenizerBase

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """One tagged span per span, in a legal sequence; narration has confidence None.

        A chapter begins a conversation, as in training.
        """
        (scored,) = self.scored([chapters(book_spans)])
        return self.tagged(book_spans, scored)

    def tagged(self, book_spans: BookSpans, scored: ScoredChapters) -> list[TaggedSpan]:
        """The spans of a book with the tags that the scores of its chapters come to."""
        config = self.model.config
        return decoded(book_spans, scored, config.start_offset, config.confidence_temperature)

    def scores(self, chapter: Chapter) -> NDArray[np.float32]:
        """The model's scores of `decoding.TAGS` for the utterances of a chapter: (n, 4)."""
        (((_, scores),),) = self.scored([[chapter]])
        return scores

    def scored(self, books: Iterable[Iterable[Chapter]]) -> Iterator[ScoredChapters]:
        """Each book's chapters with their scores, (utterances, 4), book by book.

        Full windows are read in batches of one shape that fill across chapters and books. A book's
        scores are the same, bit by bit, whatever books are read beside it.

        Args:
            books: their chapters; they are taken in as they are needed, a batch ahead.
        """
        self.model.eval()
        length = self.model.config.window
        rows = max(1, self._tokens_at_once // length)
        under_way = deque[_Reading]()
        waiting = deque[_Waiting]()
        for found in books:
            under_way.append(self._begun(found, waiting))
            while len(waiting) >= rows:
                self._read([waiting.popleft() for _ in range(rows)], length, rows)
            while under_way and not under_way[0].left:
                yield self._finished(under_way.popleft())
        while waiting:
            last = [waiting.popleft() for _ in range(min(rows, len(waiting)))]
            self._read(last, length, rows)
        for book in under_way:
            yield self._finished(book)

    def _begun(self, found: Iterable[Chapter], waiting: deque[_Waiting]) -> _Reading:
        """A book in tokens; its full windows wait for a batch, the few shorter ones are read."""
        config = self.model.config
        book = _Reading([], [])
        shorter: list[_Waiting] = []
        encodings: list[Future[Encoding]] = []
        with ThreadPoolExecutor(1) as pool:  # one chapter becomes tokens while the next is made
            for chapter in found:
                book.chapters.append(chapter)
                encodings.append(pool.submit(encode, chapter, self.tokenizer, config))
        for encoding in (item.result() for item in encodings):
            size = self.model.encoder.config.hidden_size
            with torch.inference_mode():
                pooling = Pooling(encoding, size, self.model.device)
            book.poolings.append(pooling)
            book.left += len(encoding.windows)
            for window in encoding.windows:
                queue = waiting if len(window.ids) == config.window else shorter
                queue.append((window, pooling, book))
        windows = [window for window, _, _ in shorter]
        for length, numbers in batches(windows, _BUCKET, self._tokens_at_once):
            self._read([shorter[n] for n in numbers], length, len(numbers))
        return book

    @property
    def _tokens_at_once(self) -> int:
        return _TOKENS_AT_ONCE.get(self.model.device.type, _TOKENS_AT_ONCE["cpu"])

    def _read(self, items: Sequence[_Waiting], length: int, rows: int) -> None:
        """Reads windows at once; where they are fewer than `rows`, with one of them repeated.

        A batch of another shape may be computed in another order, with other last digits.
        """
        windows = [window for window, _, _ in items]
        windows += windows[:1] * (rows - len(windows))
        with torch.inference_mode():
            read = self.model.read(windows, length)
            for (window, pooling, book), vectors in zip(items, read, strict=False):
                pooling.add(window, vectors)
                book.left -= 1

    def _finished(self, book: _Reading) -> ScoredChapters:
        """The chapters of a book whose windows are read, and their scores, of some at once."""
        found: list[NDArray[np.float32]] = []
        for group in _groups([len(chapter.places) for chapter in book.chapters]):
            cuts: list[slice] = []
            for chapter in book.chapters[group]:
                at = cuts[-1].stop if cuts else 0
                of_chapter = sequence_slices(chapter, self.model.config.paragraphs)
                cuts += [slice(at + cut.start, at + cut.stop) for cut in of_chapter]
            features = np.concatenate([chapter.features for chapter in book.chapters[group]])
            with torch.inference_mode():
                pooled = torch.cat([pooling.vectors() for pooling in book.poolings[group]])
                on_device = torch.from_numpy(features).to(pooled.device)
                parts = self.model(NOTHING, on_device, cuts, pooled)
            scores = torch.cat([part.scores for part in parts]).float().cpu().numpy()
            ends = np.cumsum([len(chapter.places) for chapter in book.chapters[group]])
            found += np.split(scores, ends[:-1])
        return list(zip(book.chapters, found, strict=True))


def _groups(sizes: Sequence[int]) -> Iterator[slice]:
    """Chapters in order, so many at once that they fit when all are padded to the longest."""
    start, longest = 0, 0
    for n, size in enumerate(sizes):
        longest = max(longest, size)
        if n > start and (n + 1 - start) * longest > _UTTERANCES_AT_ONCE:
            yield slice(start, n)
            start, longest = n, size
    if sizes:
        yield slice(start, len(sizes))


def decoded(
    book_spans: BookSpans,
    scored: Iterable[tuple[Chapter, NDArray[np.floating]]],
    start_offset: float = 0.0,
    temperature: float = 1.0,
) -> list[TaggedSpan]:
    """The spans of a book with the best legal tags of each chapter, and how sure they are.

    Args:
        book_spans: the book.
        scored: its chapters, each with the scores of `decoding.TAGS` for its utterances, (n, 4).
        start_offset: added to the scores of B-START before decoding.
        temperature: scores are divided by it before they are made probabilities.
    """
    tags = [Tag.O] * len(book_spans.spans)
    sure: list[float | None] = [None] * len(book_spans.spans)
    for chapter, scores in scored:
        probable = marginals(scores / temperature)
        for place, tag, row in zip(
            chapter.places, viterbi(scores, start_offset), probable, strict=True
        ):
            tags[place] = tag
            sure[place] = float(row[TAGS.index(tag)])
    return [TaggedSpan(*item) for item in zip(book_spans.spans, tags, sure, strict=True)]


def encode(chapter: Chapter, tokenizer: PreTrainedTokenizerBase, config: TaggerConfig) -> Encoding:
    """The chapter in tokens, as the config of a model has it."""
    if config.context == "span":
        return encode_spans(chapter, tokenizer, config.window)
    return encode_text(chapter, tokenizer, config.window, config.margin, config.ends)


def autocast(device: str) -> torch.autocast:
    """bfloat16 in training where the processor computes with it, else float32."""
    return torch.autocast(device, torch.bfloat16, enabled=computes_in_bfloat16(device))


def computes_in_bfloat16(device: str) -> bool:
    """Whether a kind of device has instructions for it; a CPU without takes longer with it."""
    if device.startswith("cuda"):
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device == "cpu" and torch.cpu._is_avx512_bf16_supported()


def load_checkpoint(path: Path, device: str | None = None, dtype: str = "float32") -> NeuralTagger:
    """The tagger of a checkpoint, on a GPU where there is one.

    Its encoder computes in `dtype`, "float32" or "bfloat16".

    Raises:
        ValueError: as `read_checkpoint` does.
    """
    model, tokenizer = read_checkpoint(path)
    chosen = device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.nn.Module.to(model, chosen)
    if dtype == "bfloat16":
        model.encoder.to(torch.bfloat16)
    return NeuralTagger(model, tokenizer)


def read_checkpoint(path: Path) -> tuple[ConversationTagger, PreTrainedTokenizerBase]:
    """The model of a checkpoint as it was trained, and its tokenizer.

    Raises:
        ValueError: if the folder holds no checkpoint of this kind, one of another version, or files
            that are cut short; names the file.
    """
    where = path / CHECKPOINT_CONFIG
    for name in CHECKPOINT:
        if not (path / name).is_file():
            raise ValueError(f"{path}: found no {name}, expected a checkpoint of `train.py`")
    try:
        record = json.loads(where.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{where}: found bad JSON ({error}), expected a config") from error
    refuse_another_version(record if isinstance(record, dict) else {}, where)
    try:
        model = ConversationTagger(TaggerConfig.from_dict(record))
        weights = dequantize(load_file(path / CHECKPOINT_WEIGHTS))
        lacking = model.load_state_dict(weights, strict=False)
        tokenizer = PreTrainedTokenizerFast.from_pretrained(path)
    except Exception as error:  # whatever the libraries raise at a broken file
        raise ValueError(f"{path}: cannot be loaded: {reason_of(error)}") from error
    if wrong := sorted([*lacking.missing_keys, *lacking.unexpected_keys]):
        raise ValueError(
            f"{path / CHECKPOINT_WEIGHTS}: found other weights than expected, first {wrong[0]}"
        )
    return model.eval(), tokenizer
