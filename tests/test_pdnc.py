"""The corpus's format, its malformed rows, and the measure worked by hand."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.align import letters
from miner.book import Block, BlockKind, Book
from miner.pdnc import (
    AnnotatedNovel,
    Cause,
    pdnc_novels,
    read_quotations,
    regex_spans,
    score_quotations,
    score_spans,
    toggle_spans,
)
from miner.spans import BookSpans, Span

CORPUS = Path(__file__).parents[2] / "shared" / "pdnc"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the shared corpus")

HEADER = ["quoteID", "quoteText", "subQuotationList", "quoteByteSpans", "speaker", "addressees"]
HEADER += ["quoteType", "referringExpression"]
NOVEL = """THE LIGHTHOUSE

"Is the lamp lit?" asked Mara. She had one
foot on the stair.

"It was," said Tobin, "until the oil
ran out. "

The "keeper" said nothing.
"""
PARTS = [["Is the lamp lit?"], ["It was,", "until the oil\nran out."]]
TYPES = ["Explicit", "nan"]


def spans_of(text: str, *parts: str) -> list[tuple[int, int]]:
    """Where each part stands, sought from the end of the one before."""
    spans: list[tuple[int, int]] = []
    for part in parts:
        start = text.index(part, spans[-1][1] if spans else 0)
        spans.append((start, start + len(part)))
    return spans


def rows() -> list[list[str]]:
    """The rows of NOVEL; the last span holds a blank that its text has lost."""
    spans = [spans_of(NOVEL, *parts) for parts in PARTS]
    spans[1][1] = (spans[1][1][0], spans[1][1][1] + 1)
    return [
        [f"Q{i}", " ".join(PARTS[i]), repr(PARTS[i]), repr([list(s) for s in spans[i]])]
        + [("Mara", "Tobin")[i], repr([("Tobin", "Mara")[i]]), TYPES[i], "nan"]
        for i in range(2)
    ]


def write(folder: Path, table: list[list[str]], header: list[str] = HEADER) -> Path:
    (folder / "novel_text.txt").write_text(NOVEL, encoding="utf-8", newline="")
    with (folder / "quotation_info.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([header, *table])
    return folder


def test_quotations_are_read(tmp_path):
    novel = read_quotations(write(tmp_path, rows()))
    assert novel.text == NOVEL
    first, second = novel.quotations
    assert (first.id, first.speaker, first.addressees) == ("Q0", "Mara", ("Tobin",))
    assert (first.type, second.type) == ("Explicit", "")
    assert [NOVEL[start:end] for start, end in novel.spans] == [
        "Is the lamp lit?",
        "It was,",
        "until the oil\nran out. ",
    ]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (3, "[[3, 19]]", "found 1 spans for 2 sub-quotations, expected one for each"),
        (3, "[[81, 88], [102, 125]]", r"found 't was,\"' from 81 to 88, expected 'It was,'"),
        (3, "[[80, 87], [9, 4]]", r"found span \[9, 4\], expected \[start, end\]"),
        (3, "[[80, 87], [1, 2, 3]]", r"found span \[1, 2, 3\]"),
        (3, "[[80, 87], [9, 4000]]", r"found span \[9, 4000\]"),
        (3, "[[80, 87", r"found '\[\[80, 87' in quoteByteSpans, expected a list"),
        (2, "nan", "found 'nan' in subQuotationList, expected a list"),
        (5, "Mara", "found 'Mara' in addressees, expected a list"),
    ],
)
def test_malformed_rows_name_file_and_line(tmp_path, column, value, message):
    table = rows()
    table[1][column] = value
    # The second row begins at line 3: the header and the first row take one line each.
    with pytest.raises(ValueError, match=rf"quotation_info\.csv:3: Q1: {message}") as caught:
        read_quotations(write(tmp_path, table))
    assert "\n" not in str(caught.value)


def test_a_row_is_named_by_its_first_line(tmp_path):
    table = rows()
    table[0][1] = "Is the\nlamp\nlit?"
    table[1][3] = "[]"
    with pytest.raises(ValueError, match=r"quotation_info\.csv:5: Q1: found 0 spans"):
        read_quotations(write(tmp_path, table))


def test_a_broken_table_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"csv:1: found no column quoteType, expected quoteID"):
        read_quotations(
            write(tmp_path, rows(), ["kind" if h == "quoteType" else h for h in HEADER])
        )
    with pytest.raises(ValueError, match=r"csv:3: found fewer fields than expected, 8"):
        read_quotations(write(tmp_path, [rows()[0], rows()[1][:5]]))
    with pytest.raises(ValueError, match=r"csv:2: found more fields than expected, 8"):
        read_quotations(write(tmp_path, [[*rows()[0], "x"]]))
    (tmp_path / "quotation_info.csv").write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=r"csv: found byte 0xe9 at 3, expected UTF-8"):
        read_quotations(tmp_path)


def test_novels_are_those_of_the_index_that_are_there(tmp_path):
    (tmp_path / "PDNC-Novel-Index.csv").write_text(
        "Novel Title,Source,Folder Name\n"
        "The Lighthouse,https://www.gutenberg.org/ebooks/99999,TheLighthouse\n"
        "The Pier,https://example.org/pier.html,ThePier\n"
        "The Bell,https://www.gutenberg.org/ebooks/99998,TheBell\n"
        "Not Yet Annotated,https://www.gutenberg.org/ebooks/99997,\n",
        encoding="utf-8",
    )
    (tmp_path / "TheLighthouse").mkdir()
    (tmp_path / "data" / "ThePier").mkdir(parents=True)
    found = [(n.folder.name, n.gutenberg_id, n.title) for n in pdnc_novels(tmp_path)]
    assert found == [("TheLighthouse", "99999", "The Lighthouse"), ("ThePier", "", "The Pier")]


def test_the_plain_rules():
    text = 'He said "no" and “not\nnow.” Then:\n\n"I was there\n\n"and so" were “you\n'
    assert [text[a:b] for a, b in regex_spans(text)] == ["no", "not\nnow.", "and so"]
    assert [text[a:b] for a, b in toggle_spans(text)] == [
        "no",
        "not\nnow.",
        "I was there",
        "and so",
        "you\n",
    ]


def book_of(*paragraphs: str) -> BookSpans:
    """A book whose utterances are what stands between double marks."""
    blocks = tuple(Block(i, 0, BlockKind.PARAGRAPH, text) for i, text in enumerate(paragraphs))
    spans: list[Span] = []
    for block in blocks:
        cuts = [0, *(i for m in re.finditer("“[^”]*”", block.text) for i in m.span())]
        for n, (start, end) in enumerate(zip(cuts, [*cuts[1:], len(block.text)], strict=True)):
            text = block.text[start:end]
            if text:
                spans.append(Span(0, block.index, n, start, end, text, text.startswith("“")))
    return BookSpans(Book("99999", "", "", "en", blocks, (), ""), tuple(spans))


def test_another_edition_scores_the_same_as_its_own_text():
    gold = spans_of(NOVEL, "Is the lamp lit?", "It was,", "until the oil\nran out. ")
    book = book_of(
        "THE LIGHT-HOUSE",
        "“_Is_ the lamp {7} lit?” asked Mara. She had one foot on the stair.",
        "“It was”, said Tobin; “until the oil ran out.”",
        "The “keeper” said nothing.",
    )
    for score in (
        score_spans(NOVEL, gold, regex_spans(NOVEL)),
        score_quotations(NOVEL, gold, book),
    ):
        assert (score.right, len(score.missed), len(score.spurious)) == (3, 0, 1)
        assert (score.precision, score.recall, score.f1) == (3 / 4, 1.0, 6 / 7)
        # "isthelamplit", "itwas" and "untiltheoilranout" are gold, "keeper" is not
        assert score.letters_right == score.letters_gold == 12 + 5 + 17
        assert score.letters_predicted == 34 + 6
        assert score.letter_f1 == 2 * 34 / (34 + 40)
        (error,) = score.spurious
        assert (error.cause, error.paragraph, error.text) == (Cause.ALONE, 3, "keeper")
        assert error.context.strip().startswith("The ") and error.context.strip().endswith(".")
        assert (score.unaligned, score.foreign) == (0, ())


@pytest.mark.parametrize(
    ("start", "end", "cause"),
    [
        (0, 0, None),
        (-3, 0, None),
        (3, 3, None),
        (-4, 0, Cause.START),
        (4, 0, Cause.START),
        (0, 5, Cause.END),
        (-4, 4, Cause.BOTH),
    ],
)
def test_three_characters_are_forgiven(start, end, cause):
    text = "abcdefghijklmnopqrstuvwxyz"
    score = score_spans(text, [(10, 20)], [(10 + start, 20 + end)])
    assert score.right == (cause is None)
    assert [error.cause for error in score.missed] == ([cause] if cause else [])
    assert [error.cause for error in score.spurious] == ([cause] if cause else [])


def test_a_gold_span_is_matched_once_and_exact_ones_first():
    text = "a, b, c said the child"
    gold = [(0, 1), (3, 4)]
    score = score_spans(text, gold, [(0, 1), (3, 4), (6, 7)])
    assert (score.right, len(score.spurious), len(score.missed)) == (2, 1, 0)
    assert score.spurious[0].text == "c"


def test_one_span_over_two_and_two_over_one():
    text = "Come in, said the old woman, and shut the door behind you."
    parts = spans_of(text, "Come in", "and shut the door behind you")
    whole = [(0, len(text))]
    assert [e.cause for e in score_spans(text, parts, whole).spurious] == [Cause.SEVERAL]
    assert [e.cause for e in score_spans(text, parts, whole).missed] == [Cause.END, Cause.START]
    assert [e.cause for e in score_spans(text, whole, parts).missed] == [Cause.SEVERAL]


def test_words_of_one_edition_only():
    text = (
        'PREFACE\n\n"These pages were found in a drawer by their printer," I was told.\n\n'
        '"Who rang the bell?" asked the porter.\n'
    )
    book = book_of(
        "“Who rang the bell?” asked the porter.",
        "“Illustration: nobody ever answers here, whatever the hour,” was written below.",
    )
    score = score_quotations(text, regex_spans(text), book)
    assert (score.right, score.unaligned, len(score.missed)) == (1, 1, 1)
    assert (score.missed[0].paragraph, score.missed[0].cause) == (1, Cause.UNALIGNED)
    assert score.spurious == ()
    assert [error.paragraph for error in score.foreign] == [1]
    assert (score.precision, score.recall) == (1.0, 0.5)


def test_spans_without_a_letter_count_on_neither_side():
    text = '"...!" He wept. "Oh," he said.'
    score = score_spans(text, regex_spans(text), regex_spans(text))
    assert (score.right, score.missed, score.spurious) == (1, (), ())
    nothing = score_spans("", [], [])
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.letter_f1) == (0, 0, 0, 0)


@given(st.lists(st.sampled_from(['"', "word", "a", " ", ".", "\n\n", "“", "”"])), st.data())
def test_counts_add_up(pieces, data):
    text = "".join(pieces)
    gold = regex_spans(text)
    spoken = [span for span in gold if letters(text[slice(*span)]).text]
    perfect = score_spans(text, gold, gold)
    assert (perfect.right, perfect.missed, perfect.spurious) == (len(spoken), (), ())
    other = toggle_spans(text)
    n_other = sum(bool(letters(text[slice(*span)]).text) for span in other)
    score = score_spans(text, gold, other)
    assert score.right + len(score.missed) == len(spoken)
    assert score.right + len(score.spurious) == n_other
    assert score.letters_right <= min(score.letters_gold, score.letters_predicted)
    assert score_spans(text, other, gold).right == score.right


def real(name: str) -> AnnotatedNovel:
    return read_quotations(CORPUS / name)


@needs_corpus
@pytest.mark.parametrize("name", ["PrideAndPrejudice", "TheGambler"])
def test_every_real_quotation_reads_back_to_its_text(name):
    novel = real(name)
    with (CORPUS / name / "quotation_info.csv").open(encoding="utf-8", newline="") as file:
        wanted = {row["quoteID"]: row["quoteText"] for row in csv.DictReader(file)}
    assert len(novel.quotations) == len(wanted) > 700
    for quotation in novel.quotations:
        found = "".join(novel.text[start:end] for start, end in quotation.spans)
        assert letters(found).text == letters(wanted[quotation.id]).text


@needs_corpus
def test_the_plain_rule_scores_what_was_measured_before():
    novel = real("TheSignOfTheFour")
    score = score_spans(novel.text, novel.spans, regex_spans(novel.text))
    assert round(score.letter_f1, 3) == 0.845  # unclosed speech; the published anchor
    assert round(score.f1, 3) == 0.910


@needs_corpus
def test_the_corpus_as_a_book_scores_as_its_text_does():
    novel = real("DaisyMiller")
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", novel.text)]
    curly = [re.sub('"([^"]*)"', r"“\1”", paragraph) for paragraph in paragraphs]
    by_text = score_spans(novel.text, novel.spans, regex_spans(novel.text))
    by_book = score_quotations(novel.text, novel.spans, book_of(*curly))
    assert by_book.right == by_text.right
    assert (by_book.letter_f1, by_book.f1) == (by_text.letter_f1, by_text.f1)
    assert (by_book.unaligned, by_book.foreign) == (0, ())


@needs_corpus
def test_the_real_index_names_every_folder():
    novels = pdnc_novels(CORPUS)
    assert {n.folder.name for n in novels} == {p.name for p in CORPUS.iterdir() if p.is_dir()}
    assert ("PrideAndPrejudice", "1342") in {(n.folder.name, n.gutenberg_id) for n in novels}
