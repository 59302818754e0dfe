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
        ([("*ann", "cy")], ["cy"]),
        ([("*ann",), ("ann", "cy")], ["cy", "cy"]),  # the whole turn
        ([("*ann", "cy"), ("bo",)], ["bo", "ann"]),  # Cy is silent all through the chapter
        ([("*ann", "cy"), ("bo",), ("*cy",)], ["cy bo", "ann", ""]),
        ([("*ann", "ann"), ("bo",)], ["bo", "ann"]),  # nobody calls himself
        ([("*ann",), ("bo",), ("cy",)], ["bo cy", "ann cy", "ann bo"]),
        ([("*ann", "", "cy"), ("bo",), ("cy",)], ["cy", "ann cy", "ann bo"]),
        ([("*ann",), ("*bo",), ("ann",)], ["", "ann", "bo"]),  # the first speaks alone
        ([("*",), ("ann",)], ["", ""]),
    ],
)
def test_to_whom_an_utterance_is_said(said, found):
    assert addressees(*said) == found


def test_who_comes_late_or_leaves_early_does_not_hear_all():
    found = addressees(("*cy",), *[("ann",), ("bo",)] * 4, ("dee",))
    assert found[:2] == ["ann bo", "cy bo"]
    assert found[4:7] == ["cy ann", "bo dee", "ann dee"]
    assert found[-1] == "ann bo"
