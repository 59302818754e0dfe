"""Annotations without book text, and where they lie in the books that they describe.

In: a folder of annotations, the spans of a book.
Out: `Annotations`, and the place of each annotated span.
Imported by: `app` and the laboratory.
"""
