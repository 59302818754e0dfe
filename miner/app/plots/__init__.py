"""The plots: scores, reliability, learning curves, dialogue in fiction."""
