"""A file of a tokenizer -> whether the library of tokenizers survives it.

The library ends the whole process at some damaged files, takes all memory at others, or never ends.
So a file of others is tried first in a process that may die.

Any room may import this module.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from miner.errors import InputError
from miner.files import one_line, printable, sha256_of

TOKENIZER = "tokenizer.json"
_SECONDS, _MEMORY = 60, 2 << 30  # of a trial; large tokenizers take a quarter of it
_faults: dict[str, str] = {}  # of the files that were tried, by their digest
_TRIAL = """
import sys
from pathlib import Path
from tokenizers import Tokenizer
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]),) * 2)
except (ImportError, ValueError):
    pass
try:
    tokenizer = Tokenizer.from_file(sys.argv[1])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    for line in ["", *Path(sys.argv[2]).read_text("utf-8").splitlines()]:
        tokenizer.encode(line)
except Exception:  # which is told where the file is read
    pass
"""


def refuse_failing_tokenizer(path: Path) -> None:
    """Tries a file of a tokenizer on a short story, in a process of its own.

    What the library itself says is wrong with a file, it says again where the file is read. What
    was tried before, under this or another name, is not tried again.
    """
    sha256 = sha256_of(path.read_bytes())
    if sha256 not in _faults:
        _faults[sha256] = _fault_of(path)
    if reason := _faults[sha256]:
        raise InputError(
            f"{printable(path)}: cannot be loaded: the library of tokenizers fails at it ({reason})"
        )


def _fault_of(path: Path) -> str:
    """Why the trial of a file failed; "" if it did not."""
    story = files("miner.books") / "sample.html"
    words = [sys.executable, "-P", "-c", _TRIAL, str(path), str(story), str(_MEMORY)]
    try:
        subprocess.check_output(
            words,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {_SECONDS} s"
    except subprocess.CalledProcessError as error:
        lines = error.output.strip().splitlines()
        return one_line(lines[-1])[:200] if lines else f"ended with {error.returncode}"
    return ""


def is_panic(error: BaseException) -> bool:
    """Whether an error is a panic of the library, which is no `Exception` and in no module."""
    return type(error).__name__ == "PanicException"
