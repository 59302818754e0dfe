"""The model card of a checkpoint says for which languages it is."""

import pytest

from miner.models.tagger.calibration import Calibration
from miner.models.tagger.model_card import format_model_card


@pytest.mark.parametrize(
    ("language", "metadata", "labels"),
    [
        ("en", "language: en\ntags:", "novels in en. "),
        ("en,fr", "language:\n  - en\n  - fr\ntags:", "novels in en, fr. "),
    ],
)
def test_the_languages_of_the_training_are_those_of_the_card(language, metadata, labels):
    card = format_model_card({"language": language}, {}, Calibration(1.0, 0.1, 0.1, ()), {})
    assert metadata in card and labels in card
    assert ("Dialogue marked by dashes is not among them." in card) == (language == "en")
