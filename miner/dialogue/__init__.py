"""A `Book` -> spans -> tags -> dialogues -> pairs.

In: a `Book`; tags, from a `Tagger` or a tags file.
Out: `BookSpans`, `TaggedBook`, `Dialogue`, `Turn` and `Pair`; what they come to in numbers.
Imported by: `annotation`, `evaluation`, `models`, `corpus`, `app`; and `heuristic`, which imports no other room.
"""
