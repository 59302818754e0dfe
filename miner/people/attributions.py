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
    BEFORE_OBJECT,
    BEFORE_VOCATIVE,
    DETERMINERS,
    LEAD_IN_ABBREVIATIONS,
    PARTICLE_VERBS,
    SAY,
    SAY_WITH_PARTICLE,
    SENTENCE_END,
    TOWARDS,
    Paragraph,
)
from miner.people.nouns import gender_of_noun, read_noun

_FIRST_WORDS = 6  # words of a sentence of narration among which its subject is looked for
_VERB_WITHIN = 5  # words after the speech, at most, before its verb of saying
_SUBJECT_WITHIN = 3  # words, at most, between a verb and the subject after it
_REACH = 1000  # characters before the speech; no clause that leads in is longer
_BEFORE = 40  # characters in which the words before an object are looked for
_BEFORE_NAME = 28  # characters in which the words before an addressee are looked for

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CLAUSE = rf"(?:{LEAD_IN_ABBREVIATIONS}\.|[^,.;:!?—–])"
_AFTER = re.compile(rf"\s*[—–-]*\s*({_CLAUSE}{{2,80}})")
_LEADS_IN = (",", ":", "—", "–", "-")
_LEADING = re.compile(rf"({_CLAUSE}{{2,90}})[{''.join(_LEADS_IN)}]+$")
_OBJECT = re.compile(rf"(?:(?P<verb>[^\W\d_]+)\s+)?\b(?:{BEFORE_OBJECT})\s+$")
_NOT_NEAREST = re.compile(r"\b(?:saw|heard|and)\s+$")
_TOWARDS = re.compile(rf"\b(?:{TOWARDS})\s+(?:(?:{DETERMINERS}|poor|old|young|little|dear)\s+)*$")
_BEFORE_CALL = re.compile(rf"(?:^|[,.!?;:—“”‘’\"'\s-])(?:{BEFORE_VOCATIVE})\s*$")
_CALL_OPENS, _CALL_ENDS = tuple(",“‘\"'—!.?;-"), tuple(",.!?;—”’\"'-")


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
        after = None
        if match := _AFTER.match(text, end, following):
            after = _find_speaker(text, *match.span(1), mentions, is_after=True)
        if at or text[:start].strip():
            leading = _find_leading(text, at, start, mentions)
        else:
            leading = before and _find_leading(before.text, 0, len(before.text), mentions_before)
        found.append(Attribution(after, leading))
        at = end
    return found


def _find_leading(text: str, start: int, end: int, mentions: Sequence[Mention]) -> Mention | None:
    """Returns the speaker whom the last clause of a stretch of narration announces."""
    end = start + len(text[start:end].rstrip())
    if not text[start:end].endswith(_LEADS_IN):
        return None
    match = _LEADING.search(text, max(start, end - _REACH), end)
    return match and _find_speaker(text, *match.span(1), mentions, is_after=False)


def _find_speaker(
    text: str, start: int, end: int, mentions: Sequence[Mention], *, is_after: bool
) -> Mention | None:
    """Returns the subject of the verb of saying in a clause; None without verb or subject.

    A noun that is not known to be a person is one here ("said the wub"); it has no number yet.
    """
    words = list(_WORD.finditer(text, start, end))
    verb = _find_verb([word[0].lower() for word in words])
    if verb is None or (is_after and verb > _VERB_WITHIN):
        return None
    said, said_end = words[verb].span()
    near = mentions_between(mentions, start, end)
    inside = [
        mention
        for mention in near
        if not mention.in_speech and mention.may_act and not _is_object(text, start, mention)
    ]
    earlier = [mention for mention in inside if mention.end <= said]
    later = [mention for mention in inside if mention.start >= said_end]
    if later and not earlier and _count_words(text, said_end, later[0].start) <= _SUBJECT_WITHIN:
        return later[0]
    if earlier:
        nearest = earlier[-1]
        is_near = _count_words(text, nearest.end, said) <= 1
        if not is_after and (nearest.kind is MentionKind.PRONOUN or is_near):
            if not _NOT_NEAREST.search(text, max(start, nearest.start - 14), nearest.start):
                return nearest
        return earlier[0]
    if found := _unknown_noun(text, said_end, end):
        return found
    found = _unknown_noun(text, start, said)
    return found if found and _count_words(text, found.end, said) <= 1 else None


def _is_object(text: str, start: int, mention: Mention) -> bool:
    """Whether a preposition stands before a mention; that of "went on Mara" is part of the verb."""
    found = _OBJECT.search(text, max(start, mention.start - _BEFORE), mention.start)
    return bool(found) and (found["verb"] or "").lower() not in PARTICLE_VERBS


def _unknown_noun(text: str, start: int, end: int) -> Mention | None:
    phrase = read_noun(text, start, end)
    if phrase is None:
        return None
    gender = gender_of_noun(phrase.noun)
    place = phrase.start, phrase.end
    return Mention(*place, MentionKind.NOUN, None, gender, noun=phrase.name)


def _find_verb(words: Sequence[str]) -> int | None:
    """The position of the first verb of saying; "went" is one only before "on"."""
    for position, word in enumerate(words):
        particle = SAY_WITH_PARTICLE.get(word)
        if word in SAY or (particle and particle in words[position + 1 : position + 2]):
            return position
    return None


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


def find_called(
    text: str, start: int, end: int, mentions: Sequence[Mention]
) -> tuple[frozenset[int], frozenset[int]]:
    """Returns the people whom an utterance calls, and the others whom it names."""
    called: set[int] = set()
    named: set[int] = set()
    for mention in mentions_between(mentions, start, end):
        if mention.kind is not MentionKind.NAME:
            continue
        before = text[max(start, mention.start - 12) : mention.start].rstrip()
        after = text[mention.end : mention.end + 2].lstrip()
        opens = not before or before.endswith(_CALL_OPENS) or _BEFORE_CALL.search(before)
        is_call = opens and after.startswith(_CALL_ENDS)
        assert mention.person is not None
        (called if is_call else named).add(mention.person)
    return frozenset(called), frozenset(named - called)


def _count_words(text: str, start: int, end: int) -> int:
    return len(_WORD.findall(text, start, end))
