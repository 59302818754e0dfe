"""What the tagger reads of a chapter: only windows around utterances that are in doubt."""

from dataclasses import replace

import numpy as np
import pytest
from encoders import exported, plain_of, sample, save_checkpoint, told
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.tagger.checkpoint import load_checkpoint
from miner.tagger.encoding import Encoding, Pooling, Window, encode_chapter, encode_text
from miner.tagger.features import split_chapters
from miner.tagger.load import load_tagger
from miner.tagger.tagger import choose_windows, find_doubtful

CHAPTERS = list(split_chapters(sample()))
ENCODINGS = [encode_text(chapter, plain_of(), 48, 8, 12) for chapter in CHAPTERS]


class Noting:
    """A runtime that notes which windows are encoded, and computes with another."""

    def __init__(self, runtime, n_at_once):
        self.runtime, self.tokens_at_once = runtime, n_at_once * 64
        self.size, self.libraries, self.windows = runtime.size, runtime.libraries, []
        self.score_structure, self.score_text = runtime.score_structure, runtime.score_text

    def encode(self, windows, length):
        self.windows += windows
        return self.runtime.encode(windows, length)


def reading(sure, n_at_once=32):
    """A tagger that is sure from a probability on, and its runtime."""
    tagger = load_checkpoint(exported(), "cpu")
    runtime = Noting(tagger.runtime, n_at_once)
    return replace(tagger, runtime=runtime, config=replace(tagger.config, sure=sure)), runtime


def probabilities(structure):
    odds = np.exp(structure[:, :3].astype(float))
    return odds.max(axis=1) / odds.sum(axis=1)


def middle_probability():
    """A probability from which on the structure is sure of half of the utterances."""
    runtime = load_checkpoint(exported(), "cpu").runtime
    found = [probabilities(runtime.score_structure(chapter.features)) for chapter in CHAPTERS]
    ordered = np.sort(np.concatenate(found))
    # Between two utterances: on one of them, rounding would decide whether it is read.
    middle = next(
        n for n in range(len(ordered) // 2, len(ordered)) if ordered[n] - ordered[n - 1] > 1e-4
    )
    return float(ordered[middle - 1] + ordered[middle]) / 2


def scores_of(*answers):
    """Scores of utterances with the given probabilities of the three answers."""
    shares = np.array(answers, np.float64)
    return np.log(shares[:, [0, 1, 2, 1]] + 1e-300).astype(np.float32) + np.float32(7)


def test_an_utterance_is_in_doubt_if_no_answer_is_probable():
    scores = scores_of((0.97, 0.02, 0.01), (0.02, 0.97, 0.01), (0, 0, 1), (0.5, 0.3, 0.2))
    assert find_doubtful(scores, 0.95).tolist() == [False, False, False, True]
    assert find_doubtful(scores, 0.98).tolist() == [True, True, False, True]
    assert find_doubtful(scores, 0.4).tolist() == [False] * 4
    assert find_doubtful(scores, 0.0).tolist() == [False] * 4


def test_a_tagger_that_is_never_sure_doubts_what_is_certain_too():
    certain = np.array([[300, -300, -300, -300], [0, 50, 0, 50]], np.float32)
    assert find_doubtful(certain, 1.0).tolist() == [True, True]
    assert find_doubtful(certain, 0.999).tolist() == [False, False]


def test_windows_are_chosen_by_hand():
    # Two windows of five tokens each; narration, then an utterance, three times.
    windows = tuple(Window((2, *range(5), 3), (0, 5), start) for start in (0, 5))
    utterances, narration = ((1, 3), (4, 6), (7, 9)), ((0, 1), (3, 4), (6, 7))
    encoding = Encoding(windows, 10, utterances, narration)
    for doubtful, chosen, read in (
        ((0, 0, 0), (), (0, 0, 0)),
        ((1, 0, 0), (0,), (1, 0, 0)),
        ((0, 1, 0), (0, 1), (1, 1, 1)),  # it lies in both
        ((0, 0, 1), (1,), (0, 0, 1)),
        ((1, 1, 1), (0, 1), (1, 1, 1)),
    ):
        found, is_read = choose_windows(encoding, np.array(doubtful, bool))
        assert found == [windows[n] for n in chosen]
        assert is_read.tolist() == [bool(n) for n in read]


def test_the_narration_before_a_doubtful_utterance_is_read():
    windows = tuple(Window((2, *range(5), 3), (0, 5), start) for start in (0, 5))
    encoding = Encoding(windows, 10, ((0, 2), (6, 9)), ((0, 0), (2, 6)))
    found, is_read = choose_windows(encoding, np.array([False, True]))
    assert (found, is_read.tolist()) == (list(windows), [True, True])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ENCODINGS), st.randoms(use_true_random=False), st.sampled_from([0.02, 0.3]))
def test_what_is_in_doubt_is_read_whole_and_no_window_for_nothing(encoding, random, share):
    n = len(encoding.utterances)
    doubtful = np.array([random.random() < share for _ in range(n)])
    windows, is_read = choose_windows(encoding, doubtful)
    assert is_read[doubtful].all()
    places = list(zip(encoding.utterances, encoding.narration, strict=True))
    taken = {
        token
        for window in windows
        for token in range(window.start, window.start + window.taken[1] - window.taken[0])
    }
    tokens = [{*range(*own), *range(*told)} for own, told in places]
    assert is_read.tolist() == [inside <= taken for inside in tokens]
    wanted = set().union(*[tokens[k] for k in np.flatnonzero(doubtful)])
    for window in encoding.windows:
        low, high = window.taken
        own = set(range(window.start, window.start + high - low))
        assert (window in windows) == bool(own & wanted or doubtful.all())


@pytest.mark.parametrize("encoding", ENCODINGS[:2])
def test_all_windows_are_read_if_all_is_in_doubt(encoding):
    windows, is_read = choose_windows(encoding, np.ones(len(encoding.utterances), bool))
    assert windows == list(encoding.windows) and is_read.all()


def test_a_chapter_without_doubt_is_not_read_and_has_the_scores_of_the_structure():
    tagger, runtime = reading(sure=0.0)
    for chapter, scores in tagger.score_chapters(CHAPTERS):
        assert np.array_equal(scores, runtime.score_structure(chapter.features))
    assert runtime.windows == []


def test_all_is_read_if_the_structure_is_never_sure():
    tagger, runtime = reading(sure=1.0)
    assert len([*tagger.score_chapters(CHAPTERS)]) == len(CHAPTERS)
    encodings = [encode_chapter(c, tagger.tokenizer, tagger.config) for c in CHAPTERS]
    expected = [window for encoding in encodings for window in encoding.windows]
    assert sorted(runtime.windows, key=repr) == sorted(expected, key=repr)


def test_what_is_read_has_mixed_scores_and_the_rest_those_of_the_structure():
    sure = middle_probability()
    tagger, runtime = reading(sure)
    whole, _ = reading(1.0)
    n_read = n_told = 0
    for chapter, scores in tagger.score_chapters(CHAPTERS):
        structure = runtime.score_structure(chapter.features)
        encoding = encode_chapter(chapter, tagger.tokenizer, tagger.config)
        windows, is_read = choose_windows(encoding, probabilities(structure) < sure)
        # By hand, each window by itself.
        pooling = Pooling.of(encoding, runtime.size)
        for window in windows:
            (vectors,) = runtime.runtime.encode([window], len(window.ids))
            pooling.add(window, vectors)
        vectors = pooling.vectors()
        vectors[~is_read] = vectors[is_read].mean(axis=0)
        mixed = runtime.score_text(vectors, chapter.features, structure)
        np.testing.assert_allclose(scores[is_read], mixed[is_read], atol=1e-4)
        assert np.array_equal(scores[~is_read], structure[~is_read])
        assert not np.isclose(scores[is_read], structure[is_read]).all(axis=1).any()
        # An utterance that was read is scored much as with all text read.
        expected = whole.score_chapter(chapter)
        assert np.abs(scores - expected)[is_read].mean() < np.abs(structure - expected).mean()
        n_read, n_told = n_read + is_read.sum(), n_told + (~is_read).sum()
    assert min(n_read, n_told) > 20


@pytest.mark.parametrize("context", ["text", "span"])
def test_a_tagger_without_features_reads_all(context, tmp_path):
    tagger = load_checkpoint(save_checkpoint(tmp_path / "t", features=False, context=context))
    runtime = Noting(tagger.runtime, 32)
    tagger = replace(tagger, runtime=runtime, config=replace(tagger.config, sure=0.0))
    (first,) = tagger.score_chapters(CHAPTERS[:1])
    windows = encode_chapter(CHAPTERS[0], tagger.tokenizer, tagger.config).windows
    assert sorted(runtime.windows, key=repr) == sorted(windows, key=repr)
    assert first[1].std() > 0


@pytest.mark.parametrize("n_at_once", [1, 3, 1000])
@pytest.mark.parametrize("sure", [0.0, None, 1.0])
def test_all_words_are_told_of(sure, n_at_once):
    tagger, _ = reading(middle_probability() if sure is None else sure, n_at_once)
    expected = sum(len(p.text.split()) for chapter in CHAPTERS for p in chapter.paragraphs)
    found = []
    done = [found[:] for _ in tagger.score_chapters(CHAPTERS, found.append)]
    assert sum(found) == expected
    assert all(n >= 0 for n in found)
    assert 0 < sum(done[0]) < expected or n_at_once == 1000
    if n_at_once == 1 and sure:
        assert sum(n > 0 for n in found) > 3 * len(CHAPTERS)  # several times in a chapter


def test_the_words_told_of_are_those_of_the_book():
    tagger, found = load_tagger(exported()), []
    quiet = told(["“Come,” said she.", "It rained all day."], ["“No.” She rose."])
    for book in (sample(), quiet):
        found.clear()
        assert tagger.tag(book, found.append)
        spoken = {span.chapter for span in book.spans if span.is_utterance}
        words = [b.text.split() for b in book.book.blocks if b.chapter in spoken]
        assert sum(found) == pytest.approx(sum(map(len, words)), rel=0.02)
