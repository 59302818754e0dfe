"""Statistics of annotations, counted by hand."""

import json
import math

import pytest
from annotation_helpers import gold
from helpers import ANNOTATIONS, SAMPLE

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import (
    AnnotatedBook,
    Annotation,
    BookCard,
    read_annotations,
    read_split,
)
from miner.lab.gold.dialogue_statistics import Lengths, measure_dialogues
from miner.lab.gold.editions import open_edition
from miner.lab.gold.statistics import (
    Company,
    count_annotations,
    count_company_sizes,
    find_companies,
    measure_conversations,
)

COUNTS = ("books", "chapters", "twice", "spans", "utterances", "unknown", "conversations")

COUNTS += ("turns", "pairs", "interrupted", "B-START", "I-START", "B-OTHER", "I-OTHER")

BY_HAND = {
    "train": (1, 2, 1, 10, 9, 2, 3, 7, 3, 1, 4, 1, 3, 1),
    "dev": (1, 1, 0, 2, 2, 0, 1, 2, 1, 0, 1, 0, 1, 0),
    "test": (0,) * 14,
    "all": (2, 3, 1, 12, 11, 2, 4, 9, 4, 1, 5, 1, 4, 1),
    "sample": (1, 2, 0, 10, 9, 2, 3, 7, 3, 1, 4, 1, 3, 1),
}


def numbers(counted):
    return (*(counted[name] for name in COUNTS[:10]), *(counted["tags"][n] for n in COUNTS[10:]))


def test_counts_by_hand(tiny):
    said = json.loads(gold("stats", "--gold", tiny, "--json").stdout)
    assert said == count_annotations(read_annotations(tiny)).to_json()
    assert {name: numbers(counted) for name, counted in said["splits"].items()} == BY_HAND
    train, dev = BY_HAND["train"], BY_HAND["dev"]
    expected = {
        "domain": {"sea": BY_HAND["all"]},
        "country": {"Britain": train, "Chile": dev},
        "century": {"19th": train, "20th": dev},
        "narrator": {"first person": dev, "third person": train},
    }
    for kind, rows in expected.items():
        assert {name: numbers(counted) for name, counted in said[kind].items()} == rows
    assert list(said) == ["splits", *expected]


def test_counts_as_tables(tiny):
    done = gold("stats", "--gold", tiny)
    assert (done.exit_code, done.stderr) == (0, "")
    by_split, by_kind = done.stdout.split("all splits")
    rows = {line.split()[0]: line.split()[1:] for line in by_split.splitlines() if line.split()}
    assert tuple(rows["split"]) == COUNTS
    for name, row in BY_HAND.items():
        assert tuple(map(int, rows[name])) == row
    rows = [line.split() for line in by_kind.splitlines()]
    assert rows[0] == [name for name in COUNTS[:9] if name not in ("twice", "unknown")]
    assert ["Chile", "1", "1", "2", "2", "1", "2", "1"] in rows
    assert ["third", "person", "1", "2", "10", "9", "3", "7", "3"] in rows


@pytest.mark.slow
def test_the_counts_of_our_annotations_agree_with_one_another():
    said = count_annotations(read_annotations(ANNOTATIONS)).to_json()
    everything = numbers(said["splits"]["all"])
    parts = [numbers(said["splits"][name]) for name in ("train", "dev", "test")]
    assert tuple(map(sum, zip(*parts, strict=True))) == everything
    for kind in ("domain", "country", "century", "narrator"):
        rows = [numbers(counted) for counted in said[kind].values()]
        assert tuple(map(sum, zip(*rows, strict=True))) == everything
        assert all(row[0] for row in rows)
    for counted in said["splits"].values():
        assert sum(counted["tags"].values()) == counted["utterances"] <= counted["spans"]
        assert counted["pairs"] == counted["tags"]["B-OTHER"]
        assert counted["turns"] == counted["pairs"] + counted["tags"]["B-START"]
    assert said["splits"]["sample"]["twice"] == said["splits"]["sample"]["chapters"] == 5


def annotated(*facts):
    """A book of (chapter, conversation, speaker); each utterance is a paragraph of its own."""
    card = BookCard("7", "", "", "en", 1900, "Britain", "society", 3, "train", "7-h.htm", "")
    rows = (
        Annotation(chapter, n, fingerprint("Yes"), speaker, conversation)
        for n, (chapter, conversation, speaker) in enumerate(facts)
    )
    return AnnotatedBook(card, tuple(rows))


def conversation(speakers):
    """The company of one conversation, a letter a speaker, a turn each."""
    (found,) = find_companies([annotated(*((1, 1, speaker) for speaker in speakers))])
    return found


def test_a_company_has_all_speakers_of_a_conversation_the_most_talkative_first():
    found = find_companies(
        [annotated((1, 1, "Ann"), (1, 1, "Ann"), (1, 1, "Ben"), (1, 1, "Ann"), (2, 1, "Ben"))]
    )
    assert found == [
        Company("7", 1, 1, (("Ann", 2), ("Ben", 1)), 0),
        Company("7", 2, 1, (("Ben", 1),), 0),
    ]
    assert [(item.n_speakers, item.n_turns) for item in found] == [(2, 3), (1, 1)]


def test_a_resumed_conversation_is_one_and_what_is_quoted_but_not_said_is_none():
    facts = [(1, 1, "Ann"), (1, 2, "Cook"), (1, 0, ""), (1, 1, "Ben"), (1, 1, "Ann")]
    first, second = find_companies([annotated(*facts)])
    assert first.turns == (("Ann", 2), ("Ben", 1))
    assert second.turns == (("Cook", 1),)


def test_a_turn_continues_after_an_interruption():
    first, _ = find_companies([annotated((1, 1, "Ann"), (1, 2, "Cook"), (1, 1, "Ann"))])
    assert first.turns == (("Ann", 1),)


def test_an_utterance_of_an_unknown_speaker_ends_a_turn_and_is_none():
    found = conversation("A?A")
    assert (found.turns, found.n_unknown) == ((("A", 2),), 1)


def test_sizes_leave_out_conversations_with_unknown_speakers_and_count_them():
    found = [conversation(s) for s in ("A", "AB", "ABA", "AB?", "ABCDEFA")]
    sizes = count_company_sizes(found)
    assert sizes.n_unknown == 1
    counted = {s.name: (s.n_conversations, s.n_turns) for s in sizes.sizes}
    assert counted == {"1": (1, 1), "2": (2, 5), "3": (0, 0), "4": (0, 0), "5 or more": (1, 7)}
    one, two, three, _, many = (size.by_rank for size in sizes.sizes)
    assert one == (1, 0, 0, 0)
    assert two == pytest.approx((3 / 5, 2 / 5, 0, 0))
    assert all(map(math.isnan, three))
    assert many == pytest.approx((2 / 7, 1 / 7, 1 / 7, 3 / 7))


def test_lengths_of_annotations_need_no_book():
    books = [annotated(*((1, 1, s) for s in "ABA"), (2, 1, "A"), (3, 1, "A"), (3, 1, "?"))]
    assert measure_conversations("ours", books) == Lengths("ours", (3, 1))
    novels = read_split(ANNOTATIONS, "sample")
    edition = open_edition(*novels, SAMPLE.read_bytes())
    of_tags = measure_dialogues("gold", [edition.located.tagged()]).turns
    of_facts = measure_conversations("gold", novels).turns
    # The third is interrupted by the fourth, and what is left of it is a fifth to the tags.
    assert (of_tags[:5], of_facts[:4]) == ((8, 6, 4, 7, 3), (8, 6, 7, 7))
    assert of_tags[5:] == of_facts[4:]
