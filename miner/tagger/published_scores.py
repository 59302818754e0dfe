"""The name of a tagger -> what was measured of it, where that was done.

The figures go with the tagger, so that the card of a corpus can quote them. They name what was
measured: the tagger and the weights beside it by their digests, the annotations, the split and the
seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from miner.errors import InputError
from miner.files import PUBLISHED, is_checkpoint, parse_json, read_text
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


@dataclass(frozen=True, slots=True)
class KeptPairs:
    """The mined pairs with at least a given confidence.

    Attributes:
        min_confidence: 0 to 1.
        n_pairs: how many pairs are kept.
        share: kept pairs as a share of all mined pairs.
        precision: right pairs as a share of the kept pairs.
        recall: right pairs that are kept as a share of the gold pairs.
    """

    min_confidence: float
    n_pairs: int
    share: float
    precision: Score
    recall: Score

    def to_json(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "min_confidence": self.min_confidence,
            "pairs": self.n_pairs,
            "share": self.share,
            "precision": self.precision.to_json(),
            "recall": self.recall.to_json(),
        }


@dataclass(frozen=True, slots=True)
class PublishedScores:
    """How far what a tagger mines can be trusted, measured from the book on annotated chapters.

    Attributes:
        tagger: its name; for a checkpoint or a file, its name and the start of its digest.
        dtype: in which its encoder computed.
        weights: the other weights that decide the result, as `models.load.weight_signatures` names
            them.
        languages: those of the books.
        split: the name of the split of the annotations.
        n_books: how many books were judged.
        n_chapters: how many annotated chapters of them.
        beginnings: precision and recall of the beginnings of conversations.
        pairs: of turn pairs, at each least confidence; of a tagger without confidence only at 0.
        speakers: the share of the annotated utterances whose speaker was found and is right; None
            if speakers were not measured.
        signature: what was scored.
    """

    tagger: str
    dtype: str
    weights: Mapping[str, Sequence[str]]
    languages: tuple[str, ...]
    split: str
    n_books: int
    n_chapters: int
    beginnings: tuple[Score, Score]
    pairs: tuple[KeptPairs, ...]
    speakers: Score | None
    signature: str

    def at(self, min_confidence: float) -> KeptPairs:
        """The pairs at the highest measured level that is not above `min_confidence`."""
        return max(
            (kept for kept in self.pairs if kept.min_confidence <= min_confidence),
            key=lambda kept: kept.min_confidence,
        )

    def to_json(self) -> dict[str, Any]:
        """The measurement as plain values."""
        precision, recall = self.beginnings
        return {
            "tagger": self.tagger,
            "dtype": self.dtype,
            "weights": {name: list(signatures) for name, signatures in self.weights.items()},
            "languages": list(self.languages),
            "split": self.split,
            "books": self.n_books,
            "chapters": self.n_chapters,
            "beginnings": {"precision": precision.to_json(), "recall": recall.to_json()},
            "turn_pairs": [kept.to_json() for kept in self.pairs],
            "speakers": self.speakers and self.speakers.to_json(),
            "signature": self.signature,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The measurement of which `to_json` gave the values."""
        speakers = record["speakers"]
        return cls(
            tagger=record["tagger"],
            dtype=record["dtype"],
            weights=record["weights"],
            languages=tuple(record["languages"]),
            split=record["split"],
            n_books=record["books"],
            n_chapters=record["chapters"],
            beginnings=(
                _score("precision", record["beginnings"]),
                _score("recall", record["beginnings"]),
            ),
            pairs=tuple(
                KeptPairs(
                    row["min_confidence"],
                    row["pairs"],
                    row["share"],
                    _score("precision", row),
                    _score("recall", row),
                )
                for row in record["turn_pairs"]
            ),
            speakers=None if speakers is None else Score("all", **speakers),
            signature=record["signature"],
        )


def _score(name: str, scores: Mapping[str, Any]) -> Score:
    return Score(name, **scores[name])


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
    record = parse_json(read_text(path), str(path), "the measurement of a tagger")
    try:
        return PublishedScores.from_json(record)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path}: found no measurement of a tagger ({error!r})") from error
