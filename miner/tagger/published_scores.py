"""The name of a tagger -> what was measured of it, where that was done.

The figures go with the tagger, so that the card of a corpus can quote them. They name what was
measured: the tagger and the weights beside it by their digests, the annotations, the split and the
seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from miner.errors import InputError
from miner.files import PUBLISHED, is_checkpoint
from miner.score import Score
from miner.tagger.load import (
    AUTO,
    CHECKPOINTS,
    FLOAT32,
    SHIPPED,
    find_registered_taggers,
    tagger_signature,
    weight_signatures,
)

MEASURED = Path(__file__).parent / "measured"  # of heuristics, which have no folder of their own


class PrecisionRecall(Struct, frozen=True):
    """How many of those found are right, and how many of those in the gold were found."""

    precision: Score
    recall: Score


class KeptPairs(Struct, frozen=True, rename={"n_pairs": "pairs"}):
    """The mined pairs with at least a given confidence."""

    min_confidence: float  # 0 to 1
    n_pairs: int  # that are kept
    share: float  # of all mined pairs
    precision: Score  # right pairs as a share of the kept pairs
    recall: Score  # right pairs that are kept as a share of the gold pairs


class PublishedScores(
    Struct,
    frozen=True,
    kw_only=True,
    rename={"n_books": "books", "n_chapters": "chapters", "pairs": "turn_pairs"},
):
    """What a tagger mines, measured from the book on annotated chapters."""

    tagger: str  # for a checkpoint or a file, its name and the start of its digest
    dtype: str  # in which its encoder computed
    weights: dict[str, list[str]]  # the others that decide the result (`load.weight_signatures`)
    languages: tuple[str, ...]  # of the books
    split: str  # of the annotations
    n_books: int
    n_chapters: int  # annotated ones
    beginnings: PrecisionRecall  # of conversations
    pairs: tuple[KeptPairs, ...]  # at each least confidence; only at 0 of a tagger without
    speakers: Score | None  # share of the annotated utterances whose speaker was found and is right
    signature: str  # what was scored

    def at(self, min_confidence: float) -> KeptPairs:
        """The pairs at the highest measured level that is not above `min_confidence`."""
        return max(
            (kept for kept in self.pairs if kept.min_confidence <= min_confidence),
            key=lambda kept: kept.min_confidence,
        )

    def to_json(self) -> dict[str, Any]:
        """The measurement as plain values."""
        return msgspec.to_builtins(self)


def find_published_scores(name: str, dtype: str = FLOAT32) -> tuple[PublishedScores, ...]:
    """Returns what was measured of a tagger; for "auto", of each that it stands for.

    A checkpoint has its measurement in its folder (`trust.json`). One of other weights, or in
    another type of numbers, says nothing about the tagger at hand, and is left out.
    """
    names = [str(CHECKPOINTS / language) for language in SHIPPED] + ["gap"]
    found = (_find_in_folder(one, dtype) for one in (names if name == AUTO else [name]))
    return tuple(published for published in found if published is not None)


def _find_in_folder(name: str, dtype: str) -> PublishedScores | None:
    is_trained = is_checkpoint(Path(name))
    if not is_trained and name not in find_registered_taggers():
        return None
    path = Path(name) / PUBLISHED if is_trained else MEASURED / f"{name}.json"
    try:
        published = read_published_scores(path)
    except OSError:
        return None
    fits = published.tagger == tagger_signature(name) and published.weights == weight_signatures()
    return published if fits and (not is_trained or published.dtype == dtype) else None


def read_published_scores(path: Path) -> PublishedScores:
    """Returns the measurement in a file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=PublishedScores)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"{path}: found no measurement of a tagger: {error}") from error
