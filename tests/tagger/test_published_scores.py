"""A tagger's card quotes the measurement of that tagger, with those weights, or none."""

import json
import shutil

import pytest
from helpers import ANNOTATIONS, BOOKS, failed, needs_books, run

from miner.errors import InputError
from miner.files import PUBLISHED
from miner.lab.measure.confidence import LEVELS
from miner.tagger.load import (
    CHECKPOINT_OF,
    CHECKPOINTS,
    FLOAT32,
    SHIPPED,
    tagger_signature,
    weight_signatures,
)
from miner.tagger.published_scores import MEASURED, find_published_scores, read_published_scores

EN = CHECKPOINTS / "en"
MULTILINGUAL = CHECKPOINTS / "multilingual"
SHIPPED_TRUSTS = [(EN / PUBLISHED, str(EN)), (MEASURED / "gap.json", "gap")]


@pytest.mark.parametrize(("path", "name"), SHIPPED_TRUSTS, ids=["en", "gap"])
def test_a_measurement_in_the_package_is_of_the_tagger_and_weights_in_the_package(path, name):
    trust = read_published_scores(path)
    is_shipped(trust, name)
    assert (trust.split, trust.languages) == ("test", ("en",))
    assert (trust.n_books, trust.n_chapters) == (15, 30)
    assert json.loads(path.read_bytes()) == json.loads(json.dumps(trust.to_json()))
    levels = LEVELS if name != "gap" else (0.0,)
    assert tuple(kept.min_confidence for kept in trust.pairs) == levels
    for score in (*scores_of(trust), *(kept.precision for kept in trust.pairs)):
        assert 0 < score.low < score.value < score.high < 1


def test_the_tagger_of_seven_languages_was_measured_on_all_of_them():
    trust = read_published_scores(MULTILINGUAL / PUBLISHED)
    is_shipped(trust, str(MULTILINGUAL))
    codes = tuple(code for code, name in CHECKPOINT_OF.items() if name == MULTILINGUAL.name)
    assert trust.languages == codes and trust.split == f"{','.join(codes)} test"
    assert trust.n_books == 15 and trust.speakers is None
    assert tuple(kept.min_confidence for kept in trust.pairs) == LEVELS


def scores_of(trust):
    return trust.beginnings.precision, trust.beginnings.recall, trust.speakers


def is_shipped(trust, name):
    assert trust.tagger == tagger_signature(name)
    assert trust.weights == weight_signatures()
    assert trust.dtype == FLOAT32
    assert f"split:{trust.split}" in trust.signature and "bs:1000|seed:0" in trust.signature


def test_auto_is_the_checkpoints_and_the_heuristic():
    several = f"multilingual@{SHIPPED['multilingual'][:8]}"
    assert [trust.tagger for trust in find_published_scores("auto")] == [
        "en@b67f4bd1",
        several,
        "gap",
    ]
    assert [trust.tagger for trust in find_published_scores(str(EN))] == ["en@b67f4bd1"]
    assert [trust.tagger for trust in find_published_scores("gap")] == ["gap"]


@pytest.mark.parametrize("name", ["gap:300", "narration", "ChapterTagger", "gone", ""])
def test_another_tagger_has_no_measurement(name):
    assert find_published_scores(name) == ()


def test_a_checkpoint_in_another_type_of_numbers_was_not_measured():
    assert find_published_scores(str(EN), "bfloat16") == ()
    assert [trust.tagger for trust in find_published_scores("auto", "bfloat16")] == ["gap"]


def test_a_tags_file_has_none_though_a_measurement_lies_beside_it(tmp_path):
    (tmp_path / "tags").write_text("")
    shutil.copy(MEASURED / "gap.json", tmp_path / "tags.json")
    assert find_published_scores(str(tmp_path / "tags")) == ()


@pytest.fixture
def checkpoint(tmp_path):
    return shutil.copytree(EN, tmp_path / "en")


def test_a_measurement_of_other_weights_is_not_quoted(checkpoint):
    assert len(find_published_scores(str(checkpoint))) == 1
    config = checkpoint / "config.json"
    config.write_bytes(config.read_bytes() + b" ")
    assert find_published_scores(str(checkpoint)) == ()


def test_a_measurement_with_other_weights_of_the_speakers_is_not_quoted(checkpoint):
    record = json.loads((checkpoint / PUBLISHED).read_bytes())
    record["weights"]["speakers"] = ["en@00000000"]
    (checkpoint / PUBLISHED).write_text(json.dumps(record))
    assert find_published_scores(str(checkpoint)) == ()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"tagger": 1}', "7"])
def test_a_damaged_measurement_is_named(checkpoint, content):
    (checkpoint / PUBLISHED).write_text(content)
    with pytest.raises(InputError, match=r"en/trust\.json: found") as error:
        find_published_scores(str(checkpoint))
    assert len(str(error.value).splitlines()) == 1


def test_the_command_measures_and_writes(tmp_path):
    out = tmp_path / "gap.json"
    words = ("gold", "trust", "--gold", ANNOTATIONS, "--split", "sample", "--resamples", 20)
    assert run(*words, "--tagger", "gap", "-o", out).exit_code == 0
    trust = read_published_scores(out)
    assert (trust.tagger, trust.split, trust.n_books, trust.n_chapters) == ("gap", "sample", 1, 5)
    assert "split:sample" in trust.signature and "bs:20" in trust.signature
    shown = run(*words, "--tagger", "gap")
    assert json.loads(shown.stdout) == json.loads(out.read_bytes())
    assert "exists already" in failed(*words, "--tagger", "gap", "-o", out)


@pytest.mark.slow
@needs_books
@pytest.mark.parametrize(("path", "name"), SHIPPED_TRUSTS, ids=["en", "gap"])
def test_the_measurement_can_be_repeated(path, name, tmp_path):
    out = tmp_path / "trust.json"
    words = ("gold", "trust", "--gold", ANNOTATIONS, "--books", BOOKS, "--tagger", name, "-o", out)
    assert run(*words).exit_code == 0
    found, expected = read_published_scores(out), read_published_scores(path)
    assert found.signature == expected.signature
    for ours, theirs in zip(found.pairs, expected.pairs, strict=True):
        assert ours.precision.value == pytest.approx(theirs.precision.value, abs=0.005)
        assert ours.recall.value == pytest.approx(theirs.recall.value, abs=0.005)
        assert ours.share == pytest.approx(theirs.share, abs=0.005)
    for ours, theirs in zip(scores_of(found), scores_of(expected), strict=True):
        assert ours.value == pytest.approx(theirs.value, abs=0.005)
