"""Text blocks of a page -> the text blocks of the book, and the words left out by reason.

Four things are left out: Gutenberg's header and footer of every era, its licence, the producers'
credits and the transcribers' notes. A stripper that looks only for a marker can lose a whole book,
because some collections have an END line in their middle, and some chapters quote "Project
Gutenberg". So this one counts the words before it drops them, and refuses to drop more than any
licence has.

Header and licence also say whether a work is in copyright, with the permission of its author. The
copyright page of the printed book stands below the header, and is no reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from miner.books.page import Page, TextBlock, count_words
from miner.errors import InputError
from miner.languages.registry import any_of

_START = re.compile(
    r"\*{3}\s*START OF (?:THIS|THE) PROJECT GUTENBERG|\*END\W*THE SMALL PRINT!|"
    r"\*{3}START\W+OF\W+(?:THIS|THE)\W+PROJECT",
    re.IGNORECASE,
)
_END = re.compile(
    r"\*{3}\s*END OF (?:THIS|THE) PROJECT GUTENBERG|"
    r"^\W*End of (?:the |this )?Project Gutenberg|"
    r"^\W*End of (?:the |this )?(?:Project Gutenberg )?E-?(?:text|book)\b|"
    rf"^\W*{any_of(lambda language: language.page.end_line)} Gutenberg",
    re.IGNORECASE,
)
_LICENCE_WORDS = re.compile(
    r"Gutenberg|\be-?(?:text|book)s?\b|public domain|small print", re.IGNORECASE
)
_CREDIT = re.compile(rf"\W*{any_of(lambda language: language.page.credits)}", re.IGNORECASE)
_NOTE = re.compile(rf"\W*{any_of(lambda language: language.page.transcriber_note)}", re.IGNORECASE)
_FIELD = re.compile(
    r"(?:^|\n)\W{0,3}(Title|Author|Language)\W{0,4}:\s*"
    r"(.+(?:\n(?!\*{3}|\W{0,3}[A-Z][\w ]{2,25}:).+)*)"  # a long title continues on the next line
)
_N_CREDIT_BLOCKS = 12  # text blocks below the START line among which credits are looked for

# Words of two licence texts (SMALL PRINT of 1997: 2,600; today's: 3,300) and their surroundings.
_LONGEST_LICENCE = 7000
_USUAL_LICENCE = 3300
# Words without any of _LICENCE_WORDS. The licence texts of all eras have at most 264 in a row; more
# belong to a text before the first START line or below an END line in a collection.
_LONGEST_SILENCE = 500
_LONGEST_BETWEEN = 20  # words between two START lines, or "End of the ..." and the END line
# The largest share of the words between the licence texts that may be left out.
_LARGEST_DROP = 0.2


@dataclass(frozen=True, slots=True)
class Body:
    """The text blocks of the book itself."""

    text_blocks: list[TextBlock]  # what is left of the page
    # Title, Author and Language of Gutenberg's header, by their names in small letters
    fields: dict[str, str]
    drops: Counter[str]  # the words left out, by reason
    header: str  # the text down to the START line, or "" where there is no such line
    footer: str  # the text of the licence below the book, or ""


def strip_boilerplate(page: Page) -> Body:
    """The page without licence texts, credits and transcribers' notes."""
    drops = Counter({"unclosed markup": page.n_lost})
    start, end, head = _find_book(page.text_blocks)
    body = page.text_blocks[start:end]
    drops["licence"] = sum(map(_n_words, (*page.text_blocks[:start], *page.text_blocks[end:])))
    if start and page.text_blocks[start - 1].preformatted:
        below = _below_start_line(page.text_blocks[start - 1])
        drops["licence"] -= sum(map(_n_words, below))
        body = [*below, *body]
    kept = []
    for position, text_block in enumerate(body):
        reason = _reason(text_block, position)
        if reason:
            drops[reason] += _n_words(text_block)
        else:
            kept.append(text_block)
    kept = _without_notes(kept, drops)
    _refuse_large_drop(page, len(kept), drops)
    above, below = page.text_blocks[:start], page.text_blocks[end:]
    return Body(kept, _fields(head), drops + page.drops, _header(above), _text_of(below))


def is_boundary(line: str) -> bool:
    """Whether a line is one of those with which Gutenberg starts or ends a book."""
    return bool(_START.search(line) or _END.search(line))


def _find_book(text_blocks: Sequence[TextBlock]) -> tuple[int, int, str]:
    """The positions where the book starts and where it has ended, and the header's text."""
    start = 0
    silence = 0
    for position, text_block in enumerate(text_blocks):
        silence = 0 if _is_about_licence(text_block) else silence + _n_words(text_block)
        if silence > (_LONGEST_BETWEEN if start else _LONGEST_SILENCE):
            break
        if _START.search(text_block.text) or (text_block.region == "licence" and position == start):
            start = position + 1
    head = "\n\n".join(text_block.text for text_block in text_blocks[: start or _N_CREDIT_BLOCKS])
    end = len(text_blocks)
    silence = 0
    for position in range(len(text_blocks) - 1, start - 1, -1):
        text_block = text_blocks[position]
        silence = 0 if _is_about_licence(text_block) else silence + _n_words(text_block)
        if silence > (_LONGEST_SILENCE if end == len(text_blocks) else _LONGEST_BETWEEN):
            break
        if text_block.region == "licence" or _END.search(text_block.text):
            end = position
    return start, end, head


def _header(text_blocks: Sequence[TextBlock]) -> str:
    """The text of the header. What follows its last START line in one text block is the book's."""
    text = _text_of(text_blocks)
    starts = [match.end() for match in _START.finditer(text)]
    return text[: starts[-1]] if starts else text


def _text_of(text_blocks: Sequence[TextBlock]) -> str:
    return "\n\n".join(text_block.text for text_block in text_blocks)


def _is_about_licence(text_block: TextBlock) -> bool:
    return text_block.region == "licence" or bool(_LICENCE_WORDS.search(text_block.text))


def _reason(text_block: TextBlock, position: int) -> str:
    """Why a text block is left out, or ""."""
    if text_block.region in ("licence", "note"):
        return {"licence": "licence", "note": "transcriber's note"}[text_block.region]
    if position < _N_CREDIT_BLOCKS and _CREDIT.match(text_block.text):
        return "credits"
    if text_block.text.lstrip("[(* ").startswith("Transcriber") and _NOTE.match(text_block.text):
        return "" if _is_title(text_block) else "transcriber's note"
    return ""


def _is_title(text_block: TextBlock) -> bool:
    return text_block.level > 0 or (text_block.bold and len(text_block.text) < 60)


def _without_notes(text_blocks: list[TextBlock], drops: Counter[str]) -> list[TextBlock]:
    """The text blocks without those from a heading "Transcriber's Note" to the next heading.

    Headings of a lower level are headings within the note.
    """
    kept: list[TextBlock] = []
    inside = False
    level = 0
    for text_block in text_blocks:
        if _is_title(text_block) and _NOTE.match(text_block.text):
            inside = True
            level = text_block.level
        elif text_block.level and (text_block.level <= level or not level):
            inside = False
        if inside:
            drops["transcriber's note"] += _n_words(text_block)
        else:
            kept.append(text_block)
    return kept


def _refuse_large_drop(page: Page, n_kept: int, drops: Counter[str]) -> None:
    """Raises an InputError if more than a fifth of the book would be dropped."""
    # Where less of the licence is found than there is, the markup has swallowed it first of all.
    n_swallowed = min(page.n_lost, max(0, _USUAL_LICENCE - drops["licence"]))
    n_licence = min(drops["licence"], _LONGEST_LICENCE) + n_swallowed
    n_lost = drops.total() - n_licence
    if n_lost < _LARGEST_DROP * n_kept:
        return  # every text block that was kept has at least one word
    n_between = sum(map(_n_words, page.text_blocks)) + page.n_lost - n_licence
    if n_lost > _LARGEST_DROP * n_between:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in (+drops).most_common())
        raise InputError(
            f"{n_lost:,} of the {n_between:,} words between the licence texts would be dropped "
            f"({reasons}), expected at most a fifth"
        )


def _fields(head: str) -> dict[str, str]:
    """Title, Author and Language from Gutenberg's header, each on one line."""
    found = {}
    for name, value in _FIELD.findall(head):
        found.setdefault(name.lower(), " ".join(value.split()))
    return found


def _n_words(text_block: TextBlock) -> int:
    return count_words(text_block.text)


def _below_start_line(text_block: TextBlock) -> list[TextBlock]:
    """The text of a preformatted header below its START line, if there is any."""
    lines = text_block.text.split("\n")
    first = next((n for n, line in enumerate(lines, 1) if _START.search(line)), len(lines))
    if "***" not in lines[first - 1].lstrip("* "):
        # A long title continues, and its closing stars are on a line below.
        rest = enumerate(lines[first : first + 2], 1)
        first += next((n for n, line in rest if line.endswith("***")), 0)
    return [replace(text_block, text="\n".join(lines[first:]))] if lines[first:] else []


# Words that say so wherever they stand in the header or the licence. Blanks may be line breaks.
_SAID = re.compile(
    "|".join(
        (
            "(?:This is a )?COPYRIGHTED Project Gutenberg(?:-tm|™)? e-?(?:text|book)",
            "FOR COPYRIGHT(?:ED| PROTECTED) E-?(?:TEXT|BOOK)S",
            "This (?:particular work|e-?(?:text|book)) is (?:one of the few )?"
            "(?:copyrighted|individual works protected by copyright)",
            "Copyright Status: Copyrighted",
        )
    ).replace(" ", r"[\s*]+"),
    re.IGNORECASE,
)
_DECLARED = re.compile(r"Copyrighted\b[^.]*", re.IGNORECASE)
_NOTICE = re.compile(
    r"^[^\w\n]*(Copyright\s*(?:\(C\)|©|(?=\d{4}\b))[^\n]{3,80})", re.IGNORECASE | re.MULTILINE
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
# A header that repeats the notice of an older printing says nothing: in the United States the
# copyright of what was published in 1930 and before has expired.
_LAST_EXPIRED = 1930


def find_copyright(declared: str, header: str, footer: str) -> str:
    """The words by which Gutenberg says that a work is in copyright, on one line, or "".

    >>> find_copyright("", "** This is a COPYRIGHTED Project Gutenberg eBook, Details Below **", "")
    'This is a COPYRIGHTED Project Gutenberg eBook'
    >>> find_copyright("Public domain in the USA.", "", "")
    ''
    """
    said = _SAID.search(header) or _SAID.search(footer) or _DECLARED.match(declared)
    notices = (match[1] for match in _NOTICE.finditer(header))
    found = said[0] if said else next(filter(_is_lasting, notices), "")
    return " ".join(found.split())


def _is_lasting(notice: str) -> bool:
    """Whether a notice has no year, or one whose copyright has not expired."""
    years = [int(year) for year in _YEAR.findall(notice)]
    return not years or max(years) > _LAST_EXPIRED
