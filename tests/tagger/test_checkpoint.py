"""Checkpoints: loaded as they were saved, computed by either library, or refused in one line."""

import json
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx
import pytest
import torch
from encoders import exported, model_of, plain_of, sample, save_checkpoint
from helpers import DATA, ROOT
from models_helpers import change_config
from safetensors.torch import load_file, save_file

from miner.errors import InputError
from miner.files import CHECKPOINT_CONFIG, CHECKPOINT_ENCODER, sha256_of
from miner.tagger.checkpoint import OnnxRuntime, load_checkpoint
from miner.tagger.features import FEATURES, split_chapters
from miner.tagger.head import quantize
from miner.tagger.model import ConversationTagger
from miner.tagger.tagger import NeuralTagger
from miner.tagger.torch_runtime import TorchRuntime, read_checkpoint

WEIGHTS = "model.safetensors"
DEEP = b'{"encoder": ' * 100_000


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny")


@pytest.fixture(params=["onnx", "torch"])
def copy(request, tmp_path):
    """A copy that a test may damage, once for each library that computes it."""
    folder = shutil.copytree(exported(), tmp_path / "copy")
    if request.param == "torch":
        (folder / CHECKPOINT_ENCODER).unlink()
    return folder


@pytest.fixture
def torch_copy(checkpoint, tmp_path):
    """A copy that PyTorch computes, and that a test may damage."""
    return shutil.copytree(checkpoint, tmp_path / "copy")


def refusal(folder):
    """The line with which a folder is refused, without the folder."""
    with pytest.raises(InputError) as error:
        load_checkpoint(folder)
    (line,) = str(error.value).splitlines()
    assert line.startswith(str(folder))
    return line.removeprefix(str(folder))


def config(**values):
    return lambda folder: change_config(folder, **values)


def reverse_features(folder):
    names = json.loads((folder / CHECKPOINT_CONFIG).read_text(encoding="utf-8"))["feature_names"]
    change_config(folder, feature_names=names[::-1])


def change_encoder(folder, **values):
    encoder = json.loads((folder / CHECKPOINT_CONFIG).read_bytes())["encoder"]
    change_config(folder, encoder=encoder | values)


def content(name, data):
    """A file with other bytes, or without some of its own; None for no file."""

    def change(folder):
        path = folder / name
        if data is None:
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:data] if isinstance(data, int) else data)

    return change


def header(change):
    """Weights with a header that is changed by hand."""

    def change_header(folder):
        found, values = header_of(folder / WEIGHTS)
        change(found)
        encoded = json.dumps(found).encode()
        whole = len(encoded).to_bytes(8, "little") + encoded + values
        (folder / WEIGHTS).write_bytes(whole)

    return change_header


def header_of(path):
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def weights(change):
    """Other weights; the encoder for ONNX Runtime, if any, is made to be of them."""

    def change_weights(folder):
        found = load_file(folder / WEIGHTS)
        change(found)
        save_file(found, folder / WEIGHTS, metadata={"format": "pt"})
        relabel(folder)

    return change_weights


def relabel(folder):
    """Makes the encoder for ONNX Runtime one of the weights beside it, as far as it says."""
    path = folder / CHECKPOINT_ENCODER
    if path.is_file():
        proto = onnx.load(path, load_external_data=False)
        header, values = header_of(folder / WEIGHTS)
        start = (folder / WEIGHTS).stat().st_size - len(values)
        for tensor in proto.graph.initializer:
            for entry in tensor.external_data:
                low, high = header[tensor.name]["data_offsets"]
                found = {"offset": start + low, "length": high - low}
                entry.value = str(found.get(entry.key, entry.value))
        proto.metadata_props[0].value = sha256_of((folder / WEIGHTS).read_bytes())
        path.write_bytes(proto.SerializeToString())


def tokenizer(change):
    def change_tokenizer(folder):
        path = folder / "tokenizer.json"
        record = json.loads(path.read_bytes())
        change(record)
        path.write_text(json.dumps(record), encoding="utf-8")

    return change_tokenizer


def rename_last_token(record):
    last = max(record["model"]["vocab"], key=record["model"]["vocab"].get)
    record["model"]["vocab"][last] = 600


def rename_end(record):
    record["post_processor"]["special_tokens"]["[SEP]"]["ids"] = [600]


def add_token(record):
    record["added_tokens"].append(record["added_tokens"][0] | {"id": 600, "content": "Mr."})


def use_huge_number(record):
    record["model"]["vocab"]["the"] = 2**31  # to write all numbers below takes a minute


OTHER_FORMAT = (
    f"or of other features, expected format 1 with our {len(FEATURES)} features: "
    "train it again with this version"
)
NOT_LOADED = "/model.safetensors: cannot be loaded: "
NOT_KNOWN = (
    "/tokenizer.json: found a token of number 600, expected fewer than 600, as the encoder knows"
)
BIAS = "text.voice_bias"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            config(model_type="bert"),
            "/config.json: found model type 'bert', expected conversation-",
        ),
        (config(format=99), f"/config.json: found a checkpoint of format 99, {OTHER_FORMAT}"),
        (
            config(feature_names=["asks"]),
            f"/config.json: found a checkpoint of format 1, {OTHER_FORMAT}",
        ),
        (reverse_features, f"/config.json: found a checkpoint of format 1, {OTHER_FORMAT}"),
        (config(feature_names=None), "/config.json: found"),
        (config(feature_names=17), "/config.json: found"),
        (content("config.json", b'{"model_type": "conv'), "/config.json: found bad JSON (Untermi"),
        (content("config.json", b""), "/config.json: found bad JSON (Expecting value"),
        (content("config.json", b"\xff\xfe{"), "/config.json: found bad JSON ('utf-8' codec can't"),
        (content("config.json", b"[]"), "/config.json: found model type None, expected conversat"),
        (content("config.json", b"{}"), "/config.json: found model type None, expected conversat"),
        (content("config.json", DEEP), "/config.json: found JSON that is nested too deeply, exp"),
        (content("config.json", b"9" * 5000), "/config.json: found bad JSON (Exceeds the limit "),
        *((content(WEIGHTS, left), NOT_LOADED) for left in (0, 5, 5000, -100)),
        (content(WEIGHTS, b"\xff" * 64), NOT_LOADED),
        (content(WEIGHTS, (10**15).to_bytes(8, "little") + b"{}"), NOT_LOADED),
        (content(WEIGHTS, b"<html>" * 9), NOT_LOADED),
        (content(WEIGHTS, None), ": found no model.safetensors, expected"),
        (header(lambda found: found[BIAS].update(shape=[2])), NOT_LOADED),
        (header(lambda found: found[BIAS].update(data_offsets=[-4, 0])), NOT_LOADED),
        (header(lambda found: found[BIAS].update(data_offsets=[0, 10**15])), NOT_LOADED),
        (header(lambda found: found[BIAS].update(dtype="F99")), NOT_LOADED),
        (header(dict.clear), NOT_LOADED),
        (
            weights(lambda found: found.pop("text.scores.bias")),
            "/model.safetensors: found no text.scores.bias, expected the ",
        ),
        (
            weights(lambda found: found.update({"scores.more": torch.zeros(4)})),
            "/model.safetensors: found a weight scores.more, expected the ",
        ),
        *(
            (
                weights(lambda found, n=number: found["text.scores.bias"][0].fill_(n)),
                "/model.safetensors: found text.scores.bias with NaN or infinity, expected finite",
            )
            for number in (float("nan"), float("inf"))
        ),
        (config(hidden=9), "/model.safetensors: found text."),
        (config(projection=7), "/model.safetensors: found text."),
        (config(layers=2), "/model.safetensors: found no text.lstm.bias_hh_l1, "),
        (config(features=False), "/model.safetensors: found a weight structure.lstm.bias_hh_l0"),
        (content("tokenizer.json", None), ": found no tokenizer.json, "),
        *(
            (content("tokenizer.json", data), "/tokenizer.json: cannot be loaded: ")
            for data in (b'{"version": "1.0', b"{}", DEEP)
        ),
        *((tokenizer(change), NOT_KNOWN) for change in (rename_last_token, rename_end, add_token)),
        (
            tokenizer(use_huge_number),
            "/tokenizer.json: found a token of number 2147483648, expected fewer than 600",
        ),
        (
            tokenizer(lambda record: record["model"].update(vocab={})),
            "/tokenizer.json: cannot be loaded: WordPiece error: Missing [UNK] token",
        ),
        (
            tokenizer(lambda record: record.pop("model")),
            "/tokenizer.json: cannot be loaded: Model missing",
        ),
        (
            tokenizer(lambda record: record.update(post_processor=None)),
            "/tokenizer.json: cannot be loaded: found a tokenizer",
        ),
        (content("tokenizer_config.json", None), ": found no tokenizer_config.json"),
    ],
)
def test_a_damaged_checkpoint_is_refused_at_once_in_one_line(copy, change, line):
    change(copy)
    started = time.monotonic()
    assert refusal(copy).startswith(line)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "values", [{"format": 99}, {"feature_names": ["asks"]}, {"model_type": "bert"}]
)
@pytest.mark.parametrize("is_short", [False, True])
@pytest.mark.parametrize("subfolder", ["", "kept"])
def test_from_pretrained_refuses_another_format_too(
    torch_copy, tmp_path, values, is_short, subfolder
):
    copy = torch_copy
    if is_short:
        weights = {name: item.numpy() for name, item in load_file(copy / WEIGHTS).items()}
        short = {name: torch.from_numpy(item) for name, item in quantize(weights).items()}
        save_file(short, copy / WEIGHTS, metadata={"format": "pt"})
    folder = copy.rename(tmp_path / subfolder) if subfolder else copy
    name, where = (tmp_path, {"subfolder": subfolder}) if subfolder else (copy, {})
    config = ConversationTagger.from_pretrained(name, config=None, **where).config
    change_config(folder, **values)
    for given in ({}, {"config": config}):
        with pytest.raises(InputError) as error:
            ConversationTagger.from_pretrained(name, **where, **given)
        assert str(error.value) == f"{folder}{refusal(folder)}"


@pytest.mark.parametrize("left", [0, 5, 5000, -100])
def test_from_pretrained_names_truncated_weights(torch_copy, left):
    path = torch_copy / WEIGHTS
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(InputError) as error:
        ConversationTagger.from_pretrained(torch_copy)
    assert str(error.value).startswith(f"{path}: cannot be loaded: ")


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"window": 0}, "found window 0, expected 3 to 65536"),
        ({"window": 10**9}, "found window 1000000000, expected 3 to 65536"),
        ({"window": -(10**400)}, f"found window -1{'0' * 38}, expected 3 to 65536"),
        ({"window": 600}, "found window 600, expected at most 512, the encoder's"),
        ({"window": "64"}, "found window '64', expected int"),
        ({"window": True}, "found window True, expected int"),
        ({"window": 18}, "found window 18 with margin 8, expected 19 or more"),
        ({"margin": -1}, "found margin -1, expected 0 to 65536"),
        ({"margin": 10**400}, f"found margin 1{'0' * 39}, expected 0 to 65536"),
        ({"ends": -1}, "found ends -1, expected 0 to inf"),
        ({"paragraphs": -1}, "found paragraphs -1, expected 0 to inf"),
        ({"layers": 10**6}, "found layers 1000000, expected 1 to 64"),
        ({"hidden": 10**6}, "found hidden 1000000, expected 1 to 65536"),
        ({"projection": 0}, "found projection 0, expected 1 to 65536"),
        ({"features": 1}, "found features 1, expected bool"),
        ({"context": "chapter"}, "found context 'chapter', expected text or span"),
        ({"confidence_temperature": 0}, "found confidence_temperature 0, expected 0.001 to 1000"),
        ({"start_offset": float("nan")}, "found start_offset nan, expected -1000 to 1000"),
        ({"start_offset": float("inf")}, "found start_offset inf, expected -1000 to 1000"),
        ({"start_offset": 10**400}, f"found start_offset 1{'0' * 39}, expected -1000 to 1000"),
        ({"sure": float("nan")}, "found sure nan, expected 0 to 1"),
        ({"sure": None}, "found sure None, expected float"),
        ({"start_share": float("nan")}, "found start_share nan, expected 0 to 1"),
        ({"turn_share": 1.5}, "found turn_share 1.5, expected 0 to 1"),
        ({"turn_share": [0.5]}, "found turn_share [0.5], expected float"),
    ],
)
def test_a_value_that_no_tagger_can_work_with_is_named(copy, values, line):
    change_config(copy, **values)
    assert refusal(copy) == f"/config.json: {line}"


EMBEDDINGS = "found encoder.embeddings.word_embeddings.weight of shape (600, 32), expected "


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"num_hidden_layers": 10**6}, "found num_hidden_layers 1000000, expected at most 6"),
        ({"num_hidden_layers": 10**30}, f"found num_hidden_layers 1{'0' * 30}, "),
        ({"num_hidden_layers": -1}, "found a weight encoder.encoder.layer.0.attention.output."),
        ({"num_hidden_layers": "two"}, "cannot be loaded: "),
        ({"hidden_size": 10**9}, f"{EMBEDDINGS}(600, 1000000000)"),
        ({"hidden_size": 64}, f"{EMBEDDINGS}(600, 64)"),
        ({"intermediate_size": 10**7}, "found encoder.encoder.layer.0.intermediate.dense.weight "),
        ({"vocab_size": 10**9}, f"{EMBEDDINGS}(1000000000, 32)"),
        ({"vocab_size": -5}, "found a token of number 599, expected fewer than -5"),
        ({"model_type": "nobert"}, "cannot be loaded: "),
        ({"model_type": None}, "cannot be loaded: "),
    ],
)
def test_an_encoder_that_pytorch_cannot_build_is_refused(torch_copy, values, line):
    change_encoder(torch_copy, **values)
    file, _, rest = refusal(torch_copy).partition(": ")
    assert file in ("/config.json", "/model.safetensors", "/tokenizer.json")
    assert rest.startswith(line)


@pytest.mark.parametrize("encoder", [None, [], 7, {}])
def test_a_config_without_an_encoder_is_refused_by_pytorch(torch_copy, encoder):
    change_config(torch_copy, encoder=encoder)
    assert refusal(torch_copy) == f"/config.json: found encoder {encoder}, expected its config"


@pytest.mark.parametrize(
    "name", ["text.scores.bias", "text.lstm.weight_hh_l0", "structure.projection.0.weight"]
)
def test_weights_of_another_shape_are_refused(copy, name):
    shape = tuple(load_file(copy / WEIGHTS)[name].shape)
    repeats = (2, *[1] * (len(shape) - 1))
    weights(lambda found: found.update({name: found[name].repeat(repeats)}))(copy)
    doubled = (2 * shape[0], *shape[1:])
    line = f"/model.safetensors: found {name} of shape {doubled}, expected {shape} "
    assert refusal(copy) == f"{line}as its config says"


@pytest.mark.parametrize("spoil", ["gone", "fewer"])
def test_8_bits_without_their_scales_are_refused(tmp_path, spoil):
    folder = save_checkpoint(tmp_path / "short", quantized=True, projection=64)
    found = load_file(folder / WEIGHTS)
    scale = found.pop("scale of text.projection.1.weight")
    if spoil == "fewer":
        found["scale of text.projection.1.weight"] = scale[1:].contiguous()
    save_file(found, folder / WEIGHTS, metadata={"format": "pt"})
    line = "/model.safetensors: cannot be loaded: text.projection.1.weight: found "
    assert refusal(folder).startswith(line)


def test_a_token_that_a_false_config_says_is_known_ends_in_one_line(copy):
    """The config of the encoder says more than the encoder knows."""
    tokenizer(rename_end)(copy)
    change_encoder(copy, vocab_size=601)
    if not (copy / CHECKPOINT_ENCODER).is_file():
        assert "found encoder.embeddings.word_embeddings.weight of shape" in refusal(copy)
        return
    tagger = load_checkpoint(copy)
    with pytest.raises(InputError) as error:
        tagger.tag(sample())
    (line,) = str(error.value).splitlines()
    assert line.startswith(f"{copy}: cannot be computed: ") and "idx=600" in line


def test_scores_that_are_no_numbers_end_in_one_line(torch_copy):
    change_encoder(torch_copy, layer_norm_eps=float("nan"))
    tagger = load_checkpoint(torch_copy, "cpu")
    with pytest.raises(InputError) as error:
        tagger.tag(sample())
    assert str(error.value) == (
        f"{torch_copy}: found scores with NaN or infinity, expected finite numbers"
    )


def test_a_folder_without_config_is_refused(tmp_path):
    assert refusal(tmp_path)


def test_a_loaded_model_tags_as_the_one_that_was_saved(checkpoint):
    model = model_of()
    saved = NeuralTagger(TorchRuntime(checkpoint, model), plain_of(), model.config.for_tagging())
    assert load_checkpoint(checkpoint).tag(sample()) == saved.tag(sample())


def test_a_checkpoint_with_a_file_for_onnx_runtime_is_computed_by_it(copy):
    has_file = (copy / CHECKPOINT_ENCODER).is_file()
    tagger = load_checkpoint(copy, "cpu")
    assert isinstance(tagger.runtime, OnnxRuntime if has_file else TorchRuntime)
    library = ("onnxruntime",) if has_file else ("torch", "transformers")
    assert tagger.libraries == (*library, "tokenizers", "numpy")
    by_torch = load_checkpoint(copy, "cpu", "bfloat16")
    assert isinstance(by_torch.runtime, TorchRuntime)


def test_a_checkpoint_computes_in_float32_by_default(checkpoint):
    model = load_checkpoint(checkpoint, "cpu").runtime.model
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


def test_the_encoder_computes_in_bfloat16_on_request(checkpoint):
    many = load_checkpoint(checkpoint, "cpu")
    few = load_checkpoint(checkpoint, "cpu", "bfloat16")
    assert few.runtime.model.encoder.dtype is torch.bfloat16
    assert few.runtime.model.text.scores.weight.dtype is torch.float32
    for chapter in split_chapters(sample()):
        found, expected = few.score_chapter(chapter), many.score_chapter(chapter)
        assert found == pytest.approx(expected, abs=0.1)
        assert not np.array_equal(found, expected)


def test_another_dtype_is_refused(checkpoint):
    with pytest.raises(InputError) as error:
        load_checkpoint(checkpoint, dtype="float16")
    assert str(error.value) == "found dtype 'float16', expected float32 or bfloat16"


def test_the_model_of_a_checkpoint_is_read_with_its_tokenizer(checkpoint):
    model, tokenizer = read_checkpoint(checkpoint)
    expected = model_of().state_dict()
    assert not model.training
    assert model.state_dict().keys() == expected.keys()
    assert all(torch.equal(model.state_dict()[name], expected[name]) for name in expected)
    assert tokenizer.get_vocab() == plain_of().get_vocab()


WITHOUT_EXTRAS = """
import sys
HEAVY = ("torch", "transformers", "accelerate", "datasets", "matplotlib", "onnx", "flask", "pandas")
for name in HEAVY:
    sys.modules[name] = None  # as if it was not installed
import runpy
runpy.run_module("miner", run_name="__main__")
"""


def without_extras(*words):
    command = [sys.executable, "-c", WITHOUT_EXTRAS, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)


@pytest.mark.slow
def test_the_shipped_tagger_mines_without_the_extras(tmp_path):
    done = without_extras("mine", "sample", "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "pairs.jsonl").read_bytes()
    record = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert {"onnxruntime", "tokenizers", "numpy"} < record["libraries"].keys()
    assert "torch" not in record["libraries"]


def test_mining_imports_no_library_that_it_does_not_need(tmp_path):
    script = (
        "import sys\nfrom miner.app.cli.main import main\n"
        "main(sys.argv[1:], standalone_mode=False)\nprint(*sys.modules, file=sys.stderr)"
    )
    words = ["mine", str(DATA / "classic_pre.htm"), "-q", "-o", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert {"onnxruntime", "tokenizers", "numpy", "miner"} <= loaded
    heavy = {"torch", "transformers", "accelerate", "datasets", "matplotlib", "onnx", "flask"}
    assert not loaded & (heavy | {"sklearn", "scipy", "pandas", "sympy"})


@pytest.mark.parametrize("way", ["no file", "bfloat16"])
def test_where_pytorch_is_needed_and_missing_one_line_says_how_to_install_it(tmp_path, way):
    folder = shutil.copytree(exported(), tmp_path / "copy")
    words = ["mine", "sample", "-o", tmp_path / "out", "--tagger", folder]
    if way == "no file":
        (folder / CHECKPOINT_ENCODER).unlink()
    else:
        words += ["--dtype", "bfloat16"]
    done = without_extras(*words)
    assert done.returncode == 1 and not (tmp_path / "out").exists()
    assert done.stderr.splitlines() == [
        "miner: found no torch, which this needs: install the extra train "
        "(pip install '.[train]' in the folder of the source)"
    ]
