"""A checkpoint -> a tagger, interchangeable with the heuristics."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast
from transformers.utils import logging

from miner.decoding import TAGS, marginals, viterbi
from miner.encoding import Encoding, encode_spans, encode_text
from miner.features import FEATURES, Chapter, chapters
from miner.files import CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS
from miner.model import FORMAT, ConversationTagger, TaggerConfig, pieces
from miner.spans import BookSpans
from miner.tags import Tag, TaggedSpan

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TOKENIZER = ("tokenizer.json", "tokenizer_config.json")


@dataclass(frozen=True, slots=True)
class NeuralTagger:
    """Tags a book with a trained model; confidence is the marginal probability of the tag."""

    model: ConversationTagger
    tokenizer: PreTrainedTokenizerBase

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """One tagged span per span, in a legal sequence; narration has confidence None.

        A chapter begins a conversation, as in training.
        """
        config = self.model.config
        scored = ((chapter, self.scores(chapter)) for chapter in chapters(book_spans))
        return decoded(book_spans, scored, config.start_offset, config.confidence_temperature)

    def scores(self, chapter: Chapter) -> NDArray[np.float32]:
        """The model's scores of `decoding.TAGS` for the utterances of a chapter: (n, 4)."""
        self.model.eval()
        device = self.model.device
        encoding = encode(chapter, self.tokenizer, self.model.config)
        features = torch.from_numpy(chapter.features).to(device)
        cuts = pieces(chapter, self.model.config.paragraphs)
        with torch.no_grad(), autocast(device.type):
            parts = self.model(encoding, features, cuts)
        return np.concatenate([part.scores.float().cpu().numpy() for part in parts])


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
    """bfloat16 where the processor computes with it, else float32.

    A CPU without bfloat16 instructions takes longer with it than without.
    """
    if device == "cuda":
        return torch.autocast("cuda", torch.bfloat16, enabled=torch.cuda.is_bf16_supported())
    has_it = device == "cpu" and torch.cpu._is_avx512_bf16_supported()
    return torch.autocast(device, torch.bfloat16, enabled=has_it)


def load_checkpoint(path: Path, device: str | None = None) -> NeuralTagger:
    """The tagger of a checkpoint, on a GPU where there is one.

    Raises:
        ValueError: if the folder holds no checkpoint of this kind, one of another version, or files
            that are cut short; names the file.
    """
    where = path / CHECKPOINT_CONFIG
    for name in (CHECKPOINT_CONFIG, CHECKPOINT_WEIGHTS, *TOKENIZER):
        if not (path / name).is_file():
            raise ValueError(f"{path}: found no {name}, expected a checkpoint of `train.py`")
    try:
        record = json.loads(where.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{where}: found bad JSON ({error}), expected a config") from error
    kind = record.get("model_type") if isinstance(record, dict) else None
    if kind != TaggerConfig.model_type:
        raise ValueError(f"{where}: found model type {kind}, expected {TaggerConfig.model_type}")
    if record.get("format") != FORMAT or record.get("feature_names") != list(FEATURES):
        raise ValueError(
            f"{where}: found a checkpoint of format {record.get('format')}, or of other features, "
            f"expected format {FORMAT} with our {len(FEATURES)}: train it again with this version"
        )
    logging.disable_progress_bar()
    try:
        loaded: Any = ConversationTagger.from_pretrained(path, output_loading_info=True)
        model, info = loaded
        tokenizer = PreTrainedTokenizerFast.from_pretrained(path)
    except Exception as error:  # whatever the libraries raise at a broken file
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path}: cannot be loaded: {reason}") from error
    if wrong := sorted([*info["missing_keys"], *info["unexpected_keys"]]):
        raise ValueError(
            f"{path / CHECKPOINT_WEIGHTS}: found other weights than expected, first {wrong[0]}"
        )
    chosen = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return NeuralTagger(model.to(chosen).eval(), tokenizer)
