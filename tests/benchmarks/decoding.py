"""What decoding does to the tagger in the box, on dev: the offset of beginnings, and legal tags.

    python tests/benchmarks/decoding.py --books DIR

With the fitted offset and without: B-START and turn pairs, and how many utterances, in how many
chapters, the best legal sequence gives another outcome (a conversation opens, a turn does, neither)
than the most probable one of the utterance by itself.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from miner.books.download import find_book
from miner.dialogue.tags import Tag
from miner.models.load import checkpoint_tagger
from miner.models.tagger.decoding import TAGS, viterbi
from miner.models.tagger.examples import read_examples
from train import judged

ANNOTATIONS = Path(__file__).parents[2] / "annotations"
OUTCOMES = {tag: TAGS.index(tag) for tag in (Tag.B_START, Tag.B_OTHER)}  # going on is the rest


def main() -> None:
    """Print a line per offset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--books", type=Path, required=True)
    books = parser.parse_args().books
    data = read_examples(ANNOTATIONS, "dev", lambda id: find_book(id, books)[1].read_bytes())
    tagger = checkpoint_tagger("auto")
    (scored,) = tagger.scored([[example.chapter for example in data.examples]])
    chapters = [scores for _, scores in scored]
    for offset in (tagger.model.config.start_offset, 0.0):
        figures = judged(data, chapters, "dev", start_offset=offset).total.end_to_end
        shown = [
            f"{unit} "
            + " / ".join(
                f"{figures[f'{unit}.{part}'].value:.3f}" for part in ("precision", "recall", "f1")
            )
            for unit in ("B-START", "turn-pair")
        ]
        others = [others_than_most_probable(scores, offset) for scores in chapters]
        n = sum(map(bool, others))
        print(
            f"offset {offset}: {'; '.join(shown)}; {sum(others)} utterances in {n} chapters differ"
        )


def others_than_most_probable(scores: np.ndarray, offset: float) -> int:
    """How many utterances of a chapter are decoded to another outcome than their most probable."""
    raised = scores + offset * np.array([tag is Tag.B_START for tag in TAGS])
    goes_on = TAGS.index(Tag.I_START)
    best = [OUTCOMES.get(TAGS[n], goes_on) for n in raised.argmax(axis=1)]
    repair_tags = [OUTCOMES.get(tag, goes_on) for tag in viterbi(scores, offset)]
    return sum(a != b for a, b in zip(best, repair_tags, strict=True))


if __name__ == "__main__":
    main()
