"""Response selection: does what was mined teach a machine to answer?

A method scores responses for a context. It is trained on the pairs of one corpus and judged by how
often it finds the true response among others, as in "A Repository of Conversational Datasets" (CD)
and "The Ubuntu Dialogue Corpus" (UD).

In: examples.
Out: trained methods as folders, and the scores of methods on tasks.
Imported by: generation, app.
"""
