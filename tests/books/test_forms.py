"""EPUB and zip files -> the page of the book in them; damage -> one line."""

import struct
import tracemalloc
import zipfile

import pytest
from epubs import CONTAINER, PARTS, PROSE, epub, package, page, zipped

from miner.books import book_file as archive
from miner.books.book import parse_book
from miner.books.book_file import read_book_file
from miner.books.forms import read_page
from miner.errors import InputError


def test_the_files_of_the_spine_are_one_book():
    book = parse_book(epub(), "9998")
    assert (book.title, book.author, book.language) == ("The Lamp", "Anna Weil", "en")
    assert [(block.kind.value, block.chapter, block.text) for block in book.blocks] == [
        ("heading", 1, "THE LAMP"),
        ("entry", 1, "The Gate"),
        ("heading", 1, "CHAPTER I"),
        ("paragraph", 1, PROSE.strip()),
        ("paragraph", 1, "“Who is there?” he said."),
        ("heading", 2, "CHAPTER II"),
        ("paragraph", 2, "“I am,” she said."),
        ("paragraph", 2, PROSE.strip()),
    ]
    assert dict(book.drops) == {"footnote anchors": 1, "licence": 28, "navigation": 4}
    assert book.warnings == ()


def test_the_spine_gives_the_order_and_metadata_what_no_header_says():
    parts = {"b.xhtml": f"<p>{PROSE}</p>", "a b.xhtml": f"<p>“On,” he said. {PROSE}</p>"}
    metadata = (
        "<dc:title>A Day, by the Sea</dc:title><dc:creator>Anna Weil</dc:creator>"
        "<dc:creator>Otto Weil</dc:creator><dc:language>en-GB</dc:language>"
    )
    data = epub(parts, metadata=metadata)
    changes = {"OEBPS/content.opf": package(parts, metadata).replace("a b", "./a%20b")}
    for found in (parse_book(data, "7"), parse_book(epub(parts, changes), "7")):
        assert (found.title, found.author, found.language) == (
            "A Day, by the Sea",
            "Anna Weil, Otto Weil",
            "en",
        )
        assert [block.text[:4] for block in found.blocks] == ["The ", "“On,"]


def with_parts(n: int) -> dict[str, str]:
    return {f"{m}.xhtml": f"<p>{m} {PROSE}</p>" for m in range(n)}


def test_a_missing_file_is_a_warning_and_many_are_an_error():
    data = epub(with_parts(6), {"OEBPS/3.xhtml": None})
    found = read_page(data)
    assert len(found.text_blocks) == 5
    assert found.warnings == (
        "files of the spine that cannot be read: 1 (OEBPS/3.xhtml is missing)",
    )
    data = epub(with_parts(6), {"OEBPS/3.xhtml": None, "OEBPS/4.xhtml": b""})
    with pytest.raises(InputError) as failure:
        read_page(data)
    assert str(failure.value) == (
        "the EPUB lacks 2 of the 6 files of its spine (OEBPS/3.xhtml is missing; OEBPS/4.xhtml: "
        "the file is empty, expected a book), expected at most a fifth"
    )


ENCRYPTED = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
    '<enc:EncryptionMethod Algorithm="{}"/><enc:CipherData><enc:CipherReference URI="{}"/>'
    "</enc:CipherData></enc:EncryptedData></encryption>"
)
AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"


def test_a_font_may_be_hidden_and_no_text():
    for method, name in (
        ("http://www.idpf.org/2008/embedding", "OEBPS/1-h-0.htm.xhtml"),
        (AES, "OEBPS/font.otf"),
    ):
        changes = {"META-INF/encryption.xml": ENCRYPTED.format(method, name)}
        assert read_page(epub(changes=changes)).text_blocks


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"META-INF/encryption.xml": ENCRYPTED.format(AES, "OEBPS/1-h-0.htm.xhtml")},
            "the EPUB is encrypted (DRM), expected one that anybody may read",
        ),
        (
            {"META-INF/container.xml": "<container/>"},
            "META-INF/container.xml names no package, expected a rootfile with a full-path",
        ),
        ({"META-INF/container.xml": "x"}, "META-INF/container.xml is not XML"),
        ({"OEBPS/content.opf": None}, "the EPUB has no package: OEBPS/content.opf is missing"),
        (
            {"OEBPS/content.opf": package(())},
            "OEBPS/content.opf: the spine names no text, expected files of XHTML",
        ),
        (
            {"OEBPS/content.opf": package(["x.xhtml"]).replace("<item id", "<item no")},
            "OEBPS/content.opf: the spine names i0, which is in no manifest",
        ),
        (
            {"OEBPS/content.opf": package(["x.xhtml"], folder="../../etc/")},
            "../../etc/x.xhtml leads out of the EPUB, expected a file in it",
        ),
        (
            {"OEBPS/content.opf": package(["passwd"], folder="/etc/")},
            "/etc/passwd leads out of the EPUB, expected a file in it",
        ),
    ],
)
def test_a_damaged_epub_is_one_line(changes, message):
    with pytest.raises(InputError) as failure:
        parse_book(epub(changes=changes), "7")
    assert str(failure.value).startswith(message)
    assert "\n" not in str(failure.value)


def test_no_entity_grows_and_no_file_is_read(tmp_path):
    bomb = '<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">'
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    opf = bomb + "]>" + package(PARTS, "<dc:title>&i;</dc:title>")
    with pytest.raises(InputError, match="the spine names no text"):
        read_page(epub(changes={"OEBPS/content.opf": opf}))
    secret = tmp_path / "secret"
    secret.write_text("Secret")
    entity = f'<!DOCTYPE p [<!ENTITY a SYSTEM "{secret.as_uri()}">]>'
    opf = entity + package(PARTS, "<dc:title>The &a; Lamp</dc:title>")
    assert "Secret" not in read_page(epub(changes={"OEBPS/content.opf": opf})).title


HTML = page(f"<p>“Who is there?” he said.</p><p>{PROSE}</p>")
TEXT = f"“Who is there?” he said.\n\n{PROSE}\n"


@pytest.mark.parametrize(
    "files",
    [
        {"1342-h/1342-h.htm": HTML, "1342-h/images/a.jpg": b"\xff\xd8", "1342-h/": b""},
        {"1342-h.htm": HTML, "1342-0.txt": "Not this.", "a.html": "<p>Nor this.</p>"},
        {"1342-0.txt": TEXT, "readme.txt": "Not this."},
        {"1342-8.txt": "Not this.", "1342-0.txt": TEXT},
        {"emma10.txt": TEXT, "__MACOSX/._emma10.txt": b"\0", ".DS_Store": b"\0"},
    ],
)
def test_a_zip_file_holds_one_book(files):
    found = [block.text for block in parse_book(zipped(files), "1342").blocks]
    assert found == ["“Who is there?” he said.", PROSE.strip()]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the zip file holds no book, expected a file of HTML or plain text"),
        ({"a.jpg": b"x"}, "the zip file holds no book, expected a file of HTML or plain text"),
        ({"a.zip": zipped({"1-0.txt": TEXT})}, "the zip file holds no book"),
        (
            {"1-h.htm": HTML, "2-h.htm": HTML, "3.txt": TEXT},
            "the zip file holds 2 books (1-h.htm, 2-h.htm), expected one",
        ),
        (
            {f"{name}.txt": TEXT for name in "abcde"},
            "the zip file holds 5 books (a.txt, b.txt, c.txt, ...), expected one",
        ),
    ],
)
def test_an_unclear_zip_file_is_one_line(files, message):
    with pytest.raises(InputError) as failure:
        read_page(zipped(files))
    assert str(failure.value).startswith(message)


def test_a_zip_file_that_grows_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_FILE", 10_000)
    monkeypatch.setattr(archive.Archive, "__init__", bounded(archive.Archive.__init__))
    bomb = zipped({"1-h.htm": b"<p>" + b"x" * 50_000})
    # What the zip says of its size is not believed.
    for data in (bomb, bomb.replace(struct.pack("<I", 50_003), struct.pack("<I", 3))):
        with pytest.raises(InputError, match=r"more than 10,000 bytes of text|is damaged"):
            read_page(data)
    parts = {f"{n}.xhtml": f"<p>{'x' * 4_000}</p>" for n in range(9)}
    with pytest.raises(InputError, match="more than 10,000 bytes of text"):
        read_page(epub(parts))


def bounded(make):
    def __init__(self, file):
        make(self, file, 10_000)

    return __init__


def test_a_zip_file_with_too_many_members_is_refused():
    data = zipped({f"{n}.txt": b"" for n in range(20_001)}, zipfile.ZIP_STORED)
    with pytest.raises(InputError, match=r"has 20,001 members, expected at most 20,000"):
        read_page(data)


def test_damaged_and_encrypted_zip_files_are_one_line():
    data = zipped({"1-h.htm": HTML})
    for broken in (data[:-30], data[:60], b"PK\3\4" + b"x" * 100):
        with pytest.raises(InputError, match=r"^the zip file is damaged: .+") as failure:
            read_page(broken)
        assert "\n" not in str(failure.value)
    flipped = data[:60] + bytes(byte ^ 255 for byte in data[60:90]) + data[90:]
    with pytest.raises(InputError, match=r"^1-h.htm is damaged: "):
        read_page(flipped)
    locked = bytearray(data)
    locked[6] |= 1
    locked[data.index(b"PK\1\2") + 8] |= 1
    with pytest.raises(InputError, match=r"^1-h.htm is encrypted$"):
        read_page(bytes(locked))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.epub",
            b"<p>Late.",
            "the file is not an EPUB: it starts '<p>Late.', expected a zip file",
        ),
        ("a.zip", b"Late.", "the file is not a zip file: it starts 'Late.', expected one"),
        ("a.htm", b"Late.", "the file is not HTML: it starts 'Late.', expected tags such as <p>"),
        ("a.HTML", b"PKzip", "the file is not HTML: it starts 'PKzip', expected tags such as <p>"),
    ],
)
def test_a_file_is_what_its_name_says(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as failure:
        read_book_file(tmp_path / name)
    assert str(failure.value) == message


@pytest.mark.parametrize("content", [b"", b" \n", b"<P>Late.", "<p>Late.".encode("utf-16")])
def test_a_file_that_may_be_a_book_is_read(tmp_path, content):
    (tmp_path / "a.htm").write_bytes(content)
    assert read_book_file(tmp_path / "a.htm") == content
    (tmp_path / "a.txt").write_bytes(content)
    assert read_book_file(tmp_path / "a.txt") == content


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("form", ["zip", "epub"])
def test_methods_that_unpack_without_bounds_are_refused(form, method):
    files = {"1-h.htm": bytes(20_000_000)}
    if form == "epub":
        files = {"META-INF/container.xml": CONTAINER, "OEBPS/content.opf": bytes(20_000_000)}
    data = zipped(files, method)
    tracemalloc.start()
    with pytest.raises(InputError, match=rf" is packed by method {method}, expected none \(0\) or"):
        read_page(data)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()
