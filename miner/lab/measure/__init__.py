"""Gold and predicted tags -> scores with intervals.

In: `TaggedBook`s of gold and of a tagger; editions of annotated books.
Out: `Scores`, comparisons of taggers, wrong pairs by cause, reliability, agreement.
Imported by: `models`, `selection`, `generation`, `app`.
"""
