"""Taggers against the annotations of the package's sample: scores, gaps, wrong pairs."""

import hashlib
import json
from collections.abc import Sequence

import pytest
from helpers import ANNOTATIONS, SAMPLE, failed, said

from heuristic.gap import TUNED_GAP
from miner import __version__
from miner.annotation.annotations import read_split
from miner.annotation.matching import CAUSES
from miner.errors import InputError
from miner.lab.gold.editions import open_edition
from miner.lab.measure.compare import GAPS, compare, sweep_gaps
from miner.lab.measure.confidence import count_pair_errors, judge_mined_pairs
from miner.speech.dialogues import decode_dialogues, turn_pairs
from miner.speech.spans import BookSpans
from miner.speech.tags import TAGS, Tag, TaggedSpan
from miner.tagger.load import load_tagger

FILE = ANNOTATIONS / "gold" / "sample.jsonl"
ROWS = [json.loads(line) for line in FILE.read_bytes().splitlines()]
N_CHAPTERS = len({row["chapter"] for row in ROWS})
BOOKS = read_split(ANNOTATIONS, "sample")
FEW = f"{N_CHAPTERS} chapters: too few to tell which is better"
SOURCE = f"sample.jsonl@{hashlib.sha256(FILE.read_bytes()).hexdigest()[:8]}"


def read(id: str) -> bytes:
    assert id == "sample"
    return SAMPLE.read_bytes()


class GoldTagger:
    """Gives the gold tag where there is one, and B-OTHER to the other utterances."""

    def __init__(self, data: bytes) -> None:
        self.tagged = open_edition(BOOKS[0], data).located.tagged()
        self.seen: list[BookSpans] = []

    def tag(self, book_spans: BookSpans) -> Sequence[TaggedSpan]:
        self.seen.append(book_spans)
        tags = {(i.span.paragraph, i.span.start, i.span.end): i.tag for i in self.tagged.spans}
        known = {place: tag for place, tag in tags.items() if tag is not Tag.O}
        return [
            TaggedSpan(
                span,
                known.get((span.paragraph, span.start, span.end), Tag.B_OTHER)
                if span.is_utterance
                else Tag.O,
            )
            for span in book_spans.spans
        ]


@pytest.fixture(scope="module")
def gold_tagger():
    return GoldTagger(SAMPLE.read_bytes())


@pytest.fixture(scope="module")
def comparison(gold_tagger):
    named = [("gold", gold_tagger), ("gap 150", load_tagger("gap"))]
    return compare(ANNOTATIONS, named, "sample", read=read, resamples=20, seed=3)


def value(scores, name: str) -> float:
    return scores.total.end_to_end[name].value


def test_the_rows_and_their_signatures(comparison):
    assert (comparison.gold, comparison.split) == ("annotations", "sample")
    assert [note.split(",")[0] for note in comparison.notes] == [FEW]
    assert [row.name for row in comparison.rows] == ["gold", "gap 150"]
    for row in comparison.rows:
        for scores in (row.scores, row.from_book):
            assert scores.signature.startswith(f"unit:span|gold:{SOURCE}|predicted:{row.name}|")
            assert scores.signature.endswith(f"|bs:20|seed:3|version:{__version__}")
            assert f"|split:sample|chapters:{N_CHAPTERS}|" in scores.signature
            assert list(scores.books) == ["sample"]
            assert scores.missing == scores.ignored == []
        assert row.readme is None


def test_the_gold_tags_are_right_in_every_measure(comparison):
    gold, gap = (row.scores for row in comparison.rows)
    for name, score in gold.total.end_to_end.scores.items():
        assert score.value == (0.0 if name in ("pk", "windowdiff") else 1.0), name
    assert gold.total.n_gold == gold.total.n_matched == gold.total.n_predicted
    for unit in ("B-START", "turn-pair", "span-pair"):
        assert 0 < value(gap, f"{unit}.f1") < 1
    assert value(gap, "utterance.f1") == 1.0  # it tags the spans of the gold


def test_from_the_book_the_miner_finds_the_spans(comparison, gold_tagger):
    on_gold, from_book = gold_tagger.seen[-2:]
    assert [item.span for item in gold_tagger.tagged.spans] == list(on_gold.spans)
    edition = open_edition(BOOKS[0], SAMPLE.read_bytes())
    judged = {span.chapter for span in on_gold.spans}
    assert 0 not in judged  # the title page is not annotated
    assert from_book.book == edition.book_spans.book
    assert list(from_book.spans) == [s for s in edition.book_spans.spans if s.chapter in judged]
    annotated = {span for span in on_gold.spans if span.is_utterance}
    found = {span for span in from_book.spans if span.is_utterance}
    for row in comparison.rows:
        total = row.from_book.total
        assert (total.n_gold, total.n_predicted) == (len(annotated), len(found))
        assert total.n_matched == len(annotated & found)
        assert value(row.from_book, "utterance.recall") == pytest.approx(
            len(annotated & found) / len(annotated)
        )


def test_the_confusion_has_the_counts_of_the_scores(comparison):
    for row in comparison.rows:
        right = [n[i] for i, n in enumerate(row.confusion.counts)]
        counts = dict(row.scores.total.end_to_end.counts)
        assert right == [counts[tag].tp for tag in TAGS]
        for place, tag in enumerate(TAGS):
            assert sum(row.confusion.counts[place]) == counts[tag].tp + counts[tag].fn
            assert sum(n[place] for n in row.confusion.counts) == counts[tag].tp + counts[tag].fp


def test_a_comparison_as_plain_values(comparison):
    record = json.loads(json.dumps(comparison.to_json()))
    assert sum(record["conversations_by_turns"].values()) == 20
    for row, of_row in zip(comparison.rows, record["rows"], strict=True):
        assert of_row["confusion"] == row.confusion.to_json()
        by_turns = {int(n): k for n, k in of_row["conversations_by_turns"].items()}
        assert by_turns == row.lengths.counts


def test_the_digest_of_the_annotations_is_in_the_signature(tmp_path):
    for name in ("books.jsonl", "gold/sample.jsonl"):
        lines = (ANNOTATIONS / name).read_text("utf-8").splitlines(keepends=True)
        (tmp_path / "gold").mkdir(exist_ok=True)
        kept = lines[:1] if name == "books.jsonl" else lines[:-1]
        (tmp_path / name).write_text("".join(kept), encoding="utf-8")
    digest = hashlib.sha256((tmp_path / "gold" / "sample.jsonl").read_bytes()).hexdigest()[:8]
    (row,) = compare(tmp_path, [("gap", load_tagger("gap"))], "sample", read=read, resamples=0).rows
    assert f"|gold:sample.jsonl@{digest}|" in row.scores.signature
    assert SOURCE not in row.scores.signature


def test_other_editions_are_named_below_the_table():
    named = [("gap", load_tagger("gap"))]

    def straight(id: str) -> bytes:
        return read(id).decode().replace("“", '"').replace("”", '"').encode()

    done = compare(ANNOTATIONS, named, "sample", read=straight, resamples=0)
    few, note = done.notes
    assert few.startswith(FEW)
    assert note.startswith("1 of 1 books are other editions than those annotated (sample): ")
    assert note.endswith(" annotated spans not found in them")
    assert done.to_json()["notes"] == [few, note]

    def poor(id: str) -> bytes:
        return read(id).replace(b"shut the", b"shut no")[: len(read(id)) // 2]

    with pytest.raises(InputError, match=r"^sample, chapter \d: found \d+ of \d+ annotated utt"):
        compare(ANNOTATIONS, named, "sample", read=poor)


def test_errors_of_compare():
    named = [("gap", load_tagger("gap"))]
    with pytest.raises(InputError, match="found annotations without books, expected `read`"):
        compare(ANNOTATIONS, named, "sample")
    for split in ("validation", "dev+tests"):
        with pytest.raises(InputError, match=f"found no split '{split.split('+')[-1]}'"):
            compare(ANNOTATIONS, named, split, read=read)
    with pytest.raises(FileNotFoundError):
        compare("gone", named, "all", read=read)


def test_a_sweep_has_a_row_for_each_gap():
    taggers = [(gap, load_tagger(f"gap:{gap}")) for gap in (0, 150, 10**6)]
    swept = sweep_gaps(BOOKS, read, taggers, split="sample", resamples=5).gaps
    assert list(swept) == [0, 150, 10**6]
    for gap, scores in swept.items():
        assert f"|gold:{SOURCE}|predicted:gap {gap}|" in scores.signature
    # A wider gap begins fewer conversations; the widest only one a chapter, and one below the
    # printed break.
    begun = [scores.total.end_to_end.counts["B-START"] for scores in swept.values()]
    n_begun = [counts.tp + counts.fp for counts in begun]
    assert n_begun == sorted(n_begun, reverse=True) and n_begun[-1] == N_CHAPTERS + 1
    (row,) = compare(
        ANNOTATIONS, [("gap 150", taggers[1][1])], "sample", read=read, resamples=5
    ).rows
    assert swept[150] == row.scores
    assert sweep_gaps(BOOKS, read, [], split="sample").gaps == {}


def test_with_gold_tags_pairs_are_wrong_only_where_spans_are(gold_tagger):
    found = count_pair_errors(judge_mined_pairs(BOOKS, read, gold_tagger).pairs)
    # Gold tags neither split nor merge turns; other pairs are wrong because a span was not found.
    assert not {"one turn taken for two", "speakers merged"} & {
        n for n, k in found.causes.items() if k
    }
    n_gold = sum(len(turn_pairs(dialogue)) for dialogue in decode_dialogues(gold_tagger.tagged))
    assert found.n_right + found.n_missed == n_gold
    gap = count_pair_errors(judge_mined_pairs(BOOKS, read, load_tagger("gap")).pairs)
    assert gap.n_right + gap.n_missed == n_gold
    assert found.n_right > gap.n_right > 0 and gap.n_wrong > found.n_wrong


def test_a_tags_file_is_judged_in_the_annotated_chapters(tmp_path):
    tags = tmp_path / "tags.jsonl"
    said("tag", "sample", "--tagger", "gap", "-o", tags)
    by_file, by_gap = (
        json.loads(
            said("gold", "errors", "--split", "sample", "--gold", ANNOTATIONS, "--json", *of)
        )
        for of in (("--tagger", tags), ("--tagger", "gap"))
    )
    assert by_file == by_gap and by_file["pairs"]
    rows = tags.read_text("utf-8").splitlines(keepends=True)
    annotated = [
        n for n, row in enumerate(rows) if json.loads(row)["chapter"] == ROWS[0]["chapter"]
    ]
    tags.write_text("".join(rows[: annotated[0]] + rows[annotated[1] :]), encoding="utf-8")
    line = failed("gold", "errors", "--split", "sample", "--gold", ANNOTATIONS, "--tagger", tags)
    assert "found" in line and "spans of sample, expected" in line


def test_the_command_compare():
    words = ("compare", "--gold", ANNOTATIONS, "--split", "sample", "--resamples", 20)
    record = json.loads(said(*words, "--json"))
    assert (record["gold"], record["split"]) == ("annotations", "sample")
    assert [note.split(",")[0] for note in record["notes"]] == [FEW]
    names = ["gap 150", f"tuned-gap {TUNED_GAP}", "narration"]
    assert [row["name"] for row in record["rows"]] == names
    for row in record["rows"]:
        assert f"|gold:{SOURCE}|" in row["signature"]
        assert set(row["from_book"]["books"]) == set(row["books"]) == {"sample"}
    lines = [line.strip() for line in said(*words).splitlines()]
    assert lines[0] == "On the spans of the gold (annotations, sample split)"
    place = lines.index(
        "From the book to the tags, on the spans that are found (annotations, sample split)"
    )
    assert lines.index("utterances found") > place
    for row in record["rows"]:
        assert f"{row['name']}: {row['signature']}" in lines
    chosen = json.loads(said(*words, "--json", "--tagger", "gap:7"))
    assert [row["name"] for row in chosen["rows"]] == ["gap 7"]
    assert failed(*words[:3], "--split", "best").startswith(f"{ANNOTATIONS}: found no split 'best'")


def test_the_command_sweep(monkeypatch):
    gaps = GAPS
    assert (gaps[0], gaps[-1]) == (50, 2000) and TUNED_GAP in gaps
    monkeypatch.setattr("miner.lab.measure.compare.GAPS", gaps[::6])
    words = ("gold", "sweep", "--gold", ANNOTATIONS, "--split", "sample", "--resamples", 1)
    record = json.loads(said(*words, "--json"))
    assert list(map(int, record["gaps"])) == list(gaps[::6])
    figures = {gap: row["total"]["end_to_end"]["scores"] for gap, row in record["gaps"].items()}
    f1 = {gap: measures["B-START.f1"]["value"] for gap, measures in figures.items()}
    best = next(gap for gap, number in f1.items() if number == max(f1.values()))
    shown = said(*words).splitlines()
    assert shown[0] == "The gap, in characters, on the spans of the gold (sample split)"
    (row,) = [line.split() for line in shown if line.rstrip().endswith("best")]
    assert row[0] == best and f"{f1[best]:.3f}" in row


def test_the_command_errors():
    words = ("gold", "errors", "--gold", ANNOTATIONS, "--split", "sample", "--tagger", "gap")
    record = json.loads(said(*words, "--json"))
    assert list(record) == ["pairs", "right", "causes", "missed", "coverage"]
    assert list(record["causes"]) == list(CAUSES)
    assert record["pairs"] == record["right"] + sum(record["causes"].values()) > 0
    shown = said(*words)
    assert shown.startswith(
        f"{record['pairs']} turn pairs mined by gap 150 from the books (sample split)"
    )
    n_gold = record["right"] + record["missed"]
    assert f"{record['missed']} of {n_gold} gold pairs were not mined" in shown
    for name, n in record["causes"].items():
        row = next(line for line in shown.splitlines() if line.strip().startswith(name))
        assert row.strip().removeprefix(name).split()[:2] == [
            str(n),
            f"{100 * n / record['pairs']:.1f}",
        ]
    other = json.loads(said(*words, "--json", "--tagger", "narration"))
    assert other["right"] + other["missed"] == n_gold and other != record
