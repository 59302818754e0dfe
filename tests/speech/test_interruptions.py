"""The parts of a speech that narration interrupts are joined as the speaker says them."""

import time

import pytest
from helpers import kind_of

from miner.speech.dialogues import Turn, decode_dialogues
from miner.speech.interruptions import join_speech
from miner.speech.spans import Span
from miner.speech.tags import Tag, TaggedBook, TaggedSpan

# A language, a turn with bars beside its narration, and its text. Without a language nothing is
# known of where its speakers pause.
SPANS = {
    "a sentence ends": ("", "“It rains,”| said Ann. |“Come in.”", "It rains. Come in."),
    "a name or I begins a sentence": ("", "“It rains,”| said Ann. |“I do.”", "It rains. I do."),
    "the narrator goes on": ("", "“No,”| said Ann. She rose! (At last.) |“Go.”", "No. Go."),
    "the narrator begins anew": (
        "en",
        "“I see,”| said Mr. Ball. He rose and said, |“I am off.”",
        "I see. I am off.",
    ),
    "a title ends no sentence": (
        "en",
        "“Well,”| said Mr. Ball, of the inn, |“Ann is off.”",
        "Well, Ann is off.",
    ),
    "a colon announces speech": ("", "“No,”| she said, and then: |“Go.”", "No. Go."),
    "a comma after the tag": (
        "",
        "“I think,”| said Ann, |“that it rains.”",
        "I think, that it rains.",
    ),
    "a name after a comma": ("", "“I think,”| said Ann, |“Tom is.”", "I think, Tom is."),
    "a small letter": ("", "“Then,”| said Ann. |“and only then.”", "Then, and only then."),
    "a semicolon after the tag": (
        "",
        "“I am not sorry,”| said Ann; |“but go.”",
        "I am not sorry; but go.",
    ),
    "a semicolon after a name": ("", "“No, Tom,”| said Ann; |“but go.”", "No, Tom, but go."),
    "a semicolon before the tag": ("", "“I see;”| he said. |“Go on.”", "I see. Go on."),
    "a colon after the tag": (
        "",
        "“They are not bad,”| said Ann: |“they are dull.”",
        "They are not bad: they are dull.",
    ),
    "a small letter after a stop": ("", "“Cod.”| She added—|“and salt.”", "Cod. And salt."),
    "the tag at the end": ("", "“I see,”| said Ann.", "I see."),
    "the tag before": ("", "“that it rains”| she said.", "That it rains."),
    "no narration": ("en", "“If,”| |“Tom.”", "If, Tom."),
    "another stop": ("en", "“It rains!”| said Ann, |“come in.”", "It rains! come in."),
    "a nested quotation": (
        "en",
        "“She says ‘go,’”| said Ann. |“Then I go.”",
        "She says ‘go.’ Then I go.",
    ),
    "subject and verb": ("en", "“My sister,”| said Ann, |“is ill.”", "My sister is ill."),
    "verb and object": ("en", "“I wonder,”| said Ann, |“what it is.”", "I wonder what it is."),
    "a name alone": ("en", "“Mr. Ball,”| said Ann, |“is away.”", "Mr. Ball is away."),
    "a clause of its own": (
        "en",
        "“If it rains,”| said Ann, |“we shall stay.”",
        "If it rains, we shall stay.",
    ),
    "an address": ("en", "“My dear,”| said Ann, |“you are late.”", "My dear, you are late."),
    "an interjection": ("en", "“Well,”| said Ann, |“it rains.”", "Well, it rains."),
    "a word again": ("en", "“I do,”| said Ann, |“I do like it.”", "I do, I do like it."),
    "dashes": ("en", "“I am kept by”|—he rose—|“the rain.”", "I am kept by the rain."),
    "dashes at a pause": ("en", "“My dear”|—she rose—|“you are late.”", "My dear, you are late."),
    "dashes before a word again": ("", "“It is a”|—he rose—|“a pest.”", "It is a—a pest."),
    "a dash before": ("en", "“It was the—”| he rose, |“the rain.”", "It was the—the rain."),
    "a dash after": ("en", "“It was,”| he said, |“—well, rain.”", "It was—well, rain."),
    "two dashes": ("en", "“It was--”| he rose, |“--was rain.”", "It was--was rain."),
    "a speech cut short": ("en", "“Look at the——”| The gun fell. |“Run.”", "Look at the—— Run."),
    "German": ("", "»Ja«|, sagte er. |»Komm.«", "Ja. Komm."),
    "German dots": ("de", "»Gut«|, sagte er, und ging …| »Komm.«", "Gut. Komm."),
    "German semicolon": ("", "»Das ist wahr«|, sagte er; |»geh.«", "Das ist wahr; geh."),
    "German clause": (
        "de",
        "»Es ist wahr«|, sagte er, |»dass es regnet.«",
        "Es ist wahr, dass es regnet.",
    ),
    "French": ("fr", "— Non,| répliqua M. Aubin. |Jamais.", "Non. Jamais."),
    "French clause": ("fr", "— Oui,| dit-il, |viens.", "Oui, viens."),
    "Italian": ("", "— Vieni,| — disse Bo. — |È tardi.", "Vieni. È tardi."),
    "Spanish": ("", "—Ven |—dijo Bo—. |Es tarde.", "Ven. Es tarde."),
    "Spanish clause": ("", "—Ven |—dijo Bo—, |que es tarde.", "Ven, que es tarde."),
    "Spanish comma inside": ("es", "—Ven |—dijo Bo,— |que es tarde.", "Ven, que es tarde."),
    "Spanish colon": ("", "—Te lo digo |—dijo Bo—: |ven.", "Te lo digo: ven."),
    "Spanish question": ("", "—Ven |—dijo Bo—. |¿Vienes?", "Ven. ¿Vienes?"),
    "Hungarian clause": ("", "– Gyere, |– mondta Bo –, |késő van.", "Gyere, késő van."),
    "three parts": ("", "“A,”| said Bo, |“b,”| said Bo. |“C.”", "A, b. C."),
}


def turn_of(text: str, language: str = "") -> Turn:
    """The turn whose utterances and narration stand in turn in the text, divided by bars."""
    tagged, start = [], 0
    for number, place in enumerate(text.split("|")):
        tag = Tag.O if number % 2 else Tag.I_START if number else Tag.B_START
        span = Span(1, 0, number, start, start + len(place), place, kind_of(not number % 2))
        tagged.append(TaggedSpan(span, tag))
        start += len(place)
    book = TaggedBook("7", tuple(tagged), language=language)
    ((turn,),) = (dialogue.turns for dialogue in decode_dialogues(book))
    return turn


@pytest.mark.parametrize("case", SPANS)
def test_speech_goes_on_after_narration(case):
    language, text, expected = SPANS[case]
    assert turn_of(text, language).text == expected


def test_a_turn_without_its_narration_is_joined_as_printed():
    assert Turn(turn_of("“It rains,”| said Ann. |“Come in.”").spans).text == "It rains, Come in."


def test_a_turn_of_many_parts_takes_time_in_proportion():
    def seconds(n):
        parts, between = ["I see,"] * n, [" said Ann, "] * (n - 1)
        start = time.process_time()
        assert join_speech(parts, between).count("see") == n
        return time.process_time() - start

    assert seconds(40_000) < 40 * max(seconds(4_000), 0.001)
