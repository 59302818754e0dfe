"""Rows of files -> examples. A layout is known by its columns; see the table of the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from miner.errors import InputError
from miner.files import parse_json, printable, read_text, whole_number
from miner.lab.lessons.examples import Context, Example
from miner.lab.lessons.rows import (
    CONTEXTS,
    Row,
    book_of,
    chapter_of,
    history_of,
    read_columns,
    read_lines,
    read_rows,
    text_of,
)

LEFT_OUT = "pairs without a text on each side"
_TEXT = ".txt"
_MOST_NAMED = 12  # columns that an error names
_UTTERANCE_END, _TURN_END = "__eou__", "__eot__"  # of the Ubuntu Dialogue Corpus
_TRIPLE = ("Context", "Utterance", "Label")
_RANKING = ("Context", "Ground Truth Utterance")
_REPLY_TO = ("reply-to", "reply_to")  # the second in older corpora of ConvoKit

Rows = Iterable[tuple[str, Row]]
Turn = tuple[str, int]  # a text and the number of its chapter
Pair = tuple[str, Context, str, int]  # book, context, response, chapter; a text may be empty


@dataclass(frozen=True, slots=True)
class Layout:
    """What the rows of a file are."""

    needed: frozenset[str]  # the columns by which it is known
    used: frozenset[str]  # the columns that are read
    read: Callable[[Path, Rows], Iterator[Pair]]  # in the order of the rows


def read_file(path: Path, left_out: Counter[str]) -> Iterator[Example]:
    """Yields the examples of a file of any layout, in its order. None if it has no rows."""
    for book, context, response, chapter in _read(path):
        if response.strip() and context and context[-1].strip():
            yield Example(book, context, response, chapter)
        else:
            left_out[LEFT_OUT] += 1


def _read(path: Path) -> Iterator[Pair]:
    if path.suffix.lower() == _TEXT:
        return (_read_parlai if _is_parlai(path) else _read_text)(path)
    columns = read_columns(path)
    if not columns:
        return iter(())
    layout = _layout_of(columns, path)
    used = [name for name in columns if name in layout.used or name.startswith(CONTEXTS)]
    return layout.read(path, read_rows(path, used))


def _layout_of(columns: Sequence[str], path: Path) -> Layout:
    for layout in _LAYOUTS:
        if layout.needed <= set(columns):
            return layout
    named = ", ".join(columns[:_MOST_NAMED]) + (", …" if len(columns) > _MOST_NAMED else "")
    absent = [name for name in ("context", "response") if name not in columns]
    raise InputError(
        f"{printable(path)}: found no column {' and no column '.join(absent)} ({named}), "
        "expected context and response, and perhaps history, book and chapter"
    )


def _pairs_of_turns(book: str, turns: Iterable[Turn]) -> Iterator[Pair]:
    """Yields a pair for each turn of a dialogue but the first."""
    context: Context = ()
    chapter = 0
    for text, of_turn in turns:
        if context:
            yield book, context, text, chapter
        context, chapter = (*context, text), of_turn


def _read_pairs(path: Path, rows: Rows) -> Iterator[Pair]:
    """Yields an example for each row. Rows of one dialogue share the turns before.

    So all earlier turns are there, even if the pairs were mined with fewer.
    """
    place, turn = None, -1
    context: Context = ()
    response = ""
    for where, row in rows:
        before, number = (place, turn + 1), _turn_number(row)
        place = tuple(row.get(name) for name in ("book", "dialogue", "part"))
        turn = -1 if number is None else number
        last = text_of(row, "context", where)
        goes_on = number is not None and (place, turn) == before and last == response
        context = (*context, response) if goes_on else (*history_of(row, where), last)
        response = text_of(row, "response", where)
        yield book_of(row, where), context, response, chapter_of(row, where)


def _turn_number(row: Row) -> int | None:
    """The number of a response in its dialogue, or None in a file that does not count turns."""
    turn = row.get("turn")
    return None if row.get("dialogue") is None else whole_number(str(turn))


def _read_dialogues(path: Path, rows: Rows) -> Iterator[Pair]:
    for where, row in rows:
        turns = _objects(row, "turns", where)
        chapter = chapter_of(row, where)
        texts = [
            (text_of(turn, "text", where), _chapter_of_turn(turn, chapter, where)) for turn in turns
        ]
        yield from _pairs_of_turns(book_of(row, where), texts)


def _chapter_of_turn(turn: Row, otherwise: int, where: str) -> int:
    spans = _objects(turn, "spans", where) if turn.get("spans") else []
    return chapter_of(spans[0], where) if spans else otherwise


def _read_messages(path: Path, rows: Rows) -> Iterator[Pair]:
    """Yields an example for each message but the first; what the system says is no turn."""
    for where, row in rows:
        said = [one for one in _objects(row, "messages", where) if one.get("role") != "system"]
        chapter = chapter_of(row, where)
        turns = [(text_of(message, "content", where), chapter) for message in said]
        yield from _pairs_of_turns(book_of(row, where), turns)


def _read_turns(path: Path, rows: Rows) -> Iterator[Pair]:
    place = None
    book, turns = "", list[Turn]()
    for where, row in rows:
        of_row = tuple(row.get(name) for name in ("book", "dialogue", "part"))
        if of_row != place:
            yield from _pairs_of_turns(book, turns)
            place, book, turns = of_row, book_of(row, where), []
        turns.append((text_of(row, "text", where), chapter_of(row, where)))
    yield from _pairs_of_turns(book, turns)


def _read_utterances(path: Path, rows: Rows) -> Iterator[Pair]:
    """Yields an example for each utterance of ConvoKit that replies to another one.

    Its context is the chain of replies. Books and chapters are in the file of conversations beside.
    """
    meta_of = _read_conversations(path.with_name("conversations.json"))
    found: dict[str, tuple[str, str, str | None]] = {}  # text, conversation, parent
    for where, row in rows:
        parent = next((row[name] for name in _REPLY_TO if row.get(name) is not None), None)
        conversation = str(row.get("conversation_id", row.get("root", "")))
        found[str(row.get("id"))] = text_of(row, "text", where), conversation, parent
    contexts: dict[str, Context] = {}
    for id, (text, conversation, parent) in found.items():
        if parent is None or parent not in found:
            continue
        context = _chain(id, found, contexts, path)
        meta = meta_of.get(conversation, {})
        where = printable(path)
        yield book_of(meta, where), context, text, chapter_of(meta, where)


def _chain(
    id: str, found: dict[str, tuple[str, str, str | None]], contexts: dict[str, Context], path: Path
) -> Context:
    """Returns the utterances before one, and keeps those of all on the way."""
    way: dict[str, None] = {}
    at: str | None = id
    while at is not None and at in found and at not in contexts:
        way[at] = None
        at = found[at][2]
        if at in way:
            raise InputError(
                f"{printable(path)}: found utterance {shown(at)} in reply to itself, expected a "
                "beginning of the conversation"
            )
    for one in reversed(way):
        parent = found[one][2]
        if parent is None or parent not in found:  # it was taken out of the corpus
            contexts[one] = ()
        else:
            contexts[one] = (*contexts[parent], found[parent][0])
    return contexts[id]


def _read_conversations(path: Path) -> dict[str, Row]:
    if not path.is_file():
        return {}
    content = parse_json(read_text(path), printable(path), "the conversations of ConvoKit")
    if not isinstance(content, dict):
        raise InputError(f"{printable(path)}: found no object, expected conversations by id")
    # Older corpora have the metadata without "meta" around them.
    return {id: of.get("meta", of) for id, of in content.items() if isinstance(of, dict)}


def _read_triples(path: Path, rows: Rows) -> Iterator[Pair]:
    for where, row in rows:
        label = str(row.get("Label")).strip()
        if label in ("1", "1.0"):
            yield "", *_of_ubuntu(row, _TRIPLE[1], where), 0
        elif label not in ("0", "0.0"):
            raise InputError(f"{where}: found {shown(label)} as Label, expected 0 or 1")


def _read_rankings(path: Path, rows: Rows) -> Iterator[Pair]:
    for where, row in rows:
        yield "", *_of_ubuntu(row, _RANKING[1], where), 0


def _of_ubuntu(row: Row, response: str, where: str) -> tuple[Context, str]:
    turns = map(_join_utterances, text_of(row, "Context", where).split(_TURN_END))
    return tuple(filter(None, turns)), _join_utterances(text_of(row, response, where))


def _join_utterances(turn: str) -> str:
    parts = turn.replace(_TURN_END, " ").split(_UTTERANCE_END)
    return " ".join(part.strip() for part in parts if part.strip())


def _read_text(path: Path) -> Iterator[Pair]:
    turns: list[Turn] = []
    for line in read_lines(path):
        if line.strip():
            turns.append((line.rstrip("\r\n"), 0))
        else:
            yield from _pairs_of_turns("", turns)
            turns = []
    yield from _pairs_of_turns("", turns)


def _is_parlai(path: Path) -> bool:
    line = next(filter(str.strip, read_lines(path)), "")
    return "\tlabels:" in f"\t{line}" and "\ttext:" in f"\t{line}"


def _read_parlai(path: Path) -> Iterator[Pair]:
    """Yields an example for each label, those of a dialogue in the order of its turns."""
    for book, episodes in _parlai_dialogues(path):
        made: list[Pair] = []
        (text, label), *_ = episodes[0]
        for episode in episodes:
            context: Context = ()
            for said, answer in episode:
                # The second episode of a dialogue begins with its first two turns in one text.
                begins_later = not context and said == f"{text}\n{label}"
                context = (text, label) if begins_later else (*context, said)
                made.append((book, context, answer, 0))
                context = (*context, answer)
        yield from sorted(made, key=lambda pair: len(pair[1]))


def _parlai_dialogues(path: Path) -> Iterator[tuple[str, list[list[tuple[str, str]]]]]:
    """Yields the book of each dialogue and its episodes: texts, each with its label."""
    place: tuple[str | None, ...] = (None,)
    episodes: list[list[tuple[str, str]]] = []
    is_done = True
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        fields = dict(_field(part) for part in line.rstrip("\r\n").split("\t"))
        if absent := [name for name in ("text", "labels") if name not in fields]:
            where = f"{printable(path)}:{number}"
            raise InputError(f"{where}: found no {absent[0]}, expected text and labels")
        if is_done:
            of_line = tuple(fields.get(name) for name in ("book", "dialogue", "part"))
            if episodes and (of_line != place or "dialogue" not in fields):
                yield place[0] or "", episodes
                episodes = []
            place = of_line
            episodes.append([])
        label = fields["labels"].partition("|")[0]
        episodes[-1].append((_plain(fields["text"]), _plain(label)))
        is_done = fields.get("episode_done", "").strip() == "True"
    if episodes:
        yield place[0] or "", episodes


def _field(part: str) -> tuple[str, str]:
    key, _, value = part.partition(":")
    return key, value


def _plain(text: str) -> str:
    return text.replace(r"\t", "\t").replace(r"\n", "\n").replace("__PIPE__", "|")


def _objects(row: Row, name: str, where: str) -> list[Row]:
    value: Any = row.get(name)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(f"{where}: found {shown(value)} as {name}, expected a list of objects")
    return value


_PLACE = frozenset({"book", "dialogue", "part", "turn", "chapter"})
# In this order: a row of pairs may have columns of others besides.
_LAYOUTS = (
    Layout(
        frozenset({"context", "response"}),
        frozenset({"context", "response", "history", *_PLACE}),
        _read_pairs,
    ),
    Layout(frozenset({"turns"}), frozenset({"turns", "book", "chapter"}), _read_dialogues),
    Layout(frozenset({"messages"}), frozenset({"messages", "book", "chapter"}), _read_messages),
    Layout(frozenset(_TRIPLE), frozenset(_TRIPLE), _read_triples),
    Layout(frozenset(_RANKING), frozenset(_RANKING), _read_rankings),
    Layout(frozenset({*_PLACE, "text", "raw"}), frozenset({*_PLACE, "text"}), _read_turns),
    Layout(
        frozenset({"id", "text", "speaker"}),
        frozenset({"id", "text", "conversation_id", "root", *_REPLY_TO}),
        _read_utterances,
    ),
)


SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class PairFiles:
    """The files of pairs of a source."""

    name: str  # which of the files of a folder they are ("jsonl/pairs"), or the name of the file
    of_split: Mapping[str, tuple[Path, ...]]  # the files by split, in their order

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits; none where the files are not divided."""
        return tuple(name for name in self.of_split if name)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a format that holds pairs, or dialogues that are made into pairs."""

    format: str
    name: str
    ending: str


# Those first that hold most. Examples lack what is short or long, and Ubuntu's triples each
# response before the third turn.
_TABLES = (
    _Table("jsonl", "pairs", ".jsonl"),
    _Table("parquet", "pairs", ".parquet"),
    _Table("csv", "pairs", ".csv"),
    _Table("jsonl", "dialogues", ".jsonl"),
    _Table("parquet", "dialogues", ".parquet"),
    _Table("csv", "turns", ".csv"),
    _Table("convokit", "utterances", ".jsonl"),
    _Table("parlai", "dialogues", ".txt"),
    _Table("chat", "chat", ".jsonl"),
    _Table("text", "dialogues", ".txt"),
    _Table("examples", "examples", ".jsonl"),
    _Table("ubuntu", "triples", ".csv"),
)
_ENDINGS = (".jsonl", ".csv", ".tsv", ".parquet", ".txt")


def find_pair_files(path: Path) -> PairFiles:
    """Returns the files of pairs of a folder, or the file that the path names."""
    if not path.is_dir():
        path.stat()  # raises an error that names it
        return PairFiles(path.name, {"": (path,)})
    for table in _TABLES:
        for place, name in (
            (path / table.format, f"{table.format}/{table.name}"),
            (path, f"{table.name}{table.ending}"),
        ):
            if files := _files_of_table(place, table):
                return PairFiles(name, files)
    for ending in _ENDINGS:  # a folder of one table, or train.csv and test.csv of a user
        if files := _files_by_split(path, ending):
            return PairFiles(f"*{ending}", files)
    raise InputError(
        f"{printable(path)}: found no pairs, expected a folder of `miner mine` or `miner build`, "
        "of annotations, or files such as train.csv and test.csv"
    )


def _files_of_table(folder: Path, table: _Table) -> dict[str, tuple[Path, ...]]:
    """The files of a table: in a folder of its own, in folders of splits, or here."""
    if files := _files_by_split(folder / table.name, table.ending):
        return files
    name = f"{table.name}{table.ending}"
    found = {split: (folder / split / name,) for split in SPLITS}
    if found := {split: paths for split, paths in found.items() if paths[0].is_file()}:
        return found
    return {"": (folder / name,)} if (folder / name).is_file() else {}


def _files_by_split(folder: Path, ending: str) -> dict[str, tuple[Path, ...]]:
    """The files whose names are a split or begin with one: train.csv, train-00000-of-00002.csv."""
    found = {
        split: tuple(sorted([*folder.glob(f"{split}-*{ending}"), *folder.glob(f"{split}{ending}")]))
        for split in SPLITS
    }
    return {split: paths for split, paths in found.items() if paths}
