"""The facts of annotations -> tags, conversations and turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from miner.annotation.annotations import UNKNOWN, AnnotatedBook, Annotation
from miner.speech.spans import Span
from miner.speech.tags import CONTINUATION, Tag, TaggedBook, TaggedSpan


def derive_tags(facts: Iterable[Annotation]) -> list[Tag]:
    """Returns the tag of each annotation; O for a span that is no utterance.

    The tag of an utterance follows from the utterance before it. Another conversation, also a
    resumed one, gives B-START. The same speaker continues the turn. Another speaker gives B-OTHER.
    If one of the two speakers is unknown ("?"), the speaker is the same within a paragraph and
    another in a new paragraph.
    """
    tags: list[Tag] = []
    before: Annotation | None = None
    tag = Tag.O
    for fact in facts:
        if not fact.is_utterance:
            tags.append(Tag.O)
            continue
        if before is None or _occasion(before) != _occasion(fact):
            tag = Tag.B_START
        elif not is_same_speaker(before, fact):
            tag = Tag.B_OTHER
        else:
            tag = CONTINUATION[tag]
        tags.append(tag)
        before = fact
    return tags


def is_same_speaker(before: Annotation, fact: Annotation) -> bool:
    """Whether an utterance continues the turn of the one before, by the rule of `derive_tags`."""
    if UNKNOWN in (before.speaker, fact.speaker):
        return before.paragraph == fact.paragraph
    return before.speaker == fact.speaker


def renumber_conversations(facts: Iterable[Annotation]) -> list[Annotation]:
    """Returns the annotations of a chapter with conversations numbered in the order they begin."""
    numbers = {0: 0}
    return [
        replace(fact, conversation=numbers.setdefault(fact.conversation, len(numbers)))
        for fact in facts
    ]


def group_by_conversation(
    facts: Iterable[Annotation],
) -> Iterator[tuple[tuple[int, int], list[Annotation]]]:
    """Yields each conversation: its chapter and number, and its utterances in reading order."""
    # Sorting is stable: reading order within a conversation.
    ordered = sorted((fact for fact in facts if fact.is_utterance), key=_occasion)
    for occasion, group in groupby(ordered, key=_occasion):
        yield occasion, list(group)


def count_interrupted_pairs(facts: Sequence[Annotation]) -> int:
    """Returns the number of pairs with utterances of other conversations between their turns.

    Such a pair is a turn and the next turn of the same conversation by another speaker. The facts
    have it, but tags cannot express it.
    """
    n_pairs = 0
    place = {id(fact): n for n, fact in enumerate(fact for fact in facts if fact.is_utterance)}
    for _, group in group_by_conversation(facts):
        for before, fact in pairwise(group):
            apart = place[id(fact)] - place[id(before)] > 1
            n_pairs += apart and not is_same_speaker(before, fact)
    return n_pairs


def _occasion(fact: Annotation) -> tuple[int, int]:
    return fact.chapter, fact.conversation


def tag_annotations(annotated: AnnotatedBook) -> TaggedBook:
    """Returns the annotations as a tagged book in which fingerprints replace the text of the spans.

    So two readings of one edition can be scored against each other without the book.
    """
    spans: list[TaggedSpan] = []
    tags = derive_tags(annotated.annotations)
    index = start = 0
    for fact, tag in zip(annotated.annotations, tags, strict=True):
        text, place = str(fact.fingerprint), (fact.chapter, fact.paragraph)
        if not spans or place != (spans[-1].span.chapter, spans[-1].span.paragraph):
            index = start = 0
        end = start + len(text)
        spoken = fact.is_utterance
        spans.append(TaggedSpan(Span(*place, index, start, end, text, spoken, not spoken), tag))
        index, start = index + 1, end
    return TaggedBook(annotated.card.book, tuple(spans), annotated.source)
