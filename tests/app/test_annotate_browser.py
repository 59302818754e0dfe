"""The page of `miner annotate` in a browser: keyboard, buttons, two windows, a phone."""

import json
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest
from annotation_helpers import read_rows
from browser import CONTRASTS, DESKTOP, NAMELESS, PHONE, chromium, require_chromium
from helpers import ANNOTATIONS, SAMPLE

from miner.annotation.annotations import derive_tags
from miner.app.annotator.server import AnnotationServer
from miner.app.annotator.sheet_file import NOTHING_TAGGED, BookSheets
from miner.people.cast import Character
from miner.people.character_files import SpokenBook
from miner.speech.read import parse_spans
from miner.speech.tags import TaggedSpan
from miner.tagger.load import load_tagger

pytestmark = [pytest.mark.browser, pytest.mark.slow]
GOLD = ANNOTATIONS / "gold" / "sample.jsonl"
BOOK = parse_spans(SAMPLE.read_bytes(), "sample", ())
GOLD_ROWS = [row for row in read_rows(GOLD, "sample") if row.chapter == 1]


# Whether the current place is below the bar and above the desk.
IN_SIGHT = """() => {
    const box = (selector) => document.querySelector(selector).getBoundingClientRect();
    const isBelow = getComputedStyle(document.querySelector("#desk")).position === "fixed";
    const mark = box("#chapter .here .mark");
    const end = isBelow ? box("#desk").top : innerHeight;
    return mark.top > box(".bar").bottom && mark.bottom < end - 20;
}"""


class Server:
    """A server of the first chapter of the sample, which can stop and restart at the same port."""

    def __init__(self, path, tagged=NOTHING_TAGGED):
        self.path, self.tagged = path, tagged
        self.port, self.token = 0, None
        self.start()

    def start(self):
        self.server = AnnotationServer(BookSheets(self.path, BOOK, self.tagged), self.port, 1)
        self.server.token = self.token or self.server.token
        self.port, self.token, self.url = self.server.port, self.server.token, self.server.url
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def stop(self):
        if self.thread.is_alive():
            self.server.stop()
        self.thread.join(5)
        assert not self.thread.is_alive()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sample.jsonl"


@contextmanager
def serving(path, tagged=NOTHING_TAGGED):
    server = Server(path, tagged)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def server(path):
    with serving(path) as server:
        yield server


@pytest.fixture
def guessing(path):
    with serving(path, SpokenBook(tuple(load_tagger("gap").tag(BOOK)))) as server:
        yield server


@pytest.fixture(scope="module")
def started():
    require_chromium()
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(started):
    """Opens windows and closes them after the test; `said` has the messages of their consoles."""
    contexts = []

    def window(url, size=DESKTOP, scheme="light"):
        context = started.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.set_default_timeout(60_000)
        page.goto(url)
        page.wait_for_selector("#chapter .here")
        return page

    yield window
    for context in contexts:
        context.close()


def text(page, selector):
    return " ".join(page.locator(selector).inner_text().split())


def status(page):
    return page.locator("#status").text_content()


def press(page, *keys):
    """Presses keys and waits until the page has done what they ask."""
    for key in keys:
        page.keyboard.press(key)
    page.evaluate("inTurn(() => {})")


def lettered(page, *keys):
    """Presses keys; a speaker for whom the page asks is called by the letter that it offers."""
    for key in keys:
        press(page, key)
        if page.locator("#naming").is_visible():
            page.locator("#naming-letter").click()
            press(page)


def answer(page, key, words):
    """Opens a question with a key and answers it."""
    box = "#ask[open]" if key == "r" else "#naming"
    page.keyboard.press(key)
    page.wait_for_selector(box)
    page.keyboard.type(words)
    press(page, "Enter")
    page.wait_for_selector(box, state="hidden")
    page.evaluate("inTurn(() => {})")


def facts(path):
    return [
        (row.paragraph, str(row.fingerprint), row.speaker, row.conversation)
        for row in read_rows(path, "sample")
    ]


def annotate(page, rows):
    """Annotates an empty chapter with the given rows by keys; a known name is a digit."""
    seen, last = set(), 0
    for row in rows:
        if not row.conversation:
            press(page, "x")
            continue
        listed = page.locator("#speakers button span").all_inner_texts()
        name = str(listed.index(row.speaker) + 1) if row.speaker in listed[:9] else row.speaker
        if row.conversation not in seen:
            answer(page, "n", name)
        else:
            if row.conversation != last:
                answer(page, "r", str(row.conversation))
            if name.isdigit():
                press(page, name)
            else:
                answer(page, "w", name)
        seen.add(row.conversation)
        last = row.conversation


def test_a_chapter_is_annotated_by_keyboard_alone(server, browser, path):
    page = browser(server.url)
    assert text(page, "#progress-text") == "0 of 38 decided"
    assert page.locator("#chapter .undecided").count() == 38
    annotate(page, GOLD_ROWS)
    assert text(page, "#progress-text") == "38 of 38 decided"
    assert status(page).endswith("All spans are decided.") and text(page, "#saved") == "saved"
    wanted = [
        (row.paragraph, str(row.fingerprint), row.speaker, row.conversation) for row in GOLD_ROWS
    ]
    assert facts(path) == wanted
    page.reload()
    page.wait_for_selector("#chapter .here")
    assert text(page, "#progress-text") == "38 of 38 decided"
    tags = [tag.value for tag in derive_tags(GOLD_ROWS)]
    names = page.locator("#chapter .mark").evaluate_all("marks => marks.map(m => m.ariaLabel)")
    for n, (row, tag) in enumerate(zip(GOLD_ROWS, tags, strict=True), 1):
        fact = f"{row.speaker}, conversation {row.conversation}, {tag}"
        assert names[n - 1] == f"{n}: {fact if row.conversation else 'not speech'}"
    labels = page.locator("#chapter .number").evaluate_all("e => e.map(n => n.dataset.label)")
    assert labels == ["1", "2", "3", "4", "3"]  # the last one resumes after an interruption
    assert page.said == []


def test_an_answer_is_announced_with_its_tag_and_the_next_place_follows(server, browser):
    page = browser(server.url)
    assert text(page, "#now") == "1 of 38 undecided “drowned a customer.”"
    press(page, "x")
    assert status(page) == "1: not speech"
    press(page, "n")
    assert text(page, "#naming-label") == "2: Who begins the conversation?"
    assert page.evaluate("document.activeElement.id") == "naming-input"
    page.keyboard.type("Amos Bunce")
    press(page, "Enter")
    assert status(page) == "2: Amos Bunce, conversation 1, B-START"
    assert text(page, "#now-place") == "3 of 38"
    assert page.evaluate("document.activeElement.closest('.here') !== null")
    press(page, "s")
    lettered(page, "o")
    assert status(page) == "4: A, conversation 1, B-OTHER"
    press(page, "u")
    assert status(page) == "5: unknown speaker, conversation 1, B-OTHER"
    press(page, "k", "k")
    answer(page, "R", "Josiah Tarrant")
    assert status(page) == "4: Josiah Tarrant, conversation 1, B-OTHER"
    press(page, "c")
    assert status(page) == "4: undecided" and text(page, "#progress-text") == "4 of 38 decided"
    press(page, "l")
    assert text(page, "#now-place") == "6 of 38"
    press(page, "ArrowUp", "ArrowDown", "ArrowDown", "j")
    assert text(page, "#now-place") == "8 of 38"


def test_the_page_can_stay_at_the_answered_span(server, browser):
    page = browser(server.url)
    page.get_by_label("Next span after each answer").uncheck()
    press(page, "x")
    assert text(page, "#now") == "1 of 38 not speech “drowned a customer.”"


def test_keys_typed_ahead_are_done_in_order(server, browser, path):
    page = browser(server.url)
    page.route("**/edit", lambda route: (page.wait_for_timeout(30), route.continue_()))
    for key in ("x", "x", "j", "k", "x", "k", "z"):
        page.keyboard.press(key)
    press(page)
    assert text(page, "#progress-text") == "2 of 38 decided"
    assert text(page, "#now-place") == "3 of 38"


def test_keys_typed_before_a_question_opens_decide_nothing(server, browser, path):
    """They were the beginning of a name: "Rux" must not rename, nor mark spans as unknown."""
    page = browser(server.url)
    page.route("**/edit", lambda route: (page.wait_for_timeout(100), route.continue_()))
    for key in ("n", "R", "u", "x"):
        page.keyboard.press(key)
    press(page)
    page.wait_for_selector("#naming")
    assert path.read_bytes() == b"" and not page.locator("#notice").is_visible()


def test_a_question_for_a_name_can_be_answered_in_several_ways(guessing, browser, path):
    page = browser(guessing.url)
    assert page.locator("#chapter .mark").nth(1).get_attribute("data-label") == "guess: 1 A?"
    press(page, "j")  # the first is no speech
    press(page, "a")
    assert text(page, "#naming-label") == "2: Who speaks?" and path.read_bytes() == b""
    press(page, "Escape")
    assert not page.locator("#naming").is_visible() and path.read_bytes() == b""
    assert page.evaluate("document.activeElement.closest('.here') !== null")
    press(page, "a")
    press(page, "Enter")
    assert text(page, "#notice") == "Type a name first."
    page.keyboard.type("  Josiah   Tarrant ")
    press(page, "Enter")
    assert status(page) == "2: Josiah Tarrant, conversation 1, B-START"
    press(page, "j")  # the third goes on with the second
    press(page, "a")
    press(page, "1", "Enter")  # the number of a known speaker
    press(page, "n")
    page.locator("#speakers button").first.click()
    press(page, "n")
    page.get_by_role("button", name="No name yet").click()
    press(page, "n")
    page.locator("#naming").get_by_role("button", name="Unknown").click()
    press(page, "n")
    page.locator("#chapter .mark").nth(5).click()  # another place: the question is dropped
    assert not page.locator("#naming").is_visible()
    press(page, "R")
    assert page.locator("#naming-input").input_value() == "A"
    assert not page.locator("#naming-unknown").is_visible()
    press(page, "Escape")
    names = [row.speaker for row in read_rows(path, "sample")]
    assert names == ["Josiah Tarrant"] * 3 + ["A", "?"]
    assert page.said == []


def test_a_key_that_is_held_down_decides_once(server, browser):
    page = browser(server.url)
    for _ in range(5):
        page.keyboard.down("x")
    page.keyboard.up("x")
    press(page)
    assert text(page, "#progress-text") == "1 of 38 decided"
    for _ in range(5):
        page.keyboard.down("j")
    page.keyboard.up("j")
    press(page)
    assert text(page, "#now-place") == "7 of 38"


def test_guesses_are_marked_until_they_are_accepted(guessing, browser, path):
    page = browser(guessing.url)
    guesses = page.locator("#chapter .guess")
    assert guesses.count() == 38 and path.read_bytes() == b""
    marks = guesses.locator(".mark")
    assert marks.nth(0).get_attribute("data-label") == "guess: not speech"
    spoken = guesses.nth(1)
    assert spoken.evaluate("e => getComputedStyle(e).borderBottomStyle") == "dashed"
    assert marks.nth(1).get_attribute("data-label") == "guess: 1 A?"
    assert marks.nth(1).get_attribute("aria-label") == "2: guess: A?, conversation 1, B-START"
    press(page, "a")
    assert text(page, "#progress-text") == "1 of 38 decided" and guesses.count() == 37
    lettered(page, *["a"] * 37)
    assert guesses.count() == 0 and status(page).endswith("All spans are decided.")
    guessed = [item.tag.value for item in guessing.tagged if item.span.chapter == 1]
    rows = read_rows(path, "sample")
    said = [tag.value for tag in derive_tags(rows) if tag.value != "O"]
    assert said == [tag for tag in guessed if tag != "O"] and len(rows) == 38
    press(page, "a")
    assert "expected a guess to accept" in text(page, "#notice")


def test_a_guessed_character_is_shown_suggested_and_saved(path, browser):
    tagged = (
        replace(item, speaker="hester" if item.span.text.startswith("“Letter") else None)
        for item in load_tagger("gap").tag(BOOK)
    )
    cast = tuple(Character(name.lower(), name, ()) for name in ("Hester", "Ned"))
    with serving(path, SpokenBook(tuple(tagged), cast)) as server:
        page = browser(server.url)
        marks = page.locator("#chapter .mark")
        labels = marks.evaluate_all("marks => marks.map(mark => mark.dataset.label)")
        assert labels[1] == "guess: 1 Hester" and any(label.endswith(" A?") for label in labels)
        press(page, "j")  # the first is no speech
        press(page, "n")
        assert page.locator("#naming-input").input_value() == "Hester"
        options = page.locator("#naming-names option")
        assert options.evaluate_all("all => all.map(one => one.value)") == ["Hester", "Ned"]
        page.keyboard.press("Escape")
        press(page, "a")  # nobody asks for a name
        assert text(page, "#progress-text") == "1 of 38 decided"
    assert [row.speaker for row in read_rows(path, "sample")] == ["Hester"]


def test_the_least_confident_guess_comes_first(path, browser):
    tagged = load_tagger("gap").tag(BOOK)
    said = [item.span for item in tagged if item.span.chapter == 1 and item.span.is_utterance]
    confidences = {said[20]: 0.2, said[3]: 0.4}
    tagged = (
        TaggedSpan(
            item.span, item.tag, confidences.get(item.span, 0.9) if item.span in said else None
        )
        for item in tagged
    )
    with serving(path, SpokenBook(tuple(tagged))) as server:
        page = browser(server.url)
        assert said[20].text.strip() == page.locator("#now-text").text_content()
        assert text(page, "#now-fact").endswith("confidence 0.20")
        lettered(page, "a")
        assert said[3].text.strip() == page.locator("#now-text").text_content()


def test_undo_goes_back_to_the_undone_place(server, browser, path):
    page = browser(server.url)
    states = [path.read_bytes()]
    for key in ("x", "n", "s", "o"):
        lettered(page, key)
        states.append(path.read_bytes())
    states = list(dict.fromkeys(states))
    assert len(states) == 5
    for n, before in reversed(list(enumerate(states[:-1], 1))):
        press(page, "z")
        assert path.read_bytes() == before
        assert status(page) == f"Undone. {n}: undecided"
        assert text(page, "#now-place") == f"{n} of 38"
    press(page, "z")
    assert "found no action" in text(page, "#notice")


def test_an_impossible_answer_is_explained_and_changes_nothing(server, browser, path):
    page = browser(server.url)
    press(page, "s")
    assert text(page, "#notice").startswith("1: found no utterance before it")
    press(page, "r")
    assert text(page, "#notice") == "No conversation has begun yet: n begins one."
    press(page, "1", "k")
    assert text(page, "#notice") == "This is the first span."
    assert path.read_bytes() == b"" and not page.locator("#trouble").is_visible()
    lettered(page, "n")
    assert not page.locator("#notice").is_visible()
    answer(page, "r", "seven")
    assert "not the number of a conversation" in text(page, "#notice")
    page.keyboard.press("w")
    press(page, "Escape", "x")
    assert text(page, "#now-place") == "3 of 38" and status(page) == "2: not speech"


def test_the_second_window_is_refused_and_recovers(server, browser, path):
    first, second = browser(server.url), browser(server.url)
    lettered(first, "x", "n")
    saved = path.read_bytes()
    press(second, "x")
    trouble = second.get_by_role("alert")
    assert "This chapter was changed elsewhere." in trouble.inner_text()
    assert "Not saved: 1: not speech." in trouble.inner_text()
    assert text(second, "#saved") == "not saved" and path.read_bytes() == saved
    press(second, "n")  # refused until the message is answered
    assert "Not done: new conversation" in text(second, "#notice")
    assert path.read_bytes() == saved
    assert text(second, ":focus") == "Show the current state"
    press(second, "Enter")
    assert not trouble.is_visible() and text(second, "#saved") == "saved"
    assert text(second, "#progress-text") == "2 of 38 decided"
    press(second, "j", "j", "s")
    assert len(facts(path)) == 3
    press(first, "l")
    assert "changed elsewhere" in text(first, "#trouble")
    conflicts = [line for line in second.said if "409" not in line]
    assert conflicts == []


def test_a_file_that_was_edited_by_hand_is_not_overwritten(server, browser, path):
    page = browser(server.url)
    lettered(page, "x", "n")
    press(page, "k")
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    rows[1]["speaker"] = "Ada"
    by_hand = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(by_hand)
    answer(page, "w", "Amos Bunce")
    assert "Not saved: 2: Amos Bunce." in text(page, "#trouble")
    assert path.read_bytes() == by_hand
    page.get_by_role("button", name="Show the current state").click()
    press(page)
    assert text(page, "#speakers") == "1 Ada" and path.read_bytes() == by_hand
    path.write_bytes(b"gone wrong\n")
    press(page, "j", "s")
    assert "sample.jsonl:1: found bad JSON" in text(page, "#notice")
    assert path.read_bytes() == b"gone wrong\n"


def test_nothing_is_lost_while_the_server_is_down(server, browser, path):
    page = browser(server.url)
    lettered(page, "x", "n")
    server.stop()
    press(page, "s")
    assert text(page, "#trouble") == "The server does not answer. Not saved: 3: same speaker. " + (
        "Try again"
    )
    assert text(page, "#saved") == "not saved"
    page.get_by_role("button", name="Try again").click()
    press(page, "k")  # moving still works
    assert page.locator("#trouble").is_visible()
    assert text(page, "#now-place") == "2 of 38"
    server.start()
    page.get_by_role("button", name="Try again").click()
    press(page)
    assert not page.locator("#trouble").is_visible() and text(page, "#saved") == "saved"
    assert [row.speaker for row in read_rows(path, "sample")] == ["", "A", "A"]


def test_rows_that_are_found_on_no_span_are_listed(path, browser):
    lines = [line for line in GOLD.read_bytes().splitlines(True) if b'"chapter":1' in line]
    lost = json.loads(lines[3]) | {"fingerprint": "zzzz.21.00000000"}
    lines[3] = json.dumps(lost).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    with serving(path) as server:
        page = browser(server.url)
        assert "1 row of the file not found in this text" in text(page, "#lost")
        assert "zzzz.21.00000000" in text(page, "#lost")
        assert text(page, "#progress-text") == "37 of 38 decided"
        assert text(page, "#now-place") == "4 of 38"


def test_finishing_says_where_the_file_is(server, browser, path):
    page = browser(server.url)
    press(page, "x", "f")
    assert "1 of 38 are decided. You can decide the other 37 later" in text(page, "#finish")
    press(page, "Escape")
    lettered(page, "n", "f")
    page.locator("#finish-now").click()
    page.wait_for_selector("#finish-title:text('Finished')")
    assert f"2 of 38 are decided and saved in {path}." in text(page, "#finish")
    server.thread.join(5)
    assert not server.thread.is_alive() and len(facts(path)) == 2
    press(page, "Escape", "s")
    assert "finished" in text(page, "#notice") and not page.locator("#trouble").is_visible()
    assert page.said == []


def test_the_token_is_in_no_address_and_a_reload_finds_its_way(server, browser):
    page = browser(server.url)
    assert page.url == f"http://127.0.0.1:{server.port}/chapters/1"
    page.reload()
    page.wait_for_selector("#chapter .here")
    assert page.url == f"http://127.0.0.1:{server.port}/chapters/1" and page.said == []
    other = page.context.new_page()
    other.goto(page.url)
    assert "Open the full address" in other.locator("main").inner_text()
    other.goto(f"{page.url}?token=wrong")
    assert "Open the full address" in other.locator("main").inner_text()


def test_a_button_does_what_its_key_does_and_keeps_the_focus(server, browser, path):
    page = browser(server.url)
    for name in (
        "Not speech",
        "New conversation",
        "Next",
        "Previous",
        "Same speaker",
        "Other speaker",
    ):
        page.get_by_role("button", name=name, exact=True).click()
        press(page)
        if page.locator("#naming").is_visible():
            page.locator("#naming-letter").click()
            press(page)
        else:
            assert page.evaluate("document.activeElement.ariaLabel") == name
    page.locator("#speakers button").first.click()
    press(page)
    assert [row.speaker for row in read_rows(path, "sample")] == ["", "A", "A", "B", "A"]
    for key, box, name in (
        ("w", "#naming", "Who speaks?"),
        ("r", "#ask[open]", "which conversation"),
        ("R", "#naming", "What is the new name?"),
    ):
        press(page, "k")
        page.keyboard.press(key)  # no `press`: it would wait for the answer
        page.wait_for_selector(box)
        assert name in text(page, box)
        page.locator(box).get_by_role("button", name="Cancel").click()
    page.keyboard.press("?")
    listed = page.locator("#keys th").all_inner_texts()
    for key in ("j ↓", "k ↑", "l", "s", "o", "n", "r", "w", "R", "x", "u", "a", "c", "z", "1–9"):
        assert key in listed


def test_a_place_is_chosen_in_the_text(server, browser):
    page = browser(server.url)
    page.locator("#chapter .undecided").nth(6).click()
    assert text(page, "#now-place") == "7 of 38"
    press(page, "x")
    assert status(page) == "7: not speech"


def test_the_current_place_stays_in_sight(guessing, browser):
    page = browser(guessing.url)
    for _ in range(37):
        lettered(page, "a")
        page.wait_for_function(IN_SIGHT)


@pytest.mark.parametrize("size", [(360, 740), PHONE, (820, 1100), (1100, 800), DESKTOP], ids=str)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen_and_can_be_read(guessing, browser, size, scheme):
    page = browser(guessing.url, size, scheme)
    lettered(page, "a", "n", "x", "c", "c", "s")
    for _ in range(3):
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        press(page, "j", "j", "l")
    page.wait_for_function(IN_SIGHT)
    assert page.evaluate(CONTRASTS) == [] and page.evaluate(NAMELESS) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_on_a_phone_a_chapter_is_annotated_by_taps(server, browser, path):
    page = browser(server.url, PHONE)
    desk = page.locator("#desk").bounding_box()
    assert desk["height"] < 0.4 * PHONE[1]
    for name in ("Not speech", "New conversation"):
        page.get_by_role("button", name=name, exact=True).click()
    page.get_by_label("Who begins the conversation?").fill("Amos Bunce")
    assert page.locator("#desk").bounding_box()["height"] < 0.4 * PHONE[1]
    page.get_by_role("button", name="Save").click()
    press(page)
    page.locator("#speakers button", has_text="Amos Bunce").click()
    press(page)
    assert [row.speaker for row in read_rows(path, "sample")] == ["", *["Amos Bunce"] * 2]
    heights = "e => e.filter(b => b.checkVisibility()).map(b => b.offsetHeight)"
    sizes = page.locator("#desk button").evaluate_all(heights)
    page.get_by_role("button", name="Who…", exact=True).click()
    page.wait_for_selector("#naming")
    sizes += page.locator("#desk button").evaluate_all(heights)
    assert min(sizes) >= 40


@pytest.mark.parametrize("size", [(360, 740), PHONE, DESKTOP], ids=str)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_question_for_a_name_fits_and_can_be_read(guessing, browser, size, scheme):
    page = browser(guessing.url, size, scheme)
    lettered(page, "a")
    press(page, "n")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.wait_for_function(IN_SIGHT)
    assert page.evaluate(CONTRASTS) == [] and page.evaluate(NAMELESS) == []


LIST = "html[data-ready] #list"


@pytest.mark.parametrize("size", [(360, 740), PHONE, DESKTOP], ids=str)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_of_chapters_leads_to_each_and_shows_what_is_done(server, browser, size, scheme):
    page = browser(server.url, size, scheme)
    press(page, "x")
    page.keyboard.press("g")
    page.wait_for_selector(LIST)
    assert page.url == f"http://127.0.0.1:{server.port}/"
    assert text(page, "#sum") == "1 of 188 quoted spans decided, 0 of 5 chapters done"
    rows = [" ".join(row.split()) for row in page.locator("#list li").all_inner_texts()]
    assert rows[0] == "0 Before the first chapter nothing quoted"
    assert rows[1] == "1 CHAPTER I. The Brown Envelope in progress, 1 of 38 decided"
    assert rows[2] == "2 CHAPTER II. The Cut Freezes not begun, 38 to decide"
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert page.evaluate(CONTRASTS) == [] and page.evaluate(NAMELESS) == []
    for link in page.locator("#list a").element_handles():
        assert link.bounding_box()["height"] >= 40
    page.keyboard.press("t")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#chapter .here")
    assert page.url == f"http://127.0.0.1:{server.port}/chapters/2"
    chosen = "dark" if scheme == "light" else "light"
    assert page.locator("html").get_attribute("data-theme") == chosen  # kept in the window
    press(page, "x")
    page.go_back()
    page.wait_for_selector(LIST)
    assert text(page, "#list li:nth-child(3) .state") == "in progress, 1 of 38 decided"
    page.get_by_role("link", name="Continue with chapter 1").click()
    page.wait_for_selector("#chapter .here")
    assert text(page, "#progress-text") == "1 of 38 decided" and page.said == []


def test_the_list_finishes(server, browser):
    page = browser(server.url)
    page.keyboard.press("g")
    page.wait_for_selector(LIST)
    page.keyboard.press("f")
    assert "the same command goes on later" in text(page, "#finish-dialog")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Finish").click()
    page.locator("#finish-now").click()
    page.wait_for_selector("#finish-title:text('Finished')")
    server.thread.join(5)
    assert not server.thread.is_alive() and page.locator("#list a[href]").count() == 0
