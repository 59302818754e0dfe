"""The text of a plain-text file -> the text blocks of the page, as `page` makes them of HTML.

This stage knows Project Gutenberg's plain text: white lines between paragraphs and more of them
above headings, lines wrapped at about 72 characters, indents for verse and letters, `_emphasis_`,
`--` for a dash, and notes and pictures in brackets. What producers did differs from book to book,
so widths, indents and gaps are measured in the book itself. A text without white lines, or with a
paragraph on each line, is read, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from miner.books.boilerplate import is_boundary
from miner.books.book_file import DecodedText
from miner.books.chapters import is_contents_title, is_numbered, looks_like_heading
from miner.books.markup import is_ornament
from miner.books.page import BREAK, Page, TextBlock, divide_text
from miner.errors import InputError
from miner.languages.registry import LANGUAGES, any_of

_MOST_LINES = 1_500_000  # memory grows with the lines

_WIDEST = 120  # characters; a longer line is a paragraph by itself
_SLACK = 8  # characters by which wrapped lines may fall short of the width
_FEW = 0.05  # share of lines with less indent among which the indent of most means nothing
_NARROW = 0.75  # share of the width below which a line is short
_WIDEST_VERSE = 70
_LONGEST_CHUNK = 60  # lines; in more, paragraphs end at short lines
_LONGEST_HEADING = 120
_LONGEST_NOTE_TITLE = 60
_LONGEST_CHAPTER_HEADING = 400
_LINES_OF_A_LABEL = 5  # at the start of a bracket, among which its label is
_LONGEST_BRACKET = 60  # chunks in which the end of a bracket is sought
_LONGEST_CONTENTS = 500  # chunks
_HEADINGS_OF_A_CHAPTER = 6  # chunks above the first prose among which its chapter begins
_SHORTEST_PROSE = 150  # characters

_QUOTES = "\"'“”‘’«»„‚‹›`"
_SENTENCE_END = re.compile(r"[.!?;:,…—-][\"'”’»«“)\]]*$")
_ORNAMENT = re.compile(r"[\s*·•~=+#_.—–-]*")
_EMPHASIS = re.compile(r"(?<!_)_(?=[^_\s])|(?<=[^_\s])_(?!_)")
_MARKED = re.compile(r"(?<![\w=+~*])([=+~*])(?=[^\s=+~*])([^=+~*]{1,400}?)(?<=\S)\1(?![\w=+~*])")
_DASHES = re.compile(r"-{2,}")
_NOTE_LABEL = re.compile(r"\[(?:[^\W\d]+\s+)?(\d{1,3})(?:[\].:]|\s)")
_LOOSE_ANCHOR = re.compile(r" \[(\d{1,3})\]")
_LETTER_ANCHOR = re.compile(r"(?<=[^\s([])\[(?:[A-Z]|[*†‡§]{1,4})\]")
_TIGHT, _LOOSE = r"\w(?:--|—){}", r"\w(?:--|—) {}"
_HYPHENATED = re.compile(r"[^\W\d_]-$")
# "two- or three-fold": what follows such a hyphen is a word of its own.
_SUSPENDED = re.compile(r"(?:and|or|to|und|oder|bis|en|of|et|ou|y|o|e|és|vagy)\b")
_FIELD = re.compile(r"\W{0,3}[A-Z][\w ]{2,25}:\s")
_BOX = re.compile(r"\s*(?:\+[-=+]*\+?|[|+].*[|+])\s*")
_NUMBER_ALONE = re.compile(r"\W*(?:[IVXLC]{1,8}|\d{1,3})\W*")
_ENTRY_END = re.compile(r"[\s.·_-]*(?:\d+|[ivxlc]+)?\W*$", re.IGNORECASE)

_CAPTION = "|".join(word for language in LANGUAGES.values() for word in language.page.captions)
_BRACKETS = tuple(
    (region, re.compile(rf"\[\W*(?:{pattern})", re.IGNORECASE))
    for region, pattern in (
        ("note", any_of(lambda language: language.page.transcriber_note)),
        ("caption", _CAPTION),
        ("footnote", rf"{any_of(lambda language: language.page.footnote)}\b"),
        ("footnote", r"(?:\d{1,3}|[A-Z]|[*†‡§]{1,4})\]\s"),
    )
)
_NUMBERED_NOTE = _BRACKETS[-1][1]
_CAPTION_WITHIN = re.compile(rf"(?<=\S)\s*(\[(?:{_CAPTION})[^][]*\])")
_TRANSCRIBER = re.compile(
    rf"\W*(?:{any_of(lambda language: language.page.transcriber_note)})", re.IGNORECASE
)


@dataclass(slots=True)
class _Chunk:
    """Lines without a white line between them."""

    lines: list[str]  # without white space at their ends; that at their starts is kept
    before: int  # the number of white lines above
    region: str = ""  # as in `TextBlock`
    level: int = 0  # as in `TextBlock`
    is_kept: bool = False  # whether its lines stay lines, as in a preformatted element

    @property
    def words(self) -> str:
        """The text on one line, as it is printed."""
        return " ".join(line.strip() for line in self.lines)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a text is laid out."""

    width: int  # characters of a line that is full
    indents_paragraphs: bool  # whether the first line of a paragraph is indented
    wide: int  # the number of white lines from which a gap is more than that between paragraphs
    joins_small: bool  # whether a word in small letters joins a dash before it
    joins_capital: bool  # whether a word with a capital does
    notes: frozenset[str] = frozenset()  # the numbers of its footnotes


def read_plain_text(decoded: DecodedText) -> Page:
    """The page of a plain-text file."""
    lines = _lines(decoded.text)
    layout = _layout(lines, decoded.text)
    chunks = _with_brackets(_divide(_chunks(lines), layout))
    labels = (_NOTE_LABEL.match(chunk.lines[0]) for chunk in chunks if chunk.region == "footnote")
    layout = replace(layout, notes=frozenset(match[1] for match in labels if match))
    _mark_contents(chunks, layout)
    _mark_headings(chunks, layout)
    drops: Counter[str] = Counter()
    text_blocks: list[TextBlock] = []
    for chunk in chunks:
        if _is_ornament(chunk):
            (row,) = divide_text(chunk.words, drops, chunk.region)
            row.after_break = True
            text_blocks.append(row)
        else:
            text_blocks += _text_blocks(chunk, layout, drops)
    return Page(
        text_blocks=text_blocks,
        title=_title(chunks),
        language="",
        drops=drops,
        warnings=decoded.warnings,
        n_lost=0,
    )


def _lines(text: str) -> list[str]:
    """The lines of a text, less the indent that most of them have."""
    if "\r" in text:
        text = re.sub(r"\r+\n", "\n", text).replace("\r", "\n")
    text = text.replace("\f", "\n\n")
    n_lines = text.count("\n") + 1
    if n_lines > _MOST_LINES:
        raise InputError(
            f"the file has {n_lines:,} lines, expected a book of at most {_MOST_LINES:,}"
        )
    lines = [line.expandtabs().rstrip() for line in text.split("\n")]
    indents = Counter(_indent(line) for line in lines if line)
    indent, n = max(indents.items(), key=lambda item: item[1], default=(0, 0))
    n_less = sum(n for found, n in indents.items() if found < indent)
    if indent and n > indents.total() / 2 and n_less < _FEW * n:
        lines = [line[min(indent, _indent(line)) :] for line in lines]
    return lines


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _layout(lines: Sequence[str], text: str) -> _Layout:
    lengths = sorted(len(line) for line in lines if line)
    gaps = Counter(chunk.before for chunk in _chunks(lines))
    usual = max(gaps, key=lambda gap: (gaps[gap], -gap), default=1)
    # The first lines of paragraphs of some lines: where more than half are indented, all may be.
    starts = [
        _indent(chunk.lines[0]) > 0
        for chunk in _chunks(lines)
        if len(chunk.lines) > 2 and not any(map(_indent, chunk.lines[1:]))
    ]

    def joins(letter: str) -> bool:
        n_tight = len(re.findall(_TIGHT.format(letter), text))
        return n_tight > len(re.findall(_LOOSE.format(letter), text))

    return _Layout(
        width=lengths[len(lengths) * 9 // 10] if lengths else 0,
        indents_paragraphs=sum(starts) > len(starts) / 2,
        wide=max(usual, 1) + 1,
        joins_small=joins("[a-zà-þ]"),
        joins_capital=joins("[A-ZÀ-Þ]"),
    )


def _chunks(lines: Iterable[str]) -> Iterator[_Chunk]:
    gathered: list[str] = []
    before = n_white = 0
    for line in lines:
        if line:
            if not gathered:
                before = n_white
            gathered.append(line)
            n_white = 0
        else:
            if gathered:
                yield _Chunk(gathered, before)
                gathered = []
            n_white += 1
    if gathered:
        yield _Chunk(gathered, before)


def _divide(chunks: Iterable[_Chunk], layout: _Layout) -> Iterator[_Chunk]:
    """The chunks, each divided where a paragraph begins without a white line."""
    for chunk in chunks:
        boundary = next((n for n, line in enumerate(chunk.lines) if is_boundary(line)), None)
        if boundary is not None:
            # Gutenberg's line may be long, and the text may begin right below it.
            if boundary:
                yield from _divide([replace(chunk, lines=chunk.lines[:boundary])], layout)
            yield _Chunk(chunk.lines[boundary:], 0 if boundary else chunk.before, is_kept=True)
            continue
        starts = [0, *_paragraph_starts(chunk.lines, layout), len(chunk.lines)]
        for n, (start, end) in enumerate(pairwise(starts)):
            yield from _without_box(_Chunk(chunk.lines[start:end], 0 if n else chunk.before))


def _paragraph_starts(lines: Sequence[str], layout: _Layout) -> list[int]:
    """The lines, but for the first, at which a paragraph begins."""
    if len(lines) < 2:
        return []
    if any(len(line) > _WIDEST for line in lines):
        return list(range(1, len(lines)))
    flush = [line for line in lines if not _indent(line)]
    if len(lines) < 4 or sum(line[0].islower() for line in flush) < len(flush) / 2:
        return []
    indents = {_indent(line) for line in lines} - {0}
    if len(indents) == 1:
        starts = [n for n, line in enumerate(lines) if n and _indent(line)]
        # Not where an indented line only continues a sentence.
        if all(_SENTENCE_END.search(lines[n - 1]) for n in starts):
            return starts
    if len(lines) > _LONGEST_CHUNK:
        short = layout.width * _NARROW
        return [
            n
            for n in range(1, len(lines))
            if len(lines[n - 1]) < short and _SENTENCE_END.search(lines[n - 1])
        ]
    return []


def _without_box(chunk: _Chunk) -> Iterator[_Chunk]:
    """A chunk without the frame that is drawn around it; a transcriber's note is known by it."""
    if len(chunk.lines) < 2 or not all(_BOX.fullmatch(line) for line in chunk.lines):
        if len(chunk.lines) > 1 and chunk.lines[0][:1] == "|" and chunk.lines[0][1:2].isalpha():
            chunk.lines[0] = chunk.lines[0][1:]  # the mark of a drop cap
        yield chunk
        return
    inner = [re.sub(r"^\s*[|+]|[|+]\s*$", "", line).rstrip() for line in chunk.lines]
    inner = ["" if _ORNAMENT.fullmatch(line) else line for line in inner]
    is_note = any(_TRANSCRIBER.match(line) for line in inner)
    for part in _chunks(inner):
        yield replace(part, region="note" if is_note else "")


def _with_brackets(chunks: Iterable[_Chunk]) -> list[_Chunk]:
    """The chunks with the regions of pictures and notes in brackets.

    These may have several paragraphs. What follows such a bracket is a chunk of its own.
    """
    waiting = list(reversed(list(chunks)))
    done: list[_Chunk] = []
    while waiting:
        pieces, depth = _cut_after_brackets(waiting.pop())
        done += pieces
        if depth <= 0:
            continue
        region = pieces[-1].region
        for n, later in enumerate(waiting[: -_LONGEST_BRACKET - 1 : -1], 1):
            depth += _depth(later.words)
            if depth <= 0:
                for inner in waiting[-n:]:
                    inner.region = region
                done += reversed(waiting[-n:])
                del waiting[-n:]
                break
    return done


def _bracket_region(text: str) -> str:
    if not text.startswith("["):
        return ""
    return next((region for region, pattern in _BRACKETS if pattern.match(text)), "")


def _depth(text: str) -> int:
    return text.count("[") - text.count("]")


def _cut_after_brackets(chunk: _Chunk) -> tuple[list[_Chunk], int]:
    """Cuts a chunk after each picture or note in brackets with which it, or its rest, begins."""
    pieces: list[_Chunk] = []
    rest, lines = chunk, chunk.lines
    if chunk.region or not lines[0].lstrip().startswith("["):
        return [chunk], 0
    depth = sum(map(_depth, lines))
    start = 0
    while start < len(lines):
        text = " ".join(line.strip() for line in lines[start : start + _LINES_OF_A_LABEL])
        region = _bracket_region(text)
        if not region or depth > 0 or _NUMBERED_NOTE.match(text):
            pieces.append(replace(rest, lines=lines[start:], region=region))
            return pieces, depth if region and not _NUMBERED_NOTE.match(text) else 0
        depths = accumulate(_depth(lines[n]) for n in range(start, len(lines)))
        last = next(n for n, open in enumerate(depths, start) if open <= 0)
        cut = lines[last].rfind("]") + 1
        piece = [*lines[start:last], lines[last][:cut]]
        pieces.append(replace(rest, lines=piece, region=region))
        depth -= sum(map(_depth, piece))
        lines[last] = lines[last][cut:].lstrip()
        start = last if lines[last] else last + 1
        rest = _Chunk([], 0)
    return pieces, 0


def _mark_contents(chunks: list[_Chunk], layout: _Layout) -> None:
    """Sets the region of tables of contents, from their title to the first chapter."""
    n = 0
    while n < len(chunks):
        chunk = chunks[n]
        n += 1
        if not _is_contents_title(chunk, layout):
            continue
        end = _contents_end(chunks, n, layout)
        for entry in chunks[n:end]:
            entry.region = entry.region or "contents"
        if len(chunk.lines) > 1:
            chunk.region = "contents"
        n = max(n, end)


def _is_contents_title(chunk: _Chunk, layout: _Layout) -> bool:
    title = chunk.lines[0].strip(" _=*")
    if chunk.region or chunk.is_kept or len(title) > _LONGEST_HEADING // 3:
        return False
    return is_contents_title(title) and (title.isupper() or chunk.before >= layout.wide)


def _contents_end(chunks: Sequence[_Chunk], first: int, layout: _Layout) -> int:
    """The position of the chunk after a table of contents whose entries begin at `first`."""
    entries: set[str] = set()
    last = min(first + _LONGEST_CONTENTS, len(chunks))
    for n in range(first, last):
        chunk = chunks[n]
        if chunk.is_kept or _is_contents_title(chunk, layout):
            return n
        if chunk.before >= layout.wide and n > first and _entry(chunk.lines[0]) in entries:
            return n
        if _is_prose(chunk, layout):
            return _chapter_start(chunks, first, n, layout)
        for line in chunk.lines:
            entries |= {_entry(line), " ".join(_entry(line).split()[:2])}
    return next((n for n in range(first, last) if chunks[n].before >= layout.wide), first)


def _entry(line: str) -> str:
    """A line of a table of contents without its page number, in small letters."""
    line = line.strip()[:_LONGEST_HEADING]
    return " ".join(re.findall(r"\w+", _ENTRY_END.sub("", line).casefold())) or line


def _is_prose(chunk: _Chunk, layout: _Layout) -> bool:
    """Whether a chunk is a paragraph of prose and no entry of a table of contents."""
    text = chunk.words
    if chunk.region or not _SENTENCE_END.search(text):
        return False
    if text[0] in _QUOTES and text[-1] in _QUOTES + ".!?":
        return text.count(" ") >= 3 and any(map(str.islower, text))
    is_long = len(text) >= _SHORTEST_PROSE and not chunk.words.isupper()
    return is_long and _is_filled(chunk.lines, layout.width)


def _chapter_start(chunks: Sequence[_Chunk], first: int, prose: int, layout: _Layout) -> int:
    """The first heading of the chapter whose first prose is at `prose`."""
    earliest = max(first, prose - _HEADINGS_OF_A_CHAPTER)
    start = max(range(earliest, prose + 1), key=lambda n: (chunks[n].before, -n))
    if chunks[start].before >= layout.wide:
        return start
    while prose > earliest and looks_like_heading(chunks[prose - 1].words, False):
        prose -= 1
    return prose


def _mark_headings(chunks: Sequence[_Chunk], layout: _Layout) -> None:
    """Sets the levels of headings: 2 for those of chapters, 3 for others."""
    shaped = [chunk for n, chunk in enumerate(chunks) if _is_heading(chunks, n, layout)]
    numbered = [chunk for chunk in shaped if is_numbered(chunk.words)]
    gaps = sorted(chunk.before for chunk in numbered or shaped)
    chapter_gap = gaps[len(gaps) // 2] if gaps else layout.wide
    # Where chapters are called "Chapter", a number alone is that of a section.
    has_names = any(not _NUMBER_ALONE.fullmatch(chunk.words) for chunk in numbered)
    for chunk in shaped:
        is_chapter = is_numbered(chunk.words) or chunk.before >= chapter_gap
        is_section = has_names and _NUMBER_ALONE.fullmatch(chunk.words)
        chunk.level = 2 if is_chapter and not is_section else 3
    for n in range(1, len(chunks)):
        # The title of a chapter below its number.
        if chunks[n - 1].level and not chunks[n].level and chunks[n].before < layout.wide:
            is_last = n + 1 < len(chunks) and chunks[n + 1].before >= layout.wide
            if _is_title(chunks[n], is_last) or _is_shouted(chunks[n]):
                chunks[n].level = chunks[n - 1].level


def _is_heading(chunks: Sequence[_Chunk], position: int, layout: _Layout) -> bool:
    chunk = chunks[position]
    if chunk.region or chunk.is_kept or _is_ornament(chunk):
        return False
    text = chunk.words.strip("_=*+~ ")
    after = chunks[position + 1].before if position + 1 < len(chunks) else 0
    if position and chunk.before < layout.wide:
        # "CHAPTER II" needs no gap; "II" may be the number of anything.
        return looks_like_heading(text, False) and (" " in text or after >= layout.wide)
    if len(text) <= _LONGEST_NOTE_TITLE and _TRANSCRIBER.match(text):
        return True
    if is_numbered(text) and text[:1] not in _QUOTES:
        return len(text) <= _LONGEST_CHAPTER_HEADING and not _is_prose(chunk, layout)
    return _is_title(chunk, after > 1)


def _is_title(chunk: _Chunk, is_set_off: bool) -> bool:
    """Whether a chunk has the words of a title: capitals, or no sentence if it is set off."""
    text = chunk.words.strip("_=*+~ ")
    if chunk.region or chunk.is_kept or not 0 < len(text) <= _LONGEST_HEADING:
        return False
    if text.isupper():
        return text[0] not in _QUOTES or text[-1] not in _QUOTES
    if text[0] in _QUOTES or text[0] in "([—-" or text[0].islower() or len(chunk.lines) > 3:
        return False
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 3]
    is_capital = bool(words) and sum(word[0].isupper() for word in words) >= 0.7 * len(words)
    if text.endswith((",", ";", ":", "!", "?", "—", "-")) and not is_capital:
        return False
    return is_capital and is_set_off or (is_set_off and not _SENTENCE_END.search(text))


def _is_shouted(chunk: _Chunk) -> bool:
    """Whether a chunk is in capitals, which below a heading may stand in quotation marks."""
    text = chunk.words
    return not chunk.region and text.isupper() and len(text) <= _LONGEST_HEADING


def _is_ornament(chunk: _Chunk) -> bool:
    """Whether a chunk is only a row of stars or a line, as between scenes."""
    return not chunk.is_kept and all(map(is_ornament, chunk.lines))


def _text_blocks(chunk: _Chunk, layout: _Layout, drops: Counter[str]) -> list[TextBlock]:
    if chunk.is_kept:
        text = BREAK.join(chunk.lines)
        return divide_text(text, drops, chunk.region, preformatted=True)
    if chunk.region == "contents":
        return [
            block
            for line in chunk.lines
            for block in divide_text(_clean(line.strip()), drops, "contents")
        ]
    region, is_lines = chunk.region, False
    if not region and not chunk.level:
        region, is_lines = _region(chunk, layout)
    elif not region:
        is_lines = True
    if is_lines:
        text = BREAK.join(line.strip() for line in chunk.lines)
    else:
        text = _joined(chunk.lines, layout)
    text, n_anchors = _LETTER_ANCHOR.subn("", _clean(text))
    if layout.notes and not region and "[" in text:
        # "[1]" within a sentence is the anchor of a note if there is such a note.
        n_before = text.count("[")
        text = _LOOSE_ANCHOR.sub(lambda match: "" if match[1] in layout.notes else match[0], text)
        n_anchors += n_before - text.count("[")
    if n_anchors:
        drops["footnote anchors"] += n_anchors
    captions: list[str] = []
    if not region and "[" in text:
        captions = _CAPTION_WITHIN.findall(text)
        text = _CAPTION_WITHIN.sub("", text)
    found = divide_text(text, drops, region, chunk.level)
    for caption in captions:
        found += divide_text(caption.replace(BREAK, " "), drops, "caption")
    return found


def _clean(text: str) -> str:
    """A text without marks of emphasis, and with dashes for the hyphens that stand for them."""
    if "_" in text:
        text = _EMPHASIS.sub("", text)
    if any(mark in text for mark in "=+~*"):
        text = _MARKED.sub(r"\2", text)
    if "--" in text:
        text = _DASHES.sub(lambda match: "—" * (len(match[0]) // 2), text)
    return text


def _region(chunk: _Chunk, layout: _Layout) -> tuple[str, bool]:
    """The region of a chunk that is neither heading nor note, and whether its lines are lines."""
    lines = chunk.lines
    indent = min(map(_indent, lines[1:])) if len(lines) > 1 else _indent(lines[0])
    if len(lines) == 1:
        is_quoted = indent > 1 and not layout.indents_paragraphs
        return "blockquote" * is_quoted, False
    if sum(bool(_FIELD.match(line)) for line in lines) > 1:
        return "", True
    n_small = sum(line.lstrip()[0].islower() for line in lines)
    is_filled = _is_filled(lines, layout.width)
    widest = max(len(line.strip()) for line in lines)
    if not indent:
        return "", not is_filled and n_small < len(lines) / 3
    is_short = widest < layout.width * _NARROW and not _is_filled(lines, max(map(len, lines)))
    if (not is_filled and n_small < len(lines) / 3) or (is_short and len(lines) > 2):
        return "verse" if widest <= _WIDEST_VERSE else "blockquote", True
    return "blockquote", False


def _is_filled(lines: Sequence[str], width: int) -> bool:
    """Whether the first word of most lines had no room on the line before."""
    n_full = sum(
        len(line) + 1 + len(following.split(None, 1)[0]) > width - _SLACK
        for line, following in pairwise(lines)
    )
    return n_full >= (len(lines) - 1) / 2


def _joined(lines: Sequence[str], layout: _Layout) -> str:
    """The text of a paragraph's lines. A word that was divided at its hyphen is one word again."""
    parts = [lines[0].strip()]
    for line, following in pairwise(map(str.strip, lines)):
        parts.append("" if _are_joined(line, following, layout) else " ")
        parts.append(following)
    return "".join(parts)


def _are_joined(line: str, following: str, layout: _Layout) -> bool:
    first = following[0]
    if line.endswith(("--", "—")) and line[-3:-2] not in (" ", "-"):
        return layout.joins_capital if first.isupper() else first.islower() and layout.joins_small
    if following.startswith(("--", "—")) and following.strip("-—")[:1].isalpha():
        return layout.joins_small and line[-1:].isalpha()
    return bool(first.islower() and _HYPHENATED.search(line) and not _SUSPENDED.match(following))


def _title(chunks: Sequence[_Chunk]) -> str:
    """What the first line says, if it is Gutenberg's: "The Project Gutenberg Etext of Emma"."""
    for chunk in chunks[:3]:
        text = chunk.words.strip("* ")
        if "Project Gutenberg" in text and len(text) <= _LONGEST_CHAPTER_HEADING:
            return text
    return ""
