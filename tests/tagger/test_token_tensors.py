"""Chapters in tensors: batches of windows, the order of tokens, and several chapters as one."""

from itertools import pairwise

import pytest
import torch
from encoders import model_of, plain_of, sample

from heuristic.gap import GapTagger
from miner.lab.training.tagger.encoded_chapters import ChapterEncoder, join_chapters
from miner.lab.training.tagger.examples import examples_from_tagger
from miner.lab.training.tagger.steps import step_losses
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.tagger.config import Expert
from miner.tagger.encoding import Encoding, Window, encode_spans, encode_text
from miner.tagger.model import join_encodings, token_tensors

EXAMPLES = examples_from_tagger(sample(), GapTagger(150))[:3]
CPU = torch.device("cpu")


@pytest.mark.parametrize("at_once", [1, 100, 10_000])
@pytest.mark.parametrize("way", ["text", "span"])
def test_the_order_finds_the_tokens_of_the_chapter(at_once, way):
    plain, chapter = plain_of(), EXAMPLES[0].chapter
    encoding = encode_text(chapter, plain, 37, 4) if way == "text" else None
    encoding = encoding or encode_spans(chapter, plain, 24)
    tokens = [0] * encoding.n_tokens
    for window in encoding.windows:
        low, high = window.taken
        tokens[window.start : window.start + high - low] = window.ids[1 + low : 1 + high]
    found = token_tensors(encoding, 0, at_once, CPU)
    flat = torch.cat([batch.ids.flatten() for batch in found.batches])
    assert flat[found.order].tolist() == tokens
    assert sum(len(batch.ids) for batch in found.batches) == len(encoding.windows)
    for batch in found.batches:
        assert len(batch.ids) == 1 or batch.ids.numel() <= at_once
        assert batch.mask is None or not batch.ids[batch.mask == 0].any()
    ranges = [*encoding.utterances, *encoding.narration]
    assert len(found.bounds) == len(ranges)
    bounds = [*found.bounds.tolist(), len(found.members)]
    for (low, high), (first, last) in zip(ranges, pairwise(bounds), strict=True):
        assert found.members[first:last].tolist() == list(range(low, high))
    assert found.first.tolist() == [low for low, _ in encoding.utterances]


def test_windows_that_are_padded_have_a_mask():
    encoding = Encoding(
        (Window((1, 9, 2), (0, 1), 0), Window((1, *[8] * 4, 2), (0, 4), 1)), 5, ((0, 5),), ((0, 0),)
    )
    (batch,) = token_tensors(encoding, 7, 100, CPU).batches
    assert batch.ids.tolist() == [[1, 9, 2, 7, 7, 7], [1, 8, 8, 8, 8, 2]]
    assert batch.mask is not None and batch.mask.tolist() == [[1, 1, 1, 0, 0, 0], [1] * 6]


@pytest.mark.parametrize("paragraphs", [0, 4])
@pytest.mark.parametrize("frozen", [False, True])
def test_several_chapters_as_one_have_the_scores_that_they_have_alone(paragraphs, frozen):
    model = model_of(paragraphs=paragraphs)
    chapters = ChapterEncoder(model, plain_of(), frozen=frozen).encode(EXAMPLES)
    joined = join_chapters(chapters)
    with torch.no_grad():
        alone = [
            part
            for item in chapters
            for part in model(item.encoding, item.features, item.sequences, item.vectors)
        ]
        together = model(joined.encoding, joined.features, joined.sequences, joined.vectors)
    assert len(together) == len(alone) >= len(EXAMPLES)
    for one, other in zip(together, alone, strict=True):
        assert torch.allclose(one.scores, other.scores, atol=1e-5)
        assert torch.allclose(one.alike, other.alike, atol=1e-4)
    assert joined.tags.tolist() == [tag for item in chapters for tag in item.tags.tolist()]
    assert joined.encoding.n_tokens == sum(item.encoding.n_tokens for item in chapters)


def test_a_step_has_the_same_gradients_however_many_chapters_are_computed_at_once():
    model = model_of(dropout=0.0, masked=0.0)
    chapters = ChapterEncoder(model, plain_of()).encode(EXAMPLES)
    gradients, losses = [], []
    for at_once in (1, 2, 3, None):
        model.zero_grad()
        given = model, chapters, 1.0, Expert.TEXT, TrainingConfig(), CPU, torch.float32, at_once
        found = list(step_losses(*given))
        assert len(found) == -(-len(chapters) // (at_once or 1))
        assert sum(part.n for part in found) == sum(len(item.tags) for item in chapters)
        assert sum(part.n_tokens for part in found) == sum(
            len(window.ids) for item in chapters for window in item.encoding.windows
        )
        total = torch.stack([part.loss for part in found]).sum()
        total.backward()
        losses.append(total.item())
        gradients.append(
            torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
        )
    assert losses[1:] == pytest.approx(losses[:1] * 3, rel=1e-5)
    for other in gradients[1:]:
        assert torch.allclose(other, gradients[0], atol=1e-4 * gradients[0].abs().max())


def test_a_single_encoding_is_not_copied():
    encoding = encode_text(EXAMPLES[0].chapter, plain_of(), 64, 8)
    assert join_encodings([encoding]) is encoding
