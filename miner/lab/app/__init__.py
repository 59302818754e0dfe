"""What a person looks at in the laboratory: commands, tables, plots.

In: the command line, and what the other rooms return.
Out: text on the terminal, pictures, and the files that a user requests.
Imported by: nobody but `train.py` and the entry points of the package.
"""
