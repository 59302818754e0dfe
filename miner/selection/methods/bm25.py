"""BM25: weighted words with saturation and length (CD 4.1), statistics of the training responses.

The weights are those of `bm25s`, by Lucene's formula: a response's word w with count f has the
weight idf(w) f / (f + k1 (1 - b + b length / mean length)). A context is the count of its words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
