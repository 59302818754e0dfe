"""Everything that the package knows about languages, in one file per language.

A new language is a new file, named by its code, with a `Language` called LANGUAGE. The registry
finds it without any other change.

In: nothing; the words are written by hand.
Out: `LANGUAGES`, the marks by name, and patterns joined over all languages.
Imported by: every room.
"""
