"""Finds every language that has a file in this folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

import miner.languages
from miner.languages.language import MARKS, Conventions, Language
from miner.plugins import find_modules

_CODE = re.compile("[a-z]{2,3}")  # the modules of languages are named by their codes


def _find_languages() -> dict[str, Language]:
    """Returns the languages by code, in alphabetical order."""
    found = {}
    for code, module in find_modules(miner.languages).items():
        if _CODE.fullmatch(code):
            language: Language = import_module(module).LANGUAGE
            if language.code != code:
                raise ValueError(
                    f"miner/languages/{code}.py: found the code {language.code!r}, "
                    f"expected {code!r} as in the file's name"
                )
            found[code] = language
    return found


LANGUAGES: Mapping[str, Language] = MappingProxyType(_find_languages())

# For a book whose language has no file.
ANY_CONVENTIONS = Conventions(
    marks=tuple(MARKS),
    has_dash=True,
    quotes_beside_dash=True,
    function_words="",
)

_CODES = {language.name: code for code, language in LANGUAGES.items()} | {
    "afrikaans": "af",
    "albanian": "sq",
    "ancient greek": "grc",
    "arabic": "ar",
    "armenian": "hy",
    "basque": "eu",
    "breton": "br",
    "bulgarian": "bg",
    "croatian": "hr",
    "czech": "cs",
    "estonian": "et",
    "frisian": "fy",
    "gaelic": "gd",
    "galician": "gl",
    "haitian": "ht",
    "hebrew": "he",
    "hindi": "hi",
    "icelandic": "is",
    "indonesian": "id",
    "irish": "ga",
    "korean": "ko",
    "latin": "la",
    "latvian": "lv",
    "lithuanian": "lt",
    "malay": "ms",
    "maori": "mi",
    "nahuatl": "nah",
    "occitan": "oc",
    "persian": "fa",
    "romanian": "ro",
    "sanskrit": "sa",
    "serbian": "sr",
    "slovak": "sk",
    "slovenian": "sl",
    "tagalog": "tl",
    "turkish": "tr",
    "ukrainian": "uk",
    "vietnamese": "vi",
    "welsh": "cy",
    "yiddish": "yi",
}
_NAMES = {code: name for name, code in _CODES.items()}


def code_from_name(name: str) -> str:
    """Returns the code of a language from its English name, or an unknown name in small letters.

    >>> code_from_name("Hungarian"), code_from_name("Finnish"), code_from_name("Volapük")
    ('hu', 'fi', 'volapük')
    """
    return _CODES.get(name.lower(), name.lower())


def name_from_code(code: str) -> str:
    """Returns the English name of a language, or the code itself if it is not known.

    >>> name_from_code("hu"), name_from_code("volapük")
    ('Hungarian', 'Volapük')
    """
    return _NAMES.get(code, code).title()


def conventions_of(code: str) -> Conventions:
    """Returns how printers of a language mark speech, or `ANY_CONVENTIONS` if it has no file."""
    language = LANGUAGES.get(code)
    return language.conventions if language else ANY_CONVENTIONS


def any_of(part: Callable[[Language], str]) -> str:
    """Returns the patterns of all languages as the alternatives of one group."""
    patterns = [pattern for language in LANGUAGES.values() if (pattern := part(language))]
    return f"(?:{'|'.join(patterns) or '(?!)'})"  # (?!) matches nothing
