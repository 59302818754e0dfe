"""Who speaks: from the clues of a chapter to a speaker for each utterance."""
