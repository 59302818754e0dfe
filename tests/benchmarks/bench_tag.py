"""Speed and memory of tagging with a checkpoint, measured in one run.

    python tests/benchmarks/bench_tag.py --books DIR [--tagger auto] [--n 5] [--all]

1. The time to tag a novel by ONNX Runtime, over the time by PyTorch in float32 from the whole text,
   with the threads that both use by default. Tagging includes features, tokens, network and
   decoding, but not the spans. The median must be at most 0.5.
2. What it costs to read less: for several thresholds `sure`, the share of the tokens that is read,
   the time, and the tags that differ from those of PyTorch from the whole text.
3. Seconds of `miner mine` as a process on each novel and on the sample, with all start-up.
4. Peak memory of `miner mine`, on the longest book and on one five times as long. It must be at
   most 600 MB. The peak is read from /proc, so this part needs Linux.
5. The time to read and tag a novel with its speakers and the judge of speech, over the time
   without them. The median must be at most 1.3. `--speakers` does this part alone.
6. With --all, the processor time of `miner mine` over all books, divided by the time it takes.
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
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from bench_mine import best_of, measured

from miner.books.sources import Source, find_sources
from miner.people.attributor import attribute_speakers
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans
from miner.tagger.checkpoint import load_checkpoint
from miner.tagger.encoding import encode_chapter
from miner.tagger.features import split_chapters
from miner.tagger.load import CHECKPOINTS
from miner.tagger.tagger import NeuralTagger, choose_windows, find_doubtful
from miner.tagger.torch_runtime import TorchRuntime, read_checkpoint

LARGEST_SHARE, LARGEST_PEAK_MB, LARGEST_SPEAKERS = 0.5, 600, 1.3
THRESHOLDS = (1.0, 0.99, 0.95, 0.9, 0.8)


def tags_of(tagger: NeuralTagger, book: BookSpans) -> list[str]:
    return [str(item.tag) for item in tagger.tag(book) if item.span.is_utterance]


def count_tokens(tagger: NeuralTagger, book: BookSpans) -> int:
    """The tokens that the encoder reads of a book."""
    found = 0
    for chapter in split_chapters(book):
        encoding = encode_chapter(chapter, tagger.tokenizer, tagger.config)
        doubtful = np.ones(len(chapter.places), dtype=bool)
        if tagger.config.features and tagger.config.sure < 1:
            structure = tagger.runtime.score_structure(chapter.features)
            doubtful = find_doubtful(structure, tagger.config.sure)
        windows, _ = choose_windows(encoding, doubtful)
        found += sum(len(window.ids) for window in windows)
    return found


def compare_runtimes(
    ours: NeuralTagger, theirs: NeuralTagger, books: Sequence[BookSpans]
) -> tuple[float, list[list[str]]]:
    """The median share of the time, and the tags of PyTorch."""
    shares, tags = [], []
    print(f"1. ONNX Runtime and PyTorch, which has {torch.get_num_threads()} threads")
    for book in books:
        tags.append(tags_of(theirs, book))
        ours.tag(book)
        own = best_of(2, lambda book=book: ours.tag(book))
        other = best_of(2, lambda book=book: theirs.tag(book))
        shares.append(own / other)
        n_words = book.book.n_words
        print(
            f"  {book.book.id:>6} {n_words:>8,} words  {own:5.2f} s ({n_words / own:,.0f} words/s)"
            f"  PyTorch {other:5.2f} s  {own / other:.2f}"
        )
    share = statistics.median(shares)
    print(f"   median {share:.2f} (at most {LARGEST_SHARE})")
    return share, tags


def compare_thresholds(
    ours: NeuralTagger, books: Sequence[BookSpans], expected: Sequence[Sequence[str]]
) -> None:
    whole = 0
    print(f"2. reading less; {sum(map(len, expected)):,} tags")
    for sure in THRESHOLDS:
        tagger = replace(ours, config=replace(ours.config, sure=sure))
        n_tokens = sum(count_tokens(tagger, book) for book in books)
        whole = whole or n_tokens
        start = time.perf_counter()
        found = [tags_of(tagger, book) for book in books]
        seconds = time.perf_counter() - start
        pairs = zip(found, expected, strict=True)
        n_other = sum(a != b for one in pairs for a, b in zip(*one, strict=True))
        print(
            f"   sure {sure:4.2f}: {n_tokens / whole:4.0%} of the tokens, {seconds:5.1f} s, "
            f"{n_other} other tags"
        )


def time_commands(sources: Sequence[Source], tagger: str) -> None:
    print("3. `miner mine` as a process")
    with tempfile.TemporaryDirectory() as folder:
        out = ["--tagger", tagger, "-o", str(Path(folder) / "out"), "--force", "-q"]
        for word in ("sample", *(str(source.path) for source in sources)):
            seconds = min(measured(["mine", word, *out])[0] for _ in range(2))
            print(f"  {Path(word).name:>16} {seconds:5.2f} s")


def measure_peaks(longest: Path, tagger: str) -> list[float]:
    """Megabytes on a book, and on one five times as long."""
    with tempfile.TemporaryDirectory() as folder:
        book = longest.read_bytes()
        start, end = book.index(b"<p"), book.rindex(b"</p>") + 4
        long = Path(folder) / "long.html"
        long.write_bytes(book[:start] + book[start:end] * 5 + book[end:])
        out = ["--tagger", tagger, "-o", str(Path(folder) / "out"), "--force", "-q"]
        peaks = [measured(["mine", str(path), *out])[1] for path in (longest, long)]
    print(f"4. peak memory {peaks[0]:.0f} MB, of five times the book {peaks[1]:.0f} MB")
    return peaks


def compare_speakers(ours: NeuralTagger, sources: Sequence[Source]) -> float:
    """The median time with the speakers and the judge of speech, over the time without."""

    def without(data: bytes) -> None:
        ours.tag(parse_spans(data, "1", classified=False))

    def with_speakers(data: bytes) -> None:
        book = parse_spans(data, "1")
        attribute_speakers(book, ours.tag(book), revise=True)

    ratios = []
    print("5. with speakers and the judge of speech, over without")
    for source in sources:
        data = source.path.read_bytes()
        with_speakers(data)
        before = best_of(3, lambda data=data: without(data))
        after = best_of(3, lambda data=data: with_speakers(data))
        ratios.append(after / before)
        print(f"  {source.id:>6}  {before:5.2f} s  {after:5.2f} s  {after / before:.2f}")
    ratio = statistics.median(ratios)
    print(f"   median {ratio:.2f} (at most {LARGEST_SPEAKERS})")
    return ratio


def mine_all(books: Path, tagger: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        words = ["mine", str(books), "--tagger", tagger, "--json"]
        command = [sys.executable, "-m", "miner", *words, "-o", str(Path(folder) / "out")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        totals = json.loads(done.stdout)["totals"]
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"6. {totals['books']} books, {totals['words']:,} words in {wall:.0f} s "
        f"({totals['words'] / wall:,.0f} words/s): {used / wall:.2f} of {os.cpu_count()} cores"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=Path, required=True, help="folder of Gutenberg HTML files")
    parser.add_argument("--tagger", default=str(CHECKPOINTS / "en"), help="folder of a checkpoint")
    parser.add_argument("--n", type=int, default=5, help="novels that are timed")
    parser.add_argument("--speakers", action="store_true", help="the cost of speakers alone")
    parser.add_argument("--all", action="store_true", help="mine all books, too")
    options = parser.parse_args()
    folder = Path(options.tagger)
    ours = load_checkpoint(folder, "cpu")
    whole = replace(ours.config, sure=1.0)
    theirs = replace(ours, runtime=TorchRuntime(folder, read_checkpoint(folder)[0]), config=whole)
    sources, _ = find_sources([str(options.books)])
    sized = sorted(sources, key=lambda source: source.path.stat().st_size)
    chosen = sized[len(sized) // 3 :: max(1, len(sized) // (2 * options.n))][: options.n]
    if options.speakers:
        return int(compare_speakers(ours, chosen) > LARGEST_SPEAKERS)
    books = [parse_spans(source.path.read_bytes(), source.id) for source in chosen]
    share, expected = compare_runtimes(ours, theirs, books)
    compare_thresholds(ours, books, expected)
    time_commands(chosen, options.tagger)
    peaks = measure_peaks(sized[-1].path, options.tagger)
    ratio = compare_speakers(ours, chosen)
    if options.all:
        mine_all(options.books, options.tagger)
    is_slow = share > LARGEST_SHARE or ratio > LARGEST_SPEAKERS
    return int(is_slow or max(peaks) > LARGEST_PEAK_MB)


if __name__ == "__main__":
    raise SystemExit(main())
