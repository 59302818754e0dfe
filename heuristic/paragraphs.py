"""The rule that the heuristics share: a paragraph is one turn.

The next paragraph with speech is another speaker's turn, unless the typography shows that the
speech continues. This is the first assumption of "Mining Conversations from Novels" (section
Identifying Conversations). "The Gutenberg Dialogue Dataset" (section 3.2) uses it to find turns and
reports that it fails in 4% of pairs.
"""

from __future__ import annotations

from collections.abc import Callable

from miner.speech.spans import BookSpans, Span, is_blank
from miner.speech.tags import CONTINUATION, Tag, TaggedSpan

# Whether a conversation begins after the narration since the last utterance.
Begins = Callable[[list[Span]], bool]


def tag_by_paragraph(book_spans: BookSpans, begins: Begins) -> list[TaggedSpan]:
    """Returns one tagged span per span. A paragraph is one turn.

    Args:
        book_spans: the book.
        begins: decides at the first utterance of each paragraph whether a conversation begins. It
            receives the narration since the last utterance, without blank spans. It is not called
            at the first utterance of a chapter or a scene, which always begins a conversation.
    """
    tagged: list[TaggedSpan] = []
    narration: list[Span] = []
    last: Span | None = None
    last_tag = Tag.O
    opens_scene = book_spans.find_scene_starts()
    for position, span in enumerate(book_spans.spans):
        if not span.is_utterance:
            if not is_blank(span):
                narration.append(span)
            tagged.append(TaggedSpan(span, Tag.O))
            continue
        if last is None or span.chapter != last.chapter or position in opens_scene:
            last_tag = Tag.B_START
        elif span.paragraph == last.paragraph or span.continues:
            last_tag = CONTINUATION[last_tag]
        else:
            last_tag = Tag.B_START if begins(narration) else Tag.B_OTHER
        tagged.append(TaggedSpan(span, last_tag))
        last = span
        narration = []
    return tagged
