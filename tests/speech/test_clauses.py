"""Texts are divided into clauses at their punctuation, and no word is lost."""

from itertools import pairwise

import pytest
from helpers import cpu_seconds
from hypothesis import given
from hypothesis import strategies as st

from miner.speech.clauses import edge_of, find_clauses, read_glue

SEGMENTED = [
    ("—Ven —dijo Bo—, que es tarde.", ["Ven", "dijo Bo", "que es tarde"]),
    ("—Ven—dijo Bo.", ["Ven", "dijo Bo"]),
    ("--Ja, zei zij; 't is laat.", ["Ja", "zei zij", "t is laat"]),
    ("– Jössz? Kérdé a kertész.", ["Jössz", "Kérdé a kertész"]),
    ("— Oui, dit-il, s'écria-t-elle.", ["Oui", "dit-il", "s'écria-t-elle"]),
    ("Il dit: «Non!» et rit.", ["Il dit", "Non", "et rit"]),
    ("— Non, dit M. Aubin. Jamais.", ["Non", "dit M. Aubin", "Jamais"]),
    ("Vem (disse ella) cedo.", ["Vem", "disse ella", "cedo"]),
    ("¿Vienes?—¡Voy!", ["Vienes", "Voy"]),
    ("_Oui_ - dit-il", ["Oui", "dit-il"]),
    ("* * *", []),
    ("", []),
]


def segments_of(*texts):
    found = find_clauses(texts)
    edges = [*found.first.tolist(), len(found.words)]
    for first, end in pairwise(edges):
        block = int(found.blocks[first])
        yield block, texts[block][found.starts[first] : found.ends[end - 1]]


@pytest.mark.parametrize(("text", "expected"), SEGMENTED)
def test_a_text_is_divided_at_its_punctuation(text, expected):
    assert [part for _, part in segments_of(text)] == expected


def test_the_segments_of_several_blocks_are_found_at_once():
    texts = [text for text, _ in SEGMENTED]
    expected = [(n, part) for n, (_, parts) in enumerate(SEGMENTED) for part in parts]
    assert list(segments_of(*texts)) == expected


@given(st.lists(st.text("aé1 .,—-'’«»\"\n\x02", max_size=20), max_size=5))
def test_words_have_their_places(texts):
    found = find_clauses(texts)
    places = zip(found.words, found.blocks, found.starts, found.ends, strict=True)
    for word, block, start, end in places:
        assert texts[block][start:end] == found.vocabulary[word]
    n_characters = sum(character.isalnum() for text in texts for character in text)
    lengths = (found.vocabulary[word] for word in found.words)
    assert sum(sum(map(str.isalnum, word)) for word in lengths) == n_characters


@pytest.mark.parametrize(
    ("raw", "text", "marks", "opens", "brackets"),
    [
        (" -- ", " — ", 0, False, 0),
        (" - ", " — ", 0, False, 0),
        (". . . ", "… ", 0, False, 0),
        (": «", ": «", 1, True, 0),
        ("» — ", "» — ", -1, False, 0),
        ("! » ", "! » ", -1, False, 0),
        (": »", ": »", 1, True, 0),
        (" (", " (", 0, False, 1),
        (".)\n", ".) ", 0, False, -1),
    ],
)
def test_what_stands_between_two_words(raw, text, marks, opens, brackets):
    glue = read_glue(raw)
    assert (glue.text, glue.marks, glue.opens, glue.brackets) == (text, marks, opens, brackets)
    assert glue.has_dash == ("—" in text)


def test_the_edge_of_a_block_is_seen_from_both_sides():
    found = find_clauses(["Ven.", "—Voy."])
    edge = found.glues[found.before[1]]
    assert (edge_of(edge, at_start=False), edge_of(edge, at_start=True)) == (".$", "^—")


@pytest.mark.parametrize("piece", ["—", "« ", "(", ". ", "-", "' ", "\n"])
def test_time_grows_with_the_length(piece):
    assert cpu_seconds(lambda: find_clauses([f"a{piece * 40_000}b"]), 2) < 2
