"""Figures of talk in many novels: what is drawn is what was measured."""

from math import nan

import pytest
from talk_plots import plot_courses, plot_spreads, plot_talk_by_year


def line(axes, label):
    (found,) = [line for line in axes.lines if line.get_label() == label]
    return [*zip(map(float, found.get_xdata()), map(float, found.get_ydata()), strict=True)]


def test_authors_and_the_trend_with_its_interval():
    points = [(1900.0, 0.5), (1800.0, 0.25)]
    draws = [(0.0, 0.1 * n) for n in range(11)]
    figure = plot_talk_by_year(
        points, [(0.001, -1.6), *draws], "Talk", [("Late", 1900, 0.5), ("Early", 1800, 0.25)]
    )
    (axes,) = figure.axes
    assert line(axes, "an author") == points
    assert line(axes, "the trend") == [(1800, pytest.approx(0.2)), (1900, pytest.approx(0.3))]
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (pytest.approx(0.025), pytest.approx(0.975))
    sides = {text.get_text(): text.get_ha() for text in axes.texts}
    assert sides == {"Early": "right", "Late": "left"}
    assert axes.yaxis.get_major_formatter()(0.4) == "40"  # the label says per cent


def test_a_trend_without_resamplings_has_no_interval():
    (axes,) = plot_talk_by_year([(1800, 0.2), (1900, 0.3)], [(0.001, -1.6)], "Talk").axes
    assert not axes.collections


def test_cells_are_the_shares_and_the_line_is_their_mean():
    named = [("A", (0.0, 1.0)), ("B", (0.5, nan))]
    figure = plot_courses(named, [(0.0, 1.0), (0.5, nan), (0.4, 0.6)], "Courses")
    above, below = figure.axes[:2]
    assert above.images[0].get_array().tolist() == [[0, 1], [0.5, None]]
    assert [label.get_text() for label in above.get_yticklabels()] == ["A", "B"]
    assert line(below, "mean of 3") == [(25, pytest.approx(30)), (75, pytest.approx(80))]


def test_a_course_alone_has_no_middle_half():
    below = plot_courses([("A", (0.2, 0.4))], [(0.2, 0.4)], "Course").axes[1]
    assert not below.collections
    assert line(below, "mean of 1") == [(25, 20), (75, 40)]


def test_spreads_show_median_half_and_nine_tenths():
    (axes,) = plot_spreads(
        [("A", range(101)), ("none", [7])], "Spread", "words", (1, 10, 1000)
    ).axes
    assert line(axes, "nine tenths") == [(5, 0), (95, 0)]
    assert line(axes, "half of them") == [(25, 0), (75, 0)]
    assert line(axes, "median") == [(50, 0)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A", "none"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "10", "1,000"]
