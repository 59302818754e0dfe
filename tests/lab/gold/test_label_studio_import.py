"""What comes back from Label Studio: its habits are survived, all else is refused in one line."""

import copy
import json
import random
from functools import wraps

import pytest
from annotation_helpers import back, gold, results_of, units
from helpers import SAMPLE

from miner.errors import InputError
from miner.lab.gold.export.label_studio import read_exported, tasks_from_edition


def every_task(change):
    @wraps(change)
    def habit(exported):
        for task in exported:
            change(task)

    return habit


def every_result(change):
    return every_task(wraps(change)(lambda task: [change(result) for result in results_of(task)]))


@every_result
def collapsed(result):
    if isinstance(text := result["value"]["text"], str):
        result["value"]["text"] = " ".join(text.split())


@every_result
def one_line_as_text(result):
    if isinstance(text := result["value"]["text"], list):
        result["value"]["text"] = f" {text[0]}\n"


@every_result
def more_keys(result):
    result |= {"origin": "manual", "readonly": False, "score": 0.5}
    result["value"] |= {"globalOffsets": {"start": 0, "end": 1}, "startOffset": 3}


@every_task
def more_keys_of_the_task(task):
    task |= {"id": 41, "predictions": [], "meta": {}, "file_upload": "a.json"}
    task["data"]["note"] = None
    task["annotations"][0] |= {"id": 1, "completed_by": 1, "lead_time": 2.5, "was_cancelled": False}


@every_task
def shuffled(task):
    random.Random(4).shuffle(results_of(task))


@every_task
def a_choice_in_a_region(task):
    first = copy.deepcopy(results_of(task)[0])
    first |= {"from_name": "tone", "type": "choices"}
    first["value"] |= {"choices": ["loud"]}
    results_of(task).insert(0, first)


@every_task
def a_choice_for_the_task(task):
    choice = {"id": "c1", "from_name": "done", "to_name": "text", "type": "choices"}
    results_of(task).append(choice | {"value": {"choices": ["yes"]}})


@every_task
def a_relation(task):
    ids = [result["id"] for result in results_of(task)]
    relation = {"from_id": ids[0], "to_id": ids[-1], "type": "relation", "direction": "right"}
    results_of(task).append(relation)


@every_task
def cancelled(task):
    task["annotations"].insert(0, {"was_cancelled": True, "result": [{"id": "x", "value": {}}]})


@every_task
def a_second_person(task):
    task["annotations"].append({"was_cancelled": False, "result": []})


@every_task
def other_numbers(task):
    for result in results_of(task):
        if (number := result["value"].get("number")) is not None:
            result["value"]["number"] = 100.0 - 7 * number if number else 0


@pytest.mark.parametrize(
    "habit",
    [
        collapsed,
        one_line_as_text,
        more_keys,
        more_keys_of_the_task,
        shuffled,
        list.reverse,
        a_choice_in_a_region,
        a_choice_for_the_task,
        a_relation,
        cancelled,
        a_second_person,
        other_numbers,
    ],
)
def test_the_habits_of_label_studio_are_survived(tmp_path, sample, habit):
    exported = json.loads(json.dumps(tasks_from_edition(sample)))
    before = json.dumps(exported)
    habit(exported)
    assert json.dumps(exported) != before
    assert back(tmp_path / "x.json", exported) == {"sample": list(sample.annotated.annotations)}


def test_tasks_that_are_not_finished_are_left_out(tmp_path, sample):
    exported = json.loads(json.dumps(tasks_from_edition(sample)))
    exported[0]["annotations"] = []
    exported[1]["annotations"] = None
    del exported[2]["annotations"]
    exported[3]["annotations"][0]["was_cancelled"] = True
    kept = [fact for fact in sample.annotated.annotations if fact.chapter == 5]
    assert back(tmp_path / "x.json", exported) == {"sample": kept} and kept


TEXT = "“Go!” “No!” 🚢\n\n“Ay.”\n\n"
DATA = {"text": TEXT, "book": "7", "title": "T", "chapter": 2, "paragraphs": [[4, 0], [5, 16]]}


def region(start=0, end=5, label="utterance", speaker="Ann", number=1, id="r"):
    place = {"start": start, "end": end, "text": "whatever"}
    values = {"speech": {"labels": [label]}, "conversation": {"number": number}}
    values["speaker"] = {"text": [speaker]}
    return [{"id": id, "from_name": name, "value": place | v} for name, v in values.items()]


def task(*regions, **data):
    results = [result for found in regions for result in found]
    return {"data": DATA | data, "annotations": [{"result": results}]}


def test_the_task_that_the_refusals_change(tmp_path):
    assert [units(TEXT, 6, 11), units(TEXT, 16, 21)] == ["“No!”", "“Ay.”"]
    (facts,) = back(tmp_path / "x.json", [task(region(16, 21, id="s"), region(6, 11))]).values()
    assert [(f.paragraph, f.fingerprint.initials) for f in facts] == [(4, "n"), (5, "a")]


SURPLUS = ", region 'r': found {} to {}, expected offsets within the 23 UTF-16 code units of the"


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"data": {}}, ": found dict, expected a list of tasks"),
        ([5], ": task 1: found 5 as task, expected dict"),
        ([task(), {"id": 1}], ": task 2: found None as data, expected dict"),
        ([task(), task(region())], ": task 2: found book 7, chapter 2 a second time, expected it"),
        ([task(text=None)], ": task 1: found None as text, expected str"),
        ([task(book=7)], ": task 1: found 7 as book, expected str"),
        ([task(chapter="2")], ": task 1: found '2' as chapter, expected int"),
        ([task(paragraphs={})], ": task 1: found {} as paragraphs, expected list"),
        ([task(paragraphs=[[4]])], ": task 1: found paragraph [4], expected its number and start"),
        ([task(region(0, 24))], SURPLUS.format(0, 24)),
        ([task(region(-1, 5))], SURPLUS.format(-1, 5)),
        ([task(region(5, 5))], SURPLUS.format(5, 5)),
        ([task(region(None, 5))], SURPLUS.format(None, 5)),
        ([task(region(0, 5.0))], SURPLUS.format(0, 5.0)),
        ([task(region(6, 13))], ", region 'r': found half a character, expected whole ones"),
        ([task(region(13, 14))], ", region 'r': found half a character, expected whole ones"),
        ([task(region(6, 21))], ", region 'r': found more than one paragraph, expected a span of"),
        (
            [task(region(4, 11, id="s"), region())],
            ": task 1: found two regions that overlap in paragraph 4",
        ),
        (
            [task(region(label="shout"))],
            "'r': found labels ['shout'], expected either utterance or quoted",
        ),
        ([task(region(speaker=" "))], "'r': found no speaker, expected a name, or ? if"),
        *(
            (
                [task(region(number=n))],
                f"'r': found conversation {n!r}, expected a whole number, 1 to 1000000000",
            )
            for n in (None, 0, -2, 1.5, True, "one", float("nan"))
        ),
    ],
)
def test_refusals_name_the_place(tmp_path, found, message):
    path = tmp_path / "x.json"
    with pytest.raises(InputError) as failure:
        back(path, found)
    assert str(failure.value).startswith(f"{path}: ") or message.startswith(": found")
    assert message in str(failure.value)
    done = gold("import", path, "-o", tmp_path / "out")
    assert (done.exit_code, done.stderr) == (1, f"miner: {failure.value}\n")
    assert not (tmp_path / "out").exists()


NO_JSON = {"": b"", "json": b"[{]", "utf": b"\xff", "html": SAMPLE.read_bytes()}
NO_JSON |= {"deep": b"[" * 10**5, "long number": b"[" + b"1" * 5000 + b"]"}


@pytest.mark.parametrize("content", NO_JSON.values(), ids=NO_JSON)
def test_a_file_that_is_not_json_is_refused(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    faults = r"bad JSON \(.*\)|JSON of too many levels|a number of thousands of digits"
    with pytest.raises(InputError, match=rf"({faults}), expected an export|not UTF-8") as e:
        read_exported(path)
    assert str(e.value).startswith(str(path)) and "\n" not in str(e.value)


RESULT = ["annotations", 0, "result"]
VALUE = [*RESULT, 0, "value"]
PARAGRAPHS = (
    [],
    [[4, 1], [5, 16]],  # does not begin with the text
    [[4, 0], [5, 900]],
    [[4, 0], [5, 0]],
    [[5, 0], [4, 16]],
    [[-4, 0]],
    [[10**30, 0]],
    [[4, 0.0]],
)
SHAPES = {  # name: what is set in a task, at which place
    **{f"annotations {v}": (["annotations"], v) for v in (5, "", {}, [None], ["x"])},
    **{f"result {v}": (RESULT, v) for v in (None, 5, "x", [None], ["x"])},
    **{f"value {v}": (VALUE, v) for v in (None, 5, [1])},
    **{f"labels {v}": ([*VALUE, "labels"], v) for v in (None, 5, "utterance", [["x"]])},
    "two labels": ([*VALUE, "labels"], ["utterance", "quoted"]),
    **{f"number {v}": ([*RESULT, 1, "value", "number"], v) for v in (float("inf"), 1.5, [1])},
    **{f"speaker {v}": ([*RESULT, 2, "value", "text"], v) for v in (None, 5, [None], {})},
    "half a speaker": ([*RESULT, 2, "value", "text"], ["Ann \ud83d"]),
    **{f"id {v}": ([*RESULT, 0, "id"], v) for v in (None, 5, ["x"])},
    **{f"paragraphs {v}": (["data", "paragraphs"], v) for v in PARAGRAPHS},
    **{f"chapter {v}": (["data", "chapter"], v) for v in (-1, 10**30, True)},
    "half an emoji": (["data", "text"], TEXT + "\ud83d"),
    **{f"book {v}": (["data", "book"], v) for v in ("", "../7", "7\n", "a.b", "\ud83d")},
}


@pytest.mark.parametrize("name", SHAPES)
def test_malformed_tasks_are_refused_in_one_line(tmp_path, name):
    changed = json.loads(json.dumps(task(region())))
    (*keys, last), value = SHAPES[name]
    place = changed
    for key in keys:
        place = place[key]
    place[last] = value
    with pytest.raises(InputError) as failure:
        back(tmp_path / "x.json", [changed])
    assert str(failure.value).startswith(f"{tmp_path / 'x.json'}: task 1")
    assert "\n" not in str(failure.value)
