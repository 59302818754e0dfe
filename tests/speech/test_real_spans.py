"""The spans of real books: no character is lost, and the quotations of a corpus are found."""

import pytest
from dialogue_checks import check_spans
from helpers import BOOKS, CORPUS, needs_books
from real import FILES, real_book, real_spans

from miner.books.sources import find_sources
from miner.lab.gold.pdnc import find_novels
from miner.lab.measure.quotations import score_novel

FEW = ("16-h.htm", "24-h.htm", "139-h.htm", "1342-h.htm")  # the books of the fast tests


@needs_books
@pytest.mark.parametrize("file", FEW)
def test_the_spans_of_a_novel_join_to_its_text_and_some_are_speech(file):
    if file not in FILES:
        pytest.skip(f"no {file}")
    found = real_spans(file).spans
    check_spans(real_book(file), found)
    spoken = sum(len(span.text) for span in found if span.is_utterance)
    assert 0.15 < spoken / sum(len(span.text) for span in found) < 0.6


@pytest.mark.slow
@needs_books
@pytest.mark.parametrize("file", sorted(set(FILES) - set(FEW)) or ["no books"])
def test_the_spans_of_every_book_join_to_its_text(file):
    try:
        book = real_book(file)
    except ValueError:
        pytest.skip("no book in the file")
    check_spans(book, real_spans(file).spans)


# Strict and joined F1 that each novel must reach, a little below what it has.
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


@pytest.mark.slow
@pytest.mark.skipif(not (FILES and CORPUS.is_dir()), reason="needs the shared corpus and books")
@pytest.mark.parametrize("title", FLOORS)
def test_the_quotations_of_a_novel_are_found(title):
    novel = next(novel for novel in find_novels(CORPUS) if novel.title == title)
    (source,), _ = find_sources([novel.gutenberg_id], BOOKS)
    assert source.path is not None
    score = score_novel(novel, source.path.read_bytes())
    assert score.ours.f1 >= FLOORS[title][0]
    assert score.joined.f1 >= FLOORS[title][1]
    assert score.ours.f1 >= score.regex.f1 - 0.01
