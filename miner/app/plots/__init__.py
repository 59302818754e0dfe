"""The pictures: scores, reliability, learning curves, dialogue in fiction."""
