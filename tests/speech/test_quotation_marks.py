"""Where each kind of quotation mark opens and closes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miner.languages.language import MARKS
from miner.speech.quotation_marks import scan

KIND = {'"': "double-straight", "“": "double-curly", "'": "single-straight", "‘": "single-curly"}


def quoted(text, name):
    """The quoted text that a scan finds, in order."""
    scanned = scan(text, MARKS[name])
    found, position = [], 0
    while (start := scanned.open(position)) >= 0:
        position, _ = scanned.close(start + 1)
        found.append(text[start:position])
    return found


def is_closed(text, name):
    scanned = scan(text, MARKS[name])
    return scanned.close(scanned.open(0) + 1)[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Now," said Bo, "or never."', ['"Now,"', '"or never."']),
        ('He cried--"Stop!"--and ran.', ['"Stop!"']),
        ('"If I had--" he began.', ['"If I had--"']),
        ('"If I had--"', ['"If I had--"']),
        ('Bo—"the deaf one," they said—heard.', ['"the deaf one,"']),
        ('("Why?")', ['"Why?"']),
        ('["Now!" _Ed._]', ['"Now!"']),
        ('_"Now!"_ he wrote; "_Now_" she read.', ['"Now!"', '"_Now_"']),
        ('“"Fire!" he said,” said Bo.', ['"Fire!"']),
        ('"Bo."\n\n"What?"', ['"Bo."', '"What?"']),
        ('"Bo."\n"What?"', ['"Bo."', '"What?"']),
        ('He said "no" and "never", twice.', ['"no"', '"never"']),
        ('"One"; "two": "three"!', ['"One"', '"two"', '"three"']),
        ('It ran:\n"Low,\nand high."', ['"Low,\nand high."']),
        ("She said: \"He said 'no'.\"", ["\"He said 'no'.\""]),
        ("No marks at all.", []),
        ("", []),
    ],
)
def test_straight_double_marks(text, expected):
    assert quoted(text, "double-straight") == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("“Now,” said Bo, “or never.”", "double-curly", ["“Now,”", "“or never.”"]),
        ("“He read “Fire!” twice,” said Bo.", "double-curly", ["“He read “Fire!” twice,”"]),
        ("«Il lut «Feu!» deux fois», dit Bo.", "guillemets", ["«Il lut «Feu!» deux fois»"]),
        ("»Feuer!« rief Bo. »Wo?«", "guillemets-inward", ["»Feuer!«", "»Wo?«"]),
        ("„Feuer!“ rief Bo. „Wo?“", "low-high", ["„Feuer!“", "„Wo?“"]),
        ("„Tűz!” kiáltotta. „Hol?”", "low-right", ["„Tűz!”", "„Hol?”"]),
        # misprinted directions
        ("”Now,” said Bo, “or never.”", "double-curly", ["”Now,”", "“or never.”"]),
        ("“Now,“ said Bo, “or never.”", "double-curly", ["“Now,“", "“or never.”"]),
        ("“Now.“", "double-curly", ["“Now.“"]),
    ],
)
def test_marks_with_a_direction(text, name, expected):
    assert quoted(text, name) == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ('"Now, said Bo. "Or never."', "double-straight", ['"Now, said Bo.', '"Or never."']),
        ("“Now, said Bo. “Or never.”", "double-curly", ["“Now, said Bo.", "“Or never.”"]),
        ("‘Now, said Bo. ‘Or never.’", "single-curly", ["‘Now, said Bo.", "‘Or never.’"]),
        ("'Now, said Bo. 'Or never.'", "single-straight", ["'Now, said Bo.", "'Or never.'"]),
        ("“Now and never", "double-curly", ["“Now and never"]),
        (
            "'I'm goin' to the bell o' the boat.",
            "single-straight",
            ["'I'm goin' to the bell o' the boat."],
        ),
        ("'Now and never.", "single-straight", ["'Now and never."]),
    ],
)
def test_a_missing_closing_mark(text, name, expected):
    assert quoted(text, name) == expected
    assert not is_closed(text, name)


SINGLE = [
    # apostrophes are no marks
    ("'Tis late, and the boys' hats are wet.", []),
    ("'Twas five o'clock, and rock-'n'-roll till six.", []),
    ("The ne'er-'tempted lad, and that was all.", []),
    ("Goin' to see 'em, and 'em alone, in '98.", []),
    ("He drove the 'bus past the 'rickshaws of the town.", []),
    ("The boys' boots, and the 'prentice lads.", []),
    # nor do they close
    ("'Give 'em the boys' hats,' said Bo.", ["'Give 'em the boys' hats,'"]),
    ("'Don't!' cried Bo. 'I won't!'", ["'Don't!'", "'I won't!'"]),
    (
        "'I was goin' to the sound o' the bell,' said Bo.",
        ["'I was goin' to the sound o' the bell,'"],
    ),
    ("'An old 'ooman like me, I dare say,' she said.", ["'An old 'ooman like me, I dare say,'"]),
    ("'What o'clock is it?' 'Five o'clock.'", ["'What o'clock is it?'", "'Five o'clock.'"]),
    # elisions that open speech
    ("'Tis late,' said Bo.", ["'Tis late,'"]),
    ("''Tis late,' said Bo.", ["''Tis late,'"]),
    ("'Em as has hats,' said Bo, 'may keep 'em.'", ["'Em as has hats,'", "'may keep 'em.'"]),
    # short phrases in marks
    ("They call it 'the office' and 'the den', too.", ["'the office'", "'the den'"]),
    ("'Come in', said she.", ["'Come in'"]),
    # inner marks
    ("'He cried \"Fire!\" and ran,' said Bo.", ["'He cried \"Fire!\" and ran,'"]),
    ("'\"Fire!\" he cried,' said Bo.", ["'\"Fire!\" he cried,'"]),
    ("'He said, \"Never!\"'", ["'He said, \"Never!\"'"]),
    ("--'Now!'--he cried.", ["'Now!'"]),
    ("('Now!')", ["'Now!'"]),
    ("'If I--' he began.", ["'If I--'"]),
]


def curly(text):
    """The scene with its opening marks as marks, and all others as apostrophes."""
    for part in quoted(text, "single-straight"):
        inner = part[1:].replace("'", "’").replace('"', "“", 1).replace('"', "”")
        text = text.replace(part, f"‘{inner}")
    return text.replace("'", "’")


@pytest.mark.parametrize(("text", "expected"), SINGLE)
def test_single_marks_that_are_apostrophes_too(text, expected):
    assert quoted(text, "single-straight") == expected
    assert quoted(curly(text), "single-curly") == [curly(part) for part in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He drove the ‘bus past the ‘rickshaws of the town.", []),
        ("‘I’m an old ‘ooman, sir,’ she said.", ["‘I’m an old ‘ooman, sir,’"]),
        ("The words ‘high’ and ‘low’ are painted over.", ["‘high’", "‘low’"]),
        ("He read ‘high’ and ‘low’ there. ‘Oh!’ said he.", ["‘high’", "‘low’", "‘Oh!’"]),
        (
            "‘“T’ master is out,” says he, “and t’ dog.”’",
            ["‘“T’ master is out,” says he, “and t’ dog.”’"],
        ),
        ("‘’Twas I,’ said Bo. ‘’Twas not.’", ["‘’Twas I,’", "‘’Twas not.’"]),
    ],
)
def test_opening_marks_misprinted_for_apostrophes(text, expected):
    assert quoted(text, "single-curly") == expected


@pytest.mark.parametrize(
    ("name", "text", "length"),
    [
        ("double-curly", "“And then", 1),
        ("double-straight", '"And then', 1),
        ("double-curly", "And then", 0),
        ("double-curly", "‘And then", 0),
        ("guillemets", "» Et puis", 1),
        ("guillemets", "« Et puis", 1),
        ("guillemets-inward", "»Und dann", 1),
        ("low-high", "„Und dann", 1),
        ("single-curly", "‘And then", 1),
        ("single-straight", "'And then,' said Bo.", 1),
        ("single-straight", "'Twas then", 0),
    ],
)
def test_the_mark_that_shows_speech_runs_on(name, text, length):
    assert scan(text, MARKS[name]).continuation() == length


@pytest.mark.parametrize(
    ("name", "text", "first"),
    [
        ("double-curly", "low and high.” “Oh!”", "close"),
        ("double-curly", "He said: “Low.”", "open"),
        ("double-straight", 'low and high." She wept. "Oh!"', "close"),
        ("double-straight", 'He said: "Low."', "open"),
        ("single-curly", "low and high.’ She wept.", "close"),
        ("single-curly", "The boys’ hats.", ""),
        ("single-straight", "Don't! He said: 'Low.'", "open"),
        ("guillemets", "basse.» Elle pleura.", "close"),
        ("double-curly", "No marks.", ""),
    ],
)
def test_the_first_mark_of_a_block(name, text, first):
    assert scan(text, MARKS[name]).first_mark() == first


pieces = st.sampled_from(
    [*"\"'“”‘’«»„—– .,;:!?()[]_\n\t-aAtZé1…", "--", "'Tis", "don't", "said", " he "]
)
texts = st.one_of(st.lists(pieces, max_size=25).map("".join), st.text(max_size=25))


@given(texts, st.sampled_from(sorted(MARKS)), st.integers(0, 30))
def test_any_text_can_be_scanned(text, name, position):
    scanned = scan(text, MARKS[name])
    start = scanned.open(position)
    assert start == -1 or position <= start < len(text)
    if start >= 0:
        end, _ = scanned.close(start + 1)
        assert start < end <= len(text)
    assert scanned.first_mark() in ("open", "close", "")
    if text:
        assert scanned.continuation() in (0, 1)
