"""The title and the author of a book -> keys that its work and its author have in other books, too.

A key is made from one book alone, so it stays the same when a corpus grows. Two editions of a work,
its volumes, and translations under one title have one key as a rule: the author's surname and the
title without what follows the first stop, and without the words for volumes, editions and kinds of
work in all languages of `miner.languages`. Two works that share a key are in one split, and nothing
else comes of it.
"""

from __future__ import annotations

import re

from miner.corpus.folding import fold, fold_words
from miner.languages.registry import LANGUAGES

_BRACKETS = re.compile(r"\([^()]*\)|\[[^][]*\]")
_STOP = re.compile(r"[:;\n\r]|--|[–—]|\s-\s")
_NAME_END = re.compile(r"[,;\n\r(\[]|--|[–—]|\s(?:and|und|et|&)\s")
_ROLE = re.compile(r"\[[^][]*\]\s*$")  # "[Illustrator]": anybody but an author
_NOBODY = frozenset(("various", "anonymous", "anonymus", "unknown"))


def _any_title(field: str) -> str:
    patterns = (getattr(language.titles, field) for language in LANGUAGES.values())
    return f"(?:{'|'.join(filter(None, patterns)) or '(?!)'})"


_NUMBER = rf"(?:\d+|[ivxlc]+|{_any_title('numbers')})"
_VOLUME = _any_title("volumes")
# "volume 2 of 3", "2. Band", "première partie", "book the second"
_VOLUME_AND_NUMBER = re.compile(
    rf"\b(?:{_VOLUME} (?:the )?{_NUMBER}|{_NUMBER} {_VOLUME})\b(?: of {_NUMBER})?"
)
_ENDING = re.compile(rf" {_any_title('endings')}$")
_ARTICLE = re.compile(rf"^{_any_title('articles')} (?!$)")
_ALTERNATIVE = re.compile(rf",\s*{_any_title('alternatives')}\b|\sor,?\sthe\b")
_AFTER_SURNAME = re.compile(_any_title("after_surname"))


def work_key(title: str, author: str, id: str) -> str:
    """A text that is the same for the editions and the volumes of one work.

    >>> work_key("The Portrait of a Lady — Volume 1 (of 2)", "James, Henry, 1843-1916", "2833")
    'james: portraitofalady'
    >>> work_key("The Portrait of a Lady", "", "8")
    'book 8'
    """
    surname, name = _surname(author), _main_title(title)
    return f"{surname}: {name}" if surname and name else f"book {id}"


def author_key(title: str, author: str, id: str) -> str:
    """A text that is the same for the books of one author: the surname.

    Given names do not count, because they are left out, cut short or translated too often: those of
    one surname are in one split. A book of unknown or various authors has the key of its work.

    >>> author_key("Hard Times", "Dickens, Charles, 1812-1870", "786")
    'dickens'
    >>> author_key("Bleak House", "Charles Dickens", "1023")
    'dickens'
    """
    surname = _surname(author)
    return surname if surname and surname not in _NOBODY else work_key(title, author, id)


def _surname(author: str) -> str:
    """The last word of the first author's surname, or ""."""
    people = [person.strip() for person in re.split("[;\n]", author) if person.strip()]
    authors = [person for person in people if not _ROLE.search(person)] or people
    if not authors:
        return ""
    name = _BRACKETS.sub(" ", authors[0]).strip()
    words = fold_words(_NAME_END.split(name, maxsplit=1)[0].replace("-", " "))
    # "Alexandre Dumas père": unless nothing else is left.
    while len(words) > 1 and _AFTER_SURNAME.fullmatch(words[-1]):
        words.pop()
    return words[-1] if words else ""


def _main_title(title: str) -> str:
    """The title without volumes, editions, a second title and articles, folded."""
    bare = _BRACKETS.sub(" ", fold(title))
    part = next((part for part in _STOP.split(bare) if fold_words(part)), fold(title))
    first = _ALTERNATIVE.split(part, maxsplit=1)[0]
    name = " ".join(fold_words(first) or fold_words(part))
    shorter = ""
    while shorter != name:
        shorter, name = name, _without_volume(_ENDING.sub("", name))
    return _ARTICLE.sub("", name).replace(" ", "")  # "Moby Dick" is "Moby-Dick"


def _without_volume(name: str) -> str:
    """What stands before the number of a volume, or what follows it where nothing does.

    What follows the number is the title of the volume alone, as a rule.
    """
    volume = _VOLUME_AND_NUMBER.search(name)
    if not volume:
        return name
    before = name[: volume.start()].strip()
    is_empty = not before or _ARTICLE.match(f"{before} .") and " " not in before
    return (name[volume.end() :].strip() if is_empty else before) or name
