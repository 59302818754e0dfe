"""Gold spans and predicted spans -> which utterance of one side is which of the other.

Spans match by their place if both sides were read from the same paragraphs, and otherwise by their
letters, so that two editions of a book can be compared. Mined pairs are judged by these matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from miner.annotation.alignment import fold_words
from miner.speech.dialogues import Pair, Turn, decode_dialogues, repair_book, turn_pairs
from miner.speech.spans import Span
from miner.speech.tags import TaggedBook, TaggedSpan

# Paragraph, start and end (exclusive). It names the same characters in every tagging of a book.
Place = tuple[int, int, int]


def place_of(span: Span) -> Place:
    """Returns the place of a span in its book."""
    return span.paragraph, span.start, span.end


def ends_of(span: Span) -> Place:
    """Returns the place of a span from its first letter to its last, whichever marks it includes.

    A span without letters has the place of its characters, white space at its ends left out.
    """
    start, end = find_ends(span.text, str.isalnum)
    if start == end:
        start, end = find_ends(span.text, lambda character: not character.isspace())
    return span.paragraph, span.start + start, span.start + end


def find_ends(text: str, counts: Callable[[str], bool]) -> tuple[int, int]:
    """Returns the first character that counts, and the one after the last; (0, 0) if none does."""
    start = next((n for n, character in enumerate(text) if counts(character)), None)
    if start is None:
        return 0, 0
    return start, next(n for n in range(len(text), 0, -1) if counts(text[n - 1]))


def match_spans(gold: TaggedBook, predicted: TaggedBook) -> list[tuple[int, int]]:
    """Matches utterances; returns ascending pairs of indices into the two `spans`.

    If both books were read from the same paragraphs, spans with the same letters match. Otherwise
    (two editions of a book, or two ways to parse it) the letters of the utterances are aligned in
    order by difflib, longest run first. Two chapters are linked only if at least a quarter of the
    utterances of one of them match, so that a stray "Yes." does not link them. Spans with different
    letters never match.
    """
    if has_same_paragraphs(gold, predicted):
        at = {ends_of(item.span): i for i, item in enumerate(predicted.spans)}
        places = [(i, at.get(ends_of(item.span))) for i, item in enumerate(gold.spans)]
        return [
            (i, j)
            for i, j in places
            if j is not None
            and gold.spans[i].span.is_utterance
            and predicted.spans[j].span.is_utterance
        ]
    return _align_spans(gold, predicted)


def match_tags(
    gold: Iterable[TaggedBook], predicted: Iterable[TaggedBook]
) -> Iterator[tuple[TaggedSpan, TaggedSpan]]:
    """Yields each utterance that both sides have: the gold span, then the predicted span.

    Tags are those that were given, without repair. A gold book without a prediction yields nothing.
    """
    predictions = {book.book: book for book in predicted}
    for book in gold:
        if (other := predictions.get(book.book)) is not None:
            for i, j in match_spans(book, other):
                yield book.spans[i], other.spans[j]


def letters_of(text: str) -> str:
    """Returns the letters and digits of a text, folded as by `alignment.fold_words`.

    A text without letters and digits is returned as it is, stripped of white space.

    >>> letters_of("“Don't _you_?”")
    'dontyou'
    """
    return "".join(fold_words(text)) or text.strip()


def has_same_paragraphs(gold: TaggedBook, predicted: TaggedBook) -> bool:
    """Whether the books share paragraph numbers and all shared paragraphs have the same letters."""
    texts: list[dict[int, list[str]]] = []
    for book in (gold, predicted):
        found: dict[int, list[str]] = {}
        for item in book.spans:
            found.setdefault(item.span.paragraph, []).append(item.span.text)
        texts.append(found)
    common = texts[0].keys() & texts[1].keys()
    pairs = (("".join(texts[0][n]), "".join(texts[1][n])) for n in common)
    return bool(common) and all(a == b or letters_of(a) == letters_of(b) for a, b in pairs)


def _align_spans(gold: TaggedBook, predicted: TaggedBook) -> list[tuple[int, int]]:
    """Matches two books by the letters of their utterances, in order; see `match_spans`."""
    golds, predictions = (
        [i for i, item in enumerate(book.spans) if item.span.is_utterance]
        for book in (gold, predicted)
    )
    matcher = SequenceMatcher(
        None,
        [letters_of(gold.spans[i].span.text) for i in golds],
        [letters_of(predicted.spans[i].span.text) for i in predictions],
        autojunk=False,
    )
    pairs = [
        (golds[block.a + n], predictions[block.b + n])
        for block in matcher.get_matching_blocks()
        for n in range(block.size)
    ]
    links = [(gold.spans[i].span.chapter, predicted.spans[j].span.chapter) for i, j in pairs]
    n_links = Counter(links)
    n_golds = Counter(gold.spans[i].span.chapter for i in golds)
    n_predictions = Counter(predicted.spans[j].span.chapter for j in predictions)
    return [
        pair
        for pair, link in zip(pairs, links, strict=True)
        if 4 * n_links[link] >= min(n_golds[link[0]], n_predictions[link[1]])
    ]


# The causes of a wrong pair. They are tried in this order, and the first that holds is counted.
CAUSES = {
    "not speech": "one of its spans is narration, a title, a letter or a thought",
    "span cut wrongly": "one of its spans is speech, but begins or ends elsewhere",
    "two conversations": "its context and response belong to two conversations",
    "one turn taken for two": "the same speaker continues in the response",
    "speakers merged": "one of its turns has the words of more than one speaker",
    "half a turn": "the rest of one of its turns is in another mined turn",
    "speech missed": "a span of its turns, or a turn between them, was not found",
}


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A mined pair, its chapter, and why it is wrong.

    `cause` is one of `CAUSES`, or "" if the pair is right. `confidence` is None if the tagger gives
    none.
    """

    book: str
    chapter: int
    confidence: float | None
    cause: str

    @property
    def is_right(self) -> bool:
        """Whether gold has the pair."""
        return not self.cause


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """The mined turn pairs of the annotated chapters, and the number of gold pairs by chapter.

    The keys of `n_gold` are (book, chapter).
    """

    mined: tuple[JudgedPair, ...]
    n_gold: Mapping[tuple[str, int], int]


def judge_pairs(gold: Sequence[TaggedBook], predicted: Sequence[TaggedBook]) -> JudgedPairs:
    """Judges the predicted turn pairs in the chapters of the gold."""
    mined: list[JudgedPair] = []
    n_gold: Counter[tuple[str, int]] = Counter()
    for truth, guess in zip(gold, predicted, strict=True):
        chapters = {item.span.chapter for item in truth.spans}
        judge = _Judge(
            truth, {ends_of(item.span) for item in guess.spans if item.span.is_utterance}
        )
        n_gold.update({(truth.book, chapter): 0 for chapter in chapters})
        for dialogue in decode_dialogues(truth):
            for pair in turn_pairs(dialogue):
                n_gold[truth.book, pair.context.spans[0].chapter] += 1
        for dialogue in decode_dialogues(repair_book(guess)):
            for pair in turn_pairs(dialogue):
                if not {span.chapter for span in _spans(pair)} <= chapters:
                    continue
                cause = "" if judge.is_right(pair) else judge.cause(pair)
                chapter = pair.context.spans[0].chapter
                mined.append(JudgedPair(truth.book, chapter, pair.confidence, cause))
    return JudgedPairs(tuple(mined), n_gold)


_Places = tuple[Place, ...]


class _Judge:
    """Judges mined pairs against the gold of one book."""

    def __init__(self, gold: TaggedBook, found: set[Place]) -> None:
        self.found = found
        self.pairs: set[tuple[_Places, _Places]] = set()
        # A turn is known by the number of its conversation and its own number in it.
        self.turn_of: dict[Place, tuple[int, int]] = {}
        self.places_of: dict[tuple[int, int], _Places] = {}
        self.speech: dict[int, list[tuple[int, int]]] = {}
        for dialogue in decode_dialogues(gold):
            self.pairs |= {
                (_places(pair.context), _places(pair.response)) for pair in turn_pairs(dialogue)
            }
            for number, turn in enumerate(dialogue.turns):
                key = dialogue.index, number
                self.places_of[key] = _places(turn)
                for paragraph, start, end in self.places_of[key]:
                    self.turn_of[paragraph, start, end] = key
                    self.speech.setdefault(paragraph, []).append((start, end))

    def is_right(self, pair: Pair) -> bool:
        """Whether gold has a pair made of the same spans."""
        return (_places(pair.context), _places(pair.response)) in self.pairs

    def cause(self, pair: Pair) -> str:
        """The first of `CAUSES` that holds for a wrong pair."""
        places = (*_places(pair.context), *_places(pair.response))
        unknown = [place for place in places if place not in self.turn_of]
        if unknown:
            spoken = all(self._overlaps(place) for place in unknown)
            return "span cut wrongly" if spoken else "not speech"
        context_turns, response_turns = (
            [self.turn_of[place] for place in _places(turn)]
            for turn in (pair.context, pair.response)
        )
        if context_turns[-1][0] != response_turns[0][0]:
            return "two conversations"
        if context_turns[-1] == response_turns[0]:
            return "one turn taken for two"
        if len(set(context_turns)) > 1 or len(set(response_turns)) > 1:
            return "speakers merged"
        missing = [
            place
            for turn in (context_turns[0], response_turns[0])
            for place in self.places_of[turn]
            if place not in places
        ]
        return "half a turn" if missing and self.found.issuperset(missing) else "speech missed"

    def _overlaps(self, place: Place) -> bool:
        paragraph, start, end = place
        return any(low < end and start < high for low, high in self.speech.get(paragraph, ()))


def _places(turn: Turn) -> _Places:
    return tuple(map(ends_of, turn.spans))


def _spans(pair: Pair) -> list[Span]:
    return [*pair.context.spans, *pair.response.spans]
