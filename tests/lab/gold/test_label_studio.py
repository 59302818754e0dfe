"""Label Studio tasks: what goes out comes back as it was, whatever a browser did to it between."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from annotation_helpers import back, edition_of, results_of, units
from hypothesis import given, settings
from hypothesis import strategies as st

from miner.lab.gold.export.label_studio import LABELING_CONFIG, tasks_from_edition


def labels_of(task):
    return [result["value"] for result in results_of(task) if result["type"] == "labels"]


def as_shown(text):
    """A text as long as this one, with no carriage return."""
    return re.sub("\r(\n?)", lambda match: " \n" if match[1] else "\n", text)


def check_offsets(edition):
    """Every region's offsets cut its text, and nothing else, out of the text of its task."""
    texts = {}
    for span, fact in zip(edition.located.book_spans.spans, edition.located.facts, strict=True):
        if fact:
            texts.setdefault(fact.chapter, []).append(as_shown(span.text))
    found = {}
    for task in json.loads(json.dumps(tasks_from_edition(edition))):
        text = task["data"]["text"]
        assert "\r" not in json.dumps(task, ensure_ascii=False) and "\r" not in text
        places = {(value["start"], value["end"]) for value in labels_of(task)}
        for result in results_of(task):
            assert (result["value"]["start"], result["value"]["end"]) in places
        cut = [units(text, value["start"], value["end"]) for value in labels_of(task)]
        assert cut == [value["text"] for value in labels_of(task)]
        found[task["data"]["chapter"]] = cut
    assert found == texts


def test_the_sample_goes_out_and_comes_back(tmp_path, sample):
    exported = tasks_from_edition(sample)
    facts = sample.annotated.annotations
    assert [task["data"]["chapter"] for task in exported] == [1, 2, 3, 4, 5]
    assert {task["data"]["title"] for task in exported} == {"The Lock-Keeper’s Winter"}
    assert exported[0]["data"]["text"].startswith("CHAPTER I. The Brown Envelope\n\nTHE canal")
    assert sum(len(labels_of(task)) for task in exported) == len(facts) == 188
    for options in ({}, {"ensure_ascii": False, "indent": 1}):
        assert back(tmp_path / "export.json", exported, **options) == {"sample": list(facts)}
    check_offsets(sample)


def test_a_region_has_a_label_and_its_fields():
    go, motto = ("“Go, go!”", "Ann", 1, "as one"), ("“Fides”", "", 0)
    (task,) = tasks_from_edition(edition_of([["A sign, ", motto, "."], [go]]))
    assert task["data"] == {
        "text": "A sign, “Fides”.\n\n“Go, go!”\n\n",
        "book": "7",
        "title": "The Tide",
        "chapter": 1,
        "paragraphs": [(3, 0), (4, 18)],
    }
    fields = [(result["from_name"], result["type"], result["value"]) for result in results_of(task)]
    first, second = {"start": 8, "end": 15}, {"start": 18, "end": 27}
    assert fields == [
        ("speech", "labels", first | {"text": "“Fides”", "labels": ["quoted"]}),
        ("conversation", "number", first | {"text": "“Fides”", "number": 0}),
        ("speech", "labels", second | {"text": "“Go, go!”", "labels": ["utterance"]}),
        ("conversation", "number", second | {"text": "“Go, go!”", "number": 1}),
        ("speaker", "textarea", second | {"text": ["Ann"]}),
        ("remark", "textarea", second | {"text": ["as one"]}),
    ]
    ids = [result["id"] for result in results_of(task)]
    assert len({*ids[:2]}) == len({*ids[2:]}) == 1 and ids[0] != ids[2]


FILLER = "The tide 🌊 went out over the flats and the light went with it, mile after mile. "
LONG = [
    [FILLER * 20, (f"“Line {n} 🐚, said twice: line {n}!”", f"Speaker {n % 7}", n // 5 + 1)]
    for n in range(190)
]


HARD = {
    "emoji before": [
        ["🚢🚢 Out there, ", ("“Cast off!”", "Mara", 1), " cried Mara 🌊."],
        [("“Aye.”", "?", 1)],
    ],
    "emoji inside": [
        [("“A 🐋! A 👩‍🚀 on a 🐋!”", "Mara", 1), " 🐋 ", ("“🐋?”", "Tobin 🐋", 1, "he sees it 🐋")]
    ],
    "combining": [["Cafe\u0301: ", ("“O\u0308l? N\u0303o! \u0301 Öl.”", "Ame\u0301lie", 1)]],
    "crlf": [["He\r\nsat.\r\n", ("“One\r\ntwo,\r\n\r\nthree”", "Bo", 1), "\r\nsaid he"]],
    "lone cr": [
        ["\rOld\rlines ", ("“One\rtwo”", "Bo", 1), "\r", ("“So”", "Cy", 1), "\r"],
        ["\r\r"],
    ],
    "crlf across spans": [["It ran\r", ("\n“over”\r", "Bo", 1), "\nthe end"]],
    "blanks": [["Two  blanks:  ", ("“A   b \u00a0 c”", "Bo", 1), "  and  ", ("“ d  ”", "Cy", 1)]],
    "verse": [["He sang:\n", ("“Row, row,\n  row the boat,\n\nGently”", "Bo", 1), "\nso."], ["\n"]],
    "no letters": [[("“——!”", "Bo", 1), " ", ("“…?”", "Cy", 1), " ", ("“——!”", "Cy", 1)]],
    "side by side": [
        [("“Ha,”", "Bo", 1), ("“ha,”", "Cy", 1), ("“Ha,”", "Bo", 1), ("“ha,”", "Bo", 1)]
    ],
    "300,000 characters": LONG,
}


@pytest.mark.parametrize("name", HARD)
def test_hand_made_chapters_come_back(tmp_path, name):
    edition = edition_of(HARD[name])
    check_offsets(edition)
    exported = tasks_from_edition(edition)
    if name == "300,000 characters":
        assert len(exported[0]["data"]["text"]) > 300_000
    assert back(tmp_path / "x.json", exported) == {"7": list(edition.annotated.annotations)}


def divided(edition, chapter_of):
    """The edition with its chapters given by their paragraphs."""
    located = edition.located
    spans = tuple(
        replace(span, chapter=chapter_of(span.paragraph)) for span in located.book_spans.spans
    )
    book_spans = replace(located.book_spans, spans=spans)
    return replace(edition, located=replace(located, book_spans=book_spans))


def test_a_task_is_an_annotated_chapter_however_the_edition_divides_the_book(tmp_path):
    one = [["I."], [("“Up!”", "Ann", 1), " x"], ["y"], [("“Down!”", "Bo", 1)], ["z"]]
    edition = edition_of(one, [["II."], ["So: ", ("“Off!”", "Ann", 1)], ["z"]])  # from paragraph 3
    whole = ["I.\n\n“Up!” x\n\ny\n\n“Down!”\n\nz\n\n", "II.\n\nSo: “Off!”\n\nz\n\n"]
    apart = ["“Up!” x\n\ny\n\n“Down!”\n\n", "So: “Off!”\n\n"]
    torn = ["I.\n\n“Up!” x\n\ny\n\n“Down!”\n\n", "So: “Off!”\n\n"]
    for chapter_of, texts in (
        (lambda n: 1 + (n > 7), whole),  # as annotated
        (lambda n: 5, apart),  # both in one
        (lambda n: 5 + (n > 5) + (n > 7), whole),  # the first in two
        (lambda n: 5 + (n > 5), torn),  # its second half with the other
    ):
        other = divided(edition, chapter_of)
        check_offsets(other)
        exported = tasks_from_edition(other)
        assert [task["data"]["chapter"] for task in exported] == [1, 2]
        assert [task["data"]["text"] for task in exported] == texts
        assert back(tmp_path / "x.json", exported) == {"7": list(edition.annotated.annotations)}


def test_chapters_of_one_paragraph_keep_to_their_own_annotations(tmp_path):
    edition = edition_of([["A ", ("“Up!”", "Ann", 1), " b ", ("“Off!”", "Bo", 1), " c"]])
    first, second = edition.annotated.annotations
    facts = tuple(
        fact and (replace(fact, chapter=2) if fact == second else fact)
        for fact in edition.located.facts
    )
    exported = tasks_from_edition(replace(edition, located=replace(edition.located, facts=facts)))
    assert back(tmp_path / "x.json", exported) == {"7": [first, replace(second, chapter=2)]}


def test_chapters_are_separate_tasks_and_those_without_annotation_have_none(tmp_path):
    one = [[("“Up!”", "Ann", 1), " x ", ("“Down!”", "Bo", 2), ("“Up!”", "Ann", 1)]]
    edition = edition_of(one, [["Nobody spoke."]], [["So: ", ("“Off!”", "Ann", 1)]])
    assert [task["data"]["chapter"] for task in tasks_from_edition(edition)] == [1, 3]
    facts = back(tmp_path / "x.json", tasks_from_edition(edition))["7"]
    assert facts == list(edition.annotated.annotations)
    assert [fact.conversation for fact in facts] == [1, 2, 1, 1]


LETTERS = st.text(st.sampled_from("aé\u0301 \n\r🐋👩‍🚀“—\u2028\ufeff\u00a0\t"), max_size=6)
PIECES = st.tuples(LETTERS, LETTERS, st.sampled_from(["Ann", "Bo 🐋", "?"]), st.integers(0, 3))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=3), min_size=1, max_size=4))
def test_any_chapter_comes_back(tmp_path_factory, drawn):
    order, paragraphs = [0], []
    for row in drawn:
        paragraph = []
        for before, said, speaker, number in row:
            if number not in order:
                order.append(number)
            fact = (speaker if number else "", order.index(number))
            paragraph += [before or ".", (f"“w{said}”", *fact)]
        paragraphs.append([*paragraph, "."])
    edition = edition_of(paragraphs)
    check_offsets(edition)
    found = back(tmp_path_factory.getbasetemp() / "any.json", tasks_from_edition(edition))
    assert found.get("7", []) == list(edition.annotated.annotations)


def test_the_labeling_interface_has_the_fields_of_the_tasks(sample):
    view = ElementTree.fromstring(LABELING_CONFIG)
    fields = {field.get("name"): field for field in view}
    kinds = {"Labels": "labels", "Number": "number", "TextArea": "textarea"}
    used = {
        (r["from_name"], r["type"]) for task in tasks_from_edition(sample) for r in results_of(task)
    }
    assert used == {(n, kinds[f.tag]) for n, f in fields.items() if f.tag != "Text"}
    assert {field.get("toName") for field in view if field.tag != "Text"} == {"text"}
    assert (fields["text"].tag, fields["text"].get("value")) == ("Text", "$text")
    assert [label.get("value") for label in fields["speech"]] == ["utterance", "quoted"]
    assert all(fields[n].get("perRegion") == "true" for n in ("speaker", "remark", "conversation"))
