"""TF-IDF and BM25: their scores are those of other implementations, with training's statistics."""

from dataclasses import replace
from math import log, sqrt

import bm25s
import numpy as np
import pytest

from miner.errors import InputError
from miner.lab.lessons.examples import Example, split_words
from miner.lab.lessons.selection.methods import Training, find_method
from miner.lab.lessons.selection.tasks import one_of_many_accuracy

PAIRS = [
    ("Where is the lamp?", "The lamp is on the table, beside the other lamp."),
    ("Who broke the window?", "The boys did, with a stone."),
    ("Shall we walk to the mill?", "The mill is far, and it rains."),
    ("Did it rain at the fair?", "It rained, and rained, and rained."),
    ("Is the miller's boy at home?", "No, the boy is at the fair."),
    ("Well?", "Well!"),
]
EXAMPLES = [Example("0", (context,), response) for context, response in PAIRS]
TEXTS = [
    "the lamp",
    "rained, rained — the MILL!",
    "a word of nobody: xylophone",
    "xylophone",
    "…",
    "",
]


def train(tmp_path, name, examples=EXAMPLES, **options):
    kind = find_method(name)
    training = Training(
        examples, [], kind.read_options(options), 0, tmp_path, lambda step: None, lambda a, b: None
    )
    folder = tmp_path / "method"
    folder.mkdir(exist_ok=True)
    kind.train(training, folder)
    return kind.load(folder)


@pytest.mark.parametrize("options", [{}, {"k1": 0.7, "b": 0.2}, {"k1": 3.0, "b": 1.0}, {"b": 0.0}])
def test_scores_are_those_of_a_search_by_bm25s(tmp_path, options):
    responses = [one.response for one in EXAMPLES]
    method = train(tmp_path, "bm25", **options)
    search = bm25s.BM25(method="lucene", dtype="float64", **options)
    search.index([split_words(text) for text in responses], show_progress=False)
    scores = (
        method.encode_contexts([(text,) for text in TEXTS]) @ method.encode_responses(responses).T
    ).toarray()
    for text, row in zip(TEXTS, scores, strict=True):
        words = split_words(text)
        expected = search.get_scores(words) if words else np.zeros(len(responses))
        assert row == pytest.approx(expected, rel=1e-12, abs=0), text
    assert scores[:3].any(axis=1).all() and not scores[3:].any()


def test_bm25_weighs_a_response_that_is_not_of_training(tmp_path):
    method = train(tmp_path, "bm25", k1=1.2, b=0.5)
    found = (
        method.encode_contexts([("The lamp",)]) @ method.encode_responses(["lamp xylophone lamp"]).T
    )
    n, with_lamp = len(EXAMPLES), 1
    idf = log(1 + (n - with_lamp + 0.5) / (with_lamp + 0.5))
    mean = sum(len(split_words(one.response)) for one in EXAMPLES) / n
    expected = idf * 2 / (2 + 1.2 * (0.5 + 0.5 * 3 / mean))  # the unknown word is one of 3 words
    assert found.toarray() == pytest.approx(np.array([[expected]]), rel=1e-12)


def test_tf_idf_is_the_cosine_with_the_idf_of_contexts_and_responses(tmp_path):
    method = train(tmp_path, "tf-idf")
    texts = [split_words(text) for pair in PAIRS for text in pair]

    def vector(text):
        words = [word for word in split_words(text) if any(word in other for other in texts)]
        weights = {}
        for word in words:
            n = sum(word in other for other in texts)
            # The smooth idf of scikit-learn, as if one more text had each word.
            weights[word] = words.count(word) * (log((1 + len(texts)) / (1 + n)) + 1)
        length = sqrt(sum(weight**2 for weight in weights.values())) or 1
        return {word: weight / length for word, weight in weights.items()}

    def cosine(one, other):
        one, other = vector(one), vector(other)
        return sum(weight * other.get(word, 0) for word, weight in one.items())

    responses = [*TEXTS, *(response for _, response in PAIRS)]
    rows = (
        method.encode_contexts([(text,) for text in TEXTS]) @ method.encode_responses(responses).T
    )
    expected = [[cosine(text, response) for response in responses] for text in TEXTS]
    assert rows.toarray() == pytest.approx(np.array(expected), rel=1e-12)
    assert np.count_nonzero(expected) > 10


@pytest.mark.parametrize("name", ["tf-idf", "bm25"])
def test_all_turns_of_a_context_count(tmp_path, name):
    method = train(tmp_path, name)
    one, two = method.encode_contexts([("the lamp", "a stone"), ("The lamp, a stone",)]).toarray()
    assert one == pytest.approx(two) and one.any()


@pytest.mark.parametrize("name", ["tf-idf", "bm25"])
def test_pairs_of_the_same_words_are_found(tmp_path, name):
    things = [f"{a}{b}x" for a in "abcdefghij" for b in "klmnopqrst"]
    examples = [Example("0", (f"Where is the {x}?",), f"I have the {x}.") for x in things]
    method = train(tmp_path, name, examples)
    assert one_of_many_accuracy(method, examples) == 1
    shifted = [
        replace(one, response=other.response)
        for one, other in zip(examples, examples[1:] + examples[:1], strict=True)
    ]
    assert one_of_many_accuracy(method, shifted) < 0.05


@pytest.mark.parametrize("name", ["tf-idf", "bm25"])
def test_no_words_and_damaged_files_are_one_line(tmp_path, name):
    with pytest.raises(InputError, match="^found no [a-z ]+ with a word, expected some to"):
        train(tmp_path, name, [Example("0", ("…",), "!")])
    train(tmp_path, name)
    folder = tmp_path / "method"
    (folder / "words.txt").write_text("one\ntwo\n")
    with pytest.raises(InputError, match=r"method: cannot be loaded: found \d+ idf of 2 words$"):
        find_method(name).load(folder)
    (folder / "numbers.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match="method: cannot be loaded: "):
        find_method(name).load(folder)
    (folder / "numbers.npz").unlink()
    with pytest.raises(InputError, match="method: cannot be loaded: .*numbers.npz"):
        find_method(name).load(folder)
