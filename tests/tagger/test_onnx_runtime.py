"""Files for ONNX Runtime that were damaged or come from elsewhere, and too little memory."""

import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from encoders import exported, sample
from helpers import ROOT, run
from safetensors.numpy import load_file, save_file

from miner.errors import InputError
from miner.files import CHECKPOINT_ENCODER, CHECKPOINT_WEIGHTS
from miner.tagger.checkpoint import OnnxRuntime, load_checkpoint
from miner.tagger.encoding import Window


@pytest.fixture
def copy(tmp_path):
    """A copy that a test may damage."""
    return shutil.copytree(exported(), tmp_path / "copy")


def refusal(folder):
    """The line with which the encoder of a folder is refused."""
    with pytest.raises(InputError) as error:
        load_checkpoint(folder, "cpu")
    (line,) = str(error.value).splitlines()
    start = f"{folder / CHECKPOINT_ENCODER}: "
    assert line.startswith(start)
    return line.removeprefix(start)


def change_graph(folder, change):
    path = folder / CHECKPOINT_ENCODER
    proto = onnx.load(path, load_external_data=False)
    change(proto)
    path.write_bytes(proto.SerializeToString())


@pytest.mark.parametrize("left", [0, 1, 100, 5000, -3000])
def test_a_file_that_was_cut_is_refused(copy, left):
    path = copy / CHECKPOINT_ENCODER
    path.write_bytes(path.read_bytes()[:left])
    assert refusal(copy).startswith(("cannot be loaded: ", "found an encoder of other weights"))


@pytest.mark.parametrize("data", [b"<html>", b"\0" * 1000, bytes(range(256)) * 40])
def test_a_file_that_holds_no_encoder_is_refused(copy, data):
    (copy / CHECKPOINT_ENCODER).write_bytes(data)
    assert refusal(copy).startswith("cannot be loaded: ")


def external(proto):
    """What says where the values of each large weight are."""
    return [
        {entry.key: entry for entry in tensor.external_data}
        for tensor in proto.graph.initializer
        if tensor.external_data
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("offset", 10**12),
        ("offset", -8),
        ("offset", "many"),
        ("length", 10**12),
        ("length", 3),
        ("location", "gone.safetensors"),
        ("location", "../outside.safetensors"),
        ("location", "/etc/hostname"),
    ],
)
def test_weights_that_are_nowhere_are_refused(copy, key, value):
    shutil.copy(copy / CHECKPOINT_WEIGHTS, copy.parent / "outside.safetensors")

    def change(proto):
        external(proto)[0][key].value = str(value)

    change_graph(copy, change)
    assert refusal(copy).startswith("cannot be loaded: ")


def test_an_encoder_of_other_weights_is_refused(copy):
    path = copy / CHECKPOINT_WEIGHTS
    weights = load_file(path)
    weights["text.scores.bias"] = weights["text.scores.bias"] + np.float32(1e-6)
    save_file(weights, path, {"format": "pt"})
    assert refusal(copy) == "found an encoder of other weights than model.safetensors"


def test_an_encoder_that_does_not_say_of_which_weights_it_is_is_refused(copy):
    change_graph(copy, lambda proto: proto.ClearField("metadata_props"))
    assert refusal(copy) == "found an encoder of other weights than model.safetensors"


def rename_input(proto):
    for node in proto.graph.node:
        node.input[:] = ["words" if name == "ids" else name for name in node.input]
    proto.graph.input[0].name = "words"


def add_output(proto):
    node = next(node for node in proto.graph.node if node.op_type == "MatMul")
    proto.graph.output.append(onnx.helper.make_empty_tensor_value_info(node.output[0]))


def flatten_output(proto):
    """The vectors of all windows in a row."""
    (output,) = proto.graph.output
    shape = onnx.numpy_helper.from_array(np.array([-1]), "flat")
    proto.graph.initializer.append(shape)
    proto.graph.node.append(onnx.helper.make_node("Reshape", [output.name, "flat"], ["row"]))
    output.CopyFrom(onnx.helper.make_tensor_value_info("row", onnx.TensorProto.FLOAT, ["n"]))


@pytest.mark.parametrize("change", [rename_input, add_output, flatten_output])
def test_another_model_is_refused(copy, change):
    change_graph(copy, change)
    assert refusal(copy).startswith("found a model with inputs ")


def test_a_damaged_one_is_one_line_of_the_command(copy, tmp_path):
    (copy / CHECKPOINT_ENCODER).write_bytes(b"<html>")
    done = run("mine", "sample", "--tagger", copy, "-o", tmp_path / "out")
    assert (done.exit_code, done.stdout, (tmp_path / "out").exists()) == (1, "", False)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"miner: {copy / CHECKPOINT_ENCODER}: cannot be loaded: ")


def test_without_the_file_pytorch_computes_the_same_tags(copy):
    tagger = load_checkpoint(copy, "cpu")
    (copy / CHECKPOINT_ENCODER).unlink()
    other = load_checkpoint(copy, "cpu")
    assert type(tagger.runtime) is OnnxRuntime and type(other.runtime) is not OnnxRuntime
    tags = [[item.tag for item in each.tag(sample())] for each in (tagger, other)]
    assert tags[0] == tags[1]


@pytest.mark.parametrize("ids", [(2, 600, 3), (2, 2**40, 3), (2, *[5] * 600, 3)])
def test_tokens_that_the_encoder_cannot_read_are_one_line(ids):
    folder = exported()
    runtime = load_checkpoint(folder, "cpu").runtime
    with pytest.raises(InputError) as error:
        runtime.encode([Window(ids, (0, len(ids) - 2), 0)], len(ids))
    (line,) = str(error.value).splitlines()
    assert line.startswith(f"{folder}: cannot be computed: ")


SHORT_OF_MEMORY = """
import resource, sys
from pathlib import Path
from miner.tagger.checkpoint import load_checkpoint
from miner.tagger.encoding import Window

runtime = load_checkpoint(Path(sys.argv[1]), "cpu").runtime
window = Window((2, *[5] * 510, 3), (0, 510), 0)
runtime.encode([window] * 2, 512)
pages = int(Path("/proc/self/statm").read_text().split()[0])
least = pages * resource.getpagesize() + 64 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (least, least))
try:
    runtime.encode([window] * 4000, 512)
except MemoryError as error:
    print(type(runtime).__name__, str(error).splitlines()[0])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "way", ["OnnxRuntime", pytest.param("TorchRuntime", marks=pytest.mark.slow)]
)
def test_too_little_memory_is_a_memory_error(copy, way):
    if way == "TorchRuntime":
        (copy / CHECKPOINT_ENCODER).unlink()
    command = [sys.executable, "-c", SHORT_OF_MEMORY, str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{way} {copy}: ")
