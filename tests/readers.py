"""Readers with tiny encoders and random weights, and chapters as they read them."""

from functools import cache
from pathlib import Path

import torch
from encoders import encoder, plain_of, sample, tokenizer_of
from transformers import AutoConfig, AutoModel

from miner.people.mentions import read_people
from miner.reader.batch import ReadChapter
from miner.reader.chapters import BookChapter, split_book
from miner.reader.model import ConversationReader, ReaderConfig
from miner.reader.reader import encoder_of, score_chapters
from miner.reader.units import read_units
from miner.tagger.head import OUTCOME_OF_TAG

SIZES = {"width": 16, "hidden": 8, "pointer": 8, "first": 12, "second": 8}
SHAPE = {"window": 64, "overlap": 16, **SIZES}


def reader_of(kind: str = "bert", seed: int = 11, **shape) -> ConversationReader:
    """A model with the encoder's weights and random heads that give several tags and speakers."""
    config = AutoConfig.from_pretrained(encoder(kind)).to_dict()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        mask = tokenizer_of(kind).mask_token_id or 0
        model = ConversationReader(ReaderConfig(encoder=config, mask=mask, **(SHAPE | shape)))
    model.encoder.load_state_dict(
        AutoModel.from_pretrained(encoder(kind)).state_dict(), strict=False
    )
    with torch.no_grad():  # otherwise nearly every utterance has the same tag
        model.outcomes.weight.mul_(20)
        model.outcomes.bias.zero_()
        (scores,) = score_chapters(model.eval(), [read_chapter(model, 0, kind)])
        means = scores.tags.mean(axis=0)[[OUTCOME_OF_TAG.index(n) for n in range(3)]]
        model.outcomes.bias.copy_(-torch.from_numpy(means))
    return model


def save_reader(folder: Path, kind: str = "bert", **shape) -> Path:
    """The checkpoint of a reader."""
    reader_of(kind, **shape).save_pretrained(folder)
    tokenizer_of(kind).save_pretrained(folder)
    return folder


@cache
def chapters_of_sample() -> tuple[BookChapter, ...]:
    """The chapters of the sample book with their people."""
    return tuple(split_book(read_people(sample()), sample()))


def read_chapter(model: ConversationReader, number: int, kind: str = "bert") -> ReadChapter:
    """A chapter of the sample, counted from 0, as a model reads it."""
    item, chapters = chapters_of_sample()[number], encoder_of(model, plain_of(kind))
    units = read_units(item.clues, plain_of(kind), chapters.n_tokens, chapters.config.ends)
    return chapters.encode(units, item.chapter.features, item.candidates)
