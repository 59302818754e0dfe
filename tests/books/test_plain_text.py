"""Plain text in Gutenberg's layouts -> the text blocks that HTML gives."""

from textwrap import fill

import pytest
from helpers import DATA, cpu_seconds
from hypothesis import given
from hypothesis import strategies as st

from miner.books.book import parse_book
from miner.books.forms import read_page
from miner.errors import InputError
from miner.speech.read import parse_spans

PROSE = (
    "The lamp had been lit before six, and nobody could say who had lit it; but there it burned, "
    "and below it the gate stood open, as if somebody had gone out to the ferry in a hurry."
)
HEADER = """The Project Gutenberg EBook of The Lamp at the Ferry, by Anna Weil

This eBook is for the use of anyone anywhere at no cost and with
almost no restrictions whatsoever.  You may copy it, give it away or
re-use it under the terms of the Project Gutenberg License included
with this eBook or online at www.gutenberg.org


Title: The Lamp at the Ferry
       A Tale

Author: Anna Weil

Release Date: May 3, 2004 [EBook #9998]
Language: English

Character set encoding: ASCII

*** START OF THIS PROJECT GUTENBERG EBOOK THE LAMP AT THE FERRY ***




Produced by Nobody at all




THE LAMP AT THE FERRY

By Anna Weil




CONTENTS

   I. The Gate             3
  II. "Come Over!"        21
 III. Home                40




CHAPTER I.

THE GATE


"""
FOOTER = """




End of the Project Gutenberg EBook of The Lamp at the Ferry, by Anna Weil

*** END OF THIS PROJECT GUTENBERG EBOOK THE LAMP AT THE FERRY ***

***** This file should be named 9998.txt or 9998.zip *****
"""


def text_blocks(text: str):
    return read_page(text.encode()).text_blocks


def texts(text: str) -> list[str]:
    return [block.text for block in text_blocks(text)]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parse_book(text.encode(), "7").blocks]


def wrapped(*paragraphs: str, width: int = 72, **options) -> str:
    return "\n\n".join(fill(paragraph, width, **options) for paragraph in paragraphs) + "\n"


def test_wrapped_lines_are_paragraphs():
    assert texts(wrapped(PROSE, "“Yes,” he said.", PROSE)) == [PROSE, "“Yes,” he said.", PROSE]


def test_a_whole_book():
    book = parse_book((HEADER + wrapped(PROSE, PROSE) + FOOTER).encode(), "9998")
    assert (book.title, book.author, book.language) == (
        "The Lamp at the Ferry A Tale",
        "Anna Weil",
        "en",
    )
    assert [(block.kind.value, block.chapter, block.text) for block in book.blocks] == [
        ("heading", 0, "THE LAMP AT THE FERRY"),
        ("heading", 0, "By Anna Weil"),
        ("heading", 0, "CONTENTS"),
        ("entry", 0, "I. The Gate 3"),
        ("entry", 0, 'II. "Come Over!" 21'),
        ("entry", 0, "III. Home 40"),
        ("heading", 1, "CHAPTER I."),
        ("heading", 1, "THE GATE"),
        ("paragraph", 1, PROSE),
        ("paragraph", 1, PROSE),
    ]
    assert dict(book.drops)["credits"] == 5
    assert book.warnings == ()


ERAS = {
    "1991": (
        "**The Project Gutenberg Etext of The Lamp, by Anna Weil**\n\n"
        "Copyright laws are changing all over the world, be sure to check\n"
        "the laws for your country before redistributing these files!!!\n\n"
        "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n",
        "\nEnd of Project Gutenberg Etext of The Lamp, by Anna Weil\n",
    ),
    "2004": (
        "The Project Gutenberg EBook of The Lamp, by Anna Weil\n\n"
        "Title: The Lamp\nAuthor: Anna Weil\nLanguage: English\n\n"
        "***START OF THE PROJECT GUTENBERG EBOOK THE LAMP***\n",
        "\n***END OF THE PROJECT GUTENBERG EBOOK THE LAMP***\n",
    ),
    "2022": (
        "\ufeffThe Project Gutenberg eBook of The Lamp\n    \n"
        "This ebook is for the use of anyone anywhere in the United States.\n\n"
        "Title: The Lamp\n\n\nAuthor: Anna Weil\n\nRelease date: May 3, 2022 [eBook #9998]\n\n"
        "Language: English\n\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE LAMP ***\n",
        "\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE LAMP ***\n\nUpdated editions will replace "
        "the previous one.\n",
    ),
}


@pytest.mark.parametrize("era", ERAS)
def test_headers_and_footers_of_every_era(era):
    header, footer = ERAS[era]
    book = parse_book((header + "\n\n" + wrapped(PROSE, PROSE) + footer).encode(), "9998")
    assert (book.title, book.author) == ("The Lamp", "Anna Weil")
    assert [block.text for block in book.blocks] == [PROSE, PROSE]


def test_a_text_right_below_a_long_start_line():
    start = "*** START OF THE PROJECT GUTENBERG EBOOK THE LAMP\nAT THE FERRY ***\nThe lamp was lit."
    found = parse_book(f"Title: The Lamp\n\n{start}\n\n{PROSE}\n".encode(), "7")
    assert [block.text for block in found.blocks] == ["The lamp was lit.", PROSE]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("It was _very_ late.", "It was very late."),
        ("“_You_ did it!” _he_ said.", "“You did it!” he said."),
        ("vor_stellen_?", "vorstellen?"),
        ("_He went\nout_ again.", "He went out again."),
        ("Mr. ____ came on __ May.", "Mr. ____ came on __ May."),
        ("It was =very= +late+.", "It was very late."),
        ("*So* he said. 2 + 2 = 4 = 2 + 2.", "So he said. 2 + 2 = 4 = 2 + 2."),
        ("It was late--very late.", "It was late—very late."),
        ("Lady B---- was there.", "Lady B—— was there."),
        ("It was the well-\nknown man.", "It was the well-known man."),
        ("two- \nor threefold", "two- or threefold"),
        ("He came.[1] She[A] went.", "He came. She went."),
        ("He came. [Pg 12] She went.", "He came. She went."),
        ("The house[Footnote: An inn.] was cold.", "The house was cold."),
    ],
)
def test_marks_of_the_layout_are_not_in_the_text(printed, expected):
    assert texts(f"{PROSE}\n\n{printed}\n")[1] == expected


def test_a_dash_at_the_end_of_a_line_is_set_as_in_the_book():
    tight = "It was late--very late--and cold.\n\nHe said--\nno more.\n"
    assert texts(tight)[1] == "He said—no more."
    loose = "It was late -- very late -- and cold.\n\nHe said --\nno more.\n"
    assert texts(loose)[1] == "He said — no more."
    mixed = "It was late--very late-- And-- That--so cold.\n\nHe said--\nThen no more.\n"
    assert texts(mixed)[1].replace("\n", " ") == "He said— Then no more."


def test_a_row_of_stars_is_a_break():
    page = read_page(f"{PROSE}\n\n       *       *       *\n\nOn.\n".encode())
    assert [block.text for block in page.text_blocks] == [PROSE, "* * *", "On."]
    assert [block.after_break for block in page.text_blocks] == [False, True, False]


VERSE = "Half the world goes by my door,\nAnd none of it is mine."


@pytest.mark.parametrize(
    "printed",
    [
        "    Half the world goes by my door,\n    And none of it is mine.\n",
        "  Half the world goes by my door,\n      And none of it is mine.\n",
        "          _Half the world goes by my door,_\n          _And none of it is mine._\n",
    ],
)
def test_indented_short_lines_are_verse(printed):
    before, verse, after = text_blocks(f"{wrapped(PROSE)}\n{printed}\n{wrapped(PROSE)}")
    assert (verse.text, verse.region) == (VERSE, "verse")
    assert (before.text, after.text) == (PROSE, PROSE)


def test_verse_without_indent_is_known_by_its_lines():
    song = "Ring loud, O bell,\nRing low, O bell,\nRing till the ferry come."
    assert kinds(f"{wrapped(PROSE)}\n{song}\n\n{wrapped(PROSE)}")[1] == ("verse", song)


def test_indented_prose_is_a_quotation_and_may_be_a_letter():
    letter = "My dear Anna, " + PROSE
    printed = wrapped(letter, initial_indent="    ", subsequent_indent="    ", width=64)
    found = text_blocks(f"{wrapped(PROSE)}\n{printed}\n{wrapped(PROSE)}")
    assert (found[1].region, found[1].text) == ("blockquote", letter)
    assert kinds(f"{wrapped(PROSE)}\n{printed}")[1][0] == "letter"


def test_the_indent_of_all_lines_and_of_first_lines_means_nothing():
    everywhere = wrapped(PROSE, "“Yes.”", initial_indent="     ", subsequent_indent="     ")
    assert [(block.text, block.region) for block in text_blocks(everywhere)] == [
        (PROSE, ""),
        ("“Yes.”", ""),
    ]
    first = wrapped(PROSE, "“Yes.”", PROSE, initial_indent="   ")
    assert [block.region for block in text_blocks(first)] == ["", "", ""]


@pytest.mark.parametrize(
    "printed",
    [
        wrapped(PROSE, "“Yes,” he said.", PROSE).replace("\n", "\r\n"),
        wrapped(PROSE, "“Yes,” he said.", PROSE).replace("\n", "\r\r\n"),
        wrapped(PROSE, "“Yes,” he said.", PROSE).replace("\n", "\r"),
        wrapped(PROSE, "“Yes,” he said.", PROSE).replace("\n\n", "\n\n\n"),
        wrapped(PROSE, "“Yes,” he said.", PROSE).replace("\n\n", "\n \t\n"),
        f"{PROSE}\n\n“Yes,” he said.\n\n{PROSE}\n",
        f"{PROSE}\n“Yes,” he said.\n{PROSE}",
        wrapped(PROSE, "“Yes,” he said.", PROSE, initial_indent="  ").replace("\n\n", "\n"),
    ],
)
def test_paragraphs_are_the_same_in_every_layout(printed):
    assert texts(printed) == [PROSE, "“Yes,” he said.", PROSE]


def test_headings_are_known_by_gaps_and_words():
    printed = (
        "THE LAMP\n\n\n\n\nCHAPTER I.\nIn Which It Is Late\n\n\n"
        + wrapped(PROSE, "“WHAT!” he said.", "BEWARE OF THE BULL", PROSE)
        + "\n\n\n\nCHAPTER II\n\n\n“Come!” she cried.\n\n"
        + wrapped(PROSE)
        + "\n\n“Well?”\n\nHe went--\n\n\n\n\nEPILOGUE\n\n\n"
        + wrapped(PROSE)
    )
    found = [(kind, text) for kind, text in kinds(printed) if text != PROSE]
    assert found == [
        ("heading", "THE LAMP"),
        ("heading", "CHAPTER I. In Which It Is Late"),
        ("paragraph", "“WHAT!” he said."),
        ("paragraph", "BEWARE OF THE BULL"),
        ("heading", "CHAPTER II"),
        ("paragraph", "“Come!” she cried."),
        ("paragraph", "“Well?”"),
        ("paragraph", "He went—"),
        ("heading", "EPILOGUE"),
    ]
    assert parse_book(printed.encode(), "7").n_chapters == 3


def test_a_chapter_with_a_quoted_title_and_one_without_a_gap():
    printed = (
        f'\n\n\nCHAPTER I\n\n"COME OVER!"\n\n\n{wrapped(PROSE, PROSE)}'
        f"\nCHAPTER II\n\n{wrapped(PROSE, PROSE)}\n\n\n\nCHAPTER III\n\n\n{wrapped(PROSE)}"
    )
    book = parse_book(printed.encode(), "7")
    assert [block.text for block in book.blocks if block.kind == "heading"] == [
        "CHAPTER I",
        '"COME OVER!"',
        "CHAPTER II",
        "CHAPTER III",
    ]
    assert book.n_chapters == 3


def test_numbers_of_sections_begin_no_chapter():
    section = f"\n\n\n2\n\n\n{wrapped(PROSE, PROSE)}"
    chapters = "".join(
        f"\n\n\n\nCHAPTER {n}\n\n\n{wrapped(PROSE)}{section}" for n in ("I", "II", "III")
    )
    assert parse_book(chapters.encode(), "7").n_chapters == 3


def test_a_table_of_contents_ends_at_the_first_chapter():
    contents = "CONTENTS\n\nThe Gate\n\n“Come Over!”\n\nIn which it is late and they go home\n"
    speech = "“Are you there?” he said.\n\n“No.”\n"
    for start in ("\n\n\n\nTHE GATE\n\n\n", "\n\n\nI\n\nThe Gate\n\n\n"):
        found = kinds(f"{contents}{start}{speech}\n{wrapped(PROSE)}")
        assert [kind for kind, _ in found][1:4] == ["entry"] * 3
        assert [text for kind, text in found if kind == "paragraph"] == [
            "“Are you there?” he said.",
            "“No.”",
            PROSE,
        ]


def test_pictures_and_notes_in_brackets_are_kinds_of_their_own():
    printed = (
        f"{wrapped(PROSE)}\n[Illustration]\n\n[Illustration: “Who’s there?”\n\n_By A. Weil_]\n\n"
        f"[Illustration: The Bell]\nThe bell rang.[1]\n\n[Footnote 1: “A bell,” says Weil.\n\n"
        f"“It rang.”]\n\n[2] “Another.”\n\n[and he went]\n\n{wrapped(PROSE)}"
    )
    assert kinds(printed)[1:-1] == [
        ("caption", "[Illustration]"),
        ("caption", "[Illustration: “Who’s there?”"),
        ("caption", "By A. Weil]"),
        ("caption", "[Illustration: The Bell]"),
        ("paragraph", "The bell rang."),
        ("footnote", "[Footnote 1: “A bell,” says Weil."),
        ("footnote", "“It rang.”]"),
        ("footnote", "[2] “Another.”"),
        ("paragraph", "[and he went]"),
    ]


def test_a_picture_within_a_paragraph_comes_after_it():
    printed = f"{wrapped(PROSE)}\nHe rang\n[Illustration: The Bell]\nand went.\n"
    assert texts(printed)[1:] == ["He rang and went.", "[Illustration: The Bell]"]


def test_an_anchor_apart_from_its_word_needs_a_note():
    printed = "He was nesh [1] and old [2].\n\n[Footnote 1: Tender.]\n"
    assert texts(printed)[0] == "He was nesh and old [2]."


def test_a_bracket_that_is_not_closed_holds_one_paragraph():
    found = kinds(f"[Illustration: The Bell\n\n{wrapped(*[PROSE] * 70)}")
    assert [kind for kind, _ in found] == ["caption"] + ["paragraph"] * 70


def test_a_transcribers_note_is_left_out():
    box = (
        "+-----------------------+\n| Transcriber’s Note:    |\n|                       |\n"
        "| “Colour” is kept.     |\n+-----------------------+\n"
    )
    bracket = "[Transcriber’s Note: “Colour” is kept.\n\n“Gray” is, too.]\n"
    heading = "\n\nTranscriber’s Note\n\n“Colour” is kept.\n"
    book = wrapped(*[PROSE] * 3)
    for printed in (f"{box}\n\n{book}", f"{bracket}\n\n{book}", f"{book}{heading}"):
        found = parse_book(printed.encode(), "7")
        assert [block.text for block in found.blocks] == [PROSE] * 3
        assert "transcriber's note" in dict(found.drops)


@pytest.mark.parametrize("file", ["classic_pre.htm", "rst_era.htm", "multi_paragraph.html"])
def test_a_text_gives_the_utterances_of_its_html(file):
    html = parse_spans((DATA / file).read_bytes(), "7")
    spoken = [
        fill(block.text.replace("—", "--"), 72, break_on_hyphens=False)
        if block.kind != "heading"
        else f"\n\n\n{block.text}\n\n"
        for block in html.book.blocks
        if block.kind in ("paragraph", "heading")
    ]
    text = parse_spans("\n\n".join(spoken).encode(), "7")

    def utterances(book_spans):
        kinds = {block.index: block.kind for block in book_spans.book.blocks}
        return [
            span.text.replace("--", "—")
            for span in book_spans.spans
            if span.is_utterance and kinds[span.paragraph] == "paragraph"
        ]

    assert utterances(text) == utterances(html)
    assert len(utterances(text)) > 5


@pytest.mark.parametrize(
    ("encoding", "named"), [("utf-8", ""), ("latin-1", "ISO-8859-1"), ("iso-8859-2", "ISO-8859-2")]
)
def test_encodings(encoding, named):
    line = f"Character set encoding: {named}\n\n" if named else ""
    text = "„Őrült!”" if encoding == "iso-8859-2" else "«Été»"
    text = text.replace("„", '"').replace("”", '"')
    assert texts(line + "x")[-1] == "x"
    found = read_page((f"{line}\n\n{text} {PROSE}\n").encode(encoding)).text_blocks
    assert found[-1].text == f"{text} {PROSE}"


words = st.text(alphabet="ab“”—é", min_size=1, max_size=4)


@given(st.lists(st.lists(words, min_size=1, max_size=30), min_size=1, max_size=5))
def test_no_word_is_lost_or_glued(paragraphs):
    printed = "\n\n".join(fill(" ".join(words), 40) for words in paragraphs)
    found = " ".join(" ".join(texts(printed)).split())
    assert found.replace(" ", "") == "".join("".join(words) for words in paragraphs)


# Texts that only a machine writes


def test_a_text_with_too_many_lines_is_refused():
    with pytest.raises(InputError) as failure:
        read_page(b"x\n" * 1_500_000)
    assert str(failure.value) == (
        "the file has 1,500,001 lines, expected a book of at most 1,500,000"
    )


def test_one_line_without_a_newline_is_a_paragraph():
    (block,) = text_blocks("“One,” he said. " * 20_000)
    assert len(block.text) == len("“One,” he said. ") * 20_000 - 1


FORMS = (
    "[Illustration: ",
    "[Illustration: a\n\n",
    "[Illustration] x\n\n",
    "CONTENTS\n\n\n",
    "[Footnote 1: a [b\n",
    "CHAPTER I\n\n\n",
    " _x",
    "..........",
    '."',
    "| x |\n",
    "One--\n",
    "\n \n\n",
    "*** START OF THE PROJECT GUTENBERG\n\n",
    "          ",
    "x\n",
)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_time_is_linear_in_the_size_of_a_text(form):
    def seconds(n: int) -> float:
        data = ("Late.\n\n" + form * n + "x").encode()
        return cpu_seconds(lambda: read_page(data))

    once = max(seconds(2_000), 0.02)
    assert seconds(16_000) < 8 * 4 * once
