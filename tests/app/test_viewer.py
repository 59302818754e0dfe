"""The page of a book: what its data says, by hand and by the scorer, and what it may not do."""

import base64
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup
from corpus.test_mine import DATA, SAMPLE
from evaluation.test_compare_annotations import ANNOTATIONS, failed, run, said
from helpers import NAMES, book

from miner.annotation.annotations import read_annotations
from miner.app.viewer.data import book_data, chapter_data
from miner.app.viewer.layers import Says, chapter_scores, disagreements, layer_names, layered
from miner.app.viewer.numbered import numbered, place_of
from miner.app.viewer.page import MODES, page_html, view_html
from miner.books.book import parse_book
from miner.dialogue.read import read_spans
from miner.dialogue.spans import BookSpans, split_book
from miner.dialogue.tag_files import read_tag_file
from miner.dialogue.tags import TaggedBook, TaggedSpan
from miner.dialogue.typography import infer_typography
from miner.evaluation.compare import spans_of
from miner.evaluation.scores import score
from miner.models.load import load_tagger

TAGGERS = [(name, load_tagger(name)) for name in ("gap", "narration")]
GOLD = read_annotations(ANNOTATIONS)


def spans_of_sample():
    return read_spans(SAMPLE.read_bytes(), "sample", ())


@pytest.fixture(scope="module")
def sample():
    return layered(spans_of_sample(), TAGGERS, GOLD)


def page_of(*paragraphs, head=""):
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()


def unspoken(data, book_id="7"):
    """The spans of a page, whatever it holds."""
    parsed = parse_book(data, book_id)
    return split_book(parsed, infer_typography(parsed))


class Told:
    """Tags a book as it was told, letter by letter of its utterances, and as sure as it was."""

    def __init__(self, letters, sure=None):
        self.letters, self.sure = letters, sure

    def tag(self, book_spans):
        said = iter(zip(self.letters, self.sure or [None] * len(self.letters), strict=True))
        tagged = []
        for span in book_spans.spans:
            letter, sure = next(said) if span.is_utterance else ("O", None)
            tagged.append(TaggedSpan(span, NAMES[letter], sure))
        return tagged


def rows(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def json_of(page, name):
    return json.loads(BeautifulSoup(page, "lxml").find("script", id=name).string)


# What the data says.


def test_every_utterance_leads_back_to_its_block(sample):
    tagged = load_tagger("gap").tag(spans_of_sample())
    n_checked = 0
    for number in sample.chapters:
        data = chapter_data(sample, number)
        texts = dict(zip(data["blocks"]["index"], data["blocks"]["text"], strict=True))
        for layer in data["layers"]:
            for item in rows(layer["utterances"]) if layer else []:
                assert texts[item["paragraph"]][item["start"]].startswith("“")
                n_checked += 1
    said_there = sum(item.span.is_utterance for item in tagged)
    assert n_checked > 2.9 * said_there  # gold cuts the sample nearly as the miner does


def test_all_blocks_of_the_book_are_on_the_page_once(sample):
    shown = [
        n for number in sample.chapters for n in chapter_data(sample, number)["blocks"]["index"]
    ]
    assert shown == [block.index for block in sample.book.blocks]


def test_scores_of_a_chapter_are_those_of_the_scorer(sample, tmp_path):
    file = tmp_path / "gold.jsonl"
    run(
        "gold", "export", "--gold", ANNOTATIONS, "--split", "sample", "--format", "tags", "-o", file
    )
    (gold,) = read_tag_file(file).books
    guess = load_tagger("gap").tag(spans_of(gold))
    seen = set()
    for chapter in range(1, 6):
        sides = [
            TaggedBook("sample", tuple(item for item in spans if item.span.chapter == chapter))
            for spans in (gold.spans, guess)
        ]
        figure = score(sides[:1], sides[1:]).total.end_to_end
        found = chapter_data(sample, chapter)["layers"][1]["scores"]
        for unit, name in (("start", "B-START"), ("pairs", "turn-pair")):
            for rate in ("precision", "recall", "f1"):
                value = figure[f"{name}.{rate}"].value
                assert found[unit][rate] == round(value, 3)
                seen.add(value)
    assert len(seen) > 5


def test_the_gold_has_no_scores_of_its_own_and_unannotated_chapters_none(sample):
    data = chapter_data(sample, 1)
    assert data["layers"][0]["scores"] is None
    assert data["layers"][1]["scores"] is not None
    front = chapter_data(sample, 0)
    assert front["layers"][0] is None
    assert front["layers"][1]["counts"]["utterances"] == 0
    with pytest.raises(ValueError, match="found no gold of chapter 0"):
        chapter_scores(sample, sample.layers[1], 0)


def test_counts_are_those_of_mine(sample, tmp_path):
    out = tmp_path / "mined"
    run("mine", "sample", "--tagger", "gap", "-q", "-o", out)
    totals = json.loads((out / "run.json").read_bytes())["totals"]
    plain = layered(spans_of_sample(), TAGGERS)
    found = Counter()
    for chapter in book_data(plain)["chapters"]:
        found.update(chapter["counts"][0])
    assert found == {
        "utterances": totals["utterances"],
        "conversations": totals["dialogues"],
        "turns": totals["turns"],
        "pairs": totals["pairs"],
    }


def test_conversations_and_turns_are_numbered_by_chapter():
    chapters = numbered(book("SsRrOS|SRO"))
    held = {n: [(u.conversation, u.turn) for u in c.utterances] for n, c in chapters.items()}
    assert held == {1: [(1, 1), (1, 1), (1, 2), (1, 2), (2, 1)], 2: [(1, 1), (1, 2)]}
    assert [len(c.pairs) for c in chapters[1].conversations] == [1, 0]
    assert chapters[1].counts.turns == 3


def test_a_conversation_that_runs_into_the_next_chapter_goes_on_there():
    chapters = numbered(book("SSR|RrRS"))
    first, second = chapters[1].conversations[1], chapters[2].conversations[0]
    assert (first.number, first.first, first.last) == (2, 1, 2)
    assert (second.number, second.first, second.last) == (1, 3, 4)
    assert [pair.turn for pair in first.pairs] == [1, 2]  # the second is answered over there
    assert [pair.turn for pair in second.pairs] == [3]
    assert [item.number for item in chapters[2].conversations] == [1, 2]


def test_disagreements_by_hand():
    gold, guess = (numbered(book(letters))[1] for letters in ("SsROrSR", "SRROrRr"))
    found = [(item.place[0], item.first, item.second) for item in disagreements(gold, guess)]
    assert found == [
        (1, Says.ON, Says.TURN),
        (5, Says.CONVERSATION, Says.TURN),
        (6, Says.TURN, Says.ON),
    ]
    turned = [(item.place[0], item.second, item.first) for item in disagreements(guess, gold)]
    assert turned == found
    assert disagreements(gold, gold) == []


def test_the_rest_of_another_turn_is_no_disagreement():
    one, other = (numbered(book(letters))[1] for letters in ("SRSs", "SRRr"))
    found = [item.place[0] for item in disagreements(one, other)]
    assert found == [2]  # not 3, I-START here and I-OTHER there


def test_spans_that_one_side_lacks_or_cuts_otherwise():
    spans = unspoken(page_of("“One,” he said, “and two.”", "“Three.”")).spans
    wide = replace(spans[0], end=spans[2].end, text="“One,” he said, “and two.”")
    sides = [
        TaggedBook("7", tuple(TaggedSpan(s, NAMES[t]) for s, t in zip(part, tags, strict=True)))
        for part, tags in ((spans, "SOsR"), ((wide,), "S"))
    ]
    one, other = (numbered(side)[spans[0].chapter] for side in sides)
    found = [(item.place, item.first, item.second) for item in disagreements(one, other)]
    assert found == [
        (place_of(spans[0]), Says.CONVERSATION, Says.OTHERWISE),
        (place_of(wide), Says.OTHERWISE, Says.CONVERSATION),
        (place_of(spans[2]), Says.ON, Says.OTHERWISE),
        (place_of(spans[3]), Says.TURN, Says.NOTHING),
    ]


def test_pairs_say_what_is_wrong_with_them_and_how_sure_they_are():
    spans = unspoken(page_of("“One.”", "“Two.”", "“Three.”"))
    told = layered(spans, [("told", Told("SRR", [0.9, 0.8, 0.5])), ("gap", load_tagger("gap"))])
    data = chapter_data(told, 0)
    (conversation,) = data["layers"][0]["conversations"]
    assert conversation["pairs"] == [[1, 0.36, None], [2, 0.4, None]]
    assert data["layers"][0]["utterances"]["confidence"] == [0.9, 0.8, 0.5]
    assert "confidence" not in data["layers"][1]["utterances"]
    gold, guess = book("SRSR"), book("SRRR")
    (judged,) = numbered(guess, gold)[1].conversations
    assert [pair.cause for pair in judged.pairs] == ["", "two conversations", ""]


def test_the_gold_names_speakers_and_conversations(sample):
    data = chapter_data(sample, 1)
    first = rows(data["layers"][0]["utterances"])[0]
    assert (first["speaker"], first["annotated"], first["tag"]) == ("Amos Bunce", 1, "B-START")
    assert "speaker" not in data["layers"][1]["utterances"]


# Books of all sorts.


def test_chapters_that_are_not_annotated_have_the_spans_of_the_miner(tmp_path):
    rows_of_two = [
        line
        for line in (ANNOTATIONS / "gold" / "sample.jsonl").read_bytes().splitlines(keepends=True)
        if json.loads(line)["chapter"] == 2
    ]
    cards = (ANNOTATIONS / "books.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "sample.jsonl").write_bytes(b"".join(rows_of_two))
    (tmp_path / "books.jsonl").write_bytes(
        b"".join(line for line in cards if json.loads(line)["book"] == "sample")
    )
    shown = layered(spans_of_sample(), TAGGERS, read_annotations(tmp_path))
    assert shown.annotated == (2,)
    assert chapter_data(shown, 1)["layers"][0] is None
    plain = layered(spans_of_sample(), TAGGERS)
    assert (
        chapter_data(shown, 1)["layers"][1]["utterances"]
        == (chapter_data(plain, 1)["layers"][0]["utterances"])
    )
    entries = {entry["number"]: entry for entry in book_data(shown)["chapters"]}
    assert [n for n, entry in entries.items() if entry["annotated"]] == [2]
    assert (entries[1]["counts"][0], "0-1" in entries[1]["disagreements"]) == (None, False)
    assert entries[2]["disagreements"]["0-1"] == len(chapter_data(shown, 2)["disagreements"]["0-1"])


def test_corrected_tags_keep_their_own_spans_beside_the_gold(tmp_path):
    file = tmp_path / "tags.jsonl"
    run("tag", "sample", "--tagger", "gap", "-o", file)
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    wrong = next(n for n, line in enumerate(lines) if line["tag"] == "I-START")
    lines[wrong] |= {"kind": "narration", "tag": "O"}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = layered(spans_of_sample(), [("mine", load_tagger(str(file)))], GOLD)
    found = chapter_data(shown, lines[wrong]["chapter"])["disagreements"]["0-1"]
    place = [lines[wrong][key] for key in ("paragraph", "start", "end")]
    assert [*place, Says.ON, Says.NOTHING] in found


def test_a_book_without_speech():
    quiet = unspoken(page_of("It rained upon the moor.", "Nobody came."))
    shown = layered(quiet, TAGGERS)
    data = chapter_data(shown, 0)
    assert data["layers"][0]["counts"] == dict.fromkeys(
        ("utterances", "conversations", "turns", "pairs"), 0
    )
    assert data["layers"][0]["utterances"]["paragraph"] == []
    assert json_of(view_html(shown), "chapter-0") == data


def test_a_book_without_chapters_is_one():
    shown = layered(unspoken(page_of("“Come!” she said.", "“I come.”")), TAGGERS)
    (entry,) = book_data(shown)["chapters"]
    assert (entry["number"], entry["title"], entry["words"]) == (0, "The whole text", 5)
    with pytest.raises(ValueError, match="found no chapter 3, expected up to 0"):
        chapter_data(shown, 3)


def test_verse_keeps_its_lines():
    song = "<div class='poem'>The tide is out,<br>the boats are in,<br>“Cast off!” we cry.</div>"
    shown = layered(
        unspoken(page_of("“Sing!”").replace(b"</body>", f"{song}</body>".encode())), TAGGERS
    )
    blocks = chapter_data(shown, 0)["blocks"]
    assert "verse" in blocks["kind"]
    assert blocks["text"][blocks["kind"].index("verse")].count("\n") == 2


@pytest.mark.parametrize("name", ["dash.htm", "guillemets_fr.html", "spanish_dash.html"])
def test_books_of_other_languages(name):
    book_spans = read_spans((DATA / name).read_bytes(), name, ())
    data = book_data(layered(book_spans, TAGGERS))
    assert data["language"] == book_spans.book.language
    assert sum(chapter["counts"][0]["turns"] for chapter in data["chapters"]) > 0


# The page.


def test_no_text_breaks_out_of_its_block():
    nasty = (
        "“&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--” he said &amp;amp; “]]&gt;”"
    )
    head = "<title>&lt;b&gt;Title&lt;/b&gt; &quot;&amp;&quot;, by A. &lt;i&gt;</title>"
    shown = layered(unspoken(page_of(nasty, head=head)), TAGGERS)
    page = view_html(shown)
    tree = BeautifulSoup(page, "lxml")
    n_scripts = len(MODES["view"].scripts)
    assert len(tree.find_all("script")) == n_scripts + 2  # the book and its one chapter
    assert json_of(page, "chapter-0") == chapter_data(shown, 0)
    assert "</script><script>alert(1)" in json_of(page, "chapter-0")["blocks"]["text"][0]
    assert tree.title.string == '<b>Title</b> "&", by A. <i>'
    assert not tree.find_all(["b", "i"])


def test_the_policy_lets_in_what_is_there_and_nothing_else(sample):
    tree = BeautifulSoup(view_html(sample), "lxml")
    meta = tree.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    policy = dict(part.split(" ", 1) for part in meta["content"].split("; "))
    assert policy["default-src"] == policy["connect-src"] == "'none'"
    assert policy["base-uri"] == policy["form-action"] == "'none'"
    code = [script for script in tree.find_all("script") if not script.get("type")]
    for name, elements in (("script-src", code), ("style-src", tree.find_all("style"))):
        digests = [
            base64.b64encode(hashlib.sha256(item.string.encode()).digest()).decode()
            for item in elements
        ]
        assert digests and policy[name].split() == [f"'sha256-{digest}'" for digest in digests]
    assert not tree.find_all(lambda tag: tag.get("src") or tag.get("style") or tag.get("onclick"))
    assert {link["href"] for link in tree.find_all("link")} == {"data:,"}


def test_nothing_in_the_page_names_another_place(sample):
    page = page_html(book_data(sample), []).decode()
    assert not re.findall(r"(?:https?:)?//[\w.]+\.\w+", page)
    assert "@import" not in page and "url(" not in page


def test_a_mode_that_is_not_there(sample):
    with pytest.raises(ValueError, match="found mode 'print', expected one of view"):
        page_html(book_data(sample), [], "print")


def test_names_of_layers():
    assert layer_names(["gap 150", "runs/large/", "tags.jsonl"]) == [
        "gap 150",
        "large",
        "tags.jsonl",
    ]
    assert layer_names(["a/best", "b/best"]) == ["a/best", "b/best"]


# The command.


def test_the_command_writes_one_file(tmp_path):
    file = tmp_path / "sample.html"
    words = ("view", "sample", "--gold", ANNOTATIONS, "--tagger", "gap", "--tagger", "narration")
    assert said(*words, "-o", file) == f"wrote {file}\n"
    page = file.read_bytes()
    assert [layer["name"] for layer in json_of(page, "book")["layers"]] == [
        "gold",
        "gap 150",
        "narration",
    ]
    assert list(tmp_path.iterdir()) == [file]
    assert failed("view", "sample", "-o", file).startswith(f"{file}: exists already")
    assert file.read_bytes() == page
    assert said("view", "sample", "-q", "--force", "-o", file) == ""
    assert [layer["name"] for layer in json_of(file.read_bytes(), "book")["layers"]] == ["auto"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["single_curly.html", "--gold", ANNOTATIONS], "found no annotations of single_curly"),
        (["no_dialogue.html"], "no dialogue: found no speech"),
        (["single_curly.html", "--tagger", "brew"], "no tagger 'brew'"),
        (["single_curly.html", "--tagger", "gap", "--tagger", "gap"], "two layers called gap 150"),
    ],
    ids=["gold of other books", "no speech", "no such tagger", "one tagger twice"],
)
def test_what_cannot_be_shown_is_one_line(tmp_path, words, line):
    name, *options = words
    assert line in failed("view", DATA / name, *options, "-o", tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_more_layers_than_keys():
    many = [(f"gap {n}", load_tagger("gap", n)) for n in range(10)]
    with pytest.raises(ValueError, match="found 10 layers, expected 1 to 9"):
        layered(spans_of_sample(), many)


def test_tags_of_another_book_are_refused(tmp_path):
    tags = tmp_path / "tags.jsonl"
    run("tag", DATA / "single_curly.html", "--tagger", "gap", "-o", tags)
    line = failed("view", "sample", "--tagger", tags, "-o", tmp_path / "page.html")
    assert "found tags of single_curly, expected tags of sample" in line


def test_an_edition_that_lacks_the_annotated_spans_is_refused():
    spans = spans_of_sample()
    cut = replace(spans.book, blocks=spans.book.blocks[:20], sha256="0" * 64)
    with pytest.raises(ValueError, match=r"sample, chapter \d: found \d+ of \d+ annotated utt"):
        layered(BookSpans(cut, tuple(s for s in spans.spans if s.paragraph < 20)), TAGGERS, GOLD)
