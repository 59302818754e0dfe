"""Books from letters and checks of spans, for several tests."""

from dataclasses import replace

from helpers import NAMES, kind_of

from miner.books.book import BlockKind
from miner.speech.dialogues import decode_dialogues
from miner.speech.spans import SPANNED_KINDS, Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan


def check_spans(book, found):
    """The spans of each block of the story join to its text, and other blocks have none."""
    by_block = {}
    for span in found:
        by_block.setdefault(span.paragraph, []).append(span)
    story = [block for block in book.story if block.kind in SPANNED_KINDS and block.text]
    assert list(by_block) == [block.index for block in story]
    for block in story:
        parts = by_block[block.index]
        assert "".join(span.text for span in parts) == block.text
        assert [span.index for span in parts] == list(range(len(parts)))
        assert all(block.text[span.start : span.end] == span.text for span in parts)
        assert all(span.text and span.chapter == block.chapter for span in parts)
        assert not any(span.continues for span in parts[1:])
        if block.kind is BlockKind.HEADING:
            assert [span.is_utterance for span in parts] == [False]
    assert all(span.is_utterance for span in found if span.continues)


def check_narration(tagged):
    """All narration of a dialogue is in one place of one of its turns, in order."""
    places = {(item.span.paragraph, item.span.index): n for n, item in enumerate(tagged.spans)}
    for dialogue in decode_dialogues(tagged):
        first, last = dialogue.turns[0].spans[0], dialogue.turns[-1].spans[-1]
        start, end = (places[span.paragraph, span.index] for span in (first, last))
        printed = "".join(item.span.text for item in tagged.spans[start:end] if item.tag is Tag.O)
        told = []
        for turn in dialogue.turns:
            told += [turn.before, *(text for _, text in turn.inside), turn.after]
            at = [0, *(place for place, _ in turn.inside), len(turn.text)]
            assert at == sorted(at)
        assert "".join("".join(told[1:-1]).split()) == "".join(printed.split())


def book_of(letters: str, words: dict[int, int] | None = None) -> TaggedBook:
    """A book with one paragraph per letter (S s R r O); `words` sets the length of a span."""
    spans = []
    for i, letter in enumerate(letters):
        text = " ".join([f"word{i}"] * (words or {}).get(i, 1))
        spans.append(
            TaggedSpan(
                Span(1, i, 0, 0, len(text), text, kind_of(letter != "O")), NAMES[letter], None
            )
        )
    return TaggedBook("7", tuple(spans))


def sure_book(letters: str, *confidences: float) -> TaggedBook:
    """The book of `book_of`, its utterances as sure as the numbers say."""
    book = book_of(letters)
    numbers = iter(confidences)
    spans = (
        replace(item, confidence=None if item.tag is Tag.O else next(numbers))
        for item in book.spans
    )
    return replace(book, spans=tuple(spans))
