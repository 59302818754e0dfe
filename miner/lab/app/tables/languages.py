"""Tables of scores by language: speech found, conversations, and pairs by their confidence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from miner.app.tables.layout import Shown, new_table
from miner.lab.measure.language_scores import LETTERS
from miner.score import format_rate, format_score

if TYPE_CHECKING:
    from rich.table import Table

    from miner.lab.measure.language_scores import LanguageScores


def tabulate_languages(rows: Sequence[LanguageScores], split: str) -> list[Shown]:
    """A table of speech, one of conversations, and one of confidence if a tagger gives it."""
    speech = _table_of_units(rows, (("utterances", "utterance"), ("letters", LETTERS)))
    talk = _table_of_units(rows, (("B-START", "B-START"), ("turn pairs", "turn-pair")))
    shown: list[Shown] = [
        f"Speech that is found, by its exact ends and by its letters ({split} split)",
        speech,
        f"Conversations, from the book to the tags ({split} split)",
        talk,
    ]
    if any(len(row.kept) > 1 for row in rows):
        title = (
            "Turn pairs that --min-confidence keeps: the share that is right, and the share kept"
        )
        shown += [f"{title} ({split} split)", _table_of_confidence(rows)]
    return shown


def _table_of_units(rows: Sequence[LanguageScores], units: Sequence[tuple[str, str]]) -> Table:
    """Precision, recall and F1 of some units, with a section for each tagger."""
    heads = [f"{label} P" for label, _ in units]
    columns = [column for head in heads for column in (head, "R", "F1 [95%]")]
    table = new_table(("", "chapters", "utterances", *columns))
    for tagger, of_tagger in groupby(rows, key=lambda row: row.tagger):
        table.add_section()
        table.add_row(tagger)
        for row in of_tagger:
            cells: list[str] = []
            for _, unit in units:
                cells += [
                    format_rate(row.scores[f"{unit}.{part}"].value)
                    for part in ("precision", "recall")
                ]
                cells.append(format_score(row.scores[f"{unit}.f1"]))
            sizes = f"{row.n_chapters:,}", f"{row.n_utterances:,}"
            table.add_row(f"  {row.language}", *sizes, *cells)
    return table


def _table_of_confidence(rows: Sequence[LanguageScores]) -> Table:
    """Precision of the pairs and their share at each least confidence."""
    rows = [row for row in rows if len(row.kept) > 1]
    table = new_table(("", *(f"{kept.min_confidence:g}" for kept in rows[0].kept)))
    for tagger, of_tagger in groupby(rows, key=lambda row: row.tagger):
        table.add_section()
        table.add_row(tagger)
        for row in of_tagger:
            cells = [f"{format_rate(kept.precision.value)} {kept.share:.0%}" for kept in row.kept]
            table.add_row(f"  {row.language}", *cells)
    return table
