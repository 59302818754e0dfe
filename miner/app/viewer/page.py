"""Plain values of a book -> one HTML file that shows it, with everything in it that it needs.

The template, the style and the scripts are files of `miner/web`. What they may do is written into
the page as a content security policy: run these scripts and no other, and reach no network.
"""

from __future__ import annotations

import hashlib
import html
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import orjson

from miner.app.viewer.data import book_data, chapter_data
from miner.app.viewer.layers import LayeredBook

_SLOT = re.compile(r"<!--slot:(\w+)-->")


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to use the page: its scripts and styles, in order, and whom it may ask for data.

    The last script, `keys.js`, opens the first chapter; what is to change how the page works comes
    before it. `bar` and `desk` are files of HTML: what the page has at its top and beside the text
    in this mode only.
    """

    scripts: tuple[str, ...]
    styles: tuple[str, ...] = ("view.css", "text.css", "panel.css")
    connect: str = "'none'"
    bar: str = ""
    desk: str = ""


_EDITING = ("server.js", "dress.js", "edit.js", "ask.js", "desk.js")
_VIEW = Mode(("render.js", "panel.js", "view.js", "walk.js", "keys.js"))
MODES = {
    "view": _VIEW,
    "edit": Mode(
        (*_VIEW.scripts[:-1], *_EDITING, _VIEW.scripts[-1]),
        (*_VIEW.styles, "edit.css"),
        connect="'self'",
        bar="edit-bar.html",
        desk="edit-desk.html",
    ),
}
DOOR = Mode(("door.js",), ("view.css", "edit.css"))


def view_html(book: LayeredBook, mode: str = "view") -> bytes:
    """The page of a book with all its chapters, UTF-8; errors as `page_html` has them."""
    chapters = (chapter_data(book, number) for number in book.chapters)
    return page_html(book_data(book), chapters, mode)


def page_html(
    book: dict[str, Any], chapters: Iterable[dict[str, Any]], mode: str = "view"
) -> bytes:
    """The page, stitched from the values of a book and of those chapters that it is to hold.

    Args:
        book: as `viewdata.book_data` gives it.
        chapters: as `viewdata.chapter_data` gives them; a page whose mode may ask for data can do
            without.
        mode: one of `MODES`.

    Returns:
        The bytes of an HTML file. Each chapter is a JSON block of its own, read when it is opened.

    Raises:
        ValueError: if there is no such mode.
    """
    if mode not in MODES:
        raise ValueError(f"found mode {mode!r}, expected one of {', '.join(MODES)}")
    chosen = MODES[mode]
    data = [_json_block("book", book)]
    data += [_json_block(f"chapter-{item['number']}", item) for item in chapters]
    byline = f", by {book['author']}" if book["author"] else ""
    return _stitched(
        "view.html",
        chosen,
        mode=mode,
        title=html.escape(f"{book['title']}{byline}"),
        bar=_asset(chosen.bar) if chosen.bar else "",
        desk=_asset(chosen.desk) if chosen.desk else "",
        data="\n".join(data),
    )


def door_html() -> bytes:
    """The page for whoever comes without the token of a server: nothing of the book is in it.

    A window that had the token finds its way back, as when its page is loaded again.
    """
    return _stitched("door.html", DOOR)


def policy_of(mode: Mode) -> str:
    """The content security policy: what the page has in it by its digest, and nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_digest, _assets(mode.scripts)))}",
            f"style-src {' '.join(map(_digest, _assets(mode.styles)))}",
            f"connect-src {mode.connect}",
            "img-src data:",  # the empty icon, which keeps browsers from asking for one
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _stitched(template: str, chosen: Mode, **slots: str) -> bytes:
    """A template with its slots filled, and with the scripts and styles of a mode."""
    slots |= {
        "policy": policy_of(chosen),
        "styles": "\n".join(f"<style>{text}</style>" for text in _assets(chosen.styles)),
        "scripts": "\n".join(f"<script>{text}</script>" for text in _assets(chosen.scripts)),
    }
    # In one pass: what is put in is not searched for slots again.
    return _SLOT.sub(lambda match: slots[match[1]], _asset(template)).encode()


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json_block(name: str, values: dict[str, Any]) -> str:
    """Data that no text of a book can break out of: "<" is in strings only, and escaped there."""
    text = orjson.dumps(values).decode().replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _assets(names: Iterable[str]) -> list[str]:
    return [_asset(name) for name in names]


def _asset(name: str) -> str:
    return files("miner.app.viewer").joinpath("web", name).read_text(encoding="utf-8")
