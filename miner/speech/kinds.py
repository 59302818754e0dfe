"""The kinds of spans."""

from enum import StrEnum


class SpanKind(StrEnum):
    """What a span is: speech, narration, or quoted text that nobody says."""

    UTTERANCE = "utterance"  # speech; only this makes turns
    NARRATION = "narration"  # what the narrator says, without quotation marks
    # In quotation marks:
    THOUGHT = "thought"  # what somebody thinks
    LETTER = "letter"  # of a letter or a note, its date, salutation and signature included
    VERSE = "verse"  # of a poem or a song that nobody sings here
    MOTTO = "motto"  # at the head of a chapter, from another work
    INSCRIPTION = "inscription"  # on a sign or a label, in a notice, a telegram, a newspaper
    OTHER = "other"  # a title, a word under discussion, a proverb, the words of an author


# The kinds of quoted text that nobody says.
UNSAID_KINDS = frozenset(SpanKind) - {SpanKind.UTTERANCE, SpanKind.NARRATION}
