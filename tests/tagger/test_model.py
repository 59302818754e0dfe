"""The network: vectors of the encoder, scores of sequences, and the mixture of both experts."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from encoders import HIDDEN, KINDS, model_of, plain_of, sample, save_checkpoint, tokenizer_of, told

from heuristic.gap import GapTagger
from miner.errors import InputError
from miner.lab.training.tagger.encoded_chapters import ChapterEncoder, join_chapters
from miner.lab.training.tagger.steps import step_losses
from miner.lab.training.tagger.training import sequence_loss
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import examples_from_tagger
from miner.tagger.checkpoint import load_checkpoint
from miner.tagger.config import Expert
from miner.tagger.encoding import (
    UNREAD,
    Encoding,
    Pooling,
    Window,
    encode_spans,
    encode_text,
    sequence_slices,
)
from miner.tagger.features import FEATURES, N_PLAIN, split_chapters
from miner.tagger.model import ConversationTagger, join_encodings, token_tensors


def chapter_of(*paragraphs):
    (chapter,) = split_chapters(told(paragraphs))
    return chapter


def features_of(chapter):
    return torch.from_numpy(chapter.features)


@torch.no_grad()
def scores_of(model, chapter, kind="bert"):
    encoding = encode_text(chapter, plain_of(kind), 64, 8)
    return torch.cat(
        [part.scores for part in model(encoding, features_of(chapter), sequence_slices(chapter, 0))]
    )


def score_sequences(model, pooled, features, experts=tuple(Expert)):
    """The scores of sequences whose vectors are known."""
    ends = np.cumsum([len(item) for item in pooled]).tolist()
    cuts = [slice(end - len(item), end) for end, item in zip(ends, pooled, strict=True)]
    return model(UNREAD, torch.cat(features), cuts, torch.cat(pooled), experts)


def first_chapter():
    return next(split_chapters(sample()))


@torch.no_grad()
def by_hand(model, encoding):
    """The vector of each token, every window encoded by itself."""
    tokens = torch.full((encoding.n_tokens, HIDDEN), torch.nan)
    for window in encoding.windows:
        low, high = window.taken
        vectors = model.encoder(torch.tensor([window.ids])).last_hidden_state[0]
        assert len(vectors) == len(window.ids)
        for n in range(low, high):
            tokens[window.start + n - low] = vectors[n + 1]
    return tokens


@pytest.mark.parametrize("kind", KINDS)
def test_any_encoder_gives_the_same_scores_after_saving_and_loading(kind, tmp_path):
    model = model_of(kind)
    chapter = first_chapter()
    scores = scores_of(model, chapter, kind)
    assert scores.shape == (len(chapter.places), 4)
    assert torch.isfinite(scores).all() and scores.std() > 0
    model.save_pretrained(tmp_path)
    loaded = ConversationTagger.from_pretrained(tmp_path)
    assert not loaded.training
    assert torch.equal(scores_of(loaded, chapter, kind), scores)
    for name in ("window", "margin", "projection", "hidden", "feature_names", "tags", "format"):
        assert getattr(loaded.config, name) == getattr(model.config, name)


@pytest.mark.parametrize("n", [1, 3])
def test_every_weight_gets_a_gradient(n):
    # Training with several processes waits for the gradient of every weight.
    model = model_of()
    chapter = chapter_of(
        *["He came. “Why?”", "“No.” She rose.", "“Come,” said he."][:n] * (n // 3 or 1)
    )
    encoding = encode_text(chapter, plain_of(), 64, 8)
    used = {expert: set() for expert in Expert}
    for expert in Expert:
        (part,) = model(encoding, features_of(chapter), [slice(0, n)], experts=[expert])
        part.scores.square().sum().backward()
        used[expert] = {name for name, item in model.named_parameters() if item.grad is not None}
        model.zero_grad()
    assert used[Expert.TEXT] | used[Expert.STRUCTURE] == set(dict(model.named_parameters()))
    assert used[Expert.STRUCTURE] == {
        n for n in used[Expert.STRUCTURE] if n.startswith("structure.")
    }
    assert not used[Expert.TEXT] & used[Expert.STRUCTURE]


def check_pooled(found, encoding, tokens):
    """Checks that vectors are the means and the first tokens of `tokens`."""
    assert found.shape == (len(encoding.utterances), 3 * HIDDEN)
    for row, (low, high), (a, b) in zip(
        found, encoding.utterances, encoding.narration, strict=True
    ):
        spoken, first, narrated = row.split(HIDDEN)
        assert torch.allclose(spoken, tokens[low:high].mean(0), atol=1e-5)
        assert torch.allclose(first, tokens[low], atol=1e-5)
        expected = tokens[a:b].mean(0) if b > a else torch.zeros(HIDDEN)
        assert torch.allclose(narrated, expected, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("window", "margin"), [(64, 16), (37, 4), (500, 32)])
def test_vectors_are_of_the_tokens_of_each_window_alone(kind, window, margin):
    model = model_of(kind)
    encoding = encode_text(first_chapter(), plain_of(kind), window, margin)
    with torch.no_grad():
        found = model.read_chapter(encoding)
    check_pooled(found, encoding, by_hand(model, encoding))


def test_vectors_of_spans_alone():
    model = model_of()
    encoding = encode_spans(first_chapter(), plain_of(), 24)
    with torch.no_grad():
        found = model.read_chapter(encoding)
    assert len({len(window.ids) for window in encoding.windows}) > 8
    check_pooled(found, encoding, by_hand(model, encoding))


def test_the_order_of_windows_does_not_change_the_vectors():
    encoding = encode_text(first_chapter(), plain_of(), 37, 4)
    model = model_of()
    with torch.no_grad():
        read = [model.read_windows([item], len(item.ids))[0].numpy() for item in encoding.windows]
    found = []
    for order in (range(len(read)), [*range(1, len(read), 2), *range(0, len(read), 2)]):
        pooling = Pooling.of(encoding, HIDDEN)
        for n in order:
            pooling.add(encoding.windows[n], read[n])
        found.append(pooling.vectors())
    np.testing.assert_allclose(*found, atol=1e-6)


def test_vectors_are_means_and_first_tokens():
    model = model_of()
    chapter = chapter_of("He came. “Why?” “No.”", "“Come,” said he.")
    encoding = encode_text(chapter, plain_of(), 20, 4)
    tokens = by_hand(model, encoding)
    with torch.no_grad():
        found = model.read_chapter(encoding)
    assert len(found) == 3
    assert encoding.narration[1][0] == encoding.narration[1][1]
    check_pooled(found, encoding, tokens)


def test_utterances_of_no_tokens():
    tokenizer = tokenizer_of()
    ids = (tokenizer.cls_token_id, 9, tokenizer.sep_token_id)
    for encoding in (
        Encoding((Window(ids, (0, 1), 0),), 1, ((0, 1), (1, 1)), ((0, 0), (1, 1))),
        Encoding((), 0, ((0, 0),), ((0, 0),)),
    ):
        with torch.no_grad():
            found = model_of().read_chapter(encoding)
        assert found.shape == (len(encoding.utterances), 3 * HIDDEN)
        assert torch.isfinite(found).all()
        assert (found[-1, :HIDDEN] == 0).all() and (found[-1, -HIDDEN:] == 0).all()


@pytest.mark.parametrize("features", [True, False])
def test_sequences_side_by_side_have_the_scores_they_have_alone(features):
    model = model_of(features=features, layers=2)
    generator = torch.Generator().manual_seed(1)
    lengths = (3, 9, 1)
    pooled = [torch.randn(n, 3 * HIDDEN, generator=generator) for n in lengths]
    extra = [torch.rand(n, len(FEATURES), generator=generator) for n in lengths]
    with torch.no_grad():
        together = score_sequences(model, pooled, extra)
        alone = [score_sequences(model, [a], [b])[0] for a, b in zip(pooled, extra, strict=True)]
        other = score_sequences(model, pooled, [item + 1 for item in extra])
    assert [tuple(item.scores.shape) for item in together] == [(n, 4) for n in lengths]
    for a, b in zip(together, alone, strict=True):
        assert torch.allclose(a.scores, b.scores, atol=1e-5)
        assert torch.allclose(a.alike, b.alike, atol=1e-5)
    assert torch.allclose(together[0].scores, other[0].scores) != features


def test_every_utterance_sees_the_whole_sequence():
    model = model_of()
    generator = torch.Generator().manual_seed(2)
    vectors = torch.randn(5, 3 * HIDDEN, generator=generator)
    extra = torch.zeros(5, len(FEATURES))
    with torch.no_grad():
        (before,) = score_sequences(model, [vectors], [extra])
        for changed in (0, 4):
            moved = vectors.clone()
            moved[changed] += torch.randn(3 * HIDDEN, generator=generator)
            (after,) = score_sequences(model, [moved], [extra])
            assert ((after.scores - before.scores).abs().amax(1) > 1e-7).all()


@pytest.mark.parametrize("paragraphs", [0, 1, 4, 100])
def test_sequences_hold_all_utterances_in_order(paragraphs):
    model = model_of()
    for chapter in split_chapters(sample()):
        cuts = sequence_slices(chapter, paragraphs)
        covered = [n for cut in cuts for n in range(cut.start, cut.stop)]
        assert covered == list(range(len(chapter.places)))
        with_speech = [len(item.utterances) for item in chapter.paragraphs if item.utterances]
        expected = -(-len(with_speech) // (paragraphs or len(with_speech)))
        assert len(cuts) == expected
        if paragraphs:
            whole = with_speech[:paragraphs]
            assert cuts[0] == slice(0, sum(whole))
    with torch.no_grad():
        pooled = torch.zeros(len(chapter.places), 3 * HIDDEN)
        found = model(UNREAD, features_of(chapter), cuts, pooled)
    assert [len(item.scores) for item in found] == [cut.stop - cut.start for cut in cuts]


def test_a_sequence_holds_whole_paragraphs():
    chapter = chapter_of("“Come,” said he, “and see.”", "It rained.", "“No.”", "“Why?” “So.”")
    assert sequence_slices(chapter, 2) == [slice(0, 3), slice(3, 5)]
    assert sequence_slices(chapter, 1) == [slice(0, 2), slice(2, 3), slice(3, 5)]
    assert sequence_slices(chapter, 0) == [slice(0, 5)]


def test_scores_do_not_depend_on_another_sequence():
    model = model_of()
    chapter = first_chapter()
    cuts = sequence_slices(chapter, 4)
    generator = torch.Generator().manual_seed(4)
    pooled, other = torch.randn(2, len(chapter.places), 3 * HIDDEN, generator=generator)
    moved = pooled.clone()
    moved[cuts[1]] = other[cuts[1]]
    with torch.no_grad():
        before = model(UNREAD, features_of(chapter), cuts, pooled)
        after = model(UNREAD, features_of(chapter), cuts, moved)
    same = [
        torch.allclose(a.scores, b.scores, atol=1e-6) for a, b in zip(before, after, strict=True)
    ]
    assert same == [n != 1 for n in range(len(cuts))]


def test_known_vectors_are_not_computed_again():
    model = model_of()
    chapter = first_chapter()
    encoding = encode_text(chapter, plain_of(), 64, 8)
    cuts = sequence_slices(chapter, 0)
    with torch.no_grad():
        (found,) = model(encoding, features_of(chapter), cuts)
        known = model.read_chapter(encoding)
        model.encoder = None
        (again,) = model(encoding, features_of(chapter), cuts, known)
    assert torch.equal(found.scores, again.scores)


def test_a_chapter_of_one_utterance():
    chapter = chapter_of("It rained.", "“Come.”")
    assert sequence_slices(chapter, 0) == [slice(0, 1)]
    scores = scores_of(model_of(), chapter)
    assert scores.shape == (1, 4)
    # B-START is the only legal tag, so it is certain at any score.
    assert float(sequence_loss(scores, torch.tensor([0]))) == pytest.approx(0, abs=1e-6)


def test_both_tags_that_continue_a_turn_have_the_same_score():
    scores = scores_of(model_of(), first_chapter())
    assert torch.equal(scores[:, 1], scores[:, 3])
    assert not torch.equal(scores[:, 0], scores[:, 2])


def test_speakers_are_compared_by_the_product_of_two_voices():
    model = model_of()
    voices = []
    model.text.voice.register_forward_hook(lambda module, given, made: voices.append(made[0]))
    generator = torch.Generator().manual_seed(4)
    vectors, extra = torch.randn(3, 3 * HIDDEN, generator=generator), torch.zeros(3, len(FEATURES))
    with torch.no_grad():
        (found,) = score_sequences(model, [vectors], [extra])
    bias = model.text.voice_bias
    for i in range(3):
        for apart in range(1, 9):
            product = voices[0][i] @ voices[0][i - apart] / 8 if i >= apart else 0.0
            assert torch.allclose(found.alike[i, apart - 1], product + bias, atol=1e-6)


def test_the_voice_of_the_previous_utterance_changes_the_scores():
    model = model_of()
    generator = torch.Generator().manual_seed(5)
    vectors, extra = torch.randn(3, 3 * HIDDEN, generator=generator), torch.zeros(3, len(FEATURES))
    with torch.no_grad():
        (before,) = score_sequences(model, [vectors], [extra])
        model.text.voice.weight.mul_(3.0)
        (after,) = score_sequences(model, [vectors], [extra])
    assert torch.equal(before.scores[0], after.scores[0])  # no utterance comes before the first
    assert not torch.allclose(before.scores[1:], after.scores[1:])


def odds_of(scores):
    """Log-odds that a conversation opens, and that the turn continues, by softmax of outcomes."""
    shares = scores[:, [0, 1, 2]].double().softmax(1)
    opens, goes_on = shares[:, 0], shares[:, 1] / shares[:, 1:].sum(1)
    return [torch.logit(item).float() for item in (opens, goes_on)]


def test_scores_are_a_mixture_of_both_experts():
    generator = torch.Generator().manual_seed(6)
    extra = torch.rand(3, len(FEATURES), generator=generator)
    one, other = torch.randn(2, 3, 3 * HIDDEN, generator=generator)
    model = model_of(start_share=0.3, turn_share=0.8)

    def scores(vectors, features, *experts):
        with torch.no_grad():
            return score_sequences(model, [vectors], [features], experts or tuple(Expert))[0].scores

    text, structure = scores(one, extra, Expert.TEXT), scores(one, extra, Expert.STRUCTURE)
    both = scores(one, extra)
    assert torch.allclose(both.exp()[:, [0, 1, 2]].sum(1), torch.ones(3))  # B-START, I-, B-OTHER
    opens = 0.3 * odds_of(text)[0] + 0.7 * odds_of(structure)[0]
    on = 0.8 * odds_of(text)[1] + 0.2 * odds_of(structure)[1]
    assert torch.allclose(odds_of(both)[0], opens, atol=1e-4)
    assert torch.allclose(odds_of(both)[1], on, atol=1e-4)
    assert torch.equal(both[:, 1], both[:, 3])
    assert not torch.allclose(text, scores(other, extra, Expert.TEXT))
    assert torch.equal(structure, scores(other, extra, Expert.STRUCTURE))
    # The text expert reads only the plain features.
    moved = extra.clone()
    moved[:, N_PLAIN:] += 1.0
    assert torch.equal(text, scores(one, moved, Expert.TEXT))
    assert not torch.allclose(structure, scores(one, moved, Expert.STRUCTURE))
    moved[:, N_PLAIN - 1] += 1.0
    assert not torch.allclose(text, scores(one, moved, Expert.TEXT))


def test_without_features_there_is_only_the_text_expert():
    model = model_of(features=False)
    vectors, extra = torch.randn(3, 3 * HIDDEN), torch.rand(3, len(FEATURES))
    with torch.no_grad():
        (found,) = score_sequences(model, [vectors], [extra])
        (text,) = score_sequences(model, [vectors], [extra * 2], [Expert.TEXT])
    assert model.structure is None
    assert torch.equal(found.scores, text.scores)


def test_the_structure_expert_does_not_read_the_text():
    model = model_of()
    chapter = first_chapter()
    encoding = encode_text(chapter, plain_of(), 64, 8)
    model.encoder = None
    (found,) = model(
        encoding, features_of(chapter), sequence_slices(chapter, 0), experts=[Expert.STRUCTURE]
    )
    assert len(found.scores) == len(chapter.places) and found.alike is None


def test_tokens_are_hidden_only_in_training():
    model = model_of(masked=1.0, mask=4, separator=3)
    chapter = first_chapter()
    encoding = encode_text(chapter, plain_of(), 64, 8)
    with torch.no_grad():
        plain = model.eval().read_chapter(encoding)
        model.config.masked = 0.0
        assert torch.equal(model.train().eval().read_chapter(encoding), plain)
        model.config.masked = 1.0
        model.train()
        model.encoder.eval()
        hidden = model.read_chapter(encoding)
    assert not torch.allclose(hidden, plain)
    ids = torch.tensor([[2, 9, 3, 8, 3]])
    assert model._hide_tokens(ids).tolist() == [[2, 4, 3, 4, 3]]


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny")


@pytest.mark.parametrize("ids", [(2, 600, 3), (2, 2**40, 3), (2, *[5] * 600, 3)])
def test_tokens_that_the_encoder_cannot_read_are_one_line(folder, ids):
    runtime = load_checkpoint(folder, "cpu").runtime
    with pytest.raises(InputError) as error:
        runtime.encode([Window(ids, (0, len(ids) - 2), 0)], len(ids))
    (line,) = str(error.value).splitlines()
    assert line.startswith(f"{folder}: cannot be computed: ")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_arrays_are_float32_in_any_case(folder, dtype):
    runtime = load_checkpoint(folder, "cpu", dtype).runtime
    window = Window((2, 5, 6, 3), (0, 2), 0)
    vectors = runtime.encode([window, window], 8)
    assert vectors.shape == (2, 8, HIDDEN) == (2, 8, runtime.size)
    features = np.zeros((3, len(FEATURES)), np.float32)
    structure = runtime.score_structure(features)
    scores = runtime.score_text(np.zeros((3, 3 * HIDDEN), np.float32), features, structure)
    assert {array.dtype for array in (vectors, structure, scores)} == {np.dtype(np.float32)}
    assert structure.shape == scores.shape == (3, 4)
