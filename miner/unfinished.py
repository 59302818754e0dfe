"""What an interrupted training leaves beside the folder that it was to write.

Any room may import this module.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from miner.files import (
    json_line,
    parse_json,
    printable,
    read_text,
    refuse_another,
    remove_unfinished,
    whole_file,
    whole_folder,
)


def state_folder(out: Path) -> Path:
    """Returns the folder beside `out` in which a training keeps what it needs to be resumed."""
    return out.with_name(f"{out.name}.partial")


def begin_state(out: Path, name: str, record: Mapping[str, Any], resume: bool, force: bool) -> Path:
    """Makes the folder of the state, or takes that of an interrupted training.

    Args:
        out: the folder that the training is to write.
        name: of the file of the record.
        record: the choices of the training.
        resume: goes on with an interrupted training of the same choices.
        force: begins anew.

    Raises:
        ValueError: if an interrupted training is there and `resume` is False, or had other choices.
        OSError: if a file cannot be written.
    """
    state = state_folder(out)
    path = state / name
    if path.is_file() and not force:
        if not resume:
            raise ValueError(
                f"{printable(state)}: exists already, expected --resume to go on with the "
                "interrupted training, or --force to begin anew"
            )
        was = parse_json(read_text(path), printable(path), "the record of a training")
        refuse_another(state, was, record)
        return state
    if state.exists():
        shutil.rmtree(state)
    state.mkdir(parents=True)
    remove_unfinished(path)
    with whole_file(path) as file:
        file.write(json_line(record))
    return state


def finish_state(state: Path, made: Path, out: Path, force: bool) -> None:
    """Moves the files that a training made to their folder, and removes its state.

    Args:
        state: the folder of the state.
        made: a folder in it with the files.
        out: their folder.
        force: replaces files of `out`.

    Raises:
        ValueError: if `out` exists and `force` is False.
        OSError: if a file cannot be written.
    """
    with whole_folder(out, force=force) as folder:
        for item in made.iterdir():
            item.replace(folder / item.name)
    shutil.rmtree(state)
