"""Runs of `miner mine`, and what they write."""

import json
import subprocess
import sys
import time

import numpy as np
from click.testing import CliRunner

from miner.app.cli.main import main
from miner.files import RUN_RECORD

MINER = (sys.executable, "-m", "miner")


def run(*words, **env):
    """A run of the command, with the gap heuristic unless the words name another tagger."""
    tagger = [] if "--tagger" in words else ["--tagger", "gap"]
    return CliRunner().invoke(main, ["mine", *map(str, words), *tagger], env=env)


def mined(tmp_path, *words):
    """The folder of a run without any error."""
    out = tmp_path / "mined"
    done = run(*words, "-q", "-o", out)
    assert (done.exit_code, done.output) == (0, "")
    return out


def rows(out, kind):
    return [json.loads(line) for line in (out / f"{kind}.jsonl").read_bytes().splitlines()]


def in_float32(value):
    """Rows, with each fraction as Parquet holds it."""
    if isinstance(value, dict):
        return {key: in_float32(part) for key, part in value.items()}
    if isinstance(value, list):
        return [in_float32(part) for part in value]
    return float(np.float32(value)) if isinstance(value, float) else value


def record(out):
    return json.loads((out / RUN_RECORD).read_bytes())


def bytes_of(out):
    return {path.name: path.read_bytes() for path in out.iterdir()}


def shards_of(partial):
    """The shards in the working folder of a run."""
    return sorted(partial.glob("shards/*.shard"))


def started(books, tmp_path, *words, n_done=4, tagger="gap"):
    """A process that mines many books, has finished some of them, and goes on."""
    process = subprocess.Popen(
        [*MINER, "mine", books, "--tagger", tagger, "-o", tmp_path / "deep" / "out", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while len(shards_of(tmp_path / "deep" / "out.partial")) < n_done:
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.01)
    return process


def counted(work, calls):
    """`work` that notes its arguments in `calls`."""

    def counting(*args):
        calls.append(args)
        return work(*args)

    return counting
