"""Many books -> a data set on disk.

In: sources, a tagger and options; or a recipe, which has all of them.
Out: `MinedBook`s; a folder of spans, dialogues and pairs with a record of the run; or a corpus,
filtered, divided into splits and described.
Imported by: `app`, and `miner` itself, which offers `mine`, `mine_corpus` and `build_corpus`.
"""

import logging

# Without a handler, Python would print warnings of the log, which the account of a run has, too.
logging.getLogger("miner").addHandler(logging.NullHandler())
