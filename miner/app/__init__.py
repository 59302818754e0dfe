"""All that a person looks at: commands, tables, plots, the viewer and the annotator.

In: the command line, and what the other rooms return.
Out: text on the terminal, pictures, pages, and the files that a user requests.
Imported by: nobody but `miner.__main__` and `train.py`.
"""
