"""What a reader reaches on a split: its tags, and the speakers by the chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from miner.lab.training.reader.examples import ReaderExample, ReaderSplit
from miner.lab.training.tagger.model_selection import (
    EpochResult,
    fit_start_offset,
    mean_loss,
    score_decoded,
)
from miner.lab.training.tagger.training import autocast
from miner.people.attributor import decide_by_scores, odds_of_going_on
from miner.people.mentions import UNKNOWN_NUMBER
from miner.reader.batch import ChapterEncoder, group_by_tokens
from miner.reader.model import ConversationReader
from miner.reader.reader import TOKENS_AT_ONCE, ChapterScores, score_chapters
from miner.speech.tags import TaggedSpan
from miner.tagger.tagger import decode_scores

DEV_LOSS = "dev loss of tags"  # in the row of an epoch


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """What a reader reaches on dev after an epoch."""

    tags: EpochResult  # the tags by themselves, before they agree with the speakers
    speakers: float  # the share of utterances of a known speaker that have the right one, 0..1


def score_examples(
    model: ConversationReader,
    examples: Sequence[ReaderExample],
    encoder: ChapterEncoder,
    dtype: torch.dtype,
) -> list[ChapterScores]:
    """Returns the scores of chapters, in order."""
    model.eval()
    sizes = [len(example.units.tokens) for example in examples]
    found: list[ChapterScores] = []
    for numbers in group_by_tokens(sizes, TOKENS_AT_ONCE.get(model.device.type, 1)):
        chapters = [
            encoder.encode(example.units, example.structure, example.chapter)
            for example in (examples[n] for n in numbers)
        ]
        with autocast(model.device.type, dtype):
            found += score_chapters(model, chapters)
    return found


def evaluate_reader(
    model: ConversationReader,
    split: ReaderSplit,
    name: str,
    encoder: ChapterEncoder,
    dtype: torch.dtype,
) -> ReaderResult:
    """Returns what a reader reaches on a split, with the best offset of B-START for it."""
    scores = score_examples(model, split.examples, encoder, dtype)
    rows = [item.tags for item in scores]
    offset = fit_start_offset(split.gold, rows)
    decoded = score_decoded(split.gold, rows, name, start_offset=offset)
    losses = {"tags": mean_loss(split.gold, rows)}
    return ReaderResult(EpochResult(losses, decoded), share_of_right(split, scores, offset))


def share_of_right(
    split: ReaderSplit,
    scores: Sequence[ChapterScores],
    start_offset: float = 0.0,
    temperature: float = 1.0,
) -> float:
    """Returns the share of the utterances of known speakers that have the right one, 0..1.

    As in use the chain decides, and the tags tell it how likely the last speaker goes on. An
    utterance whose speaker is not among the candidates counts as wrong, if the gold names one who
    is among the people of the chapter.
    """
    tagged: dict[str, Sequence[TaggedSpan]] = {}
    of_book: dict[str, list[int]] = {}
    for n, example in enumerate(split.gold.examples):
        of_book.setdefault(example.chapter.book, []).append(n)
    for spans in split.gold.book_spans:
        scored = ((split.gold.examples[n].chapter, scores[n].tags) for n in of_book[spans.book.id])
        tagged[spans.book.id] = decode_scores(spans, scored, start_offset, temperature)
    n_right = n_all = 0
    for gold, example, found in zip(split.gold.examples, split.examples, scores, strict=True):
        spans = tagged[example.book]
        odds = [odds_of_going_on(spans[place]) for place in gold.chapter.places]
        decided = decide_by_scores(example.chapter, found.candidates, odds)
        for numbers, target, speaker in zip(
            example.chapter.candidates, example.targets, decided.speakers, strict=True
        ):
            if numbers[target] != UNKNOWN_NUMBER:
                n_all += 1
                n_right += numbers[target] == speaker
    return n_right / n_all if n_all else 0.0
