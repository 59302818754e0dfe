"""A short book with annotated speakers, and ways to find speakers that are written by hand."""

import csv
from hashlib import sha256
from pathlib import Path

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import AnnotatedBook, Annotation, BookCard
from miner.people.cast import Character, Kind
from miner.people.character_files import SpokenBook
from miner.speech.tags import Tag, TaggedSpan

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>The Key | Project Gutenberg</title></head>
<body><section class="pg-boilerplate pgheader" id="pg-header" lang="en">
<div id="pg-start-separator">
<span>*** START OF THE PROJECT GUTENBERG EBOOK THE KEY ***</span>
</div></section>
<h1>The Key</h1>
{}
</body></html>
"""
OPENING = (
    "Mara Otway came down to the weighing room, and Mr. Bell came after her with the lantern. The "
    "waiter had been told to stand by the door."
)
# What is said in each chapter, the narration after it, the speaker and the conversation.
SCENES = [
    [
        ("Who has the key?", "asked Mara Otway.", "Mara Otway", 1),
        ("It hung on its nail last night.", "said Mr. Bell.", "Mr Bell", 1),
        ("Then somebody has walked in his sleep.", "she said.", "Mara Otway", 1),
        ("Nobody sleeps here.", "", "Mr Bell", 1),
        ("I sleep here, sir.", "said the waiter.", "waiter", 2),
    ],
    [
        ("Is it found?", "asked Mr. Bell.", "Mr Bell", 1),
        ("It is in the lock.", "", "?", 1),
        ("So it is.", "said Mara Otway.", "Mara Otway", 1),
    ],
]


def page() -> bytes:
    """The book as a page of HTML."""
    body = []
    for number, scene in enumerate(SCENES, 1):
        body += [f"<h2>CHAPTER {'I' * number}</h2>", f"<p>{OPENING}</p>"]
        body += [f"<p>“{text}” {narration}</p>" for text, narration, _, _ in scene]
        body.append("<p>Mara Otway put out the lantern, and Mr. Bell went home.</p>")
    return PAGE.format("\n".join(body)).encode()


def annotated_key() -> AnnotatedBook:
    """The annotations of the book."""
    card = BookCard(
        "7",
        "The Key",
        "nobody",
        "en",
        2026,
        "Britain",
        "x",
        3,
        "dev",
        "x",
        sha256(page()).hexdigest(),
    )
    facts = tuple(
        Annotation(chapter, number, fingerprint(text), speaker, conversation)
        for chapter, scene in enumerate(SCENES, 1)
        for number, (text, _, speaker, conversation) in enumerate(scene)
    )
    return AnnotatedBook(card, facts)


MARA = Character("mara-otway", "Mara Otway", ("Mara Otway",), "f", n_mentions=9)
BELL = Character("mr-bell", "Mr. Bell", ("Mr. Bell",), "m", n_mentions=9)
WAITER = Character("waiter-1", "waiter", ("waiter",), "m", Kind.UNNAMED, chapter=1)


SAID = [text for scene in SCENES for text, _, _, _ in scene]


def saying(*speakers, characters=(MARA, BELL, WAITER)):
    """A way to find speakers that knows who says each of `SAID`."""
    of_text = dict(zip(SAID, speakers, strict=True))

    def speak(book_spans, given=None):
        spans = [
            TaggedSpan(span, Tag.B_START, speaker=of_text.get(span.text.strip("“” ")))
            if span.is_utterance
            else TaggedSpan(span, Tag.O)
            for span in book_spans.spans
        ]
        return SpokenBook(tuple(spans), tuple(characters))

    return speak


# The list of characters of the book in the corpus, as its file has it.
LISTED = [
    ("Mara Otway", {"Mara Otway", "Mara", "Miss Otway"}, "F"),
    ("Edwin Bell", {"Mr. Bell", "Bell"}, "M"),
    ("The Waiter", {"the waiter"}, "M"),
    ("_unknowable", set(), "U"),
]
_IN_CORPUS = {"Mara Otway": "Mara Otway", "Mr Bell": "Edwin Bell ", "waiter": "The Waiter"}


def write_corpus(folder: Path) -> Path:
    """Writes a corpus of one novel, the book; its Gutenberg number is 7."""
    novel = folder / "TheKey"
    novel.mkdir(parents=True)
    (folder / "PDNC-Novel-Index.csv").write_text(
        "Novel Title,Author Code,Source,Folder Name\n"
        "The Key,WREN,https://www.gutenberg.org/ebooks/7,TheKey\n"
    )
    lines = [f'"{text}" {narration}' for scene in SCENES for text, narration, _, _ in scene]
    text = "\n\n".join(["THE KEY", OPENING, *lines])
    (novel / "novel_text.txt").write_text(text, encoding="utf-8", newline="")
    columns = ["quoteID", "subQuotationList", "quoteByteSpans", "speaker", "addressees"]
    quotations = [[*columns, "quoteType"]]
    for said, _, speaker, _ in (line for scene in SCENES for line in scene):
        at = text.index(said)
        kind = "Explicit" if speaker == "Mr Bell" else "Implicit"
        who = _IN_CORPUS.get(speaker, "_unknowable")
        cells = [f"Q{len(quotations)}", repr([said]), repr([[at, at + len(said)]]), who, "[]", kind]
        quotations.append(cells)
    listed = [["Main Name", "Aliases", "Gender"]]
    listed += [[name, repr(aliases or []), gender] for name, aliases, gender in LISTED]
    for name, rows in (("quotation_info.csv", quotations), ("character_info.csv", listed)):
        with (novel / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    return folder
