"""Taggers: the trained conversation tagger at work, and the loader of all taggers by name or path.

In: `BookSpans`.
Out: a `Tagger` by its name or path, and tags with confidences.
Imported by: `annotation`, `corpus`, `app` and the laboratory.
"""
