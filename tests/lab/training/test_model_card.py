"""The model card of a checkpoint says for which languages it is."""

import re

import pytest
from helpers import ROOT

from miner.lab.training.tagger.model_selection import Calibration
from miner.lab.training.tagger.run_folder import write_model_card
from miner.tagger.load import CHECKPOINTS


@pytest.mark.parametrize(
    ("language", "metadata", "labels"),
    [
        ("en", "language: en\ntags:", "novels in en. "),
        ("en,fr", "language:\n  - en\n  - fr\ntags:", "novels in en, fr. "),
    ],
)
def test_the_languages_of_the_training_are_those_of_the_card(tmp_path, language, metadata, labels):
    write_model_card(tmp_path, {"language": language}, {}, Calibration(1.0, 0.1, 0.1, ()), {})
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert metadata in card and labels in card
    assert ("Dialogue marked by dashes is not among them." in card) == (language == "en")


def test_the_card_of_the_package_and_the_results_have_the_same_scores():
    results = (ROOT / "tests" / "benchmarks" / "README.md").read_text(encoding="utf-8")
    table = results.split("On the spans of the gold (annotations, test split)")[1]
    card = (CHECKPOINTS / "en" / "README.md").read_text(encoding="utf-8")
    for unit, of_unit in zip(
        ("B-START", "turn pairs", "span pairs"), table.split("\n  auto ")[1:], strict=False
    ):
        cells = re.split(r"\s{2,}", of_unit.splitlines()[0].strip())
        assert f"| test, as tagged: {unit} | {' | '.join(cells)} |" in card
