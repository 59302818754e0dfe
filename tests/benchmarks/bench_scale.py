"""How `miner mine` or `miner build` bears thousands of books, kills, and a full disk.

    python tests/benchmarks/bench_scale.py --books DIR [--n 100 400 1600 10000] [--words 1500]
    python tests/benchmarks/bench_scale.py --books DIR --kills 5 --n 200
    python tests/benchmarks/bench_scale.py --books DIR --full-disk --n 50

Each book is another stretch of `--words` words of those in DIR, under a number of its own. They are
shuffled, so that few books are like many.

1. Without other options: seconds and megabytes of the command at several numbers of books. The time
   of a book must not grow with them. Of a book nothing may stay in memory but what is known of it:
   kilobytes. Time is that of the processors, which other programs change less. Memory is the
   largest sum, over time, of what the process and its children hold for themselves (proportional
   set size, read from /proc, so this wants Linux).
2. `--kills K`: a run is killed by SIGKILL K times at random moments, and resumed each time. Its
   bytes have to be those of a run that nobody killed.
3. `--full-disk`: a run on a disk without enough room has to end with one line, and the same run
   with more room, resumed, has to give the bytes of a run that never lacked any. The disk is a
   tmpfs where the user may mount one, else a limit on the size of a file.

`--command build` runs `miner build` with a recipe that names the books. `--no-duplicates` switches
the search for editions and for dialogues of two books off. `--settings FILE` takes all sections of
the recipe from a file. Words after `--` go to the command: `-- --workers 2`, `-- --engine ray`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LARGEST_TIME = 1.25  # of a book, at most so many times that at the smallest number
LARGEST_KB = 20  # that each further book takes
SMALLEST = 200_000  # the number of the first made book, above those of Gutenberg
LIMITED = """
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from miner.app.cli.main import main
main(sys.argv[2:])
"""


def find_stretches(page: str, n_words: int) -> Iterator[str]:
    """The page in stretches of whole paragraphs, of about so many words each."""
    parts = re.split(r"(?=<p[\s>])", page[max(0, page.find("<body")) :])[1:]
    stretch, n = [], 0
    for part in parts:
        stretch.append(part)
        n += len(re.sub(r"<[^>]*>", " ", part).split())
        if n >= n_words:
            yield "".join(stretch)
            stretch, n = [], 0


def make_books(books: Path, folder: Path, n: int, n_words: int) -> None:
    """Writes n small books."""
    found: list[tuple[str, str]] = []
    for path in sorted(books.glob("*.htm*")):
        page = path.read_text(encoding="utf-8", errors="replace")
        language = re.search(r"Language</?[^:]*: *(\w+)", page[:20_000])
        name = language[1] if language else "English"
        found += ((name, stretch) for stretch in find_stretches(page, n_words))
    if len(found) < n:
        raise SystemExit(f"{books}: found {len(found):,} stretches, expected {n:,}: fewer --words")
    random.Random(0).shuffle(found)
    folder.mkdir(parents=True)
    for number, (language, stretch) in enumerate(found[:n], SMALLEST):
        (folder / f"{number}-h.htm").write_text(
            f"<html><head><title>Stretch {number}</title></head><body>\n"
            f"<p>Title: Stretch {number}</p>\n<p>Author: Author {number}</p>\n"
            f"<p>Language: {language}</p>\n"
            f"<p>*** START OF THE PROJECT GUTENBERG EBOOK STRETCH {number} ***</p>\n"
            f"<h2>CHAPTER 1</h2>\n{stretch}\n"
            f"<p>*** END OF THE PROJECT GUTENBERG EBOOK STRETCH {number} ***</p>\n</body></html>\n",
            encoding="utf-8",
        )


def command_of(options: argparse.Namespace, books: Path, out: Path) -> list[str]:
    """The words after `miner`."""
    if options.command == "mine":
        return ["mine", str(books), "-o", str(out), "--tagger", options.tagger, "-q", *options.more]
    recipe = books.with_suffix(".toml")
    default = f'[mining]\ntagger = "{options.tagger}"\n[formats]\njsonl = {{}}\n'
    if options.no_duplicates:
        default += "[duplicates]\nworks = false\ndialogues = false\n"
    settings = options.settings.read_text() if options.settings else default
    recipe.write_text(f'name = "scale"\nsources = ["{books}"]\n{settings}')
    return ["build", str(recipe), "-o", str(out), "-q", *options.more]


def start(words: list[str], **more) -> subprocess.Popen:
    """The command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "miner", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **more,
    )


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents.setdefault(int(words[1]), []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def megabytes_of(pid: int) -> float:
    """What a process holds, shared pages divided among those who share them."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    match = re.search(r"^Pss:\s+(\d+)", rollup, re.M)
    return int(match[1]) / 1024 if match else 0.0


class Peaks(threading.Thread):
    """Looks at a process and its children several times a second.

    Attributes:
        parent: the most megabytes of the process itself.
        children: the most of all others together.
        together: the most of all at one time.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.parent = self.children = self.together = 0.0
        self._pid, self._ended = pid, threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.2):
            own, *others = [megabytes_of(pid) for pid in family(self._pid)]
            self.parent = max(self.parent, own)
            self.children = max(self.children, sum(others))
            self.together = max(self.together, own + sum(others))

    def end(self) -> None:
        self._ended.set()
        self.join()


def digest_of(out: Path) -> dict[str, str]:
    """The digest of each file."""
    return {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def finished(process: subprocess.Popen) -> str:
    """What a run says that does all its books. Books that are set aside are said, too (exit 1)."""
    said = process.communicate()[1]
    if process.returncode not in (0, 1):
        raise SystemExit(f"exit {process.returncode}: {said[-500:]}")
    return said


def seconds_of_cpu() -> float:
    """The seconds of processors that ended processes of this one have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def n_kept(out: Path) -> int:
    """How many books are in the output."""
    record = json.loads((out / "run.json").read_bytes())
    return record["totals"]["books"]


def measure_growth(options: argparse.Namespace, work: Path) -> bool:
    print(
        "   books   kept   seconds  of CPU  ms/book  ratio  parent MB  children MB  together MB  "
        "KB/more  output MB"
    )
    first: tuple[int, float, float] | None = None
    is_good = True
    for n in options.n:
        books, out = work / f"books-{n}", work / f"out-{n}"
        make_books(options.books, books, n, options.words)
        began, used = time.perf_counter(), seconds_of_cpu()
        process = start(command_of(options, books, out))
        peaks = Peaks(process.pid)
        peaks.start()
        said = finished(process)
        seconds, cpu = time.perf_counter() - began, seconds_of_cpu() - used
        peaks.end()
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 2**20
        first = first or (n, cpu, peaks.together)
        slower = cpu / n / (first[1] / first[0])
        more = 1024 * (peaks.together - first[2]) / (n - first[0]) if n > first[0] else 0.0
        is_good &= slower <= LARGEST_TIME and more <= LARGEST_KB
        print(
            f"{n:>8,} {n_kept(out):>6,} {seconds:9.1f} {cpu:7.1f} {cpu / n * 1000:8.1f} "
            f"{slower:6.2f} {peaks.parent:10.0f} {peaks.children:12.0f} {peaks.together:12.0f} "
            f"{more:8.1f} {size:10.1f}"
            + (f"   {len(said.splitlines())} lines said" if said else ""),
            flush=True,
        )
        shutil.rmtree(books)
        shutil.rmtree(out)
    print(f"   expected: a book takes at most {LARGEST_TIME} of the time and {LARGEST_KB} KB more")
    return is_good


def measure_kills(options: argparse.Namespace, work: Path) -> bool:
    """Kills a run again and again, and compares the bytes."""
    chance, n = random.Random(options.seed), options.n[0]
    books, whole, out = work / "books", work / "whole" / "out", work / "killed" / "out"
    make_books(options.books, books, n, options.words)
    began = time.perf_counter()
    finished(start(command_of(options, books, whole)))
    seconds = time.perf_counter() - began
    print(f"   {n} books in {seconds:.1f} s; killed {options.kills} times on the way")
    n_killed = 0
    while True:
        process = start([*command_of(options, books, out), "--resume"])
        if n_killed < options.kills:
            try:
                # Kills spread over the run, so that the last find it at its last stages.
                process.wait(chance.uniform(0.3, 2 * seconds / options.kills))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                n_killed += 1
                left = sorted(path.name for path in out.parent.iterdir())
                print(f"   kill {n_killed}: {', '.join(left) or 'nothing'} on disk", flush=True)
                continue
        finished(process)
        break
    is_same = digest_of(whole) == digest_of(out)
    rest = sorted(path.name for path in out.parent.iterdir() if path != out)
    print(f"   {n_killed} kills; same bytes: {is_same}; left behind: {rest or 'nothing'}")
    return is_same and not rest


@contextmanager
def small_disk(folder: Path, megabytes: float) -> Iterator[bool]:
    """A folder with so much room; False if the user may not mount one."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={int(megabytes * 1024)}k", "none", str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def measure_full_disk(options: argparse.Namespace, work: Path) -> bool:
    books, whole = work / "books", work / "whole"
    make_books(options.books, books, options.n[0], options.words)
    finished(start(command_of(options, books, whole)))
    expected = digest_of(whole)
    size = sum(path.stat().st_size for path in whole.rglob("*") if path.is_file())
    disk, is_good = work / "disk", True
    # With less room and with more: it is full at the first books, in the middle and at the end.
    for share in (0.1, 0.7, 1.2, 1.8, 2.4):
        with small_disk(disk, share * size / 2**20) as is_mounted:
            out = disk / "out"
            words = command_of(options, books, out)
            if is_mounted:
                process = start(words)
            else:
                limit = str(int(share * size / 4))
                process = subprocess.Popen(
                    [sys.executable, "-c", LIMITED, limit, *words],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            said = process.communicate()[1].strip().splitlines()
            kind = "tmpfs" if is_mounted else "largest file"
            is_whole = out.is_dir() and digest_of(out) == expected
            no_half = is_whole or not out.exists() or not any(out.iterdir())
            print(
                f"   {kind} of {share:.1f} of the output: exit {process.returncode}, whole: "
                f"{is_whole}, half an output: {not no_half}; {said[-1] if said else ''}"
            )
            one_line = is_whole or (process.returncode == 1 and len(said) == 1)
            if is_mounted and not is_whole:
                grow = f"remount,size={int(20 * size / 1024) + 10_000}k"
                subprocess.run(["mount", "-o", grow, str(disk)], check=True)
            if not is_whole:
                finished(start([*words, "--resume"]))
                is_whole = digest_of(out) == expected
                print(f"      with room, resumed: same bytes: {is_whole}")
            is_good &= is_whole and no_half and one_line
        shutil.rmtree(disk)
    return is_good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=Path, required=True, help="folder of Gutenberg HTML files")
    parser.add_argument("--n", type=int, nargs="+", default=[100, 400, 1600, 10_000])
    parser.add_argument("--words", type=int, default=1_500, help="words of a book, about")
    parser.add_argument("--command", choices=["mine", "build"], default="mine")
    parser.add_argument("--no-duplicates", action="store_true")
    parser.add_argument("--settings", type=Path, help="the sections of the recipe of `build`")
    parser.add_argument("--tagger", default="gap")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--full-disk", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    parser.add_argument("--work", type=Path, help="folder for books and outputs")
    parser.add_argument("more", nargs="*", help="words for the command, after --")
    options = parser.parse_args()
    measure = measure_growth
    if options.kills:
        measure = measure_kills
    elif options.full_disk:
        measure = measure_full_disk
    with tempfile.TemporaryDirectory(dir=options.work, prefix="scale-") as work:
        return int(not measure(options, Path(work)))


if __name__ == "__main__":
    raise SystemExit(main())
