"""A finished book <-> its shard, one file.

The first line is the SHA-256 of the rest. The second is a record in JSON: what run.json says of the
book and how many bytes each kind of row takes, or why the source was set aside. The rows follow,
kind by kind, as JSON Lines. A shard is written whole, and it is independent of all others, so
shards can be written in any order and by any process.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from miner.books.book_file import read_book_file
from miner.books.sources import Source
from miner.corpus.mined_book import MinedBook
from miner.corpus.options import MiningOptions
from miner.corpus.pipeline import SetAside
from miner.corpus.schema import KINDS
from miner.files import json_line, printable, writing

_SUFFIX = ".shard"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shard:
    """What a whole shard holds."""

    record: dict[str, Any]
    rows: dict[str, bytes]  # by kind; empty for a source that was set aside

    def result(self, options: MiningOptions) -> MinedBook | SetAside:
        """The result that the shard was written from."""
        if "set_aside" in self.record:
            return SetAside(*self.record["set_aside"])
        confidences = tuple(self.record["confidences"])
        return MinedBook(self.record["entry"], self.rows, confidences, options)


@dataclass(frozen=True, slots=True)
class ShardFolder:
    """The folder of the shards of one run. It can be sent to other processes.

    Args:
        path: the folder.
        out: where the output will be, which errors name.
    """

    path: Path
    out: Path

    def add(self, name: str, result: MinedBook | SetAside) -> None:
        """Writes a shard that is whole from the moment it has its name."""
        if isinstance(result, SetAside):
            rows: list[bytes] = []
            record: dict[str, Any] = {"set_aside": [result.name, result.why]}
        else:
            rows = [result.encoded[kind] for kind in KINDS]
            record = {"entry": result.entry, "confidences": result.confidences}
            record["bytes"] = [len(data) for data in rows]
        lines = [json_line(record), *rows]
        digest = sha256()
        for data in lines:
            digest.update(data)
        # Not the name alone: the process of a run that was killed may still be writing.
        part = self.path / f"{name}.{os.getpid()}.part"
        with writing(self.out):
            try:
                with part.open("wb") as file:
                    file.write(digest.hexdigest().encode() + b"\n")
                    file.writelines(lines)
                os.replace(part, self.path / name)
            finally:
                part.unlink(missing_ok=True)

    def find(self, name: str) -> Shard | None:
        """The shard of that name, or None if it is not there or is not as it was written."""
        path = self.path / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.warning("%s: cannot be read (%s): its book is mined again", path, error.strerror)
            return None
        digest, _, rest = data.partition(b"\n")
        if digest != sha256(rest).hexdigest().encode():
            _log.warning("%s: not as it was written: its book is mined again", path)
            return None
        line, _, rest = rest.partition(b"\n")
        record = json.loads(line)
        rows: dict[str, bytes] = {}
        start = 0
        for kind, length in zip(KINDS, record.get("bytes", ()), strict=False):
            rows[kind] = rest[start : start + length]
            start += length
        return Shard(record, rows)

    def count(self) -> int:
        """How many sources are done."""
        return sum(1 for _ in self.path.glob(f"*{_SUFFIX}"))


def shard_name(source: Source) -> str:
    """The name of a source's shard, which is another one after the content of its file changed.

    It is "" for a file that cannot be read or is too large, so that a resumed run tries it again.
    """
    assert source.path is not None
    try:
        content = sha256(read_book_file(source.path)).hexdigest()
    except (ValueError, OSError):
        return ""
    identity = [printable(source.word), source.id, printable(source.path), content]
    return sha256(json_line({"source": identity})).hexdigest()[:32] + _SUFFIX
