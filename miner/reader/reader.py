"""The tagger of a reader: tags and speakers of a book by one model, which agree.

The model scores tags and candidates of each chapter at once. The tags are decoded as those of the
tagger are, the speakers by the chain of the attributor, to which the tags tell how likely the last
speaker goes on; then tags that open no conversation follow the speakers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Tokenizer

from miner.people.attributor import Decided, decide_by_scores, speak
from miner.people.cast import Character
from miner.people.chain import Scores
from miner.people.character_files import SpokenBook
from miner.people.features import CandidateChapter
from miner.people.mentions import read_people
from miner.reader.batch import ChapterEncoder, ReadChapter, group_by_tokens, join_chapters
from miner.reader.chapters import BookChapter, split_book
from miner.reader.model import ConversationReader
from miner.reader.units import read_units
from miner.speech.spans import BookSpans
from miner.tagger.decoding import TagScores
from miner.tagger.tagger import decode_scores, explained, finite
from miner.threads import one_blas_thread

TOKENS_AT_ONCE = {"cpu": 1, "cuda": 65_536}  # by kind of device; a whole chapter at least


class ChapterScores(NamedTuple):
    """What a reader says of a chapter."""

    tags: TagScores  # (utterances, 4)
    candidates: Scores  # of each way to speak of each candidate: (candidates, ways)


class ReaderDecider:
    """Decides who speaks by the scores of a reader; an `attributor.Decider`."""

    def __init__(self, scores: Mapping[tuple[int, ...], Scores]) -> None:
        """Takes the scores of candidates by the utterances of their chapter."""
        self._scores = scores

    def decide(self, chapter: CandidateChapter, continues: Sequence[float]) -> Decided:
        """Returns the speakers; see `Decider`."""
        return decide_by_scores(chapter, self._scores[chapter.spans], continues)


@dataclass(frozen=True, slots=True)
class ReaderTagger:
    """Tags books and finds their speakers with a reader."""

    model: ConversationReader
    tokenizer: Tokenizer
    folder: Path  # the checkpoint, which errors name

    @property
    def libraries(self) -> tuple[str, ...]:
        """The packages that compute the tags."""
        return "torch", "transformers", "tokenizers", "numpy"

    @one_blas_thread()
    def tag(
        self,
        book_spans: BookSpans,
        on_words: Callable[[int], None] | None = None,
        characters: Sequence[Character] | None = None,
    ) -> SpokenBook:
        """Returns the tags, the speakers and the characters of a book.

        `on_words` is called now and then with the number of words read since the last call. With
        `characters` the people of the book are those of the list.
        """
        tell = on_words or (lambda n_words: None)
        config = self.model.config.for_reading()
        people = read_people(book_spans, characters)
        chapters = list(split_book(people, book_spans))
        scored: list[ChapterScores] = []
        for item, scores in zip(chapters, self._score(chapters), strict=True):
            scored.append(scores)
            tell(sum(len(paragraph.text.split()) for paragraph in item.chapter.paragraphs))
        of_chapters = list(zip(chapters, scored, strict=True))
        tagged = decode_scores(
            book_spans,
            ((item.chapter, scores.tags) for item, scores in of_chapters),
            config.start_offset,
            config.confidence_temperature,
        )
        by_utterances = {item.candidates.spans: scores.candidates for item, scores in of_chapters}
        read = ((item.clues, item.candidates) for item in chapters)
        return speak(people, tagged, read, ReaderDecider(by_utterances), characters)

    def _score(self, chapters: Sequence[BookChapter]) -> Iterator[ChapterScores]:
        """Yields the scores of chapters, in order."""
        encoder = encoder_of(self.model, self.tokenizer)
        read = [
            encoder.encode(
                read_units(item.clues, self.tokenizer, encoder.n_tokens, encoder.config.ends),
                item.chapter.features,
                item.candidates,
            )
            for item in chapters
        ]
        at_once = TOKENS_AT_ONCE.get(self.model.device.type, 1)
        for numbers in group_by_tokens([len(one.units.tokens) for one in read], at_once):
            with explained(self.folder):
                found = score_chapters(self.model, [read[n] for n in numbers])
            for scores in found:
                finite(scores.tags, self.folder)
                finite(scores.candidates, self.folder)
            yield from found


def encoder_of(model: ConversationReader, tokenizer: Tokenizer) -> ChapterEncoder:
    """Returns what makes windows of chapters for a model."""
    n_tokens: int = model.encoder.config.vocab_size
    return ChapterEncoder(tokenizer, model.config.for_reading(), n_tokens, model.config.mask)


def score_chapters(
    model: ConversationReader, chapters: Sequence[ReadChapter]
) -> list[ChapterScores]:
    """Returns the scores of chapters that are read at once, in order."""
    with torch.inference_mode():
        found = model(join_chapters(chapters, model.device))
    tags, candidates = found.tags.float().cpu().numpy(), found.candidates.float().cpu().numpy()
    scores: list[ChapterScores] = []
    first = 0
    for rows, chapter in zip(tags, chapters, strict=True):
        sizes = [len(numbers) for numbers in chapter.candidates.candidates]
        end = first + sum(sizes)
        scores.append(ChapterScores(rows[: len(sizes)], candidates[first:end]))
        first = end
    return scores
