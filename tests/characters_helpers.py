"""Paragraphs from prose, and the characters in them."""

import re

from miner.characters.characters import find_characters
from miner.characters.names import find_names
from miner.characters.paragraphs import Paragraph

SPEECH = re.compile("“[^”]*”")


def paragraphs_of(*texts: str, chapter: int = 1) -> tuple[Paragraph, ...]:
    """A paragraph for each text; what stands in curly marks is speech."""
    found = []
    for number, text in enumerate(texts):
        utterances = tuple(match.span() for match in SPEECH.finditer(text))
        found.append(Paragraph(number, chapter, text, utterances, tuple(range(len(utterances)))))
    return tuple(found)


def names_in(*texts: str) -> list[str]:
    """The names of a book as it prints them."""
    paragraphs = paragraphs_of(*texts)
    return [
        paragraphs[name.paragraph].text[name.start : name.end] for name in find_names(paragraphs)
    ]


def people_in(*texts: str) -> dict[str, set[str]]:
    """The aliases of each character of a book, by its id."""
    found = find_characters(paragraphs_of(*texts)).characters
    return {character.id: set(character.aliases) for character in found}


def genders_in(*texts: str) -> dict[str, str]:
    """The gender of each character of a book, by its id."""
    return {each.id: each.gender for each in find_characters(paragraphs_of(*texts)).characters}
