"""The figures of a corpus show its statistics and its filters, and equal corpora equal bytes."""

import json
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from helpers import failed, run

from miner.app.plots import draw_corpus, plot_dialogue_lengths, plot_filters, plot_turn_lengths
from miner.corpus.build import build_corpus
from miner.corpus.filters import FilterLine, FilterRow
from miner.corpus.statistics import CorpusAccount, LengthStatistics
from miner.errors import InputError
from miner.speech.filters import Amount

SHORT = LengthStatistics(1, ((2, 3), (6, 1)), ((0, 2), (5, 6), (100, 4)))
LONG = LengthStatistics(2, ((2, 1), (40, 1)), ((5, 42),))
BOOKS = FilterLine("max_kl_divergence", "books of unusual words", "above 2", "books")
TURNS = FilterLine("set_pieces", "letters and verse", "", "turns")
ROWS = (FilterRow(BOOKS, Amount(2, 9, 40, 31), 40), FilterRow(TURNS, Amount(), 0))
ACCOUNT = CorpusAccount("novels", "0.1.0", {("train", "en"): LONG, ("test", "en"): SHORT}, ())


def lines(figure):
    (axes,) = figure.axes
    return {
        line.get_label(): [
            (x, pytest.approx(y)) for x, y in zip(*map(list, line.get_data()), strict=True)
        ]
        for line in axes.lines
    }


def test_dialogues_are_drawn_by_their_least_number_of_turns():
    drawn = lines(plot_dialogue_lengths({"train": LONG, "test": SHORT}, "Lengths"))
    assert drawn == {
        "train: 2 dialogues, mean 21.00": [(2, 100), (40, 50)],
        "test: 4 dialogues, mean 3.00": [(2, 100), (6, 25)],
    }


def test_turns_without_words_are_counted_though_a_log_scale_has_no_zero():
    drawn = lines(plot_turn_lengths({"test": SHORT}, "Lengths"))
    assert drawn == {"test: 12 turns, mean 35.83": [(5, 100 * 10 / 12), (100, 100 * 4 / 12)]}


def test_a_bar_is_what_a_filter_took_of_what_came_to_it():
    (axes,) = plot_filters(ROWS, "Filters").axes
    assert [bar.get_width() for bar in axes.patches] == [5.0, 0.0]
    shown = [text.get_text() for text in axes.texts]
    assert shown == ["2 of 40 books (5.0%)", "nothing came"]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["books of unusual words\nabove 2", "letters and verse"]


def test_equal_corpora_have_equal_files():
    account = replace(ACCOUNT, filters=ROWS)
    drawn = draw_corpus(account)
    assert [item.path for item in drawn] == [
        "figures/turns.png",
        "figures/words.png",
        "figures/filters.png",
    ]
    assert all(item.content.startswith(b"\x89PNG") for item in drawn)
    assert all(
        b"Software" not in item.content and b"matplotlib" not in item.content for item in drawn
    )
    assert [item.content for item in draw_corpus(account)] == [item.content for item in drawn]
    other = draw_corpus(replace(account, statistics={("train", "en"): SHORT}))
    assert other[0].content != drawn[0].content


def test_lines_are_of_languages_if_there_are_several():
    both = replace(ACCOUNT, statistics={("train", "en"): LONG, ("train", "de"): SHORT})
    assert [item.caption.rpartition(" ")[2] for item in draw_corpus(both)] == ["language"] * 2
    assert [item.caption.rpartition(" ")[2] for item in draw_corpus(ACCOUNT)] == ["split"] * 2


def test_without_a_dialogue_there_is_no_figure():
    assert draw_corpus(replace(ACCOUNT, statistics={})) == []


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "recipe.toml"
    text = 'name = "tales"\nsources = ["sample"]\nplots = true\n[mining]\ntagger = "gap"\n'
    path.write_text(text, encoding="utf-8")
    return path


def test_a_build_has_its_figures_and_the_same_bytes_again(recipe, tmp_path):
    outs = [tmp_path / "one", tmp_path / "other"]
    for out in outs:
        assert run("build", recipe, "-q", "-o", out).exit_code == 0
    one, other = (
        {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        for out in outs
    )
    assert one == other
    card = one[Path("README.md")].decode()
    listed = json.loads(one[Path("run.json")])["files"]
    for name in ("turns", "words", "filters"):
        path = f"figures/{name}.png"
        assert f"]({path})" in card
        assert listed[path] == sha256(one[Path(path)]).hexdigest()


def test_plots_without_matplotlib_are_refused_before_any_work(recipe, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = failed("build", recipe, "-o", tmp_path / "out")
    assert "found no matplotlib" in line and "extra plots" in line
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.partial").exists()


def test_plots_from_python_need_what_draws_them(recipe, tmp_path):
    with pytest.raises(InputError, match="plots: found true without a function that draws"):
        build_corpus(recipe, tmp_path / "out")
    assert not (tmp_path / "out.partial").exists()
