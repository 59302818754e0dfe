"""Speakers of a short novel of a corpus like PDNC, judged by hand."""

from dataclasses import replace

import pytest
from speaker_scenes import BELL, LISTED, MARA, WAITER, page, saying, write_corpus

from miner.lab.app.tables.speakers import tabulate_corpus_speakers
from miner.lab.gold.pdnc import PdncCharacter, find_novels
from miner.lab.measure.pdnc_speakers import (
    NovelScores,
    NovelSpeakerScore,
    match_characters,
    score_corpus_speakers,
)
from miner.people.cast import Character, Kind
from miner.people.character_files import SpokenBook

M, B, W = MARA.id, BELL.id, WAITER.id
RIGHT = (M, B, M, B, W, B, B, M)


def end_to_end(folder, *speakers, **options):
    way = saying(*speakers, **options)
    found = score_corpus_speakers(write_corpus(folder), lambda _: page(), lambda _: [("way", way)])
    return found, found.end_to_end.rows[0][1].novels[0]


def test_all_are_right_and_the_unknowable_one_is_left_out_and_counted(tmp_path):
    found, novel = end_to_end(tmp_path, *RIGHT)
    assert found.n_unknowable == 1
    assert novel.counts == novel.right == {"all": 7, "explicit": 3, "implicit": 4}
    assert (novel.accuracy(), novel.accuracy("anaphoric")) == (1, None)
    assert found.end_to_end.errors == ()


def test_wrong_ones_are_shown(tmp_path):
    found, novel = end_to_end(tmp_path, *RIGHT[:-1], B)
    assert novel.accuracy("implicit") == 3 / 4
    (error,) = found.end_to_end.errors
    record = error.to_json()
    assert record["utterance"] == "So it is."
    assert record["after"] == '" said Mara Otway.'
    assert (record["gold"], record["gold_character"]) == ("Mara Otway", "Mara Otway")
    assert (record["answer"], record["kind"]) == ("Mr. Bell", "implicit")
    assert "Mara Otway" in record["candidates"]


def test_two_found_characters_do_not_stand_for_one(tmp_path):
    twice = Character("mara", "Mara", ("Mara",), "f", n_mentions=1)
    speakers = (M, B, "mara", B, W, B, B, "mara")
    _, novel = end_to_end(tmp_path, *speakers, characters=(MARA, BELL, WAITER, twice))
    assert novel.right["all"] == 5  # Mara herself is "Mara Otway", whom the book names more


def test_the_narrator_stands_for_whose_words_it_has_and_nobody_else_does(tmp_path):
    narrator = Character("narrator", "narrator", ("narrator",), kind=Kind.NARRATOR)
    speakers = ("narrator", B, "narrator", B, W, B, B, M)
    _, novel = end_to_end(tmp_path, *speakers, characters=(MARA, BELL, WAITER, narrator))
    assert novel.right["all"] == 6


def test_each_addressee_counts_that_is_found_or_annotated(tmp_path):
    corpus = write_corpus(tmp_path)
    table = corpus / "TheKey" / "quotation_info.csv"
    listed = iter(["['Edwin Bell ', 'The Waiter']", "['Mara Otway']", "['_group']"])
    lines = table.read_text().replace(",[],", ",{},").split("{}")
    table.write_text("".join(line + f'"{next(listed, "[]")}"' for line in lines[:-1]) + lines[-1])

    def speak(book_spans, characters=None):
        spoken = saying(*RIGHT)(book_spans, characters)
        heard = iter([(B,), (B,)])  # of the first the waiter is missed, of the second one is wrong
        spans = [
            replace(item, addressees=next(heard, ())) if item.speaker else item for item in spoken
        ]
        return replace(spoken, spans=tuple(spans))

    found = score_corpus_speakers(corpus, lambda _: page(), lambda _: [("way", speak)])
    scores = found.end_to_end.rows[0][1]
    assert scores.novels[0].addressees == (1, 2, 3)
    assert [score.value for score in scores.addressees()] == [1 / 2, 1 / 3]


def test_given_characters_are_those_of_the_list(tmp_path):
    asked = []

    def speak(book_spans, characters):
        asked.append(characters)
        # Whoever is not given has no speech.
        ids = [character.id for character in characters or ()]
        speakers = [ids[0], ids[1]] + [ids[0], ids[1], ids[2]] + [ids[1]] * 2 + [ids[0]]
        return saying(*speakers, characters=characters)(book_spans)

    ways = [("way", lambda spans, given: speak(spans, given or listed))]
    listed = [replace(MARA, id="x"), replace(BELL, id="y"), replace(WAITER, id="z")]
    found = score_corpus_speakers(write_corpus(tmp_path), lambda _: page(), lambda _: ways)
    given = found.given.rows[0][1].novels[0]
    assert given.accuracy() == 1
    assert [character.name for character in asked[0]] == [name for name, _, _ in LISTED]
    assert asked[0][1].aliases == ("Edwin Bell", "Bell", "Mr. Bell")
    assert asked[1] is listed


def test_a_quotation_that_is_not_found_is_wrong(tmp_path):
    found = score_corpus_speakers(
        write_corpus(tmp_path),
        lambda _: page().replace("“Nobody sleeps here.”".encode(), b"Nobody sleeps here."),
        lambda _: [("way", saying(*RIGHT))],
    )
    assert found.end_to_end.rows[0][1].novels[0].right["all"] == 6
    assert not found.end_to_end.errors[0].judged.is_found


def test_the_assignment_has_the_most_mentions_that_are_aliases():
    listed = [
        PdncCharacter("John Dace", ("Dace", "Mr. Dace"), "m"),
        PdncCharacter("Kit Dace", ("Dace",), "m"),
    ]
    found = (
        Character("dace", "Dace", ("Dace",), n_mentions=5),
        Character("mr-dace", "Mr. Dace", ("Mr. Dace",), n_mentions=3),
    )
    # The first fits both; the second fits John alone.
    assert match_characters(SpokenBook((), found), listed) == {"dace": 1, "mr-dace": 0}


def test_the_mean_is_over_novels_and_so_is_its_interval():
    novels = tuple(
        NovelSpeakerScore(str(n), str(n), {"all": n}, {"all": 10 * size})
        for n, size in ((10, 1), (10, 2))
    )
    mean = NovelScores(novels).mean()
    assert (mean.value, *mean.ends) == (0.75, 0.5, 1.0)
    assert NovelScores(novels).mean("implicit").value is None
    assert NovelScores(novels[:1]).mean().low is None


def test_the_table_marks_what_others_published(tmp_path):
    found, _ = end_to_end(tmp_path, *RIGHT)
    lines = [item for item in tabulate_corpus_speakers(found, 160) if isinstance(item, str)]
    assert any(line.startswith("published, not measured by us") for line in lines)
    assert "left out: 1 quotations whose speaker the annotators could not tell" in lines


def test_the_index_names_authors(tmp_path):
    (novel,) = find_novels(write_corpus(tmp_path))
    assert novel.author == "WREN"


@pytest.mark.parametrize("missing", ["given", "end_to_end"])
def test_the_record_has_both_tasks(missing, tmp_path):
    found, _ = end_to_end(tmp_path, *RIGHT)
    record = found.to_json(resamples=10)
    assert record[missing]["way"]["novels"]["The Key"]["all"]["quotations"] == 7
