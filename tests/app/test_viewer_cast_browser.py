"""The speakers of the page of `miner view` in a browser: names, the cast, the card, the filter."""

import json

import pytest
from browser import CONTRASTS, DESKTOP, NAMELESS, PHONE, opened, wait_for_paint
from helpers import DATA, annotations_of_sample, run

pytestmark = [pytest.mark.browser, pytest.mark.slow]
# Chapter and speaker of each utterance of the layer, in the order of the book.
SPEECH = """() => book.chapters.flatMap(({ number }) =>
  decodeChapter(loadChapter(number), casts).layers[view.layer].utterances.map(
    (item) => [number, item.key, item.person.id]))"""
UNLIT = """() => [...document.querySelectorAll("#chapter .utterance")].map(
  (element) => [utteranceAt(element.dataset.key).person.id, element.classList.contains("unlit")])"""
FOCUSED = "[view.chapter.number, view.focus, utteranceAt().person.id]"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The sample with its gold, and tags whose speakers are a waiter, the narrator and nobody."""
    folder = tmp_path_factory.mktemp("cast")
    tags = folder / "few.jsonl"
    run("tag", "sample", "--tagger", "gap", "-o", tags)
    rows = [json.loads(line) for line in tags.read_bytes().splitlines()]
    for n, row in enumerate(row for row in rows if row["tag"] != "O"):
        speaker = (None, "waiter-1", "narrator")[n % 3]
        row |= {"speaker": speaker, "speaker_confidence": None if speaker is None else 0.5}
    tags.write_text("".join(json.dumps(row) + "\n" for row in rows))
    gold = annotations_of_sample(folder / "annotations")
    words = ("view", "sample", "--gold", gold, "--tagger", "gap", "--tagger", tags, "-q")
    assert run(*words, "-o", folder / "page.html").exit_code == 0
    return folder / "page.html"


@pytest.fixture
def page(browser, file):
    page = opened(browser, file)
    page.keyboard.press("2")
    yield page
    page.context.close()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
    wait_for_paint(page)


def test_the_first_span_of_a_turn_has_the_name_of_its_speaker(page):
    named = page.evaluate(
        """() => [...document.querySelectorAll("#chapter .who")].map((who) => {
          const item = utteranceAt(who.closest("[data-key]").dataset.key);
          return [who.dataset.label, item.person.name, item.says];
        })"""
    )
    assert named and all(label == name for label, name, _ in named)
    turns = page.evaluate("view.chapter.layers[view.layer].counts.turns")
    assert sum(says != "continues the turn" for *_, says in named) == turns
    layer = "view.chapter.layers[view.layer].utterances"
    going_on = page.evaluate(f"{layer}.filter((item) => item.says === 'continues the turn').length")
    assert going_on > sum(says == "continues the turn" for *_, says in named)


def test_names_are_not_part_of_the_text(page):
    inner = page.locator("#p12 .text").text_content()
    assert inner == page.evaluate("view.chapter.blocks[view.chapter.position.get(12)].text")


def test_each_layer_has_its_own_speakers(page):
    shown = []
    for key in "123":
        press(page, key)
        shown.append(page.locator("#chapter .who").first.get_attribute("data-label"))
        first = "unknown speaker, waiter-1: " if key == "3" else "Amos Bunce: "
        assert page.locator(".turn b").first.text_content() == first
    assert shown == ["Amos Bunce", "Amos Bunce", "unknown"]
    press(page, "3", "w")
    cast = page.locator("#cast .people .name").all_inner_texts()
    assert sorted(cast) == ["narrator", "unknown", "waiter-1"] and cast[-1] == "unknown"


def test_the_cast_lists_names_gender_utterances_and_chapters(page):
    press(page, "w")
    assert page.locator("#panel-heading").text_content() == "Cast"
    assert not page.locator("#panel-body").is_visible()
    assert page.evaluate("document.activeElement.type") == "checkbox"
    entry = page.locator("#cast li", has_text="Josiah Tarrant").first.inner_text()
    for words in ("also Josiah", "male", "chapters 1–2, 4–5", "in this chapter"):
        assert words in entry
    counted = page.evaluate(SPEECH)
    said = sum(who == "josiah-tarrant" for *_, who in counted)
    assert str(said) in entry.split()
    folded = page.locator("#cast summary").all_text_contents()
    assert folded and all(
        line.startswith(("Only spoken to: ", "Only mentioned: ")) for line in folded
    )
    press(page, "n")  # the counts follow the chapter
    here = sum(chapter == 2 and who == "hester" for chapter, _, who in counted)
    entry = page.locator("#cast li", has_text="Hester").first.inner_text()
    assert f"{here} in this chapter" in entry
    press(page, "w")
    assert page.locator("#panel-body").is_visible() and not page.locator("#cast").is_visible()


def test_only_the_chosen_speakers_stay_lit(page):
    press(page, "w")
    page.locator("[data-person='hester']").focus()
    press(page, "Space")
    shown = page.evaluate(UNLIT)
    assert any(unlit for _, unlit in shown)
    assert all(unlit == (who != "hester") for who, unlit in shown)
    page.locator("[data-person='amos-bunce']").check()
    two = {"hester", "amos-bunce"}
    assert all(unlit == (who not in two) for who, unlit in page.evaluate(UNLIT))
    press(page, "n")  # the next chapter is dimmed, too
    assert all(unlit == (who not in two) for who, unlit in page.evaluate(UNLIT))
    press(page, "1")  # the gold has none of these ids
    assert page.locator(".unlit").count() == 0 and not page.locator("#lit").is_visible()
    press(page, "2")
    assert page.locator(".unlit").count() > 0
    page.locator("#lit").get_by_role("button", name="Show all").click()
    assert page.locator(".unlit").count() == 0 and not page.locator("#lit").is_visible()
    assert page.locator("#cast :checked").count() == 0


def test_f_goes_through_all_utterances_of_the_chosen_speakers(page):
    said = [item for item in page.evaluate(SPEECH) if item[2] == "josiah-tarrant"]
    press(page, "w")
    page.locator("[data-person='josiah-tarrant']").check()
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    visited = []
    for n in range(len(said)):
        press(page, "f")
        visited.append(page.evaluate(FOCUSED))
        assert page.locator("#lit-place").text_content() == f"{n + 1} of {len(said)}"
    assert visited == said
    assert len({chapter for chapter, *_ in visited}) > 1
    press(page, "f")
    assert "No further utterance of Josiah Tarrant" in page.locator("#toast").text_content()
    for expected in said[-2::-1]:
        press(page, "F")
        assert page.evaluate(FOCUSED) == expected
    page.get_by_role("button", name="Next utterance of the chosen speakers").click()
    assert page.evaluate(FOCUSED) == said[1]


def test_without_a_choice_f_follows_the_speaker_of_the_utterance(page):
    press(page, "f")
    assert "Go to an utterance first" in page.locator("#toast").text_content()
    press(page, "j")
    chapter, key, who = page.evaluate(FOCUSED)
    said = [item for item in page.evaluate(SPEECH) if item[2] == who]
    press(page, "f")
    assert page.evaluate(FOCUSED) == said[said.index([chapter, key, who]) + 1]
    press(page, "o")
    assert page.locator(".unlit").count() > 0
    press(page, "o")
    assert page.locator(".unlit").count() == 0


def test_the_card_of_a_speaker_works_by_key_and_by_mouse(page):
    press(page, "j", "i")
    card = page.get_by_role("dialog", name="Amos Bunce")
    assert card.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Dim all others"
    for words in ("male", "also Amos", "in this chapter", "that this is the speaker"):
        assert words in card.inner_text()
    press(page, "Escape")
    assert not card.is_visible()
    assert page.evaluate("document.activeElement.classList.contains('mark')")
    name = page.locator("#chapter .who[data-label='Josiah Tarrant']").first
    name.dispatch_event("mouseover")
    assert name.get_attribute("title").startswith("Josiah Tarrant; also Josiah, ")
    assert "confidence" in name.get_attribute("title")
    name.click()
    card = page.get_by_role("dialog", name="Josiah Tarrant")
    assert card.is_visible()
    card.get_by_role("button", name="Dim all others").click()
    assert not card.is_visible()
    assert page.locator("#lit-names").text_content() == "Josiah Tarrant"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_can_be_read(browser, file, scheme):
    page = opened(browser, file, scheme=scheme)
    press(page, "2", "w")
    assert page.evaluate(CONTRASTS) == []
    page.locator("#cast input").first.check()
    page.locator("#cast summary").click()
    assert page.evaluate(CONTRASTS) == []
    page.evaluate("document.activeElement.blur()")
    press(page, "j", "i")
    assert page.evaluate(CONTRASTS) == []
    assert page.evaluate(NAMELESS) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    page.context.close()


@pytest.mark.parametrize("size", [(360, 740), PHONE, DESKTOP], ids=str)
def test_nothing_is_wider_than_the_screen(browser, file, size):
    page = opened(browser, file, size)
    press(page, "2", "j", "o", "i")
    for selector in ("#person", "#lit"):
        box = page.locator(selector).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= size[0]
        assert box["y"] >= 0 and box["y"] + box["height"] <= size[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.context.close()


def test_on_a_phone_the_cast_is_in_the_drawer(browser, file):
    page = opened(browser, file, PHONE)
    press(page, "2")
    page.get_by_role("button", name="Conversation", exact=True).click()
    page.get_by_role("button", name="Cast", exact=True).click()
    page.locator("[data-person='hester']").check()
    press(page, "f")  # the drawer makes way for the text
    assert not page.locator("#panel").is_visible()
    assert page.evaluate("utteranceAt().person.name") == "Hester"
    press(page, "w")
    assert page.locator("#cast").is_visible()
    assert page.evaluate("document.activeElement.dataset.person") == "hester"
    page.context.close()


def test_a_book_without_speakers_looks_as_it_did(browser, tmp_path):
    file = tmp_path / "page.html"
    words = ("view", DATA / "guillemets_fr.html", "--tagger", "gap", "-q", "-o", file)
    assert run(*words).exit_code == 0
    page = opened(browser, file)
    assert page.locator("#chapter .utterance").count() > 0
    assert page.locator(".who, .by, #cast, #show-cast, #lit, #person").count() == 0
    press(page, "j", "w", "i", "o", "f", "?")
    assert "who speaks" not in page.locator("#help").inner_text()
    assert "the colours alternate" in page.locator("#help").inner_text()
    page.context.close()
