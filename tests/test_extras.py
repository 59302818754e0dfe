"""What is not installed is asked for in one line, and mining needs none of it."""

import subprocess
import sys

import pytest
from helpers import ANNOTATIONS, DATA, ROOT, annotations_of_sample

from miner.extras import MissingExtraError, import_extra

# Packages of the extras: neither mining nor scoring tags may import them.
OF_EXTRAS = (
    "torch transformers accelerate datasets matplotlib networkx flask pandas ray sklearn scipy "
    "seqeval pyarrow duckdb datasketch"
).split()
MOST_MODULES = 140  # of this package that mining loads
# Hides packages, as if they were not installed.
HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if HIDDEN & {name, name.partition(".")[0]}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

HIDDEN = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Hidden())
from miner.app.cli.main import main

try:
    main()
finally:
    print("loaded:", sum(name.partition(".")[0] == "miner" for name in sys.modules))
    print("imported:", *sorted(HIDDEN & set(sys.modules)))
"""


def run(*arguments, hidden=OF_EXTRAS):
    command = [sys.executable, "-c", HIDE, ",".join(hidden), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("mine", DATA / "single_curly.html", "-o", "mined"), "tagged by en@"),
        (("view", "sample", "--gold", "gold", "-o", "page.html"), "wrote page.html"),
        (("tag", "sample", "--tagger", "gap"), '"tag":"B-START"'),
        (("profile", "sample"), "double-curly"),
        (("compare", "--gold", "gold", "--split", "sample", "--tagger", "gap"), "B-START"),
        (("gold", "confidence", "--gold", "gold", "--split", "sample"), "precision"),
        (("speakers", "--gold", "gold", "--split", "sample", "--tagger", "gap"), "explicit"),
    ],
)
def test_what_needs_no_extra(tmp_path, monkeypatch, arguments, shown):
    monkeypatch.chdir(tmp_path)
    annotations_of_sample(tmp_path / "gold")
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
    assert done.stdout.splitlines()[-1] == "imported:"


def test_mining_loads_nothing_of_the_laboratory(tmp_path):
    mine = ("mine", DATA / "single_curly.html", "-o", tmp_path / "mined")
    done = run(*mine, hidden=[*OF_EXTRAS, "miner.lab"])
    assert "tagged by en@" in done.stdout, done.stderr
    *_, loaded, imported = done.stdout.splitlines()
    assert imported == "imported:" and 0 < int(loaded.removeprefix("loaded: ")) <= MOST_MODULES


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (("mine", "sample", "-o", "mined", "--dtype", "bfloat16"), "torch", "train"),
        (("mine", "sample", "-o", "mined", "--format", "parquet"), "pyarrow", "build"),
        (("build", ROOT / "miner/corpus/example.toml", "-o", "out"), "duckdb", "build"),
        (("annotate", "sample", "-o", "sample.jsonl"), "flask", "annotate"),
        (("gold", "agreement", "--gold", ANNOTATIONS, "--language", "nl"), "sklearn", "lab"),
        (("speakers", "--pdnc", "."), "scipy", "lab"),
        (("compare", "--gold", ".", "--plots", "plots"), "matplotlib", "plots"),
        (("generation", "answer", "model", "sample", "-o", "answers"), "torch", "generation"),
        (("generation", "chat", "model"), "torch", "generation"),
    ],
)
def test_what_needs_an_extra_says_so_in_one_line(tmp_path, monkeypatch, arguments, package, extra):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments, hidden=[package])
    assert done.returncode == 1
    assert done.stderr == (
        f"miner: found no {package}, which this needs: install the extra {extra} "
        f"(pip install '.[{extra}]' in the folder of the source)\n"
    )
    assert not any(tmp_path.iterdir())


def test_training_without_its_packages_is_one_line(tmp_path):
    start = 'sys.argv = ["train.py", "-o", "run"]; runpy.run_path("train.py", run_name="__main__")'
    hide = HIDE.replace("from miner.app.cli.main import main", "import runpy")
    hide = hide.replace("main()", start)
    done = subprocess.run([sys.executable, "-c", hide, "torch"], capture_output=True, text=True)
    assert done.stderr.startswith("train.py: found no torch, which this needs: install the extra")
    assert len(done.stderr.splitlines()) == 1


def test_an_error_inside_a_package_is_not_taken_for_a_missing_one(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package") as raised:
        import_extra("half_installed", "train")
    assert not isinstance(raised.value, MissingExtraError)
