"""The figures of three papers for their own data, to stand beside those of a comparison.

CD is "A Repository of Conversational Datasets", UD "The Ubuntu Dialogue Corpus", GD "The Gutenberg
Dialogue Dataset". Their data are others than what is scored here, and so are the training texts and
the vectors of words: only the order of the rows can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from miner.lab.lessons.generation.metrics import METRICS


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of a paper."""

    source: str  # the paper, the number of the table, and the data
    columns: tuple[str, ...]  # data, tasks or metrics
    rows: tuple[tuple[Any, ...], ...]  # each with its name and its values as they are printed


SELECTION = (  # each row with the method of this package that is made after it, or ""
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

_TRAININGS = (
    "zero-shot, Gutenberg",
    "zero-shot, Opensubtitles",
    "fine-tuned, Gutenberg",
    "fine-tuned, Opensubtitles",
    "baseline",  # trained on the data of the test alone
)
# As the paper has them, from above. GD calls the last two RT and GT.
_ROWS = (
    *(f"{model}, {training}" for model in ("Transformer", "GPT2") for training in _TRAININGS),
    "random",
    "truth",
)


def _table(source: str, values: str) -> PublishedTable:
    lines = values.strip().splitlines()
    rows = tuple((name, tuple(line.split())) for name, line in zip(_ROWS, lines, strict=True))
    return PublishedTable(source, tuple(metric.name for metric in METRICS), rows)


GENERATION = (
    _table(
        "GD, Table 4a: test set of DailyDialog",
        """
        7.5 6.92 11.7 52 71 .90 1.72 .522 .509 .577 .579 .0251 .110 .098 .095 .091 .083
        4.8 6.65 10.6 32 41 2.00 3.58 .461 .481 .533 .458 .0009 .002 .075 .068 .063 .056
        8.7 7.09 11.8 62 87 .51 1.03 .551 .535 .598 .580 .0292 .147 .140 .132 .126 .115
        8.8 6.68 10.2 59 80 2.93 4.15 .486 .477 .560 .482 .0020 .005 .106 .117 .118 .110
        9.9 7.11 11.5 71 94 .88 1.60 .519 .514 .579 .525 .0132 .063 .127 .128 .127 .117
        9.1 7.53 12.7 70 98 .30 .71 .538 .500 .564 .559 .0333 .226 .104 .109 .108 .101
        5.7 7.19 12.3 42 56 .32 .81 .491 .484 .554 .532 .0463 .249 .082 .079 .076 .069
        9.6 7.61 12.7 75 105 .12 .33 .568 .540 .596 .573 .0407 .259 .151 .143 .139 .128
        9.4 7.62 12.6 74 102 .14 .40 .561 .533 .589 .574 .0455 .264 .142 .136 .132 .122
        10.0 7.76 12.8 80 109 .11 .36 .567 .535 .589 .576 .0486 .285 .147 .143 .141 .130
        13.6 8.41 14.1 118 179 .03 .17 .496 .461 .523 .493 .0693 .414 .086 .117 .127 .122
        13.8 8.38 13.7 117 152 0 0 1 1 1 .572 .0587 .400 1 1 1 1
        """,
    ),
    _table(
        "GD, Table 4b: test set of PersonaChat",
        """
        8.3 6.99 11.9 57.7 80 1.00 2.24 .493 .540 .545 .574 .0154 .077 .091 .092 .091 .084
        6.6 6.70 11.5 45.2 67 2.00 2.85 .471 .556 .542 .476 .0004 .001 .094 .098 .095 .088
        11.0 6.48 10.4 68.2 92 1.28 2.15 .513 .575 .571 .593 .0104 .048 .165 .163 .164 .155
        10.6 6.37 10.1 68.3 98 2.58 2.66 .431 .575 .532 .444 .0011 .002 .148 .151 .154 .146
        11.1 6.88 11.0 76.5 110 1.28 2.21 .508 .570 .562 .559 .0047 .018 .164 .163 .165 .156
        9.5 7.62 13.1 72.7 101 .56 1.15 .510 .501 .531 .551 .0206 .160 .092 .104 .107 .101
        6.0 7.35 12.6 44.9 60 .44 1.11 .478 .491 .519 .537 .0294 .186 .072 .074 .072 .066
        11.0 7.45 11.8 82.6 116 .27 .64 .536 .559 .558 .590 .0182 .129 .157 .159 .162 .153
        10.5 7.41 11.6 78.1 108 .32 .71 .531 .558 .555 .583 .0205 .129 .153 .154 .155 .146
        10.3 7.50 11.8 77.9 108 .25 .61 .533 .554 .553 .587 .0219 .136 .151 .154 .155 .146
        11.6 8.51 14.0 98.6 148 .03 .14 .489 .499 .496 .488 .0495 .350 .099 .127 .136 .131
        11.5 8.46 13.4 97.3 124 0 0 1 1 1 .559 .0421 .337 1 1 1 1
        """,
    ),
)
