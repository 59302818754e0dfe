"""The reader: one model that decides turns, conversations and speakers of a chapter together.

In: `BookSpans`, and a checkpoint of the reader.
Out: a `SpokenBook`: tags with confidences, speakers, addressees and characters.
Imported by: the laboratory; `tagger.load` finds it as an entry point.
"""
