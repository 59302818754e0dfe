"""A book and its progress -> the page that lists its chapters."""

from __future__ import annotations

from typing import Any

from miner.app.annotator.book_sheets import BookProgress, BookSheets
from miner.app.viewer.layers import LayeredBook
from miner.app.viewer.page import render_chapters_page
from miner.app.viewer.payload import build_book_payload
from miner.files import printable


def render_book_page(sheets: BookSheets, progress: BookProgress) -> bytes:
    """Returns the HTML page with the chapters of a book and how far each of them is done."""
    book = build_book_payload(LayeredBook(sheets.book_spans.book, ()))
    titles: dict[int, dict[str, Any]] = {item["number"]: item for item in book["chapters"]}
    chapters = [
        {
            "number": item.chapter,
            "title": titles[item.chapter]["title"],
            "words": titles[item.chapter]["words"],
            "spans": item.n_spans,
            "decided": item.n_decided,
            "lost": item.n_lost,
        }
        for item in progress.chapters
    ]
    return render_chapters_page(
        {
            "title": book["title"],
            "author": book["author"],
            "language": book["language"],
            "file": printable(sheets.path.name),
            "foreign": progress.n_foreign,
            "chapters": chapters,
        }
    )
