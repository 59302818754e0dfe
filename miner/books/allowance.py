"""How many books may still be asked for at gutenberg.org, and when: its rules for robots.

The page https://www.gutenberg.org/policy/robot_access.html allows automatic downloads with a pause
of two seconds (`wget -w 2`). It names no number of books. The terms of use do: whoever wants "many
books: i.e., more than ~100 per day" is to take them from a mirror
(https://www.gutenberg.org/policy/terms_of_use.html). So this module counts the books of 24 hours in
a file that all processes of a user share.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from miner.errors import InputError
from miner.files import parse_json, printable, read_text, whole_file

if TYPE_CHECKING:
    from filelock import BaseFileLock

MAIN_SITE = ("www.gutenberg.org", "gutenberg.org")
BOOKS_A_DAY = 100
PAUSE = 2.0  # seconds
A_MIRROR = "https://gutenberg.pglaf.org/cache/epub/{id}/pg{id}-images.html"
_FILE = "downloads.json"
_DAY = 24 * 60 * 60.0
_TOLERANCE = 60.0  # seconds by which the clocks of two machines may differ


class AllowanceError(InputError):
    """No more books may be asked for today; one line says what to do."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be asked of some hosts. Other hosts, such as a mirror that a user names, are free.

    Args:
        folder: where the times of requests are kept, in a file that several processes may share.
        hosts: the hosts that are counted, together.
        books_a_day: the most requests in 24 hours.
        pause: seconds between two requests, also of two processes.

    Raises:
        InputError: if `books_a_day` or `pause` is negative.
    """

    folder: Path
    hosts: Sequence[str] = MAIN_SITE
    books_a_day: int = BOOKS_A_DAY
    pause: float = PAUSE

    def __post_init__(self) -> None:
        for name in ("books_a_day", "pause"):
            if (found := getattr(self, name)) < 0:
                raise InputError(f"{name}: found {found}, expected 0 or more")

    @property
    def path(self) -> Path:
        """The file that holds the times of the requests of the last 24 hours."""
        return self.folder / _FILE

    def take(self, host: str) -> float:
        """Counts one request, and returns the time (`time.time()`) from which it may be made."""
        if host.lower() not in self.hosts:
            return time.time()
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock():
            now = time.time()  # not before the lock: another process may have been first
            times = self._read(now)
            if len(times) >= self.books_a_day:
                raise AllowanceError(self._refusal(host, times, now))
            slot = max([now, *(past + self.pause for past in times)])
            self._write([*times, slot])
        return slot

    def give_back(self, host: str, slot: float) -> None:
        """Takes back the count of a request that reached no server."""
        if host.lower() not in self.hosts:
            return
        with self._lock():
            times = self._read(time.time())
            if slot in times:
                times.remove(slot)
                self._write(times)

    def _lock(self) -> BaseFileLock:
        from filelock import FileLock

        return FileLock(f"{self.path}.lock")

    def _read(self, now: float) -> list[float]:
        """The times of the last 24 hours."""
        # Later ones are of a clock that was set back.
        latest = now + self.books_a_day * self.pause + _TOLERANCE
        if not self.path.exists():
            return []
        where, expected = printable(self.path), "a list of times; remove the file"
        found = parse_json(read_text(self.path), where, expected)
        if not isinstance(found, list) or not all(isinstance(past, int | float) for past in found):
            raise InputError(f"{where}: found other JSON, expected {expected}")
        return sorted(past for past in found if now - _DAY < past <= latest)

    def _write(self, times: list[float]) -> None:
        with whole_file(self.path, force=True) as file:
            file.write(f"{times}\n".encode())

    def _refusal(self, host: str, times: list[float], now: float) -> str:
        free = times[len(times) - self.books_a_day] + _DAY if self.books_a_day else now + _DAY
        minutes = max(1, math.ceil((free - now) / 60))
        return (
            f"asked {host} for {len(times)} books in 24 hours, expected at most "
            f"{self.books_a_day}, which is what its terms of use allow; wait "
            f"{minutes // 60} h {minutes % 60:02} min, or give a mirror (`mirror=` or "
            f"MINER_MIRROR, for example {A_MIRROR}), or copy the books with rsync and give `books=`"
        )
