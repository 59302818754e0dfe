"""To whom each utterance is said."""

import pytest

from miner.people.addressees import Said, find_addressees


def addressees(*said):
    """The addressees of utterances; each is a speaker and, perhaps, who is called and told."""
    items = [
        Said(speaker.startswith("*"), speaker.strip("*") or None, tuple(called.split()), told)
        for speaker, called, told in ((*item, *("", None)[len(item) - 1 :]) for item in said)
    ]
    return [" ".join(one) for one in find_addressees(items)]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ([("*ann", "cy"), ("bo",)], ["cy", "ann"]),
        ([("*ann",), ("ann", "cy"), ("bo",)], ["cy", "cy", "ann"]),  # the whole turn
        ([("*ann", "", "cy"), ("bo",)], ["cy", "ann"]),
        ([("*ann", "ann"), ("bo",)], ["bo", "ann"]),  # nobody calls himself
        ([("*ann",), ("bo",), ("ann",)], ["bo", "ann", "bo"]),
        ([("*ann",), ("bo",), ("cy",), ("ann",)], ["bo", "ann", "bo", "cy"]),
        ([("*ann",), ("*bo",), ("ann",)], ["", "ann", "bo"]),  # the first speaks alone
        ([("*",), ("ann",)], ["", ""]),
    ],
)
def test_to_whom_an_utterance_is_said(said, found):
    assert addressees(*said) == found
