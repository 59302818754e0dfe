"""The encoder of a checkpoint -> a file for ONNX Runtime, so that tagging needs no PyTorch.

The file holds no large weights. It refers to bytes of `model.safetensors` as its external data, so
that a checkpoint stores each weight once.

The encoder of a quantized checkpoint also computes in 8 bits. Each row of activations is quantized
when it comes, by its largest value ("dynamic quantization"; Wu et al. 2020, "Integer Quantization
for Deep Learning Inference", sections 3 and 4), and is multiplied by the stored 8 bits of the
weights. Activations have 7 bits, so that two products fit in 16 bits with a sign. Processors
without VNNI instructions add products in 16 bits; with 8 bits, they would have other results.
ONNX Runtime's own `quantize_dynamic` has one scale for all rows of a batch: its result depends on
the windows in the batch, and it changed four times as many tags.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from torch import Tensor, nn

from miner.errors import InputError
from miner.files import CHECKPOINT_ENCODER, CHECKPOINT_WEIGHTS, reason_of, sha256_of, whole_file
from miner.tagger.checkpoint import WEIGHTS_KEY, OnnxRuntime
from miner.tagger.encoding import Window
from miner.tagger.head import dequantize, is_quantized, scale_name
from miner.tagger.model import ConversationTagger
from miner.tagger.torch_runtime import read_checkpoint

_OPSET = 20
_LARGE = 4096  # values of a weight that is referred to and not copied
_ZERO = 64  # stands for 0 among the 128 values of 7 bits
_MICROSOFT = "com.microsoft"  # the domain of ONNX Runtime's own operators
_TYPES = {"F32": TensorProto.FLOAT, "F16": TensorProto.FLOAT16, "I8": TensorProto.INT8}
# The cosine between vectors by ONNX Runtime and by PyTorch, at least.
_MIN_COSINE = {False: 0.9999, True: 0.98}  # by whether the encoder is quantized


class _Encoder(nn.Module):
    """The encoder with the inputs and the output that its file has."""

    def __init__(self, model: ConversationTagger) -> None:
        super().__init__()
        self.encoder = model.encoder

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state


class _Stored(NamedTuple):
    """A tensor in a safetensors file."""

    name: str  # its name
    type: int  # its type as ONNX numbers it
    shape: tuple[int, ...]  # its shape
    start: int  # its first byte in the file
    size: int  # its size in bytes

    def refer(self, name: str, file: str) -> TensorProto:
        """Returns an initializer with these values, which are in the file."""
        tensor = TensorProto(name=name, data_type=self.type, dims=self.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in ("location", file), ("offset", self.start), ("length", self.size):
            tensor.external_data.add(key=key, value=str(value))
        return tensor


def export_encoder(folder: Path) -> None:
    """Writes the encoder of a checkpoint for ONNX Runtime into its folder."""
    model, _ = read_checkpoint(folder)
    path, weights = folder / CHECKPOINT_ENCODER, folder / CHECKPOINT_WEIGHTS
    model.encoder.set_attn_implementation("eager")
    try:
        proto = _export(model)
    except Exception as error:  # PyTorch raises errors of many kinds at what it cannot export
        raise InputError(f"{folder}: the encoder cannot be exported: {reason_of(error)}") from error
    quantized = _share_weights(proto, weights)
    entry = proto.metadata_props.add()
    entry.key, entry.value = WEIGHTS_KEY, sha256_of(weights.read_bytes())
    with whole_file(path, force=True) as file:
        file.write(proto.SerializeToString(deterministic=True))
    try:
        _check(folder, model, quantized)
    except InputError:
        path.unlink()
        raise


def _export(model: ConversationTagger) -> ModelProto:
    ids = torch.full((2, 16), model.config.separator)
    windows, tokens = torch.export.Dim.DYNAMIC, torch.export.Dim.DYNAMIC
    shapes = {name: {0: windows, 1: tokens} for name in ("ids", "mask")}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            _Encoder(model).eval(),
            (ids, torch.ones_like(ids)),
            input_names=["ids", "mask"],
            output_names=["vectors"],
            dynamic_shapes=shapes,
            opset_version=_OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    proto = program.model_proto
    del proto.metadata_props[:]
    for node in proto.graph.node:  # these name lines of source files
        del node.metadata_props[:]
        node.doc_string = ""
    return proto


def _share_weights(proto: ModelProto, weights: Path) -> bool:
    """Replaces the large weights of a graph by references to a file."""
    values, stored = load_file(weights), {item.name: item for item in _read_header(weights)}
    whole = {name: value for name, value in dequantize(values).items() if value.size >= _LARGE}
    by_bytes = {value.tobytes(): (name, False) for name, value in whole.items()}
    by_bytes |= {v.T.tobytes(): (name, True) for name, v in whole.items() if v.ndim == 2}
    graph = _Graph(proto, weights.name, stored)
    for tensor in list(proto.graph.initializer):
        array = numpy_helper.to_array(tensor)
        if array.size >= _LARGE and (found := by_bytes.get(array.tobytes())):
            graph.replace(tensor, *found)
    graph.finish()
    return is_quantized(values)


class _Graph:
    """A graph whose weights are replaced one by one."""

    def __init__(self, proto: ModelProto, file: str, stored: dict[str, _Stored]) -> None:
        self._proto, self._graph = proto, proto.graph
        self._file, self._stored = file, stored
        self._first: list[NodeProto] = []  # what makes weights from stored tensors
        self._rows: dict[str, str] = {}  # of quantized activations, by name
        self._names: set[str] = set()

    def replace(self, tensor: TensorProto, name: str, transposed: bool) -> None:
        """Replaces an initializer by a stored tensor or its transpose."""
        self._graph.initializer.remove(tensor)
        scale = scale_name(name)
        if scale not in self._stored:
            self._add_stored(name)
            whole = name
        else:
            users = [node for node in self._graph.node if tensor.name in node.input]
            self._add_stored(name)
            self._add_stored(scale)
            self._prepare("Cast", [scale], f"{name}.scale", to=TensorProto.FLOAT)
            if transposed and all(
                node.op_type == "MatMul" and node.input[1] == tensor.name for node in users
            ):
                self._prepare("Transpose", [name], f"{name}.columns", perm=[1, 0])
                for node in users:
                    self._multiply(node, f"{name}.columns", f"{name}.scale", tensor.dims)
                return
            if not transposed and all(
                node.op_type == "Gather" and node.input[0] == tensor.name for node in users
            ):
                for node in users:
                    self._look_up(node, name, f"{name}.scale")
                return
            self._add("first axis", np.array([1], dtype=np.int64))
            self._prepare("Cast", [name], f"{name}.steps", to=TensorProto.FLOAT)
            self._prepare("Unsqueeze", [f"{name}.scale", "first axis"], f"{name}.scales")
            self._prepare("Mul", [f"{name}.steps", f"{name}.scales"], f"{name}.whole")
            whole = f"{name}.whole"
        if transposed:
            self._prepare("Transpose", [whole], tensor.name, perm=[1, 0])
        else:
            self._prepare("Identity", [whole], tensor.name)

    def finish(self) -> None:
        """Puts the nodes in order, and drops initializers that nothing uses."""
        nodes = [*self._first, *self._graph.node]
        del self._graph.node[:]
        self._graph.node.extend(nodes)
        used = {name for node in nodes for name in node.input}
        kept = [tensor for tensor in self._graph.initializer if tensor.name in used]
        del self._graph.initializer[:]
        self._graph.initializer.extend(kept)
        del self._graph.value_info[:]
        if all(item.domain != _MICROSOFT for item in self._proto.opset_import):
            self._proto.opset_import.append(helper.make_opsetid(_MICROSOFT, 1))

    def _multiply(self, node: NodeProto, columns: str, scale: str, shape: Iterable[int]) -> None:
        """Replaces a product with a float matrix by one with its quantized columns."""
        n_inputs, n_outputs = shape
        rows, made = self._quantize_rows(node.input[0], n_inputs)
        out = node.output[0]
        one, zero = self._constants()
        size = self._add(f"size {n_outputs}", np.array([n_outputs], dtype=np.int64))
        made += [
            helper.make_node(
                "MatMulIntegerToFloat",
                [f"{rows}.steps", columns, one, scale, zero],
                [f"{out}.product"],
                domain=_MICROSOFT,
            ),
            helper.make_node("Mul", [f"{out}.product", f"{rows}.scales"], [f"{out}.rows"]),
            helper.make_node("Concat", [f"{rows}.shape", size], [f"{out}.shape"], axis=0),
            helper.make_node("Reshape", [f"{out}.rows", f"{out}.shape"], [out]),
        ]
        self._exchange(node, made)

    def _quantize_rows(self, name: str, size: int) -> tuple[str, list[NodeProto]]:
        """Returns the first part of the names of quantized rows, and the nodes that make them."""
        if name in self._rows:
            return self._rows[name], []
        rows = self._rows[name] = f"{name}.q"
        _, zero = self._constants()
        flat = self._add(f"rows of {size}", np.array([-1, size], dtype=np.int64))
        axis = self._add("first axis", np.array([1], dtype=np.int64))
        least = self._add("least", np.array(1e-10, dtype=np.float32))
        most = self._add("most", np.array(_ZERO - 1, dtype=np.float32))
        make = helper.make_node
        return rows, [
            make("Shape", [name], [f"{rows}.shape"], start=0, end=-1),
            make("Reshape", [name, flat], [f"{rows}.flat"]),
            make("Abs", [f"{rows}.flat"], [f"{rows}.sizes"]),
            make("ReduceMax", [f"{rows}.sizes", axis], [f"{rows}.largest"], keepdims=0),
            make("Max", [f"{rows}.largest", least], [f"{rows}.positive"]),
            make("Div", [f"{rows}.positive", most], [f"{rows}.scale"]),
            make("Shape", [f"{rows}.scale"], [f"{rows}.count"]),
            make("Expand", [zero, f"{rows}.count"], [f"{rows}.zeros"]),
            make(
                "QuantizeLinear",
                [f"{rows}.flat", f"{rows}.scale", f"{rows}.zeros"],
                [f"{rows}.steps"],
                axis=0,
            ),
            make("Unsqueeze", [f"{rows}.scale", axis], [f"{rows}.scales"]),
        ]

    def _look_up(self, node: NodeProto, name: str, scale: str) -> None:
        """Replaces a look-up of float rows by one of quantized rows and their scales."""
        ids, out = node.input[1], node.output[0]
        last = self._add("last axis", np.array([-1], dtype=np.int64))
        make = helper.make_node
        made = [
            make("Gather", [name, ids], [f"{out}.steps"]),
            make("Cast", [f"{out}.steps"], [f"{out}.floats"], to=TensorProto.FLOAT),
            make("Gather", [scale, ids], [f"{out}.scale"]),
            make("Unsqueeze", [f"{out}.scale", last], [f"{out}.scales"]),
            make("Mul", [f"{out}.floats", f"{out}.scales"], [out]),
        ]
        self._exchange(node, made)

    def _constants(self) -> tuple[str, str]:
        one = self._add("one", np.array(1, dtype=np.float32))
        return one, self._add("zero", np.array(_ZERO, dtype=np.uint8))

    def _exchange(self, node: NodeProto, made: list[NodeProto]) -> None:
        nodes = list(self._graph.node)
        place = next(n for n, item in enumerate(nodes) if item.output[0] == node.output[0])
        del self._graph.node[:]
        self._graph.node.extend([*nodes[:place], *made, *nodes[place + 1 :]])

    def _prepare(self, operator: str, inputs: list[str], output: str, **options: Any) -> None:  # noqa: ANN401
        if output not in self._names:
            self._names.add(output)
            self._first.append(helper.make_node(operator, inputs, [output], **options))

    def _add_stored(self, name: str) -> None:
        if name not in self._names:
            self._names.add(name)
            self._graph.initializer.append(self._stored[name].refer(name, self._file))

    def _add(self, name: str, value: NDArray[np.generic]) -> str:
        if name not in self._names:
            self._names.add(name)
            self._graph.initializer.append(numpy_helper.from_array(value, name))
        return name


def _read_header(path: Path) -> list[_Stored]:
    """Returns the tensors of a safetensors file, without their values.

    The format is that of https://github.com/huggingface/safetensors: 8 bytes with the size of the
    header, the header in JSON, then the values.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    return [
        _Stored(
            name,
            _TYPES[item["dtype"]],
            tuple(item["shape"]),
            8 + size + item["data_offsets"][0],
            item["data_offsets"][1] - item["data_offsets"][0],
        )
        for name, item in header.items()
        if item["dtype"] in _TYPES
    ]


def _check(folder: Path, model: ConversationTagger, quantized: bool) -> None:
    """Raises an error if ONNX Runtime gives other vectors than PyTorch does."""
    rng = np.random.default_rng(0)
    n_ids = min(model.encoder.config.vocab_size, 10_000)
    length = min(model.config.window, 64)
    windows = []
    for size in (length, length // 2 + 1):
        ids = tuple(rng.integers(0, n_ids, size).tolist())
        windows.append(Window(ids, (0, size - 2), 0))
    found = OnnxRuntime(folder, model.config.for_tagging()).encode(windows, length)
    with torch.no_grad():
        expected = model.read_windows(windows, length).numpy()
    for window, ours, theirs in zip(windows, found, expected, strict=True):
        a, b = ours[: len(window.ids)], theirs[: len(window.ids)]
        cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        if not cosines.mean() >= _MIN_COSINE[quantized]:
            raise InputError(
                f"{folder}: found an exported encoder whose vectors have a cosine of "
                f"{cosines.mean():.4f} with PyTorch's, expected {_MIN_COSINE[quantized]} or more"
            )
