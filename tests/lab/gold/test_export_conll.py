"""CoNLL columns: strict IOB2 whose entities are the gold turns, and words that join to the text."""

from itertools import groupby

from annotation_helpers import DOCUMENT, documents, edition_of, entities, turns_by_words
from helpers import book

from miner.lab.gold.export.conll import conll_lines
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan


def kind_of(span):
    return "u" if span.is_utterance else "q" if span.quoted else "n"


def tagged_of(*paragraphs, name="7"):
    """A book of paragraphs of (text, tag, quoted)."""
    spans = []
    for n, paragraph in enumerate(paragraphs):
        start = 0
        for index, (text, tag, *quoted) in enumerate(paragraph):
            kind = SpanKind.OTHER if quoted else SpanKind.NARRATION
            kind = kind if tag is Tag.O else SpanKind.UTTERANCE
            span = Span(1, n, index, start, start + len(text), text, kind)
            spans.append(TaggedSpan(span, tag))
            start += len(text)
    return TaggedBook(name, tuple(spans))


def test_the_entities_of_the_sample_are_its_turns(sample):
    tagged = sample.located.tagged()
    (rows,) = documents(conll_lines([tagged]))
    turns = turns_by_words(tagged)
    assert entities(rows) == turns
    assert (len(turns), [turn[0] for turn in turns].count("START")) == (126, 20)
    # Words of a turn that nobody says: narration and quotations that it was bridged over.
    bridged = [row for row in rows if row[1] != "u" and row[3] != "O"]
    assert len(bridged) > 100
    assert all(row[3].startswith("I-") for row in bridged)
    assert not [row for row in rows if row[1] == "u" and row[3] == "O"]


def test_words_join_to_the_spans_of_the_sample(sample):
    spans = [item.span for item in sample.located.tagged().spans]
    (rows,) = documents(conll_lines([sample.located.tagged()]))
    found = {}
    for word, kind, number, _ in rows:
        found.setdefault(number, ([], set()))
        found[number][0].append(word)
        found[number][1].add(kind)
    expected = {n: span for n, span in enumerate(spans) if span.text.strip()}
    assert list(found) == list(expected)
    for number, (words, kinds) in found.items():
        assert " ".join(words) == " ".join(expected[number].text.split())
        assert kinds == {kind_of(expected[number])}


def blocks(lines):
    """What a reader takes for the sequences: the lines between empty ones."""
    return [list(group) for filled, group in groupby(lines, key=bool) if filled]


def test_chapters_and_books_are_marked(sample):
    tagged = sample.located.tagged()
    lines = list(conll_lines([tagged, book("SR|S", name="8")]))
    assert (lines[0], lines.count(DOCUMENT), lines[1], lines[-1]) == (DOCUMENT, 2, "", "")
    assert [len(block) == 1 for block in blocks(lines)] == [True, *[False] * 5, True, *[False] * 2]
    assert lines.count("") == 9  # one after each, never two
    assert documents(lines)[1][0] == ("“Line", "u", 0, "B-START")  # counted anew in each book


def test_a_reader_of_blocks_finds_the_turns(sample):
    tagged = sample.located.tagged()
    found, at = [], 0
    for block in blocks(conll_lines([tagged]))[1:]:
        found += [
            (tag, at + start, at + end)
            for tag, start, end in entities(*documents([DOCUMENT, *block]))
        ]
        at += len(block)
    assert found == turns_by_words(tagged)


def test_a_turn_that_runs_through_a_chapters_end_stays_whole():
    lines = list(conll_lines([book("SR|OrO|S|OO")]))
    assert [len(documents([DOCUMENT, *block])[0]) for block in blocks(lines)[1:]] == [25, 5, 10]


def test_a_word_like_a_comment_is_a_word():
    tagged = tagged_of([("# 5 #x", Tag.O), ("“#!”", Tag.B_START)])
    lines = list(conll_lines([tagged]))
    assert lines == [DOCUMENT, "", "# n 0 O", "5 n 0 O", "#x n 0 O", "“#!” u 1 B-START", ""]


def test_narration_within_a_turn_belongs_to_it_and_has_its_own_kind():
    tagged = tagged_of(
        [("He rose.", Tag.O)],
        [("“No,", Tag.B_START), (" said he, ", Tag.O), ("never!”", Tag.I_START)],
        [("“Aye?”", Tag.B_OTHER), (" The ", Tag.O), ("“Swan”", Tag.O, True), (" lay.", Tag.O)],
        [("Still.", Tag.O)],
        [("“Aye aye!”", Tag.I_OTHER), (" She ", Tag.O)],
        [("“Oh.”", Tag.B_OTHER), (" ", Tag.O), ("“So!”", Tag.B_OTHER), (" Dusk.", Tag.O)],
        [("“Who?”", Tag.B_START)],
    )
    (rows,) = documents(conll_lines([tagged]))
    assert [" ".join(map(str, row)) for row in rows] == [
        "He n 0 O",
        "rose. n 0 O",
        "“No, u 1 B-START",
        "said n 2 I-START",
        "he, n 2 I-START",
        "never!” u 3 I-START",
        "“Aye?” u 4 B-OTHER",
        "The n 5 I-OTHER",
        "“Swan” q 6 I-OTHER",
        "lay. n 7 I-OTHER",
        "Still. n 8 I-OTHER",
        "“Aye u 9 I-OTHER",
        "aye!” u 9 I-OTHER",
        "She n 10 O",
        "“Oh.” u 11 B-OTHER",
        "“So!” u 13 B-OTHER",
        "Dusk. n 14 O",
        "“Who?” u 15 B-START",
    ]
    assert entities(rows) == turns_by_words(tagged)


def test_all_legal_orders_of_tags_keep_their_turns():
    books = [book(letters) for letters in ("S", "SsRr", "SORO", "SOsOROrO|OSORrO", "SSOSRRORO")]
    for tagged, rows in zip(books, documents(conll_lines(books)), strict=True):
        assert entities(rows) == turns_by_words(tagged)


def test_a_resumed_conversation_begins_a_new_entity():
    edition = edition_of(
        [
            [("“Up!”", "Ann", 1), " she said. ", ("“Up!”", "Ann", 1)],
            [("“Tea?”", "Cy", 2)],
            [("“Down.”", "Ann", 1)],
            ["A ", ("“sign”", "", 0), "."],
            [("“There.”", "Ann", 1)],
        ]
    )
    (rows,) = documents(conll_lines([edition.located.tagged()]))
    assert [row[0] for row in rows if row[3].startswith("B-")] == ["“Up!”", "“Tea?”", "“Down.”"]
    assert [(tag, end - start) for tag, start, end in entities(rows)] == [
        ("START", 4),
        ("START", 1),
        ("START", 5),
    ]


def test_words_hold_no_white_space():
    tagged = tagged_of([("“A\u00a0b\u2028c\td 🐋e\u0301\r\nf”", Tag.B_START), ("\n ", Tag.O)])
    lines = list(conll_lines([tagged]))
    assert [line.split(" ")[0] for line in lines[2:-1]] == ["“A", "b", "c", "d", "🐋e\u0301", "f”"]
    assert all(len(line.split()) == 4 for line in lines if line)


def test_without_books_there_are_no_lines():
    assert list(conll_lines([])) == []
    assert list(conll_lines([TaggedBook("7", ())])) == [DOCUMENT, ""]
