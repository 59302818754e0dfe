"""The model card of a checkpoint: what it is, how it was trained, and how well it tags."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from miner.lab.measure.scores import Scores
from miner.lab.training.tagger.calibration import Calibration
from miner.score import format_score

_ON_THE_HUB = re.compile(r"[\w.-]+/[\w.-]+")
AS_TAGGED = ", as tagged"  # ends the name of scores as `miner compare` computes them
_UNITS = (("B-START", "B-START"), ("turn pairs", "turn-pair"), ("span pairs", "span-pair"))


def format_model_card(
    training: Mapping[str, Any],
    scores: Mapping[str, Scores],
    calibration: Calibration,
    errors: Mapping[str, float],
) -> str:
    """Returns the text of a README.md, in the form of the Hugging Face Hub."""
    lines = ["---", "library_name: transformers", "pipeline_tag: token-classification"]
    encoder = str(training.get("encoder", ""))
    if _ON_THE_HUB.fullmatch(encoder) and not Path(encoder).is_dir():
        lines += [f"base_model: {encoder}"]
    languages = str(training.get("language", "en")).split(",")
    lines += [f"language: {languages[0]}"] if len(languages) == 1 else ["language:"]
    lines += [f"  - {language}" for language in languages if len(languages) > 1]
    lines += ["tags:", "  - conversation-mining", "  - bilstm", "---", ""]
    lines += ["# Conversation tagger", ""]
    lines += [
        "Tags each utterance of a novel B-START, I-START, B-OTHER or I-OTHER. The tags say where",
        "conversations and turns begin. Use it with `miner mine BOOK --tagger FOLDER`.",
        "",
        "| | precision [95%] | recall [95%] | F1 [95%] |",
        "|---|---|---|---|",
    ]
    for split, of_split in scores.items():
        measures = of_split.total.end_to_end
        for label, unit in _UNITS:
            cells = (measures[f"{unit}.{part}"] for part in ("precision", "recall", "f1"))
            row = " | ".join(format_score(cell) for cell in cells)
            lines.append(f"| {split}: {label} | {row} |")
    lines += ["", "Scores on the annotated spans, with intervals from resampled chapters."]
    if any(name.endswith(AS_TAGGED) for name in scores):
        lines += [
            '"As tagged" is what `miner compare --tagger FOLDER` prints: tags as they are mined,',
            "which agree with the speakers. The other rows are of the model alone, computed by",
            "PyTorch from the whole text.",
        ]
    else:
        lines += [
            "They are of the model alone, computed by PyTorch from the whole text.",
            "`miner compare --tagger FOLDER` has those of its tags as they are mined, which agree",
            "with the speakers.",
        ]
    lines += ["Signatures:", ""]
    lines += [f"- `{one}`" for one in dict.fromkeys(item.signature for item in scores.values())]
    lines += [
        "",
        f"Confidence is calibrated on {training.get('dev')}: temperature "
        f"{calibration.temperature:.2f}. Expected calibration error "
        f"{', '.join(f'{error:.3f} on {split}' for split, error in errors.items())} "
        f"({calibration.error_before:.3f} on {training.get('dev')} before).",
        "",
        "## Training",
        "",
        *(f"- {key}: `{value}`" for key, value in training.items() if value != ""),
        "",
        "## Limits",
        "",
        f"The labels in `annotations` are of novels in {', '.join(languages)}. A language",
        "model made them, and no human checked them (see their datasheet). They contain no drama.",
        *(["Dialogue marked by dashes is not among them."] if languages == ["en"] else []),
        "",
    ]
    return "\n".join(lines)
