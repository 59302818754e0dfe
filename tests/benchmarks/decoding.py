"""What decoding changes for the shipped checkpoint on dev: the offset of B-START, and repair.

    python tests/benchmarks/decoding.py --books DIR

Prints B-START and turn pairs with the fitted offset and without it. Also prints the number of
utterances, and of chapters, in which the best allowed sequence has another outcome (a conversation
opens, a turn opens, a turn continues) than the most probable outcome of the utterance by itself.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from miner.books.download import find_book
from miner.lab.training.tagger.model_selection import score_decoded
from miner.lab.training.tagger.training_data import read_examples
from miner.speech.tags import TAGS, Tag
from miner.tagger.decoding import viterbi
from miner.tagger.load import load_checkpoint_tagger

ANNOTATIONS = Path(__file__).parents[2] / "annotations"
OUTCOMES = {tag: TAGS.index(tag) for tag in (Tag.B_START, Tag.B_OTHER)}  # both I- tags continue


def main() -> None:
    """Prints a line per offset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", type=Path, required=True)
    books = parser.parse_args().books
    data = read_examples(ANNOTATIONS, "dev", lambda id: find_book(id, books)[1].read_bytes())
    tagger = load_checkpoint_tagger("auto")
    scored = tagger.score_chapters(example.chapter for example in data.examples)
    chapters = [scores for _, scores in scored]
    for offset in (tagger.config.start_offset, 0.0):
        figures = score_decoded(data, chapters, "dev", start_offset=offset).total.end_to_end
        shown = [
            f"{unit} "
            + " / ".join(
                f"{figures[f'{unit}.{part}'].value:.3f}" for part in ("precision", "recall", "f1")
            )
            for unit in ("B-START", "turn-pair")
        ]
        changed = [count_changed(scores, offset) for scores in chapters]
        n = sum(map(bool, changed))
        print(
            f"offset {offset}: {'; '.join(shown)}; {sum(changed)} utterances in {n} chapters differ"
        )


def count_changed(scores: np.ndarray, offset: float) -> int:
    """Returns the utterances of a chapter that are not decoded to their most probable outcome."""
    raised = scores + offset * np.array([tag is Tag.B_START for tag in TAGS])
    continues = TAGS.index(Tag.I_START)
    best = [OUTCOMES.get(TAGS[n], continues) for n in raised.argmax(axis=1)]
    decoded = [OUTCOMES.get(tag, continues) for tag in viterbi(scores, offset)]
    return sum(a != b for a, b in zip(best, decoded, strict=True))


if __name__ == "__main__":
    main()
