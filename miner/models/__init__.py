"""Taggers: the trained conversation tagger, and the loader of all taggers by name or path.

In: `BookSpans`; for training, editions of annotated books.
Out: a `Tagger` by its name or path; run folders with checkpoints, scores and model cards.
Imported by: `corpus`, `generation`, `app`, and `train.py`.
"""
