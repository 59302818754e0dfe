"""The bytes of a book file -> its spans. All code that needs the spans of a file goes this way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from miner.books.book import Book, parse_book
from miner.errors import InputError
from miner.languages.registry import LANGUAGES
from miner.speech.set_pieces import mark_set_pieces
from miner.speech.spans import BookSpans, split_book
from miner.speech.typography import (
    find_foreign_language,
    infer_typography,
    spoken_blocks,
    typography_from_names,
)

# In a play the name of its speaker stands before a speech: at the start of its block, with a stop,
# or in a block of its own. A name that stands there this many times is a speaker's. A book is a
# play if this share of its blocks have a speaker or are one; novels have a seventh at most.
_LINES_OF_A_SPEAKER = 3
_SHARE_OF_A_PLAY = 0.3
_NAME = r"[A-Z\u00c0-\u00dd][\w\u2019'. -]{0,28}?"
_SPEAKER = re.compile(rf"({_NAME})[.:\u2014](?:\s|$)")
_SPEAKER_ALONE = re.compile(rf"({_NAME})[.:,]?(?:\s*[(\[][^)\]]{{0,200}}[)\]][.:,]?)?")


def parse_spans(
    data: bytes,
    book_id: str,
    quotes: Sequence[str] = (),
    *,
    thoughts: bool = False,
    classified: bool = True,
    front_matter: bool = False,
) -> BookSpans:
    """Returns the spans of a book file, in reading order."""
    book = parse_book(data, book_id)
    if not quotes and (found := find_foreign_language(book)):
        raise InputError(
            f"found {found:.40}, expected one of {', '.join(LANGUAGES)}; "
            "name its quotation marks (`quotes=`) to mine it all the same"
        )
    typography = infer_typography(book)
    if quotes:
        typography = typography_from_names(quotes, typography.language)
    book_spans = mark_set_pieces(
        split_book(book, typography, thoughts=thoughts, front_matter=front_matter)
    )
    if classified and not thoughts:
        from miner.speech.quotation_kinds import kind_classifier, unsay_citations
        from miner.speech.speech_classifier import classifier_of

        classifier = classifier_of(book_spans.language)
        book_spans = classifier.classify(book_spans) if classifier else book_spans
        kinds = kind_classifier(book_spans.language)
        book_spans = unsay_citations(kinds.classify(book_spans) if kinds else book_spans)
    if not any(span.is_utterance for span in book_spans.spans):
        raise InputError(_why_no_dialogue(book))
    if not quotes and _is_play(book):
        raise InputError(_PLAY)
    return book_spans


_PLAY = (
    "a play: lines are headed by their speakers' names, not set in quotation marks; "
    "plays are not mined"
)


def _why_no_dialogue(book: Book) -> str:
    """Returns the message that says why a book has no dialogue to mine."""
    if _is_play(book):
        return _PLAY
    return (
        "no dialogue: found no speech between quotation marks or after dashes "
        f"in {book.n_words:,} words"
    )


def _is_play(book: Book) -> bool:
    """Whether many blocks begin with a speaker's name, or are one."""
    blocks = spoken_blocks(book.story)
    found = (_SPEAKER.match(block.text) or _SPEAKER_ALONE.fullmatch(block.text) for block in blocks)
    counts = Counter(match[1] for match in found if match)
    lines = sum(count for count in counts.values() if count >= _LINES_OF_A_SPEAKER)
    return bool(blocks) and lines >= _SHARE_OF_A_PLAY * len(blocks)
