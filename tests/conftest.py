"""Fixtures that several test files use."""

import pytest


@pytest.fixture
def cache(tmp_path):
    """A folder for downloaded books, not made yet."""
    return tmp_path / "cache" / "books"
