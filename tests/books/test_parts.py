"""Parts of a book: what is no story is told from it by its heading and by what it looks like."""

import pytest

from miner.books.book import BlockKind, parse_book
from miner.books.parts import Part
from miner.speech.read import parse_spans

TALE = (
    "The tide had gone out behind the mill, and Tobias Wren sat upon the wall to mend a net that "
    "nobody had asked for, while the gulls went up and down the wet sand like clerks.",
    "“You are early, Mr. Wren,” said Hester.",
    "“I am late,” said Tobias Wren. “I have been late since Tuesday.”",
    "“Then sit down, Tobias, and be late in company,” said Hester.",
    "She laughed at Tobias, and he moved along the wall to make room, and looked at the net again.",
)
CRITIC = (
    "It is now thirty years since this novel was first printed, and the reader of to-day will find "
    "in it much that was new then and is common now in the literature of our coasts.",
    "The publishers have asked for a few words, and I give them gladly, for the tale was the first "
    "book that I bought with my own money, and I have not yet been sorry for the money.",
)
AUTHOR = "Anna Weil"


def page(*blocks, author=AUTHOR):
    """A page of headings ("# ...", "## ...") and paragraphs, in Gutenberg's layout."""
    body = []
    for block in blocks:
        level = len(block) - len(block.lstrip("#"))
        body.append(f"<h{level}>{block[level + 1 :]}</h{level}>" if level else f"<p>{block}</p>")
    header = f"<p>Title: The Net</p><p>Author: {author}</p>"
    start, end = (f"*** {at} OF THE PROJECT GUTENBERG EBOOK THE NET ***" for at in ("START", "END"))
    return (
        f"<html lang='en'><body>{header}<p>{start}</p>{''.join(body)}<p>{end}</p></body></html>"
    ).encode()


def chapters(*numbers, tale=TALE):
    return [block for number in numbers or ("I", "II") for block in (f"## CHAPTER {number}", *tale)]


def parts_of(*blocks, **options):
    """The part of each block that was given, rows of tables included."""
    return [block.part for block in parse_book(page(*blocks, **options), "7").blocks]


def part_of(above=(), below=(), **options):
    """The part of the blocks above or below two chapters; there must be one only."""
    found = parts_of(*above, *chapters(), *below, **options)
    story = len(chapters())
    assert found[len(above) : len(above) + story] == [Part.STORY] * story
    (part,) = {*found[: len(above)], *found[len(above) + story :]}
    return part


def test_a_title_page_and_a_dedication():
    above = ("# THE NET", "By Anna Weil", "With six pictures", "LONDON: 1902")
    assert part_of(above) is Part.FRONT
    assert part_of(("# THE NET", "## TO MY AUNT", " ".join(TALE[:1]))) is Part.FRONT
    motto = ("# THE NET", "“Nets are holes that are tied together.” —J. Barnes.")
    assert part_of(motto) is Part.FRONT


@pytest.mark.parametrize(
    "heading",
    [
        *("PREFACE", "INTRODUCTION", "FOREWORD", "To the Reader", "AUTHOR’S NOTE"),
        *("PREFACE TO THE SECOND EDITION", "Introductory Note", "VORWORT", "Préface", "Prólogo"),
        *("Előszó", "Prefazione", "Voorrede", "Ao leitor", "Предисловие", "Förord"),
    ],
)
def test_a_preface(heading):
    above = (f"## {heading}", *CRITIC, "LONDON, March, 1902.")
    assert part_of(above) is Part.PREFACE


@pytest.mark.parametrize(
    "end",
    [
        ("A. W.", "Penzance, June 1st, 1872."),
        ("ANNA WEIL.",),
        ("The Author.",),
        ("The gulls are as they were, and I am grateful to them. Penzance, 1872.",),
    ],
)
def test_a_preface_that_only_its_signature_shows(end):
    assert part_of(("## BEFORE THE TIDE", *CRITIC, *CRITIC, *CRITIC, *CRITIC, *end)) is Part.PREFACE


def test_an_essay_about_the_author():
    essay = (
        "Anna Weil was born at Penzance, and it is from Penzance that all her nets are. When Weil "
        "was six she could splice a rope, and at seven Weil had written of one.",
        "She was sent to a school at Truro, from which she ran away, and then to another one at "
        "Fowey, from which she rowed home in a boat that was not hers.",
        "“I never saw a book,” she used to say, “but I looked for the knots.”",
        "“They are all the same,” was another word of hers.",
        "“And mine,” said Miss Weil, “are the worst.” But Weil was wrong in that.",
    )
    found = parts_of("## A LIFE AMONG NETS", *essay, *chapters("I", "II", "III", "IV"))
    assert found[:6] == [Part.PREFACE] * 6
    assert set(found[6:]) == {Part.STORY}
    # A tale that has the author's name in it throughout is none.
    tale = [block.replace("Hester", "Anna Weil") for block in (*TALE, *TALE)]
    assert set(parts_of(*chapters(tale=tale))) == {Part.STORY}


@pytest.mark.parametrize(
    "told",
    [
        ("## INTRODUCTION", *TALE),  # people talk
        # one of its people has signed it
        ("## PREFACE", *CRITIC, "TOBIAS WREN."),
        ("## TO THE READER", *CRITIC, "T. Wren", "The Mill."),
        # it is about them
        (
            "## FOREWORD",
            "In giving the papers of Tobias to the world I ought to say how Tobias came to us. My "
            "father found Tobias upon the wall, and Tobias would not say whose wall it was.",
            "Of Hester I say nothing, and Tobias said little.",
        ),
        ("## PROLOGUE", *CRITIC),
        ("## I", "## INTRODUCTION", *CRITIC),  # the title of a chapter with a number
        ("## CHAPTER THE FIRST", "## Preface to a Storm", *CRITIC),
    ],
)
def test_a_preface_that_is_told_is_of_the_story(told):
    assert set(parts_of(*told, *chapters())) == {Part.STORY}


def test_a_frame_without_a_title_is_of_the_story():
    frame = (
        "## THE MILL",
        *[f"{text} And so it was in the year {n}." for n in range(9) for text in CRITIC],
    )
    assert set(parts_of(*frame, *chapters())) == {Part.STORY}
    # nor is what stands right below a table of contents without a heading
    table = ("## CONTENTS", "CHAPTER I", "CHAPTER II")
    assert parts_of(*table, *CRITIC, *chapters())[3:5] == [Part.STORY] * 2


def test_prefaces_of_a_collection():
    tales = ("## THE NET", *TALE, "## THE WALL", *TALE)
    between = ("## PREFACE TO PART TWO", *CRITIC, "A. W., 1902.")
    found = parts_of(*tales, *between, *tales)
    assert found[12:16] == [Part.PREFACE] * 4
    assert {*found[:12], *found[16:]} == {Part.STORY}
    # Without a date or a name it may be told.
    assert set(parts_of(*tales, *between[:3], *tales)) == {Part.STORY}


def test_afterwords_stand_behind_the_story():
    assert part_of(below=("## AFTERWORD", *CRITIC)) is Part.PREFACE
    assert part_of(below=("## ON GULLS", *CRITIC, "ANNA WEIL.")) is Part.PREFACE
    assert part_of(below=("## THE NETS OF ANNA WEIL", *CRITIC)) is Part.PREFACE
    assert part_of(below=("## EPILOGUE", *CRITIC)) is Part.STORY
    assert part_of(below=("## NOTE", *CRITIC, "TOBIAS WREN.")) is Part.STORY


@pytest.mark.parametrize(
    ("heading", "part"),
    [
        ("NOTES", Part.NOTES),
        ("GLOSSARY", Part.NOTES),
        ("APPENDIX II", Part.NOTES),
        ("ERRATA", Part.NOTES),
        ("Anmerkungen", Part.NOTES),
        ("INDEX", Part.INDEX),
        ("BY THE SAME AUTHOR", Part.ADVERTISEMENTS),
        ("Du même auteur", Part.ADVERTISEMENTS),
        ("Obras do mesmo autor", Part.ADVERTISEMENTS),
    ],
)
def test_what_stands_behind_the_story_by_its_heading(heading, part):
    below = (f"## {heading}", "Splice, to join two ropes.", "Warp, to move a boat by one.")
    assert part_of(below=below) is part


def test_advertisements_by_their_prices_and_printers():
    below = (
        "## Tales of the Coast",
        "By T. Barnes. With forty pictures. Cloth gilt. 2s. 6d.",
        "“The best of its kind,” says the Gazette, and so say all who live beside the sea.",
        "## The Second Series",
        "A fine volume. $1.50.",
    )
    assert part_of(below=below) is Part.ADVERTISEMENTS
    assert part_of(below=("Printed in Great Britain by Barnes &amp; Sons.",)) is Part.ADVERTISEMENTS
    told = (
        "“What is the price?” said Hester.",
        "“Two shillings,” said he, “and the net is yours.”",
    )
    assert part_of(below=told) is Part.STORY


def test_what_follows_the_line_that_ends_the_story():
    found = parts_of(*chapters(), "THE END", "A net on page 9 is a nest in some printings.")
    assert found[-2:] == [Part.STORY, Part.NOTES]
    # Not if it goes on being told, or has chapters.
    assert set(parts_of(*chapters(), "THE END", *TALE)) == {Part.STORY}
    assert set(parts_of(*chapters("I", "II"), "THE END", *chapters("III", "IV"))) == {Part.STORY}
    assert set(parts_of(*chapters(), "## THE END", *CRITIC)) == {Part.STORY}


def table(*rows):
    return "<table>" + "".join(f"<tr><td>{row}</td></tr>" for row in rows) + "</table>"


CAPTIONS = ("Frontispiece", "“You are late!”", "Heading to Chapter I.", "The wall", "“Sit down”")


@pytest.mark.parametrize(
    "heading", ["", "<h2><img alt='' src='a.jpg'></h2>", "<h2>ILLUSTRATIONS</h2>"]
)
def test_a_list_of_pictures(heading):
    above = f"<h1>THE NET</h1>{heading}{table(*CAPTIONS)}"
    book = parse_book(page(*chapters()).replace(b"<h2>", f"{above}<h2>".encode(), 1), "7")
    rows = [block for block in book.blocks if block.kind is BlockKind.ENTRY]
    assert [block.part for block in rows] == [Part.ILLUSTRATIONS] * 5
    assert book.blocks[0].part is Part.FRONT


def test_a_table_of_contents_without_a_title():
    above = f"<h1>THE NET</h1>{table('CHAPTER I 3', 'CHAPTER II 9', '“Late” 12')}"
    book = parse_book(page(*chapters()).replace(b"<h2>", f"{above}<h2>".encode(), 1), "7")
    assert [block.part for block in book.blocks[1:4]] == [Part.CONTENTS] * 3
    assert book.blocks[4].part is Part.STORY


def test_a_table_of_contents_that_is_one_paragraph():
    rows = " ".join(
        f"{n}. In which it is late, and {'they mend the net and ' * 3}go home" for n in range(1, 9)
    )
    found = parts_of("# THE NET", "## CONTENTS", rows, *chapters())
    assert found[1:3] == [Part.CONTENTS] * 2
    assert set(found[3:]) == {Part.STORY}


def test_a_table_in_the_story_is_of_the_story():
    bill = f"</p>{table('Rope', 'Twine', 'A cork or two')}<p>"
    book = parse_book(page(*chapters(), bill, *TALE), "7")
    assert {block.part for block in book.blocks} == {Part.STORY}


def test_a_book_that_tells_no_story_is_its_text():
    assert set(parts_of("## PREFACE", *CRITIC, "LONDON, 1902.")) == {Part.STORY}
    found = parts_of("# ON NETS", "## INTRODUCTION", *CRITIC * 9, "1902.", "## Of Knots", *CRITIC)
    assert set(found) == {Part.STORY}


def test_only_the_story_has_spans_unless_the_rest_is_asked_for():
    preface = ("## PREFACE", *CRITIC, "“It is a fine book,” said Mr. Barnes.", "LONDON, 1902.")
    data = page("# THE NET", *preface, *chapters())
    story, whole = (parse_spans(data, "7", front_matter=given) for given in (False, True))
    assert "".join(span.text for span in story.spans) == "".join(chapters()).replace("## ", "")
    assert "“It is a fine book,”" not in [span.text for span in story.spans]
    assert "“It is a fine book,”" in [span.text for span in whole.spans if span.is_utterance]
    assert whole.spans[0].text == "THE NET"
    assert story.book.words_by_part == whole.book.words_by_part
    assert list(story.book.words_by_part) == [Part.FRONT, Part.PREFACE, Part.STORY]
    assert story.book.n_words == sum(story.book.words_by_part.values())
