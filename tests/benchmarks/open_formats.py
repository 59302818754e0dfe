"""Every format, opened by the programs that it is for.

    python tests/benchmarks/open_formats.py [SOURCE...]

The sources (the sample by default) are mined with `gap`, once for each format. The programs are
`datasets`, pandas, ConvoKit and ParlAI; of CD's and GD's own code, which want Tensorflow and files
that are not public any more, the rules of their readers are applied. A program that is not
installed is named, and the exit code is 1. ConvoKit and ParlAI want an environment of their own:

    python -m venv open && open/bin/pip install -e '.[datasets]' convokit
    open/bin/pip install --no-deps parlai iopath portalocker omegaconf hydra-core \
        antlr4-python3-runtime==4.9.3 emoji subword-nmt Unidecode 'setuptools<78'
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import miner

FEW = 40  # characters of a text that is shown


def open_with_datasets(folder: Path) -> str:
    import datasets

    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as cache:
        counts = []
        for config in datasets.get_dataset_config_names(str(folder)):
            rows = datasets.load_dataset(str(folder), config, cache_dir=cache, split="train")
            counts.append(f"{config} {len(rows):,}")
    return f"datasets {datasets.__version__}: {', '.join(counts)} rows"


def open_with_convokit(folder: Path) -> str:
    from importlib.metadata import version

    import convokit

    corpus = convokit.Corpus(filename=str(folder))
    conversations = list(corpus.iter_conversations())
    whole = sum(one.check_integrity(verbose=False) for one in conversations)
    n_utterances, n_speakers = len(corpus.get_utterance_ids()), len(corpus.get_speaker_ids())
    return (
        f"convokit {version('convokit')}: {n_utterances:,} utterances, {n_speakers:,} speakers, "
        f"{len(conversations):,} conversations, {whole:,} of them whole"
    )


def open_with_parlai(folder: Path) -> str:
    import parlai
    from parlai.tasks.fromfile.agents import ParlaiformatTeacher

    logging.disable()
    options = {"task": "fromfile:parlaiformat", "datatype": "train:ordered", "batchsize": 1}
    options |= {"fromfile_datapath": str(folder / "dialogues.txt"), "datafile": ""}
    options["fromfile_datatype_extension"] = False
    teacher = ParlaiformatTeacher(options)
    first = teacher.act()
    return (
        f"parlai {parlai.__version__}: {teacher.num_episodes():,} episodes, "
        f"{teacher.num_examples():,} examples, "
        f"{first['text'][:FEW]!r} -> {first['labels'][0][:FEW]!r}"
    )


def open_with_pandas(folder: Path) -> str:
    import pandas

    triples = pandas.read_csv(folder / "triples.csv", encoding="utf8")
    rankings = pandas.read_csv(folder / "rankings.csv", encoding="utf8")
    assert set(triples["Label"]) == {0, 1} and rankings.shape[1] == 11
    assert not triples.isna().any(axis=None) and not rankings.isna().any(axis=None)
    sizes = rankings["Context"].str.count("__eot__")
    return (
        f"pandas {pandas.__version__}: {len(triples):,} triples, {triples['Label'].mean():.2f} of "
        f"them true; {len(rankings):,} rankings with contexts of {sizes.mean():.2f} turns "
        f"({sizes.min()} to {sizes.max()})"
    )


def open_as_cd(folder: Path) -> str:
    n = n_extra = 0
    with (folder / "examples.jsonl").open(encoding="utf-8") as file:
        for example in map(json.loads, file):
            for side in ("context", "response"):
                assert 9 <= len(example[side]) <= 128
            extra = [example[f"context/{number}"] for number in range(10)]
            assert all(len(text) <= 128 for text in extra)
            n += 1
            n_extra += sum(map(bool, extra))
    return f"the rules of CD: {n:,} examples, {n_extra / n:.2f} contexts before the context"


def open_as_gd(folder: Path) -> str:
    dialogues: list[list[str]] = [[]]
    with (folder / "dialogues.txt").open(encoding="utf-8") as file:
        for line in file:
            if line == "\n":
                dialogues.append([])
            else:
                dialogues[-1].append(line.strip("\n"))
    assert dialogues.pop() == [] and all(dialogues)
    return f"the reader of GD: {len(dialogues):,} dialogues, {sum(map(len, dialogues)):,} turns"


PROGRAMS: dict[str, tuple[Callable[[Path], str], ...]] = {
    "parquet": (open_with_datasets,),
    "jsonl": (open_with_datasets,),
    "csv": (open_with_datasets,),
    "chat": (open_with_datasets,),
    "examples": (open_with_datasets, open_as_cd),
    "ubuntu": (open_with_datasets, open_with_pandas),
    "text": (open_with_datasets, open_as_gd),
    "convokit": (open_with_convokit,),
    "parlai": (open_with_parlai,),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sources", nargs="*", default=["sample"])
    sources = parser.parse_args().sources
    missing = 0
    with tempfile.TemporaryDirectory() as work:
        for format, programs in PROGRAMS.items():
            out = Path(work) / format
            miner.mine_corpus(sources, out, tagger="gap", format=format).finish()
            record = json.loads((out / "run.json").read_bytes())
            for program in programs:
                try:
                    print(f"{format:9} {program(out)}")
                except ModuleNotFoundError as error:
                    missing += 1
                    print(f"{format:9} not opened: {error}")
            for reason, n in record.get("left_out_of_files", {}).items():
                print(f"{'':9} left out {n:,} {reason}")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
