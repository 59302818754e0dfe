"""People and clues take time in proportion to the length, however long one paragraph is."""

import pytest
from helpers import cpu_seconds

from miner.people.clues import find_clues
from miner.people.mentions import read_people
from miner.speech.read import parse_spans

FORMS = {
    "speeches of one paragraph": "“Yes,” said Mara to Tobin. ",
    "names in one speech": "“Mara, Tobin and the man. ",
    "names in one paragraph": "Mara and Tobin saw the man. ",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_the_time_of_clues_is_in_proportion_to_the_length(name):
    def seconds(n):
        text = f"<html lang='en'><body><p>“Yes,” said Mara.</p><p>{FORMS[name] * n}</p>"
        book = parse_spans(text.encode(), "7")

        def read():
            chapters = [find_clues(chapter) for chapter in read_people(book).chapters()]
            assert sum(len(chapter.clues) for chapter in chapters) > 0

        return cpu_seconds(read)

    seconds(1)
    assert seconds(1600) < 6 * seconds(400)
