"""A corpus of ConvoKit, whose utterances are the turns.

`convokit.Corpus(FOLDER)` opens it. The form is that of
https://convokit.cornell.edu/documentation/data_format.html. A turn replies to the turn before it.
Books tell no time, so the timestamp of a turn is its number in the book. A speaker is
"BOOK:CHARACTER". A dialogue has one speaker more, "BOOK:DIALOGUE.PART:unknown", if nobody knows who
speaks some of its turns. Who speaks in no dialogue is no speaker, but may be an addressee.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from miner.corpus.export import BookRows
from miner.corpus.schema import NARRATION, Row, rows_from_lines
from miner.speech.tag_files import rounded

FILES = {
    "utterances.jsonl": "the turns, each with its speaker and the turn that it replies to",
    "speakers.json": "who speaks: name, gender, kind, aliases, and utterances in the book",
    "conversations.json": "the book and place of each dialogue and its participants",
    "corpus.json": "metadata of the whole corpus: none",
    "index.json": "the types of the metadata",
}
IS_DIVISIBLE = False  # its speakers.json and conversations.json are whole objects
# The metadata and its types.
_UTTERANCE = {
    "raw": str,  # as printed
    "narration_before": str,
    "narration_inside": list,  # each with its place in the text
    "narration_after": str,
    "confidence": float,  # in the tags of all its spans
    "speaker_confidence": float,
    "addressees": list,
}
_SPEAKER = {"name": str, "gender": str, "kind": str, "aliases": list, "utterances": int}
_CONVERSATION = {
    "book": str,
    "title": str,
    "author": str,
    "language": str,
    "dialogue": int,
    "part": int,
    "chapter": int,
    "paragraph": int,
    "participants": list,
}


def write_books(folder: Path, books: Iterable[BookRows], split: str = "train") -> None:
    """Writes the corpus. Its JSON is ASCII, because ConvoKit reads it in the system's encoding."""
    with (
        (folder / "utterances.jsonl").open("w", encoding="ascii") as utterances,
        _writing_object(folder / "speakers.json") as add_speaker,
        _writing_object(folder / "conversations.json") as add_conversation,
    ):
        for book in books:
            characters = {row["id"]: row for row in rows_from_lines(book["characters"])}
            confidences = {
                (row["paragraph"], row["span"]): row["confidence"]
                for row in rows_from_lines(book["spans"])
            }
            speakers: dict[str, Row] = {}
            n_turns = 0
            for dialogue in rows_from_lines(book["dialogues"]):
                made = _utterances(dialogue, confidences)
                add_conversation(made[0]["id"], _conversation_meta(dialogue))
                for utterance, turn in zip(made, dialogue["turns"], strict=True):
                    utterances.write(json.dumps({**utterance, "timestamp": n_turns}) + "\n")
                    n_turns += 1
                    meta = speakers.setdefault(utterance["speaker"], _unknown_speaker())
                    if turn["speaker"] is None:
                        meta["utterances"] += len(turn["spans"])
                    else:
                        meta.update({key: characters[turn["speaker"]][key] for key in _SPEAKER})
            for id, meta in speakers.items():
                add_speaker(id, meta)
    index: dict[str, Any] = {
        f"{name}-index": {key: [str(value)] for key, value in types.items()}
        for name, types in (
            ("utterances", _UTTERANCE),
            ("speakers", _SPEAKER),
            ("conversations", _CONVERSATION),
            ("overall", {}),
        )
    }
    for name, content in (("corpus", {}), ("index", {**index, "version": 1, "vectors": []})):
        (folder / f"{name}.json").write_text(json.dumps(content) + "\n", encoding="ascii")


def _utterances(
    dialogue: Row, confidences: Mapping[tuple[int, int], float | None]
) -> list[dict[str, Any]]:
    """Returns the utterances of a dialogue, without their timestamps."""
    place = f"{dialogue['book']}:{dialogue['dialogue']}.{dialogue['part']}"
    made = []
    for number, turn in enumerate(dialogue["turns"]):
        speaker = turn["speaker"]
        found = [confidences[span["paragraph"], span["span"]] for span in turn["spans"]]
        sure = [confidence for confidence in found if confidence is not None]
        made.append(
            {
                "id": f"{place}:{number}",
                "conversation_id": f"{place}:0",
                "reply-to": f"{place}:{number - 1}" if number else None,
                "speaker": f"{place}:unknown" if speaker is None else _id(dialogue, speaker),
                "text": turn["text"],
                "meta": {
                    "raw": turn["raw"],
                    **{name: turn[name] for name in NARRATION},
                    "confidence": rounded(math.prod(sure)) if len(sure) == len(found) else None,
                    "speaker_confidence": turn["speaker_confidence"],
                    "addressees": [_id(dialogue, one) for one in turn["addressees"]],
                },
                "vectors": [],
            }
        )
    return made


def _id(dialogue: Row, character: str) -> str:
    """Returns the id of a speaker, which no other book has."""
    return f"{dialogue['book']}:{character}"


def _unknown_speaker() -> Row:
    return {"name": "", "gender": "", "kind": "unknown", "aliases": [], "utterances": 0}


def _conversation_meta(dialogue: Row) -> Row:
    meta = {key: dialogue[key] for key in _CONVERSATION}
    return meta | {"participants": [_id(dialogue, one) for one in dialogue["participants"]]}


@contextmanager
def _writing_object(path: Path) -> Iterator[Callable[[str, Row], None]]:
    """Yields a function that adds the metadata of an id to a JSON file of all ids."""
    with path.open("w", encoding="ascii") as file:
        before = "{"

        def add(id: str, meta: Row) -> None:
            nonlocal before
            file.write(f"{before}\n{json.dumps(id)}: {json.dumps({'meta': meta, 'vectors': []})}")
            before = ","

        yield add
        file.write("{}\n" if before == "{" else "\n}\n")
