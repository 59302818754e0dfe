"""Runs the notebooks: `python tests/notebook_runs.py` makes their saved outputs anew.

A notebook that shows text is saved as it runs on the sample, so that no text of others is saved.
The others show figures of real books. `python tests/notebook_runs.py 3` runs only those whose
names begin so.
"""

import contextlib
import os
import sys
import tempfile
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from helpers import BOOKS
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).parents[1]
NO_MIRROR = "none"  # is refused at once, so nothing is downloaded
OF_REAL_BOOKS = (
    "2-train-and-compare",
    "3-dialogue-in-fiction",
    "4-who-speaks",
)  # as they are saved
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
_PYTHONPATH = list(filter(None, [os.environ.get("PYTHONPATH")]))  # after this checkout
# What is kept of a notebook's metadata: no versions, no widget states, nothing of a machine.
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_METADATA = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}


def executed(path: Path, books: Path | None = None):
    """The notebook after all its cells have run, from top to bottom, in a process of its own.

    Args:
        path: of the notebook.
        books: folder of Gutenberg books that it may find; None for no such book. None is
            downloaded.

    Raises:
        nbclient.exceptions.CellExecutionError: at the first cell that fails.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="no-books.") as empty:
        environment = os.environ | {"MINER_BOOKS": str(books or ""), "MINER_CACHE": empty}
        environment["MINER_MIRROR"] = NO_MIRROR
        environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), *_PYTHONPATH))
        environment |= {"HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
        client = NotebookClient(
            notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}}
        )
        client.execute(env=environment)
    return cleaned(notebook)


def run_cells(path: Path):
    """Runs the code of a notebook in this process, in the folder of the notebook.

    It is quicker than `executed`, but what a cell shows is not kept. The notebook may have no magic
    command but the first.

    Returns:
        The names that the code defines, and what it displayed itself.
    """
    shown: list = []
    names = {"display": shown.append}
    with contextlib.chdir(path.parent):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                exec(
                    compile(cell.source.removeprefix("%matplotlib inline"), path.name, "exec"),
                    names,
                )
    return names, shown


def cleaned(notebook):
    """The notebook without what differs from run to run or says where it ran."""
    notebook.metadata = nbformat.from_dict(_METADATA)
    for number, cell in enumerate(notebook.cells, 1):
        cell.metadata.clear()
        cell.id = f"cell-{number}"
        for output in cell.get("outputs", ()):
            output.get("metadata", {}).clear()
            if picture := output.get("data", {}).get("image/png"):
                output.data["image/png"] = _smaller(picture)
    return notebook


def _smaller(picture):
    """A PNG in base64 with a palette of 128 colours, which plots do not exceed by much."""
    buffer = BytesIO()
    image = Image.open(BytesIO(b64decode(picture))).convert("RGB")
    image.quantize(128).save(buffer, "PNG", optimize=True)
    return b64encode(buffer.getvalue()).decode()


def books_of(path: Path) -> Path | None:
    """The folder of the books that the saved outputs are of; None if they are of the sample."""
    return BOOKS if path.stem in OF_REAL_BOOKS else None


def main():
    chosen = [path for path in PATHS if path.name.startswith(tuple(sys.argv[1:]) or "")]
    for path in chosen:
        if (books := books_of(path)) and not any(books.glob("*.htm*")):
            print(f"{path.name}: not run, the real books are not at {books}")
            continue
        nbformat.write(executed(path, books), path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
