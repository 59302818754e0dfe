"""Nothing that a file or the catalogue says sends a terminal commands, or takes ever more time."""

import gzip
import re
from functools import partial
from time import process_time
from unicodedata import normalize

import pytest
from epubs import PROSE, epub, package, zipped
from helpers import run

from miner.books.boilerplate import find_copyright
from miner.books.book import parse_book
from miner.books.book_file import decode_book
from miner.books.catalog import CatalogEntry, read_catalog
from miner.books.words import drop_accents
from miner.errors import InputError

# CSI and OSC with ESC and with one character, BEL, NEL and DEL.
COMMANDS = "\x1b[2J\x1b]0;x\a\x9b31m\x9d0;y\x9c\x85\x7f"
CONTROL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
SPEECH = "“Is the lamp lit?” asked Mara. She had one foot on the stair. " * 2
FIELDS = ("title", "author", "language", "text")


def html(fields, encoding="utf-8", head=""):
    title, author, language, text = (fields[name] for name in FIELDS)
    header = "*** START OF THE PROJECT GUTENBERG EBOOK THE LAMP ***"
    return (
        f'{head}<html lang="{language}"><head><title>{title}, by {author}</title></head><body>'
        f"<p>{header}</p><h2>I</h2><p>{SPEECH}{text}</p><p>{PROSE}</p></body></html>"
    ).encode(encoding)


def with_header(fields, make):
    header = "\n\n".join(f"{name.title()}: {fields[name]}" for name in FIELDS[:3])
    start = "*** START OF THE PROJECT GUTENBERG EBOOK THE LAMP ***"
    return make([*header.split("\n\n"), start, SPEECH + fields["text"], PROSE])


def in_epub(fields):
    names = {"title": "title", "author": "creator", "language": "language"}
    metadata = "".join(f"<dc:{name}>{fields[field]}</dc:{name}>" for field, name in names.items())
    parts = {"a.xhtml": f"<p>{SPEECH}{fields['text']}</p><p>{PROSE}</p>"}
    return epub(parts, {"OEBPS/content.opf": package(parts, metadata)})


def as_references(fields, make):
    return make({name: "".join(f"&#{ord(c)};" for c in text) for name, text in fields.items()})


def in_latin_2(fields):
    """With bytes that are no UTF-8; 0x80 to 0x9f are control characters there."""
    latin = {name: text.replace("“", '"') for name, text in fields.items()}
    page = html(latin, "utf-8", '<meta charset="iso-8859-2">').decode()
    return page.replace("“", '"').replace("”", '"').encode("iso-8859-2")


FORMS = {
    "htm": html,
    "references.htm": partial(as_references, make=html),
    "utf-16.htm": partial(html, encoding="utf-16"),
    "latin-2.htm": in_latin_2,
    "header.htm": partial(
        with_header, make=lambda texts: "".join(f"<p>{text}</p>" for text in texts).encode()
    ),
    "epub": in_epub,
    "references.epub": partial(as_references, make=in_epub),
    "txt": partial(with_header, make=lambda texts: "\n\n".join(texts).encode()),
    "zip": lambda fields: zipped({f"{fields['title']}/a.htm": html(fields)}),
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_book_sends_the_terminal_commands(tmp_path, form, field):
    fields = {"title": "The Lamp", "author": "Ann Bell", "language": "en", "text": ""}
    data = FORMS[form](fields | {field: f"On{COMMANDS}On"})
    (tmp_path / f"b.{form}").write_bytes(data)
    book = parse_book(data, "b")
    said = [book.title, book.author, book.language, *(block.text for block in book.blocks)]
    assert not CONTROL.search("".join((*said, book.rights, *book.warnings)))
    for command in (["profile"], ["mine", "--tagger", "gap", "-o", tmp_path / "out"]):
        done = run(*command, tmp_path / f"b.{form}")
        assert done.exit_code == 0, done.output
        assert not CONTROL.search(done.output)


ENTRY = {
    "Text#": "7",
    "Type": "Text",
    "Issued": "2001-01-01",
    "Title": "The Lamp",
    "Language": "en",
    "Authors": "Bell, Ann",
    "Subjects": "Lamps",
    "LoCC": "PR",
    "Bookshelves": "Light",
}


@pytest.mark.parametrize("column", list(ENTRY)[1:])
def test_no_column_of_the_catalogue_sends_the_terminal_commands(tmp_path, monkeypatch, column):
    rows = [ENTRY, ENTRY | {"Text#": "8", "Authors": "Two"}]
    rows = [row | {column: f"{row[column]} {COMMANDS}"} for row in rows]
    lines = [
        ",".join(f'"{cell}"' for cell in row.values()) for row in (ENTRY.fromkeys(ENTRY), *rows)
    ]
    lines[0] = ",".join(ENTRY)
    path = tmp_path / "catalog.csv"
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    monkeypatch.setenv("MINER_CATALOG", str(path))
    entries = list(read_catalog(path))
    assert [entry.number for entry in entries] == [7, 8]
    assert not CONTROL.search("".join(map(str, map(CatalogEntry.to_json, entries))))
    for command in (
        ["catalog", "--numbers", "1-"],
        ["catalog"],
        ["catalog", "--numbers", "1-", "--json"],
        ["mine", "the lamp", "-o", tmp_path / "out"],
    ):
        assert not CONTROL.search(run(*command).output)


# Time and memory


MARKS = "a" + "\u0301\u0323" * 50_000


def test_marks_beyond_number_on_a_letter_are_no_text():
    text = decode_book(f"<p>Ink {MARKS} and Ink.".encode())
    assert text.text == "<p>Ink a" + "\ufffd" * 100_000 + " and Ink."
    assert text.warnings
    line = "\u2500" * 200 + "e\u0301"  # a rule is none
    assert decode_book(line.encode()).text == normalize("NFC", line)


LINE = "It was late, and nobody came to the door.\n\n"


def of_spine(n):
    names = [f"{m}.xhtml" for m in range(n)]
    return epub({"a.xhtml": f"<p>{PROSE}</p>"}, {"OEBPS/content.opf": package(names)})


QUICK = {
    "marks": lambda: parse_book(f"{LINE * 9}{MARKS}".encode(), "b"),
    "marks in a title": lambda: drop_accents(MARKS),
    "a spine": lambda: parse_book(of_spine(60_000), "b"),
    "a longer spine": lambda: parse_book(of_spine(150_000), "b"),
    "pictures in one paragraph": lambda: parse_book(
        LINE.encode() * 9 + b"[Illustration]\n" * 20_000, "b"
    ),
    "declarations": lambda: decode_book(b"<meta " * 400_000 + b"\xff"),
    "stars in a header": lambda: find_copyright("", "*\n\n" * 20_000, ""),
    "form feeds": lambda: parse_book(LINE.encode() + b"\f" * 2_000_000, "b"),
}


@pytest.mark.parametrize("what", QUICK)
def test_what_a_file_repeats_takes_linear_time(what):
    """Each took ten seconds or more, up to hours."""

    began = process_time()
    try:
        QUICK[what]()
    except InputError as error:
        assert len(str(error)) < 500
    assert process_time() - began < 5


@pytest.mark.parametrize("n", [1_100_000, 70_000_000])
def test_a_line_of_the_catalogue_is_not_read_whole(tmp_path, n):
    head = ",".join(ENTRY).encode()
    path = tmp_path / "catalog.csv.gz"
    path.write_bytes(gzip.compress(head + b"\n" + b"x" * n, 1))
    with pytest.raises(InputError, match="a line of more than 1,048,576 characters, expected Gut"):
        list(read_catalog(path))
