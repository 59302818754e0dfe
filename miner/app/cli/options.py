"""The options that several commands share, and how a command gets several by one decorator."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from miner.files import whole_number

Decorator = Callable[[Any], Any]


def together(*options: Decorator) -> Decorator:
    """Returns a decorator that gives a command several options, in this order."""

    def decorate(command: Any) -> Any:  # noqa: ANN401 - as click decorates
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def as_one(name: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Returns a decorator that gives a command several options, of whose values it gets one.

    It is what `make` makes of them; the parameters of `make` have the names of the options.
    """
    names = list(inspect.signature(make).parameters)

    def decorate(command: Any) -> Any:  # noqa: ANN401 - as click decorates
        @wraps(command)
        def with_one(**values: Any) -> Any:  # noqa: ANN401
            own = {name: values.pop(name) for name in names}
            return command(**values, **{name: make(**own)})

        return together(*options)(with_one)

    return decorate


class OutputPath(click.Path):
    """A file or folder that a command writes."""


PATH = click.Path(path_type=Path)
OUTPUT = OutputPath(path_type=Path)
STDOUT = Path("-")  # as the value of an option


class BookWord(click.ParamType):
    """A word that names a book or several."""

    name = "source"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The word `sample`, and files."""
        return _complete(["sample"], incomplete)


class TurnCount(click.ParamType):
    """A number of turns from 0, or `all`, which is None."""

    name = "number"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """The number, or None for `all`."""
        if value == "all":
            return None
        if (number := whole_number(str(value))) is None:
            self.fail(f"found {value!r:.60}, expected a number from 0, or all", param, ctx)
        return number


def _complete(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The names that begin so, and an item for which the shell completes files."""
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="file")]


class TaggerOption(click.Option):
    """An option that names a tagger; its help lists the registered taggers for `{registered}`."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of all taggers, and files."""
        from miner.tagger.load import AUTO, find_registered_taggers

        return _complete([AUTO, *find_registered_taggers()], incomplete)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The help, with the taggers that are registered now."""
        from miner.tagger.load import find_registered_taggers

        shown = copy.copy(self)
        shown.help = (self.help or "").format(registered=", ".join(find_registered_taggers()))
        return super(TaggerOption, shown).get_help_record(ctx)


_TAGGERS = (
    "auto (the package's tagger for a book's language, gap where there is none), {registered}, or "
    "the path of a tags file or of a checkpoint. gap may take its number of characters, as in "
    "gap:300."
)

dtype_option = click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Type of the numbers with which a checkpoint computes; weights stored in 8 bits are also "
    "multiplied in 8 bits. bfloat16 needs PyTorch and may change a few tags. Heuristics ignore it.",
)


def tagger_options(
    help: str = "The tagger of the utterances: {taggers}",
    default: Any = "auto",  # noqa: ANN401 - a name, or names if it is `multiple`
    multiple: bool = False,
) -> Decorator:
    """The option --tagger, whose help has what it may be for `{taggers}`, and --dtype."""
    tagger = click.option(
        "--tagger",
        "taggers" if multiple else "tagger",
        cls=TaggerOption,
        default=default,
        multiple=multiple,
        show_default=True,
        help=help.replace("{taggers}", _TAGGERS),
    )
    return together(tagger, dtype_option)


source_argument = click.argument("source", metavar="SOURCE", type=BookWord())

books_options = together(
    click.option(
        "--books",
        type=PATH,
        envvar="MINER_BOOKS",
        show_envvar=True,
        help="Folder in which a Gutenberg number is looked up first: one of files (1342-h.htm, "
        "pg1342-images.html) or a mirror of Gutenberg (1/3/4/1342/1342-h/1342-h.htm, "
        "cache/epub/1342/pg1342-images.html).",
    ),
    click.option(
        "--mirror",
        envvar="MINER_MIRROR",
        show_envvar=True,
        help="Where to download a number that is in no folder and not in the cache: a URL with "
        "{id} (or {path}/{id} for classic mirrors). Without it, from gutenberg.org, no more than "
        "100 books in 24 hours.",
    ),
)

characters_option = click.option(
    "--characters",
    type=PATH,
    metavar="FILE",
    help="The characters of the books: a characters.jsonl, perhaps corrected by hand.",
)


def _split_names(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


quotes_option = click.option(
    "--quotes",
    callback=_split_names,
    help="Marks that open speech, instead of those inferred from the book: names as `miner "
    "profile` prints them, separated by commas.",
)

front_matter_option = click.option(
    "--front-matter",
    is_flag=True,
    help="Read the whole book, not only its story: title page, prefaces, notes and "
    "advertisements, too.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")

quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")

workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of processes; the output does not depend on it.",
)

force_option = click.option("--force", is_flag=True, help="Replace files that exist.")


def out_option(help: str, required: bool = False) -> Decorator:
    """The option that names the output, with its own help."""
    return click.option("-o", "--out", type=OUTPUT, required=required, help=help)
