"""A tagger by its name or by the path of its tags: the one door to all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from heuristic.gap import DEFAULT_GAP, TUNED_GAP, GapTagger
from heuristic.narration import NarrationTagger
from miner.files import CHECKPOINT_WEIGHTS, is_checkpoint
from miner.gold import read_tags
from miner.spans import BookSpans
from miner.tags import TaggedBook, TaggedSpan, Tagger

TAGGER_NAMES = ("gap", "tuned-gap", "narration")


@dataclass(frozen=True, slots=True)
class StoredTags:
    """Tags read from a file, such as one that `miner tag` wrote and somebody corrected."""

    path: Path
    books: dict[str, TaggedBook]

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        """The stored tags of the book, on the book's own spans.

        Args:
            book_spans: the book, or some of its chapters, whole.

        Raises:
            ValueError: if the file lacks the book, or its spans are not those of the book.
        """
        book = book_spans.book.id
        if book not in self.books:
            held = ", ".join(self.books) or "no book"
            raise ValueError(f"{self.path}: found tags of {held}, expected tags of {book}")
        wanted = {span.chapter for span in book_spans.spans}
        stored = [item for item in self.books[book].spans if item.span.chapter in wanted]
        if len(stored) != len(book_spans.spans):
            raise ValueError(
                f"{self.path}: found {len(stored)} spans of {book}, "
                f"expected {len(book_spans.spans)} as the book has them now"
            )
        tagged = []
        for span, old in zip(book_spans.spans, stored, strict=True):
            place = f"paragraph {span.paragraph}, span {span.index}"
            if (old.span.paragraph, old.span.text) != (span.paragraph, span.text):
                raise ValueError(
                    f"{self.path}: {book}, {place}: found {old.span.text[:40]!r}, "
                    f"expected {span.text[:40]!r}"
                )
            # Whether a span is an utterance may have been corrected, too; the file's word counts.
            tagged.append(TaggedSpan(old.span, old.tag, old.confidence))
        return tagged


def load_tagger(name: str, gap: int = DEFAULT_GAP) -> Tagger:
    """The tagger of that name, or one that takes its tags from the file of that path.

    Args:
        name: "gap", "tuned-gap", "narration", or the path of a tags file (JSON Lines) or of a
            checkpoint of `train.py`.
        gap: characters of narration that begin a conversation, for "gap".

    Raises:
        ValueError: if the name is neither known nor a file, or the file holds no valid tags.
    """
    if name == "gap":
        return GapTagger(gap)
    if name == "tuned-gap":
        return GapTagger(TUNED_GAP)
    if name == "narration":
        return NarrationTagger()
    path = Path(name)
    if is_checkpoint(path):
        weights = path / CHECKPOINT_WEIGHTS
        changed = weights.stat().st_mtime_ns if weights.is_file() else 0
        return _checkpoint(path, changed)
    if not path.is_file():
        known = ", ".join(TAGGER_NAMES)
        raise ValueError(
            f"no tagger {name!r}: expected one of {known}, a file of tags, or a checkpoint"
        )
    state = path.stat()
    return _stored_tags(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1)
def _checkpoint(path: Path, _changed: int) -> Tagger:
    from miner.neural import load_checkpoint  # not needed by anybody else, and slow to import

    return load_checkpoint(path)


# A tags file of many books is asked for once a book.
@lru_cache(maxsize=1)
def _stored_tags(path: Path, _changed: int, _size: int) -> StoredTags:
    return StoredTags(path, {book.book: book for book in read_tags(path)})


def tagger_label(name: str, gap: int = DEFAULT_GAP) -> str:
    """What a table calls the tagger that `load_tagger` gives for the same words."""
    sizes = {"gap": gap, "tuned-gap": TUNED_GAP}
    return f"{name} {sizes[name]}" if name in sizes else name


def swept_gaps() -> tuple[int, ...]:
    """The gaps, in characters, among which the tuned one was chosen: 50 to 2000."""
    return (*range(50, 500, 50), *range(500, 1000, 100), *range(1000, 2001, 250))
