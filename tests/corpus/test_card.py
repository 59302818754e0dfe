"""A card is read by Hugging Face's libraries, and says what was measured and nothing else."""

import re
from dataclasses import replace

import datasets
import pytest
from huggingface_hub import DatasetCard

from miner.corpus.card import COLUMNS, write_card
from miner.corpus.export import find_format
from miner.corpus.filters import FilterLine, FilterRow
from miner.corpus.pipeline import mine
from miner.corpus.schema import SCHEMAS, arrow_schema
from miner.corpus.statistics import (
    CorpusAccount,
    DataFiles,
    Duplicates,
    Illustration,
    data_files_of,
    measure_rows,
)
from miner.lab.measure.confidence import KeptPairs
from miner.score import Score
from miner.speech.filters import Amount
from miner.tagger.published_scores import PrecisionRecall, PublishedScores

SPLITS = {"train": 2, "validation": 1, "test": 1}  # files


def path_of(format, one_file=False):
    def of(name, split):
        stem, _, ending = name.partition(".")
        if format == "convokit":
            return f"{format}/{split}/{name}"
        return f"{format}/{stem}/{split}-{'00000-of-00001' if one_file else '*'}.{ending}"

    return of


def score(value):
    return Score(value, value - 0.05, value + 0.05)


PUBLISHED = PublishedScores(
    tagger="en@01234567",
    dtype="float32",
    weights={},
    languages=("en",),
    split="test",
    n_books=15,
    n_chapters=30,
    beginnings=PrecisionRecall(score(0.6), score(0.7)),
    pairs=(
        KeptPairs(0.0, 100, 1.0, score(0.81), score(0.82)),
        KeptPairs(0.7, 60, 0.6, score(0.93), score(0.55)),
    ),
    speakers=score(0.75),
    signature="unit:span|split:test",
)


@pytest.fixture(scope="module")
def book():
    return mine("sample", tagger="gap")


def account(book, formats=("parquet", "jsonl", "chat", "convokit"), **given):
    files = [
        item
        for format in formats
        for item in data_files_of(find_format(format), None, SPLITS, path_of(format))
    ]
    measured = measure_rows(book.rows("dialogues"))
    values = {
        "name": "english-novels: a corpus",
        "version": "0.1.0",
        "statistics": {(split, "en"): measured for split in SPLITS},
        "files": files,
        "other_files": {"run.json": "versions and options"},
        "taggers": {("en", "en@01234567"): 3},
        "trusts": (PUBLISHED,),
    }
    return CorpusAccount(**values | given)


@pytest.fixture(scope="module")
def folder(book, tmp_path_factory):
    """A corpus of several formats, with two files in its train split."""
    out = tmp_path_factory.mktemp("corpus")
    for format in ("parquet", "jsonl", "chat"):
        for split, n_files in SPLITS.items():
            for number in range(n_files):
                work = out / "work"
                work.mkdir()
                find_format(format).write_books(work, [book.encoded])
                for path in work.iterdir():
                    to = out / format / path.stem
                    to.mkdir(parents=True, exist_ok=True)
                    name = f"{split}-{number:05}-of-{n_files:05}{path.suffix}"
                    path.rename(to / name)
                work.rmdir()
    return out


def write(folder, account):
    (folder / "README.md").write_text(write_card(account), encoding="utf-8")


def test_datasets_opens_the_splits_by_the_name_of_the_table(book, folder, tmp_path):
    write(folder, account(book))
    cache = str(tmp_path)
    pairs = datasets.load_dataset(str(folder), "pairs", split="validation", cache_dir=cache)
    assert pairs.to_list() == book.to_dataset("pairs").to_list()
    assert pairs.features == book.to_dataset("pairs").features
    both = datasets.load_dataset(str(folder), cache_dir=cache)  # pairs is the default
    assert {name: len(rows) for name, rows in both.items()} == {
        "train": 2 * len(pairs),
        "validation": len(pairs),
        "test": len(pairs),
    }
    spans = datasets.load_dataset(str(folder), "spans", split="test", cache_dir=cache)
    assert spans.column_names == list(SCHEMAS["spans"])


def test_json_lines_have_the_columns_of_parquet_though_a_file_has_no_value(book, folder, tmp_path):
    """The gap heuristic gives no confidence, so that a file alone does not tell its type."""
    write(folder, account(book, ("jsonl", "chat")))
    pairs = datasets.load_dataset(str(folder), "pairs", split="test", cache_dir=str(tmp_path))
    assert pairs.features == book.to_dataset("pairs").features
    assert pairs.features["confidence"].dtype == "float32"
    chat = datasets.load_dataset(str(folder), "chat", split="train", cache_dir=str(tmp_path))
    assert len(chat) == 2 * len(book.dialogues)


@pytest.mark.parametrize(
    ("formats", "configs"),
    [
        (("chat", "jsonl", "parquet"), ["spans", "dialogues", "pairs!", "characters"]),
        (("chat", "jsonl"), ["chat", "spans", "dialogues", "pairs!", "characters"]),
        (("csv", "chat"), ["spans", "turns", "pairs!", "characters"]),
        (("chat", "convokit"), ["chat!", "utterances"]),
    ],
)
def test_configs_are_of_one_kind_of_file(book, folder, formats, configs):
    write(folder, account(book, formats))
    found = DatasetCard.load(folder / "README.md").data.to_dict()["configs"]
    assert configs == [one["config_name"] + "!" * one.get("default", False) for one in found]
    endings = {path["path"].rpartition(".")[2] for one in found for path in one["data_files"]}
    assert len(endings) == 1


def test_what_has_no_row_is_no_file_of_the_card():
    form = find_format("parquet")
    path_of = "{0}/{1}".format
    names = [name for name in form.files_with(None) if not name.startswith("characters")]
    with_rows = {path_of(name, "train") for name in names}
    found = data_files_of(form, None, ["train", "test"], path_of, with_rows)
    assert [item.place for item in found] == [f"{name}/SPLIT" for name in names]


def test_tables_that_no_config_names_have_a_line_that_opens_them(book):
    card = write_card(account(book, ("parquet", "chat")))
    assert '`load_dataset("json", data_files="FOLDER/chat/chat/train-*.jsonl")`' in card
    tabs = DataFiles("tsv", "questions", "questions", {"train": "tsv/questions/train-*.tsv"})
    both = account(book, ("parquet",))
    said = write_card(replace(both, files=[*both.files, tabs]))
    assert r'load_dataset("csv", data_files="FOLDER/tsv/questions/train-*.tsv", sep="\t")' in said
    assert "| `parquet/dialogues/SPLIT-*.parquet` |" in card and "config `dialogues`" in card


def test_the_metadata_are_those_of_the_hub(book, folder):
    write(folder, account(book))
    card = DatasetCard.load(folder / "README.md")
    data = card.data.to_dict()
    assert data["pretty_name"] == "english-novels: a corpus"
    assert data["language"] == ["en"] and data["multilinguality"] == ["monolingual"]
    assert data["license"] == "unknown"
    assert data["size_categories"] == ["n<1K"]  # 3 times 104 pairs
    assert data["task_categories"] == ["text-generation"]
    features = {one["config_name"]: one["features"] for one in data["dataset_info"]}
    for name, columns in SCHEMAS.items():
        assert datasets.Features._from_yaml_list(features[name]).arrow_schema == arrow_schema(
            columns
        )


def test_books_without_a_notice_of_copyright_have_a_licence_of_their_own(book, folder):
    write(folder, account(book, is_public_domain=True))
    data = DatasetCard.load(folder / "README.md").data.to_dict()
    assert (data["license"], data["license_name"]) == ("other", "public-domain-in-the-usa")
    assert data["license_link"].startswith("https://www.gutenberg.org/")


@pytest.mark.parametrize(
    "name", ["no", "a: b", "- c", 'd "e" \\ #f', "*g", "0x1", "{h", "i\nj", "k | l", "7", "mé😀"]
)
def test_any_name_survives_the_yaml(book, folder, name):
    write(folder, account(book, name=name))
    data = DatasetCard.load(folder / "README.md").data
    assert data.pretty_name == name.replace("\n", "\\n")


def test_the_size_is_that_of_the_pairs(book):
    measured = measure_rows(book.rows("dialogues"))
    many = replace(
        measured,
        turns_of_dialogues=((2, 10_000),),
        words_of_turns=((5, 20_000),),
    )
    card = write_card(account(book, statistics={("train", "en"): many}))
    assert '  - "10K<n<100K"\n' in card


def test_a_card_says_what_was_measured_at_its_confidence(book):
    card = write_card(account(book, min_confidence=0.7))
    said = " ".join(card.split())
    assert "of the pairs with a confidence of at least 0.7, **0.930 [0.88–0.98]** are right" in said
    assert "0.550 [0.50–0.60] are found" in said
    assert "The speaker is the right one in 0.750 [0.70–0.80] of the utterances" in said
    assert "0.600 [0.55–0.65] are right, and 0.700 [0.65–0.75] of the conversations" in said
    assert "30 chapters of 15 novels, the test split" in said
    assert "A language model made the annotations" in said and PUBLISHED.signature in said
    assert "nearest measured level" not in said and "Nothing was measured" not in said


def test_a_card_of_another_confidence_names_the_level_below(book):
    said = " ".join(write_card(account(book, min_confidence=0.75)).split())
    assert "at least 0.7, **0.930" in said
    assert "a confidence of at least 0.75, and 0.7 is the nearest measured level below it" in said


@pytest.mark.parametrize(
    ("taggers", "said"),
    [
        ({("en", "mine@89abcdef"): 1}, "measured of dialogues in English by `mine@89abcdef`: no"),
        ({("de", "en@01234567"): 1}, "Nothing was measured of dialogues in German by `en@0123"),
        ({("", "gap"): 1}, "Nothing was measured of dialogues in unknown by `gap`"),
        ({}, "Nothing was measured: nobody knows"),
    ],
)
def test_a_card_quotes_no_figure_for_what_was_not_measured(book, taggers, said):
    card = " ".join(write_card(account(book, taggers=taggers)).split())
    assert said in card
    assert "0.810" not in card and PUBLISHED.signature not in card


def test_languages_are_judged_apart(book):
    taggers = {("en", "en@01234567"): 2, ("de", "gap"): 1}
    card = " ".join(write_card(account(book, taggers=taggers)).split())
    assert "Dialogues in English by `en@01234567`: of the pairs, **0.810 [0.76–0.86]**" in card
    assert "Nothing was measured of dialogues in German by `gap`" in card


def test_filters_are_a_table_with_percentages(book):
    words = FilterLine("max_kl_divergence", "unusual words", "KL divergence above 2", "books")
    turns = FilterLine("max_turn_words", "long turns", "over 100 | words", "turns")
    rows = [
        FilterRow(words, Amount(2, 30, 1100, 1070), 40),
        FilterRow(turns, Amount(turns=1), 4000),
        FilterRow(turns, Amount(), 0),
    ]
    card = write_card(account(book, filters=rows))
    assert (
        "| unusual words | KL divergence above 2 | 2 | 30 | 1,100 | 1,070 | 5.0% of books |" in card
    )
    assert "| long turns | over 100 \\| words |  |  | 1 |  | <0.1% of turns |" in card
    assert "| long turns | over 100 \\| words |  |  |  |  |  |" in card


def test_duplicates_are_named(book):
    examples = [(f"{n}: Volume {n} | of two", "158: The Work") for n in range(9)]
    found = Duplicates("editions of a work", 9, examples, "books.jsonl")
    card = write_card(account(book, duplicates=[found]))
    assert "- left out as duplicates: 9 editions of a work, named in books.jsonl\n" in card
    assert "  - 0: Volume 0 \\| of two: stays as 158: The Work\n" in card
    assert card.count(": Volume ") == 5


def test_statistics_have_rows_for_splits_languages_and_all(book):
    measured = measure_rows(book.rows("dialogues"))
    statistics = {("train", "en"): measured, ("test", "en"): measured, ("train", "de"): measured}
    card = write_card(account(book, statistics=statistics))
    rows = card.partition("## Statistics")[2].splitlines()
    table = [
        row for row in rows if row.startswith(("| train", "| test", "| all")) if "%" not in row
    ]
    assert [line.split(" | ")[:2] for line in table] == [
        ["| train", "English"],
        ["| train", "German"],
        ["| test", "English"],
        ["| all", "English"],
        ["| all", "German"],
        ["| train", "all"],
        ["| test", "all"],
        ["| all", "all"],
    ]
    one, everything = (row.split(" | ") for row in (table[0], table[-1]))
    assert int(everything[3].replace(",", "")) == 3 * int(one[3]) == 3 * measured.n_turns
    assert everything[4] == one[4] == f"{measured.mean_words:.2f}"


def test_figures_are_shown_and_listed(book):
    figure = Illustration("figures/turns.png", "turns of dialogues", b"")
    card = write_card(account(book, illustrations=[figure]))
    assert "![turns of dialogues](figures/turns.png)" in card
    assert "| `figures/turns.png` | turns of dialogues |" in card
    assert "figures/" not in write_card(account(book))


def test_every_column_is_described(book):
    names = {name for columns in SCHEMAS.values() for name in columns}
    sides = {f"{side}_{name}" for side in ("context", "response") for name in COLUMNS}
    assert names <= COLUMNS.keys() | sides
    nested = {*SCHEMAS["dialogues"]["turns"][0]}
    assert nested == set(re.findall("`(.*?)`", COLUMNS["turns"]))
    card = write_card(account(book))
    assert all(f"`{name}`" in card for name in names)


def test_equal_accounts_have_equal_cards(book):
    assert write_card(account(book)) == write_card(account(book))
