"""A recipe: the TOML file that says everything about a corpus, and how it divides books.

A hash of the work decides the split of a book (or of the book, or of the author), so a book never
moves when a corpus grows, and all editions of a work are in one split. The default, 90% for
training and 5% each for validation and test, is that of "The Gutenberg Dialogue Dataset",
section 3.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from msgspec import ValidationError, convert

from miner.books.catalog import CatalogQuery
from miner.corpus.export import find_format
from miner.corpus.filters import FilterSettings
from miner.corpus.mined_book import MiningOptions
from miner.corpus.works import BookRecord, author_key, work_key
from miner.errors import InputError
from miner.extras import require_extra
from miner.files import csv_rows, printable, read_text
from miner.speech.typography import typography_from_names
from miner.tagger.load import AUTO, FLOAT32

SPLITS = ("train", "validation", "test")
_KEYS = ("work", "book", "author")
_UNLISTED = ("error", "hash")
_COLUMNS = ["book", "split"]


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """How books are divided."""

    # what is never divided: a "work", a "book" or an "author". By "book", translations and volumes
    # of one work may be in two splits.
    by: str = "work"
    train: float = 90  # percent of the works, books or authors that are for training
    # percent that are for validation; 0 leaves this split out, as with the others.
    validation: float = 5
    test: float = 5  # percent that are for the test
    # what happens to a book that a fixed list does not name: "error" or "hash".
    unlisted: str = "error"

    def __post_init__(self) -> None:
        for name, expected in (("by", _KEYS), ("unlisted", _UNLISTED)):
            if (found := getattr(self, name)) not in expected:
                raise InputError(f"{name}: found {found!r}, expected one of {', '.join(expected)}")
        for name in SPLITS:
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, int | float):
                raise InputError(f"{name}: found {share!r}, expected a number of percent")
            if not 0 <= share <= 100:
                raise InputError(f"{name}: found {share} percent, expected 0 to 100")
        if abs((total := self.train + self.validation + self.test) - 100) > 1e-6:
            shares = ", ".join(f"{name} {getattr(self, name):g}" for name in SPLITS)
            raise InputError(f"found splits of {total:g} percent ({shares}), expected 100")

    @property
    def names(self) -> tuple[str, ...]:
        """The splits that are not left out."""
        return tuple(name for name in SPLITS if getattr(self, name))


@dataclass(frozen=True, slots=True)
class Division:
    """The splits of the books of a corpus."""

    splits: Mapping[str, str]  # the split of each book by its id, in the order of the books
    unused: tuple[str, ...] = ()  # the books that a fixed list names and the corpus does not have


def divide_books(
    books: Iterable[BookRecord],
    settings: SplitSettings,
    listed: Mapping[str, str] | None = None,
) -> Division:
    """The split of each book."""
    splits: dict[str, str] = {}
    lacking: list[str] = []
    for book in books:
        if listed is not None and book.id in listed:
            splits[book.id] = listed[book.id]
        elif listed is not None and settings.unlisted == "error":
            lacking.append(book.id)
        else:
            splits[book.id] = split_of(book, settings)
    if lacking:
        others = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
        raise InputError(
            f"the list of splits has no book {lacking[0]}{others}, expected every book "
            "(or unlisted = 'hash')"
        )
    return Division(splits, tuple(id for id in listed or () if id not in splits))


def split_of(book: BookRecord, settings: SplitSettings) -> str:
    """The split of a book, which depends on this book and the settings alone."""
    match settings.by:
        case "work":
            key = work_key(book.title, book.author, book.id)
        case "author":
            key = author_key(book.title, book.author, book.id)
        case _:
            key = f"book {book.id}"
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    place = int.from_bytes(digest, "little") / 2**64 * 100
    for name in settings.names:
        place -= getattr(settings, name)
        if place < 0:
            return name
    return settings.names[-1]  # shares whose sum is a hair below 100


def explain_empty_splits(filled: Collection[str], settings: SplitSettings, n_books: int) -> str:
    """One line that names the splits without a book and says what helps; "" if there are none."""
    empty = [name for name in settings.names if name not in filled]
    if not empty:
        return ""
    shares = " and ".join(f"{name} ({getattr(settings, name):g}%)" for name in empty)
    books = f"{n_books:,} book{'s' * (n_books != 1)}"
    finer = 'by = "work", ' if settings.by == "author" else ""
    return (
        f"no book is in {shares}: a hash of the {settings.by} divides {books}, which are too few; "
        f"what helps is more books, more percent, {finer}or a list of books, under [splits]"
    )


def read_split_list(path: Path) -> dict[str, str]:
    """The split of each book in a fixed list: a CSV file with the columns book and split."""
    rows = csv_rows(path, read_text(path))
    where, cells = next(rows, (f"{printable(path)}:1", []))
    header = [name.strip() for name in cells]
    if header != _COLUMNS:
        raise InputError(f"{where}: found {','.join(header)!r}, expected 'book,split'")
    listed: dict[str, str] = {}
    for where, row in rows:
        if not row:
            continue
        if len(row) != len(_COLUMNS):
            raise InputError(f"{where}: found {len(row)} columns, expected book and split")
        book, split = (cell.strip() for cell in row)
        if split not in SPLITS:
            raise InputError(f"{where}: found split {split!r}, expected one of {', '.join(SPLITS)}")
        if not book or book in listed:
            found = f"book {book} twice" if book else "no book"
            raise InputError(f"{where}: found {found}, expected each book once")
        listed[book] = split
    return listed


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
    """How the books of a corpus are mined."""

    tagger: str = AUTO  # a name or a path, as `models.load.load_tagger` takes it
    dtype: str = FLOAT32  # in which a checkpoint computes, "float32" or "bfloat16"
    # names of the marks that open speech; empty to infer them for each book.
    quotes: tuple[str, ...] = ()
    history_turns: int = 0  # how many turns before its context a pair has; -1 for all of them
    front_matter: bool = False  # whether prefaces and all else beside the story are mined

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
            front_matter=self.front_matter,
            with_features=True,
        )


@dataclass(frozen=True, slots=True)
class DuplicateSettings:
    """What is taken out because the corpus has it already."""

    works: bool = True  # whether one of several editions of a work stays
    # the Jaccard similarity, 0.5 to 1, from which two dialogues of two books are one; None keeps
    # both.
    dialogues: float | None = 0.8

    def __post_init__(self) -> None:
        if self.dialogues is not None and not 0.5 <= self.dialogues <= 1:
            raise InputError(f"dialogues: found {self.dialogues}, expected 0.5 to 1, or false")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a corpus is made of, and how."""

    name: str  # what the corpus is called
    # words that name books, as `miner mine` takes them. Paths are relative to the folder in which
    # the build is started.
    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()  # codes of the languages whose books are taken; none for all
    catalog: CatalogQuery | None = None  # a query whose books are taken, too; None for none
    mining: MiningSettings = field(default_factory=MiningSettings)  # how the books are mined
    filters: FilterSettings = field(default_factory=FilterSettings)  # what is left out
    # what is taken out because the corpus has it already.
    duplicates: DuplicateSettings = field(default_factory=DuplicateSettings)
    splits: SplitSettings = field(default_factory=SplitSettings)  # how the books are divided
    # a file with the split of each book, which goes before; None for none.
    split_list: str | None = None
    # the formats of the files, each with its options, or None for a format without.
    formats: Mapping[str, Any] = field(default_factory=lambda: {"parquet": None})
    plots: bool = False  # whether figures are drawn

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
    """Returns the recipe in a text. It can be built, as far as packages are needed."""
    require_extra("build", "duckdb", "datasketch", "pyarrow")
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
