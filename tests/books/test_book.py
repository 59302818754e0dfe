"""Bytes of a file -> blocks with their kinds and chapters."""

import hashlib
from collections import Counter

import pytest
from helpers import DATA, SAMPLE, read_file
from hypothesis import given
from hypothesis import strategies as st

from miner.books.book import Block, BlockKind, parse_book
from miner.errors import InputError

PROSE = "The lamp had been lit before six, and nobody could say who had lit it. " * 5


def book(body: str, head: str = ""):
    return parse_book(f"<html><head>{head}</head><body>{body}</body></html>".encode(), "7")


def blocks(body: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in book(body).blocks]


def kinds(body: str) -> list[str]:
    return [kind for kind, _ in blocks(body)]


def letters(found) -> str:
    """A book's blocks by the first letters of their kinds, one group per kind in a row."""
    runs: list[tuple[str, int]] = []
    for block in found.blocks:
        if runs and runs[-1][0] == block.kind.value[:2]:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((block.kind.value[:2], 1))
    return " ".join(f"{kind}{n}" for kind, n in runs)


# File: title, author, language, chapters, kept words, blocks in order, drops.
FILES = {
    "bare_br.htm": (
        ("The Paper Crown", "Anonymous", "en", 2, 167),
        "he2 pa6 he1 pa6",
        {"credits": 4, "licence": 93, "page numbers": 1, "transcriber's note": 22},
    ),
    "classic_pre.htm": (
        ("The Borrowed Umbrella", "Anonymous", "en", 2, 300),
        "he2 en3 he1 pa10 he1 pa7",
        {"credits": 7, "licence": 127},
    ),
    "dash.htm": (
        ("The Lost Property Office", "Anonymous", "en", 1, 257),
        "he2 pa17",
        {"credits": 4, "licence": 60},
    ),
    "german_low.html": (
        ("Der Uhrmacher von Lindach", "Anonymous", "de", 1, 209),
        "he2 pa14",
        {"licence": 55},
    ),
    "guillemets_fr.html": (
        ("La Clef du moulin", "Anonymous", "fr", 2, 292),
        "he2 pa12 he1 pa6",
        {"licence": 55},
    ),
    "multi_paragraph.html": (
        ("The Diver's Story", "", "en", 2, 304),
        "he2 pa9 ca1 he1 pa2 ve1 pa4 fo3",
        {"footnote anchors": 4, "licence": 41, "page numbers": 4},
    ),
    "no_boilerplate.html": (("A Question of Marmalade", "", "", 2, 223), "he2 pa10 he1 pa4", {}),
    "no_dialogue.html": (
        ("On Sitting upon Gates", "Anonymous", "en", 2, 267),
        "he2 pa2 he1 pa1",
        {"licence": 55},
    ),
    "play.html": (
        ("The Wrong Door: A Scene", "", "en", 1, 158),
        "he3 ve1 he1 pa16",
        {"licence": 43},
    ),
    "rst_era.htm": (
        ("The Two Lanterns", "Anonymous", "en", 2, 238),
        "ve3 he1 en2 he1 pa7 ve1 he1 pa6",
        {"licence": 110},
    ),
    "single_curly.html": (
        ("The Cobblers’ Supper", "Anonymous", "en", 1, 243),
        "he2 pa13",
        {"licence": 56},
    ),
    "single_straight.html": (
        ("The Beekeeper's Gate", "", "en", 1, 283),
        "he2 pa14",
        {"licence": 41},
    ),
    "small_print.htm": (
        ("The Ferryman's Change", "Anonymous", "", 2, 281),
        "he1 pa1 he1 pa6 he1 pa7",
        {"licence": 119},
    ),
    "spanish_dash.html": (
        ("La campana de Robledo", "Anonymous", "es", 1, 240),
        "he2 pa16",
        {"licence": 55},
    ),
    "swedish_dash.html": (
        ("Färjan vid Stensund", "Anonymous", "sv", 1, 220),
        "he2 pa16",
        {"licence": 51},
    ),
    "unclosed_pre.htm": (
        ("The Night Coach", "Anonymous", "en", 2, 219),
        "he2 pa7 he1 pa6",
        {"credits": 4, "licence": 93, "page numbers": 1, "transcriber's note": 22},
    ),
    "xml_decl_latin1.html": (
        ("The Café at Saint-Rémond", "Anonymous", "en", 1, 163),
        "he2 pa11",
        {"licence": 64},
    ),
}


def test_every_file_is_pinned():
    assert set(FILES) == {path.name for path in DATA.glob("*.htm*")}


@pytest.mark.parametrize("name", FILES)
def test_facts_of_a_file(name):
    found = read_file(DATA / name, "7")
    facts = (found.title, found.author, found.language, found.n_chapters, found.n_words)
    assert (facts, letters(found), dict(found.drops)) == FILES[name]


@pytest.mark.parametrize("path", [*sorted(DATA.glob("*.htm*")), SAMPLE], ids=lambda path: path.name)
def test_what_holds_for_every_book(path):
    found = read_file(path, "7")
    assert found.id == "7"
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found == parse_book(path.read_bytes(), "7")
    assert [block.index for block in found.blocks] == list(range(len(found.blocks)))
    chapters = [block.chapter for block in found.blocks]
    assert chapters == sorted(chapters)
    assert set(range(1, found.n_chapters + 1)) <= set(chapters)
    assert found.drops == tuple(sorted(found.drops))
    assert found.n_words == sum(len(block.text.split()) for block in found.blocks)
    for block in found.blocks:
        assert block.text == block.text.strip()
        assert "  " not in block.text
        assert block.kind is BlockKind.VERSE or "\n" not in block.text
        assert not set(block.text) & set("\u00a0\u00ad\u200b\ufeff\ue000\ue001\t\r")


def test_facts_of_the_sample():
    found = read_file(SAMPLE, "sample")
    assert (found.title, found.author, found.language) == (
        "The Lock-Keeper’s Winter",
        "Anonymous",
        "en",
    )
    assert (found.n_chapters, found.n_words, len(found.blocks)) == (5, 5196, 189)
    assert Counter(block.kind.value for block in found.blocks) == {
        "heading": 7,
        "paragraph": 164,
        "entry": 5,
        "letter": 4,
        "verse": 4,
        "caption": 3,
        "footnote": 2,
    }
    assert dict(found.drops) == {
        "footnote anchors": 2,
        "licence": 178,
        "page numbers": 13,
        "transcriber's note": 34,
    }
    starts = [block for block in found.blocks if block.kind is BlockKind.HEADING and block.chapter]
    assert [block.text for block in starts if block.text.startswith("CHAPTER")] == [
        "CHAPTER I. The Brown Envelope",
        "CHAPTER II. The Cut Freezes",
        "CHAPTER III. “The Dun Heron”",
        "CHAPTER IV. High Water",
        "CHAPTER V. What Was in the Hat",
    ]


def test_the_text_of_files_with_the_most_in_their_sentences():
    diver = read_file(DATA / "multi_paragraph.html", "7").blocks
    assert diver[2] == Block(
        2,
        1,
        BlockKind.PARAGRAPH,
        '"It was off the Sker," said the diver, "in forty foot of water, and as black as a hat. '
        "I had been sent down for a bell.",
    )
    assert diver[3].text.startswith(
        '"The first day I found the tower. The second day I found the stair, and'
    )
    assert diver[4].text.endswith("'There's many a one has told me that.'\"")
    assert diver[13].text.startswith("IT was a long while before anybody stirred.")
    assert "heard of the lady before, and" in diver[13].text
    assert diver[17].text == '"I never heard such a—"'
    lanterns = read_file(DATA / "rst_era.htm", "7").blocks
    assert lanterns[7].text.startswith("Two signalmen kept the junction")
    assert lanterns[16].text.startswith("“I’m to be married,” said Walter")
    assert lanterns[14].text.count("\n") == 3
    assert read_file(DATA / "small_print.htm", "7").blocks[4].text.startswith("“Two of us to-night")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<p>It was late.</p>", "paragraph"),
        ("<div>It was late.</div>", "paragraph"),
        ("<p>“Late,” he said,<br>“but it is.”</p>", "paragraph"),
        ("<h4>LATE</h4>", "heading"),
        ("<p>CHAPTER II</p>", "heading"),
        ("<p><b>II.</b></p>", "heading"),
        ('<div class="poem">It was late,<br>and late.</div>', "verse"),
        ("<p>It was late,<br>And later still,<br>And late.</p>", "verse"),
        ("<pre>It was late,\nAnd later still</pre>", "verse"),
        ("<p>It was late and<br>nobody was at<br>the gate but<br>the man.</p>", "paragraph"),
        ("<p>" + "It was late and later. " * 5 + "<br>And so<br>It was.</p>", "paragraph"),
        ('<div class="letter"><p>I beg to say that it is late.</p></div>', "letter"),
        ("<blockquote><p>My dear Sir,</p></blockquote>", "letter"),
        ("<blockquote><p>Dear Mr. Ash,—It is late.</p></blockquote>", "letter"),
        ("<blockquote><p>It was late.</p></blockquote>", "paragraph"),
        ("<p>My dear Sir,</p>", "paragraph"),
        ('<p class="caption">It was late.</p>', "caption"),
        ("<p>[Illustration: “It was late.”]</p>", "caption"),
        ("<p>[Ilustración: Era tarde]</p>", "caption"),
        ('<p class="footnote">It was late.</p>', "footnote"),
        ("<p>[Footnote 1: It was late.]</p>", "footnote"),
        ("<p>[Note: It was late.]</p>", "footnote"),
        ('<p class="toc">It was late. 7</p>', "entry"),
        ('<p><a href="#c1">It was late</a></p>', "entry"),
        ('<p>It was <a href="#c1">late</a>, he said, and so it was.</p>', "paragraph"),
    ],
)
def test_kind_of_a_block(body, kind):
    assert kinds(f"<h2>I</h2><p>{PROSE}</p>{body}<p>{PROSE}</p>")[2:-1] == [kind]


def test_lines_are_kept_in_verse_only():
    found = blocks("<p>“It is late,”<br>he said.</p><div class='poem'>So late,<br>so late.</div>")
    assert found == [("paragraph", "“It is late,” he said."), ("verse", "So late,\nso late.")]


def test_short_paragraphs_of_a_blockquote_are_verse_from_three_on():
    lines = "<p>Ring loud,</p><p>Ring low,</p>"
    assert kinds(f"<blockquote>{lines}</blockquote><p>{PROSE}</p>") == ["paragraph"] * 3
    assert kinds(f"<blockquote>{lines}<p>Ring.</p></blockquote><p>{PROSE}</p>") == [
        *["verse"] * 3,
        "paragraph",
    ]


def test_footnotes_below_their_heading():
    body = (
        f"<h2>I</h2><p>{PROSE}</p><h2>FOOTNOTES</h2><p>[1] A ferry.</p><p>2. A boat.</p><h2>II</h2>"
    )
    body += f"<p>[2] is how it began.</p><p>{PROSE}</p>"
    assert kinds(body) == [
        *("heading", "paragraph", "heading", "footnote", "footnote"),
        *("heading", "paragraph", "paragraph"),
    ]


ENTRIES = ["CHAPTER I. The Gate", "CHAPTER II. The Bees", "CHAPTER III. The Boat"]
STORY = "".join(f"<h2>{entry}</h2><p>{PROSE}</p><p>“Late,” he said.</p>" for entry in ENTRIES)
TABLES = {
    "links": "<h2>CONTENTS</h2>" + "".join(f'<p><a href="#c">{entry}</a></p>' for entry in ENTRIES),
    "paragraphs": "<h2>CONTENTS</h2>" + "".join(f"<p>{entry}</p>" for entry in ENTRIES),
    "plain title": "<p>CONTENTS</p>" + "".join(f"<p>{entry}</p>" for entry in ENTRIES),
    "class": '<p class="toc">CONTENTS</p>' + "".join(f"<p>{entry}</p>" for entry in ENTRIES),
    "lines": "<h2>CONTENTS</h2><p>" + "<br>".join(ENTRIES) + "</p>",
    "blockquote": "<h3>CONTENTS</h3><blockquote>"
    + "".join(f"<p>{entry}</p>" for entry in ENTRIES)
    + "</blockquote>",
    "table": "<table>"
    + "".join(f"<tr><td>{entry}</td><td>{n}</td></tr>" for n, entry in enumerate(ENTRIES, 7))
    + "</table>",
    "list": "<ul>"
    + "".join(f'<li><a href="#c">{entry}</a>, 7</li>' for entry in ENTRIES)
    + "</ul>",
    "region": f'<div class="toc"><h2>CONTENTS</h2><h3>{ENTRIES[0]}</h3><p>{ENTRIES[1]}</p></div>',
    "German": "<h2>Inhalt</h2>" + "".join(f"<p>{entry}</p>" for entry in ENTRIES),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_contents_starts_no_chapter(name):
    found = book(f"<h1>TALES</h1>{TABLES[name]}{STORY}")
    assert found.n_chapters == 3
    story = [block for block in found.blocks if block.kind is not BlockKind.ENTRY][-9:]
    assert [(block.kind.value, block.chapter) for block in story] == [
        (kind, chapter) for chapter in (1, 2, 3) for kind in ("heading", "paragraph", "paragraph")
    ]
    assert BlockKind.ENTRY in {block.kind for block in found.blocks}
    headings = [block.text for block in found.blocks if block.kind is BlockKind.HEADING]
    assert [text for text in headings if text in ENTRIES] == ENTRIES


def test_a_table_of_contents_ends_where_prose_begins():
    body = f"<h2>CONTENTS</h2><p>The Gate</p><p>{PROSE}</p><p>“Late,” he said.</p>"
    assert kinds(body) == ["heading", "entry", "paragraph", "paragraph"]


def test_the_last_of_the_entries_is_a_heading_where_prose_follows():
    entries = "".join(f"<p>{entry}</p>" for entry in [*ENTRIES, ENTRIES[0]])
    assert kinds(f"<h2>CONTENTS</h2>{entries}<p>{PROSE}</p>") == [
        *("heading", "entry", "entry", "entry"),
        *("heading", "paragraph"),
    ]


def test_the_words_of_captions_and_notes_make_no_chapter():
    plate = f'<div class="figcenter"><p>{PROSE}</p></div><p class="footnote">{PROSE}</p>'
    found = book(f"<h2>Tales</h2>{plate}<h2>The Gate</h2><p>{PROSE}</p><h2>Bees</h2><p>{PROSE}</p>")
    assert [block.chapter for block in found.blocks] == [1, 1, 1, 1, 1, 2, 2]


def test_a_table_in_the_story_is_text():
    rows = "".join(f"<tr><td>{name}</td><td>a penny</td></tr>" for name in ("Ash", "Pym", "Fitch"))
    assert kinds(f"<h2>I</h2><p>{PROSE}</p><table>{rows}</table>")[2:] == ["paragraph"] * 3


def test_before_the_first_heading_is_chapter_0():
    found = book(f"<p>For A. B.</p><h2>I</h2><p>{PROSE}</p><h2>II</h2><p>{PROSE}</p>")
    assert [block.chapter for block in found.blocks] == [0, 1, 1, 2, 2]
    assert book(f"<p>{PROSE}</p>").n_chapters == 0


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Emma, by Jane Austen", ("Emma", "Jane Austen")),
        ("The Project Gutenberg eBook of Emma, by Jane Austen", ("Emma", "Jane Austen")),
        ("The Project Gutenberg E-text of Emma, by Jane Austen", ("Emma", "Jane Austen")),
        ("Project Gutenberg's Emma, by Jane Austen", ("Emma", "Jane Austen")),
        ("Emma | Project Gutenberg", ("Emma", "")),
        ("Emma, by Jane Austen—Project Gutenberg", ("Emma", "Jane Austen")),
        ("Gutenberg and the Press", ("Gutenberg and the Press", "")),
        ("The\n  Gate", ("The Gate", "")),
        ("", ("", "")),
    ],
)
def test_title_and_author_of_the_page(title, expected):
    found = book("<p>Late.</p>", f"<title>{title}</title>")
    assert (found.title, found.author) == expected


def test_the_header_is_preferred_to_the_page_title():
    header = (
        "<pre>Title: The Gate\n\nAuthor: A. B.\n\nLanguage: French\n\n*** START OF THE PROJECT "
    )
    html = f"<html lang='en'><title>Emma, by Jane Austen</title><body>{header}GUTENBERG EBOOK ***"
    found = parse_book((html + "</pre><p>Tard.</p>").encode(), "7")
    assert (found.title, found.author, found.language) == ("The Gate", "A. B.", "fr")


@pytest.mark.parametrize(
    ("declared", "field", "expected"),
    [
        ("en-US", "", "en"),
        ("", "", ""),
        ("de", "English", "en"),
        ("", "German", "de"),
        ("", "Spanish, English", "es"),
        ("", "English (with French)", "en"),
        ("", "Hungarian", "hu"),
        ("", "Portuguese", "pt"),
        ("en", "Finnish", "fi"),
        ("", "Esperanto", "eo"),
    ],
)
def test_language(declared, field, expected):
    header = (
        f"<pre>Language: {field}\n\n*** START OF THE PROJECT GUTENBERG EBOOK ***</pre>"
        if field
        else ""
    )
    html = f"<html lang='{declared}'><body>{header}<p>It was late.</p>"
    assert parse_book(html.encode(), "7").language == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty, expected a book"),
        (b"PK\0\0", "the file is binary, expected a book"),
        (b"<Late>", "the file is not HTML: it starts '<Late>', expected tags such as <p>"),
        (b"<p> </p>", "the file holds no text of a book, expected paragraphs below its header"),
        (
            b"<pre>*** START OF THIS PROJECT GUTENBERG EBOOK ***</pre>",
            "the file holds no text of a book, expected paragraphs below its header",
        ),
    ],
)
def test_a_file_without_a_book_is_refused(tmp_path, data, message):
    path = tmp_path / "7.html"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_file(path, "7")
    assert str(caught.value) == message


pieces = st.sampled_from(
    [
        *["<h2>Chapter I</h2>", "<h3>II</h3>", "<p>III</p>", "<h1>CONTENTS</h1>", "<p>Late.</p>"],
        *[
            f"<p>{PROSE}</p>",
            "<pre>a\nb\n\nc",
            "</pre>",
            "<blockquote>",
            "</div>",
            "<div class=poem>",
        ],
        *[
            "<table><tr><td>a<td>7",
            "</table>",
            "<br><br>",
            "[Illustration]",
            "<span class=dropcap>T",
        ],
        *["<a href=#x>", "<p class=footnote>1", "<h2></h2>", "&nbsp;", "\u00ad", "</p>"],
    ]
)


@given(st.lists(pieces, min_size=1, max_size=15))
def test_blocks_of_any_page_are_clean_and_in_order(parts):
    found = book("<p>It was late.</p>" + "".join(parts))
    assert [block.index for block in found.blocks] == list(range(len(found.blocks)))
    chapters = [block.chapter for block in found.blocks]
    assert chapters == sorted(chapters)
    assert all(b - a <= 1 for a, b in zip(chapters, chapters[1:], strict=False))
    for block in found.blocks:
        assert block.text
        assert block.text == "\n".join(" ".join(line.split()) for line in block.text.split("\n"))
        assert block.kind is BlockKind.VERSE or "\n" not in block.text


# Natural mistakes


def test_a_path_is_not_taken_for_bytes(tmp_path):
    for path in (tmp_path, "1342-h.htm"):
        with pytest.raises(TypeError, match="found .*, expected bytes; miner.read_book takes a"):
            parse_book(path, "1342")


def scenes(body: str) -> list[int]:
    found = parse_book(f"<h2>I</h2>{body}".encode(), "0").blocks
    return [block.scene for block in found[1:]]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>One.</p><p>Two.</p>", [1, 1]),
        ("<p>One.</p><hr><p>Two.</p><p>Three.</p>", [1, 2, 2]),
        ("<p>One.</p><p>* * *</p><p>Two.</p>", [1, 1, 2]),
        ("<p>One.</p><hr><p>* * *</p><hr><p>Two.</p>", [1, 1, 2]),
        (f"<p>{PROSE}</p><h4>II.</h4><p>Two.</p>", [1, 2, 2]),
        # What is set off from the text around it parts no scenes.
        ("<p>One.</p><hr><p class='caption'>“So!”</p><hr><p>Two.</p>", [1, 1, 1]),
        ("<p>One.</p><hr><div class='poem'>So late,<br>so late.</div><hr><p>Two.</p>", [1, 1, 1]),
        ("<p>The card said:</p><hr><p>Keep out.</p><hr><p>Two.</p>", [1, 1, 1]),
        ("<p>It said:</p><hr><p>Keep out.</p><hr><p>Two.</p><hr><p>Three.</p>", [1, 1, 1, 2]),
    ],
)
def test_scenes_of_a_chapter(body, expected):
    assert scenes(body) == expected


def test_a_chapter_begins_with_its_first_scene():
    body = f"<h2>I</h2><p>{PROSE}</p><hr><p>{PROSE}</p><hr><h2>II</h2><p>{PROSE}</p>"
    found = parse_book(body.encode(), "0").blocks
    assert [(block.chapter, block.scene) for block in found] == [
        *[(1, 1), (1, 1), (1, 2)],
        *[(2, 1), (2, 1)],
    ]


def chapters(body: str) -> list[tuple[int | None, str, int]]:
    found = parse_book(body.encode(), "0").chapters
    return [(chapter.number, chapter.title, chapter.first) for chapter in found]


def test_chapters_have_the_number_and_the_title_that_are_printed():
    body = (
        f"<h1>The Weir</h1><h2>PREFACE</h2><p>{PROSE}</p>"
        f"<h2>BOOK TWO</h2><h3>CHAPTER I</h3><h3>The Eel</h3><p>{PROSE}</p>"
        f"<h3>CHAPTER II</h3><p>{PROSE}</p><h3>CHAPTER THE LAST</h3><p>{PROSE}</p>"
    )
    assert chapters(body) == [
        (None, "PREFACE", 0),
        (1, "BOOK TWO · CHAPTER I · The Eel", 3),
        (2, "CHAPTER II", 7),
        (None, "CHAPTER THE LAST", 9),
    ]


def test_the_title_page_is_no_title_of_the_first_story():
    names = ("THE EEL", "BY NIGHT", "THE PIKE")
    body = "<h1>Tales</h1><h2>1901</h2>" + "".join(f"<h2>{n}</h2><p>{PROSE}</p>" for n in names)
    assert chapters(body) == [(None, name, (0, 4, 6)[n]) for n, name in enumerate(names)]


@pytest.mark.parametrize(
    "title",
    [
        '<p class="center">{}</p>',
        "<p><b>{}</b></p>",
        "<center>{}</center>",
        '<p align="center">{}</p>',
    ],
)
def test_set_off_paragraphs_divide_a_book_without_other_headings(title):
    names = ("BY THE WEIR", "At Home")
    body = "<h1>Eels</h1>" + "".join(f"{title.format(name)}<p>{PROSE}</p>" for name in names)
    assert [found[1] for found in chapters(body)] == list(names)
    # Beside other headings they are what is printed on a card or a door.
    body = (
        f"<h2>I</h2><p>{PROSE}</p>{title.format('KEEP OUT')}<p>{PROSE}</p><h2>II</h2><p>{PROSE}</p>"
    )
    assert [found[1] for found in chapters(body)] == ["I", "II"]


def test_a_chapter_of_dots_is_a_chapter():
    body = f"<h2>I</h2><p>{PROSE}</p><h2>II</h2><p>. . . . . . .</p><h2>III</h2><p>{PROSE}</p>"
    assert [found[0] for found in chapters(body)] == [1, 2, 3]


def test_parts_of_few_chapters_hide_none_of_them():
    body = (
        f"<h2>PART ONE</h2><h3>I</h3><p>{PROSE}</p><h3>II</h3><p>{PROSE}</p>"
        f"<h2>PART TWO</h2><h3>I</h3><p>{PROSE}</p>"
    )
    assert [found[1] for found in chapters(body)] == ["PART ONE · I", "II", "PART TWO · I"]
