"""Runs of `miner mine`, and what they write."""

import json
import subprocess
import sys

import numpy as np
from click.testing import CliRunner
from helpers import wait_until

from miner.app.cli.main import main
from miner.corpus.export import find_format
from miner.corpus.schema import KINDS
from miner.files import RUN_RECORD, json_lines

MINER = (sys.executable, "-m", "miner")
# The command, on a machine where no file may have more bytes than its first word says.
LIMITED = """
import resource, signal, sys
sys.dont_write_bytecode = True  # it would leave half a module that each later import reads
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from miner.app.cli.main import main
main(sys.argv[2:])
"""


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
    partial = tmp_path / "deep" / "out.partial"
    wait_until(lambda: len(shards_of(partial)) >= n_done or process.poll() is not None)
    assert process.poll() is None
    return process


def counted(work, calls):
    """`work` that notes its arguments in `calls`."""

    def counting(*args, **options):
        calls.append(args)
        return work(*args, **options)

    return counting


# Texts that a careless writer of CSV or JSON breaks.
ODD = '“No,” “yes” | =1+1, \t“Ätsch” "he"\nsaid;\r\'it\' \u2028 ["x"] 😀'


def turn(text, speaker, paragraph, addressees=(), n_spans=1, names=None):
    places = [
        {"chapter": 2, "paragraph": paragraph, "span": span, "start": 9 * span, "end": 9 * span + 5}
        for span in range(n_spans)
    ]
    name = speaker and (names or {}).get(speaker, speaker.capitalize())
    return {
        "text": text,
        "raw": f"“{text}”",
        "narration_before": "It rained.",
        "narration_inside": [],
        "narration_after": f"said {name}.",
        "speaker": speaker,
        "speaker_name": name,
        "speaker_confidence": None if speaker is None else 0.75,
        "addressees": list(addressees),
        "spans": places,
    }


def book_of(id, *dialogues, confidence=0.5):
    """The rows of a book of two named people; its dialogues are lists of turns."""
    rows = {kind: [] for kind in KINDS}
    for number, turns in enumerate(dialogues):
        title = {"title": f"Title of {id}", "author": "", "language": "en"}
        place = {"book": id, **title, "dialogue": number, "part": 0}
        speakers = [one["speaker"] for one in turns if one["speaker"]]
        rows["dialogues"].append(
            {
                **place,
                "chapter": 2,
                "paragraph": turns[0]["spans"][0]["paragraph"],
                "n_turns": len(turns),
                "n_words": 1,
                "participants": list(dict.fromkeys(speakers)),
                "turns": turns,
            }
        )
        for one in turns:
            for span in one["spans"]:
                row = {
                    "book": id,
                    **span,
                    "kind": "utterance",
                    "text": one["raw"],
                    "continues": False,
                }
                rows["spans"].append({**row, "confidence": confidence})
    for name, gender in (("ann", "f"), ("bo", "")):
        rows["characters"].append(
            {
                "book": id,
                "id": name,
                "name": name.capitalize(),
                "aliases": [name.capitalize(), ODD],
                "gender": gender,
                "kind": "named",
                "chapter": None,
                "mentions": 3,
                "utterances": 7,
            }
        )
    return {kind: json_lines(rows[kind]) for kind in KINDS}


def written(tmp_path, format, *books, split="train", **options):
    """The folder that a format wrote."""
    folder = tmp_path / format
    folder.mkdir()
    chosen = find_format(format)
    given = chosen.options(**options) if options else None
    chosen.write_books(folder, iter(books), split, given)
    return folder


def json_rows(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]
