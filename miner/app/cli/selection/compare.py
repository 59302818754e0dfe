"""`miner selection compare`: score several trained methods on the same pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from miner.app.cli.options import (
    PATH,
    books_option,
    force_option,
    json_option,
    language_option,
    mirror_option,
    quiet_option,
)
from miner.app.cli.selection.sources import SourceName, open_source, split_option
from miner.app.cli.terminal import CountBar, open_console, show, show_json

if TYPE_CHECKING:
    from miner.selection.comparison import Comparison


