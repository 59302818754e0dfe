"""Editions of annotated books: printings of a small novel, and real books."""

import hashlib
import json
import re
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache

import pytest
from annotation_helpers import read_rows
from helpers import ANNOTATIONS, BOOKS, SAMPLE, needs_books
from printings import (
    FIRST,
    GOLD,
    NOVEL,
    Printing,
    check_spans,
    place_of,
)
from real import real_spans

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import (
    AnnotatedBook,
    read_cards,
)
from miner.annotation.locate import locate, refuse_losses
from miner.errors import InputError
from miner.lab.gold.editions import Edition, open_edition, read_editions


def card_for(data: bytes) -> AnnotatedBook:
    """The small novel's annotations, made from a file of these bytes."""
    return replace(GOLD, card=replace(GOLD.card, sha256=hashlib.sha256(data).hexdigest()))


def test_the_annotated_edition_is_known_by_its_digest():
    data = Printing().html()
    own = open_edition(card_for(data), data)
    assert own.is_annotated_one
    assert own.book_spans == FIRST and own.located.lost == ()
    other = open_edition(card_for(data), Printing("straight").html())
    assert not other.is_annotated_one
    assert not open_edition(card_for(data), data + b"\n").is_annotated_one
    assert other.located.lost == ()
    assert own.annotated == other.annotated == card_for(data)


def test_in_the_annotated_edition_the_letters_are_enough():
    data = Printing().html()
    cellar = fingerprint("whose cellar")
    facts = [
        replace(fact, fingerprint=cellar) if fact == place_of("cellar is") else fact
        for fact in GOLD.annotations
    ]
    gold = replace(card_for(data), annotations=tuple(facts))
    own = open_edition(gold, data).located
    assert own.lost == ()
    assert "whose cellar" in {span.text for span in own.book_spans.spans}
    assert [f.fingerprint for f in open_edition(gold, data + b" ").located.lost] == [cellar]


def test_a_file_that_cannot_be_parsed_is_named():
    for data in (b"", b"<html><body></body></html>"):
        with pytest.raises(InputError, match=r"^7: "):
            open_edition(GOLD, data)
    with pytest.raises(InputError, match=r"^7: "):
        list(read_editions([GOLD], lambda id: b""))


def test_editions_are_read_one_at_a_time_and_poor_ones_refused():
    asked = []

    def read(id: str) -> bytes:
        asked.append(id)
        return (
            Printing() if len(asked) < 3 else Printing(gone=tuple(NOVEL[1][1].split("\n")[5:12]))
        ).html()

    opened = read_editions([GOLD, GOLD, GOLD], read)
    assert asked == []
    assert next(opened).located.lost == () and asked == ["7"]
    next(opened)
    with pytest.raises(
        InputError, match=r"^7, chapter \d: found \d+ of \d+ annotated utterances .* at least 97%"
    ):
        next(opened)
    assert asked == ["7"] * 3


def test_a_chapter_that_is_not_found_is_left_out_with_a_message():
    long = [line for line in NOVEL[1][1].split("\n") if len(line) > 60]
    poor = Printing(gone=tuple(long)).html()
    none = Printing(chapters=(("Other", "“Nobody has ever heard of it.”"),)).html()
    told = []
    first, last = read_editions(
        [GOLD, replace(GOLD, card=replace(GOLD.card, book="8")), GOLD],
        {"7": poor, "8": none}.__getitem__,
        told.append,
    )
    lines = [re.match(r"(\d), chapter (\d): found (\d+) of (\d+) ", line).groups() for line in told]
    assert [line[:2] for line in lines] == [
        ("7", "2"),
        *(("8", str(n)) for n in (1, 2, 3)),
        ("7", "2"),
    ]
    assert first.annotated.chapters == (1, 3) and first.located.n_all.keys() == {1, 3}
    texts = {span.text for span in first.located.book_spans.spans}
    kept = {span.text for span in FIRST.spans if span.chapter != 2}
    assert texts == kept and first.located == last.located
    refuse_losses(first.located)
    with pytest.raises(InputError, match=r"^7, chapter 2: "):
        list(read_editions([GOLD], lambda id: poor))


def test_a_chapter_that_shares_text_with_one_left_out_is_left_out_too():
    lines = [chapter.split("\n") for _, chapter in NOVEL]
    long = [line for line in lines[1] if len(line) > 60]
    merged = (NOVEL[0], (NOVEL[1][0], "\n".join([*lines[1], *lines[2]])))
    page = Printing(chapters=merged, gone=tuple(long)).html()
    told = []
    (found,) = read_editions([GOLD], lambda id: page, told.append)
    assert found.annotated.chapters == (1,)
    assert {span.chapter for span in found.located.book_spans.spans} == {1}
    assert [line[:12] for line in told] == ["7, chapter 2", "7, chapter 3"]
    with pytest.raises(InputError, match=r"^7, chapter 2: "):
        list(read_editions([GOLD], lambda id: page))


CARDS = [json.loads(line) for line in (ANNOTATIONS / "books.jsonl").read_text("utf-8").splitlines()]

FEW = ("16", "24", "139", "sample")  # the books of the fast tests


@cache
def annotated_book(id):
    card = read_cards(ANNOTATIONS / "books.jsonl")[id]
    return AnnotatedBook(card, read_rows(ANNOTATIONS / "gold" / f"{id}.jsonl", id))


def annotated_in(id: str, file: str) -> Edition:
    """The repository's annotations of a book on a real file, which may be missing."""
    path = SAMPLE if id == "sample" else BOOKS / file
    if not path.is_file():
        pytest.skip(f"no {path}")
    book = annotated_book(id)
    if path == SAMPLE:
        return open_edition(book, path.read_bytes())
    found = real_spans(file)
    edition = Edition(book, found, locate(book, found))
    # Annotated prefaces are not among the spans of the story.
    return open_edition(book, path.read_bytes()) if edition.located.lost else edition


@needs_books
@pytest.mark.parametrize(
    ("id", "file"),
    [
        pytest.param(
            card["book"], card["file"], marks=[] if card["book"] in FEW else pytest.mark.slow
        )
        for card in CARDS
    ],
)
def test_a_real_book_has_every_annotated_span(id, file):
    edition = annotated_in(id, file)
    located = edition.located
    assert edition.is_annotated_one
    check_spans(located)
    # Marks alone were once spans; they are none now.
    assert not any(fact.fingerprint.n_letters for fact in located.lost)
    assert sum(located.n_all.values()) - sum(located.n_found.values()) == len(located.lost)
    facts = [fact for fact in located.facts if fact]
    assert facts == [fact for fact in edition.annotated.annotations if fact not in located.lost]
    # Paragraphs may be counted anew since the book was annotated; each is still one paragraph.
    paragraphs: dict[int, int] = {}
    for fact, span in zip(located.facts, located.book_spans.spans, strict=True):
        if fact:
            assert fingerprint(span.text) == fact.fingerprint
            assert paragraphs.setdefault(fact.paragraph, span.paragraph) == span.paragraph
    assert list(paragraphs.values()) == sorted(set(paragraphs.values()))


@pytest.mark.slow
@needs_books
@pytest.mark.parametrize(
    ("id", "file"), [("1342", "pg1342-images.html"), ("928", "pg11-images.html")]
)
def test_a_real_book_in_another_edition(id, file):
    (card,) = (card for card in CARDS if card["book"] == id)
    first, other = annotated_in(id, card["file"]), annotated_in(id, file)
    assert first.is_annotated_one and not other.is_annotated_one
    check_spans(other.located)
    refuse_losses(other.located)
    lost = [fact for fact in other.located.lost if fact.is_utterance]
    assert len(lost) <= 0.01 * len(other.located.annotated.annotations)
    texts, others = (
        [(fact, span.text) for fact, span in pairs if fact]
        for pairs in (
            list(zip(e.located.facts, e.located.book_spans.spans, strict=True))
            for e in (first, other)
        )
    )
    lost = list(other.located.lost)
    expected = [item for item in texts if item[0] not in lost]
    assert len(expected) == len(others) > 380
    for (fact, text), (same, found) in zip(expected, others, strict=True):
        assert fact == same  # in the order of the annotated edition
        if fingerprint(found) != fact.fingerprint:
            assert SequenceMatcher(None, text, found, autojunk=False).ratio() >= 0.8
