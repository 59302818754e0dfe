"""Debian's Chromium for the page of `miner view`, opened from disk and without a network."""

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
# When the first chapter stands on the screen: the frame after the one in which it was built.
PAINTED = """
new MutationObserver((_, observer) => {
  if (!document.documentElement?.dataset.ready) return;
  observer.disconnect();
  const data = document.documentElement.dataset;
  requestAnimationFrame(() => setTimeout(() => { data.painted = performance.now(); }));
}).observe(document, { subtree: true, childList: true, attributes: true });
"""


@contextmanager
def chromium() -> Iterator:
    """A browser of `playwright`; its pages are closed with it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def opened(
    browser,
    file: Path,
    size: tuple[int, int] = DESKTOP,
    scheme: str = "light",
    at: str = "",
    scale: float = 1,
):
    """A page that shows a file, its first chapter built; `at` is the part behind the #."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.add_init_script(PAINTED)
    page.goto(file.resolve().as_uri() + at)
    page.wait_for_selector("html[data-painted]", state="attached")
    return page


def seconds_to_first_chapter(page) -> float:
    """From navigation to the first chapter on the screen."""
    return float(page.locator("html").get_attribute("data-painted")) / 1000
