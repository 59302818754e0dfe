"""Takes a picture of the page of `miner view`: the sample with its gold and two taggers.

    python tests/benchmarks/screenshot.py -o view.png [--size 1280x900] [--scheme dark] [--keys 1,b]

The keys are pressed in order before the picture is taken. The browser is /usr/bin/chromium or the
variable CHROMIUM.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser import chromium, opened

from miner.annotation.annotations import read_annotations
from miner.app.viewer.layers import build_layers
from miner.app.viewer.page import render_book
from miner.books.download import find_book
from miner.speech.read import parse_spans
from miner.tagger.load import load_tagger, tagger_label

ANNOTATIONS = Path(__file__).parents[2] / "annotations"


def sample_page(taggers=("gap", "narration")) -> bytes:
    """Returns the page of the sample with the gold and the taggers as layers."""
    source, path = find_book("sample")
    book_spans = parse_spans(path.read_bytes(), source.id, ())
    named = [(tagger_label(name), load_tagger(name)) for name in taggers]
    return render_book(build_layers(book_spans, named, read_annotations(ANNOTATIONS)))


def main() -> None:
    """Writes the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, required=True, help="PNG file to write")
    parser.add_argument("--size", default="1280x900", help="of the window, in pixels")
    parser.add_argument(
        "--scale", type=float, default=1, help="pixels of the picture per window pixel"
    )
    parser.add_argument("--scheme", choices=["light", "dark"], default="light")
    parser.add_argument("--keys", default="2,d,d,b", help="keys to press, with commas")
    args = parser.parse_args()
    size = tuple(map(int, args.size.split("x")))
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        file = Path(folder) / "sample.html"
        file.write_bytes(sample_page())
        page = opened(browser, file, size, args.scheme, scale=args.scale)
        for key in filter(None, args.keys.split(",")):
            page.keyboard.press(key)
        page.screenshot(path=args.out)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
