"""Bytes of whole and of damaged files -> their text."""

import codecs
import unicodedata

import pytest
from helpers import cpu_seconds
from hypothesis import given
from hypothesis import strategies as st

from miner.books.book_file import decode_book
from miner.errors import InputError

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


@pytest.mark.parametrize("data", [b"", b" \r\n\t"])
def test_an_empty_file_is_refused(data):
    with pytest.raises(InputError, match=r"^the file is empty, expected a book$"):
        decode_book(data)


@pytest.mark.parametrize("data", [b"PK\x03\x04\0\0<p>", b"<p>Ink\0</p>", b"\x89PNG\r\n\x1a\n\0"])
def test_a_binary_file_is_refused(data):
    with pytest.raises(InputError, match=r"^the file is binary, expected a book$"):
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


def test_a_character_cut_off_at_the_end_of_a_file_is_counted():
    found = decode_book((BODY + "—").encode()[:-1])
    assert found.text == BODY + "\ufffd"
    assert found.warnings == ("bytes that are no text in UTF-8: 2, read as U+FFFD",)


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


def test_half_a_unit_of_utf_16_is_counted():
    found = decode_book(BODY.encode("utf-16-le")[:-1])
    assert found.text == BODY[:-1] + "\ufffd"
    assert found.warnings == ("bytes that are no text in UTF-16-LE: 1, read as U+FFFD",)


@pytest.mark.parametrize(
    "data", [bytes(100_000), bytes(range(256)) * 100 + b"<p>", b"<p>" + b"\0\1\2\3" * 40]
)
def test_control_characters_make_a_file_binary(data):
    with pytest.raises(InputError, match=r"^the file is binary, expected a book$"):
        decode_book(data)


def test_millions_of_bad_bytes_take_linear_time():
    data = "<p>é".encode() + "é".encode() * 2_000_000 + b"\xff" * 1_000_000
    assert decode_book(data).warnings == (
        "bytes that are no text in UTF-8: 1,000,000, read as U+FFFD",
    )
    assert cpu_seconds(lambda: decode_book(data), 5) < 5
