"""Annotations on other editions of a book: found by their letters, in their place, or lost."""

import random
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from annotation_helpers import CARD, page
from helpers import kind_of
from hypothesis import given, settings
from hypothesis import strategies as st
from printings import (
    FIRST,
    GOLD,
    NOVEL,
    PREFACE,
    Printing,
    annotated,
    check_spans,
    gold_of,
    labelled,
    place_of,
    split,
    without_kinds,
)

from miner.annotation.alignment import fingerprint, fold_words
from miner.annotation.annotations import AnnotatedBook, Annotation, derive_tags
from miner.annotation.locate import locate, refuse_losses
from miner.books.book import parse_book
from miner.errors import InputError
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import Tag


def test_every_annotation_is_on_its_own_span_in_its_own_edition():
    located = locate(GOLD, FIRST)
    check_spans(located)
    assert located.lost == () and located.n_found == located.n_all == {1: 28, 2: 25, 3: 9}
    assert [fact for fact in located.facts if fact] == list(GOLD.annotations)
    # cut as the miner cuts; of what nobody says, the annotations tell no more
    assert located.book_spans.spans == without_kinds(FIRST.spans)
    assert [span.text for span in FIRST.spans if span.quoted] == [
        "“The Patient Heron”",
        "“I wish she would let me be right for once,”",
    ]


LINE = st.sampled_from([line for _, body in NOVEL for line in body.split("\n") if len(line) < 60])


@given(st.lists(st.lists(LINE, max_size=12), min_size=1, max_size=3))
@settings(max_examples=30, deadline=None)
def test_repeated_speeches_in_any_order_are_found_where_they_are(bodies):
    chapters = tuple(
        (f"Part {n}", "\n".join([f"“Here begins the tale of boat number {n}.”", *lines, "“End.”"]))
        for n, lines in enumerate(bodies)
    )
    book_spans = split(Printing(chapters=chapters))
    located = locate(annotated(book_spans, (0, 1, 2, 3)), book_spans)
    check_spans(located)
    assert located.lost == ()
    assert located.book_spans.spans == book_spans.spans


def test_speech_without_letters_is_found_in_its_place():
    lines = ["“It was you who left the gate open!”", "“——!”", "“Once more, please.”", "“——!”"]
    gold = gold_of(*((line, name, 1) for line, name in zip(lines, "ABCD", strict=True)))
    assert labelled(gold, *lines) == list(zip(lines, "ABCD", strict=True))
    without = [lines[0], "“Hm!”", *lines[2:]]
    assert labelled(gold, *without) == [(lines[n], "ABCD"[n]) for n in (0, 2, 3)]
    assert labelled(gold, lines[1], lines[0], lines[2]) == [(lines[0], "A"), (lines[2], "C")]


def test_what_is_quoted_but_not_said_is_narration_and_quoted():
    gold = gold_of(
        ("Is it late?", "A", 1), ("No, but the sign says Closed.", "", 0), ("Oh!", "B", 1)
    )
    lines = ["“Is it late?” he asked.", "“No, but the sign says Closed.”", "“Oh!”"]
    located = locate(gold, split(Printing(chapters=(("Only", "\n".join(lines)),))))
    check_spans(located)
    (span,) = [span for span in located.book_spans.spans if span.quoted]
    assert (span.text, span.is_utterance) == (lines[1], False)
    tags = [str(item.tag) for item in located.tagged().spans]
    assert tags == ["O", "B-START", "O", "O", "B-OTHER"]


def test_what_the_annotations_leave_out_is_narration():
    gold = annotated(FIRST, keep=lambda span: "cushion" not in span.text)
    located = locate(gold, FIRST)
    check_spans(located)
    cushions = [span for span in located.book_spans.spans if "cushion" in span.text]
    assert len(cushions) == 2
    assert not any(span.is_utterance or span.quoted for span in cushions)


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_tags_are_legal_for_any_facts(seed):
    rng = random.Random(seed)
    facts = tuple(
        replace(fact, speaker=speaker, conversation=rng.randint(1, 3) if speaker else 0)
        for fact in GOLD.annotations
        for speaker in [rng.choice(["Orla", "Bram", "?", ""])]
    )
    located = locate(replace(GOLD, annotations=facts), FIRST)
    check_spans(located)
    assert [fact for fact in located.facts if fact] == list(facts)
    tags = [item.tag for item in located.tagged().spans]
    tags_of_facts = [tag for tag, fact in zip(tags, located.facts, strict=True) if fact]
    assert tags_of_facts == derive_tags(facts)
    assert tags.count(Tag.O) == len(tags) - sum(fact.is_utterance for fact in facts)


def test_the_same_words_twice_in_a_paragraph_are_two_spans():
    lines = ["“Go!” he cried. “Go!”", "“I will go when the boat comes over to us.”"]
    gold = gold_of(("Go!", "A", 1), ("+Go!", "A", 1), (lines[1], "B", 1))
    assert labelled(gold, *lines) == [("“Go!”", "A"), ("“Go!”", "A"), (lines[1], "B")]


N_UTTERANCES = sum(fact.chapter == 1 and fact.is_utterance for fact in GOLD.annotations)


def test_another_book_has_none_of_the_spans():
    located = locate(GOLD, split(Printing(chapters=(("Other", "\n".join(PREFACE)),))))
    assert located.lost == GOLD.annotations
    assert located.n_found == {1: 0, 2: 0, 3: 0}
    assert located.book_spans.spans == located.facts == located.tagged().spans == ()
    with pytest.raises(InputError, match=rf"chapter 1: found 0 of {N_UTTERANCES} "):
        refuse_losses(located)


def test_a_missing_span_is_lost_and_named():
    gone = [line for line in NOVEL[0][1].split("\n") if re.search("river|parrot,|cellar is", line)]
    printing = Printing(gone=tuple(gone))
    located = locate(GOLD, split(printing))
    check_spans(located)
    names = ("The parrot", "for I only", "the river", "cellar is")
    assert located.lost == tuple(map(place_of, names))
    assert (located.n_found, located.n_all) == ({1: 24, 2: 25, 3: 9}, {1: 28, 2: 25, 3: 9})
    with pytest.raises(InputError) as error:
        refuse_losses(located)
    first = [f"paragraph {f.paragraph}, {f.speaker}, {f.fingerprint}" for f in located.lost[:3]]
    n_found = N_UTTERANCES - 4
    assert str(error.value) == (
        f"7, chapter 1: found {n_found} of {N_UTTERANCES} annotated utterances in this edition, "
        f"expected at least 97%; first lost: {'; '.join(first)}"
    )
    refuse_losses(located, n_found / N_UTTERANCES)
    with pytest.raises(InputError, match="expected at least 90%"):
        refuse_losses(located, 0.9)


def test_another_edition_may_lack_two_utterances_and_all_other_quoted_spans():
    lines = NOVEL[0][1].split("\n")
    gone = [line for line in lines if re.search("river|cellar is", line)]
    located = locate(GOLD, split(Printing(gone=tuple(gone))))
    assert len([fact for fact in located.lost if fact.is_utterance]) == 2 < N_UTTERANCES / 10
    refuse_losses(located, 1.0)
    of_none = [fact for fact in GOLD.annotations if not fact.is_utterance]
    assert of_none
    without = replace(located, lost=(*located.lost, *of_none))
    refuse_losses(without, 1.0)
    # The edition that was annotated has every span, whatever it is.
    sha256 = located.book_spans.book.sha256
    own = replace(GOLD, card=replace(GOLD.card, sha256=sha256))
    with pytest.raises(InputError, match=r"found \d+ of 28 annotated spans in this edition"):
        refuse_losses(replace(located, annotated=own))
    with pytest.raises(InputError, match="expected at least 97%; first lost: paragraph "):
        refuse_losses(replace(located, annotated=own, lost=tuple(of_none)))


def test_a_chapter_that_the_edition_joins_with_another_is_refused():
    gold = replace(GOLD, annotations=tuple(f for f in GOLD.annotations if f.chapter != 2))
    merged = (NOVEL[0], (NOVEL[1][0], f"{NOVEL[1][1]}\n{NOVEL[2][1]}"))
    located = locate(gold, split(Printing(chapters=merged)))
    assert located.n_found[3] >= 7 and located.n_others[1] == 0 and located.n_others[3] > 15
    with pytest.raises(InputError) as error:
        refuse_losses(located, 0.5)
    assert re.fullmatch(
        r"7, chapter 3: found \d annotated utterances among \d+ others, expected a chapter by "
        "itself in this edition",
        str(error.value),
    )
    whole = locate(GOLD, split(Printing(chapters=merged)))  # but for what stands at their seam
    assert whole.n_others[3] < located.n_others[3] / 3


# Paragraphs of a book that opens speech with a dash, and its utterances: a word that narration has,
# too; speech without white space before the next; an utterance inside another speech.
DASHES = [
    ("Nadie dijo que no; ella dijo: —No—y cerró.", ["No"]),
    ("—¿Qué?—Que sí.—¿Sí?", ["¿Qué?", "Que sí.", "¿Sí?"]),
    ("—Voy, dijo él, voy ya. Y voy contigo: voy.", ["Voy", "voy ya. Y voy contigo: voy."]),
    ("—Sí, sí—dijo. Y ella que sí.—Sí, claro—y rió.", ["Sí, sí", "Sí, claro"]),
    ("El sí de la niña fue: «Sí»—y nada más—, pero «sí».", ["Sí", "sí"]),
    ("--Bien--Bien", ["Bien", "Bien"]),
    ("Santo Deus, pensei. ―Santo Deus!", ["Santo Deus!"]),
]


def dashes(cut):
    """The annotations of these paragraphs, and the book as a miner with such cuts splits it."""
    data = page(*(text for text, _ in DASHES))
    book = parse_book(data, "7")
    facts = tuple(
        Annotation(1, number, fingerprint(words), "Ana", 1)
        for number, (_, said) in enumerate(DASHES, 1)
        for words in said
    )
    card = replace(CARD, language="es", sha256=book.sha256)
    spans = []
    for block in book.blocks:
        ends = [0, *cut(block.text), len(block.text)]
        for index, (start, end) in enumerate(pairwise(ends)):
            said = block.index > 0 and index % 2 == 1
            spans.append(
                Span(1, block.index, index, start, end, block.text[start:end], kind_of(said))
            )
    return AnnotatedBook(card, facts), BookSpans(book, tuple(spans))


@pytest.mark.parametrize(
    "cut",
    [
        lambda text: [],
        lambda text: [0],
        lambda text: [n for n, letter in enumerate(text) if letter in "—-"],
        lambda text: [n for n, letter in enumerate(text) if letter == "o"],
        lambda text: range(1, len(text)),
    ],
    ids=["nothing", "everything", "at dashes", "in words", "letters"],
)
def test_exact_ends_are_found_whatever_the_miner_cuts(cut):
    located = locate(*dashes(cut))
    assert located.lost == ()
    spans = located.book_spans.spans
    found = [span for span, fact in zip(spans, located.facts, strict=True) if fact]
    wanted = [(n, words) for n, (_, said) in enumerate(DASHES, 1) for words in said]
    assert [(span.paragraph, fold_words(span.text)) for span in found] == [
        (n, fold_words(words)) for n, words in wanted
    ]
    # In the first and the last paragraph they are the words after the dash.
    assert DASHES[0][0].index("—") <= found[0].start
    assert DASHES[-1][0].index("―") <= found[-1].start
    for n, (text, _) in enumerate(DASHES, 1):
        assert "".join(span.text for span in spans if span.paragraph == n) == text
