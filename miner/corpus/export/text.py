"""Plain text, a turn a line, with an empty line after each dialogue.

The form is that of the files of "The Gutenberg Dialogue Dataset". Theirs are in small letters and
divided into tokens; here the text is as in the other formats.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from miner.corpus.export import BookRows
from miner.corpus.schema import rows_from_lines

FILES = {"dialogues.txt": "the turns of the dialogues, without who speaks and where"}


def write_books(folder: Path, books: Iterable[BookRows], split: str = "train") -> None:
    """Writes the text of each turn, with a space for white space of any kind in it."""
    with (folder / "dialogues.txt").open("w", encoding="utf-8", newline="\n") as file:
        for book in books:
            for dialogue in rows_from_lines(book["dialogues"]):
                lines = (" ".join(turn["text"].split()) for turn in dialogue["turns"])
                file.write("\n".join(lines) + "\n\n")
