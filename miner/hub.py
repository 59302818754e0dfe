"""A name -> a model: a folder, or one of the Hugging Face Hub.

Of the Hub, what was downloaded earlier is taken, else the network is asked.

Any room may import this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from miner.errors import InputError
from miner.files import reason_of

Loaded = TypeVar("Loaded")

_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
_SECONDS = 10  # before the Hub counts as out of reach; the library alone tries for minutes


def find_folder(name: str) -> Path | None:
    """Returns the folder of a name; None if there is none and the name may be one on the Hub.

    Raises:
        InputError: if it is a file, or can only be a folder and there is none.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists():
        raise InputError("it is a file")
    if _NAME.fullmatch(name) is None:
        raise InputError("there is no such folder")
    return None


def load_from_hub(name: str, load: Callable[[str, bool], Loaded]) -> Loaded:
    """Returns what a name on the Hub loads as.

    Args:
        name: of the model, with its owner.
        load: loads it by its name; the flag says whether the network is left alone.

    Raises:
        InputError: if it is not on this computer, and the Hub does not have it or is out of reach.
    """
    from huggingface_hub import HfApi

    try:
        return load(name, True)
    except Exception:  # not here, or not all of it: libraries raise errors of many kinds
        try:
            HfApi().model_info(name, timeout=_SECONDS)
        except Exception as error:
            raise InputError(
                f"it is not on this computer, and the Hub says: {reason_of(error)}"
            ) from error
    return load(name, False)
