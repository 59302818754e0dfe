"""`datasets` opens what the formats write, with several files a split."""

import json

import pytest
from corpus_helpers import book_of, turn

from miner.corpus.export import describe_formats, features_of, find_format
from miner.corpus.schema import SCHEMAS, arrow_schema
from miner.files import json_line

TABLES = [name for name in describe_formats() if find_format(name).features()]


def book(id, is_known):
    """A book of eight turns, with or without speakers, and two rows of pairs."""
    speakers = ("ann", "bo") if is_known else (None, None)
    turns = [turn(f"Turn {n} of {id}.", speakers[n % 2], n) for n in range(8)]
    made = book_of(id, turns, confidence=0.5 if is_known else None)
    pair = {name: [] if isinstance(kind, list) else None for name, kind in SCHEMAS["pairs"].items()}
    pair |= {"book": id, "context": "Turn 0.", "response": "Turn 1."}
    return {**made, "pairs": json_line(pair | {"context_speaker": speakers[0]}) * 2}


def written(folder, name):
    """A folder with two files of training, whose first knows no speakers, and one of test."""
    format = find_format(name)
    splits = {"train": ["123", "xyz"], "test": ["456"]}
    for split, files in splits.items():
        for number, ids in enumerate(files):
            work = folder / f"{split}-{number}"
            work.mkdir()
            format.write_books(work, [book(id, ids != "123") for id in ids], split)
    features = format.features()
    configs = [
        {
            "config_name": file.partition(".")[0],
            "data_files": [{"split": split, "path": f"{split}-*/{file}"} for split in splits],
        }
        for file in features
    ]
    about = [
        {"config_name": file.partition(".")[0], "features": found}
        for file, found in features.items()
    ]
    (folder / "README.md").write_text(
        f"---\nconfigs: {json.dumps(configs)}\ndataset_info: {json.dumps(about)}\n---\n"
    )
    return [config["config_name"] for config in configs]


@pytest.fixture
def datasets(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    return datasets


@pytest.mark.parametrize("name", TABLES)
def test_datasets_opens_all_configs_and_splits(tmp_path, datasets, name):
    folder = tmp_path / "made"
    folder.mkdir()
    for config in written(folder, name):
        opened = datasets.load_dataset(str(folder), config)
        (declared,) = (
            found
            for file, found in find_format(name).features().items()
            if file.partition(".")[0] == config
        )
        assert set(opened) == {"train", "test"}
        for split in opened.values():
            assert split.column_names == [feature["name"] for feature in declared]
            assert len(split) > 0
        if "book" in opened["train"].column_names:
            assert set(opened["train"]["book"]) == set("123xyz")
            assert set(opened["test"]["book"]) == set("456")
        streamed = datasets.load_dataset(str(folder), config, streaming=True, split="train")
        assert list(streamed) == list(opened["train"])


def test_turns_that_datasets_reads_are_those_that_were_mined(tmp_path, datasets):
    folder = tmp_path / "made"
    folder.mkdir()
    written(folder, "jsonl")
    unknown, *_, known = datasets.load_dataset(str(folder), "dialogues", split="train")
    assert [one["speaker"] for one in unknown["turns"]] == [None] * 8
    assert [one["speaker"] for one in known["turns"]] == ["ann", "bo"] * 4
    assert known["turns"][3]["text"] == "Turn 3 of z."
    assert known["turns"][3]["spans"][0]["paragraph"] == 3


def test_without_the_declared_features_it_does_not(tmp_path, datasets):
    folder = tmp_path / "made"
    folder.mkdir()
    written(folder, "jsonl")
    files = [str(folder / f"train-{number}" / "pairs.jsonl") for number in range(2)]
    with pytest.raises(datasets.exceptions.DatasetGenerationError):
        datasets.load_dataset("json", data_files=files)


@pytest.mark.parametrize("name", TABLES)
def test_features_are_those_that_datasets_makes_of_the_columns(datasets, name):
    schemas = find_format(name).module.schemas()
    for file, declared in find_format(name).features().items():
        made = datasets.Features.from_arrow_schema(arrow_schema(schemas[file]))
        assert datasets.Features._from_yaml_list(declared) == made


def test_a_struct_is_a_list_of_its_parts():
    place = {"chapter": "int32", "marks": ["string"]}
    assert features_of({"place": place, "sure": "float64"}) == [
        {
            "name": "place",
            "struct": [
                {"name": "chapter", "dtype": "int32"},
                {"name": "marks", "sequence": "string"},
            ],
        },
        {"name": "sure", "dtype": "float64"},
    ]
