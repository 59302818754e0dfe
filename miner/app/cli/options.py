"""The options that several commands share."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from miner.files import whole_number


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


class SplitName(click.ParamType):
    """A split of the annotations, several joined by +, or all."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names of the splits, also after a +."""
        from miner.annotation.annotations import SPLITS

        before, plus, begun = incomplete.rpartition("+")
        names = SPLITS if plus else (*SPLITS, "all")
        return [CompletionItem(before + plus + name) for name in names if name.startswith(begun)]


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


# What the value of a tagger option may be, for its help.
TAGGERS = (
    "auto (the package's tagger for a book's language, gap where there is none), {registered}, or "
    "the path of a tags file or of a checkpoint. gap may take its number of characters, as in "
    "gap:300."
)

source_argument = click.argument("source", metavar="SOURCE", type=BookWord())

tagger_option = click.option(
    "--tagger",
    cls=TaggerOption,
    default="auto",
    show_default=True,
    help=f"The tagger of the utterances: {TAGGERS}",
)

dtype_option = click.option(
    "--dtype",
    type=click.Choice(["float32", "bfloat16"]),
    default="float32",
    show_default=True,
    help="Type of the numbers with which a checkpoint computes; weights stored in 8 bits are also "
    "multiplied in 8 bits. bfloat16 needs PyTorch and may change a few tags. Heuristics ignore it.",
)

books_option = click.option(
    "--books",
    type=PATH,
    envvar="MINER_BOOKS",
    show_envvar=True,
    help="Folder in which a Gutenberg number is looked up first: one of files (1342-h.htm, "
    "pg1342-images.html) or a mirror of Gutenberg (1/3/4/1342/1342-h/1342-h.htm, "
    "cache/epub/1342/pg1342-images.html).",
)

mirror_option = click.option(
    "--mirror",
    envvar="MINER_MIRROR",
    show_envvar=True,
    help="Where to download a number that is in no folder and not in the cache: a URL with {id} "
    "(or {path}/{id} for classic mirrors). Without it, from gutenberg.org, no more than 100 books "
    "in 24 hours.",
)


def _split_names(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


characters_option = click.option(
    "--characters",
    type=PATH,
    metavar="FILE",
    help="The characters of the books: a characters.jsonl, perhaps corrected by hand.",
)

quotes_option = click.option(
    "--quotes",
    callback=_split_names,
    help="Marks that open speech, instead of those inferred from the book: names as `miner "
    "profile` prints them, separated by commas.",
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


def split_option(default: str = "all") -> Callable[[Any], Any]:
    """The option that chooses a split of the annotations."""
    return click.option(
        "--split",
        type=SplitName(),
        default=default,
        show_default=True,
        help="Split of the annotations: train, dev, test, sample, several joined by +, or all.",
    )


class LanguageCodes(click.ParamType):
    """The code of a language, several joined by commas, or all."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The codes of the languages with conventions of speech, also after a comma."""
        from miner.annotation.annotations import EVERY
        from miner.languages.registry import LANGUAGES

        before, comma, begun = incomplete.rpartition(",")
        names = LANGUAGES if comma else (*LANGUAGES, EVERY)
        return [CompletionItem(before + comma + name) for name in names if name.startswith(begun)]


def language_option(default: str = "en") -> Callable[[Any], Any]:
    """The option that chooses the languages of the annotated books."""
    return click.option(
        "--language",
        type=LanguageCodes(),
        default=default,
        show_default=True,
        help="Language of the annotated books: a code such as de, several joined by commas, or "
        "all.",
    )


resamples_option = click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Draws of chapters for the 95% intervals.",
)

seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed of these draws."
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


def out_option(help: str, required: bool = False) -> Callable[[Any], Any]:
    """The option that names the output, with its own help."""
    return click.option("-o", "--out", type=OUTPUT, required=required, help=help)
