"""Paragraphs from prose, and the characters in them."""

import re
from dataclasses import replace

from miner.people.characters import find_characters
from miner.people.mentions import Mention, people_from_paragraphs
from miner.people.names import Paragraph, find_names

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


class Scene:
    """The first chapter of a book, with what it mentions in words."""

    def __init__(self, *texts: str, chapters: tuple[int, ...] = ()) -> None:
        paragraphs = paragraphs_of(*texts)
        if chapters:
            pairs = zip(paragraphs, chapters, strict=True)
            paragraphs = tuple(replace(paragraph, chapter=n) for paragraph, n in pairs)
        self.book = people_from_paragraphs(paragraphs)
        self.chapter = next(iter(self.book.chapters()))

    def person(self, number: int | None) -> str:
        """A character's name, a noun, "narrator", or "" for nobody."""
        if number is None:
            return ""
        person = self.chapter.people[number]
        if person.character is not None:
            return self.book.cast.characters[person.character].name
        return person.noun or str(person.kind or "")

    def shown(self, mention: Mention | None) -> str | None:
        """The person whom a mention means, or the gender of a pronoun."""
        if mention is None:
            return None
        return self.person(mention.person) or mention.noun or mention.gender

    def mentions(self, paragraph: int = -1) -> list[tuple[str, str, str | None]]:
        """The text, the kind and the person of each mention in a paragraph."""
        text = self.chapter.paragraphs[paragraph].text
        return [
            (text[mention.start : mention.end], mention.kind.value, self.shown(mention))
            for mention in self.chapter.mentions[paragraph]
        ]
