"""The page of a book: its values and scores, who speaks, its safety, and the command."""

import base64
import hashlib
import json
import re
from collections import Counter
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup
from helpers import DATA, NAMES, SAMPLE, annotations_of_sample, book, failed, run, said

import miner
from miner.annotation.annotations import read_annotations
from miner.annotation.matching import place_of
from miner.app.viewer.layers import (
    N_COLOURS,
    CastMember,
    SpanRole,
    build_layers,
    choose_colours,
    find_disagreements,
    list_cast,
    number_chapters,
    score_chapter,
)
from miner.app.viewer.page import (
    MODES,
    build_book_payload,
    build_chapter_payload,
    render_book,
    render_page,
)
from miner.books.book import parse_book
from miner.errors import InputError
from miner.lab.gold.mcn import strip_tags
from miner.lab.measure.scores import score
from miner.people.cast import Character, Kind
from miner.people.character_files import SpokenBook
from miner.speech.kinds import SpanKind
from miner.speech.read import parse_spans
from miner.speech.spans import BookSpans, Span, split_book
from miner.speech.tag_files import read_tag_file
from miner.speech.tags import Tag, TaggedBook, TaggedSpan
from miner.speech.typography import infer_typography
from miner.tagger.load import load_tagger

TAGGERS = [(name, load_tagger(name)) for name in ("gap", "narration")]


def spans_of_sample():
    return parse_spans(SAMPLE.read_bytes(), "sample", ())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The annotations of the sample."""
    return annotations_of_sample(tmp_path_factory.mktemp("view") / "annotations")


@pytest.fixture(scope="module")
def gold(folder):
    return read_annotations(folder)


@pytest.fixture(scope="module")
def sample(gold):
    return build_layers(spans_of_sample(), TAGGERS, gold)


def page_of(*paragraphs, head=""):
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()


def spans_of_page(data, book_id="7"):
    """The spans of a page, even if it has no speech."""
    parsed = parse_book(data, book_id)
    return split_book(parsed, infer_typography(parsed))


class FixedTagger:
    """A tagger that gives the utterances of a book the given tags, confidences and speakers."""

    def __init__(self, letters, confidences=None, speakers=None):
        nothing = [None] * len(letters)
        self.said = list(zip(letters, confidences or nothing, speakers or nothing, strict=True))

    def tag(self, book_spans):
        said = iter(self.said)
        tagged = []
        for span in book_spans.spans:
            letter, sure, who = next(said) if span.is_utterance else ("O", None, None)
            sure_of_speaker = None if who is None else 0.75
            tagged.append(TaggedSpan(span, NAMES[letter], sure, who, sure_of_speaker))
        return tagged


def rows(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def json_of(page, name):
    return json.loads(BeautifulSoup(page, "lxml").find("script", id=name).string)


# The values of the page.


def test_every_utterance_leads_back_to_its_block(sample):
    tagged = load_tagger("gap").tag(spans_of_sample())
    n_checked = 0
    for number in sample.chapters:
        data = build_chapter_payload(sample, number)
        texts = dict(zip(data["blocks"]["index"], data["blocks"]["text"], strict=True))
        for layer in data["layers"]:
            for item in rows(layer["utterances"]) if layer else []:
                assert texts[item["paragraph"]][item["start"]].startswith("“")
                n_checked += 1
    said_there = sum(item.span.is_utterance for item in tagged)
    assert n_checked > 2.9 * said_there  # the gold splits the sample nearly as the miner does


def test_all_blocks_of_the_book_are_on_the_page_once(sample):
    shown = [
        n
        for number in sample.chapters
        for n in build_chapter_payload(sample, number)["blocks"]["index"]
    ]
    assert shown == [block.index for block in sample.book.blocks]


def test_the_scores_of_a_chapter_equal_those_of_the_scorer(sample, folder, tmp_path):
    file = tmp_path / "gold.jsonl"
    run("gold", "export", "--gold", folder, "--split", "sample", "--format", "tags", "-o", file)
    (gold,) = read_tag_file(file).books
    guess = load_tagger("gap").tag(strip_tags(gold))
    seen = set()
    for chapter in range(1, 6):
        sides = [
            TaggedBook("sample", tuple(item for item in spans if item.span.chapter == chapter))
            for spans in (gold.spans, guess)
        ]
        measures = score(sides[:1], sides[1:]).total.end_to_end
        found = build_chapter_payload(sample, chapter)["layers"][1]["scores"]
        for unit, name in (("start", "B-START"), ("pairs", "turn-pair")):
            for rate in ("precision", "recall", "f1"):
                value = measures[f"{name}.{rate}"].value
                assert found[unit][rate] == round(value, 3)
                seen.add(value)
    assert len(seen) > 5


def test_the_gold_has_no_scores_of_its_own_and_unannotated_chapters_none(sample):
    data = build_chapter_payload(sample, 1)
    assert data["layers"][0]["scores"] is None
    assert data["layers"][1]["scores"] is not None
    front = build_chapter_payload(sample, 0)
    assert front["layers"][0] is None
    assert front["layers"][1]["counts"]["utterances"] == 0
    with pytest.raises(InputError, match="found no gold for chapter 0"):
        score_chapter(sample, sample.layers[1], 0)


def test_the_counts_equal_those_of_mine(sample, tmp_path):
    out = tmp_path / "mined"
    run("mine", "sample", "--tagger", "gap", "--min-turns", "1", "-q", "-o", out)
    totals = json.loads((out / "run.json").read_bytes())["totals"]
    plain = build_layers(spans_of_sample(), TAGGERS)
    found = Counter()
    for chapter in build_book_payload(plain)["chapters"]:
        found.update(chapter["counts"][0])
    assert found == {
        "utterances": totals["utterances"],
        "conversations": totals["dialogues"],
        "turns": totals["turns"],
        "pairs": totals["pairs"],
    }


BOOKS = ["sample", "dash.htm", "guillemets_fr.html", "spanish_dash.html", "single_curly.html"]


@pytest.mark.parametrize("name", BOOKS)
def test_chapters_and_dialogues_are_those_of_mine(tmp_path, name):
    source = "sample" if name == "sample" else DATA / name
    run("mine", source, "--tagger", "gap", "--min-turns", "1", "-q", "-o", tmp_path / "mined")
    lines = (tmp_path / "mined" / "dialogues.jsonl").read_bytes().splitlines()
    mined = [json.loads(line) for line in lines]
    run("view", source, "--tagger", "gap", "-q", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_bytes()
    whole = json_of(page, "book")
    assert whole["layers"][0]["begins"] == [row["chapter"] for row in mined]
    shown = []
    for entry in whole["chapters"]:
        layer = json_of(page, f"chapter-{entry['number']}")["layers"][0]
        begun = [row["dialogue"] for row in mined if row["chapter"] == entry["number"]]
        assert [item["dialogue"] for item in layer["conversations"]][-len(begun) :] == begun
        for row in layer["dialogues"]:
            turns = [dict(zip(whole["turn_columns"], turn, strict=True)) for turn in row["turns"]]
            for turn in turns:
                spans = turn["spans"]
                turn["spans"] = [dict(zip(whole["span_columns"], s, strict=True)) for s in spans]
            shown.append(row | {"turns": turns})
    assert shown == mined
    assert {row["chapter"] for row in mined} <= {entry["number"] for entry in whole["chapters"]}


def test_the_page_knows_the_confidence_of_each_pair():
    spans = spans_of_page(page_of("“One.”", "“Two.”", "It rained.", "“Three.”", "“Four.”"))
    sure = FixedTagger("SRSR", [0.9, 0.8, 0.5, 1.0])
    shown = build_layers(spans, [("fixed", sure), ("gap", load_tagger("gap"))])
    first, second = build_book_payload(shown)["layers"]
    assert first["sure"] == [[0.36], [0.5]]
    assert second["sure"] is None


def test_conversations_and_turns_are_numbered_by_chapter():
    chapters = number_chapters(book("SsRrOS|SRO"))
    held = {n: [(u.conversation, u.turn) for u in c.utterances] for n, c in chapters.items()}
    assert held == {1: [(1, 1), (1, 1), (1, 2), (1, 2), (2, 1)], 2: [(1, 1), (1, 2)]}
    assert [len(c.pairs) for c in chapters[1].conversations] == [1, 0]
    assert chapters[1].counts.turns == 3


def test_a_conversation_continues_in_the_next_chapter():
    chapters = number_chapters(book("SSR|RrRS"))
    first, second = chapters[1].conversations[1], chapters[2].conversations[0]
    assert (first.number, first.first, first.last) == (2, 1, 2)
    assert (second.number, second.first, second.last) == (1, 3, 4)
    assert [pair.turn for pair in first.pairs] == [1, 2]  # 2 is answered in chapter 2
    assert [pair.turn for pair in second.pairs] == [3]
    assert [item.number for item in chapters[2].conversations] == [1, 2]


def test_a_pair_belongs_to_the_chapter_in_which_its_first_turn_begins():
    chapters = number_chapters(book("SR|rR"))  # the second turn is in both chapters
    pairs = {n: [pair.turn for pair in c.conversations[0].pairs] for n, c in chapters.items()}
    assert pairs == {1: [1, 2], 2: []}


def test_disagreements_are_spans_with_different_roles():
    gold, guess = (number_chapters(book(letters))[1] for letters in ("SsROrSR", "SRROrRr"))
    found = [(item.place[0], item.first, item.second) for item in find_disagreements(gold, guess)]
    assert found == [
        (1, SpanRole.CONTINUES_TURN, SpanRole.STARTS_TURN),
        (5, SpanRole.STARTS_CONVERSATION, SpanRole.STARTS_TURN),
        (6, SpanRole.STARTS_TURN, SpanRole.CONTINUES_TURN),
    ]
    turned = [(item.place[0], item.second, item.first) for item in find_disagreements(guess, gold)]
    assert turned == found
    assert find_disagreements(gold, gold) == []


def test_i_start_and_i_other_do_not_disagree():
    one, other = (number_chapters(book(letters))[1] for letters in ("SRSs", "SRRr"))
    found = [item.place[0] for item in find_disagreements(one, other)]
    assert found == [2]  # not 3, I-START here and I-OTHER there


def test_spans_that_one_layer_lacks_or_splits_differently():
    spans = spans_of_page(page_of("“One,” he said, “and two.”", "“Three.”")).spans
    wide = replace(spans[0], end=spans[2].end, text="“One,” he said, “and two.”")
    sides = [
        TaggedBook("7", tuple(TaggedSpan(s, NAMES[t]) for s, t in zip(part, tags, strict=True)))
        for part, tags in ((spans, "SOsR"), ((wide,), "S"))
    ]
    one, other = (number_chapters(side)[spans[0].chapter] for side in sides)
    found = [(item.place, item.first, item.second) for item in find_disagreements(one, other)]
    assert found == [
        (place_of(spans[0]), SpanRole.STARTS_CONVERSATION, SpanRole.SPLIT_DIFFERENTLY),
        (place_of(wide), SpanRole.SPLIT_DIFFERENTLY, SpanRole.STARTS_CONVERSATION),
        (place_of(spans[2]), SpanRole.CONTINUES_TURN, SpanRole.SPLIT_DIFFERENTLY),
        (place_of(spans[3]), SpanRole.STARTS_TURN, SpanRole.NOT_AN_UTTERANCE),
    ]


def test_pairs_have_confidences_and_causes_of_errors():
    spans = spans_of_page(page_of("“One.”", "“Two.”", "“Three.”"))
    shown = build_layers(
        spans, [("fixed", FixedTagger("SRR", [0.9, 0.8, 0.5])), ("gap", load_tagger("gap"))]
    )
    data = build_chapter_payload(shown, 0)
    (conversation,) = data["layers"][0]["conversations"]
    assert conversation["pairs"] == [[1, 0.36, None], [2, 0.4, None]]
    assert data["layers"][0]["utterances"]["confidence"] == [0.9, 0.8, 0.5]
    assert "confidence" not in data["layers"][1]["utterances"]
    gold, guess = book("SRSR"), book("SRRR")
    (judged,) = number_chapters(guess, gold)[1].conversations
    assert [pair.cause for pair in judged.pairs] == ["", "two conversations", ""]


def test_the_gold_names_speakers_and_conversations(sample):
    data = build_chapter_payload(sample, 1)
    first = rows(data["layers"][0]["utterances"])[0]
    assert (first["speaker"], first["annotated"], first["tag"]) == ("Amos Bunce", 1, "B-START")
    assert "annotated" not in data["layers"][1]["utterances"]


# Different books.


def test_chapters_without_annotations_have_the_spans_of_the_miner(tmp_path):
    gold = read_annotations(annotations_of_sample(tmp_path / "annotations", chapters=[2]))
    shown = build_layers(spans_of_sample(), TAGGERS, gold)
    assert shown.annotated == (2,)
    assert build_chapter_payload(shown, 1)["layers"][0] is None
    plain = build_layers(spans_of_sample(), TAGGERS)
    assert (
        build_chapter_payload(shown, 1)["layers"][1]["utterances"]
        == (build_chapter_payload(plain, 1)["layers"][0]["utterances"])
    )
    entries = {entry["number"]: entry for entry in build_book_payload(shown)["chapters"]}
    assert [n for n, entry in entries.items() if entry["annotated"]] == [2]
    assert (entries[1]["counts"][0], "0-1" in entries[1]["disagreements"]) == (None, False)
    assert entries[2]["disagreements"]["0-1"] == len(
        build_chapter_payload(shown, 2)["disagreements"]["0-1"]
    )


def test_corrected_tags_keep_their_own_spans_beside_the_gold(tmp_path, gold):
    file = tmp_path / "tags.jsonl"
    run("tag", "sample", "--tagger", "gap", "-o", file)
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    wrong = next(n for n, line in enumerate(lines) if line["tag"] == "I-START")
    lines[wrong] |= {"kind": "narration", "tag": "O"}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = build_layers(spans_of_sample(), [("mine", load_tagger(str(file)))], gold)
    found = build_chapter_payload(shown, lines[wrong]["chapter"])["disagreements"]["0-1"]
    place = [lines[wrong][key] for key in ("paragraph", "start", "end")]
    assert [*place, SpanRole.CONTINUES_TURN, SpanRole.NOT_AN_UTTERANCE] in found


def test_a_book_without_speech():
    quiet = spans_of_page(page_of("It rained upon the moor.", "Nobody came."))
    shown = build_layers(quiet, TAGGERS)
    data = build_chapter_payload(shown, 0)
    assert data["layers"][0]["counts"] == dict.fromkeys(
        ("utterances", "conversations", "turns", "pairs"), 0
    )
    assert data["layers"][0]["utterances"]["paragraph"] == []
    assert json_of(render_book(shown), "chapter-0") == data


def test_a_book_without_chapters_is_shown_as_one():
    shown = build_layers(spans_of_page(page_of("“Come!” she said.", "“I come.”")), TAGGERS)
    (entry,) = build_book_payload(shown)["chapters"]
    assert (entry["number"], entry["title"], entry["words"]) == (0, "The whole text", 5)
    with pytest.raises(InputError, match="found no chapter 3, expected 0 to 0"):
        build_chapter_payload(shown, 3)


def test_verse_keeps_its_lines():
    song = "<div class='poem'>The tide is out,<br>the boats are in,<br>“Cast off!” we cry.</div>"
    shown = build_layers(
        spans_of_page(page_of("“Sing!”").replace(b"</body>", f"{song}</body>".encode())), TAGGERS
    )
    blocks = build_chapter_payload(shown, 0)["blocks"]
    assert "verse" in blocks["kind"]
    assert blocks["text"][blocks["kind"].index("verse")].count("\n") == 2


@pytest.mark.parametrize("name", ["dash.htm", "guillemets_fr.html", "spanish_dash.html"])
def test_books_of_other_languages(name):
    book_spans = parse_spans((DATA / name).read_bytes(), name, ())
    data = build_book_payload(build_layers(book_spans, TAGGERS))
    assert data["language"] == book_spans.book.language
    assert sum(chapter["counts"][0]["turns"] for chapter in data["chapters"]) > 0


# The page.


def test_book_text_cannot_break_out_of_its_block():
    nasty = (
        "“&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--” he said &amp;amp; “]]&gt;”"
    )
    head = "<title>&lt;b&gt;Title&lt;/b&gt; &quot;&amp;&quot;, by A. &lt;i&gt;</title>"
    shown = build_layers(spans_of_page(page_of(nasty, head=head)), TAGGERS)
    page = render_book(shown)
    tree = BeautifulSoup(page, "lxml")
    n_scripts = len(MODES["view"].scripts)
    assert len(tree.find_all("script")) == n_scripts + 2  # the book and its one chapter
    assert json_of(page, "chapter-0") == build_chapter_payload(shown, 0)
    assert "</script><script>alert(1)" in json_of(page, "chapter-0")["blocks"]["text"][0]
    assert tree.title.string == '<b>Title</b> "&", by A. <i>'
    assert not tree.find_all(["b", "i"])


def test_the_policy_allows_the_scripts_of_the_page_and_nothing_else(sample):
    tree = BeautifulSoup(render_book(sample), "lxml")
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


def test_the_page_has_no_address_of_another_site(sample):
    page = render_page(build_book_payload(sample), []).decode()
    assert not re.findall(r"(?:https?:)?//[\w.]+\.\w+", page)
    assert "@import" not in page and "url(" not in page


def test_an_unknown_mode_is_refused(sample):
    with pytest.raises(InputError, match="found mode 'print', expected one of view"):
        render_page(build_book_payload(sample), [], "print")


# The command.


def test_the_command_writes_one_file(tmp_path, folder):
    file = tmp_path / "sample.html"
    words = ("view", "sample", "--gold", folder, "--tagger", "gap", "--tagger", "narration")
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
    assert said("view", "sample", "--tagger", "gap", "-q", "--force", "-o", file) == ""
    assert [layer["name"] for layer in json_of(file.read_bytes(), "book")["layers"]] == ["gap 150"]


@pytest.mark.slow
def test_the_default_tagger_of_the_command_is_auto(tmp_path):
    file = tmp_path / "sample.html"
    assert said("view", "sample", "-q", "-o", file) == ""
    assert [layer["name"] for layer in json_of(file.read_bytes(), "book")["layers"]] == ["auto"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["single_curly.html", "--gold", "ANNOTATIONS", "--tagger", "gap"],
            "found no annotations of single_curly",
        ),
        (["no_dialogue.html", "--tagger", "gap"], "no dialogue: found no speech"),
        (["single_curly.html", "--tagger", "brew"], "no tagger 'brew'"),
        (["single_curly.html", "--tagger", "gap", "--tagger", "gap"], "two layers called gap 150"),
    ],
    ids=["gold of other books", "no speech", "no such tagger", "one tagger twice"],
)
def test_a_book_that_cannot_be_shown_is_an_error_of_one_line(tmp_path, folder, words, line):
    name, *options = (folder if word == "ANNOTATIONS" else word for word in words)
    assert line in failed("view", DATA / name, *options, "-o", tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_more_layers_than_keys_are_refused():
    many = [(f"gap {n}", TAGGERS[0][1]) for n in range(10)]
    with pytest.raises(InputError, match="found 10 layers, expected 1 to 9"):
        build_layers(spans_of_sample(), many)


def test_tags_of_another_book_are_refused(tmp_path):
    tags = tmp_path / "tags.jsonl"
    run("tag", DATA / "single_curly.html", "--tagger", "gap", "-o", tags)
    line = failed("view", "sample", "--tagger", tags, "-o", tmp_path / "page.html")
    assert "found tags of single_curly, expected tags of sample" in line


def test_an_edition_that_lacks_the_annotated_spans_is_refused(gold):
    spans = spans_of_sample()
    cut = replace(spans.book, blocks=spans.book.blocks[:20], sha256="0" * 64)
    with pytest.raises(InputError, match=r"sample, chapter \d: found \d+ of \d+ annotated utt"):
        build_layers(
            BookSpans(cut, tuple(s for s in spans.spans if s.paragraph < 20)), TAGGERS, gold
        )


def spoken(*speakers, characters=()):
    """One utterance a chapter for each speaker."""
    spans = (Span(n, n, 0, 0, 4, "“So”", SpanKind.UTTERANCE) for n in range(1, len(speakers) + 1))
    tagged = (TaggedSpan(s, Tag.B_START, None, who) for s, who in zip(spans, speakers, strict=True))
    return SpokenBook(tuple(tagged), tuple(characters))


def member(name, n, *aliases):
    one = Character(name.lower().replace(" ", "-"), name, (name, *aliases))
    return CastMember(one, {1: n} if n else {})


def cast_of(payload, n=0):
    return {person["id"]: person for person in payload["layers"][n]["cast"]}


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


def test_the_cast_of_the_page_is_that_of_mine(tmp_path):
    run("mine", "sample", "--tagger", "gap", "-q", "-o", tmp_path / "mined")
    lines = (tmp_path / "mined" / "characters.jsonl").read_bytes().splitlines()
    mined = {row["id"]: row for row in map(json.loads, lines)}
    shown = build_layers(spans_of_sample(), [("gap", load_tagger("gap"))])
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
    spans = spans_of_page(page_of("“One.”", "“Two,” he said, “three.”", "“Four.”"))
    tagger = FixedTagger("SRrR", speakers=["ann", "bob", "bob", None])
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
