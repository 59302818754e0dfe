"""The browser of the tests of pages."""

import pytest
from browser import chromium, require_chromium


@pytest.fixture(scope="module")
def browser():
    require_chromium()
    with chromium() as started:
        yield started
