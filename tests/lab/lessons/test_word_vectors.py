import pytest

from miner.errors import InputError
from miner.lab.lessons.embeddings import read_word_vectors


def test_word_vectors_are_read_as_text_with_or_without_a_first_line(tmp_path):
    words = ["mill", "wheel"]
    path = tmp_path / "vectors.txt"
    path.write_text("2 3\nmill 1 2 3\nsea 0 0 0\n", encoding="utf-8")
    found = read_word_vectors(path, words)
    assert {word: row.tolist() for word, row in found.items()} == {"mill": [1, 2, 3]}
    path.write_text("mill 1 2 3\nwheel 1 2\n", encoding="utf-8")
    with pytest.raises(InputError, match="vectors.txt:2: found 2 numbers after the word"):
        read_word_vectors(path, words)
    path.write_text("sea 0 0 0\n", encoding="utf-8")
    with pytest.raises(InputError, match="found none of the 2 words"):
        read_word_vectors(path, words)
