"""What all of Project Gutenberg costs in hours and money, computed from what a few novels take.

    python tests/benchmarks/cost.py --books DIR [--n 5]
    python tests/benchmarks/cost.py --read 5 --tag 150 --rest 50

The first form measures the seconds of the processor that a novel takes to be read, tagged by the
network, and given its speakers and rows; the second takes them, for a million words, as they were
measured before. From these it computes, for `--n-books` books of `--mean-words` words (an
assumption, too: the books of the tests, which are novels, have 121,000 on average):

- one machine of `--cores` cores, in Ray: each core reads and tags a book of its own;
- the same machine with one GPU. No GPU is measured here. The network's time is divided by
  `--gpu-speed`, for which several values are assumed, and is spent on the GPU; all else is spent on
  the cores beside it at the same time;
- a cluster of `--machines` such machines without GPUs, as in the first row.

Prices are arguments. The defaults are assumptions: round figures of the order that large clouds ask
on demand for a machine of 16 virtual cores with 64 GB, and for one that also has a small GPU of
24 GB. Look yours up. `--efficiency` is the share of the cores' time that does work, also assumed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

N_BOOKS, MEAN_WORDS = 60_000, 75_000


@dataclass(frozen=True)
class Seconds:
    """Seconds of one core for each million words."""

    read: float
    tag: float  # by the network
    rest: float  # speakers, dialogues, rows

    @property
    def together(self) -> float:
        return self.read + self.tag + self.rest


def measure(paths: Iterable[Path]) -> Seconds:
    """Seconds of the processor of a few books, one after another."""
    from miner.books.book_file import read_book_file
    from miner.books.sources import Source, id_of
    from miner.corpus.mined_book import MiningOptions
    from miner.corpus.pipeline import mine_book
    from miner.speech.read import parse_spans
    from miner.tagger.load import AUTO, load_checkpoint_tagger, load_tagger

    network, tagger, options = load_checkpoint_tagger(AUTO), load_tagger(AUTO), MiningOptions(AUTO)
    found: list[Seconds] = []
    print("    book    words   read    tag   rest   seconds of the processor")
    for path in paths:
        source = Source(id_of(path), id_of(path), path)
        book = parse_spans(read_book_file(path), source.id)
        millions = book.book.n_words / 1e6
        read = cpu_of(lambda source=source: parse_spans(read_book_file(source.path), source.id))
        tag = cpu_of(lambda book=book: network.tag(book))
        whole = cpu_of(lambda source=source: mine_book(source, tagger, options))
        rest = max(0.0, whole - read - tag)
        print(f"{source.id:>8} {book.book.n_words:>8,} {read:6.2f} {tag:6.2f} {rest:6.2f}")
        found.append(Seconds(read / millions, tag / millions, rest / millions))
    return Seconds(
        *(
            statistics.median(getattr(one, name) for one in found)
            for name in ("read", "tag", "rest")
        )
    )


def cpu_of(call) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=Path, help="folder of Gutenberg HTML files, to measure")
    parser.add_argument("--n", type=int, default=5, help="novels that are measured")
    for name in ("read", "tag", "rest"):
        parser.add_argument(f"--{name}", type=float, help="measured seconds for a million words")
    parser.add_argument("--n-books", type=int, default=N_BOOKS)
    parser.add_argument("--mean-words", type=int, default=MEAN_WORDS, help="words of a book")
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--machines", type=int, default=10)
    parser.add_argument("--efficiency", type=float, default=0.8)
    parser.add_argument(
        "--gpu-speed",
        type=float,
        nargs="+",
        default=[20, 60, 200],
        help="how many cores a GPU is worth for the network; assumed",
    )
    parser.add_argument("--machine-price", type=float, default=0.80, help="US dollars an hour")
    parser.add_argument("--gpu-price", type=float, default=1.60, help="of a machine with a GPU")
    options = parser.parse_args()
    if options.books:
        sized = sorted(options.books.glob("*.htm*"), key=lambda path: path.stat().st_size)
        step = max(1, len(sized) // (2 * options.n))
        seconds = measure(sized[len(sized) // 3 :: step][: options.n])
    else:
        seconds = Seconds(options.read, options.tag, options.rest)
    print(
        f"seconds of one core for a million words: read {seconds.read:.1f}, network "
        f"{seconds.tag:.1f} ({seconds.tag / seconds.together:.0%}), rest {seconds.rest:.1f}"
    )
    for row in tabulate(seconds, options):
        print(row)
    return 0


def tabulate(seconds: Seconds, options: argparse.Namespace) -> list[str]:
    """The table, in Markdown."""
    millions = options.n_books * options.mean_words / 1e6
    cores = options.cores * options.efficiency
    one = millions * seconds.together / cores / 3600
    on_cores = millions * (seconds.read + seconds.rest) / cores / 3600
    many = one / options.machines
    rows = [(f"one machine of {options.cores} cores", one, one * options.machine_price)]
    for speed in options.gpu_speed:
        on_gpu = millions * seconds.tag / speed / options.efficiency / 3600
        hours = max(on_gpu, on_cores)  # both work at the same time
        name = f"the same with one GPU, if it is worth {speed:g} cores"
        rows.append((name, hours, hours * options.gpu_price))
    rows.append(
        (
            f"{options.machines} machines of {options.cores} cores",
            many,
            many * options.machines * options.machine_price,
        )
    )
    return [
        f"| {options.n_books:,} books of {options.mean_words:,} words | hours | US dollars |",
        "|---|---|---|",
        *(f"| {name} | {hours:,.1f} | {money:,.0f} |" for name, hours, money in rows),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
