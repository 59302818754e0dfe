"""Spans of whole books: nothing is lost, and the quotations of an annotated corpus are found."""

from pathlib import Path
from statistics import fmean

import pytest
from dialogue.test_spans import check
from helpers import BOOKS, CORPUS, needs_books
from real import FILES, real_book, real_spans

from miner.annotation.pdnc import pdnc_novels
from miner.books.book import read_book
from miner.books.sources import find_sources
from miner.evaluation.pdnc_scores import score_novel

needs_both = pytest.mark.skipif(
    not (FILES and CORPUS.is_dir()), reason="needs the shared corpus and books"
)
# Nobody speaks aloud in marks of any kind here: a story with two quotations in all.
NEARLY_SILENT = {"31516-h.htm"}


@needs_books
@pytest.mark.parametrize("file", FILES or ["no books"])
def test_the_spans_of_a_real_book_join_back(file):
    try:
        book = real_book(file)
    except ValueError:
        pytest.skip("no book in the file")
    found = real_spans(file).spans
    check(book, found)
    share = sum(len(s.text) for s in found if s.is_utterance) / sum(len(s.text) for s in found)
    assert file in NEARLY_SILENT or 0.03 < share < 0.96


# Strict and joined F1 that each novel must reach, a little below what it has. They stand for floors
# of their means, so that no single process has to score all novels.
FLOORS = {
    "Alice's Adventures in Wonderland": (0.948, 0.951),
    "Anne Of Green Gables": (0.958, 0.985),
    "Daisy Miller": (0.99, 0.995),
    "Emma": (0.934, 0.965),
    "Howards End": (0.976, 0.981),
    "Mansfield Park": (0.969, 0.975),
    "Night and Day": (0.983, 0.984),
    "Northanger Abbey": (0.975, 0.974),
    "Oliver Twist": (0.986, 0.988),
    "Pride and Prejudice": (0.974, 0.979),
    "Sense and Sensibility": (0.967, 0.985),
    "The Gambler": (0.967, 0.977),
    "The Man Who Was Thursday": (0.97, 0.989),
    "The Sign of the Four": (0.909, 0.931),
    "The Sport of the Gods": (0.975, 0.978),
}
MEANS = (0.965, 0.975)


def test_the_floors_stand_for_their_means():
    strict, joined = zip(*FLOORS.values(), strict=True)
    assert (fmean(strict) >= MEANS[0], fmean(joined) >= MEANS[1]) == (True, True)
    assert min(joined) >= 0.93


@needs_both
def test_every_novel_of_the_corpus_has_a_floor():
    novels = {novel.title for novel in pdnc_novels(CORPUS) if novel.gutenberg_id}
    assert novels == set(FLOORS)


@needs_both
@pytest.mark.parametrize("title", FLOORS)
def test_the_quotations_of_a_novel_are_found(title):
    novel = next(novel for novel in pdnc_novels(CORPUS) if novel.title == title)
    (source,), _ = find_sources([novel.gutenberg_id], BOOKS, Path())
    assert source.path is not None
    score = score_novel(novel, read_book(source.path, novel.gutenberg_id))
    assert score.ours.f1 >= FLOORS[title][0]
    assert score.joined.f1 >= FLOORS[title][1]
    assert score.ours.f1 >= score.regex.f1 - 0.01
