"""A reader as a tagger: its tags, speakers and characters, its checkpoint and what is refused."""

import re

import numpy as np
import pytest
from encoders import sample
from helpers import run
from models_helpers import change_config
from readers import reader_of, save_reader
from safetensors.numpy import load_file, save_file

from miner.errors import InputError
from miner.people.cast import Character
from miner.people.character_files import SpokenBook
from miner.reader.checkpoint import load_reader
from miner.speech.tags import CONTINUATION, Tag, repair_tags
from miner.tagger.load import CheckpointTagger, load_tagger, tagger_signature


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return save_reader(tmp_path_factory.mktemp("readers") / "bert")


@pytest.fixture(scope="module")
def read(checkpoint):
    """The sample as the reader tags it."""
    return load_reader(checkpoint).tag(sample())


def test_tags_are_legal_and_sure_to_some_degree(read):
    said = [item for item in read if item.span.is_utterance]
    tags = [item.tag for item in said]
    assert repair_tags(tags) == tags
    assert len(set(tags)) > 2
    assert all(0 <= item.confidence <= 1 for item in said)
    assert [item.span for item in read] == list(sample().spans)


def test_tags_agree_with_speakers(read):
    said = [item for item in read if item.span.is_utterance]
    n_compared = 0
    for before, item in zip(said, said[1:], strict=False):
        if item.tag is not Tag.B_START and before.speaker and item.speaker:
            n_compared += 1
            is_same = before.speaker == item.speaker
            assert (item.tag is CONTINUATION[before.tag]) == is_same
    assert n_compared > 20
    assert len({item.speaker for item in said}) > 2
    assert {item.speaker for item in said} - {None} <= {one.id for one in read.characters}


def test_a_checkpoint_is_a_tagger_by_its_path(checkpoint, read):
    tagger = load_tagger(checkpoint)
    assert isinstance(tagger, CheckpointTagger)
    assert "torch" in tagger.libraries
    words = []
    found = tagger.tag(sample(), words.append)
    assert isinstance(found, SpokenBook)
    assert found == read
    assert sum(words) > 1000
    assert tagger_signature(str(checkpoint)).startswith("bert@")


def test_given_characters_are_the_people_of_the_book(checkpoint, read):
    found = max(read.characters, key=lambda one: one.n_mentions)
    given = (Character("somebody", found.name, found.aliases, found.gender),)
    tagger = load_tagger(checkpoint, characters={"sample": given})
    spoken = tagger.tag(sample())
    names = {one.id for one in spoken.characters if one.kind.value == "named"}
    assert names == {"somebody"}
    assert "somebody" in {item.speaker for item in spoken}


def test_a_reader_mines_a_book(checkpoint, tmp_path):
    done = run("mine", "sample", "--tagger", checkpoint, "-o", tmp_path / "mined")
    assert (done.exit_code, "utterances" in done.stdout) == (0, True)
    assert (tmp_path / "mined" / "pairs.jsonl").stat().st_size


def test_numbers_of_16_bits_change_little(checkpoint):
    exact, rough = (load_reader(checkpoint, dtype) for dtype in ("float32", "bfloat16"))
    tags = [[item.tag for item in tagger.tag(sample())] for tagger in (exact, rough)]
    agreeing = np.mean([one == other for one, other in zip(*tags, strict=True)])
    assert agreeing > 0.8


def test_a_reader_that_knows_no_names_hides_them(tmp_path):
    folder = save_reader(tmp_path / "masked", masked_names=1.0)
    hidden = [item.tag for item in load_reader(folder).tag(sample())]
    change_config(folder, masked_names=0.5)  # which counts in training alone
    assert [item.tag for item in load_reader(folder).tag(sample())] != hidden


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"format": 7}, "found a reader of format 7"),
        ({"feature_names": []}, "or of other features"),
        ({"window": "x"}, "found window 'x', expected int"),
        ({"window": 10**9}, "found window 1000000000, expected 3 to 65536"),
        ({"window": 600}, "found window 600, expected at most 512, the encoder's"),
        ({"overlap": 64}, "found window 64 with overlap 64, expected 67 or more"),
        ({"units": "sea"}, "found units 'sea', expected lstm or none"),
        ({"hidden": 10**9}, "found hidden 1000000000, expected 1 to 65536"),
        ({"encoder": None}, "found encoder None, expected its config"),
    ],
)
def test_a_config_that_cannot_be_used_is_one_line(tmp_path, values, message):
    folder = save_reader(tmp_path / "bert")
    change_config(folder, **values)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        load_tagger(folder)
    assert str(error.value).startswith(str(folder / "config.json"))
    assert len(str(error.value).splitlines()) == 1


def test_weights_of_another_model_are_refused(tmp_path):
    folder = save_reader(tmp_path / "bert")
    path = folder / "model.safetensors"
    weights = load_file(path)
    save_file({name: item for name, item in weights.items() if "pointer" not in name}, path)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: "):
        load_reader(folder)


def test_a_checkpoint_is_read_as_it_was_written(checkpoint):
    written, read = reader_of().state_dict(), load_reader(checkpoint).model.state_dict()
    assert written.keys() == read.keys()
    assert all((written[name] == read[name]).all() for name in written)
