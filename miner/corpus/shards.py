"""A finished book <-> its shard, one file.

The first line is a record in JSON: what run.json says of the book and how many bytes each kind of
row takes, or why the source was set aside. The rows follow, kind by kind, as JSON Lines. A shard is
written whole, and it is independent of all others, so shards can be written in any order.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from miner.books.sources import Source
from miner.corpus.mined_book import MinedBook
from miner.corpus.options import MiningOptions
from miner.corpus.pipeline import SetAside
from miner.corpus.schema import KINDS
from miner.files import json_line, printable

SUFFIX = ".shard"


def shard_name(source: Source) -> str:
    """The name of a source's shard, which is another one after the file of the source changed."""
    identity: list[Any] = [printable(source.word), source.id]
    if source.path is not None:
        try:
            state = source.path.stat()
            identity += [printable(source.path.resolve()), state.st_size, state.st_mtime_ns]
            # It changes with the permissions, too: a book that could not be read is tried again.
            identity.append(state.st_ctime_ns)
        except OSError:
            pass  # the source will be set aside, since it cannot be read
    return sha256(json_line({"source": identity})).hexdigest()[:32] + SUFFIX


def write_shard(path: Path, result: MinedBook | SetAside) -> None:
    """Writes a file that is whole from the moment it has its name."""
    if isinstance(result, SetAside):
        rows: list[bytes] = []
        record: dict[str, Any] = {"set_aside": [result.name, result.why]}
    else:
        rows = [result.encoded[kind] for kind in KINDS]
        record = {"entry": result.entry, "confidences": result.confidences}
        record["bytes"] = {kind: len(data) for kind, data in zip(KINDS, rows, strict=True)}
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            file.write(json_line(record))
            file.writelines(rows)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard on disk. Its rows are read when they are needed."""

    path: Path
    record: dict[str, Any]
    start: int  # of the rows, in bytes

    def rows(self, kind: str) -> bytes:
        """The rows of a kind, as JSON Lines; none for a source that was set aside."""
        lengths: dict[str, int] = self.record.get("bytes", {})
        before = KINDS[: KINDS.index(kind)]
        with self.path.open("rb") as file:
            file.seek(self.start + sum(lengths.get(other, 0) for other in before))
            return file.read(lengths.get(kind, 0))

    def result(self, options: MiningOptions) -> MinedBook | SetAside:
        """The result that the shard was written from."""
        if "set_aside" in self.record:
            return SetAside(*self.record["set_aside"])
        return MinedBook(
            self.record["entry"],
            {kind: self.rows(kind) for kind in KINDS},
            tuple(self.record["confidences"]),
            options,
        )


def open_shard(path: Path) -> Shard | None:
    """The shard of a file, or None if the file is not there or was cut short."""
    try:
        with path.open("rb") as file:
            line = file.readline()
            record = json.loads(line)
            size = os.fstat(file.fileno()).st_size
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict) or not ({"set_aside", "entry"} & record.keys()):
        return None
    if size != len(line) + sum(record.get("bytes", {}).values()):
        return None
    return Shard(path, record, len(line))
