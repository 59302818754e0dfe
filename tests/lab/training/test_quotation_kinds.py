"""The judge of kinds learns from labelled quotations and from what the rules name."""

import json

import pytest
from helpers import ANNOTATIONS, SAMPLE, annotations_of_sample

from miner.annotation.alignment import fingerprint
from miner.errors import InputError
from miner.lab.learning.run_folder import write_weights
from miner.lab.training.quotation_kinds import (
    LABELS,
    KindTrainer,
    KindTraining,
    fit_kinds,
    read_kind_examples,
    read_labels,
)
from miner.speech.kinds import SpanKind
from miner.speech.quotation_kinds import KINDS, load_kind_classifier
from miner.speech.read import parse_spans

TALK = "<p>“Who keeps the geese?” asked Mara.</p>"
PLACES = ("gate", "door", "mill", "boat", "stone", "lock")
WORDS = ("Fresh eggs.", "Mind the step.", "Keep the gate shut.")
SENTENCES = {
    SpanKind.INSCRIPTION: "On a board by the {} he saw the words “{}” in red.",
    SpanKind.OTHER: "He had never known of any {} what is called “{}” at home.",
    SpanKind.LETTER: "In the note from the {} he found nothing else than “{}” that day.",
    SpanKind.THOUGHT: "Her heart said of the {} only “{}” and was still.",
}


def page():
    """A page of quotations that are no speech, and their labels."""
    paragraphs, labels = [], []
    for kind, sentence in SENTENCES.items():
        for place in PLACES:
            for words in WORDS:
                text = f"{words[:-1]} of the {place} {kind}."
                paragraphs.append(f"<p>{sentence.format(place, text)}</p>")
                labels.append({"fingerprint": str(fingerprint(text)), "kind": str(kind)})
    body = "".join([TALK, *paragraphs])
    rows = [{"book": "9", "paragraph": n + 1, **row} for n, row in enumerate(labels)]
    return f"<html lang='en'><body>{body}</body></html>".encode(), rows


@pytest.fixture
def gold(tmp_path):
    """The folder of annotations of the sample, with labels of another book."""
    folder = annotations_of_sample(tmp_path)
    _, rows = page()
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / LABELS).write_text(lines, encoding="utf-8")
    return folder


def read(book):
    return page()[0] if book == "9" else SAMPLE.read_bytes()


def test_labels_and_what_the_rules_name_are_learned(gold, tmp_path):
    examples = read_kind_examples(gold, "sample", read)
    n = len(page()[1])
    assert examples.labelled.sum() == n == examples.books.count("9")
    assert examples.books.count("sample") == 5 and set(examples.books) == {"sample", "9"}
    assert examples.n_facts.sum() == len(examples.numbers) == len(examples.weights)
    trainer = KindTrainer(KindTraining())
    assert trainer.describe(examples)["quotations with a label"] == n
    write_weights(tmp_path / "kinds.safetensors", trainer.fit(examples, print), {}, force=False)
    classifier = load_kind_classifier(tmp_path / "kinds.safetensors")
    text = "<p>On a board by the inn he saw the words “Geese of the inn” in red.</p>"
    book = parse_spans(f"<html lang='en'>{TALK}{text}</html>".encode(), "7", classified=False)
    (found,) = [span for span in classifier.classify(book).spans if span.quoted]
    assert found.kind is SpanKind.INSCRIPTION


def test_a_kind_of_which_nothing_is_known_is_refused(gold):
    (gold / LABELS).write_text("")
    examples = read_kind_examples(gold, "sample", read)
    with pytest.raises(InputError, match="^found no letter, inscription, expected "):
        fit_kinds(examples, KindTraining())


def test_the_labels_of_the_package_are_of_its_kinds():
    labels = [label for of_book in read_labels(ANNOTATIONS / LABELS).values() for label in of_book]
    assert len(labels) == 312 and {label.kind for label in labels} >= set(KINDS)
    assert not any(label.kind is SpanKind.NARRATION for label in labels)


def test_a_row_without_a_kind_is_refused(tmp_path):
    path = tmp_path / LABELS
    path.write_text('{"book": "7", "paragraph": 1, "fingerprint": "a.1.b", "kind": "shout"}\n')
    with pytest.raises(InputError, match=r"kinds\.jsonl:1: found no kind of a quotation"):
        read_labels(path)
