"""A paragraph and its mentions -> who is said to speak, who acts, and who is spoken to.

It serves to find who speaks, among the characters of a book. The tagger has a reader of its own for
its features, `miner.tagger.feature_attributions`, which knows no characters.

A verb of saying and its subject name the speaker: “Come,” said the Hatter. They stand right after
the speech, or right before it if the narration ends in a comma, a colon or a dash. Where narration
says nothing of the kind, whoever acts in it often speaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from miner.people.mentions import Mention, MentionKind, mentions_between
from miner.people.names import (
    ACTS,
    BEFORE_OBJECT,
    DENIALS,
    DETERMINERS,
    GESTURES,
    GROUPS,
    JOINING,
    LEAD_IN_ABBREVIATIONS,
    OPENERS,
    OWNING_ENDING,
    PARTICLE_VERBS,
    PARTS,
    QUALITIES,
    RELATIVE,
    REPORTS,
    SAY,
    SAY_WITH_PARTICLE,
    SUBORDINATE,
    TOWARDS,
    Paragraph,
)
from miner.people.nouns import gender_of_noun, read_noun
from miner.speech.narration import SENTENCE_END

_FIRST_WORDS = 6  # words of a sentence of narration among which its subject is looked for
_VERB_WITHIN = 5  # words after the speech, at most, before its verb of saying
_SUBJECT_WITHIN = 3  # words, at most, between a verb and the subject after it
_VERB_AFTER = 2  # words, at most, between a subject and the verb after it
_REACH = 1000  # characters before the speech; no sentence that leads in is longer
_BEFORE_NAME = 28  # characters in which the words before an addressee are looked for

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CLAUSE = rf"(?:{LEAD_IN_ABBREVIATIONS}\.|[^,.;:!?—–])"
_AFTER = re.compile(rf"\s*[—–-]*\s*(?!\()({_CLAUSE}{{2,80}})")
_LEADS_IN = (",", ":", "—", "–", "-")
_PIECE = re.compile(rf"{_CLAUSE}+")
_STOP = re.compile(r"(?<!\.)(?<!\. )([.?!])[\"”’'»)_\s]*$")
_ENDED = re.compile(rf"[.?!][\s{''.join(_LEADS_IN)}]+$")
_OPENERS = JOINING | SUBORDINATE | OPENERS
_OWNS = re.compile(rf"(?:{OWNING_ENDING})\s+([^\W\d_]+)")
_JOINED = re.compile(rf"\s+(?:{'|'.join(map(re.escape, sorted(JOINING)))})\s+")
_BEFORE_NOUN = rf"\s+(?:(?:{DETERMINERS}|{'|'.join(sorted(QUALITIES))})\s+)*$"
_BEFORE_OBJECT = re.compile(rf"\b(?:{BEFORE_OBJECT}){_BEFORE_NOUN}")
_PARTICLE = re.compile(BEFORE_OBJECT)
_TOWARDS = re.compile(rf"\b(?:{TOWARDS}){_BEFORE_NOUN}")
_GROUP = re.compile(rf"(?i:{GROUPS})(?![\w-])")
_ACTS = re.compile(rf"\s+{ACTS}\b")


class Attribution(NamedTuple):
    """Who is said to speak an utterance, in the clauses after it and before it."""

    after: Mention | None
    before: Mention | None

    @property
    def nearest(self) -> Mention | None:
        """The mention after the utterance, or else the one before it."""
        return self.after or self.before


def find_attributions(
    paragraph: Paragraph,
    mentions: Sequence[Mention],
    before: Paragraph | None = None,
    mentions_before: Sequence[Mention] = (),
) -> list[Attribution]:
    """Returns the attribution of each utterance of a paragraph."""
    found: list[Attribution] = []
    text, at = paragraph.text, 0
    ends = [start for start, _ in paragraph.utterances[1:]] + [len(text)]
    for (start, end), following in zip(paragraph.utterances, ends, strict=True):
        if paragraph.head:
            leading = _find_head(paragraph.head, mentions)
        elif at or text[:start].strip():
            leading = _find_leading(text, at, start, mentions)
            leading = _together(text, leading, mentions)
        elif before and before.head:
            leading = _find_head(before.head, mentions_before)
        elif before:
            leading = _find_leading(before.text, 0, len(before.text), mentions_before)
            leading = _together(before.text, leading, mentions_before)
        else:
            leading = None
        trailing = _find_trailing(text, (start, end), following, mentions, leading is not None)
        found.append(Attribution(_together(text, trailing, mentions), leading))
        at = end
    return found


def _find_head(head: str, mentions: Sequence[Mention]) -> Mention:
    """Returns the speaker whom a scene that is set as a play names at the start of a speech."""
    named = mentions_between(mentions, 0, len(head))
    if len(named) == 1 and named[0].end == len(head):
        return named[0]
    return _group(0, len(head), head.casefold())


class _Clause(NamedTuple):
    """A clause of narration with a verb of saying."""

    start: int
    end: int
    verb: tuple[int, int]  # the place of the verb and its particle
    words: tuple[str, ...]  # its words in small letters
    n_before: int  # the number of words before the verb
    depends: bool  # whether the verb is that of a part of it ("Mara sat as Bell spoke")


def _find_trailing(
    text: str,
    utterance: tuple[int, int],
    end: int,
    mentions: Sequence[Mention],
    is_announced: bool,
) -> Mention | None:
    """Returns the speaker whom the clause after an utterance names."""
    match = _AFTER.match(text, utterance[1], end)
    clause = match and _read_clause(text, *match.span(1), is_last=False)
    if clause is None or clause.depends or clause.n_before > _VERB_WITHIN:
        return None
    if clause.n_before and clause.words[0] in JOINING:
        return None
    if subject := _subject_after(text, clause, mentions):
        return subject
    if subject := _subject_before(text, clause, mentions):
        is_new = _is_new_sentence(text[slice(*utterance)], text, clause, subject, is_announced)
        return None if is_new else subject
    return _find_noun(text, clause)


def _is_new_sentence(
    speech: str, text: str, clause: _Clause, subject: Mention, is_announced: bool
) -> bool:
    """Whether a clause that begins with its subject is a sentence of its own.

    Such a one tells what somebody does then, or announces what is said next: “Come.” Mara laughed.
    A name has a capital, so only the end of the speech and the verb tell: “Come!” Mara cried.
    """
    first = text[clause.start :].lstrip()[0]
    stop = _STOP.search(speech)
    if not first.isupper() or (stop is None and not is_announced):
        return False
    is_name = subject.kind is MentionKind.NAME or subject.gender == "i"
    if is_announced or not is_name or text[clause.start : subject.start].strip():
        return True
    if stop is not None and stop[1] == ".":
        return True
    following = clause.words[clause.n_before + 1 : clause.n_before + 2]
    return clause.words[clause.n_before] in GESTURES or not REPORTS.isdisjoint(following)


def _find_leading(text: str, start: int, end: int, mentions: Sequence[Mention]) -> Mention | None:
    """Returns the speaker whom the sentence before an utterance announces.

    The last clause counts that has a verb of saying and is part of no other clause. What may follow
    it is a clause in which nobody acts (Mara said, with a sigh, “Come.”), or after another
    utterance one that depends on it (“Oh,” said Mara, when Bell came, “you?”).
    """
    end = start + len(text[start:end].rstrip())
    is_first = start == 0
    if not text[start:end].endswith(_LEADS_IN) or _ENDED.search(text, start, end):
        return None
    start = max(start, end - _REACH)
    for stop in SENTENCE_END.finditer(text, start, end):
        start = stop.end()
    pieces = [_Piece(*match.span(), mentions, text) for match in _PIECE.finditer(text, start, end)]
    dependent: Mention | None = None
    for number, piece in reversed(list(enumerate(pieces))):
        clause = _read_clause(text, piece.start, piece.end, is_last=True)
        if clause is None:
            if piece.acting and (is_first or not piece.depends):
                break
            continue
        found = _announced(text, clause, pieces[:number], mentions)
        if not clause.depends:
            return found or dependent
        dependent = dependent or found
    return dependent


class _Piece:
    """A stretch of narration without a comma."""

    def __init__(self, start: int, end: int, mentions: Sequence[Mention], text: str) -> None:
        self.start, self.end = start, end
        words = _words(text, start, end)
        self.is_joined = bool(words) and words[0] in JOINING
        opening = words[self.is_joined :]
        self.depends = not SUBORDINATE.isdisjoint(opening[:1])
        self.is_relative = len(opening) == 1 and opening[0] in RELATIVE  # "Mara, who, sighing,"
        self.acting = _acting(text, start, end, mentions)
        noun = read_noun(text, _after_joining(text, start, end), end)
        self.is_noun = noun is not None and not self.acting


def _announced(
    text: str, clause: _Clause, before: Sequence[_Piece], mentions: Sequence[Mention]
) -> Mention | None:
    """Returns the subject of a clause before an utterance, which may stand before commas."""
    if subject := _subject_before(text, clause, mentions):
        return subject
    if not before and (inverted := _subject_after(text, clause, mentions)):
        return inverted
    if not before or not clause.depends:
        if noun := _find_noun(text, clause):
            return noun
    is_joined = clause.words[0] in JOINING
    is_relative = clause.words[0] in RELATIVE
    for number, piece in reversed(list(enumerate(before))):
        near = mentions_between(mentions, piece.start, piece.end)
        if is_relative:
            named = [m for m in near if not m.in_speech and m.kind is not MentionKind.PRONOUN]
            return named[-1] if named else None
        opening = _opening(text, piece.start, piece.acting, near)
        if opening and not text[opening[-1].end : piece.end].strip():
            return opening[-1]  # "when Mara, with a sigh, said"
        if is_joined or not piece.depends:
            if piece.is_noun:
                return None
            if piece.acting and not (opening or number):
                return piece.acting[0]
            if opening:
                return opening[0 if piece.depends else -1]
        is_joined, is_relative = is_joined or piece.is_joined, piece.is_relative
    return None


def _read_clause(text: str, start: int, end: int, *, is_last: bool) -> _Clause | None:
    """Returns a clause by its first or last verb of saying; None where it has none."""
    matches = list(_WORD.finditer(text, start, end))
    words = [match[0].lower() for match in matches]
    verbs = _find_verbs(words)
    if not verbs:
        return None
    free = next((n for n, word in enumerate(words) if word in SUBORDINATE), len(words))
    main = [verb for verb in verbs if verb < free]
    verb = (main or verbs)[-1 if is_last else 0]
    if not DENIALS.isdisjoint(words[max(0, verb - 3) : verb + 2]):
        return None
    particle = " ".join(words[verb + 1 : verb + 2])
    last = verb + (words[verb] in PARTICLE_VERBS and bool(_PARTICLE.fullmatch(particle)))
    place = matches[verb].start(), matches[last].end()
    return _Clause(start, end, place, tuple(words), verb, not main)


def _find_verbs(words: Sequence[str]) -> list[int]:
    """The positions of the verbs of saying; "went" is one only before "on"."""
    return [
        position
        for position, word in enumerate(words)
        if word in SAY or SAY_WITH_PARTICLE.get(word) in words[position + 1 : position + 2]
    ]


def _acting(text: str, start: int, end: int, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions in narration that may be subjects: not "to Mara", nor "Mara's hat"."""
    return [
        mention
        for mention in mentions_between(mentions, start, end)
        if not mention.in_speech and mention.may_act and not _is_object(text, start, mention)
    ]


def _is_object(text: str, start: int, mention: Mention) -> bool:
    """Whether a mention depends on the word before it ("to Mara") or owns the one after it."""
    if mention.kind is MentionKind.PRONOUN:
        return False
    if owned := _OWNS.match(text, mention.end):
        return owned[1] not in PARTS and owned[1] not in SAY  # "Mara's voice", "was Mara's answer"
    before = text[max(start, mention.start - _BEFORE_NAME) : mention.start]
    return bool(_BEFORE_OBJECT.search(before))


def _subject_after(text: str, clause: _Clause, mentions: Sequence[Mention]) -> Mention | None:
    """Returns the subject right after the verb of a clause: "said Mara"."""
    start, end = clause.verb
    if _acting(text, clause.start, start, mentions) or read_noun(text, clause.start, start):
        return None
    later = next(iter(_acting(text, end, clause.end, mentions)), None)
    between = _words(text, end, later.start) if later else []
    is_far = len(between) > _SUBJECT_WITHIN or not SUBORDINATE.isdisjoint(between)
    return None if is_far else later  # not "said the carter when Mara came"


def _subject_before(text: str, clause: _Clause, mentions: Sequence[Mention]) -> Mention | None:
    """Returns the subject before the verb of a clause: "Mara said", "Mara rose and said"."""
    acting = _acting(text, clause.start, clause.verb[0], mentions)
    if not acting:
        return None
    between = _words(text, acting[-1].end, clause.verb[0])
    if len(between) <= _VERB_AFTER and JOINING.isdisjoint(between):
        if len(acting) > 1 and _JOINED.fullmatch(text, acting[-2].end, acting[-1].start):
            return acting[-2]  # "Mara and Bell said"
        return acting[-1]
    near = mentions_between(mentions, clause.start, clause.verb[0])
    opening = _opening(text, clause.start, acting, near)
    return opening[-1] if opening else None


def _opening(
    text: str, start: int, acting: Sequence[Mention], mentions: Sequence[Mention]
) -> list[Mention]:
    """Returns those of the acting mentions that open a clause: "Mara", "and then Mara"."""
    found: list[Mention] = []
    for mention in acting:
        words = _words(text, start, mention.start)
        before = mentions[: mentions.index(mention)]
        is_second = before and _JOINED.fullmatch(text, before[-1].end, mention.start)
        if not is_second and (_OPENERS.issuperset(words) or words[-1] in JOINING):
            found.append(mention)
    return found


def _after_joining(text: str, start: int, end: int) -> int:
    """The place in a clause after the word that joins it to the one before."""
    first = _WORD.search(text, start, end)
    return first.end() if first and first[0].lower() in JOINING else start


def _find_noun(text: str, clause: _Clause) -> Mention | None:
    """Returns the noun beside the verb of a clause that has no subject among the mentions."""
    start, end = clause.verb
    noun = _unknown_noun(text, _after_joining(text, clause.start, start), start)
    if noun is not None and len(_words(text, noun.end, start)) <= _VERB_AFTER:
        return noun
    return _unknown_noun(text, end, clause.end) if clause.n_before <= _VERB_AFTER else None


def _unknown_noun(text: str, start: int, end: int) -> Mention | None:
    phrase = read_noun(text, start, end)
    if phrase is None:
        return None
    gender = gender_of_noun(phrase.noun)
    place = phrase.start, phrase.end
    return Mention(*place, MentionKind.NOUN, None, gender, noun=phrase.name)


def _together(text: str, subject: Mention | None, mentions: Sequence[Mention]) -> Mention | None:
    """Returns a subject, or several people who speak at once as one of their words.

    These are "they all", whose noun is "all", and two who are joined: "Ann and the waiter".
    """
    if subject is None or subject.noun:
        return subject
    if subject.kind is MentionKind.PRONOUN:
        group = _GROUP.match(text, subject.start) if subject.gender == "t" else None
        if group is None:
            return subject
        after = _words(text, group.end(), group.end() + _BEFORE_NAME)
        beside = (*_words(text, max(0, group.start() - _BEFORE_NAME), group.start())[-1:], *after)
        if SAY.isdisjoint(beside[:3]):
            return subject  # "they sat, and Mara, who saw them, said"
        return _group(*group.span(), group[0].split()[-1].lower())
    for other in mentions_between(mentions, subject.end, subject.end + _BEFORE_NAME)[:1]:
        is_joined = other.kind is not MentionKind.PRONOUN and not other.in_speech
        if is_joined and _JOINED.fullmatch(text, subject.end, other.start):
            if not _ACTS.match(text, other.end):  # "said Ann and the waiter sighed"
                words = " ".join(text[subject.start : other.end].split())
                return _group(subject.start, other.end, words)
    return subject


def _group(start: int, end: int, noun: str) -> Mention:
    return Mention(start, end, MentionKind.NOUN, None, "", noun=noun)


def find_subject(text: str, start: int, end: int, mentions: Sequence[Mention]) -> Mention | None:
    """Returns the first mention among the first words of a stretch of narration.

    Possessives count: in "Her voice broke" she is meant.
    """
    last = start
    for number, word in enumerate(_WORD.finditer(text, start, end), 1):
        last = word.end()
        if number > _FIRST_WORDS:
            break
    near = mentions_between(mentions, start, last)
    return next((mention for mention in near if not mention.in_speech), None)


def find_last_subject(
    text: str, start: int, end: int, mentions: Sequence[Mention]
) -> Mention | None:
    """Returns the subject of the last sentence of a stretch of narration that has one."""
    starts = [start, *(match.end() for match in SENTENCE_END.finditer(text, start, end))]
    for sentence in reversed(starts):
        if found := find_subject(text, sentence, end, mentions):
            return found
    return None


def find_addressee(text: str, start: int, end: int, mentions: Sequence[Mention]) -> Mention | None:
    """Returns the first mention in narration to whom something is said: "to Emma"."""
    for mention in mentions_between(mentions, start, end):
        if not mention.in_speech:
            before = text[max(start, mention.start - _BEFORE_NAME) : mention.start]
            if mention.kind is MentionKind.NOUN:
                before = before.rstrip() + " "
            if _TOWARDS.search(before):
                return mention
    return None


def _words(text: str, start: int, end: int) -> list[str]:
    return [word.lower() for word in _WORD.findall(text, start, end)]
