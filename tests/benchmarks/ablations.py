"""Trains every row of the ablation table and prints it: `python tests/benchmarks/ablations.py`.

A row is a change to one recipe; each is trained with several seeds and scored on dev. Runs that are
there already are not trained again, so an interrupted table goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import mean

import click

TRAIN = Path(__file__).parents[2] / "train.py"
FROZEN = ("--frozen", "--epochs", "8", "--masked", "0", "--parted", "0")
PLAIN = ("--context", "span", "--paragraphs", "4", "--no-features", "--speaker-weight", "0")
ROWS: dict[str, tuple[str, ...]] = {
    "fine-tuned": (),
    "fine-tuned, speakers not told apart": ("--speaker-weight", "0"),
    "fine-tuned, no tokens hidden": ("--masked", "0"),
    "fine-tuned, no turns parted": ("--parted", "0"),
    "fine-tuned, long speech whole": ("--ends", "0"),
    "fine-tuned, no structure features": ("--no-features",),
    "fine-tuned, upper 3 layers": ("--frozen-layers", "3"),
    **{f"fine-tuned, {n} chapters": ("--chapters", str(n)) for n in (24, 96, 192)},
    "frozen": FROZEN,
    "frozen, each span alone": (*FROZEN, "--context", "span"),
    "frozen, no structure features": (*FROZEN, "--no-features"),
    "frozen, 4 paragraphs": (*FROZEN, "--paragraphs", "4"),
    "frozen, missed starts cost more": (*FROZEN, "--start-weight", "1"),
    "frozen, weak labels first": (*FROZEN, *(f"--weak={book}" for book in (215, 219, 1661))),
    "the seed's variant": (*FROZEN, *PLAIN),
    **{f"frozen, {n} chapters": (*FROZEN, "--chapters", str(n)) for n in (6, 12, 24, 96, 192)},
}
UNITS = ("B-START", "turn-pair")


@click.command()
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="For the runs.")
@click.option("--encoder", default="sentence-transformers/all-MiniLM-L6-v2")
@click.option("--row", "rows", multiple=True, help="Only these rows.")
@click.option("--seeds", type=int, default=3)
@click.option("--print", "only_print", is_flag=True, help="Train nothing, print what is there.")
def main(out: Path, encoder: str, rows: tuple[str, ...], seeds: int, only_print: bool) -> None:
    """Train what is missing, then print the table."""
    chosen = {name: ROWS[name] for name in rows or ROWS}
    for name, options in chosen.items():
        for seed in range(seeds):
            folder = out / f"{name.replace(' ', '-').replace(',', '')}-{seed}"
            if only_print or (folder / "run.json").is_file():
                continue
            command = [sys.executable, str(TRAIN), "-o", str(folder), "--encoder", encoder]
            command += ["--vectors", str(out / "vectors")]
            state = ["--resume"] if (folder / "state.pt").is_file() else ["--force"]
            subprocess.run([*command, "--seed", str(seed), *state, *options], check=True)
    print("| dev split | runs | B-START P / R / F1 | turn pairs P / R / F1 |\n|---|---|---|---|")
    for name in chosen:
        found = sorted(out.glob(f"{name.replace(' ', '-').replace(',', '')}-[0-9]/run.json"))
        if found:
            runs = [json.loads(path.read_text()) for path in found]
            print(f"| {name} | {len(runs)} | " + " | ".join(cell(runs, u) for u in UNITS) + " |")


def cell(runs: list[dict], unit: str) -> str:
    """Means over the runs, and the least and the greatest F1."""
    values = {
        part: [
            run["scores"]["dev"]["total"]["end_to_end"]["scores"][f"{unit}.{part}"]["value"]
            for run in runs
        ]
        for part in ("precision", "recall", "f1")
    }
    means = " / ".join(f"{mean(value):.3f}" for value in values.values())
    return f"{means} [{min(values['f1']):.3f}–{max(values['f1']):.3f}]"


if __name__ == "__main__":
    main()
