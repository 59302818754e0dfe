"""How each language prints speech and names its chapters: one file a language.

In: nothing; the tables are written by hand.
Out: `Language`, and the registry that finds one by its code.
Imported by: every room.
"""
