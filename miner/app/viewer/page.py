"""A book and its layers -> JSON values, one chapter at a time -> one self-contained HTML file.

Utterances are stored as columns of equal length. That takes a third of the space of rows, and a
long novel must fit into one file. The templates, styles and scripts are in `web/`. The page carries
a content security policy: the browser runs only these scripts, and reaches no network.
"""

from __future__ import annotations

import hashlib
import html
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import orjson

from miner.annotation.annotations import read_annotations
from miner.annotation.matching import CAUSES, place_of
from miner.app.viewer.layers import (
    ROLE_OF_TAG,
    CastMember,
    Layer,
    LayeredBook,
    NumberedChapter,
    NumberedConversation,
    NumberedUtterance,
    build_layers,
    choose_colours,
    find_disagreements,
    name_layers,
    score_chapter,
)
from miner.books.book import Block
from miner.books.page import count_words
from miner.books.parts import Part
from miner.corpus.reading import read_spans
from miner.corpus.schema import NARRATION, SPEAKER, Row
from miner.errors import InputError
from miner.people.character_files import NO_CHARACTERS, read_characters
from miner.tagger.load import AUTO, FLOAT32, load_tagger, tagger_label
from miner.version import __version__

SPAN_COLUMNS = ("chapter", "paragraph", "span", "start", "end")  # of a span in a dialogue's row
TURN_COLUMNS = ("text", "raw", *NARRATION, *SPEAKER, "spans")  # of a turn in it
_DIGITS = 3  # of a confidence or a score; the page shows no more


def build_book_payload(book: LayeredBook) -> dict[str, Any]:
    """Builds the values for the whole book: its layers, and its chapters without their text.

    Each layer has `name`; `gold`, whether it is the gold; `begins`, the chapter in which each of
    its dialogues begins; `sure`, the confidences of the pairs of each dialogue, None if the layer
    has none; and `cast`, the values of each member of the cast: `chapters` is the number of
    utterances in each chapter, `addressed` that of the utterances said to it, and `colour` is 0 for
    those who have none of their own. `causes` explains why pairs are wrong, if there is a gold.

    Each chapter has `number`, `title`, `words`, `annotated`, `counts` (one per layer, None if the
    layer lacks the chapter) and `disagreements` (their number for each pair of layers, "0-1").
    """
    chapters = []
    for number in book.chapters:
        blocks = _blocks(book, number)
        chapters.append(
            {
                "number": number,
                "title": _title(book, number),
                "words": sum(count_words(block.text) for block in blocks),
                "annotated": number in book.annotated,
                "counts": [
                    None if chapter is None else asdict(chapter.counts)
                    for chapter in _chapter_in_layers(book, number)
                ],
                "disagreements": {
                    key: len(found) for key, found in _disagreement_rows(book, number).items()
                },
            }
        )
    return {
        "id": book.book.id,
        "title": book.book.title or book.book.id,
        "author": book.book.author,
        "language": book.book.language,
        "layers": [
            _whole_layer(layer, colours)
            for layer, colours in zip(
                book.layers, choose_colours([layer.cast for layer in book.layers]), strict=True
            )
        ],
        "causes": CAUSES if any(layer.is_gold for layer in book.layers) else {},
        "lost": book.n_lost,
        "chapters": chapters,
        "span_columns": SPAN_COLUMNS,
        "turn_columns": TURN_COLUMNS,
        "version": __version__,
    }


def build_chapter_payload(book: LayeredBook, number: int) -> dict[str, Any]:
    """Builds the values for one chapter.

    - `blocks` has the columns index, kind, beside (whether it is no part of the story) and text.
    - `layers` has one item per layer, None if the layer lacks the chapter: the values of
      `build_layer_payload`; `scores` against the gold, None for the gold and without gold; and
      `dialogues`, the rows of those that begin in the chapter, with each turn and each span as a
      list of values in the order of `TURN_COLUMNS` and `SPAN_COLUMNS`.
    - `disagreements` has, for each pair of layers ("0-1"), rows of paragraph, start, end and the
      role that each layer gives.
    """
    blocks = _blocks(book, number)
    if not blocks:
        raise InputError(
            f"{book.book.id}: found no chapter {number}, expected 0 to {book.book.n_chapters}"
        )
    layers = []
    for layer, chapter in zip(book.layers, _chapter_in_layers(book, number), strict=True):
        record = None if chapter is None else build_layer_payload(chapter)
        if record is not None:
            is_judged = number in book.annotated and not layer.is_gold
            scores = asdict(score_chapter(book, layer, number)) if is_judged else None
            record["scores"] = _rounded(scores)
            record["dialogues"] = [
                _packed(row) for row in layer.dialogues if row["chapter"] == number
            ]
        layers.append(record)
    return {
        "number": number,
        "title": _title(book, number),
        "blocks": {
            "index": [block.index for block in blocks],
            "kind": [block.kind.value for block in blocks],
            "beside": [block.part is not Part.STORY for block in blocks],
            "text": [block.text for block in blocks],
        },
        "layers": layers,
        "disagreements": _disagreement_rows(book, number),
    }


def _whole_layer(layer: Layer, colours: Mapping[str, int]) -> dict[str, Any]:
    """What the page knows of a layer before it opens a chapter."""
    sure: list[list[float | None]] = [[] for _ in layer.dialogues]
    for chapter in layer.chapters.values():
        for item in chapter.conversations:
            if sure:
                sure[item.dialogue] += [_rounded(pair.confidence) for pair in item.pairs]
    has_confidence = any(value is not None for values in sure for value in values)
    return {
        "name": layer.name,
        "gold": layer.is_gold,
        "begins": [row["chapter"] for row in layer.dialogues],
        "sure": sure if has_confidence else None,
        "cast": [_member_payload(member, colours.get(member.id, 0)) for member in layer.cast],
    }


def _member_payload(member: CastMember, colour: int) -> dict[str, Any]:
    """What the page knows of a person; of the unknown ones together it is no more than counts."""
    record: dict[str, Any] = {"id": member.id, "name": "unknown", "colour": colour}
    if one := member.character:
        record |= {"name": one.name, "gender": one.gender, "kind": one.kind.value}
        record["others"] = [alias for alias in one.aliases if alias != one.name]
        record["addressed"] = member.n_addressed
    return record | {"chapters": sorted(member.chapters.items())}


def _packed(row: Row) -> Row:
    """The row of a dialogue with its turns and spans as lists, which take less space."""
    turns = []
    for turn in row["turns"]:
        spans = [[span[name] for name in SPAN_COLUMNS] for span in turn["spans"]]
        turns.append([(turn | {"spans": spans})[name] for name in TURN_COLUMNS])
    return row | {"turns": turns}


def _blocks(book: LayeredBook, number: int) -> list[Block]:
    return [block for block in book.book.blocks if block.chapter == number]


def _title(book: LayeredBook, number: int) -> str:
    """What is printed above a chapter, or a description if nothing is."""
    if number == 0:
        return "Before the first chapter" if book.book.n_chapters else "The whole text"
    titles = (chapter.title for chapter in book.book.chapters if chapter.index == number)
    return next(titles, "") or f"Chapter {number}"


def _chapter_in_layers(book: LayeredBook, number: int) -> list[NumberedChapter | None]:
    """The chapter in each layer; None if the gold lacks it, empty if a tagger has no spans."""
    empty = NumberedChapter((), (), ())
    return [layer.chapters.get(number, None if layer.is_gold else empty) for layer in book.layers]


def _disagreement_rows(book: LayeredBook, number: int) -> dict[str, list[list[Any]]]:
    chapters = _chapter_in_layers(book, number)
    return {
        f"{a}-{b}": [
            [*item.place, item.first, item.second] for item in find_disagreements(one, other)
        ]
        for (a, one), (b, other) in combinations(enumerate(chapters), 2)
        if one is not None and other is not None
    }


def build_layer_payload(chapter: NumberedChapter) -> dict[str, Any]:
    """Builds the values for a layer in one chapter.

    They are `utterances` in columns; `quoted`, the places of text in quotation marks that is not an
    utterance, and `kinds`, what it is; `conversations`; and `counts`.
    """
    quoted = [item.span for item in chapter.spans if item.span.quoted]
    return {
        "utterances": _columns(chapter.utterances),
        "quoted": [place_of(span) for span in quoted],
        "kinds": [span.kind for span in quoted],
        "conversations": [_conversation_payload(item) for item in chapter.conversations],
        "counts": asdict(chapter.counts),
    }


def _columns(utterances: Sequence[NumberedUtterance]) -> dict[str, list[Any]]:
    """The utterances in columns; confidences, speakers and facts only if there are any."""
    spans = [item.item.span for item in utterances]
    columns: dict[str, list[Any]] = {
        "paragraph": [span.paragraph for span in spans],
        "start": [span.start for span in spans],
        "end": [span.end for span in spans],
        "tag": [item.item.tag for item in utterances],
        "says": [ROLE_OF_TAG[item.item.tag] for item in utterances],
        "conversation": [item.conversation for item in utterances],
        "turn": [item.turn for item in utterances],
    }
    if any(item.item.confidence is not None for item in utterances):
        columns["confidence"] = [_rounded(item.item.confidence) for item in utterances]
    if any(item.fact or item.item.speaker for item in utterances):
        columns["speaker"] = [item.speaker for item in utterances]
    if any(item.item.speaker_confidence is not None for item in utterances):
        columns["speaker_confidence"] = [
            _rounded(item.item.speaker_confidence) for item in utterances
        ]
    if any(item.fact for item in utterances):
        columns["annotated"] = [item.fact.conversation if item.fact else 0 for item in utterances]
    return columns


def _conversation_payload(item: NumberedConversation) -> dict[str, Any]:
    return {
        "number": item.number,
        "dialogue": item.dialogue,
        "first": item.first,
        "last": item.last,
        "pairs": [[pair.turn, _rounded(pair.confidence), pair.cause] for pair in item.pairs],
    }


def _rounded(value: Any) -> Any:  # noqa: ANN401 - any nesting of JSON values
    """The value with its numbers rounded as the page shows them."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, _DIGITS) if isinstance(value, float) else value


_SLOT = re.compile(r"<!--slot:(\w+)-->")


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to use the page: for reading, for annotating, or without a token."""

    # files of JavaScript in order. The last one of a book page, `keys.js`, opens the first chapter,
    # so scripts that change how the page works come before it
    scripts: tuple[str, ...]
    styles: tuple[str, ...]  # files of CSS in order
    # the hosts that the page may send requests to, in the form of the policy
    connect: str = "'none'"
    bar: str = ""  # file of HTML for the top of the page, "" for none
    desk: str = ""  # file of HTML for the annotation controls beside the text, "" for none


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


def view_html(
    source: str | int | Path,
    *,
    taggers: str | Iterable[str] = (AUTO,),
    gold: str | Path | None = None,
    quotes: Iterable[str] = (),
    front_matter: bool = False,
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
        front_matter: whether people may speak in the whole book, not only in its story.
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
    book_spans = read_spans(
        source, quotes=quotes, front_matter=front_matter, books=books, mirror=mirror
    )
    annotations = read_annotations(Path(gold)) if gold else None
    return render_book(build_layers(book_spans, named, annotations, lists))
