"""The Project Dialogism Novel Corpus -> its novels and their quotations.

The corpus (https://github.com/Priya22/project-dialogism-novel-corpus, arXiv 2204.05836) annotates
whole novels. A quotation that "said he" interrupts has one span for each part. Spans are offsets in
`novel_text.txt` without the quotation marks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from miner.errors import InputError
from miner.files import csv_rows
from miner.lab.gold.editions import (
    BookReader,
    Coverage,
    LeftOutBook,
    read_or_leave_out,
    refuse_nothing,
)

_COLUMNS = ("quoteID", "subQuotationList", "quoteByteSpans", "speaker", "addressees", "quoteType")
_GUTENBERG = re.compile(r"//www\.gutenberg\.org/ebooks/([0-9]{1,8})(?![0-9])")

Offsets = tuple[int, int]  # start and end, exclusive


@dataclass(frozen=True, slots=True)
class PdncNovel:
    """A novel of the corpus."""

    folder: Path  # its folder
    gutenberg_id: str  # the number of its text; "" if that is not from Project Gutenberg
    title: str  # its title
    # the code of its author, the first letters of the surname ("AUST"); "" if the index has none
    author: str = ""


@dataclass(frozen=True, slots=True)
class Quotation:
    """One quotation. `spans` has the offsets, in characters, of each uninterrupted part.

    `type` is "Explicit", "Anaphoric", "Implicit", or "" if the annotators gave none.
    """

    id: str
    speaker: str
    addressees: tuple[str, ...]
    type: str
    spans: tuple[Offsets, ...]


@dataclass(frozen=True, slots=True)
class PdncCharacter:
    """A character of a novel. `gender` is "m", "f", or "" if the corpus gives none."""

    name: str
    aliases: tuple[str, ...]
    gender: str


@dataclass(frozen=True, slots=True)
class AnnotatedNovel:
    """The text of a novel and its quotations, in the order of the corpus."""

    text: str
    quotations: tuple[Quotation, ...]

    @property
    def spans(self) -> tuple[Offsets, ...]:
        """The spans of all quotations, in the order of the text."""
        return tuple(sorted(span for quotation in self.quotations for span in quotation.spans))


def find_novels(corpus: Path) -> list[PdncNovel]:
    """Returns the novels of the index that have a folder in `corpus` or its `data`."""
    novels: list[PdncNovel] = []
    columns = ("Novel Title", "Source", "Folder Name")
    for _, row in _rows(corpus / "PDNC-Novel-Index.csv", columns):
        source = _GUTENBERG.search(row["Source"])
        known = source[1] if source else "", row["Novel Title"], row.get("Author Code", "")
        for folder in (corpus / row["Folder Name"], corpus / "data" / row["Folder Name"]):
            if row["Folder Name"] and folder.is_dir():
                novels.append(PdncNovel(folder, *known))
    return novels


def read_novels_at_hand(
    corpus: Path, read: BookReader
) -> tuple[list[tuple[PdncNovel, bytes]], Coverage]:
    """Returns the novels with a Gutenberg number that `read` can give, and what they cover."""
    novels = [novel for novel in find_novels(corpus) if novel.gutenberg_id]
    opened: list[tuple[PdncNovel, bytes]] = []
    missing: list[LeftOutBook] = []
    for novel in novels:
        content = read_or_leave_out(read, novel.gutenberg_id, 1)
        if isinstance(content, LeftOutBook):
            missing.append(content)
        else:
            opened.append((novel, content))
    refuse_nothing(missing, len(novels))
    return opened, Coverage("novels", len(novels), tuple(missing))


def read_quotations(folder: Path) -> AnnotatedNovel:
    """Returns the text of one novel of the corpus and its quotations.

    The spans are offsets in characters, although the column is called `quoteByteSpans`. Each span
    must hold the part of the quotation that is listed with it. White space may differ, since the
    corpus trims the part and not always the span.
    """
    path = folder / "quotation_info.csv"
    text = _decoded(folder / "novel_text.txt", "utf-8")  # offsets count a byte order mark
    quotations: list[Quotation] = []
    for place, row in _rows(path, _COLUMNS):
        where = f"{place}: {row['quoteID'][:60]}"
        quotations.append(
            Quotation(
                id=row["quoteID"],
                speaker=row["speaker"],
                addressees=tuple(map(str, _listed(row, "addressees", where))),
                type="" if row["quoteType"] == "nan" else row["quoteType"],
                spans=_checked_spans(row, text, where),
            )
        )
    return AnnotatedNovel(text, tuple(quotations))


def read_character_list(folder: Path) -> list[PdncCharacter]:
    """Returns the characters of one novel of the corpus, in its order."""
    path = folder / "character_info.csv"
    found: list[PdncCharacter] = []
    for place, row in _rows(path, ("Main Name", "Aliases", "Gender")):
        name = row["Main Name"]
        aliases = _evaluated(row["Aliases"])
        if not isinstance(aliases, set | list | tuple):
            raise InputError(
                f"{place}: {name[:60]}: found {row['Aliases'][:60]!r} in Aliases, expected a set"
            )
        gender = row["Gender"].lower()
        found.append(
            PdncCharacter(name, tuple(sorted(map(str, aliases))), gender if gender in "mf" else "")
        )
    return found


def _decoded(path: Path, encoding: str) -> str:
    try:
        return path.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: found byte {error.object[error.start]:#x} at {error.start}, expected UTF-8"
        ) from error


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the rows of a CSV file, each with the place of its first line."""
    rows = csv_rows(path, _decoded(path, "utf-8-sig"), strict=True)
    where, header = next(rows, (f"{path}:1", []))
    for column in columns:
        if column not in header:
            raise InputError(f"{where}: found no column {column}, expected {', '.join(columns)}")
    for where, row in rows:
        if row and len(row) != len(header):
            amount = "more" if len(row) > len(header) else "fewer"
            raise InputError(
                f"{where}: found {amount} than {len(header)} fields, expected {len(header)}"
            )
        if row:
            yield where, dict(zip(header, row, strict=True))


def _listed(row: dict[str, str], column: str, where: str) -> list[Any]:
    """Returns the list that a cell holds; errors begin with `where`."""
    found = _evaluated(row[column])
    if not isinstance(found, list):
        raise InputError(f"{where}: found {row[column][:60]!r} in {column}, expected a list")
    return found


def _evaluated(cell: str) -> Any:  # noqa: ANN401 - whatever the cell holds
    """Returns the value that a cell holds as Python code; None if it holds none."""
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):  # nested deeply
        return None


def _checked_spans(row: dict[str, str], text: str, where: str) -> tuple[Offsets, ...]:
    """Returns the spans of a row, each checked to hold its text; errors begin with `where`."""
    spans, parts = (_listed(row, name, where) for name in ("quoteByteSpans", "subQuotationList"))
    if len(spans) != len(parts) or not spans:
        raise InputError(
            f"{where}: found {len(spans)} spans for {len(parts)} sub-quotations, "
            "expected one for each"
        )
    for span, part in zip(spans, parts, strict=True):
        match span:
            case [int(start), int(end)] if 0 <= start < end <= len(text):
                if text[start:end].split() != str(part).split():
                    raise InputError(
                        f"{where}: found {text[start:end][:60]!r} from {start} to "
                        f"{end}, expected {str(part)[:60]!r}"
                    )
            case _:
                raise InputError(
                    f"{where}: found span {shown(span)}, expected [start, end] within the "
                    f"{len(text)} characters of the text"
                )
    return tuple((start, end) for start, end in spans)
