"""The gold: annotations that hold no book text, and the books that they are found in.

In: a folder of annotations, and the bytes of the books; files of other corpora and tools.
Out: `Annotations`, and an `Edition` for each annotated book: its gold spans and tags.
Imported by: `evaluation`, `models`, `app`.
"""
