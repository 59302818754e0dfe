"""What is said of dialogue in fiction, counted by hand: lengths, shares of talk, companies."""

import math
import shutil
from pathlib import Path

import pytest
from encoders import sample, told
from helpers import book

import miner
from miner.annotation.annotations import AnnotatedBook, Annotation, BookCard, read_annotations
from miner.annotation.editions import local_editions
from miner.annotation.fingerprints import fingerprint
from miner.annotation.statistics import Company, annotated_lengths, count_company_sizes, find_companies
from miner.dialogue.statistics import Lengths, conversation_lengths, talk_by_chapter
from miner.dialogue.tags import TaggedBook

ROOT = Path(miner.__file__).parents[1]


def annotated(*facts):
    """A book of (chapter, conversation, speaker); each utterance is a paragraph of its own."""
    card = BookCard("7", "", "", 1900, "Britain", "society", 3, "train", "7-h.htm", "")
    rows = (
        Annotation(chapter, n, fingerprint("Yes"), speaker, conversation)
        for n, (chapter, conversation, speaker) in enumerate(facts)
    )
    return AnnotatedBook(card, tuple(rows))


def conversation(speakers):
    """The company of one conversation, a letter a speaker, a turn each."""
    (found,) = find_companies([annotated(*((1, 1, speaker) for speaker in speakers))])
    return found


def test_lengths_are_turns_of_every_conversation_of_all_books():
    lengths = conversation_lengths("two books", [book("SsRrRO|SR", "1"), book("S", "2")])
    assert lengths == Lengths("two books", (3, 2, 1))
    assert (lengths.mean, lengths.median) == (2, 2)
    assert lengths.counts == {1: 1, 2: 1, 3: 1}
    assert lengths.at_least() == [(1, 1.0), (2, pytest.approx(2 / 3)), (3, pytest.approx(1 / 3))]


def test_an_illegal_tag_is_mended_for_the_lengths():
    assert conversation_lengths("", [book("RSR")]).turns == (1, 2)


def test_a_book_without_conversation_has_no_lengths():
    lengths = conversation_lengths("", [TaggedBook("7", ())])
    assert (lengths.turns, lengths.counts, lengths.at_least()) == ((), {}, [])
    assert math.isnan(lengths.mean) and math.isnan(lengths.median)


def test_talk_is_counted_in_words_by_chapter():
    spans = told(
        ["“Is the lamp lit?” asked Mara.", "Nobody answered her."],
        ["“It was,” said Tobin, “until now.”"],
        ["The sea was grey."],
    )
    talk = talk_by_chapter("The Lighthouse", spans)
    found = [(item.chapter, item.n_spoken, item.n_words) for item in talk.chapters]
    assert found == [(1, 4, 9), (2, 4, 6), (3, 0, 4)]
    assert [round(item.share, 2) for item in talk.chapters] == [0.44, 0.67, 0]
    assert (talk.name, talk.share) == ("The Lighthouse", pytest.approx(8 / 19))


def test_headings_and_the_title_page_are_no_text_that_is_told():
    talk = talk_by_chapter("sample", sample())
    assert [item.chapter for item in talk.chapters] == [1, 2, 3, 4, 5]
    of_story = [b for b in sample().book.blocks if b.chapter and b.kind != "heading"]
    n_words = sum(len(block.text.split()) for block in of_story)
    # A span may end inside what white space alone does not part: a dash between two words.
    assert sum(item.n_words for item in talk.chapters) == pytest.approx(n_words, rel=0.02)
    assert 0.3 < talk.share < 0.4


def test_no_words_no_share():
    talk = talk_by_chapter("", told())
    assert talk.chapters == () and math.isnan(talk.share)


def test_a_company_is_all_who_talk_in_a_conversation_the_most_talkative_first():
    found = find_companies(
        [annotated((1, 1, "Ann"), (1, 1, "Ann"), (1, 1, "Ben"), (1, 1, "Ann"), (2, 1, "Ben"))]
    )
    assert found == [
        Company("7", 1, 1, (("Ann", 2), ("Ben", 1)), 0),
        Company("7", 2, 1, (("Ben", 1),), 0),
    ]
    assert [(item.n_speakers, item.n_turns) for item in found] == [(2, 3), (1, 1)]


def test_a_resumed_conversation_is_one_and_what_is_quoted_but_not_said_is_none():
    facts = [(1, 1, "Ann"), (1, 2, "Cook"), (1, 0, ""), (1, 1, "Ben"), (1, 1, "Ann")]
    first, second = find_companies([annotated(*facts)])
    assert first.turns == (("Ann", 2), ("Ben", 1))
    assert second.turns == (("Cook", 1),)


def test_a_turn_goes_on_over_an_interruption():
    first, _ = find_companies([annotated((1, 1, "Ann"), (1, 2, "Cook"), (1, 1, "Ann"))])
    assert first.turns == (("Ann", 1),)


def test_whom_the_text_does_not_tell_is_nobody_s_turn_and_ends_one():
    found = conversation("A?A")
    assert (found.turns, found.n_unknown) == ((("A", 2),), 1)


def test_sizes_leave_out_whom_the_text_does_not_tell_and_count_them():
    found = [conversation(s) for s in ("A", "AB", "ABA", "AB?", "ABCDEFA")]
    sizes = count_company_sizes(found)
    assert sizes.n_unknown == 1
    counted = {s.name: (s.n_conversations, s.n_turns) for s in sizes.sizes}
    assert counted == {"1": (1, 1), "2": (2, 5), "3": (0, 0), "4": (0, 0), "5 or more": (1, 7)}
    one, two, three, _, many = (size.by_rank for size in sizes.sizes)
    assert one == (1, 0, 0, 0)
    assert two == pytest.approx((3 / 5, 2 / 5, 0, 0))
    assert all(map(math.isnan, three))
    assert many == pytest.approx((2 / 7, 1 / 7, 1 / 7, 3 / 7))


def test_lengths_of_annotations_need_no_book():
    books = [annotated(*((1, 1, s) for s in "ABA"), (2, 1, "A"), (3, 1, "A"), (3, 1, "?"))]
    assert annotated_lengths("ours", books) == Lengths("ours", (3, 1))
    novels = read_annotations(ROOT / "annotations").of_split("sample")
    (edition,) = local_editions(novels)
    of_tags = conversation_lengths("gold", [edition.located.tagged()]).turns
    of_facts = annotated_lengths("gold", novels).turns
    # The third is interrupted by the fourth, and what is left of it is a fifth to the tags.
    assert (of_tags[:5], of_facts[:4]) == ((8, 6, 4, 7, 3), (8, 6, 7, 7))
    assert of_tags[5:] == of_facts[4:]


def test_books_that_are_not_on_this_disk_are_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path))
    annotations = read_annotations(ROOT / "annotations")
    chosen = [*annotations.of_split("sample"), *annotations.of_split("test")]
    assert [edition.annotated.card.book for edition in local_editions(chosen)] == ["sample"]
    with pytest.raises(ValueError, match="no such folder"):
        list(local_editions(chosen, tmp_path / "gone"))


def test_a_book_at_hand_that_is_another_text_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("MINER_CACHE", str(tmp_path))
    shutil.copy(ROOT / "tests" / "data" / "single_curly.html", tmp_path / "16.html")
    novels = [b for b in read_annotations(ROOT / "annotations").gold if b.card.book == "16"]
    with pytest.raises(ValueError, match=r"^16, chapter \d+: found 0 of \d+ annotated utterances"):
        list(local_editions(novels))
