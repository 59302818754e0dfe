"""Our speakers and those of the corpus, on a book and a corpus judged by hand."""

import csv
from hashlib import sha256
from pathlib import Path

import pytest
from helpers import offsets_of

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import AnnotatedBook, Annotation, BookCard
from miner.errors import InputError
from miner.lab.app.tables.scores import tabulate_speakers
from miner.lab.gold.pdnc import PdncNovel, find_novels
from miner.lab.measure.pdnc_speakers import compare_speakers

HTML = """<!DOCTYPE html>
<!-- original text, CC0 -->
<html lang="en"><head>
<meta charset="utf-8">
<title>The Salt Road | Project Gutenberg</title>
</head>
<body><section class="pg-boilerplate pgheader" id="pg-header" lang="en">
<div>A stand-in for the notice.</div>
<div id="pg-start-separator">
<span>*** START OF THE PROJECT GUTENBERG EBOOK THE SALT ROAD ***</span>
</div></section>

<h1>The Salt Road</h1>

<h2>CHAPTER I</h2>

<p>The carts had come down from the hills before light, and the yard
was full of steam and lanterns.</p>

{}
<p>Nobody spoke for a while, and the first cart went out at the gate.</p>

</body></html>
"""
# The speech of each paragraph; a bar marks an interruption by the narrator.
SAID = [
    "Which of you has the key of the weighing room?",
    "It hung on its nail when I lay down last night,|and the nail is there yet.",
    "Then somebody walked in his sleep, or in his boots.",
    "There are eleven sacks where I wrote down twelve.",
    "Count the mule’s dinner and you will find the other.",
    "I never knew a mule to eat with a spoon.",
    "Mind how you talk before the children, if you please.",
    "We are older than the mule, and nobody minds him.",
]
HEADER = ["quoteID", "quoteText", "subQuotationList", "quoteByteSpans", "speaker", "addressees"]
HEADER += ["quoteType", "referringExpression"]


def edition() -> bytes:
    paragraphs = (text.replace("|", "” (here was a cough) “") for text in SAID)
    return HTML.format("".join(f"<p>“{text}”</p>\n\n" for text in paragraphs)).encode()


def annotated(speakers, book: str = "99999") -> AnnotatedBook:
    """The book with the speaker of each paragraph; "" if it is no utterance."""
    own = sha256(edition()).hexdigest()  # of this file, so that some spans may be missing
    card = BookCard(book, "The Salt Road", "nobody", "en", 2026, "Britain", "x", 3, "dev", "x", own)
    facts = tuple(
        Annotation(1, n, fingerprint(part), who, 1 if who else 0)
        for n, (text, who) in enumerate(zip(SAID, speakers, strict=False))
        for part in text.split("|")
    )
    return AnnotatedBook(card, facts)


def corpus(folder: Path, speakers, length: int | None = None) -> list[PdncNovel]:
    """Writes a corpus of one novel with other quotation marks.

    A quotation with the speaker None is left out. `length` cuts the marked part of each quotation.
    """
    novel = folder / "data" / "TheSaltRoad"
    novel.mkdir(parents=True)
    (folder / "PDNC-Novel-Index.csv").write_text(
        "Novel Title,Source,Folder Name\n"
        "The Salt Road,https://www.gutenberg.org/ebooks/99999,TheSaltRoad\n"
    )
    spoken = [text.replace("’", "'").replace(" the ", "\nthe ") for text in SAID]
    blocks = [f'"{text}"'.replace("|", '" (here was a cough) "') for text in spoken]
    text = "\n\n".join(["THE SALT ROAD", "The carts had come down.", *blocks, "Nobody spoke."])
    (novel / "novel_text.txt").write_text(text, encoding="utf-8", newline="")
    table = [HEADER]
    for n, (line, who) in enumerate(zip(spoken, speakers, strict=False)):
        if who is not None:
            parts = [part[:length] for part in line.split("|")]
            spans = [list(span) for span in offsets_of(text, *parts)]
            cells = [" ".join(parts), repr(parts), repr(spans), who, "[]", "nan", "nan"]
            table.append([f"Q{n}", *cells])
    with (novel / "quotation_info.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(table)
    return find_novels(folder)


def pairs_of(book, novels):
    """The pairs of a book that is at hand."""
    compared = compare_speakers([book], novels, lambda _: edition())
    assert compared.coverage.left_out == ()
    return compared.pairs


def judged(folder: Path, ours, theirs):
    """The paragraph, both names and whether they agree, for each pair."""
    pairs = pairs_of(annotated(ours), corpus(folder, theirs))
    assert {pair.book for pair in pairs} == {"99999"}
    return [(pair.fact.paragraph, pair.fact.speaker, pair.theirs, pair.agree) for pair in pairs]


def test_a_shared_word_and_a_short_form_agree(tmp_path):
    ours = ["Hester Vane", "Wilf", "Miss Vane", "Gorse, the carter", "Hester Vane"]
    theirs = ["Captain Vane", "Wilfred Dace", "Hester Vane", "Abel Gorse", "Wilfred Dace"]
    assert judged(tmp_path, ours, theirs) == [
        (0, "Hester Vane", "Captain Vane", True),
        # One quotation of the corpus in two parts: two spans of ours.
        (1, "Wilf", "Wilfred Dace", True),
        (1, "Wilf", "Wilfred Dace", True),
        (2, "Miss Vane", "Hester Vane", True),
        (3, "Gorse, the carter", "Abel Gorse", True),
        (4, "Hester Vane", "Wilfred Dace", False),
    ]


def test_differences_are_listed_when_asked_for(tmp_path):
    novels = corpus(tmp_path, ["Mrs Crowe"])
    pairs = pairs_of(annotated(["Mrs Pell"]), novels)
    assert len(tabulate_speakers(pairs, False)) == 2
    (difference,) = tabulate_speakers(pairs, True)[2:]
    assert difference == "99999, chapter 1, paragraph 0: ours Mrs Pell, theirs Mrs Crowe"


@pytest.mark.parametrize(
    ("ours", "theirs", "agree"),
    [
        # Titles are no names, alone or beside one.
        ("Mrs Pell", "Mrs Crowe", False),
        ("Mrs", "Mrs Crowe", False),
        ("old Mr Pell", "The Old Lady", False),
        ("Uncle Dace", "DACE", True),
        # Two letters are no short form, but equal names agree.
        ("Al", "Albert Pell", False),
        ("Al", "Al Pell", True),
        ("Ada", "Adam Pell", True),
        ("Dace", "Candace", False),  # begins no word
        ("?", "Wilfred Dace", False),
        ("?", "?", False),
    ],
)
def test_one_pair_of_names(tmp_path, ours, theirs, agree):
    (pair,) = judged(tmp_path, [ours], [theirs])
    assert pair == (0, ours, theirs, agree)


@pytest.mark.parametrize(
    ("theirs", "agree"),
    [
        (["Gorse"], [False]),  # seen once
        (["Gorse", None, "Gorse"], [True, True]),
        (["Gorse", None, "Gorse", "Dace"], [True, True, False]),
        (["Gorse", None, "Gorse", "Dace", "Dace"], [False] * 4),  # half is not more than half
        (["Gorse", None, "Dace", "Vane"], [False] * 3),
    ],
)
def test_names_agree_if_most_utterances_of_ours_have_theirs(tmp_path, theirs, agree):
    found = judged(tmp_path, ["carter"] * len(theirs), theirs)
    assert [pair[3] for pair in found] == agree


def test_an_unknown_speaker_never_agrees(tmp_path):
    found = judged(tmp_path, ["?"] * 4, ["Vane"] * 4)
    assert [pair[3] for pair in found] == [False] * 5


def test_a_shared_title_does_not_make_names_agree(tmp_path):
    ours = ["Mrs Pell"] * 4 + ["Mrs Crowe"] * 3
    theirs = ["Mrs Pell", "Mrs Pell", "Mrs Pell", "Mrs Crowe", "Mrs Crowe", "Mrs Crowe", "Mrs Pell"]
    found = judged(tmp_path, ours, theirs)
    assert [pair[0] for pair in found if not pair[3]] == [3, 6]


def test_only_utterances_of_both_are_judged(tmp_path):
    ours = ["Vane", "Dace", "", "Gorse", "Vane"]
    theirs = ["Vane", None, "Gorse", "Gorse", None, "Gorse", "Vane"]
    assert [pair[0] for pair in judged(tmp_path, ours, theirs)] == [0, 3]


@pytest.mark.parametrize(("length", "n_pairs"), [(10, 0), (40, 1)])
def test_a_quotation_must_cover_half_of_an_utterance(tmp_path, length, n_pairs):
    novels = corpus(tmp_path, ["Vane"], length)  # the utterance has 46 characters
    assert len(pairs_of(annotated(["Vane"]), novels)) == n_pairs


def test_a_book_that_the_corpus_lacks_is_not_opened(tmp_path):
    def closed(book: str) -> bytes:
        raise AssertionError(f"opened {book}")

    novels = corpus(tmp_path, ["Vane"])
    assert compare_speakers([annotated(["Vane"], "99998")], novels, closed).pairs == ()


def test_another_text_is_refused(tmp_path):
    novels = corpus(tmp_path, ["Vane"] * 8)
    other = edition()
    for text in SAID[2:]:
        other = other.replace(text.encode(), b"Nothing of the kind was said that day.")
    with pytest.raises(InputError, match=r"99999, chapter 1: found 0 of 9 annotated utterances"):
        compare_speakers([annotated(["Vane"] * 8)], novels, lambda _: other)
