"""The model card of a checkpoint: what it is, what it was trained on, and its real scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from miner.calibration import Calibration
from miner.report import with_interval
from miner.scores import Scores

_UNITS = (("B-START", "B-START"), ("turn pairs", "turn-pair"), ("span pairs", "span-pair"))


def model_card(
    training: Mapping[str, Any], scores: Mapping[str, Scores], calibration: Calibration
) -> str:
    """A README.md in the form of the Hugging Face hub.

    Args:
        training: what the config records of the training: data, options, command.
        scores: of the splits, by name, on the spans of the gold.
        calibration: on the dev split.
    """
    lines = ["---", "library_name: transformers", "pipeline_tag: token-classification"]
    lines += ["language: en", "tags:", "  - conversation-mining", "  - bilstm", "---", ""]
    lines += ["# Conversation tagger", ""]
    lines += [
        "Tags each utterance of a novel B-START, I-START, B-OTHER or I-OTHER: where conversations",
        "begin and who goes on speaking. Use it with `miner mine BOOK --tagger FOLDER`.",
        "",
        "| | precision [95%] | recall [95%] | F1 [95%] |",
        "|---|---|---|---|",
    ]
    for split, of_split in scores.items():
        figure = of_split.total.end_to_end
        for label, unit in _UNITS:
            cells = (figure[f"{unit}.{part}"] for part in ("precision", "recall", "f1"))
            row = " | ".join(with_interval(cell) for cell in cells)
            lines.append(f"| {split}: {label} | {row} |")
    lines += ["", "On the annotated spans; intervals from resampled chapters. Signatures:", ""]
    lines += [f"- `{one}`" for one in dict.fromkeys(item.signature for item in scores.values())]
    lines += [
        "",
        f"Confidence is calibrated on dev: temperature {calibration.temperature:.2f}, expected "
        f"calibration error {calibration.error_after:.3f} (before {calibration.error_before:.3f}).",
        "",
        "## Training",
        "",
        *(f"- {key}: `{value}`" for key, value in training.items()),
        "",
        "## Limits",
        "",
        "Trained on English novels of 1749 to 1922 whose labels were made by a language model and",
        "not checked by a human (see the datasheet of the annotations). Drama, dash dialogue and",
        "other languages were not seen.",
        "",
    ]
    return "\n".join(lines)
