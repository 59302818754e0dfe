"""What a run's record says before any book is mined."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

from miner.corpus.options import MiningOptions
from miner.speech.tags import Tagger
from miner.tagger.load import tagger_signature, weight_signatures
from miner.version import __version__


def record_run(options: MiningOptions, tagger: Tagger) -> dict[str, Any]:
    """Returns the first part of a run's record: what decides the output, beside the books.

    It holds no time and no path, so equal runs have equal records.
    """
    given = options.characters
    signatures = {
        "tagger": tagger_signature(options.tagger),
        "characters": None if given is None else given.signature,
    }
    described = asdict(options) | signatures
    del described["with_features"]  # decides what a run keeps for itself, and nothing of its output
    return {
        "miner": __version__,
        "python": platform.python_version(),
        "libraries": _library_versions(tagger),
        "weights": weight_signatures(),
        "options": described,
    }


def _library_versions(tagger: Tagger) -> dict[str, str]:
    from importlib.metadata import version

    names = ("beautifulsoup4", "lxml", "pyarrow", *getattr(tagger, "libraries", ()))
    return {name: version(name) for name in names}
