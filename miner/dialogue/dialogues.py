"""Tagged spans -> dialogues of turns -> pairs of a turn and its response."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from miner.dialogue.spans import Span
from miner.dialogue.tags import Tag, TaggedBook, TaggedSpan, repair_tags, transition_error

# What opens speech, and the marks that may close it; what else stands at either end is said: the
# apostrophe of "’Tis", the nested mark, the dash of a speech that is cut short.
_CLOSERS = {
    "“": '”“"',
    '"': '"”',
    "„": '“”"',
    "«": "»",
    "»": "«",
    "‘": "’'",
    "'": "'’",
    "‚": "‘’'",
}
_CLOSING = re.compile(r"""(?:[”»"]|(?<=[^\w\s])[’'])$""")
_DASHES = "—–―-"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says in one go: the span of a B- tag and the I- spans that follow it.

    `confidences` are of the tags of its spans and, last, of the tag after them, which says that the
    turn ends there; empty where the tagger claims none.
    """

    spans: tuple[Span, ...]
    confidences: tuple[float, ...] = ()

    @property
    def quoted_text(self) -> str:
        """The texts of the spans, quotation marks included, with one space between two."""
        return " ".join(span.text.strip() for span in self.spans)

    @property
    def text(self) -> str:
        """The words as spoken: the texts of the spans without the marks around them.

        >>> span = Span(1, 7, 0, 0, 7, "“Come!”", True)
        >>> Turn((span,)).text
        'Come!'
        """
        return " ".join(strip_marks(span.text) for span in self.spans).strip()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The turns of one conversation, in order; `index` counts the book's dialogues from 0.

    `part` counts, from 0, what `filter_dialogues` left of the conversation on either side of a turn that
    it took out; `(book, index, part)` is unique, and `index` is the same however one filters.
    """

    book: str
    index: int
    turns: tuple[Turn, ...]
    part: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """A turn and the next turn of the same dialogue (or, for span pairs, two spans)."""

    book: str
    dialogue: int
    context: Turn
    response: Turn

    @property
    def confidence(self) -> float | None:
        """That all tags which make the pair are right, were they right or wrong independently.

        The product of their confidences: of both turns' spans and of the tag after the response.
        None where the tagger claims none.
        """
        if not self.response.confidences:
            return None
        return math.prod((*self.context.confidences[:-1], *self.response.confidences))


@dataclass(frozen=True, slots=True)
class FilteredDialogues:
    """The dialogues that were kept, and how many turns and dialogues went, by reason."""

    kept: tuple[Dialogue, ...]
    drops: tuple[tuple[str, int], ...]


def strip_marks(text: str) -> str:
    """The text of an utterance without its opening mark or dash and without its closing mark."""
    text = text.strip()
    closers = _CLOSERS.get(text[:1])
    if closers is None:
        # After a dash, or on from an aside: a closing mark may stand here all the same.
        return _CLOSING.sub("", text.lstrip(_DASHES)).strip()
    return text[1:].removesuffix(text[-1] if text[-1] in closers else "").strip()


def is_unclosed(text: str) -> bool:
    """Whether the text opens with a quotation mark and does not close it."""
    text = text.strip()
    return text[:1] in _CLOSERS and text[-1] not in _CLOSERS[text[0]]


def repair_book(tagged: TaggedBook) -> TaggedBook:
    """The book with each illegal tag changed by `tags.repair_tags`, so that it has dialogues."""
    tags = repair_tags(item.tag for item in tagged.spans)
    spans = (replace(item, tag=tag) for item, tag in zip(tagged.spans, tags, strict=True))
    return replace(tagged, spans=tuple(spans))


def dialogues(tagged: TaggedBook) -> list[Dialogue]:
    """The dialogues of a book, in reading order; narration is left out.

    B-START opens a dialogue, B-OTHER a turn in it, and an I- span belongs to the turn before it
    ("Mining Conversations from Novels", section Identifying Conversations).

    Raises:
        ValueError: if a tag may not follow the one before; names book, paragraph and span.
    """
    found: list[list[list[int]]] = []
    utterances = [item for item in tagged.spans if item.tag is not Tag.O]
    previous: Tag | None = None
    for number, item in enumerate(utterances):
        if problem := transition_error(item.tag, previous):
            raise ValueError(
                f"book {tagged.book}, paragraph {item.span.paragraph}, span {item.span.index}: "
                f"{problem}"
            )
        if item.tag is Tag.B_START:
            found.append([[number]])
        elif item.tag is Tag.B_OTHER:
            found[-1].append([number])
        else:
            found[-1][-1].append(number)
        previous = item.tag
    return [
        Dialogue(tagged.book, index, tuple(_turn(utterances, numbers) for numbers in turns))
        for index, turns in enumerate(found)
    ]


def _turn(utterances: Sequence[TaggedSpan], numbers: Sequence[int]) -> Turn:
    sure = [item.confidence for item in utterances[numbers[0] : numbers[-1] + 2]]
    if len(sure) == len(numbers):
        sure.append(1.0)  # the book ends here, and so does the turn
    known = tuple(value for value in sure if value is not None)
    spans = tuple(utterances[number].span for number in numbers)
    return Turn(spans, known if len(known) == len(sure) else ())


def turn_pairs(dialogue: Dialogue) -> list[Pair]:
    """Each turn with the next turn of the dialogue; none in a dialogue of one turn."""
    return [
        Pair(dialogue.book, dialogue.index, context, response)
        for context, response in pairwise(dialogue.turns)
    ]


def span_pairs(dialogue: Dialogue) -> list[Pair]:
    """Each span with the next span of the dialogue, also where both are of one turn.

    So "Mining Conversations from Novels" builds its utterance pairs (section Constructing
    Utterance Pairs): a span of a turn "answers" the span before it.
    """
    return turn_pairs(by_span(dialogue))


def by_span(dialogue: Dialogue) -> Dialogue:
    """The dialogue with every span a turn of its own."""
    turns = tuple(
        Turn((span,), turn.confidences[number : number + 2])
        for turn in dialogue.turns
        for number, span in enumerate(turn.spans)
    )
    return replace(dialogue, turns=turns)


def filter_dialogues(
    dialogues: Iterable[Dialogue],
    max_utterance_words: int | None = None,
    min_turns: int = 1,
    min_confidence: float = 0.0,
) -> FilteredDialogues:
    """The dialogues without too long turns and unsure pairs, then without too short dialogues.

    "The Gutenberg Dialogue Dataset" (section 3, Long utterances) takes out utterances of more
    than 100 words; its utterance is our turn. A turn is not answered by what comes after its
    successor, so the dialogue ends before a turn that is taken out and a new part of it begins
    after: no pair arises that the book does not have. An unsure pair is parted in the same way,
    but both of its turns stay.

    Args:
        dialogues: as `dialogues` gives them.
        max_utterance_words: words, split at white space, that a turn may have; None for no limit.
        min_turns: turns that a dialogue, or a part of one, must have.
        min_confidence: least `Pair.confidence`, 0..1, at which a turn answers the one before.

    Returns:
        What is kept, in order, and the counts "long turns", "unsure pairs", "short dialogues" (or
        parts) and "turns in short dialogues".

    Raises:
        ValueError: if a limit is out of range, or confidence is asked of tags that have none.
    """
    if min_turns < 1 or (max_utterance_words is not None and max_utterance_words < 1):
        raise ValueError(
            f"found max_utterance_words {max_utterance_words} and min_turns {min_turns}, "
            "expected at least 1"
        )
    if not 0 <= min_confidence <= 1:
        raise ValueError(f"found min_confidence {min_confidence}, expected 0 to 1")
    kept: list[Dialogue] = []
    n_long = n_unsure = n_short = n_turns_in_short = 0
    for dialogue in dialogues:
        runs = _runs(dialogue.turns, max_utterance_words)
        n_long += len(dialogue.turns) - sum(map(len, runs))
        parts = [part for run in runs for part in _sure_parts(dialogue, run, min_confidence)]
        n_unsure += len(parts) - len(runs)
        for number, turns in enumerate(parts):
            if len(turns) >= min_turns:
                kept.append(replace(dialogue, turns=tuple(turns), part=number))
            else:
                n_short += 1
                n_turns_in_short += len(turns)
    drops = (
        ("long turns", n_long),
        ("unsure pairs", n_unsure),
        ("short dialogues", n_short),
        ("turns in short dialogues", n_turns_in_short),
    )
    return FilteredDialogues(tuple(kept), drops)


def _runs(turns: tuple[Turn, ...], max_words: int | None) -> list[list[Turn]]:
    """The runs of turns between those of more than `max_words` words; no run is empty."""
    runs: list[list[Turn]] = [[]]
    for turn in turns:
        if max_words is not None and len(turn.quoted_text.split()) > max_words:
            runs.append([])
        else:
            runs[-1].append(turn)
    return [run for run in runs if run]


def _sure_parts(dialogue: Dialogue, turns: list[Turn], least: float) -> list[list[Turn]]:
    """The turns, parted where a pair is less sure than that."""
    if not least:
        return [turns]
    parts = [turns[:1]]
    for pair in turn_pairs(replace(dialogue, turns=tuple(turns))):
        if pair.confidence is None:
            raise ValueError("found tags without confidence, expected those of a checkpoint")
        if pair.confidence < least:
            parts.append([])
        parts[-1].append(pair.response)
    return parts
