"""Measures how fast the page of `miner view` opens in a browser, for the longest books.

    python tests/benchmarks/bench_view.py --books DIR [--largest 3]

For each book it prints the time to write the page with two taggers, the size of the page, the time
from navigation to the first chapter on the screen, the time of the slowest chapter to open, and the
longest frame while the longest chapter is scrolled. A second row has the same book without
headings, as one chapter. The exit code is 1 if a first chapter takes more than 2 seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser import chromium, opened, seconds_to_first_chapter

from miner.app.viewer.layers import build_layers
from miner.app.viewer.page import render_book
from miner.books.sources import find_sources
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans
from miner.tagger.load import load_tagger

LONGEST_SECONDS = 2.0
SLOWEST = """() => {
  const times = book.chapters.map((chapter) => {
    const start = performance.now();
    openChapter(chapter.number);
    document.body.getBoundingClientRect();
    return performance.now() - start;
  });
  return Math.max(...times);
}"""

# Scrolls half a screen in each of 300 frames; the sixth longest frame in milliseconds.
SCROLLED = """async () => {
  const longest = book.chapters.reduce((a, b) => (b.words > a.words ? b : a));
  openChapter(longest.number);
  const frame = () => new Promise(requestAnimationFrame);
  const times = [];
  let before = await frame();
  for (let n = 0; n < 300; n += 1) {
    scrollBy({ top: innerHeight / 2, behavior: "instant" });
    const now = await frame();
    times.push(now - before);
    before = now;
  }
  return times.sort((a, b) => b - a)[5];
}"""


def in_one_chapter(book_spans: BookSpans) -> BookSpans:
    """Moves the whole book into one chapter."""
    blocks = tuple(replace(block, chapter=0) for block in book_spans.book.blocks)
    spans = tuple(replace(span, chapter=0) for span in book_spans.spans)
    return BookSpans(replace(book_spans.book, blocks=blocks), spans)


def measure(browser, folder: Path, name: str, book_spans: BookSpans) -> float:
    """Prints a row; returns the seconds to the first chapter."""
    start = time.perf_counter()
    taggers = [(tagger, load_tagger(tagger)) for tagger in ("gap", "narration")]
    data = render_book(build_layers(book_spans, taggers))
    written = time.perf_counter() - start
    file = folder / "page.html"
    file.write_bytes(data)
    page = opened(browser, file)
    seconds = seconds_to_first_chapter(page)
    slowest = page.evaluate(SLOWEST) / 1000
    frame = page.evaluate(SCROLLED)
    page.context.close()
    print(
        f"{name:<44.44} {book_spans.book.n_words:>8,} words  {len(data) / 1e6:4.1f} MB  "
        f"written {written:4.1f} s  first chapter {seconds:5.2f} s  slowest {slowest:5.2f} s  "
        f"frame {frame:3.0f} ms"
    )
    return seconds


def main() -> None:
    """Prints the table; exit code 1 if a page is too slow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=Path, required=True)
    parser.add_argument("--largest", type=int, default=3)
    args = parser.parse_args()
    sources, _ = find_sources([str(args.books)])
    paths = sorted((source.path for source in sources), key=lambda path: -path.stat().st_size)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for path in paths[: args.largest]:
            book_spans = parse_spans(path.read_bytes(), path.stem, ())
            title = book_spans.book.title
            worst = max(worst, measure(browser, Path(folder), title, book_spans))
            one = in_one_chapter(book_spans)
            worst = max(worst, measure(browser, Path(folder), f"  {title}, no chapters", one))
    if worst > LONGEST_SECONDS:
        raise SystemExit(f"{worst:.2f} s to the first chapter, expected {LONGEST_SECONDS} at most")


if __name__ == "__main__":
    main()
