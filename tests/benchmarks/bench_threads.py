"""What threads that wait for one another cost: processor seconds, as ratios measured in one run.

    python tests/benchmarks/bench_threads.py --books DIR [--n 3] [--runs 3]

Each command runs as a user starts it, and with one thread for BLAS (`OPENBLAS_NUM_THREADS=1` and
the like), in turn. The ratio of the two processor times, of the command and of its workers, is that
of their medians. Bound: 1.15 for `miner mine` of novels by the package's tagger and by the gap, and
for `miner build` with two workers. They must also write the same bytes.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from miner.books.sources import find_sources

LARGEST_RATIO = 1.15
ONE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")


def seconds_of(words: Sequence[str], extra: dict[str, str]) -> tuple[float, float]:
    """Processor seconds and seconds of a command with these words."""
    own = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "miner", *words]
    subprocess.run(command, env=own | extra, capture_output=True, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def written(folder: Path) -> dict[str, bytes]:
    """What a command wrote, without the record of the run, which has its time."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.name not in ("run.json", "README.md")
    }


def compare(name: str, words: Sequence[str], folder: Path, runs: int) -> float:
    """The ratio of a command; prints it."""
    ways = {"default": {}, "one": ONE}
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, extra in ways.items():
            out = ["-o", str(folder / way), "--force"]
            found[way].append(seconds_of([*words, *out], extra))
    same = written(folder / "default") == written(folder / "one")
    cpu, wall = (
        {way: statistics.median(one[n] for one in times) for way, times in found.items()}
        for n in (0, 1)
    )
    ratio = cpu["default"] / cpu["one"]
    print(
        f"  {name:<24} {cpu['default']:6.1f} s of processors over {cpu['one']:6.1f} with one BLAS "
        f"thread: {ratio:.2f}; by the clock {wall['default']:.1f} and {wall['one']:.1f}; "
        f"{'the same' if same else 'OTHER'} files"
    )
    return ratio if same else float("inf")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=Path, required=True, help="folder of Gutenberg HTML files")
    parser.add_argument("--n", type=int, default=3, help="novels")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command in each way")
    options = parser.parse_args()
    sources, _ = find_sources([str(options.books)])
    sized = sorted(sources, key=lambda source: source.path.stat().st_size)
    chosen = sized[len(sized) // 3 :: max(1, len(sized) // (2 * options.n))][: options.n]
    novels = [str(source.path) for source in chosen]
    print(f"{len(novels)} novels, {options.runs} runs each way, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder) / "recipe.toml"
        recipe.write_text(f'name = "threads"\nsources = {novels}\n[splits]\nby = "book"\n')
        commands = {
            "mine": ["mine", *novels],
            "mine --tagger gap": ["mine", *novels, "--tagger", "gap"],
            "build --workers 2": ["build", str(recipe), "--workers", "2"],
        }
        ratios = [
            compare(name, words, Path(folder) / str(n), options.runs)
            for n, (name, words) in enumerate(commands.items())
        ]
    print(f"  at most {LARGEST_RATIO}")
    return int(max(ratios) > LARGEST_RATIO)


if __name__ == "__main__":
    raise SystemExit(main())
