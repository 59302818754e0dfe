"""Licence texts of every era are dropped and counted, and the book stays."""

import re

import pytest
from helpers import BOOKS, DATA, needs_books
from hypothesis import given, settings
from hypothesis import strategies as st
from real import FILES, real_book

from miner.books.boilerplate import find_copyright, strip_boilerplate
from miner.books.book import parse_book
from miner.books.forms import read_page
from miner.books.page import count_words
from miner.errors import InputError

# The book itself, and texts as long as real licences that speak of what licences speak of.
STORY = [
    "There was a ferry at Oxney, and a ferryman who could not count.",
    "“Two of us to-night, Gaffer,” said the pedlar.",
    "“Then ’tis two journeys,” the old man said.",
]
BOOK = "".join(f"<p>{paragraph}</p>" for paragraph in STORY)
CLAUSE = "Here the Project Gutenberg licence says what it has to say. "
LICENCE = "\n\n".join(f"{n}. " + CLAUSE * 20 for n in range(15))
SMALL_PRINT = "\n\n".join(
    "This etext is in the public domain, so far as anyone knows. " * 9 for _ in "x" * 20
)


def body_of(html: str):
    return strip_boilerplate(read_page(html.encode()))


def kept(html: str) -> list[str]:
    return [block.text for block in body_of(html).text_blocks]


def n_words(html: str) -> int:
    return sum(count_words(block.text) for block in read_page(html.encode()).text_blocks)


def fill(n: int) -> str:
    """Paragraphs of a story, `n` words in all."""
    return "".join(f"<p>{'He went on and said no more. ' * 5}</p>" for _ in range(n // 35))


START = "*** START OF THIS PROJECT GUTENBERG EBOOK OXNEY ***"
END = "*** END OF THIS PROJECT GUTENBERG EBOOK OXNEY ***"
SMALL_PRINT_END = "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*"


def header(start: str) -> str:
    top = "The Project Gutenberg EBook of Oxney\n\nTitle: Oxney"
    return f"<pre>{top}\n\n{start}\n\n\nProduced by A. B.\n</pre>"


def footer(end: str) -> str:
    return f"<pre>\n{end}\n\n{LICENCE}</pre>"


HEADERS = {
    "pre": header(START),
    "pre, THE": header(START.replace("THIS", "THE")),
    "no spaces": header("***START OF THE PROJECT GUTENBERG EBOOK OXNEY***"),
    "two lines": header("*** START OF THIS PROJECT GUTENBERG EBOOK OXNEY,\nOR THE FERRY ***"),
    "small print": f"<pre>The Project Gutenberg Etext of Oxney\n\n***START**THE SMALL PRINT!**FOR "
    f"PUBLIC DOMAIN ETEXTS**START***\n{SMALL_PRINT}\n\n{SMALL_PRINT_END}\n\n</pre>",
    "small print and START": f"<pre>The Project Gutenberg Etext of Oxney\n\n{SMALL_PRINT}\n\n"
    f"{SMALL_PRINT_END}\n\n{START}</pre>",
    "RST": '<div class="container language-en pgheader" id="pg-header"><p><span>Title: Oxney<br />'
    '<br />Language: English</span></p><p id="pg-start-line"><span>*** START OF THIS PROJECT '
    "GUTENBERG EBOOK </span><span>OXNEY</span><span> ***</span></p><p><span>Produced by A. B."
    "</span></p></div>",
    "section": '<section class="pg-boilerplate pgheader" id="pg-header"><h2>The Project Gutenberg '
    'eBook of Oxney</h2><div id="pg-machine-header"><p><strong>Title</strong>: Oxney</p></div>'
    f'<div id="pg-start-separator"><span>{START}</span></div></section>',
    "header": '<header id="pg-header"><h2>The Project Gutenberg eBook of Oxney</h2><p><strong>'
    f'Title</strong>: Oxney</p><div id="pg-start-separator">{START}</div></header><main>',
    "region without a line": '<div class="pg_boilerplate"><p>Title: Oxney</p></div>',
    "none": "",
}
FOOTERS = {
    "pre": footer(END),
    "pre, THE": footer("***END OF THE PROJECT GUTENBERG EBOOK OXNEY***"),
    "End of, and END": footer(f"End of Project Gutenberg's Oxney, by Anonymous\n\n{END}"),
    "End of the": footer("End of the Project Gutenberg EBook of Oxney, by Anonymous"),
    "End of The Etext": "<p>End of The Project Gutenberg Etext of Oxney</p>",
    "End of this etext": "<p>End of this Etext</p>",
    "German": footer("Ende dieses Projekt Gutenberg Etextes Oxney"),
    "French": footer("Fin du Projet Gutenberg de Oxney"),
    "RST": '<p id="pg-end-line"><span>*** END OF THIS PROJECT GUTENBERG EBOOK </span><span>OXNEY'
    '</span></p><div class="pgfooter section" id="a-word"><span id="pg-footer"></span><h2>A Word'
    f"</h2><p>Of the last.</p></div><div><p>{CLAUSE * 30}</p></div>",
    "section": '<section class="pg-boilerplate pgheader" id="pg-footer"><div '
    f'id="pg-end-separator"><span>{END}</span></div><p>{CLAUSE * 30}</p></section>',
    "none": "",
}


@pytest.mark.parametrize("last", FOOTERS)
@pytest.mark.parametrize("first", HEADERS)
def test_licences_of_every_era_are_dropped_and_the_book_stays(first, last):
    html = f"<html><body>{HEADERS[first]}{BOOK}{FOOTERS[last]}</body></html>"
    body = body_of(html)
    assert [block.text for block in body.text_blocks] == STORY
    assert body.drops.total() == n_words(html) - n_words(BOOK)
    assert set(body.drops) <= {"licence", "credits"}


def test_a_story_right_below_the_start_line_is_kept():
    html = f"<pre>\n{START}\nThere was a ferry\nat Oxney.\n\nAnd a man.\n</pre>{fill(70)}"
    assert kept(html)[:2] == ["There was a ferry\nat Oxney.", "And a man."]
    assert dict(body_of(html).drops) == {"licence": 9}


def test_a_title_in_two_lines_goes_with_its_line_and_the_text_below_it_stays():
    start = START.replace(" ***", ",\nOR, THE FERRY ***")
    assert kept(f"<pre>{start}\nThere was\na ferry</pre>{fill(70)}")[0] == "There was\na ferry"


@pytest.mark.parametrize(
    "text",
    [
        "I read it on Project Gutenberg, he said, in the public domain.",
        "The START OF THE PROJECT GUTENBERG is a story by itself.",
        "At the end of Project Gutenberg's road there was a gate.",
        "*** The end ***",
    ],
)
def test_a_book_that_mentions_the_project_loses_nothing(text):
    html = f"{HEADERS['pre']}{fill(700)}<p>{text}</p>{fill(700)}{FOOTERS['pre']}"
    assert n_words("".join(f"<p>{paragraph}</p>" for paragraph in kept(html))) == n_words(
        fill(700) + f"<p>{text}</p>" + fill(700)
    )


@pytest.mark.parametrize("n", [560, 2100, 6300, 14000])
@pytest.mark.parametrize("tail", ["", FOOTERS["pre"]])
@pytest.mark.parametrize(
    "marker",
    [
        "<p>End of the Project Gutenberg EBook of the First Tale</p>",
        "<p>*** END OF THIS PROJECT GUTENBERG EBOOK THE FIRST TALE ***</p>",
        HEADERS["pre"],
    ],
)
def test_a_collection_with_a_marker_in_its_middle_keeps_all_its_tales(marker, tail, n):
    html = f"{HEADERS['pre']}{fill(n)}{marker}{fill(n)}{tail}"
    stories = [text for text in kept(html) if text.startswith("He went")]
    assert sum(map(count_words, stories)) == 2 * n


def test_a_short_tale_between_two_markers_is_kept():
    end = "<p>End of the Project Gutenberg EBook of the First Tale</p>"
    for html in (
        f"{HEADERS['pre']}{fill(105)}{HEADERS['pre']}{fill(700)}",
        f"{HEADERS['pre']}{fill(700)}{end}{fill(105)}{FOOTERS['pre']}",
    ):
        stories = [text for text in kept(html) if text.startswith("He went")]
        assert sum(map(count_words, stories)) == 805


def test_notes_of_half_the_book_are_refused():
    html = f'{fill(1750)}<div class="transnote">{fill(3500)}</div>{fill(1750)}'
    with pytest.raises(
        InputError, match=r"^3,500 of the 7,000 words .* \(transcriber's note 3,500\)"
    ):
        body_of(html)


def test_a_story_shorter_than_its_licence_is_kept():
    html = f"{HEADERS['small print']}{BOOK}{FOOTERS['pre']}"
    assert n_words(html) > 100 * n_words(BOOK)
    assert kept(html) == STORY


@pytest.mark.parametrize(
    "credit",
    [
        "Produced by A. Volunteer and the Online Distributed Proofreading Team",
        "E-text prepared by A. Volunteer",
        "Etext revised by A. Volunteer",
        "This eBook was produced by A. Volunteer.",
        "This etext was prepared from the 1884 edition",
        "Transcribed from the 1884 edition by A. Volunteer",
        "HTML version by A. Volunteer",
        "Scanned and proofed by A. Volunteer",
        "Special thanks to A. Volunteer",
        "[This file was first posted in May]",
    ],
)
def test_credits_at_the_front_are_dropped(credit):
    body = body_of(f"{HEADERS['section']}<p>{credit}</p>{fill(700)}")
    assert body.drops["credits"] == len(credit.split())
    assert body.text_blocks[0].text.startswith("He went")


@pytest.mark.parametrize(
    "sentence",
    [
        "“Many thanks,” said the pedlar, and stepped into the boat.",
        "Scanned closely, the verse of Oxney’s poet had no feet.",
        "“Special thanks, Gaffer,” he said.",
        "This book was his father’s.",
    ],
)
def test_sentences_that_begin_like_credits_stay(sentence):
    assert kept(f"<h1>Oxney</h1><p>{sentence}</p>{fill(700)}")[1] == sentence


def test_credits_further_down_are_text():
    sentence = "Produced by the ferryman, the penny was looked at."
    assert sentence in kept(f"{BOOK * 4}<p>{sentence}</p>{fill(700)}")


@pytest.mark.parametrize(
    "note",
    [
        '<div class="transnote"><p>Obvious errors were mended.</p></div>',
        '<div class="tnote"><h3>Note</h3><p>Obvious errors were mended.</p></div>',
        '<div class="mynote"><p>Obvious errors were mended.</p></div>',
        '<div id="transcriber-notes"><p>Obvious errors were mended.</p></div>',
        "<h2>Transcriber’s Notes</h2><p>Obvious errors were mended.</p><p>So were others.</p>",
        "<h2>TRANSCRIBER'S NOTE:</h2><ul><li>Obvious errors were mended.</li></ul>",
        "<p><b>Transcriber’s note:</b></p><p>Obvious errors were mended.</p>",
        "<p>Transcriber’s Note: obvious errors were mended.</p>",
        "<p>[Transcriber's note: obvious errors were mended.]</p>",
        "<p>*Transcriber's note. This referred to a page.</p>",
        "<h3>Anmerkungen zur Transkription</h3><p>Druckfehler wurden verbessert.</p>",
        "<h3>Note du transcripteur</h3><p>Des fautes ont été corrigées.</p>",
        "<h3>Nota del transcriptor</h3><p>Las erratas han sido corregidas.</p>",
        "<h3>Opmerkingen van de bewerker</h3><p>Drukfouten zijn verbeterd.</p>",
        "<h3>Megjegyzések</h3><p>A hibákat javítottuk.</p>",
    ],
)
def test_transcribers_notes_are_dropped_up_to_the_next_heading(note):
    html = f"<h2>I</h2>{fill(700)}{note}<h2>II</h2>{fill(700)}"
    body = body_of(html)
    assert dict(body.drops) == {"transcriber's note": n_words(note)}
    assert sum(count_words(block.text) for block in body.text_blocks) == 1402


@pytest.mark.parametrize(
    "text",
    [
        "<p>Transcribers were paid by the page, and Nat was one.</p>",
        "<h2>The Transcriber</h2><p>His note was short.</p>",
        "<h2>Notes from a Ferry</h2><p>The river was high.</p>",
        "<p>“Transcriber’s note,” he read out.</p>",
        "<h2>Notes</h2><p>[1] A ferry is a boat.</p>",
    ],
)
def test_what_only_sounds_like_a_note_stays(text):
    html = f"<h2>I</h2>{fill(700)}{text}<h2>II</h2>{fill(700)}"
    assert not body_of(html).drops


def test_words_of_the_page_are_words_kept_and_words_dropped():
    note = '<div class="transnote"><p>Obvious errors were mended.</p></div>'
    credit = "<p>Produced by A. B.</p>"
    html = f"{HEADERS['pre']}{credit}{fill(1400)}{note}{FOOTERS['pre']}"
    body = body_of(html)
    n_kept = sum(count_words(block.text) for block in body.text_blocks)
    assert n_kept == 1400
    assert body.drops["credits"] == 8
    assert body.drops["transcriber's note"] == 4
    assert n_words(html) == n_kept + body.drops.total()


def test_drops_of_the_page_are_added_but_are_in_no_text_block():
    html = f'{fill(700)}<p>One<span class="pagenum">[Pg 3]</span> two.<sup>1</sup></p>'
    assert dict(body_of(html).drops) == {"page numbers": 2, "footnote anchors": 1}


PARTS = [*HEADERS.values(), *FOOTERS.values(), BOOK, fill(105), fill(1400)]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=5))
def test_in_any_order_every_word_is_counted_and_no_long_tale_is_lost(parts):
    html = "<html><body>" + "".join(parts)
    try:
        body = body_of(html)
    except ValueError as error:
        assert "would be dropped" in str(error)
        return
    texts = [block.text for block in body.text_blocks]
    words = [(text.startswith("He went"), count_words(text)) for text in texts]
    assert n_words(html) == sum(n for _, n in words) + body.drops.total()
    assert sum(n for is_tale, n in words if is_tale) >= 1400 * parts.count(fill(1400))


def test_a_long_chapter_called_transcribers_notes_is_refused():
    html = f"<h2>I</h2>{fill(7000)}<h2>Transcriber’s Notes</h2>{fill(3010)}<h2>III</h2>{fill(35)}"
    with pytest.raises(InputError) as caught:
        body_of(html)
    assert str(caught.value) == (
        "3,012 of the 10,049 words between the licence texts would be dropped (transcriber's note "
        "3,012), expected at most a fifth"
    )


def test_at_most_a_fifth_may_be_dropped():
    def html(n: int) -> str:
        return (
            f'{HEADERS["section"]}{fill(8050)}<div class="tn">{fill(n)}</div>{FOOTERS["section"]}'
        )

    assert body_of(html(1995)).drops["transcriber's note"] == 1995
    with pytest.raises(InputError, match=r"^2,030 of the 10,080 words"):
        body_of(html(2030))


def test_words_lost_in_unclosed_markup_are_dropped_words():
    def html(n: int, end: str) -> str:
        return f"{HEADERS['section']}{fill(8050)}<!-- {fill(n)}{end}{footer(END)}"

    drops = body_of(html(1750, " -->")).drops
    assert drops["unclosed markup"] == pytest.approx(1750, abs=9)
    with pytest.raises(
        InputError, match=r"would be dropped \(licence .*, unclosed markup 2,4\d\d\)"
    ):
        body_of(html(2450, " -->"))
    # Where it is not closed at all, most of what is lost is the licence.
    drops = body_of(html(1400, "")).drops
    assert drops["licence"] < 20 and drops["unclosed markup"] > 4_000
    with pytest.raises(InputError, match=r"dropped \(unclosed markup [\d,]*, licence \d\d\)"):
        body_of(html(2800, ""))


def test_fields_of_the_header_in_every_layout():
    lines = "Title: The Ferry,\n  or Oxney\n\nAuthor: A. B.\n\nDate: May, 1997\nLanguage: German\n"
    assert body_of(f"<pre>{lines}{START}</pre>{BOOK}").fields == {
        "title": "The Ferry, or Oxney",
        "author": "A. B.",
        "language": "German",
    }
    assert body_of(HEADERS["section"] + BOOK).fields == {"title": "Oxney"}
    assert body_of(HEADERS["RST"] + BOOK).fields == {"title": "Oxney", "language": "English"}
    assert body_of(BOOK + "<p>He said: Title: none.</p>").fields == {}


@pytest.mark.parametrize("path", sorted(DATA.glob("*.htm*")), ids=lambda path: path.name)
def test_no_word_of_a_licence_is_left_in_a_file(path):
    body = strip_boilerplate(read_page(path.read_bytes()))
    text = "\n".join(block.text for block in body.text_blocks)
    assert not re.search(r"Gutenberg|stand-in|licence|Volunteer|Small Print", text, re.IGNORECASE)
    assert text


BOOK_RIGHTS = """<html><head><title>The Ferry</title>{meta}</head><body>
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
    html = BOOK_RIGHTS.format(header=header, footer=footer, meta=meta, page=page)
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
        ("Copyright Status: Copyrighted. Read the notice inside.", "Copyright Status: Copyrighted"),
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
    html = BOOK_RIGHTS.format(header="", footer="", meta="", page="A tale").replace(
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
