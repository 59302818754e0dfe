"""What a run keeps: whole and as it was written, or not there."""

from dataclasses import dataclass

import numpy as np
import pytest

from miner.corpus.store import Store
from miner.errors import InputError


@dataclass(frozen=True, eq=False)
class Kept:
    name: str
    values: np.ndarray
    parts: dict[int, tuple[int, int]]
    rows: dict[str, bytes]


KEPT = Kept("“ä”", np.arange(6, dtype="<u2").reshape(2, 3), {3: (1, 2)}, {"pairs": b"{}"})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "kept", tmp_path / "out", Kept)


def test_a_value_comes_back_as_it_was(store):
    assert store.find("one") is None
    store.add("one", KEPT)
    again = store.take("one")
    assert (again.name, again.parts, again.rows) == (KEPT.name, KEPT.parts, KEPT.rows)
    assert again.values.dtype == np.uint16 and np.array_equal(again.values, KEPT.values)
    assert store.find_or_make("one", lambda: pytest.fail("it is there")).name == KEPT.name
    assert store.find_or_make("two", lambda: KEPT) is KEPT
    assert sorted(path.name for path in store.path.iterdir()) == ["one", "two"]


@pytest.mark.parametrize("n", [0, 1, 40])
def test_half_a_file_is_made_again(store, n):
    store.add("one", KEPT)
    file = store.path / "one"
    file.write_bytes(file.read_bytes()[:n])
    assert store.find("one") is None
    with pytest.raises(InputError, match="not as it was written, expected .* makes it again"):
        store.take("one")
    assert store.find_or_make("one", lambda: KEPT) is KEPT


def test_what_no_file_can_hold_is_a_fault_of_the_program(store):
    with pytest.raises(TypeError, match="found object"):
        store.add("one", Kept("", object(), {}, {}))
    assert not [*store.path.iterdir()]


def test_an_error_names_the_output(tmp_path):
    (tmp_path / "kept").write_text("a file")
    with pytest.raises(OSError, match="cannot be written") as found:
        Store(tmp_path / "kept", tmp_path / "out", Kept).add("one", KEPT)
    assert found.value.filename == str(tmp_path / "out")
