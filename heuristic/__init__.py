"""Taggers that need no training: a baseline to beat and a source of weak labels."""
