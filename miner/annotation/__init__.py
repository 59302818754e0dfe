"""The gold: annotations without book text, located in the books that they describe.

In: a folder of annotations and the bytes of the books; files of other corpora and tools.
Out: `Annotations`, and for each annotated book an `Edition` with its gold spans and tags. The
folder `export` writes them in the formats of other tools.
Imported by: `evaluation`, `models` and `app`.
"""
