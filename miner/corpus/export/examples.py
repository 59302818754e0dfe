"""Examples of PolyAI's conversational datasets: a response, its context, and those before.

The form is that of "A Repository of Conversational Datasets" (sections 2 and 3), with a JSON object
in place of a Tensorflow example. `context` is the turn before the response, `context/0` the one
before that, and so on, back in time. So `context/0` is always the nearest, however long the
dialogue is. A feature that Tensorflow would leave out is "", so that all files have the same
columns of text.

An example is left out if its response or its context is shorter than `min_length` or longer than
`max_length` characters (section 3.1). Contexts before that are cut at `max_length`, and no word is
divided. The examples are in the order of the books; a trainer shuffles them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from miner.corpus.export import BookRows, refuse_other_than_count
from miner.corpus.schema import DIALOGUE, Columns, Row, rows_from_lines
from miner.errors import InputError
from miner.files import json_line

FILES = {"examples.jsonl": "responses, each with its context, the contexts before and its place"}
_MOST_CONTEXTS = 1_000  # each is a column


@dataclass(frozen=True, slots=True)
class Options:
    """The limits of examples.

    The defaults are those of the paper. Its code has one character less, 127.
    """

    # the most contexts before `context`, at most 1,000; 10 as in the code for OpenSubtitles.
    extra_contexts: int = 10
    min_length: int = 9  # characters of the shortest response and context
    max_length: int = 128  # characters of the longest response and context

    def __post_init__(self) -> None:
        """Refuses what is no number, and limits that leave nothing."""
        refuse_other_than_count("extra_contexts", self.extra_contexts, 0, _MOST_CONTEXTS)
        for name in ("min_length", "max_length"):
            refuse_other_than_count(name, getattr(self, name), 0)
        if self.max_length < max(1, self.min_length):
            raise InputError(
                f"max_length: found {self.max_length}, "
                f"expected at least min_length, {self.min_length}, and 1"
            )


def schemas(options: Options = Options()) -> Mapping[str, Columns]:
    """Returns the columns of the file."""
    texts = ["response_speaker_name", "context_speaker_name", "response", "context"]
    texts += [f"context/{back}" for back in range(options.extra_contexts)]
    place = dict.fromkeys(("turn", "chapter", "paragraph"), "int32")
    return {"examples.jsonl": {**DIALOGUE, **place, **dict.fromkeys(texts, "string")}}


def write_books(
    folder: Path,
    books: Iterable[BookRows],
    split: str = "train",
    options: Options = Options(),
) -> Mapping[str, int]:
    """Writes an example for each turn but the first of a dialogue."""
    left_out = Counter[str]()
    with (folder / "examples.jsonl").open("wb") as file:
        for book in books:
            for dialogue in rows_from_lines(book["dialogues"]):
                texts = [turn["text"] for turn in dialogue["turns"]]
                for number in range(1, len(texts)):
                    lengths = [len(text) for text in texts[number - 1 : number + 1]]
                    if min(lengths) < options.min_length:
                        left_out["examples with a short text"] += 1
                    elif max(lengths) > options.max_length:
                        left_out["examples with a long text"] += 1
                    else:
                        file.write(json_line(_example(dialogue, texts, number, options)))
    return left_out


def _example(dialogue: Row, texts: list[str], number: int, options: Options) -> Row:
    """The example whose response is the turn of a number."""
    context, response = dialogue["turns"][number - 1 : number + 1]
    row = {key: dialogue[key] for key in DIALOGUE}
    row["turn"] = number
    row |= {key: response["spans"][0][key] for key in ("chapter", "paragraph")}
    row["response_speaker_name"] = response["speaker_name"] or ""
    row["context_speaker_name"] = context["speaker_name"] or ""
    row["response"], row["context"] = response["text"], context["text"]
    for back in range(options.extra_contexts):
        before = number - 2 - back
        row[f"context/{back}"] = cut(texts[before], options.max_length) if before >= 0 else ""
    return row


def cut(text: str, max_length: int) -> str:
    """Returns the beginning of a text, cut where a word begins or ends.

    A word is a run of letters and digits. The cut is that of CD's code (`trim` in
    reddit/create_data.py), but for white space at the end.

    >>> cut("Come in, come in!", 12)
    'Come in,'
    """
    if len(text) <= max_length:
        return text
    end = max_length
    while end and text[end - 1].isalnum() == text[end].isalnum():
        end -= 1
    return text[:end].rstrip()
