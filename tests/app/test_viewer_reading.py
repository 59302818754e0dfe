"""Reading the page of `miner view` in a browser: where it opens, search, links, copies, signs."""

import json

import pytest
from browser import DESKTOP, PHONE, opened
from helpers import SAMPLE, run

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NOT_ALLOWED = """
Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject() } });
"""
COPIED = "navigator.clipboard.readText()"
# Keeps what the fallback copies; a headless browser has no clipboard to read it from.
SELECTED = """
window.copied = [];
document.execCommand = (name) => copied.push([name, document.activeElement.value]) > 0;
null;
"""


def write_tags(path):
    """Tags of the sample with confidences: every fifth utterance is unsure."""
    run("tag", "sample", "--tagger", "gap", "-o", path)
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    for n, row in enumerate(rows):
        row["confidence"] = (0.4 if n % 5 == 0 else 0.95) if row["tag"] != "O" else None
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The page of the sample, with a tagger that is sure or unsure, and what `mine` finds."""
    folder = tmp_path_factory.mktemp("reading")
    tags = write_tags(folder / "sure.jsonl")
    words = ("view", "sample", "--tagger", tags, "--tagger", "gap", "-q")
    assert run(*words, "-o", folder / "page.html").exit_code == 0
    for name, options in (("all", ()), ("sure", ("--min-confidence", "0.5"))):
        words = ("mine", "sample", "--tagger", tags, "-q", "-o", folder / name)
        assert run(*words, "--min-turns", "2" if options else "1", *options).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def file(folder):
    return folder / "page.html"


@pytest.fixture
def page(browser, file):
    page = opened(browser, file)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield page
    page.context.close()


def mined(folder, name="all", kind="dialogues"):
    return [
        json.loads(line) for line in (folder / name / f"{kind}.jsonl").read_bytes().splitlines()
    ]


def settled(page):
    page.evaluate("new Promise((done) => setTimeout(done, 450))")  # also for the history


def top_of(page, selector):
    return page.locator(selector).first.bounding_box()["y"]


def is_in_view(page, selector):
    """Whether the top of an element is between the bar and the end of the window."""
    bar = page.locator(".bar").bounding_box()
    return bar["y"] + bar["height"] <= top_of(page, selector) < page.viewport_size["height"]


def look_for(page, words):
    page.locator("#query").fill(words)
    page.wait_for_function("(words) => find.query === folded(words)", arg=words.strip())
    return page.locator("#found").text_content()


def painted(page, name="found-now"):
    """The texts that are painted as found, across elements."""
    return page.evaluate(f"[...CSS.highlights.get('{name}')].map(String)")


# Where it opens.


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=str)
def test_it_opens_where_talk_begins_with_the_chapters_folded(browser, file, size):
    page = opened(browser, file, size)
    settled(page)
    assert page.evaluate("scrollY") > 0
    assert is_in_view(page, "#chapter .utterance")
    assert not page.locator("#chapters").is_visible()
    assert page.evaluate("[view.chapter.number, view.conversation]") == [1, 1]
    assert page.evaluate("location.hash") == ""
    page.context.close()


def test_chapters_unfold_beside_the_text_and_fold_again(page):
    settled(page)
    before = page.evaluate("placeInView()")
    button = page.get_by_role("button", name="Chapters")
    button.click()
    assert page.locator("#chapters").is_visible()
    assert button.get_attribute("aria-expanded") == "true"
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "page"
    settled(page)
    assert page.evaluate("placeInView()") == before
    page.locator("#chapter-list a", has_text="CHAPTER III.").click()
    assert page.locator("#chapters").is_visible()  # it covers nothing here
    page.keyboard.press("g")
    assert not page.locator("#chapters").is_visible()


def test_chapters_have_the_numbers_of_the_data(page, folder):
    numbers = {row["chapter"] for row in mined(folder)}
    page.keyboard.press("g")
    shown = page.locator("#chapter-list .counted").all_text_contents()
    assert shown == ["", "1", "2", "3", "4", "5"]
    assert numbers <= {int(number) for number in shown if number}
    page.locator("#chapter-list a", has_text="CHAPTER III.").click()
    assert page.locator(".where").inner_text().startswith("chapter 3 of 5 ·")


def test_going_back_and_reloading_keep_the_place(page, file):
    settled(page)
    page.evaluate("scrollTo(0, 1500)")
    settled(page)
    first = page.evaluate("[view.chapter.number, scrollY, placeInView()]")
    page.keyboard.press("n")
    page.evaluate("scrollTo(0, 700)")
    settled(page)
    second = page.evaluate("[view.chapter.number, scrollY, placeInView()]")
    page.go_back()
    settled(page)
    assert page.evaluate("[view.chapter.number, scrollY, placeInView()]") == first
    page.go_forward()
    settled(page)
    assert page.evaluate("[view.chapter.number, scrollY, placeInView()]") == second
    page.reload()
    settled(page)
    assert page.evaluate("placeInView()") == second[2]
    page.goto("about:blank")
    page.go_back()
    page.wait_for_selector("html[data-ready]", state="attached")
    settled(page)
    assert page.evaluate("placeInView()") == second[2]


# Links.


def test_a_link_opens_its_conversation_and_marks_it(browser, file, folder):
    rows = mined(folder)
    row = next(row for row in rows if row["chapter"] == 3 and row["n_turns"] > 2)
    page = opened(browser, file, at=f"#dialogue-{row['dialogue']}")
    settled(page)
    assert page.evaluate("[view.chapter.number, view.layer]") == [3, 0]
    assert is_in_view(page, f"#dialogue-{row['dialogue']}.linked")
    assert is_in_view(page, f"#p{row['paragraph']}")
    assert page.locator(".turns > li").count() == row["n_turns"]
    page.reload()
    settled(page)
    assert (
        page.locator(".segment.linked.starts").get_attribute("id") == f"dialogue-{row['dialogue']}"
    )
    page.context.close()


def test_a_link_names_the_layer_unless_it_is_the_first(browser, file):
    page = opened(browser, file, at="#dialogue-4-layer-2")
    assert page.evaluate("view.layer") == 1
    assert page.locator("#dialogue-4-layer-2.linked").count() == 1
    page.keyboard.press("1")
    assert page.locator(".linked").count() == 0
    page.keyboard.press("2")
    assert page.locator("#dialogue-4-layer-2.linked").count() == 1
    page.context.close()


@pytest.mark.parametrize("at", ["#dialogue-9999", "#dialogue-1-layer-7", "#nothing", "#99", "#%22"])
def test_an_address_of_nothing_opens_the_book_as_usual(browser, file, at):
    page = opened(browser, file, at=at)
    assert page.evaluate("[view.chapter.number, view.conversation]") == [1, 1]
    assert page.locator("#toast").is_visible() == at.startswith("#dialogue")
    page.context.close()


def test_the_sign_in_the_margin_copies_the_address(page, file):
    page.locator("#dialogue-1").hover()
    page.locator("#dialogue-1 .anchor").click()
    page.locator("#toast", has_text="Copied the link to conversation 2").wait_for()
    assert page.evaluate(COPIED) == page.url == f"{file.as_uri()}#dialogue-1"
    assert page.locator("#dialogue-1.linked").count() == 1
    page.goto("about:blank")
    page.goto(f"{file.as_uri()}#dialogue-1")
    settled(page)
    assert is_in_view(page, "#dialogue-1.linked")


# Copies.


def test_json_is_the_row_of_the_mined_file(page, folder):
    rows = mined(folder)
    for row in rows[:3]:
        page.evaluate(f"goToDialogue({row['dialogue']}, 0)")
        page.evaluate("document.getElementById('toast').hidden = true")
        page.keyboard.press("Y")
        page.locator("#toast", has_text=f"Copied dialogue {row['dialogue']} as JSON").wait_for()
        assert json.loads(page.evaluate(COPIED)) == row


def test_text_has_a_line_for_each_turn(page, folder):
    row = next(row for row in mined(folder) if row["n_turns"] > 2)
    page.evaluate(f"goToDialogue({row['dialogue']}, 0)")
    page.get_by_role("button", name="Copy as Text").click()
    page.locator("#toast", has_text=f"Copied {row['n_turns']} turns as text").wait_for()
    lines = page.evaluate(COPIED).splitlines()
    assert lines == [
        f"{turn['speaker_name']}: {' '.join(turn['text'].split())}" for turn in row["turns"]
    ]


def test_without_a_clipboard_the_text_is_copied_by_selecting_it(browser, file, folder):
    page = opened(browser, file)
    page.evaluate(NOT_ALLOWED)
    page.evaluate(SELECTED)
    page.keyboard.press("Y")
    page.locator("#toast", has_text="Copied dialogue 0 as JSON").wait_for()
    ((name, text),) = page.evaluate("copied")
    assert (name, json.loads(text)) == ("copy", mined(folder)[0])
    assert page.locator("textarea").count() == 0
    page.evaluate("document.execCommand = () => false; null")
    page.keyboard.press("y")
    page.locator("#toast", has_text="Not copied").wait_for()
    page.context.close()


# Search.


def test_words_are_found_in_all_chapters(page):
    text = SAMPLE.read_text(encoding="utf-8")
    assert "hester" in text.lower()
    counted = page.evaluate("""() => book.chapters.reduce((sum, { number }) => sum +
        loadChapter(number).blocks.text.join("\\n").toLowerCase().split("hester").length - 1, 0)""")
    assert look_for(page, "HESTER") == f"{counted} places"
    visited = []
    for _ in range(counted):
        page.keyboard.press("Enter")
        assert [word.lower() for word in painted(page)] == ["hester"]
        hit = page.evaluate("find.hits[find.now]")
        visited.append((hit["chapter"], hit["paragraph"], hit["start"]))
        assert page.evaluate("view.chapter.number") == hit["chapter"]
    assert len(set(visited)) == counted
    assert page.locator("#found").text_content() == f"{counted} of {counted}" or visited
    page.keyboard.press("Shift+Enter")
    back = page.evaluate("find.hits[find.now]")
    assert (back["chapter"], back["paragraph"], back["start"]) == visited[-2]
    settled(page)
    box = page.evaluate(
        "(() => { const { top, bottom } = [...CSS.highlights.get('found-now')][0]"
        ".getBoundingClientRect(); return [top, bottom]; })()"
    )
    assert 50 < box[0] < box[1] < DESKTOP[1]


def test_words_are_found_across_the_spans_of_a_paragraph(page):
    assert look_for(page, 'mr. tarrant," said the postman') == "1 place"
    page.keyboard.press("Enter")
    assert painted(page) == ["Mr. Tarrant,” said the postman"]
    assert page.locator("#chapter").inner_text().count("≠") == 0
    page.keyboard.press("Escape")
    assert page.locator("#query").input_value() == ""
    assert painted(page) == painted(page, "found") == []
    assert page.evaluate("document.activeElement.id") == "text"


def test_signs_of_the_other_layer_are_not_searched(page):
    page.keyboard.press("2")
    page.keyboard.press("b")
    assert look_for(page, "sure.jsonl:") == "0 places"
    look_for(page, "the")
    for _ in range(5):
        page.keyboard.press("Enter")
        assert [word.lower() for word in painted(page)] == ["the"]


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("Élan, élan!", "elan", ["Élan", "élan"]),
        ("E\u0301lan", "é", ["E\u0301"]),
        ("“Don’t,”", '"don\'t,"', ["“Don’t,”"]),
        ("Cæsar’s œuvre", "caesar", ["Cæsar"]),
        ("Straße", "strasse", ["Straße"]),
        ("ΟΔΟΣ οδος", "οδος", ["ΟΔΟΣ", "οδος"]),
        ("İstanbul", "istanbul", ["İstanbul"]),
        ("one\ntwo", "one two", ["one\ntwo"]),
        ("𝔄 bird, a bird", "a bird", ["𝔄 bird", "a bird"]),
        ("anana nan", "ana", ["ana"]),
        ("a.c abc", "a.c", ["a.c"]),
    ],
)
def test_capitals_accents_and_quotation_marks_make_no_difference(page, text, query, found):
    places = page.evaluate("([text, query]) => placesOf(folded(query), text)", [text, query])
    encoded = text.encode("utf-16-le")
    assert [encoded[2 * a : 2 * b].decode("utf-16-le") for a, b in places] == found


def test_one_letter_is_not_searched_and_nothing_found_is_said(page):
    assert look_for(page, "e") == "2 letters or more"
    assert look_for(page, "zeppelin") == "0 places"
    page.keyboard.press("Enter")
    assert page.locator("#found-next").get_attribute("aria-disabled") == "true"


def test_typing_in_the_field_presses_no_keys_of_the_page(page):
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("nib2")
    assert page.evaluate("[view.chapter.number, view.layer, view.beside]") == [1, 0, False]


def test_a_long_novel_is_searched_quickly(browser, tmp_path):
    """A book of 190,000 words, made of copies of the sample; the limit is generous."""
    body = SAMPLE.read_text(encoding="utf-8")
    start = body.index('<div class="chapter">')
    end = body.index('<div></div><section class="pg-boilerplate pgheader" id="pg-footer"')
    book = tmp_path / "long.html"
    book.write_text(body[:start] + body[start:end] * 37 + body[end:], encoding="utf-8")
    assert run("view", book, "--tagger", "gap", "-q", "-o", tmp_path / "page.html").exit_code == 0
    page = opened(browser, tmp_path / "page.html")
    seconds = page.evaluate("""() => {
        document.getElementById("query").value = "the";
        const start = performance.now();
        look();
        return (performance.now() - start) / 1000;
    }""")
    assert page.evaluate("find.hits.length") > 15_000
    assert seconds < 2
    page.context.close()


# Confidence.


def test_the_slider_leaves_the_pairs_that_mine_leaves(page, folder):
    every, kept = mined(folder, kind="pairs"), mined(folder, "sure", "pairs")
    page.locator("#least").fill("0.5")
    left = page.locator("#left").text_content()
    assert left.endswith(f"{len(kept)} of {len(every)} pairs left")
    n_dialogues = len({row["dialogue"] for row in kept})
    assert left.startswith(f"{n_dialogues} of {len({row['dialogue'] for row in every})} dialogues")
    assert 0 < len(kept) < len(every)
    kept_spans = {
        (span["paragraph"], span["start"])
        for row in kept
        for span in row["context_spans"] + row["response_spans"]
    }
    shown = page.evaluate("""() => [...document.querySelectorAll("#chapter .utterance")].map(
        (e) => [...e.dataset.key.split(":").map(Number), e.classList.contains("unsure")])""")
    assert [(p, s) in kept_spans for p, s, _, _ in shown] == [not dim for *_, dim in shown]
    assert any(dim for *_, dim in shown) and not all(dim for *_, dim in shown)
    page.keyboard.press("n")  # the next chapter is dimmed, too
    assert page.locator("#chapter .utterance.unsure").count() > 0
    page.locator("#least").fill("0")
    assert page.locator(".unsure").count() == 0


def test_the_slider_says_why_it_is_off(page):
    page.keyboard.press("2")
    assert page.locator("#least").is_disabled()
    assert page.locator("#left").text_content() == "gap 150 gives no confidence"
    page.keyboard.press("1")
    assert page.locator("#least").is_enabled()


# Signs, and a phone.


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ("#chapter .mark", "Conversation 1, turn 1, begins a conversation"),
        ("#chapter .utterance.even", "dotted line: an even turn"),
        ("#chapter .number", "bracket"),
        ("#chapter .segment", "Bracket: conversation 1"),
        ("#chapter .quoted", "not tagged as speech"),
        (".pair", "A pair: turn 1 and its answer, turn 2"),
        (".numbers thead .count", "Stretches of speech"),
        (".numbers td.count", "Stretches of speech"),
        (".chapter-number", "column `chapter`"),
        ("#layers button", "Shows the layer sure.jsonl (key 1)"),
        ("#left", "slider"),
        ("#panel-heading", "Dialogue {} in the mined files"),
    ],
)
def test_signs_are_explained_under_the_mouse(page, folder, selector, words):
    first = next(row["dialogue"] for row in mined(folder) if row["n_turns"] > 1)
    page.evaluate(f"goToDialogue({first}, 0)")
    words = words.format(first)
    sign = page.locator(selector).first
    sign.dispatch_event("mouseover")
    assert words in sign.evaluate("e => e.title")


def test_every_button_has_a_title_and_the_legend_names_every_mark(page):
    page.keyboard.press("b")
    bare = page.evaluate("""() => {
        const controls = [...document.querySelectorAll(".bar :is(button, select, input)")];
        for (const e of controls) e.dispatchEvent(new Event("mouseover", { bubbles: true }));
        return controls.filter((e) => !e.title).map((e) => e.id);
    }""")
    assert bare == []
    legend = page.locator("#legend")
    assert not legend.locator("dl").is_visible()
    legend.locator("summary").click()
    assert legend.locator("dl").is_visible()
    words = legend.inner_text()
    for sign in ("a conversation", "a turn begins", "continues", "confidence", "disagrees", "link"):
        assert sign in words


def test_on_a_phone_the_bar_is_one_line_until_it_is_asked_for_more(browser, file):
    page = opened(browser, file, PHONE)
    assert page.locator(".bar").bounding_box()["height"] < 64
    assert not page.locator("#query").is_visible() and not page.locator("#layers").is_visible()
    page.get_by_role("button", name="Layers, confidence and colours").click()
    assert page.locator("#layers").is_visible() and page.locator("#least").is_visible()
    assert page.locator("#theme").is_visible()
    page.get_by_role("button", name="Layers, confidence and colours").click()
    page.get_by_role("button", name="Find in the book").click()
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("lock")
    page.keyboard.press("Enter")
    assert painted(page)
    page.keyboard.press("Escape")
    assert page.locator(".bar").bounding_box()["height"] < 64
    page.context.close()


def test_a_book_cannot_write_into_its_page(browser, tmp_path):
    """Markup in the title, a heading, and speech stays text, also in titles, links and copies."""
    nasty = "&lt;img src=x onerror=alert(1)&gt;&lt;script&gt;alert(2)&lt;/script&gt;"
    book = tmp_path / "nasty.html"
    book.write_text(
        f"<!DOCTYPE html><html><head><title>{nasty}, by {nasty}</title></head><body>"
        f"<h2>CHAPTER I. {nasty}</h2><p>“{nasty} One,” he said.</p><p>“Two.”</p>"
        f"<h2>CHAPTER II. {nasty}</h2><p>“{nasty}”</p></body></html>"
    )
    assert run("view", book, "--tagger", "gap", "-q", "-o", tmp_path / "page.html").exit_code == 0
    page = opened(browser, tmp_path / "page.html", at="#dialogue-0")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    scripts = page.locator("script").count()
    look_for(page, "<img src=x onerror=alert(1)>")
    for keys in (("Enter", "Enter"), ("Escape", "g", "l", "y", "Y", "n", "c", "?", "Escape")):
        for key in keys:
            page.keyboard.press(key)
    page.evaluate("""for (const e of document.querySelectorAll("body *"))
        e.dispatchEvent(new Event("mouseover", { bubbles: true }))""")
    assert page.locator("main img, aside img, nav img, header img").count() == 0
    assert page.locator("script").count() == scripts
    assert "<img src=x" in page.locator("#chapter").inner_text()
    assert asked == []
    page.context.close()
