"""Speed and memory of tagging with a checkpoint, as ratios measured in one run.

    python tests/benchmarks/bench_tag.py --books DIR --encoder FOLDER [--tagger auto] [--n 5]

1. The time to tag a novel, divided by the time of a bare forward pass of the checkpoint's encoder.
   Tagging includes features, tokens, network and decoding, but not the spans. The tagger reads all
   windows here. The forward pass reads the same windows, sorted by length, in the fastest batches
   of 4, 8, 16 or 32. The median must be at most 1.25.
2. The time to tag it as its config says, with windows in no doubt left out, divided by that of a
   bare forward pass of all-MiniLM-L6-v2 (FOLDER) by PyTorch in float32. The median must be at most
   0.25.
3. Peak memory of `miner tag` as a process, on the longest book and on one five times as long.
   It must be at most 1.5 GB. The peak is read from /proc, so this part needs Linux.
4. The processor time of `miner mine` over all books, divided by the time it takes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from bench_mine import best_of, measured
from transformers import AutoModel
from transformers.utils import logging

from miner.books.sources import find_sources
from miner.dialogue.read import parse_spans
from miner.dialogue.spans import BookSpans
from miner.models.load import load_checkpoint_tagger
from miner.models.tagger.encoding import Window, encode_chapter
from miner.models.tagger.features import split_chapters
from miner.models.tagger.tagger import NeuralTagger

LARGEST_OVERHEAD, LARGEST_SHARE, LARGEST_PEAK_MB = 1.25, 0.25, 1536
BATCHES = (4, 8, 16, 32)
TRIAL = 64  # windows that the fastest batch is found with


Encode = Callable[[list[Window], int], object]  # windows, and the length to pad them to


def by_torch(encoder: torch.nn.Module) -> Encode:
    """A forward pass of an encoder of transformers over a batch."""

    def encode(windows: list[Window], length: int) -> None:
        ids = torch.tensor([[*w.ids, *[0] * (length - len(w.ids))] for w in windows])
        whole = min(len(w.ids) for w in windows) == length
        with torch.inference_mode():
            encoder(input_ids=ids, attention_mask=None if whole else (ids != 0).long())

    return encode


def forward(encode: Encode, windows: list[Window], batch: int) -> None:
    for n in range(0, len(windows), batch):
        some = windows[n : n + batch]
        encode(some, max(len(window.ids) for window in some))


def bare(encode: Encode, windows: list[Window]) -> float:
    """Seconds of a forward pass over windows, sorted, in the fastest batches."""
    some = windows[-TRIAL:]
    forward(encode, some[:8], 8)
    best = min(BATCHES, key=lambda n: best_of(2, lambda: forward(encode, some, n)))
    return best_of(2, lambda: forward(encode, windows, best))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=Path, required=True, help="folder of Gutenberg HTML files")
    parser.add_argument("--encoder", required=True, help="all-MiniLM-L6-v2, a folder or a name")
    parser.add_argument("--tagger", default="auto")
    parser.add_argument("--n", type=int, default=5, help="novels for the ratios")
    options = parser.parse_args()
    logging.disable_progress_bar()
    tagger = load_checkpoint_tagger(options.tagger)
    reads_all = replace(tagger, config=replace(tagger.config, sure=1.0))
    plain = AutoModel.from_pretrained(options.encoder, dtype=torch.float32).eval()
    sources, _ = find_sources([str(options.books)])
    sized = sorted(sources, key=lambda source: source.path.stat().st_size)
    overheads, shares = [], []
    print(f"1, 2. tagging over bare forward passes ({torch.get_num_threads()} threads)")
    for source in sized[len(sized) // 3 :: max(1, len(sized) // (2 * options.n))][: options.n]:
        book_spans = parse_spans(source.path.read_bytes(), source.id, ())
        windows = windows_of(tagger, book_spans)
        tagger.tag(book_spans)
        tagged = best_of(2, lambda book=book_spans: tagger.tag(book))
        whole = best_of(2, lambda book=book_spans: reads_all.tag(book))
        own, theirs = bare(tagger.runtime.encode, windows), bare(by_torch(plain), windows)
        overheads.append(whole / own)
        shares.append(tagged / theirs)
        print(
            f"  {source.id:>6} {book_spans.book.n_words:>8,} words {len(windows):>5} windows  "
            f"tagged {tagged:5.2f} s, all read {whole:5.2f} s  "
            f"bare {own:5.2f} s ({whole / own:.2f})  "
            f"plain {theirs:5.2f} s ({tagged / theirs:.2f})"
        )
    overhead, share = statistics.median(overheads), statistics.median(shares)
    print(f"   medians {overhead:.2f} (at most {LARGEST_OVERHEAD})")
    print(f"   and {share:.2f} (at most {LARGEST_SHARE})")
    longest = sized[-1].path
    with tempfile.TemporaryDirectory() as folder:
        book = longest.read_bytes()
        start, end = book.index(b"<p"), book.rindex(b"</p>") + 4
        long = Path(folder) / "long.html"
        long.write_bytes(book[:start] + book[start:end] * 5 + book[end:])
        out = ["--tagger", options.tagger, "-o", str(Path(folder) / "tags")]
        peaks = [measured(["tag", str(path), *out, "--force"])[1] for path in (longest, long)]
    print(f"3. peak memory {peaks[0]:.0f} MB, of five times the book {peaks[1]:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        words = ["mine", str(options.books), "--tagger", options.tagger, "--json"]
        command = [sys.executable, "-m", "miner", *words, "-o", str(Path(folder) / "out")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        totals = json.loads(done.stdout)["totals"]
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"4. {totals['books']} books, {totals['words']:,} words in {wall:.0f} s "
        f"({totals['words'] / wall:,.0f} words/s): {used / wall:.2f} of {os.cpu_count()} cores"
    )
    return int(overhead > LARGEST_OVERHEAD or share > LARGEST_SHARE or max(peaks) > LARGEST_PEAK_MB)


def windows_of(tagger: NeuralTagger, book_spans: BookSpans) -> list[Window]:
    found = [
        encode_chapter(chapter, tagger.tokenizer, tagger.config)
        for chapter in split_chapters(book_spans)
    ]
    windows = [window for encoding in found for window in encoding.windows]
    return sorted(windows, key=lambda window: len(window.ids))


if __name__ == "__main__":
    raise SystemExit(main())
