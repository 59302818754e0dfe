"""Speech is told from titles, scare quotes, signs, letters and thoughts in the same marks."""

import pytest

from miner.books.book import Block, BlockKind
from miner.speech.kinds import SpanKind
from miner.speech.speech import begins_letter, classify_ranges, find_asides


def verdicts(text, thoughts=False, kind=BlockKind.PARAGRAPH, runs_on=None):
    """Whether each range in curly marks is speech."""
    ranges = []
    end = 0
    while (start := text.find("“", end)) >= 0:
        end = text.find("”", start) + 1 or len(text)
        ranges.append((start, end))
    kinds = classify_ranges(Block(0, 1, kind, text), ranges, runs_on, thoughts)
    return [kind is SpanKind.UTTERANCE for kind in kinds]


SPEECH = [
    # alone, or between stops
    ("", "Is the ferry in?", ""),
    ("", "Bo", ""),
    ("", "No", ", said he."),
    ("She shook the rope. ", "Nobody is aboard.", ""),
    ("She looked round: ", "Nobody is aboard.", " The rope hung slack."),
    # a tag before
    ("Then he said, ", "no", "."),
    ("Said the mate, ", "Nobody.", ""),
    ("He cried out ", "nobody there,", " and ran."),
    ("At last he repeated: ", "nobody", "."),
    ("A voice called ", "Bo! Come down!", " from the bank."),
    ("There was a cry of ", "Ferry!", " from the bank."),
    ("He kept saying ", "yes, yes,", " to the geese."),
    # a tag after
    ("The bell rang. ", "The ferry", " said he."),
    ("The bell rang. ", "Dear Bo", ", whispered the girl."),
    ("The bell rang. ", "Dear Bo", " old Tarrant murmured."),
    ("In came the mate with ", "Any geese to-day?", " and out he went."),
    # a tag outside the marks, with its comma, as other languages have it
    ("Er stand still. ", "Guten Tag", ", sagte der Fährmann."),
    ("Er stand still; ", "Rosine", ", rief er."),
    ("--", "Rosine", ", rief er."),
    ("Er stand still.--", "Rosine", ", rief er."),
    # interrupted
    ("", "If the ferry", "—he pulled the rope—"),
    ("He shut the gate. ", "If she", "—he pulled the rope—"),
    # after a thought, but said
    ("", "The rope is wet.", " I thought that nobody would come."),
    ("", "Who pays for it?", " Bo thought of that, as he would."),
    ("", "The rope is wet,", " mused the mate."),
    ("He looked at Ann, whom he by no means liked: ", "Nobody is aboard.", ""),
    ("", "Das Seil ist naß", ", sagte er vor sich hin."),
    ("", "Das Seil ist naß", ", sagte er und setzte sich."),
    ("Der Wirt, den er freundlich dachte, ", "Das Seil ist naß und alt", ", sagte er."),
    ("", "La corde est mouillée,", " me dit-elle."),
    ("", "La cuerda está mojada", ". Pensaba en otra cosa."),
    # a sentence of writing or thinking of its own after it
    ("She gave him the slate. ", "Put it down.", " Bo wrote."),
    ("She gave him the slate. ", "Do the sum.", " Bo thought long."),
    # tags with words that also tell of writing
    ("", "Sit,", " he said, “and rest.”"),
]
NO_SPEECH = [
    # titles, signs, inns, ships
    ("He had read ", "The Drowned Bell", " twice."),
    ("They drank at the ", "Magpie.", " Nobody paid."),
    ("The boat was called ", "Patience.", ""),
    ("Er sah das Boot--", "Rosine", ", so hiess es--am Ufer."),
    ("Over the door was written ", "No geese.", ""),
    ("A board was marked ", "Private", " in red."),
    ("The book was entitled: ", "On the Keeping of Geese.", ""),
    # scare quotes, words under discussion
    ("He lived on his ", "income,", " as he named it."),
    ("She had no use for such ", "learning", "."),
    ("He never could spell ", "ferry", "."),
    ("By the word ", "soon", " he meant a week."),
    ("Geese, ", "bank robbers", ", and the like."),
    ("He held him to be ", "a poor sort of mate,", " and said so."),
    ("It was his ", "one and only,", " his hat."),
    # not said on this occasion
    ("She would often say, ", "The rope will last.", ""),
    ("He might have said, ", "Not to-day.", ""),
    ("He longed to cry, ", "Not to-day!", ""),
    ("Why did she not say, ", "Not to-day?", ""),
    # thought
    ("", "The rope is wet,", " thought Bo."),
    ("", "The rope is wet,", " she thought, and sat."),
    ("", "The rope is wet,", " old Tarrant reflected."),
    ("He thought, ", "The rope is wet.", ""),
    ("", "Das Seil ist naß", ", dachte der Alte bei sich."),
    ("", "Das Seil ist naß", ", sagte er zu sich selbst."),
    ("Da dachte sie bei sich: ", "Das Seil ist naß.", ""),
    ("", "La corde est mouillée,", " se dit-elle."),
    ("Elle pensa : ", "La corde est mouillée.", ""),
    ("", "La cuerda está mojada", " —dijo para sí la vieja."),
    ("", "Het touw is nat,", " zei hij tot zich zelf."),
    # written
    ("", "The rope is wet,", " she wrote to her aunt."),
    ("He took up the pen and wrote: ", "Come home.", ""),
    ("The telegram was short: ", "Come home.", ""),
    ("Hij nam de pen. ", "Lieve moeder", ", schreef hij."),
]


@pytest.mark.parametrize(("before", "quoted", "after"), SPEECH)
def test_speech(before, quoted, after):
    assert verdicts(f"{before}“{quoted}”{after}")[0]


@pytest.mark.parametrize(
    "text",
    [
        "“If I had known”—she took the oar—“that it leaked.”",
        "“You might have known—” she took the oar “—as I did.”",
        "“You might have known--” she took the oar. “--as I did.”",
    ],
)
def test_the_halves_of_a_sentence_that_an_action_breaks_are_both_speech(text):
    assert verdicts(text) == [True, True]


def test_words_lifted_out_between_dashes_are_no_speech():
    assert verdicts("They called it “the bell”—it was a pan—“of the river” and went.") == [
        False,
        False,
    ]


@pytest.mark.parametrize(("before", "quoted", "after"), NO_SPEECH)
def test_no_speech(before, quoted, after):
    assert not verdicts(f"{before}“{quoted}”{after}")[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Bo,” she wrote, “come home.” She sealed it.", [False, False]),
        ("“Bo,” she said, “come home.”", [True, True]),
        ("“Bo,” she called, “the bell.”", [True, True]),
        # the long tag of an interrupted speech may hold any word
        (
            "“And so,” the mate went on, bending over the rail in the way of one who has never yet "
            "been marked down, “and so you paid.”",
            [True, True],
        ),
        # a thought, then something said
        ("“He is late,” thought Ann. “Come in,” she said to the geese.", [False, True]),
        ("“He is late,” thought Ann. “He is always late.”", [False, False]),
        ("“Geese!” The sign said “No geese,” and meant it.", [True, True]),
        ("He wrote “Bo” on the gate. “There!”", [False, True]),
    ],
)
def test_stretches_joined_by_he_said_get_one_verdict(text, expected):
    assert verdicts(text) == expected


@pytest.mark.parametrize(
    "text", ["“The rope is wet,” thought Bo, “and so am I.”", "He thought, “The rope is wet.”"]
)
def test_thoughts_count_if_asked_for(text):
    assert not any(verdicts(text))
    assert all(verdicts(text, thoughts=True))


def test_letters_and_verse_are_not_spoken_unless_speech_runs_on_into_them():
    for kind in (BlockKind.LETTER, BlockKind.VERSE):
        assert verdicts("“Low is the water,\nand high is the bank.”", kind=kind) == [False]
    text = "“Low is the water,\nand high is the bank.”"
    assert verdicts(text, kind=BlockKind.VERSE, runs_on=SpanKind.UTTERANCE) == [True]
    assert verdicts(text, kind=BlockKind.VERSE, runs_on=SpanKind.OTHER) == [False]
    assert verdicts(text, kind=BlockKind.LETTER, runs_on=SpanKind.UTTERANCE) == [False]


def test_a_range_that_runs_on_keeps_its_verdict():
    text = "“and the geese are yours.” “Mine?”"
    assert verdicts(text, runs_on=SpanKind.OTHER) == [False, True]
    assert verdicts(text, runs_on=SpanKind.UTTERANCE) == [True, True]
    assert classify_ranges(Block(0, 1, BlockKind.PARAGRAPH, "Nobody spoke."), [], None) == []


@pytest.mark.parametrize(
    ("text", "previous", "expected"),
    [
        ("“My dear Mrs. Bell,—The geese are yours.", "", True),
        ("“Dearest Ann,”", "", True),
        ("“Dear Sir:", "", True),
        ("“The geese are yours.”", "The letter was short, and said:", True),
        ("“SIR,", "", True),
        ("“'Madam,", "", True),
        ("“Sir,—I beg to say that the geese are yours.”", "", True),
        ("“Sir,” said Bo.", "", False),
        ("“Sir,”", "", False),
        ("“Sir—”", "", False),
        ("“Sir, the geese are yours.”", "", False),
        ("“The geese are yours.”", "MARL END, JULY.\nMY DEAR MADAM,", True),
        ("“The geese are yours.”", "My dear Mrs. Bell,", True),
        ("“The geese are yours.”", "She began, my dear madam,", False),
        ("“The geese are yours.”", "“My dear madam,” said Bo, and again,", False),
        ("“The geese are yours.”", "He read as follows:—", True),
        ("“The geese are yours.”", "She wrote him a letter every week.", False),
        ("“The geese are yours.”", "He turned to her:", False),
        ("“My dear Mrs. Bell, the geese are yours.”", "", False),
        ("“My dear Mrs. Bell!”", "", False),
        ("“My dear Ann—” he began.", "", False),
        ("“‘My dear Ann,’ says he to me—“my dear, the geese.”", "", False),
    ],
)
def test_where_a_letter_begins(text, previous, expected):
    end = text.rfind("”") + 1 or len(text)
    assert begins_letter(text, 0, end, previous) == expected


def test_a_salutation_inside_a_told_story_is_no_letter():
    text = "‘“My dear ma’am,” said Tom Bell—he was a bold man—“my dear ma’am, sit down.”"
    assert not begins_letter(text, 0, len(text), "")


@pytest.mark.parametrize(
    ("text", "aside"),
    [
        ("“Well! (with a sigh) so be it.”", " (with a sigh) "),
        ("“Ann (turning to her), come.”", " (turning to her), "),
        ("“Geese, (aside) and wet ones.”", " (aside) "),
        ("“The geese (all nine) are mine.”", None),
        ("“The geese (with my brother) are gone.”", None),
        ("“The geese are mine.” (with a sigh)", None),
    ],
)
def test_asides(text, aside):
    found = find_asides(text, 0, text.index("”") + 1)
    assert [text[start:end] for start, end in found] == ([aside] if aside else [])
