"""As a stranger installs it: every command of the guides, outside the checkout, without `-e`.

The README's first line installs it, in a copy of the tracked files. The commands then run in
folders of their own, with novels that a seed writes in place of Gutenberg's, and without network. A
command that needs an extra must say so in one line where only the base is installed; it then
runs with the packages of the extras that the tests themselves have.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from email import message_from_string

import pytest
from build_helpers import recipe_of
from documents import DOCUMENTS, assert_same_output, commands_of
from helpers import GUIDES, ROOT, files_of_packages
from shelf import novel, write_shelf

# What is not run, by how it begins or what it has in it, and why.
NOT_RUN = {
    r"^python3 -m venv .*pytest|^\.venv/bin/(python -m pytest|ruff) ": "`.ci/run` runs these",
    r"^(python3 -m venv .*)?(\.venv/bin/)?pip install ": "the tests have the packages of extras",
    r"^(rsync|wget|export MINER_MIRROR|ray start) ?": "other machines",
    r"^find aleph\.gutenberg\.org ": "unpacks what wget brings",
    r"^RAY_ADDRESS=|RayExecutor": "needs a cluster of ray",
    r"^miner annotate 1342 ": "waits for a person",
    r"^python tests/benchmarks/": "measures real novels, for minutes to hours",
    r"^miner (quotations|speakers) ": "needs the annotated novels",
    r"^miner gold (errors|export|confidence|speakers|languages|trust) ": "the same",
    r"^miner compare --gold annotations --split (dev|test) ": "needs the annotated novels",
    r"--on annotations --books": "needs the annotated novels",
    r"^miner selection compare tf-idf map sentence ": "needs a sentence encoder",
    r"^miner generation score ours\.jsonl ": "scores tables of others",
    r"MCN": "needs the files of MCN",
    r"^(MINER_BOOKS=BOOKS )?python train\.py (?!.*--smoke)": "learns from the annotated novels",
}
# Extras that the tests' environment lacks: that the command names them is all that is seen.
LACKING = {"ray"}
WRITTEN = re.compile(r"(?: (?:-o|--prepare|--plots|>) |\bout=\")([\w./-]+)")
MISSING = re.compile(r"\S+: found no \w+, which this needs: install the extra (\w+) .+\n")
COMMANDS = [(path, *command) for path in DOCUMENTS for command in commands_of(path)]


def reason_not_to_run(command):
    return next((why for pattern, why in NOT_RUN.items() if re.search(pattern, command)), None)


def test_every_command_that_is_not_run_is_in_a_guide():
    commands = [command for _, command, _ in COMMANDS]
    for pattern in NOT_RUN:
        assert any(re.search(pattern, command) for command in commands), pattern


def copy_tracked(folder):
    """The files that git tracks, in a new repository that has added them."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def write_books(folder):
    """Novels that the guides name, and others, one of them German; and a catalogue of them."""
    folder.mkdir()
    rows = ["Text#,Type,Issued,Title,Language,Authors,Subjects,LoCC,Bookshelves\n"]
    for seed, number in enumerate([84, 1342, 1874, 9000]):
        code, language = ("de", "German") if number == 9000 else ("en", "English")
        page = novel(seed, f"Novel {number}", "Ann Bell", number, language)
        (folder / f"{number}-h.htm").write_text(page, encoding="utf-8")
        author = "Austen, Jane" if number == 1342 else "Bell, Ann"
        rows.append(f'{number},Text,2001-01-01,Novel {number},{code},"{author}",Fiction,PR,\n')
    (folder / "pg_catalog.csv").write_text("".join(rows), encoding="utf-8")
    return folder


def write_tables(folder):
    """Pairs of a user's own, for training and for a test."""
    folder.mkdir()
    for name, first in (("train", 0), ("test", 200)):
        rows = (
            f"where is the thing {n}?,the thing {n} is here\n" for n in range(first, first + 200)
        )
        (folder / f"{name}.csv").write_text("context,response\n" + "".join(rows))


class Installed:
    """An installation, and the folder in which the commands of one guide run."""

    def __init__(self, copy, extras, books, folder):
        self.copy, self.extras, self.folder = copy, extras, folder
        hidden = {"PYTHONPATH", "MINER_MIRROR", "MINER_CACHE", "MINER_ANNOTATIONS"}
        self.env = {key: value for key, value in os.environ.items() if key not in hidden} | {
            "PATH": f"{copy / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "MINER_BOOKS": str(books),
            "MINER_CATALOG": str(books / "pg_catalog.csv"),
            "MINER_CACHE": str(folder / "cache"),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9"),
        }
        folder.mkdir()
        for name in ("BOOKS", "gutenberg", "aleph.gutenberg.org"):
            (folder / name).symlink_to(books)
        (folder / "annotations").symlink_to(copy / "annotations")
        shutil.copy(copy / "train.py", folder)
        write_tables(folder / "mine")
        # Each split has pairs, and the 100 that selection asks for; generation learns from few.
        write_shelf(folder / "shelf", 18 if "selection" in folder.name else 6)
        (folder / "1342-h.htm").symlink_to(books / "1342-h.htm")
        recipe = recipe_of(folder, "shelf").read_text("utf-8")
        recipe = recipe.replace("= 60", "= 40").replace("= 20\n", "= 30\n")
        (folder / "recipe.toml").write_text(recipe, encoding="utf-8")

    def run(self, command, has_extras=False):
        env = self.env | ({"PYTHONPATH": self.extras} if has_extras else {})
        return subprocess.run(
            ["bash", "-euc", command],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )

    def check_notebook(self, path):
        """Runs the first cell of code of a notebook, beside the annotations, without any book."""
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = next("".join(one["source"]) for one in cells if one["cell_type"] == "code")
        self.folder = path.parent
        self.env |= {"MINER_BOOKS": "", "MINER_MIRROR": "none"}
        code = shlex.quote(code.removeprefix("%matplotlib inline"))
        done = self.run(f"python -c {code}", has_extras=True)
        assert done.stdout.startswith("The figures are of"), done.stderr[-1500:]

    def check(self, command, shown):
        """Runs a command of a guide, as the docstring of this file says.

        Raises:
            AssertionError: if it does not do what it promises.
        """
        named = WRITTEN.findall(command)
        for path in (self.folder / name for name in named):  # guides reuse a name
            if path.exists():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        done = self.run(command, has_extras=command.startswith("python -c"))
        if done.returncode and (extra := MISSING.fullmatch(done.stderr)):
            if extra[1] in LACKING:
                return
            done = self.run(command, has_extras=True)
        assert done.returncode == 0, done.stderr[-1500:]
        assert "Traceback" not in done.stderr, done.stderr[-1500:]
        if shown is not None:
            assert_same_output(done.stdout, shown, has_model="auto" in command.split())
        for names, folder in re.findall(r"(?m)^wrote (\D.+) in (\S+)$", done.stdout):
            named += [f"{folder}/{name}" for name in names.split(", ")]
        for name in named:
            path = self.folder / name
            assert path.is_file() and path.stat().st_size or any(path.iterdir()), f"no {name}"


def install(folder):
    """Runs the README's first line in a copy of the tracked files.

    Returns:
        The copy, and what to put on the path of Python to have the extras, too.
    """
    copy = copy_tracked(folder / "copy")
    (first,) = (one for _, one, _ in COMMANDS if "pip install -q . &&" in one)
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(["bash", "-euc", first], cwd=copy, env=env, check=True)
    (site,) = (copy / ".venv" / "lib").glob("python*/site-packages")
    extras = folder / "extras"  # the package as installed, before what the tests have
    extras.mkdir()
    for path in (site / "miner", site / "heuristic", *site.glob("conversation_miner-*")):
        (extras / path.name).symlink_to(path)
    paths = (str(extras), sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    return copy, os.pathsep.join(dict.fromkeys(paths))


def check_package(copy):
    """Nothing is left in the checkout, all files are installed, and the package tells of itself."""
    git = ["git", "ls-files", "--others", "--exclude-standard"]
    assert subprocess.check_output(git, cwd=copy, text=True) == ""
    (info,) = (copy / ".venv" / "lib").glob("python*/site-packages/conversation_miner-*.dist-info")
    site = info.parent
    assert files_of_packages(site) == files_of_packages(copy) - GUIDES
    assert (info / "licenses" / "LICENSE").read_bytes() == (copy / "LICENSE").read_bytes()
    described = message_from_string((info / "METADATA").read_text(encoding="utf-8"))
    assert described["Description-Content-Type"] == "text/markdown"
    assert described.get_payload().strip() == (copy / "README.md").read_text("utf-8").strip()


@pytest.mark.slow
def test_every_command_of_the_guides_works_as_installed(tmp_path):
    copy, extras = install(tmp_path)
    check_package(copy)
    books = write_books(tmp_path / "books")
    failures = []
    for path in DOCUMENTS:
        name = str(path.relative_to(ROOT))
        installed = Installed(copy, extras, books, tmp_path / re.sub(r"\W", "-", name))
        for of, command, shown in COMMANDS:
            if of == path and command and not reason_not_to_run(command):
                try:
                    installed.check(command, shown)
                except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                    failures.append(f"{name}: {command}: {error}")
    for path in sorted((copy / "notebooks").glob("*.ipynb")):
        Installed(copy, extras, books, tmp_path / path.stem).check_notebook(path)
    shutil.rmtree(copy / ".venv")
    assert not failures, "\n\n".join(failures)
