"""Tagged books and dialogues -> rows of files, and the way back.

Every row names its book and its place there: chapter, paragraph and character offsets. The schemas
are fixed, so that a file without any confidence has the same columns as one with confidences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import orjson

from miner.books.book import Book, Chapter
from miner.extras import import_extra
from miner.people.character_files import SpokenBook, row_from_character
from miner.speech.dialogues import Dialogue, split_into_spans, turn_pairs
from miner.speech.kinds import SpanKind
from miner.speech.spans import Span
from miner.speech.tag_files import rounded, row_from_span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
TITLE = ("title", "author", "language")  # of the book of a dialogue or a pair
CHAPTER = ("chapter", "chapter_number", "chapter_title")  # of a dialogue or a pair
SPEAKER = ("speaker", "speaker_name", "speaker_confidence", "addressees")  # of a turn
NARRATION = ("narration_before", "narration_inside", "narration_after")  # of a turn
KINDS = {
    "spans": "every utterance and every piece of narration, in order, tagged",
    "dialogues": "conversations with their turns and the narration around them",
    "pairs": "a turn and the next turn of the same conversation",
    "characters": "the people of each book, with the names that they go by",
}

# The type of each column of a table by its name: a name of Arrow, a list of one type, or columns.
Columns: TypeAlias = dict[str, Any]
_PLACE: Columns = dict.fromkeys(("chapter", "paragraph", "span", "start", "end"), "int32")
_NARRATION: Columns = dict(
    zip(NARRATION, ("string", [{"at": "int32", "text": "string"}], "string"), strict=True)
)
_SPEAKER: Columns = dict(zip(SPEAKER, ("string", "string", "float", ["string"]), strict=True))
_CHAPTER: Columns = dict(zip(CHAPTER, ("int32", "int32", "string"), strict=True))
DIALOGUE: Columns = {  # of which dialogue a row is
    **dict.fromkeys(("book", *TITLE), "string"),
    **dict.fromkeys(("dialogue", "part"), "int32"),
}
SCHEMAS: Mapping[str, Columns] = {
    "spans": {
        "book": "string",
        **_PLACE,
        **dict.fromkeys(("kind", "text", "tag"), "string"),
        "confidence": "float",
        "continues": "bool",
        "speaker": "string",
        "speaker_confidence": "float",
        "addressees": ["string"],
        "speaker_name": "string",
        **dict.fromkeys(("dialogue", "part", "turn"), "int32"),
        "part_of_book": "string",
    },
    "dialogues": {
        **DIALOGUE,
        **_CHAPTER,
        **dict.fromkeys(("paragraph", "n_turns", "n_words"), "int32"),
        "participants": ["string"],
        "turns": [
            {
                **dict.fromkeys(("text", "raw"), "string"),
                **_NARRATION,
                **_SPEAKER,
                "spans": [_PLACE],
            }
        ],
    },
    "pairs": {
        **DIALOGUE,
        "turn": "int32",
        **_CHAPTER,
        "paragraph": "int32",
        "history": ["string"],
        **dict.fromkeys(("context", "response", "context_raw", "response_raw"), "string"),
        "confidence": "float",
        **{
            f"{side}_{name}": kind
            for side in ("context", "response")
            for name, kind in (_NARRATION | _SPEAKER).items()
        },
        **dict.fromkeys(("context_spans", "response_spans"), [_PLACE]),
    },
    "characters": {
        **dict.fromkeys(("book", "id", "name"), "string"),
        "aliases": ["string"],
        **dict.fromkeys(("gender", "kind"), "string"),
        **dict.fromkeys(("chapter", "mentions", "utterances", "addressed"), "int32"),
    },
}


class TitledBook(Protocol):
    """What rows tell of their book beside its id; a `Book` and a `MinedBook` have it."""

    @property
    def title(self) -> str:
        """The title, or ""."""
        ...

    @property
    def author(self) -> str:
        """The author, or ""."""
        ...

    @property
    def language(self) -> str:
        """The code of the language that the file declares ("en"), or ""."""
        ...

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """The chapters, in order."""
        ...


def rows_of_book(
    book: TitledBook,
    tagged: TaggedBook,
    found: Sequence[Dialogue],
    spoken: SpokenBook,
    pairs_by_span: bool = False,
    history_turns: int | None = 0,
) -> dict[str, Iterable[Row]]:
    """The rows of each kind of `KINDS`.

    - spans: one row per span in reading order, narration included. It has the columns of a tags
      file and three numbers: the span's dialogue, the part of that dialogue, and its turn in that
      part. They are None for narration and for spans that a filter left out.
    - dialogues: one row per dialogue, with its turns. Each turn has its text as spoken, its text as
      printed (`raw`), and the narration that belongs to it: before it, after it, and inside it,
      each piece with the place in the text where it stands (`at`). All narration of a dialogue is
      in one of these columns of one turn, in order.
    - pairs: one row per turn and next turn, with the narration of both. `turn` is the number of the
      response in its part of the dialogue, so it counts from 1. `history` has the texts of the
      turns before the context, the oldest first. `confidence` is None where the tagger gives none.
    - characters: one row per character, as `people.character_files` reads them. `utterances` and
      `addressed` are how many a character speaks, and how many are said to it. Those who speak most
      come first, and those who are only named last.

    Speakers and addressees are ids of characters. A speaker is None where nobody is known.

    Of dialogues and pairs, `chapter` counts from 1 in the book. `chapter_number` and
    `chapter_title` are what is printed above the chapter: None and "" where nothing is.
    """
    names = {character.id: character.name for character in spoken.characters}
    title = {key: getattr(book, key) for key in TITLE}
    chapters = {chapter.index: chapter for chapter in book.chapters}

    def row_of(dialogue: Dialogue) -> Row:
        return _dialogue_row(dialogue, title, chapters, names)

    rows = list(map(row_of, found))
    paired, rows_of_paired = found, rows
    if pairs_by_span:
        paired = [split_into_spans(dialogue) for dialogue in found]
        rows_of_paired = list(map(row_of, paired))
    return {
        "spans": _span_rows(tagged, found, names),
        "dialogues": rows,
        "pairs": (
            pair
            for dialogue, row in zip(paired, rows_of_paired, strict=True)
            for pair in _pair_rows(dialogue, row, chapters, history_turns)
        ),
        "characters": [
            row_from_character(
                tagged.book, one, spoken.n_utterances[one.id], spoken.n_addressed[one.id]
            )
            for one in spoken.ranked
        ],
    }


def _span_rows(
    tagged: TaggedBook, found: Sequence[Dialogue], names: Mapping[str, str]
) -> Iterator[Row]:
    places: dict[tuple[int, int], tuple[int, int, int]] = {}
    for dialogue in found:
        for number, turn in enumerate(dialogue.turns):
            for span in turn.spans:
                places[span.paragraph, span.index] = (dialogue.index, dialogue.part, number)
    for item in tagged.spans:
        row = row_from_span(tagged.book, item)
        row["speaker_name"] = None if item.speaker is None else names[item.speaker]
        place = places.get((item.span.paragraph, item.span.index), (None, None, None))
        row["dialogue"], row["part"], row["turn"] = place
        yield row


def add_parts(rows: Iterable[Row], book: Book) -> Iterator[Row]:
    """Yields rows of spans, each with the part of the book in which the span stands."""
    parts = {block.index: block.part.value for block in book.blocks}
    for row in rows:
        yield {**row, "part_of_book": parts[row["paragraph"]]}


def _pair_rows(
    dialogue: Dialogue, row: Row, chapters: Mapping[int, Chapter], history_turns: int | None
) -> Iterator[Row]:
    """The pairs of a dialogue, from its row."""
    texts = [turn["text"] for turn in row["turns"]]
    turns = pairwise(row["turns"])
    for before, (pair, (context, response)) in enumerate(
        zip(turn_pairs(dialogue), turns, strict=True)
    ):
        oldest = 0 if history_turns is None else max(0, before - history_turns)
        yield {
            **{key: row[key] for key in ("book", *TITLE, "dialogue", "part")},
            "turn": before + 1,
            **_columns_of_chapter(context["spans"][0]["chapter"], chapters),
            "paragraph": context["spans"][0]["paragraph"],
            "history": texts[oldest:before],
            "context": context["text"],
            "response": response["text"],
            "context_raw": context["raw"],
            "response_raw": response["raw"],
            "confidence": pair.confidence,
            **{
                f"{side}_{key}": turn[key]
                for side, turn in (("context", context), ("response", response))
                for key in (*NARRATION, *SPEAKER)
            },
            "context_spans": context["spans"],
            "response_spans": response["spans"],
        }


def _columns_of_chapter(index: int, chapters: Mapping[int, Chapter]) -> Row:
    chapter = chapters.get(index, Chapter(index, None, "", 0))
    return dict(zip(CHAPTER, (index, chapter.number, chapter.title), strict=True))


def _dialogue_row(
    dialogue: Dialogue,
    title: Mapping[str, str],
    chapters: Mapping[int, Chapter],
    names: Mapping[str, str],
) -> Row:
    turns = dialogue.turns
    made = [
        {
            "text": turn.text,
            "raw": turn.quoted_text,
            "narration_before": turn.before,
            "narration_inside": [{"at": at, "text": text} for at, text in turn.inside],
            "narration_after": turn.after,
            "speaker": turn.speaker,
            "speaker_name": None if turn.speaker is None else names[turn.speaker],
            "speaker_confidence": rounded(turn.speaker_confidence),
            "addressees": list(turn.addressees),
            "spans": _places(turn.spans),
        }
        for turn in turns
    ]
    return {
        "book": dialogue.book,
        **title,
        "dialogue": dialogue.index,
        "part": dialogue.part,
        **_columns_of_chapter(turns[0].spans[0].chapter, chapters),
        "paragraph": turns[0].spans[0].paragraph,
        "n_turns": len(made),
        "n_words": sum(len(turn["text"].split()) for turn in made),
        "participants": list(dialogue.participants),
        "turns": made,
    }


def _places(spans: Iterable[Span]) -> list[Row]:
    places = ((span.chapter, span.paragraph, span.index, span.start, span.end) for span in spans)
    return [dict(zip(_PLACE, place, strict=True)) for place in places]


def rows_from_lines(lines: bytes) -> list[Row]:
    """The rows of JSON Lines."""
    return [orjson.loads(line) for line in lines.splitlines()]


def tagged_from_rows(
    book: str,
    rows: Iterable[Row],
    confidences: Sequence[float | None],
    source: str,
    language: str = "",
) -> TaggedBook:
    """The tagged book that the rows of `spans` were made from."""
    spans = []
    for number, row in enumerate(rows):
        span = span_from_row(row)
        confidence = confidences[number] if confidences else None
        speaker = row["speaker"], row["speaker_confidence"], tuple(row["addressees"])
        spans.append(TaggedSpan(span, Tag(row["tag"]), confidence, *speaker))
    return TaggedBook(book, tuple(spans), source, language)


def span_from_row(row: Row) -> Span:
    """The span that a row of `spans` was made from."""
    chapter, paragraph, span, start, end = (row[name] for name in _PLACE)
    kind, text = SpanKind(row["kind"]), row["text"]
    return Span(chapter, paragraph, span, start, end, text, kind, row["continues"])


def arrow_schema(columns: Columns) -> pa.Schema:
    """The Arrow schema of some columns."""
    pa = import_extra("pyarrow", "build")

    def type_of(kind: Any) -> pa.DataType:  # noqa: ANN401 - as in `Columns`
        if isinstance(kind, dict):
            return pa.struct([(name, type_of(part)) for name, part in kind.items()])
        return pa.list_(type_of(kind[0])) if isinstance(kind, list) else pa.type_for_alias(kind)

    return pa.schema([(name, type_of(kind)) for name, kind in columns.items()])
