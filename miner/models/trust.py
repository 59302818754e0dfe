"""The name of a tagger -> how far it can be trusted, where that was measured."""

from __future__ import annotations

from pathlib import Path

from miner.evaluation.trust import TRUST, Trust, read_trust
from miner.files import is_checkpoint
from miner.models.load import (
    AUTO,
    CHECKPOINTS,
    FLOAT32,
    SHIPPED,
    find_registered_taggers,
    tagger_signature,
    weight_signatures,
)

MEASURED = Path(__file__).parent / "measured"  # of heuristics, which have no folder of their own


def find_trusts(name: str, dtype: str = FLOAT32) -> tuple[Trust, ...]:
    """Returns what was measured of a tagger; for "auto", of each that it stands for.

    A checkpoint has its measurement in its folder (`trust.json`). One of other weights, or in
    another type of numbers, says nothing about the tagger at hand, and is left out.

    Args:
        name: as `load_tagger` takes it.
        dtype: in which the encoder of a checkpoint computes; heuristics have none.

    Raises:
        InputError: if a file holds no measurement; names it.
    """
    names = [str(CHECKPOINTS / language) for language in SHIPPED] + ["gap"]
    found = (_find_trust(one, dtype) for one in (names if name == AUTO else [name]))
    return tuple(trust for trust in found if trust is not None)


def _find_trust(name: str, dtype: str) -> Trust | None:
    is_trained = is_checkpoint(Path(name))
    if not is_trained and name not in find_registered_taggers():
        return None
    path = Path(name) / TRUST if is_trained else MEASURED / f"{name}.json"
    try:
        trust = read_trust(path)
    except OSError:
        return None
    fits = trust.tagger == tagger_signature(name) and trust.weights == weight_signatures()
    return trust if fits and (not is_trained or trust.dtype == dtype) else None
