"""ParlAI's text of episodes, for its task `fromfile`.

    parlai display_data -t fromfile:parlaiformat --fromfile-datapath FILE

`ParlAIDialogTeacher` reads a file for a split. A line is an example, a text and its label: what was
said, and the answer. An episode ends with `episode_done`. A dialogue is two episodes, as the second
speaker and as the first one would learn it, so that each turn but the first is a label once. The
first example of the second episode has the first two turns as its text, on a line each.

The form can write any text but a backslash before n or t. A space is put after it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from miner.corpus.export import BookRows
from miner.corpus.schema import rows_from_lines

FILES = {"dialogues.txt": "dialogues as episodes, each turn but the first once as a label"}
IS_DIVISIBLE = False  # the teacher opens one file
_BACKSLASH = re.compile(r"\\(?=[nt])")


def write_books(folder: Path, books: Iterable[BookRows], split: str = "train") -> Mapping[str, int]:
    """Writes the episodes. Each line names its book, dialogue and part."""
    left_out = Counter[str]()
    with (folder / "dialogues.txt").open("w", encoding="utf-8", newline="\n") as file:
        for book in books:
            for dialogue in rows_from_lines(book["dialogues"]):
                place = {key: str(dialogue[key]) for key in ("book", "dialogue", "part")}
                turns = [turn["text"] for turn in dialogue["turns"]]
                left_out["dialogues of one turn"] += len(turns) == 1
                for episode in (turns, ["\n".join(turns[:2]), *turns[2:]]):
                    file.writelines(_lines(episode, place))
    return left_out


def _lines(turns: Sequence[str], place: dict[str, str]) -> Iterator[str]:
    """The lines of an episode in which every second turn is a label."""
    labelled = list(zip(turns[::2], turns[1::2], strict=False))
    for number, (text, label) in enumerate(labelled, 1):
        example = {"text": text, "labels": label, **place}
        if number == len(labelled):
            example["episode_done"] = "True"
        yield "\t".join(f"{key}:{_escape(value)}" for key, value in example.items()) + "\n"


def _escape(text: str) -> str:
    text = _BACKSLASH.sub(r"\\ ", text)
    return text.replace("\t", r"\t").replace("\n", r"\n").replace("|", "__PIPE__")
