"""The size of the house, and how far a value walks through it: counts, no times.

    python tests/benchmarks/bench_house.py [SOURCE] [--books DIR]

The first table counts the files and lines of each room, and names the rooms whose modules it
imports. The second counts what a stranger meets: the modules of the project that `miner mine
SOURCE` loads, the files in which it runs a function, and those between the bytes of a book and its
rows; and in the source, the functions that compute gradients, take up an interrupted training,
write weights, or write a card.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
PRODUCT = "languages books speech people tagger annotation corpus app".split()
LABORATORY = "gold measure learning training lessons app".split()
# What a function calls, or names, that does one of these.
SIGNS = {
    "functions that compute gradients": {"backward"},
    "functions that take up an interrupted training": {"refuse_another"},
    "functions that write weights": {"save", "save_file", "save_pretrained", "save_checkpoint"},
    "functions that write a card": {"CARD"},
}
# Runs the command in this process, and says what it loaded and entered.
_WALK = """
import json, sys
from pathlib import Path
entered, within, depth = set(), set(), 0
def note(frame, event, argument):
    global depth
    code = frame.f_code
    if "miner" not in code.co_filename or code.co_name == "<module>":
        return
    one = code.co_name in ("mine_book", "mine_source")
    if event == "call":
        depth += one
        entered.add((code.co_filename, code.co_qualname))
        if depth:
            within.add(code.co_filename)
    elif event == "return":
        depth -= one
from miner.app.cli.main import main
sys.setprofile(note)
try:
    main(sys.argv[2:], standalone_mode=False)
finally:
    sys.setprofile(None)
root = sys.argv[1]
names = [name for name in sys.modules if name.split(".")[0] in ("miner", "heuristic")]
own = {one for one in entered if one[0].startswith(root)}
print(json.dumps({
    "modules": len(names),
    "of the laboratory": sum(name.startswith("miner.lab") for name in names),
    "entered": len({file for file, _ in own}),
    "functions": len(own),
    "within": len({file for file in within if file.startswith(root)}),
}))
"""


def room_of(path: Path) -> str:
    """The room of a file of the package, "" for those beside the rooms."""
    parts = path.relative_to(ROOT / "miner").parts
    if parts[0] == "lab" and len(parts) > 2:
        return f"lab/{parts[1]}"
    return parts[0] if len(parts) > 1 else ""


def imported_rooms(path: Path) -> Iterator[str]:
    """The rooms of the modules that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("miner"):
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            for module in (*inner, node.module or ""):
                file = ROOT / (module.replace(".", "/") + ".py")
                package = ROOT / module.replace(".", "/") / "__init__.py"
                if file.is_file() or package.is_file():
                    yield room_of(file if file.is_file() else package)
                    break


def n_lines(paths: list[Path]) -> int:
    """The lines of files."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def tabulate_rooms() -> Table:
    """The rooms, in the order in which they may import one another."""
    files = defaultdict[str, list[Path]](list)
    for path in sorted((ROOT / "miner").rglob("*.py")):
        files[room_of(path)].append(path)
    doors = {ROOT / "miner" / "__init__.py", ROOT / "miner" / "__main__.py"}  # they see every room
    table = Table("room", "files", "lines", "imports", title="Rooms")
    order = ["", *PRODUCT, "lab", *(f"lab/{name}" for name in LABORATORY)]
    for room in order:
        inside = [path for path in files[room] if path not in doors]
        found = {other for path in inside for other in imported_rooms(path)} - {room, ""}
        up = {other for other in found if order.index(other) > order.index(room)}
        arrows = " ".join(sorted(found - up, key=order.index)) + "".join(f" UP:{o}" for o in up)
        name = room or "beside the rooms"
        table.add_row(name, str(len(files[room])), f"{n_lines(files[room]):,}", arrows)
    product = [path for room in ["", *PRODUCT] for path in files[room]]
    every = [path for paths in files.values() for path in paths]
    for name, paths in (("the product", product), ("miner/", every)):
        table.add_row(name, str(len(paths)), f"{n_lines(paths):,}", "", style="bold")
    tests = sorted((ROOT / "tests").rglob("*.py"))
    table.add_row("tests/", str(len(tests)), f"{n_lines(tests):,}", "", style="bold")
    return table


def count_signs() -> dict[str, list[str]]:
    """For each of `SIGNS`, the innermost functions that call or name one of its words."""
    found = {sign: list[str]() for sign in SIGNS}
    for path in [*sorted((ROOT / "miner").rglob("*.py")), ROOT / "train.py"]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            nested = {
                id(node)
                for one in ast.walk(function)
                if one is not function and isinstance(one, ast.FunctionDef)
                for node in ast.walk(one)
            }
            own = [node for node in ast.walk(function) if id(node) not in nested]
            names = {getattr(node, "attr", None) or getattr(node, "id", None) for node in own}
            for sign, words in SIGNS.items():
                if names & words:
                    found[sign].append(f"{path.relative_to(ROOT)}:{function.name}")
    return found


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", nargs="?", default="sample")
    parser.add_argument("--books", help="folder in which a number is looked up")
    options = parser.parse_args()
    console = Console()
    console.print(tabulate_rooms())
    with tempfile.TemporaryDirectory() as folder:
        words = ["mine", options.source, "-o", f"{folder}/mined", "-q"]
        words += ["--books", options.books] if options.books else []
        command = [sys.executable, "-c", _WALK, str(ROOT), *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    walk = json.loads(done.stdout.splitlines()[-1])
    table = Table("what a stranger meets", "", title=f"`miner mine {options.source}`")
    table.add_row("modules loaded", str(walk["modules"]))
    table.add_row("of these the laboratory's", str(walk["of the laboratory"]))
    table.add_row("files entered", str(walk["entered"]))
    table.add_row("functions entered", str(walk["functions"]))
    table.add_row("files between the bytes of a book and its rows", str(walk["within"]))
    for sign, functions in count_signs().items():
        table.add_row(sign, str(len(functions)))
        for function in functions:
            table.add_row(f"  {function}", "", style="dim")
    console.print(table)


if __name__ == "__main__":
    main()
