"""Lumps of a page -> the lumps of the book, with what was left out counted by reason.

Left out are Gutenberg's header, licence and footer of every era, the producers' credits and the
transcribers' notes. Strippers that look only for a marker have eaten whole books (a collection with
an END line in its middle, a chapter that quotes "Project Gutenberg"), so this one checks what it is
about to drop and refuses when that is more than licences ever are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from miner.books.page import Page, TextBlock, count_words

_START = re.compile(
    r"\*{3}\s*START OF (?:THIS|THE) PROJECT GUTENBERG|\*END\W*THE SMALL PRINT!|"
    r"\*{3}START\W+OF\W+(?:THIS|THE)\W+PROJECT",
    re.IGNORECASE,
)
_END = re.compile(
    r"\*{3}\s*END OF (?:THIS|THE) PROJECT GUTENBERG|"
    r"^\W*End of (?:the |this )?Project Gutenberg|"
    r"^\W*End of (?:the |this )?(?:Project Gutenberg )?E-?(?:text|book)\b|"
    r"^\W*(?:Ende dieses Projekte?|Fin du Projet|Fin del Proyecto|Einde van het Project)"
    r" Gutenberg",
    re.IGNORECASE,
)
_LICENCE_WORDS = re.compile(
    r"Gutenberg|\be-?(?:text|book)s?\b|public domain|small print", re.IGNORECASE
)
_CREDIT = re.compile(
    r"\W*(?:Produced by|E-?text (?:prepared|produced|transcribed|scanned|revised)|"
    r"(?:This|The) e-?(?:text|book) (?:was|is)|Transcribed (?:from|by)|"
    r"(?:HTML|Text) (?:version|file|formatting)|(?:Scanned|Digiti[sz]ed) (?:and|at|by|from)\b|"
    r"Special thanks (?:are|go|to)\b|Many thanks to\b|This (?:file|book content) was|"
    r"Online Distributed Proof|Dieses Buch wurde uns|"
    r"Every attempt has been made to replicate the original)",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"\W*(?:Transcriber[’']?s?[’']?s? (?:end )?notes?|Transcribers[’'] notes?|"
    r"Transcription notes?|Note of the transcriber|"
    r"Not[ae]s? (?:de(?:l|o)?|du|sur) (?:la )?(?:trans\w+|editor)|"
    r"Anmerkungen? (?:zur|des|der) Transkri\w+|Opmerkingen van de bewerker|Megjegyzés(?:ek)?\b|"
    r"A Note on the Text\b|\[Redactor)",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"(?:^|\n)\W{0,3}(Title|Author|Language)\W{0,4}:\s*"
    r"(.+(?:\n(?!\*{3}|\W{0,3}[A-Z][\w ]{2,25}:).+)*)"  # a long title goes on in the next line
)
_CREDIT_LUMPS = 12  # credits stand at most so many lumps below the START line

# Two licence texts (the SMALL PRINT of 1997: 2,600 words; today's: 3,300) and what surrounds them.
_LONGEST_LICENCE = 7000
# The words between two of _LICENCE_WORDS are at most 264 in the licence texts of all eras; more are
# a text that stands before the first START line or below an END line in a collection.
_LONGEST_SILENCE = 500
_LONGEST_BETWEEN = 20  # words between two START lines, or "End of the ..." and the END line
# The largest part of what lies between the licence texts that may be left out.
_LARGEST_DROP = 0.2


@dataclass(frozen=True, slots=True)
class Body:
    """The lumps of the book itself; `fields` are the header's Title, Author and Language."""

    lumps: list[TextBlock]
    fields: dict[str, str]
    drops: Counter[str]


def strip_boilerplate(page: Page) -> Body:
    """The page without licence texts, credits and transcribers' notes.

    Raises:
        ValueError: if more than a fifth of the words between the licence texts would be lost; the
            line gives the words and reasons.
    """
    drops: Counter[str] = Counter()
    start, end, head = _find_book(page.lumps)
    body = page.lumps[start:end]
    drops["licence"] = sum(map(_n_words, (*page.lumps[:start], *page.lumps[end:])))
    if start and page.lumps[start - 1].preformatted:
        below = _below_start_line(page.lumps[start - 1])
        drops["licence"] -= sum(map(_n_words, below))
        body = [*below, *body]
    kept = []
    for position, lump in enumerate(body):
        reason = _reason(lump, position)
        if reason:
            drops[reason] += _n_words(lump)
        else:
            kept.append(lump)
    kept = _without_notes(kept, drops)
    _refuse_to_eat(page.lumps, len(kept), drops)
    return Body(kept, _fields(head), drops + page.drops)


def _find_book(lumps: Sequence[TextBlock]) -> tuple[int, int, str]:
    """First lump of the book, the first after it, and the header's text."""
    start = 0
    silence = 0
    for position, lump in enumerate(lumps):
        silence = 0 if _is_about_licence(lump) else silence + _n_words(lump)
        if silence > (_LONGEST_BETWEEN if start else _LONGEST_SILENCE):
            break
        if _START.search(lump.text) or (lump.region == "licence" and position == start):
            start = position + 1
    head = "\n\n".join(lump.text for lump in lumps[: start or _CREDIT_LUMPS])
    end = len(lumps)
    silence = 0
    for position in range(len(lumps) - 1, start - 1, -1):
        lump = lumps[position]
        silence = 0 if _is_about_licence(lump) else silence + _n_words(lump)
        if silence > (_LONGEST_SILENCE if end == len(lumps) else _LONGEST_BETWEEN):
            break
        if lump.region == "licence" or _END.search(lump.text):
            end = position
    return start, end, head


def _is_about_licence(lump: TextBlock) -> bool:
    return lump.region == "licence" or bool(_LICENCE_WORDS.search(lump.text))


def _reason(lump: TextBlock, position: int) -> str:
    if lump.region in ("licence", "note"):
        return {"licence": "licence", "note": "transcriber's note"}[lump.region]
    if position < _CREDIT_LUMPS and _CREDIT.match(lump.text):
        return "credits"
    if lump.text.lstrip("[(* ").startswith("Transcriber") and _NOTE.match(lump.text):
        return "" if _is_title(lump) else "transcriber's note"
    return ""


def _is_title(lump: TextBlock) -> bool:
    return lump.level > 0 or (lump.bold and len(lump.text) < 60)


def _without_notes(lumps: list[TextBlock], drops: Counter[str]) -> list[TextBlock]:
    """Leaves out what stands under a heading such as "Transcriber's Note", to the next heading."""
    kept: list[TextBlock] = []
    inside = False
    for lump in lumps:
        if _is_title(lump) and _NOTE.match(lump.text):
            inside = True
        elif lump.level:
            inside = False
        if inside:
            drops["transcriber's note"] += _n_words(lump)
        else:
            kept.append(lump)
    return kept


def _refuse_to_eat(lumps: Sequence[TextBlock], n_kept: int, drops: Counter[str]) -> None:
    n_licence = min(drops["licence"], _LONGEST_LICENCE)
    n_lost = drops.total() - n_licence
    if n_lost < _LARGEST_DROP * n_kept:
        return  # a lump that was kept is a word at least
    n_between = sum(map(_n_words, lumps)) - n_licence
    if n_lost > _LARGEST_DROP * n_between:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in (+drops).most_common())
        raise ValueError(
            f"{n_lost:,} of the {n_between:,} words between the licence texts would be dropped "
            f"({reasons}), expected at most a fifth"
        )


def _fields(head: str) -> dict[str, str]:
    """Title, Author and Language as Gutenberg's header gives them, each on one line."""
    found = {}
    for name, value in _FIELD.findall(head):
        found.setdefault(name.lower(), " ".join(value.split()))
    return found


def _n_words(lump: TextBlock) -> int:
    return count_words(lump.text)


def _below_start_line(lump: TextBlock) -> list[TextBlock]:
    """What a preformatted header holds below its START line, without a white line between."""
    lines = lump.text.split("\n")
    first = next((n for n, line in enumerate(lines, 1) if _START.search(line)), len(lines))
    if "***" not in lines[first - 1].lstrip("* "):
        # A long title goes on, and the closing stars stand on a line below.
        rest = enumerate(lines[first : first + 2], 1)
        first += next((n for n, line in rest if line.endswith("***")), 0)
    return [replace(lump, text="\n".join(lines[first:]))] if lines[first:] else []
