"""Examples of the speakers: from annotated books, and through a file without any text."""

import gzip
import re
from dataclasses import replace

import numpy as np
import pytest
from helpers import annotations_of_sample, annotations_of_two
from models_helpers import read_sample

from miner.annotation.annotations import read_split
from miner.errors import InputError
from miner.lab.gold.editions import open_edition
from miner.lab.learning.prepared import digest_prepared, read_prepared, write_prepared
from miner.lab.training.speakers.training import (
    KIND,
    SpeakerExample,
    examples_of,
    load_examples,
    merge_gold,
    read_speaker_examples,
    without_people,
)
from miner.people.features import FEATURES
from miner.people.mentions import UNKNOWN_NUMBER
from miner.speech.kinds import SpanKind


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return annotations_of_sample(tmp_path_factory.mktemp("gold") / "one")


@pytest.fixture(scope="module")
def edition(gold):
    (annotated,) = read_split(gold, "sample")
    return open_edition(annotated, read_sample(""))


@pytest.fixture(scope="module")
def examples(edition):
    return tuple(examples_of(edition))


@pytest.fixture(scope="module")
def file(examples, tmp_path_factory):
    path = tmp_path_factory.mktemp("examples") / "examples"
    bare = list(map(without_people, examples))
    write_prepared(path, KIND, {"data": "sample"}, bare, FEATURES)
    return path


def test_the_examples_are_the_annotated_utterances_of_each_chapter(examples, edition):
    assert len(examples) == 5
    n_annotated = sum(fact is not None and fact.is_utterance for fact in edition.located.facts)
    assert sum(len(example.targets) for example in examples) == n_annotated == 180
    card = edition.annotated.card
    assert {(example.book, example.author) for example in examples} == {("sample", card.author)}


def test_a_target_is_the_person_whom_the_annotator_named(examples, edition):
    spans, facts = merge_gold(edition)
    persons: dict[tuple[int, str], set[int]] = {}
    n_unmatched = 0
    for example in examples:
        chapter = example.chapter
        rows = zip(chapter.spans, chapter.candidates, example.targets, strict=True)
        for place, candidates, target in rows:
            assert spans.spans[place].is_utterance
            if candidates[target] == UNKNOWN_NUMBER:
                n_unmatched += 1
            else:
                key = facts[place].chapter, facts[place].speaker
                persons.setdefault(key, set()).add(candidates[target])
    assert n_unmatched < 36  # a fifth
    assert persons and all(len(found) == 1 for found in persons.values())


def test_an_utterance_of_an_unknown_speaker_is_one_of_the_unknown_person(edition):
    doubtful = tuple(fact and replace(fact, speaker="?") for fact in edition.located.facts)
    unknown = replace(edition, located=replace(edition.located, facts=doubtful))
    speakers = {
        candidates[target]
        for example in examples_of(unknown)
        for candidates, target in zip(example.chapter.candidates, example.targets, strict=True)
    }
    assert speakers == {UNKNOWN_NUMBER}


def test_annotated_paragraphs_have_the_spans_of_their_gold_and_others_those_of_the_miner(edition):
    annotated = edition.annotated
    second = tuple(fact for fact in annotated.annotations if fact.chapter == 2)
    part = open_edition(replace(annotated, annotations=second), read_sample(""))
    # The miner takes all for narration.
    mined = tuple(replace(span, kind=SpanKind.NARRATION) for span in part.book_spans.spans)
    part = replace(part, book_spans=replace(part.book_spans, spans=mined))
    merged, facts = merge_gold(part)
    gold = part.located.book_spans.spans
    own = {span.paragraph for span in gold}
    assert [span for span in merged.spans if span.paragraph in own] == list(gold)
    expected = [span for span in mined if span.paragraph not in own]
    assert [span for span in merged.spans if span.paragraph not in own] == expected
    of_gold = {span.chapter for span, fact in zip(merged.spans, facts, strict=True) if fact}
    assert of_gold == {2} and any(span.is_utterance for span in merged.spans)


def test_the_books_of_a_split_may_be_left_out(tmp_path):
    gold = annotations_of_two(tmp_path / "two")
    found = list(read_speaker_examples(gold, "sample", read_sample, ["7"]))
    assert {example.book for example in found} == {"sample"}
    with pytest.raises(InputError, match="found no book 9 in split sample to leave out"):
        list(read_speaker_examples(gold, "sample", read_sample, ["9"]))
    with pytest.raises(InputError, match="found no book of split sample but those left out"):
        list(read_speaker_examples(gold, "sample", read_sample, ["7", "sample"]))


def test_examples_come_back_as_they_were_written(examples, file):
    found, record = read_prepared(file, KIND, list[SpeakerExample], FEATURES)
    assert record == {"data": "sample"}
    for one, other in zip(found, examples, strict=True):
        assert (one.targets, one.book, one.author) == (other.targets, other.book, other.author)
        for name in ("spans", "candidates", "facts"):
            assert getattr(one.chapter, name) == getattr(other.chapter, name)
        for rows, expected in zip(one.chapter.features, other.chapter.features, strict=True):
            assert rows.dtype == np.float16
            np.testing.assert_array_equal(rows, expected)
    assert digest_prepared(found) == digest_prepared(list(map(without_people, examples)))


def test_a_digest_changes_with_a_target_and_with_a_feature(examples):
    first = examples[0]
    other = replace(first, targets=(first.targets[0] - 1, *first.targets[1:]))
    assert digest_prepared([first]) != digest_prepared([other])
    features = (first.chapter.features[0] + 1, *first.chapter.features[1:])
    other = replace(first, chapter=replace(first.chapter, features=features))
    assert digest_prepared([first]) != digest_prepared([other])


def test_a_file_has_no_text_of_the_book(examples, file, edition):
    text = gzip.decompress(file.read_bytes()).decode("latin-1")
    names = {person.noun for example in examples for person in example.chapter.people}
    names |= set(re.findall(r"[A-Z][a-z]{4,}", " ".join(s.text for s in edition.book_spans.spans)))
    said = " ".join(FEATURES) + edition.annotated.card.author
    assert [name for name in names if len(name) > 4 and name in text and name not in said] == []


def test_the_features_take_a_byte_a_candidate_or_so(examples, file):
    n_rows = sum(len(rows) for example in examples for rows in example.chapter.features)
    assert file.stat().st_size < 15 * n_rows + 20_000  # uncompressed, a row has 326 bytes


def test_an_existing_file_stays(file):
    before = file.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        write_prepared(file, KIND, {}, [], FEATURES)
    assert file.read_bytes() == before


def test_no_examples_are_a_file_too(tmp_path):
    write_prepared(tmp_path / "none", KIND, {}, [], FEATURES)
    assert load_examples(tmp_path / "none") == []


def test_a_file_of_something_else_or_one_that_is_cut_off_is_one_line(file, tmp_path):
    whole = file.read_bytes()
    old = b"PK\x03\x04, as older versions wrote it"
    for content in (b"", b"no examples", old, whole[:100], whole[:3000], whole[:-30]):
        path = tmp_path / "x"
        path.write_bytes(content)
        with pytest.raises(InputError, match="expected prepared examples of the speakers") as error:
            load_examples(path)
        assert str(error.value).startswith(f"{path}: found ") and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "features", "made", "message"),
    [
        (KIND, ("one", "two"), [], "examples of other features, expected our"),
        ("tagger", FEATURES, [], "examples of the tagger in format 3, expected prepared"),
        (KIND, FEATURES, [{"book": "7"}], "Object missing required field .*, expected prepared"),
        (KIND, FEATURES, {"book": "7"}, "Expected `array`, got `object`"),
    ],
)
def test_examples_of_something_else_are_refused(tmp_path, kind, features, made, message):
    path = tmp_path / "other"
    write_prepared(path, kind, {}, made, features)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: found .*{message}"):
        load_examples(path)
