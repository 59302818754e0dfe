"""Formats are found by themselves: one file in the folder is enough."""

import pytest
from click.testing import CliRunner

import miner.corpus.export
from miner.app.cli.main import main
from miner.corpus.export import find_row_writer, format_names

LETTERS = """
def write_rows(path, kind, books):
    path.write_text(f"{kind}: {sum(map(len, books)) > 0}")
"""


def test_a_file_in_the_folder_is_a_format(tmp_path, monkeypatch):
    (tmp_path / "letters.py").write_text(LETTERS)
    monkeypatch.setattr(
        miner.corpus.export, "__path__", [*miner.corpus.export.__path__, str(tmp_path)]
    )
    assert format_names() == ["jsonl", "letters", "parquet"]
    out = tmp_path / "out"
    miner.mine_corpus("sample", out, tagger="gap", format="letters").finish()
    assert (out / "pairs.letters").read_text() == "pairs: True"
    assert "data_files: pairs.letters" in (out / "README.md").read_text()


def test_the_help_names_the_formats():
    assert "[jsonl|parquet]" in CliRunner().invoke(main, ["mine", "--help"]).output


def test_an_unknown_format_is_one_line():
    with pytest.raises(ValueError, match="found format 'csv', expected jsonl or parquet"):
        find_row_writer("csv")
