"""The folder of a training replaces nothing of somebody else, and is kept if there is a state."""

import pytest

from miner.errors import InputError
from miner.files import find_other
from miner.lab.learning.run_folder import partial_folder, run_folder


def begin(out, resume=False, force=False, record=None, name="method.json", **given):
    return run_folder(out, name, record or {}, resume=resume, force=force, **given)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_of_something_else_is_no_state(tmp_path, force, resume):
    theirs = partial_folder(tmp_path / "out") / "notes.txt"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    with pytest.raises(InputError, match=r"notes\.txt: found a file of something else"):
        with begin(tmp_path / "out", resume, force):
            pass
    assert theirs.read_text() == "theirs"


def test_a_state_that_was_killed_at_its_first_file_is_begun_anew(tmp_path):
    out = tmp_path / "out"
    partial_folder(out).mkdir()
    (partial_folder(out) / ".method.json.writing.abcd1234").write_text("half")
    with begin(out) as folder:
        assert {path.name for path in folder.path.iterdir()} == {"method.json", "state", "made"}
    assert not folder.path.exists()


def test_force_replaces_a_trained_folder_and_no_other(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text("theirs")
    (out / "notes.txt").write_text("{}")
    with pytest.raises(InputError, match=r"found files but no method\.json"):
        with begin(out, force=True) as folder:
            (folder.made / "README.md").write_text("ours")
    assert (out / "README.md").read_text() == "theirs"
    (out / "method.json").write_text("{}")
    with begin(out, force=True) as folder:
        (folder.made / "README.md").write_text("ours")
    assert (out / "README.md").read_text() == "ours"
    assert {path.name for path in out.iterdir()} == {"README.md", "method.json", "notes.txt"}
    assert find_other(out, "README.md") is None


def interrupt(out, error, **given):
    with pytest.raises(type(error)) as raised:
        with begin(out, **given) as folder:
            (folder.state / "state.pt").write_text("half way")
            (folder.made / "weights").write_text("half")
            raise error
    return getattr(raised.value, "__notes__", [])


def test_an_interrupted_training_is_kept_and_resumed(tmp_path):
    out = tmp_path / "out"
    record = {"seed": 0, "command": "first"}
    (note,) = interrupt(out, KeyboardInterrupt(), record=record)
    assert note == f"what is done is kept in {out}.partial, `resume=True` continues"
    with pytest.raises(InputError, match="exists already, expected `resume=True` to go on"):
        with begin(out, record=record):
            pass
    with pytest.raises(InputError, match="found a run with seed 0, expected 1 to resume it"):
        with begin(out, resume=True, record={"seed": 1, "command": "first"}):
            pass
    with pytest.raises(InputError, match="found a run with command first, expected second"):
        with begin(out, resume=True, record={"seed": 0, "command": "second"}):
            pass
    second = {"seed": 0, "command": "second"}
    with begin(out, resume=True, record=second, ignored=("command",)) as folder:
        assert folder.record == record and not any(folder.made.iterdir())
        assert (folder.state / "state.pt").read_text() == "half way"
        (folder.made / "method.json").write_text("whole")
    assert [path.name for path in out.iterdir()] == ["method.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_input_that_is_refused_has_no_note_and_a_training_without_a_state_leaves_nothing(
    tmp_path,
):
    out = tmp_path / "out"
    assert interrupt(out, InputError("found nothing")) == []
    with pytest.raises(KeyboardInterrupt):
        with begin(out, force=True):
            raise KeyboardInterrupt
    assert not any(tmp_path.iterdir())
