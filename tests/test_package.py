"""What is installed has all that the checkout has, and is named as one can install it."""

import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

from helpers import GUIDES, ROOT, files_of_packages

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TELLING = [
    path
    for pattern in "*.md .github/*.md annotations/*.md miner/**/*.md tests/**/*.md".split()
    + "notebooks/*.ipynb miner/**/*.py".split()
    for path in ROOT.glob(pattern)
]


def packaged_data() -> set[str]:
    """The files that setuptools installs beside the modules."""
    return {
        path.relative_to(ROOT).as_posix()
        for package, patterns in PROJECT["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for path in ROOT.joinpath(*package.split(".")).glob(pattern)
        if path.is_file()
    }


def test_every_file_but_the_guides_is_packaged():
    data = {name for name in files_of_packages(ROOT) if not name.endswith(".py")}
    assert data - packaged_data() == GUIDES
    assert packaged_data() < data


def test_every_module_lies_in_a_package():
    """Setuptools takes only folders with an `__init__.py`."""
    files = files_of_packages(ROOT)
    folders = {Path(name).parent.as_posix() for name in files if name.endswith(".py")}
    assert {f"{folder}/__init__.py" for folder in folders} <= files


def test_entry_points_name_what_there_is():
    project = PROJECT["project"]
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    for group, named in groups.items():
        for name, value in named.items():
            assert callable(EntryPoint(name, value, group).load())


def test_what_is_installed_is_this_checkout_and_known_extras():
    """No registry has the package; `pip install '.[extra]'` takes the checkout as it is."""
    extras = set(PROJECT["project"]["optional-dependencies"])
    for path in TELLING:
        for command in re.findall(r"pip install ([^`\n)]+)", path.read_text(encoding="utf-8")):
            assert "conversation-miner" not in command, f"{path}: {command}"
            for named in re.findall(r"\.\[([\w,]+)\]", command):
                assert set(named.split(",")) <= extras, f"{path}: {command}"
