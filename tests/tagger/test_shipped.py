"""The shipped checkpoint: small, complete, unchanged since it was measured, and usable offline."""

import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import groupby, islice

import pytest
import torch
from click.testing import CliRunner
from encoders import sample
from helpers import ANNOTATIONS, ROOT
from models_helpers import read_sample

from miner.app.cli.main import main
from miner.errors import InputError
from miner.files import CHECKPOINT, CHECKPOINT_ENCODER
from miner.lab.measure.compare import compare
from miner.speech.spans import split_book
from miner.speech.tags import Tag, repair_tags
from miner.speech.typography import infer_typography
from miner.tagger import load as taggers
from miner.tagger.checkpoint import OnnxRuntime, has_gpu
from miner.tagger.decoding import viterbi
from miner.tagger.encoding import encode_text, sequence_slices
from miner.tagger.features import split_chapters
from miner.tagger.load import CHECKPOINTS, SHIPPED, AutoTagger, load_checkpoint_tagger, load_tagger
from miner.tagger.model import ConversationTagger
from miner.tagger.torch_runtime import TorchRuntime, read_checkpoint

FOLDER = CHECKPOINTS / "en"


@pytest.fixture(params=sorted(SHIPPED))
def folder(request):
    """The folder of each checkpoint that comes with the package."""
    return CHECKPOINTS / request.param


def test_it_is_complete_and_small(folder):
    files = sorted(path.name for path in folder.iterdir())
    assert files == [
        *("README.md", "config.json", "encoder.onnx", "model.safetensors"),
        *("tokenizer.json", "tokenizer_config.json", "trust.json"),
    ]
    most = 32 if folder.name == "en" else 40
    assert sum(path.stat().st_size for path in folder.iterdir()) < most * 1024**2


def test_its_files_are_those_that_were_measured(folder):
    found = sha256()
    for name in (*CHECKPOINT, CHECKPOINT_ENCODER):
        found.update((folder / name).read_bytes())
    assert found.hexdigest() == SHIPPED[folder.name]
    card = (folder / "README.md").read_text("utf-8")
    for measure in ("B-START", "turn pairs"):
        assert f"| test, as tagged: {measure} |" in card
    assert "## Limits" in card


def test_it_mines_without_a_network(tmp_path, monkeypatch):
    def refused(*_):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    done = CliRunner().invoke(main, ["mine", "sample", "-o", str(tmp_path / "out")])
    assert (done.exit_code, done.exception) == (0, None)
    assert f"tagged by en@{SHIPPED['en'][:8]}" in done.stdout


def test_it_names_no_place_of_the_machine_it_was_trained_on(folder):
    for name in ("README.md", "config.json", "tokenizer_config.json", "encoder.onnx"):
        content = (folder / name).read_bytes()
        for place in (b"/tmp", b"/root", b"/home", b"/work", b"site-packages"):
            assert place not in content, name


@pytest.mark.parametrize(
    "name", ["model.safetensors", "config.json", "tokenizer.json", "encoder.onnx"]
)
@pytest.mark.parametrize("spoil", ["cut", "gone"])
def test_a_damaged_one_is_refused_in_one_line(tmp_path, monkeypatch, name, spoil):
    shutil.copytree(FOLDER, tmp_path / "en")
    file = tmp_path / "en" / name
    if spoil == "cut":
        file.write_bytes(file.read_bytes()[:-1000])
    else:
        file.unlink()
    monkeypatch.setattr(taggers, "CHECKPOINTS", tmp_path)
    done = CliRunner().invoke(main, ["mine", "sample", "-o", str(tmp_path / "out")])
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"miner: {tmp_path / 'en'}: found a checkpoint of SHA-256 ")
    assert line.endswith("as it came with the package: install it again")
    assert done.exit_code == 1 and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["en", "./en", "."])
def test_a_damaged_one_is_refused_by_any_path(tmp_path, monkeypatch, name):
    shutil.copytree(FOLDER, tmp_path / "en")
    (tmp_path / "en" / "tokenizer_config.json").write_text("{}")
    monkeypatch.setattr(taggers, "CHECKPOINTS", tmp_path)
    monkeypatch.chdir(tmp_path / "en" if name == "." else tmp_path)
    with pytest.raises(InputError, match="install it again"):
        load_checkpoint_tagger(name)


@pytest.mark.slow
def test_it_is_right_on_most_of_the_sample():
    named = [("auto", load_tagger("auto"))]
    made = compare(ANNOTATIONS, named, "sample", read=read_sample, resamples=10, seed=0)
    (figures,) = (row.scores.total.end_to_end for row in made.rows)
    assert figures["turn-pair.f1"].value > 0.85
    assert figures["B-START.f1"].value > 0.75  # of 20 beginnings


@pytest.mark.slow
def test_more_threads_of_pytorch_give_the_same_tags():
    tagger = tagger_by_torch()
    before = torch.get_num_threads()
    found = []
    try:
        for n in (1, 2):
            torch.set_num_threads(n)
            found.append(tagger.tag(first_page()))
    finally:
        torch.set_num_threads(before)
    one, two = found
    assert [item.tag for item in one] == [item.tag for item in two]
    for a, b in zip(one, two, strict=True):
        assert a.confidence == pytest.approx(b.confidence, abs=0.01)


def tagger_by_torch(dtype="float32"):
    """The tagger as PyTorch computes it."""
    model = read_checkpoint(FOLDER)[0]
    model.encoder.to(getattr(torch, dtype))
    return replace(load_checkpoint_tagger("auto"), runtime=TorchRuntime(FOLDER, model))


COUNT_THREADS = """
import json, os, sys
os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: int(sys.argv[1])]))
sys.path.insert(0, "tests")
from helpers import SAMPLE
from miner.speech.read import parse_spans
from miner.tagger.load import load_tagger
tagged = load_tagger("auto").tag(parse_spans(SAMPLE.read_bytes(), "sample", ()))
print(json.dumps([[str(item.tag), item.confidence] for item in tagged]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_more_threads_of_onnx_runtime_give_the_same_tags():
    found = []
    for n in (1, 2):
        command = [sys.executable, "-c", COUNT_THREADS, str(n)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]


@pytest.mark.slow
def test_pytorch_gives_nearly_the_same_tags():
    both = load_checkpoint_tagger("auto"), tagger_by_torch()
    tagged = [tagger.tag(sample()) for tagger in both]
    pairs = [(a, b) for a, b in zip(*tagged, strict=True) if a.span.is_utterance]
    assert sum(a.tag is b.tag for a, b in pairs) / len(pairs) > 0.97
    apart = [abs(a.confidence - b.confidence) for a, b in pairs]
    assert sum(apart) / len(apart) < 0.02


@cache
def first_page():
    """The spans of the first paragraphs of the sample."""
    book = sample().book
    blocks = tuple(block for block in book.blocks if block.chapter <= 1)[:30]
    short = replace(book, blocks=blocks)
    return split_book(short, infer_typography(short))


@pytest.mark.slow
def test_windows_agree_with_one_pass():
    """A window of the encoder's full size holds a short chapter, smaller windows cut it."""
    tagger, model = load_checkpoint_tagger("auto"), read_checkpoint(FOLDER)[0]
    n = agreed = 0
    for chapter in split_chapters(short_chapters()):
        scores = []
        for window in (128, 256, 512):
            encoding = encode_text(chapter, tagger.tokenizer, window, 32, tagger.config.ends)
            assert (len(encoding.windows) == 1) == (window == 512)
            with torch.no_grad():
                parts = model(
                    encoding, torch.from_numpy(chapter.features), sequence_slices(chapter, 0)
                )
            scores.append(torch.cat([part.scores for part in parts]).float().numpy())
        whole = viterbi(scores[-1])
        for rows in scores[:-1]:
            n += len(whole)
            agreed += sum(a is b for a, b in zip(viterbi(rows), whole, strict=True))
    assert n > 100 and agreed / n > 0.95


def short_chapters():
    """The sample with its chapters cut short, so that each fits into one window."""
    book = sample().book
    kept = [
        block
        for _, blocks in groupby(book.blocks, key=lambda block: block.chapter)
        for block in islice(blocks, 13)
    ]
    short = replace(book, blocks=tuple(kept))
    return split_book(short, infer_typography(short))


def test_transformers_loads_it_as_it_is():
    expected = read_checkpoint(FOLDER)[0]
    for words in ((FOLDER, {}), (CHECKPOINTS, {"subfolder": "en"})):
        loaded = ConversationTagger.from_pretrained(words[0], **words[1])
        assert loaded.state_dict().keys() == expected.state_dict().keys()
        for name, weight in loaded.state_dict().items():
            assert torch.equal(weight, expected.state_dict()[name]), name
        assert not loaded.training and loaded.config.training == expected.config.training


def test_auto_tags_as_the_checkpoint_does():
    assert load_tagger("auto") == AutoTagger()
    tagged = load_tagger("auto").tag(first_page())
    expected = load_tagger(str(FOLDER)).tag(first_page())
    assert [item.tag for item in tagged] == [item.tag for item in expected]
    for found, other in zip(tagged, expected, strict=True):
        assert found.confidence == pytest.approx(other.confidence, abs=1e-4)
    tags = [item.tag for item in tagged]
    assert repair_tags(tags) == tags and Tag.B_START in tags


def test_it_computes_in_float32_by_default_and_in_bfloat16_on_request():
    plain = load_checkpoint_tagger("auto")
    assert isinstance(plain.runtime, OnnxRuntime) or has_gpu()
    few = load_checkpoint_tagger("auto", "bfloat16")
    assert few.runtime.model.encoder.dtype is torch.bfloat16
    tags = [[item.tag for item in tagger.tag(first_page())] for tagger in (plain, few)]
    agreed = sum(a is b for a, b in zip(*tags, strict=True))
    assert agreed / len(tags[0]) > 0.95


def test_its_config_says_how_it_was_trained():
    training = json.loads((FOLDER / "config.json").read_text("utf-8"))["training"]
    assert training["data"] == "annotations train" and training["seed"] == 0
    assert training["command"].startswith("python train.py ")
