"""Sources of examples: what was mined or built, a user's own files, annotations.

A source is a path. What its files hold is found from their columns:

| source | files | book | chapter | turns before the context |
|---|---|---|---|---|
| `miner mine`, `miner build` | pairs: jsonl, parquet, csv | yes | yes | all |
| | dialogues: jsonl, parquet; turns: csv | yes | yes | all |
| | convokit, chat | yes | of the dialogue's beginning | all |
| | parlai | yes | none | all |
| | text | none | none | all |
| | examples | yes | yes | all of the examples kept; else up to 10, cut |
| | ubuntu: triples, rankings | none | none | up to 20; those of a drawn size |
| a user's own table | jsonl, csv, tsv, parquet | `book` | `chapter` | `history` |
| annotations | the books themselves | yes | yes | all of the dialogue |
| the labels of MCN | `gold-v2.csv` | yes | yes | all of the dialogue |

Where a format has none, the book is "" and the chapter 0. Chat has one message for turns of one
speaker that follow one another, and Ubuntu's triples no response before the third turn. Of a corpus
in several formats, the first in this table is read: name the folder of another one to read that.

A user's own table has a column `context`, the turn before, and a column `response`; the others may
be missing. Its `history` is a list; in CSV as JSON, or a turn a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from miner.annotation.annotations import ENGLISH, is_annotations, name_of_split, read_split
from miner.errors import InputError
from miner.files import printable
from miner.lab.gold.editions import BookReader, Coverage, read_editions_at_hand
from miner.lab.gold.mcn import GOLD_CSV, MCN_BOOK, read_mcn
from miner.lab.lessons.examples import Example, Part
from miner.lab.lessons.layouts import PairFiles, find_pair_files, read_file
from miner.speech.dialogues import decode_dialogues, repair_book
from miner.speech.tags import TaggedBook


def read_annotated_examples(
    folder: Path, split: str, language: str, read: BookReader
) -> tuple[list[Example], Coverage]:
    """Returns the true turn pairs of annotated books, in clean text, and what they cover."""
    annotated = read_split(folder, split, language=language)
    editions, coverage = read_editions_at_hand(annotated, read)
    return [one for book in editions for one in _examples(book.located.tagged())], coverage


def annotated_books(folder: Path, split: str, language: str) -> tuple[str, ...]:
    """Returns the ids of the annotated books of a split, and opens none of them."""
    return tuple(book.card.book for book in read_split(folder, split, language=language))


def read_mcn_examples(folder: Path, split: str) -> list[Example]:
    """Returns the true turn pairs of the second version of the labels of MCN."""
    data = read_mcn(folder)
    if split == "all":
        return list(_examples(data.gold_v2))
    known = sorted({name for _, name in data.splits})
    if split not in known:
        raise InputError(
            f"{printable(folder)}: found no split {split!r}, expected one of {', '.join(known)}, "
            "all"
        )
    # A split may cut a conversation, whose second part then is one of its own.
    return list(_examples(repair_book(data.of_split(data.gold_v2, split))))


def _examples(tagged: TaggedBook) -> Iterator[Example]:
    for dialogue in decode_dialogues(tagged):
        texts = [turn.text for turn in dialogue.turns]
        for number in range(1, len(texts)):
            context = dialogue.turns[number - 1]
            yield Example(
                dialogue.book, tuple(texts[:number]), texts[number], context.spans[0].chapter
            )


Role = Literal["train", "validation", "test"]  # what a source is for, which decides its split
EVERY = "all"
_DEV = "dev"  # what annotations call the split for validation


def read_source(
    source: Path | str,
    split: str | None = None,
    role: Role = "test",
    *,
    language: str = ENGLISH,
    read: BookReader | None = None,
) -> Part:
    """Returns the examples of a source, with what they are of.

    Contexts have all the turns that the source knows; `example.keep_turns` makes them shorter.
    """
    path, split = _path_and_split(source, split)
    if is_annotations(path):
        if read is None:
            raise InputError(f"{printable(path)}: found annotations without books, expected `read`")
        chosen = split or (_DEV if role == "validation" else role)
        examples, coverage = read_annotated_examples(path, chosen, language, read)
        name = f"{_name(path)}, {name_of_split(chosen, language)}"
        found = Part(examples, name, coverage=coverage)
    elif (path / GOLD_CSV).is_file():
        chosen = split or role
        examples = read_mcn_examples(path, chosen)
        found = Part(examples, f"{_name(path)}/{GOLD_CSV}, {chosen}")
    else:
        found = _read_files(path, split, role)
    if not found.examples:
        n_left_out = sum(found.left_out.values())
        none = f"none of {n_left_out:,} with a text on each side" if n_left_out else "none"
        raise InputError(
            f"{printable(path)}: found {none}, expected pairs of a context and a response"
        )
    return replace(found, path=printable(path.resolve()))


def books_of_source(
    source: Path | str, split: str | None = None, language: str = ENGLISH
) -> tuple[str, ...]:
    """Returns the ids of the books of a source, of all its splits unless one is named."""
    path, split = _path_and_split(source, split)
    if is_annotations(path):
        return annotated_books(path, split or EVERY, language)
    if (path / GOLD_CSV).is_file():
        return (MCN_BOOK,)
    books = read_source(path, split or EVERY).books
    if not books:
        raise InputError(f"{printable(path)}: found no ids of books, expected a column book")
    return books


def leave_out_books(found: Part, books: Sequence[str], of: str) -> Part:
    """Returns the examples without those of some books."""
    if found.n_without_book:
        raise InputError(
            f"{found.source}: found {found.n_without_book:,} pairs that name no book, expected a "
            f"book of each, so that those of {of} can be left out"
        )
    without = set(books)
    kept = [one for one in found.examples if one.book not in without]
    if not kept:
        raise InputError(f"{found.source}: found no pairs of other books than {of}, expected some")
    n_books = len(set(found.books) & without)
    note = f"without {n_books:,} book{'s' * (n_books != 1)} of {of}"
    return replace(found, examples=kept, chosen=(*found.chosen, note))


def draw_pairs(found: Part, most: int, seed: int) -> Part:
    """Returns at most so many examples, drawn by chance, in their order.

    A smaller number draws some of the examples that a larger one draws with the same seed, as
    learning curves want it (UD, Figure 3).
    """
    n = len(found.examples)
    if most >= n:
        return found
    drawn = sorted(np.random.default_rng(seed).permutation(n)[:most].tolist())
    note = f"{most:,} of {n:,} pairs drawn with seed {seed}"
    kept = [found.examples[number] for number in drawn]
    return replace(found, examples=kept, chosen=(*found.chosen, note))


def _read_files(path: Path, split: str | None, role: Role) -> Part:
    files = find_pair_files(path)
    chosen = _splits_of_files(files, path, split, role)
    left_out = Counter[str]()
    examples = [
        one for name in chosen for file in files.of_split[name] for one in read_file(file, left_out)
    ]
    where = _name(path) if path.is_file() else f"{_name(path)}/{files.name}"
    shown = EVERY if len(chosen) > 1 and chosen == files.splits else "+".join(chosen)
    return Part(examples, f"{where}, {shown}" if files.splits else where, left_out=dict(left_out))


def _splits_of_files(
    files: PairFiles, path: Path, split: str | None, role: Role
) -> tuple[str, ...]:
    """The names of the splits that are read; "" where there are none."""
    known = files.splits
    if not known:
        if split not in (None, EVERY):
            raise InputError(
                f"{printable(path)}: found split {split!r}, expected none, because its files are "
                "not divided"
            )
        return ("",)
    if split == EVERY:
        return known
    wanted = tuple(dict.fromkeys((split or role).split("+")))
    if unknown := [name for name in wanted if name not in known]:
        raise InputError(
            f"{printable(path)}: found no split {unknown[0]!r}, expected {', '.join(known)}, "
            "several with + between, or all"
        )
    return wanted


def _path_and_split(source: Path | str, split: str | None) -> tuple[Path, str | None]:
    """Returns the path of a source, and the split after its last colon or the other one."""
    path = Path(source)
    before, colon, after = str(source).rpartition(":")
    if path.exists() or not colon or not Path(before).exists():
        return path, split
    if split is not None and split != after:
        raise InputError(f"{printable(path)}: found split {split!r}, too, expected one of both")
    return Path(before), after


def _name(path: Path) -> str:
    return printable(path.name or path.resolve().name)
