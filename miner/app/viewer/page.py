"""JSON values of a book -> one self-contained HTML file.

The templates, styles and scripts are in `web/`. The page carries a content security policy: the
browser runs only these scripts, and reaches no network.
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

from miner.app.viewer.layers import LayeredBook
from miner.app.viewer.payload import build_book_payload, build_chapter_payload
from miner.errors import InputError

_SLOT = re.compile(r"<!--slot:(\w+)-->")


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to use the page: for reading, for annotating, or without a token.

    Attributes:
        scripts: files of JavaScript in order. The last one of a book page, `keys.js`, opens the
            first chapter, so scripts that change how the page works come before it.
        styles: files of CSS in order.
        connect: the hosts that the page may send requests to, in the form of the policy.
        bar: file of HTML for the top of the page, "" for none.
        desk: file of HTML for the annotation controls beside the text, "" for none.
    """

    scripts: tuple[str, ...]
    styles: tuple[str, ...]
    connect: str = "'none'"
    bar: str = ""
    desk: str = ""


_SHARED = ("render.js", "panel.js", "view.js", "walk.js")
_READING = (
    *("tell.js", "address.js", "copy.js", "sure.js", "fold.js", "find.js", "signs.js"),
    *("person.js", "lit.js", "cast.js"),
)
_EDITING = ("server.js", "dress.js", "edit.js", "ask.js", "desk.js")
_STYLES = ("view.css", "text.css", "panel.css")
MODES = {
    "view": Mode(
        (*_SHARED, *_READING, "keys.js"), (*_STYLES, "read.css", "cast.css"), bar="read-bar.html"
    ),
    "edit": Mode(
        (*_SHARED, *_EDITING, "keys.js"),
        (*_STYLES, "edit.css"),
        connect="'self'",
        bar="edit-bar.html",
        desk="edit-desk.html",
    ),
}
CHAPTERS = Mode(("server.js", "chapters.js"), ("view.css", "chapters.css"), connect="'self'")
NO_TOKEN = Mode(("no-token.js",), ("view.css", "edit.css"))


def render_book(book: LayeredBook, mode: str = "view") -> bytes:
    """Returns the page of a book with all its chapters, as UTF-8; errors as in `render_page`."""
    chapters = (build_chapter_payload(book, number) for number in book.chapters)
    return render_page(build_book_payload(book), chapters, mode)


def render_page(
    book: dict[str, Any], chapters: Iterable[dict[str, Any]], mode: str = "view"
) -> bytes:
    """Fills the template of a mode with the values of a book and of some of its chapters."""
    if mode not in MODES:
        raise InputError(f"found mode {mode!r}, expected one of {', '.join(MODES)}")
    chosen = MODES[mode]
    data = [_json_block("book", book)]
    data += [_json_block(f"chapter-{item['number']}", item) for item in chapters]
    byline = f", by {book['author']}" if book["author"] else ""
    return _fill_template(
        "view.html",
        chosen,
        mode=mode,
        title=html.escape(f"{book['title']}{byline}"),
        bar=_read_asset(chosen.bar) if chosen.bar else "",
        desk=_read_asset(chosen.desk) if chosen.desk else "",
        data="\n".join(data),
    )


def render_chapters_page(book: dict[str, Any]) -> bytes:
    """Returns the page that lists the chapters of a book under annotation."""
    return _fill_template(
        "chapters.html",
        CHAPTERS,
        title=html.escape(f"{book['title']}: annotation"),
        data=_json_block("book", book),
    )


def render_no_token_page() -> bytes:
    """Returns the page for a request without the token of the server; it has no text of the book.

    A window that had the token before, as when its page is reloaded, is sent back to the book.
    """
    return _fill_template("no-token.html", NO_TOKEN)


def build_policy(mode: Mode) -> str:
    """Returns the content security policy, which allows each script and style by its digest."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_digest, _read_assets(mode.scripts)))}",
            f"style-src {' '.join(map(_digest, _read_assets(mode.styles)))}",
            f"connect-src {mode.connect}",
            "img-src data:",  # the empty icon, so that browsers request none
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _fill_template(template: str, chosen: Mode, **slots: str) -> bytes:
    """Fills the slots of a template, and adds the scripts and styles of a mode."""
    slots |= {
        "policy": build_policy(chosen),
        "styles": "\n".join(f"<style>{text}</style>" for text in _read_assets(chosen.styles)),
        "scripts": "\n".join(f"<script>{text}</script>" for text in _read_assets(chosen.scripts)),
    }
    # One pass, so that inserted text is not searched for slots.
    return _SLOT.sub(lambda match: slots[match[1]], _read_asset(template)).encode()


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json_block(name: str, values: dict[str, Any]) -> str:
    """A JSON block that book text cannot break out of: "<" is only in strings, and is escaped."""
    text = orjson.dumps(values).decode().replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _read_assets(names: Iterable[str]) -> list[str]:
    return [_read_asset(name) for name in names]


def _read_asset(name: str) -> str:
    return files("miner.app.viewer").joinpath("web", name).read_text(encoding="utf-8")
