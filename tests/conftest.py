"""Fixtures that several test files use."""

import pytest


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Whoever runs the tests may have set where books lie; the tests say it themselves."""
    for name in ("MINER_BOOKS", "MINER_MIRROR", "MINER_CACHE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cache(tmp_path):
    """A folder for downloaded books, not made yet."""
    return tmp_path / "cache" / "books"
