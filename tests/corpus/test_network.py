"""Who talks to whom: speakers and addressees of dialogues, counted into a graph."""

import io
import time

import networkx as nx
import pytest
from helpers import kind_of

import miner
from miner.corpus.network import build_network
from miner.people.cast import Character, Kind
from miner.speech.dialogues import decode_dialogues
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

TAGS = {"S": Tag.B_START, "R": Tag.B_OTHER, "s": Tag.I_START, "r": Tag.I_OTHER, "-": Tag.O}
CAST = (
    Character("ann", "Ann Lee", ("Ann",), "f"),
    Character("bob", "Bob", ("Bob",), "m"),
    Character("eve", "Eve", ("Eve",), "f"),
    Character("waiter-2", "waiter", ("waiter",), "m", Kind.UNNAMED, chapter=2),
    Character("mute", "Mute", ("Mute",)),
)
# Tag, speaker, words, to whom it is said.
THREE = [
    ("S", "ann", 3, ""),
    ("s", "ann", 1, ""),
    ("-", None, 9, ""),
    ("R", "bob", 2, ""),
    ("R", "eve", 5, "ann"),
    ("R", "bob", 1, ""),
    ("R", "ann", 4, "bob eve"),
]


def spoken(rows, chapter=1):
    return [
        TaggedSpan(
            Span(chapter, n, 0, 0, 9, "“" + "so " * words + "”", kind_of(tag != "-")),
            TAGS[tag],
            None,
            speaker,
            None if speaker is None else 1.0,
            tuple(addressees.split()),
        )
        for n, (tag, speaker, words, addressees) in enumerate(rows)
    ]


def network_of(rows, cast=CAST):
    spans = spoken(rows)
    return build_network(cast, spans, decode_dialogues(TaggedBook("7", tuple(spans), "x")))


def edges(network):
    return {
        (one, other): (edge["weight"], edge["turns"], edge["inferred"])
        for one, other, edge in network.edges(data=True)
    }


def test_a_turn_goes_to_whom_it_calls_or_else_to_the_last_other_speaker():
    network = network_of(THREE)
    assert edges(network) == {
        ("ann", "bob"): (8, 2, 1),  # 4 words to the next speaker, and 4 by name
        ("ann", "eve"): (4, 1, 0),
        ("bob", "ann"): (2, 1, 1),
        ("bob", "eve"): (1, 1, 1),
        ("eve", "ann"): (5, 1, 0),
    }
    assert network.graph == {"turns": 5, "inferred": 3, "no_speaker": 0, "no_addressee": 0}


def test_in_a_dialogue_of_two_each_speaks_to_the_other():
    network = network_of([("S", "ann", 2, ""), ("R", "bob", 3, ""), ("R", "ann", 1, "")])
    assert edges(network) == {("ann", "bob"): (3, 2, 0), ("bob", "ann"): (3, 1, 0)}


def test_people_have_what_they_say_in_the_whole_book():
    nodes = dict(network_of([*THREE, ("S", "waiter-2", 9, "")]).nodes(data=True))
    assert list(nodes) == ["waiter-2", "ann", "eve", "bob"]  # who says most is first
    assert nodes["ann"] == {
        **{"label": "Ann Lee", "kind": "named", "gender": "f", "utterances": 3, "words": 8}
    }
    assert nodes["waiter-2"] == {
        **{"label": "waiter", "kind": "unnamed", "gender": "m", "utterances": 1, "words": 9},
        "chapter": 2,
    }


def test_whoever_is_only_spoken_to_is_there():
    network = network_of([("S", "ann", 2, "mute"), ("R", "bob", 1, "")])
    assert network.nodes["mute"]["words"] == 0
    assert edges(network)["ann", "mute"] == (2, 1, 0)


def test_turns_that_cannot_be_counted_are_told():
    rows = [("S", "ann", 2, ""), ("R", None, 3, ""), ("R", "ann", 1, ""), ("S", "bob", 1, "")]
    network = network_of(rows)
    assert network.graph == {"turns": 4, "inferred": 0, "no_speaker": 1, "no_addressee": 3}
    assert not network.edges and [*network] == ["ann", "bob"]


def test_nobody_speaks_to_themselves():
    network = network_of([("S", "ann", 2, "ann"), ("R", "bob", 1, ""), ("R", "bob", 1, "")])
    assert set(network.edges) == {("ann", "bob"), ("bob", "ann")}


def test_a_book_without_speakers_has_no_people():
    assert not network_of([("S", None, 2, "")], ()).nodes


def test_a_long_monologue_takes_linear_time():
    """Each turn of one speaker looks for another; looking back each time would take minutes."""
    n = 30_000
    rows = [("S", "ann", 1, ""), *[("R", "bob", 1, "")] * n, ("R", "eve", 1, "")]
    spans = spoken(rows)
    dialogues = decode_dialogues(TaggedBook("7", tuple(spans), "x"))
    start = time.process_time()
    assert edges(build_network(CAST, spans, dialogues))["bob", "ann"] == (n, n, n)
    assert time.process_time() - start < 8


@pytest.fixture(scope="module")
def sample():
    return miner.mine("sample")


def test_a_mined_book_has_its_network(sample):
    network = sample.network()
    spoken_of = {row["id"]: row["utterances"] for row in sample.rows("characters")}
    assert {id: n for id, n in network.nodes(data="utterances") if n} == {
        id: n for id, n in spoken_of.items() if n
    }
    counts = network.graph
    assert counts["turns"] == sample.entry["counts"]["turns"]
    assert sum(turns for *_, turns in network.edges(data="turns")) >= (
        counts["turns"] - counts["no_speaker"] - counts["no_addressee"]
    )


def test_other_programs_read_the_network(sample):
    network = sample.network()
    file = io.BytesIO()
    nx.write_graphml(network, file, named_key_ids=True)
    file.seek(0)
    again = nx.read_graphml(file)
    assert dict(again.nodes(data=True)) == dict(network.nodes(data=True))
    assert list(again.edges(data=True)) == list(network.edges(data=True))
    assert again.graph.items() >= network.graph.items()
