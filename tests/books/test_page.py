"""Bytes of pages in the styles of twenty years -> text blocks."""

from contextlib import suppress

import pytest
from helpers import DATA, cpu_seconds
from hypothesis import given
from hypothesis import strategies as st

from miner.books.book_file import decode_book
from miner.books.forms import read_page
from miner.books.page import count_words, read_html
from miner.errors import InputError


def text_blocks(body: str):
    return read_page(f"<html><body>{body}</body></html>".encode()).text_blocks


def texts(body: str) -> list[str]:
    return [block.text for block in text_blocks(body)]


def drops(body: str) -> dict[str, int]:
    return dict(read_page(f"<html><body>{body}</body></html>".encode()).drops)


def test_plain_text_is_refused_with_its_first_words():
    with pytest.raises(InputError) as caught:
        read_html(decode_book(b"It was late,\r\nand 3 < 4, and <nobody> had asked who was awake."))
    assert str(caught.value) == (
        "the file is not HTML: it starts 'It was late, and 3 < 4, and <nobody> ha', "
        "expected tags such as <p>"
    )


def test_a_page_without_html_and_body_is_a_page():
    assert [block.text for block in read_page(b"One.<br><br>Two.").text_blocks] == ["One.", "Two."]


def test_letters_are_composed():
    assert decode_book("<p>Rene\u0301 a\u0302ge</p>".encode()).text == "<p>René âge</p>"
    assert texts("<p>Ren&#101;&#769;</p>") == ["Rene\u0301"]  # entities stay as they were written


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>A won\u00adder\u00adful hat</p>", "A wonderful hat"),
        ("<p>A won&shy;derful hat</p>", "A wonderful hat"),
        ("<p>Half\u200bway, \ufeffsaid\u2060 he\u200d</p>", "Halfway, said he"),
        ("<p>A \u200b hat \ufeff </p>", "A hat"),
        ("<p>« Oui&nbsp;! »&#160;dit-il\u202f: rien.</p>", "« Oui ! » dit-il : rien."),
        ("<p>&ldquo;Don&rsquo;t&mdash;&rdquo; &amp; so on&hellip;</p>", "“Don’t—” & so on…"),
        ("<p>It&apos;s &quot;so&quot; &lt;far&gt;</p>", 'It\'s "so" <far>'),
        ("<p>&#8220;Yes&#8221; &#x2018;no&#x2019;</p>", "“Yes” ‘no’"),
        ("<p>&#147;Yes,&#148; he said&#151;</p>", "“Yes,” he said—"),
        ("<p>\r\n  Two\tlines\r\n  of it \f</p>", "Two lines of it"),
    ],
)
def test_characters(body, expected):
    assert texts(body) == [expected]


@pytest.mark.parametrize(
    "nothing", ["", " ", "&nbsp;", "\u200b", "<br>", "<br> <br>", "<a id='x'></a>"]
)
def test_an_element_that_shows_nothing_is_no_text_block(nothing):
    assert texts(f"<p>One.</p><p>{nothing}</p><p>Two.</p>") == ["One.", "Two."]


PAGE_NUMBERS = [
    '<span class="pagenum">[Pg 12]</span>',
    '<span class="pagenum"><a name="Page_12" id="Page_12">12</a></span>',
    '<span class="PageNum" title="12">[12]</span>',
    '<span class="pageno">{xii}</span>',
    '<a class="page" id="p12">12</a>',
    '<span class="pb">[p. lxxxviii]</span>',
    '<span class="x-small folionum">12</span>',
    '<span class="linenum">15</span>',
    '<span role="doc-pagebreak" id="p12">12</span>',
    '<a role="doc-pagebreak" aria-label="12">[Page 12]</a>',
    "[Pg 12]",
    "[pg xii]",
    "[Page 12]",
    "[p. 12]",
    "{12}",
    "{xii}",
]


@pytest.mark.parametrize("number", PAGE_NUMBERS)
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("“Is it late", " at last?”", "“Is it late at last?”"),
        ("“Is it late ", "at last?”", "“Is it late at last?”"),
        ("“Is it late ", " at last?”", "“Is it late at last?”"),
        ("“Is it late\n", "\nat last?”", "“Is it late at last?”"),
        ("“Is it late at la", "st?”", "“Is it late at last?”"),
        ("“Is it late at last?", "”", "“Is it late at last?”"),
        ("", "“Is it late at last?”", "“Is it late at last?”"),
        ("", " <i>So</i> late.", "So late."),
    ],
)
def test_page_numbers_never_stand_in_a_sentence(number, before, after, expected):
    body = f"<p>{before}{number}{after}</p>"
    assert texts(body) == [expected]
    assert list(drops(body)) == ["page numbers"]


def test_dropped_page_numbers_are_counted_in_words():
    body = '<p>One<span class="pagenum">[Pg 12]</span> two {13} three [Pg 14] four</p>'
    body += '<p><span class="pagenum"><a id="p15"></a></span>Five.</p>'
    assert drops(body) == {"page numbers": 2 + 1 + 1 + 1}


@pytest.mark.parametrize(
    "body",
    [
        '<p class="page">A page was a boy who carried things.</p>',
        '<p><span class="page">A page was a boy who carried things.</span></p>',
        "<p>See {the book} and [Page] and [p. of it].</p>",
        '<p class="pagenum">12</p>',
    ],
)
def test_text_under_a_page_numbers_name_is_kept(body):
    assert drops(body) == {}
    assert len(texts(body)) == 1


@pytest.mark.parametrize(
    ("anchor", "n_words"),
    [
        ('<a href="#Footnote_1_1" class="fnanchor">[1]</a>', 1),
        ('<a name="FNanchor_1_1" id="FNanchor_1_1"></a><a href="#Footnote_1_1">[1]</a>', 1),
        ('<a href="#fn2"><sup>2</sup></a>', 1),
        ("<sup>12</sup>", 1),
        ('<a class="noteref" href="#n3">*</a>', 1),
        ('<a class="pginternal" href="#note-4">[D4]</a>', 0),
        ('<a href="notes.html#note4">{4}</a>', 1),
        ("[1]", 1),
    ],
)
def test_footnote_anchors(anchor, n_words):
    body = f"<p>“He had heard of the lady,{anchor} and of the bell.{anchor}”</p>"
    if n_words:
        assert texts(body) == ["“He had heard of the lady, and of the bell.”"]
        assert drops(body) == {"footnote anchors": 2 * n_words}
    else:
        assert "D4" in texts(body)[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>On the 4<sup>th</sup> of May, M<sup>r</sup> Ash</p>", "On the 4th of May, Mr Ash"),
        ('<p>See <a href="#chap2">Chapter 2</a> again.</p>', "See Chapter 2 again."),
        ('<p>See <a href="#p12">12</a> there.</p>', "See 12 there."),
        ("<p>Rows [1] and [2] of the table.</p>", "Rows [1] and [2] of the table."),
        ("<p>[1] A note begins so.</p>", "[1] A note begins so."),
    ],
)
def test_what_only_looks_like_an_anchor_is_kept(body, expected):
    assert (texts(body), drops(body)) == ([expected], {})


def test_an_anchor_between_two_words_does_not_join_them():
    anchor = '<a href="#Footnote_2" class="fnanchor">[2]</a>'
    assert texts(f"<p>the lady{anchor}before, and him{anchor}.</p>") == [
        "the lady before, and him."
    ]


@pytest.mark.parametrize(
    ("body", "lead"),
    [
        ('<p><span class="smcap">Ann.</span> Is it in?</p>', "Ann."),
        ("<p>\n<i>Ann</i> (<i>aside</i>). Is it in?</p>", "Ann"),
        ('<p><span class="x"><b>Ann</b>, aside.</span> Is it in?</p>', "Ann"),
        ("<table><tr><td><i>Ann.</i></td><td>Is it in?</td></tr></table>", "Ann."),
        ("<p>Ann. <i>Is</i> it in?</p>", ""),
        (f"<p><i>{'Is it in? ' * 9}</i> Ann</p>", ""),
        ('<p><a href="#ann">Ann.</a> Is it in?</p>', ""),
    ],
)
def test_few_words_set_apart_at_the_start_are_kept_apart(body, lead):
    (block,) = text_blocks(body)
    assert block.lead == lead
    assert block.text.isprintable()


def test_lines_of_talk_are_text_blocks_and_lines_of_verse_are_one():
    talk = "<p>“Is it in?” said Ann.<br>\n“Not yet.”<br><i>Bo.</i> said nothing.</p>"
    assert texts(talk) == ["“Is it in?” said Ann.", "“Not yet.”", "Bo. said nothing."]
    assert [block.lead for block in text_blocks(talk)] == ["", "", "Bo."]
    verse = "<p>“Is it in,” said Ann,<br>“The ferry?”</p>"
    assert texts(verse) == ["“Is it in,” said Ann,\n“The ferry?”"]
    assert len(texts(talk.replace("<p>", "<p class='poem'>"))) == 1


def test_a_note_within_a_sentence_comes_after_it():
    found = text_blocks(
        "<p>The house [Footnote: Now an\ninn.] was cold. [Footnote 2: Very.]</p><p>On.</p>"
    )
    assert [(block.text, block.region) for block in found] == [
        ("The house was cold.", ""),
        ("[Footnote: Now an inn.]", "footnote"),
        ("[Footnote 2: Very.]", "footnote"),
        ("On.", ""),
    ]


@pytest.mark.parametrize("name", ["dropcap", "drop-cap", "dropcap2", "dcap", "letra", "initial"])
@pytest.mark.parametrize(
    ("cap", "rest", "expected"),
    [
        ("T", "HE cat", "THE cat"),
        ("T", "\nHE cat", "THE cat"),
        ("T", " he cat", "The cat"),
        (" W\n", " ell, then", "Well, then"),
        ("“W", "ell,” he said", "“Well,” he said"),
        ("“W", " ell,” he said", "“Well,” he said"),
        ("I", "T is a truth", "IT is a truth"),
        ("I", " T is a truth", "IT is a truth"),
        ("“I", "\nT is so”", "“IT is so”"),
        ("I", " HAVE been here", "I HAVE been here"),
        ("I", " am here", "I am here"),
        ("A", " man was here", "A man was here"),
        ("A", "LL men", "ALL men"),
        ("A", " LL men", "ALL men"),
        ("O", " Lord, he said", "O Lord, he said"),
        ("O", "NCE upon a time", "ONCE upon a time"),
        ("‘O", " H, no", "‘OH, no"),
        ("É", " mile entra", "Émile entra"),
        ("It", " was late", "It was late"),
        ("Once", " upon a time", "Once upon a time"),
        ("y", " luego salió", "y luego salió"),
    ],
)
def test_drop_caps_as_spans(name, cap, rest, expected):
    assert texts(f'<p><span class="{name}">{cap}</span>{rest}</p>') == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<p><img src="i.png" alt="I">T was late</p>', "IT was late"),
        ('<p><img src="i.png" alt="I"> T was late</p>', "IT was late"),
        ('<p>\n<img src="w.png" alt="W">\nHEN it was late</p>', "WHEN it was late"),
        ('<p>“<img src="w.png" alt="W">hen?” he said</p>', "“When?” he said"),
        ('<p><img src="w.png" alt="“W">hen?” he said</p>', "“When?” he said"),
        (
            '<p><span class="letra"><img alt="W" src="w.png"></span>HEN it was late</p>',
            "WHEN it was late",
        ),
        ('<p><img src="x.png" alt="A ship at sea">It was late</p>', "It was late"),
        ('<p><img src="x.png" alt="*">It was late</p>', "It was late"),
        ('<p><img src="x.png" alt="">It was late</p>', "It was late"),
        (
            '<p><span class="dropcap">T</span><span class="dropspan">wo</span><span> men</span>',
            "Two men",
        ),
        (
            '<p><span class="dropcap">“O</span><span class="dropspan">n</span><span> it</span></p>',
            "“On it",
        ),
        ('<p>“<span class="dropcap">Y</span>es,” she said</p>', "“Yes,” she said"),
        ('<p><span class="dropcap">S</span><span class="sc">he</span> came</p>', "She came"),
        ('<p><span class="dropcap">S</span> <span class="sc">he</span> came</p>', "She came"),
    ],
)
def test_drop_caps_of_other_makes(body, expected):
    assert texts(body) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>One,<br>two,<br/>three.</p>", ["One,\ntwo,\nthree."]),
        ("<p>One.<br><br>Two.<br />\n<br />\nThree.</p>", ["One.", "Two.", "Three."]),
        ("<p><br>One.<br></p>", ["One."]),
        ("<p><br><br>One.<br><br><br></p>", ["One."]),
        ("One.<br><br>\n<i>Two</i> of it.<br>\n<br>Three.", ["One.", "Two of it.", "Three."]),
        ("<div>One.<p>Two.</p>Three.</div>", ["One.", "Two.", "Three."]),
        (
            "<div><div>One.</div><div>Two <b>of</b> it.</div></div>Three.",
            ["One.", "Two of it.", "Three."],
        ),
        ("<p>One<p>Two<p>Three", ["One", "Two", "Three"]),
        ("<p>One <i>and <b>two</i> and</b> three</p>", ["One and two and three"]),
        ("<center>One<hr>Two</center>", ["One", "Two"]),
        ("<ul><li>One<li>Two</ul>", ["One", "Two"]),
        ("<dl><dt>One<dd>Two</dl>", ["One", "Two"]),
        ("<section><article><p>One</p></article></section>", ["One"]),
        ("<p>One<!-- not this --> two<script>not()</script></p>", ["One two"]),
        ("<style>p { }</style><p>One</p><noscript>No</noscript>", ["One"]),
        ("<p>He said<i> no</i>thing.</p>", ["He said nothing."]),
        ("<p>vor<em>stellen</em>?</p>", ["vorstellen?"]),
    ],
)
def test_paragraphs_in_every_kind_of_markup(body, expected):
    assert texts(body) == expected


def test_preformatted_lines_are_lines_and_white_lines_divide():
    found = text_blocks(
        "<pre>\n  Gold for the head,\n     and milk\n\n  Long may he reign\n</pre><p>So.</p>"
    )
    assert [(block.text, block.preformatted) for block in found] == [
        ("Gold for the head,\nand milk", True),
        ("Long may he reign", True),
        ("So.", False),
    ]


def test_an_unclosed_pre_does_not_eat_the_page():
    page = read_page((DATA / "unclosed_pre.htm").read_bytes())
    assert all(block.text for block in page.text_blocks)
    assert "At the second turnpike the basket moved." in [block.text for block in page.text_blocks]
    assert [block.level for block in page.text_blocks if block.level] == [1, 3, 3]


VERSE = ["Half the world goes by my door,\nAnd none of it is mine."]


@pytest.mark.parametrize(
    "body",
    [
        '<div class="poem">Half the world goes by my door,<br>And none of it is mine.</div>',
        '<div class="poem"><div class="stanza"><span>Half the world goes by my door,<br></span>'
        '<span class="i2">And none of it is mine.<br></span></div></div>',
        '<div class="poetry"><div class="stanza"><div class="verse indent0">Half the world goes by'
        ' my door,</div><div class="verse indent2">And none of it is mine.</div></div></div>',
        '<div class="line-block"><div class="line"><span>Half the world goes by my door,</span>'
        '</div><div class="line"><span>    And none of it is mine.</span></div></div>',
        '<p class="poem">Half the world goes by my door,<br/>And none of it is mine.</p>',
    ],
)
def test_the_lines_of_a_stanza_are_one_text_block(body):
    found = text_blocks(f"<p>He sang:</p>{body}<p>So he sang.</p>")
    assert [block.text for block in found] == ["He sang:", *VERSE, "So he sang."]
    assert [block.region for block in found] == ["", "verse", ""]


def test_stanzas_are_text_blocks_of_their_own():
    stanza = (
        '<div class="stanza"><div class="line">Ring {},</div><div class="line">ring.</div></div>'
    )
    body = f'<div class="poem">{stanza.format("loud")}{stanza.format("low")}</div>'
    assert texts(body) == ["Ring loud,\nring.", "Ring low,\nring."]


def test_paragraphs_of_several_lines_in_a_poem_are_stanzas():
    body = '<div class="poem"><h4>THE BELL</h4><p>Ring loud,<br>ring.</p><p>Ring low,<br>ring.</p>'
    found = text_blocks(body + "</div>")
    assert [block.text for block in found] == ["THE BELL", "Ring loud,\nring.", "Ring low,\nring."]
    assert [block.level for block in found] == [4, 0, 0]


def test_the_cells_of_a_row_are_one_text_block():
    body = (
        "<table><tr><th>I.</th><th>The Gate</th></tr><tr><td>II.</td><td>The <i>Bees</i></td></tr>"
    )
    found = text_blocks(body + "</table><p>On.</p>")
    assert [(block.text, block.tag) for block in found] == [
        ("I. The Gate", "tr"),
        ("II. The Bees", "tr"),
        ("On.", "p"),
    ]


@pytest.mark.parametrize(
    ("body", "region"),
    [
        ('<div class="figcenter"><img src="a.png" alt=""><p>“Who’s there?”</p></div>', "caption"),
        ('<p class="caption">“Who’s there?”</p>', "caption"),
        ("<figure><img src='a.png'><figcaption>“Who’s there?”</figcaption></figure>", "caption"),
        ('<p><a href="images/a.jpg">“Who’s there?”</a></p>', "caption"),
        ('<p><span class="caption">“Who’s there?”</span></p>', "caption"),
        ('<div class="illustration"><p>“Who’s there?”</p></div>', "caption"),
        ('<div class="footnote"><p>“Who’s there?”</p></div>', "footnote"),
        ('<div class="footnotes"><div><p>“Who’s there?”</p></div></div>', "footnote"),
        ('<blockquote><p class="toc">“Who’s there?”</p></blockquote>', "contents"),
        ('<ul class="toc-list"><li>“Who’s there?”</li></ul>', "contents"),
        ('<div class="transnote"><p>“Who’s there?”</p></div>', "note"),
        ('<div class="TN"><p>“Who’s there?”</p></div>', "note"),
        ('<div class="letter"><p>“Who’s there?”</p></div>', "letter"),
        ('<section class="pg-boilerplate"><p>“Who’s there?”</p></section>', "licence"),
        ('<div id="pg-footer"><div class="poem">“Who’s there?”</div></div>', "licence"),
        ("<blockquote><p>“Who’s there?”</p></blockquote>", "blockquote"),
        ('<div class="chapter" id="top"><p class="nind">“Who’s there?”</p></div>', ""),
    ],
)
def test_the_surroundings_name_the_region(body, region):
    found = text_blocks(f"<p>Before.</p>{body}<p>After.</p>")
    assert [(block.text, block.region) for block in found] == [
        ("Before.", ""),
        ("“Who’s there?”", region),
        ("After.", ""),
    ]


def test_a_caption_in_a_paragraph_is_a_text_block_of_its_own():
    body = '<p>The bell rang.<span class="caption">“The Bell.”</span> Nobody came.</p>'
    found = text_blocks(
        body + '<h2><span class="caption">“The Bell.”</span><br><br>CHAPTER II</h2>'
    )
    assert [(block.text, block.region, block.level) for block in found] == [
        ("The bell rang.", "", 0),
        ("“The Bell.”", "caption", 0),
        ("Nobody came.", "", 0),
        ("“The Bell.”", "caption", 2),
        ("CHAPTER II", "", 2),
    ]


def test_links_bold_and_levels_are_reported():
    body = (
        '<h3>I</h3><p><a href="#c1">The Gate</a></p><p>See <a href="#c1">it</a></p><p><b>II</b></p>'
    )
    heading, entry, mention, bold = text_blocks(body)
    assert (heading.level, entry.level) == (3, 0)
    assert (entry.link_share, mention.link_share) == (1.0, 2 / len("See it"))
    assert (bold.bold, entry.bold) == (True, False)


def test_title_and_language_of_the_page():
    page = read_page(b"<html lang='en-GB'><head><title> The\n Gate, by A. B. </title></head><p>x")
    assert (page.title, page.language) == ("The Gate, by A. B.", "en-GB")
    assert read_page(b"<html xml:lang='fr'><p>x").language == "fr"
    page = read_page(b"<p>x")
    assert (page.title, page.language) == ("", "")


words = st.text(alphabet="ab“”—é", min_size=1, max_size=4)


@given(st.lists(st.lists(words, min_size=1, max_size=5), min_size=1, max_size=5))
def test_no_word_is_lost_or_glued(paragraphs):
    body = "".join(f"<p>{'<i> </i>'.join(paragraph)}</p>" for paragraph in paragraphs)
    assert texts(body) == [" ".join(paragraph) for paragraph in paragraphs]
    assert sum(map(count_words, texts(body))) == sum(map(len, paragraphs))


# Pages that only a machine writes


def seconds(form: str, n: int, enough: float = 0) -> float:
    """The time of the processor that a page takes: a form n times in a row."""
    data = ("<html><body>" + form * n).encode()

    def read():
        with suppress(ValueError):
            read_page(data)

    return cpu_seconds(read, enough)


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [
        "[Footnote " * 10,
        "<h2>Part I</h2><p>One.</p>",
        "<p>“One,” he said.</p>",
        "<p class=poem>x<td></td>",
        "<div class=poem><div>x</div><p>y",
        "<sup>x",
        "x<br>",
        "<h2>Part I</h2>",
        "<style><title>",
    ],
)
def test_time_is_linear_in_the_size_of_a_page(form):
    once = max(seconds(form, 400), 0.02)
    assert seconds(form, 3_200, 8 * 4 * once) < 8 * 4 * once


@pytest.mark.slow
@pytest.mark.parametrize(
    ("outer", "form"),
    [("<div class=poem>", "<p>x</p>"), ("<sup>", "<i>x</i>"), ("<a href='x.png'>", "<i></i>")],
)
def test_many_levels_around_a_long_text_cost_little(outer, form):
    def body(n_levels: int) -> str:
        return outer * n_levels + form * 1_000

    flat = max(seconds(body(1), 1), 0.01)
    assert seconds(body(200), 1, 8 * flat) < 8 * flat


@pytest.mark.parametrize("form", ["<div>", "<i>x", "<span class=x>", "<div class=poem>x", "<b>"])
def test_nesting_without_end_is_refused_at_once(form):
    with pytest.raises(InputError) as failure:
        read_page(("<p>" + form * 100_000).encode())
    assert str(failure.value) == "its elements are nested more than 300 levels deep"
    assert seconds(form, 100_000, 2) < 2


def test_a_page_with_too_many_tags_is_refused_before_it_is_parsed():
    with pytest.raises(InputError) as failure:
        read_page(b"<p>" * 1_500_001)
    assert str(failure.value) == (
        "the file has 1,500,001 tags, expected a book of at most 1,500,000"
    )
    assert seconds("<", 1_500_001, 1) < 1


def test_a_note_that_is_not_closed_stays_in_its_sentence():
    assert texts("<p>One [Footnote: a] two [Footnote: b</p>") == [
        "One two [Footnote: b",
        "[Footnote: a]",
    ]


# Pages of which the parser loses a part, as a browser does

STORY = "<p>“One lamp is lit,” he said, and went down.</p>\n" * 40


def lost(page: str) -> tuple[int, tuple[str, ...]]:
    found = read_page(page.encode())
    return found.n_lost, found.warnings


@pytest.mark.parametrize(
    "broken", ["<!--", "<title>", "<style>", "<noscript>", "<p class='x\">", '<a id="x>']
)
def test_words_in_markup_that_is_not_closed_are_counted(broken):
    n_lost, warnings = lost(f"<html><body>{STORY}{broken}{STORY}</body></html>")
    assert 350 <= n_lost <= 370  # of 9 words in each of 40 paragraphs
    assert warnings == (
        f"words lost in a tag, a comment or an element that is not closed: about {n_lost}",
    )


@pytest.mark.parametrize(
    "whole",
    [
        f"<!-- {'page ' * 400} -->",
        f"<style>{'p { color: red } ' * 100}</style>",
        f"<SCRIPT type='x'>{'<title> if (a) ' * 100}</SCRIPT >",
        f"<title>{'The Lamp ' * 100}</title>",
        "<p>It is 5 < 6, and 7 > 6.</p>",
        "<br/>" * 400,
        f"<p>{'<i>so</i><b>me </b>' * 400}</p>",
        f'<p title="{"a tale " * 200}">One.</p>',
    ],
)
def test_a_whole_page_loses_no_words(whole):
    assert lost(f"<html><head>{whole}</head><body>{STORY}{whole}{STORY}</body></html>") == (0, ())


def test_a_few_lost_words_are_not_told_from_none():
    assert lost(f"<html><body>{STORY}<!-- <p>Only a note.</p> -->{STORY}</body></html>") == (0, ())


@pytest.mark.parametrize("control", ["&#27;", "&#x7;", "&#x7f;", "&#129;"])
def test_a_control_character_is_in_no_text(control):
    page = read_page(f"<title>The {control}Lamp</title><p>One {control}\ntwo.</p>".encode())
    assert (page.title, page.text_blocks[0].text) == ("The \ufffdLamp", "One \ufffd two.")


@pytest.mark.parametrize(
    ("body", "heading"),
    [
        ('<h2><img src="h1.png" alt="CHAPTER IX. The Weir"></h2>', "CHAPTER IX. The Weir"),
        ('<h3><img src="h1.png" alt="" title="By the Weir"></h3>', "By the Weir"),
        ('<h2><span class="pagenum">{4}</span><img alt="The Weir"></h2>', "The Weir"),
        ('<div class="figcenter"><img src="h1.png" alt="CHAPTER IX"></div>', "CHAPTER IX"),
        ('<h2><img alt="Decorative headpiece">THE WEIR</h2>', "THE WEIR"),
        ('<p class="ph2">THE WEIR</p>', "THE WEIR"),
        ('<div class="chaphead">9.—The Weir</div>', "9.—The Weir"),
        ('<div class="chapter-title"><p>THE WEIR</p></div>', "THE WEIR"),
    ],
)
def test_headings_of_every_make(body, heading):
    found = text_blocks(f"<p>Before.</p>{body}<p>After.</p>")
    assert [block.text for block in found] == ["Before.", heading, "After."]


@pytest.mark.parametrize(
    "body",
    [
        '<h2><img src="h1.png" alt="Illustration"></h2>',
        '<h2><img src="h1.png" alt="[Illustration: A weir]"></h2>',
        '<h2><img src="h1.png" alt="decorative"></h2>',
        '<h2><img src="h1.png" alt="h1.png"></h2>',
        '<h2><img src="h1.png"></h2>',
        '<div class="figcenter"><img src="h1.png" alt="A weir in flood"></div>',
    ],
)
def test_what_only_describes_a_picture_is_no_heading(body):
    assert texts(f"<p>Before.</p>{body}<p>After.</p>") == ["Before.", "After."]


def test_an_element_around_a_chapter_is_no_heading():
    body = f'<div class="chapter"><h2>I</h2><p>{"It was late. " * 30}</p></div>'
    assert [block.level for block in text_blocks(body)] == [2, 0]


@pytest.mark.parametrize(
    "between",
    [
        "<hr>",
        '<hr class="tb">',
        "<p>&nbsp;</p>",
        '<div class="thoughtbreak"></div>',
        '<p class="c"><img src="o.png" alt="ornament"></p>',
        '<p class="c"><img src="o.png" alt="* * *"></p>',
    ],
)
def test_breaks_between_scenes(between):
    found = text_blocks(f"<p>Before.</p>{between}<p>After.</p><p>Later.</p>")
    assert [(block.text, block.after_break) for block in found] == [
        ("Before.", False),
        ("After.", True),
        ("Later.", False),
    ]


@pytest.mark.parametrize(
    "row", ["* * *", "*****", "⁂", "· · · · ·", ". . . . . .", "————", "+ + +"]
)
def test_a_row_of_stars_is_a_text_block_and_a_break(row):
    found = text_blocks(f"<p>Before.</p><p>{row}</p><p>After.</p>")
    assert [(block.text, block.after_break) for block in found] == [
        ("Before.", False),
        (row, True),
        ("After.", False),
    ]


@pytest.mark.parametrize(
    "between",
    [
        "<p><br></p>",
        '<p>&nbsp;</p><div class="fig"><img src="a.jpg" alt="The weir"></div><p>&nbsp;</p>',
        '<p><a id="p12"></a></p>',
        "<p></p>",
    ],
)
def test_white_space_of_the_page_is_no_break(between):
    found = text_blocks(f"<p>Before.</p>{between}<p>After.</p>")
    assert not any(block.after_break for block in found)


@pytest.mark.parametrize("text", ["—...", "...", "?!", "“* * *”", "12", "II"])
def test_what_is_said_or_counted_is_no_row_of_stars(text):
    assert not any(block.after_break for block in text_blocks(f"<p>{text}</p>"))
