"""stub"""


def is_set_piece(turn, blocks, language):
    return False
