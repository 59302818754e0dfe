"""Networks that are trained from scratch: their words, their files and their common training."""
