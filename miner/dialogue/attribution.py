"""Paragraphs of a chapter -> whom the narration beside the speech names as its speaker.

“Come,” said the Hatter: a verb of saying and its subject, right after the speech, or right before
it where the narration leads in with a comma, a colon or a dash. Nothing here guesses: where the
page does not say who speaks, there is no speaker. The words are English; in other languages nothing
is found, and the tagger has one hint less.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

_GOES_ON = frozenset(
    "add added adds again concluded continue continued continues persisted proceeded pursued "
    "repeated repeats resumed".split()
)
_ANSWERS = frozenset(
    "agreed answer answered answers assented echoed objected rejoined replied replies responded "
    "retorted returned".split()
)
_SAYS = _ANSWERS | frozenset(
    "add added adds admitted announced asked asks began bawled begged broke burst called calls "
    "chimed commanded concluded confessed continue continued continues cried cries cry declared "
    "demanded drawled ejaculated exclaimed explained faltered gasped groaned growled grumbled "
    "hissed inquired enquired insisted interposed interrupted laughed mumbled murmured "
    "muttered nodded observed observes ordered panted persisted piped pleaded proceeded protested "
    "pursued put quoth remarked remarks repeated repeats resumed roared sang said saith says "
    "screamed shouted shrieked sighed smiled snapped sneered sobbed spoke stammered stormed "
    "suggested told thundered urged ventured warned whispered whispers yelled".split()
)
_WITH_ON = frozenset(("went", "goes", "hurried"))
_PRONOUNS = {"he": "m", "she": "f", "i": "i", "they": "t", "we": "i"}
_TITLES = {
    **dict.fromkeys(
        "mr sir lord master uncle father king prince count duke brother captain colonel major "
        "general lieutenant sergeant sheriff judge doctor dr squire parson vicar curate priest "
        "baronet earl monsieur signor señor don man boy gentleman fellow lad son husband nephew "
        "grandfather papa".split(),
        "m",
    ),
    **dict.fromkeys(
        "mrs miss lady mistress aunt mother queen princess madame sister madam mademoiselle señora "
        "countess duchess baroness governess housekeeper nurse maid woman girl daughter wife niece "
        "widow grandmother mamma".split(),
        "f",
    ),
}
_GENDERED = {
    **dict.fromkeys("he his him himself".split(), "m"),
    **dict.fromkeys("she her hers herself".split(), "f"),
}
_NARRATOR = frozenset(("i", "my", "me"))
_THIRD = {word: gender for word, gender in _GENDERED.items() if not word.endswith("self")}
_NO_NOUNS = frozenset("to at in with as and of who from again had was then".split())
_TITLE_COUNTS = 5  # pronouns
_FIRST = 6  # words among which narration names its subject
_SHORT = r"\b(?:Mr|Mrs|Messrs|Dr|St|Mme|Mlle|M)\."  # a stop that ends nothing
_SENTENCE = re.compile(r"(?<=[.!?;])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bSt\.)\s")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_AFTER = re.compile(rf"\s*[—–-]*\s*((?:{_SHORT}|[^,.;:!?—–]){{2,80}})")
_LEADS_IN = ",:—–-"
_BEFORE = re.compile(rf"((?:{_SHORT}|[^,.;:!?—–]){{2,90}})[{_LEADS_IN}]+$")
_REACH = 1000  # characters; no clause that leads in is longer
_NOUN = re.compile(r"\b(?:[Tt]he|[Hh]is|[Hh]er|[Mm]y|[Aa]n?|[Oo]ur)\s+((?:[^\W\d_]+\s*){1,3})")


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody in the narration, as it names them.

    `names` and `noun` (the last word of "the old man") may be missing beside a pronoun. `gender` is
    "m", "f", "i" for the narrator's I and we, "t" for they, "" where it is not known. `goes_on` and
    `answers` are of the verb of saying: "continued", "replied".
    """

    names: frozenset[str]
    noun: str
    gender: str
    goes_on: bool = False
    answers: bool = False


class Likeness(StrEnum):
    """What two mentions tell of whether they are of one person."""

    SAME = "the same"
    OTHER = "another"
    PERHAPS = "perhaps the same"  # a name and a pronoun that fits it


def likeness(one: Mention | None, other: Mention | None) -> Likeness | None:
    """Whether two mentions can be of one person; None where they do not tell."""
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
        return Likeness.OTHER  # somebody who is named is not the narrator
    return None


Names = dict[str, str]  # to "m", "f" or "" each


@lru_cache(maxsize=4096)  # the paragraphs of a chapter, each asked for many times over
def words_in(text: str) -> tuple[str, ...]:
    """The words of a text, in order, without the marks between them."""
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=4096)
def pronouns(text: str) -> frozenset[str]:
    """Of whom the personal pronouns of narration are: "m", "f", "i" for the narrator."""
    words = {word.lower() for word in words_in(text)}
    third = frozenset(_THIRD[word] for word in words if word in _THIRD)
    return third | {"i"} if words & _NARRATOR else third


class Mentions:
    """Finds mentions in the paragraphs of one chapter, which says what its names and genders are.

    A name is a word with a capital that the chapter nowhere writes without. It has the gender of a
    title before it, or of the pronouns in the sentences that name nobody else.
    """

    def __init__(self, texts: Iterable[str], narration: Iterable[str]) -> None:
        """Reads the chapter.

        Args:
            texts: of all paragraphs.
            narration: of all paragraphs, their speech left out.
        """
        self._common = {word for text in texts for word in words_in(text) if word[0].islower()}
        self._genders = self._read_genders(narration)

    def names(self, words: Iterable[str]) -> list[str]:
        """Those of the words that are names."""
        return [
            re.sub(r"['’]s$", "", word)
            for word in words
            if word[0].isupper() and len(word) > 1
            if (lower := word.lower()) not in self._common
            if lower not in _TITLES and lower not in _GENDERED
        ]

    def speaker(
        self, text: str, utterances: Sequence[tuple[int, int]], before: str
    ) -> Mention | None:
        """Who speaks in a paragraph, None where its narration does not say.

        Args:
            text: the paragraph.
            utterances: (start, end) of its utterances; at least one.
            before: the paragraph before, if it has no speech: it may lead in.
        """
        for clause, is_after in _clauses(text, utterances, before):
            words = words_in(clause)
            lower = [word.lower() for word in words]
            verb = _verb(lower)
            if verb is None or (is_after and verb > 4):
                continue
            near = lower[max(0, verb - 2) : verb + 2]
            pronoun = next((word for word in near if word in _PRONOUNS), "")
            names = [] if pronoun else self.names(words)
            noun = "" if pronoun or names else _noun(clause)
            if not (pronoun or names or noun):
                continue
            said = set(lower)
            title = next((_TITLES[word] for word in (*lower, noun) if word in _TITLES), "")
            gender = _PRONOUNS.get(pronoun) or title or self._gender(names)
            goes_on = bool(said & _GOES_ON) or lower[verb] in _WITH_ON
            return Mention(frozenset(names), noun, gender, goes_on, bool(said & _ANSWERS))
        return None

    def subject(self, text: str) -> Mention | None:
        """Whom the first words of narration name, None where they name nobody."""
        words = words_in(text)[:_FIRST]
        for word in words:
            if gender := _PRONOUNS.get(word.lower()):
                return Mention(frozenset(), "", gender)
            if names := self.names([word]):
                return Mention(frozenset(names), "", self._gender(names))
        return None

    def named(self, text: str) -> Names:
        """The names in narration, with the gender of each."""
        return {name: self._genders.get(name, "") for name in self.names(words_in(text))}

    def resolved(self, mention: Mention | None, recent: Iterable[Names]) -> Mention | None:
        """The mention, with the name that its pronoun stands for where that is plain.

        That is the only one of its gender in the nearest passage that names one at all.

        Args:
            mention: what to resolve.
            recent: the names of the passages before it, the nearest first.
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
                words = words_in(sentence)
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
    """Where a verb of saying stands; "went" and "hurried" are none without "on"."""
    for n, word in enumerate(words):
        if word in _SAYS or (word in _WITH_ON and "on" in words[n + 1 : n + 2]):
            return n
    return None


def _noun(clause: str) -> str:
    """The last word of "the old man" in a clause; what follows a verb or an adverb is not of it."""
    last = ""
    found = _NOUN.search(clause)
    for word in found[1].lower().split() if found else []:
        if word in _SAYS or word in _NO_NOUNS or word.endswith("ly"):
            break
        last = word
    return last


def _clauses(
    text: str, utterances: Sequence[tuple[int, int]], before: str
) -> list[tuple[str, bool]]:
    """The clauses beside the speech that may say who speaks, and whether each stands after it."""
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
