"""Mines real books that are damaged at random, and says how each attempt ends.

    python tests/benchmarks/bench_mutations.py --books DIR [--n 2000] [--seed 0] [-o FILE]
    python tests/benchmarks/bench_mutations.py --books DIR --only SEED

A mutation takes a stretch of a book between its header and its footer, or now and then all of it,
and damages it in one way, in few places or in many. Then it goes the whole way of `miner mine
--tagger gap` under a deadline and a limit on memory. It ends in one of three ways:

- mined: each paragraph's spans join to its text.
- refused, in one line.
- a fault: another exception, too slow, out of memory, spans that do not join.

The seed alone decides the damage. It also decides the book, and another book is taken only if that
one is not in the folder. Times are those of the processor. `still found` is the share of the
utterances of the undamaged stretch that are mined from the damaged one, in the median and at worst;
it is given where few places are damaged, and a refusal counts as 0. The exit code is 1 if there is
a fault. The limits are those of the operating system, so this wants Unix.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import math
import os
import re
import resource
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from rich.console import Console

from miner.app.tables import new_table
from miner.books.book_file import decode_book
from miner.books.sources import Source, find_sources
from miner.corpus.executors import LocalExecutor
from miner.corpus.mined_book import MinedBook, MiningOptions
from miner.corpus.pipeline import mine_book
from miner.tagger.load import load_tagger

FEW = 5  # places; with this many at most, nearly all utterances should still be found
WHOLE = 0.04  # share of mutations that take a whole book
SHORTEST, LONGEST = 2_000, 300_000  # characters of a stretch
LARGEST = 8_000_000  # characters to which a page may grow
GAP, OPTIONS = load_tagger("gap"), MiningOptions("gap")

_START = re.compile(r"\*\*\* ?START OF.{,300}?</(?:p|div|pre|h2)>", re.DOTALL | re.IGNORECASE)
_END = re.compile(r"<(?:p|div|pre|h2|span)[^<]*\*\*\* ?END OF", re.IGNORECASE)
_PARAGRAPH = re.compile(r"<p\b[^>]*>", re.IGNORECASE)
_PARAGRAPHS_MEET = re.compile(r"</p>\s*<p\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
_BESIDE_TAGS = "(?![^<>]*>)"
_MARK = re.compile(f"[“”‘’\"'«»„‚‹›]{_BESIDE_TAGS}")
_GAP = re.compile(rf"\s{_BESIDE_TAGS}")
_ENTITIES = "& &amp &#; &#x; &nosuch; &#0; &#xD800; &#x110000; &#99999999999999; &lt &quot".split()
_ELEMENTS = (
    "b i span a div blockquote p pre h2 table tr td ul li center font sup script style title "
    "textarea select option button form svg math template noscript iframe object head body html "
    "plaintext xmp frameset noframes ruby caption"
).split()
_CLASSES = "poem letter footnote toc caption pagenum x-ebookmaker-drop pg-boilerplate tn".split()
_ALPHABETS = (
    "Где же лампа? спросил он и вышел. ",
    "灯はどこだ、と彼は言った。",
    "أين المصباح؟ قال الرجل. ",
    "איפה המנורה? אמר. ",
    "दीपक कहाँ है? उसने कहा। ",
    "👩‍👩‍👧‍👦🏳️‍🌈 ",
    "Z̸̡̛͓̹̊͝a̵̘̿l̷̥̓g̶̖͌o̴̝͛ ",
    "\u202eegap eht fo dne\u202c \u2066\u2067",
    "\ue000\ue001\uf8ff",
    "\u2028\u2029\x85\u00ad\u200b\ufeff",
    "\ufffe\uffff\U0010ffff\ufdd0",
    "\x01\x08\x0b\x0c\x1b\x7f",
    "ﬁﬂ ſ ǅ ﷺ İı ",
)
_OPEN_BRACKETS = "[Footnote [Illustration: [Pg {12 [1 ( [Transcriber's [* [12] [Footnote_1:".split()


# Kinds of damage. Each takes a page, what decides, and how many places are to be damaged; and
# returns the damaged page as text, or as bytes where it is no text in UTF-8.


def _places(text: Sequence[object], random: Random, n: int) -> list[int]:
    return sorted(random.randrange(len(text) + 1) for _ in range(n))


def _insert(text: str, random: Random, n: int, make: Callable[[], str]) -> str:
    parts, position = [], 0
    for place in _places(text, random, n):
        parts += text[position:place], make()
        position = place
    return "".join((*parts, text[position:]))[:LARGEST]


def _insert_bytes(text: str, random: Random, n: int, make: Callable[[], bytes]) -> bytes:
    # Latin-1 has a character for each byte, and back.
    page = text.encode().decode("latin-1")
    return _insert(page, random, n, lambda: make().decode("latin-1")).encode("latin-1")


def _change(
    text: str, random: Random, n: int, pattern: re.Pattern[str], make: Callable[[str], str]
) -> str:
    """The text with n matches of the pattern changed, or all if there are fewer."""
    found = list(pattern.finditer(text))
    chosen = sorted(random.sample(range(len(found)), min(n, len(found))))
    parts, position = [], 0
    for match in (found[number] for number in chosen):
        parts += text[position : match.start()], make(match[0])
        position = match.end()
    return "".join((*parts, text[position:]))[:LARGEST]


def bytes_flipped(text: str, random: Random, n: int) -> bytes:
    page = bytearray(text.encode())
    for _ in range(n):
        page[random.randrange(len(page))] ^= 1 << random.randrange(8)
    return bytes(page)


def bytes_cut(text: str, random: Random, n: int) -> bytes:
    page = text.encode()
    for _ in range(min(n, 500)):
        place = random.randrange(len(page))
        page = page[:place] + page[place + random.randint(1, 30) :]
    return page


def cut_short(text: str, random: Random, n: int) -> bytes:
    page = text.encode()
    place = random.randrange(len(page))
    return random.choice((page[:place], page[place:]))


def ff_inserted(text: str, random: Random, n: int) -> bytes:
    return _insert_bytes(text, random, n, lambda: b"\xff")


def nul_inserted(text: str, random: Random, n: int) -> bytes:
    return _insert_bytes(text, random, n, lambda: b"\0")


def halves_of_utf_8(text: str, random: Random, n: int) -> bytes:
    halves = (b"\xe2\x80", b"\xc3", b"\x80", b"\xf0\x9f", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5")
    return _insert_bytes(text, random, n, lambda: random.choice(halves))


def noise_inserted(text: str, random: Random, n: int) -> bytes:
    return _insert_bytes(text, random, n, lambda: random.randbytes(random.randint(1, 60)))


def wide_with_mark(text: str, random: Random, n: int) -> bytes:
    return ("\ufeff" + text).encode(_wide(random))


def wide_without_mark(text: str, random: Random, n: int) -> bytes:
    return text.encode(_wide(random))


def _wide(random: Random) -> str:
    return random.choice(("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"))


def windows_1252(text: str, random: Random, n: int) -> bytes:
    declared = random.choice(("", "utf-8", "iso-8859-1"))
    text = re.sub(r"(charset=[\"']?)[\w-]+", rf"\g<1>{declared}", text, flags=re.IGNORECASE)
    return text.encode("cp1252", "xmlcharrefreplace")


def encoded_twice(text: str, random: Random, n: int) -> bytes:
    return text.encode().decode("cp1252", "ignore").encode()


def line_ends(text: str, random: Random, n: int) -> str:
    return re.sub(r"\r?\n", random.choice(("\r", "\r\n", "\n\n", " ", "\u2028")), text)


def tags_removed(text: str, random: Random, n: int) -> str:
    return _change(text, random, n, _tags(random, n), lambda tag: "")


def tags_doubled(text: str, random: Random, n: int) -> str:
    return _change(text, random, n, _tags(random, n), lambda tag: tag * random.randint(2, 4))


def _tags(random: Random, n: int) -> re.Pattern[str]:
    """All tags, or all of one name."""
    names = (r"</p\b[^<>]*>", r"<p\b[^<>]*>", r"</?(?:i|b|em|span)\b[^<>]*>", r"</[^<>]*>")
    return re.compile(random.choice(names)) if n > FEW and random.random() < 0.5 else _TAG


def tags_not_closed(text: str, random: Random, n: int) -> str:
    def opening() -> str:
        given = random.choice(("", f' class="{random.choice(_CLASSES)}"', ' href="#x"', " /"))
        return f"<{random.choice(_ELEMENTS)}{given}>"

    return _insert(text, random, n, opening)


def tags_not_opened(text: str, random: Random, n: int) -> str:
    return _insert(text, random, n, lambda: f"</{random.choice(_ELEMENTS)}>")


def nested_deep(text: str, random: Random, n: int) -> str:
    element = random.choice(_ELEMENTS)
    closed = f"</{element}>" * n if random.random() < 0.5 else ""
    return _insert(text, random, 1, lambda: f"<{element}>" * n + closed)


def angles_inserted(text: str, random: Random, n: int) -> str:
    return _insert(
        text, random, n, lambda: random.choice(("<", ">", "</", "<!", "<?", "<>", "</>"))
    )


def headings_multiplied(text: str, random: Random, n: int) -> str:
    def heading(tag: str) -> str:
        name = random.choice(("h1", "h2", "h3", "h6", "p"))
        title = random.choice(("CHAPTER {}", "{}", "Chapter {}. The Lamp", "", "Contents", "“{}”"))
        return (
            f"<{name}>{title.format(random.randint(1, 300))}</{name}>" * random.randint(1, 3) + tag
        )

    return _change(text, random, n, _PARAGRAPH, heading)


def elements_renamed(text: str, random: Random, n: int) -> str:
    names = "div td li pre h2 h6 span blockquote dd font option center P x-y p:p".split()
    name = random.choice(names)
    return re.sub(r"(</?)p\b", rf"\g<1>{name}", text)


def attributes_huge(text: str, random: Random, n: int) -> str:
    size = int(math.exp(random.uniform(0, math.log(200_000))))
    value = random.choice(("x", "x ", "caption ", "#", "é", "&amp;", "<p>"))
    name = random.choice(("class", "id", "href", "style", "title", "lang", "alt", "x" * size))
    given = f' {name}="{value * (size // len(value) + 1)}"'
    if random.random() < 0.3:
        given = "".join(f" a{number}='{value}'" for number in range(size // 20 + 1))
    return _change(text, random, n, _PARAGRAPH, lambda tag: f"{tag[:-1]}{given}>")


def attributes_not_closed(text: str, random: Random, n: int) -> str:
    given = (' class="', " class='", " href=", ' id="x" id="y" =', " \0=")
    return _change(text, random, n, _TAG, lambda tag: f"{tag[:-1]}{random.choice(given)}>")


def comments_not_closed(text: str, random: Random, n: int) -> str:
    opening = ("<!--", "<!-- --!>", "<![CDATA[", "<!DOCTYPE ", "<?xml ", "<!--[if IE]>", "--><!--")
    return _insert(text, random, n, lambda: random.choice(opening))


def entities_broken(text: str, random: Random, n: int) -> str:
    return _insert(text, random, n, lambda: random.choice(_ENTITIES))


def head_exchanged(text: str, random: Random, n: int) -> str:
    laughs = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12))
    heads = (
        f"<!DOCTYPE html [<!ENTITY l0 'ha'>{laughs}]><html><body><p>&l11;</p>",
        '<!DOCTYPE html SYSTEM "file:///etc/passwd"><html><body>',
        '<?xml version="1.0" encoding="utf-16"?><html><body>',
        '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="fi"><body>',
        '<html lang="en"><base href="//x"><meta http-equiv="refresh" content="0"><body>',
        "<html><frameset><frame></frameset><body>",
        "",
    )
    body = re.search(r"<body[^>]*>", text)
    return random.choice(heads) + text[body.end() if body else 0 :]


def marks_removed(text: str, random: Random, n: int) -> str:
    return _change(text, random, n, _marks(random, n), lambda mark: "")


def marks_doubled(text: str, random: Random, n: int) -> str:
    return _change(text, random, n, _marks(random, n), lambda mark: mark * random.randint(2, 5))


def marks_turned(text: str, random: Random, n: int) -> str:
    turned = dict(zip("“”‘’«»\"'", "”“’‘»«'\"", strict=True))
    return _change(text, random, n, _marks(random, n), lambda mark: turned.get(mark, mark))


def marks_inserted(text: str, random: Random, n: int) -> str:
    marks = "“”‘’\"'«»„—"
    if n > FEW and random.random() < 0.3:
        return _change(text, random, 1, _GAP, lambda gap: gap + random.choice(marks) * n)
    return _change(
        text,
        random,
        n,
        _GAP,
        lambda gap: random.choice((gap + random.choice(marks), random.choice(marks) + gap)),
    )


def marks_exchanged(text: str, random: Random, n: int) -> str:
    new = random.choice(("«»", "»«", "„“", "„”", "””", '""', "‘’", "''", "‹›", "「」", "“”"))
    text = re.sub("&[lr]dquo;", '"', text)
    text = re.sub(rf"(?<!\w)\"(?=\w){_BESIDE_TAGS}", "“", text)
    text = re.sub(rf"\"{_BESIDE_TAGS}", "”", text)
    return text.translate(str.maketrans("“”", new))


def _marks(random: Random, n: int) -> re.Pattern[str]:
    """All quotation marks, or all of one side."""
    if n > FEW and random.random() < 0.5:
        return re.compile(random.choice('“”"‘’') + _BESIDE_TAGS)
    return _MARK


def paragraphs_joined(text: str, random: Random, n: int) -> str:
    return _change(text, random, n, _PARAGRAPHS_MEET, lambda tags: " ")


def paragraphs_split(text: str, random: Random, n: int) -> str:
    return _change(text, random, n, re.compile(r"(?<=[.!?”])\s"), lambda gap: "</p>\n<p>")


def paragraphs_repeated(text: str, random: Random, n: int) -> str:
    whole = re.compile(r"<p\b[^>]*>[^<]*</p>")
    return _change(text, random, n, whole, lambda match: match * random.randint(2, 300))


def header_and_footer_lines(text: str, random: Random, n: int) -> str:
    edge = re.compile(
        r"\*{3}[^<*]*\*{3}|(?:Title|Author|Language|Release date)\b[^<\n]*|"
        r"[^<>\n]*Project Gutenberg[^<>\n]*"
    )
    made = random.choice((lambda line: "", lambda line: f"{line}\n{line}", lambda line: line[:7]))
    return _change(text, random, n, edge, made)


def markers_scattered(text: str, random: Random, n: int) -> str:
    lines = (
        "*** START OF THE PROJECT GUTENBERG EBOOK X ***",
        "*** END OF THE PROJECT GUTENBERG EBOOK X ***",
        "*END*THE SMALL PRINT!",
        "End of Project Gutenberg's X",
        "Transcriber’s Note:",
        "Footnotes",
        "Title: X",
        "The Project Gutenberg License",
    )
    return _change(text, random, n, _PARAGRAPH, lambda tag: f"<p>{random.choice(lines)}</p>{tag}")


def other_alphabets(text: str, random: Random, n: int) -> str:
    return _insert(text, random, n, lambda: random.choice(_ALPHABETS) * random.randint(1, 20))


def surrogates(text: str, random: Random, n: int) -> bytes:
    return _insert(text, random, n, lambda: chr(random.randrange(0xD800, 0xE000))).encode(
        "utf-8", "surrogatepass"
    )


def white_space(text: str, random: Random, n: int) -> str:
    blanks = (" ", "\u00a0", "\t", "\u2003", "\u3000", "<br>", "<br/>", "&nbsp;", "\v")
    return _insert(text, random, n, lambda: random.choice(blanks) * random.choice((1, 2, 3000)))


def one_long_run(text: str, random: Random, n: int) -> str:
    run = random.choice("x 0(—-.A[*aé") if random.random() < 0.7 else "said he, "
    return _insert(text, random, 1, lambda: run * n)


def brackets_not_closed(text: str, random: Random, n: int) -> str:
    return _insert(text, random, n, lambda: random.choice(_OPEN_BRACKETS))


def shuffled(text: str, random: Random, n: int) -> str:
    lines = text.split("\n")
    random.shuffle(lines)
    return "\n".join(lines)


def two_kinds(text: str, random: Random, n: int) -> bytes:
    for _ in range(2):
        done = random.choice(tuple(DAMAGES)[:-1])(text, random, max(1, n // 2))
        text = done if isinstance(done, str) else done.decode("utf-8", "replace")
    return text.encode()


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a kind of damage goes.

    Args:
        most: the number of places, at most.
        keeps: whether few places leave nearly all utterances to be found.
    """

    most: int = 10_000
    keeps: bool = True


_ONCE, _LOSSY = Extent(1), Extent(1, False)
DAMAGES: dict[Callable[[str, Random, int], str | bytes], Extent] = {
    bytes_flipped: Extent(),
    bytes_cut: Extent(500),
    cut_short: _LOSSY,
    ff_inserted: Extent(),
    nul_inserted: Extent(),
    halves_of_utf_8: Extent(),
    noise_inserted: Extent(1_000),
    wide_with_mark: _ONCE,
    wide_without_mark: _ONCE,
    windows_1252: _ONCE,
    encoded_twice: _LOSSY,
    line_ends: _ONCE,
    tags_removed: Extent(),
    tags_doubled: Extent(),
    tags_not_closed: Extent(3_000),
    tags_not_opened: Extent(),
    nested_deep: Extent(100_000),
    angles_inserted: Extent(),
    headings_multiplied: Extent(),
    elements_renamed: _LOSSY,
    attributes_huge: Extent(50),
    attributes_not_closed: Extent(1_000),
    comments_not_closed: Extent(1_000),
    entities_broken: Extent(),
    head_exchanged: _ONCE,
    marks_removed: Extent(),
    marks_doubled: Extent(),
    marks_turned: Extent(),
    marks_inserted: Extent(30_000),
    marks_exchanged: _ONCE,
    paragraphs_joined: Extent(),
    paragraphs_split: Extent(),
    paragraphs_repeated: Extent(1_000),
    header_and_footer_lines: Extent(200),
    markers_scattered: Extent(1_000),
    other_alphabets: Extent(3_000),
    surrogates: Extent(),
    white_space: Extent(1_000),
    one_long_run: Extent(1_000_000),
    brackets_not_closed: Extent(),
    shuffled: _LOSSY,
    two_kinds: Extent(3_000, False),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a mutation ended.

    Args:
        seed: makes it again.
        damage: the name of its kind.
        places: how many places were to be damaged.
        book: the id of its book.
        n_bytes: size of the damaged page.
        end: "mined", "refused" or "fault".
        why: the line of a refusal or of a fault, else "".
        seconds: of the processor.
        found: the share of the utterances of the undamaged page that are found; None where it is
            not measured.
    """

    seed: int
    damage: str
    places: int
    book: str
    n_bytes: int
    end: str
    why: str
    seconds: float
    found: float | None


@dataclass(frozen=True, slots=True)
class Mutator:
    """Makes mutations and mines them.

    Args:
        paths: the files of the books, by id.
        seconds: the deadline of each.
        megabytes: the address space that mining may take beside what the process has already.
    """

    paths: dict[str, Path]
    seconds: float
    megabytes: int

    def __call__(self, seed: int) -> Outcome:
        damage, places, book, page, damaged = self.mutated(seed)
        _, before, _, _ = self._mined(book, page.encode()) if places <= FEW else ("", None, "", 0.0)
        end, after, why, seconds = self._mined(book, damaged)
        found = None
        if before and DAMAGES[damage].keeps:
            found = (before & (after or Counter())).total() / before.total()
        name = damage.__name__.replace("_", " ")
        return Outcome(seed, name, places, book, len(damaged), end, why, seconds, found)

    def mutated(self, seed: int) -> tuple[Callable, int, str, str, bytes]:
        """A kind of damage, the number of places, the book, its page, and the damaged page."""
        random = Random(seed)
        damage = tuple(DAMAGES)[seed % len(DAMAGES)]
        most = DAMAGES[damage].most
        places = random.randint(1, min(FEW, most))
        if most > FEW and random.random() < 0.5:
            places = int(math.exp(random.uniform(math.log(FEW + 1), math.log(most))))
        # The book with the smallest digest: a folder with other books beside it changes nothing.
        book = min(self.paths, key=lambda id: hashlib.md5(f"{seed} {id}".encode()).digest())
        page = _stretch(decode_book(self.paths[book].read_bytes()).text, random)
        damaged = damage(page, random, places)
        if isinstance(damaged, str):
            damaged = damaged.encode("utf-8", "surrogatepass")
        return damage, places, book, page, damaged

    def _mined(self, book: str, page: bytes) -> tuple[str, Counter[str] | None, str, float]:
        """How mining a page ends, its utterances, why it did not end well, and the seconds."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{book}-h.htm"
            path.write_bytes(page)
            start = time.process_time()
            try:
                with _limits(self.seconds, self.megabytes):
                    result = mine_book(Source(str(path), book, path), GAP, OPTIONS)
                seconds = time.process_time() - start
                if isinstance(result, MinedBook):
                    return "mined", _utterances(result), "", seconds
                is_refusal = result.is_lasting and len(result.why.splitlines()) == 1
                return "refused" if is_refusal else "fault", None, result.why, seconds
            except _TooSlow:
                why = f"takes more than {self.seconds:g} s"
            except Exception as error:  # whatever it is, it is a fault
                why = f"{type(error).__name__}: {error}"
            return "fault", None, why, time.process_time() - start


class _TooSlow(BaseException):
    """Raised when the deadline has passed; nothing catches it by accident."""


@contextmanager
def _limits(seconds: float, megabytes: int) -> Iterator[None]:
    """A deadline and a limit on memory, that hold for the block."""

    def stop(*_: object) -> None:
        raise _TooSlow

    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + megabytes * 2**20, before[1]))
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    # Code in C that does not return keeps Python from the signal: the process ends then.
    faulthandler.dump_traceback_later(10 * seconds, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        resource.setrlimit(resource.RLIMIT_AS, before)


def _address_space() -> int:
    """What the process has, in bytes: other tests leave gigabytes of it behind."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0


def _utterances(book: MinedBook) -> Counter[str]:
    """The letters of each utterance, with the number of times that it is said.

    Raises:
        AssertionError: if the spans of a paragraph do not join.
    """
    found = Counter[str]()
    place = 0, 0
    for row in book.rows("spans"):
        expected = place[1] if row["paragraph"] == place[0] else 0
        assert row["start"] == expected, f"a span begins at {row['start']}, expected {expected}"
        assert len(row["text"]) == row["end"] - row["start"], "a span has not the length it says"
        place = row["paragraph"], row["end"]
        if row["kind"] == "utterance":
            found[re.sub(r"\W+", "", row["text"].lower())] += 1
    del found[""]
    return found


def _stretch(text: str, random: Random) -> str:
    """A book with some of its paragraphs only, or now and then with all of them."""
    whole = random.random() < WHOLE
    size = math.exp(random.uniform(math.log(SHORTEST), math.log(LONGEST)))
    place = random.random()
    if whole:
        return text
    start, end = _START.search(text), _END.search(text)
    first = start.end() if start else 0
    last = end.start() if end else len(text)
    paragraphs = [match.start() for match in _PARAGRAPH.finditer(text, first, last)] or [first]
    begin = paragraphs[int(place * len(paragraphs))]
    stop = next((place for place in paragraphs if place > begin + size), last)
    return text[:first] + text[begin:stop] + text[last:]


def report(outcomes: Sequence[Outcome], console: Console) -> None:
    """Prints a row for each kind of damage, and why pages were refused."""
    columns = "damage n mined refused faults median longest s/MB still_found at_worst".split()
    table = new_table([column.replace("_", " ") for column in columns])
    for name in (damage.__name__.replace("_", " ") for damage in DAMAGES):
        if of_kind := [outcome for outcome in outcomes if outcome.damage == name]:
            table.add_row(name, *_cells(of_kind))
    table.add_section()
    table.add_row("all", *_cells(outcomes))
    console.print(table)
    reasons = Counter(_reason(outcome.why) for outcome in outcomes if outcome.end == "refused")
    console.print()
    for reason, n in reasons.most_common():
        console.print(f"refused {n:>5,}  {reason}", soft_wrap=True, markup=False, highlight=False)


def _reason(why: str) -> str:
    """Why a page was refused, without what is said of this page alone."""
    why = re.sub(r"\(.*\)|starts .*,", "(…)", why)
    why = re.sub(r"^found (?!an unknown).*?,", "found …,", why)
    return re.sub(r"\d[\d,]*", "…", why)


def _cells(outcomes: Sequence[Outcome]) -> list[str]:
    ends = Counter(outcome.end for outcome in outcomes)
    seconds = [outcome.seconds for outcome in outcomes]
    megabytes = sum(outcome.n_bytes for outcome in outcomes) / 1e6
    found = [outcome.found for outcome in outcomes if outcome.found is not None]
    return [
        f"{len(outcomes):,}",
        *(f"{ends[end]:,}" for end in ("mined", "refused", "fault")),
        f"{statistics.median(seconds):.2f}",
        f"{max(seconds):.2f}",
        f"{sum(seconds) / megabytes:.2f}",
        *((f"{statistics.median(found):.1%}", f"{min(found):.1%}") if found else ("", "")),
    ]


def describe(outcome: Outcome) -> str:
    """A mutation and its end, in one line."""
    found = "" if outcome.found is None else f", {outcome.found:.1%} still found"
    return (
        f"--only {outcome.seed}: {outcome.damage} in {outcome.places:,} places of {outcome.book}, "
        f"{outcome.n_bytes:,} bytes: {outcome.end} in {outcome.seconds:.2f} s{found}"
        + f": {outcome.why}"
        * bool(outcome.why)
    )


def outcomes_of(mutator: Mutator, seeds: Sequence[int], n_processes: int) -> Iterator[Outcome]:
    """The outcome of each seed. A process that is killed is a fault of its seed alone."""
    for seed, result in zip(seeds, LocalExecutor(n_processes).map(mutator, seeds), strict=True):
        if not isinstance(result, Outcome):
            damage, places, book, _, damaged = mutator.mutated(seed)
            name, why = damage.__name__.replace("_", " "), f"{type(result).__name__}: {result}"
            seconds = 10 * mutator.seconds
            result = Outcome(seed, name, places, book, len(damaged), "fault", why, seconds, None)
        yield result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = os.environ.get("MINER_BOOKS")
    parser.add_argument(
        "--books", required=not folder, default=folder, help="folder of Gutenberg HTML files"
    )
    parser.add_argument("--n", type=int, default=2_000, help="mutations")
    parser.add_argument("--seed", type=int, default=0, help="the first; each has the next number")
    parser.add_argument("--only", type=int, metavar="SEED", help="one mutation, with its traceback")
    parser.add_argument("--seconds", type=float, default=20, help="deadline of a mutation")
    parser.add_argument("--megabytes", type=int, default=1_024, help="memory that mining may take")
    parser.add_argument("--processes", type=int, default=2, help="processes beside this one")
    parser.add_argument("-o", "--output", type=Path, help="a line of JSON for each mutation")
    options = parser.parse_args()
    sources, _ = find_sources([options.books])
    paths = {source.id: source.path for source in sources if source.path}
    mutator = Mutator(paths, options.seconds, options.megabytes)
    if options.only is not None:
        print(describe(outcome := mutator(options.only)))
        if options.output:
            options.output.write_bytes(mutator.mutated(options.only)[-1])
        return int(outcome.end == "fault")
    start = time.perf_counter()
    outcomes = []
    for outcome in outcomes_of(
        mutator, range(options.seed, options.seed + options.n), options.processes
    ):
        outcomes.append(outcome)
        if outcome.end == "fault":
            print(describe(outcome), file=sys.stderr)
    if options.output:
        options.output.write_text("".join(f"{json.dumps(asdict(o))}\n" for o in outcomes))
    report(outcomes, Console(width=120))
    print(f"\n{len(paths)} books, {time.perf_counter() - start:.0f} s")
    return int(any(outcome.end == "fault" for outcome in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
