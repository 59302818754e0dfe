"""The tagger of a trained model, which is interchangeable with the heuristics.

A chapter is read in this order: the structure expert scores all its utterances; the encoder reads
the windows that hold an utterance of which the structure expert is not sure; the text expert scores
the utterances that were read. A model without features reads all windows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from miner.errors import InputError
from miner.files import reason_of
from miner.speech.spans import BookSpans
from miner.speech.tags import TAGS, Tag, TaggedSpan
from miner.tagger.config import TaggingConfig
from miner.tagger.decoding import TagScores, marginals, viterbi
from miner.tagger.encoding import (
    Encoding,
    Pooling,
    Window,
    batch_windows,
    encode_chapter,
    sequence_slices,
)
from miner.tagger.features import Chapter, split_chapters
from miner.threads import one_blas_thread

_PAD_TO = 64  # tokens; windows that are not full are padded to a multiple of it

ScoredChapter = tuple[Chapter, TagScores]


class Runtime(Protocol):
    """Computes the parts of a model. Arrays are float32 unless they are said to be others."""

    size: int  # the size of the encoder's vectors
    tokens_at_once: int  # the tokens of a batch
    libraries: tuple[str, ...]  # the packages that compute the encoder, as they are installed

    def encode(self, windows: Sequence[Window], length: int) -> NDArray[np.float32]:
        """Returns the vectors of windows, padded to a length: (windows, length, size)."""
        ...

    def score_structure(self, features: NDArray[np.float32]) -> TagScores:
        """Returns the scores by the structure expert of a sequence: (utterances, 4)."""
        ...

    def score_text(
        self,
        vectors: NDArray[np.float32],
        features: NDArray[np.float32],
        structure: TagScores | None,
    ) -> TagScores:
        """Returns the scores by the text expert of a sequence, mixed with those of the structure.

        Args:
            vectors: (utterances, 3 x size), as `Pooling.vectors` gives them.
            features: (utterances, len(FEATURES)).
            structure: the scores of `score_structure`; None if the model has no features.
        """
        ...


@dataclass(slots=True)
class _OpenChapter:
    """A chapter whose windows are being encoded."""

    chapter: Chapter
    structure: TagScores | None  # the scores by the structure expert, if the model has one
    is_read: NDArray[np.bool_]  # the utterances that the windows take: (utterances,)
    pooling: Pooling  # the sums of the vectors
    n_waiting: int  # the windows that are not encoded yet
    n_untold: int  # the words that `on_words` has not been told of

    def take_words(self) -> int:
        """Returns the words read since the last call: all of a chapter that waits for no window."""
        n_words = self.n_untold // (self.n_waiting + 1)
        self.n_untold -= n_words
        return n_words


_WaitingWindow = tuple[Window, _OpenChapter]


@dataclass(frozen=True, slots=True)
class NeuralTagger:
    """Tags books with a trained model. The confidence of a tag is its marginal probability."""

    runtime: Runtime
    tokenizer: Tokenizer
    config: TaggingConfig

    @property
    def libraries(self) -> tuple[str, ...]:
        """Returns the packages that compute the tags, as they are installed."""
        return *self.runtime.libraries, "tokenizers", "numpy"

    def tag(
        self, book_spans: BookSpans, on_words: Callable[[int], None] | None = None
    ) -> list[TaggedSpan]:
        """Returns one tagged span per span; the tags are an allowed sequence.

        As in training, each chapter opens a conversation. Narration has the confidence None.
        `on_words` is called now and then with the number of words read since the last call.
        """
        config = self.config
        scored = self.score_chapters(split_chapters(book_spans), on_words)
        return decode_scores(book_spans, scored, config.start_offset, config.confidence_temperature)

    def score_chapter(self, chapter: Chapter) -> TagScores:
        """Returns the scores of a chapter."""
        ((_, scores),) = self.score_chapters([chapter])
        return scores

    def score_chapters(
        self, chapters: Iterable[Chapter], on_words: Callable[[int], None] | None = None
    ) -> Iterator[ScoredChapter]:
        """Yields chapters with their scores, in order.

        Full windows are encoded in batches that may hold windows of several chapters. Only the
        chapters of one batch are held in memory.
        """
        tell = on_words or (lambda n_words: None)
        n_at_once = max(1, self.runtime.tokens_at_once // self.config.window)
        open_chapters = deque[_OpenChapter]()
        waiting = deque[_WaitingWindow]()
        for chapter, encoding in self._encode_ahead(chapters):
            open_chapters.append(self._open(chapter, encoding, waiting))
            while len(waiting) >= n_at_once:
                self._encode([waiting.popleft() for _ in range(n_at_once)], self.config.window)
                tell(sum(item.take_words() for item in open_chapters))
            tell(open_chapters[-1].take_words())
            while open_chapters and not open_chapters[0].n_waiting:
                yield self._score(open_chapters.popleft())
        if waiting:
            self._encode(list(waiting), self.config.window)
        for item in open_chapters:
            tell(item.take_words())
            yield self._score(item)

    def _encode_ahead(self, chapters: Iterable[Chapter]) -> Iterator[tuple[Chapter, Encoding]]:
        """Yields chapters with their tokens; the next one is made in a thread meanwhile."""
        left = iter(chapters)

        def encode_next() -> tuple[Chapter, Encoding] | None:
            for chapter in left:
                return chapter, encode_chapter(chapter, self.tokenizer, self.config)
            return None

        with ThreadPoolExecutor(1) as pool:
            ahead = pool.submit(encode_next)
            while item := ahead.result():
                ahead = pool.submit(encode_next)
                yield item

    def _open(
        self, chapter: Chapter, encoding: Encoding, waiting: deque[_WaitingWindow]
    ) -> _OpenChapter:
        """Returns a chapter in tokens. Full windows join the queue; others are encoded now."""
        structure = None
        doubtful = np.ones(len(chapter.places), dtype=bool)
        if self.config.features:
            slices = sequence_slices(chapter, self.config.paragraphs)
            parts = [self.runtime.score_structure(chapter.features[part]) for part in slices]
            structure = np.concatenate(parts)
            doubtful = find_doubtful(structure, self.config.sure)
        windows, is_read = choose_windows(encoding, doubtful)
        pooling = Pooling.of(encoding, self.runtime.size)
        n_words = sum(len(paragraph.text.split()) for paragraph in chapter.paragraphs)
        item = _OpenChapter(chapter, structure, is_read, pooling, len(windows), n_words)
        shorter = [window for window in windows if len(window.ids) < self.config.window]
        waiting.extend((w, item) for w in windows if len(w.ids) == self.config.window)
        for length, numbers in batch_windows(shorter, _PAD_TO, self.runtime.tokens_at_once):
            self._encode([(shorter[n], item) for n in numbers], length)
        return item

    def _encode(self, items: Sequence[_WaitingWindow], length: int) -> None:
        """Encodes windows in one batch, and adds their vectors to those of their chapters."""
        encoded = self.runtime.encode([window for window, _ in items], length)
        with one_blas_thread():
            for (window, item), vectors in zip(items, encoded, strict=True):
                item.pooling.add(window, vectors)
                item.n_waiting -= 1

    def _score(self, item: _OpenChapter) -> ScoredChapter:
        """Returns a chapter whose windows are encoded, with its scores."""
        chapter, is_read = item.chapter, item.is_read
        if item.structure is not None and not is_read.any():
            return chapter, item.structure
        vectors = item.pooling.vectors()
        # The BiLSTM passes over utterances that were not read; a mean vector tells it nothing.
        vectors[~is_read] = vectors[is_read].mean(axis=0)
        parts: list[TagScores] = []
        for part in sequence_slices(chapter, self.config.paragraphs):
            structure = None if item.structure is None else item.structure[part]
            parts.append(self.runtime.score_text(vectors[part], chapter.features[part], structure))
        scores = np.concatenate(parts)
        if item.structure is not None:
            scores = np.where(is_read[:, None], scores, item.structure)
        return chapter, scores


def find_doubtful(structure: TagScores, sure: float) -> NDArray[np.bool_]:
    """Returns the utterances of which the structure expert is not sure: (utterances,).

    It gives one of three answers: a conversation opens, the turn continues, another turn opens.
    """
    if sure >= 1:  # a probability near 1 is rounded to 1
        return np.ones(len(structure), dtype=bool)
    answers = structure[:, :3].astype(np.float64)
    odds = np.exp(answers - answers.max(axis=1, keepdims=True))
    return odds.max(axis=1) / odds.sum(axis=1) < sure


def choose_windows(
    encoding: Encoding, doubtful: NDArray[np.bool_]
) -> tuple[list[Window], NDArray[np.bool_]]:
    """Returns the windows to read, and the utterances that they take whole: (utterances,).

    A window is read if it takes a token of a doubtful utterance, or of the narration before it.
    """
    places = list(zip(encoding.utterances, encoding.narration, strict=True))
    needed = np.zeros(encoding.n_tokens + 1, dtype=bool)
    for number in np.flatnonzero(doubtful):
        for low, high in places[number]:
            needed[low:high] = True
    if doubtful.all():
        needed[:] = True
    windows: list[Window] = []
    is_taken = np.zeros(encoding.n_tokens, dtype=bool)
    for window in encoding.windows:
        low, high = window.taken
        stretch = slice(window.start, window.start + high - low)
        if needed[stretch].any():
            windows.append(window)
            is_taken[stretch] = True
    is_read = [is_taken[slice(*own)].all() and is_taken[slice(*told)].all() for own, told in places]
    return windows, np.array(is_read, dtype=bool)


def decode_scores(
    book_spans: BookSpans,
    scored: Iterable[tuple[Chapter, NDArray[np.floating]]],
    start_offset: float = 0.0,
    temperature: float = 1.0,
) -> list[TaggedSpan]:
    """Returns the spans of a book with the best allowed tags of each scene, and their confidence.

    A scene opens a conversation. Scores are (utterances, 4). Confidence ignores `start_offset`,
    which is added to B-START; the scores are divided by the temperature before they become
    probabilities.
    """
    tags = [Tag.O] * len(book_spans.spans)
    confidence: list[float | None] = [None] * len(book_spans.spans)
    opens_scene = book_spans.find_scene_starts()
    for chapter, scores in scored:
        for part in scene_slices(chapter, opens_scene):
            probabilities = marginals(scores[part] / temperature)
            best = viterbi(scores[part], start_offset)
            for place, tag, row in zip(chapter.places[part], best, probabilities, strict=True):
                tags[place] = tag
                confidence[place] = float(row[TAGS.index(tag)])
    return [TaggedSpan(*item) for item in zip(book_spans.spans, tags, confidence, strict=True)]


def scene_slices(chapter: Chapter, opens_scene: Container[int]) -> list[slice]:
    """Returns the parts of the utterances of a chapter that are its scenes."""
    inner = (n for n, place in enumerate(chapter.places) if n and place in opens_scene)
    return [slice(*ends) for ends in pairwise((0, *inner, len(chapter.places)))]


# What the libraries say, each in its own kind of error, where memory is wanting.
_NO_MEMORY = ("allocate memory", "bad allocation", "bad_alloc", "out of memory")


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Replaces an error that a library raises when it computes a model."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # each library raises errors of its own
        if any(words in str(error) for words in _NO_MEMORY):
            raise MemoryError(f"{folder}: {reason_of(error)}") from error
        raise InputError(f"{folder}: cannot be computed: {reason_of(error)}") from error


def finite(scores: TagScores, folder: Path) -> TagScores:
    """Returns scores that a model computed."""
    if not np.isfinite(scores).all():
        raise InputError(f"{folder}: found scores with NaN or infinity, expected finite numbers")
    return scores
