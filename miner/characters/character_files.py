"""Characters <-> `characters.jsonl`: JSON Lines, one row per character, to be corrected by hand.

A person may merge two rows into one with the aliases of both, move an alias to another row, delete
a row, set the gender, or write a row for somebody who was not found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from miner.characters.cast import GENDERS, Character, Kind, refuse_unclear
from miner.files import decode_text, json_lines, json_rows, whole_file

# What a row must have. The other keys are for the reader of the file.
_KEYS = ("id", "name", "aliases", "gender", "kind")


def row_from_character(character: Character, n_utterances: int | None = None) -> dict[str, Any]:
    """Returns the row of a character, with its keys in the file's order.

    Args:
        character: the character.
        n_utterances: how many utterances it speaks, or None where that is not known.
    """
    return {
        "id": character.id,
        "name": character.name,
        "aliases": list(character.aliases),
        "gender": character.gender,
        "kind": character.kind.value,
        "mentions": character.n_mentions,
        "utterances": n_utterances,
    }


def write_characters(
    path: Path,
    characters: Sequence[Character],
    n_utterances: Mapping[str, int] | None = None,
    force: bool = False,
) -> None:
    """Writes the characters of a book.

    Args:
        path: the file.
        characters: the characters, in order.
        n_utterances: how many utterances each speaks, by id; None where that is not known.
        force: whether a file that exists is replaced.

    Raises:
        ValueError: if the file exists and `force` is False.
        OSError: if the file cannot be written; nothing is left behind.
    """
    rows = (
        row_from_character(
            character, None if n_utterances is None else n_utterances.get(character.id, 0)
        )
        for character in characters
    )
    with whole_file(path, force) as file:
        file.write(json_lines(rows))


def read_characters(path: Path | str) -> tuple[Character, ...]:
    """Returns the characters of a file that `write_characters` wrote and a person may have changed.

    Mentions and utterances are not read, since they are counted again. Aliases that a row repeats
    are read once.

    Raises:
        ValueError: if a line is not a JSON object, a key is missing, a value has the wrong type,
            two rows have one id, or a row has no alias of its own; names the file and the line.
        OSError: if the file cannot be read.
    """
    path = Path(path)
    characters: list[Character] = []
    places: list[str] = []
    for where, row in json_rows(path, decode_text(path.read_bytes(), path)):
        characters.append(_character(row, where))
        places.append(where)
    refuse_unclear(characters, places)
    return tuple(characters)


def _character(row: Mapping[str, Any], where: str) -> Character:
    """Returns the character of a row; errors begin with `where`."""
    missing = [key for key in _KEYS if key not in row]
    if missing:
        raise ValueError(f"{where}: found no {', '.join(missing)}, expected {', '.join(_KEYS)}")
    for key in ("id", "name"):
        if not isinstance(row[key], str) or not row[key].strip():
            raise ValueError(f"{where}: found {shown(row[key])} as {key}, expected text")
    aliases = row["aliases"]
    if not isinstance(aliases, list) or not all(
        isinstance(alias, str) and alias.strip() for alias in aliases
    ):
        raise ValueError(f"{where}: found {shown(aliases)} as aliases, expected a list of names")
    if row["gender"] not in GENDERS:
        raise ValueError(
            f"{where}: found gender {shown(row['gender'])}, expected m, f or an empty text"
        )
    try:
        kind = Kind(row["kind"])
    except ValueError as error:
        expected = ", ".join(Kind)
        raise ValueError(
            f"{where}: found kind {shown(row['kind'])}, expected one of {expected}"
        ) from error
    return Character(
        row["id"].strip(), row["name"], tuple(dict.fromkeys(aliases)), row["gender"], kind
    )
