"""Figures of the notebooks: what is drawn is what was measured or counted."""

from itertools import combinations
from math import dist, nan

import networkx as nx
import pytest
from encoders import told
from matplotlib.patches import FancyArrowPatch
from network_plots import plot_network, plot_words_by_chapter
from talk_plots import (
    plot_companies,
    plot_courses,
    plot_spreads,
    plot_talk,
    plot_talk_by_year,
    plot_talks,
)

from miner.lab.gold.dialogue_statistics import measure_talk
from miner.lab.gold.statistics import Company, count_company_sizes


def labelled(axes, label):
    (found,) = [line for line in axes.lines if line.get_label() == label]
    return [*zip(map(float, found.get_xdata()), map(float, found.get_ydata()), strict=True)]


def test_authors_and_the_trend_with_its_interval():
    points = [(1900.0, 0.5), (1800.0, 0.25)]
    draws = [(0.0, 0.1 * n) for n in range(11)]
    figure = plot_talk_by_year(
        points, [(0.001, -1.6), *draws], "Talk", [("Late", 1900, 0.5), ("Early", 1800, 0.25)]
    )
    (axes,) = figure.axes
    assert labelled(axes, "an author") == points
    assert labelled(axes, "the trend") == [(1800, pytest.approx(0.2)), (1900, pytest.approx(0.3))]
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (pytest.approx(0.025), pytest.approx(0.975))
    sides = {text.get_text(): text.get_ha() for text in axes.texts}
    assert sides == {"Early": "right", "Late": "left"}
    assert axes.yaxis.get_major_formatter()(0.4) == "40"  # the label says per cent


def test_cells_are_the_shares_and_the_line_is_their_mean():
    named = [("A", (0.0, 1.0)), ("B", (0.5, nan))]
    figure = plot_courses(named, [(0.0, 1.0), (0.5, nan), (0.4, 0.6)], "Courses")
    above, below = figure.axes[:2]
    assert above.images[0].get_array().tolist() == [[0, 1], [0.5, None]]
    assert [label.get_text() for label in above.get_yticklabels()] == ["A", "B"]
    assert labelled(below, "mean of 3") == [(25, pytest.approx(30)), (75, pytest.approx(80))]


def test_spreads_show_median_half_and_nine_tenths():
    (axes,) = plot_spreads(
        [("A", range(101)), ("none", [7])], "Spread", "words", (1, 10, 1000)
    ).axes
    assert labelled(axes, "nine tenths") == [(5, 0), (95, 0)]
    assert labelled(axes, "half of them") == [(25, 0), (75, 0)]
    assert labelled(axes, "median") == [(50, 0)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A", "none"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "10", "1,000"]


def test_shares_of_talk():
    short = measure_talk("short", told(["“Yes,” he said."], ["He left."]))
    long = measure_talk("long", told(["“Yes, yes, yes,” he said."]))
    (axes,) = plot_talk(short).axes
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([100 / 3, 0])
    assert axes.lines[0].get_ydata()[0] == pytest.approx(20)
    (axes,) = plot_talks([short, long, measure_talk("none", told())]).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["long", "short"]
    assert labelled(axes, "the book") == [(pytest.approx(60), 0), (pytest.approx(20), 1)]
    chapters = labelled(axes, "a chapter")
    assert chapters == [(pytest.approx(60), 0), (pytest.approx(100 / 3), 1), (0, 1)]


def test_bars_of_company_sizes():
    two = Company("7", 1, 1, (("A", 3), ("B", 1)), 0)
    sizes = count_company_sizes([two, Company("7", 1, 2, (("A", 1),), 0)])
    above, below = plot_companies(sizes, "Who talks").axes
    heights = [bar.get_height() for bar in above.patches]
    assert heights == [50, 50, 0, 0, 0, 20, 80, 0, 0, 0]
    first, second = ([bars[0].get_height(), bars[1].get_height()] for bars in below.containers[:2])
    assert (first, second) == ([100, 75], [0, 25])
    assert below.containers[1][1].get_y() == 75  # stacked
    labels = [label.get_text() for label in below.get_xticklabels()]
    assert labels == ["1\n(1)", "2\n(1)", "3\n(0)", "4\n(0)", "5 or more\n(0)"]


def network_of(words, edges, **more):
    network = nx.DiGraph()
    for id, said in words.items():
        network.add_node(id, label=id.title(), words=said, **more.get(id, {}))
    for one, other, weight in edges:
        network.add_edge(one, other, weight=weight, turns=1, inferred=0)
    return network


TALK = network_of(
    {"ann": 900, "bob": 400, "waiter": 100, "eve": 10},
    [("ann", "bob", 800), ("bob", "ann", 400), ("waiter", "ann", 100), ("eve", "ann", 10)],
    waiter={"chapter": 3},
)


def circles(figure):
    """The place and the area of each circle, in the order of the words."""
    (axes,) = figure.axes
    return [
        (tuple(map(float, item.get_offsets()[0])), float(item.get_sizes()[0]))
        for item in axes.collections
    ]


def arrows(figure):
    return [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_areas_are_as_words_and_widths_as_words_to_the_other():
    figure = plot_network(TALK, "Who talks")
    ann, bob, waiter, _ = circles(figure)
    assert ann[1] / bob[1] == pytest.approx(900 / 400)
    assert bob[1] / waiter[1] == pytest.approx(400 / 100)
    widths = sorted(arrow.get_linewidth() for arrow in arrows(figure))
    assert len(widths) == 4 and widths[-1] / widths[-2] == pytest.approx(800 / 400)
    assert figure.axes[0].get_title() == "Who talks"
    assert written(figure)[:-1] == ["Ann", "Bob", "Waiter (3)", "Eve"]
    assert written(figure)[-1].endswith("(n): in chapter n only")


def test_who_is_left_out_is_said():
    figure = plot_network(TALK, "Who talks", n_people=2)
    assert len(circles(figure)) == 2 and len(arrows(figure)) == 2
    assert written(figure)[:-1] == ["Ann", "Bob"]
    assert written(figure)[-1].endswith("\nleft out: 2 people, who say 8% of the words")
    assert "(n)" not in written(figure)[-1]
    last = written(plot_network(TALK, "Who talks", n_people=3))[-1]
    assert last.endswith("left out: 1 person, who says 1% of the words")


def test_circles_and_labels_are_apart_and_inside():
    """Also where four talk much with each other, which pulls them together."""
    names = [f"person {n}" for n in range(16)]
    words = {name: 20_000 if n < 4 else 200 // n for n, name in enumerate(names)}
    friends = [(one, other, 5_000) for one in names[:4] for other in names[:4] if one != other]
    others = [(name, names[n % 4], 5) for n, name in enumerate(names[4:])]
    figure = plot_network(network_of(words, [*friends, *others]), "Friends")
    placed = [(place, area**0.5 / 2) for place, area in circles(figure)]
    for (one, radius), (other, reach) in combinations(placed, 2):
        assert dist(one, other) > radius + reach + 10
    axes = figure.axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert all(left < x < right and bottom < y < top for (x, y), _ in placed)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not [True for one, other in combinations(boxes, 2) if one.overlaps(other)]


def test_no_arrow_of_many_words_passes_behind_a_third_circle():
    """It would seem to lead there."""
    names = [f"p{n}" for n in range(10)]
    words = {name: 1000 - n for n, name in enumerate(names)}
    hub = [(name, "p0", 100) for name in names[1:]]
    ring = [(f"p{n}", f"p{n % 9 + 1}", 100) for n in range(1, 10)]
    chords = [("p1", "p5", 100), ("p3", "p7", 100)]
    figure = plot_network(network_of(words, [*hub, *ring, *chords]), "A ring")
    placed = [(place, area**0.5 / 2) for place, area in circles(figure)]
    figure.draw_without_rendering()
    hidden = 0
    for arrow in arrows(figure):
        (line,) = arrow.get_path().to_polygons(closed_only=False)[:1]
        ends = sorted(placed, key=lambda item: min(dist(item[0], line[0]), dist(item[0], line[-1])))
        hidden += any(dist(place, point) < radius for place, radius in ends[2:] for point in line)
    assert hidden == 0


def test_one_person_and_nobody_are_drawn():
    (only,) = circles(plot_network(network_of({"ann": 5}, []), "One"))
    assert only[1] > 0
    assert not circles(plot_network(nx.DiGraph(), "Nobody"))


def test_another_seed_is_another_layout():
    one, same, other = (circles(plot_network(TALK, "", seed=seed)) for seed in (0, 0, 1))
    assert one == same != other


WORDS = {"ann": {1: 40, 3: 20}, None: {3: 5}, "bob": {2: 30}, "eve": {1: 2, 2: 3}}
NAMES = {"ann": "Ann", "bob": "Bob", "eve": "Eve"}


def rows(axes):
    labels = [label.get_text() for label in axes.get_yticklabels()]
    return dict(zip(labels, axes.images[0].get_array().tolist(), strict=True))


def test_cells_are_the_words_of_each_speaker_in_each_chapter():
    axes, _ = plot_words_by_chapter(WORDS, NAMES, "Who speaks").axes
    assert rows(axes) == {
        **{"Ann  60%": [40, 0, 20], "Bob  30%": [0, 30, 0], "Eve  5%": [2, 3, 0]},
        "not known  5%": [0, 0, 5],
    }
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3"]
    assert axes.get_title() == "Who speaks"


def test_speakers_without_a_row_are_counted_together():
    axes, _ = plot_words_by_chapter(WORDS, NAMES, "Who speaks", n_speakers=1).axes
    assert rows(axes) == {
        **{"Ann  60%": [40, 0, 20], "2 others  35%": [2, 33, 0], "not known  5%": [0, 0, 5]}
    }


def test_many_chapters_have_room_for_their_numbers():
    axes, _ = plot_words_by_chapter({"ann": {n: n for n in range(1, 62)}}, NAMES, "Long").axes
    numbers = [int(label.get_text()) for label in axes.get_xticklabels()]
    assert numbers[:3] == [1, 4, 7] and len(numbers) == 21
