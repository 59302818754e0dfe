"""The blocks of a story -> where quoted text begins and ends in each of them.

Speech may run on from block to block, and marks that are wrong are repaired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from miner.books.book import SPOKEN_KINDS, Block, BlockKind
from miner.languages.language import Marks
from miner.speech.levels import closes_inner
from miner.speech.quotation_marks import Scan, is_dashed, scan
from miner.speech.repairs import Fault, Reading, Repair, find_faults, may_go_on, mend, twin_of
from miner.speech.speech import tells_that_narrator_spoke
from miner.speech.typography import Typography

# The most blocks without a mark of their own that unclosed speech runs through: a song, a poem.
_LONGEST_RUN = 12


class QuotedRange(NamedTuple):
    """The place of quoted text in a block."""

    start: int  # the first character, the opening mark included
    end: int  # the character after the last, the closing mark included
    closed: bool  # whether it has a closing mark
    continues: bool = False  # whether it continues from the block before
    # whether `segmentation` or `scripts` found it and no pair of marks
    is_segmented: bool = False
    told: tuple[tuple[int, int], ...] = ()  # the places of the narrator's words inside the marks


def find_ranges(
    blocks: Sequence[Block], typography: Typography, scripts: Mapping[int, list[QuotedRange]]
) -> tuple[list[list[QuotedRange]], list[Repair]]:
    """Returns the quoted ranges of each block, and the repairs of wrong marks."""
    found: list[list[QuotedRange]] = []
    repairs: list[Repair] = []
    readings = [Reading(block.text) for block in blocks]
    # Segmentation reads the marks of a book with dashes.
    main = typography.marks[0] if typography.marks and not typography.dash else None
    if main:
        twin = twin_of(main)
        for reading in readings:
            if twin and (twin.opener in reading.text or twin.closer in reading.text):
                reading.unify(main, twin)
    running: Marks | None = None  # the marks of the speech that the last paragraph left open
    through = -1  # speech runs through every block up to this one
    for position, (block, reading) in enumerate(zip(blocks, readings, strict=True)):
        if block.kind not in SPOKEN_KINDS or block.index in scripts:
            if block.kind is not BlockKind.BREAK:  # a long tale may have scenes of its own
                running = None
            found.append(scripts.get(block.index, []))
            continue
        read = partial(
            _quoted_ranges, typography=typography, running=running, runs_through=position <= through
        )
        parts = read(reading.text)
        left_open = parts.left_open
        if left_open and position > through:
            through = _runs_through(readings, blocks, position, left_open)
        if main and block.kind is BlockKind.PARAGRAPH:
            goes_on = left_open is not None and (
                position < through or _goes_on(blocks, readings, position, left_open)
            )
            faults = parts.faults(reading.text, goes_on)
            if faults:
                faults = mend(
                    reading, faults, main, lambda text, read=read: read(text).faults(text, False)
                )
                parts = read(reading.text)
            if faults or reading.edits:
                repairs += reading.repairs(block.chapter, block.index, faults)
        running = parts.left_open
        ranges = parts.ranges
        if main and ranges and ranges[0].continues and ranges[0].closed:
            previous = readings[position - 1].text
            if closes_inner(previous, main) and tells_that_narrator_spoke(
                reading.text, ranges[0].end
            ):
                # Somebody's tale has ended, and its last mark is missing.
                ranges[0] = ranges[0]._replace(continues=False)
        if reading.edits:
            places = [(reading.place(part.start), reading.place(part.end)) for part in ranges]
            ranges = [
                part._replace(start=start, end=end)
                for part, (start, end) in zip(ranges, places, strict=True)
            ]
        found.append(ranges)
    return found, repairs


def _goes_on(
    blocks: Sequence[Block], readings: Sequence[Reading], position: int, marks: Marks
) -> bool:
    """Returns whether speech that a block leaves open may go on in the next one."""
    if position + 1 == len(blocks):
        return False
    following = readings[position + 1].text
    if blocks[position + 1].kind is not BlockKind.PARAGRAPH:
        return True
    return may_go_on(readings[position].text, following, marks)


class _Parts(NamedTuple):
    """The quotations of a block."""

    ranges: list[QuotedRange]
    left_open: Marks | None  # the marks of the range left open at its end
    scan: Scan | None  # of the first marks of the book

    def faults(self, text: str, goes_on: bool) -> Sequence[Fault]:
        """Returns where the marks do not balance; speech may be left open that goes on."""
        if self.scan is None:
            return ()
        closed = all(part.closed for part in self.ranges)
        if closed and len(self.scan.closers()) <= len(self.ranges):
            return ()
        ranges = [part[:3] for part in self.ranges]
        return find_faults(self.scan, ranges, len(text), goes_on)


def _quoted_ranges(
    text: str, typography: Typography, running: Marks | None, runs_through: bool
) -> _Parts:
    """Returns the quotations of a block."""
    if typography.dash and is_dashed(text):
        return _Parts([], None, None)
    scans = {marks: scan(text, marks) for marks in typography.marks}
    ranges: list[QuotedRange] = []
    position = 0

    main = next(iter(scans.values()), None)
    lost = text[:2].isupper() and running is None
    if lost and (first := _lost_opener(text, scans.values())):
        end, closed = first.close(0)
        ranges.append(QuotedRange(0, end, closed))
        position = end
    if running is not None:
        repeated = scans[running].continuation()
        if repeated or runs_through:
            end, closed = scans[running].close(repeated)
            ranges.append(QuotedRange(0, end, closed, continues=True))
            if not closed:
                return _Parts(ranges, running, main)
            position = end
    while True:
        start, marks = _next_opening(text, position, scans)
        if marks is None:
            return _Parts(ranges, None, main)
        end, closed = scans[marks].close(start + 1)
        ranges.append(QuotedRange(start, end, closed))
        if not closed and end == len(text):
            return _Parts(ranges, marks, main)
        position = end


def _lost_opener(text: str, scans: Iterable[Scan]) -> Scan | None:
    """Returns the scan of the marks whose opening mark a block has lost at its start, or None.

    A chapter that begins with speech often has lost the mark together with an ornamental initial.
    Such a block begins with a word in capitals, and its first mark is a closing one.
    """
    first_word = text.split(None, 1)[0].strip(".,!?'’—-")
    if not first_word.isupper() or len(first_word) < 2:
        return None
    return next((found for found in scans if found.first_mark() == "close"), None)


def _next_opening(
    text: str, position: int, scans: Mapping[Marks, Scan]
) -> tuple[int, Marks | None]:
    """Returns where the next quoted range opens and its marks, or the text's length and None."""
    best, found = len(text), None
    for marks, scanned in scans.items():
        start = scanned.open(position)
        if 0 <= start < best:
            best, found = start, marks
    return best, found


def _runs_through(
    readings: Sequence[Reading], blocks: Sequence[Block], position: int, marks: Marks
) -> int:
    """Returns the last block of speech that is left open and repeats no mark, or -1.

    It is the first later block whose first mark is a closing one. All blocks between are speech.
    """
    for later in range(position + 1, min(position + 1 + _LONGEST_RUN, len(blocks))):
        if blocks[later].kind not in SPOKEN_KINDS:
            return -1
        first = scan(readings[later].text, marks).first_mark()
        if first == "close":
            return later
        if first == "open":
            return -1
    return -1
