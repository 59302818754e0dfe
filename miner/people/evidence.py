"""Names and the text around them -> what shows that a name is a person's, and of which gender.

Every look around a name reaches a fixed number of characters, so that the work is linear.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from miner.people.exchanges import Exchanges, find_exchanges, join_exchanges
from miner.people.names import (
    ACTS,
    ARTICLES,
    BEFORE_PLACE,
    GENDERED,
    GENERATIONS,
    KIN_NOUNS,
    OWNING,
    PERSONAL,
    QUALITIES,
    Form,
    Name,
    Paragraph,
)
from miner.speech.narration import SENTENCE_END

_AFTER, _BEFORE = 24, 16  # characters around a name that are looked at
_BESIDE = 80  # the most characters between two names of one clause
_SUBJECT = 30  # a name further from the start of its sentence may not be its subject
_TOLD_APART = 2  # so often, at least, speech must show two qualities of a name to be two people's
_KEPT_QUALITY = 5  # narration says "Young Jerry" so often: it is a name, not a mood

_ACTS = re.compile(rf"\s+{ACTS}\b")
_PLACE = re.compile(rf"\b{BEFORE_PLACE} $")
_ARTICLE = re.compile(rf"\b{ARTICLES}\s+$")
_POSSESSIVE = re.compile(r"['’]s\b")
_OWNED_KIN = (
    rf"(?:{'|'.join(sorted(OWNING & PERSONAL.keys())) or '(?!)'})\s+(?:[^\W\d_]+\s+){{0,2}}"
    rf"(?:{'|'.join(sorted(KIN_NOUNS)) or '(?!)'})"
)
_KIN_BEFORE = re.compile(rf"\b{_OWNED_KIN},?\s+$", re.IGNORECASE)
_KIN_AFTER = re.compile(rf",\s+{_OWNED_KIN}\b")
_WORDS = re.compile(r"[^\W\d_]+")
_CLAUSE_END = re.compile(r"[.!?;]")
_SHORT = re.compile(r"\b(?:Mr|Mrs|Dr|St)\.")


@dataclass(slots=True)
class Uses:
    """How often a book uses a name in each way."""

    all: int = 0  # every time
    titled: int = 0  # with a title before it
    says: int = 0  # beside a verb of saying, in narration
    acts: int = 0  # as the subject of what people do, in narration
    called: int = 0  # in speech, as the name of the person who is spoken to
    owns: int = 0  # in the possessive
    placed: int = 0  # after a word such as "in" or "near"
    articled: int = 0  # after an article or the like

    @property
    def is_place(self) -> bool:
        """Whether half of the uses or more are those of a place."""
        return self.placed >= 0.5 * self.all

    @property
    def is_epithet(self) -> bool:
        """Whether it says what somebody is, as "the Canadian" does."""
        return self.articled >= 0.5 * self.all

    @property
    def is_person(self) -> bool:
        """Whether the uses are those of a person."""
        if self.titled > 0.1 * self.placed or self.says >= max(2, 0.05 * self.placed):
            return True
        does = self.says + self.acts + self.owns
        called = self.called if does else 0.3 * self.called  # "Hist!" and "Farewell!" do nothing
        sure = 2 * self.says + called + 0.5 * self.acts + 0.3 * self.owns - 0.7 * self.placed
        return sure >= 1 and not self.is_place


class Evidence:
    """What the text around the names of a book shows."""

    def __init__(self, names: Sequence[Name], paragraphs: Sequence[Paragraph]) -> None:
        exchanges = find_exchanges(names, paragraphs)
        self._kept = _kept_qualities(names, paragraphs) | _told_apart(exchanges)
        # The forms as the book has them, with the form that is counted: "Poor Jane" is "Jane".
        self.raw = {form: self._plain(form) for form in dict.fromkeys(n.form for n in names)}
        self.counts = Counter(self.raw[name.form] for name in names)
        self.narrated = Counter(self.raw[name.form] for name in names if not name.in_speech)
        # By the words of a form, or by its last title where there are none.
        self.uses: defaultdict[tuple[str, ...], Uses] = defaultdict(Uses)
        self.pronouns: defaultdict[Form, Counter[str]] = defaultdict(Counter)
        # How often two forms stand in one clause of narration, so that they are not one person.
        self.beside: defaultdict[Form, Counter[Form]] = defaultdict(Counter)
        # The same if one is called a relative of the other: "his son, Tobin Bell".
        self.kin: defaultdict[Form, Counter[Form]] = defaultdict(Counter)
        for name in names:
            self._count_use(name, paragraphs[name.paragraph].text)
        self.exchanges = join_exchanges(exchanges, self.raw)
        narrated = (name for name in names if not name.in_speech)
        for number, group in groupby(narrated, key=lambda name: name.paragraph):
            together = list(group)
            self._count_pronouns(together, paragraphs[number].narration)
            self._count_beside(together, paragraphs[number].text)

    def uses_of(self, form: Form) -> Uses:
        """The uses of the words of a form, or of its last title if it has no words."""
        return self.uses[key_of(form)]

    def gender(self, form: Form, least: int, times: float) -> str:
        """The gender that the pronouns tell."""
        found = self.pronouns[form]
        he, she = found["m"], found["f"]
        if he + she < least:
            return ""
        return "m" if he > times * she + 1 else "f" if she > times * he + 1 else ""

    def _plain(self, form: Form) -> Form:
        return form if form in self._kept else form.plain

    def _count_use(self, name: Name, text: str) -> None:
        uses = self.uses[key_of(name.form)]
        titles, words = name.form
        after = text[name.end : name.end + _AFTER]
        before = text[max(0, name.start - _BEFORE) : name.start]
        uses.all += 1
        uses.titled += bool(titles and words and titles[-1] not in QUALITIES)
        uses.says += name.says
        uses.called += name.called
        uses.acts += acts(name, text)
        uses.placed += bool(_PLACE.search(before))
        uses.owns += bool(_POSSESSIVE.match(after))
        uses.articled += bool(_ARTICLE.search(before))

    def _count_pronouns(self, names: Sequence[Name], narration: str) -> None:
        """Counts the pronouns of the sentences that name one person at their start."""
        start, position = 0, 0
        ends = [*(match.end() for match in SENTENCE_END.finditer(narration)), len(narration)]
        for end in ends:
            first = position
            while position < len(names) and names[position].start < end:
                position += 1
            inside = names[first:position]
            if inside and inside[0].start - start < _SUBJECT:
                form = self.raw[inside[0].form]
                if all(self.raw[name.form] == form for name in inside):
                    rest = _WORDS.findall(narration[inside[0].end : end].lower())
                    genders = {GENDERED[word] for word in rest if word in GENDERED}
                    if len(genders) == 1:
                        self.pronouns[form][genders.pop()] += 1
            start = end

    def _count_beside(self, names: Sequence[Name], text: str) -> None:
        for one, other in pairwise(names):
            if other.start - one.end >= _BESIDE:
                continue
            forms = self.raw[one.form], self.raw[other.form]
            if forms[0] == forms[1]:
                continue
            between = text[one.end : other.start]
            is_kin = _KIN_BEFORE.search(between) or _KIN_AFTER.match(text, other.end)
            for table, counts in (
                (self.beside, not _CLAUSE_END.search(_SHORT.sub("", between))),
                (self.kin, is_kin),
            ):
                if counts:
                    table[forms[0]][forms[1]] += 1
                    table[forms[1]][forms[0]] += 1


def acts(name: Name, text: str) -> bool:
    """Whether a name in narration is the subject of what somebody does."""
    return not name.in_speech and bool(_ACTS.match(text[name.end : name.end + _AFTER]))


def key_of(form: Form) -> tuple[str, ...]:
    """Returns the words of a form, or its last title if it has no words."""
    return form.words or form.titles[-1:]


def _kept_qualities(names: Sequence[Name], paragraphs: Sequence[Paragraph]) -> set[Form]:
    """Returns the forms whose quality tells a son from a father: "Young Jerry".

    It has a capital inside sentences, too.
    """
    inside = Counter(
        name.form
        for name in names
        if name.form.words and name.form.titles[-1:] and name.form.titles[-1] in GENERATIONS
        if not name.in_speech and _is_inside(paragraphs[name.paragraph].text, name.start)
    )
    return {form for form, n in inside.items() if n >= _KEPT_QUALITY}


def _told_apart(exchanges: Mapping[int, Exchanges[Form]]) -> set[Form]:
    """Returns the forms whose quality tells two people apart who talk: "Big" and "Little Ned"."""
    alike, apart = join_exchanges(exchanges)
    return {
        form
        for form, others in apart.items()
        if form.words and form.titles[-1:] and form.titles[-1] in QUALITIES
        for other, n in others.items()
        if other.plain == form.plain and n >= max(_TOLD_APART, alike[form][other] + 1)
    }


def _is_inside(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip()
    return bool(before) and before[-1].isalpha()
