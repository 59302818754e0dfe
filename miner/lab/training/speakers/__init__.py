"""Who speaks: from the clues of a chapter to a speaker for each utterance."""

# What `systems.find_systems` leaves out of ours, to compare. The command line names them before it
# loads anything.
ABLATIONS = {
    "alone": "each utterance decided by itself, without the others and the tags",
    "no-facts": "a name beside a verb of saying is a clue as others are",
    "names-only": "pronouns and nouns that tell the speaker are not read",
    "masked": "invented names",
    "gap-tags": "the tags of the gap heuristic",
}
