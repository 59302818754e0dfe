"""Asks whether better mining makes better dialogue data: one method, one task, several miners.

    python tests/benchmarks/bench_miners.py --books DIR --work DIR [--encoder NAME] [--mcn DIR]
        [--option NAME=VALUE] [--pairs 10000] [--all] [--method map --method tf-idf] [--seeds 3]
        [--miner gap --miner tagger] [--mixed 0.25] [--every 1] [-o FILE]

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
- random: two turns that stand in the same chapter, at random: a floor;
- gap 25% random (`--mixed 0.25`): the pairs of the gap, a share of which has a response of another
  pair of its chapter: how many wrong pairs cost how much.

What is mined is kept in the work folder, and so is every trained method, so that an interrupted run
goes on. Intervals: 95%, books drawn anew 1,000 times, of the mean over the seeds. `over the gap` is
the difference of a miner and the gap on the same test pairs, with its interval.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import miner
from heuristic.gap import GapTagger
from heuristic.gutenberg_dialogue import GutenbergDialogueTagger
from miner.annotation.annotations import BOOKS, read_cards
from miner.books.sources import id_of
from miner.lab.lessons.examples import Example, Part, keep_turns
from miner.lab.lessons.selection.methods import find_method
from miner.lab.lessons.selection.scoring import (
    Outcome,
    Score,
    Scoring,
    mean_outcome,
    score_outcome,
    subtract,
    try_method,
)
from miner.lab.lessons.selection.training import load_method, train_method
from miner.lab.lessons.sources import read_source
from miner.speech.kinds import SpanKind
from miner.speech.spans import BookSpans, Span
from miner.speech.tags import TaggedSpan

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
            kind = SpanKind.UTTERANCE if speaks else SpanKind.NARRATION
            whole.append(Span(chapter, paragraph, 0, 0, len(text), text, kind))
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


def mine_all(books: Path, work: Path, names: Sequence[str] = tuple(MINERS), every: int = 1) -> None:
    """Mines every n-th book with miners into the work folder, where that is not done."""
    ids = None
    for name in names:
        tagger = MINERS[name]
        out = work / "mined" / name
        if (out / "pairs.jsonl").exists():
            continue
        ids = ids or english_train_books(books)[::every]
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


def sets_of(work: Path, seed: int, mixed: Sequence[float] = ()) -> dict[str, list[Example]]:
    """The examples of each miner, the immediate context alone.

    Args:
        work: where what was mined is.
        seed: of the random pairs.
        mixed: shares of the gap's pairs whose responses are drawn at random; a miner for each.
    """
    mined = {name: read_mined(work / "mined" / name) for name in MINERS}
    found = {name: [pair.example for pair in pairs] for name, pairs in mined.items()}
    found[f"tagger {SURE}"] = [
        pair.example for pair in mined["tagger"] if (pair.confidence or 0) >= SURE
    ]
    found["random"] = random_pairs(mined["tagger"], seed)
    for share in mixed:
        found[f"gap {share:.0%} random"] = mix_responses(found["gap"], share, seed)
    return {name: keep_turns(examples, 0) for name, examples in found.items()}


def mix_responses(examples: Sequence[Example], share: float, seed: int) -> list[Example]:
    """The examples, a share of them with the response of another pair of the chapter."""
    responses: dict[tuple[str, int], list[str]] = defaultdict(list)
    for one in examples:
        responses[one.book, one.chapter].append(one.response)
    rng = random.Random(seed)
    found = []
    for one in examples:
        others = responses[one.book, one.chapter]
        is_random = rng.random() < share and len(others) > 1
        found.append(replace(one, response=rng.choice(others)) if is_random else one)
    return found


def share_of_the_gap(sets: dict[str, list[Example]]) -> dict[str, float]:
    """The share of each miner's pairs that the gap finds, too: the same turns, of one chapter."""
    keys = {
        name: {(one.book, one.chapter, *one.context, one.response) for one in examples}
        for name, examples in sets.items()
    }
    return {name: len(found & keys["gap"]) / max(1, len(found)) for name, found in keys.items()}


def draw(examples: Sequence[Example], n: int, seed: int) -> list[Example]:
    """`n` of the examples at random, in their order."""
    chosen = sorted(random.Random(seed).sample(range(len(examples)), min(n, len(examples))))
    return [examples[i] for i in chosen]


SCORING = Scoring(harder=True)
SHOWN = ("1-of-100 R@1", "1 in 10 R@1", "1 in 10 of the chapter R@1", "1 in 10 alike R@1")


def trained(
    method: str,
    miner: str,
    examples: list[Example],
    validation: list[Example],
    seed: int,
    work: Path,
    given: dict[str, Any],
) -> Path:
    """The folder of a trained method; it is trained if it is not there."""
    out = work / "trained" / f"{method}-{miner.replace(' ', '-')}-{len(examples)}-{seed}"
    if not (out / "method.json").exists():
        kind = find_method(method)
        taken = kind.options.__dataclass_fields__
        options = kind.read_options({key: given[key] for key in given if key in taken})
        out.parent.mkdir(parents=True, exist_ok=True)
        parts = Part(examples, miner), Part(validation, "annotations, dev")
        train_method(kind, options, *parts, out, seed=seed, resume=True)
    return out


def read_option(text: str) -> tuple[str, Any]:
    """The name and the value of an option of methods: a number, where it is one."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def tried(folder: Path, judged: list[Example]) -> dict[str, Outcome]:
    """What a trained method does on each judged pair, by task and measure."""
    trained = load_method(folder)
    outcomes = try_method(trained.method, judged, SCORING, trained.history_turns)
    return {f"{one.task} {one.measure}": one for one in outcomes}


def written(score: Score) -> str:
    """A score with its interval, where there are books to draw anew."""
    if score.low is None:
        return f"{score.value:.3f}"
    return f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def ask(options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each judged source, method, miner and number of pairs."""
    sources = {"annotations": judged_examples(ROOT / "annotations", options.books)}
    if options.mcn:
        sources["MCN"] = judged_examples(options.mcn, options.books)
    given = dict(options.option, **({"encoder": options.encoder} if options.encoder else {}))
    validation = judged_examples(ROOT / "annotations", options.books, "dev")
    rows = []
    for method in options.method:
        for n in [options.pairs, None] if options.all else [options.pairs]:
            found: dict[str, dict[str, dict[str, list[Outcome]]]] = {}
            sizes: dict[str, int] = {}
            shared: dict[str, float] = {}
            for seed in range(options.seeds):
                sets = sets_of(options.work, seed, options.mixed)
                shared = shared or share_of_the_gap(sets)
                for name, examples in sets.items():
                    if options.miner and name not in (*options.miner, "gap"):
                        continue
                    some = draw(examples, n, seed) if n else examples
                    sizes[name] = len(some)
                    args = method, name, some, validation, seed, options.work, given
                    folder = trained(*args)
                    for source, judged in sources.items():
                        by = found.setdefault(source, {}).setdefault(name, {})
                        for what, outcome in tried(folder, judged).items():
                            by.setdefault(what, []).append(outcome)
                    print(f"{method} {name} seed {seed}: done", file=sys.stderr, flush=True)
            for source, by_miner in found.items():
                rows += rows_of(source, method, by_miner, sizes, shared, sources[source])
    return rows


def rows_of(
    source: str,
    method: str,
    by_miner: dict[str, dict[str, list[Outcome]]],
    sizes: dict[str, int],
    shared: dict[str, float],
    judged: list[Example],
) -> list[dict[str, Any]]:
    """The scores of each miner, the mean over the seeds, and its difference to the gap.

    Beside them stands the share of all its pairs that the gap finds, too.
    """
    means = {
        name: {what: mean_outcome(of) for what, of in by.items()} for name, by in by_miner.items()
    }
    rows = []
    for name, by in means.items():
        row: dict[str, Any] = {"on": source, "method": method, "miner": name, "pairs": sizes[name]}
        row["of the gap"] = f"{shared[name]:.0%}"
        for what in SHOWN:
            row[what] = written(score_outcome(by[what], judged, SCORING))
        if name != "gap":
            first = SHOWN[0]
            over = subtract(by[first], means["gap"][first])
            row["over the gap"] = written(score_outcome(over, judged, SCORING))
        rows.append(row)
    return rows


def judged_examples(folder: Path, books: Path, split: str = "test") -> list[Example]:
    """The true pairs of a split, with all turns of their contexts."""
    found = read_source(str(folder), split, "test", language="en", read=reader(books))
    return list(found.examples)


def reader(books: Path) -> Any:
    """What reads an annotated book by its id."""
    from miner.lab.app.cli.options import book_reader

    return book_reader(books, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--books", type=Path, required=True, help="folder of Gutenberg HTML files")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is made")
    parser.add_argument("--encoder", help="sentence encoder of the methods that have one")
    parser.add_argument(
        "--option", action="append", type=read_option, default=[], help="of methods that have it"
    )
    parser.add_argument("--mcn", type=Path, help="folder of the labels of MCN")
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs of each miner")
    parser.add_argument("--all", action="store_true", help="ask again with all pairs of each")
    parser.add_argument("--method", action="append", help="of `miner selection train`")
    parser.add_argument("--miner", action="append", help="these alone, and the gap")
    parser.add_argument(
        "--mixed", action="append", type=float, default=[], help="share of random responses"
    )
    parser.add_argument("--every", type=int, default=1, help="which of the books are mined")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-o", "--out", type=Path, help="file for the rows (JSON Lines)")
    options = parser.parse_args()
    options.method = options.method or ["tf-idf", "map"]
    mine_all(options.books, options.work, every=options.every)
    rows = ask(options)
    columns = ["on", "method", "miner", "pairs", "of the gap", *SHOWN, "over the gap"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for row in rows:
        print("| " + " | ".join(str(row.get(column, "")) for column in columns) + " |")
    if options.out:
        options.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
