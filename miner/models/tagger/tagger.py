"""The tagger of a trained model, which is interchangeable with the heuristics."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from miner.dialogue.spans import BookSpans
from miner.dialogue.tags import TAGS, Tag, TaggedSpan
from miner.models.tagger.decoding import marginals, viterbi
from miner.models.tagger.encoding import (
    UNREAD,
    Encoding,
    Window,
    batch_windows,
    encode_chapter,
    sequence_slices,
)
from miner.models.tagger.features import Chapter, split_chapters
from miner.models.tagger.model import ConversationTagger
from miner.models.tagger.pooling import Pooling

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# By kind of device. On a CPU this is the fastest of 1,024 to 8,192; on a GPU it is not measured.
_TOKENS_AT_ONCE = {"cpu": 4096, "cuda": 65_536}
_PAD_TO = 64  # tokens; windows that are not full are padded to a multiple of it
_UTTERANCES_AT_ONCE = 16_384  # in the chapters that the BiLSTM reads side by side
ScoredChapters = list[tuple[Chapter, NDArray[np.float32]]]


@dataclass(slots=True)
class _OpenBook:
    """A book whose windows are being encoded; `n_waiting` of them are not encoded yet."""

    chapters: list[Chapter]
    poolings: list[Pooling]
    n_waiting: int = 0
    n_windows: int = 0
    n_words: int = 0
    n_told: int = 0  # of the words, to `on_words`


_WaitingWindow = tuple[Window, Pooling, _OpenBook]  # a window, and where its vectors go


@dataclass(frozen=True, slots=True)
class NeuralTagger:
    """Tags books with a trained model. The confidence of a tag is its marginal probability."""

    model: ConversationTagger
    tokenizer: PreTrainedTokenizerBase

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """Returns one tagged span per span; the tags are an allowed sequence.

        As in training, each chapter opens a conversation. Narration has the confidence None.
        """
        (scored,) = self.score_books([split_chapters(book_spans)])
        return self.decode_book(book_spans, scored)

    def decode_book(self, book_spans: BookSpans, scored: ScoredChapters) -> list[TaggedSpan]:
        """Returns the spans of a book with the best tags by the scores of its chapters."""
        config = self.model.config
        return decode_scores(book_spans, scored, config.start_offset, config.confidence_temperature)

    def score_chapter(self, chapter: Chapter) -> NDArray[np.float32]:
        """Returns the scores of the tags in `decoding.TAGS` of a chapter: (utterances, 4)."""
        (((_, scores),),) = self.score_books([[chapter]])
        return scores

    def score_books(
        self,
        books: Iterable[Iterable[Chapter]],
        on_words: Callable[[int], None] | None = None,
    ) -> Iterator[ScoredChapters]:
        """Yields the chapters of each book with their scores, (utterances, 4), in order.

        Full windows are encoded in batches of the same shape, which may hold windows of several
        chapters and books. The scores of a book are the same bit by bit, no matter which books are
        scored beside it.

        Args:
            books: the chapters of each book. They are read when needed, one batch ahead.
            on_words: called after each batch with the words that were read since the last call.
        """
        tell = on_words or (lambda n_words: None)
        self.model.eval()
        length = self.model.config.window
        batch_size = max(1, self._tokens_at_once // length)
        open_books = deque[_OpenBook]()
        waiting = deque[_WaitingWindow]()
        for book_chapters in books:
            open_books.append(self._open_book(book_chapters, waiting))
            tell(_take_words(open_books))
            while len(waiting) >= batch_size:
                self._encode([waiting.popleft() for _ in range(batch_size)], length, batch_size)
                tell(_take_words(open_books))
                # Before the next batch: what is done is not lost with the books after it.
                while open_books and not open_books[0].n_waiting:
                    yield self._score_book(open_books.popleft())
            while open_books and not open_books[0].n_waiting:
                yield self._score_book(open_books.popleft())
        while waiting:
            rest = [waiting.popleft() for _ in range(min(batch_size, len(waiting)))]
            self._encode(rest, length, batch_size)
            tell(_take_words(open_books))
            while open_books and not open_books[0].n_waiting:
                yield self._score_book(open_books.popleft())

    def _open_book(
        self, book_chapters: Iterable[Chapter], waiting: deque[_WaitingWindow]
    ) -> _OpenBook:
        """Returns a book in tokens. Full windows join the queue; shorter ones are encoded now."""
        config = self.model.config
        book = _OpenBook([], [])
        shorter: list[_WaitingWindow] = []
        encodings: list[Future[Encoding]] = []
        with ThreadPoolExecutor(1) as pool:  # tokenizes a chapter while the next one is prepared
            for chapter in book_chapters:
                book.chapters.append(chapter)
                book.n_words += sum(len(item.text.split()) for item in chapter.paragraphs)
                encodings.append(pool.submit(encode_chapter, chapter, self.tokenizer, config))
        for encoding in (item.result() for item in encodings):
            size = self.model.encoder.config.hidden_size
            with torch.inference_mode():
                pooling = Pooling(encoding, size, self.model.device)
            book.poolings.append(pooling)
            book.n_waiting += len(encoding.windows)
            book.n_windows += len(encoding.windows)
            for window in encoding.windows:
                queue = waiting if len(window.ids) == config.window else shorter
                queue.append((window, pooling, book))
        windows = [window for window, _, _ in shorter]
        for length, numbers in batch_windows(windows, _PAD_TO, self._tokens_at_once):
            self._encode([shorter[n] for n in numbers], length, len(numbers))
        return book

    @property
    def _tokens_at_once(self) -> int:
        return _TOKENS_AT_ONCE.get(self.model.device.type, _TOKENS_AT_ONCE["cpu"])

    def _encode(self, items: Sequence[_WaitingWindow], length: int, batch_size: int) -> None:
        """Encodes windows in one batch; a smaller batch is filled up with copies of a window.

        The shape of a batch decides the order of additions, and so the last bits of the result.
        """
        windows = [window for window, _, _ in items]
        windows += windows[:1] * (batch_size - len(windows))
        with torch.inference_mode():
            encoded = self.model.read_windows(windows, length)
            for (window, pooling, book), vectors in zip(items, encoded, strict=False):
                pooling.add(window, vectors)
                book.n_waiting -= 1

    def _score_book(self, book: _OpenBook) -> ScoredChapters:
        """Returns the chapters of a book whose windows are encoded, with their scores."""
        found: list[NDArray[np.float32]] = []
        for group in _groups([len(chapter.places) for chapter in book.chapters]):
            sequences: list[slice] = []
            for chapter in book.chapters[group]:
                start = sequences[-1].stop if sequences else 0
                of_chapter = sequence_slices(chapter, self.model.config.paragraphs)
                sequences += [slice(start + part.start, start + part.stop) for part in of_chapter]
            features = np.concatenate([chapter.features for chapter in book.chapters[group]])
            with torch.inference_mode():
                vectors = torch.cat([pooling.vectors() for pooling in book.poolings[group]])
                on_device = torch.from_numpy(features).to(vectors.device)
                parts = self.model(UNREAD, on_device, sequences, vectors)
            scores = torch.cat([part.scores for part in parts]).float().cpu().numpy()
            ends = np.cumsum([len(chapter.places) for chapter in book.chapters[group]])
            found += np.split(scores, ends[:-1])
        return list(zip(book.chapters, found, strict=True))


def _take_words(open_books: Iterable[_OpenBook]) -> int:
    """Returns the words that were encoded since the last call, by the windows of their books."""
    n_words = 0
    for book in open_books:
        n_done = book.n_words - book.n_words * book.n_waiting // max(book.n_windows, 1)
        n_words += n_done - book.n_told
        book.n_told = n_done
    return n_words


def _groups(sizes: Sequence[int]) -> Iterator[slice]:
    """Yields slices of chapters that fit in memory when all are padded to the longest."""
    start, longest = 0, 0
    for n, size in enumerate(sizes):
        longest = max(longest, size)
        if n > start and (n + 1 - start) * longest > _UTTERANCES_AT_ONCE:
            yield slice(start, n)
            start, longest = n, size
    if sizes:
        yield slice(start, len(sizes))


def decode_scores(
    book_spans: BookSpans,
    scored: Iterable[tuple[Chapter, NDArray[np.floating]]],
    start_offset: float = 0.0,
    temperature: float = 1.0,
) -> list[TaggedSpan]:
    """Returns the spans of a book with the best allowed tags of each chapter, and their confidence.

    Args:
        book_spans: the book.
        scored: its chapters, each with the scores of its utterances, (utterances, 4).
        start_offset: added to the scores of B-START before decoding; confidence ignores it.
        temperature: the scores are divided by it before they become probabilities.
    """
    tags = [Tag.O] * len(book_spans.spans)
    confidence: list[float | None] = [None] * len(book_spans.spans)
    for chapter, scores in scored:
        probabilities = marginals(scores / temperature)
        best = viterbi(scores, start_offset)
        for place, tag, row in zip(chapter.places, best, probabilities, strict=True):
            tags[place] = tag
            confidence[place] = float(row[TAGS.index(tag)])
    return [TaggedSpan(*item) for item in zip(book_spans.spans, tags, confidence, strict=True)]
