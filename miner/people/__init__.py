"""The spans of a book -> its people, where they are mentioned, and the evidence of who speaks.

In: `BookSpans`, and a `characters.jsonl` where a person corrected one.
Out: a `Cast` of `Character`, and the mentions of each in the text.
Imported by: `annotation`, `evaluation`, `models`, `corpus` and `app`.
"""
