"""Fixtures of the tests of the corpus room."""

import os

import pytest
from helpers import DATA, SAMPLE


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder with enough books to stop a run in the middle."""
    folder = tmp_path_factory.mktemp("many")
    first = folder / "first.html"
    first.write_bytes(SAMPLE.read_bytes())
    short = tmp_path_factory.mktemp("short") / "short.html"
    short.write_bytes((DATA / "dash.htm").read_bytes())
    for n in range(300):
        os.link(short, folder / f"{n}-h.htm")
    return folder
