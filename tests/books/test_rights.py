"""Works in copyright are told by Gutenberg's header, its licence and its metadata."""

import pytest
from helpers import BOOKS, needs_books
from real import FILES, real_book

from miner.books.boilerplate import find_copyright
from miner.books.book import parse_book

BOOK = """<html><head><title>The Ferry</title>{meta}</head><body>
<pre>The Project Gutenberg EBook of The Ferry, by Ann Bell

This eBook is for the use of anyone anywhere at no cost and with
almost no restrictions whatsoever.
{header}
Title: The Ferry

Author: Ann Bell

*** START OF THIS PROJECT GUTENBERG EBOOK THE FERRY ***
</pre>
<p>{page}</p>
<p>“Is the ferry gone?” asked Mara, and she set the basket down on the stones of the quay.</p>
<p>“Gone,” said Tobin.</p>
<pre>*** END OF THIS PROJECT GUTENBERG EBOOK THE FERRY ***

Nearly all the individual works in the collection are in the public domain. {footer}
The Foundation makes no representations concerning the copyright status of any work.
</pre></body></html>"""


def rights(header="", footer="", meta="", page="A tale"):
    html = BOOK.format(header=header, footer=footer, meta=meta, page=page)
    return parse_book(html.encode(), "7").rights


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (
            "** This is a COPYRIGHTED Project Gutenberg eBook, Details Below **",
            "This is a COPYRIGHTED Project Gutenberg eBook",
        ),
        (
            "**This is a COPYRIGHTED Project Gutenberg Etext Details Below**",
            "This is a COPYRIGHTED Project Gutenberg Etext",
        ),
        (
            "This is a *copyrighted* Project\nGutenberg eBook, details below.",
            "This is a *copyrighted* Project Gutenberg eBook",
        ),
        (
            "***START**THE SMALL PRINT!**FOR COPYRIGHT PROTECTED ETEXTS**START***",
            "FOR COPYRIGHT PROTECTED ETEXTS",
        ),
        ("This eBook is copyrighted, see below.", "This eBook is copyrighted"),
        (
            "Copyright Status: Copyrighted. Read the notice inside.",
            "Copyright Status: Copyrighted",
        ),
        ("Copyright (C) 2004 by Ann Bell.", "Copyright (C) 2004 by Ann Bell."),
        ("Copyright © Ann Bell", "Copyright © Ann Bell"),
        ("  [Copyright 1994 by Ann Bell]", "Copyright 1994 by Ann Bell]"),
    ],
)
def test_a_header_says_that_a_work_is_in_copyright(header, said):
    assert rights(header) == said


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Copyright laws are changing all over the world, be sure to check\nthe copyright laws",
        "Copyright 1908 by Harper and Bell",
        "Copyright (C) 1908, 1912 by Harper and Bell",
        "This eBook is not copyrighted in the United States",
        "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***",
    ],
)
def test_other_headers_say_nothing(header):
    assert rights(header) == ""


@pytest.mark.parametrize(
    "footer",
    [
        "This particular work is one of the few copyrighted individual works\nincluded with the "
        "permission of the copyright holder.",
        "This particular work is one of the few individual works protected\nby copyright law in "
        "the United States.",
    ],
)
def test_a_licence_says_that_a_work_is_in_copyright(footer):
    assert rights(footer=footer).startswith("This particular work is one of the few")


@pytest.mark.parametrize("name", ["dcterms.rights", "DC.Rights", "PG.Rights"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Copyrighted. Read the copyright notice inside this book for details.", "Copyrighted"),
        ("Public domain in the USA.", ""),
        ("Dit boek is vrij van auteursrechten in de Verenigde Staten.", ""),
    ],
)
def test_metadata_say_that_a_work_is_in_copyright(name, content, said):
    assert rights(meta=f'<meta name="{name}" content="{content}">') == said


def test_the_copyright_page_of_the_printed_book_says_nothing():
    assert rights(page="COPYRIGHT, 1908, BY ANN BELL<br>Copyright (C) 1994 by A. Bell") == ""
    assert rights(page="This is a COPYRIGHTED Project Gutenberg eBook, she read.") == ""


def test_a_notice_below_the_start_line_of_one_text_block_is_that_of_the_book():
    html = BOOK.format(header="", footer="", meta="", page="A tale").replace(
        "FERRY ***\n</pre>", "FERRY ***\nCopyright (C) 1994 by A. Bell\n</pre>", 1
    )
    assert "1994" in html
    assert parse_book(html.encode(), "7").rights == ""


def test_a_text_without_a_start_line_has_no_header():
    assert find_copyright("", "", "") == ""
    html = b"<html><body><p>Copyright (C) 1994 by A. Bell</p><p>The ferry was gone.</p></body>"
    assert parse_book(html, "7").rights == ""


# Peter Pan: its header and its licence say so.
IN_COPYRIGHT = {"16-h.htm"}
FEW = {"16-h.htm", "24-h.htm", "pg11-images.html"}


@needs_books
@pytest.mark.parametrize(
    "file", [pytest.param(f, marks=[] if f in FEW else pytest.mark.slow) for f in FILES]
)
def test_of_the_real_books_those_that_say_so_are_in_copyright(file):
    assert (BOOKS / file).is_file()
    assert bool(real_book(file).rights) == (file in IN_COPYRIGHT)
