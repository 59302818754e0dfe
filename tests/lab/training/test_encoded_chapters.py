"""Examples in tensors: a frozen encoder reads a chapter once, and its vectors can be kept."""

import pytest
import torch
from encoders import model_of, plain_of, sample

from heuristic.gap import GapTagger
from miner.lab.training.tagger.encoded_chapters import ChapterEncoder
from miner.lab.training.tagger.training_data import examples_from_tagger
from miner.tagger.encoding import UNREAD, encode_chapter, sequence_slices

EXAMPLES = examples_from_tagger(sample(), GapTagger(150))[:2]


def same_vectors(one, other):
    return all(torch.equal(a.vectors, b.vectors) for a, b in zip(one, other, strict=True))


def test_a_chapter_in_tensors():
    model = model_of(paragraphs=4)
    example = EXAMPLES[0]
    (found,) = ChapterEncoder(model, plain_of()).encode([example])
    assert found.encoding == encode_chapter(example.chapter, plain_of(), model.config.for_tagging())
    assert found.sequences == sequence_slices(example.chapter, 4)
    assert found.features.tolist() == example.chapter.features.tolist()
    assert found.tags.tolist() == example.tags.tolist()
    assert found.speakers.tolist() == example.speakers.tolist()
    assert found.vectors is None


def test_a_frozen_encoder_reads_a_chapter_once():
    model = model_of()
    frozen = ChapterEncoder(model, plain_of(), frozen=True)
    (found,) = frozen.encode(EXAMPLES[:1])
    with torch.no_grad():
        expected = model.read_chapter(found.encoding)
    assert torch.allclose(found.vectors, expected, atol=1e-5)
    assert not found.vectors.requires_grad


@pytest.mark.parametrize("frozen", [False, True])
def test_a_chapter_whose_text_is_not_read_has_no_tokens(frozen):
    encoder = ChapterEncoder(model_of(), plain_of(), frozen=frozen)
    (found,) = encoder.encode(EXAMPLES[:1], reads_text=False)
    assert found.encoding == UNREAD and found.vectors is None
    assert len(found.features) == len(EXAMPLES[0].tags)


def test_vectors_are_kept_in_a_folder(tmp_path):
    folder = tmp_path / "vectors"
    first = ChapterEncoder(model_of(), plain_of(), frozen=True, folder=folder).encode(EXAMPLES)
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(made) == len(EXAMPLES)
    again = model_of()
    again.read_chapter = None  # what is in the folder is not read again
    second = ChapterEncoder(again, plain_of(), frozen=True, folder=folder).encode(EXAMPLES)
    assert same_vectors(first, second)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made


def test_vectors_of_anything_else_are_not_taken(tmp_path):
    other_weights = model_of()
    with torch.no_grad():
        next(other_weights.encoder.parameters()).mul_(1.5)
    encoders = [
        ChapterEncoder(model_of(), plain_of(), frozen=True, folder=tmp_path),
        ChapterEncoder(model_of(ends=2), plain_of(), frozen=True, folder=tmp_path),
        ChapterEncoder(other_weights, plain_of(), frozen=True, folder=tmp_path),
        ChapterEncoder(model_of(), plain_of(), torch.bfloat16, True, tmp_path),
    ]
    for n, encoder in enumerate(encoders, 1):
        encoder.encode(EXAMPLES)
        assert len(list(tmp_path.iterdir())) == n * len(EXAMPLES)
