"""From the bytes of a file to its spans, and the files that are refused."""

from itertools import chain, cycle

import pytest
from dialogue_checks import check_narration, check_spans
from helpers import BOOKS, CORPUS, DATA, SAMPLE, cpu_seconds, needs_books
from real import FILES, real_book, real_spans

from miner.books.book import Block, BlockKind, Book
from miner.books.sources import find_sources
from miner.errors import InputError
from miner.lab.gold.pdnc import find_novels
from miner.lab.measure.quotations import score_novel
from miner.languages.language import MARKS
from miner.speech.dialogues import decode_dialogues
from miner.speech.read import parse_spans
from miner.speech.spans import split_book
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, repair_tags
from miner.speech.typography import typography_from_names


def test_the_spans_of_a_file_know_their_book_and_typography():
    found = parse_spans(SAMPLE.read_bytes(), "sample")
    assert found.book.id == "sample" and found.typography is not None
    assert [mark.name for mark in found.typography.marks] == ["double-curly"]
    assert sum(span.is_utterance for span in found.spans) == 182


def test_marks_may_be_given_instead_of_inferred():
    page = b"<html><body><p>'Go,' said Ann.</p><p>\"Stay,\" said Bo.</p></body></html>"
    found = parse_spans(page, "7", ["single-straight"])
    assert [span.text for span in found.spans if span.is_utterance] == ["'Go,'"]


def test_a_book_in_a_language_without_a_file_is_refused_unless_its_marks_are_named():
    speech = "„Kde je loď?“ zeptala se žena s husami, když stála na břehu a nikdo na ni nečekal."
    page = f"<html lang='cs'><body><p>{speech}</p></body></html>".encode()
    with pytest.raises(InputError, match=r"^found Czech, expected one of ca, da, de, .*`quotes=`"):
        parse_spans(page, "7")
    found = parse_spans(page, "7", ["low-high"])
    assert [span.text for span in found.spans if span.is_utterance] == ["„Kde je loď?“"]


PLAYS = {
    "names before the lines": ["ANN. Where is the boat?", "BO. Gone.", "ANN. And the geese?"],
    "names above the lines": ["Ann", "Where is the boat?", "Bo (rising)", "Gone.", "Ann", "And?"],
}


@pytest.mark.parametrize("name", PLAYS)
def test_a_play_says_so_even_if_some_of_it_is_quoted(name):
    lines = PLAYS[name] * 4 + ["He reads: “Come home,” and sighs."]
    page = "".join(f"<p>{line}</p>" for line in lines)
    with pytest.raises(InputError, match=r"^a play: .* plays are not mined$"):
        parse_spans(f"<html><body>{page}</body></html>".encode(), "7")


def test_a_novel_with_repeated_short_paragraphs_is_no_play():
    lines = ["“Where is the boat?”", "“Gone.”", "Silence.", "“And the geese?” said Ann."] * 4
    page = "".join(f"<p>{line}</p>" for line in lines)
    found = parse_spans(f"<html><body>{page}</body></html>".encode(), "7")
    assert sum(span.is_utterance for span in found.spans) == 12


@pytest.mark.parametrize(
    ("file", "reason"),
    [("play.html", "a play: "), ("no_dialogue.html", "no dialogue: found no speech")],
)
def test_a_book_without_dialogue_is_refused(file, reason):
    with pytest.raises(InputError, match=f"^{reason}"):
        parse_spans((DATA / file).read_bytes(), "7")


N = 20_000
MOST = 5  # seconds
# With a search to the end of the block from every mark, each of these takes minutes.
BLOCKS = {
    "openers never closed": "“" * N,
    "openers with words": "“Now " * N,
    "single openers": "‘" * N,
    "straight marks": '"' * N,
    "elisions": "'Tis so " * N,
    "curly elisions": "‘tis so " * N,
    "marks inside sentences": "the 'rigging " * N,
    "curly marks inside sentences": "the ‘rigging " * N,
    "clipped words": "‘Goin’ " * N,
    "guillemets": "«Oui " * N,
    "dots after speech": "“Now.”" + "." * N,
    "asides": "“Now " + "(with a sigh " * N + "”",
}
NAMES = [name for name in MARKS if name not in ("guillemets-inward", "low-high", "low-right")]


def work(texts: list[str]) -> float:
    """The seconds that a book of these paragraphs takes."""
    blocks = tuple(Block(n, 1, BlockKind.PARAGRAPH, text) for n, text in enumerate(texts))
    book = Book("7", "", "", "en", blocks, (), "")

    def split_and_decode():
        spans = split_book(book, typography_from_names(NAMES)).spans
        tags = repair_tags(Tag.I_OTHER if span.is_utterance else Tag.O for span in spans)
        tagged = tuple(map(TaggedSpan, spans, tags))
        for dialogue in decode_dialogues(TaggedBook("7", tagged)):
            assert all(isinstance(turn.text, str) for turn in dialogue.turns)
        assert "".join(span.text for span in spans) == "".join(texts)

    return cpu_seconds(split_and_decode, MOST)


@pytest.mark.slow
@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_takes_time_in_proportion_to_its_length(name):
    assert work([BLOCKS[name]]) < MOST


def test_letters_take_time_in_proportion_to_their_number():
    assert work(["“Dear Bo,—The geese are yours"] * 8_000) < MOST


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


@needs_books
@pytest.mark.parametrize("file", FEW)
def test_the_narration_of_a_novel_is_told_once(file):
    if file not in FILES:
        pytest.skip(f"no {file}")
    found = real_spans(file).spans
    tags = chain([Tag.B_START], cycle([Tag.B_OTHER, Tag.B_OTHER, Tag.I_OTHER]))
    spans = (TaggedSpan(span, next(tags) if span.is_utterance else Tag.O) for span in found)
    check_narration(TaggedBook("1", tuple(spans), ""))


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
