"""Chapters in units: the marks, the tokens of each unit, what is left out, and hidden names."""

import numpy as np
import pytest
from characters_helpers import Scene
from encoders import KINDS, plain_of, tokenizer_of

from miner.people.clues import find_clues
from miner.people.names import NOUNS, PERSONAL, SUBJECTS
from miner.reader.units import (
    GENDERS,
    NO_ONE,
    Mark,
    UnitKind,
    hide_names,
    place_units,
    read_units,
)

FIRST = 10_000  # the number of the first mark, here
TEXTS = (
    "“Who has the key, Mr. Bell?” said Mara. “Is it lost?” she asked.",
    "The waiter sat.",
    "“No,” said Mr. Bell.",
)


def units_of(*texts, kind="bert", ends=0):
    return read_units(find_clues(Scene(*texts).chapter), plain_of(kind), FIRST, ends)


def shown(units, kind="bert"):
    """The tokens in words, with [ and ] for the marks of utterances and | for a break."""
    parts, words = [], []
    for token in units.tokens.tolist():
        if token < FIRST:
            words.append(token)
            continue
        parts += [tokenizer_of(kind).decode(words).strip(), "[]|"[token - FIRST]]
        words = []
    return " ".join(filter(None, [*parts, tokenizer_of(kind).decode(words).strip()]))


def test_marks_stand_round_utterances_and_before_paragraphs():
    text = shown(units_of("Ann sat. “I see,” she said. “No.”", "It was so."))
    assert text == "| ann sat. [ “ i see, ” ] she said. [ “ no. ” ] | it was so."


@pytest.mark.parametrize("kind", KINDS)
def test_units_are_in_reading_order_and_stand_on_their_words(kind):
    units = units_of(*TEXTS, kind=kind)
    assert (np.diff(units.ranges[:, 0]) >= 0).all()
    marks = [FIRST + mark for mark in (Mark.OPENS, Mark.CLOSES)]
    for n in units.utterances:
        first, end = units.ranges[n]
        assert units.tokens[[first, end - 1]].tolist() == marks
    breaks = units.ranges[units.kinds == UnitKind.BREAK]
    assert units.tokens[breaks[:, 0]].tolist() == [FIRST + Mark.BREAK] * 3
    words = [
        tokenizer_of(kind).decode(units.tokens[first:end].tolist()).strip().lower()
        for first, end in units.ranges[np.isin(units.kinds, [UnitKind.NAME, UnitKind.NOUN])]
    ]
    assert [word.split()[-1] for word in words] == ["mara", "waiter", "bell"]


def test_units_know_who_they_mention():
    units = units_of(*TEXTS)
    kinds = [UnitKind(kind).name for kind in units.kinds]
    assert kinds == [
        *("BREAK", "UTTERANCE", "NAME_IN_SPEECH", "NAME", "UTTERANCE", "PRONOUN"),
        *("BREAK", "NOUN", "BREAK", "UTTERANCE", "NAME"),
    ]
    people = dict(zip(kinds, units.people.tolist(), strict=True))
    assert people["NAME_IN_SPEECH"] == people["NAME"]  # the last name is Mr. Bell, too
    assert people["PRONOUN"] == people["BREAK"] == people["UTTERANCE"] == NO_ONE
    assert GENDERS[units.genders[kinds.index("PRONOUN")]] == "f"


def test_places_lead_to_units():
    scene = Scene(*TEXTS)
    units, places = place_units(find_clues(scene.chapter), plain_of(), FIRST, 0)
    mentions = [(n, m) for n, items in enumerate(scene.chapter.mentions) for m in items]
    assert len(places) == len(mentions) == 5
    for paragraph, mention in mentions:
        assert units.people[places[paragraph, mention.start]] == (
            NO_ONE if mention.person is None else mention.person
        )


def test_the_middle_of_long_spans_is_left_out():
    long = "It rained and rained, and Mr. Bell slept, and it rained and rained again that day."
    texts = (long, "“No,” said Mr. Bell.")
    whole, short = (units_of(*texts, ends=ends) for ends in (0, 4))
    n = int(np.flatnonzero(whole.tokens == FIRST + Mark.BREAK)[1]) - 1  # tokens of the narration
    kept = [*whole.tokens[1:5], *whole.tokens[n - 3 : n + 1], *whole.tokens[n + 1 :]]
    assert short.tokens[1:].tolist() == kept
    assert [(units.kinds == UnitKind.NAME).sum() for units in (whole, short)] == [2, 1]


def test_hidden_names_are_hidden_and_nothing_else():
    units, mask = units_of(*TEXTS), 4
    rng = np.random.default_rng(0)
    hidden = hide_names(units, 1.0, mask, rng)
    is_changed = hidden.tokens != units.tokens
    names = np.isin(units.kinds, [UnitKind.NAME, UnitKind.NAME_IN_SPEECH])
    of_names = np.zeros(len(units.tokens), bool)
    for first, end in units.ranges[names]:
        of_names[first:end] = True
    assert (is_changed == of_names).all() and is_changed.any()
    assert (hidden.tokens[of_names] == mask).all()
    assert (hide_names(units, 0.0, mask, rng).tokens == units.tokens).all()


def test_every_gender_of_a_mention_is_known():
    assert {*SUBJECTS.values(), *PERSONAL.values(), *NOUNS.values(), "i", ""} <= set(GENDERS)
