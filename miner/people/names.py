"""The words for people, the paragraphs of a book, and the names in them.

The words are those of all languages together, since a file may declare the wrong language. A name
is a word with a capital that is a title, a name or both: the book writes it with a capital inside
sentences, and seldom without. Nothing here knows a person from a town. The work is linear in the
length of the text.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, pairwise
from typing import NamedTuple

from miner.books.book import BlockKind
from miner.languages.registry import LANGUAGES, any_of
from miner.speech.scripts import find_heads
from miner.speech.spans import BookSpans


def _merged(tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {word: value for table in tables for word, value in table.items()}


_PEOPLE = tuple(language.people for language in LANGUAGES.values())
# People are named only in languages whose verbs of saying are known.
_ATTRIBUTION = tuple(
    language.attribution for language in LANGUAGES.values() if language.attribution.say
)

TITLES = _merged(words.titles for words in _PEOPLE)
TITLE_SPELLINGS = _merged(words.title_spellings for words in _PEOPLE)
QUALITIES = frozenset().union(*(words.qualities for words in _PEOPLE))
GENERATIONS = frozenset().union(*(words.generations for words in _PEOPLE))
ADDRESS = frozenset().union(*(words.address for words in _PEOPLE))
NOBLE = frozenset().union(*(words.noble for words in _PEOPLE))
KIN = frozenset().union(*(words.kin_nouns for words in _PEOPLE)) & TITLES.keys()
WIVES = frozenset().union(*(words.wives for words in _PEOPLE))
DAUGHTERS = frozenset().union(*(words.daughters for words in _PEOPLE))
SURNAME_TITLES = frozenset().union(*(words.surname_titles for words in _PEOPLE))
FEMALE_NAMES = frozenset().union(*(words.female_names for words in _PEOPLE))
MALE_NAMES = frozenset().union(*(words.male_names for words in _PEOPLE))
NICKNAMES = {short: names for words in _PEOPLE for short, names in words.nicknames.items()}
SURNAME_ENDINGS = _merged(words.surname_endings for words in _PEOPLE)
NO_NAMES = frozenset().union(*(words.no_names for words in _PEOPLE))
NEVER_NAMES = frozenset().union(*(words.never_names for words in _PEOPLE))
PLACE_NOUNS = frozenset().union(*(words.place_nouns for words in _PEOPLE))
SAINTS = frozenset().union(*(words.saints for words in _PEOPLE))
TITLES_OF_NOUNS = {
    noun: titles for words in _PEOPLE for noun, titles in words.titles_of_nouns.items()
}

ARTICLES = f"(?:{'|'.join(words.determiners for words in _ATTRIBUTION)})"
PARTICLES = any_of(lambda language: language.people.particles)
OF_PLACE = any_of(lambda language: language.people.of_place)
ABBREVIATIONS = any_of(lambda language: language.people.abbreviations)
CLITICS = any_of(lambda language: language.people.clitics)
ACTS = any_of(lambda language: language.people.acts)
BEFORE_PLACE = any_of(lambda language: language.people.before_place)
BEFORE_VOCATIVE = any_of(lambda language: language.people.before_vocative)

SAY = frozenset().union(*(words.say for words in _ATTRIBUTION))
_SAYS = re.compile(any_of(lambda language: language.people.says))
GENDERED = _merged((*(w.personal for w in _ATTRIBUTION), *(w.reflexive for w in _ATTRIBUTION)))


def is_say(word: str) -> bool:
    """Whether a word in small letters is a verb of saying."""
    return word in SAY or bool(_SAYS.fullmatch(word))


def gender_of_titles(titles: Iterable[str]) -> str:
    """Returns the gender that titles tell, or ""."""
    titles = list(titles)
    if any(title in WIVES for title in titles):
        return "f"  # "Mrs. Captain Otway"
    genders = {TITLES.get(title, "") for title in titles} - {""}
    return genders.pop() if len(genders) == 1 else ""


NOUNS = _merged(words.nouns for words in _PEOPLE)
KINSHIP = _merged(words.kinship for words in _PEOPLE)
KIN_NOUNS = frozenset().union(*(words.kin_nouns for words in _PEOPLE))
GENERAL_NOUNS = frozenset().union(*(words.general_nouns for words in _PEOPLE))
NUMBERED = frozenset().union(*(words.numbered for words in _PEOPLE))
GESTURES = frozenset().union(*(words.gestures for words in _PEOPLE))
DENIALS = frozenset().union(*(words.denials for words in _PEOPLE))
JOINING = frozenset().union(*(words.joining for words in _PEOPLE))
SUBORDINATE = frozenset().union(*(words.subordinate for words in _PEOPLE))
RELATIVE = frozenset().union(*(words.relative for words in _PEOPLE))
OPENERS = frozenset().union(*(words.openers for words in _PEOPLE))
REPORTS = frozenset().union(*(words.reports for words in _PEOPLE))
CALLS_MAN = any_of(lambda language: language.people.calls_man)
CALLS_WOMAN = any_of(lambda language: language.people.calls_woman)
PARTICLE_VERBS = frozenset().union(*(words.particle_verbs for words in _PEOPLE))
BEFORE_OBJECT = any_of(lambda language: language.people.before_object)
TOWARDS = any_of(lambda language: language.people.towards)
TELLS = any_of(lambda language: language.people.tells)
LETTER_CLOSING = any_of(lambda language: language.page.letter_closing)
NAMES_ITSELF = any_of(lambda language: language.people.names_itself)
DETERMINERS = any_of(lambda language: language.people.determiners)
INTRODUCING = frozenset().union(*(words.introducing for words in _PEOPLE))
OWNING = frozenset().union(*(words.owning for words in _PEOPLE))
OTHERS = frozenset().union(*(words.others for words in _PEOPLE))
SUBJECTS = _merged(words.subjects for words in _ATTRIBUTION)
PERSONAL = _merged(words.personal for words in _ATTRIBUTION)
NARRATOR = frozenset().union(*(words.narrator for words in _ATTRIBUTION))
GOES_ON = frozenset().union(*(words.continue_verbs for words in _ATTRIBUTION))
ANSWERS = frozenset().union(*(words.answer_verbs for words in _ATTRIBUTION))
SAY_WITH_PARTICLE = _merged(words.say_with_particle for words in _ATTRIBUTION)
PHRASE_ENDS = frozenset().union(
    *(words.no_nouns for words in _ATTRIBUTION), *(words.phrase_ends for words in _PEOPLE)
)
PHRASE_ENDINGS = (
    *(ending for words in _ATTRIBUTION for ending in words.adverb_endings),
    *(ending for words in _PEOPLE for ending in words.phrase_endings),
)
_ABBREVIATED = [re.escape(short) for words in _ATTRIBUTION for short in words.abbreviations]
LEAD_IN_ABBREVIATIONS = rf"\b(?:{'|'.join(_ABBREVIATED) or '(?!)'})"
PARTS = frozenset().union(*(words.parts for words in _PEOPLE))
MEMBERS = any_of(lambda language: language.people.members)
MEMBERS_OF = any_of(lambda language: language.people.members_of)
PICKED = frozenset().union(*(words.picked for words in _PEOPLE))
INDEFINITE = frozenset().union(*(words.indefinite for words in _PEOPLE))
SEVERAL = any_of(lambda language: language.people.several)
GROUPS = any_of(lambda language: language.people.groups)
PLURALS = _merged(words.plurals for words in _PEOPLE)
NAMING = frozenset().union(*(words.naming for words in _PEOPLE))
BEING = any_of(lambda language: language.people.being)
PLACE_OF_NOUN = any_of(lambda language: language.people.place_of_noun)
OWNING_ENDING = (
    "|".join(re.escape(ending) for words in _ATTRIBUTION for ending in words.possessive_endings)
    or "(?!)"
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of the story with its speech."""

    index: int  # the index of the block in the book
    chapter: int  # the number of the chapter
    text: str  # the text as printed, all its spans joined
    utterances: tuple[tuple[int, int], ...]  # (start, end) of each utterance in the text, in order
    # the position of each utterance in the spans of the book; none of them in a chapter that
    # is not to be tagged
    spans: tuple[int, ...]
    is_heading: bool = False  # whether it is a heading
    head: str = ""  # the name at its start that heads a speech, in a scene set as a play

    @property
    def narration(self) -> str:
        """The text with a space for each character of its speech, so that places stay the same."""
        if not self.utterances:
            return self.text
        parts, at = [], 0
        for start, end in self.utterances:
            parts += [self.text[at:start], " " * (end - start)]
            at = end
        return "".join([*parts, self.text[at:]])


def join_spans(book_spans: BookSpans) -> tuple[Paragraph, ...]:
    """Returns the paragraphs of a book in reading order.

    Those of other chapters (`BookSpans.elsewhere`) come last, without positions of their
    utterances. Paragraphs may be missing. Places count from the first span of a paragraph.
    """
    elsewhere = replace(book_spans, spans=book_spans.elsewhere)
    others = (replace(paragraph, spans=()) for paragraph in _join(elsewhere))
    return (*_join(book_spans), *others)


def _join(book_spans: BookSpans) -> list[Paragraph]:
    headings = {block.index for block in book_spans.book.blocks if block.kind is BlockKind.HEADING}
    heads = find_heads(book_spans.book.blocks)
    found: list[Paragraph] = []
    for index, group in groupby(enumerate(book_spans.spans), key=lambda item: item[1].paragraph):
        items = list(group)
        first = items[0][1]
        said = [(number, span) for number, span in items if span.is_utterance]
        found.append(
            Paragraph(
                index,
                first.chapter,
                "".join(span.text for _, span in items),
                tuple((span.start - first.start, span.end - first.start) for _, span in said),
                tuple(number for number, _ in said),
                index in headings,
                heads[index].name if index in heads else "",
            )
        )
    return found


# A longer run of words with capitals is a heading or the title of a book.
_LONGEST = 6
# A word that also stands in small letters is a name if it has a capital inside sentences at least
# so often, and at least this share of the times without.
_CAPITALS = 2
_CAPITALS_PER_SMALL = 0.15
# The same for words that the language lists as no names ("Will", "May" and "Death" may be names).
_CAPITALS_OF_NO_NAME = 15
_CAPITALS_PER_SMALL_OF_NO_NAME = 0.3
# A word that the book has at the start of sentences alone belongs to the name after it if the two
# stand together so often.
_PAIRS = 2

_AFTER, _BEFORE = 24, 16  # characters around a name that are looked at
_WORD_AFTER = re.compile(r"\s+(?:\w+ly\s+)?([^\W\d_]+)")
_WORD_BEFORE = re.compile(rf"([^\W\d_]+)\s+(?:{ARTICLES}\s+)?$")
_VOCATIVE = re.compile(rf"(?:^|[,“\"‘'«—!.?]|\b{BEFORE_VOCATIVE})\s*$")
_VOCATIVE_END = re.compile(r"\s*[,.!?;—”\"’'»]")

_LETTERS = [chr(code) for code in (*range(0x250), *range(0x370, 0x530)) if chr(code).isalpha()]
_LARGE = f"[{''.join(filter(str.isupper, _LETTERS))}]"
_SMALL = f"[{''.join(filter(str.islower, _LETTERS))}]"
_LETTER = r"[^\W\d_]"
_SHORT = rf"(?:{ABBREVIATIONS}|{_LARGE})\."
_CAPITAL = (
    rf"(?:[dlDLOM]['’])?{_LARGE}{_LETTER}*"
    rf"(?:['’](?:(?!(?:{CLITICS})\b){_SMALL}{{2,}}|r(?=\s)))?(?:-{_LETTER}+)*"
)
_RUN = re.compile(
    rf"(?<![\w’'-])(?:{_SHORT}|{_CAPITAL})(?:\s+(?:(?:{PARTICLES}|{OF_PLACE})\s+)?(?:{_SHORT}|{_CAPITAL}))*"
)
_TOKEN = re.compile(rf"{_SHORT}|{_CAPITAL}|(?:{PARTICLES}|{OF_PLACE})(?=\s)")
_PARTICLE = re.compile(PARTICLES)
_OF_PLACE = re.compile(OF_PLACE)
_SMALL_PART = re.compile(rf"{PARTICLES}|{OF_PLACE}")
_SMALL_WORD = re.compile(rf"(?<![\w’'-]){_SMALL}{_LETTER}*")
_OPENERS = frozenset(".!?:;“\"‘'«»„‚—–-*_([")  # a sentence begins after them
_ELIDED = re.compile(rf"[dl]’(?={_LARGE})")


class Form(NamedTuple):
    """A name as the book uses it, without its spelling: `(("mr",), ("Darcy",))`."""

    # the titles, in small letters and spelt out; empty for a name without one
    titles: tuple[str, ...]
    # the words of the name; empty for a title that stands alone ("the Captain")
    words: tuple[str, ...]

    @property
    def plain(self) -> Form:
        """The form without the titles that say no rank: "Poor Jane" is "Jane"."""
        titles = tuple(title for title in self.titles if title not in QUALITIES)
        return self if titles == self.titles else Form(titles, self.words)


@dataclass(frozen=True, slots=True)
class Name:
    """A place where a book writes a name."""

    paragraph: int  # the position of its paragraph in the list of paragraphs
    start: int  # the first character in the paragraph's text
    end: int  # the character after the last. A possessive ending is left out.
    form: Form  # the titles and the words
    in_speech: bool = False  # whether it stands in an utterance
    says: bool = False  # whether narration has a verb of saying beside it, or it heads a speech
    called: bool = False  # whether an utterance calls somebody by it


class _Token(NamedTuple):
    word: str
    start: int
    end: int


class _Run(NamedTuple):
    paragraph: int
    tokens: list[_Token]
    opens: bool  # whether it stands at the start of a sentence, where every word has a capital


def find_names(paragraphs: Sequence[Paragraph]) -> tuple[Name, ...]:
    """Returns the names of a book in reading order. Headings have none."""
    small: Counter[str] = Counter()
    runs: list[_Run] = []
    for number, paragraph in enumerate(paragraphs):
        if paragraph.is_heading:  # every word may have a capital
            continue
        small.update(_SMALL_WORD.findall(paragraph.text))
        runs.extend(_find_runs(number, paragraph.text))
    words = _Words(runs, small)
    found: list[Name] = []
    for run in runs:
        paragraph = paragraphs[run.paragraph]
        for start, end, form in words.names_of(run):
            found.append(Name(run.paragraph, start, end, form))
    return tuple(_with_speech(found, paragraphs))


def parse_form(text: str) -> Form:
    """Returns the form of a name that stands alone, as in a list of characters.

    >>> parse_form("Mrs. Bennet")
    Form(titles=('mrs',), words=('Bennet',))
    """
    titles: list[str] = []
    words: list[str] = []
    has_particle = False
    for token in text.replace("'", "’").split():
        word = token.strip(',;:()“”"')
        title = spelt_out(word)
        if title in TITLES and not words:
            titles.append(title)
        elif titles and not words and _PARTICLE.fullmatch(word):
            has_particle = True  # "Madame la Comtesse"
        elif words and words[-1] in SAINTS:
            words[-1] += f" {word}"
        elif word:
            words.append(word)
    return _form(titles, words, has_particle)


def spelt_out(word: str) -> str:
    """Returns a title in small letters, without its full stop, and not shortened."""
    title = word.lower().rstrip(".")
    return TITLE_SPELLINGS.get(title, title)


def _form(titles: list[str], words: list[str], has_particle: bool) -> Form:
    if len(titles) > 1 and not words and titles[0] in SURNAME_TITLES and not has_particle:
        words = [titles.pop().capitalize()]  # "Mr. King"
    if words and _OF_PLACE.fullmatch(words[0]):
        words = [" ".join(words)]  # "of Wellington": it is no name without the title
    return Form(tuple(titles), tuple(map(sys.intern, words)))


def _find_runs(number: int, text: str) -> Iterable[_Run]:
    for match in _RUN.finditer(text):
        before = match.start() - 1
        while before >= 0 and text[before].isspace():
            before -= 1
        opens = before < 0 or text[before] in _OPENERS
        tokens = [
            _Token(token.group().replace("'", "’"), token.start(), token.end())
            for token in _TOKEN.finditer(text, match.start(), match.end())
        ]
        yield _Run(number, tokens, opens)


class _Words:
    """How a book writes each word, which tells the names among its runs."""

    def __init__(self, runs: Iterable[_Run], small: Counter[str]) -> None:
        self._small = small
        self._capitals: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()  # capitals that are not due to a sentence's start
        self._openings: Counter[tuple[str, str]] = Counter()
        for run in runs:
            words = [token.word for token in run.tokens]
            self._capitals.update(words)
            self._inside.update(words[1:] if run.opens else words)
            if run.opens and len(words) > 1:
                self._openings[words[0], words[1]] += 1
        self._is_name = cache(self._decide)
        self._is_part = cache(self._may_be_part)

    def names_of(self, run: _Run) -> list[tuple[int, int, Form]]:
        """The places and forms of the names in a run."""
        found: list[tuple[int, int, Form]] = []
        tokens = [self._plain(token) for token in run.tokens]
        if not any(self._is_part(token.word) for token in tokens):
            return found  # most runs are the first word of a sentence
        titles: list[_Token] = []
        words: list[_Token] = []

        def close() -> None:
            while words and _SMALL_PART.fullmatch(words[-1].word):
                words.pop()
            tokens = titles + words
            form = _form(
                [spelt_out(token.word) for token in titles],
                [token.word for token in words],
                has_particle=any(b.start - a.end > 1 for a, b in pairwise(titles)),
            )
            if (words or self._stands_alone(titles, run)) and len(tokens) <= _LONGEST:
                found.append((tokens[0].start, tokens[-1].end, form))
            titles.clear()
            words.clear()

        for n, token in enumerate(tokens):
            following = tokens[n + 1].word if n + 1 < len(tokens) else ""
            word = token.word
            if words and words[-1].word in SAINTS:
                words[-1] = _Token(f"{words[-1].word} {word}", words[-1].start, token.end)
            elif spelt_out(word) in TITLES and (following or not self._is_surname(word)):
                if words and not following and not word.endswith("."):
                    words.append(token)  # "Mary King"
                    continue
                if words:
                    close()
                titles.append(token)
            elif word in SAINTS and following and self._is_name(following):
                words.append(token)
            elif _PARTICLE.fullmatch(word):
                if words:
                    words.extend(_Token(part, token.start, token.end) for part in word.split())
            elif _OF_PLACE.fullmatch(word):
                if words or not titles:
                    close()
                else:
                    words.append(token)
            elif self._begins_only(run, n, token, following):
                close()
            elif self._is_name(word) or self._is_initial(word, bool(titles or words), following):
                words.append(token)
            elif self._is_surname(word):
                words.append(token)
            else:
                close()
        close()
        return found

    def _is_surname(self, word: str) -> bool:
        """Whether a quality is a name in this book: "Captain Good"."""
        lower = word.lower()
        return lower in QUALITIES and self._has_capital(lower, word)

    def _has_capital(self, lower: str, word: str) -> bool:
        """Whether a word that names nobody elsewhere has a capital often enough in this book."""
        inside, enough = self._inside[word], _CAPITALS_PER_SMALL_OF_NO_NAME * self._small[lower]
        return inside >= _CAPITALS_OF_NO_NAME and inside > enough

    def _plain(self, token: _Token) -> _Token:
        """A token without an elided article; CAPITALS as the book writes the word elsewhere."""
        word, start, end = token
        if _ELIDED.match(word) and self._capitals[word[2:]] >= self._capitals[word]:
            return _Token(word[2:], start + 2, end)
        if word[:2] in ("D’", "L’"):
            return _Token(word[0].lower() + word[1:], start, end)
        if len(word) > 1 and word.isupper() and self._capitals[word.capitalize()]:
            return _Token(word.capitalize(), start, end)
        return token

    def _decide(self, word: str) -> bool:
        lower = word.lower()
        if len(word) == 1 or word.endswith(".") or (word.isupper() and len(word) > 3):
            return False
        if word[0].islower() and not _ELIDED.match(word):
            return False
        if lower in NEVER_NAMES:
            return False
        small, inside = self._small[lower], self._inside[word]
        if lower in NO_NAMES:
            return self._has_capital(lower, word)
        return not small or (inside >= _CAPITALS and inside >= _CAPITALS_PER_SMALL * small)

    def _may_be_part(self, word: str) -> bool:
        return spelt_out(word) in TITLES or self._is_name(word)

    def _begins_only(self, run: _Run, position: int, token: _Token, following: str) -> bool:
        """Whether a word has its capital because it begins a sentence ("Presently Jane")."""
        if position or not run.opens or not following or self._inside[token.word]:
            return False
        return self._openings[token.word, following] < _PAIRS

    def _is_initial(self, word: str, follows: bool, following: str) -> bool:
        if not (len(word) == 2 and word.endswith(".")):
            return False
        return follows or (word != "I." and bool(following) and self._is_name(following))

    def _stands_alone(self, titles: Sequence[_Token], run: _Run) -> bool:
        """Whether titles without a name are a name of their own."""
        if not titles or spelt_out(titles[-1].word) in QUALITIES:
            return False
        if titles[-1].word.endswith("."):
            return False
        is_first = run.opens and titles[0].start == run.tokens[0].start
        return not is_first or self._is_name(titles[-1].word)


def _with_speech(names: Iterable[Name], paragraphs: Sequence[Paragraph]) -> Iterable[Name]:
    """Yields the names with what the speech in their paragraphs tells of them."""
    last, position = -1, 0
    for name in names:
        text, utterances = paragraphs[name.paragraph].text, paragraphs[name.paragraph].utterances
        if name.paragraph != last:
            last, position = name.paragraph, 0
        while position < len(utterances) and utterances[position][1] <= name.start:
            position += 1
        if position < len(utterances) and utterances[position][0] <= name.start:
            yield replace(name, in_speech=True, called=_is_called(text, name))
        else:
            says = name.end == len(paragraphs[name.paragraph].head) or _is_beside_say(text, name)
            yield replace(name, says=says)


def _is_called(text: str, name: Name) -> bool:
    before = text[max(0, name.start - _BEFORE) : name.start]
    return bool(_VOCATIVE.search(before) and _VOCATIVE_END.match(text, name.end))


def _is_beside_say(text: str, name: Name) -> bool:
    after = _WORD_AFTER.match(text[name.end : name.end + _AFTER])
    before = _WORD_BEFORE.search(text[max(0, name.start - _BEFORE) : name.start])
    return any(found and is_say(found[1]) for found in (after, before))
