"""Prepared examples -> for each novel, an attributor that has read nothing by its author."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from miner.errors import InputError
from miner.lab.gold.pdnc import PdncNovel
from miner.lab.training.speakers.examples import SpeakerExample
from miner.lab.training.speakers.training import SpeakerTraining, fit_network
from miner.people.attributor import NetworkScorer, SpeakerAttributor

_WORD = re.compile(r"[^\W\d_]+")


@dataclass(slots=True)
class LeaveOneAuthorOut:
    """Trains one network for each author, without that author's books.

    Authors of whom the examples have no book share one network.

    Attributes:
        examples: annotated chapters.
        novels: all novels that are judged.
        options: of the training.
        on_training: called before each training with the number of chapters to learn from.
    """

    examples: Sequence[SpeakerExample]
    novels: Sequence[PdncNovel]
    options: SpeakerTraining = field(default_factory=SpeakerTraining)
    on_training: Callable[[int], object] | None = None
    _known: dict[frozenset[str], SpeakerAttributor] = field(default_factory=dict)

    def attributor_of(self, novel: PdncNovel) -> SpeakerAttributor:
        """Returns the attributor that has read no book by the author of a novel."""
        without = self.left_out(novel)
        if without not in self._known:
            kept = [example for example in self.examples if example.book not in without]
            if self.on_training:
                self.on_training(len(kept))
            weights = fit_network(kept, self.options)
            self._known[without] = SpeakerAttributor(NetworkScorer(weights))
        return self._known[without]

    def left_out(self, novel: PdncNovel) -> frozenset[str]:
        """Returns the ids of the books of the examples that are by the author of a novel.

        These are the author's novels in the corpus, by their numbers, and all books by an author
        whose name fits the code of the corpus.
        """
        if not novel.author:
            raise InputError(f"{novel.title}: found no Author Code, expected one in the index")
        ids = {other.gutenberg_id for other in self.novels if other.author == novel.author}
        return frozenset(
            example.book
            for example in self.examples
            if example.book in ids or has_code(example.author, novel.author)
        )

    def count_left_out(self, novels: Iterable[PdncNovel]) -> dict[str, int]:
        """Returns how many chapters the network of each author is trained without, by its code."""
        chapters = Counter(example.book for example in self.examples)
        return {
            novel.author: sum(chapters[book] for book in self.left_out(novel)) for novel in novels
        }


def has_code(author: str, code: str) -> bool:
    """Whether a word of an author's name after the first begins with a code of the corpus.

    >>> has_code("Fyodor Dostoevsky", "DOST"), has_code("James Joyce", "JAME")
    (True, False)
    """
    words = _WORD.findall(author.upper())
    return any(word.startswith(code.upper()) for word in words[1:] or words)
