"""Trainings: of the tagger, of the speakers, and of what is speech and where it ends.

In: editions of annotated books.
Out: weights, and run folders with checkpoints, scores and model cards.
Imported by: `lessons`, `app`, and `train.py`.
"""
