"""The options that commands of the laboratory share: annotations, sources of pairs, a config."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import Field, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import click
from click.shell_completion import CompletionItem

from miner.app.cli.options import OUTPUT, PATH, Decorator, as_one, books_options, together
from miner.app.cli.terminal import show_left_out
from miner.lab.learning.fields import Option

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from miner.annotation.annotations import AnnotatedBook
    from miner.lab.lessons.examples import Part
    from miner.lab.lessons.sources import Role


class Names(click.ParamType):
    """A name, several joined by a separator, or all; the shell completes each of them."""

    name = "text"

    def __init__(self, find: Callable[[], Iterable[str]], separator: str) -> None:
        self._find, self._separator = find, separator

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names, also after a separator."""
        before, mark, begun = incomplete.rpartition(self._separator)
        names = self._find() if mark else (*self._find(), "all")
        return [CompletionItem(before + mark + name) for name in names if name.startswith(begun)]


def _splits() -> Iterable[str]:
    from miner.annotation.annotations import SPLITS

    return SPLITS


def _languages() -> Iterable[str]:
    from miner.languages.registry import LANGUAGES

    return LANGUAGES


SPLIT = Names(_splits, "+")


def language_option(default: str = "en") -> Decorator:
    """The option that chooses the languages of the annotated books."""
    return click.option(
        "--language",
        type=Names(_languages, ","),
        default=default,
        show_default=True,
        help="Language of the annotated books: a code such as de, several joined by commas, or "
        "all.",
    )


def _default_annotations(ctx: click.Context, option: click.Parameter, value: Path | None) -> Path:
    from miner.annotation.annotations import annotations_folder

    return value or annotations_folder()


gold_option = click.option(
    "--gold",
    type=PATH,
    callback=_default_annotations,
    envvar="MINER_ANNOTATIONS",
    show_envvar=True,
    help="Folder of annotations.  [default: annotations, here or in the source of the package]",
)


@dataclass(frozen=True, slots=True)
class Gold:
    """The annotated books that --gold, --split and --language choose."""

    gold: Path
    split: str
    language: str

    @property
    def name(self) -> str:
        """Of the split, for tables; it names the language, too, if that is not English."""
        from miner.annotation.annotations import name_of_split

        return name_of_split(self.split, self.language)

    def read(self) -> tuple[AnnotatedBook, ...]:
        """The books."""
        from miner.annotation.annotations import read_split

        return tuple(read_split(self.gold, self.split, language=self.language))


def gold_options(split: str = "all", language: str = "en") -> Decorator:
    """The options that choose annotated books; the command gets a `Gold` as `gold`."""
    split_option = click.option(
        "--split",
        type=SPLIT,
        default=split,
        show_default=True,
        help="Split of the annotations: train, dev, test, sample, several joined by +, or all.",
    )
    return as_one("gold", Gold, gold_option, split_option, language_option(language))


resamples_options = together(
    click.option(
        "--resamples",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="Draws of chapters for the 95% intervals.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="Random seed of these draws."
    ),
)


def book_finder(books: Path | None, mirror: str | None) -> Callable[[str], Path]:
    """Returns a function that finds the file of a number, and downloads it if necessary."""
    from miner.books.download import find_book, urls_from_mirror
    from miner.books.sources import find_sources

    find_sources((), books)
    if mirror:
        urls_from_mirror(mirror, "1")
    return lambda id: find_book(id, books, mirror)[1]


def book_reader(books: Path | None, mirror: str | None) -> Callable[[str], bytes]:
    """Returns a function that reads a book by its number, and downloads it if necessary."""
    from miner.books.book_file import read_book_file

    find = book_finder(books, mirror)
    return lambda id: read_book_file(find(id))


# The command gets what reads a book by its number, as `read`.
reader_options = as_one("read", book_reader, books_options)

SOURCE = click.Path(readable=False)  # a folder or a file of pairs, perhaps with a colon and a split
source_argument = click.argument("source", metavar="SOURCE", type=SOURCE)
source_split_option = click.option(
    "--split",
    metavar="NAME",
    help="Split of SOURCE, several joined by +, or all.  [default: train to train, test to score]",
)


def open_source(
    source: str, split: str | None, role: Role, language: str, read: Callable[[str], bytes]
) -> Part:
    """Returns the examples of a source, and prints to stderr what is left out of it."""
    from miner.lab.lessons.sources import read_source

    found = read_source(source, split, role, language=language, read=read)
    if found.coverage:
        show_left_out(found.coverage.left_out)
    show_left_out(f"{found.source}: {n:,} {reason}" for reason, n in found.left_out.items())
    return found


def config_options(config: type[DataclassInstance]) -> Decorator:
    """Returns a decorator that gives a command an option for each field of a config class.

    The name, type and default of a field become those of the option, and its `Option` the help.
    The command gets the values under the names of the fields.
    """
    hints = get_type_hints(config, include_extras=True)
    return together(*(_option(item, hints[item.name]) for item in fields(config)))


def _option(item: Field[Any], hint: Any) -> Decorator:  # noqa: ANN401 - a type hint
    kind, option = get_args(hint)
    flag = f"--{item.name.replace('_', '-')}"
    shown = {"help": option.help, "envvar": option.envvar, "show_envvar": bool(option.envvar)}
    if kind is bool:
        flags = f"{flag}/--no-{flag[2:]}" if item.default else flag
        return click.option(flags, item.name, is_flag=True, default=item.default, **shown)
    multiple = get_origin(kind) is tuple
    default = None if multiple else item.default
    flags = (option.short, flag) if option.short else (flag,)
    shown |= {"type": _type(kind, option), "default": default, "multiple": multiple}
    return click.option(*flags, item.name, **shown)


def _type(kind: Any, option: Option) -> click.ParamType | type:  # noqa: ANN401 - a type hint
    """Returns what the command line accepts for a field of a type."""
    if isinstance(kind, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is tuple:
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        return OUTPUT if option.is_output else PATH
    if option.minimum is not None or option.maximum is not None:
        range_type = click.IntRange if kind is int else click.FloatRange
        return range_type(min=option.minimum, max=option.maximum)
    return kind
