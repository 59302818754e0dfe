"""The rooms import one another in one direction, and only the app talks to people."""

import ast
from functools import cache
from pathlib import Path

import pytest

import miner

ROOT = Path(miner.__file__).parents[1]
# A room imports only itself and the rooms before it. The laboratory sees all rooms of the miner.
ROOMS = "languages books speech people tagger reader annotation corpus app".split()
LAB = [f"lab.{room}" for room in "gold measure learning training lessons app".split()]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("miner", "heuristic")
    for path in sorted((ROOT / package).rglob("*.py"))
}
LIBRARY = [
    name
    for name in MODULES
    if not name.startswith(("miner.app", "miner.lab.app")) and name[-8:] != "__main__"
]
TALK = {
    "print",
    "exit",
    "quit",
    "SystemExit",
    "input",
    "click",
    "_exit",
    "stdout",
    "stderr",
    "argv",
}


def room_of(module):
    """The room of a module, "heuristic", or "" for `miner.files` and the package itself."""
    package, *parts = module.split(".")
    if package == "heuristic" or not parts:
        return package.removeprefix("miner")
    room = ".".join(parts[:2]) if parts[0] == "lab" else parts[0]
    return room if room in (*ROOMS, *LAB, "lab") else ""


@cache
def tree_of(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def imports_of(name):
    """The modules of the project that a module imports anywhere: for types, in functions too."""
    found = set()
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & MODULES.keys()) or {node.module}
    return {module for module in found if module.split(".")[0] in ("miner", "heuristic")} - {
        "miner"
    }


def may_import(name):
    """The rooms that a module may import."""
    room = room_of(name)
    if room == "heuristic":
        return {"heuristic", "speech", ""}
    rooms = [*ROOMS, "lab", *LAB]
    return {"", *rooms[: rooms.index(room) + 1]} if room else {""}


def test_every_folder_is_a_room():
    def folders(place):
        return {path.name for path in place.iterdir() if (path / "__init__.py").is_file()}

    assert folders(ROOT / "miner") == {*ROOMS, "lab"}
    assert {f"lab.{name}" for name in folders(ROOT / "miner" / "lab")} == set(LAB)


@pytest.mark.parametrize("room", [*ROOMS, "lab", *LAB])
def test_a_room_says_what_comes_in_what_goes_out_and_who_may_import_it(room):
    text = ast.get_docstring(tree_of(f"miner.{room}")) or ""
    assert all(word in text for word in ("In:", "Out:", "Imported by:")), text


def test_imports_run_one_way():
    upward = [
        f"{name} imports {imported}"
        for name in MODULES
        if name not in ("miner", "miner.__main__")  # the API and the command see every room
        for imported in imports_of(name)
        if room_of(imported) not in may_import(name)
    ]
    assert upward == []


def test_there_is_no_cycle():
    left = {name: imports_of(name) for name in MODULES if name != "miner"}
    assert any(left.values())
    while left:
        free = {name for name, imported in left.items() if not imported & set(left)}
        assert free, f"these import one another: {sorted(left)}"
        left = {name: imported for name, imported in left.items() if name not in free}


def test_only_the_app_prints_and_exits():
    talking = []
    for name in LIBRARY:
        for node in ast.walk(tree_of(name)):
            word = getattr(node, "id", None) or getattr(node, "attr", None)
            is_exit = word == "exit" and ast.unparse(node) == "sys.exit"
            is_name = isinstance(node, ast.Name) or word not in ("exit", "input")
            if (word in TALK and is_name) or is_exit:
                talking.append(f"{name}: {word}")
    assert talking == []
