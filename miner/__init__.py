"""Mines conversations, turns and utterance pairs from Project Gutenberg novels."""

__version__ = "0.1.0"
