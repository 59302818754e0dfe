"""Messages of chat models, and that the templates of tokenizers take them."""

import pytest
from corpus_helpers import ODD, book_of, json_rows, turn, written

import miner
from miner.corpus.export import find_format
from miner.errors import InputError

TURNS = [
    turn("One.", "ann", 3),
    turn("Two.", "bo", 4),
    turn("Three.", "bo", 5),
    turn("Four.", None, 6),
    turn("Five.", None, 7),
    turn("Six.", "ann", 8),
]


@pytest.fixture(scope="module")
def sample():
    return miner.mine("sample", tagger="gap").encoded


def test_roles_alternate_and_turns_of_one_speaker_are_one_message(tmp_path):
    folder = written(tmp_path, "chat", book_of("1", TURNS, TURNS[2:4], TURNS[:2][::-1]))
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
    title = {"book": "1", "title": "Title of 1", "author": "", "language": "en"}
    assert row == {**title, "dialogue": 0, "part": 0, "chapter": 2, "paragraph": 3}


def test_narration_stands_between_asterisks_where_it_is_printed(tmp_path):
    silent = dict(TURNS[3], narration_before="", narration_after="—")
    inside = [{"at": 5, "text": "—said Ann—,"}, {"at": 12, "text": "* * * She\n*laughed*—"}]
    broken = dict(TURNS[5], text="Six. Seven, eight.", narration_inside=inside)
    folder = written(tmp_path, "chat", book_of("1", [*TURNS[:3], silent, broken]), narration=True)
    (row,) = json_rows(folder / "chat.jsonl")
    assert [message["content"] for message in row["messages"]] == [
        "*It rained.* One. *said Ann.*",
        "*It rained.* Two. *said Bo.*\n*It rained.* Three. *said Bo.*",
        "Four.",
        "*It rained.* Six. *said Ann,* Seven, *She laughed—* eight. *said Ann.*",
    ]


def test_what_nobody_answers_is_left_out_and_counted(tmp_path):
    book = book_of("1", TURNS[:2], TURNS[1:3], TURNS[:1])
    left_out = find_format("chat").write_books(tmp_path, [book])
    assert left_out == {"dialogues of one message": 2}
    assert [row["dialogue"] for row in json_rows(tmp_path / "chat.jsonl")] == [0]


def test_the_option_is_a_flag():
    with pytest.raises(InputError, match="^narration: found 'field', expected true or false$"):
        find_format("chat").options(narration="field")


# What the templates of models demand and write.
_ALTERNATE = """{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{%- endif -%}"""
TEMPLATES = {
    "Llama 2": """
{%- set system = messages[0]['content'] if messages[0]['role'] == 'system' else false -%}
{%- for message in (messages[1:] if system else messages) -%}"""
    + _ALTERNATE
    + """
{%- if message['role'] == 'user' -%}
<s>[INST] {% if loop.first and system %}<<SYS>>\n{{ system }}\n<</SYS>>\n\n{% endif %}
{{- message['content'].strip() }} [/INST]
{%- else %} {{ message['content'].strip() }} </s>{% endif -%}
{%- endfor -%}""",
    "Mistral": "<s>{%- for message in messages -%}"
    + _ALTERNATE
    + """
{%- if message['role'] == 'user' -%}[INST] {{ message['content'] }} [/INST]
{%- elif message['role'] == 'assistant' -%}{{ message['content'] }}</s>
{%- else -%}{{ raise_exception('Only user and assistant roles are supported!') }}
{%- endif -%}{%- endfor -%}""",
    "Gemma": """<bos>{%- if messages[0]['role'] == 'system' -%}
{{ raise_exception('System role not supported') }}{%- endif -%}
{%- for message in messages -%}"""
    + _ALTERNATE
    + """
{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
<start_of_turn>{{ role }}
{{ message['content'] | trim }}<end_of_turn>
{% endfor -%}""",
    "ChatML": """{%- for message in messages -%}
<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor -%}""",
}
FIRST = {
    "Llama 2": "<s>[INST] {} [/INST] {} </s><s>[INST] ",
    "Mistral": "<s>[INST] {} [/INST]{}</s>[INST] ",
    "Gemma": "<bos><start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n{}<end_of_turn>\n",
    "ChatML": "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>\n",
}


@pytest.fixture(scope="module")
def tokenizer():
    pytest.importorskip("jinja2", reason="Jinja is not installed")
    transformers = pytest.importorskip("transformers", reason="Transformers is not installed")
    from tokenizers import Tokenizer, models, pre_tokenizers

    plain = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=plain)


@pytest.mark.parametrize("narration", [False, True])
@pytest.mark.parametrize("name", TEMPLATES)
def test_the_template_of_a_tokenizer_takes_the_messages(
    tmp_path, sample, tokenizer, name, narration
):
    tokenizer.chat_template = TEMPLATES[name]
    rows = json_rows(written(tmp_path, "chat", sample, narration=narration) / "chat.jsonl")
    shown = [tokenizer.apply_chat_template(row["messages"], tokenize=False) for row in rows]
    assert len(shown) == len(sample["dialogues"].splitlines()) > 10
    contents = [message["content"] for message in rows[0]["messages"][:2]]
    assert shown[0].startswith(FIRST[name].format(*contents))
    assert any("*" in text for text in shown) == narration
    tokens = tokenizer.apply_chat_template(rows[0]["messages"], tokenize=True)
    assert len(tokens["input_ids"]) > len(rows[0]["messages"])


@pytest.mark.parametrize("name", ["Llama 2", "Mistral", "Gemma"])
def test_these_templates_refuse_roles_that_do_not_alternate(tmp_path, sample, tokenizer, name):
    tokenizer.chat_template = TEMPLATES[name]
    messages = json_rows(written(tmp_path, "chat", sample) / "chat.jsonl")[0]["messages"]
    messages[1]["role"] = "user"
    with pytest.raises(Exception, match="must alternate"):
        tokenizer.apply_chat_template(messages, tokenize=False)


def test_arrow_reads_chat_as_a_table_of_few_columns(tmp_path, sample):
    from pyarrow import json as arrow

    table = arrow.read_json(written(tmp_path, "chat", sample) / "chat.jsonl")
    assert table.column_names[-2:] == ["messages", "personas"]
    assert [field.name for field in table.schema.field("personas").type.value_type] == [
        *("id", "name", "gender", "aliases")
    ]
