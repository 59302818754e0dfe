"""Chromium for the pages of `miner view` and `miner annotate`.

Its path is /usr/bin/chromium or the variable CHROMIUM. Without it the tests of pages are skipped,
or fail if MINER_NEEDS_BROWSER is 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP, PHONE = (1280, 900), (390, 844)
# Notes when the first chapter is on the screen: one frame after it was built.
PAINTED = """
new MutationObserver((_, observer) => {
  if (!document.documentElement?.dataset.ready) return;
  observer.disconnect();
  const data = document.documentElement.dataset;
  requestAnimationFrame(() => setTimeout(() => { data.painted = performance.now(); }));
}).observe(document, { subtree: true, childList: true, attributes: true });
"""


# The texts on the page whose contrast with their background is below 4.5.
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour, under) => {
    canvas.fillStyle = under; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const css = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`;
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.unshift(getComputedStyle(at).backgroundColor);
    }
    return layers.reduce((under, colour) => css(rgba(colour, under)), "rgb(255, 255, 255)");
  };
  const light = (colour) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own && !element.dataset.label) continue;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("option, .hidden, .skip, script, style")) continue;
    const under = behind(element);
    const colour_of_text = rgba(getComputedStyle(element).color, under);
    const [a, b] = [light(colour_of_text), light(rgba(under, under))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) bad.push(`${element.className || element.tagName} ${contrast.toFixed(2)}`);
  }
  return [...new Set(bad)];
}"""
# The controls without an accessible name.
NAMELESS = """() => [
  ...document.querySelectorAll("button, a, select, input, meter"),
].filter((element) => {
  const name = element.getAttribute("aria-label") || element.textContent.trim()
    || element.labels?.[0]?.textContent.trim();
  return !name;
}).map((element) => element.outerHTML)"""


def require_chromium() -> None:
    """Skips a test without Chromium, or fails it if MINER_NEEDS_BROWSER is 1."""
    import pytest

    if CHROMIUM.is_file():
        return
    refuse = pytest.fail if os.environ.get("MINER_NEEDS_BROWSER") == "1" else pytest.skip
    refuse(f"found no browser at {CHROMIUM}, expected Chromium there or at the path in CHROMIUM")


@contextmanager
def chromium() -> Iterator:
    """A running browser; its pages close with it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def wait_for_paint(page) -> None:
    """Waits until what was changed is painted: what a browser has not laid out has no text yet."""
    page.evaluate("() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")


def opened(
    browser,
    file: Path,
    size: tuple[int, int] = DESKTOP,
    scheme: str = "light",
    at: str = "",
    scale: float = 1,
):
    """Opens a file and waits for its first chapter; `at` is the part of the address from the #."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(PAINTED)
    page.goto(file.resolve().as_uri() + at)
    page.wait_for_selector("html[data-painted]", state="attached")
    return page


def seconds_to_first_chapter(page) -> float:
    """The time from navigation to the first chapter on the screen."""
    return float(page.locator("html").get_attribute("data-painted")) / 1000
