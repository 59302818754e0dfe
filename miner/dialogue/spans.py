"""Blocks + typography -> spans of utterance and narration, in reading order; loses no character."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from miner.books.book import SPOKEN_KINDS, Block, BlockKind, Book
from miner.dialogue.quotation_marks import Scanner, dash_stretches, scanner_for, verb_tags
from miner.dialogue.speech import are_speech, asides, begins_letter, fills
from miner.dialogue.typography import Typography

# Tables of contents, captions and footnotes stand beside the story; they hold no spans.
STORY_KINDS = (BlockKind.HEADING, *SPOKEN_KINDS)

# Unclosed speech may run through so many blocks that repeat no mark (a song, a recited poem).
_LONGEST_RUN = 12
# Place and date above the salutation of a letter: so many lines of so many words at most.
_LONGEST_HEAD = 4
_WORDS_OF_HEAD = 10
# A paragraph of so many words, nothing but quoted, right below one of a letter belongs to it.
_WORDS_OF_LETTER = 60


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one block: `block.text[start:end] == text`.

    The spans of a block join back to its text. An utterance span includes its quotation marks.
    `quoted` marks narration that stands in quotation marks but was judged not to be speech.
    `continues` marks the first utterance of a paragraph whose speech runs on from the paragraph
    before (the closing mark was left out there): same speaker, same turn.
    """

    chapter: int
    paragraph: int
    index: int
    start: int
    end: int
    text: str
    is_utterance: bool
    quoted: bool = False
    continues: bool = False

    @property
    def in_marks(self) -> bool:
        """Whether it stands in quotation marks, said or not: what is to be annotated."""
        return self.is_utterance or self.quoted


@dataclass(frozen=True, slots=True)
class BookSpans:
    """A book and all spans of its story, narration included, in reading order.

    `typography` says how the book marks speech; None where the spans come from elsewhere.
    """

    book: Book
    spans: tuple[Span, ...]
    typography: Typography | None = None


class QuotedRange(NamedTuple):
    """Where quoted text begins and ends in a block; `closed` is False where its mark is missing.

    `dashed` says that a dash opened it, not a mark: then it is speech and nothing else.
    """

    start: int
    end: int
    closed: bool
    continues: bool = False
    dashed: bool = False


def split_book(book: Book, typography: Typography, *, thoughts: bool = False) -> BookSpans:
    """The spans of a book whose typography is known.

    Every block of the story (headings, paragraphs, verse, letters) is split without a remainder;
    headings are one span of narration.

    Args:
        book: the book.
        typography: how it marks speech.
        thoughts: whether what is thought in quotation marks ("I must go," he thought) counts as an
            utterance. The annotation guidelines say no; other corpora of quotations say yes.
    """
    blocks = [block for block in book.blocks if block.kind in STORY_KINDS]
    quoted = list(_stretches_of_book(blocks, typography))
    letters = _letter_starts(blocks, quoted)
    spans: list[Span] = []
    last: bool | None = None  # what the stretch left open at the last block's end was taken for
    for position, (block, stretches) in enumerate(zip(blocks, quoted, strict=True)):
        if not stretches:
            last = None
            spans.extend(_spans(block, (), (), typography))
            continue
        outer = last if stretches[0].continues else None
        runs_on = False if position in letters else outer
        if stretches[0].dashed and block.kind is BlockKind.PARAGRAPH:
            spoken = [True] * len(stretches)
        else:
            spoken = are_speech(block, stretches, runs_on, thoughts)
        last = spoken[-1] if not stretches[-1].closed else None
        if outer and last is False:
            last = True  # a letter in a story that somebody tells: the story goes on after it
        spans.extend(_spans(block, stretches, spoken, typography))
    return BookSpans(book, tuple(spans), typography)


def chapter_in_marks(book_spans: BookSpans, chapter: int) -> tuple[Span, ...]:
    """All spans of a chapter in which something stands in quotation marks.

    Raises:
        ValueError: if the book has no such chapter, or nothing is quoted in it; names book and
            chapter.
    """
    found = tuple(span for span in book_spans.spans if span.chapter == chapter)
    if not any(span.in_marks for span in found):
        numbers = [span.chapter for span in book_spans.spans] or [0]
        raise ValueError(
            f"{book_spans.book.id}: found nothing quoted in chapter {chapter}, "
            f"expected one of the chapters {min(numbers)} to {max(numbers)}"
        )
    return found


def _letter_starts(blocks: Sequence[Block], quoted: Sequence[Sequence[QuotedRange]]) -> set[int]:
    """Positions of blocks in which a quoted letter begins, place and date above it included."""
    starts: set[int] = set()
    for position, stretches in enumerate(quoted):
        if not stretches or stretches[0].start > 1:
            continue
        first, previous = stretches[0], blocks[position - 1].text if position else ""
        if not begins_letter(blocks[position].text, first.start, first.end, previous):
            continue
        starts.add(position)
        starts.update(_rest_of_letter(blocks, quoted, position + 1))
        for above in range(position - 1, max(position - 1 - _LONGEST_HEAD, -1), -1):
            if not _is_line_of_letter_head(blocks[above], quoted[above]):
                break
            starts.add(above)
    return starts


def _rest_of_letter(
    blocks: Sequence[Block], quoted: Sequence[Sequence[QuotedRange]], position: int
) -> list[int]:
    """Blocks right below a letter's first that are long and nothing but quoted: its next ones."""
    found = []
    while position < len(blocks) and (stretches := quoted[position]):
        text = blocks[position].text
        alone = len(stretches) == 1 and fills(text, stretches[0].start, stretches[0].end)
        if not alone or (stretches[0].closed and len(text.split()) < _WORDS_OF_LETTER):
            break
        found.append(position)
        position += 1
    return found


def _is_line_of_letter_head(block: Block, stretches: Sequence[QuotedRange]) -> bool:
    if not stretches or len(block.text.split()) > _WORDS_OF_HEAD or stretches[-1].closed:
        return False
    return fills(block.text, stretches[0].start, stretches[0].end)


def _stretches_of_book(
    blocks: Sequence[Block], typography: Typography
) -> Iterator[list[QuotedRange]]:
    scanners = [scanner_for(marks) for marks in typography.marks]
    running: Scanner | None = None  # the marks of the speech that the last paragraph left open
    through = -1  # speech runs through every block up to this one
    for position, block in enumerate(blocks):
        if block.kind not in SPOKEN_KINDS:
            running = None
            yield []
            continue
        stretches, left_open = _stretches(block, typography, scanners, running, position <= through)
        yield stretches
        running = left_open
        if left_open and position > through:
            through = _runs_through(blocks, position, left_open)


def _stretches(
    block: Block,
    typography: Typography,
    scanners: Sequence[Scanner],
    running: Scanner | None,
    runs_through: bool,
) -> tuple[list[QuotedRange], Scanner | None]:
    """The quoted stretches of a block, and the marks of the one left open at its end, if any."""
    text = block.text
    if typography.dash:
        dashed = dash_stretches(text, typography.conventions)
        if dashed:
            return [QuotedRange(start, end, True, dashed=True) for start, end in dashed], None
    stretches: list[QuotedRange] = []
    position = 0
    lost = text[:2].isupper() and running is None
    if lost and (scanner := _lost_opener(block, scanners)):
        end, closed = scanner.close(text, 0)
        stretches.append(QuotedRange(0, end, closed))
        position = end
    if running is not None:
        repeated = running.continuation(text)
        if repeated or runs_through:
            end, closed = running.close(text, repeated)
            stretches.append(QuotedRange(0, end, closed, continues=True))
            if not closed:
                return stretches, running
            position = end
    while True:
        start, scanner = _next_opening(text, position, scanners)
        if scanner is None:
            return stretches, None
        end, closed = scanner.close(text, start + 1)
        stretches.append(QuotedRange(start, end, closed))
        if not closed and end == len(text):
            return stretches, scanner
        position = end


def _lost_opener(block: Block, scanners: Sequence[Scanner]) -> Scanner | None:
    """The marks whose closing one comes first in a block that begins with a word in capitals.

    So begin chapters that open with speech: the opening mark went with the ornamental initial.
    """
    first_word = block.text.split(None, 1)[0].strip(".,!?'’—-")
    if not first_word.isupper() or len(first_word) < 2:
        return None
    return next((s for s in scanners if s.first_mark(block.text) == "close"), None)


def _next_opening(
    text: str, position: int, scanners: Sequence[Scanner]
) -> tuple[int, Scanner | None]:
    best, found = len(text), None
    for scanner in scanners:
        start = scanner.open(text, position)
        if 0 <= start < best:
            best, found = start, scanner
    return best, found


def _runs_through(blocks: Sequence[Block], position: int, scanner: Scanner) -> int:
    """The last block of speech that was left open and repeats no mark, or -1.

    It does so where a later block's first mark is a closing one: whatever lies between is speech.
    """
    for later in range(position + 1, min(position + 1 + _LONGEST_RUN, len(blocks))):
        if blocks[later].kind not in SPOKEN_KINDS:
            return -1
        first = scanner.first_mark(blocks[later].text)
        if first == "close":
            return later
        if first == "open":
            return -1
    return -1


def _spans(
    block: Block, stretches: Sequence[QuotedRange], spoken: Sequence[bool], typography: Typography
) -> list[Span]:
    """The block's text, cut at the stretches; what is quoted but not spoken is narration."""
    chapter, paragraph, text = block.chapter, block.index, block.text
    if not stretches:
        return [Span(chapter, paragraph, 0, 0, len(text), text, False)]
    spans: list[Span] = []

    def cut(start: int, end: int, said: bool, quoted: bool) -> None:
        if start < end:
            place = text[start:end]
            spans.append(Span(chapter, paragraph, len(spans), start, end, place, said, quoted))

    position = 0
    for stretch, is_said in zip(stretches, spoken, strict=True):
        cut(position, stretch.start, False, False)
        position = stretch.start
        if is_said:
            for start, end in _breaks(text, stretch, typography):
                cut(position, start, True, False)
                cut(start, end, False, False)
                position = end
        cut(position, stretch.end, is_said, not is_said)
        position = stretch.end
    cut(position, len(text), False, False)
    if stretches[0].continues and spoken[0]:
        spans[0] = replace(spans[0], continues=True)
    return spans


def _breaks(text: str, stretch: QuotedRange, typography: Typography) -> list[tuple[int, int]]:
    """Where the narrator's words stand inside the marks of a speech."""
    start, end = stretch.start, stretch.end
    if not typography.conventions.tags_inside_marks:
        return asides(text, start, end)
    if stretch.dashed:
        return []
    tags = verb_tags(text, typography.conventions, start, end)
    if tags and not any(map(str.isalnum, text[tags[-1][1] : end])):
        tags[-1] = (tags[-1][0], end)  # nothing but the closing mark stands behind it
    return tags


def is_blank(span: Span) -> bool:
    """Whether a span of narration says nothing, as the space or dash between two utterances."""
    return not span.is_utterance and not any(map(str.isalnum, span.text))
