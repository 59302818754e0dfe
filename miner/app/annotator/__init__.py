"""The page on which a chapter is annotated by hand, and the server behind it.

`guesses` turns a tagger's tags into suggestions, `sheet` holds the answers and the actions that
change them, `placement` finds saved rows in the book, `sheet_file` saves the sheet, `sheet_page`
turns it into the page, and `server` answers the browser.
"""
