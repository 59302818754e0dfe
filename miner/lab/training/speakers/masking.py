"""A book -> the same book with other names, to see whether speakers are read or recalled.

Every word that the miner reads as part of a name is replaced by the same invented word throughout.
A given name of the word lists is replaced by another one of the same gender, and its short forms by
short forms of that name. Any other word is enciphered letter by letter, so that what begins alike
still does. Titles, nouns and pronouns stay.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from miner.people.cast import Character
from miner.people.character_files import SpokenBook
from miner.people.names import (
    FEMALE_NAMES,
    MALE_NAMES,
    NICKNAMES,
    NO_NAMES,
    Name,
    find_names,
    join_spans,
)
from miner.speech.spans import BookSpans, Span

_WORD = re.compile(r"[^\W\d_]+")
_VOWELS, _CONSONANTS = "aeiou", "bcdfghklmnprtvw"  # a plural still ends in s
_LONGER = "o"  # makes a word of two that would be the same
_CIPHER = str.maketrans(
    _VOWELS + _CONSONANTS,
    _VOWELS[2:] + _VOWELS[:2] + _CONSONANTS[5:] + _CONSONANTS[:5],
)
_SHORTS = {
    name: sorted(short for short, names in NICKNAMES.items() if name in names)
    for name in sorted(frozenset().union(*NICKNAMES.values()))
}


@dataclass(frozen=True)
class MaskedBook:
    """A book under other names.

    Attributes:
        book_spans: its spans; there are as many, in the same order, as the book has.
        original: the spans of the book itself.
        words: the invented word of each word of a name.
    """

    book_spans: BookSpans
    original: BookSpans
    words: Mapping[str, str]

    def mask(self, characters: Sequence[Character]) -> list[Character]:
        """Returns characters of the book under their other names, with the same ids."""
        return [_renamed(character, self.words) for character in characters]

    def unmask(self, spoken: SpokenBook) -> SpokenBook:
        """Returns what was found in the masked book on the spans and under the names of the book.

        The ids of the characters stay.
        """
        spans = (
            replace(item, span=span)
            for item, span in zip(spoken.spans, self.original.spans, strict=True)
        )
        characters = (_renamed(character, self._back) for character in spoken.characters)
        return SpokenBook(tuple(spans), tuple(characters))

    @cached_property
    def _back(self) -> dict[str, str]:
        return {masked: word for word, masked in self.words.items()}


def mask_names(book_spans: BookSpans) -> MaskedBook:
    """Returns a book under other names."""
    paragraphs = join_spans(book_spans)
    names = find_names(paragraphs)
    found = [
        word
        for name in names
        for word in _WORD.findall(paragraphs[name.paragraph].text[name.start : name.end])
        if word.lower() in _parts(name)
    ]
    words = _invent_words(dict.fromkeys(found))
    of_paragraph: defaultdict[int, list[Name]] = defaultdict(list)
    for name in names:
        of_paragraph[paragraphs[name.paragraph].index].append(name)
    spans = tuple(_masked_spans(book_spans.spans, of_paragraph, words))
    elsewhere = tuple(_masked_spans(book_spans.elsewhere, of_paragraph, words))
    masked = replace(book_spans, spans=spans, elsewhere=elsewhere)
    return MaskedBook(masked, book_spans, words)


def _parts(name: Name) -> set[str]:
    """The words of a name that are masked, in small letters: no titles and no small words."""
    words = (word for part in name.form.words for word in _WORD.findall(part))
    return {word.lower() for word in words if word[0].isupper()} - NO_NAMES


def _masked_spans(
    spans: Iterable[Span], names: Mapping[int, Sequence[Name]], words: Mapping[str, str]
) -> Iterator[Span]:
    for paragraph, group in groupby(spans, key=lambda span: span.paragraph):
        items = list(group)
        first = at = items[0].start
        for span in items:
            text, read = [], span.start
            for name in names.get(paragraph, ()):
                start, end = max(name.start + first, read), min(name.end + first, span.end)
                if start < end:
                    text.append(span.text[read - span.start : start - span.start])
                    own = span.text[start - span.start : end - span.start]
                    text.append(_renamed_text(own, words, _parts(name)))
                    read = end
            text.append(span.text[read - span.start :])
            joined = "".join(text)
            yield replace(span, start=at, end=at + len(joined), text=joined)
            at += len(joined)


def _renamed(character: Character, words: Mapping[str, str]) -> Character:
    name, *aliases = (_renamed_text(text, words) for text in (character.name, *character.aliases))
    return replace(character, name=name, aliases=tuple(aliases))


def _renamed_text(text: str, words: Mapping[str, str], only: Container[str] | None = None) -> str:
    """Returns a text with the words that have another one; `only` has some in small letters."""

    def other(match: re.Match[str]) -> str:
        is_meant = only is None or match[0].lower() in only
        return words.get(match[0], match[0]) if is_meant else match[0]

    return _WORD.sub(other, text)


def _invent_words(words: Iterable[str]) -> dict[str, str]:
    """Returns an invented word for each word; words that differ get words that differ."""
    words = list(words)
    lower = dict.fromkeys(word.lower() for word in words)
    found = _other_given_names(lower)
    taken = set(found.values())
    for word in lower:
        if word not in found:
            masked = word.translate(_CIPHER)
            while masked in taken:
                masked += _LONGER
            found[word] = masked
            taken.add(masked)
    return {word: _written_like(word, found[word.lower()]) for word in words}


def _written_like(word: str, other: str) -> str:
    """Returns another word in capitals if a word is in capitals, else with one capital."""
    return other.upper() if word.isupper() and len(word) > 1 else other.capitalize()


def _other_given_names(words: Collection[str]) -> dict[str, str]:
    """Returns another given name of the same gender for each of the words that is one."""
    found: dict[str, str] = {}
    for names, others in ((FEMALE_NAMES, MALE_NAMES), (MALE_NAMES, FEMALE_NAMES)):
        free = sorted((names - others).difference(words))
        for word in words:
            shorts = [short for short in _SHORTS.get(word, ()) if short in words]
            if word in found or word not in names or word in others or not shorts:
                continue
            for other in free:
                own = [short for short in _SHORTS.get(other, ()) if short not in words]
                if len(own) >= len(shorts):
                    found |= {word: other, **dict(zip(shorts, own, strict=False))}
                    free = [name for name in free if name not in (other, *_SHORTS[other])]
                    break
        alone = (name for name in free if name not in NICKNAMES and name not in _SHORTS)
        for word in words:
            if word in names and word not in others and word not in found:
                if other := next(alone, None):
                    found[word] = other
    return found
