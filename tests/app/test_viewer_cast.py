"""Who speaks, on the page of a book: names, colours, the cast, a corrected list."""

import json

import pytest
from bs4 import BeautifulSoup
from helpers import DATA, NAMES, SAMPLE, annotations_of_sample, failed, run

import miner
from miner.annotation.annotations import read_annotations
from miner.app.viewer.layers import N_COLOURS, CastMember, build_layers, choose_colours, list_cast
from miner.app.viewer.page import build_book_payload, build_chapter_payload
from miner.books.book import parse_book
from miner.people.cast import Character, Kind
from miner.people.character_files import SpokenBook
from miner.speech.read import parse_spans
from miner.speech.spans import Span, split_book
from miner.speech.tags import Tag, TaggedSpan
from miner.speech.typography import infer_typography
from miner.tagger.load import load_tagger


class SpeakingTagger:
    """A tagger that gives the utterances of a book the given tags and speakers."""

    def __init__(self, letters, speakers):
        self.said = list(zip(letters, speakers, strict=True))

    def tag(self, book_spans):
        said = iter(self.said)
        tagged = []
        for span in book_spans.spans:
            letter, speaker = next(said) if span.is_utterance else ("O", None)
            sure = None if speaker is None else 0.75
            tagged.append(TaggedSpan(span, NAMES[letter], None, speaker, sure))
        return tagged


def spans_of(*paragraphs):
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    parsed = parse_book(f"<!DOCTYPE html><html><body>{body}</body></html>".encode(), "7")
    return split_book(parsed, infer_typography(parsed))


def spoken(*speakers, characters=()):
    """One utterance a chapter for each speaker."""
    spans = (Span(n, n, 0, 0, 4, "“So”", True) for n in range(1, len(speakers) + 1))
    tagged = (TaggedSpan(s, Tag.B_START, None, who) for s, who in zip(spans, speakers, strict=True))
    return SpokenBook(tuple(tagged), tuple(characters))


def member(name, n, *aliases):
    one = Character(name.lower().replace(" ", "-"), name, (name, *aliases))
    return CastMember(one, {1: n} if n else {})


def cast_of(payload, n=0):
    return {person["id"]: person for person in payload["layers"][n]["cast"]}


def json_of(page, name):
    return json.loads(BeautifulSoup(page, "lxml").find("script", id=name).string)


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cast") / "annotations"
    return read_annotations(annotations_of_sample(folder))


@pytest.fixture(scope="module")
def sample(gold):
    """The sample with its gold and a heuristic."""
    spans = parse_spans(SAMPLE.read_bytes(), "sample", ())
    return build_layers(spans, [("gap", load_tagger("gap"))], gold)


# The cast of a layer.


def test_the_cast_lists_the_narrator_unnamed_people_and_the_unknown():
    people = [
        Character("ann", "Ann", ("Ann",), "f"),
        Character("waiter-3", "waiter", ("waiter",), "m", Kind.UNNAMED, chapter=3),
        Character("narrator", "narrator", ("narrator",), kind=Kind.NARRATOR),
        Character("bob", "Bob", ("Bob",)),
    ]
    said = spoken("ann", None, "waiter-3", "narrator", "narrator", characters=people)
    found = [(one.id, dict(one.chapters)) for one in list_cast(said)]
    assert found == [
        ("narrator", {4: 1, 5: 1}),
        ("ann", {1: 1}),
        ("waiter-3", {3: 1}),
        ("bob", {}),
        ("?", {2: 1}),
    ]


def test_a_layer_without_any_speaker_has_no_cast():
    assert list_cast(spoken(None, None, characters=[Character("ann", "Ann", ("Ann",))])) == ()


def test_those_who_speak_most_in_all_layers_have_the_colours():
    cast = [member(f"P {n}", 100 - n) for n in range(N_COLOURS + 3)]
    (colours,) = choose_colours([cast])
    assert colours == {one.id: n for n, one in enumerate(cast[:N_COLOURS], 1)}
    first, second = choose_colours([[member("Ann", 5), member("Bob", 4)], [member("Bob", 9)]])
    assert (first, second) == ({"bob": 1, "ann": 2}, {"bob": 1})


def test_a_person_has_one_colour_under_the_names_of_two_layers():
    gold = [member("Mrs Hay", 5), member("Ned", 9), member("stranger", 1)]
    guess = [member("Ned Orchard", 9, "Ned", "Mr. Orchard"), member("Mrs. Hay", 5)]
    first, second = choose_colours([gold, guess])
    assert first == {"ned": 1, "mrs-hay": 2, "stranger": 3}
    assert second == {"ned-orchard": 1, "mrs.-hay": 2}


def test_two_people_of_a_layer_never_share_a_colour():
    gold = [member("Miss Hay", 9)]
    guess = [member("Jane", 5, "Miss Hay"), member("Ruth", 4, "Miss Hay"), member("Silent", 0)]
    first, second = choose_colours([gold, guess])
    assert first["miss-hay"] == second["jane"] != second["ruth"]
    assert "silent" not in second
    assert choose_colours([[], []]) == [{}, {}]


# The values of the page.


def test_the_cast_of_the_page_is_that_of_mine(tmp_path):
    run("mine", "sample", "--tagger", "gap", "-q", "-o", tmp_path / "mined")
    lines = (tmp_path / "mined" / "characters.jsonl").read_bytes().splitlines()
    mined = {row["id"]: row for row in map(json.loads, lines)}
    spans = parse_spans(SAMPLE.read_bytes(), "sample", ())
    shown = build_layers(spans, [("gap", load_tagger("gap"))])
    cast = cast_of(build_book_payload(shown))
    cast.pop("?", None)
    assert cast.keys() == mined.keys()
    for one, row in mined.items():
        person = cast[one]
        assert [person[key] for key in ("name", "gender", "kind")] == [
            row[key] for key in ("name", "gender", "kind")
        ]
        assert {person["name"], *person["others"]} == {row["name"], *row["aliases"]}
        assert sum(n for _, n in person["chapters"]) == row["utterances"]
    assert sum(row["utterances"] for row in mined.values()) > 100


def test_the_chapters_of_the_cast_add_up_to_the_utterances_of_the_page(sample):
    whole = build_book_payload(sample)
    for n in range(2):
        counted = {}
        for number in sample.chapters:
            layer = build_chapter_payload(sample, number)["layers"][n]
            if layer is None:
                continue
            columns = layer["utterances"]
            for speaker in columns.get("speaker", ["?"] * len(columns["tag"])):
                of_one = counted.setdefault(speaker, {})
                of_one[number] = of_one.get(number, 0) + 1
        cast = cast_of(whole, n)
        shown = {one: dict(person["chapters"]) for one, person in cast.items()}
        assert {one: chapters for one, chapters in shown.items() if chapters} == counted


def test_the_gold_shows_the_names_of_the_annotators(sample):
    whole = build_book_payload(sample)
    gold, guess = cast_of(whole), cast_of(whole, 1)
    assert {"Hester", "Mrs Pockett", "stranger"} <= gold.keys()
    assert gold["Mrs Pockett"]["name"] == "Mrs Pockett"
    assert gold["Mrs Pockett"]["colour"] == guess["mrs-pockett"]["colour"] > 0
    row = build_chapter_payload(sample, 1)["layers"][0]["dialogues"][0]
    assert dict(zip(whole["turn_columns"], row["turns"][0], strict=True))["speaker_name"] == (
        "Amos Bunce"
    )


def test_the_page_knows_how_sure_each_speaker_is():
    spans = spans_of("“One.”", "“Two,” he said, “three.”", "“Four.”")
    tagger = SpeakingTagger("SRrR", ["ann", "bob", "bob", None])
    shown = build_layers(spans, [("fixed", tagger)])
    columns = build_chapter_payload(shown, 0)["layers"][0]["utterances"]
    assert columns["speaker"] == ["ann", "bob", "bob", "?"]
    assert columns["speaker_confidence"] == [0.75, 0.75, 0.75, None]
    unknown = cast_of(build_book_payload(shown))["?"]
    assert (unknown["name"], unknown["colour"], unknown["chapters"]) == ("unknown", 0, [(0, 1)])


def test_books_of_other_languages_have_no_cast():
    spans = parse_spans((DATA / "guillemets_fr.html").read_bytes(), "fr", ())
    shown = build_layers(spans, [("gap", load_tagger("gap"))])
    assert build_book_payload(shown)["layers"][0]["cast"] == []
    for number in shown.chapters:
        columns = build_chapter_payload(shown, number)["layers"][0]["utterances"]
        assert not {"speaker", "speaker_confidence"} & columns.keys()


# A corrected list.


@pytest.fixture
def corrected(tmp_path):
    """The characters of the sample, of whom one has a new name."""
    rows = miner.mine("sample", tagger="gap").rows("characters")
    for row in rows:
        if row["id"] == "hester":
            row["name"] = "Hester Tarrant"
    path = tmp_path / "characters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_command_takes_a_corrected_list(tmp_path, corrected):
    out = tmp_path / "page.html"
    words = ("view", "sample", "--tagger", "gap", "-q", "-o", out)
    assert run(*words, "--characters", corrected).exit_code == 0
    person = cast_of(json_of(out.read_bytes(), "book"))["hester"]
    assert person["name"] == "Hester Tarrant"
    assert "Hester" in person["others"] and person["chapters"]
    page = miner.view_html("sample", taggers="gap", characters=corrected)
    assert page == out.read_bytes()


@pytest.mark.slow
def test_a_checkpoint_takes_a_corrected_list(corrected):
    page = miner.view_html("sample", characters=corrected)
    assert cast_of(json_of(page, "book"))["hester"]["name"] == "Hester Tarrant"


def test_a_list_that_cannot_be_read_is_an_error_of_one_line(tmp_path):
    wrong = tmp_path / "characters.jsonl"
    wrong.write_text('{"book": "sample"}\n')
    line = failed(
        *("view", "sample", "--tagger", "gap", "--characters", wrong, "-o", tmp_path / "p.html")
    )
    assert line.startswith(f"{wrong}:1: found no id, name, aliases, gender, kind")
    assert list(tmp_path.iterdir()) == [wrong]
