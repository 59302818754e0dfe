"""The documents: their blocks of code, and whether what a command prints is what they show."""

import re
import shlex
from pathlib import Path

from helpers import ROOT

DOCUMENTS = sorted(
    path
    for pattern in ("*.md", ".github/*.md", "annotations/*.md", "miner/**/*.md", "tests/**/*.md")
    for path in ROOT.glob(pattern)
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Not the digits of a digest or of a name such as "gap-300": these are compared as text.
NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-])")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(read(path)) if found == language]


def commands_of(path: Path) -> list[tuple[str, str | None]]:
    """The lines of its shell blocks, its Python, and its consoles' commands with their output."""
    found = []
    for language, text in BLOCK.findall(read(path)):
        if language == "sh":
            lines = text.replace("\\\n", " ").splitlines()
            found += [(" ".join(line.split()), None) for line in lines]
        elif language == "python":
            found.append((f"python -c {shlex.quote(text)}", None))
        elif language == "console":
            command, _, shown = text.removeprefix("$ ").partition("\n")
            found.append((command, shown))
    return found


def _lines_of(text: str) -> list[str]:
    """Without the blanks and empty lines that pad a table."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip(" ─")]


def _is_near(one: str, other: str, per_book: bool) -> bool:
    """Whether two numbers of a table of a model may be the same but for the processor.

    One beginning of the 267 in the test split is 0.004. In one book, it can be 0.09.
    """
    decimals = len(one.partition(".")[2])
    a, b = (float(text.replace(",", "")) for text in (one, other))
    if decimals >= 3:
        return abs(a - b) <= (0.1 if per_book else 0.005)
    return abs(a - b) <= {2: 0.0101, 1: 0.5, 0: max(3, 0.01 * a)}[decimals]


def assert_same_output(printed: str, shown: str, has_model: bool) -> None:
    printed_lines, shown_lines = _lines_of(printed), _lines_of(shown)
    if not has_model:
        assert printed_lines == shown_lines
    masked = [[NUMBER.sub("#", line) for line in lines] for lines in (printed_lines, shown_lines)]
    assert masked[0] == masked[1]
    for one, other in zip(printed_lines, shown_lines, strict=True):
        pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
        per_book = re.search(r"(?: [01]\.\d{3}){4}$", other) is not None
        assert all(_is_near(a, b, per_book) for a, b in pairs), f"{one}\n{other}"
