"""Scores by language: speech by its ends and its letters, conversations, and their mean."""

import json
from dataclasses import replace

import numpy as np
import pytest
from annotation_helpers import CARD, page, write_folder
from helpers import ANNOTATIONS, book, failed, kind_of, said

from heuristic.gap import GapTagger
from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import AnnotatedBook, Annotation, read_split
from miner.books.book import parse_book
from miner.books.book_file import read_book_file
from miner.lab.measure.compare import compare
from miner.lab.measure.language_scores import MEAN, UNITS, compare_by_language, count_letters
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedSpan

HARBOUR = {
    "es": (
        "—Ven—dijo Ana.",
        "—No, contestó él, no voy.",
        "El mar estaba quieto, y nadie más habló aquella tarde en el muelle. " * 3,
        "—¿Vienes?—preguntó Ana.",
        "—Sí.",
    ),
    "fr": (
        "«Viens, dit Anne.»",
        "«Non.»",
        "La mer était calme, et personne ne parla plus ce soir-là sur le quai. " * 3,
    ),
}
SPOKEN = {
    "es": [(1, "Ven", "Ana", 1), (2, "No", "Luis", 1), (2, "no voy", "Luis", 1)]
    + [(4, "¿Vienes?", "Ana", 2), (5, "Sí", "Luis", 2)],
    "fr": [(1, "Viens", "Anne", 1), (2, "Non", "Luc", 1)],
}
HEADINGS = {"es": "CAPÍTULO I", "fr": "CHAPITRE I"}
PAGES = {
    code: page(*paragraphs).replace(b"CHAPTER I", HEADINGS[code].encode())
    for code, paragraphs in HARBOUR.items()
}


def annotated(code):
    data = PAGES[code]
    card = replace(CARD, book=code, language=code, sha256=parse_book(data, code).sha256)
    rows = SPOKEN[code]
    facts = tuple(Annotation(1, n, fingerprint(text), *who) for n, text, *who in rows)
    return AnnotatedBook(card, facts)


class OneConversation:
    """Finds the speech that it is told, and puts it all into one conversation."""

    def __init__(self, spoken):
        self.spoken = spoken

    def tag(self, book_spans):
        said = self.spoken[book_spans.book.id]
        tag = Tag.B_START
        for block in book_spans.book.blocks:
            end = 0
            pieces = []
            for text in [text for n, text, *_ in said if n == block.index]:
                start = block.text.index(text, end)
                pieces += [(end, start, False), (start, start + len(text), True)]
                end = start + len(text)
            for start, stop, is_said in [*pieces, (end, len(block.text), False)]:
                place = (block.chapter, block.index, 0, start, stop, block.text[start:stop])
                yield TaggedSpan(Span(*place, kind_of(is_said)), tag if is_said else Tag.O)
                tag = Tag.I_START if is_said else tag


WHOLE = {
    code: [(n, paragraphs[n - 1]) for n in dict.fromkeys(n for n, *_ in SPOKEN[code])]
    for code, paragraphs in HARBOUR.items()
}


@pytest.fixture(scope="module")
def compared():
    books = [annotated(code) for code in ("fr", "es")]
    taggers = [("ends", OneConversation(SPOKEN)), ("whole", OneConversation(WHOLE))]
    return compare_by_language(books, PAGES.__getitem__, taggers, resamples=20)


def test_a_row_for_each_tagger_and_language_and_their_mean(compared):
    assert [(row.tagger, row.language) for row in compared.rows] == [
        (tagger, language) for tagger in ("ends", "whole") for language in ("es", "fr", MEAN)
    ]
    es, fr, mean, *_ = compared.rows
    assert (es.n_books, es.n_chapters, es.n_utterances) == (1, 1, 5)
    assert (mean.n_books, mean.n_chapters, mean.n_utterances) == (2, 2, 7)
    assert compared.coverage.n_all == 2 and not compared.coverage.left_out


def test_speech_is_right_if_both_ends_are(compared):
    es, fr, mean, *whole = compared.rows
    for row in (es, fr, mean):
        for unit in ("utterance", "letters"):
            assert row.scores[f"{unit}.f1"].value == 1
    assert es.scores["B-START.recall"].value == 0.5
    assert fr.scores["B-START.f1"].value == 1
    assert mean.scores["B-START.recall"].value == 0.75
    # Of whole paragraphs "—Sí." and "«Non.»" are right.
    assert [row.scores["utterance.recall"].value for row in whole] == [0.2, 0.5, 0.35]
    assert [row.scores["utterance.precision"].value for row in whole] == [0.25, 0.5, 0.375]
    letters = [row.scores["letters.precision"].value for row in whole]
    assert letters == [18 / 46, 8 / 15, sum(letters[:2]) / 2]
    assert all(row.scores["letters.recall"].value == 1 for row in whole)


def test_the_mean_has_no_interval_if_a_language_has_none(compared):
    for row in compared.rows:
        assert {name.partition(".")[0] for name in row.scores} == {*UNITS}
        assert all(score.low is None for score in row.scores.values())  # of one chapter each


def test_letters_are_counted_by_chapter():
    gold = book("SO|SR", texts=["“Ya voy.”", "—dijo", "—Sí", "—¿No?"])
    guess = book("SR|OR", texts=["“Ya voy.”", "—dijo", "—Sí", "—¿No?"])
    assert count_letters(gold, gold).tolist() == [[5, 0, 0], [4, 0, 0]]
    assert count_letters(gold, guess).tolist() == [[5, 4, 0], [2, 0, 2]]
    assert count_letters(gold, replace(gold, spans=())).tolist() == [[0, 0, 5], [0, 0, 4]]


def test_the_scores_are_those_of_a_comparison():
    def read(_):
        from miner.books.sources import find_sources

        return read_book_file(find_sources(("sample",))[0][0].path)

    books = read_split(ANNOTATIONS, "sample")
    (row,) = compare_by_language(books, read, [("gap", GapTagger())], resamples=50).rows
    (other,) = compare(ANNOTATIONS, [("gap", GapTagger())], "sample", read=read, resamples=50).rows
    for unit in ("utterance", "B-START", "turn-pair"):
        for part in ("precision", "recall", "f1"):
            name = f"{unit}.{part}"
            assert row.scores[name] == other.from_book.total.end_to_end[name]
    assert row.language == "en" and [kept.min_confidence for kept in row.kept] == [0]
    letters = row.scores["letters.f1"]
    assert 0.9 < letters.low <= letters.value <= letters.high <= 1
    assert np.isclose(row.kept[0].precision.value, row.scores["turn-pair.precision"].value)


def test_the_command_prints_a_table_of_each_kind(tmp_path, monkeypatch):
    (tmp_path / "books").mkdir()
    cards = {}
    for number, code in (("7", "es"), ("8", "fr")):
        (tmp_path / "books" / f"{number}-h.htm").write_bytes(PAGES[code])
        cards[number] = {
            "language": code,
            "split": "test",
            "sha256": parse_book(PAGES[code], number).sha256,
        }
    rows = {n: [(1, *row) for row in SPOKEN[c["language"]]] for n, c in cards.items()}
    folder = write_folder(tmp_path / "gold", cards, gold=rows)
    words = ("gold", "languages", "--gold", folder, "--books", tmp_path / "books")
    words = (*words, "--tagger", "gap", "--resamples", 3)
    shown = said(*words)
    lines = [line.split() for line in shown.splitlines()]
    assert "(test split)" in shown and "confidence" not in shown
    rows = [line[0] for line in lines if line and line[0] in ("es", "fr", MEAN)]
    assert rows[:6] == ["es", "fr", MEAN] * 2 and "too few" in shown
    record = json.loads(said(*words, "--json"))
    assert [row["language"] for row in record["rows"]] == ["es", "fr", MEAN]
    assert record["coverage"]["left_out"] == 0
    (alone,) = json.loads(said(*words, "--language", "fr", "--json"))["rows"]
    assert alone["language"] == "fr"
    for path in (["compare"], ["gold", "errors"], ["gold", "sweep", "--on-test"], ["speakers"]):
        path = [*path, "--gold", folder, "--books", tmp_path / "books", "--split", "test"]
        if "sweep" not in path:
            path += ["--tagger", "gap"]
        assert failed(*path).endswith(
            "found no book in language 'en', expected es, fr, all, or several with commas between"
        )
        assert "fr test split" in said(*path, "--language", "fr")
    checked = said(
        "gold", "check", "--gold", folder, "--books", tmp_path / "books", "--language", "es,fr"
    )
    assert "2 books: 7 of 7 annotated spans found" in checked
    assert "all splits" in said("gold", "stats", "--gold", folder, "--language", "all")
