"""All that a person looks at: commands, tables, plots, the viewer and the annotator.

In: words of the command line, and what the other rooms return.
Out: text on the terminal, pictures, pages, files that were asked for.
Imported by: nobody but `miner.__main__` and `train.py`.
"""
