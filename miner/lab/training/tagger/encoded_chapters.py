"""Examples -> the tensors that the model is trained and evaluated on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from miner.lab.training.tagger.training import autocast
from miner.lab.training.tagger.training_data import Example
from miner.tagger.encoding import UNREAD, Encoding, encode_chapter, sequence_slices
from miner.tagger.model import ConversationTagger, join_encodings


@dataclass(frozen=True, slots=True)
class EncodedChapter:
    """An example in tensors, on the device of the model."""

    encoding: Encoding  # the chapter in tokens; `encoding.UNREAD` if its text is not read
    features: Tensor  # (utterances, len(FEATURES))
    tags: Tensor  # the indices of the tags, as `Example.tags`: (utterances,)
    speakers: Tensor  # a number for each speaker, -1 where the speaker is unknown: (utterances,)
    sequences: list[slice]  # the sequences of utterances that the BiLSTM reads at once
    vectors: Tensor | None  # the vectors of the utterances if the encoder is frozen, else None
    soft_labels: Tensor | None  # those of its teachers, if it has any: (utterances, 2)


def join_chapters(chapters: Sequence[EncodedChapter]) -> EncodedChapter:
    """Returns several chapters as one, with the sequences of each, to be computed at once."""
    if len(chapters) == 1:
        return chapters[0]
    sequences: list[slice] = []
    n = 0
    for chapter in chapters:
        sequences += [slice(part.start + n, part.stop + n) for part in chapter.sequences]
        n += len(chapter.tags)
    vectors = [chapter.vectors for chapter in chapters if chapter.vectors is not None]
    soft_labels = [item.soft_labels for item in chapters if item.soft_labels is not None]
    return EncodedChapter(
        join_encodings([chapter.encoding for chapter in chapters]),
        torch.cat([chapter.features for chapter in chapters]),
        torch.cat([chapter.tags for chapter in chapters]),
        torch.cat([chapter.speakers for chapter in chapters]),
        sequences,
        torch.cat(vectors) if vectors else None,
        torch.cat(soft_labels) if soft_labels else None,
    )


@dataclass(frozen=True, slots=True)
class ChapterEncoder:
    """Makes tensors of examples; a frozen encoder reads a chapter only here."""

    model: ConversationTagger  # the model, on the device on which it is trained
    tokenizer: Tokenizer  # the tokenizer of its encoder; it neither cuts nor pads texts
    dtype: torch.dtype = torch.float32  # the type of numbers that the encoder computes with
    frozen: bool = False  # whether the encoder is not trained, so that its vectors stay the same
    # a folder that keeps the vectors of a frozen encoder from run to run.
    folder: Path | None = None

    def encode(self, examples: Iterable[Example], reads_text: bool = True) -> list[EncodedChapter]:
        """Returns the examples in tensors."""
        encoder_key = self._encoder_key() if self.frozen and self.folder else ""
        return [self._encode(example, reads_text, encoder_key) for example in examples]

    def _encode(self, example: Example, reads_text: bool, encoder_key: str) -> EncodedChapter:
        chapter, config, device = example.chapter, self.model.config, self.model.device
        if not reads_text:
            encoding = UNREAD
        elif example.encoding is not None:
            encoding = example.encoding
        else:
            encoding = encode_chapter(chapter, self.tokenizer, config.for_tagging())
        soft_labels = example.soft_labels
        return EncodedChapter(
            encoding,
            torch.from_numpy(chapter.features).to(device),
            torch.from_numpy(example.tags).to(device),
            torch.from_numpy(example.speakers).to(device),
            sequence_slices(chapter, config.paragraphs),
            self._vectors(encoding, encoder_key) if self.frozen and reads_text else None,
            None if soft_labels is None else torch.from_numpy(soft_labels).to(device),
        )

    def _vectors(self, encoding: Encoding, encoder_key: str) -> Tensor:
        """Returns the vectors of a chapter, from the folder if they are there."""
        device = self.model.device
        key = hashlib.sha256(f"{encoder_key} {encoding}".encode()).hexdigest()[:32]
        path = self.folder / f"{key}.pt" if self.folder else None
        if path and path.is_file():
            return torch.load(path, map_location=device, weights_only=True)
        self.model.eval()
        with torch.no_grad(), autocast(device.type, self.dtype):
            vectors = self.model.read_chapter(encoding)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}")
            torch.save(vectors, partial)
            partial.replace(path)
        return vectors

    def _encoder_key(self) -> str:
        """Returns a text that changes with all that decides the vectors, except the chapter."""
        config = self.model.encoder.config.to_json_string()
        return f"{_digest(self.model.encoder)} {config} {self.dtype}"


def _digest(module: nn.Module) -> str:
    """Returns a digest of all weights of a module."""
    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
