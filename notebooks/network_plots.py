"""Who talks to whom and how much each says in a chapter -> matplotlib figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations, product
from math import hypot, sqrt
from typing import Any

import networkx
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke

from miner.app.plots import COLOURS, GREY, INK, SMALL, new_figure

_SIDE = 7.2  # inches of the picture of a network
_LARGEST = 32.0  # radius of the circle of who says most, in points
_WIDEST = 5.0  # the arrow for the most words, in points
_BEND = 0.16  # of arrows, so that those of both directions are seen
_GAP = 3.0  # points between a circle and its label
_WIDE, _HIGH = 0.56, 1.25  # of a letter, in font sizes
_MARGIN = 0.09  # of the side, for circles and labels at the edge
_APART = 38.0  # points between two circles
_ROUNDS = 200  # of moving circles apart
_TRIES = 12  # layouts, of which the clearest is drawn
_POINTS = 12  # of an arrow, at which circles are looked for
_ROW = 0.27  # inches of height for each speaker

_Place = tuple[float, float]
_Box = tuple[float, float, float, float]  # left, bottom, right, top


def plot_network(
    network: networkx.DiGraph[str], title: str, n_people: int = 16, seed: int = 0
) -> Figure:
    """Draws who talks to whom.

    The area of a circle is as the words that somebody says, and the width of an arrow as the words
    that they say to the other. Those who talk much with each other are near each other. The line
    below says how many people are left out and what they say.
    """
    words = {id: network.nodes[id]["words"] for id in network}
    drawn = sorted(words, key=lambda id: -words[id])[:n_people]
    figure = new_figure(_SIDE, _SIDE)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_title(title)
    size = 72 * _SIDE  # points
    axes.set(xlim=(0, size), ylim=(0, size), aspect="equal")
    most = max(words.values(), default=0) or 1
    radii = {id: max(2.5, _LARGEST * sqrt(words[id] / most)) for id in drawn}
    weights = {
        (one, other): network.edges[one, other]["weight"]
        for one, other in permutations(drawn, 2)
        if network.has_edge(one, other)
    }
    places = _find_clear_layout(weights, radii, seed, size)
    _draw_arrows(axes, weights, places, radii)
    for id, place in places.items():
        axes.scatter(*place, s=(2 * radii[id]) ** 2, color=COLOURS[0], edgecolor="white", zorder=2)
    labels = {id: _label(network.nodes[id]) for id in drawn}
    halo = [withStroke(linewidth=2, foreground="white")]
    for id, (x, y) in _place_labels(places, radii, labels).items():
        is_inside = (x, y) == places[id]
        axes.text(
            x,
            y,
            labels[id],
            fontsize=SMALL,
            color="white" if is_inside else INK,
            path_effects=[] if is_inside else halo,
            ha="center",
            va="center",
            zorder=3,
        )
    axes.text(size / 2, 0, _describe(network, drawn), fontsize=SMALL, ha="center")
    return figure


def _find_clear_layout(
    weights: Mapping[tuple[str, str], int], radii: Mapping[str, float], seed: int, size: float
) -> dict[str, _Place]:
    """The layout of several in which the fewest words pass behind a circle on their way."""
    seeds = range(seed * _TRIES, (seed + 1) * _TRIES)
    layouts = [_lay_out(weights, radii, one, size) for one in seeds]
    return min(layouts, key=lambda places: _count_hidden_words(weights, places, radii))


def _count_hidden_words(
    weights: Mapping[tuple[str, str], int],
    places: Mapping[str, _Place],
    radii: Mapping[str, float],
) -> int:
    """The words of all arrows, counted at each point of an arrow that is behind another circle."""
    hidden = 0
    for (one, other), weight in weights.items():
        (a, b), (c, d) = places[one], places[other]
        # The curve of matplotlib's arc3 is a parabola with this point as its control.
        bent = (a + c) / 2 + _BEND * (d - b), (b + d) / 2 - _BEND * (c - a)
        for n in range(1, _POINTS):
            t = n / _POINTS
            x = (1 - t) ** 2 * a + 2 * t * (1 - t) * bent[0] + t**2 * c
            y = (1 - t) ** 2 * b + 2 * t * (1 - t) * bent[1] + t**2 * d
            hidden += weight * sum(
                hypot(x - places[id][0], y - places[id][1]) < radius
                for id, radius in radii.items()
                if id not in (one, other)
            )
    return hidden


def _lay_out(
    weights: Mapping[tuple[str, str], int], radii: Mapping[str, float], seed: int, size: float
) -> dict[str, _Place]:
    """Places in points, in a square of that size, with room for an arrow between two circles."""
    both = networkx.Graph()
    both.add_nodes_from(radii)  # in the order of the words, on which the layout depends
    for one, other in combinations(radii, 2):
        if weight := weights.get((one, other), 0) + weights.get((other, one), 0):
            both.add_edge(one, other, pull=sqrt(weight))
    found = networkx.spring_layout(
        both, weight="pull", seed=seed, iterations=300, k=2.2 / sqrt(max(1, len(both)))
    )
    low, high = _MARGIN * size, (1 - _MARGIN) * size
    names = list(found)
    scaled = [_scale([float(found[id][axis]) for id in names], low, high) for axis in (0, 1)]
    places = dict(zip(names, map(list, zip(*scaled, strict=True)), strict=True))
    for _ in range(_ROUNDS):
        for one, other in combinations(names, 2):
            _push_apart(places[one], places[other], radii[one] + radii[other] + _APART)
        for place in places.values():
            place[:] = [min(max(at, low), high) for at in place]
    return {id: (x, y) for id, (x, y) in places.items()}


def _scale(numbers: Sequence[float], low: float, high: float) -> list[float]:
    """The numbers moved and stretched, so that they reach from `low` to `high`."""
    least, span = min(numbers, default=0.0), max(numbers, default=0.0) - min(numbers, default=0.0)
    if not span:
        return [(low + high) / 2] * len(numbers)
    return [low + (number - least) * (high - low) / span for number in numbers]


def _push_apart(one: list[float], other: list[float], wanted: float) -> None:
    """Moves two places away from each other until they are that far apart."""
    across, up = other[0] - one[0], other[1] - one[1]
    distance = hypot(across, up)
    if distance >= wanted:
        return
    across, up = (across / distance, up / distance) if distance else (1.0, 0.0)
    step = (wanted - distance) / 2
    one[:] = [one[0] - step * across, one[1] - step * up]
    other[:] = [other[0] + step * across, other[1] + step * up]


def _draw_arrows(
    axes: Axes,
    weights: Mapping[tuple[str, str], int],
    places: Mapping[str, _Place],
    radii: Mapping[str, float],
) -> None:
    most = max(weights.values(), default=0) or 1
    for (one, other), weight in sorted(weights.items(), key=lambda item: item[1]):
        share = weight / most
        width = max(0.4, _WIDEST * share)
        axes.add_patch(
            FancyArrowPatch(
                places[one],
                places[other],
                arrowstyle=f"-|>,head_length={3 + width:.2f},head_width={1.2 + width / 2:.2f}",
                mutation_scale=1,
                connectionstyle=f"arc3,rad={_BEND}",
                shrinkA=radii[one],
                shrinkB=radii[other] + 1,
                linewidth=width,
                joinstyle="miter",
                color=GREY,
                alpha=0.25 + 0.5 * sqrt(share),
                zorder=1,
            )
        )


def _place_labels(
    places: Mapping[str, _Place], radii: Mapping[str, float], labels: Mapping[str, str]
) -> dict[str, _Place]:
    """The middle of each label: in its circle, or at the side where it hides least.

    Circles are in the order of their size, so that the names of those who say most come first.
    """
    taken: list[_Box] = []
    found: dict[str, _Place] = {}
    for id in sorted(places, key=lambda id: -radii[id]):
        (x, y), radius = places[id], radii[id]
        half, rise = len(labels[id]) * SMALL * _WIDE / 2, SMALL * _HIGH / 2
        if half < radius - _GAP:
            found[id] = x, y
            continue
        beside, above = radius + _GAP + half, radius + _GAP / 2 + rise
        sides = [(x, y - above), (x, y + above), (x + beside, y), (x - beside, y)]
        slant = 0.75
        sides += [
            (x + a * slant * beside, y + b * slant * above) for a, b in product((1, -1), repeat=2)
        ]
        boxes = [(u - half, v - rise, u + half, v + rise) for u, v in sides]
        circles = [(places[one], radii[one]) for one in places if one != id]
        hidden = [
            sum(_shared(box, other) for other in taken)
            + sum(_shared(box, (u - r, v - r, u + r, v + r)) for (u, v), r in circles)
            for box in boxes
        ]
        best = min(range(len(sides)), key=hidden.__getitem__)
        found[id] = sides[best]
        taken.append(boxes[best])
    return found


def _shared(one: _Box, other: _Box) -> float:
    """The area that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, high)


def _label(node: Mapping[str, Any]) -> str:
    """The name; of an unnamed person with the chapter, since the next chapter may have another."""
    return f"{node['label']} ({node['chapter']})" if "chapter" in node else node["label"]


def _describe(network: networkx.DiGraph[str], drawn: Sequence[str]) -> str:
    """What the signs mean, and who is left out."""
    signs = "circle: words said in the book; arrow: words said to the other"
    if any("chapter" in network.nodes[id] for id in drawn):
        signs += "; (n): in chapter n only"
    if not (left := len(network) - len(drawn)):
        return signs
    total = sum(network.nodes[id]["words"] for id in network) or 1
    share = 1 - sum(network.nodes[id]["words"] for id in drawn) / total
    people = "1 person, who says" if left == 1 else f"{left} people, who say"
    return f"{signs}\nleft out: {people} {_percent(share)} of the words"


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def plot_words_by_chapter(
    words: Mapping[str | None, Mapping[int, int]],
    names: Mapping[str, str],
    title: str,
    n_speakers: int = 12,
) -> Figure:
    """Draws how many words each speaker says in each chapter, as rows of cells.

    Below those who say most are two rows for all others, and for utterances whose speaker is not
    known. Beside each name is the speaker's share of all that is said.
    """
    chapters = sorted({chapter for said in words.values() for chapter in said})
    known = [speaker for speaker in words if speaker is not None]
    known.sort(key=lambda speaker: -sum(words[speaker].values()))
    rows = [(names[speaker], [words[speaker]]) for speaker in known[:n_speakers]]
    if others := known[n_speakers:]:
        rows.append((f"{len(others)} others", [words[speaker] for speaker in others]))
    if None in words:
        rows.append(("not known", [words[None]]))
    cells = [
        [sum(said.get(chapter, 0) for said in of_row) for chapter in chapters] for _, of_row in rows
    ]
    total = sum(map(sum, cells)) or 1
    labels = [
        f"{name}  {_percent(sum(row) / total)}" for (name, _), row in zip(rows, cells, strict=True)
    ]
    figure = new_figure(7.2, 1.5 + _ROW * len(rows))
    axes = figure.subplots()
    image = axes.imshow(
        cells, cmap="Blues", norm=PowerNorm(0.5, vmin=0), aspect="auto", interpolation="nearest"
    )
    axes.set_yticks(range(len(rows)), labels, fontsize=SMALL)
    step = 1 + len(chapters) // 25
    axes.set_xticks(range(0, len(chapters), step), [str(n) for n in chapters[::step]])
    axes.tick_params(length=0, labelsize=SMALL)
    axes.set_xticks([n - 0.5 for n in range(1, len(chapters))], minor=True)
    axes.set_yticks([n - 0.5 for n in range(1, len(rows))], minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="chapter", title=title)
    bar = figure.colorbar(image, ax=axes, pad=0.02)
    bar.set_label("words", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    return figure
