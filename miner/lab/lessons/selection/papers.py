"""The figures of the two papers for their own data, to stand beside those of a comparison.

CD is "A Repository of Conversational Datasets", UD "The Ubuntu Dialogue Corpus". Their data are
others than what is scored here, so only the order of the methods can be compared.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of a paper."""

    source: str  # the paper and the number of its table
    columns: tuple[str, ...]  # its data (CD), or its tasks and measures (UD)
    rows: tuple[tuple[str, tuple[float, ...], str], ...]

    def to_json(self) -> dict[str, Any]:
        """The table as plain values."""
        return asdict(self)


PUBLISHED = (
    PublishedTable(
        "CD, Table 2: 1-of-100 accuracy, immediate context, 50,000 examples of each test set",
        ("Reddit", "OpenSubtitles", "AmazonQA"),
        (
            ("tf-idf", (0.267, 0.109, 0.518), "tf-idf"),
            ("bm25", (0.276, 0.109, 0.523), "bm25"),
            ("use-sim", (0.366, 0.136, 0.476), "sim"),
            ("use-map", (0.408, 0.158, 0.544), "map"),
            ("use-large-sim", (0.414, 0.149, 0.513), "sim"),
            ("use-large-map", (0.477, 0.180, 0.619), "map"),
            ("elmo-sim", (0.125, 0.095, 0.160), "sim"),
            ("elmo-map", (0.193, 0.123, 0.330), "map"),
            ("polyai-encoder", (0.613, 0.306, 0.842), "n-grams"),
        ),
    ),
    PublishedTable(
        "UD, Table 4: Recall@k on the Ubuntu Dialogue Corpus",
        ("1 in 2 R@1", "1 in 10 R@1", "1 in 10 R@2", "1 in 10 R@5"),
        (
            ("TF-IDF", (0.659, 0.410, 0.545, 0.708), "tf-idf"),
            ("RNN", (0.768, 0.403, 0.547, 0.819), "rnn"),
            ("LSTM", (0.878, 0.604, 0.745, 0.926), "lstm"),
        ),
    ),
)
