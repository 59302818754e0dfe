"""Models of others: no code of theirs runs, and what cannot be is refused before it is built."""

import ast
import json
import os
import pickle
import shutil
import signal
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
from click.testing import CliRunner
from encoders import encoder, exported
from generation_helpers import pairs, train, write_gpt2
from helpers import ROOT, annotations_of_sample

import train as training
from miner.app.cli.main import main
from miner.errors import InputError
from miner.files import json_lines
from miner.lab.lessons.examples import keep_turns
from miner.lab.lessons.generation.answers import Conversation, Decoding
from miner.lab.lessons.generation.models import load_model
from miner.lab.lessons.selection.training import load_method

AUTO = ("AutoConfig", "AutoModel", "AutoModelForCausalLM", "AutoModelForSeq2SeqLM")


def test_one_place_loads_from_the_hub_and_trusts_no_code():
    found = []
    for path in [*ROOT.glob("*.py"), *(ROOT / "miner").rglob("*.py"), *ROOT.glob("heuristic/*.py")]:
        text = path.read_text(encoding="utf-8")
        loads = "from_pretrained" in text or "SentenceTransformer" in text
        for node in ast.walk(ast.parse(text)) if loads else ():
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name("super")))):
                    pass  # of our own class, which has no other code
                case ast.Call(
                    func=ast.Attribute(attr="from_pretrained" | "SentenceTransformer" as name)
                    | ast.Name("SentenceTransformer" as name)
                ):
                    trusts = [
                        word.value.value
                        for word in node.keywords
                        if word.arg == "trust_remote_code" and isinstance(word.value, ast.Constant)
                    ]
                    found.append((str(path.relative_to(ROOT)), name, trusts))
    assert {(path, *trusts) for path, _, trusts in found} == {("miner/hub.py", False)}
    assert {name for _, name, _ in found} == {"from_pretrained", "SentenceTransformer"}


class Pickled:
    """It makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of each kind of model, with the pairs that it answers, and annotations."""
    home = tmp_path_factory.mktemp("models")
    for name, n in (("train", 40), ("test", 8)):
        rows = [
            {"book": f"{name} {one.book}", "context": one.context[-1], "response": one.response}
            for one in pairs(n, n)
        ]
        (home / f"{name}.jsonl").write_bytes(json_lines(rows))
    annotations_of_sample(home / "gold")
    train(home / "answering", epochs=1)
    write_gpt2(home / "gpt2")
    shutil.copytree(encoder(), home / "encoder")
    shutil.copytree(exported(), home / "tagger")
    words = ["selection", "train", "sim", home / "train.jsonl", "--encoder", home / "encoder"]
    done = CliRunner().invoke(main, [str(word) for word in (*words, "-o", home / "sim")])
    assert done.exit_code == 0, done.output
    return home


def auto_map(folder, mark):
    """Names code beside the model for all that is loaded of it."""
    (folder / "evil.py").write_text(f"import os\nos.mkdir({str(mark)!r})\n", encoding="utf-8")
    (folder / "custom_generate").mkdir()
    shutil.copy(folder / "evil.py", folder / "custom_generate" / "generate.py")
    for name in ("config.json", "tokenizer_config.json"):
        path = folder / name
        classes = dict.fromkeys(AUTO, "evil.Evil") | {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}
        record = json.loads(path.read_bytes()) | {"auto_map": classes, "model_type": "evil"}
        record["tokenizer_class"] = "Evil"
        path.write_text(json.dumps(record), encoding="utf-8")


def other_module(folder, mark):
    """Is an encoder of sentence-transformers with a class of another package, or of the folder."""
    (folder / "evil.py").write_text(f"import os\nos.mkdir({str(mark)!r})\n", encoding="utf-8")
    module = {"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}
    (folder / "modules.json").write_text(json.dumps([module]), encoding="utf-8")


def pickled(folder, mark):
    """Has its weights in a pickle."""
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": Pickled(mark)}))


# The model of each command, and its words; {0} is the folder of the model, {1} all others.
COMMANDS = {
    "answer": ("answering", "generation answer {0} {1}/test.jsonl -o {2}"),
    "chat": ("answering", "generation chat {0}"),
    "train pretrained": (
        "gpt2",
        "generation train pretrained {1}/train.jsonl --model {0} --epochs 1 -o {2}",
    ),
    "tune": ("answering", "generation train pretrained {1}/train.jsonl --model {0} -o {2}"),
    "vectors": (
        "encoder",
        "generation score {1}/answers.jsonl --reference {1}/train.jsonl --vectors {0}",
    ),
    "sim": ("encoder", "selection train sim {1}/train.jsonl --encoder {0} -o {2}"),
    "map": ("encoder", "selection train map {1}/train.jsonl --encoder {0} -o {2}"),
    "sentence": ("encoder", "selection train sentence {1}/train.jsonl --encoder {0} -o {2}"),
    "score": ("encoder", "selection score {1}/sim {1}/test.jsonl"),
    "mine": ("tagger", "mine sample --tagger {0} -o {2}"),
    "tag": ("tagger", "tag sample --tagger {0} -o {2}"),
    "compare": ("tagger", "compare --gold {1}/gold --split sample --tagger {0}"),
    "tagger": ("encoder", "tagger --smoke --gold {1}/gold --encoder {0} -o {2}"),
    "initialize": ("tagger", "tagger --smoke --gold {1}/gold --initialize-from {0} -o {2}"),
    "encoder": ("encoder", "encoder --source {0} -o {2}"),
}
OF_SENTENCES = ("vectors", "sim", "map", "sentence", "score")


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        (name, spoil)
        for name in COMMANDS
        for spoil in (auto_map, pickled, other_module)
        if spoil is not other_module or name in OF_SENTENCES
    ],
)
@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_no_code_of_a_model_runs_whatever_is_answered(models, tmp_path, name, spoil):
    kind, words = COMMANDS[name]
    home, mark = shutil.copytree(models, tmp_path / "home"), tmp_path / "mark"
    (home / "answers.jsonl").write_bytes(
        json_lines({"context": "a", "response": "b", "predicted": "c"} for _ in range(3))
    )
    if name == "score":  # its record names the encoder
        path = home / "sim" / "encoder.json"
        record = json.loads(path.read_bytes()) | {"encoder": str(home / kind)}
        path.write_text(json.dumps(record), encoding="utf-8")
    spoil(home / kind, mark)
    given = words.format(home / kind, home, tmp_path / "out").split()
    command = training.main if given[0] in ("tagger", "encoder") else main
    done = CliRunner().invoke(command, given, input="y\n" * 9)
    assert not mark.exists()
    if done.exit_code:
        assert isinstance(done.exception, SystemExit), done.exception
        assert len(done.stderr.splitlines()) == 1
    else:  # what it needs of the folder names no code
        assert kind == "tagger"


WRONG = (None, "x", [], {}, 10**18, -1, float("nan"), 1e300)
GONE = object()


def places_of(record):
    """The keys of a record, and of the records and the first of the lists in it."""
    for key, value in record.items():
        yield (key,)
        inner = value[0] if isinstance(value, list) and value else value
        middle = (key, 0) if isinstance(value, list) else (key,)
        if isinstance(inner, dict):
            yield from ((*middle, *more) for more in places_of(inner))
        elif inner is not value:
            yield middle


def with_value(record, place, value):
    changed = json.loads(json.dumps(record))
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return changed


def use_method(folder):
    found = load_method(folder)
    assert all(isinstance(book, str) for book in found.books)
    examples = keep_turns(pairs(3, 9), found.history_turns)
    for vectors in (
        found.method.encode_contexts([one.context for one in examples]),
        found.method.encode_responses([one.response for one in examples]),
    ):
        assert vectors.shape[0] == 3


def use_model(folder):
    trained = load_model(folder)
    assert all(isinstance(book, str) for book in trained.books)
    assert isinstance(Conversation(trained, Decoding(longest=2)).answer("Where is it?"), str)


@pytest.fixture(scope="module")
def methods(models, tmp_path_factory):
    """A folder of each other method that is quick to train."""
    home = tmp_path_factory.mktemp("methods")
    for name, options in {
        "tf-idf": (),
        "n-grams": ("--embedding", 8, "--hidden", 8, "--epochs", 1),
        "rnn": ("--embedding", 8, "--hidden", 8, "--epochs", 1),
    }.items():
        words = ("selection", "train", name, models / "train.jsonl", "-o", home / name, *options)
        done = CliRunner().invoke(main, [str(word) for word in words])
        assert done.exit_code == 0, done.output
    return home


# The kinds of folders, each with its files of JSON and what uses them.
FOLDERS = {
    "tf-idf": (("method.json",), use_method),
    "n-grams": (("shape.json",), use_method),
    "rnn": (("shape.json",), use_method),
    "sim": (("encoder.json",), use_method),
    "answering": (("training.json",), use_model),
}


@pytest.mark.parametrize(
    ("kind", "file"), [(kind, file) for kind, (files, _) in FOLDERS.items() for file in files]
)
def test_a_record_with_any_wrong_value_is_used_or_refused_in_one_line(
    models, methods, tmp_path, kind, file
):
    home = methods if (methods / kind).is_dir() else models
    folder = shutil.copytree(home / kind, tmp_path / kind)
    record = json.loads((folder / file).read_bytes())
    use = FOLDERS[kind][1]
    for number, place in enumerate(places_of(record)):
        # A model takes long to load: one fault of a key, and all of them over many keys.
        faults = (GONE, *WRONG)
        for value in faults[number % 9 :: 9] if use is use_model else faults[number % 3 :: 3]:
            changed = with_value(record, place, value)
            (folder / file).write_text(json.dumps(changed), encoding="utf-8")
            try:
                use(folder)
            except InputError as error:
                assert len(str(error).splitlines()) == 1, (place, value)
            except Exception as error:
                raise AssertionError(f"{place} {value!r}") from error


def no_end(tokens):
    """A normalizer that makes a text so long that there is no memory for it."""
    long = {"type": "Replace", "pattern": {"String": "e"}, "content": "e" * 999}
    tokens["normalizer"] = {"type": "Sequence", "normalizers": [long] * 9}


def panic_at_loading(tokens):
    tokens["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": ""}


def panic_at_a_text(tokens):
    tokens["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": "AAAAAA=="}


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("chat", panic_at_loading),
        ("sim", panic_at_a_text),
        ("tag", panic_at_a_text),
        ("encoder", panic_at_loading),
        pytest.param("tag", no_end, marks=pytest.mark.slow),
    ],
)
def test_a_tokenizer_that_would_end_the_process_is_refused(models, tmp_path, name, spoil):
    kind, words = COMMANDS[name]
    folder = shutil.copytree(models / kind, tmp_path / kind)
    path = folder / "tokenizer.json"
    tokens = json.loads(path.read_bytes())
    spoil(tokens)
    path.write_text(json.dumps(tokens), encoding="utf-8")
    given = words.format(folder, models, tmp_path / "out").split()
    command = training.main if name == "encoder" else main
    done = CliRunner().invoke(command, given)
    (line,) = done.stderr.splitlines()
    assert f"{path}: cannot be loaded: the library of tokenizers fails at it (" in line


def test_numbers_that_are_pickled_or_would_fill_the_memory_are_refused(methods, tmp_path):
    folder = shutil.copytree(methods / "tf-idf", tmp_path / "tf-idf")
    path, mark = folder / "numbers.npz", tmp_path / "mark"
    with np.load(path) as file:
        n = len(file["idf"])
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    huge = BytesIO()
    np.lib.format.write_array_header_1_0(huge, header)
    for write in (
        lambda: np.savez_compressed(path, idf=np.zeros(n)),
        lambda: np.savez(path, idf=np.array([Pickled(mark)] * n, dtype=object)),
        lambda: np.savez(path, idf=np.full(n, np.nan)),
        lambda: np.savez(path, idf=np.zeros((n, 2))),
        lambda: ZipFile(path, "w").writestr("idf.npy", huge.getvalue()),
    ):
        write()
        with pytest.raises(InputError, match="^[^\n]*cannot be loaded: [^\n]*$"):
            load_method(folder)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("encoder_layers", 10**6),
        ("encoder_layers", -1),
        ("decoder_layers", 10**18),
        ("decoder_layers", -1),
        ("vocab_size", 10**7),
    ],
)
def test_a_model_of_more_parts_than_there_can_be_is_refused_at_once(models, tmp_path, name, value):
    folder = shutil.copytree(models / "answering", tmp_path / "model")
    record = json.loads((folder / "config.json").read_bytes()) | {name: value}
    (folder / "config.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match="^[^\n]*expected (at most|0 to) [^\n]*$"):
        load_model(folder)


def test_a_command_leaves_the_signals_of_its_process_as_they_were():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    assert CliRunner().invoke(main, ["catalog", "--help"]).exit_code == 0
    CliRunner().invoke(main, ["profile", "no such book"])
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before
