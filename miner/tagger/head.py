"""The weights of a checkpoint in 8 bits, and its experts in NumPy: tagging needs no PyTorch.

The encoder has nearly all the weights; the experts are the small rest. `model` defines the same
layers in PyTorch, under the same names.

Weights are stored in a quarter of their size: matrices in 8 bits, others in 16. This is the
symmetric quantization per output channel of "Integer Quantization for Deep Learning Inference"
(Wu et al. 2020, section 3). PyTorch computes with them in float32, and ONNX Runtime in 8 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from miner.errors import InputError
from miner.tagger.config import TaggingConfig
from miner.tagger.decoding import TagScores
from miner.tagger.features import FEATURES, N_PLAIN
from miner.threads import one_blas_thread

AnyArray = NDArray[Any]  # of numbers of any type
_MIN_WEIGHTS = 4096  # of a matrix that is worth quantizing
_SCALE = "scale of "  # begins the name of the scales of a matrix


def quantize(weights: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Returns the weights in 8 and 16 bits.

    A matrix of at least 4096 weights becomes int8: each row is divided by its scale, which is its
    largest absolute weight over 127. The scales are stored as float16 under a name of their own.
    All other floating-point weights become float16, and integers stay.
    """
    found: dict[str, AnyArray] = {}
    for name, weight in weights.items():
        if not np.issubdtype(weight.dtype, np.floating):
            found[name] = weight
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            if weight.ndim == 2 and weight.size >= _MIN_WEIGHTS:
                least = np.finfo(np.float16).smallest_normal
                scale = np.maximum(np.abs(weight).max(axis=1) / 127, least).astype(np.float16)
                found[scale_name(name)] = rest = scale
                steps = np.round(weight / scale.astype(np.float32)[:, None])
                found[name] = np.clip(np.nan_to_num(steps), -127, 127).astype(np.int8)
            else:
                found[name] = rest = weight.astype(np.float16)
        if not np.isfinite(rest).all():
            raise InputError(f"{name}: found weights that 16 bits cannot hold")
    return found


def scale_name(name: str) -> str:
    """Returns the name of the scales of a quantized matrix."""
    return _SCALE + name


def is_part_of(module: str, name: str) -> bool:
    """Whether a weight, or the scales of one, belong to a module of a model."""
    return name.removeprefix(_SCALE).startswith(f"{module}.")


def is_quantized(names: Iterable[str]) -> bool:
    """Whether weights with these names come from `quantize`."""
    return any(name.startswith(_SCALE) for name in names)


def dequantize(weights: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Returns weights from `quantize` as float32, up to rounding; others keep their values."""
    found: dict[str, AnyArray] = {}
    for name, weight in weights.items():
        scale = weights.get(scale_name(name))
        if scale is None and weight.dtype == np.int8:
            raise InputError(f"{name}: found 8 bits without their scales")
        if scale is not None:
            if weight.ndim != 2 or scale.shape != weight.shape[:1]:
                raise InputError(
                    f"{name}: found {scale.shape} scales of {weight.shape} weights, "
                    "expected one for each row"
                )
            found[name] = weight.astype(np.float32) * scale.astype(np.float32)[:, None]
        elif not name.startswith(_SCALE):
            is_float = np.issubdtype(weight.dtype, np.floating)
            found[name] = weight.astype(np.float32) if is_float else weight
    return found


Array = NDArray[np.float32]
Weights = Mapping[str, Array]

STRUCTURE = 64  # size of the layers over the structure features
VOICE = 64  # size of the vectors whose product says whether two utterances have one speaker
OUTCOMES = ("opens a conversation", "opens a turn", "continues a turn")  # of an utterance
# Whether one that continues a turn is I-START or I-OTHER follows from the tags before it, so both
# have the same score.
OUTCOME_OF_TAG = (0, 2, 1, 2)
_NORM_EPSILON = 1e-5  # as in PyTorch


class Head:
    """The text expert and the structure expert of a model."""

    def __init__(self, weights: Weights, config: TaggingConfig, size: int) -> None:
        """Takes the weights of a model."""
        refuse_other_weights(weights, head_shapes(config, size))
        self._weights = weights
        self._start_share, self._turn_share = config.start_share, config.turn_share

    @one_blas_thread()
    def score_structure(self, features: Array) -> TagScores:
        """Returns the scores by the structure expert of a sequence: (utterances, 4)."""
        projected = gelu(self._linear("structure.projection.0", features))
        states = self._states("structure.lstm", projected)
        return self._linear("structure.scores", states)[:, list(OUTCOME_OF_TAG)]

    @one_blas_thread()
    def score_text(self, vectors: Array, features: Array, structure: TagScores | None) -> TagScores:
        """Returns the scores by the text expert, mixed with those of the structure if any.

        `vectors` are (utterances, 3 x size of the encoder's vectors); the scores (utterances, 4).
        """
        projected = gelu(
            self._linear("text.projection.1", self._norm("text.projection.0", vectors))
        )
        if structure is not None:
            plain = gelu(self._linear("text.plain.0", features[:, :N_PLAIN]))
            projected = np.concatenate([projected, plain], axis=1)
        states = self._states("text.lstm", projected)
        voices = self._linear("text.voice", states)
        likeness = np.zeros((len(voices), 1), dtype=np.float32)
        likeness[1:, 0] = (voices[1:] * voices[:-1]).sum(axis=1) / VOICE**0.5
        likeness += self._weights["text.voice_bias"]
        scores = self._linear("text.scores", np.concatenate([states, likeness], axis=1))
        scores = scores[:, list(OUTCOME_OF_TAG)]
        return scores if structure is None else self._mix(scores, structure)

    def _mix(self, text: TagScores, structure: TagScores) -> TagScores:
        """Returns the weighted scores of both experts, as `ConversationTagger.mix_scores` does."""
        (text_opens, text_continues), (opens, continues) = _log_odds(text), _log_odds(structure)
        opens = self._start_share * text_opens + (1 - self._start_share) * opens
        continues = self._turn_share * text_continues + (1 - self._turn_share) * continues
        same_turn = log_sigmoid(-opens) + log_sigmoid(continues)
        new_turn = log_sigmoid(-opens) + log_sigmoid(-continues)
        return np.stack([log_sigmoid(opens), same_turn, new_turn, same_turn], axis=1)

    def _linear(self, name: str, inputs: Array) -> Array:
        return inputs @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, name: str, inputs: Array) -> Array:
        centred = inputs - inputs.mean(axis=1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float32(_NORM_EPSILON))
        return centred / scale * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _states(self, name: str, inputs: Array) -> Array:
        """Returns the states of a BiLSTM over a sequence, joined with its input vectors."""
        states, layer = inputs, 0
        while f"{name}.weight_ih_l{layer}" in self._weights:
            forwards = self._run(f"{name}.", f"_l{layer}", states)
            backwards = self._run(f"{name}.", f"_l{layer}_reverse", states[::-1])[::-1]
            states, layer = np.concatenate([forwards, backwards], axis=1), layer + 1
        return np.concatenate([states, inputs], axis=1)

    def _run(self, name: str, layer: str, inputs: Array) -> Array:
        """Returns the states of one direction of a layer: (utterances, size)."""
        of_input, of_state, *biases = (
            self._weights[f"{name}{kind}{layer}"]
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        size = of_state.shape[1]
        gates = inputs @ of_input.T + (biases[0] + biases[1])
        of_state = np.ascontiguousarray(of_state.T)
        found = np.empty((len(inputs), size), dtype=np.float32)
        state, cell = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        for n, row in enumerate(gates):
            row = row + state @ of_state
            enters, stays, _, leaves = sigmoid(row).reshape(4, size)
            cell = stays * cell + enters * np.tanh(row[2 * size : 3 * size])
            found[n] = state = leaves * np.tanh(cell)
        return found


def head_shapes(config: TaggingConfig, size: int) -> dict[str, tuple[int, ...]]:
    """Returns the shape of each weight of both experts, by name."""
    width = 3 * size
    projected = config.projection + STRUCTURE * config.features
    state = 2 * config.hidden + projected
    shapes = {
        **{f"text.projection.0.{kind}": (width,) for kind in ("weight", "bias")},
        **_linear_shapes("text.projection.1", width, config.projection),
        **_lstm_shapes("text.lstm", projected, config.hidden, config.layers),
        **_linear_shapes("text.voice", state, VOICE),
        "text.voice_bias": (1,),
        **_linear_shapes("text.scores", state + 1, len(OUTCOMES)),
    }
    if config.features:
        shapes |= _linear_shapes("text.plain.0", N_PLAIN, STRUCTURE)
        shapes |= _linear_shapes("structure.projection.0", len(FEATURES), STRUCTURE)
        shapes |= _lstm_shapes("structure.lstm", STRUCTURE, STRUCTURE, 1)
        shapes |= _linear_shapes("structure.scores", 3 * STRUCTURE, len(OUTCOMES))
    return shapes


def _linear_shapes(name: str, n_inputs: int, n_outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (n_outputs, n_inputs), f"{name}.bias": (n_outputs,)}


def _lstm_shapes(name: str, n_inputs: int, size: int, layers: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(layers):
        for suffix in (f"l{layer}", f"l{layer}_reverse"):
            shapes[f"{name}.weight_ih_{suffix}"] = (4 * size, 2 * size if layer else n_inputs)
            shapes[f"{name}.weight_hh_{suffix}"] = (4 * size, size)
            shapes |= {f"{name}.bias_{kind}_{suffix}": (4 * size,) for kind in ("ih", "hh")}
    return shapes


def refuse_other_weights(weights: Weights, expected: Mapping[str, tuple[int, ...]]) -> None:
    """Raises an error that names a weight that is missing, too many, or not as expected."""
    for name in sorted(weights.keys() ^ expected.keys()):
        kind = "no" if name in expected else "a weight"
        raise InputError(f"found {kind} {name}, expected the {len(expected)} weights of its config")
    for name, shape in expected.items():
        if weights[name].shape != shape:
            raise InputError(
                f"found {name} of shape {weights[name].shape}, expected {shape} as its config says"
            )
        if not np.isfinite(weights[name]).all():
            raise InputError(f"found {name} with NaN or infinity, expected finite numbers")


def _log_odds(scores: TagScores) -> tuple[TagScores, TagScores]:
    """Returns two log-odds of scores (utterances, 4), each (utterances,).

    The first is that a conversation opens. The second is that the turn continues, if no
    conversation opens.
    """
    opens, continues, new_turn, _ = scores.T
    return opens - np.logaddexp(continues, new_turn), continues - new_turn


def sigmoid(values: Array) -> Array:
    """Returns 1 / (1 + exp(-x)) of each value."""
    return np.float32(0.5) * (np.tanh(np.float32(0.5) * values) + np.float32(1))


def log_sigmoid(values: TagScores) -> TagScores:
    """Returns log(sigmoid(x)) of each value, without overflow."""
    return -np.logaddexp(np.float32(0), -values)


def gelu(values: Array) -> Array:
    """Returns x * P(X <= x) of each value, X normal (Hendrycks and Gimpel 2016, section 2).

    The error function is the approximation 7.1.26 of Abramowitz and Stegun, "Handbook of
    Mathematical Functions"; its error is below 1.5e-7.
    """
    size = np.abs(values) / np.float32(2**0.5)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    error = np.copysign(1 - series * np.exp(-size * size), values)
    return np.float32(0.5) * values * (1 + error)
