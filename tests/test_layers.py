"""The stages import one another in one direction, and only the command line talks to people."""

import ast
from pathlib import Path

import pytest

import miner

ROOT = Path(miner.__file__).parents[1]
# A module imports only modules that stand above it.
ORDER = """
page licence chapters book
typography marks speech spans tags dialogues
reading seed gold
align matching counts scores
pdnc quotations
annotations locate agreement editions speakers errors tradeoff
records files output sources fetch learning study
labelstudio conll exchange goldset
guesses sheet placing sheetfile
attribution features encoding pooling compact decoding calibration model examples augmentation
neural taggers style plots study_plots
mine corpus compare figures numbered layers viewdata view sheetpage annotate report card __main__
""".split()
MODULES = {
    f"{package}.{path.stem}": path
    for package in ("miner", "heuristic")
    for path in sorted((ROOT / package).glob("*.py"))
    if path.stem != "__init__"
}
BELOW_HEURISTIC = {f"miner.{name}" for name in ("spans", "tags")}
MAY_IMPORT_HEURISTIC = {"miner.taggers", "miner.mine"}


def tree_of(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def imports_of(name):
    """The modules of the project that a module imports anywhere, for types or in functions, too."""
    found = set()
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & set(MODULES)) or {node.module}
    return {module for module in found if module.split(".")[0] in ("miner", "heuristic")} - {
        "miner"
    }


def test_every_module_has_its_place():
    assert sorted(ORDER) == sorted(n.split(".")[1] for n in MODULES if n.startswith("miner."))


@pytest.mark.parametrize("name", MODULES)
def test_imports_run_one_way(name):
    imported = imports_of(name)
    package, stem = name.split(".")
    if package == "heuristic":
        assert {m for m in imported if m.startswith("miner.")} <= BELOW_HEURISTIC
        return
    above = {f"miner.{other}" for other in ORDER[: ORDER.index(stem)]}
    assert {m for m in imported if m.startswith("miner.")} <= above
    if name not in MAY_IMPORT_HEURISTIC:
        assert not {m for m in imported if m.startswith("heuristic")}


def test_there_is_no_cycle():
    left = {name: imports_of(name) for name in MODULES}
    assert any(left.values())
    while left:
        free = {name for name, imported in left.items() if not imported & set(left)}
        assert free, f"these import one another: {sorted(left)}"
        left = {name: imported for name, imported in left.items() if name not in free}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "miner.__main__"])
def test_only_the_command_line_prints_and_exits(name):
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Name):
            assert node.id not in ("print", "exit", "quit", "SystemExit", "input", "click")
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("_exit", "stdout", "stderr", "argv")
            is_exit = node.attr == "exit" and isinstance(node.value, ast.Name)
            assert not (is_exit and node.value.id == "sys")
