"""Taggers that need no training: baselines, and a source of weak labels.

Each is registered by an entry point of the group `miner.taggers` in `pyproject.toml`, as a tagger
of another package would be. They import `miner.speech` and no other room.
"""
