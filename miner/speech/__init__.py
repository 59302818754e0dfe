"""A `Book` -> spans -> tags -> dialogues -> pairs.

In: a `Book`, and tags from a `Tagger` or a tags file.
Out: `BookSpans`, `TaggedBook`, `Dialogue`, `Turn` and `Pair`, and statistics of them.
Imported by: `annotation`, `evaluation`, `models`, `corpus` and `app`. The package `heuristic`
imports this room and no other.
"""
