"""A recipe: the TOML file that says everything about a corpus."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from msgspec import ValidationError, convert

from miner.books.catalog_query import CatalogQuery
from miner.corpus.export import find_format
from miner.corpus.filter_settings import FilterSettings
from miner.corpus.options import MiningOptions
from miner.corpus.splits import SplitSettings
from miner.errors import InputError
from miner.files import printable, read_text
from miner.speech.typography import typography_from_names
from miner.tagger.load import AUTO, FLOAT32

Settings = TypeVar("Settings")
# As msgspec says it: "Expected `float | null`, got `str` - at `$.min_turns`".
_OTHER_TYPE = re.compile(r"Expected `([^`]*)`, got `[^`]*` - at `\$\.(\w+).*`")
_CODE = re.compile("[a-z]{2,3}")  # of a language
_PLACE = re.compile(r" - at `\$.*`$")
_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "null": "false",
}
_LARGEST = 2**63 - 1  # whole number of TOML
_ALL_TURNS = -1  # of the history, in TOML, which has no value for "none"


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """How the books of a corpus are mined.

    Args:
        tagger: a name or a path, as `models.load.load_tagger` takes it.
        dtype: in which a checkpoint computes, "float32" or "bfloat16".
        quotes: names of the marks that open speech; empty to infer them for each book.
        history_turns: how many turns before its context a pair has; -1 for all of them.

    Raises:
        InputError: if `history_turns` is less than -1, or a mark is unknown.
    """

    tagger: str = AUTO
    dtype: str = FLOAT32
    quotes: tuple[str, ...] = ()
    history_turns: int = 0

    def __post_init__(self) -> None:
        if self.history_turns < _ALL_TURNS:
            raise InputError(f"history_turns: found {self.history_turns}, expected -1 or more")
        try:
            typography_from_names(self.quotes)
        except InputError as error:
            raise InputError(f"quotes: {error}") from error

    def options(self) -> MiningOptions:
        """The options with which each book is mined: nothing is left out yet."""
        history = None if self.history_turns == _ALL_TURNS else self.history_turns
        return MiningOptions(
            self.tagger,
            self.quotes,
            min_turns=1,
            dtype=self.dtype,
            history_turns=history,
            with_facts=True,
        )


@dataclass(frozen=True, slots=True)
class DuplicateSettings:
    """What is taken out because the corpus has it already.

    Args:
        works: whether one of several editions of a work stays.
        dialogues: the Jaccard similarity, 0.5 to 1, from which two dialogues of two
            books are one; None keeps both.

    Raises:
        InputError: if `dialogues` is out of its range.
    """

    works: bool = True
    dialogues: float | None = 0.8

    def __post_init__(self) -> None:
        if self.dialogues is not None and not 0.5 <= self.dialogues <= 1:
            raise InputError(f"dialogues: found {self.dialogues}, expected 0.5 to 1, or false")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a corpus is made of, and how.

    Args:
        name: what the corpus is called.
        sources: words that name books, as `miner mine` takes them. Paths are relative to the
            folder in which the build is started.
        languages: codes of the languages whose books are taken; none for all.
        catalog: a query whose books are taken, too; None for none.
        mining: how the books are mined.
        filters: what is left out.
        duplicates: what is taken out because the corpus has it already.
        splits: how the books are divided.
        split_list: a file with the split of each book, which goes before; None for none.
        formats: the formats of the files, each with its options, or None for a format without.
        plots: whether figures are drawn.

    Raises:
        InputError: if there is no name, neither sources nor a query, or no format; or if a
            language is no code.
    """

    name: str
    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    catalog: CatalogQuery | None = None
    mining: MiningSettings = field(default_factory=MiningSettings)
    filters: FilterSettings = field(default_factory=FilterSettings)
    duplicates: DuplicateSettings = field(default_factory=DuplicateSettings)
    splits: SplitSettings = field(default_factory=SplitSettings)
    split_list: str | None = None
    formats: Mapping[str, Any] = field(default_factory=lambda: {"parquet": None})
    plots: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError(f"name: found {self.name!r}, expected what the corpus is called")
        for language in self.languages:
            if not _CODE.fullmatch(language):
                raise InputError(f"languages: found {language!r}, expected codes such as 'en'")
        if not self.sources and self.catalog is None:
            raise InputError("found no sources and no [catalog], expected one of them")
        if not self.formats:
            raise InputError("[formats]: found no format, expected at least one")

    def record(self) -> dict[str, Any]:
        """Everything that the recipe says, defaults included, for the record of the build."""
        described = asdict(self)
        described["formats"] = {
            name: {} if options is None else asdict(options)
            for name, options in self.formats.items()
        }
        return described


def read_recipe(path: Path) -> Recipe:
    """Returns the recipe in a TOML file."""
    return parse_recipe(read_text(path), printable(path))


def parse_recipe(text: str, where: str) -> Recipe:
    """Returns the recipe in a text."""
    try:
        given = tomllib.loads(text)
        _refuse_large_numbers(given)
    except RecursionError as error:
        raise InputError(
            f"{where}: found brackets in too many brackets, expected a recipe"
        ) from error
    except ValueError as error:  # of Python, too: a number of thousands of digits
        raise InputError(
            f"{where}: {error}, expected TOML as `miner build --example` prints it"
        ) from error
    try:
        given_list = _pop_split_list(given)
        tables = {
            name: _settings(made_of, given.pop(name), f"[{name}] ")
            for name, made_of in _TABLES.items()
            if name in given
        }
        if "formats" in given:
            tables["formats"] = _formats(given.pop("formats"))
        return _settings(Recipe, given, "", tables | given_list)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def example_recipe() -> str:
    """Returns a recipe with every key, its default and a comment."""
    return (files("miner.corpus") / "example.toml").read_text(encoding="utf-8")


def _refuse_large_numbers(given: object) -> None:
    """Refuses a whole number that TOML does not have, and that no record could hold."""
    if isinstance(given, int) and abs(given) > _LARGEST:
        raise InputError(f"found a number of {len(str(abs(given)))} digits")
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, list):
        for part in given:
            _refuse_large_numbers(part)


def _pop_split_list(given: dict[str, Any]) -> dict[str, str]:
    """Takes the file of a fixed list out of the table of the splits."""
    splits = given.get("splits")
    if not isinstance(splits, dict) or "list" not in splits:
        return {}
    path = splits.pop("list")
    if path is False:
        return {}
    if not isinstance(path, str) or not path:
        raise InputError(f"[splits] list: found {path!r}, expected the name of a file")
    return {"split_list": path}


_TABLES: dict[str, type] = {
    "catalog": CatalogQuery,
    "mining": MiningSettings,
    "filters": FilterSettings,
    "duplicates": DuplicateSettings,
    "splits": SplitSettings,
}


_ELSEWHERE = (*_TABLES, "formats", "split_list")  # no keys that `_settings` reads
# What else is expected where a key is unknown, for it is read elsewhere.
_ALSO_EXPECTED = {
    "": tuple(f"[{name}]" for name in (*_TABLES, "formats")),
    "[splits] ": ("list",),
}


def _formats(given: object) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise InputError(f"formats: found {given!r}, expected a table such as parquet = {{}}")
    formats: dict[str, Any] = {}
    for name, options in given.items():
        if not isinstance(options, dict):
            raise InputError(f"[formats] {name}: found {options!r}, expected {name} = {{}}")
        values = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in options.items()
        }
        try:
            formats[name] = find_format(name).read_options(values)
        except InputError as error:
            raise InputError(f"[formats] {error}") from error
    return formats


def _settings(
    made_of: type[Settings],
    given: object,
    place: str,
    tables: Mapping[str, Any] | None = None,
) -> Settings:
    """Returns the settings of a table. `false` switches off what has no truth value itself."""
    if not isinstance(given, dict):
        raise InputError(f"{place}found {given!r}, expected a table")
    known = {item.name: item for item in fields(made_of)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known or key in _ELSEWHERE:
            expected = [name for name in known if name not in _ELSEWHERE]
            expected += _ALSO_EXPECTED.get(place, ())
            raise InputError(f"{place}found {key}, expected one of {', '.join(expected)}")
        is_off = value is False and not isinstance(known[key].default, bool)
        values[key] = None if is_off else value
    for name, item in known.items():
        is_needed = item.default is MISSING and item.default_factory is MISSING
        if is_needed and name not in values:
            raise InputError(f"{place}found no {name}, expected it")
    try:
        # The tables are settings already, which are taken as they are.
        return convert({**values, **(tables or {})}, made_of)
    except ValidationError as error:
        raise InputError(f"{place}{_plain(error, given)}") from error


def _plain(error: ValidationError, given: Mapping[str, Any]) -> str:
    """The error of a value in our words."""
    match = _OTHER_TYPE.fullmatch(str(error))
    if not match:
        return _PLACE.sub("", str(error))
    kinds = [_KINDS.get(kind.strip(), kind.strip()) for kind in match[1].split("|")]
    return f"{match[2]}: found {given.get(match[2])!r}, expected {' or '.join(kinds)}"
