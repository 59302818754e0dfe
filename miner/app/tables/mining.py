"""Tables of mined books, and of how a book marks speech."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from miner.app.tables.layout import Shown, cut_column, new_table
from miner.files import RUN_RECORD

if TYPE_CHECKING:
    from miner.corpus.run import CorpusRun
    from miner.speech.typography import Typography

_BOOKS_SHOWN = 30
# The columns of the table of books that need a wider terminal, with the least width of it.
_WIDTHS = {"speakers": 90, "quoted only": 120, "marks": 120}
_COUNTS = {
    "utterances": "utterances",
    "quoted only": "quoted_not_speech",
    "speakers": "speakers",
    "dialogues": "dialogues",
    "turns": "turns",
    "pairs": "pairs",
}


def tabulate_run(run: CorpusRun, width: int) -> list[Shown]:
    """A row for each of the first mined books, and the sum of all, in `width` characters."""
    names = ["book", "title", "words", *_COUNTS, "marks"]
    names = [name for name in names if width >= _WIDTHS.get(name, 0)]
    keys = [_COUNTS[name] for name in names if name in _COUNTS]
    has_marks = "marks" in names
    rows = []
    for entry in run.entries[:_BOOKS_SHOWN]:
        numbers = [f"{entry['words']:,}", *(f"{entry['counts'][key]:,}" for key in keys)]
        marks = entry["typography"]
        evidence = [f"{', '.join(marks['marks'])} {marks['confidence']:.2f}"] if has_marks else []
        rows.append([entry["id"], entry["title"], *numbers, *evidence])
    if (n_left := len(run.entries) - _BOOKS_SHOWN) > 0:
        rows.append(["more", f"{n_left} in {RUN_RECORD}", *[""] * (len(names) - 2)])
    totals = run.totals
    numbers = [f"{totals['words']:,}", *(f"{totals.get(key, 0):,}" for key in keys)]
    rows.append(["all", f"{totals['books']:,} books", *numbers, *[""] * has_marks])
    table = new_table(names, ("title", "marks"))
    *rows, total = cut_column(rows, 1, names, width)
    for row in rows:
        table.add_row(*row)
    if len(rows) > 1:
        table.add_section()
        table.add_row(*total)
    return [table]


def describe_taggers(run: CorpusRun) -> str:
    """How many books each tagger tagged: "en@0123abcd (7 books), gap (1 book)"."""
    counts = Counter(entry["tagger"] for entry in run.entries)
    return ", ".join(f"{name} ({n} book{'s' * (n > 1)})" for name, n in counts.most_common())


def describe_speakers(run: CorpusRun) -> str:
    """How many utterances have a speaker: "176 of 181 utterances (97.2%)"; "" if there is none."""
    n_utterances = run.totals.get("utterances", 0)
    if not n_utterances:
        return ""
    n_known = n_utterances - run.totals["utterances_without_speaker"]
    return f"{n_known:,} of {n_utterances:,} utterances ({n_known / n_utterances:.1%})"


def describe_left_out(run: CorpusRun) -> str:
    """What the filters left out: "2 long turns, 8 short dialogues"; "" if nothing."""
    counts = Counter[str]()
    for entry in run.entries:
        counts.update(entry["filtered"])
    return ", ".join(f"{n:,} {reason}" for reason, n in counts.items() if n)


def tabulate_typography(name: str, typography: Typography) -> list[Shown]:
    """The marks that open speech in a book, and the votes for them."""
    chosen = ", ".join(typography.names) or "nothing"
    title = (
        f"{name}: speech is opened by {chosen} "
        f"(confidence {typography.confidence:.2f}, language {typography.language or 'unknown'})"
    )
    if not typography.evidence:
        return [title, "no paragraph votes for any mark"]
    table = new_table(("marks", "paragraphs that vote for them", "share", "used"))
    total = sum(count for _, count in typography.evidence)
    for marks, count in typography.evidence:
        used = "yes" if marks in typography.names else ""
        table.add_row(marks, f"{count:,}", f"{count / total:.1%}", used)
    return [title, table]
