"""Contexts with true and false responses, in the form of the Ubuntu Dialogue Corpus."""

import csv
import re
from collections import Counter

import pytest
from corpus_helpers import book_of, turn, written

import miner
from miner.corpus.export import find_format
from miner.errors import InputError


def talk(name, n):
    """A dialogue whose turns are in paragraphs of their own."""
    start = sum(map(ord, name)) * 1000
    return [turn(f"{name} {number}.", None, start + number) for number in range(n)]


def said(text):
    return f"{text}. __eou__"


def context(*texts):
    return "".join(f"{said(text)} __eot__ " for text in texts)


def read(folder, name):
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def books(n, n_dialogues=3, n_turns=5):
    return [
        book_of(
            str(number),
            *(talk(f"B{number}d{dialogue}t", n_turns) for dialogue in range(n_dialogues)),
        )
        for number in range(n)
    ]


def test_in_training_each_turn_from_the_third_on_is_a_response(tmp_path):
    given = [book_of("1", talk("X", 4)), book_of("2", talk("Y", 3))]
    header, rows = read(written(tmp_path, "ubuntu", *given), "triples")
    assert header == ["Context", "Utterance", "Label"]
    assert rows == [
        [context("X 0", "X 1"), said("X 2"), "1"],
        [context("X 0", "X 1"), said("Y 2"), "0"],
        [context("X 0", "X 1", "X 2"), said("X 3"), "1"],
        [context("X 0", "X 1", "X 2"), said("Y 2"), "0"],
        [context("Y 0", "Y 1"), said("Y 2"), "1"],
        [context("Y 0", "Y 1"), rows[-1][1], "0"],
    ]
    assert rows[-1][1] in (said("X 2"), said("X 3"))


def test_a_context_of_training_has_the_last_twenty_turns(tmp_path):
    _, rows = read(written(tmp_path, "ubuntu", *books(2, 1, 30)), "triples")
    assert rows[2 * 27][0] == context(*(f"B0d0t {number}" for number in range(9, 29)))


def test_an_utterance_is_a_span(tmp_path):
    first = turn("Come in!", None, 1, n_spans=2)
    given = book_of("1", [first, *talk("X", 2)]), book_of("2", talk("Y", 3))
    _, rows = read(written(tmp_path, "ubuntu", *given), "triples")
    assert rows[0][0].startswith("Come in! __eou__ Come in! __eou__ __eot__ X 0. __eou__ __eot__ ")


@pytest.mark.parametrize("split", ["validation", "test"])
def test_a_test_context_has_a_drawn_size_and_nine_false_responses(tmp_path, split):
    folder = written(tmp_path, "ubuntu", *books(5), split=split)
    header, rows = read(folder, "rankings")
    assert header == ["Context", "Ground Truth Utterance", *(f"Distractor_{n}" for n in range(9))]
    assert len(rows) == 15
    for number, (before, *responses) in enumerate(rows):
        size = before.count("__eot__")
        name = f"B{number // 3}d{number % 3}t"
        assert 2 <= size <= 4
        assert before == context(*(f"{name} {turn}" for turn in range(size)))
        assert responses[0] == said(f"{name} {size}")
        assert len(set(responses)) == 10
        assert not any(text.startswith(name[:2]) for text in responses[1:])  # of other books
    _, triples = read(folder, "triples")
    assert triples == [
        [before, response, label]
        for before, true, false, *_ in rows
        for response, label in ((true, "1"), (false, "0"))
    ]


def test_the_size_of_a_context_is_distributed_as_in_section_3_4(tmp_path):
    n_turns, n = 24, 1_000
    given = [
        book_of(str(number), *(talk(f"D{dialogue}", n_turns) for dialogue in range(20)))
        for number in range(n // 20)
    ]
    _, rows = read(written(tmp_path, "ubuntu", *given, split="test", false_responses=1), "rankings")
    sizes = Counter(row[0].count("__eot__") for row in rows)
    assert sum(sizes.values()) == n and min(sizes) == 2 and max(sizes) <= 21
    for size in (2, 3, 4, 10):  # of 10 C / eta + 1, with eta of Unif(C / 2, 10 C) and C = 20
        share = (min(200, 200 / (size - 1)) - 200 / size) / 190
        assert sizes[size] / n == pytest.approx(share, abs=4 * (share / n) ** 0.5), size


def test_equal_books_give_equal_bytes_and_every_split_has_rankings(tmp_path):
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    one, two = (written(tmp_path / name, "ubuntu", *books(3)) for name in ("one", "two"))
    files = find_format("ubuntu").files
    assert [(one / name).read_bytes() for name in files] == [
        (two / name).read_bytes() for name in files
    ]
    test = written(tmp_path / "three", "ubuntu", *books(3), split="test")
    assert (one / "rankings.csv").read_bytes() == (test / "rankings.csv").read_bytes()
    assert (one / "triples.csv").stat().st_size > (test / "triples.csv").stat().st_size


def test_one_book_takes_false_responses_of_its_other_dialogues(tmp_path):
    _, rows = read(written(tmp_path, "ubuntu", *books(1, 4, 5), split="test"), "rankings")
    assert len(rows) == 4
    for before, true, *false in rows:
        own = before[:4]
        assert true.startswith(own) and len(set(false)) == 9
        assert not any(text.startswith(own) for text in false)


def test_a_false_response_is_never_the_true_one(tmp_path):
    same = [turn(text, None, 70 + n) for n, text in enumerate(["A.", "B.", "Yes.", "Yes."])]
    other = [turn(text, None, 80 + n) for n, text in enumerate(["C.", "D.", "Yes.", "No."])]
    left_out = find_format("ubuntu").write_books(
        tmp_path, [book_of("1", same), book_of("2", other)]
    )
    _, rows = read(tmp_path, "triples")
    assert [row[1:] for row in rows[:4]] == [[said("Yes"), "1"], [said("No"), "0"]] * 2
    assert [row[1:] for row in rows[4:]] == [[said("No"), "1"], [said("Yes"), "0"]]
    # Nobody of the other book says anything but "Yes.", which is true where it stands.
    assert left_out == {
        "contexts without a false response": 1,
        "rankings without enough false responses": 2,
    }
    assert read(tmp_path, "rankings")[1] == []


def test_short_dialogues_are_counted(tmp_path):
    given = [book_of("1", talk("X", 2), talk("Y", 1)), *books(1, 2, 3)]
    left_out = find_format("ubuntu").write_books(tmp_path, given)
    assert left_out["dialogues of one or two turns"] == 2
    assert "X 0." not in (tmp_path / "triples.csv").read_text()


def test_pandas_reads_it_as_the_users_of_that_corpus_do(tmp_path):
    pandas = pytest.importorskip("pandas")
    sample = miner.mine("sample", tagger="gap").encoded
    folder = written(tmp_path, "ubuntu", sample, *books(2))
    train = pandas.read_csv(folder / "triples.csv", encoding="utf8")
    assert train["Label"].mean() == 0.5 and train["Label"].dtype == "int64"
    assert not train.isna().any().any()
    test = pandas.read_csv(folder / "rankings.csv", encoding="utf8")
    candidates = test.iloc[:, 1:]
    assert candidates.shape == (len(test), 10) and len(test) > 15
    turns = test["Context"][0].split("__eot__")
    assert turns[-1] == " " and all(turn.endswith("__eou__ ") for turn in turns[:-1])
    assert not re.search("[“”\\n]", turns[0])


@pytest.mark.parametrize("n", [0, 10**18])
def test_the_number_of_false_responses_is_an_option(n):
    message = f"^false_responses: found {n}, expected a whole number from 1 to 1,000$"
    with pytest.raises(InputError, match=message):
        find_format("ubuntu").options(false_responses=n)
