"""What each format of `miner mine` writes, and that other programs open it."""

import csv
import io
import json
import tracemalloc

import pytest
from click.testing import CliRunner

import miner
import miner.corpus.export
from miner.app.cli.main import main
from miner.corpus.export import describe_formats, find_format
from miner.corpus.schema import KINDS
from miner.files import json_lines

FORMATS = list(describe_formats())
LETTERS = '''"""The number of letters.

For a test."""

FILES = {"letters.txt": "a number"}


def write_books(folder, books):
    n = sum(len(rows) for book in books for rows in book.values())
    (folder / "letters.txt").write_text(str(n))
'''
# Texts that a careless writer of CSV or JSON breaks.
ODD = '“No,” “yes” | =1+1, \t“Ätsch” "he"\nsaid;\r\'it\' \u2028 ["x"] 😀'


@pytest.fixture(scope="module")
def sample():
    return miner.mine("sample", tagger="gap").encoded


def turn(text, speaker, paragraph, addressees=(), n_spans=1, names=None):
    places = [
        {"chapter": 2, "paragraph": paragraph, "span": span, "start": 9 * span, "end": 9 * span + 5}
        for span in range(n_spans)
    ]
    name = speaker and (names or {}).get(speaker, speaker.capitalize())
    return {
        "text": text,
        "narration": f"said {name}.",
        "speaker": speaker,
        "speaker_name": name,
        "speaker_confidence": None if speaker is None else 0.75,
        "addressees": list(addressees),
        "spans": places,
    }


def book_of(id, *dialogues, confidence=0.5):
    """The rows of a book of two named people; its dialogues are lists of turns."""
    rows = {kind: [] for kind in KINDS}
    for number, turns in enumerate(dialogues):
        place = {"book": id, "dialogue": number, "part": 0}
        speakers = [one["speaker"] for one in turns if one["speaker"]]
        rows["dialogues"].append(
            {
                **place,
                "chapter": 2,
                "paragraph": turns[0]["spans"][0]["paragraph"],
                "n_turns": len(turns),
                "n_words": 1,
                "participants": list(dict.fromkeys(speakers)),
                "turns": turns,
            }
        )
        for one in turns:
            for span in one["spans"]:
                rows["spans"].append(
                    {"book": id, **span, "confidence": confidence, "quoted": False}
                )
    for name, gender in (("ann", "f"), ("bo", "")):
        rows["characters"].append(
            {
                "book": id,
                "id": name,
                "name": name.capitalize(),
                "aliases": [name.capitalize(), ODD],
                "gender": gender,
                "kind": "named",
                "chapter": None,
                "mentions": 3,
                "utterances": 7,
            }
        )
    return {kind: json_lines(rows[kind]) for kind in KINDS}


def written(tmp_path, format, *books):
    """The folder that a format wrote."""
    folder = tmp_path / format
    folder.mkdir()
    find_format(format).write_books(folder, iter(books))
    return folder


def json_rows(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_file_in_the_folder_is_a_format(tmp_path, monkeypatch):
    (tmp_path / "letters.py").write_text(LETTERS)
    monkeypatch.setattr(
        miner.corpus.export, "__path__", [*miner.corpus.export.__path__, str(tmp_path)]
    )
    assert list(describe_formats()) == ["chat", "convokit", "csv", "jsonl", "letters", "parquet"]
    assert describe_formats()["letters"] == "The number of letters"
    out = tmp_path / "out"
    run = miner.mine_corpus("sample", out, tagger="gap", format="letters").finish()
    assert sorted(path.name for path in run.paths) == ["README.md", "letters.txt", "run.json"]
    assert int((out / "letters.txt").read_text()) > 50_000
    card = (out / "README.md").read_text()
    assert "config_name: letters\n    data_files: letters.txt\n    default: true" in card
    assert "| `letters.txt` | a number; config `letters` |\n" in card
    assert json.loads((out / "run.json").read_bytes())["files"] == {"letters.txt": "a number"}


def test_the_help_names_and_describes_the_formats():
    shown = " ".join(
        CliRunner().invoke(main, ["mine", "--help"], terminal_width=200).output.split()
    )
    assert f"[{'|'.join(FORMATS)}]" in shown
    for format, about in describe_formats().items():
        assert about and f"{format}: {about}" in shown


def test_an_unknown_format_is_one_line():
    expected = "found format 'xml', expected chat, convokit, csv, jsonl, parquet$"
    with pytest.raises(ValueError, match=expected):
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
            place = {key: row[key] for key in ("book", "dialogue", "part")}
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
    assert spans["quoted"].dtype == bool and spans["start"].dtype == "int64"
    turns = pandas.read_csv(folder / "turns.csv", dtype={"book": str})
    assert list(turns["text"])[-2:] == [ODD, "A"] and set(turns["book"]) == {"sample", "9"}
    assert turns["speaker"].isna().sum() == 1 and turns["speaker_confidence"].dtype == "float64"
    assert [json.loads(spans)[0]["paragraph"] for spans in turns["spans"][-2:]] == [3, 4]
    people = pandas.read_csv(folder / "characters.csv")
    assert json.loads(people["aliases"].iloc[-1]) == ["Bo", ODD]


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
        "narration": "said Ann.",
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
    place = {"book": "2", "dialogue": 0, "part": 0, "chapter": 2, "paragraph": 3}
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


def test_roles_alternate_and_turns_of_one_speaker_are_one_message(tmp_path):
    turns = [
        turn("One.", "ann", 3),
        turn("Two.", "bo", 4),
        turn("Three.", "bo", 5),
        turn("Four.", None, 6),
        turn("Five.", None, 7),
        turn("Six.", "ann", 8),
    ]
    folder = written(tmp_path, "chat", book_of("1", turns, turns[2:4], turns[:2][::-1]))
    row, alone, swapped = json_rows(folder / "chat.jsonl")
    assert [tuple(message.values()) for message in row["messages"]] == [
        ("user", "One.", "Ann", "ann"),
        ("assistant", "Two.\nThree.", "Bo", "bo"),
        ("user", "Four.", None, None),
        ("assistant", "Five.", None, None),
        ("user", "Six.", "Ann", "ann"),
    ]
    assert list(row["messages"][0]) == ["role", "content", "name", "speaker"]
    assert row["personas"] == [
        {"id": "ann", "name": "Ann", "gender": "f", "aliases": ["Ann", ODD]},
        {"id": "bo", "name": "Bo", "gender": "", "aliases": ["Bo", ODD]},
    ]
    assert alone["personas"] == row["personas"][1:]
    assert swapped["personas"] == row["personas"][::-1]
    del row["messages"], row["personas"]
    assert row == {"book": "1", "dialogue": 0, "part": 0, "chapter": 2, "paragraph": 3}


# Strict as the templates of Llama 2, Mistral and Gemma are.
TEMPLATE = """
{%- for message in messages -%}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{%- endif -%}
<{{ message['role'] }}>{% if message['name'] %}{{ message['name'] }}: {% endif %}
{{- message['content'] }}</s>
{%- endfor -%}
"""


def test_the_template_of_a_tokenizer_takes_the_messages(tmp_path, sample):
    pytest.importorskip("jinja2", reason="Jinja is not installed")
    transformers = pytest.importorskip("transformers", reason="Transformers is not installed")
    from tokenizers import Tokenizer, models, pre_tokenizers

    plain = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain)
    tokenizer.chat_template = TEMPLATE
    rows = json_rows(written(tmp_path, "chat", sample) / "chat.jsonl")
    shown = [tokenizer.apply_chat_template(row["messages"], tokenize=False) for row in rows]
    assert len(shown) == len(sample["dialogues"].splitlines()) > 10
    first = json.loads(sample["dialogues"].partition(b"\n")[0])["turns"][0]
    assert shown[0].startswith(f"<user>{first['speaker_name']}: {first['text']}</s><assistant>")
    tokens = tokenizer.apply_chat_template(rows[0]["messages"], tokenize=True)
    assert len(tokens["input_ids"]) > len(rows[0]["messages"])
    rows[0]["messages"][1]["role"] = "user"
    with pytest.raises(Exception, match="must alternate"):
        tokenizer.apply_chat_template(rows[0]["messages"], tokenize=False)


def test_arrow_reads_chat_as_a_table_of_few_columns(tmp_path, sample):
    from pyarrow import json as arrow

    table = arrow.read_json(written(tmp_path, "chat", sample) / "chat.jsonl")
    assert table.column_names[-2:] == ["messages", "personas"]
    assert [field.name for field in table.schema.field("personas").type.value_type] == [
        *("id", "name", "gender", "aliases")
    ]
