"""Characters and speakers of a book; characters <-> `characters.jsonl`, to be corrected by hand.

A person may merge two rows into one with the aliases of both, move an alias to another row, delete
a row, set the gender, or write a row for somebody who was not found.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from reprlib import repr as shown
from typing import Any, Protocol, overload

from miner.errors import InputError
from miner.files import decode_text, file_signature, json_rows, printable, sha256_of
from miner.people.cast import GENDERS, Character, Kind, refuse_unclear
from miner.speech.spans import BookSpans
from miner.speech.tag_files import LARGEST
from miner.speech.tags import TaggedSpan


@dataclass(frozen=True)
class SpokenBook(Sequence[TaggedSpan]):
    """The tagged spans of a book, with the speaker of each utterance, and its characters."""

    spans: tuple[TaggedSpan, ...]  # the tagged spans
    # the named characters, then the unnamed people and the narrator who speak
    characters: tuple[Character, ...] = ()
    # the names of those who often speak and whom the given list lacks; empty without a list
    unlisted: tuple[str, ...] = ()

    @cached_property
    def n_utterances(self) -> Counter[str]:
        """The number of utterances of each character who speaks, by id."""
        speakers = (item.speaker for item in self.spans)
        return Counter(speaker for speaker in speakers if speaker is not None)

    @cached_property
    def n_addressed(self) -> Counter[str]:
        """The number of utterances that are said to each character, by id."""
        return Counter(one for item in self.spans for one in item.addressees)

    @property
    def ranked(self) -> tuple[Character, ...]:
        """Those who speak, then those who are only spoken to, then those who are only named.

        Whoever has most utterances, is spoken to most, or is named most comes first.
        """
        spoken, addressed = self.n_utterances, self.n_addressed

        def rank(one: Character) -> tuple[int, int, int]:
            return -spoken[one.id], -addressed[one.id], -one.n_mentions

        return tuple(sorted(self.characters, key=rank))

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, index: int) -> TaggedSpan: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TaggedSpan]: ...
    def __getitem__(self, index: int | slice) -> TaggedSpan | Sequence[TaggedSpan]:
        return self.spans[index]


class Attributor(Protocol):
    """Finds the speakers of a book."""

    def attribute(
        self,
        book_spans: BookSpans,
        tagged: Sequence[TaggedSpan],
        characters: Sequence[Character] | None = None,
        *,
        revise: bool = True,
    ) -> SpokenBook:
        """Returns the speakers of a book."""
        ...


_SHOWN = 5  # books that a message names
CharacterLists = Mapping[str, tuple[Character, ...]]  # the characters of books, by the book's id
NO_CHARACTERS: CharacterLists = {}
# What a row must have. The other keys are for the reader of the file.
_KEYS = ("book", "id", "name", "aliases", "gender", "kind")


@dataclass(frozen=True, slots=True)
class CharacterFile(Mapping[str, tuple[Character, ...]]):
    """The characters of the books of a file.

    It reads the file when it is asked, and again when the file has changed. So it is small enough
    to send to another process.
    """

    path: Path

    def __getitem__(self, book: str) -> tuple[Character, ...]:
        return self._lists[book]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lists)

    def __len__(self) -> int:
        return len(self._lists)

    @property
    def signature(self) -> str:
        """The name of the file and the start of its digest."""
        return file_signature(self.path, sha256_of(self.path.read_bytes()))

    def refuse_others(self, books: Iterable[str]) -> None:
        """Raises an error if the file has the characters of none of the books."""
        wanted = tuple(dict.fromkeys(books))
        if wanted and not any(book in self for book in wanted):
            held, expected = (
                ", ".join([*map(printable, names[:_SHOWN]), *["..."] * (len(names) > _SHOWN)])
                for names in (tuple(self), wanted)
            )
            raise InputError(
                f"{printable(self.path)}: found characters of {held or 'no book'}, "
                f"expected characters of {expected}"
            )

    @property
    def _lists(self) -> CharacterLists:
        state = os.stat(self.path)
        return _read_again(self.path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1)
def _read_again(path: Path, _changed: int, _size: int) -> CharacterLists:
    return read_characters(path)


def open_characters(path: Path | str) -> CharacterFile:
    """Returns the characters of a file, which is read at once, so that a bad one is refused."""
    file = CharacterFile(Path(path))
    len(file)
    return file


def row_from_character(
    book: str, character: Character, n_utterances: int, n_addressed: int
) -> dict[str, Any]:
    """Returns the row of a character, with its keys in the file's order."""
    return {
        "book": book,
        "id": character.id,
        "name": character.name,
        "aliases": list(character.aliases),
        "gender": character.gender,
        "kind": character.kind.value,
        "chapter": character.chapter,
        "mentions": character.n_mentions,
        "utterances": n_utterances,
        "addressed": n_addressed,
    }


def character_from_row(row: Mapping[str, Any]) -> Character:
    """Returns the character of a row that `row_from_character` made."""
    return Character(
        row["id"],
        row["name"],
        tuple(row["aliases"]),
        row["gender"],
        Kind(row["kind"]),
        row["mentions"],
        row["chapter"],
    )


def read_characters(path: Path | str) -> CharacterLists:
    """Returns the characters of each book of a file that a person may have changed.

    Mentions and utterances are not read, since they are counted again. Aliases that a row repeats
    are read once.
    """
    path = Path(path)
    characters: defaultdict[str, list[Character]] = defaultdict(list)
    places: defaultdict[str, list[str]] = defaultdict(list)
    for where, row in json_rows(path, decode_text(path.read_bytes(), path)):
        book, character = _character(row, where)
        characters[book].append(character)
        places[book].append(where)
    for book, of_book in characters.items():
        refuse_unclear(of_book, places[book])
    return {book: tuple(of_book) for book, of_book in characters.items()}


def _character(row: Mapping[str, Any], where: str) -> tuple[str, Character]:
    """Returns the book and the character of a row; errors begin with `where`."""
    missing = [key for key in _KEYS if key not in row]
    if missing:
        raise InputError(f"{where}: found no {', '.join(missing)}, expected {', '.join(_KEYS)}")
    for key in ("book", "id", "name"):
        if not isinstance(row[key], str) or not row[key].strip():
            raise InputError(f"{where}: found {shown(row[key])} as {key}, expected text")
    aliases = row["aliases"]
    if not isinstance(aliases, list) or not all(
        isinstance(alias, str) and alias.strip() for alias in aliases
    ):
        raise InputError(f"{where}: found {shown(aliases)} as aliases, expected a list of names")
    if row["gender"] not in GENDERS:
        raise InputError(
            f"{where}: found gender {shown(row['gender'])}, expected m, f or an empty text"
        )
    try:
        kind = Kind(row["kind"])
    except ValueError as error:
        expected = ", ".join(Kind)
        raise InputError(
            f"{where}: found kind {shown(row['kind'])}, expected one of {expected}"
        ) from error
    chapter = row.get("chapter")
    if chapter is not None and not (type(chapter) is int and 0 <= chapter <= LARGEST):
        raise InputError(
            f"{where}: found chapter {shown(chapter)}, expected a number to {LARGEST}, or null"
        )
    return row["book"], Character(
        row["id"].strip(),
        row["name"],
        tuple(dict.fromkeys(aliases)),
        row["gender"],
        kind,
        chapter=chapter,
    )
