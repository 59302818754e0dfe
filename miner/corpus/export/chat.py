"""Messages of chat models, with a dialogue a line and its personas.

The roles are "user" and "assistant" in turn, beginning with "user", as the templates of most chat
models demand, whoever speaks. So a role is a person only in a dialogue of two; `name` and `speaker`
say who it is. Turns that follow one another and have the same known speaker are one message, with
a line for each turn. Where the speaker is unknown, `name` and `speaker` are null, and each turn is
a message.

With the option `narration`, the narration of a turn stands where the book has it, between
asterisks, as people write it in role play: `*She laughed.* Never! *said she.*`. It is no message of
its own, because the roles would not alternate any more, and not one of the role "system", which
many templates refuse or take at the beginning only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from miner.corpus.export import BookRows, refuse_other_than_flag
from miner.corpus.schema import DIALOGUE, Columns, Row, rows_from_lines
from miner.files import json_line

FILES = {"chat.jsonl": "dialogues as messages, with their places and the personas of who speaks"}
_PLACE = (*DIALOGUE, "chapter", "paragraph")
_DASHES = "—–-"
_STOPS = ",;:. "


@dataclass(frozen=True, slots=True)
class Options:
    """What the messages hold."""

    # whether the narration before, inside and after a turn stands with its text. It is without the
    # asterisks that it may have, and the dashes and commas between it and the speech.
    narration: bool = False

    def __post_init__(self) -> None:
        """Refuses what is no flag."""
        refuse_other_than_flag("narration", self.narration)


def schemas(options: Options = Options()) -> Mapping[str, Columns]:
    """Returns the columns of the file."""
    persona: Columns = dict.fromkeys(("id", "name", "gender"), "string") | {"aliases": ["string"]}
    return {
        "chat.jsonl": {
            **DIALOGUE,
            **dict.fromkeys(("chapter", "paragraph"), "int32"),
            "messages": [dict.fromkeys(("role", "content", "name", "speaker"), "string")],
            "personas": [persona],
        }
    }


def write_books(
    folder: Path,
    books: Iterable[BookRows],
    split: str = "train",
    options: Options = Options(),
) -> Mapping[str, int]:
    """Writes a row for each dialogue. The personas are in the order in which they begin to speak.

    The personas are a list, not an object with a key for each, because a table of Arrow would have
    a column for each key.
    """
    left_out = Counter[str]()
    with (folder / "chat.jsonl").open("wb") as file:
        for book in books:
            characters = {row["id"]: row for row in rows_from_lines(book["characters"])}
            for dialogue in rows_from_lines(book["dialogues"]):
                messages = _messages(dialogue["turns"], options)
                if len(messages) == 1:
                    left_out["dialogues of one message"] += 1
                    continue
                row = {key: dialogue[key] for key in _PLACE}
                row["messages"] = messages
                row["personas"] = [
                    {key: characters[id][key] for key in ("id", "name", "gender", "aliases")}
                    for id in dialogue["participants"]
                ]
                file.write(json_line(row))
    return left_out


def _messages(turns: Iterable[Row], options: Options) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    roles = cycle(("user", "assistant"))
    for turn in turns:
        content = _content(turn) if options.narration else turn["text"]
        if made and turn["speaker"] is not None and turn["speaker"] == made[-1]["speaker"]:
            made[-1]["content"] += "\n" + content
            continue
        made.append(
            {
                "role": next(roles),
                "content": content,
                "name": turn["speaker_name"],
                "speaker": turn["speaker"],
            }
        )
    return made


def _content(turn: Row) -> str:
    """The text of a turn and its narration, as they are printed."""
    text = turn["text"]
    pieces: list[str] = [_told(turn["narration_before"])]
    start = 0
    for inside in turn["narration_inside"]:
        pieces += text[start : inside["at"]].strip(), _told(inside["text"])
        start = inside["at"]
    pieces += text[start:].strip(), _told(turn["narration_after"])
    return " ".join(filter(None, pieces))


def _told(narration: str) -> str:
    """Narration between asterisks, without the dashes around it and the stop of the speech."""
    told = " ".join(narration.replace("*", "").split()).lstrip(_STOPS)
    if told.startswith(tuple(_DASHES)):  # "—dijo Ana—,"
        stop = told[-1] if told.endswith(tuple(_STOPS)) else ""
        told = told.removesuffix(stop).strip(_DASHES + " ") + stop
    return f"*{told}*" if any(map(str.isalnum, told)) else ""
