"""A book that a user names -> its page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from miner.annotation.annotations import read_annotations
from miner.app.viewer.layers import build_layers, name_layers
from miner.app.viewer.page import render_book
from miner.corpus.reading import read_spans
from miner.people.character_files import NO_CHARACTERS, read_characters
from miner.tagger.load import AUTO, FLOAT32, load_tagger, tagger_label


def view_html(
    source: str | int | Path,
    *,
    taggers: str | Iterable[str] = (AUTO,),
    gold: str | Path | None = None,
    quotes: Iterable[str] = (),
    books: str | Path | None = None,
    mirror: str | None = None,
    dtype: str = FLOAT32,
    characters: str | Path | None = None,
) -> bytes:
    """The page that shows the conversations of a book, as `miner view` writes it.

    Example:
        >>> import miner
        >>> miner.view_html("sample", taggers="gap")[:15]
        b'<!DOCTYPE html>'

    Args:
        source: a Gutenberg number (1342), the path of a book's file, a title, or "sample".
        taggers: names or paths of taggers, one or several; each is a layer of the page.
        gold: folder of annotations, which are a layer, too.
        quotes: names of the marks that open speech; without any they are inferred.
        books: folder in which a number is looked up first.
        mirror: URL template from which a number is downloaded, if it is in no folder.
        dtype: in which the encoder of a checkpoint computes, "float32" or "bfloat16".
        characters: a `characters.jsonl`, perhaps corrected by hand, whose characters the book has;
            without it, or where it lacks the book, they are found.

    Returns:
        One HTML file in UTF-8 that needs no network.

    Raises:
        InputError: if there is no such book, tagger, annotation or list; in one line.
        TypeError: if `source` is of another type.
    """
    names = [taggers] if isinstance(taggers, str) else [str(name) for name in taggers]
    labels = name_layers(map(tagger_label, names))
    lists = NO_CHARACTERS if characters is None else read_characters(characters)
    named = [
        (label, load_tagger(name, dtype, lists)) for label, name in zip(labels, names, strict=True)
    ]
    book_spans = read_spans(source, quotes=quotes, books=books, mirror=mirror)
    annotations = read_annotations(Path(gold)) if gold else None
    return render_book(build_layers(book_spans, named, annotations, lists))
