"""Both pages open in a browser and answer a key; the full tests of the pages are slow."""

import pytest
from annotation_helpers import read_rows
from annotator_helpers import serving
from browser import opened
from helpers import SAMPLE

from miner.app.viewer.layers import build_layers
from miner.app.viewer.page import render_book
from miner.speech.read import parse_spans
from miner.tagger.load import load_tagger

pytestmark = pytest.mark.browser


def test_the_viewer_opens_finds_follows_a_link_and_switches_layers(browser, tmp_path):
    file = tmp_path / "sample.html"
    taggers = [(name, load_tagger(name)) for name in ("gap", "narration")]
    file.write_bytes(
        render_book(build_layers(parse_spans(SAMPLE.read_bytes(), "sample", ()), taggers))
    )
    page = opened(browser, file)
    assert page.evaluate("scrollY") > 0  # it opens where talk begins
    page.keyboard.press("/")
    page.keyboard.type("HÉSTER")
    page.keyboard.press("Enter")
    assert page.evaluate("[...CSS.highlights.get('found-now')].map(String)") == ["Hester"]
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#dialogue-9'")
    page.wait_for_selector("#dialogue-9.linked")
    assert page.evaluate("rowOfConversation(view.conversation).dialogue") == 9
    assert page.locator("#left").text_content() == "gap gives no confidence"
    page.keyboard.press("2")
    assert page.locator("#layers [aria-pressed=true] span").text_content() == "narration"
    assert page.locator("#chapter .utterance").count() > 0
    assert page.locator("#chapter .who[data-label='Hester']").count() > 0
    page.keyboard.press("w")
    page.locator("#cast [data-person='hester']").check()
    page.keyboard.press("f")
    assert page.evaluate("utteranceAt().person.name") == "Hester"
    assert page.locator("#lit-names").text_content() == "Hester"


def test_the_annotator_opens_and_saves_an_answer(browser, tmp_path):
    path = tmp_path / "7.jsonl"
    with serving(path) as server:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.port}{server.page}?token={server.token}")
        page.wait_for_selector("#chapter .here")
        page.keyboard.press("n")
        page.wait_for_selector("#naming")
        page.keyboard.type("Ruth")
        page.keyboard.press("Enter")
        page.locator("#progress-text", has_text="1 of 11").wait_for(timeout=60_000)
    assert [(row.speaker, row.conversation) for row in read_rows(path, "7")] == [("Ruth", 1)]
