"""Paragraphs are the spans joined, and know their speech and their headings."""

from dataclasses import replace

from miner.people.names import join_spans
from miner.speech.read import parse_spans

PAGE = """<html lang="en"><body><h2>Chapter I</h2>
<p>“Is the kettle on?” asked Mara. “It is late.”</p>
<p>Tobin nodded.</p></body></html>"""


def test_paragraphs_are_the_blocks_with_the_places_of_their_speech():
    found = parse_spans(PAGE.encode(), "0")
    heading, first, second = join_spans(found)
    assert [heading.is_heading, first.is_heading, second.is_heading] == [True, False, False]
    assert second.text == "Tobin nodded."
    assert second.utterances == second.spans == ()
    said = [first.text[start:end] for start, end in first.utterances]
    assert said == ["“Is the kettle on?”", "“It is late.”"]
    assert [found.spans[number].text for number in first.spans] == said
    assert {paragraph.chapter for paragraph in (first, second)} == {found.spans[-1].chapter}
    assert [paragraph.index for paragraph in (heading, first, second)] == [0, 1, 2]


def test_narration_keeps_its_places():
    first = join_spans(parse_spans(PAGE.encode(), "0"))[1]
    assert first.narration.split() == ["asked", "Mara."]
    assert len(first.narration) == len(first.text)
    assert first.narration.index("asked") == first.text.index("asked")


def test_places_count_from_the_first_span_that_is_there():
    found = parse_spans(PAGE.encode(), "0")
    left = [span for span in found.spans if span.paragraph != 1 or span.index > 0]
    first = join_spans(replace(found, spans=tuple(left)))[1]
    assert first.text == " asked Mara. “It is late.”"
    assert first.text[slice(*first.utterances[0])] == "“It is late.”"
