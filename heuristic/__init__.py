"""Gap heuristics: taggers that need no training, the baseline and a source of weak labels."""
