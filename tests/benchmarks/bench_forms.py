"""Mines books in several forms and says whether the utterances are the same.

    python tests/benchmarks/bench_forms.py --books DIR [--ebookmaker COMMAND] [--pdnc DIR] [-o FILE]

Books are at hand as HTML. The other forms are made from it by routes that share nothing with our
reader:

- plain text: html.parser of the standard library and the conventions of Gutenberg's volunteers, as
  a plain formatter would follow them: lines of 72 characters, a white line between paragraphs, four
  above chapters and two below, `_emphasis_`, indents for verse and quotations, rows of stars for
  rules, Gutenberg's header and licence as they stand in the file.
- EPUB: Gutenberg's own program, ebookmaker, if its command is given (`pip install ebookmaker` in an
  environment of its own). It divides the text, rewrites classes and adds its navigation.
- plain text of Gutenberg itself: the novels of the PDNC with a public source, if its folder is
  given. Some are other editions than the HTML, and bytes beyond ASCII are lost in some.

Each line compares the utterances of the other form with those of the HTML, by their text and order
(a longest common sequence): those that are equal, missing and extra, and F1; then the number of
chapters in both. `-o` writes every difference to a file. Quotation marks and white space count, the
lengths of dashes do not; for the PDNC, of which the marks were made straight, only letters and
digits do.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from html.parser import HTMLParser
from pathlib import Path
from textwrap import wrap

from miner.books.book import SPOKEN_KINDS
from miner.books.book_file import decode_book
from miner.books.sources import id_of
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans

WIDTH = 72
PDNC = {
    "AlicesAdventuresInWonderland": "11",
    "AnneOfGreenGables": "45",
    "DaisyMiller": "208",
    "Emma": "158",
    "HowardsEnd": "2946",
    "MansfieldPark": "141",
    "NightAndDay": "1245",
    "NorthangerAbbey": "121",
    "OliverTwist": "730",
    "PrideAndPrejudice": "1342",
    "SenseAndSensibility": "161",
    "TheGambler": "2197",
    "TheManWhoWasThursday": "1695",
    "TheSignOfTheFour": "2097",
    "TheSportOfTheGods": "17854",
}


# Plain text


class TextWriter(HTMLParser):
    """HTML -> plain text in Gutenberg's layout, as a plain formatter writes it."""

    SKIPPED = frozenset({"style", "script", "title"})
    EMPHASIS = frozenset({"i", "em", "cite"})
    BLOCKS = frozenset(
        "p div h1 h2 h3 h4 h5 h6 blockquote li ul ol table tr center pre body section dd dt dl"
        " figure figcaption header footer main nav hr".split()
    )
    HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
    VERSE = re.compile(r"\b(?:poem\w*|poetry|stanza|verse|line-?group)\b")
    STANZA = re.compile(r"\b(?:stanza|linegroup|group)\b")
    NOTE = re.compile(r"^(?:foot|fn)$|\b(?:footnotes?|fnote|endnotes?)\b")
    LABEL = re.compile(r"(?:Footnote\s+)?[\[(]?(\d{1,3}|[A-Z]|[*†‡§])[\])]?[.:]?(?:\s+|$)")
    # What a volunteer leaves out of the text: numbers of pages and lines.
    PAGES = re.compile(
        r"\b(?:page-?num|pageno|pgnum|pb|folionum|x-ebookmaker-pageno|line-?num|linenumber)\b"
    )
    VOID = frozenset({"br", "hr", "img", "meta", "link", "input", "col", "area", "base", "wbr"})

    def __init__(self, chapter_level: int) -> None:
        super().__init__(convert_charrefs=True)
        self.chapter_level = chapter_level  # of headings with four white lines above
        self.label = ""  # of a note whose text is still to come
        self.out: list[str] = []
        self.text: list[str] = []
        self.stack: list[tuple[str, str]] = []  # name, what it is: "skip", "verse", "quote", ...

    def inside(self, kind: str) -> bool:
        return any(kind == what for _, what in self.stack)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        classes = names.get("class") or ""
        if tag == "br":
            self.text.append("\n")
            return
        if tag == "hr":
            self.flush()
            self.out.append("\n       *       *       *       *       *\n")
            return
        if tag == "img":
            alt = names.get("alt") or ""
            if len(alt) == 1 and alt.isupper():
                self.text.append(alt)  # a drop cap
            return
        if tag in self.VOID:
            return
        if tag in ("p", "li", "tr", "dd", "dt") or tag in self.HEADINGS:
            self.close_paragraph()
        if tag in self.BLOCKS:
            self.flush()
        what = ""
        if self.STANZA.search(classes):
            self.out.append("\n")
        target = (names.get("href") or "").lower()
        if tag == "a" and target.endswith((".jpg", ".jpeg", ".png", ".gif")):
            what = "skip"  # "Original": the link to a picture
        elif tag in self.SKIPPED or self.PAGES.search(classes):
            what = "skip"
        elif tag in self.HEADINGS:
            what = "heading"
        elif tag == "pre":
            what = "pre"
        elif self.VERSE.search(classes):
            what = "verse"
        elif self.NOTE.search(classes):
            what = "note"
        elif tag == "blockquote":
            what = "quote"
        elif tag == "sup":
            what = "raised"
        elif tag in self.EMPHASIS:
            what = "emphasis"
            self.text.append("_")
        self.stack.append((tag, what))

    def close_paragraph(self) -> None:
        """Ends an open paragraph, whose end may be left out in HTML."""
        for n in range(len(self.stack) - 1, -1, -1):
            if self.stack[n][0] in ("p", "li", "dd", "dt"):
                self.flush()
                del self.stack[n:]
                return
            if self.stack[n][0] in self.BLOCKS:
                return

    def handle_endtag(self, tag: str) -> None:
        if all(name != tag for name, _ in self.stack):
            return
        if tag in self.BLOCKS:
            self.flush()
        while self.stack:
            name, what = self.stack.pop()
            if what == "emphasis":
                self.text.append("_")
            if name == tag:
                break
        if tag in ("td", "th", "span", "div") and self.inside("verse"):
            self.text.append("")
        if tag in ("td", "th"):
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        if self.inside("skip"):
            return
        if self.inside("raised") and re.fullmatch(r"[\[(]?[\d*†‡]+[\])]?", data.strip()):
            return  # the anchor of a note; "S. Exc.a" has raised letters
        self.text.append(data if self.inside("pre") else re.sub(r"\s+", " ", data))

    def flush(self) -> None:
        text = "".join(self.text)
        self.text = []
        if not text.strip():
            return
        # Emphasis hugs its words, and an empty one leaves nothing.
        text = re.sub(r"_(\s*)_", r"\1", text)
        text = re.sub(r"\b_(\s+)(?=\w[^_]*_)", r"\1_", text)
        if self.inside("pre"):
            self.out.append("\n" + text.strip("\n") + "\n")
            return
        if self.inside("note"):
            text = self.labelled(" ".join(text.split()))
            if not text:
                return
        lines = [" ".join(line.split()) for line in text.strip().split("\n")]
        if self.inside("heading"):
            wrapped = [part for line in lines for part in wrap(line, WIDTH)]
            level = next(int(name[1]) for name, what in self.stack if what == "heading")
            above = 4 if level <= self.chapter_level else 2
            self.out.append("\n" * above + "\n".join(wrapped) + "\n" * (above // 2))
            return
        indent = " " * 4 * (self.inside("quote") or self.inside("verse"))
        paragraphs: list[list[str]] = [[]]
        for line in lines:
            if line:
                paragraphs[-1] += wrap(
                    line,
                    WIDTH,
                    initial_indent=indent,
                    subsequent_indent=indent,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            elif paragraphs[-1]:
                paragraphs.append([])
        for paragraph in paragraphs:
            if paragraph:
                # The lines of a stanza are elements of their own in some books.
                joins = self.inside("verse") and not self.stack_has_line_break()
                self.out.append(("" if joins else "\n") + "\n".join(paragraph) + "\n")

    def labelled(self, text: str) -> str:
        """A note as volunteers write it, "[Footnote 1: ...]"; "" if its text is still to come."""
        if match := self.LABEL.match(text):
            self.label, text = f" {match[1]}", text[match.end() :]
        if not text:
            return ""
        label, self.label = self.label, ""
        return f"[Footnote{label}: {text}]"

    def stack_has_line_break(self) -> bool:
        return any(name in ("p", "pre") for name, _ in self.stack)


def text_of(page: bytes) -> bytes:
    """The plain text of an HTML file, in UTF-8."""
    text = decode_book(page).text
    levels = Counter(map(int, re.findall(r"<[hH]([1-6])\b", text)))
    often = [level for level, n in levels.items() if n > 2]
    writer = TextWriter(min(often, default=6))
    writer.feed(text)
    writer.close()
    writer.flush()
    return "".join(writer.out).encode()


# EPUB


def epub_of(path: Path, command: str, folder: Path) -> bytes:
    """The EPUB that ebookmaker makes of an HTML file."""
    id = id_of(path)
    done = subprocess.run(
        [
            *shlex.split(command),
            "--make=epub3.images",
            f"--ebook={id}",
            f"--title=Book {id}",
            "--author=Somebody",
            f"--output-dir={folder}",
            path.resolve().as_uri(),
        ],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )
    made = sorted(folder.glob("*.epub"))
    if not made:
        raise ValueError(f"ebookmaker made no EPUB: {done.stderr.strip().splitlines()[-1:]}")
    data = made[0].read_bytes()
    for file in made:
        file.unlink()
    return data


# Comparison


@dataclass(frozen=True, slots=True)
class Compared:
    """How the utterances of one form agree with those of the HTML."""

    n_equal: int
    n_html: int
    n_other: int
    chapters: tuple[int, int]
    causes: Counter[str]
    differences: tuple[str, ...]

    @property
    def f1(self) -> float:
        total = self.n_html + self.n_other
        return 2 * self.n_equal / total if total else 1.0


def utterances(book_spans: BookSpans) -> list[str]:
    return [span.text for span in book_spans.spans if span.is_utterance]


def dashed(text: str) -> str:
    """A text in which hyphens for a dash are one, since HTML has both."""
    return re.sub(r"(?:--+|—)+", "—", text)


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def compare(html: BookSpans, other: BookSpans, key: Callable[[str], str] = dashed) -> Compared:
    expected, found = utterances(html), utterances(other)
    matcher = SequenceMatcher(None, [*map(key, expected)], [*map(key, found)], autojunk=False)
    whole = letters(" ".join(block.text for block in other.book.blocks))
    spoken = letters(
        " ".join(block.text for block in other.book.blocks if block.kind in SPOKEN_KINDS)
    )
    whole_html = letters(" ".join(block.text for block in html.book.blocks))
    causes: Counter[str] = Counter()
    differences: list[str] = []
    for operation, i, j, k, n in matcher.get_opcodes():
        if operation == "equal":
            continue
        cause = _cause(expected[i:j], found[k:n], whole, spoken, whole_html)
        causes[cause] += max(j - i, n - k)
        differences.append(f"{cause}\n  - {expected[i:j]}\n  + {found[k:n]}")
    n_equal = sum(match.size for match in matcher.get_matching_blocks())
    return Compared(
        n_equal,
        len(expected),
        len(found),
        (html.book.n_chapters, other.book.n_chapters),
        causes,
        tuple(differences),
    )


def _cause(html: list[str], other: list[str], whole: str, spoken: str, whole_html: str) -> str:
    """Why a stretch of utterances differs, as far as the texts of the two books tell it."""
    left, right = "".join(map(letters, html)), "".join(map(letters, other))
    if " ".join(" ".join(html).split()) == " ".join(" ".join(other).split()):
        return "line breaks or ends"
    if left == right:
        return "marks or ends"
    if any(letters(text) not in whole for text in html):
        return "letters that differ"
    if any(letters(text) not in whole_html for text in other):
        return "letters that differ"
    if any(letters(text) not in spoken for text in html):
        return "kind of block"
    return "what is speech"


def rows(
    paths: list[Path], arguments: argparse.Namespace
) -> Iterator[tuple[str, str, str, str, Compared | str]]:
    """Form, book, language and the comparison, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        for path in paths[:: arguments.step]:
            page = path.read_bytes()
            try:
                html = parse_spans(page, id_of(path))
            except ValueError as error:  # a play, or a language without a file
                yield "HTML", id_of(path), "", "", str(error)
                continue
            language = html.book.language
            makers: dict[str, Callable[[], bytes]] = {"text": lambda page=page: text_of(page)}
            if arguments.ebookmaker:
                makers["EPUB"] = lambda path=path: epub_of(path, arguments.ebookmaker, Path(folder))
            for form, make in makers.items():
                try:
                    other = parse_spans(make(), id_of(path))
                except ValueError as error:
                    yield form, id_of(path), html.book.title, language, str(error)
                else:
                    yield form, id_of(path), html.book.title, language, compare(html, other)
    numbers = {id_of(path): path for path in paths}
    for name, id in PDNC.items() if arguments.pdnc else ():
        if path := numbers.get(id):
            html = parse_spans(path.read_bytes(), id)
            other = parse_spans((arguments.pdnc / name / "novel_text.txt").read_bytes(), id)
            yield "PDNC", id, html.book.title, "en", compare(html, other, letters)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--books", type=Path, required=True, help="folder of Gutenberg HTML files")
    parser.add_argument("--ebookmaker", default="", help="command of Gutenberg's program")
    parser.add_argument("--pdnc", type=Path, help="folder of the PDNC")
    parser.add_argument("--only", nargs="*", default=[], help="numbers of books")
    parser.add_argument("--step", type=int, default=1, help="take every n-th book")
    parser.add_argument("-o", dest="out", type=Path, help="file of all differences")
    arguments = parser.parse_args()
    paths = sorted(arguments.books.glob("*.htm*"), key=lambda path: (len(id_of(path)), path.name))
    paths = [path for path in paths if not arguments.only or id_of(path) in arguments.only]
    print("form    book  title                              lang  equal missing extra F1  chapters")
    totals: dict[tuple[str, str], list[Compared]] = {}
    written: list[str] = []
    for form, id, title, language, found in rows(paths, arguments):
        if isinstance(found, str):
            print(f"{form} {id}: {found}", file=sys.stderr)
            continue
        written += [f"{form} {id} {line}\n" for line in found.differences]
        group = "English" if language == "en" else "other"
        totals.setdefault((form, group), []).append(found)
        print(
            f"{form:5} {id:>6} {title[:34]:34} {language:2} {found.n_equal:6,} "
            f"{found.n_html - found.n_equal:5,} {found.n_other - found.n_equal:5,} "
            f"{found.f1:.4f}  {found.chapters[0]} {found.chapters[1]}",
            flush=True,
        )
    print()
    for (form, group), compared in totals.items():
        n_equal = sum(one.n_equal for one in compared)
        n_html, n_other = sum(one.n_html for one in compared), sum(one.n_other for one in compared)
        causes = sum((one.causes for one in compared), Counter[str]())
        same = sum(one.chapters[0] == one.chapters[1] for one in compared)
        f1s = sorted(one.f1 for one in compared)
        print(
            f"{form}, {group}, {len(compared)} books: {n_equal:,} of {n_html:,} utterances equal, "
            f"{n_html - n_equal:,} missing, {n_other - n_equal:,} extra, "
            f"F1 {2 * n_equal / (n_html + n_other):.4f}, "
            f"median book {f1s[len(f1s) // 2]:.4f}, worst {f1s[0]:.4f}; "
            f"chapters the same in {same}"
        )
        print("   " + ", ".join(f"{cause} {n:,}" for cause, n in causes.most_common()))
    if arguments.out:
        arguments.out.write_text("".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
