"""Many books -> a data set on disk.

In: sources, a tagger and options.
Out: `MinedBook`s; a folder of spans, dialogues and pairs with a record of the run.
Imported by: `app`, and `miner` itself, which offers `mine` and `mine_corpus`.
"""

import logging

# Without a handler, Python would print warnings of the log, which the account of a run has, too.
logging.getLogger("miner").addHandler(logging.NullHandler())
