"""Rows of books -> the files of a folder. Each module is one format.

The name of a format is the name of its module, and the first line of the module's docstring
describes it. The module has `FILES`, a function `write_books`, and, where they are needed,
`Options`, `IS_DIVISIBLE`, `schemas` and `PACKAGES`, those of the extra `build` that it imports; see
`Format`. A new module here is a new format of `miner
mine` and `miner build`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any

from miner.corpus.schema import KINDS, Columns
from miner.errors import InputError
from miner.extras import require_extra
from miner.plugins import describe_modules, import_named

Feature = dict[str, Any]


def features_of(columns: Columns) -> list[Feature]:
    """Returns the features in the form of `dataset_info` in a card, as JSON or YAML writes it.

    Without them, `datasets` takes the types of a JSON Lines or CSV file from its first rows. It
    then refuses a later file in which a column holds text that was empty there.

    >>> features_of({"book": "string", "aliases": ["string"]})
    [{'name': 'book', 'dtype': 'string'}, {'name': 'aliases', 'sequence': 'string'}]
    """
    return [{"name": name, **_feature(kind)} for name, kind in columns.items()]


def _feature(kind: Any) -> Feature:  # noqa: ANN401 - as in `Columns`
    if isinstance(kind, dict):
        return {"struct": features_of(kind)}
    if not isinstance(kind, list):
        return {"dtype": kind}
    (item,) = kind
    return {"list": features_of(item)} if isinstance(item, dict) else {"sequence": item}


BookRows = Mapping[str, bytes]  # all rows of a book, by kind (`schema.KINDS`), as JSON Lines
Options = Any  # an object of the class `Options` of a format; None if it has none
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Attributes:
        name: of the format.
        files: the names of the files, each with what is in it: `FILES` of the module. The format
            writes all of them, even if there are no books. A file that ends in .json holds one
            object, every other file holds rows.
        options: the class of its options, `Options` of the module: a frozen dataclass whose fields
            have defaults, and which refuses bad values with an InputError that names the
            field. None if the format has no options.
        is_divisible: whether the books of a split may be written by several calls, each to files of
            its own. If not, because a row depends on other books or the program that opens the
            files wants all in one, one call has all books: `IS_DIVISIBLE` of the module, True where
            it has none.
        module: what writes the files.
    """

    name: str
    files: Mapping[str, str]
    options: type[Options] | None
    is_divisible: bool
    module: ModuleType

    def read_options(self, values: Mapping[str, Any]) -> Options:
        """Returns the options of this format with the given values, else with their defaults.

        Raises:
            InputError: if the format has no option of a name, or refuses a value; names both.
        """
        known = [field.name for field in fields(self.options)] if self.options else []
        for name in values:
            if name not in known:
                expected = f"one of {', '.join(known)}" if known else "none"
                raise InputError(f"{self.name}: found option {name!r}, expected {expected}")
        if not self.options:
            return None
        try:
            return self.options(**values)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from error

    def write_books(
        self,
        folder: Path,
        books: Iterable[BookRows],
        split: str = "train",
        options: Options = None,
    ) -> dict[str, int]:
        """Writes all files of the format and returns how much it left out, by reason.

        Args:
            folder: an empty folder.
            books: the rows of each book. They are read one book at a time, and only once, so that
                writing takes the memory of one book.
            split: that the books are of, one of `SPLITS`.
            options: an object of the class `options`; None for the defaults.
        """
        if split not in SPLITS:
            raise InputError(f"found split {split!r}, expected one of {', '.join(SPLITS)}")
        left_out = self.module.write_books(folder, books, split, *self._given(options))
        return {reason: n for reason, n in (left_out or {}).items() if n}

    def files_with(self, options: Options = None) -> Mapping[str, str]:
        """Returns the files that the format writes with some options, each with what is in it.

        Options with a field `tables` choose among them by their names without the ending.
        """
        chosen = getattr(options, "tables", None)
        if chosen is None:
            return self.files
        return {
            name: about for name, about in self.files.items() if name.partition(".")[0] in chosen
        }

    def features(self, options: Options = None) -> dict[str, list[Feature]]:
        """Returns the features of the files that are tables, by their names, for a dataset card.

        They are those of `schemas`, a function of the module. None are known if it has none.

        Args:
            options: as for `write_books`.
        """
        if not hasattr(self.module, "schemas"):
            return {}
        schemas = self.module.schemas(*self._given(options))
        return {name: features_of(columns) for name, columns in schemas.items()}

    def _given(self, options: Options) -> tuple[Options, ...]:
        return (options or self.options(),) if self.options else ()


def describe_formats() -> dict[str, str]:
    """Returns the names of all formats, in alphabetical order, each with its description."""
    return describe_modules(sys.modules[__name__])


def find_format(name: str) -> Format:
    """Returns a format.

    Raises:
        InputError: if there is no format with that name, or a package that it needs is missing.
    """
    module = import_named(sys.modules[__name__], name)
    require_extra("build", *getattr(module, "PACKAGES", ()))
    return Format(
        name,
        module.FILES,
        getattr(module, "Options", None),
        getattr(module, "IS_DIVISIBLE", True),
        module,
    )


def refuse_other_than_count(name: str, value: object, least: int, most: float = math.inf) -> None:
    """Refuses a value of an option that is not a whole number, or is too small or too large.

    Raises:
        InputError: names the option, the value and what was expected.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        up_to = "" if most == math.inf else f" to {most:,}"
        raise InputError(f"{name}: found {value!r}, expected a whole number from {least}{up_to}")


def refuse_other_than_flag(name: str, value: object) -> None:
    """Refuses a value of an option that is neither true nor false.

    Raises:
        InputError: names the option, the value and what was expected.
    """
    if not isinstance(value, bool):
        raise InputError(f"{name}: found {value!r}, expected true or false")


def refuse_other_than_tables(tables: object, known: Iterable[str]) -> None:
    """Refuses a choice of tables with an unknown one, or without any.

    Raises:
        InputError: names what was found and the known tables.
    """
    names = tuple(known)
    if not isinstance(tables, tuple) or not tables or not set(tables) <= set(names):
        raise InputError(f"found tables {tables!r}, expected some of {', '.join(names)}")


@dataclass(frozen=True, slots=True)
class KindOptions:
    """Which kinds of rows are written, for a format with a table for each kind.

    Args:
        tables: some of "spans", "dialogues", "pairs" and "characters".

    Raises:
        InputError: if there is no such table.
    """

    tables: tuple[str, ...] = tuple(KINDS)

    def __post_init__(self) -> None:
        refuse_other_than_tables(self.tables, KINDS)
