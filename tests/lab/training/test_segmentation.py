"""The model of the cuts learns from annotated and printed pages, and its weights have a file."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers import annotations_of_two
from models_helpers import read_sample

from miner.errors import InputError
from miner.lab.learning.run_folder import write_weights
from miner.lab.training.segmentation import (
    SegmentationExample,
    SegmentationRun,
    SegmentationTraining,
    arcs_of,
    fit_segmentation,
    read_segmentation_examples,
    train_segmentation,
    weights_of,
)
from miner.speech.segmentation import (
    BEGINS,
    CHANGES,
    ENDS,
    SAID,
    TOLD,
    load_segmentation,
    read_page,
)

SPEAKERS = ("Bo", "Ana", "Inés", "Luis", "ella", "él", "el guarda", "la madre")
WORDS = ("Ven", "Es tarde", "No hay barca", "Come", "Hay pan", "Espera aquí")
VERBS = ("dijo", "gritó", "murmuró", "repitió")


def pages(verbs, seed):
    """Paragraphs with speech in brackets, in which verbs show the narration."""
    chance = np.random.default_rng(seed)
    for n in range(120):
        first, second = chance.choice(WORDS, 2)
        verb, speaker = chance.choice(verbs), chance.choice(SPEAKERS)
        yield (
            f"[—{first},] {verb} {speaker}, [{second.lower()}.]",
            f"[—{first}, {second.lower()}, ya.]",
            f"[—¡{first}!] {verb} {speaker}.",
            f"{speaker} {verb}: [—{first}.]",
        )[n % 4]


def example_of(texts, book="7"):
    bare, speech = [], {}
    for place, text in enumerate(texts):
        parts, found = "", []
        for character in text:
            if character == "[":
                found.append([len(parts), None])
            elif character == "]":
                found[-1][1] = len(parts)
            else:
                parts += character
        bare.append(parts)
        speech[place] = tuple((start, end) for start, end in found)
    page = read_page(bare, ["La barca no venía y la niebla era espesa."] * 20)
    assert page is not None
    return SegmentationExample(book, "es", page, speech)


def words(text, ranges):
    return [text[start:end].strip(" .,;:!?—¡¿") for start, end in ranges]


@pytest.fixture(scope="module")
def model():
    return fit_segmentation(
        [example_of(pages(VERBS, 1))], SegmentationTraining(), lambda line: None
    )


def test_what_is_learned_is_found_again(model):
    known = example_of(pages(VERBS, 2))
    found = model.find_speech(known.page, "es")
    assert [words(text, ranges) for text, ranges in zip(known.page.texts, found, strict=True)] == [
        words(text, known.speech[place]) for place, text in enumerate(known.page.texts)
    ]


def test_verbs_that_were_never_seen_are_known_by_their_use(model):
    known = example_of(pages(("farfulló", "bramó"), 3))
    found = model.find_speech(known.page, "xx")
    right = [
        words(text, ranges) == words(text, known.speech[place])
        for place, (text, ranges) in enumerate(zip(known.page.texts, found, strict=True))
    ]
    assert np.mean(right) > 0.9


def test_the_arcs_of_known_speech():
    example = example_of(["[—Ven,] dijo Bo, [ya. Come.] [—Voy.]", "Dijo: [—Ven.]"])
    assert arcs_of(example.page, example.speech).tolist() == [
        *(BEGINS, ENDS, BEGINS, SAID, CHANGES),
        BEGINS,
    ]
    assert arcs_of(example.page, {}).tolist() == [TOLD] * 6


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(InputError, match="found no paragraph with dashes, expected some"):
        fit_segmentation([], SegmentationTraining(), print)


def test_weights_are_written_and_read(model, tmp_path):
    path = tmp_path / "cuts.safetensors"
    write_weights(path, weights_of(model, 20_000), {}, force=False)
    again = load_segmentation(path)
    assert again.languages == {"es"}
    known = example_of(pages(VERBS, 4))
    expected = model.find_speech(known.page, "es")
    assert again.find_speech(example_of(pages(VERBS, 4)).page, "es") == expected
    assert path.stat().st_size < 400_000


def test_only_the_largest_weights_are_kept(model):
    found = weights_of(model, 10)
    assert {name: len(item) for name, item in found.items() if name.endswith("steps")} == {
        f"{reading}.{part}.steps": 10
        for reading in ("first", "second")
        for part in ("states", "arcs")
    }


def test_equal_runs_give_equal_weights(model):
    again = fit_segmentation(
        [example_of(pages(VERBS, 1))], SegmentationTraining(), lambda line: None
    )
    first, second = weights_of(model, 5_000), weights_of(again, 5_000)
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_books_with_quotation_marks_are_printed_anew(tmp_path):
    gold = annotations_of_two(tmp_path)
    options = SegmentationTraining(printed=60)
    examples = read_segmentation_examples(gold, "sample", read_sample, options)
    assert {example.book for example in examples} == {"sample", "7"}
    assert all(example.is_printed and example.language == "en" for example in examples)
    assert all(0 < len(example.speech) <= 20 for example in examples)
    again = read_segmentation_examples(gold, "sample", read_sample, options)
    assert [example.speech for example in again] == [example.speech for example in examples]


def test_a_run_writes_weights_and_a_record(tmp_path):
    gold = annotations_of_two(tmp_path)
    path = tmp_path / "cuts.safetensors"
    books = tmp_path / "books"
    books.mkdir()
    for book in ("sample", "7"):
        (books / f"{book}.html").write_bytes(read_sample(book))
    run = SegmentationRun(
        out=path, gold=gold, books=Path(books), train_split="sample", without=("sample",)
    )
    options = SegmentationTraining(printed=20, epochs=1)
    lines = []
    train_segmentation(run, options, False, "python train.py cuts", lines.append)
    assert load_segmentation(path).languages == {"en"}
    record = json.loads(path.with_suffix(".json").read_text())
    assert record["books printed anew"] == ["7"]
    assert record["paragraphs read"] == 0
    assert record["command"] == "python train.py cuts"
    assert lines[0].startswith("read 1 books in ")
    with pytest.raises(InputError, match="exists"):
        train_segmentation(run, options, False, "", lines.append)
