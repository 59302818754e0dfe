"""Generation: a machine that learns to answer from what was mined, and how good its answers are.

A model is trained on the turns of dialogues and answers contexts that it has not seen. Answers are
judged by the seventeen metrics of "The Gutenberg Dialogue Dataset" (GD, section 5).

In: examples; files of contexts, responses and answers.
Out: trained models as folders, answers, and their scores.
Imported by: app.
"""
