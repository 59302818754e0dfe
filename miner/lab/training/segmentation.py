"""Books -> the weights of the model that says where speech begins and ends in a paragraph.

It learns from two kinds of pages: the annotated chapters of books with dashes, whose exact ends
somebody read, and books with quotation marks in any language. The pages of both are also printed
anew with dashes (`cut_printing`).

It is a structured perceptron: each paragraph is decoded with the weights of the moment, and what
was decoded wrongly moves them. Their average over the whole training, and over several such runs in
other orders, is kept. Some paragraphs are learned without their words, and some without how words
are used in their book, so that the model also knows what to do where it knows no word, and where
the book is short.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from miner.annotation.annotations import EVERY, read_split
from miner.books.book import SPOKEN_KINDS, Block
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, Edition, read_editions
from miner.lab.learning.fields import Option
from miner.lab.learning.network_training import reporting_reader
from miner.lab.learning.prepared import Record
from miner.lab.learning.run_folder import Arrays, refuse_existing_weights, write_weights
from miner.lab.training.segmentation_printing import (
    PrintedParagraph,
    choose_printing,
    pieces_of_book,
    pieces_of_text,
    print_pages,
)
from miner.speech.clauses import Ints
from miner.speech.quotation_marks import is_dashed, may_hold_speech
from miner.speech.segmentation import (
    BEGINS,
    CHANGES,
    ENDS,
    N_ARCS,
    N_FEATURES,
    NO_FEATURE,
    SAID,
    TO_SPEECH,
    TOLD,
    Features,
    Floats,
    Page,
    SegmentationModel,
    Weights,
    decode,
    first_features,
    places_of_use,
    read_page,
    table_of,
)

_N_PRINTINGS = 12  # of the books of one language, and at most three of a book
_N_REPRINTS = 2  # of the annotated paragraphs of a book with dashes
_LARGEST_BYTE = 127
_WEIGHT_OF_PAGE = 0.5  # of a paragraph that is read without the rest of its book
_BLOCKS_OF_PAGE = 16
_WEIGHT_OF_PRINTED = 0.5  # of a paragraph printed anew, beside 1 for one that somebody read

Chosen = dict[int, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentationTraining:
    """The choices of a training run of the cuts."""

    seed: Annotated[int, Option("Seed of all that is drawn by chance.")] = 0
    epochs: Annotated[int, Option("Passes over the paragraphs.")] = 10
    runs: Annotated[int, Option("Runs in other orders, whose weights are averaged.")] = 3
    printed: Annotated[
        int, Option("Paragraphs with narration that are printed anew, of each language.")
    ] = 4000
    least: Annotated[int, Option("Segments in which a fact must be found to have a weight.")] = 3
    margin: Annotated[float, Option("By how much the right step must win over each other one.")] = (
        1.0
    )
    kept: Annotated[int, Option("The most facts of a kind whose weights are written.")] = 50_000
    wordless: Annotated[float, Option("Share of paragraphs learned without their words.")] = 0.4
    bookless: Annotated[
        float, Option("Share learned without how their words are used in the book.")
    ] = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentationRun:
    """Where the examples of a run come from, and where its weights go."""

    out: Annotated[
        Path,
        Option("File for the weights, and for a record beside it.", short="-o", is_output=True),
    ] = Path("cuts.safetensors")
    gold: Annotated[Path, Option("Folder of annotations.")] = Path("annotations")
    books: Annotated[Path | None, Option("Folder of Gutenberg files.", envvar="MINER_BOOKS")] = None
    train_split: Annotated[str, Option("Splits to train on, joined with +.")] = "train+dev"
    without: Annotated[tuple[str, ...], Option("Number of a book to leave out of training.")] = ()


@dataclass(frozen=True, slots=True)
class SegmentationExample:
    """Paragraphs of one book whose speech is known."""

    book: str  # the id of the book
    language: str  # the code of its language
    page: Page  # all paragraphs of the book in which speech is looked for
    # the start and end of each speech in those whose speech is known, by their place.
    speech: Chosen
    weight: float = 1.0  # how much they count
    is_printed: bool = False  # whether they were printed anew


def train_segmentation(
    run: SegmentationRun,
    options: SegmentationTraining,
    force: bool,
    command: str,
    report: Callable[[str], object],
) -> None:
    """Trains the model on annotated books, and writes its weights with a record beside."""
    refuse_existing_weights(run.out, force)
    started = time.monotonic()
    left_out: list[str] = []

    def leave_out(line: str) -> None:
        left_out.append(line)
        report(f"left out, {line}")

    read = reporting_reader(run.books, report)
    split = run.gold, run.train_split
    examples = read_segmentation_examples(*split, read, options, run.without, leave_out)
    n_books = len({example.book for example in examples})
    report(f"read {n_books} books in {time.monotonic() - started:.0f} seconds")
    model = fit_segmentation(examples, options, report)
    record = {
        "command": command,
        "data": f"{run.gold} {run.train_split}",
        "left out": list(run.without),
        "chapters left out": left_out,
        **describe(examples, options),
    }
    write_weights(run.out, weights_of(model, options.kept), record, force)
    report(f"{run.out}: trained, {time.monotonic() - started:.0f} seconds in all")


def read_segmentation_examples(
    gold: Path,
    split: str,
    read: BookReader,
    options: SegmentationTraining,
    without: Collection[str] = (),
    leave_out: Callable[[str], object] | None = None,
) -> list[SegmentationExample]:
    """Returns the annotated paragraphs of books with dashes, and those of others printed anew."""
    books = read_split(gold, split, without, EVERY)
    n_quoted = Counter(book.card.language for book in books)
    examples: list[SegmentationExample] = []
    for edition in read_editions(books, read, leave_out, classified=False):
        typography = edition.book_spans.typography
        card = edition.annotated.card
        chance = random.Random(f"{options.seed} {card.book}")
        if typography is not None and typography.dash:
            examples += _annotated(edition, chance)
            continue
        n_printings = max(1, min(3, _N_PRINTINGS // n_quoted[card.language]))
        n_most = options.printed // (n_printings * n_quoted[card.language])
        for _ in range(n_printings):
            pieces = pieces_of_book(edition.book_spans)
            pages = print_pages(pieces, choose_printing(chance), chance)
            examples += _printed(card.book, card.language, pages, n_most, chance)
    return examples


def _annotated(edition: Edition, chance: random.Random) -> Iterable[SegmentationExample]:
    """Yields the annotated paragraphs of a book with dashes, as they are and printed anew.

    Left out are paragraphs that a dash opens and nobody speaks on this occasion, such as thoughts:
    where they are cut is not annotated.
    """
    located, card = edition.located, edition.annotated.card
    typography = edition.book_spans.typography
    marks_open = typography is None or bool(typography.marks)
    speech: dict[int, list[tuple[int, int]]] = {}
    unsaid: set[int] = set()
    chapters: set[int] = set()
    for span, fact in zip(located.book_spans.spans, located.facts, strict=True):
        if fact is None:
            continue
        chapters.add(span.chapter)
        if fact.is_utterance:
            speech.setdefault(span.paragraph, []).append((span.start, span.end))
        else:
            unsaid.add(span.paragraph)

    def example_of(blocks: Sequence[Block], weight: float) -> Iterable[SegmentationExample]:
        read = [block for block in blocks if may_hold_speech(block.text)]
        others = [block.text for block in blocks if not may_hold_speech(block.text)]
        known = {
            place: tuple(speech.get(block.index, ()))
            for place, block in enumerate(read)
            if block.chapter in chapters and not (block.index in unsaid and is_dashed(block.text))
        }
        texts = [block.text for block in read]
        if known and (
            page := read_page(texts, others, language=card.language, marks_open=marks_open)
        ):
            yield SegmentationExample(card.book, card.language, page, known, weight)

    blocks = [block for block in edition.book_spans.book.blocks if block.kind in SPOKEN_KINDS]
    yield from example_of(blocks, 1.0)
    # Some pages alone, which show little of what is usual in the book.
    annotated = [block for block in blocks if block.chapter in chapters]
    for start in range(0, len(annotated), 2 * _BLOCKS_OF_PAGE):
        yield from example_of(annotated[start : start + _BLOCKS_OF_PAGE], _WEIGHT_OF_PAGE)
    others = [block.text for block in blocks if not may_hold_speech(block.text)]
    known = [block for block in annotated if block.index not in unsaid]
    pieces = [pieces_of_text(block.text, speech.get(block.index, ())) for block in known]
    for _ in range(_N_REPRINTS):
        pages = print_pages(pieces, choose_printing(chance), chance)
        pages += [PrintedParagraph(text) for text in others]
        yield from _printed(card.book, card.language, pages, len(known), chance)


def _printed(
    book: str,
    language: str,
    pages: Sequence[PrintedParagraph],
    n_most: int,
    chance: random.Random,
) -> Iterable[SegmentationExample]:
    """Yields some paragraphs of a book printed anew: all kinds, those with narration above all."""

    def example_of(
        pages: Sequence[PrintedParagraph], n_most: int, weight: float
    ) -> Iterable[SegmentationExample]:
        read = [page for page in pages if may_hold_speech(page.text)]
        others = [page.text for page in pages if not may_hold_speech(page.text)]
        mixed = [place for place, page in enumerate(read) if page.is_mixed]
        said = [place for place, page in enumerate(read) if page.speech and not page.is_mixed]
        told = [place for place, page in enumerate(read) if not page.speech]
        chosen = [
            place
            for places, n in ((mixed, n_most), (said, n_most // 4), (told, n_most // 8))
            for place in chance.sample(places, min(n, len(places)))
        ]
        page = read_page([page.text for page in read], others, language=language)
        if page and chosen:
            speech = {place: read[place].speech for place in sorted(chosen)}
            yield SegmentationExample(book, language, page, speech, weight, is_printed=True)

    yield from example_of(pages, n_most, _WEIGHT_OF_PRINTED)
    n_alone = max(1, n_most // (4 * _BLOCKS_OF_PAGE))
    for start in range(0, len(pages), max(_BLOCKS_OF_PAGE, len(pages) // n_alone)):
        alone = pages[start : start + _BLOCKS_OF_PAGE]
        yield from example_of(alone, _BLOCKS_OF_PAGE, _WEIGHT_OF_PRINTED * _WEIGHT_OF_PAGE)


def arcs_of(page: Page, speech: Chosen) -> Ints:
    """Returns the arc to each row of a page, TOLD in paragraphs whose speech is not known.

    A segment is speech if most of its words are.
    """
    segments = page.clauses
    ends = np.append(segments.first[1:], len(segments.words))
    blocks = page.blocks
    found = np.zeros(len(page.rows), np.int32)
    previous = -1
    for number, row in enumerate(page.rows.tolist()):
        ranges = speech.get(int(blocks[row]), ())
        words = segments.starts[segments.first[row] : ends[row]].tolist()
        within = [
            next((n for n, (start, end) in enumerate(ranges) if start <= word < end), -1)
            for word in words
        ]
        said = [place for place in within if place >= 0]
        place = said[0] if 2 * len(said) >= len(within) and said else -1
        previous = -1 if page.begins[number] else previous
        if place < 0:
            found[number] = TOLD if previous < 0 else ENDS
        else:
            found[number] = BEGINS if previous < 0 else SAID if previous == place else CHANGES
        previous = place
    return found


@dataclass(slots=True)
class _Lessons:
    """The paragraphs of a reading, one after the other."""

    facts: list[Features] = field(default_factory=list)
    arcs: list[Ints] = field(default_factory=list)
    begins: list[NDArray[np.bool_]] = field(default_factory=list)
    lengths: list[Ints] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)

    def add(self, example: SegmentationExample, facts: Features) -> None:
        """Adds the paragraphs of an example, with the facts of the rows of its page."""
        page = example.page
        blocks = page.blocks[page.rows]
        is_known = np.isin(blocks, list(example.speech))
        lengths = np.bincount(blocks[is_known], minlength=1)
        lengths = lengths[lengths > 0].astype(np.int32)
        self.facts.append(Features(facts.states[is_known], facts.arcs[is_known]))
        self.arcs.append(arcs_of(page, example.speech)[is_known])
        self.begins.append(page.begins[is_known])
        self.lengths.append(lengths)
        self.weights.append(np.full(len(lengths), example.weight, np.float32))


def fit_segmentation(
    examples: Sequence[SegmentationExample],
    options: SegmentationTraining,
    report: Callable[[str], object],
) -> SegmentationModel:
    """Returns a model that learns from paragraphs whose speech is known."""
    if not any(example.speech for example in examples):
        raise InputError("found no paragraph with dashes, expected some to learn from")
    lessons = _Lessons()
    for example in examples:
        lessons.add(example, first_features(example.page.reader, example.page.rows))
    first = _fit(lessons, options, report)
    languages = frozenset(example.language for example in examples)
    model = SegmentationModel(first, first, languages)
    lessons = _Lessons()
    for example in examples:
        lessons.add(example, model.read_twice(example.page, example.language))
    return SegmentationModel(first, _fit(lessons, options, report, places_of_use()), languages)


def _fit(
    lessons: _Lessons,
    options: SegmentationTraining,
    report: Callable[[str], object],
    uses: tuple[slice, slice] | None = None,
) -> Weights:
    """Returns the averaged weights of a structured perceptron."""
    states, of_states = _numbered(
        np.concatenate([facts.states for facts in lessons.facts]), options.least
    )
    arcs, of_arcs = _numbered(
        np.concatenate([facts.arcs for facts in lessons.facts]), options.least
    )
    numbered = _Numbered(
        states,
        arcs,
        np.concatenate(lessons.arcs),
        np.concatenate(lessons.begins),
        np.cumsum(np.concatenate(lessons.lengths)),
        np.concatenate(lessons.weights),
        (len(of_states) + 1, len(of_arcs) + 1),
    )
    found = [
        _run(numbered, options, run, lambda line, run=run: report(f"run {run + 1}, {line}"), uses)
        for run in range(options.runs)
    ]
    states_found = np.mean([weights[0] for weights in found], axis=0).astype(np.float32)
    arcs_found = np.mean([weights[1] for weights in found], axis=0).astype(np.float32)
    return Weights(table_of(of_states, states_found[1:]), table_of(of_arcs, arcs_found[1:]))


class _Numbered(NamedTuple):
    """The paragraphs of a reading with a number for each fact, 0 for one without a weight."""

    states: NDArray[np.int32]  # the facts of the state of each row
    arcs: NDArray[np.int32]  # the facts of the arc to it
    right: Ints  # the right arc
    begins: NDArray[np.bool_]  # whether there is narration before it
    ends: Ints  # the row after the last of each paragraph
    counts: Floats  # how much each paragraph counts
    sizes: tuple[int, int]  # how many numbers facts of states and of arcs have


def _run(
    numbered: _Numbered,
    options: SegmentationTraining,
    run: int,
    report: Callable[[str], object],
    uses: tuple[slice, slice] | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Returns the weights for states and for arcs that one run learns."""
    chance = np.random.default_rng((options.seed, run))
    states, arcs, right, begins, ends, counts, sizes = numbered
    weights = _Averaged((sizes[0], 1)), _Averaged((sizes[1], N_ARCS))
    steps = np.eye(N_ARCS, dtype=np.float32)
    unforced = np.zeros(len(right), np.bool_)
    for epoch in range(options.epochs):
        n_wrong = 0
        for number in chance.permutation(len(ends)):
            rows = slice(ends[number - 1] if number else 0, ends[number])
            of_state, of_arc, gold = states[rows], arcs[rows], right[rows]
            drawn = chance.random()
            if uses and drawn < options.wordless:
                of_state, of_arc = of_state[:, : uses[0].stop], of_arc[:, : uses[1].stop]
            elif uses and drawn < options.wordless + options.bookless:
                of_state, of_arc = _without(of_state, uses[0]), _without(of_arc, uses[1])
            scores = weights[1].now[of_arc].sum(axis=1) + options.margin * (1 - steps[gold])
            said = weights[0].now[of_state].sum(axis=(1, 2))
            found = decode(said, scores, begins[rows], unforced[: len(gold)])
            wrong = np.flatnonzero(found != gold)
            for one in weights:
                one.n_steps += 1
            if not len(wrong):
                continue
            n_wrong += 1
            moves = (steps[gold[wrong]] - steps[found[wrong]]) * counts[number]
            weights[0].move(of_state[wrong], moves @ TO_SPEECH[:, None])
            weights[1].move(of_arc[wrong], moves)
        report(f"epoch {epoch + 1}: {n_wrong / len(ends):.3f} of {len(ends):,} paragraphs wrong")
    return weights[0].average(), weights[1].average()


def _without(facts: Ints, places: slice) -> Ints:
    return np.concatenate([facts[:, : places.start], facts[:, places.stop :]], axis=1)


class _Averaged:
    """Weights that move, and their average over all steps."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.now = np.zeros(shape, np.float32)
        self.n_steps = 1
        self._sum = np.zeros(shape, np.float64)

    def move(self, facts: Ints, moves: Floats) -> None:
        """Adds a move to the weights of all facts of a row."""
        numbers = facts.ravel()
        repeated = np.repeat(moves, facts.shape[1], axis=0)
        np.add.at(self.now, numbers, repeated)
        np.add.at(self._sum, numbers, repeated * self.n_steps)
        self.now[0] = 0

    def average(self) -> NDArray[np.float32]:
        """Returns the average of the weights."""
        return (self.now - self._sum / self.n_steps).astype(np.float32)


def _numbered(facts: NDArray[np.uint32], least: int) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Returns the facts with numbers from 1, those of few segments with 0, and which they are."""
    counts = np.bincount(facts.ravel(), minlength=N_FEATURES)
    counts[NO_FEATURE] = 0
    kept = np.flatnonzero(counts >= least)
    numbers = np.zeros(N_FEATURES, np.int32)
    numbers[kept] = np.arange(1, len(kept) + 1)
    return numbers[facts], kept


def weights_of(model: SegmentationModel, most: int) -> Arrays:
    """Returns the weights of a model in 8 bits, as `segmentation.load_segmentation` reads them."""
    codes = " ".join(sorted(model.languages)).encode()
    found: Arrays = {"languages": np.frombuffer(codes, np.uint8)}
    for reading, weights_of_reading in (("first", model.first), ("second", model.second)):
        for part, table in zip(Weights._fields, weights_of_reading, strict=True):
            sizes = np.abs(table.weights).max(axis=1)[table.numbers]
            largest = np.argsort(-sizes, kind="stable")[:most]
            facts = np.sort(largest[sizes[largest] > 0])
            scale = max(float(sizes.max()), 1e-9) / _LARGEST_BYTE
            steps = np.diff(facts, prepend=0)
            weights = table.weights[table.numbers[facts]]
            name = f"{reading}.{part}"
            found[f"{name}.steps"] = steps.astype(np.min_scalar_type(int(steps.max(initial=0))))
            found[f"{name}.weights"] = np.round(weights / scale).astype(np.int8)
            found[f"{name}.scale"] = np.array([scale], np.float32)
    return found


def describe(examples: Sequence[SegmentationExample], options: SegmentationTraining) -> Record:
    """Returns the choices, and the books and paragraphs of the examples."""
    read = [example for example in examples if example.weight == 1]
    return {
        **asdict(options),
        "books read": list(dict.fromkeys(example.book for example in read)),
        "paragraphs read": sum(len(example.speech) for example in read),
        "books printed anew": list(
            dict.fromkeys(example.book for example in examples if example.is_printed)
        ),
        "paragraphs printed anew": sum(
            len(example.speech) for example in examples if example.is_printed
        ),
    }
