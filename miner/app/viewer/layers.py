"""Taggings of one book side by side: the gold's and the taggers', with scores and disagreements.

Conversations count from 1 in each chapter. A conversation that continues from the chapter before is
the first of its chapter, and its turns keep their numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import groupby

from miner.annotation.annotations import UNKNOWN, AnnotatedBook, Annotation, Annotations
from miner.annotation.locate import Located, locate, refuse_losses
from miner.annotation.matching import Place, judge_pairs, match_tags, place_of
from miner.books.book import Book
from miner.corpus.schema import Row, rows_of_book
from miner.errors import InputError
from miner.people.cast import Character
from miner.people.character_files import NO_CHARACTERS, CharacterLists, SpokenBook
from miner.speech.dialogues import Dialogue, Pair, Turn, decode_dialogues, turn_pairs
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan, Tagger
from miner.tagger.load import StoredTags

_Causes = Mapping[tuple[tuple[Place, ...], ...], str]


@dataclass(frozen=True, slots=True)
class NumberedUtterance:
    """A tagged utterance with its numbers."""

    item: TaggedSpan
    conversation: int  # number of its conversation in the chapter, from 1
    turn: int  # number of its turn in the conversation, from 1
    fact: Annotation | None = None  # the annotation behind it; only the gold has one

    @property
    def speaker(self) -> str:
        """The id of the speaker, or the name that the annotator gave; `UNKNOWN` for nobody."""
        return self.fact.speaker if self.fact else self.item.speaker or UNKNOWN


@dataclass(frozen=True, slots=True)
class NumberedPair:
    """A pair of a turn and the next one."""

    turn: int  # number of the first turn in its conversation
    confidence: float | None  # 0 to 1, or None where the tagger gives none
    # why the pair is wrong, one of `matching.CAUSES`; "" if the gold has the pair; None if no gold
    # can judge it
    cause: str | None


@dataclass(frozen=True, slots=True)
class NumberedConversation:
    """The part of a conversation that is in one chapter."""

    number: int  # of the conversation in the chapter, from 1
    dialogue: int  # number of the dialogue in the book, from 0, as in the mined files
    first: int  # number of its first turn in the chapter; above 1 if it began in an earlier chapter
    last: int  # number of its last turn in the chapter
    pairs: tuple[NumberedPair, ...]  # the pairs whose first turn begins in the chapter


@dataclass(frozen=True, slots=True)
class ChapterCounts:
    """How many utterances, conversations, turns and pairs a chapter has."""

    utterances: int
    conversations: int
    turns: int
    pairs: int


@dataclass(frozen=True, slots=True)
class NumberedChapter:
    """A chapter of a tagged book; `spans` includes the narration."""

    spans: tuple[TaggedSpan, ...]
    utterances: tuple[NumberedUtterance, ...]
    conversations: tuple[NumberedConversation, ...]

    @property
    def counts(self) -> ChapterCounts:
        """How many utterances, conversations, turns and pairs there are."""
        return ChapterCounts(
            len(self.utterances),
            len(self.conversations),
            sum(item.last - item.first + 1 for item in self.conversations),
            sum(len(item.pairs) for item in self.conversations),
        )


def number_chapters(
    tagged: TaggedBook,
    gold: TaggedBook | None = None,
    facts: Mapping[Place, Annotation] | None = None,
) -> dict[int, NumberedChapter]:
    """Numbers the conversations and turns of each chapter."""
    found = decode_dialogues(tagged)
    places = {
        place_of(span): (dialogue.index, number)
        for dialogue in found
        for number, turn in enumerate(dialogue.turns, 1)
        for span in turn.spans
    }
    spans: dict[int, list[TaggedSpan]] = {}
    for item in tagged.spans:
        spans.setdefault(item.span.chapter, []).append(item)
    causes = _causes(tagged, found, gold)
    chapters = {}
    for chapter, of_chapter in spans.items():
        said = [item for item in of_chapter if item.tag is not Tag.O]
        held = [places[place_of(item.span)] for item in said]
        order = {index: n for n, index in enumerate(dict.fromkeys(index for index, _ in held), 1)}
        utterances = tuple(
            NumberedUtterance(item, order[index], turn, (facts or {}).get(place_of(item.span)))
            for item, (index, turn) in zip(said, held, strict=True)
        )
        conversations = tuple(
            _conversation(found[index], number, chapter, causes) for index, number in order.items()
        )
        chapters[chapter] = NumberedChapter(tuple(of_chapter), utterances, conversations)
    return chapters


def _conversation(
    dialogue: Dialogue, number: int, chapter: int, causes: _Causes | None
) -> NumberedConversation:
    """The part of a dialogue that is in a chapter."""
    turns = [
        n
        for n, turn in enumerate(dialogue.turns, 1)
        if any(span.chapter == chapter for span in turn.spans)
    ]
    pairs = tuple(
        NumberedPair(n, pair.confidence, None if causes is None else causes.get(_key(pair)))
        for n, pair in enumerate(turn_pairs(dialogue), 1)
        if pair.context.spans[0].chapter == chapter
    )
    return NumberedConversation(number, dialogue.index, turns[0], turns[-1], pairs)


def _causes(
    tagged: TaggedBook, found: Sequence[Dialogue], gold: TaggedBook | None
) -> _Causes | None:
    """The cause of each pair that the gold can judge, by the places of its turns."""
    if gold is None:
        return None
    chapters = {item.span.chapter for item in gold.spans}
    pairs = [
        pair
        for dialogue in found
        for pair in turn_pairs(dialogue)
        if {span.chapter for turn in (pair.context, pair.response) for span in turn.spans}
        <= chapters
    ]
    judged = judge_pairs([gold], [tagged]).mined
    return {_key(pair): item.cause for pair, item in zip(pairs, judged, strict=True)}


def _key(pair: Pair) -> tuple[tuple[Place, ...], ...]:
    return _places(pair.context), _places(pair.response)


def _places(turn: Turn) -> tuple[Place, ...]:
    return tuple(map(place_of, turn.spans))


N_COLOURS = 8  # as many as the styles have


@dataclass(frozen=True, slots=True)
class CastMember:
    """A person of a layer, or whoever speaks where nobody is known."""

    character: Character | None  # the person; None for the unknown ones together
    chapters: Mapping[int, int]  # the number of utterances in each chapter in which it speaks
    n_addressed: int = 0  # the number of utterances of the book that are said to it

    @property
    def id(self) -> str:
        """The id of the character, or `UNKNOWN`."""
        return UNKNOWN if self.character is None else self.character.id

    @property
    def n_utterances(self) -> int:
        """How many utterances of the book it speaks."""
        return sum(self.chapters.values())


def list_cast(spoken: SpokenBook) -> tuple[CastMember, ...]:
    """Returns the cast of a tagged book, ranked, and the unknown ones last.

    It is empty if no utterance has a speaker, as in languages without an attributor.
    """
    counts: defaultdict[str | None, Counter[int]] = defaultdict(Counter)
    for item in spoken:
        if item.span.is_utterance:
            counts[item.speaker][item.span.chapter] += 1
    if not counts.keys() - {None}:
        return ()
    members = tuple(
        CastMember(one, counts.get(one.id, {}), spoken.n_addressed[one.id]) for one in spoken.ranked
    )
    unknown = CastMember(None, counts.get(None, {}))
    return (*members, unknown) if unknown.chapters else members


def choose_colours(casts: Sequence[Sequence[CastMember]]) -> list[dict[str, int]]:
    """Returns the colours, from 1, of those who speak most in all layers together.

    A person has one colour in all layers. The gold calls people by names of its own, so layers are
    matched by name: by the name that is shown, else by another one.
    """
    people: dict[str, str] = {}  # the id of a person in the first layer that has it, by name
    person_of: list[dict[str, str]] = []
    counts: Counter[str] = Counter()
    for cast in casts:
        found: dict[str, str] = {}
        for member in cast:
            if member.character is not None and member.chapters:
                known = (people.get(name) for name in _names_of(member.character))
                free = (person for person in known if person and person not in found.values())
                found[member.id] = next(free, member.id)
                counts[found[member.id]] += member.n_utterances
        for member in cast:
            if member.character is not None and member.id in found:
                for name in _names_of(member.character):
                    people.setdefault(name, found[member.id])
        person_of.append(found)
    colours = {person: n for n, (person, _) in enumerate(counts.most_common(N_COLOURS), 1)}
    return [
        {one: colours[person] for one, person in found.items() if person in colours}
        for found in person_of
    ]


def _names_of(character: Character) -> Iterator[str]:
    """The names of a character in one spelling: "mrs pockett" for "Mrs. Pockett"."""
    for name in dict.fromkeys((character.name, *character.aliases)):
        yield name.replace(".", "").casefold()


GOLD = "gold"
MAX_LAYERS = 9  # the keys 1 to 9 switch between them


class SpanRole(StrEnum):
    """What a layer says about a span of text; the value is the text that the page shows."""

    STARTS_CONVERSATION = "begins a conversation"
    STARTS_TURN = "begins a turn"
    CONTINUES_TURN = "continues the turn"
    SPLIT_DIFFERENTLY = "split differently"
    NOT_AN_UTTERANCE = "not an utterance"


ROLE_OF_TAG = {
    Tag.B_START: SpanRole.STARTS_CONVERSATION,
    Tag.B_OTHER: SpanRole.STARTS_TURN,
    Tag.I_START: SpanRole.CONTINUES_TURN,
    Tag.I_OTHER: SpanRole.CONTINUES_TURN,
}


@dataclass(frozen=True, slots=True)
class Layer:
    """One tagging of a book, by chapter; the gold has only the annotated chapters."""

    name: str  # of the tagger, or `GOLD`
    is_gold: bool
    chapters: Mapping[int, NumberedChapter]
    # the rows of `dialogues.jsonl`, in order; empty on a page that does not copy them
    dialogues: Sequence[Row] = ()
    cast: Sequence[CastMember] = ()  # who speaks; empty where no speaker is known


@dataclass(frozen=True, slots=True)
class LayeredBook:
    """A book and its layers, the gold first."""

    book: Book
    layers: tuple[Layer, ...]  # the gold, if there is one, then the taggers
    annotated: tuple[int, ...] = ()  # numbers of the annotated chapters, in order
    n_lost: int = 0  # number of annotated spans that this edition does not have

    @property
    def chapters(self) -> tuple[int, ...]:
        """The chapter numbers in order; chapter 0 is the text before the first heading."""
        return tuple(dict.fromkeys(block.chapter for block in self.book.blocks))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A span of text to which two layers give different roles."""

    place: Place
    first: SpanRole
    second: SpanRole


@dataclass(frozen=True, slots=True)
class Rates:
    """Precision, recall and F1, each 0 to 1, or None where the rate is undefined."""

    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class ChapterScores:
    """End-to-end scores of a layer against the gold in one chapter: B-START and turn pairs."""

    start: Rates
    pairs: Rates


def build_layers(
    book_spans: BookSpans,
    taggers: Sequence[tuple[str, Tagger]],
    annotations: Annotations | None = None,
    characters: CharacterLists = NO_CHARACTERS,
) -> LayeredBook:
    """Tags a book with each tagger and puts the gold first, if annotations are given.

    In annotated chapters every tagger tags the spans of the gold, as in `miner compare`. In other
    chapters it tags the miner's own spans. Stored tags keep the spans of their file. The speakers
    of the gold have the names that the annotators gave them.
    """
    names = [*([GOLD] if annotations else []), *(name for name, _ in taggers)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"found two layers called {twice[0]}, expected each name once")
    if not 1 <= len(names) <= MAX_LAYERS:
        raise InputError(f"found {len(names)} layers, expected 1 to {MAX_LAYERS}")
    from miner.people.attributor import attribute_speakers

    speak = partial(attribute_speakers, revise=False)
    book = book_spans.book
    if annotations is None:
        plain = (
            _layer(book_spans, name, speak(book_spans, tagger.tag(book_spans), characters))
            for name, tagger in taggers
        )
        return LayeredBook(book, tuple(plain))
    located = locate(_find_annotated_book(annotations, book.id), book_spans)
    refuse_losses(located)
    gold = _with_names(located)
    facts = {
        place_of(span): fact
        for span, fact in zip(located.book_spans.spans, located.facts, strict=True)
        if fact is not None
    }
    chapters = number_chapters(gold, facts=facts)
    named = speak(located.book_spans, gold.spans)
    layers = [Layer(GOLD, True, chapters, _dialogue_rows(book, gold, named), list_cast(named))]
    spans = tuple(_replace_chapters(book_spans.spans, located.book_spans.spans))
    mixed = replace(book_spans, spans=spans)
    for name, tagger in taggers:
        tagged = tagger.tag(book_spans if isinstance(tagger, StoredTags) else mixed)
        layers.append(_layer(mixed, name, speak(mixed, tagged, characters), gold))
    return LayeredBook(book, tuple(layers), tuple(layers[0].chapters), len(located.lost))


def find_disagreements(one: NumberedChapter, other: NumberedChapter) -> list[Disagreement]:
    """Finds the spans to which two layers give different roles, in reading order.

    I-START and I-OTHER have the same role: both continue a turn, and they differ only because the
    layers already differ at the beginning of that turn.
    """
    sides = [
        {place_of(item.item.span): ROLE_OF_TAG[item.item.tag] for item in side.utterances}
        for side in (one, other)
    ]
    ordered = [sorted(side) for side in sides]
    found = []
    for place in sorted(sides[0].keys() | sides[1].keys()):
        first, second = (
            side.get(place) or _role_without_utterance(place, places)
            for side, places in zip(sides, ordered, strict=True)
        )
        if first is not second:
            found.append(Disagreement(place, first, second))
    return found


def score_chapter(book: LayeredBook, layer: Layer, chapter: int) -> ChapterScores:
    """Scores a layer against the gold in one annotated chapter, end to end."""
    if chapter not in book.annotated:
        raise InputError(f"found no gold for chapter {chapter}, expected one of {book.annotated}")
    gold, predicted = (
        TaggedBook(book.book.id, side.chapters[chapter].spans, side.name)
        for side in (book.layers[0], layer)
    )
    judged = judge_pairs([gold], [predicted])
    n_right = sum(pair.is_right for pair in judged.mined)
    starts = [sum(item.tag is Tag.B_START for item in side.spans) for side in (gold, predicted)]
    both = sum(
        ours.tag is theirs.tag is Tag.B_START for ours, theirs in match_tags([gold], [predicted])
    )
    return ChapterScores(
        _rates(both, starts[1], starts[0]),
        _rates(n_right, len(judged.mined), sum(judged.n_gold.values())),
    )


def _rates(n_right: int, n_found: int, n_gold: int) -> Rates:
    return Rates(
        n_right / n_found if n_found else None,
        n_right / n_gold if n_gold else None,
        2 * n_right / (n_found + n_gold) if n_found + n_gold else None,
    )


def name_layers(labels: Iterable[str]) -> list[str]:
    """Shortens each path to its last part, unless two paths have the same last part.

    >>> name_layers(["gap 150", "runs/large", "old/tags.jsonl", "new/tags.jsonl"])
    ['gap 150', 'large', 'old/tags.jsonl', 'new/tags.jsonl']
    """
    labels = list(labels)
    ends = [label.rstrip("/").rpartition("/")[2] for label in labels]
    return [label if ends.count(end) > 1 else end for label, end in zip(labels, ends, strict=True)]


def _layer(
    book_spans: BookSpans, name: str, spoken: SpokenBook, gold: TaggedBook | None = None
) -> Layer:
    """The layer of a tagger."""
    book = book_spans.book
    tagged = TaggedBook(book.id, spoken.spans, name, book_spans.language)
    chapters = number_chapters(tagged, gold)
    return Layer(name, False, chapters, _dialogue_rows(book, tagged, spoken), list_cast(spoken))


def _dialogue_rows(book: Book, tagged: TaggedBook, spoken: SpokenBook) -> list[Row]:
    return list(rows_of_book(book, tagged, decode_dialogues(tagged), spoken)["dialogues"])


def _with_names(located: Located) -> TaggedBook:
    """The gold with the names of the annotators as speakers."""
    gold = located.tagged()
    spans = tuple(
        item
        if fact is None or fact.speaker in ("", UNKNOWN)
        else replace(item, speaker=fact.speaker)
        for item, fact in zip(gold.spans, located.facts, strict=True)
    )
    return replace(gold, spans=spans)


def _role_without_utterance(place: Place, places: Sequence[Place]) -> SpanRole:
    """The role of a span that is not an utterance of a layer; `places` are the layer's, sorted.

    Utterances do not overlap each other, so only the nearest on either side can overlap the span.
    """
    paragraph, start, end = place
    n = bisect_left(places, place)
    near = (other for other in places[max(n - 1, 0) : n + 1] if other[0] == paragraph)
    overlaps = any(other[1] < end and start < other[2] for other in near)
    return SpanRole.SPLIT_DIFFERENTLY if overlaps else SpanRole.NOT_AN_UTTERANCE


def _replace_chapters(spans: Iterable[Span], own: Sequence[Span]) -> Iterator[Span]:
    """The spans of a book, with those of `own` in the chapters that `own` has."""
    chapters = {number: list(group) for number, group in groupby(own, key=lambda s: s.chapter)}
    for number, group in groupby(spans, key=lambda s: s.chapter):
        yield from chapters.get(number, group)


def _find_annotated_book(annotations: Annotations, book: str) -> AnnotatedBook:
    for item in annotations.gold:
        if item.card.book == book:
            return item
    raise InputError(
        f"{annotations.folder}: found no annotations of {book}, "
        f"expected one of its {len(annotations.gold)} books"
    )
