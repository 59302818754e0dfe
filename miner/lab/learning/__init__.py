"""What every training shares: the loop, the folder of a run, prepared examples.

In: a network and its batches.
Out: weights, a record and a curve in a folder.
Imported by: `training`, `lessons`, `app`.
"""
