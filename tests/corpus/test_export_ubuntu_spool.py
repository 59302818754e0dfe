"""Texts on disk, by number."""

import tracemalloc

import pytest

from miner.corpus.export.ubuntu import Spool


def test_texts_come_back_in_any_order(tmp_path):
    texts = ["", "One.", "“Zwei”\n😀", "", "Four."]
    with Spool(tmp_path) as spool:
        for text in texts:
            spool.append(text)
        assert list(spool) == texts and len(spool) == 5
        assert [spool[number] for number in (4, 0, 2, 2)] == [texts[n] for n in (4, 0, 2, 2)]
        for number in (-1, 5):
            with pytest.raises(IndexError):
                spool[number]
    assert list(tmp_path.iterdir()) == []


def test_the_memory_does_not_grow(tmp_path):
    def peak(n):
        tracemalloc.start()
        try:
            with Spool(tmp_path) as spool:
                for _ in range(n):
                    spool.append("Some text. " * 9)
                assert sum(len(text) for text in spool) == n * 99
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(4_000) < 1.1 * peak(1_000) + 1_000
