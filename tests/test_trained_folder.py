"""The folder of a training and that of its state replace nothing of somebody else."""

import pytest

from miner.errors import InputError
from miner.files import find_other
from miner.lab.learning.trained_folder import begin_state, finish_state, make_anew, state_folder


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_of_something_else_is_no_state(tmp_path, force, resume):
    out = tmp_path / "out"
    theirs = state_folder(out) / "notes.txt"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    with pytest.raises(InputError, match=r"notes\.txt: found a file of something else"):
        begin_state(out, "method.json", {}, resume, force)
    assert theirs.read_text() == "theirs"


def test_a_state_that_was_killed_at_its_first_file_is_begun_anew(tmp_path):
    out = tmp_path / "out"
    state_folder(out).mkdir()
    (state_folder(out) / ".method.json.writing.abcd1234").write_text("half")
    state = begin_state(out, "method.json", {}, False, False)
    assert [path.name for path in state.iterdir()] == ["method.json"]


def test_force_replaces_a_trained_folder_and_no_other(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text("theirs")
    for name, is_ours in (("notes.txt", False), ("method.json", True)):
        (out / name).write_text("{}")
        state = begin_state(out, "method.json", {}, False, True)
        made = make_anew(state)
        (made / "README.md").write_text("ours")
        if is_ours:
            finish_state(state, made, out, "method.json", True)
        else:
            with pytest.raises(InputError, match=r"found files but no method\.json"):
                finish_state(state, made, out, "method.json", True)
        assert (out / "README.md").read_text() == ("ours" if is_ours else "theirs")
    assert find_other(out, "README.md") is None
