"""The tagger of a checkpoint: from Python and the command line, on one book and on many."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from encoders import (
    KINDS,
    encoder,
    exported,
    model_of,
    plain_of,
    sample,
    save_checkpoint,
    told,
)
from helpers import ANNOTATIONS, run
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
    encode_chapter,
    encode_spans,
    encode_text,
    sequence_slices,
)
from miner.tagger.features import split_chapters
from miner.tagger.load import AutoTagger, load_tagger, tagger_signature
from miner.tagger.tagger import NeuralTagger
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
    probable = [marginals(plain.score_chapter(chapter)) for chapter in split_chapters(sample())]
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
    for chapter in split_chapters(sample()):
        probable = marginals(before.score_chapter(chapter) / 0.25)
        for place, row in zip(chapter.places, probable, strict=True):
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
