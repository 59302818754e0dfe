"""The rooms of the house import one another in one direction, and only the app talks to people."""

import ast
from pathlib import Path

import pytest

import miner

ROOT = Path(miner.__file__).parents[1]
# A room imports only those that stand before it; `miner.files` and what is no room, any may.
ROOMS = "languages books dialogue annotation evaluation models corpus app".split()
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("miner", "heuristic")
    for path in sorted((ROOT / package).rglob("*.py"))
}
BELOW_HEURISTIC = ("miner.dialogue",)


def room_of(module):
    parts = module.split(".")
    return parts[1] if parts[0] == "miner" and len(parts) > 1 and parts[1] in ROOMS else None


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


def test_every_folder_is_a_room():
    folders = {path.name for path in (ROOT / "miner").iterdir() if (path / "__init__.py").is_file()}
    assert folders == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_comes_in_what_goes_out_and_who_may_import_it(room):
    text = ast.get_docstring(tree_of(f"miner.{room}")) or ""
    assert all(word in text for word in ("In:", "Out:", "Imported by:")), text


@pytest.mark.parametrize("name", [name for name in MODULES if name != "miner"])
def test_imports_run_one_way(name):
    imported = imports_of(name)
    if name.startswith("heuristic"):
        assert all(m.startswith(("heuristic", *BELOW_HEURISTIC)) for m in imported)
        return
    assert not {m for m in imported if m.startswith("heuristic")}
    room = room_of(name)
    if room is None:  # files.py and what stands beside the rooms
        return
    allowed = {*ROOMS[: ROOMS.index(room) + 1], None}
    assert not {m for m in imported if room_of(m) not in allowed}


def test_there_is_no_cycle():
    left = {name: imports_of(name) for name in MODULES if name != "miner"}
    assert any(left.values())
    while left:
        free = {name for name, imported in left.items() if not imported & set(left)}
        assert free, f"these import one another: {sorted(left)}"
        left = {name: imported for name, imported in left.items() if name not in free}


@pytest.mark.parametrize(
    "name",
    [name for name in MODULES if not name.startswith("miner.app") and "__main__" not in name],
)
def test_only_the_app_prints_and_exits(name):
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Name):
            assert node.id not in ("print", "exit", "quit", "SystemExit", "input", "click")
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("_exit", "stdout", "stderr", "argv")
            is_exit = node.attr == "exit" and isinstance(node.value, ast.Name)
            assert not (is_exit and node.value.id == "sys")
