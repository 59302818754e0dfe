"""What each format of `miner mine` writes, and that other programs open it."""

import csv
import io
import json
import re
import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner
from corpus_helpers import ODD, book_of, json_rows, turn, written

import miner
import miner.corpus.export
from miner.app.cli.main import main
from miner.corpus.export import describe_formats, find_format
from miner.corpus.schema import KINDS, TITLE
from miner.errors import InputError
from miner.files import digest_of

FORMATS = list(describe_formats())
ROOT = Path(miner.__file__).parents[1]


@pytest.fixture(scope="module")
def sample():
    return miner.mine("sample", tagger="gap").encoded


@pytest.fixture(params=[0, 1], ids=["shortest", "whole"])
def added(request, tmp_path, monkeypatch):
    """One of the two formats of the guide for contributors, in a folder of its own."""
    guide = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide.partition("## Add an output format")[2].partition("\n## ")[0]
    code = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[request.param]
    name = f"questions{request.param}"  # a module is imported once in a process
    (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    paths = [*miner.corpus.export.__path__, str(tmp_path)]
    monkeypatch.setattr(miner.corpus.export, "__path__", paths)
    return name


def test_a_file_in_the_folder_is_a_format(tmp_path, added, sample):
    assert describe_formats()[added] == "Questions and their answers, with a tab between the two"
    (file, about), *others = find_format(added).files.items()
    out = tmp_path / "out"
    run = miner.mine_corpus("sample", out, tagger="gap", format=added).finish()
    assert others == [] and sorted(path.name for path in run.paths) == sorted(
        ["README.md", "run.json", file]
    )
    pairs = [json.loads(line) for line in sample["pairs"].splitlines()]
    asked = [pair for pair in pairs if pair["context"].endswith("?")]
    lines = (out / file).read_text(encoding="utf-8").splitlines()[-len(asked) :]
    for line, pair in zip(lines, asked, strict=True):
        assert pair["context"] in line and pair["response"] in line
    card = (out / "README.md").read_text()
    assert f"`{file}`" in card and about in card
    assert json.loads((out / "run.json").read_bytes())["files"][file] == digest_of(out / file)


@pytest.mark.parametrize("added", [1], indirect=True)
def test_a_format_may_have_options_and_counts_and_types(tmp_path, added, sample):
    format = find_format(added)
    assert not format.is_divisible
    columns = [{"name": name, "dtype": "string"} for name in ("question", "answer")]
    assert format.features() == {"questions.csv": columns}
    assert format.write_books(tmp_path, [sample]) == {}
    whole = read_csv(tmp_path / "questions.csv")
    left_out = format.write_books(tmp_path, [sample], "test", format.options(min_words=9))
    kept = read_csv(tmp_path / "questions.csv")
    assert kept == [row for row in whole if len(row["answer"].split()) >= 9]
    assert left_out == {"short answers": len(whole) - len(kept)} and len(whole) > len(kept) > 0


@pytest.mark.parametrize(
    ("format", "values", "message"),
    [
        ("text", {"size": 1}, "text: found option 'size', expected none"),
        ("chat", {"size": 1}, "chat: found option 'size', expected one of narration"),
        ("chat", {"narration": 1}, "chat: narration: found 1, expected true or false"),
    ],
)
def test_options_that_a_format_has_not_are_refused(format, values, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        find_format(format).read_options(values)


def test_options_have_defaults():
    assert find_format("text").read_options({}) is None
    assert find_format("chat").read_options({}) == find_format("chat").options(narration=False)
    assert find_format("chat").read_options({"narration": True}).narration


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_some_tables_can_be_chosen(tmp_path, format, sample):
    whole = written(tmp_path, format, sample)
    (tmp_path / "some").mkdir()
    some = written(tmp_path / "some", format, sample, tables=("characters", "pairs"))
    files = {f"{name}.{format}" for name in ("characters", "pairs")}
    assert {path.name for path in some.iterdir()} == files
    assert all((some / name).read_bytes() == (whole / name).read_bytes() for name in files)
    chosen = find_format(format).options(tables=("characters", "pairs"))
    assert set(find_format(format).files_with(chosen)) == files
    assert set(find_format(format).features(chosen)) == files


def test_left_out_rows_are_counted_in_the_record_of_a_run(tmp_path):
    out = tmp_path / "out"
    miner.mine_corpus("sample", out, tagger="gap", format="examples").finish()
    left_out = json.loads((out / "run.json").read_bytes())["left_out_of_files"]
    assert list(left_out) == ["examples with a long text", "examples with a short text"]
    n = len((out / "examples.jsonl").read_bytes().splitlines())
    assert n + sum(left_out.values()) == len(miner.mine("sample", tagger="gap").pairs)


def test_other_splits_are_refused(tmp_path):
    with pytest.raises(InputError, match="^found split 'dev', expected one of train, validation"):
        find_format("jsonl").write_books(tmp_path, [], "dev")


def test_the_help_names_and_describes_the_formats():
    shown = " ".join(
        CliRunner().invoke(main, ["mine", "--help"], terminal_width=200).output.split()
    )
    assert f"[{'|'.join(FORMATS)}]" in shown
    for format, about in describe_formats().items():
        assert about and f"{format}: {about}" in shown


def test_an_unknown_format_is_one_line():
    expected = f"^found format 'xml', expected {', '.join(FORMATS)}$"
    with pytest.raises(InputError, match=expected):
        find_format("xml")


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_writes_all_its_files_whatever_there_is(tmp_path, format, sample):
    files = find_format(format).files
    assert all(files.values())
    few = book_of("9")
    for name, books in (("none", []), ("empty", [few]), ("more", [few, sample, few])):
        (tmp_path / name).mkdir()
        folder = written(tmp_path / name, format, *books)
        assert {path.name for path in folder.iterdir()} == set(files)
        for path in folder.glob("*.json"):
            json.loads(path.read_bytes())


@pytest.mark.parametrize("format", FORMATS)
def test_writing_takes_the_memory_of_one_book(tmp_path, format, sample):
    def peak(n):
        (tmp_path / str(n)).mkdir()
        tracemalloc.start()
        try:
            written(tmp_path / str(n), format, *[sample] * n)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # what a first call imports
    assert peak(8) < 1.3 * peak(2)


def cells(row):
    """A row as CSV has it."""
    shown = {}
    for key, value in row.items():
        if isinstance(value, bool | list):
            value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        shown[key] = "" if value is None else str(value)
    return shown


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def turns_of(dialogues):
    for row in dialogues:
        for number, one in enumerate(row["turns"]):
            place = {key: row[key] for key in ("book", *TITLE, "dialogue", "part")}
            first = {key: one["spans"][0][key] for key in ("chapter", "paragraph")}
            yield {**place, "turn": number, **first, **one}


def test_csv_holds_the_rows_of_jsonl_and_a_row_for_each_turn(tmp_path, sample):
    folder = written(tmp_path, "csv", sample)
    rows = {kind: [json.loads(line) for line in sample[kind].splitlines()] for kind in KINDS}
    rows["turns"] = list(turns_of(rows["dialogues"]))
    for name in ("spans", "turns", "pairs", "characters"):
        found = read_csv(folder / f"{name}.csv")
        assert found == [cells(row) for row in rows[name]] and len(found) > 10
        assert list(found[0]) == list(rows[name][0])


def test_pandas_reads_csv(tmp_path, sample):
    pandas = pytest.importorskip("pandas")
    folder = written(
        tmp_path, "csv", sample, book_of("9", [turn(ODD, "ann", 3), turn("A", None, 4)])
    )
    spans = pandas.read_csv(folder / "spans.csv", dtype={"book": str})
    assert spans["continues"].dtype == bool and spans["start"].dtype == "int64"
    turns = pandas.read_csv(folder / "turns.csv", dtype={"book": str})
    assert list(turns["text"])[-2:] == [ODD, "A"] and set(turns["book"]) == {"sample", "9"}
    assert turns["speaker"].isna().sum() == 1 and turns["speaker_confidence"].dtype == "float64"
    assert [json.loads(spans)[0]["paragraph"] for spans in turns["spans"][-2:]] == [3, 4]
    people = pandas.read_csv(folder / "characters.csv")
    assert json.loads(people["aliases"].iloc[-1]) == ["Bo", ODD]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_cells_that_a_spreadsheet_would_compute_are_as_they_are_or_have_an_apostrophe(
    tmp_path, sign
):
    text = sign + 'HYPERLINK("http://127.0.0.1")'
    book = book_of("9", [turn(text, "ann", 3), turn("A - B", None, 4)])
    for spreadsheets, before in ((False, ""), (True, "'")):
        folder = tmp_path / str(spreadsheets)
        folder.mkdir()
        form = find_format("csv")
        form.write_books(folder, [book], "train", form.options(spreadsheets=spreadsheets))
        found = [row["text"] for row in read_csv(folder / "turns.csv")]
        assert found == [before + text, "A - B"]
        paragraphs = [row["paragraph"] for row in read_csv(folder / "turns.csv")]
        assert paragraphs == ["3", "4"]


def test_csv_without_books_has_its_columns(tmp_path, sample):
    named = written(tmp_path, "csv", sample)
    (tmp_path / "none").mkdir()
    empty = written(tmp_path / "none", "csv")
    for name in ("spans", "turns", "pairs", "characters"):
        content = (named / f"{name}.csv").read_bytes()
        assert (empty / f"{name}.csv").read_bytes() == content[: content.index(b"\n") + 1]
        assert next(csv.reader(io.StringIO(content.decode())))[0] == "book"


TALK = (
    [
        turn(ODD, "ann", 3, addressees=["bo"], n_spans=2),
        turn("Yes.", "bo", 4, addressees=["ann"]),
        turn("Who?", None, 5),
        turn("I.", None, 6, n_spans=2),
    ],
    [turn("Again.", None, 8), turn("No.", "bo", 9)],
)


def metas_of(path):
    return {id: one["meta"] for id, one in json.loads(path.read_bytes()).items()}


@pytest.fixture
def corpus(tmp_path):
    return written(tmp_path, "convokit", book_of("1", *TALK), book_of("2", *TALK, confidence=None))


def test_a_turn_replies_to_the_turn_before_it(corpus):
    found = json_rows(corpus / "utterances.jsonl")
    assert [(one["id"], one["conversation_id"], one["reply-to"]) for one in found[:6]] == [
        ("1:0.0:0", "1:0.0:0", None),
        ("1:0.0:1", "1:0.0:0", "1:0.0:0"),
        ("1:0.0:2", "1:0.0:0", "1:0.0:1"),
        ("1:0.0:3", "1:0.0:0", "1:0.0:2"),
        ("1:1.0:0", "1:1.0:0", None),
        ("1:1.0:1", "1:1.0:0", "1:1.0:0"),
    ]
    assert len({one["id"] for one in found}) == 12
    assert [one["timestamp"] for one in found] == [*range(6)] * 2
    assert found[0]["text"] == ODD and (corpus / "utterances.jsonl").read_bytes().isascii()
    assert found[0]["meta"] == {
        "raw": f"“{ODD}”",
        "narration_before": "It rained.",
        "narration_inside": [],
        "narration_after": "said Ann.",
        "confidence": 0.25,  # of two spans
        "speaker_confidence": 0.75,
        "addressees": ["1:bo"],
    }
    assert found[2]["meta"]["speaker_confidence"] is None
    assert {one["meta"]["confidence"] for one in found[6:]} == {None}


def test_an_unknown_speaker_is_one_of_the_dialogue(corpus):
    speakers = [one["speaker"] for one in json_rows(corpus / "utterances.jsonl")]
    assert speakers[:6] == ["1:ann", "1:bo", *["1:0.0:unknown"] * 2, "1:1.0:unknown", "1:bo"]
    assert speakers[6:] == [id.replace("1:", "2:", 1) for id in speakers[:6]]
    metas = metas_of(corpus / "speakers.json")
    assert set(metas) == set(speakers)
    known = {"gender": "f", "kind": "named", "aliases": ["Ann", ODD], "utterances": 7}
    assert metas["2:ann"] == {"name": "Ann"} | known
    assert metas["1:0.0:unknown"]["kind"] == "unknown"
    assert [metas[f"1:{n}.0:unknown"]["utterances"] for n in (0, 1)] == [3, 1]


def test_conversations_say_where_they_are_and_who_takes_part(corpus):
    found = metas_of(corpus / "conversations.json")
    assert list(found) == ["1:0.0:0", "1:1.0:0", "2:0.0:0", "2:1.0:0"]
    title = {"book": "2", "title": "Title of 2", "author": "", "language": "en"}
    place = {**title, "dialogue": 0, "part": 0, "chapter": 2, "paragraph": 3}
    assert found["2:0.0:0"] == {**place, "participants": ["2:ann", "2:bo"]}


def test_the_index_has_the_types_of_all_metadata(corpus):
    index = json.loads((corpus / "index.json").read_bytes())
    metas = {
        "utterances": [one["meta"] for one in json_rows(corpus / "utterances.jsonl")],
        "speakers": metas_of(corpus / "speakers.json").values(),
        "conversations": metas_of(corpus / "conversations.json").values(),
    }
    for name, found in metas.items():
        types = index[f"{name}-index"]
        for meta in found:
            assert list(meta) == list(types)
            for key, value in meta.items():
                assert value is None or types[key] == [str(type(value))]
    assert index["overall-index"] == json.loads((corpus / "corpus.json").read_bytes()) == {}


def test_convokit_opens_its_corpus(corpus, tmp_path):
    convokit = pytest.importorskip("convokit", reason="ConvoKit is not installed")
    opened = convokit.Corpus(filename=str(corpus))
    assert (len(list(opened.iter_utterances())), len(list(opened.iter_conversations()))) == (12, 4)
    assert all(one.check_integrity(verbose=False) for one in opened.iter_conversations())
    assert opened.get_utterance("1:0.0:1").speaker.meta["aliases"] == ["Bo", ODD]
    opened.dump("again", base_path=str(tmp_path))
    for name in ("speakers", "conversations", "corpus"):
        again = json.loads((tmp_path / "again" / f"{name}.json").read_bytes())
        assert again == json.loads((corpus / f"{name}.json").read_bytes())
    again = json_rows(tmp_path / "again" / "utterances.jsonl")
    assert again == json_rows(corpus / "utterances.jsonl")
