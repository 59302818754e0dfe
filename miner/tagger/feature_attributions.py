"""Paragraphs of a chapter -> the speaker whom the narration names, for the features.

The tagger compares speakers by this reader, in eight languages and with the words of a chapter
alone. `miner.people.attributions` is the reader that finds who speaks: it knows the characters of
the book, in English. The tagger was trained with this one, so that the two stay two.

A verb of saying and its subject name the speaker: “Come,” said the Hatter. They stand right after
the speech, or right before it if the narration ends in a comma, a colon or a dash. Nothing here
guesses: if the page does not name the speaker, there is none. The words come from the files of the
languages. If a language lists no verbs of saying, the place alone shows that narration names the
speaker: it goes on in small letters right after the speech, or ends in a colon before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise

from miner.languages.language import AttributionWords
from miner.languages.registry import LANGUAGES

_TITLE_COUNTS = 5  # pronouns; the weight of a title as evidence of a gender
_FIRST = 6  # words of narration among which its subject is looked for
_NEAR = 4  # words of an inverted clause among which its pronoun is looked for
_LEADS_IN = ",:—–-"
_REACH = 1000  # characters; no clause that leads in is longer
_NEVER = "(?!)"  # matches nothing


@dataclass(frozen=True, slots=True)
class Mention:
    """A person in the narration, as it names them."""

    names: frozenset[str]  # the person's names; empty for a noun or a pronoun
    noun: str  # the last word of "the old man"; "" for a name or a pronoun
    gender: str  # "m", "f", "i" for the narrator's I and we, "t" for they, "" if not known
    # whether the verb of saying says that the same speaker continues: "added"
    goes_on: bool = False
    answers: bool = False  # whether the verb of saying says that another speaker answers: "replied"


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


@dataclass(frozen=True, slots=True)
class _Reader:
    """The words of a language with the patterns that are made of them."""

    words: AttributionWords
    gendered: Mapping[str, str]
    word: re.Pattern[str]
    possessive: re.Pattern[str]
    sentence: re.Pattern[str]
    after: re.Pattern[str]
    before: re.Pattern[str]
    noun: re.Pattern[str]

    def split(self, text: str) -> tuple[str, ...]:
        """Returns the words of a text, in order, without the punctuation between them."""
        return _split_words(self.word, text)


@lru_cache(maxsize=4096)  # each paragraph of a chapter is read many times
def _split_words(word: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(word.findall(text))


@cache
def _reader_of(language: str) -> _Reader:
    known = LANGUAGES.get(language)
    words = known.attribution if known else AttributionWords()
    short = rf"\b{_alternatives(words.abbreviations)}\."
    no_end = "".join(rf"(?<!\b{short}\.)" for short in words.sentence_abbreviations)
    ending = "" if words.elides else r"(?:['’][^\W\d_]+)?"
    # English sets the comma inside the closing mark, other languages after it.
    between = r"\s*[—–-]*\s*" if words.say else r"[\s,.—–-]*"
    return _Reader(
        words,
        {**words.personal, **words.reflexive},
        re.compile(rf"[^\W\d_]+{ending}"),
        re.compile(_alternatives(words.possessive_endings) + "$"),
        re.compile(rf"(?<=[.!?;]){no_end}\s"),
        re.compile(rf"{between}((?:{short}|[^,.;:!?—–]){{2,80}})"),
        re.compile(rf"((?:{short}|[^,.;:!?—–]){{2,90}})[{_LEADS_IN}]+$"),
        re.compile(rf"\b({words.determiners or _NEVER})\s+((?:[^\W\d_]+\s*){{1,3}})"),
    )


def _alternatives(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, words)) or _NEVER})"


class Mentions:
    """Finds mentions in the paragraphs of one chapter, whose text shows its names and genders.

    A name is a word that the chapter always writes with a capital. Its gender is that of a title
    before it, or of the pronouns in sentences that name nobody else.
    """

    def __init__(self, texts: Iterable[str], narration: Iterable[str], language: str) -> None:
        """Reads the chapter."""
        self._reader = _reader_of(language)
        self._words = self._reader.words
        texts = list(texts)
        split = self._reader.split
        self._common = {word for text in texts for word in split(text) if word[0].islower()}
        if self._words.nouns_have_capitals:
            nouns = (found[2].split()[0] for t in texts for found in self._reader.noun.finditer(t))
            self._common |= {noun.lower() for noun in nouns}
        self._genders = self._read_genders(narration)

    def names(self, words: Iterable[str]) -> list[str]:
        """Returns the words that are names."""
        return [
            self._reader.possessive.sub("", word)
            for word in words
            if word[0].isupper() and len(word) > 1
            if (lower := word.lower()) not in self._common
            if lower not in self._words.titles and lower not in self._reader.gendered
        ]

    def speaker(
        self, text: str, utterances: Sequence[tuple[int, int]], before: str
    ) -> Mention | None:
        """Returns the speaker in a paragraph with speech; None where its narration names none.

        `before` is the paragraph before if it has no speech, since it may introduce the speaker.
        """
        find = self._by_verb if self._words.say else self._by_place
        for clause, is_after in self._clauses(text, utterances, before):
            words = self._reader.split(clause)
            lower = [word.lower() for word in words]
            if found := find(clause, words, lower, is_after):
                return replace(
                    found,
                    goes_on=found.goes_on or not self._words.continue_verbs.isdisjoint(lower),
                    answers=not self._words.answer_verbs.isdisjoint(lower),
                )
        return None

    def _by_verb(
        self, clause: str, words: Sequence[str], lower: Sequence[str], is_after: bool
    ) -> Mention | None:
        """Returns the speaker in a clause with a verb of saying."""
        verb = self._verb(lower)
        if verb is None or (is_after and verb > 4):
            return None
        found = self._mention(clause, words, lower[max(0, verb - 2) : verb + 2])
        return found and replace(found, goes_on=lower[verb] in self._words.say_with_particle)

    def _by_place(
        self, clause: str, words: Sequence[str], lower: Sequence[str], is_after: bool
    ) -> Mention | None:
        """Returns the speaker in a clause that goes on after speech in small letters, or leads in.

        The verb comes first there, whichever it is. What follows a preposition is no speaker.
        """
        if not words or (
            is_after and (not words[0][0].islower() or lower[0] in self._words.no_nouns)
        ):
            return None
        ends = (n for n, word in enumerate(lower) if n and word in self._words.no_nouns)
        end = min(next(ends, len(words)), len(words) if is_after else _FIRST)
        found = self._mention(" ".join(words[:end]), words[:end], lower[: min(end, _NEAR)])
        if found is None and self._words.drops_subjects:
            return Mention(frozenset(), "", "")
        return found

    def _mention(self, clause: str, words: Sequence[str], near: Sequence[str]) -> Mention | None:
        """Returns whom a clause mentions as its subject; None where it mentions nobody."""
        of_pronouns, titles = self._words.subjects, self._words.titles
        pronoun = next((word for word in near if word in of_pronouns), "")
        names = [] if pronoun else self.names(words)
        noun, of_noun = ("", "") if pronoun or names else self._noun(clause)
        if not (pronoun or names or noun):
            return None
        lower = [word.lower() for word in words]
        title = next((titles[word] for word in (*lower, noun) if word in titles), "")
        gender = of_pronouns.get(pronoun) or title or of_noun or self._gender(names)
        return Mention(frozenset(names), noun, gender)

    def subject(self, text: str) -> Mention | None:
        """Returns whom the first words of narration name; None where they name nobody."""
        words = self._reader.split(text)[:_FIRST]
        for word in words:
            if (gender := self._words.subjects.get(word.lower())) is not None:
                return Mention(frozenset(), "", gender)
            if names := self.names([word]):
                return Mention(frozenset(names), "", self._gender(names))
        return None

    def named(self, text: str) -> Names:
        """Returns the names in narration, with the gender of each."""
        return {name: self._genders.get(name, "") for name in self.names(self._reader.split(text))}

    def find_genders(self, text: str) -> frozenset[str]:
        """Returns the genders of the personal pronouns in narration: "m", "f", "i" for I."""
        words = {word.lower() for word in self._reader.split(text)}
        personal = self._words.personal
        third = frozenset(personal[word] for word in words if word in personal)
        return third | {"i"} if words & self._words.narrator else third

    def resolved(self, mention: Mention | None, recent: Iterable[Names]) -> Mention | None:
        """The mention, with the name that its pronoun stands for where that is clear.

        It is clear where the nearest passage that names anybody of that gender names only one.
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
            for sentence in self._reader.sentence.split(text):
                words = self._reader.split(sentence)
                for title, word in pairwise(words):
                    if word[0].isupper() and (gender := self._words.titles.get(title.lower())):
                        counts.setdefault(word, Counter())[gender] += _TITLE_COUNTS
                names = self.names(words)
                if names:
                    named = names[:1] if len(set(names)) == 1 else []
                for name in named:
                    genders = (self._reader.gendered.get(word.lower(), "") for word in words)
                    counts.setdefault(name, Counter()).update(filter(None, genders))
        return {
            name: "m" if found["m"] > 2 * found["f"] + 1 else "f"
            for name, found in counts.items()
            if found["m"] > 2 * found["f"] + 1 or found["f"] > 2 * found["m"] + 1
        }

    def _verb(self, words: Sequence[str]) -> int | None:
        """Returns the place of the first verb of saying; "went" is one only before "on"."""
        particles = self._words.say_with_particle
        for n, word in enumerate(words):
            if word in self._words.say or particles.get(word) in words[n + 1 : n + 2]:
                return n
        return None

    def _noun(self, clause: str) -> tuple[str, str]:
        """Returns the noun of "the old man" in a clause, and the gender of "the"; "" without one.

        In English it is the last word up to a verb or an adverb. Elsewhere it is the first, or the
        first with a capital, or the one after an adjective.
        """
        found = self._reader.noun.search(clause)
        if not found:
            return "", ""
        noun = ""
        for word in found[2].split():
            lower = word.lower()
            is_end = lower in self._words.say or lower in self._words.no_nouns
            if is_end or lower.endswith(self._words.adverb_endings):
                break
            if not self._words.nouns_have_capitals or word[0].isupper():
                noun = lower
                if not self._words.say and lower not in self._words.adjectives:
                    break
        return noun, self._words.noun_genders.get(found[1].lower(), "") if noun else ""

    def _clauses(
        self, text: str, utterances: Sequence[tuple[int, int]], before: str
    ) -> list[tuple[str, bool]]:
        """Returns the clauses beside speech that may name its speaker, and if each follows it."""
        found: list[tuple[str, bool]] = []
        at = 0
        ends = [start for start, _ in utterances[1:]] + [len(text)]
        for (start, end), next_start in zip(utterances, ends, strict=True):
            lead_in = text[at:start] if text[at:start].strip() or at else before
            if after := self._reader.after.match(text[end:next_start]):
                found.append((after[1], True))
            if led := self._lead_in(lead_in.rstrip()):
                found.append((led, False))
            at = end
        return found

    def _lead_in(self, text: str) -> str:
        """Returns the clause that leads in to speech, or the sentence where no verb is known."""
        if self._words.say and text.endswith(tuple(_LEADS_IN)):
            led = self._reader.before.search(text, max(0, len(text) - _REACH))
            return led[1] if led else ""
        if not self._words.say and text.endswith(":"):
            return self._reader.sentence.split(text[-_REACH:])[-1]
        return ""
