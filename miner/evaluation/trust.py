"""Annotated books and a tagger -> how far what it mines can be trusted, as a file beside it.

The file goes with the tagger, so that the card of a corpus can quote figures that were measured. It
names what was measured: the tagger and the weights beside it by their digests, the annotations, the
split and the seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.editions import BookReader, read_editions_at_hand
from miner.dialogue.tags import Tagger
from miner.errors import InputError
from miner.evaluation.confidence import KeptPairs, measure_tradeoff
from miner.evaluation.judged_speakers import Speak
from miner.evaluation.pair_errors import judge_pairs
from miner.evaluation.scores import Score, score
from miner.evaluation.speaker_scores import ALL, score_annotated_speakers
from miner.evaluation.tagging import tag_found_spans
from miner.files import parse_json, read_text

TRUST = "trust.json"  # the name of the file in the folder of a checkpoint
LEVELS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)  # least confidences at which pairs are measured


@dataclass(frozen=True, slots=True)
class Trust:
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
        """The measurement of which `to_json` gave the values.

        Raises:
            KeyError: if a value is missing.
            TypeError: if a value is of another type.
        """
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
            speakers=None if speakers is None else Score(ALL, **speakers),
            signature=record["signature"],
        )


def _score(name: str, scores: Mapping[str, Any]) -> Score:
    return Score(name, **scores[name])


def measure_trust(
    books: Sequence[AnnotatedBook],
    read: BookReader,
    tagger: Tagger,
    speak: Speak | None = None,
    *,
    name: str,
    dtype: str,
    weights: Mapping[str, Sequence[str]],
    split: str = "test",
    resamples: int = 1000,
    seed: int = 0,
) -> Trust:
    """Measures what a tagger mines from annotated books, with 95% intervals over chapters.

    Everything is measured from the book: the miner finds the utterances, too. All of the books have
    to be at hand, since the figures go with the tagger.

    Args:
        books: the books.
        read: returns the bytes of a book by its id.
        tagger: as it is used for mining.
        speak: finds the speakers as mining does; None if speakers are not to be measured.
        name: of the tagger, as records name it.
        dtype: in which the encoder of the tagger computes.
        weights: the other weights that decide the result.
        split: the name of the split, for the record.
        resamples: draws of the bootstrap.
        seed: of the bootstrap.

    Raises:
        InputError: as `editions.read_editions_at_hand` does; if a book is not at hand; if nothing
            was mined.
    """
    opened, coverage = read_editions_at_hand(books, read)
    if coverage.left_out:
        raise InputError(f"found {coverage.summary}, expected all books")
    gold = [edition.located.tagged() for edition in opened]
    mined = [tag_found_spans(edition, tagger, name) for edition in opened]
    scores = score(gold, mined, split=split, resamples=resamples, seed=seed)
    judged = judge_pairs(gold, mined)
    is_sure = all(pair.confidence is not None for pair in judged.mined)
    kept = measure_tradeoff(judged, LEVELS if is_sure else (0.0,), resamples=resamples, seed=seed)
    speakers = None
    if speak is not None:
        spoken = score_annotated_speakers(
            books, read, [(name, speak)], split=split, resamples=resamples, seed=seed
        )
        speakers = spoken.rows[0].from_book[ALL]
    measures = scores.total.end_to_end
    return Trust(
        tagger=name,
        dtype=dtype,
        weights=weights,
        languages=tuple(sorted({edition.book_spans.language for edition in opened})),
        split=split,
        n_books=len(opened),
        n_chapters=scores.total.n_chapters,
        beginnings=(measures["B-START.precision"], measures["B-START.recall"]),
        pairs=tuple(kept),
        speakers=speakers,
        signature=scores.signature,
    )


def read_trust(path: Path) -> Trust:
    """Returns the measurement in a file.

    Raises:
        InputError: if the file holds no measurement; names the file.
        OSError: if it cannot be read.
    """
    record = parse_json(read_text(path), str(path), "the measurement of a tagger")
    try:
        return Trust.from_json(record)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path}: found no measurement of a tagger ({error!r})") from error
