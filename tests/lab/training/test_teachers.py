"""Teachers: the probabilities that trained taggers give, and what a student learns from them."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from click.testing import CliRunner
from encoders import encoder, sample, save_checkpoint
from helpers import annotations_of_sample
from models_helpers import change_config
from safetensors.torch import load_file

import train
from heuristic.gap import GapTagger
from miner.errors import InputError
from miner.lab.learning.loop import fit
from miner.lab.training.tagger.encoded_chapters import ChapterEncoder
from miner.lab.training.tagger.model_selection import score_chapters
from miner.lab.training.tagger.steps import learner_of, stages_of
from miner.lab.training.tagger.teachers import Teachers, mean_labels, teacher_signatures
from miner.lab.training.tagger.training import new_model
from miner.lab.training.tagger.training_config import TrainingConfig
from miner.lab.training.tagger.training_data import (
    AnnotatedExamples,
    AugmentedChapters,
    TaughtChapters,
    TrainingData,
    build_data_record,
    examples_from_tagger,
)
from miner.tagger.config import Expert
from miner.tagger.encoding import plain_tokenizer
from miner.tagger.load import SHIPPED, load_checkpoint_tagger
from miner.tagger.model import log_odds

EXAMPLES = examples_from_tagger(sample(), None)
CHAPTERS = [example.chapter for example in EXAMPLES]
SMALL = {"encoder": str(encoder()), "window": 64, "margin": 8, "projection": 16, "hidden": 8}


def quiet(items, name):
    return items


def teachers_of(*paths):
    return Teachers.load(TrainingConfig(teacher=tuple(map(str, paths))), quiet)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    return save_checkpoint(tmp_path_factory.mktemp("teachers") / "first")


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """A teacher with another tokenizer, and with windows of another size."""
    folder = tmp_path_factory.mktemp("teachers") / "other"
    return save_checkpoint(folder, "roberta", seed=5, window=100, margin=12)


def test_the_labels_of_several_teachers_are_the_mean_of_their_probabilities():
    """Of the outcomes of the last utterance: opens, goes on, another turn."""
    first, second = np.array([0.5, 0.25, 0.25]), np.array([0.1, 0.9, 1e-9])
    scores = [np.log(rows[[0, 1, 2, 1]])[None].repeat(2, axis=0) for rows in (first, second)]
    found = mean_labels(scores)
    assert (found.dtype, found.shape) == (np.float16, (2, 2))
    assert found[0].tolist() == [1, 0]  # the first utterance of a chapter always opens
    assert found[1] == pytest.approx([0.3, 1.15 / 1.4], abs=1e-3)
    assert mean_labels(scores[:1])[1] == pytest.approx([0.5, 0.5])


def test_a_certain_beginning_is_a_number_too():
    scores = np.array([[0.0, 0, 0, 0], [1e4, 0, 0, 0]])
    assert mean_labels([scores]).tolist() == [[1, 0], [1, 0]]


def test_the_labels_are_the_answers_of_the_model(teacher):
    (found, *_) = teachers_of(teacher).label(CHAPTERS)
    tagger = load_checkpoint_tagger(str(teacher))
    tagger = replace(tagger, config=replace(tagger.config, sure=1.0))
    scores = torch.from_numpy(tagger.score_chapter(CHAPTERS[0]))
    expected = torch.stack(log_odds(scores), dim=1).sigmoid().numpy()
    assert found[1:] == pytest.approx(expected[1:], abs=1e-3)
    assert 0.05 < found[1:].std()


def test_neither_calibration_nor_what_is_left_unread_changes_the_labels(teacher, tmp_path):
    tuned = shutil.copytree(teacher, tmp_path / "tuned")
    change_config(tuned, start_offset=2.0, confidence_temperature=3.0, sure=0.1)
    assert load_checkpoint_tagger(str(tuned)).config.confidence_temperature == 3
    for one, same in zip(
        *(teachers_of(one).label(CHAPTERS) for one in (teacher, tuned)), strict=True
    ):
        assert np.array_equal(one, same)


def test_each_teacher_reads_in_its_own_way(teacher, other):
    first, second, both = (
        list(teachers_of(*given).label(CHAPTERS))
        for given in ([teacher], [other], [teacher, other])
    )
    for chapter, one, two, mean in zip(CHAPTERS, first, second, both, strict=True):
        assert len(mean) == len(chapter.places)
        assert mean[:, 0] == pytest.approx((one[:, 0] + two[:, 0]) / 2, abs=1e-3)
    assert not np.allclose(first[0], second[0], atol=0.05)


def test_teachers_read_each_version_of_a_chapter(teacher):
    plain = AugmentedChapters(tuple(EXAMPLES), 0.6, 0)
    teachers = teachers_of(teacher)
    taught = TaughtChapters(plain, teachers)
    assert (len(taught), taught.is_varied) == (len(plain), True)
    labels = [[item.soft_labels for item in taught.version(epoch)] for epoch in (0, 1)]
    for epoch, found in enumerate(labels):
        expected = list(teachers.label([item.chapter for item in plain.version(epoch)]))
        assert all(map(np.array_equal, found, expected))
    assert not all(map(np.array_equal, *labels))


def test_without_teachers_nothing_is_labelled():
    chapters = AugmentedChapters(tuple(EXAMPLES), 0.0, 0)
    assert TrainingData(chapters, chapters, {}, {}).taught(chapters) is chapters


def test_chapters_that_teachers_label_have_no_tags():
    assert {tag for example in EXAMPLES for tag in example.tags} == {-1}
    assert [len(example.tags) for example in EXAMPLES] == [len(item.places) for item in CHAPTERS]


def test_teachers_teach_the_text_and_they_alone_teach_weak_chapters():
    chapters = AugmentedChapters(tuple(EXAMPLES), 0.0, 0)
    data = TrainingData(chapters, chapters, {}, {})
    shares = [
        [(stage.name, stage.teacher_share) for stage in stages_of(config, data)]
        for config in (TrainingConfig(teacher=("a",), teacher_share=0.3), TrainingConfig())
    ]
    assert shares[0] == [("structure", 0), ("weak", 1), ("gold", 0.3)]
    assert shares[1] == [("structure", 0), ("weak", 0), ("gold", 0)]


def test_a_record_names_the_teachers(teacher, other):
    config = TrainingConfig(teacher=(str(teacher), str(other)))
    names = teacher_signatures(config)
    assert [name.partition("@")[0] for name in names] == ["first", "other"]
    dev = AnnotatedExamples(tuple(EXAMPLES[:1]), (), ())
    record = build_data_record(config, EXAMPLES, dev, EXAMPLES, [])
    assert record["teachers"] == " ".join(names)
    assert record["weak tagger"] == "the teachers"
    record = build_data_record(TrainingConfig(), EXAMPLES, dev, EXAMPLES, [])
    assert (record["teachers"], record["weak tagger"]) == ("", "tuned-gap")


def test_auto_is_the_tagger_of_the_package_for_the_languages():
    for language, name in (("en", "en"), ("de, fr", "multilingual")):
        (found,) = teacher_signatures(TrainingConfig(teacher=("auto",), language=language))
        assert found == f"{name}@{SHIPPED[name][:8]}"


def test_weak_labels_are_from_a_tagger_or_from_teachers():
    with pytest.raises(InputError) as error:
        TrainingConfig(teacher=("a",), weak_tagger="gap")
    line = "found `weak_tagger=` with `teacher=`, expected one: teachers label weak books"
    assert str(error.value) == line


def student_of(chapters, **given):
    """Trains the text expert on weak chapters, and returns its answers: (utterances, 2)."""
    config = TrainingConfig(**SMALL, weak_epochs=12, head_rate=0.01, encoder_rate=0.001, **given)
    model, tokenizer = new_model(config)
    encoder = ChapterEncoder(model, plain_tokenizer(tokenizer.backend_tokenizer))
    teachers = Teachers.load(config, quiet) if config.teacher else None
    weak = AugmentedChapters(tuple(chapters), 0.0, 0)
    data = TrainingData(weak, weak, {}, {}, teachers)
    (stage,) = [stage for stage in stages_of(config, data) if stage.name == "weak"]
    given = encoder, config, Accelerator(), quiet, lambda epoch: {}, lambda: None
    fit(learner_of(stage, *given), stage.n_epochs)
    scores = score_chapters(model, encoder.encode(chapters), [Expert.TEXT])
    return np.concatenate([mean_labels([rows])[1:] for rows in scores]).astype(float)


def test_a_student_comes_nearer_to_its_teacher_than_one_of_weak_tags(teacher):
    labels = [item[1:] for item in teachers_of(teacher).label(CHAPTERS)]
    expected = np.concatenate(labels).astype(float)
    taught = student_of(EXAMPLES, teacher=(str(teacher),))
    untaught = student_of(examples_from_tagger(sample(), GapTagger(150)))
    # The second answer matters as far as no conversation opens.
    weights = np.stack([np.ones(len(expected)), 1 - expected[:, 0]], axis=1)
    distances = [
        np.average(abs(found - expected), axis=0, weights=weights) for found in (taught, untaught)
    ]
    assert (distances[0] < 0.5 * distances[1]).all()


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return annotations_of_sample(tmp_path_factory.mktemp("gold") / "sample-only")


def words(gold, *options):
    """The options of a run of two epochs on the sample, once taught by weak chapters."""
    given = ["tagger", "--gold", gold, "--smoke", "--batch", 2, "--resamples", 20, *options]
    given += [word for name, value in SMALL.items() for word in (f"--{name}", value)]
    return list(map(str, given))


@pytest.mark.slow
def test_a_taught_run_from_prepared_examples_comes_to_the_same_result(gold, teacher, tmp_path):
    there = shutil.copytree(teacher, tmp_path / "teacher")
    given = ("--teacher", there, "--teacher-share", 0.4)
    path = tmp_path / "examples"
    for options in (("-o", tmp_path / "one"), ("--prepare", path), ("-o", tmp_path / "two")):
        if options[1] == tmp_path / "two":  # elsewhere: there is no teacher
            shutil.rmtree(there)
            options += ("--examples", path)
        done = CliRunner().invoke(train.main, words(gold, *given, *options))
        assert (done.exit_code, done.exception) == (0, None)
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    assert one.keys() == two.keys()
    assert all(torch.equal(one[name], two[name]) for name in one)
    records = [json.loads((tmp_path / name / "run.json").read_bytes()) for name in ("one", "two")]
    training = [{**record["training"], "command": ""} for record in records]
    assert training[0] == training[1]
    assert training[0]["teachers"].startswith("teacher@")
    assert (training[0]["share of teachers"], training[0]["weak tagger"]) == (0.4, "the teachers")
    card = (tmp_path / "one" / "README.md").read_text(encoding="utf-8")
    assert f"- teachers: `{training[0]['teachers']}`" in card
    done = CliRunner().invoke(train.main, words(gold, "--examples", path, "-o", tmp_path / "three"))
    assert done.exit_code == 1 and "found examples of --teacher ['" in done.output


@pytest.mark.parametrize("name", ["gap", "nowhere"])
def test_a_teacher_that_cannot_be_loaded_is_one_line(gold, tmp_path, name):
    options = ("-o", tmp_path / "out", "--teacher", name)
    done = CliRunner().invoke(train.main, words(gold, *options))
    line = f"train.py: {name}: found no config.json, expected a checkpoint of `train.py`"
    assert (done.exit_code, done.output.splitlines()[-1]) == (1, line)
    assert not (tmp_path / "out").exists()
