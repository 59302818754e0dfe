"""The corpus's format and its malformed rows."""

import csv
from pathlib import Path

import pytest
from helpers import CORPUS, NOVEL, needs_corpus, offsets_of

from miner.annotation.alignment import fold_letters
from miner.errors import InputError
from miner.lab.gold.pdnc import find_novels, read_quotations

HEADER = ["quoteID", "quoteText", "subQuotationList", "quoteByteSpans", "speaker", "addressees"]
HEADER += ["quoteType", "referringExpression"]
PARTS = [["Is the lamp lit?"], ["It was,", "until the oil\nran out."]]
TYPES = ["Explicit", "nan"]


def rows() -> list[list[str]]:
    """The rows of NOVEL; the last span holds a blank that its text has lost."""
    spans = [offsets_of(NOVEL, *parts) for parts in PARTS]
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
        (3, f"[[80, 87], [{'9, ' * 10**4}9]]", r"found span \[9, 9, 9, 9, 9, 9, \.\.\.\], exp"),
        (3, "[" * 10**4, r"found '\[+' in quoteByteSpans, expected a list"),
        (3, f"[{'9' * 5000}]", r"found '\[9+' in quoteByteSpans, expected a list"),
        (2, "nan", "found 'nan' in subQuotationList, expected a list"),
        (5, "Mara", "found 'Mara' in addressees, expected a list"),
    ],
)
def test_malformed_rows_name_file_and_line(tmp_path, column, value, message):
    table = rows()
    table[1][column] = value
    # The second row begins at line 3: the header and the first row take one line each.
    with pytest.raises(InputError, match=rf"quotation_info\.csv:3: Q1: {message}") as caught:
        read_quotations(write(tmp_path, table))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_row_is_named_by_its_first_line(tmp_path):
    table = rows()
    table[0][1] = "Is the\nlamp\nlit?"
    table[1][3] = "[]"
    with pytest.raises(InputError, match=r"quotation_info\.csv:5: Q1: found 0 spans"):
        read_quotations(write(tmp_path, table))


def test_a_broken_table_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"csv:1: found no column quoteType, expected quoteID"):
        read_quotations(
            write(tmp_path, rows(), ["kind" if h == "quoteType" else h for h in HEADER])
        )
    with pytest.raises(InputError, match=r"csv:3: found fewer than 8 fields, expected 8"):
        read_quotations(write(tmp_path, [rows()[0], rows()[1][:5]]))
    with pytest.raises(InputError, match=r"csv:2: found more than 8 fields, expected 8"):
        read_quotations(write(tmp_path, [[*rows()[0], "x"]]))
    (tmp_path / "quotation_info.csv").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"csv: found byte 0xe9 at 3, expected UTF-8"):
        read_quotations(tmp_path)


def test_novels_are_those_of_the_index_with_a_folder(tmp_path):
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
    found = [(n.folder.name, n.gutenberg_id, n.title) for n in find_novels(tmp_path)]
    assert found == [("TheLighthouse", "99999", "The Lighthouse"), ("ThePier", "", "The Pier")]


@needs_corpus
@pytest.mark.parametrize("name", ["PrideAndPrejudice", "TheGambler"])
def test_every_real_quotation_reads_back_to_its_text(name):
    novel = read_quotations(CORPUS / name)
    with (CORPUS / name / "quotation_info.csv").open(encoding="utf-8", newline="") as file:
        wanted = {row["quoteID"]: row["quoteText"] for row in csv.DictReader(file)}
    assert len(novel.quotations) == len(wanted) > 700
    for quotation in novel.quotations:
        found = "".join(novel.text[start:end] for start, end in quotation.spans)
        assert fold_letters(found).text == fold_letters(wanted[quotation.id]).text


@needs_corpus
def test_the_real_index_names_every_folder():
    novels = find_novels(CORPUS)
    assert {n.folder.name for n in novels} == {p.name for p in CORPUS.iterdir() if p.is_dir()}
    assert ("PrideAndPrejudice", "1342") in {(n.folder.name, n.gutenberg_id) for n in novels}
