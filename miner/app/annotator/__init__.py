"""The pages on which the chapters of a book are annotated by hand, and the server behind them.

`guesses` turns a tagger's tags into suggestions, `sheet` holds the answers and the actions that
change them, `placement` finds saved rows in the book, `sheet_file` saves the sheets
of all chapters, `pages` turns them into pages, and `server` answers the browser. Only `server`
imports flask.
"""
