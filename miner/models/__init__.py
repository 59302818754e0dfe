"""What is trained: the conversation tagger, and the one door to every tagger.

In: `BookSpans`; for training, editions of annotated books.
Out: a `Tagger` by its name or path; run folders with checkpoints, scores and cards.
Imported by: `corpus`, `app`, and `train.py`.
"""
