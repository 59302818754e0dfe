"""A book and its typography -> spans of utterance and narration. No character is lost."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from miner.books.book import SPOKEN_KINDS, Block, BlockKind, Book
from miner.books.parts import Part
from miner.errors import InputError
from miner.speech.kinds import UNSAID_KINDS, SpanKind
from miner.speech.quotation_marks import (
    Quoted,
    has_dash,
    is_dashed,
    may_hold_speech,
)
from miner.speech.quoted_ranges import QuotedRange, find_ranges
from miner.speech.repairs import Repair
from miner.speech.scripts import find_speeches
from miner.speech.speech import (
    begins_letter,
    classify_ranges,
    fills_block,
    find_asides,
)
from miner.speech.typography import Typography, infer_language

# Rows of tables, captions and footnotes have no spans.
SPANNED_KINDS = (BlockKind.HEADING, BlockKind.BREAK, *SPOKEN_KINDS)

_MARKS_ALONE = re.compile(r"[\s\"'“”‘’«»„‹›]*")
# The most lines above the salutation of a letter (place and date), and the most words of each.
_LONGEST_HEAD = 4
_WORDS_OF_HEAD = 10
# A paragraph right below a letter belongs to it if it is all quoted and has at least these words.
_WORDS_OF_LETTER = 60


@dataclass(frozen=True, slots=True)
class Span:
    """A part of one block: `block.text[start:end] == text`. A block's spans join to its text.

    Attributes:
        chapter: the number of the chapter, from 0.
        paragraph: the index of the block in the book, from 0.
        index: the number of the span in its block, from 0.
        start: the first character in the block's text.
        end: the character after the last.
        text: the text as printed. An utterance includes its quotation marks.
        kind: whether it is speech, narration, or quoted text that nobody says, and which.
        continues: whether it is the first utterance of a paragraph whose speech continues from the
            paragraph before, where the closing mark is left out. Speaker and turn are the same.
    """

    chapter: int
    paragraph: int
    index: int
    start: int
    end: int
    text: str
    kind: SpanKind
    continues: bool = False

    @property
    def is_utterance(self) -> bool:
        """Whether it is speech."""
        return self.kind is SpanKind.UTTERANCE

    @property
    def quoted(self) -> bool:
        """Whether it is in quotation marks, and nobody says it."""
        return self.kind in UNSAID_KINDS

    @property
    def in_marks(self) -> bool:
        """Whether it is in quotation marks, speech or not. These spans are annotated."""
        return self.kind is not SpanKind.NARRATION


@dataclass(frozen=True, slots=True)
class BookSpans:
    """A book and all spans of its story, narration included, in reading order."""

    book: Book  # the book
    spans: tuple[Span, ...]  # its spans, or those of the chapters to be tagged
    # how the book marks speech, or None if the spans were not made from it.
    typography: Typography | None = None
    # the spans of its other chapters, which tell who its people are.
    elsewhere: tuple[Span, ...] = ()
    # where its marks cannot be right as printed, and what is read there instead.
    repairs: tuple[Repair, ...] = ()

    @property
    def language(self) -> str:
        """The language of the book, as `typography.infer_language` gives it."""
        return self.typography.language if self.typography else infer_language(self.book)

    def find_scene_starts(self) -> frozenset[int]:
        """Returns the positions of the utterances that are the first of their scene.

        Speech that runs on across a printed break begins no scene.
        """
        scenes = {block.index: (block.chapter, block.scene) for block in self.book.blocks}
        found: list[int] = []
        last: tuple[int, int] | None = None
        for position, span in enumerate(self.spans):
            if span.is_utterance:
                scene = scenes.get(span.paragraph)
                if scene != last and not span.continues:
                    found.append(position)
                last = scene
        return frozenset(found)


def split_book(
    book: Book, typography: Typography, *, thoughts: bool = False, front_matter: bool = False
) -> BookSpans:
    """Returns the spans of a book whose typography is known.

    Every block of the story (headings, paragraphs, verse, letters) is split into spans that join to
    its text; with `front_matter` such blocks of prefaces, notes and all other parts, too. A heading
    is one span of narration.
    """
    blocks = [
        block
        for block in book.blocks
        if block.kind in SPANNED_KINDS and (front_matter or block.part is Part.STORY)
    ]
    scripts = _ranges_of_scripts(blocks)
    ranges, repairs = find_ranges(blocks, typography, scripts)
    quoted = _cut(blocks, ranges, typography, scripts)
    letters = _letter_starts(blocks, quoted)
    spans: list[Span] = []
    # The kind of the range that the last block left open; None if it left none open.
    last: SpanKind | None = None
    for position, (block, ranges) in enumerate(zip(blocks, quoted, strict=True)):
        if not ranges:
            last = last if block.kind is BlockKind.BREAK else None
            spans.extend(_spans(block, (), (), typography))
            continue
        outer = last if ranges[0].continues else None
        is_letter = position in letters and block.kind is not BlockKind.VERSE
        runs_on = SpanKind.LETTER if is_letter else outer
        kinds = classify_ranges(block, [part[:2] for part in ranges], runs_on, thoughts)
        if block.index in scripts:
            kinds = [SpanKind.UTTERANCE] * len(ranges)
        elif block.kind is BlockKind.PARAGRAPH:
            # What `segmentation` found is speech, or somebody thinks it.
            kinds = [
                SpanKind.UTTERANCE if part.is_segmented and kind is not SpanKind.THOUGHT else kind
                for part, kind in zip(ranges, kinds, strict=True)
            ]
        last = kinds[-1] if not ranges[-1].closed else None
        kinds = [
            SpanKind.OTHER if _MARKS_ALONE.fullmatch(block.text, part.start, part.end) else kind
            for part, kind in zip(ranges, kinds, strict=True)
        ]
        if outer is SpanKind.UTTERANCE and last:
            last = outer  # a letter inside a told story: the story continues after it
        spans.extend(_spans(block, ranges, kinds, typography))
    return BookSpans(book, tuple(spans), typography, repairs=tuple(repairs))


def chapter_in_marks(book_spans: BookSpans, chapter: int) -> tuple[Span, ...]:
    """Returns all spans of a chapter that has at least one span in quotation marks."""
    found = tuple(span for span in book_spans.spans if span.chapter == chapter)
    if not any(span.in_marks for span in found):
        numbers = [span.chapter for span in book_spans.spans] or [0]
        raise InputError(
            f"{book_spans.book.id}: found nothing quoted in chapter {chapter}, "
            f"expected one of the chapters {min(numbers)} to {max(numbers)}"
        )
    return found


def _letter_starts(blocks: Sequence[Block], quoted: Sequence[Sequence[QuotedRange]]) -> set[int]:
    """Returns the positions of the blocks of quoted letters, place and date above them included."""
    starts: set[int] = set()
    end = 0  # of the last letter
    for position, ranges in enumerate(quoted):
        if not ranges or ranges[0].start > 1:
            continue
        first, previous = ranges[0], blocks[position - 1].text if position else ""
        if not begins_letter(blocks[position].text, first.start, first.end, previous):
            continue
        starts.add(position)
        if position >= end:  # a letter inside another ends where that does
            end = _end_of_letter(blocks, quoted, position + 1)
            starts.update(range(position + 1, end))
        for above in range(position - 1, max(position - 1 - _LONGEST_HEAD, -1), -1):
            if not _is_line_of_letter_head(blocks[above], quoted[above]):
                break
            starts.add(above)
    return starts


def _end_of_letter(
    blocks: Sequence[Block], quoted: Sequence[Sequence[QuotedRange]], position: int
) -> int:
    """Returns the first position, from `position` on, that does not belong to the same letter."""
    while position < len(blocks) and (ranges := quoted[position]):
        text = blocks[position].text
        alone = len(ranges) == 1 and fills_block(text, ranges[0].start, ranges[0].end)
        if not alone or (ranges[0].closed and len(text.split()) < _WORDS_OF_LETTER):
            break
        position += 1
    return position


def _is_line_of_letter_head(block: Block, ranges: Sequence[QuotedRange]) -> bool:
    """Whether a block is short, all quoted and left open, as the place and date of a letter."""
    if not ranges or len(block.text.split()) > _WORDS_OF_HEAD or ranges[-1].closed:
        return False
    return fills_block(block.text, ranges[0].start, ranges[0].end)


def _ranges_of_scripts(blocks: Sequence[Block]) -> dict[int, list[QuotedRange]]:
    """Returns the speech of the blocks of scenes that are set as a play, by their index."""
    return {
        index: [QuotedRange(*speech[:2], True, is_segmented=True, told=speech.directions)]
        if speech
        else []
        for index, speech in find_speeches(blocks).items()
    }


def _cut(
    blocks: Sequence[Block],
    quoted: Sequence[list[QuotedRange]],
    typography: Typography,
    scripts: Container[int],
) -> list[list[QuotedRange]]:
    """Returns the quoted ranges of each block with the speech that no pair of marks shows.

    In a book with dashes it is looked for in each block with a dash or a mark. Elsewhere only the
    narrator's words inside the marks are, if the language puts them there.
    """
    are_inside = typography.conventions.attributions_inside_marks
    found = list(quoted)
    read, others = list[int](), list[str]()
    for position, block in enumerate(blocks):
        if block.kind not in SPOKEN_KINDS or block.index in scripts:
            continue
        if (typography.dash and may_hold_speech(block.text)) or (are_inside and quoted[position]):
            read.append(position)
        else:
            others.append(block.text)
    if not read:
        return found
    known = {
        place: [
            Quoted(
                part.start,
                part.end,
                not are_inside and not has_dash(blocks[position].text[part.start : part.end]),
            )
            for part in quoted[position]
        ]
        for place, position in enumerate(read)
        if quoted[position]
    }
    # Only books with dashes need the model, and NumPy with it.
    from miner.speech.segmentation import read_page, segmentation_model

    texts = [blocks[position].text for position in read]
    model = segmentation_model()
    language, marks_open = typography.language, bool(typography.marks)
    page = read_page(texts, others, known, language, marks_open=marks_open) if model else None
    if model and page:
        speech = model.find_speech(page, language)
    else:
        speech = [[(0, len(text))] if is_dashed(text) else [] for text in texts]
    for position, parts in zip(read, speech, strict=True):
        found[position] = _merged(quoted[position], parts, blocks[position].text)
    return found


def _merged(
    quoted: Sequence[QuotedRange], speech: Sequence[tuple[int, int]], text: str
) -> list[QuotedRange]:
    """Returns the quoted ranges with the narration inside them, and the speech outside of them."""
    found: list[QuotedRange] = []
    left = list(reversed(speech))
    for part in quoted:
        while left and left[-1][1] <= part.start:
            found.append(QuotedRange(*left.pop(), True, is_segmented=True))
        inside: list[tuple[int, int]] = []
        while left and left[-1][0] < part.end:
            inside.append(left.pop())
        told = [(end, start) for (_, end), (start, _) in pairwise(inside)]
        if inside and any(map(str.isalnum, text[inside[-1][1] : part.end])):
            told.append((inside[-1][1], part.end))
        found.append(part._replace(told=tuple(told)))
    found += [QuotedRange(start, end, True, is_segmented=True) for start, end in reversed(left)]
    return found


def _spans(
    block: Block, ranges: Sequence[QuotedRange], kinds: Sequence[SpanKind], typography: Typography
) -> list[Span]:
    """Returns the spans of a block, cut at the quoted ranges, which are of these kinds."""
    chapter, paragraph, text = block.chapter, block.index, block.text
    if not ranges:
        return [Span(chapter, paragraph, 0, 0, len(text), text, SpanKind.NARRATION)]
    spans: list[Span] = []

    def cut(start: int, end: int, kind: SpanKind = SpanKind.NARRATION) -> None:
        if start < end:
            place = text[start:end]
            spans.append(Span(chapter, paragraph, len(spans), start, end, place, kind))

    position = 0
    for part, kind in zip(ranges, kinds, strict=True):
        cut(position, part.start)
        position = part.start
        if kind is SpanKind.UTTERANCE:
            for start, end in _breaks(text, part, typography):
                cut(position, start, kind)
                cut(start, end)
                position = end
        cut(position, part.end, kind)
        position = part.end
    cut(position, len(text))
    if ranges[0].continues and kinds[0] is SpanKind.UTTERANCE:
        spans[0] = replace(spans[0], continues=True)
    return spans


def _breaks(text: str, part: QuotedRange, typography: Typography) -> Sequence[tuple[int, int]]:
    """Returns where the narrator's words stand inside the marks of a speech."""
    if part.is_segmented or part.told or typography.conventions.attributions_inside_marks:
        return part.told
    return find_asides(text, part.start, part.end)


def is_blank(span: Span) -> bool:
    """Whether a span is narration without a letter, such as the space between two utterances."""
    return not span.is_utterance and not any(map(str.isalnum, span.text))
