"""Messages of chat models, with a dialogue a line and its personas.

The roles are "user" and "assistant" in turn, beginning with "user", as the templates of most chat
models demand, whoever speaks. So a role is a person only in a dialogue of two; `name` and `speaker`
say who it is. Turns that follow one another and have the same known speaker are one message, with
a line for each turn. Where the speaker is unknown, `name` and `speaker` are null, and each turn is
a message.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import Any

from miner.corpus.export import BookRows
from miner.corpus.schema import Row, rows_from_lines
from miner.files import json_line

FILES = {"chat.jsonl": "dialogues as messages, with their places and the personas of who speaks"}


def write_books(folder: Path, books: Iterable[BookRows]) -> None:
    """Writes a row for each dialogue. The personas are in the order in which they begin to speak.

    The personas are a list, not an object with a key for each, because a table of Arrow would have
    a column for each key.
    """
    with (folder / "chat.jsonl").open("wb") as file:
        for book in books:
            characters = {row["id"]: row for row in rows_from_lines(book["characters"])}
            for dialogue in rows_from_lines(book["dialogues"]):
                place = ("book", "dialogue", "part", "chapter", "paragraph")
                row = {key: dialogue[key] for key in place}
                row["messages"] = _messages(dialogue["turns"])
                row["personas"] = [
                    {key: characters[id][key] for key in ("id", "name", "gender", "aliases")}
                    for id in dialogue["participants"]
                ]
                file.write(json_line(row))


def _messages(turns: Iterable[Row]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    roles = cycle(("user", "assistant"))
    for turn in turns:
        if made and turn["speaker"] is not None and turn["speaker"] == made[-1]["speaker"]:
            made[-1]["content"] += "\n" + turn["text"]
            continue
        made.append(
            {
                "role": next(roles),
                "content": turn["text"],
                "name": turn["speaker_name"],
                "speaker": turn["speaker"],
            }
        )
    return made
