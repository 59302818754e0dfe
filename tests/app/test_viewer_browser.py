"""The page of `miner view` in a browser: keys, buttons, screen sizes, accessibility."""

import json
import re

import pytest
from browser import (
    CONTRASTS,
    DESKTOP,
    NAMELESS,
    PHONE,
    opened,
    seconds_to_first_chapter,
    wait_for_paint,
)
from helpers import SAMPLE, annotations_of_sample, run

from miner.annotation.annotations import read_annotations
from miner.app.viewer.layers import build_layers, find_disagreements
from miner.speech.read import parse_spans
from miner.tagger.load import load_tagger

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SMALLEST = (360, 740)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The sample with the gold, two heuristics, and a tagger that gives confidences."""
    folder = tmp_path_factory.mktemp("view")
    tags = folder / "confident.jsonl"
    run("tag", "sample", "--tagger", "tuned-gap", "-o", tags)
    rows = [json.loads(line) for line in tags.read_bytes().splitlines()]
    for n, row in enumerate(rows):
        row["confidence"] = round(1 - n % 7 / 10, 2) if row["tag"] != "O" else None
    tags.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = folder / "sample.html"
    gold = annotations_of_sample(folder / "annotations")
    words = ["view", "sample", "--gold", gold, "-o", page]
    for name in ("gap", "narration", tags):
        words += ["--tagger", name]
    assert run(*words).exit_code == 0
    return page


@pytest.fixture(scope="module")
def layers(tmp_path_factory):
    """The layers of the sample that the page shows."""
    book_spans = parse_spans(SAMPLE.read_bytes(), "sample", ())
    named = [(name, load_tagger(name)) for name in ("gap", "narration")]
    gold = read_annotations(annotations_of_sample(tmp_path_factory.mktemp("gold") / "annotations"))
    return build_layers(book_spans, named, gold).layers


@pytest.fixture
def page(browser, file):
    page = opened(browser, file)
    yield page
    page.context.close()


def text(page, selector):
    return " ".join((page.locator(selector).first.text_content() or "").split())


def status(page):
    return page.locator("#status").text_content()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def shown_layer(page):
    return text(page, "#layers [aria-pressed=true] span")


def differing(layers, one, other):
    """The number of disagreements of two layers in each chapter."""
    common = layers[one].chapters.keys() & layers[other].chapters.keys()
    return {
        n: len(find_disagreements(layers[one].chapters[n], layers[other].chapters[n]))
        for n in sorted(common)
    }


def test_it_opens_from_disk_without_an_error_or_a_request(browser, file):
    context = browser.new_context(offline=True)
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]")
    press(page, "2", "b", "d", "d", "n", "c", "j", "t", "x", "?", "Escape", "g", "Escape", "p")
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    context.close()


def test_the_policy_forbids_the_network(page):
    outcome = page.evaluate(
        "fetch('https://example.org/').then(() => 'reached', (error) => error.name)"
    )
    assert outcome == "TypeError"
    blocked = page.evaluate("""() => new Promise((resolve) => {
        const told = (event) => resolve(event.effectiveDirective);
        document.addEventListener("securitypolicyviolation", told);
        const image = new Image();
        image.src = "https://example.org/a.png";
        document.body.append(image);
    })""")
    assert blocked == "img-src"


def test_the_first_chapter_shows_the_gold_and_its_numbers(page, layers):
    gold = layers[0].chapters[1]
    assert shown_layer(page) == "gold"
    assert page.locator("#chapter .utterance").count() == len(gold.utterances)
    assert page.locator("#chapter .number").count() == len(gold.conversations)
    assert text(page, "#chapter h2").startswith("CHAPTER I.")
    assert "B-START" in text(page, "#summary table")
    assert page.locator("#chapter").get_attribute("lang") == "en"


def test_keys_switch_the_layer_and_keep_the_place(page, layers):
    press(page, "c", "c", "c")
    anchor = page.evaluate("[blockInView().id, blockInView().getBoundingClientRect().top]")
    for n, name in enumerate(("gold", "gap 150", "narration"), 1):
        press(page, str(n))
        assert shown_layer(page) == name
        chapter = layers[n - 1].chapters[1]
        assert page.locator("#chapter .number").count() == len(chapter.conversations)
        assert name in status(page)
    top = page.evaluate(f"document.getElementById('{anchor[0]}').getBoundingClientRect().top")
    assert top == pytest.approx(anchor[1], abs=3)
    press(page, "9")
    assert shown_layer(page) == "narration"


def test_the_text_stays_in_place_when_the_layout_changes(browser, file):
    page = opened(browser, file, PHONE)
    press(page, "3", "c", "c", "n", "c", "c")
    anchor = page.evaluate("[blockInView().id, blockInView().getBoundingClientRect().top]")
    before = page.evaluate("document.documentElement.scrollHeight")
    press(page, "b")  # a narrower column, with the words of the other layer in the text
    assert page.evaluate("document.documentElement.scrollHeight") > before
    top = page.evaluate(f"document.getElementById('{anchor[0]}').getBoundingClientRect().top")
    assert top == pytest.approx(anchor[1], abs=3)
    page.context.close()


def test_buttons_do_what_keys_do(page):
    page.get_by_role("button", name="narration").click()
    assert shown_layer(page) == "narration"
    page.get_by_label("Compare with").select_option(label="gap 150")
    assert page.evaluate("view.other") == 1
    page.get_by_role("button", name="show both").click()
    assert page.locator(".rail.other .number").count() > 0


def test_a_second_layer_stands_beside_the_text(page, layers):
    press(page, "2")
    assert page.locator(".rail.other").count() == 0
    press(page, "b")
    n_differing = differing(layers, 0, 1)[1]
    assert page.locator(".rail.other .number").count() == len(layers[0].chapters[1].conversations)
    assert page.locator("#chapter .says").count() == n_differing > 0
    assert text(page, "#chapter .says").startswith("gold: ")
    press(page, "Shift+Digit3")
    assert page.locator(".rail.other .number").count() == len(layers[2].chapters[1].conversations)
    press(page, "b")
    assert page.locator(".rail.other, .says").count() == 0


def test_d_goes_through_all_disagreements_of_the_book(page, layers):
    press(page, "3")
    counted = differing(layers, 0, 2)
    assert list(counted) == [1, 2, 3, 4, 5] and all(counted.values())
    visited = []
    while True:
        press(page, "d")
        if "No further" in status(page):
            break
        chapter, focus = page.evaluate("[view.chapter.number, view.focus]")
        mark = page.evaluate("document.activeElement.dataset.key")
        assert mark == focus
        assert page.locator(f'.differs [data-key="{focus}"]').count() == 1
        visited.append((chapter, focus))
        assert len(visited) <= sum(counted.values())
    assert len(set(visited)) == len(visited) == sum(counted.values())
    assert [chapter for chapter, _ in visited] == [n for n, k in counted.items() for _ in range(k)]
    press(page, "D")
    assert page.evaluate("view.focus") == visited[-2][1]
    back = [visited[-2]]
    while back[-1] != visited[0]:
        press(page, "D")
        back.append(tuple(page.evaluate("[view.chapter.number, view.focus]")))
    assert back[::-1] == visited[:-1]


def test_a_disagreement_is_announced_and_in_view(page):
    press(page, "2", "d")
    assert re.match(r"Disagreement 1 of \d+\. gap 150: .+\. gold: .+\.", status(page))
    page.wait_for_function(  # scrolling takes a few frames on a busy machine
        "() => { const { top, bottom } = document.querySelector('.here').getBoundingClientRect();"
        " return 0 < top && bottom < innerHeight; }"
    )
    assert "≠ begins a" in text(page, ".utterance-facts")
    page.locator(".difference").last.click()
    assert page.evaluate("view.focus") == page.evaluate("view.disagreements.at(-1).key")


def test_the_panel_has_the_turns_and_pairs_of_the_conversation(page, layers):
    press(page, "2", "c")
    conversation = layers[1].chapters[1].conversations[0]
    assert text(page, "#panel-heading") == "Conversation 1"
    assert page.locator(".turns > li").count() == conversation.last
    wait_for_paint(page)
    pairs = page.locator(".pair").all_inner_texts()
    assert len(pairs) == len(conversation.pairs)
    right = [pair for pair in conversation.pairs if pair.cause == ""]
    assert sum("✓" in pair for pair in pairs) == len(right)
    press(page, "1", "j")
    assert "Amos Bunce" in text(page, ".turns")


def test_confidences_can_be_seen_and_read(page):
    assert page.locator("#chapter .has-sure").count() == 0
    press(page, "4", "c", "c", "j")
    mark = page.evaluate("""() => {
        const mark = document.activeElement;
        return [mark.getAttribute("aria-label"), mark.style.getPropertyValue("--sure")];
    }""")
    assert re.search(r"confidence (\d\.\d\d)", mark[0])
    assert float(mark[1]) == pytest.approx(float(mark[0].split("confidence ")[1][:4]))
    assert f"{float(mark[1]):.2f}" in text(page, ".utterance-facts")
    assert page.locator(".pair", has_text="confidence").count() > 0


def test_chapters_by_keys_links_and_history(page):
    assert page.locator("#chapter-list a").count() == 6
    press(page, "n", "g")
    assert page.url.endswith("#2")
    assert text(page, "#chapter h2").startswith("CHAPTER II.")
    assert "CHAPTER II." in status(page)
    page.locator("#chapter-list a", has_text="CHAPTER IV.").click()
    assert page.evaluate("view.chapter.number") == 4
    assert "CHAPTER IV." in text(page, "#chapter-list [aria-current]")
    page.go_back()
    assert text(page, "#chapter h2").startswith("CHAPTER II.")
    press(page, "p")
    assert page.evaluate("[view.chapter.number, scrollY]") == [1, 0]
    press(page, "p", "p")
    assert status(page) == "This is the first chapter"


def test_a_chapter_has_its_own_address(browser, file):
    page = opened(browser, file, at="#3")
    assert text(page, "#chapter h2").startswith("CHAPTER III.")
    page.context.close()


def test_a_chapter_without_gold_says_so_and_shows_another_layer(page):
    press(page, "p")
    assert "not annotated" in text(page, "#summary")
    assert shown_layer(page) == "gap 150"
    press(page, "1")
    assert status(page) == "gold does not have this chapter"
    assert shown_layer(page) == "gap 150"
    press(page, "n")
    assert shown_layer(page) == "gold"


def test_help_opens_lists_the_keys_and_gives_the_focus_back(page):
    page.locator("#show-help").focus()
    press(page, "Enter")
    dialog = page.get_by_role("dialog", name="Keys and marks")
    assert dialog.is_visible()
    assert "next disagreement" in dialog.inner_text()
    press(page, "2")
    assert shown_layer(page) == "gold"  # keys act on the page again after it is closed
    press(page, "Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.id") == "show-help"
    press(page, "?")
    assert dialog.is_visible()


def test_the_keys_can_be_switched_off(page):
    press(page, "?")
    page.get_by_label("Use these keys").uncheck()
    press(page, "Escape", "2")
    assert shown_layer(page) == "gold"


def test_the_keyboard_alone_reaches_everything(page):
    press(page, "Tab")
    assert text(page, ":focus") == "Skip to the text"
    press(page, "Enter")
    assert page.evaluate("document.activeElement.id") == "text"
    reached = set()
    page.locator(".skip").focus()
    for _ in range(80):
        press(page, "Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"other", "beside", "previous", "next", "theme", "show-help"} <= reached
    assert {"show-chapters", "query", "found-next"} <= reached
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough(browser, file, scheme):
    page = opened(browser, file, scheme=scheme)
    press(page, "4", "b", "d", "g")
    for least in ("0", "0.9"):
        page.locator("#least").fill(least)
        assert page.evaluate(CONTRASTS) == []
    page.locator("#legend summary").click()
    assert page.evaluate(CONTRASTS) == []
    press(page, "?")
    assert page.evaluate(CONTRASTS) == []
    page.context.close()


def test_the_theme_follows_the_system_and_the_switch(browser, file):
    page = opened(browser, file, scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    assert page.locator("#theme").get_attribute("aria-pressed") == "true"
    press(page, "t")
    light = page.evaluate(paper)
    page.emulate_media(color_scheme="light")
    assert page.evaluate(paper) == light != dark
    press(page, "t")
    assert page.evaluate(paper) == dark
    page.context.close()


def test_a_screen_reader_finds_names_and_headings(page):
    press(page, "4", "b", "d")
    assert page.evaluate(NAMELESS) == []
    for role in ("banner", "main", "complementary"):
        assert page.get_by_role(role).count() == 1
    assert page.get_by_role("navigation", name="Chapters").count() == 0  # it is folded
    press(page, "g")
    assert page.get_by_role("navigation", name="Chapters").count() == 1
    assert page.locator("[role=status]").count() == 1
    levels = page.evaluate("""[...document.querySelectorAll("h1, h2, h3, h4")]
        .filter((h) => !h.closest("dialog")).map((h) => Number(h.tagName[1]))""")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))
    names = page.locator("#chapter .mark").evaluate_all("marks => marks.map(m => m.ariaLabel)")
    assert all(name.startswith(("Conversation ", "Not an utterance")) for name in names)
    assert names[0].startswith("Conversation 1, turn 1, begins a conversation")
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_turns_differ_not_only_in_colour(page):
    """They also differ in their number and underline."""
    odd, even = (page.locator(f".utterance.{name}").first for name in ("odd", "even"))
    line = "e => getComputedStyle(e).textDecorationLine"
    assert (odd.evaluate(line), even.evaluate(line)) == ("none", "underline")
    labels = page.locator("#chapter .utterance .mark").evaluate_all(
        "m => m.map(e => e.dataset.label)"
    )
    assert labels[:4] == ["1", "›", "2", "3"]


@pytest.mark.parametrize("size", [SMALLEST, PHONE, (820, 1100), (1100, 800), DESKTOP], ids=str)
def test_nothing_is_wider_than_the_screen(browser, file, size):
    page = opened(browser, file, size)
    press(page, "4", "b", "d")
    for keys in ((), ("n",), ("p", "p")):
        press(page, *keys)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= size[0]
        text_box = page.locator("#chapter .text").last.bounding_box()
        assert text_box["x"] >= 0 and text_box["x"] + text_box["width"] <= size[0]
    page.context.close()


def test_on_a_phone_chapters_and_conversation_are_drawers(browser, file):
    page = opened(browser, file, PHONE)
    assert not page.locator("#panel").is_visible()
    page.get_by_role("button", name="Conversation", exact=True).click()
    assert page.locator("#panel").is_visible()
    assert page.evaluate("document.querySelector('main').inert")
    press(page, "Escape")
    assert not page.locator("#panel").is_visible()
    assert page.evaluate("document.activeElement.id") == "show-panel"
    page.get_by_role("button", name="Chapters").click()
    page.locator("#chapter-list a", has_text="CHAPTER III.").click()
    assert not page.locator("#chapters").is_visible()
    assert page.evaluate("[view.chapter.number, document.querySelector('main').inert]") == [
        3,
        False,
    ]
    page.context.close()


def test_the_text_can_be_copied_without_marks(page):
    """Marks are not part of the text that a reader selects or searches."""
    inner = page.locator("#p12 .text").text_content()
    block = page.evaluate("view.chapter.blocks[view.chapter.position.get(12)].text")
    assert inner == block


def test_a_long_book_opens_in_two_seconds(browser, tmp_path):
    """The book has 350,000 words in 350 chapters, copies of the sample's."""
    body = SAMPLE.read_text(encoding="utf-8")
    start = body.index('<div class="chapter">')
    end = body.index('<div></div><section class="pg-boilerplate pgheader" id="pg-footer"')
    copies = body[start:end] * 70
    book = tmp_path / "long.html"
    book.write_text(body[:start] + copies + body[end:], encoding="utf-8")
    out = tmp_path / "page.html"
    assert run("view", book, "--tagger", "gap", "--tagger", "narration", "-o", out).exit_code == 0
    page = opened(browser, out)
    words = page.evaluate("book.chapters.reduce((sum, chapter) => sum + chapter.words, 0)")
    assert words > 340_000
    assert seconds_to_first_chapter(page) < 2
    assert page.locator("#chapter .block").count() < 200  # the other chapters are not built
    page.context.close()
