"""Outlines of books -> where their chapters begin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.books.chapters import (
    Outline,
    find_chapter_starts,
    is_contents_title,
    looks_like_heading,
    printed_number,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CHAPTER IV", True),
        ("CHAPTER 12", True),
        ("Chapter IV", True),
        ("Chapter IV.", True),
        ("CHAPTER IV. In which nothing happens", True),
        ("Chapter IV: A Gate", True),
        ("Chapter IV—A Gate", True),
        ("Chapter IV A Gate", True),
        ("[CHAPTER IV]", False),
        ("Part 2", True),
        ("BOOK II.", True),
        ("STAVE III", True),
        ("Kapitel 3", True),
        ("Chapitre III", True),
        ("CAPÍTULO X", True),
        ("CAPITOLO II. Ritratto", True),
        ("Livro III", True),
        ("Hoofdstuk 7. Élan", True),
        ("IV", True),
        ("IV.", True),
        ("XXVIII", True),
        ("CHAPTER THE LAST", True),
        ("CONCLUSION", True),
        ("EPILOGUE.", True),
        ("Chapter IV of the book I was reading bored me, and I said so.", False),
        ("Part 2 was better than Part 1 by far.", False),
        ("Part I was afraid of", False),
        ("Letter I never wrote.", False),
        ("Book the room, he said.", False),
        ("Chapter IV,", False),
        ("Chapter IV;", False),
        ("chapter 4", False),
        ("Conclusion", False),
        ("Chapter and verse.", False),
        ("“CHAPTER IV”", False),
        ("—CHAPTER IV", False),
        ("«IV»", False),
        ("iv", False),
        ("12", False),
        ("MIX", False),
        ("I am.", False),
        ("HE WAS LATE", False),
        ("A plain sentence.", False),
        ("CHAPTER IV. " + "And so on. " * 12, False),
    ],
)
def test_paragraphs_that_look_like_headings(text, expected):
    assert looks_like_heading(text, bold=False) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Conclusion", True),
        ("IV.", True),
        ("Chapter IV", True),
        ("Mr. Ash", False),
        ("“IV”", False),
        ("I said no.", False),
    ],
)
def test_bold_paragraphs_that_look_like_headings(text, expected):
    assert looks_like_heading(text, bold=True) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CONTENTS", True),
        ("Contents.", True),
        ("TABLE OF CONTENTS", True),
        ("Detailed Contents", True),
        ("CONTENTS OF VOL. II", True),
        ("ILLUSTRATIONS", True),
        ("List of Illustrations", True),
        ("LIST OF PLATES.", True),
        ("Chapter Titles", True),
        ("INHALT", True),
        ("Inhaltsverzeichnis", True),
        ("TABLE DES MATIÈRES", True),
        ("Table des chapitres", True),
        ("ÍNDICE", True),
        ("INDICE", True),
        ("Inhoudsopgave", True),
        ("TARTALOM", True),
        ("Tartalomjegyzék", True),
        ("Discontents", False),
        ("The Contents of the Box", False),
        ("Contents of the box that Benot had carried in", False),
        ("Contentsville", False),
        ("CHAPTER I", False),
        ("Preface", False),
        ("Illustrated by the Author", False),
        ("", False),
    ],
)
def test_titles_of_tables_of_contents(text, expected):
    assert is_contents_title(text) is expected


def starts(*items: tuple[int, str, int]) -> list[str]:
    """The headings at which chapters begin; an item is level, heading and words below it."""
    outline = []
    for level, text, n_words in items:
        outline.append(Outline(level, text, 0))
        if n_words:
            outline += [Outline(0, "", n_words - n_words // 3), Outline(0, "", n_words // 3)]
    return [outline[start.position].text for start in find_chapter_starts(outline)]


LONG_TITLE = ("How they went out and came back. " * 9).strip()
OUTLINES = {
    "two levels": (
        [
            *[(2, f"Chapter {n}", 900) for n in range(1, 6)],
            *[(2, "PART TWO", 0), (3, "Chapter 1", 700), (3, "Chapter 2", 600)],
        ],
        [*[f"Chapter {n}" for n in range(1, 6)], "PART TWO", "Chapter 2"],
    ),
    "two levels, one of them in a paper": (
        [
            *[(2, f"Chapter {n}", 900) for n in range(1, 10)],
            *[(4, "Chapter 1 of the Paper", 70), (4, "Chapter 2 of the Paper", 60)],
        ],
        [f"Chapter {n}" for n in range(1, 10)],
    ),
    "a conclusion inside": (
        [(2, "Chapter I", 900), (4, "Conclusion", 90), (2, "Chapter II", 800)],
        ["Chapter I", "Chapter II"],
    ),
    "chapters": (
        [(1, "THE GATE", 0), (2, "Chapter I", 900), (2, "Chapter II", 800), (2, "Chapter III", 9)],
        ["THE GATE", "Chapter II", "Chapter III"],
    ),
    "chapters below": (
        [(1, "THE GATE", 9), (3, "CHAPTER I.", 900), (3, "CHAPTER II.", 800)],
        ["THE GATE", "CHAPTER II."],
    ),
    "spelled out": (
        [(2, "Chapter the First", 900), (2, "SECOND CHAPTER", 800), (2, "Chapter Twenty-One", 50)],
        ["Chapter the First", "SECOND CHAPTER", "Chapter Twenty-One"],
    ),
    "numerals": ([(2, "I", 900), (2, "II", 50), (2, "III.", 800)], ["I", "II", "III."]),
    "digits": ([(2, "1. The Gate", 900), (2, "2. The Bees", 800)], ["1. The Gate", "2. The Bees"]),
    "titles with numerals": (
        [(2, "I—The Gate", 900), (2, "II—The Bees", 800)],
        ["I—The Gate", "II—The Bees"],
    ),
    "titles only": (
        [(1, "TALES", 12), (2, "The Gate", 900), (2, "The Bees", 700), (2, "The Boat", 800)],
        ["TALES", "The Bees", "The Boat"],
    ),
    "one tale": ([(1, "THE GATE", 0), (2, "by A. B.", 1200)], ["THE GATE"]),
    "none": ([], []),
    "headings without text": ([(1, "THE GATE", 0), (2, "Chapter I", 0)], []),
    "parts above": (
        [
            *[
                (1, "THE GATE", 0),
                (2, "PART ONE", 0),
                (3, "Chapter I", 900),
                (3, "Chapter II", 800),
            ],
            *[(2, "PART TWO", 0), (3, "Chapter I", 700), (3, "Chapter II", 600)],
        ],
        ["THE GATE", "Chapter II", "PART TWO", "Chapter II"],
    ),
    "parts with mottoes": (
        [
            *[(2, "PART ONE", 30), (3, "I", 900), (3, "II", 800)],
            *[(2, "PART TWO", 45), (3, "I", 700), (3, "II", 600)],
        ],
        ["PART ONE", "II", "PART TWO", "II"],
    ),
    "parts with mottoes on the same level": (
        [
            *[(3, "Part First", 0), (3, "At the Gate", 45), (3, "I", 900), (3, "II", 800)],
            *[(3, "Part Second", 0), (3, "At the Mill", 14), (3, "I", 700), (3, "II", 600)],
        ],
        ["Part First", "II", "Part Second", "II"],
    ),
    "parts with an introduction": (
        [(2, "BOOK I", 300), (3, "Chapter I", 900), (2, "BOOK II", 0), (3, "Chapter I", 600)],
        ["BOOK I", "Chapter I", "BOOK II"],
    ),
    "sections inside": (
        [
            *[(2, "Chapter I", 0), (3, "I", 900), (3, "II", 800), (3, "III", 500)],
            *[(2, "Chapter II", 0), (3, "I", 700), (3, "II", 600)],
        ],
        ["Chapter I", "Chapter II"],
    ),
    "headlines inside": (
        [(2, "Chapter I", 300), (4, "A Newspaper", 200), (2, "Chapter II", 300), (4, "I", 200)],
        ["Chapter I", "Chapter II"],
    ),
    "titles below numbers": (
        [(2, "CHAPTER I", 0), (3, "The Gate", 900), (2, "CHAPTER II", 0), (3, "The Bees", 800)],
        ["CHAPTER I", "CHAPTER II"],
    ),
    "captions as headings": (
        [
            *[(2, "Chapter I", 900), (2, "“Who’s there?”", 300), (2, "Chapter II", 800)],
            *[(2, "She turned, and there he was.", 300), (2, "Chapter III", 700)],
            *[(2, "Chapter IV", 700), (2, "Chapter V", 700)],
        ],
        ["Chapter I", "Chapter II", "Chapter III", "Chapter IV", "Chapter V"],
    ),
    "quotations as titles": (
        [(2, "“Who’s there?”", 900), (2, "“A friend”", 800), (2, "The Stair", 700)],
        ["“Who’s there?”", "“A friend”", "The Stair"],
    ),
    "preface and epilogue": (
        [(2, "PREFACE", 300), (2, "Chapter I", 900), (2, "Chapter II", 800), (2, "Epilogue", 90)],
        ["PREFACE", "Chapter I", "Chapter II", "Epilogue"],
    ),
    "unnumbered preface": (
        [
            (2, "To the Reader", 280),
            (2, "Chapter I", 900),
            (2, "Chapter II", 800),
            (2, "Chapter III", 9),
        ],
        ["To the Reader", "Chapter I", "Chapter II", "Chapter III"],
    ),
    "title page": (
        [
            (1, "THE GATE", 120),
            (1, "Chapter I", 900),
            (1, "Chapter II", 800),
            (1, "Chapter III", 700),
        ],
        ["Chapter I", "Chapter II", "Chapter III"],
    ),
    "short last word": (
        [(2, "I", 900), (2, "II", 800), (2, "III", 700), (2, "To the Reader", 100)],
        ["I", "II", "III", "To the Reader"],
    ),
    "contents above": (
        [(1, "THE GATE", 0), (2, "CONTENTS", 0), (2, "Chapter I", 900), (2, "Chapter II", 800)],
        ["Chapter I", "Chapter II"],
    ),
    "contents as text": (
        [(1, "THE GATE", 0), (2, "CONTENTS", 700), (2, "Chapter I", 900), (2, "Chapter II", 800)],
        ["Chapter I", "Chapter II"],
    ),
    "index and notes behind": (
        [(2, "I", 900), (2, "II", 800), (2, "FOOTNOTES", 300), (2, "INDEX", 300)],
        ["I", "II"],
    ),
    "ends of parts": (
        [
            (2, "I", 900),
            (3, "END OF PART ONE", 0),
            (2, "II", 800),
            (2, "III", 700),
            (2, "FINIS", 0),
        ],
        ["I", "II", "III"],
    ),
    "paragraphs as headings": (
        [
            (1, "THE GATE", 9),
            (7, "CHAPTER I", 900),
            (7, "CHAPTER II", 800),
            (7, "CHAPTER III", 700),
        ],
        ["THE GATE", "CHAPTER II", "CHAPTER III"],
    ),
    "numerals as paragraphs inside": (
        [(2, "Chapter I", 100), (7, "I", 900), (7, "II", 90), (2, "Chapter II", 800)],
        ["Chapter I", "Chapter II"],
    ),
    "a last chapter as a paragraph": (
        [(2, "Chapter I", 900), (2, "Chapter II", 800), (7, "CHAPTER THE LAST", 500)],
        ["Chapter I", "Chapter II", "CHAPTER THE LAST"],
    ),
    "a book in the book": (
        [(2, "Chapter 1. The Paper", 900), (7, "CHAPTER I", 500), (2, "Chapter 2. The End", 800)],
        ["Chapter 1. The Paper", "Chapter 2. The End"],
    ),
    "chapters of a line": (
        [
            (2, "CAPITULO I", 900),
            (2, "CAPITULO II", 8),
            (2, "CAPITULO III", 30),
            (2, "CAPITULO IV", 60),
        ],
        ["CAPITULO I", "CAPITULO II", "CAPITULO III", "CAPITULO IV"],
    ),
    "a title that tells the story": (
        [*[(2, f"{n}. A Gate", 900) for n in range(1, 9)], (2, f"9. {LONG_TITLE}", 800)],
        [*[f"{n}. A Gate" for n in range(1, 9)], f"9. {LONG_TITLE}"],
    ),
    "German": (
        [(2, "Erster Teil", 0), (3, "Erstes Kapitel", 900), (3, "Zweites Kapitel", 800)],
        ["Erster Teil", "Zweites Kapitel"],
    ),
    "Hungarian": (
        [(2, "ELSŐ FEJEZET.", 900), (2, "II. FEJEZET", 800)],
        ["ELSŐ FEJEZET.", "II. FEJEZET"],
    ),
    "French": ([(3, "Chapitre I", 900), (3, "Chapitre II", 90)], ["Chapitre I", "Chapitre II"]),
}


@pytest.mark.parametrize("name", OUTLINES)
def test_chapters_of_an_outline(name):
    items, expected = OUTLINES[name]
    assert starts(*items) == expected


headings = st.sampled_from(
    ["I", "Chapter 2", "The Gate", "CONTENTS", "PART ONE", "“Oh!”", "FINIS", ""]
)
items = st.builds(Outline, st.integers(0, 7), headings, st.integers(0, 90))


@given(st.lists(items, max_size=30))
def test_starts_in_any_outline_are_headings_in_order(outline):
    found = [start.position for start in find_chapter_starts(outline)]
    assert found == sorted(set(found))
    assert all(outline[position].level for position in found)


@given(st.lists(st.sampled_from([2, 3, 4]), max_size=6), st.integers(2, 20))
def test_numbered_chapters_are_found_with_any_headings_inside_them(levels, n):
    inside = [(level + 1, "A Paper", 90) for level in levels]
    found = starts(*[item for i in range(n) for item in ((2, f"Chapter {i + 1}", 100), *inside)])
    assert found == [f"Chapter {i + 1}" for i in range(n)]


@pytest.mark.parametrize(
    ("heading", "number"),
    [
        ("CHAPTER XIV. The Gate", 14),
        ("CHAPTERXXVII.", 27),
        ("Chapter the Twenty-first", 21),
        ("BOOK THE SECOND. REAPING", 2),
        ("STAVE ONE: The Gate", 1),
        ("XLIX.", 49),
        ("4.—The Gate", 4),
        ("2 THE GATE", 2),
        ("Zwölftes Kapitel", 12),
        ("21. Kapitel", 21),
        ("PREMIÈRE PARTIE", 1),
        ("CAPITULO LV", 55),
        ("MÁSODIK FEJEZET.", 2),
        ("CHAPTER THE LAST", None),
        ("The Gate", None),
        ("I went home", None),
        ("CIVIL WAR", None),
        ("EPILOGUE", None),
        ("1066 and after", None),
    ],
)
def test_the_number_of_a_heading(heading, number):
    assert printed_number(heading) == number
