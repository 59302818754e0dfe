"""The colours of the annotation pages, read from their style sheets: contrast by WCAG 2."""

import re
from importlib.resources import files

import pytest

LEAST = 4.5  # WCAG 2.2, success criterion 1.4.3 at level AA, for text of ordinary size
WEB = files("miner.app.viewer").joinpath("web")
SHEETS = ("edit.css", "chapters.css")
PAIRS = [
    *((text, back) for text in ("ink", "quiet", "accent") for back in ("paper", "desk")),
    *((text, back) for text in ("differs", "right") for back in ("paper", "desk")),
    *((text, "paper") for text in ("odd", "even")),
    *(("ink", back) for back in ("odd-tint", "even-tint")),
    *(("on-mark", back) for back in ("odd", "even")),
    ("paper", "ink"),  # the button that leads on
]


def luminance(colour):
    """Relative luminance of "#rrggbb" as WCAG 2 defines it."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def read(name):
    return WEB.joinpath(name).read_text(encoding="utf-8")


def palette():
    """The colours by name: for the light and for the dark theme."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", read("view.css"))
    return {name: colours for name, *colours in found}


def test_the_formula_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "back"), PAIRS, ids="-on-".join)
def test_text_can_be_read(text, back, theme):
    colours = palette()
    assert contrast(colours[text][theme], colours[back][theme]) >= LEAST


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_a_message_about_trouble_can_be_read(theme):
    rule = re.search(r"#trouble \{(.*?)\}", read("edit.css"), re.DOTALL)[1]
    back, text = re.findall(r"light-dark\((#\w{6}), (#\w{6})\)", rule)
    assert contrast(text[theme], back[theme]) >= LEAST


@pytest.mark.parametrize("sheet", SHEETS)
def test_text_has_no_other_colours(sheet):
    """A new pair of colours must be added to the pairs above, and no text is made transparent."""
    known = {text for text, _ in PAIRS} | {"turn"}  # --turn is --odd, --even or --quiet
    rules = re.findall(r"\{([^{}]*)\}", read(sheet))
    texts = [re.findall(r"(?<![\w-])color: ([^;]+);", rule) for rule in rules]
    for colour in (colour for found in texts for colour in found):
        name = re.fullmatch(r"var\(--([\w-]+)\)", colour)
        is_tested = colour in ("inherit", "light-dark(#ffffff, #2a0512)") or name[1] in known
        assert is_tested, colour
    assert not re.search(r"opacity:", read(sheet))
