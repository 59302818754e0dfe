"""The laboratory: trains taggers and the other networks, and measures what is mined.

In: annotations, books, what was mined, and every room of the miner.
Out: weights, scores with intervals, and what dialogues teach.
Imported by: nobody; its commands join `miner` by the entry points `miner.commands`, and `train.py`
opens it.
"""
