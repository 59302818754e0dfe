"""Paragraphs of a chapter -> the speaker whom the narration beside a speech names.

A verb of saying and its subject name the speaker: “Come,” said the Hatter. They stand right after
the speech, or right before it if the narration ends in a comma, a colon or a dash. Nothing here
guesses: if the page does not name the speaker, there is none. The words come from the files of the
languages. If a language lists none, no speaker is found in its books.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from miner.languages.registry import LANGUAGES, any_of


def _merged(tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {word: value for table in tables for word, value in table.items()}


def _alternatives(lists: Iterable[Iterable[str]]) -> str:
    return f"(?:{'|'.join(re.escape(word) for words in lists for word in words)})"


_WORDS = tuple(language.attribution for language in LANGUAGES.values())
_SAYS = frozenset().union(*(words.say for words in _WORDS))
_GOES_ON = frozenset().union(*(words.continue_verbs for words in _WORDS))
_ANSWERS = frozenset().union(*(words.answer_verbs for words in _WORDS))
_NARRATOR = frozenset().union(*(words.narrator for words in _WORDS))
_NO_NOUNS = frozenset().union(*(words.no_nouns for words in _WORDS))
_PARTICLES = _merged(words.say_with_particle for words in _WORDS)
_SUBJECTS = _merged(words.subjects for words in _WORDS)
_TITLES = _merged(words.titles for words in _WORDS)
_PERSONAL = _merged(words.personal for words in _WORDS)
_GENDERED = _PERSONAL | _merged(words.reflexive for words in _WORDS)
_ADVERB_ENDINGS = tuple(ending for words in _WORDS for ending in words.adverb_endings)
_POSSESSIVE = re.compile(_alternatives(words.possessive_endings for words in _WORDS) + "$")
_TITLE_COUNTS = 5  # pronouns; the weight of a title as evidence of a gender
_FIRST = 6  # words of narration among which its subject is looked for
_SHORT = rf"\b{_alternatives(words.abbreviations for words in _WORDS)}\."
_SENTENCE = re.compile(
    r"(?<=[.!?;])"
    + "".join(rf"(?<!\b{short}\.)" for words in _WORDS for short in words.sentence_abbreviations)
    + r"\s"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_AFTER = re.compile(rf"\s*[—–-]*\s*((?:{_SHORT}|[^,.;:!?—–]){{2,80}})")
_LEADS_IN = ",:—–-"
_BEFORE = re.compile(rf"((?:{_SHORT}|[^,.;:!?—–]){{2,90}})[{_LEADS_IN}]+$")
_REACH = 1000  # characters; no clause that leads in is longer
_NOUN = re.compile(
    rf"\b{any_of(lambda language: language.attribution.determiners)}\s+((?:[^\W\d_]+\s*){{1,3}})"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A person in the narration, as it names them.

    Args:
        names: the person's names; empty for a noun or a pronoun.
        noun: the last word of "the old man"; "" for a name or a pronoun.
        gender: "m", "f", "i" for the narrator's I and we, "t" for they, "" if not known.
        goes_on: whether the verb of saying says that the same speaker continues: "added".
        answers: whether the verb of saying says that another speaker answers: "replied".
    """

    names: frozenset[str]
    noun: str
    gender: str
    goes_on: bool = False
    answers: bool = False


class Likeness(StrEnum):
    """Whether two mentions are of one person."""

    SAME = "the same"
    OTHER = "another"
    PERHAPS = "perhaps the same"  # a name and a pronoun that fits it


def compare_mentions(one: Mention | None, other: Mention | None) -> Likeness | None:
    """Whether two mentions are of one person; None where they do not show it."""
    if one is None or other is None:
        return None
    if one.names and other.names:
        return Likeness.SAME if one.names & other.names else Likeness.OTHER
    if one.noun and other.noun:
        return Likeness.SAME if one.noun == other.noun else Likeness.OTHER
    if one.gender and other.gender:
        if one.gender != other.gender:
            return Likeness.OTHER
        is_told = one.names or one.noun or other.names or other.noun
        return Likeness.PERHAPS if is_told else Likeness.SAME
    if "i" in (one.gender, other.gender):
        return Likeness.OTHER  # a person who is named is not the narrator
    return None


Names = dict[str, str]  # each name with its gender: "m", "f" or ""


@lru_cache(maxsize=4096)  # each paragraph of a chapter is read many times
def split_words(text: str) -> tuple[str, ...]:
    """The words of a text, in order, without the punctuation between them."""
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=4096)
def find_genders(text: str) -> frozenset[str]:
    """The genders of the personal pronouns in narration: "m", "f", and "i" for the narrator."""
    words = {word.lower() for word in split_words(text)}
    third = frozenset(_PERSONAL[word] for word in words if word in _PERSONAL)
    return third | {"i"} if words & _NARRATOR else third


class Mentions:
    """Finds mentions in the paragraphs of one chapter, whose text shows its names and genders.

    A name is a word that the chapter always writes with a capital. Its gender is that of a title
    before it, or of the pronouns in sentences that name nobody else.
    """

    def __init__(self, texts: Iterable[str], narration: Iterable[str]) -> None:
        """Reads the chapter.

        Args:
            texts: all paragraphs.
            narration: the same paragraphs without their speech.
        """
        self._common = {word for text in texts for word in split_words(text) if word[0].islower()}
        self._genders = self._read_genders(narration)

    def names(self, words: Iterable[str]) -> list[str]:
        """The words that are names."""
        return [
            _POSSESSIVE.sub("", word)
            for word in words
            if word[0].isupper() and len(word) > 1
            if (lower := word.lower()) not in self._common
            if lower not in _TITLES and lower not in _GENDERED
        ]

    def speaker(
        self, text: str, utterances: Sequence[tuple[int, int]], before: str
    ) -> Mention | None:
        """The speaker in a paragraph; None where its narration names none.

        Args:
            text: the paragraph.
            utterances: (start, end) of its utterances; at least one.
            before: the paragraph before if it has no speech, since it may introduce the speaker;
                else "".
        """
        for clause, is_after in _clauses(text, utterances, before):
            words = split_words(clause)
            lower = [word.lower() for word in words]
            verb = _verb(lower)
            if verb is None or (is_after and verb > 4):
                continue
            near = lower[max(0, verb - 2) : verb + 2]
            pronoun = next((word for word in near if word in _SUBJECTS), "")
            names = [] if pronoun else self.names(words)
            noun = "" if pronoun or names else _noun(clause)
            if not (pronoun or names or noun):
                continue
            said = set(lower)
            title = next((_TITLES[word] for word in (*lower, noun) if word in _TITLES), "")
            gender = _SUBJECTS.get(pronoun) or title or self._gender(names)
            goes_on = bool(said & _GOES_ON) or lower[verb] in _PARTICLES
            return Mention(frozenset(names), noun, gender, goes_on, bool(said & _ANSWERS))
        return None

    def subject(self, text: str) -> Mention | None:
        """The person whom the first words of narration name; None where they name nobody."""
        words = split_words(text)[:_FIRST]
        for word in words:
            if gender := _SUBJECTS.get(word.lower()):
                return Mention(frozenset(), "", gender)
            if names := self.names([word]):
                return Mention(frozenset(names), "", self._gender(names))
        return None

    def named(self, text: str) -> Names:
        """The names in narration, with the gender of each."""
        return {name: self._genders.get(name, "") for name in self.names(split_words(text))}

    def resolved(self, mention: Mention | None, recent: Iterable[Names]) -> Mention | None:
        """The mention, with the name that its pronoun stands for where that is clear.

        It is clear where the nearest passage that names anybody of that gender names only one.

        Args:
            mention: the mention to resolve.
            recent: the names in the passages before it, the nearest first.
        """
        if mention is None or mention.names or mention.noun or mention.gender not in ("m", "f"):
            return mention
        for names in recent:
            if fit := {name for name, gender in names.items() if gender == mention.gender}:
                return replace(mention, names=frozenset(fit)) if len(fit) == 1 else mention
        return mention

    def _gender(self, names: Iterable[str]) -> str:
        known = {self._genders.get(name, "") for name in names} - {""}
        return known.pop() if len(known) == 1 else ""

    def _read_genders(self, narration: Iterable[str]) -> dict[str, str]:
        counts: dict[str, Counter[str]] = {}
        for text in narration:
            named: list[str] = []
            for sentence in _SENTENCE.split(text):
                words = split_words(sentence)
                for title, word in pairwise(words):
                    if word[0].isupper() and (gender := _TITLES.get(title.lower())):
                        counts.setdefault(word, Counter())[gender] += _TITLE_COUNTS
                names = self.names(words)
                if names:
                    named = names[:1] if len(set(names)) == 1 else []
                for name in named:
                    genders = (_GENDERED.get(word.lower(), "") for word in words)
                    counts.setdefault(name, Counter()).update(filter(None, genders))
        return {
            name: "m" if found["m"] > 2 * found["f"] + 1 else "f"
            for name, found in counts.items()
            if found["m"] > 2 * found["f"] + 1 or found["f"] > 2 * found["m"] + 1
        }


def _verb(words: Sequence[str]) -> int | None:
    """The position of the first verb of saying; "went" is one only before "on"."""
    for n, word in enumerate(words):
        if word in _SAYS or (word in _PARTICLES and _PARTICLES[word] in words[n + 1 : n + 2]):
            return n
    return None


def _noun(clause: str) -> str:
    """The last word of "the old man" in a clause, up to a verb or an adverb; "" without one."""
    last = ""
    found = _NOUN.search(clause)
    for word in found[1].lower().split() if found else []:
        if word in _SAYS or word in _NO_NOUNS or word.endswith(_ADVERB_ENDINGS):
            break
        last = word
    return last


def _clauses(
    text: str, utterances: Sequence[tuple[int, int]], before: str
) -> list[tuple[str, bool]]:
    """The clauses beside the speech that may name the speaker, and whether each follows it."""
    found: list[tuple[str, bool]] = []
    at = 0
    ends = [start for start, _ in utterances[1:]] + [len(text)]
    for (start, end), next_start in zip(utterances, ends, strict=True):
        lead_in = text[at:start] if text[at:start].strip() or at else before
        if after := _AFTER.match(text[end:next_start]):
            found.append((after[1], True))
        if (lead_in := lead_in.rstrip()).endswith(tuple(_LEADS_IN)) and (
            led := _BEFORE.search(lead_in, max(0, len(lead_in) - _REACH))
        ):
            found.append((led[1], False))
        at = end
    return found
