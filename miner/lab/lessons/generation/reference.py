"""Training texts -> what the scores of answers need of them.

The probabilities of words and of bigrams are those of the last turns of the contexts, as in
dialog-eval, GD's own program, which takes those of the source utterances of the training data. In
mined dialogues nearly every response is also the last turn of the next context. The last turn is
what a response answers; so a corpus counts each turn once, however long its contexts are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from miner.errors import InputError
from miner.lab.lessons.example import Example, books_of
from miner.lab.lessons.generation.n_grams import NGram, count_n_grams, share_counts
from miner.lab.lessons.generation.words import split_words

UNKNOWN = "<unk>"  # what a word is that is not in the vocabulary; never a word of `split_words`
MOST_WORDS = 100_000  # of a vocabulary; GD, section 5.2


@dataclass(frozen=True, slots=True)
class Reference:
    """What the scores of answers need of training texts.

    Attributes:
        source: what a record says of where the texts come from ("corpus/jsonl/pairs, train").
        vocabulary: the most frequent words of the texts.
        probabilities: those of words and of bigrams of a turn, under 1 and 2. A word that is not
            in the vocabulary is `UNKNOWN`, which is only there if the texts have such words.
        responses: those from which random ones are drawn.
        books: the ids of the books of the texts.
        n_words: how many words the turns have.
        sha256: of the turns and the responses.
    """

    source: str
    vocabulary: frozenset[str]
    probabilities: Mapping[int, Mapping[NGram, float]]
    responses: tuple[str, ...]
    books: tuple[str, ...]
    n_words: int
    sha256: str

    def known(self, words: Iterable[str]) -> list[str]:
        """Returns the words, with `UNKNOWN` for each that is not in the vocabulary."""
        return [word if word in self.vocabulary else UNKNOWN for word in words]

    def probability(self, word: str) -> float:
        """Returns the probability of a word; 0 if it is not in the vocabulary."""
        return self.probabilities[1].get((word,), 0.0)

    def draw_responses(self, n: int, seed: int) -> list[str]:
        """Returns responses that are drawn by chance, each once where there are enough of them."""
        random = np.random.default_rng(seed)
        n_responses = len(self.responses)
        drawn = random.choice(n_responses, n, replace=n > n_responses)
        return [self.responses[number] for number in drawn.tolist()]

    def describe(self) -> str:
        """Returns what the texts are, in one line."""
        return (
            f"{self.source}@{self.sha256[:8]}, {len(self.responses):,} turns of "
            f"{self.n_words:,} words, a vocabulary of {len(self.vocabulary):,}"
        )


def make_reference(
    examples: Sequence[Example],
    source: str,
    *,
    most_words: int = MOST_WORDS,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Reference:
    """Returns what the scores of answers need of the examples that models were trained on."""
    turns: list[list[str]] = []
    digest = sha256()
    for done, one in enumerate(examples, 1):
        turns.append(split_words(one.context[-1]))
        digest.update(f"{one.context[-1]}\0{one.response}\0".encode())
        progress(done, len(examples))
    counts = Counter(word for turn in turns for word in turn)
    if not counts:
        raise InputError(f"{source}: found no words, expected training texts")
    frequent = sorted(counts, key=lambda word: (-counts[word], word))
    vocabulary = frozenset(frequent[:most_words])
    known = [[word if word in vocabulary else UNKNOWN for word in turn] for turn in turns]
    return Reference(
        source,
        vocabulary,
        {n: share_counts(count_n_grams(known, n)) for n in (1, 2)},
        tuple(one.response for one in examples),
        books_of(examples),
        counts.total(),
        digest.hexdigest(),
    )
