"""The account of a build fits a terminal of 80 columns."""

import io
from dataclasses import replace

from rich.console import Console

from miner.app.tables import tabulate_account
from miner.corpus.filters import FilterRow, FilterSettings, describe_filters
from miner.corpus.statistics import CorpusAccount, DataFiles, Duplicates, LengthStatistics
from miner.speech.filters import Amount

PART = LengthStatistics(
    2_090, ((2, 87_500), (25, 1_439_377)), ((5, 36_000_000), (300, 159_425))
)  # as large as GD's
ROWS = [
    FilterRow(line, Amount(20_500, 120_478, 610_000, 489_522), 15_442_813)
    for line in describe_filters(FilterSettings(min_confidence=0.7))
]
FILES = [
    DataFiles("parquet", "pairs", "pairs", {"train": "parquet/pairs/train-*.parquet"}),
    DataFiles("chat", "chat", "chat", {s: f"chat/chat/{s}-*.jsonl" for s in ("train", "test")}),
]
EDITIONS = [(f"{n}: Emma: A Novel in Three Volumes, Volume the {n}th", "158: Emma") for n in "123"]
ACCOUNT = CorpusAccount(
    "novels",
    "0.1.0",
    {("train", "en"): PART, ("validation", "en"): PART},
    FILES,
    {"run.json": "versions"},
    filters=ROWS,
    duplicates=[Duplicates("editions of one work", 7, EDITIONS, "books.jsonl")],
)


def shown(account, width=80):
    file = io.StringIO()
    console = Console(file=file, width=width, highlight=False, markup=False, emoji=False)
    for item in tabulate_account(account, width):
        console.print(item, soft_wrap=isinstance(item, str))
    return file.getvalue().splitlines()


def test_every_line_fits_80_columns():
    lines = shown(ACCOUNT)
    assert max(map(len, lines)) <= 80
    both = {**ACCOUNT.statistics, ("train", "hu"): LengthStatistics(1, ((2, 9),), ((4, 18),))}
    assert max(map(len, shown(replace(ACCOUNT, statistics=both)))) <= 80


def test_statistics_are_a_row_for_each_split_and_a_sum():
    lines = shown(ACCOUNT)
    (train,) = [line.split() for line in lines if line.startswith("train")]
    assert train == ("train 2,090 36,159,425 6.30 1,526,877 23.68 5.35 1,439,377".split())
    assert not any("…" in line for line in shown(replace(ACCOUNT, filters=(), duplicates=())))
    wide = next(line for line in shown(ACCOUNT, 100) if line.startswith("train"))
    assert wide.split() == [*train, "34,632,548"]
    (everything,) = [line.split() for line in lines if line.startswith("all")]
    assert everything[:3] == ["all", "4,180", "72,318,850"]


def test_a_narrow_terminal_has_fewer_statistics_but_whole_numbers():
    (train,) = [line for line in shown(ACCOUNT, 40) if line.startswith("train")]
    assert train.split() == "train 2,090 36,159,425 6.30".split()


def test_filters_have_their_parameters_and_what_they_took():
    lines = shown(ACCOUNT, 200)
    (kl,) = [line for line in lines if line.startswith("books of unusual words")]
    assert "KL divergence above 2" in kl and "20,500" in kl and "0.1% of books" in kl
    lines = shown(ACCOUNT)  # no room: the parameter stands below, and every number is whole
    place = next(n for n, line in enumerate(lines) if line.startswith("books of unusual words"))
    assert lines[place].split()[4:] == "20,500 120,478 610,000 489,522 0.1% of books".split()
    assert lines[place + 1].strip() == "KL divergence above 2"


def test_a_unit_that_no_filter_took_has_no_column():
    rows = [replace(row, taken=Amount(books=1)) for row in ROWS]
    lines = shown(replace(ACCOUNT, filters=rows), 200)
    heads = next(line for line in lines if line.startswith("filter")).split()
    assert heads == ["filter", "parameter", "books", "share"]


def test_the_first_duplicates_are_named_and_the_others_counted():
    lines = shown(ACCOUNT)
    place = lines.index("left out as duplicates: 7 editions of one work, named in books.jsonl")
    assert lines[place + 1].startswith("  1: Emma: A Novel in Three Volumes")
    assert lines[place + 4] == "  and 4 more"


def test_files_are_named_by_their_pattern():
    lines = shown(ACCOUNT)
    at = lines.index("files")
    assert lines[at + 1 :] == [
        "  README.md",
        "  parquet/pairs/SPLIT-*.parquet",
        "  chat/chat/SPLIT-*.jsonl",
        "  run.json",
    ]
