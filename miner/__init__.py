"""Mines conversations, turns and utterance pairs from Project Gutenberg novels.

Example:
    >>> import miner
    >>> book = miner.mine("sample", tagger="gap")
    >>> book.pairs[0].response.text
    'I see it’s brown.'

The names below are imported when they are first used, so `import miner` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from miner.version import __version__

if TYPE_CHECKING:
    from miner.annotation.annotations import read_annotations
    from miner.app.viewer.page import view_html
    from miner.books.book import Block, Book
    from miner.books.catalog import CatalogQuery
    from miner.books.catalog_search import CatalogResult, search_catalog
    from miner.corpus.build import build_corpus
    from miner.corpus.mined_book import MinedBook
    from miner.corpus.pipeline import mine
    from miner.corpus.reading import read_book, read_spans
    from miner.corpus.run import mine_corpus
    from miner.errors import InputError
    from miner.lab.measure.compare import compare
    from miner.lab.measure.scores import Scores, score
    from miner.speech.dialogues import Dialogue, Pair, Turn, turn_pairs
    from miner.speech.spans import Span
    from miner.speech.tags import Tag, Tagger
    from miner.tagger.load import load_tagger

__all__ = [
    "Block",
    "Book",
    "CatalogQuery",
    "CatalogResult",
    "Dialogue",
    "InputError",
    "MinedBook",
    "Pair",
    "Scores",
    "Span",
    "Tag",
    "Tagger",
    "Turn",
    "__version__",
    "build_corpus",
    "compare",
    "load_tagger",
    "mine",
    "mine_corpus",
    "read_annotations",
    "read_book",
    "read_spans",
    "score",
    "search_catalog",
    "turn_pairs",
    "view_html",
]

_MODULES = {
    "miner.annotation.annotations": ["read_annotations"],
    "miner.app.viewer.page": ["view_html"],
    "miner.books.book": ["Block", "Book"],
    "miner.books.catalog": ["CatalogQuery"],
    "miner.books.catalog_search": ["CatalogResult", "search_catalog"],
    "miner.corpus.run": ["mine_corpus"],
    "miner.corpus.build": ["build_corpus"],
    "miner.corpus.mined_book": ["MinedBook"],
    "miner.corpus.pipeline": ["mine"],
    "miner.corpus.reading": ["read_book", "read_spans"],
    "miner.speech.dialogues": ["Dialogue", "Pair", "Turn", "turn_pairs"],
    "miner.speech.spans": ["Span"],
    "miner.speech.tags": ["Tag", "Tagger"],
    "miner.errors": ["InputError"],
    "miner.lab.measure.compare": ["compare"],
    "miner.lab.measure.scores": ["Scores", "score"],
    "miner.tagger.load": ["load_tagger"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Imports a name of the API when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'miner' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The names of the API, imported or not."""
    return sorted({*globals(), *__all__})
