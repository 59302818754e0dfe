"""What commands show on the terminal: tables, JSON, a progress bar; and their log file."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Self

import click

from miner.app.cli.command import line_of, name_options
from miner.files import one_line, writing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from miner.app.tables import Shown
    from miner.corpus.build import StageProgress
    from miner.corpus.mined_book import SetAside
    from miner.corpus.mining import Progress


_NAME = 24  # characters of the name of what a `CountBar` shows


class MiningBar:
    """A bar on stderr while books are mined, as a context manager.

    It shows books, words, words a second and the time that is left. Nothing is shown if `quiet`, or
    if stderr is no terminal.
    """

    def __init__(self, quiet: bool) -> None:
        self._bar: Bar | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = _new_bar()
            self._task = self._bar.add_task("mining", total=None, books="", first=(0.0, 0))
            self._has_words = False

    def show(self, progress: Progress) -> None:
        """Shows how far the run is. The bar appears with the first call."""
        if self._bar is None:
            return
        books = f"{progress.n_done}/{progress.n_sources} book{'s' * (progress.n_sources != 1)}"
        self._bar.start()
        if progress.n_words and not self._has_words:
            self._has_words = True
            self._bar.update(self._task, first=(self._bar.get_time(), progress.n_words))
        self._bar.update(
            self._task,
            completed=progress.n_words,
            total=progress.n_words_expected or None,
            books=books,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.stop()


class BuildBar:
    """A bar on stderr while a corpus is built, as a context manager.

    It shows how far mining is, as `MiningBar` does, and then the stages after it.
    """

    def __init__(self, quiet: bool) -> None:
        self._mining = MiningBar(quiet)
        self._bar: Bar | None = None
        self._stage = ""
        self._is_shown = not quiet and sys.stderr.isatty()

    def show_mining(self, progress: Progress) -> None:
        """Shows how far mining is."""
        self._mining.show(progress)

    def show_stage(self, progress: StageProgress) -> None:
        """Shows how far a stage after mining is."""
        if not self._is_shown:
            return
        if self._bar is None:
            self._mining.stop()
            self._bar = _new_stage_bar()
            self._bar.start()
        if progress.name != self._stage:
            self._stage = progress.name
            self._task = self._bar.add_task(progress.name, total=progress.n)
        self._bar.update(self._task, completed=progress.n_done, total=progress.n)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._mining.stop()
        if self._bar is not None:
            self._bar.stop()


class CountBar:
    """A bar on stderr while something is counted up to a known number, as a context manager.

    It shows how many are done, how many a second, and the time that is left. Where stderr is no
    terminal, a line says so every `pause` seconds.
    """

    def __init__(self, name: str, quiet: bool, pause: float = 30) -> None:
        self._bar: Bar | None = None
        self._quiet, self._pause = quiet, pause
        if not quiet and sys.stderr.isatty():
            self._bar = _new_count_bar()
            self._task = self._bar.add_task(_cut(name), total=None)
        self._begin(name)

    def _begin(self, name: str) -> None:
        self._name, self._began = name, monotonic()
        self._said = self._began

    def show(self, done: int, total: int) -> None:
        """Shows how many of all are done. The bar appears with the first call."""
        if self._bar is not None:
            self._bar.start()
            self._bar.update(self._task, completed=done, total=total)
        elif not self._quiet and done and (now := monotonic()) >= self._said + self._pause:
            self._said = now
            counted = _count(done, total, done / max(now - self._began, 1e-9))
            click.echo(f"{self._name}: {counted}", err=True)

    def rename(self, name: str) -> None:
        """Begins anew, with another name."""
        self._begin(name)
        if self._bar is not None:
            self._bar.reset(self._task, description=_cut(name), total=None)

    def echo(self, line: str) -> None:
        """Prints a line to standard output, above the bar if there is one."""
        if self._bar is None:
            click.echo(line)
            return
        self._bar.stop()
        click.echo(line)
        self._bar.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _count(done: float, total: float, speed: float | None) -> str:
    """How many are done, how many a second, and the time that is left."""
    counted = f"{done:,.0f} of {total:,.0f}"
    if not speed:
        return counted
    left = round((total - done) / speed)
    clock = f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"
    return f"{counted}, {speed:,.{0 if speed >= 10 else 1}f}/s, {clock} left"


def _new_count_bar() -> Bar:
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Counted(progress.ProgressColumn):
        """How many are done, how many a second, and the time that is left."""

        def render(self, task: progress.Task) -> Text:
            if task.total is None:
                return Text("")
            return Text(_count(task.completed, task.total, task.speed))

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=8),
        Counted(),
        console=Console(stderr=True),
        transient=True,
    )


def _new_stage_bar() -> Bar:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=12),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _new_bar() -> Bar:
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Words(progress.ProgressColumn):
        """Words, their speed since the first were tagged, and the time that is left.

        rich's own columns begin anew whenever the total changes, as it does with each book.
        """

        def render(self, task: progress.Task) -> Text:
            words = f"{task.completed:,.0f} words"
            start, before = task.fields["first"]
            if task.completed == before:  # the first words, whose time includes the start
                start, before = task.start_time or 0.0, 0
            seconds = task.get_time() - start
            if not task.completed or seconds <= 0:
                return Text(words)
            speed = (task.completed - before) / seconds
            left = round(((task.total or task.completed) - task.completed) / speed)
            clock = f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"
            return Text(f"{words}, {speed:,.0f} words/s, {clock} left")

    return progress.Progress(
        progress.TextColumn("mining"),
        progress.BarColumn(bar_width=12),
        progress.TextColumn("{task.fields[books]},"),
        Words(),
        console=Console(stderr=True),
        transient=True,
    )


class _LogFile(logging.FileHandler):
    """A log file of one line a record. A disk without room is an error like any other."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, encoding="utf-8", errors="replace")
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))

    def format(self, record: logging.LogRecord) -> str:
        return name_options(one_line(super().format(record)))

    def handleError(self, record: logging.LogRecord) -> None:
        """Raises the error of the block in which `emit` calls this."""
        with writing(Path(self.baseFilename)):
            raise


@contextmanager
def logging_to(path: Path | None) -> Iterator[None]:
    """Appends to a file what the block does, and the error that ends it. None: to no file."""
    if path is None:
        yield
        return
    with writing(path):
        handler = _LogFile(path)
    root, ours = logging.getLogger(), logging.getLogger("miner")
    level = ours.level
    root.addHandler(handler)
    ours.setLevel(logging.INFO)
    try:
        yield
    except BaseException as error:
        with suppress(OSError):  # the error may be that of the log
            ours.error("ended: %s", line_of(error))
        raise
    finally:
        ours.setLevel(level)
        root.removeHandler(handler)
        with suppress(OSError):  # it said so when it wrote
            handler.close()


def open_console() -> Console:
    """Returns the console of standard output; in a pipe it is as wide as the tables need."""
    from rich.console import Console

    # Titles and file names are shown as they are, with their square brackets and colons.
    width = None if sys.stdout.isatty() else 160
    return Console(width=width, highlight=False, markup=False, emoji=False)


def show(shown: Iterable[Shown]) -> None:
    """Prints lines of text, and tables with an empty line after each."""
    console = open_console()
    for item in shown:
        console.print(item, soft_wrap=isinstance(item, str))
        if not isinstance(item, str):
            console.print()


def show_json(record: object) -> None:
    """Prints a record as JSON."""
    from msgspec import to_builtins

    click.echo(json.dumps(to_builtins(record), ensure_ascii=False, indent=2))


def show_result(shown: Iterable[Shown], record: object, as_json: bool) -> None:
    """Prints lines of text and tables, or the record of the same as JSON."""
    if as_json:
        show_json(record)
    else:
        show(shown)


def show_note(kind: str, line: str) -> None:
    """Prints a line to stderr: what is doubtful, left out or set aside."""
    click.echo(f"{click.style(kind, fg='yellow')}: {line}", err=True)


def show_warnings(name: str, warnings: Iterable[str]) -> None:
    """Prints what is doubtful in a book, one line each."""
    for warning in warnings:
        show_note("warning", one_line(f"{name}: {warning}"))


def show_left_out(reasons: Iterable[object]) -> None:
    """Prints a line for each reason why something is left out."""
    for reason in reasons:
        show_note("left out", str(reason))


def show_set_aside(sources: Iterable[SetAside]) -> None:
    """Prints a line for each source that is set aside."""
    for item in sources:
        show_note("set aside", name_options(one_line(f"{item.name}: {item.why}")))
