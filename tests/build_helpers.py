"""Recipes of builds, and what the builds write."""

import hashlib

RECIPE = """
name = "shelf"
sources = ["{books}"]
[mining]
tagger = "gap"
history_turns = 2
[splits]
train = 60
validation = 20
test = 20
[formats]
jsonl = {{}}
{more}
"""


def recipe_of(tmp_path, books, more=""):
    """A recipe for a folder of books; `more` are lines after its formats."""
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE.format(books=books, more=more), encoding="utf-8")
    return path


def digests(folder):
    """The digest of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
