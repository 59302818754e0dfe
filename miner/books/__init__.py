"""A Gutenberg file -> a `Book`: blocks of clean text in reading order.

In: a number, a title, a path or the bytes of a file: HTML, plain text, EPUB or a zip file.
Out: `Book` and `Block`; the file of a number, which is downloaded if it is on no disk; the texts of
Gutenberg's catalogue that a query fits.
Imported by: every room but `languages`.
"""
