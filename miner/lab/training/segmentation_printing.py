"""Paragraphs whose speech is known -> the same, as other printers set them with dashes.

Quotation marks show which words are speech. So every book with them teaches what "he said" looks
like where no mark sets it off. Annotated paragraphs with dashes are set in other ways, too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from miner.books.book import BlockKind
from miner.speech.spans import BookSpans, Span

_MARKS = '"“”„«»'
_SINGLE = "‘’'"
_DASHES = "—–―- "
_CLOSING = re.compile(r"\s*[—–―»”]+\s*([.,;:]?)$")


@dataclass(frozen=True, slots=True)
class Printing:
    """How a printer sets speech."""

    opening: str  # what stands before the speech that opens a paragraph
    before: str = ""  # what stands before "he said"; "" if only its commas set it off
    after: str = ""  # what stands after it
    # whether the stop after "he said" follows the dash that closes it, as in Spanish.
    moves_stop: bool = False
    closes_scene: bool = False  # whether marks enclose speech over several paragraphs, as in French
    reopens: bool = False  # whether a dash stands before speech that goes on in a new sentence


PRINTINGS = (
    Printing("—"),
    Printing("— "),
    Printing("--"),
    Printing("– "),
    Printing("―"),
    Printing("—", "—", "—", moves_stop=True),
    Printing("— ", " — ", " — "),
    Printing("– ", " – ", " – "),
    Printing("—", "—", "—"),
    Printing("--", " --", "-- ", moves_stop=True),
    Printing("—", closes_scene=True),
    Printing("— ", closes_scene=True),
    Printing("--", closes_scene=True),
)


@dataclass(frozen=True, slots=True)
class PrintedParagraph:
    """A paragraph with dashes."""

    text: str  # the text
    speech: tuple[tuple[int, int], ...] = ()  # the start and end of each speech in it
    is_mixed: bool = False  # whether it has both, speech and narration, or several speeches


def choose_printing(chance: random.Random) -> Printing:
    """Returns a printing by chance."""
    return replace(chance.choice(PRINTINGS), reopens=chance.random() < 0.3)


class Piece(NamedTuple):
    """A part of a paragraph without marks and dashes around it: speech, or narration."""

    text: str
    is_said: bool


def pieces_of_book(book_spans: BookSpans) -> Iterator[list[Piece]]:
    """Yields the paragraphs of a book with quotation marks."""
    of_paragraph: dict[int, list[Span]] = {}
    for span in book_spans.spans:
        of_paragraph.setdefault(span.paragraph, []).append(span)
    for block in book_spans.book.blocks:
        if block.kind is BlockKind.PARAGRAPH and block.index in of_paragraph:
            spans = of_paragraph[block.index]
            yield [
                Piece(_without_marks(span.text), True)
                if span.is_utterance
                else Piece(span.text, False)
                for span in spans
            ]


def pieces_of_text(text: str, speech: Sequence[tuple[int, int]]) -> list[Piece]:
    """Returns a paragraph with dashes in pieces, with the commas that the dashes stood for."""
    found: list[Piece] = []
    position = 0
    for start, end in (*speech, (len(text), len(text))):
        for part, is_said in ((text[position:start], False), (text[start:end], True)):
            words = _CLOSING.sub(r"\1", part.strip(_MARKS + _DASHES + "\n"))
            words = words.lstrip(",;: ") if is_said else words
            if any(map(str.isalnum, words)):
                if found and found[-1].text[-1].isalnum():
                    stop = "." if is_said and words[0].isupper() else ","
                    found[-1] = found[-1]._replace(text=found[-1].text + stop)
                found.append(Piece(words, is_said))
        position = end
    return found


def print_pages(
    paragraphs: Iterable[Sequence[Piece]], printing: Printing, chance: random.Random
) -> list[PrintedParagraph]:
    """Returns paragraphs in another printing."""
    pages: list[PrintedParagraph] = []
    for pieces in paragraphs:
        if not any(piece.is_said for piece in pieces):
            pages.append(PrintedParagraph("".join(piece.text for piece in pieces)))
        elif (page := _print_paragraph(pieces, printing, chance)).text:
            pages.append(page)
    return _close_scenes(pages, printing, chance) if printing.closes_scene else pages


def _print_paragraph(
    pieces: Sequence[Piece], printing: Printing, chance: random.Random
) -> PrintedParagraph:
    text, speech = "", list[tuple[int, int]]()
    is_open = False  # whether a dash opened the narration before
    previous: Piece | None = None
    for piece in pieces:
        if not piece.is_said:
            if piece.text.strip():
                opens = bool(printing.before) and previous is not None and previous.is_said
                is_open = opens and (piece.text.strip()[0].islower() or chance.random() < 0.8)
                if is_open and printing.moves_stop and text.endswith(","):
                    text = text[:-1]
                    speech[-1] = speech[-1][0], len(text)
                text += _narration(text, piece.text, previous, printing, is_open)
                previous = piece
            continue
        if not piece.text:
            continue
        before = text.rstrip()
        start = len(before)
        if not text:
            text = printing.opening
        elif previous is not None and previous.is_said:
            text = before + chance.choice(("", " ")) + printing.opening
        elif is_open:
            text = _close(before, printing, chance)
            start = len(text)
        elif not speech:
            text = before + (" " if chance.random() < 0.7 else "") + printing.opening
        elif printing.reopens and before[-1:] in ".!?:":
            text = before + chance.choice(("", " ")) + printing.opening
        else:
            text = before + " "
        text += piece.text
        start += len(text[start:]) - len(text[start:].lstrip())
        speech.append((start, len(text)))
        is_open, previous = False, piece
    is_mixed = len(speech) > 1 or any(
        not piece.is_said and any(map(str.isalpha, piece.text)) for piece in pieces
    )
    return PrintedParagraph(text.rstrip(), tuple(speech), is_mixed)


def _narration(
    text: str, narration: str, previous: Piece | None, printing: Printing, is_open: bool
) -> str:
    """Returns what narration adds to the text before it."""
    if previous is None or not previous.is_said:
        return narration
    words = narration.strip()
    if is_open:
        return printing.before + words
    if words[0] in ".,;":
        words = words[1:].lstrip() if text[-1:] in ",.!?" else words
        return ("" if words[:1] in ".,;" else " ") + words
    return " " + narration.lstrip()


def _close(text: str, printing: Printing, chance: random.Random) -> str:
    """Returns the text with the dash that closes narration."""
    if printing.moves_stop:
        stop = text[-1] if text[-1] in ".,;:" else ""
        return text.removesuffix(stop) + printing.after.rstrip() + stop + " "
    if text.endswith(",") and chance.random() < 0.5:
        text = text[:-1]
    return text + printing.after


def _without_marks(text: str) -> str:
    words = text.strip().strip(_MARKS).strip()
    if words[:1] in _SINGLE and words[-1:] in _SINGLE:
        words = words[1:-1]
    return words.removeprefix("‘")


def _close_scenes(
    pages: Sequence[PrintedParagraph], printing: Printing, chance: random.Random
) -> list[PrintedParagraph]:
    """Returns the paragraphs with marks around most runs of paragraphs that begin with speech."""
    found = list(pages)
    opening = len(printing.opening)
    first = 0
    while first < len(found):
        last = first
        while last < len(found) and found[last].speech and found[last].speech[0][0] == 0:
            last += 1
        if last > first and chance.random() < 0.8:
            found[last - 1] = _with_closing_mark(found[last - 1])
            page = found[first]
            moved = tuple(
                (max(0, start - opening + 1), end - opening + 1) for start, end in page.speech
            )
            found[first] = replace(page, text="«" + page.text[opening:], speech=moved)
        first = max(last, first + 1)
    return found


def _with_closing_mark(page: PrintedParagraph) -> PrintedParagraph:
    """Returns the paragraph with a mark after its last speech, before its comma."""
    start, end = page.speech[-1]
    if page.text[end - 1] == "," and page.text[end:].strip():
        end -= 1
    text = f"{page.text[:end]}»{page.text[end:]}"
    return replace(page, text=text, speech=(*page.speech[:-1], (start, end + 1)))
