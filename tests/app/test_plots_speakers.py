"""Figures of who speaks: what is drawn is what was counted."""

import os
import subprocess
import sys
from itertools import combinations
from math import dist

import networkx as nx
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch
from network_plots import plot_network, plot_words_by_chapter


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
    inside = [text for text in axes.texts if to_hex(text.get_color()) == "#ffffff"]
    assert 0 < len(inside) < 16  # a label is in its circle where that has room


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


@pytest.mark.slow
def test_the_layout_is_the_same_in_every_run():
    """Python orders sets of text anew in each run."""
    code = (
        "import networkx as nx; from network_plots import plot_network\n"
        "graph = nx.DiGraph()\n"
        "for n in range(12): graph.add_node(f'p{n}', label='x', words=100 - n)\n"
        "for n in range(11): graph.add_edge(f'p{n}', f'p{n * n % 12}', weight=n + 1)\n"
        "figure = plot_network(graph, '', n_people=8)\n"
        "print([c.get_offsets().tolist() for c in figure.axes[0].collections])\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "123"
    ]
    assert len(set(runs)) == 1 and runs[0].count("[[") == 8


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


def test_a_small_share_is_not_shown_as_none():
    words = {"ann": {1: 999}, "bob": {1: 1}}
    axes, _ = plot_words_by_chapter(words, NAMES, "Who speaks").axes
    assert list(rows(axes)) == ["Ann  100%", "Bob  <1%"]


def test_many_chapters_have_room_for_their_numbers():
    axes, _ = plot_words_by_chapter({"ann": {n: n for n in range(1, 62)}}, NAMES, "Long").axes
    numbers = [int(label.get_text()) for label in axes.get_xticklabels()]
    assert numbers[:3] == [1, 4, 7] and len(numbers) == 21
