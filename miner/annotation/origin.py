"""Where the source of the package lies, which has the annotations; an installed package has none.

An installation records what it was made from, a folder or an address (PEP 610).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

_DISTRIBUTION = "conversation-miner"
_PARENT = Path(__file__).parents[2]  # of the package; it is the source if nothing was installed


def source_folders() -> Iterator[Path]:
    """Yields the folders on this disk that are or may be the source of the package."""
    yield _PARENT
    url = urlsplit(_installed_from())
    if url.scheme == "file":
        yield Path(url2pathname(url.path))


def how_to_get_source() -> str:
    """Returns how to get the source of the package: the command, if its address is known."""
    url = _installed_from()
    if url and not url.startswith("file:"):
        return f"git clone {url}"
    return f"the repository of {_DISTRIBUTION}"


def _installed_from() -> str:
    """Returns the URL from which the package was installed; "" if that is not recorded."""
    try:
        recorded = distribution(_DISTRIBUTION).read_text("direct_url.json")
        return str(json.loads(recorded or "{}").get("url", ""))
    except (PackageNotFoundError, ValueError):
        return ""
