"""The gold that a user names -> gold tags; what cannot be gold is named, with what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from miner.annotation.annotations import (
    BOOKS,
    FOLDER,
    AnnotatedBook,
    BookCard,
    is_annotation_file,
    read_annotation_file,
    refuse_no_annotations,
)
from miner.annotation.locate import locate, refuse_losses
from miner.errors import InputError
from miner.lab.gold.mcn import GOLD_CSV, read_any_tag_file, refuse_folder
from miner.lab.measure.tagging import strip_tags
from miner.speech.tags import TaggedBook

_FOLDERS = f"a folder of annotations ({BOOKS}) or of MCN ({GOLD_CSV}), or a tags file"


def read_gold_tags(
    path: Path | str, predicted: Sequence[TaggedBook], split: str | None = None
) -> tuple[TaggedBook, ...]:
    """Returns the gold tags of a tags file, of an MCN file, or of a file of annotations.

    A file of annotations, such as `miner annotate` saves, holds no text. Its annotations are found
    in the text of the predicted book.
    """
    path = Path(path)
    is_annotated = path.suffix.lower() != ".csv" and path.is_file() and is_annotation_file(path)
    if not is_annotated:
        return read_any_tag_file(path, split=split).books
    if split is not None:
        raise InputError(f"{path}: found split {split}, expected none in a file of annotations")
    book, facts, source = read_annotation_file(path)
    of_book = {tagged.book: tagged for tagged in predicted}
    if book not in of_book:
        held = ", ".join(of_book) or "no book"
        raise InputError(f"{path}: found annotations of {book}, expected those of {held}")
    _refuse_gaps(of_book[book])
    card = BookCard(book, "", "", "", 0, "", "", 3, "", "", "unknown")
    located = locate(AnnotatedBook(card, facts, source), strip_tags(of_book[book]))
    refuse_losses(located)
    return (located.tagged(),)


def _refuse_gaps(tagged: TaggedBook) -> None:
    """Raises an error if the spans of a book are not all the text of their paragraphs."""
    for paragraph, group in groupby(tagged.spans, key=lambda item: item.span.paragraph):
        end = 0
        for item in group:
            if item.span.start != end:
                raise InputError(
                    f"{tagged.source}: {tagged.book}, paragraph {paragraph}: found a span from "
                    f"{item.span.start}, expected {end}: annotations are sought in the whole text"
                )
            end = item.span.end


def refuse_gold(path: Path) -> None:
    """Raises an error if a path is neither a folder of gold nor a file that may be a tags file."""
    if path.name == FOLDER and not path.exists():
        refuse_no_annotations(path)
    if not (path / GOLD_CSV).is_file():
        refuse_folder(path, _FOLDERS)
    if path.is_file() and is_annotation_file(path):
        raise InputError(
            f"{path}: found a file of annotations, expected {_FOLDERS}; `miner score` takes it"
        )
