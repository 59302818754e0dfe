"""Which headings of a book begin a chapter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_NUMBER = (
    r"(?:[ivxlcdm]{1,9}|\d{1,3}|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|"
    r"ninth|tenth|last|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"(?:thir|four|fif|six|seven|eigh|nine)teen(?:th)?|twent(?:y|ieth)|thirt(?:y|ieth)|"
    r"fort(?:y|ieth)|fift(?:y|ieth))(?:[- ]\w{3,8})?|\w{2,12})"
)
# The words for a chapter and its like, a row a language.
_CHAPTER_WORDS = {
    "en": "chapter|chap|book|part|volume|stave|letter|canto|adventure|phase|epilogue|prologue|"
    "preface|introduction|conclusion|prelude|finale|postscript|foreword|section",
    "de": "kapitel|capitel|teil|theil|buch|vorwort|abschnitt",
    "fr": "chapitre|livre|tome|partie|préface|prologue|épilogue",
    "es": "capítulo|capitulo|libro|parte|prólogo|epílogo|tomo",
    "it": "capitolo|libro|parte|prefazione|introduzione|tomo",
    "pt": "capítulo|capitulo|livro|parte|prólogo|volume",
    "nl": "hoofdstuk|deel|boek|voorwoord",
    "hu": "fejezet|rész|könyv|kötet",
}
_WORDS = "|".join(_CHAPTER_WORDS.values())
_NUMBERED = re.compile(
    rf"\W*(?:(?:{_WORDS})\b(?:\W*$|\W+{_NUMBER}\b)|[ivxlc]{{1,8}}\s*(?:[.:)\u2014-].*|\W*$)|"
    rf"\d{{1,3}}\s*(?:[.:)\u2014-].*|\W*$)|{_NUMBER}\.? (?:{_WORDS})\b)",
    re.IGNORECASE,
)
# A paragraph must say more than a heading to be taken for one.
_NUMBERED_PARAGRAPH = re.compile(
    rf"\W*(?i:(?:{_WORDS})\W+(?:[ivxlc]{{1,9}}|\d{{1,3}}))(?:\W*$|[.:\u2014]|\s+[A-ZÀ-Þ])"
)
_NUMERAL = re.compile(r"\W*[IVXLC]{1,8}\.?$")
_LAST = re.compile(r"\W*(?:chapter the last|conclusion|epilogue|finale)\W*$", re.IGNORECASE)
_PART = re.compile(
    r"\W*(?:the )?(?:\w+ )?(?:part|book|volume|phase|epoch|teil|theil|buch|tome|partie|libro|parte|"
    r"tomo|livro|deel|boek|rész|könyv|kötet)\b",
    re.IGNORECASE,
)
_NOT_A_CHAPTER = re.compile(
    r"\W*(?:(?:table of |detailed )?contents|illustrations|index|"
    r"list of (?:illustrations|plates|chapters)|"
    r"footnotes?|notes|advertisements?|by|inhalt|table des mati[èe]res|indice|índice|inhoud|"
    r"tartalom(?:jegyzék)?|the end|finis|fin|fim|end|ende)\b",
    re.IGNORECASE,
)
_CALLED_CHAPTER = re.compile(
    r"\W*(?:the \w+ )?(?:chapter|chap\.|kapitel|chapitre|cap[íi]tulo|capitolo|hoofdstuk)\b|"
    r"\W*\w+\.? (?:kapitel|fejezet)\b",
    re.IGNORECASE,
)
_LONGEST_HEADING = 120  # characters of a paragraph that only looks like a heading
_LONGEST_CHAPTER_TITLE = 400  # characters of a heading: Pickwick's and Tom Jones's tell the story
_SHORTEST_CHAPTER = 40  # words; less text than this under a heading is a title page or dedication
_LONGEST_MOTTO = 60  # words
_LONGEST_TITLE_PAGE = 250  # words of what stands above the first of many numbered chapters
_PARAGRAPH = 7  # the level of a paragraph that looks like a heading


@dataclass(frozen=True, slots=True)
class Outline:
    """A heading or a stretch of text, as the search for chapters sees it.

    `level` is 1 to 6 for a heading element, 7 for a paragraph that looks like one, 0 for text.
    """

    level: int
    text: str
    n_words: int


def looks_like_heading(text: str, bold: bool) -> bool:
    """Whether a paragraph is only dressed as one: "CHAPTER IV", a bare numeral, "Part 2".

    >>> looks_like_heading("CHAPTER IV. In which nothing happens", False)
    True
    >>> looks_like_heading("Chapter IV of the book I was reading bored me, and I said so.", False)
    False
    """
    if len(text) > _LONGEST_HEADING or text[0] in "\"'“‘«»„—–":
        return False
    if (text.isupper() or bold) and (_NUMERAL.match(text) or _LAST.match(text)):
        return True
    numbered = text[:1].isupper() and _NUMBERED_PARAGRAPH.match(text)
    return bool(numbered) and not text.endswith((",", ";"))


def is_contents_title(text: str) -> bool:
    """Whether a heading announces a table of contents or of illustrations."""
    return bool(
        re.fullmatch(
            r"\W*(?:(?:table of |detailed )?contents|(?:list of )?illustrations|"
            r"list of (?:plates|chapters)|chapter titles|"
            r"inhalt(?:sverzeichnis)?|table des (?:mati[èe]res|chapitres)|tabla de materias|"
            r"[ií]ndice|inhoud(?:sopgave)?|tartalom(?:jegyzék)?)\b.{0,20}",
            text,
            re.IGNORECASE | re.DOTALL,
        )
    )


def chapter_starts(outline: Sequence[Outline]) -> list[int]:
    """Positions in the outline at which a chapter begins, ascending.

    Headings without text between them (part, chapter, title) are one start, which leaves out a
    table of contents above them and "End of Part One". Which heading levels begin chapters is read
    off the book: the level of the headings called "Chapter", else the levels of numbered headings,
    and every level above; where nothing is numbered, the level that divides the book into the most
    parts of some length. Headings below are headlines inside a chapter.
    """
    runs = _runs(outline)
    deepest = _deepest_chapter_level(outline, runs)
    candidates = []
    for run, n_words in runs:
        headings = [outline[position] for position in run]
        is_named = any(_is_numbered(heading.text) for heading in headings)
        is_last = headings[0].level == _PARAGRAPH and bool(_LAST.match(headings[0].text))
        if n_words < _SHORTEST_CHAPTER and not is_named:
            continue
        if is_contents_title(headings[-1].text):
            continue
        if all(_NOT_A_CHAPTER.match(heading.text) for heading in headings):
            continue
        # The last chapter may be headed by a paragraph where all others have a heading element.
        if min(heading.level for heading in headings) <= deepest or is_last:
            candidates.append((run, n_words, is_named))
    mostly_named = sum(is_named for *_, is_named in candidates) >= 0.7 * len(candidates)
    starts = []
    for run, n_words, is_named in candidates:
        headings = [outline[position] for position in run]
        if mostly_named and not is_named:
            if all(_is_caption(heading) for heading in headings):
                continue
            if not starts and n_words < _LONGEST_TITLE_PAGE:
                continue
        starts.append(run[_first_of_chapter(headings)])
    return starts


def _first_of_chapter(headings: Sequence[Outline]) -> int:
    """Which of the headings above a chapter is the first that belongs to it."""
    contents = [n for n, heading in enumerate(headings) if is_contents_title(heading.text)]
    first = contents[-1] + 1 if contents else 0
    while first < len(headings) and _NOT_A_CHAPTER.match(headings[first].text):
        first += 1
    return first if first < len(headings) else 0


def _is_caption(heading: Outline) -> bool:
    """Among numbered chapters, a heading that is quoted or a whole sentence is a picture's."""
    return heading.text[:1] in "\"'“‘«„" or (
        heading.text.endswith((".", "”", '"')) and len(heading.text.split()) > 5
    )


def _is_numbered(text: str) -> bool:
    return bool(_NUMBERED.match(text)) and len(text) <= _LONGEST_CHAPTER_TITLE


def _runs(outline: Sequence[Outline]) -> list[tuple[list[int], int]]:
    """Headings with nothing between them, and the words of text that follow.

    A motto counts for nothing: a few words below the heading of a part, or above a heading of a
    lower level.
    """
    runs: list[tuple[list[int], int]] = []
    run: list[int] = []
    n_words = 0
    for position, item in enumerate(outline):
        if not item.level:
            n_words += item.n_words
        elif run and (
            n_words == 0 or (n_words < _LONGEST_MOTTO and _is_part(outline, run, item.level))
        ):
            run.append(position)
            n_words = 0
        else:
            if run:
                runs.append((run, n_words))
            run, n_words = [position], 0
    if run and n_words:
        runs.append((run, n_words))
    return runs


def _is_part(outline: Sequence[Outline], run: Sequence[int], next_level: int) -> bool:
    """Whether headings stand over more than the text below them, up to one of `next_level`."""
    part = any(_PART.match(outline[position].text) for position in run[-2:])
    return part or next_level > max(outline[position].level for position in run)


def _deepest_chapter_level(
    outline: Sequence[Outline], runs: Sequence[tuple[list[int], int]]
) -> int:
    called, numbered, dividing = Counter[int](), Counter[int](), Counter[int]()
    for run, n_words in runs:
        if n_words >= _SHORTEST_CHAPTER:
            dividing[min(outline[position].level for position in run)] += 1
        for position in run:
            called[outline[position].level] += bool(_CALLED_CHAPTER.match(outline[position].text))
        for position in run:
            if _is_numbered(outline[position].text):
                numbered[outline[position].level] += 1
                break
    for counts in (called, numbered):
        often = [level for level, count in counts.items() if count >= 2]
        if often:
            most = max(counts[level] for level in often)
            return max(level for level in often if counts[level] >= most / 4)
    return max(dividing, key=lambda level: (dividing[level], -level), default=0)
