"""Asks whether better mining makes better dialogue data: one method, one task, several miners.

    python tests/benchmarks/bench_miners.py --books DIR --work DIR [--encoder PATH] [--mcn DIR]
        [--pairs 20000] [--all] [--method map --method n-grams] [--seeds 3] [-o FILE]

Every miner reads the same English books: those of the folder that are neither in the dev and test
splits of the annotations nor by one of their authors. A method learns from the pairs of each, the
same number of pairs, drawn at random by the seed, for as many steps; `--all` asks again with all
pairs that each miner gives. Everything else is the same: the true pairs of the dev split choose,
those of the test split judge (and the labels of the project MCN, if its folder is given).

The miners:

- paragraphs: GD's own rule as its users get it: a paragraph in which it finds speech is one
  utterance, with the narration in it, and a gap of 150 characters parts conversations;
- gd: GD's own code for English, which keeps what stands between marks;
- gap: the gap of 150 characters on this project's spans;
- tagger: the trained tagger;
- tagger 0.7: its pairs with a confidence of 0.7 or more;
- random: two turns that stand in the same chapter, at random: a floor.

What is mined is kept in the work folder, and so is every trained method, so that an interrupted run
goes on. Intervals: 95%, books drawn anew 1,000 times, of the mean over the seeds. `difference` is
that of a miner and the gap on the same test pairs, with its interval.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import miner
from heuristic.gap import GapTagger
from heuristic.gutenberg_dialogue import GutenbergDialogueTagger
from miner.annotation.annotations import BOOKS, read_cards
from miner.books.names import id_of
from miner.dialogue.spans import BookSpans, Span
from miner.dialogue.tags import TaggedSpan
from miner.selection.examples import Example, keep_turns

ROOT = Path(__file__).parents[2]
SURE = 0.7


@dataclass(frozen=True)
class WholeParagraphs:
    """GD's rules on whole paragraphs: one that has speech is one utterance, narration included."""

    gap: GapTagger = GapTagger()
    gives_confidence: ClassVar[bool] = False

    def tag(self, book_spans: BookSpans) -> list[TaggedSpan]:
        cut = [item.span for item in GutenbergDialogueTagger().tag(book_spans)]
        whole = []
        for (chapter, paragraph), group in groupby(cut, lambda s: (s.chapter, s.paragraph)):
            spans = list(group)
            text = "".join(span.text for span in spans)
            speaks = any(span.is_utterance for span in spans)
            whole.append(Span(chapter, paragraph, 0, 0, len(text), text, speaks))
        return self.gap.tag(replace(book_spans, spans=tuple(whole)))


MINERS: dict[str, Any] = {
    "paragraphs": WholeParagraphs(),
    "gd": "gd",
    "gap": "gap",
    "tagger": "auto",
}


def english_train_books(books: Path) -> list[str]:
    """Ids of the English files that share neither book nor author with dev and test."""
    cards = read_cards(ROOT / "annotations" / BOOKS)
    judged = [card for card in cards.values() if card.split != "train"]
    authors = {card.author for card in judged}
    found = []
    for path in sorted(books.glob("*-h.htm")):
        id = id_of(path)
        if id in cards:
            card = cards[id]
            if card.language == "en" and card.split == "train":
                found.append(id)
            continue
        book = miner.read_book(path)
        if book.language == "en" and book.author not in authors:
            found.append(id)
    return found


def mine_all(books: Path, work: Path) -> None:
    """Mines the books with every miner into a folder of the work folder, where it is not there."""
    ids = None
    for name, tagger in MINERS.items():
        out = work / "mined" / name
        if (out / "pairs.jsonl").exists():
            continue
        ids = ids or english_train_books(books)
        print(f"{name}: mining {len(ids)} books", file=sys.stderr, flush=True)
        miner.mine_corpus(
            ids, out, tagger=tagger, books=books, history_turns=None, workers=2, resume=True
        ).finish()


@dataclass(frozen=True)
class MinedPair:
    """An example and the miner's confidence in it."""

    example: Example
    confidence: float | None
    at: tuple[str, int, int]  # book, dialogue, turn


def read_mined(folder: Path) -> list[MinedPair]:
    """The pairs of a folder of `miner mine`."""
    found = []
    with (folder / "pairs.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["context"].strip() and row["response"].strip():
                context = (*row["history"], row["context"])
                example = Example(row["book"], context, row["response"], row["chapter"])
                at = (row["book"], row["dialogue"], row["turn"])
                found.append(MinedPair(example, row["confidence"], at))
    return found


def random_pairs(pairs: Iterable[MinedPair], seed: int) -> list[Example]:
    """As many pairs of two turns of one chapter, at random, as there are turns."""
    turns: dict[tuple[str, int], list[str]] = defaultdict(list)
    for pair in pairs:
        one = pair.example
        chapter = turns[one.book, one.chapter]
        if not chapter or chapter[-1] != one.context[-1]:
            chapter.append(one.context[-1])
        chapter.append(one.response)
    rng = random.Random(seed)
    found = []
    for (book, number), texts in turns.items():
        for context in texts:
            if len(texts) > 1:
                found.append(Example(book, (context,), rng.choice(texts), number))
    return found


def sets_of(work: Path, seed: int) -> dict[str, list[Example]]:
    """The examples of each miner, the immediate context alone."""
    mined = {name: read_mined(work / "mined" / name) for name in MINERS}
    found = {name: [pair.example for pair in pairs] for name, pairs in mined.items()}
    found[f"tagger {SURE}"] = [
        pair.example for pair in mined["tagger"] if (pair.confidence or 0) >= SURE
    ]
    found["random"] = random_pairs(mined["tagger"], seed)
    return {name: keep_turns(examples, 0) for name, examples in found.items()}


def draw(examples: Sequence[Example], n: int, seed: int) -> list[Example]:
    """`n` of the examples at random, in their order."""
    chosen = sorted(random.Random(seed).sample(range(len(examples)), min(n, len(examples))))
    return [examples[i] for i in chosen]
