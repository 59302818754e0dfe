"""Models of the Hugging Face Hub: what was downloaded earlier, else from the network.

Any room may import this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from miner.files import reason_of

Loaded = TypeVar("Loaded")

_SECONDS = 10  # before the Hub counts as out of reach; the library alone tries for minutes


def load_from_hub(name: str, load: Callable[[str, bool], Loaded]) -> Loaded:
    """Returns what a name on the Hub loads as.

    Args:
        name: of the model, with its owner.
        load: loads it by its name; the flag says whether the network is left alone.

    Raises:
        ValueError: if it is not on this computer, and the Hub does not have it or is out of reach.
    """
    from huggingface_hub import HfApi

    try:
        return load(name, True)
    except Exception:  # not here, or not all of it: libraries raise errors of many kinds
        try:
            HfApi().model_info(name, timeout=_SECONDS)
        except Exception as error:
            raise ValueError(
                f"it is not on this computer, and the Hub says: {reason_of(error)}"
            ) from error
    return load(name, False)
