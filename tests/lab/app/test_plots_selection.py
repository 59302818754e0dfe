"""Figures of a comparison of methods: what is drawn is what was scored."""

import pytest
from rich.console import Console

from miner.lab.app.plots.selection import draw_selection, has_sizes, plot_sizes
from miner.lab.app.tables.lessons import tabulate_methods
from miner.lab.lessons.comparison import Comparison
from miner.lab.lessons.selection.comparison import ComparedMethod
from miner.lab.lessons.selection.methods import Step
from miner.lab.lessons.selection.scoring import Score

SCORED = "annotations, test: 1,600 of 1,658 examples of 15 books"


def scores(value):
    """Scores on two tasks; the second without an interval, as of one book."""
    return (
        Score("1-of-100", "R@1", value, value - 0.05, value + 0.1, 1600, 15),
        Score("1 in 2", "R@1", value + 0.2, None, None, 1600, 1),
    )


def row(
    name, value, size=100, kind="tf-idf", source="auto/pairs", path="", curve=(), turns=0, **options
):
    """A method with these scores, which was trained on so many pairs."""
    train = {"source": source, "path": path, "chosen": [], "examples": size, "books": []}
    record = {"method": kind, "options": options, "history_turns": turns, "train": train}
    steps = tuple(Step(n, None, accuracy, 1.0) for n, accuracy in curve)
    return ComparedMethod(name, record, steps, scores(value))


def comparison(*rows):
    return Comparison(rows, SCORED, ())


def points(line):
    x, y = line.get_data()
    return list(zip(map(float, x), map(float, y), strict=True))


def lines_of(axes):
    """The lines with a name."""
    named = {line.get_label(): points(line) for line in axes.lines}
    return {name: drawn for name, drawn in named.items() if not name.startswith("_")}


def test_each_task_has_a_panel_with_scores_and_intervals():
    figures = draw_selection(comparison(row("one", 0.3), row("other", 0.5, kind="bm25")))
    assert list(figures) == ["scores"]
    first, second = figures["scores"].axes
    assert [axes.get_title() for axes in (first, second)] == ["1-of-100 R@1", "1 in 2 R@1"]
    drawn = [points(line) for line in first.lines]
    assert drawn[::2] == [[(0.25, 0), (0.4, 0)], [(0.45, 1), (0.6, 1)]]
    assert drawn[1::2] == [[(0.3, 0)], [(0.5, 1)]]
    assert points(second.lines[0]) == [(0.5, 0), (0.5, 0)]  # no interval
    assert [text.get_text() for text in first.texts] == ["0.300", "0.500"]
    assert [label.get_text() for label in first.get_yticklabels()] == ["one", "other"]
    assert [label.get_text() for label in second.get_yticklabels()] == ["", ""]
    top, bottom = first.get_ylim()
    assert top > bottom  # the first method is at the top
    assert figures["scores"].get_supxlabel().endswith(SCORED)


def test_a_curve_has_the_accuracies_of_validation():
    known = row("ngrams", 0.3, curve=[(100, 0.1), (200, None), (300, 0.2)])
    single = row("tfidf", 0.3, curve=[(100, 0.3)])
    figures = draw_selection(comparison(known, single))
    assert list(figures) == ["scores", "curves"]
    (axes,) = figures["curves"].axes
    assert lines_of(axes) == {"ngrams": [(100, 0.1), (300, 0.2)]}
    assert axes.get_ylim()[0] == 0


def test_scores_by_size_are_means_of_the_seeds_with_each_interval():
    rows = [
        row("a", 0.2),
        row("b", 0.3),
        row("c", 0.5, size=1000),
        row("gap", 0.1, source="gap/pairs"),
        row("gap2", 0.2, size=1000, source="gap/pairs"),
        row("single", 0.4, kind="bm25"),
    ]
    figures = draw_selection(comparison(*rows))
    assert list(figures) == ["scores", "sizes"]
    axes = figures["sizes"].axes[0]
    drawn = lines_of(axes)
    assert list(drawn) == ["tf-idf, auto/pairs", "tf-idf, gap/pairs"]
    assert drawn["tf-idf, auto/pairs"] == [(100, pytest.approx(0.25)), (1000, 0.5)]
    assert drawn["tf-idf, gap/pairs"] == [(100, 0.1), (1000, 0.2)]
    assert axes.get_xscale() == "log" and axes.get_ylim()[0] == 0
    assert [label.get_text() for label in axes.get_xticklabels()] == ["100", "1,000"]
    bars = [points(line) for line in axes.lines if len(points(line)) == 2 and points(line)[0][0]
            == points(line)[1][0]]  # fmt: skip
    ends = [(round(low[1], 3), round(high[1], 3)) for low, high in bars]
    assert ends == [(0.15, 0.3), (0.25, 0.4), (0.45, 0.6), (0.05, 0.2), (0.15, 0.3)]
    ours, theirs = bars[0][0][0], bars[3][0][0]
    assert ours < 100 < theirs and theirs / ours < 1.1  # beside each other, both are seen


def test_options_part_lines_only_where_methods_of_one_size_differ():
    steps = [row("a", 0.1, epochs=3), row("b", 0.2, size=1000, epochs=30)]
    assert has_sizes(steps)
    assert list(lines_of(plot_sizes(steps, SCORED).axes[0])) == ["tf-idf, auto/pairs"]
    encoders = [
        row(f"{name}{size}", 0.1, size=size, encoder=name, epochs=size)
        for name in ("small", "large")
        for size in (100, 1000)
    ]
    assert list(lines_of(plot_sizes(encoders, SCORED).axes[0])) == [
        "tf-idf, auto/pairs, encoder small",
        "tf-idf, auto/pairs, encoder large",
    ]
    turns = [row("a", 0.1, turns=0), row("b", 0.2, turns=None)]
    assert not has_sizes(turns)
    assert not has_sizes([row("a", 0.1), row("b", 0.2)])


def test_two_corpora_of_one_name_have_a_line_each_with_the_folders_above():
    corpora = [("/gap/corpus", 0.1), ("/auto/corpus", 0.3), ("/auto/mined", 0.5)]
    rows = [
        row(f"{path}{size}", value, size, source=f"{path[-6:].strip('/')}/pairs, train", path=path)
        for path, value in corpora
        for size in (100, 1000)
    ]
    old = [row(f"{n}", 0.2, n, source="corpus/pairs, train") for n in (100, 1000)]
    drawn = lines_of(plot_sizes([*rows, *old], SCORED).axes[0])
    assert {name: line[0][1] for name, line in drawn.items()} == {
        "tf-idf, gap/corpus/pairs, train": 0.1,
        "tf-idf, auto/corpus/pairs, train": 0.3,
        "tf-idf, mined/pairs, train": 0.5,
        "tf-idf, corpus/pairs, train": 0.2,
    }


def test_many_sizes_leave_room_for_their_labels():
    sizes = [100 * 2**n for n in range(11)]
    axes = plot_sizes([row(str(n), 0.1, size=n) for n in sizes], SCORED).axes[0]
    shown = [label.get_text() for label in axes.get_xticklabels()]
    assert len(shown) <= 6 and shown[-1] == f"{sizes[-1]:,}"


def test_a_narrow_terminal_gets_the_columns_in_several_tables():
    shown = comparison(row("one", 0.3), row("other", 0.5))
    for width, n in ((50, 1), (49, 2)):
        console = Console(width=200)
        with console.capture() as captured:
            for item in tabulate_methods(shown, width):
                console.print(item)
        lines = captured.get().splitlines()
        assert len([line for line in lines if line.startswith("other ")]) == n
        assert all(len(line.rstrip()) <= width for line in lines)
        text = " ".join(captured.get().split())
        assert "0.500 [0.450–0.600]" in text and f"scored: {SCORED}" in text
