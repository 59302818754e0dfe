"""Examples: contexts and their responses, which machines learn from and are judged on.

In: corpora on disk, annotations with their books, files of contexts and responses.
Out: examples, each with its book, and what a record says of where they come from.
Imported by: selection, generation, app.
"""
