"""The bytes of a book's file in any form -> its page.

What a file is, its bytes say: a zip file is an EPUB or holds the file of a book, a text with tags
is HTML, and any other is plain text. After this stage no other knows the form.

In an EPUB, `META-INF/container.xml` names the package, whose manifest lists the files and whose
spine orders them (EPUB 3.3, sections 4.2.6.3 and 5). The navigation is left out: it repeats the
headings. There is a library, EbookLib, but its licence (AGPL) does not go with that of this
project. The others on PyPI are young, or read without bounds.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - it has no types

from miner.books.book_file import (
    MOST_ENTRIES,
    Archive,
    MemberError,
    clean_line,
    decode_book,
    is_archive,
    open_archive,
)
from miner.books.page import MOST_TAGS, Page, count_words, is_html, read_html
from miner.books.plain_text import read_plain_text
from miner.books.sources import HTML_SUFFIXES, number_of, without_other_forms
from miner.errors import InputError
from miner.files import one_line, printable

CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_HTML = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
# What hides fonts from a copyist. It says "encrypted", and no text is.
_FONT_METHODS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_LARGEST_LOSS = 0.2  # of the files of the spine, as of the words of a page
_SHOWN = 3  # names in a message
_LARGEST_XML = 8 * 2**20  # bytes; a package of as many files as a zip file may have is a third


@dataclass(frozen=True, slots=True)
class _Package:
    """What the package file of an EPUB says."""

    title: str  # the title, or ""
    author: str  # the names of the creators with commas between, or ""
    rights: str  # what it says of the rights, or ""
    language: str  # its language, or ""
    spine: tuple[str, ...]  # the paths of the HTML files in reading order
    # those of them that hold the table of contents of the reading system
    navigation: frozenset[str]


def read_epub(archive: Archive) -> Page:
    """The page of an EPUB."""
    package = _read_package(archive)
    encrypted = _encrypted_paths(archive)
    if any(path in encrypted for path in package.spine):
        raise InputError("the EPUB is encrypted (DRM), expected one that anybody may read")
    names = frozenset(map(posixpath.basename, package.spine))
    whole = Page(
        [], package.title, package.language, Counter(), (), 0, package.rights, package.author
    )
    lost: list[str] = []
    warnings: list[str] = []
    n_tags = 0
    for path in package.spine:
        try:
            data = archive.read(path)
        except MemberError as error:
            lost.append(str(error))
            continue
        if (n_tags := n_tags + data.count(b"<")) > MOST_TAGS:
            raise InputError(f"the EPUB has more than {MOST_TAGS:,} tags, expected a book")
        try:
            page = read_html(decode_book(data), names)
        except InputError as error:
            lost.append(f"{printable(path)}: {error}")
            continue
        if path in package.navigation:
            whole.drops["navigation"] += sum(count_words(block.text) for block in page.text_blocks)
            continue
        whole.text_blocks += page.text_blocks
        whole.drops += page.drops
        warnings += (f"{printable(path)}: {line}" for line in page.warnings)
        whole.n_lost += page.n_lost
        whole.language = whole.language or page.language
    if lost:
        shown = "; ".join(lost[:_SHOWN]) + "; ..." * (len(lost) > _SHOWN)
        if len(lost) > _LARGEST_LOSS * len(package.spine):
            raise InputError(
                f"the EPUB lacks {len(lost)} of the {len(package.spine)} files of its spine "
                f"({shown}), expected at most a fifth"
            )
        warnings.append(f"files of the spine that cannot be read: {len(lost)} ({shown})")
    whole.warnings = tuple(warnings)
    return whole


def _read_package(archive: Archive) -> _Package:
    container = _read_xml(archive, CONTAINER)
    path = next((str(file.get("full-path") or "") for file in _all(container, "rootfile")), "")
    if not path:
        raise InputError(f"{CONTAINER} names no package, expected a rootfile with a full-path")
    package = _read_xml(archive, path)
    folder = posixpath.dirname(path)
    items = {str(item.get("id")): item for item in _all(package, "item")}
    spine: dict[str, None] = {}  # a set in order
    navigation: set[str] = set()
    for n, reference in enumerate(_all(package, "itemref"), 1):
        if n > MOST_ENTRIES:
            raise InputError(
                f"{printable(path)}: the spine has more than {MOST_ENTRIES:,} references, "
                "expected each file once"
            )
        item = items.get(str(reference.get("idref")))
        if item is None:
            name = printable(str(reference.get("idref")))
            raise InputError(f"{printable(path)}: the spine names {name}, which is in no manifest")
        if str(item.get("media-type")).lower() not in _HTML:
            continue  # a picture; what it holds is no text
        found = _resolve(folder, str(item.get("href") or ""), archive)
        spine[found] = None
        if "nav" in str(item.get("properties") or "").split():
            navigation.add(found)
    if not spine:
        raise InputError(f"{printable(path)}: the spine names no text, expected files of XHTML")
    return _Package(
        title=next(_texts(package, "title"), ""),
        author=", ".join(dict.fromkeys(_texts(package, "creator"))),
        rights=" ".join(_texts(package, "rights")),
        language=next(_texts(package, "language"), ""),
        spine=tuple(spine),
        navigation=frozenset(navigation),
    )


def _resolve(folder: str, href: str, archive: Archive) -> str:
    """The path of a file that the package names; references are relative to its folder."""
    href = href.partition("#")[0]
    names = archive.file.NameToInfo
    for name in (unquote(href), href):
        path = posixpath.normpath(posixpath.join(folder, name))
        if path.startswith(("../", "/")) or path == "..":
            raise InputError(f"{printable(href)} leads out of the EPUB, expected a file in it")
        if path in names:
            return path
    return posixpath.normpath(posixpath.join(folder, unquote(href)))


def _encrypted_paths(archive: Archive) -> frozenset[str]:
    """The paths of the files of which the text is encrypted."""
    if _ENCRYPTION not in archive.file.NameToInfo:
        return frozenset()
    found: set[str] = set()
    for part in _all(_read_xml(archive, _ENCRYPTION), "EncryptedData"):
        methods = [str(method.get("Algorithm")) for method in _all(part, "EncryptionMethod")]
        if not methods or methods[0] not in _FONT_METHODS:
            found |= {unquote(str(path.get("URI"))) for path in _all(part, "CipherReference")}
    return frozenset(found)


def _read_xml(archive: Archive, name: str) -> etree._Element:
    # Nothing outside of the file is read for it, and no entity grows.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    try:
        root = etree.fromstring(archive.read(name, _LARGEST_XML), parser)
    except MemberError as error:
        raise InputError(f"the EPUB has no package: {error}") from error
    except etree.XMLSyntaxError as error:
        raise InputError(f"{printable(name)} is not XML: {one_line(str(error))}") from error
    if root is None:
        raise InputError(f"{printable(name)} is not XML, expected a file of an EPUB")
    return root


def _all(root: etree._Element, name: str) -> Iterator[etree._Element]:
    """The elements of a name in any namespace; old packages have several."""
    return root.iter(f"{{*}}{name}")


def _texts(root: etree._Element, name: str) -> Iterator[str]:
    for element in _all(root, name):
        # Not the text of elements in it, which would count once for each around it.
        if text := clean_line("".join(element.xpath("text()"))):
            yield text


def read_page(data: bytes) -> Page:
    """The page of a book's file: HTML, plain text, EPUB, or a zip file that holds one of these."""
    if is_archive(data):
        archive = open_archive(data)
        if CONTAINER in archive.file.NameToInfo:
            return read_epub(archive)
        return _read_member(archive.read(_find_book(archive.names())))
    return _read_member(data)


def _read_member(data: bytes) -> Page:
    decoded = decode_book(data)
    return read_html(decoded) if is_html(decoded.text) else read_plain_text(decoded)


def _find_book(names: list[str]) -> str:
    """The name of the one book among the files of a zip file; HTML comes before plain text."""
    paths = [PurePosixPath(name) for name in names]
    pages = [path for path in paths if path.suffix.lower() in HTML_SUFFIXES]
    texts = [path for path in paths if path.suffix.lower() == ".txt"]
    found = pages or texts
    # A page of a picture or a notice beside a book has no number.
    numbered = [path for path in found if number_of(path)]
    books = without_other_forms(numbered or found)
    if len(books) == 1:
        return str(books[0])
    if not books:
        raise InputError("the zip file holds no book, expected a file of HTML or plain text")
    shown = ", ".join(printable(str(path)) for path in books[:_SHOWN])
    more = ", ..." * (len(books) > _SHOWN)
    raise InputError(f"the zip file holds {len(books)} books ({shown}{more}), expected one")
