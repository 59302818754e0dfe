"""The colours of the pages, by the formula of the WCAG: text has a contrast of 4.5 or more."""

import re
from importlib.resources import files

import pytest

from miner.app.viewer.layers import N_COLOURS

STYLES = {
    path.name: path.read_text(encoding="utf-8")
    for path in files("miner.app.viewer").joinpath("web").iterdir()
    if path.name.endswith(".css")
}
CSS = "\n".join(STYLES.values())
THEMES = ("light", "dark")
SPEAKERS = [f"by-{n}" for n in range(N_COLOURS + 1)]  # those of the rest, and of who speaks most
SPEAKER_TINTS = [f"{name}-tint" for name in SPEAKERS]
# Each colour of text, and the backgrounds on which it stands; "paper~ink" is the former with 7% of
# the latter, as under the mouse.
TEXT_ON = {
    "ink": ("paper", "desk", "odd-tint", "even-tint", "desk~ink", "paper~ink", *SPEAKER_TINTS),
    "narration": ("paper",),
    "quiet": ("paper", "desk", "desk~ink"),
    "accent": ("paper", "desk", "paper~ink"),
    "differs": ("paper", "desk", "desk~ink"),
    "right": ("paper", "desk", "desk~ink"),
    "paper": ("ink", "accent"),
    "turn": (),  # one of odd, even, quiet, differs and those of the speakers
    "odd": ("odd-tint", "paper"),
    **{name: (f"{name}-tint", "paper", "desk") for name in SPEAKERS},
    "even": ("even-tint", "paper"),
    "on-mark": ("odd", "even", *SPEAKERS),
    "on-found": ("found",),
    "on-found-now": ("found-now",),
}
HOVER = 0.1  # of the ink, the most that any element mixes in under the mouse


def colours(theme):
    found = {}
    for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", CSS):
        found[name] = rgb(pair[THEMES.index(theme)])
    return found


def rgb(text):
    return tuple(int(text[n : n + 2], 16) / 255 for n in (1, 3, 5))


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return sum(c * weight for c, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def background(name, found):
    under, _, over = name.partition("~")
    if not over:
        return found[under]
    pairs = zip(found[under], found[over], strict=True)
    return tuple(a * (1 - HOVER) + b * HOVER for a, b in pairs)


def test_the_formula_gives_the_contrasts_of_the_standard():
    assert contrast(rgb("#000000"), rgb("#ffffff")) == pytest.approx(21)
    assert contrast(rgb("#777777"), rgb("#ffffff")) == pytest.approx(4.478, abs=0.001)


@pytest.mark.parametrize("theme", THEMES)
def test_every_text_can_be_read_on_its_background(theme):
    found = colours(theme)
    low = {
        (text, under): round(value, 2)
        for text, backgrounds in TEXT_ON.items()
        for under in backgrounds
        if (value := contrast(found[text], background(under, found))) < 4.5
    }
    assert low == {}


@pytest.mark.parametrize("theme", THEMES)
def test_narration_is_easier_to_read_than_the_standard_asks(theme):
    found = colours(theme)
    assert contrast(found["narration"], found["paper"]) >= 7


def test_no_text_has_a_colour_that_is_not_tested():
    used = set(re.findall(r"(?<![\w-])color: var\(--([\w-]+)", CSS))
    assert used == TEXT_ON.keys() - {"odd", "even", *SPEAKERS}  # these are set as "turn"
    direct = re.findall(r"(?<![\w-])color: (?!var\(|inherit|currentColor)(.+);", CSS)
    assert direct == ["light-dark(#ffffff, #2a0512)"]  # on the red of an error, tested below
    ((light, dark),) = re.findall(r"background: light-dark\((#\w{6}), (#\w{6})\)", CSS)
    assert contrast(rgb("#ffffff"), rgb(light)) >= 4.5
    assert contrast(rgb("#2a0512"), rgb(dark)) >= 4.5


def test_each_speaker_with_a_colour_has_a_line_of_its_own():
    """Readers who do not tell two colours apart tell the lines under the names apart."""
    looks = {}
    for name, rule in re.findall(r"^\.(by-\d) \{(.+?)\}", CSS, re.DOTALL | re.MULTILINE):
        assert re.findall(r"--(?:turn|tint): var\(--([\w-]+)\)", rule) == [name, f"{name}-tint"]
        looks[name] = re.findall(r"--line: (.+);", rule)
    assert list(looks) == SPEAKERS
    assert len({*map(tuple, looks.values())}) == len(SPEAKERS)


def test_no_text_is_made_transparent():
    """A share of the opacity would lower a contrast that the table does not see."""
    assert re.findall(r"opacity: (?!1;)", CSS) == []
