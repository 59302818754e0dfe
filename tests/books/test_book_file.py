"""The bytes of book files, and pages that are not the book asked for."""

import codecs
import gzip
import re
import unicodedata
from functools import partial
from time import process_time
from unicodedata import normalize

import pytest
from epubs import PROSE, epub, package, zipped
from helpers import cpu_seconds, run
from hypothesis import given
from hypothesis import strategies as st

from miner.books import book_file
from miner.books.boilerplate import find_copyright
from miner.books.book import parse_book
from miner.books.book_file import decode_book, find_file_fault, find_page_fault, read_book_file
from miner.books.catalog import CatalogEntry, read_catalog
from miner.books.words import drop_accents
from miner.errors import InputError

NOT_GUTENBERG = "a page without Gutenberg's header and footer"


def test_a_file_is_read_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "em\nma.txt"
    path.write_bytes(b"x" * 100)
    monkeypatch.setattr(book_file, "LARGEST_FILE", 100)
    assert read_book_file(path) == b"x" * 100
    monkeypatch.setattr(book_file, "LARGEST_FILE", 99)
    with pytest.raises(InputError) as failure:
        read_book_file(path)
    assert str(failure.value) == (r"em\nma.txt has 100 bytes, expected a book of at most 99 bytes")


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        (b"*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***", ""),
        (b"***START OF THIS PROJECT\nGUTENBERG EBOOK***", ""),
        (b"*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*", ""),
        (b"<p>End of Project Gutenberg's Emma", ""),
        (b"<p>End of the Project Gutenberg EBook of Emma", ""),
        (b"[eBook #0] *** START OF THE PROJECT GUTENBERG EBOOK", ""),
        (b"[EBook #158] *** END OF THE PROJECT GUTENBERG EBOOK", ""),
        (b"[Etext # 0158] *** END OF THE PROJECT GUTENBERG EBOOK", ""),
        (b"[eBook #1342] of [eBook #158] *** END OF THE PROJECT GUTENBERG EBOOK", ""),
        (b"[eBook #1580] *** END OF THE PROJECT GUTENBERG EBOOK", "book 1580 and not 158"),
        (b"e-text #9, eBook #21 *** END OF THE PROJECT GUTENBERG", "book 9 and not 158"),
        (b"<title>Project Gutenberg</title> Are you human?", NOT_GUTENBERG),
        (b"<p>[eBook #158]", NOT_GUTENBERG),
        (b"", NOT_GUTENBERG),
    ],
)
def test_a_page_is_known_by_its_header_or_footer(page, fault):
    assert find_page_fault(page, "158") == fault


@pytest.mark.parametrize("n", [0, 60_000, 70_000, 1_000_000])
def test_the_ends_of_a_file_tell_what_it_is(tmp_path, n):
    path = tmp_path / "158.html"
    for page in (b"[eBook #158] *** START OF THE PROJECT GUTENBERG", b"End of Project Gutenberg"):
        for content in (page + b"x" * n, b"x" * n + b" " + page):
            path.write_bytes(content)
            assert find_file_fault(path, "158") == ""
    path.write_bytes(b"x" * n)
    assert find_file_fault(path, "158") == NOT_GUTENBERG


CAFE = "<p>“Two cafés—no more,” said René.</p>"
META = '<meta http-equiv="Content-Type" content="text/html; charset={}">'


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        (META.format("iso-8859-1"), "cp1252"),
        (META.format("ISO-8859-1"), "utf-8"),
        (META.format("us-ascii"), "cp1252"),
        (META.format("utf-8"), "cp1252"),
        (META.format("windows-1252"), "cp1252"),
        (META.format("x-nonesuch"), "cp1252"),
        (META.format("utf-16"), "utf-8"),
        (META.format("macintosh"), "macintosh"),
        ('<meta charset="utf-8">', "utf-8"),
        ("<?xml version='1.0' encoding='iso-8859-1'?>", "cp1252"),
        ('<?xml version="1.0" encoding="macintosh"?>', "macintosh"),
        ("", "cp1252"),
        ("", "utf-8"),
        ("", "utf-8-sig"),
        (META.format("iso-8859-1"), "utf-8-sig"),
    ],
)
def test_decoding_finds_what_was_meant(declaration, encoding):
    text = f"{declaration}\n{CAFE}"
    assert decode_book(text.encode(encoding)).text == text


def test_declared_latin_2_is_latin_2():
    text = META.format("iso-8859-2") + "<p>– Csók! – mondta az őrmester.</p>".replace("–", "-")
    assert decode_book(text.encode("iso-8859-2")).text == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_of_utf_16_is_followed(encoding):
    mark = codecs.BOM_UTF16_LE if encoding == "utf-16-le" else codecs.BOM_UTF16_BE
    assert decode_book(mark + CAFE.encode(encoding)).text == CAFE


def test_bytes_that_windows_1252_leaves_undefined_lose_no_other():
    assert decode_book(b"<p>\x93Caf\xe9\x81\x94</p>").text == "<p>“Café”</p>"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        *((data, "empty") for data in (b"", b" \r\n\t")),
        *(
            (data, "binary")
            for data in (b"PK\x03\x04\0\0<p>", b"<p>Ink\0</p>", b"\x89PNG\r\n\x1a\n\0")
        ),
        *((data, "binary") for data in (bytes(100_000), bytes(range(256)) * 100 + b"<p>")),
        (b"<p>" + b"\0\1\2\3" * 40, "binary"),
    ],
)
def test_an_empty_file_and_a_binary_one_are_refused(data, kind):
    with pytest.raises(InputError, match=f"^the file is {kind}, expected a book$"):
        decode_book(data)


characters = st.characters(exclude_characters="\ufeff", exclude_categories=["Cs", "Cc"])


@given(st.text(alphabet=characters | st.sampled_from("\t\n\v\f\r\x85")))
def test_any_text_in_utf_8_is_read_back(text):
    data = f"<p>{text}".encode()
    assert decode_book(data).text == unicodedata.normalize("NFC", f"<p>{text}")


BODY = "<html><body><p>“Two cafés—no more,” said René, at the long table.</p>"
IN_UTF_8 = BODY.encode()


@pytest.mark.parametrize("declaration", ["", META.format("iso-8859-1"), META.format("utf-8")])
@pytest.mark.parametrize("bad", [b"\xff", b"\x93", b"\xe2\x80", b"\0", b"\xc3"])
def test_a_few_bad_bytes_cost_no_other_letter(declaration, bad):
    found = decode_book(declaration.encode() + IN_UTF_8 + bad + b"<p>On.</p>")
    assert found.text.replace("\ufffd", "") == f"{declaration}{BODY}<p>On.</p>"
    assert "\ufffd" in found.text
    assert found.warnings == (f"bytes that are no text in UTF-8: {len(bad)}, read as U+FFFD",)


@pytest.mark.parametrize("control", ["\x1b", "\a", "\x7f", "\x9b"])
def test_a_control_character_is_no_text(control):
    found = decode_book((BODY + f"{control}[2J").encode())
    assert found.text == BODY + "\ufffd[2J"
    assert found.warnings == ("bytes that are no text in UTF-8: 1, read as U+FFFD",)


@pytest.mark.parametrize(
    ("data", "text", "warning"),
    [
        ((BODY + "—").encode()[:-1], BODY + "\ufffd", "UTF-8: 2"),
        (BODY.encode("utf-16-le")[:-1], BODY[:-1] + "\ufffd", "UTF-16-LE: 1"),
    ],
)
def test_a_character_cut_off_at_the_end_of_a_file_is_counted(data, text, warning):
    found = decode_book(data)
    assert found.text == text
    assert found.warnings == (f"bytes that are no text in {warning}, read as U+FFFD",)


def test_a_byte_order_mark_of_utf_8_decides():
    found = decode_book(codecs.BOM_UTF8 + b"<p>Ink\xff and more.</p>")
    assert found.text == "<p>Ink\ufffd and more.</p>"
    assert len(found.warnings) == 1


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        (META.format("iso-8859-1"), "cp1252"),
        ("", "cp1252"),
        (META.format("shift_jis"), "shift_jis"),
    ],
)
def test_an_old_encoding_is_no_damage(declaration, encoding):
    text = declaration + (BODY if encoding == "cp1252" else "<p>「雨だ」と彼は言った。</p>")
    found = decode_book(text.encode(encoding))
    assert (found.text, found.warnings) == (text, ())


def test_a_file_that_is_not_the_utf_8_that_it_declares_is_told_of():
    text = META.format("utf-8") + BODY
    found = decode_book(text.encode("cp1252"))
    assert found.text == text
    assert found.warnings == (
        "bytes that are no text in the declared UTF-8: 5, read as windows-1252",
    )


@pytest.mark.parametrize("declared", ["utf-16", "utf-7", "undefined", "base64", "punycode", "idna"])
def test_no_declaration_is_an_error(declared):
    text = META.format(declared) + BODY
    assert "<p>" in decode_book(text.encode("cp1252")).text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_wide_encodings_are_known_with_a_mark_and_without(encoding, mark):
    found = decode_book((mark + BODY).encode(encoding))
    assert (found.text, found.warnings) == (BODY, ())
    body = f"{BODY}<p>Два кафе.</p>"
    assert decode_book((mark + body).encode(encoding)).text == body


def test_millions_of_bad_bytes_take_linear_time():
    data = "<p>é".encode() + "é".encode() * 2_000_000 + b"\xff" * 1_000_000
    assert decode_book(data).warnings == (
        "bytes that are no text in UTF-8: 1,000,000, read as U+FFFD",
    )
    assert cpu_seconds(lambda: decode_book(data), 5) < 5


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
