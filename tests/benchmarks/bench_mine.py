"""Speed and memory of `mine --tagger gap`, as ratios measured in one run.

    python tests/benchmarks/bench_mine.py --books DIR [--n 20]

1. Time of mining a book, from bytes on disk to encoded rows, over the time that BeautifulSoup with
   lxml alone needs to parse the same file; the two in turn, best of three each. Bound: a median
   of 3 over 20 English books. The same for books in other languages, where speech is cut by a
   network.
2. Time of mining books of other languages with the network of cuts, over the time without it, by
   the gap and by the package's tagger.
3. Time and peak memory of `miner mine` as a process over a quarter, a half and all of the English
   books. Bounds: the same rate for each part, and a peak under 700 MB that does not grow with the
   number of books. The peak is read from /proc, so this part wants Linux.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

from miner.books.sources import Source, find_sources
from miner.corpus.mined_book import MinedBook, MiningOptions
from miner.corpus.pipeline import mine_book
from miner.speech import segmentation as cuts
from miner.tagger.load import load_tagger

LARGEST_RATIO = 3.0
LARGEST_PEAK_MB = 700
GAP, OPTIONS = load_tagger("gap"), MiningOptions("gap")


def best_of(n: int, work) -> float:
    """Seconds of the fastest of n runs."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def parse_only(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        BeautifulSoup(data, "lxml").decompose()


def ratios(sources: list[Source]) -> list[float]:
    found = []
    for source in sources:
        assert source.path is not None
        data = source.path.read_bytes()
        alone = best_of(3, lambda data=data: parse_only(data))
        mined = best_of(3, lambda source=source: mine_book(source, GAP, OPTIONS))
        found.append(mined / alone)
        print(f"  {source.id:>6}  parse {alone:.3f} s   mine {mined:.3f} s   {mined / alone:.2f}")
    return found


def cut_ratios(sources: list[Source], name: str) -> list[float]:
    """The time with cuts over that without, best of two each."""
    tagger, options, model = load_tagger(name), MiningOptions(name), cuts.segmentation_model
    found = []
    for source in sources:
        times = []
        for of in (model, lambda: None):
            cuts.segmentation_model = of
            times.append(best_of(2, lambda source=source: mine_book(source, tagger, options)))
        cuts.segmentation_model = model
        found.append(times[0] / times[1])
    return found


def measured(words: list[str]) -> tuple[float, float, str]:
    """Seconds of `miner` with these words, peak megabytes of its largest process, its output."""
    # VmHWM is the process's own peak. Its ru_maxrss is not: on Linux a process starts with that of
    # the one that started it, which is this benchmark and larger.
    code = (
        "import resource, sys; from miner.app.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "own = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(max(int(own.split()[1]), workers), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *words]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    kilobytes = int(done.stderr.strip().splitlines()[-1])
    return seconds, kilobytes / 1024, done.stdout


def run(books: list[str], workers: int) -> tuple[float, float, int]:
    """Seconds, peak megabytes of the largest process, and words of one `miner mine`."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["mine", *books, "-o", str(Path(folder) / "out"), "--json", "--tagger", "gap"]
        seconds, megabytes, said = measured([*words, "--workers", str(workers)])
    return seconds, megabytes, json.loads(said)["totals"]["words"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=Path, required=True, help="folder of Gutenberg HTML files")
    parser.add_argument("--n", type=int, default=20, help="books for the ratio to parsing")
    options = parser.parse_args()
    sources, _ = find_sources([str(options.books)])
    english, others = [], []
    for source in sources:
        if isinstance(result := mine_book(source, GAP, OPTIONS), MinedBook):
            is_english = result.entry["typography"]["language"] == "en"
            (english if is_english else others).append(source)
    medians = []
    for name, group in (("English", english), ("other", others)):
        some = group[:: max(1, len(group) // options.n)][: options.n]
        print(f"1. mining over parsing, {len(some)} of {len(group)} {name} books")
        medians.append(statistics.median(ratios(some)))
        print(f"   median {medians[-1]:.2f}, at most {LARGEST_RATIO}")
    print("2. mining with cuts over without")
    for tagger in ("gap", "auto"):
        print(f"   {tagger}: median {statistics.median(cut_ratios(some, tagger)):.2f}")
    print("3. one process over more and more books")
    peak = 0.0
    for part in (4, 2, 1):
        words = [str(source.path) for source in english[: len(english) // part]]
        seconds, megabytes, n_words = run(words, 1)
        peak = max(peak, megabytes)
        rate = n_words / seconds
        print(
            f"  {len(words):>4} books {n_words:>11,} words {seconds:6.1f} s "
            f"{rate:>9,.0f} words/s   peak {megabytes:.0f} MB"
        )
    two, megabytes, _ = run(words, 2)
    print(f"   two workers take {two / seconds:.2f} of the time of one, {megabytes:.0f} MB each")
    print(f"   peak of one process {peak:.0f} MB, under {LARGEST_PEAK_MB}")
    return int(max(medians) > LARGEST_RATIO or peak > LARGEST_PEAK_MB)


if __name__ == "__main__":
    raise SystemExit(main())
