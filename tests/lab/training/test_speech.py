"""The judge of speech learns from annotated spans, and its weights and examples have files."""

import json
from zlib import crc32

import numpy as np
import pytest
from helpers import SAMPLE, annotations_of_two
from models_helpers import read_sample

from miner.annotation.alignment import fingerprint
from miner.annotation.annotations import Annotation, row_from_annotation
from miner.errors import InputError
from miner.lab.learning.prepared import digest_prepared, read_prepared, write_prepared
from miner.lab.learning.run_folder import write_weights
from miner.lab.training.speech import (
    KIND,
    SpeechExamples,
    SpeechTrainer,
    SpeechTraining,
    fit_classifier,
    read_speech_examples,
    weights_of,
)
from miner.speech.read import parse_spans
from miner.speech.speech_classifier import (
    N_QUOTATION_FEATURES,
    QuotationClassifier,
    is_classified,
    load_classifier,
    read_features,
)
from miner.speech.weight_file import find_weights

PEOPLE = ("Mara", "Tobin", "the ferryman", "his wife", "Mr. Otway", "Ann")
THINGS = ("sign", "label", "inscription", "card", "board", "notice")
WORDS = ("Closed", "No boats today", "Keep out", "To the ferry", "Fresh eggs", "Mind the step")


def spans_of(*paragraphs):
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    page = f"<html lang='en'><body>{text}</body></html>"
    return parse_spans(page.encode(), "7", classified=False).spans


def prose():
    """Paragraphs in which people and things say the same words, and whether it is speech."""
    for n, thing in enumerate(THINGS):
        for m, words in enumerate(WORDS):
            yield f"It was late, and the {thing} said, “{words},” in the rain.", False
            yield f"It was late, and {PEOPLE[(n + m) % 6]} said, “{words},” in the rain.", True


def examples_of(pairs):
    paragraphs, said = zip(*pairs, strict=True)
    spans = spans_of(*paragraphs)
    facts = [read_features(spans, n) for n, span in enumerate(spans) if is_classified(span)]
    assert len(facts) == len(said)
    numbers, weights = zip(*facts, strict=True)
    return SpeechExamples(
        ("7",) * len(said),
        ~np.array(said),
        np.array([len(item) for item in numbers], dtype=np.int32),
        np.concatenate(numbers),
        np.concatenate(weights),
    )


@pytest.fixture(scope="module")
def examples():
    return examples_of(prose())


@pytest.fixture(scope="module")
def judge(examples):
    return fit_classifier(examples, SpeechTraining())


def test_the_judge_learns_that_what_a_sign_says_is_no_speech(judge):
    spans = spans_of(
        "He looked up. The sign said, “Tickets here,” and nothing else.",
        "He looked up. The captain said, “Tickets here,” and nothing else.",
    )
    sign, captain = (judge.probability(spans, n) for n, s in enumerate(spans) if is_classified(s))
    assert sign > 0.5 > captain


def test_a_stronger_regularization_makes_a_judge_less_sure(examples, judge):
    weak = fit_classifier(examples, SpeechTraining(strength=0.001))
    assert np.abs(weak.weights).max() < np.abs(judge.weights).max() / 2


def test_the_same_examples_give_the_same_judge(examples, judge):
    np.testing.assert_array_equal(fit_classifier(examples, SpeechTraining()).weights, judge.weights)


def test_speech_alone_teaches_nothing():
    speech = examples_of([pair for pair in prose() if pair[1]])
    with pytest.raises(InputError, match="^found no speech or no other quotations"):
        fit_classifier(speech, SpeechTraining())


def test_weights_come_back_in_sixteen_bits(judge, tmp_path):
    path = tmp_path / "en.safetensors"
    write_weights(path, weights_of(judge), {}, force=False)
    found = load_classifier(path)
    np.testing.assert_allclose(found.weights, judge.weights, rtol=1e-3, atol=1e-6)
    assert found.bias == pytest.approx(judge.bias, rel=1e-3)
    assert path.stat().st_size < 140_000


def test_the_examples_are_the_annotated_quotations(tmp_path):
    gold = annotations_of_two(tmp_path / "two")
    found = read_speech_examples(gold, "sample", read_sample)
    n = found.books.count("sample")
    assert found.books == ("sample",) * n + ("7",) * (len(found.books) - n)
    rows = map(json.loads, (gold / "gold" / "sample.jsonl").read_bytes().splitlines())
    said = [bool(row["speaker"]) for row in rows]
    assert 0.95 * len(said) < n <= len(said)
    assert 5 <= found.unsaid[:n].sum() <= said.count(False)
    assert found.n_facts.sum() == len(found.numbers) == len(found.weights)
    alone = read_speech_examples(gold, "sample", read_sample, ["7"])
    assert set(alone.books) == {"sample"}


FRENCH = (
    "— Le vent se lève.",
    "« Il faut rentrer les filets. »",
    "« Personne ne viendra ce soir. »",
    "Le mot « passage » était presque effacé.",
)


@pytest.fixture
def two_languages(tmp_path):
    """The sample in English, and a book 7 in French: two utterances, a thought and a word."""
    folder = annotations_of_two(tmp_path / "two")
    cards = (folder / "books.jsonl").read_text(encoding="utf-8").splitlines()
    french = json.loads(cards[-1]) | {"language": "fr"}
    text = "\n".join([*cards[:-1], json.dumps(french)])
    (folder / "books.jsonl").write_text(text + "\n", encoding="utf-8")
    page = "".join(f"<p>{paragraph}</p>" for paragraph in FRENCH * 4)
    data = f"<html lang='fr'><body>{page}</body></html>".encode()
    spans = parse_spans(data, "7", classified=False).spans
    rows = [
        row_from_annotation(
            "7",
            Annotation(
                span.chapter,
                span.paragraph,
                fingerprint(span.text),
                *(("Mara", 1) if span.paragraph % 4 < 2 else ("", 0)),
            ),
        )
        for span in spans
        if span.in_marks
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "gold" / "7.jsonl").write_text(text, encoding="utf-8")
    return folder, lambda book: data if book == "7" else SAMPLE.read_bytes()


def test_other_languages_learn_from_their_passages_and_some_of_english(two_languages):
    gold, read = two_languages
    found = read_speech_examples(gold, "sample", read, language="fr")
    french = np.array(found.books) == "7"
    assert found.unsaid[french].tolist() == [False, False, True, True] * 4
    english = read_speech_examples(gold, "sample", read)
    assert 0 < (~french).sum() <= len(english.books) / 10
    judge = fit_classifier(found, SpeechTraining(language="fr"))
    assert isinstance(judge, QuotationClassifier) and judge.weights.shape == (N_QUOTATION_FEATURES,)


def test_the_answer_of_an_annotator_is_no_fact(two_languages):
    gold, read = two_languages
    found = read_speech_examples(gold, "sample", read, language="fr")
    ends = np.cumsum(found.n_facts)
    says = crc32(b"rule: True") % N_QUOTATION_FEATURES
    of_book = [n for n, book in enumerate(found.books) if book == "7"][:4]
    facts = [found.numbers[ends[n] - found.n_facts[n] : ends[n]] for n in of_book]
    # The rules take the thought for speech; the word is none to them, either.
    assert [says in numbers for numbers in facts] == [True, True, True, False]


def test_a_judge_of_several_languages_has_a_file(two_languages, tmp_path):
    gold, read = two_languages
    trainer = SpeechTrainer(SpeechTraining(language="fr", strength=2.0))
    examples = trainer.read(gold, "sample", read, (), print)
    path = tmp_path / "fr-it.safetensors"
    write_weights(path, trainer.fit(examples, print), {}, force=False)
    assert path.stat().st_size < 300_000
    assert isinstance(load_classifier(path), QuotationClassifier)
    assert find_weights(tmp_path, "it") == path and find_weights(tmp_path, "i") is None


def test_examples_come_back_as_they_were_written(examples, tmp_path):
    write_prepared(tmp_path / "speech", KIND, {"data": "prose"}, examples)
    found, record = read_prepared(tmp_path / "speech", KIND, SpeechExamples)
    assert record == {"data": "prose"} and found.books == examples.books
    assert digest_prepared(found) == digest_prepared(examples)
    np.testing.assert_array_equal(
        fit_classifier(found, SpeechTraining()).weights,
        fit_classifier(examples, SpeechTraining()).weights,
    )


def test_the_record_says_what_the_judge_learned_from(examples):
    found = SpeechTrainer(SpeechTraining()).describe(examples)
    assert found == {
        "books": ["7"],
        "spans": 72,
        "spans that are no speech": 36,
    }
