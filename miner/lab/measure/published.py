"""Annotated books and a tagger -> how far what it mines can be trusted, as a file beside it.

The file goes with the tagger, so that the card of a corpus can quote figures that were measured. It
names what was measured: the tagger and the weights beside it by their digests, the annotations, the
split and the seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from miner.annotation.annotations import AnnotatedBook
from miner.annotation.pair_errors import judge_pairs
from miner.errors import InputError
from miner.lab.gold.editions import BookReader, read_editions_at_hand
from miner.lab.measure.confidence import measure_tradeoff
from miner.lab.measure.judged_speakers import Speak
from miner.lab.measure.scores import score
from miner.lab.measure.speaker_scores import ALL, score_annotated_speakers
from miner.lab.measure.tagging import tag_found_spans
from miner.speech.tags import Tagger
from miner.tagger.published_scores import PublishedScores

LEVELS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)  # least confidences at which pairs are measured


def measure_tagger(
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
) -> PublishedScores:
    """Measures what a tagger mines from annotated books, with 95% intervals over chapters.

    Everything is measured from the book: the miner finds the utterances, too. All of the books have
    to be at hand, since the figures go with the tagger.
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
    return PublishedScores(
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
