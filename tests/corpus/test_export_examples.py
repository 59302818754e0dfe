"""Examples of response selection with the contexts before."""

import pytest
from corpus_helpers import book_of, json_rows, turn, written

from miner.corpus.export import find_format
from miner.corpus.export.examples import cut
from miner.errors import InputError

LONG = "word " * 25 + "ends."  # 130 characters
TEXTS = ["The oldest.", LONG, "Short.", "It is a context.", "And a response.", "No."]


def talk(texts):
    return [
        turn(text, "ab"[n % 2], n, names={"a": "Ann", "b": "Bo"}) for n, text in enumerate(texts)
    ]


def examples(tmp_path, *dialogues, **options):
    folder = written(tmp_path, "examples", book_of("7", *map(talk, dialogues)), **options)
    return json_rows(folder / "examples.jsonl")


def test_contexts_go_back_in_time_with_the_place_and_the_speakers(tmp_path):
    (row,) = examples(tmp_path, TEXTS, extra_contexts=4)
    assert list(row.items()) == [
        ("book", "7"),
        ("title", "Title of 7"),
        ("author", ""),
        ("language", "en"),
        ("dialogue", 0),
        ("part", 0),
        ("turn", 4),
        ("chapter", 2),
        ("paragraph", 4),
        ("response_speaker_name", "Ann"),
        ("context_speaker_name", "Bo"),
        ("response", "And a response."),
        ("context", "It is a context."),
        ("context/0", "Short."),
        ("context/1", "word " * 24 + "word"),  # cut, as the sixth-last word would end at 129
        ("context/2", "The oldest."),
        ("context/3", ""),
    ]


def test_no_context_is_of_another_dialogue_and_ten_are_written(tmp_path):
    texts = [f"Turn number {n}." for n in range(14)]
    rows = examples(tmp_path, texts[:2], texts)
    assert len(rows) == 1 + 13
    assert set(rows[0]) == set(rows[-1]) and "context/9" in rows[0] and "context/10" not in rows[0]
    assert {rows[0][f"context/{n}"] for n in range(10)} == {""}
    assert [rows[-1][f"context/{n}"] for n in range(10)] == texts[11:1:-1]


@pytest.mark.parametrize(("length", "is_kept"), [(8, False), (9, True), (128, True), (129, False)])
@pytest.mark.parametrize("side", [0, 1])
def test_both_sides_have_9_to_128_characters(tmp_path, length, is_kept, side):
    texts = ["Nine char", "Nine char"]
    texts[side] = "é" * length
    book = book_of("7", talk(texts))
    left_out = find_format("examples").write_books(tmp_path, [book])
    assert len(json_rows(tmp_path / "examples.jsonl")) == is_kept
    reason = "examples with a short text" if length < 9 else "examples with a long text"
    assert left_out == ({} if is_kept else {reason: 1})


@pytest.mark.parametrize(
    ("text", "length", "left"),
    [
        ("It is late.", 11, "It is late."),
        ("It is late.", 10, "It is late"),
        ("It is late.", 9, "It is"),
        ("It is late.", 6, "It is"),
        ("It is late.", 5, "It is"),
        ("It is late.", 1, ""),
        ("Wait!!! Go.", 6, "Wait"),
        ("Undivided", 4, ""),
    ],
)
def test_no_word_is_divided(text, length, left):
    assert cut(text, length) == left


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"extra_contexts": -1},
            "extra_contexts: found -1, expected a whole number from 0 to 1,000",
        ),
        (
            {"extra_contexts": 10**18},
            f"extra_contexts: found {10**18}, expected a whole number from 0 to 1,000",
        ),
        ({"min_length": 1.5}, "min_length: found 1.5, expected a whole number from 0"),
        ({"max_length": True}, "max_length: found True, expected a whole number from 0"),
        ({"max_length": 8}, "max_length: found 8, expected at least min_length, 9, and 1"),
    ],
)
def test_limits_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        find_format("examples").options(**options)
