"""The tagger of a checkpoint: from Python and the command line, on one book and on many."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from encoders import KINDS, encoder, exported, model_of, plain_of, sample, save_checkpoint, told
from helpers import ANNOTATIONS, run
from hypothesis import given, settings
from hypothesis import strategies as st
from models_helpers import change_config

from miner.errors import InputError
from miner.files import is_checkpoint
from miner.people.attributor import attribute_speakers
from miner.speech.dialogues import decode_dialogues
from miner.speech.tags import TAGS, Tag, TaggedBook, repair_tags
from miner.tagger import load as taggers
from miner.tagger.checkpoint import load_checkpoint
from miner.tagger.config import TaggingConfig
from miner.tagger.decoding import marginals
from miner.tagger.encoding import (
    Encoding,
    Pooling,
    Window,
    encode_chapter,
    encode_spans,
    encode_text,
    sequence_slices,
)
from miner.tagger.features import split_chapters
from miner.tagger.load import AutoTagger, load_tagger, tagger_signature
from miner.tagger.tagger import NeuralTagger, choose_windows, find_doubtful, scene_slices
from miner.tagger.torch_runtime import TorchRuntime


def check(book_spans, tagged):
    """Checks what holds for every tagger, and for the confidence of this one."""
    assert [item.span for item in tagged] == list(book_spans.spans)
    tags = [item.tag for item in tagged]
    assert repair_tags(tags) == tags
    for item in tagged:
        assert (item.tag is Tag.O) == (not item.span.is_utterance)
        if item.span.is_utterance:
            assert type(item.confidence) is float
            assert 0 <= item.confidence <= 1
        else:
            assert item.confidence is None
    first = {}
    for item in tagged:
        if item.tag is not Tag.O:
            first.setdefault(item.span.chapter, item.tag)
    assert set(first.values()) <= {Tag.B_START}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny")


@pytest.fixture
def copy(checkpoint, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(checkpoint, tmp_path / "copy")


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_tags_a_book(kind, tmp_path):
    tagger = load_checkpoint(save_checkpoint(tmp_path / kind, kind))
    tagged = tagger.tag(sample())
    check(sample(), tagged)
    assert len({item.confidence for item in tagged}) > 50
    assert len({item.tag for item in tagged}) > 2


@pytest.mark.parametrize(
    "shape",
    [
        {"context": "span", "paragraphs": 4, "features": False},
        {"window": 512, "margin": 0, "layers": 2},
    ],
)
def test_other_shapes(shape, tmp_path):
    tagger = load_checkpoint(save_checkpoint(tmp_path / "other", **shape))
    for name, value in shape.items():
        assert getattr(tagger.config, name) == value
    check(sample(), tagger.tag(sample()))


def books_of_many_sizes():
    short = told(["“Why?”", "“No,” said he."], ["“So.”"])
    none = told(["It rained."])
    return [sample(), none, short, told(*[["“Come,” said the postman.", "“No.”"]] * 9), short, none]


@pytest.mark.parametrize("way", ["torch", "onnx"])
@pytest.mark.parametrize("sure", [pytest.param(1.0, marks=pytest.mark.slow), 0.6])
def test_a_book_is_tagged_in_the_same_way_after_others(way, sure, checkpoint, tmp_path):
    folder = shutil.copytree(exported() if way == "onnx" else checkpoint, tmp_path / "tiny")
    change_config(folder, sure=sure)
    tagger, books = load_tagger(folder), books_of_many_sizes()
    found = [tagger.tag(book) for book in books]
    for tagged, book in zip(found, books, strict=True):
        check(book, tagged)
    assert [tagger.tag(book) for book in reversed(books)] == found[::-1]


def test_auto_gives_confidence_where_a_language_has_a_checkpoint(monkeypatch, tmp_path):
    shutil.copytree(exported(), tmp_path / "en")
    monkeypatch.setattr(taggers, "CHECKPOINTS", tmp_path)
    book = books_of_many_sizes()[3]
    other = replace(book, typography=replace(book.typography, language="ca"))
    assert any(item.confidence for item in AutoTagger().tag(book))
    assert all(item.confidence is None for item in AutoTagger().tag(other))


class Noting:
    """A runtime that notes the sizes of batches, and gives the vectors of another."""

    def __init__(self, runtime, tokens_at_once):
        self.runtime, self.tokens_at_once = runtime, tokens_at_once
        self.size, self.libraries, self.batches = runtime.size, runtime.libraries, []
        self.score_structure, self.score_text = runtime.score_structure, runtime.score_text

    def encode(self, windows, length):
        self.batches.append([len(window.ids) for window in windows])
        return self.runtime.encode(windows, length)


def noting(tagger, tokens_at_once=2048, **values):
    """The tagger with a runtime that notes its batches, and with other values in its config."""
    runtime = Noting(tagger.runtime, tokens_at_once)
    return replace(tagger, runtime=runtime, config=replace(tagger.config, **values)), runtime


@pytest.mark.parametrize("n_at_once", [1, 7])
def test_batches_fill_across_the_chapters_of_a_book(checkpoint, n_at_once):
    plain = load_checkpoint(checkpoint)
    length = plain.config.window
    tagger, runtime = noting(plain, n_at_once * length, sure=1.0)
    chapters = list(split_chapters(sample()))
    n = sum(len(w.ids) == length for c in chapters for w in windows_of(tagger, c))
    scored = list(tagger.score_chapters(chapters))
    full = [len(batch) for batch in runtime.batches if batch[0] == length]
    assert full == [n_at_once] * (n // n_at_once) + [n % n_at_once] * bool(n % n_at_once)
    assert [chapter for chapter, _ in scored] == chapters
    for chapter, scores in scored:
        assert scores.shape == (len(chapter.places), len(TAGS))
        assert scores == pytest.approx(tagger.score_chapter(chapter), abs=1e-5)


def test_chapters_are_read_one_batch_ahead(checkpoint):
    tagger, _ = noting(load_checkpoint(checkpoint), 4 * 64, sure=1.0)
    first, taken = next(split_chapters(sample())), []
    assert sum(len(w.ids) == 64 for w in windows_of(tagger, first)) > 4

    def chapters():
        for n in range(12):
            taken.append(n)
            yield first

    scored = tagger.score_chapters(chapters())
    next(scored)
    assert len(taken) <= 3  # one whose last windows wait, one that fills their batch, one ahead
    assert len([*scored]) == 11


def windows_of(tagger, chapter):
    return encode_chapter(chapter, tagger.tokenizer, tagger.config).windows


def test_a_tagger_leaves_training_mode(checkpoint):
    expected = load_checkpoint(checkpoint).tag(sample())
    model = model_of().train()
    tagger = NeuralTagger(TorchRuntime(checkpoint, model), plain_of(), model.config.for_tagging())
    assert tagger.tag(sample()) == expected
    assert not model.training


@pytest.mark.parametrize("way", ["torch", "onnx"])
def test_scores_are_those_of_the_model(way, checkpoint):
    tagger = load_checkpoint(exported() if way == "onnx" else checkpoint)
    tagger = replace(tagger, config=replace(tagger.config, sure=1.0))
    model = model_of()
    chapter = next(split_chapters(sample()))
    encoding = encode_text(chapter, tagger.tokenizer, 64, 8, 24)
    with torch.no_grad():
        (expected,) = model(
            encoding, torch.from_numpy(chapter.features), sequence_slices(chapter, 0)
        )
    assert tagger.score_chapter(chapter) == pytest.approx(expected.scores.numpy(), abs=1e-4)


def test_a_chapter_is_encoded_as_the_config_sets():
    chapter = next(split_chapters(sample()))
    tokenizer = plain_of()
    as_text = TaggingConfig(window=48, margin=4)
    assert encode_chapter(chapter, tokenizer, as_text) == encode_text(chapter, tokenizer, 48, 4, 24)
    as_spans = TaggingConfig(context="span", window=48)
    assert encode_chapter(chapter, tokenizer, as_spans) == encode_spans(chapter, tokenizer, 48)


def test_the_offset_adds_starts_and_leaves_their_confidence(copy):
    plain = load_checkpoint(copy)
    opens_scene = sample().find_scene_starts()
    probable = [
        marginals(plain.score_chapter(chapter)[part])
        for chapter in split_chapters(sample())
        for part in scene_slices(chapter, opens_scene)
    ]
    start = np.concatenate(probable)[:, TAGS.index(Tag.B_START)]
    found = []
    for offset in (0.0, 1.0, 1e6):
        tagger = replace(plain, config=replace(plain.config, start_offset=offset))
        tagged = [item for item in tagger.tag(sample()) if item.tag is not Tag.O]
        is_start = np.array([item.tag is Tag.B_START for item in tagged])
        sure = np.array([item.confidence for item in tagged])
        assert sure[is_start] == pytest.approx(start[is_start])  # the same without the offset
        found.append(is_start)
    assert (found[0] <= found[1]).all() and found[0].sum() < found[1].sum()
    assert found[2].all()


def test_temperature_changes_confidence_and_no_tag(copy):
    before = load_checkpoint(copy)
    change_config(copy, confidence_temperature=0.25)
    after = load_checkpoint(copy)
    tagged = after.tag(sample())
    assert [item.tag for item in tagged] == [item.tag for item in before.tag(sample())]
    opens_scene = sample().find_scene_starts()
    for chapter in split_chapters(sample()):
        for part in scene_slices(chapter, opens_scene):
            probable = marginals(before.score_chapter(chapter)[part] / 0.25)
            for place, row in zip(chapter.places[part], probable, strict=True):
                expected = row[TAGS.index(tagged[place].tag)]
                assert tagged[place].confidence == pytest.approx(expected)


@pytest.mark.parametrize("pages", [[], [["It rained.", "It blew."], ["Nobody spoke."]]])
def test_a_book_without_speech(checkpoint, pages):
    book_spans = told(*pages)
    tagged = load_checkpoint(checkpoint).tag(book_spans)
    assert len(tagged) == sum(map(len, pages))
    check(book_spans, tagged)


def test_chapters_do_not_depend_on_one_another(checkpoint):
    tagger = load_checkpoint(checkpoint)
    first, second = ["“Why?”", "“No,” said he.", "“So.”"], ["It rained.", "“Come.”", "“Where?”"]
    both = tagger.tag(told(first, second))
    alone = [*tagger.tag(told(first)), *tagger.tag(told(second))]
    assert [item.tag for item in both] == [item.tag for item in alone]
    assert [item.confidence or 0 for item in both] == pytest.approx(
        [item.confidence or 0 for item in alone], abs=1e-3
    )


def test_a_tagger_by_the_path_of_its_checkpoint(checkpoint):
    assert is_checkpoint(checkpoint)
    tagger = load_tagger(str(checkpoint))
    assert isinstance(tagger.load(), NeuralTagger)
    assert load_tagger(str(checkpoint)).load() is tagger.load()
    check(sample(), tagger.tag(sample()))


def test_the_command_that_tags(checkpoint):
    done = run("tag", "sample", "--tagger", checkpoint)
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    expected = load_tagger(str(checkpoint)).tag(sample())
    assert [row["tag"] for row in rows] == [item.tag for item in expected]
    for row, item in zip(rows, expected, strict=True):
        assert (row["confidence"] is None) == (item.confidence is None)
        assert row["confidence"] is None or abs(row["confidence"] - item.confidence) <= 5e-5


def test_the_command_that_mines(checkpoint, tmp_path):
    out = tmp_path / "mined"
    done = run("mine", "sample", "--tagger", checkpoint, "-q", "-o", out)
    assert (done.exit_code, done.stdout) == (0, "")
    record = json.loads((out / "run.json").read_bytes())
    assert record["options"]["tagger"].startswith("tiny@")
    rows = [json.loads(line) for line in (out / "spans.jsonl").read_bytes().splitlines()]
    expected = TaggedBook("sample", tuple(load_tagger(str(checkpoint)).tag(sample())))
    utterances = [item for item in expected.spans if item.span.is_utterance]
    found = [row for row in rows if row["tag"] != "O"]
    assert [row["tag"] for row in found] == [item.tag for item in utterances]
    turns = [len(dialogue.turns) for dialogue in decode_dialogues(expected)]
    pairs = (out / "pairs.jsonl").read_bytes().splitlines()
    assert len(pairs) == sum(turns) - len(turns) > 0


def test_the_record_distinguishes_checkpoints_of_the_same_name(checkpoint, tmp_path):
    names = []
    for seed in (5, 6):
        folder = save_checkpoint(tmp_path / str(seed) / "tiny", seed=seed)
        out = tmp_path / f"mined{seed}"
        done = run("mine", "sample", "--tagger", folder, "-q", "-o", out)
        assert done.exit_code == 0
        names.append(json.loads((out / "run.json").read_bytes())["options"]["tagger"])
    assert len(set(names)) == 2


def test_a_folder_that_is_no_checkpoint_is_no_tagger(tmp_path, checkpoint):
    assert not is_checkpoint(tmp_path)
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(InputError, match="a file of tags, or a checkpoint"):
            load_tagger(str(path))
    # An encoder is a folder of the same form, but no tagger.
    with pytest.raises(InputError, match="found model type 'bert', expected conversation-tagger"):
        load_tagger(str(encoder()))


def test_a_broken_checkpoint_is_one_line_of_the_command(copy, tmp_path):
    (copy / "model.safetensors").write_bytes(b"")
    out = tmp_path / "out"
    for words in (("tag", "sample"), ("mine", "sample", "-o", out)):
        done = run(*words, "--tagger", copy)
        assert (done.exit_code, done.stdout, out.exists()) == (1, "", False)
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"miner: {copy / 'model.safetensors'}: cannot be loaded: ")


def test_a_checkpoint_that_has_changed_is_loaded_again(tmp_path):
    path = save_checkpoint(tmp_path / "again", seed=1)
    before = load_tagger(path).tag(sample())
    save_checkpoint(tmp_path / "again", seed=2)
    after = load_tagger(path).tag(sample())
    expected = load_checkpoint(path).tag(sample())
    expected = attribute_speakers(sample(), expected, revise=True)
    assert [item.confidence for item in after] == [item.confidence for item in expected]
    assert [item.confidence for item in before] != [item.confidence for item in expected]


def test_confidence_of_extreme_scores(checkpoint):
    tagger = load_checkpoint(checkpoint)
    with torch.no_grad():
        tagger.runtime.model.text.scores.weight.mul_(1e5)
    tagged = tagger.tag(sample())
    check(sample(), tagged)
    sure = [item.confidence for item in tagged if item.confidence is not None]
    assert np.isfinite(sure).all()
    assert np.mean(sure) > 0.99


@pytest.fixture(scope="module")
def varied(checkpoint, tmp_path_factory):
    """A checkpoint that gives all tags, some with high confidence."""
    folder = tmp_path_factory.mktemp("varied") / "tiny"
    shutil.copytree(checkpoint, folder)
    tagger = load_checkpoint(folder)
    tagger = replace(tagger, config=replace(tagger.config, sure=1.0))
    model = tagger.runtime.model
    rows = np.concatenate([tagger.score_chapter(chapter) for chapter in split_chapters(sample())])
    middle = torch.from_numpy(np.median(rows, axis=0)[[0, 2, 1]])
    with torch.no_grad():
        for expert in (model.text, model.structure):
            expert.scores.bias -= middle  # of opens a conversation, opens a turn, goes on
            expert.scores.weight *= 30
            expert.scores.bias *= 30
    model.save_pretrained(folder)
    return folder


def mined(out, *words):
    """The rows of the pairs, and the record of the run."""
    done = run("mine", "sample", "-o", out, *words)
    assert done.exit_code == 0
    rows = (out / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row) for row in rows], json.loads((out / "run.json").read_bytes())


def test_pairs_are_kept_by_confidence(varied, tmp_path):
    everything, _ = mined(tmp_path / "all", "--tagger", varied)
    sure = sorted(pair["confidence"] for pair in everything)
    assert 0 <= sure[0] < sure[-1] <= 1
    least = sure[len(sure) // 2]
    words = ("--tagger", varied, "--min-confidence", repr(least))
    kept, record = mined(tmp_path / "kept", *words)

    def places(pairs):
        return [pair["context_spans"] + pair["response_spans"] for pair in pairs]

    assert places(kept) == places(pair for pair in everything if pair["confidence"] >= least)
    assert 0 < len(kept) < len(everything)
    (book,) = record["books"]
    assert book["filtered"]["unsure pairs"] == len(everything) - len(kept)


def test_a_heuristic_has_no_confidence_to_filter_by(tmp_path):
    words = ("--tagger", "gap", "--min-confidence", "0.5")
    done = run("mine", "sample", *words, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert "found a least confidence of 0.5 for the tagger gap" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_table_of_pairs_by_confidence(varied, tmp_path):
    plot = tmp_path / "trade.png"
    words = ("gold", "confidence", "--gold", ANNOTATIONS, "--split", "sample", "--tagger", varied)
    done = run(*words, "--resamples", 20, "--plot", plot)
    assert (done.exit_code, done.stderr) == (0, "")
    assert plot.read_bytes().startswith(b"\x89PNG")
    lines = [line.split() for line in done.stdout.splitlines() if line[:1] == "0"]
    shares = [float(line[2].rstrip("%")) for line in lines]
    assert shares[0] == 100 and shares == sorted(shares, reverse=True)
    rows = json.loads(run(*words, "--resamples", 20, "--json").stdout)["rows"]
    assert [f"{row['share']:.1%}" for row in rows] == [line[2] for line in lines]
    again = run(*words, "--plot", plot)
    assert again.exit_code == 1 and "exists already" in again.stderr


def test_a_heuristic_has_no_table_of_pairs_by_confidence():
    done = run("gold", "confidence", "--gold", ANNOTATIONS, "--split", "sample", "--tagger", "gap")
    assert done.exit_code == 1
    assert "found tags without confidence" in done.stderr


def test_the_signature_of_a_checkpoint_changes_with_its_files(tmp_path):
    folder = shutil.copytree(exported(), tmp_path / "tiny")
    assert load_tagger(str(folder)).load() is load_tagger(str(folder)).load()
    signatures, offsets = [], []
    for name in ("", "config.json", "tokenizer.json"):
        if name == "config.json":
            config = json.loads((folder / name).read_bytes()) | {"start_offset": 1.5}
            (folder / name).write_text(json.dumps(config))
        elif name:
            (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
        signatures.append(tagger_signature(str(folder)))
        offsets.append(load_tagger(str(folder)).load().config.start_offset)
    assert offsets == [0.0, 1.5, 1.5]
    (folder / "encoder.onnx").unlink()  # PyTorch computes other scores, if only by a little
    signatures.append(tagger_signature(str(folder)))
    assert len(set(signatures)) == 4
    (folder / "README.md").write_text("a card")
    assert tagger_signature(str(folder)) == signatures[-1]


CHAPTERS = list(split_chapters(sample()))
ENCODINGS = [encode_text(chapter, plain_of(), 48, 8, 12) for chapter in CHAPTERS]


class Noting_of_tagger_reading:
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
    runtime = Noting_of_tagger_reading(tagger.runtime, n_at_once)
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
    runtime = Noting_of_tagger_reading(tagger.runtime, 32)
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
