"""Gold: annotations located in the books that they describe, and those of other projects.

In: a folder of annotations and the bytes of the books; files of other corpora and tools.
Out: for each annotated book an `Edition` with its gold spans and tags. The folder `export` writes
them in the formats of other tools.
Imported by: `measure`, `training`, `lessons`, `app`.
"""
