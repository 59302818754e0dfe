"""Plots show the values that were measured, and a comparison has all its figures."""

import json

import matplotlib
import pytest
from encoders import save_checkpoint
from helpers import ANNOTATIONS, SAMPLE, book, run

from miner.app.plots import COLOURS, choose_looks
from miner.errors import InputError
from miner.lab.app.plots.evaluation import (
    draw_comparison,
    plot_confusion,
    plot_learning_curve,
    plot_lengths,
    plot_reliability,
    plot_scores,
    plot_tradeoff,
    save_figure,
    save_figures,
)
from miner.lab.gold.dialogue_statistics import Lengths
from miner.lab.measure.compare import compare
from miner.lab.measure.confidence import Bin, KeptPairs, join_small_bins
from miner.lab.measure.scores import Confusion, score
from miner.lab.training.tagger.learning_curve import Learned
from miner.score import Score
from miner.speech.tags import TAGS
from miner.tagger.load import load_tagger

COUNTS = Confusion(((3, 0, 1, 0), (0, 0, 0, 0), (0, 0, 5, 5), (1, 1, 1, 1)))


def points(line):
    x, y = line.get_data()
    return list(zip(map(float, x), map(float, y), strict=True))


def labelled(axes, label):
    (line,) = [line for line in axes.lines if line.get_label() == label]
    return points(line)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("runs") / "tiny")


@pytest.fixture(scope="module")
def comparison(checkpoint):
    named = [(name, load_tagger(name)) for name in ("gap", "narration")]
    named.append(("runs/tiny", load_tagger(str(checkpoint))))
    read = {"sample": SAMPLE.read_bytes()}
    return compare(ANNOTATIONS, named, "sample", read=read.__getitem__, resamples=20)


def test_cells_of_the_confusion_show_counts_and_shares():
    (axes,) = plot_confusion(COUNTS, "gap", "dev").axes
    assert [text.get_text() for text in axes.texts[:4]] == ["3\n75%", "0\n0%", "1\n25%", "0\n0%"]
    assert [text.get_text() for text in axes.texts[4:8]] == ["—"] * 4  # gold has no I-START
    shades = axes.images[0].get_array()
    assert shades[2].tolist() == [0, 0, 0.5, 0.5] and shades.mask[1].all()
    assert [label.get_text() for label in axes.get_yticklabels()] == list(TAGS)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted tag", "gold tag")


def luminance(colour):
    """The relative luminance of a colour, as WCAG 2 defines it."""
    parts = matplotlib.colors.to_rgb(colour)
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("n", range(0, 51, 10))
def test_the_text_of_a_cell_has_enough_contrast(n):
    rows = [(share, 100 - share, 0, 0) for share in (n, n + 1, n + 2, n + 3)]
    (axes,) = plot_confusion(Confusion(tuple(rows)), "gap", "dev").axes
    shades = axes.images[0].get_array().ravel()
    for text, shade in zip(axes.texts, shades, strict=True):
        pair = (luminance(axes.images[0].cmap(shade)), luminance(text.get_color()))
        assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 4.5, text.get_text()  # level AA


def test_scores_are_drawn_with_their_intervals(comparison):
    rows = [(row.name, row.scores) for row in comparison.rows]
    from_book = [(row.name, row.from_book) for row in comparison.rows]
    figure = plot_scores(rows, "Taggers compared", from_book)
    measures = ("B-START.recall", "B-START.f1", "turn-pair.precision", "turn-pair.f1")
    for axes, measure in zip(figure.axes, measures, strict=True):
        drawn = [points(line) for line in axes.lines]
        ends, values = drawn[::2], drawn[1::2]
        found = [scores.total.end_to_end[measure] for _, scores in (*rows, *from_book)]
        assert [point[0] for (point,) in values] == [item.value for item in found]
        assert [(low[0], high[0]) for low, high in ends] == [(s.low, s.high) for s in found]
        assert [t.get_text() for t in axes.texts] == [f"{item.value:.2f}" for item in found]
        hollow = [line.get_markerfacecolor() == "white" for line in axes.lines[1::2]]
        assert hollow == [False] * 3 + [True] * 3
        # Both scores of a tagger are close together, above those of the next tagger.
        heights = [point[1] for (point,) in values]
        assert heights[:3] == sorted(heights[:3])
        assert all(0 < low - high < 0.5 for high, low in zip(heights, heights[3:], strict=False))
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["gap", "narration", "runs/tiny"]


def test_an_undefined_score_is_a_dash():
    nothing = score([book("S")], [book("S")], resamples=0)  # no pair on either side
    figure = plot_scores([("gap", nothing)], "one utterance")
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["1.00"] * 2 + [
        "—"
    ] * 2


def test_lines_show_the_share_of_conversations_with_at_least_n_turns():
    lengths = Lengths("gap", (1, 3, 3, 6))
    gold = Lengths("gold", (2,))
    (axes,) = plot_lengths([lengths, Lengths("none", ())], "Lengths", gold).axes
    black, blue = axes.lines
    assert points(black) == [(1, 100), (2, 100)]
    assert points(blue) == [(1, 100), (2, 75), (3, 75), (4, 25), (5, 25), (6, 25)]
    assert (blue.get_label(), black.get_label()) == (
        "gap: 4 conversations, median 3",
        "gold: 1 conversations, median 2",
    )
    assert [int(n) for n in axes.get_xticks()] == [1, 2, 3, 4, 6]


def test_points_of_a_learning_curve():
    runs = [Score(0.4, 0.3, 0.5), Score(0.6, 0.5, 0.7)]
    curve = [Learned(6, tuple(runs)), Learned(24, (Score(0.8, 0.7, 0.9),))]
    (axes,) = plot_learning_curve(curve, "turn-pair F1", "dev").axes
    assert labelled(axes, "mean of the runs") == [(6, 0.5), (24, 0.8)]
    assert labelled(axes, "one run") == [(6, 0.4), (6, 0.6), (24, 0.8)]
    corners = {(float(x), float(y)) for x, y in axes.collections[0].get_paths()[0].vertices}
    assert corners == {(6, 0.3), (6, 0.7), (24, 0.7), (24, 0.9)}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["6", "24"]


def test_bins_of_confidence():
    bins = [Bin(0.5, 0.6, 20, 0.55, 0.5), Bin(0.8, 0.9, 1, 0.8, 0), Bin(0.9, 1.0, 1199, 0.97, 0.9)]
    above, below = plot_reliability(bins, "dev", "runs/a").axes
    joined = join_small_bins(bins)
    assert labelled(above, "tags") == [(item.confidence, item.accuracy) for item in joined]
    drawn = [part.vertices.tolist() for part in above.collections[0].get_paths()]
    assert drawn == [[[item.confidence, end] for end in item.interval] for item in joined]
    assert [bar.get_height() for bar in below.patches] == [20, 1200]
    assert [text.get_text() for text in below.texts] == ["20", "1,200"]
    assert above.get_title() == "Confidence of tags\nruns/a, dev split"


def test_series_differ_in_more_than_colour():
    drawn = choose_looks(30)
    assert {look.colour for look in drawn} == set(COLOURS)
    assert len({(look.marker, look.line) for look in drawn}) == 30
    for one, other in zip(drawn, drawn[1:], strict=False):
        assert one.marker != other.marker and one.line != other.line and one.hatch != other.hatch


def test_figures_are_not_registered_with_pyplot(comparison):
    import matplotlib.pyplot as plt

    draw_comparison(comparison)
    assert plt.get_fignums() == []


def test_the_figures_of_a_comparison(comparison):
    figures = draw_comparison(comparison)
    assert list(figures) == [
        "scores",
        "lengths",
        "confusion-gap",
        "confusion-narration",
        "confusion-runs-tiny",
        "reliability-runs-tiny",
    ]
    gold = figures["lengths"].axes[0].lines[0]
    assert gold.get_label() == "gold: 20 conversations, median 6"
    tiny = comparison.rows[2]
    n_tags = sum(item.n for item in tiny.bins)
    assert n_tags == tiny.scores.total.n_matched
    (axes,) = figures["confusion-gap"].axes
    assert axes.texts[0].get_text().startswith(f"{comparison.rows[0].confusion.counts[0][0]}\n")


def test_taggers_with_the_same_name_have_a_figure_each(comparison):
    from dataclasses import replace

    gap = comparison.rows[0]
    rows = tuple(replace(gap, name=name) for name in ("runs/a", "runs-a", "../runs/A", "→"))
    stems = list(draw_comparison(replace(comparison, rows=rows)))[2:]
    assert stems == [f"confusion-{s}" for s in ("runs-a", "runs-a-2", "runs-a-3", "tagger")]


@pytest.mark.slow
def test_compare_draws_into_a_new_folder(tmp_path, checkpoint):
    out = tmp_path / "new" / "figures"
    words = ["compare", "--gold", ANNOTATIONS, "--split", "sample", "--resamples", 5]
    words += ["--tagger", "gap", "--tagger", checkpoint, "--plots", out]
    done = run(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    names = {path.name for path in out.iterdir()}
    stem = next(name for name in names if name.startswith("reliability-"))
    rest = stem.removeprefix("reliability-")
    assert names == {
        "scores.png",
        "lengths.png",
        "confusion-gap-150.png",
        f"confusion-{rest}",
        f"reliability-{rest}",
    }
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in out.iterdir())
    assert done.stdout.splitlines()[-1].startswith("wrote scores.png, lengths.png, ")

    before = {path.name: path.read_bytes() for path in out.iterdir()}
    again = run(*words)
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == (
        f"miner: {out}: exists already, expected a new name (or --force to replace it)\n"
    )
    forced = run(*words, "--force", "--json")
    assert forced.exit_code == 0 and json.loads(forced.stdout)["split"] == "sample"
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_figures_are_written_all_or_none(tmp_path, comparison):
    figures = draw_comparison(comparison)
    figures["broken"] = None
    with pytest.raises(AttributeError):
        save_figures(
            {name: figures[name] for name in ("lengths", "broken")}, tmp_path / "out", False
        )
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="file: exists already"):
        save_figures({}, tmp_path / "file", False)
    with pytest.raises(InputError, match="file: found a file, expected the name of a folder"):
        save_figures({}, tmp_path / "file", True)


def kept(min_confidence, share, precision):
    score = Score(precision, precision, precision)
    return KeptPairs(min_confidence, 1, share, score, Score(share, None, None))


def test_points_of_the_tradeoff():
    rows = [kept(0.0, 1.0, 0.6), kept(0.7, 0.4, 1.0), kept(0.9, 0.0, None)]
    (axes,) = plot_tradeoff(rows, "dev").axes
    assert labelled(axes, "turn pairs") == [(100, 0.6), (40, 1.0)]
    assert [text.get_text() for text in axes.texts] == ["0", "0.7"]


def test_a_figure_is_written_in_the_format_of_its_ending(tmp_path):
    figure = plot_reliability([Bin(0.9, 1.0, 5, 0.95, 0.8)], "dev")
    save_figure(figure, tmp_path / "a.png", False)
    save_figure(figure, tmp_path / "b.svg", False)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "b.svg").read_bytes()
    with pytest.raises(InputError, match="found ending '.doc', expected one such as .png"):
        save_figure(figure, tmp_path / "a.doc", False)
    assert not (tmp_path / "a.doc").exists()
