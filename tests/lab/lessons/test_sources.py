"""Sources of examples: every format of a build, files of a user, annotations, the labels of MCN."""

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from annotation_helpers import MCN_ROWS, write_mcn
from build_helpers import recipe_of
from helpers import ANNOTATIONS, MCN, SAMPLE, annotations_of_two, needs_mcn
from shelf import write_shelf

from miner.annotation.annotations import read_split
from miner.corpus.build import build_corpus
from miner.corpus.export import describe_formats
from miner.corpus.run import mine_corpus
from miner.errors import InputError
from miner.lab.gold.editions import open_edition
from miner.lab.lessons.examples import Example
from miner.lab.lessons.sources import books_of_source, draw_pairs, leave_out_books, read_source
from miner.speech.dialogues import decode_dialogues, turn_pairs


def read_examples(source, split=None, role="test"):
    return list(read_source(source, split, role).examples)


ALL = "chat = {}\nconvokit = {}\ncsv = {}\nparlai = {}\nparquet = {}\ntext = {}\nubuntu = {}\n"
ALL += "examples = {max_length = 2000, min_length = 1}\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A corpus of twelve novels in all formats."""
    folder = tmp_path_factory.mktemp("corpus")
    books = write_shelf(folder / "books", 12)
    build_corpus(recipe_of(folder, books, ALL), folder / "out")
    assert {path.name for path in (folder / "out").iterdir()} >= set(describe_formats())
    return folder / "out"


@pytest.fixture(scope="module")
def dialogues(corpus):
    """The dialogues of the training split, as the build has them."""
    paths = sorted((corpus / "jsonl" / "dialogues").glob("train-*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def expected(dialogues):
    """All examples of the training split, made from its dialogues by hand."""
    made = []
    for dialogue in dialogues:
        texts = [turn["text"] for turn in dialogue["turns"]]
        for number in range(1, len(texts)):
            chapter = dialogue["turns"][number - 1]["spans"][0]["chapter"]
            made.append(Example(dialogue["book"], tuple(texts[:number]), texts[number], chapter))
    assert len(made) > 200 and max(len(one.context) for one in made) > 4
    return made


def without(examples, *fields):
    """The examples as a format without some of their fields has them."""
    return [
        Example(
            "" if "book" in fields else one.book,
            one.context,
            one.response,
            0 if "chapter" in fields else one.chapter,
        )
        for one in examples
    ]


@pytest.mark.parametrize(
    "folder",
    [
        "",
        "jsonl",
        "jsonl/pairs",
        "jsonl/dialogues",
        "parquet",
        "parquet/pairs",
        "parquet/dialogues",
        "csv",
        "csv/turns",
        "convokit",
        "examples",
        "jsonl/pairs/train-00000-of-00001.jsonl",
        "parquet/dialogues/train-00000-of-00001.parquet",
        "csv/turns/train-00000-of-00001.csv",
        "convokit/train/utterances.jsonl",
    ],
)
def test_a_build_gives_all_examples_with_book_chapter_and_earlier_turns(corpus, expected, folder):
    # The recipe keeps two turns before the context; the others are in the rows before.
    split = None if "train" in folder else "train"
    assert read_examples(corpus / folder, split) == expected


def test_a_format_without_chapters_or_books_gives_the_rest(corpus, expected):
    assert read_examples(corpus / "parlai", "train") == without(expected, "chapter")
    assert read_examples(corpus / "text", "train") == without(expected, "book", "chapter")


def test_messages_are_turns(corpus, dialogues):
    texts = [[turn["text"] for turn in dialogue["turns"]] for dialogue in dialogues]
    assert read_examples(corpus / "chat", "train") == [
        Example(dialogue["book"], tuple(said[:number]), said[number], dialogue["chapter"])
        for dialogue, said in zip(dialogues, texts, strict=True)
        for number in range(1, len(said))
    ]


def test_the_true_responses_of_ubuntu_are_those_from_the_third_turn_on(corpus, dialogues):
    found = read_examples(corpus / "ubuntu", "train")
    assert len(found) == sum(max(0, len(dialogue["turns"]) - 2) for dialogue in dialogues) > 100
    assert all(one.book == "" and len(one.context) >= 2 for one in found)
    assert not any("__" in text for one in found for text in (*one.context, one.response))
    words = {turn["text"].split()[-1] for dialogue in dialogues for turn in dialogue["turns"]}
    assert {one.response.split()[-1] for one in found} <= words
    # Its rankings have one context for each dialogue.
    longest = [dialogue for dialogue in dialogues if len(dialogue["turns"]) > 2]
    rankings = read_examples(corpus / "ubuntu" / "train" / "rankings.csv")
    assert len(rankings) == len(longest) and {one.response for one in rankings} <= {
        one.response for one in found
    }


def test_splits_are_those_of_the_corpus(corpus, expected):
    by_name = {name: read_source(corpus, name) for name in ("train", "validation", "test")}
    assert by_name["train"].examples == expected
    assert by_name["train"].source == "out/jsonl/pairs, train"
    held = [set(found.books) for found in by_name.values()]
    assert all(held) and not held[0] & held[1] and not held[0] & held[2] and not held[1] & held[2]
    every = read_source(corpus, "all")
    assert every.source == "out/jsonl/pairs, all"
    assert len(every.examples) == sum(len(found.examples) for found in by_name.values())
    both = read_source(f"{corpus}:validation+test")
    assert both.source == "out/jsonl/pairs, validation+test"
    assert set(both.books) == held[1] | held[2]
    # What the source is for decides, where nothing else does.
    assert read_source(corpus).examples == by_name["test"].examples
    assert read_source(corpus, role="train").examples == expected
    assert read_source(f"{corpus}:train", "train").examples == expected
    with pytest.raises(InputError, match="found split 'test', too, expected one of both"):
        read_source(f"{corpus}:train", "test")
    for split in ("x", "train+x"):
        with pytest.raises(InputError, match="out: found no split 'x', expected train, validation"):
            read_source(corpus, split)


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    """The pairs of the sample, as JSON Lines have them."""
    out = tmp_path_factory.mktemp("mined") / "jsonl"
    mine_corpus(["sample"], out, tagger="gap", format="jsonl").finish()
    return read_source(out)


@pytest.mark.parametrize("format", sorted(describe_formats()))
def test_what_was_mined_in_any_format_is_a_source(tmp_path, mined, format):
    mine_corpus(["sample"], tmp_path / format, tagger="gap", format=format).finish()
    pairs = mined
    assert pairs.source == "jsonl/pairs.jsonl" and len(pairs.examples) > 90
    found = read_examples(tmp_path / format)
    if format in ("examples", "ubuntu", "chat"):  # they leave some out, or join turns
        assert 20 < len(found) <= len(pairs.examples)
    else:
        assert [one.response for one in found] == [one.response for one in pairs.examples]
        assert [one.context for one in found] == [one.context for one in pairs.examples]
    with pytest.raises(InputError, match="found split 'test', expected none, because"):
        read_source(tmp_path / format, "test")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


PAIRS = [
    {"context": "Who is there?", "response": "A friend."},
    {
        "context": "Come in, then.",
        "response": "I will.",
        "history": ["Who is there?", "A friend."],
        "book": 7,
        "chapter": 3,
    },
]
WANTED = [
    Example("", ("Who is there?",), "A friend."),
    Example("7", ("Who is there?", "A friend.", "Come in, then."), "I will.", 3),
]


def user_files(folder):
    """The same pairs in files of all endings."""
    write(folder / "a.jsonl", "\n\n".join(json.dumps(row) for row in PAIRS) + "\n")
    columns = ["response", "context", "history", "book", "chapter", "remark"]
    rows = [{**row, "history": "\n".join(row.get("history", ()))} for row in PAIRS]
    for name, delimiter in (("b.csv", ","), ("c.tsv", "\t")):
        with (folder / name).open("w", encoding="utf-8-sig", newline="") as file:
            table = csv.DictWriter(file, columns, delimiter=delimiter)
            table.writeheader()
            table.writerows(rows)
    rows = [{**row, "history": json.dumps(row.get("history", []))} for row in PAIRS]
    with (folder / "d.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(rows)
    pq.write_table(pa.Table.from_pylist(PAIRS, pa.schema([
        ("context", pa.string()), ("response", pa.string()), ("history", pa.list_(pa.string())),
        ("book", pa.int64()), ("chapter", pa.int32()),
    ])), folder / "e.parquet")  # fmt: skip
    return sorted(folder.iterdir())


def test_a_file_of_a_user_is_a_source(tmp_path):
    paths = user_files(tmp_path)
    assert len(paths) == 5
    for path in paths:
        found = read_source(path)
        assert (found.examples, found.source, found.n_without_book) == (WANTED, path.name, 1)


def test_a_folder_of_a_user_has_a_file_for_each_split(tmp_path):
    for name in ("train", "test"):
        write(tmp_path / f"{name}.csv", f"context,response\nHow many?,{name}\n")
    assert [one.response for one in read_examples(tmp_path, role="train")] == ["train"]
    assert read_source(tmp_path, "all").source == f"{tmp_path.name}/*.csv, all"


def test_the_nearest_of_extra_contexts_is_the_first(tmp_path):
    row = {"context": "Three.", "context/0": "Two.", "context/1": "One.", "context/2": ""}
    path = write(tmp_path / "a.jsonl", json.dumps({**row, "response": "Four."}))
    assert read_examples(path) == [Example("", ("One.", "Two.", "Three."), "Four.")]


def test_messages_of_the_system_are_no_turns(tmp_path):
    said = [("system", "You are kind."), ("user", "Hello."), ("assistant", "Good day.")]
    messages = [{"role": role, "content": text} for role, text in said]
    path = write(tmp_path / "a.jsonl", json.dumps({"messages": messages}))
    assert read_examples(path) == [Example("", ("Hello.",), "Good day.")]


def test_replies_of_convokit_may_come_before_what_they_reply_to(tmp_path):
    rows = [
        {"id": "c", "reply_to": "b", "text": "Three."},
        {"id": "d", "reply_to": "a", "text": "Another."},
        {"id": "b", "reply_to": "a", "text": "Two."},
        {"id": "a", "reply_to": None, "text": "One."},
        {"id": "f", "reply_to": "taken out", "text": "Lost."},
        {"id": "e", "reply_to": "f", "text": "Found."},
    ]
    lines = "".join(json.dumps(row | {"speaker": "x", "root": "a"}) + "\n" for row in rows)
    path = write(tmp_path / "utterances.jsonl", lines)
    assert read_examples(path) == [
        Example("", ("One.", "Two."), "Three."),
        Example("", ("One.",), "Another."),
        Example("", ("One.",), "Two."),
        Example("", ("Lost.",), "Found."),
    ]
    path = write(path, lines.replace('"reply_to": null', '"reply_to": "c"'))
    with pytest.raises(InputError, match="found utterance '.' in reply to itself"):
        read_examples(path)


def test_episodes_of_others_are_read_one_by_one(tmp_path):
    path = write(
        tmp_path / "a.txt",
        "text:One\\nand a half.\tlabels:Two.|Deux.\n"
        "text:Three.\tlabels:Four__PIPE__five.\tepisode_done:True\n"
        "text:Six.\tlabels:Seven.\tepisode_done:True\n",
    )
    first = "One\nand a half."
    assert read_examples(path) == [
        Example("", (first,), "Two."),
        Example("", (first, "Two.", "Three."), "Four|five."),
        Example("", ("Six.",), "Seven."),
    ]


def test_pairs_without_text_are_left_out_and_counted(tmp_path):
    path = write(tmp_path / "a.csv", "context,response\nWell?,\n ,Yes.\nWell?,Yes.\n")
    found = read_source(path)
    assert [one.response for one in found.examples] == ["Yes."]
    assert found.left_out == {"pairs without a text on each side": 2}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "context,answer\nx,y\n",
         "a.csv: found no column response (context, answer), expected context and response, and "
         "perhaps history, book and chapter"),
        ("a.csv", "context,response\nx,\n",
         "a.csv: found none of 1 with a text on each side, expected pairs of a context and a "
         "response"),
        ("a.jsonl", '{"context": "x", "response": "y"}\n{"context"\n',
         "a.jsonl:2: found bad JSON (*), expected an object on each line"),
        ("a.jsonl", '{"context": "x", "response": 3}\n',
         "a.jsonl:1: found 3 as response, expected text"),
        ("a.jsonl", '{"context": "x", "response": "y", "history": [1]}\n',
         "a.jsonl:1: found [1] as history, expected a list of texts"),
        ("a.jsonl", '{"context": "x", "response": "y", "chapter": "IV"}\n',
         "a.jsonl:1: found 'IV' as chapter, expected its number"),
        ("a.csv", "context,response,chapter\nx,y," + "9" * 5000,
         "a.csv:2: found '999999999999...9999999999999' as chapter, expected its number"),
        ("a.jsonl", '{"turns": [{"text": "x", "spans": [{"chapter": 1' + "0" * 18 + '}]}]}\n',
         "a.jsonl:1: found 1000000000000000000 as chapter, expected its number"),
        ("a.jsonl", '{"turns": [{"text": "x", "spans": 7}]}\n',
         "a.jsonl:1: found 7 as spans, expected a list of objects"),
        ("a.csv", "context,response\nx,y,z\n",
         "a.csv:2: found more cells than columns, expected as many"),
        ("a.csv", "Context,Utterance,Label\nx,y,2\n",
         "a.csv:2: found '2' as Label, expected 0 or 1"),
        ("a.txt", "text:x\tlabels:y\ntext:x\n",
         "a.txt:2: found no labels, expected text and labels"),
        ("a.docx", "x", "a.docx: found a file that ends in .docx, expected .jsonl, .csv, .tsv, "
         ".parquet or .txt"),
        ("a.parquet", "x", "a.parquet: *, expected a Parquet file"),
        ("a.txt", b"\xff\xfe", "a.txt:1: found bytes that are not UTF-8, expected UTF-8"),
        ("a.jsonl", b'{"context": "\xff"}', "a.jsonl:1: found bad JSON *"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_in_one_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as error:
        read_source(path)
    line = str(error.value)
    assert len(line.splitlines()) == 1
    before, star, after = message.partition("*")
    shown = line.removeprefix(f"{tmp_path}/")
    assert shown.startswith(before) and (shown.endswith(after) if star else shown == message)


def test_a_folder_without_pairs_is_refused(tmp_path):
    with pytest.raises(InputError, match="found no pairs, expected a folder of `miner mine`"):
        read_source(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_source(tmp_path / "none")


def sample_of(id):
    """The bytes of the sample, under any number."""
    assert id in ("sample", "7")
    return SAMPLE.read_bytes()


def test_annotations_give_the_true_pairs_of_the_books():
    found = read_source(ANNOTATIONS, "sample", read=sample_of)
    (annotated,) = read_split(ANNOTATIONS, "sample")
    edition = open_edition(annotated, SAMPLE.read_bytes())
    pairs = [
        pair
        for dialogue in decode_dialogues(edition.located.tagged())
        for pair in turn_pairs(dialogue)
    ]
    assert len(pairs) > 90
    assert [(one.context[-1], one.response) for one in found.examples] == [
        (pair.context.text, pair.response.text) for pair in pairs
    ]
    assert {(one.book, one.chapter) for one in found.examples} == {
        ("sample", pair.context.spans[0].chapter) for pair in pairs
    }
    assert max(len(one.context) for one in found.examples) == 10
    assert found.source == "annotations, sample"
    assert found.coverage is not None and not found.coverage.left_out
    with pytest.raises(InputError, match="found annotations without books"):
        read_source(ANNOTATIONS, "sample")


def test_an_annotated_book_that_is_not_at_hand_is_left_out(tmp_path):
    def read(id):
        if id == "7":
            raise InputError("7: not here")
        return SAMPLE.read_bytes()

    folder = annotations_of_two(tmp_path / "two")
    found = read_source(f"{folder}:sample", read=read)
    assert found.books == ("sample",)
    assert [str(book) for book in found.coverage.left_out] == ["7: not here"]
    assert books_of_source(f"{folder}:sample") == ("sample", "7")


def mcn(folder):
    """A folder with the files of MCN, whose book has four utterances in two chapters."""
    folder.mkdir()
    for name in ("gold-v1", "gold-v2", "heuristic-predictions"):
        write_mcn(folder / f"{name}.csv", MCN_ROWS)
    test = [row for row in MCN_ROWS if row[3] == "test"]
    write_mcn(folder / "model-predictions-test.csv", test, ("para_index", "para", "pred_label"))
    return folder


def test_labels_of_mcn_give_pairs_of_their_splits(tmp_path):
    folder = mcn(tmp_path / "labels")
    assert read_examples(folder, "train") == [
        Example("1342", ("Who is there? Answer me.",), "A friend.", 1)
    ]
    assert read_examples(folder) == [Example("1342", ("Come in.",), "I will.", 2)]
    assert len(read_examples(folder, "all")) == 2
    assert books_of_source(folder) == ("1342",)
    with pytest.raises(InputError, match="found no split 'dev', expected one of test, train, all"):
        read_examples(folder, "dev")


@needs_mcn
def test_the_real_labels_of_mcn():
    found = read_source(MCN)
    assert (found.source, len(found.examples)) == ("convo-miner-gold/gold-v2.csv, test", 104)


def test_books_of_a_source_are_left_out(corpus):
    every = read_source(corpus, "all")
    books = books_of_source(corpus, "validation+test")
    kept = leave_out_books(every, books, "out")
    assert kept.examples == read_examples(corpus, "train")
    assert kept.chosen == (f"without {len(books)} books of out",)
    with pytest.raises(InputError, match="found no pairs of other books than out"):
        leave_out_books(kept, kept.books, "out")
    text = read_source(corpus / "text", "train")
    with pytest.raises(InputError, match="found 2.. pairs that name no book, expected a book of"):
        leave_out_books(text, books, "out")
    with pytest.raises(InputError, match="found no ids of books"):
        books_of_source(corpus / "text")


def test_fewer_pairs_are_a_part_of_more(corpus):
    every = read_source(corpus, "train")
    many, few = (draw_pairs(every, n, seed=3) for n in (100, 40))
    assert (len(many.examples), len(few.examples)) == (100, 40)
    assert many.chosen == (f"100 of {len(every.examples)} pairs drawn with seed 3",)
    order = {id(one): number for number, one in enumerate(every.examples)}
    for drawn in (many, few):
        places = [order[id(one)] for one in drawn.examples]
        assert places == sorted(places)
    assert {id(one) for one in few.examples} < {id(one) for one in many.examples}
    assert draw_pairs(every, 40, seed=4).examples != few.examples
    assert draw_pairs(every, 10_000, seed=3) is every
    part = few.describe()
    assert (part["source"], part["chosen"]) == ("out/jsonl/pairs, train", [few.chosen[0]])
    assert part["path"] == str(corpus.resolve())
    assert (part["examples"], part["books"]) == (40, list(few.books))


@pytest.fixture
def csv_limit():
    """The limit that the library starts with; SciPy raises it for the whole process."""
    limit = 131_072
    before = csv.field_size_limit(limit)
    yield limit
    csv.field_size_limit(before)


def test_long_cells_are_read_and_the_limit_of_other_readers_stays(tmp_path, csv_limit):
    path = tmp_path / "pairs.csv"
    path.write_text(f"context,response\nWhy?,{'Because. ' * 40_000}\n", encoding="utf-8")
    (one,) = read_examples(path)
    assert len(one.response) > csv_limit and csv.field_size_limit() == csv_limit
