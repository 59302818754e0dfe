"""Trains the rows of a table of results and prints it: `python tests/benchmarks/rows.py --help`.

A row is one recipe with a change, trained with several seeds. Finished runs are not trained again
and an interrupted one is resumed, so that a table can be made in pieces.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

import click

from miner.annotation.annotations import BOOKS, read_cards
from miner.files import RUN_RECORD
from miner.lab.app.plots.evaluation import plot_learning_curve, save_figure
from miner.lab.training.tagger.learning_curve import read_learning_curve

ROOT = Path(__file__).parents[2]
TRAIN = ROOT / "train.py"
FROZEN = ("--frozen", "--epochs", "8", "--masked", "0")
PLAIN = ("--context", "span", "--paragraphs", "4", "--no-features", "--speaker-weight", "0")
CARDS = read_cards(ROOT / "annotations" / BOOKS)
# Every fourth book of the train split. Other English books at hand share authors with dev or test.
ENGLISH = {book: card for book, card in CARDS.items() if card.language == "en"}
WEAK = tuple(f"--weak={book}" for book, card in ENGLISH.items() if card.split == "train")[::4]
SMALL = ("--epochs", "3")  # of a few chapters
# Of the checkpoint in miner/models/tagger/checkpoints/en.
SHIPPED = ("--encoder-layers", "4", "--epochs", "4", "--quantize")
CURVE = (6, 12, 24, 96)
PRETRAINED = "395 chapters without Pride and Prejudice"
SCORED = {
    "shipped checkpoint": SHIPPED,
    "six layers": ("--epochs", "4"),
    "the MCN variant": (*FROZEN, *PLAIN),
}
# "test" and "ablations" train on the annotations, "mcn" on the labels of the MCN project. A name
# in braces stands for the folder of that row's first run.
TABLES: dict[str, dict[str, tuple[str, ...]]] = {
    "test": SCORED,
    "ablations": {
        **SCORED,
        **{f"{n} chapters": ("--chapters", str(n), *SMALL) for n in CURVE},
        "no structure features": ("--no-features",),
        "frozen": FROZEN,
        "frozen, each span alone": (*FROZEN, "--context", "span"),
        "frozen, no structure features": (*FROZEN, "--no-features"),
        "frozen, 4 paragraphs": (*FROZEN, "--paragraphs", "4"),
        "frozen, no speaker loss": (*FROZEN, "--speaker-weight", "0"),
        "frozen, extra cost of missed starts": (*FROZEN, "--start-weight", "1"),
        "frozen, weak labels first": (*FROZEN, *WEAK),
        "frozen, 96 chapters": (*FROZEN, "--chapters", "96"),
        "frozen, 96 chapters, weak labels first": (*FROZEN, "--chapters", "96", *WEAK),
    },
    "mcn": {
        "the MCN variant": (*FROZEN, *PLAIN),
        "six layers, on MCN labels alone": SMALL,
        "six layers, on ours first": (*SMALL, "--initialize-from", f"{{{PRETRAINED}}}"),
    },
    "pretraining": {PRETRAINED: ("--without", "1342", "--chapters", "395")},
}
SPLITS = {
    "test": ("dev", "test"),
    "ablations": ("dev", None),
    "mcn": ("validation", "test"),
    "pretraining": ("dev", None),
}
UNITS = ("B-START", "turn-pair", "span-pair")
PARTS = ("precision", "recall", "f1")


def folder_of(out: Path, row: str, seed: int, table: str = "test") -> Path:
    """Returns the folder of a run; tables of the same gold share rows of the same name."""
    gold = "mcn-" if table == "mcn" else ""
    return out / f"{gold}{row.replace(' ', '-').replace(',', '')}-{seed}"


def finished(out: Path, rows: Iterable[str], seeds: int, table: str = "test") -> list[Path]:
    """Returns the folders of the finished runs of rows."""
    folders = (folder_of(out, row, seed, table) for row in rows for seed in range(seeds))
    return [folder for folder in folders if (folder / RUN_RECORD).is_file()]


@click.command()
@click.argument("table", type=click.Choice(list(TABLES)))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder for the runs."
)
@click.option("--encoder", default="sentence-transformers/all-MiniLM-L6-v2")
@click.option(
    "--gold", type=click.Path(path_type=Path), help="For table mcn: the folder of the MCN project."
)
@click.option("--row", "rows", multiple=True, help="Only these rows.")
@click.option("--seeds", type=int, default=3, show_default=True)
@click.option("--print", "only_print", is_flag=True, help="Train nothing, print what is there.")
@click.option(
    "--plot", type=click.Path(path_type=Path), help="File for the plot of the learning curve."
)
def main(
    table: str,
    out: Path,
    encoder: str,
    gold: Path | None,
    rows: tuple[str, ...],
    seeds: int,
    only_print: bool,
    plot: Path | None,
) -> None:
    """Train the missing runs of a TABLE, then print it."""
    if table == "mcn" and not gold:
        raise click.UsageError("found no --gold, expected the folder of the MCN project")
    if plot and table != "ablations":
        raise click.UsageError(f"found --plot with table {table}, expected ablations")
    chosen = {name: TABLES[table][name] for name in rows or TABLES[table]}
    dev, test = SPLITS[table]
    for name, options in chosen.items():
        for seed in range(seeds):
            folder = folder_of(out, name, seed, table)
            if only_print or (folder / RUN_RECORD).is_file():
                check(folder, options, test or dev)
                continue
            command = [sys.executable, str(TRAIN), "tagger", "-o", str(folder)]
            command += ["--encoder", encoder]
            command += ["--vectors", str(out / "vectors"), "--dev-split", dev, "--seed", str(seed)]
            scored = SPLITS["test"][1] if table == "ablations" and name in SCORED else test
            command += ["--test-split", scored] if scored else []
            command += ["--gold", str(gold)] if gold else []
            folders_of = {f"{{{PRETRAINED}}}": str(folder_of(out, PRETRAINED, 0))}
            command += [folders_of.get(option, option) for option in options]
            command += ["--resume"]
            subprocess.run(command, check=True)
    split = test or dev
    heads = (f"{split} split", "runs", "chapters", *(f"{unit} P / R / F1 [95%]" for unit in UNITS))
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    expected = ""
    for name in chosen:
        folders = finished(out, [name], seeds, table)
        runs = [json.loads((folder / RUN_RECORD).read_text()) for folder in folders]
        for folder, run in zip(folders, runs, strict=True):
            signature = run["scores"][split]["signature"]
            expected = expected or signature
            if signature != expected:
                raise click.ClickException(
                    f"{folder}: found scores of {signature}, expected {expected}, as of the others"
                )
        for part in runs[0]["scores"] if runs else ():
            if part.startswith(split):
                label = name + part.removeprefix(split)
                numbers = sorted({run["training"]["chapters"] for run in runs})
                cells = [cell([run["scores"][part] for run in runs], unit) for unit in UNITS]
                row = (label, len(runs), "–".join(f"{n:,}" for n in numbers), *cells)
                print("| " + " | ".join(map(str, row)) + " |")
    if plot:
        names = ("six layers", *(f"{n} chapters" for n in CURVE))
        folders = finished(out, names, seeds)
        figure = plot_learning_curve(read_learning_curve(folders, dev), "turn-pair F1", dev)
        save_figure(figure, plot, force=True)


def check(folder: Path, options: tuple[str, ...], split: str) -> None:
    """Raises an error if a finished run lacks an option of its row, or scores of the split."""
    record = folder / RUN_RECORD
    if not record.is_file():
        return
    run = json.loads(record.read_text())
    command = f" {' '.join(shlex.split(run['training']['command']))} "
    flags = [n for n, option in enumerate(options) if option.startswith("--")]
    for start, end in zip(flags, [*flags[1:], len(options)], strict=True):
        wanted = " ".join(options[start:end])  # a flag and its value
        if "{" not in wanted and f" {wanted} " not in command:
            raise click.ClickException(f"{folder}: found a run without {wanted}")
    if split not in run["scores"]:
        raise click.ClickException(f"{folder}: found a run without scores of split {split}")


def cell(runs: list[dict], unit: str) -> str:
    """Returns the means over the runs, the range of F1, and the interval of the first run."""
    scores = [run["total"]["end_to_end"]["scores"] for run in runs]
    values = {
        part: [of_run[f"{unit}.{part}"]["value"] or 0.0 for of_run in scores] for part in PARTS
    }
    f1 = values["f1"]
    means = " / ".join(f"{mean(value):.3f}" for value in values.values())
    spread = f" ({min(f1):.3f}–{max(f1):.3f})" if len(runs) > 1 else ""
    first = scores[0][f"{unit}.f1"]
    return f"{means}{spread} [{first['low']:.2f}–{first['high']:.2f}]"


if __name__ == "__main__":
    main()
